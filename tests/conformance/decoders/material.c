// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/decoders/material.h"

#include <stdlib.h>

enum { UNIT = 16, CUT = 3 }; // positions are in 1/16 of a luma sample

const char *motus_material_name(MotusMaterial material) {
    static const char *const names[MOTUS_MATERIALS] = {"scene",   "fast",  "noise", "still", "hard",
                                                       "patches", "waves", "fade",  "lamp"};
    return names[material];
}

static uint32_t hash(int x, int y, uint32_t seed) {
    uint32_t h = (uint32_t)x * 0x9E3779B1u ^ (uint32_t)y * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
    h = (h ^ h >> 15) * 0x2C1B3C6Du;
    h = (h ^ h >> 12) * 0x297A2D39u;
    return h ^ h >> 15;
}

// Bilinear noise over a lattice of `cell` samples, 0..255.
static int lattice(int x, int y, int cell, uint32_t seed) {
    const int size = cell * UNIT, cx = (x >= 0 ? x : x - size + 1) / size,
              cy = (y >= 0 ? y : y - size + 1) / size;
    const int fx = x - cx * size, fy = y - cy * size;
    const int a = hash(cx, cy, seed) & 255, b = hash(cx + 1, cy, seed) & 255;
    const int c = hash(cx, cy + 1, seed) & 255, d = hash(cx + 1, cy + 1, seed) & 255;
    const int top = a * (size - fx) + b * fx, bottom = c * (size - fx) + d * fx;
    return (int)(((int64_t)top * (size - fy) + (int64_t)bottom * fy) / ((int64_t)size * size));
}

static int texture(int x, int y, uint32_t seed) {
    return (2 * lattice(x, y, 29, seed) + lattice(x, y, 7, seed + 1) + lattice(x, y, 3, seed + 2)) /
           4;
}

// Sample of a plane at (x, y) in units; chroma samples are twice as far apart as luma's.
typedef int (*Sample)(int x, int y, int number, uint32_t seed);

static int scene(int x, int y, int number, uint32_t seed) {
    seed += number > CUT ? 100 : 0;
    if (x > 64 * UNIT && y > 48 * UNIT && x < 96 * UNIT) return 90; // flat, and skipped
    for (int i = 0; i < 5; i++) { // objects of 5 to 21 samples in different motion
        const int size = (5 + 4 * i) * UNIT, ox = (7 + 17 * i) * UNIT + number * (i * 9 - 20),
                  oy = (5 + 11 * i) * UNIT + number * (31 - i * 13);
        if (x >= ox && x < ox + size && y >= oy && y < oy + size)
            return 255 - texture(x - ox, y - oy, seed + 20 + (uint32_t)i);
    }
    const int noise = x < 24 * UNIT ? (int)(hash(x, y, seed + (uint32_t)number) & 15) : 0;
    return texture(x + number * 20, y - number * 12, seed) * 15 / 16 + noise;
}

static int fast(int x, int y, int number, uint32_t seed) {
    const int jump = number % 2 ? 119 : 3;
    return texture(x + number * 37 * UNIT, y + jump * UNIT * (number % 4 == 1 ? 1 : -1), seed);
}

static int fade(int x, int y, int number, uint32_t seed) {
    static const int scales[8] = {64, 54, 44, 34, 24, 36, 48, 60};
    const int scale = number < 16 ? scales[number % 8] : 64 - 6 * (number % 2);
    return 16 + texture(x + number * 12, y - number * 7, seed) * 7 / 8 * scale / 64;
}

static int lamp(int x, int y, int number, uint32_t seed) {
    if (x / (16 * UNIT) % 3 < 2) return fade(x, y, number, seed);
    return 16 + texture(x + number * 12, y - number * 7, seed) * 7 / 8;
}

static int noise(int x, int y, int number, uint32_t seed) {
    return hash(x, y, seed + 7 * (uint32_t)number) & 255;
}

static int still(int x, int y, int number, uint32_t seed) {
    const int ox = (10 + 2 * number) * UNIT;
    if (x >= ox && x < ox + 6 * UNIT && y >= 20 * UNIT && y < 26 * UNIT) return 200;
    return texture(x, y, seed);
}

static int hard(int x, int y, int number, uint32_t seed) {
    const int bx = x / UNIT + (int)(hash(number, 0, seed) % 9),
              by = y / UNIT + (int)(hash(number, 1, seed) % 9);
    if (by / 16 % 3 == 0) return (bx / 4 + by / 4) & 1 ? 255 : 0;
    if (by / 16 % 3 == 1) return ((bx + by) / 3) & 1 ? 255 : 0;
    return ((bx - by + 400) / 5) & 1 ? 255 : bx % 7 ? 0 : 128;
}

static int patches(int x, int y, int number, uint32_t seed) {
    const int size = seed ? 16 : 8; // in luma samples; chroma's seeds are not 0
    const uint32_t patch = hash(x / UNIT / size, y / UNIT / size, seed + 50 + (uint32_t)number / 2);
    const int base = lattice(x, y, 61, seed + 60);
    const int strength = patch & 3 ? 0 : (int)(patch >> 2 & 63);
    const int plain = patch >> 8 & 1 ? (int)(patch >> 9 & 15) : 0; // a step of the mean only
    return (base + plain) * 3 / 4 +
           (int)(hash(x, y, seed + 70 + (uint32_t)number) & 255) * strength / 256;
}

static int waves(int x, int y, int number, uint32_t seed) {
    static const int basis[4][4] = {{1, 1, 1, 1}, {2, 1, -1, -2}, {1, -1, -1, 1}, {1, -2, 2, -1}};
    const int step = seed ? 2 : 1, px = x / UNIT / step, py = y / UNIT / step;
    int value = 128;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t wave = hash(px / 4, py / 4, seed + 80 + i + 2 * (uint32_t)number);
        const int amplitude = (int)(wave >> 4 & 63) >> (wave >> 10 & 3);
        value += basis[wave & 3][py & 3] * basis[wave >> 2 & 3][px & 3] * amplitude / 4;
    }
    return value < 0 ? 0 : value > 255 ? 255 : value;
}

MotusFrame *motus_material_frame(MotusMaterial material, int width, int height, int number) {
    static const Sample samples[MOTUS_MATERIALS] = {scene,   fast,  noise, still, hard,
                                                    patches, waves, fade,  lamp};
    MotusFrame *frame;
    if (motus_frame_alloc(&frame, width, height)) abort();
    for (int c = 0; c < 3; c++) {
        const MotusPlane *plane = &frame->plane[c];
        const int step = c ? 2 * UNIT : UNIT;
        for (int y = 0; y < plane->height; y++)
            for (int x = 0; x < plane->width; x++)
                plane->data[y * plane->stride + x] =
                    (uint8_t)samples[material](x * step, y * step, number, 1000u * (uint32_t)c);
    }
    frame->number = number;
    return frame;
}

MotusFrame *motus_middle_of(MotusFrame *frame, const int size[2]) {
    int width = size[0] <= 0 ? frame->width + size[0] : size[0],
        height = size[1] <= 0 ? frame->height + size[1] : size[1];
    if (width > frame->width) width = frame->width;
    if (height > frame->height) height = frame->height;
    const int x = (frame->width - width) / 4 * 2, y = (frame->height - height) / 4 * 2;
    uint8_t *data[3];
    ptrdiff_t stride[3];
    for (int c = 0; c < 3; c++) {
        stride[c] = frame->plane[c].stride;
        data[c] = frame->plane[c].data + (y >> (c > 0)) * stride[c] + (x >> (c > 0));
    }
    MotusFrame *part;
    if (motus_frame_wrap(&part, width & ~1, height & ~1, data, stride, NULL, NULL)) abort();
    return part;
}
