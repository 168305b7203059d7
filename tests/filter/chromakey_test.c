// filter/chromakey: the HSV rule in whole numbers, both hue distances, soft edges, spill, luma in
// 4:2:0, C against AVX2, bad arguments.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter.h"
#include "tests/filter/from_rgb24.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static MotusPlane make_rgb(int width, int height, const uint8_t near_colour[3], int spread) {
    MotusPlane p = motus_test_plane(3 * width, height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < 3 * width; x++) {
            int v = near_colour[x % 3] + motus_test_range(-spread, spread);
            p.data[y * p.stride + x] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
        }
    return p;
}

// V = max, S = (max - min) / max, H in degrees by sector, + 360 if negative.
static void hsv(double out[3], const double *c) {
    double r = c[0], g = c[1], b = c[2], high = fmax(r, fmax(g, b)), low = fmin(r, fmin(g, b)),
           d = high - low, h = 0;
    if (d > 0)
        h = high == r   ? 60 * (g - b) / d
            : high == g ? 120 + 60 * (b - r) / d
                        : 240 + 60 * (r - g) / d;
    out[0] = h < 0 ? h + 360 : h, out[1] = high > 0 ? d / high : 0, out[2] = high / 255.0;
}

static double hue_distance(double hue, const MotusKeyConfig *k) {
    double distance = fabs(hue - k->hue / 16.0);
    return k->plain_hue || distance <= 180 ? distance : 360 - distance;
}

// Returns 1 for background, 0 for foreground by the documented rule, multiplied out: H in 1/16
// degrees and S in 1/1024 are n / d.
static int document_rule(const uint8_t *c, const MotusKeyConfig *k) {
    int r = c[0], g = c[1], b = c[2], high = r > g ? (r > b ? r : b) : (g > b ? g : b),
        low = r < g ? (r < b ? r : b) : (g < b ? g : b), d = high - low;
    int hue = 960 * (high == r   ? g - b
                     : high == g ? b - r + 2 * d
                                 : r - g + 4 * d),
        unit = d ? d : 1, shade = high ? high : 1;
    if (hue < 0) hue += 5760 * d;
    int distance = abs(hue - k->hue * unit);
    if (!k->plain_hue && distance > 2880 * unit) distance = 5760 * unit - distance;
    return distance < k->hue_range * unit &&
           abs(1024 * d - k->saturation * shade) < k->sat_range * shade &&
           abs(1024 * high - k->value * 255) < k->value_range * 255;
}

static MotusKeyConfig random_key(uint8_t colour[3]) {
    motus_test_fill(colour, 3);
    if (motus_test_range(0, 3) == 0)
        colour[0] = 250, colour[1] = 10,
        colour[2] = (uint8_t)motus_test_range(0, 40); // hue around 0
    MotusKeyConfig k = motus_key_config(colour[0], colour[1], colour[2]);
    k.hue_range = motus_test_range(1, 900), k.sat_range = motus_test_range(1, 1024),
    k.value_range = motus_test_range(1, 1024);
    k.plain_hue = motus_test_range(0, 1);
    // Thresholds at the edges of sectors, half circles and whole circles.
    if (motus_test_range(0, 3) == 0) {
        k.hue = motus_test_range(0, 11) * 480, k.hue_range = motus_test_range(1, 12) * 480;
        if (motus_test_range(0, 1)) k.sat_range = k.value_range = 2048;
    }
    return k;
}

static void rgb_is_the_document(void) {
    int backgrounds = 0, foregrounds = 0;
    for (int n = 0; n < 400; n++) {
        uint8_t colour[3], grey[3] = {90, 90, 90};
        MotusKeyConfig key = random_key(colour);
        if (n % 5 == 4)
            colour[1] = colour[2] = colour[0] =
                (uint8_t)(n / 5 & 1); // dark, and nearly grey: many equal channels
        MotusPlane fg = make_rgb(motus_test_range(1, 300), motus_test_range(1, 6), colour,
                                 n % 5 == 4 ? 2
                                 : n % 4    ? 60
                                            : 255);
        MotusPlane bg = make_rgb(fg.width / 3, fg.height, grey, 255),
                   dst = make_rgb(fg.width / 3, fg.height, grey, 0);
        MotusExec exec = {1, n & 1};
        EXPECT_OK(motus_key_rgb24(&dst, &fg, &bg, &key, &exec));
        for (int y = 0; y < fg.height; y++)
            for (int x = 0; x < fg.width; x += 3) {
                int rule = document_rule(fg.data + y * fg.stride + x, &key);
                const MotusPlane *from = rule ? &bg : &fg;
                MOTUS_CHECK(
                    !memcmp(dst.data + y * dst.stride + x, from->data + y * from->stride + x, 3),
                    "case %d pixel %d,%d rule %d", n, x / 3, y, rule);
                backgrounds += rule, foregrounds += !rule;
            }
        CU_ASSERT(motus_test_guard_ok(dst.data));
        motus_test_guard_free(fg.data), motus_test_guard_free(bg.data),
            motus_test_guard_free(dst.data);
    }
    MOTUS_CHECK(backgrounds > 1000 && foregrounds > 1000, "%d and %d", backgrounds, foregrounds);
}

// Hue 359 is 2 degrees from hue 1 around the circle, 358 without the circle.
static void around_the_circle(void) {
    uint8_t fg_pixel[3] = {255, 0, 4}, bg_pixel[3] = {1, 2, 3}, out_pixel[3];
    MotusPlane fg = {fg_pixel, 3, 3, 1}, bg = {bg_pixel, 3, 3, 1}, out = {out_pixel, 3, 3, 1};
    MotusKeyConfig key = motus_key_config(255, 4, 0);
    key.hue_range = 10 * 16;
    motus_key_rgb24(&out, &fg, &bg, &key, NULL);
    CU_ASSERT(!memcmp(out_pixel, bg_pixel, 3));
    key.plain_hue = 1;
    motus_key_rgb24(&out, &fg, &bg, &key, NULL);
    CU_ASSERT(!memcmp(out_pixel, fg_pixel, 3));
}

// On a ramp of grey, with a black background and white foreground, the weight rises with the
// distance from the key, from 0 to 255.
static void soft_edge(void) {
    MotusKeyConfig key = motus_key_config(0, 255, 0);
    key.sat_range = 300, key.soft_q8 = 256, key.value_range = 2048, key.hue_range = 5760;
    uint8_t fg_row[3 * 256], bg_row[3 * 256] = {0}, out_row[3 * 256];
    for (int i = 0; i < 256; i++)
        fg_row[3 * i] = fg_row[3 * i + 2] = (uint8_t)i, fg_row[3 * i + 1] = 255; // saturation falls
    MotusPlane fg = {fg_row, sizeof fg_row, sizeof fg_row, 1},
               bg = {bg_row, sizeof bg_row, sizeof bg_row, 1},
               out = {out_row, sizeof out_row, sizeof out_row, 1};
    EXPECT_OK(motus_key_rgb24(&out, &fg, &bg, &key, NULL));
    int between = 0;
    for (int i = 0; i < 256; i++) {
        double distance = i / 255.0 * 1024 / 300, weight = (distance - 1) / 1.0;
        weight = weight < 0 ? 0 : weight > 1 ? 1 : weight;
        MOTUS_CHECK(fabs(out_row[3 * i + 1] - 255 * weight) < 2.1, "i %d: %d, not %g", i,
                    out_row[3 * i + 1], 255 * weight);
        between += out_row[3 * i + 1] > 0 && out_row[3 * i + 1] < 255;
    }
    MOTUS_CHECK(between > 60, "%d", between);
}

// The weight of a soft edge is that of the farthest distance. It and the threshold are rounded to
// 1/256; single precision adds a small error.
static void soft_weights(void) {
    int between = 0;
    for (int n = 0; n < 200; n++) {
        uint8_t colour[3];
        MotusKeyConfig key = random_key(colour);
        key.soft_q8 = motus_test_range(1, 1024);
        if (key.hue_range < 40)
            key.hue_range += 40; // tiny thresholds show the error of single precision
        if (key.sat_range < 40) key.sat_range += 40;
        if (key.value_range < 40) key.value_range += 40;
        MotusPlane fg = make_rgb(100, 2, colour, 80), bg = make_rgb(100, 2, colour, 0),
                   out = make_rgb(100, 2, colour, 0);
        memset(bg.data, 0, (size_t)(bg.stride * 2));
        EXPECT_OK(motus_key_rgb24(&out, &fg, &bg, &key, &(MotusExec){1, n & 1}));
        for (int i = 0; i < 300; i += 3) {
            double v[3], c[3] = {fg.data[i], fg.data[i + 1], fg.data[i + 2]};
            hsv(v, c);
            double hue = hue_distance(v[0], &key) * 16 / key.hue_range,
                   sat = fabs(1024 * v[1] - key.saturation) / key.sat_range,
                   value = fabs(1024 * v[2] - key.value) / key.value_range;
            double weight = 256 * (fmax(hue, fmax(sat, value)) - 1) / (key.soft_q8 / 256.0);
            weight = weight < 0 ? 0 : weight > 256 ? 256 : weight;
            for (int k = 0; k < 3; k++)
                MOTUS_CHECK(fabs(out.data[i + k] - c[k] * weight / 256) < 0.5 + 1.05 * c[k] / 256,
                            "%d, not %g * %g / 256", out.data[i + k], c[k], weight);
            between += weight > 1 && weight < 255;
        }
        motus_test_guard_free(fg.data), motus_test_guard_free(bg.data),
            motus_test_guard_free(out.data);
    }
    MOTUS_CHECK(between > 1000, "%d", between);
}

static void spill(void) {
    uint8_t fg_pixel[6] = {100, 200, 120, 200, 100, 150}, bg_pixel[6] = {0}, out_pixel[6];
    MotusPlane fg = {fg_pixel, 6, 6, 1}, bg = {bg_pixel, 6, 6, 1}, out = {out_pixel, 6, 6, 1};
    MotusKeyConfig key = motus_key_config(0, 255, 0);
    key.hue_range = 16, key.sat_range = 16, key.spill_q8 = 256;
    motus_key_rgb24(&out, &fg, &bg, &key, NULL);
    CU_ASSERT(!memcmp(out_pixel, (uint8_t[6]){100, 120, 120, 200, 100, 150}, 6));
    key.spill_q8 = 128;
    motus_key_rgb24(&out, &fg, &bg, &key, NULL);
    CU_ASSERT_EQUAL(out_pixel[1], 160);
}

static MotusFrame *make_frame(int width, int height, int flat) {
    MotusFrame *f = NULL;
    REQUIRE_OK(motus_frame_alloc(&f, width, height));
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < f->plane[p].height; y++)
            for (int x = 0; x < f->plane[p].width; x++)
                f->plane[p].data[y * f->plane[p].stride + x] =
                    (uint8_t)(flat ? (p ? 60 + 40 * ((x / 4 + p) % 3) : 120) +
                                         motus_test_range(-9, 9)
                                   : motus_test_range(0, 255));
    return f;
}

// Each luma sample follows the rule with the saturation and value of its RGB pixel and the hue of
// its chroma sample. Conversions are within 1 of the real matrix and nearly undo each other.
static void frames(void) {
    int counts[2] = {0};
    for (int n = 0; n < 80; n++) {
        int w = motus_test_range(1, 280), h = motus_test_range(1, 9), m709 = n & 1,
            full = n / 2 & 1;
        MotusFrame *fg = make_frame(w, h, n % 3), *bg = make_frame(w, h, 0),
                   *dst = make_frame(w, h, 0);
        uint8_t none[3] = {0};
        MotusPlane rgb = make_rgb(w, h, none, 0);
        EXPECT_OK(motus_frame_to_rgb24(&rgb, fg, m709, full, NULL));
        MotusKeyConfig key = motus_key_config(rgb.data[0], rgb.data[1], rgb.data[2]);
        key.matrix_709 = m709, key.full_range = full;
        if (n % 5 == 1) key.hue_range = motus_test_range(1, 5760), key.plain_hue = n / 5 & 1;
        EXPECT_OK(motus_key_frame(dst, fg, bg, &key, &(MotusExec){1 + n % 2, n / 4 & 1}));
        double kr = m709 ? 0.2126 : 0.299, kb = m709 ? 0.0722 : 0.114, ly = full ? 1 : 219 / 255.0,
               lc = full ? 1 : 224 / 255.0;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                int at = y / 2 * (int)fg->plane[1].stride + x / 2,
                    luma = fg->plane[0].data[y * fg->plane[0].stride + x];
                double v = (luma - (full ? 0 : 16)) / ly, cb = (fg->plane[1].data[at] - 128) / lc,
                       cr = (fg->plane[2].data[at] - 128) / lc;
                double from_chroma[3] = {2 * (1 - kr) * cr, 0, 2 * (1 - kb) * cb}, want[3];
                from_chroma[1] = -(kr * from_chroma[0] + kb * from_chroma[2]) /
                                 (1 - kr - kb); // exactly 0 where both are: the hue of grey is 0
                for (int i = 0; i < 3; i++) want[i] = v + from_chroma[i];
                const uint8_t *c = rgb.data + y * rgb.stride + 3 * x;
                for (int i = 0; i < 3; i++) {
                    double clipped = want[i] < 0 ? 0 : want[i] > 255 ? 255 : want[i];
                    MOTUS_CHECK(fabs(c[i] - clipped) < 0.56, "channel %d: %d, not %g", i, c[i],
                                clipped);
                }
                double sv[3], hue[3], pixel[3] = {c[0], c[1], c[2]};
                hsv(sv, pixel), hsv(hue, from_chroma);
                double sat = fabs(1024 * sv[1] - key.saturation) - key.sat_range,
                       away = hue_distance(hue[0], &key) - key.hue_range / 16.0,
                       value = fabs(1024 * sv[2] - key.value) - key.value_range;
                if (fabs(sat) < 1e-9 || fabs(value) < 1e-9 ||
                    (fabs(away) < 0.03 && sat < 0 && value < 0))
                    continue;
                int rule = sat < 0 && value < 0 && away < 0;
                counts[rule]++;
                MotusFrame *from = rule ? bg : fg;
                CU_ASSERT_EQUAL(dst->plane[0].data[y * dst->plane[0].stride + x],
                                from->plane[0].data[y * from->plane[0].stride + x]);
            }
        motus_frame_unref(&fg), motus_frame_unref(&bg), motus_frame_unref(&dst);
        motus_test_guard_free(rgb.data);
    }
    MOTUS_CHECK(counts[0] > 5000 && counts[1] > 5000, "%d and %d", counts[0], counts[1]);
}

// Grey survives both conversions exactly in full range; a colour returns within 2.
static void rgb_round_trip(void) {
    for (int n = 0; n < 20; n++) {
        uint8_t colour[3];
        motus_test_fill(colour, 3);
        int w = motus_test_range(1, 40), h = motus_test_range(1, 30), full = n & 1,
            m709 = n / 2 & 1;
        MotusPlane rgb = make_rgb(w, h, colour, 0), back = make_rgb(w, h, colour, 0);
        MotusFrame *f = make_frame(w, h, 0);
        EXPECT_OK(frame_from_rgb24(f, &rgb, m709, full));
        EXPECT_OK(motus_frame_to_rgb24(&back, f, m709, full, NULL));
        for (int y = 0; y < h; y++)
            for (int x = 0; x < 3 * w; x++)
                MOTUS_CHECK(abs(back.data[y * back.stride + x] - colour[x % 3]) <= 3, "%d, not %d",
                            back.data[y * back.stride + x], colour[x % 3]);
        motus_frame_unref(&f);
        motus_test_guard_free(rgb.data), motus_test_guard_free(back.data);
    }
}

// Split planes hold one channel each; joined, they are the picture again.
static void channels(void) {
    for (int n = 0; n < 20; n++) {
        uint8_t colour[3] = {60, 120, 200};
        MotusPlane rgb = make_rgb(motus_test_range(1, 300), motus_test_range(1, 9), colour, 50),
                   back = make_rgb(rgb.width / 3, rgb.height, colour, 0);
        MotusPlane planes[3];
        MotusExec exec = {1 + n % 3, n & 1};
        for (int k = 0; k < 3; k++) planes[k] = motus_test_plane(rgb.width / 3, rgb.height);
        EXPECT_OK(motus_rgb24_split(planes, &rgb, &exec));
        for (int i = 0; i < rgb.width * rgb.height; i++) {
            int x = i % rgb.width, y = i / rgb.width;
            CU_ASSERT_EQUAL(planes[x % 3].data[y * planes[x % 3].stride + x / 3],
                            rgb.data[y * rgb.stride + x]);
        }
        EXPECT_OK(motus_rgb24_join(&back, planes, &exec));
        CU_ASSERT(motus_test_same_planes(&back, &rgb));
        planes[2].height++;
        CU_ASSERT_EQUAL(motus_rgb24_join(&back, planes, &exec), MOTUS_ERR_ARGUMENT);
        CU_ASSERT(motus_test_guard_ok(back.data));
        for (int k = 0; k < 3; k++) {
            CU_ASSERT(motus_test_guard_ok(planes[k].data));
            motus_test_guard_free(planes[k].data);
        }
        motus_test_guard_free(rgb.data), motus_test_guard_free(back.data);
    }
}

static void executors_agree(void) {
    for (int n = 0; n < 60; n++) {
        uint8_t colour[3], grey[3] = {90, 90, 90};
        MotusKeyConfig key = random_key(colour);
        key.soft_q8 = n % 3 * 200, key.spill_q8 = n % 2 * 200;
        MotusExec plain = {1, 1}, fast = {3, 0};
        MotusPlane fg = make_rgb(motus_test_range(1, 400), 3, colour, 90),
                   bg = make_rgb(fg.width / 3, 3, grey, 80);
        MotusPlane a = make_rgb(fg.width / 3, 3, grey, 0), b = make_rgb(fg.width / 3, 3, grey, 0);
        motus_key_rgb24(&a, &fg, &bg, &key, &plain);
        motus_key_rgb24(&b, &fg, &bg, &key, &fast);
        CU_ASSERT(motus_test_same_planes(&a, &b));
        MotusFrame *f[4];
        for (int k = 0; k < 4; k++) f[k] = make_frame(fg.width / 3, 5, n % 2);
        motus_key_frame(f[2], f[0], f[1], &key, &plain);
        motus_key_frame(f[3], f[0], f[1], &key, &fast);
        MOTUS_CHECK(motus_test_same_frames(f[2], f[3]), "width %d soft %d spill %d", fg.width / 3,
                    key.soft_q8, key.spill_q8);
        motus_key_frame(f[0], f[0], f[1], &key, &fast);
        MOTUS_CHECK(motus_test_same_frames(f[2], f[0]), "in place, width %d", fg.width / 3);
        for (int k = 0; k < 4; k++) motus_frame_unref(&f[k]);
        motus_test_guard_free(fg.data), motus_test_guard_free(bg.data),
            motus_test_guard_free(a.data), motus_test_guard_free(b.data);
    }
}

MOTUS_SUITE("chromakey", TEST(rgb_is_the_document), TEST(around_the_circle), TEST(soft_edge),
            TEST(soft_weights), TEST(spill), TEST(frames), TEST(rgb_round_trip), TEST(channels),
            TEST(executors_agree))
