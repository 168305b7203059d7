// The generator of sequences: the same samples on every machine, and true MVs.
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/harness.h"
#include "tools/synth/synth.h"

#include <stdlib.h>
#include <string.h>

static uint64_t checksum(uint64_t sum, const MotusFrame *frame) {
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < frame->plane[p].height; y++)
            for (int x = 0; x < frame->plane[p].width; x++)
                sum = (sum ^ frame->plane[p].data[y * frame->plane[p].stride + x]) *
                      0x100000001B3u; // FNV-1a
    return sum;
}

// Renders frame n with a fresh generator.
static MotusFrame *render(const MotusSynthConfig *config, int64_t n) {
    MotusSynth *synth = NULL;
    MotusFrame *frame = NULL;
    if (motus_synth_open(&synth, config) ||
        motus_frame_alloc(&frame, config->width, config->height))
        abort();
    motus_synth_frame(synth, n, frame);
    motus_synth_close(&synth);
    return frame;
}

static const struct {
    const char *name;
    MotusSynthConfig config;
    uint64_t sum;
} goldens[] = {
    {"still", {64, 48, 1, 0, 0, 65536, 0, 0, 0, 0, 0}, 0xA71F0E181C90D1F5},
    {"pan", {176, 144, 2, 5, -3, 65536, 0, 0, 0, 0, 0}, 0xD0866C862FE3462B},
    {"zoom_rotate", {98, 70, 3, 1, 1, 66500, 700, 0, 0, 0, 0}, 0x74CE538AA93BD240},
    {"rotate_back", {64, 64, 3, 0, 0, 64000, -44999, 0, 0, 0, 0}, 0x11FE699934CAC206},
    {"objects_noise_cut_flat", {120, 90, 4, -6, 2, 65536, 0, 7, 9, 3, 30}, 0x18CE22E8C83E927E},
    {"odd_1x1", {1, 1, 5, 3, 3, 65536, 100, 2, 1, 2, 10}, 0x21DEC4317C6309B7},
};

static void same_samples_as_ever(void) {
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        uint64_t sum = 0xCBF29CE484222325u;
        const int64_t numbers[] = {0, 1, 5, 66, 100000};
        for (int k = 0; k < 5; k++) {
            MotusFrame *frame = render(&goldens[i].config, numbers[k]);
            sum = checksum(sum, frame);
            motus_frame_unref(&frame);
        }
        MOTUS_CHECK(sum == goldens[i].sum, "%s: 0x%016llX", goldens[i].name,
                    (unsigned long long)sum);
    }
}

static void frames_in_any_order(void) {
    MotusSynthConfig config = motus_synth_config_default(80, 48);
    config.pan_x = 3, config.objects = 4, config.noise = 2, config.cut_every = 4, config.flat = 20;
    MotusSynth *synth = NULL;
    MotusFrame *frame = NULL;
    CU_ASSERT_FATAL(!motus_synth_open(&synth, &config) && !motus_frame_alloc(&frame, 80, 48));
    for (int i = 0; i < 20; i++) {
        int n = motus_test_range(0, 12);
        MotusFrame *alone = render(&config, n);
        motus_synth_frame(synth, n, frame);
        MOTUS_CHECK(checksum(0, frame) == checksum(0, alone), "frame %d", n);
        motus_frame_unref(&alone);
    }
    motus_frame_unref(&frame);
    motus_synth_close(&synth);
}

// Blocks marked whole in the truth, with whole-sample MVs, are found unchanged in the previous
// frame at their MVs.
static void count_exact_blocks(const MotusSynthConfig *config, int n, int *blocks, int *whole) {
    MotusSynth *synth = NULL;
    MotusFrame *now = render(config, n), *before = render(config, n - 1);
    if (motus_synth_open(&synth, config)) abort();
    for (int y = 0; y + 8 <= config->height; y += 8)
        for (int x = 0; x + 8 <= config->width; x += 8) {
            MotusSynthTruth t;
            CU_ASSERT_FATAL(motus_synth_truth(synth, n, x, y, 8, 8, &t));
            ++*blocks;
            *whole += t.whole;
            if (!t.whole || t.mv.x % 4 || t.mv.y % 4) continue;
            const MotusPlane *a = &now->plane[0], *b = &before->plane[0];
            int differ = 0;
            for (int j = 0; j < 8; j++)
                differ |= memcmp(a->data + (y + j) * a->stride + x,
                                 b->data + (y + j + t.mv.y / 4) * b->stride + x + t.mv.x / 4, 8);
            MOTUS_CHECK(!differ, "seed=%u pan=%d,%d objects=%d frame=%d block=%d,%d mv=%d,%d",
                        config->seed, config->pan_x, config->pan_y, config->objects, n, x, y,
                        t.mv.x, t.mv.y);
        }
    motus_synth_close(&synth);
    motus_frame_unref(&now);
    motus_frame_unref(&before);
}

static void whole_sample_motion_is_exact(void) {
    int blocks = 0, whole = 0;
    for (int i = 0; i < 20; i++) {
        MotusSynthConfig config =
            motus_synth_config_default(motus_test_range(40, 200), motus_test_range(40, 200));
        config.seed = motus_test_random();
        config.pan_x = 4 * motus_test_range(-8, 8);
        config.pan_y = 4 * motus_test_range(-8, 8);
        config.objects = motus_test_range(0, 5);
        config.flat = motus_test_range(0, 20);
        count_exact_blocks(&config, motus_test_range(1, 30), &blocks, &whole);
    }
    MOTUS_CHECK(whole * 2 > blocks, "%d of %d blocks are whole", whole, blocks);
}

static void pan_truth(void) {
    for (int i = 0; i < 50; i++) {
        MotusSynthConfig config = motus_synth_config_default(64, 64);
        config.pan_x = motus_test_range(-MOTUS_SYNTH_MAX_PAN, MOTUS_SYNTH_MAX_PAN);
        config.pan_y = motus_test_range(-MOTUS_SYNTH_MAX_PAN, MOTUS_SYNTH_MAX_PAN);
        MotusSynth *synth = NULL;
        MotusSynthTruth t;
        CU_ASSERT_FATAL(!motus_synth_open(&synth, &config));
        CU_ASSERT_EQUAL(motus_synth_truth(synth, 0, 16, 16, 16, 16, &t), 0);
        CU_ASSERT_EQUAL(motus_synth_truth(synth, 1 + i * i, 16, 16, 16, 16, &t), 1);
        MOTUS_CHECK(t.mv.x == -config.pan_x && t.mv.y == -config.pan_y && !t.flat && !t.layer,
                    "pan %d,%d: %d,%d", config.pan_x, config.pan_y, t.mv.x, t.mv.y);
        motus_synth_close(&synth);
    }
}

// Returns the sample half-way between x and x + 1 by the 6-tap filter of 8.4.2.2.1.
static int half_sample(const MotusPlane *p, int x, int y) {
    const uint8_t *s = p->data + y * p->stride + x;
    int v = (s[-2] - 5 * s[-1] + 20 * s[0] + 20 * s[1] - 5 * s[2] + s[3] + 16) >> 5;
    return v < 0 ? 0 : v > 255 ? 255 : v;
}

// A pan by half a sample equals the standard's interpolation of the previous frame: the texture
// holds little that the filter would lose. It has detail: without motion compensation the
// difference is large, and every 4x4 block varies.
static void texture_is_detailed_and_band_limited(void) {
    MotusSynthConfig config = motus_synth_config_default(200, 120);
    config.seed = motus_test_random();
    config.pan_x = -2;
    MotusFrame *a = render(&config, 0), *b = render(&config, 1);
    double interpolated = 0, still = 0;
    int n = 0, flattest = 999;
    for (int y = 0; y < 120; y++)
        for (int x = 2; x < 197; x++, n++) {
            int now = b->plane[0].data[y * b->plane[0].stride + x],
                d = half_sample(&a->plane[0], x, y) - now;
            int e = a->plane[0].data[y * a->plane[0].stride + x] - now;
            interpolated += d * d, still += e * e;
        }
    for (int y = 0; y < 120; y += 4)
        for (int x = 0; x < 200; x += 4) {
            int lo = 255, hi = 0;
            for (int k = 0; k < 16; k++) {
                int v = a->plane[0].data[(y + k / 4) * a->plane[0].stride + x + k % 4];
                lo = v < lo ? v : lo, hi = v > hi ? v : hi;
            }
            flattest = hi - lo < flattest ? hi - lo : flattest;
        }
    MOTUS_CHECK(interpolated / n < 1.0 && still / n > 20 * interpolated / n,
                "mean squared error %.2f, still %.2f", interpolated / n, still / n);
    MOTUS_CHECK(flattest >= 2, "a 4x4 block spans %d values", flattest);
    motus_frame_unref(&a);
    motus_frame_unref(&b);
}

// For zoom and rotation the rounded MV matches much better than none.
static void affine_truth(void) {
    MotusSynthConfig config = motus_synth_config_default(256, 192);
    config.seed = motus_test_random();
    config.zoom_q16 = 66800;
    config.rotate_mdeg = 900;
    MotusSynth *synth = NULL;
    MotusFrame *now = render(&config, 6), *before = render(&config, 5);
    CU_ASSERT_FATAL(!motus_synth_open(&synth, &config));
    long with = 0, without = 0;
    for (int y = 0; y + 4 <= 192; y += 4)
        for (int x = 0; x + 4 <= 256; x += 4) {
            MotusSynthTruth t;
            motus_synth_truth(synth, 6, x, y, 4, 4, &t);
            if (!t.whole) continue;
            int dx = (t.mv.x + 2) >> 2, dy = (t.mv.y + 2) >> 2;
            for (int k = 0; k < 16; k++) {
                int i = x + k % 4, j = y + k / 4;
                int v = now->plane[0].data[j * now->plane[0].stride + i];
                with += abs(v - before->plane[0].data[(j + dy) * before->plane[0].stride + i + dx]);
                without += abs(v - before->plane[0].data[j * before->plane[0].stride + i]);
            }
        }
    MOTUS_CHECK(with * 3 < without, "%ld with vectors, %ld without", with, without);
    motus_synth_close(&synth);
    motus_frame_unref(&now);
    motus_frame_unref(&before);
}

static void noise_and_cuts(void) {
    MotusSynthConfig quiet = motus_synth_config_default(64, 64), noisy = quiet;
    noisy.noise = 5;
    MotusFrame *a = render(&quiet, 3), *b = render(&noisy, 3), *c = render(&noisy, 4);
    int largest = 0;
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++) {
            int d = abs(a->plane[0].data[y * a->plane[0].stride + x] -
                        b->plane[0].data[y * b->plane[0].stride + x]);
            largest = d > largest ? d : largest;
        }
    CU_ASSERT_EQUAL(largest, 5);
    CU_ASSERT_NOT_EQUAL(checksum(0, b), checksum(0, c));
    motus_frame_unref(&a);
    motus_frame_unref(&b);
    motus_frame_unref(&c);
    quiet.cut_every = 3;
    MotusSynth *synth = NULL;
    MotusSynthTruth t;
    CU_ASSERT_FATAL(!motus_synth_open(&synth, &quiet));
    for (int n = 0; n < 9; n++)
        MOTUS_CHECK(motus_synth_truth(synth, n, 0, 0, 8, 8, &t) == (n % 3 != 0), "frame %d", n);
    motus_synth_close(&synth);
    a = render(&quiet, 2), b = render(&quiet, 3);
    CU_ASSERT_NOT_EQUAL(checksum(0, a), checksum(0, b));
    motus_frame_unref(&a);
    motus_frame_unref(&b);
}

static void settings_out_of_range(void) {
    const MotusSynthConfig good = motus_synth_config_default(64, 64);
    MotusSynthConfig bad[12];
    for (int i = 0; i < 12; i++) bad[i] = good;
    bad[0].width = 0, bad[1].height = MOTUS_MAX_SIZE + 1, bad[2].pan_x = 513, bad[3].pan_y = -513,
    bad[4].zoom_q16 = 0;
    bad[5].zoom_q16 = 80000, bad[6].rotate_mdeg = 45001, bad[7].objects = 65, bad[8].noise = -1,
    bad[9].cut_every = -1;
    bad[10].flat = 101, bad[11].objects = -1;
    for (int i = 0; i < 12; i++) {
        MotusSynth *synth = (MotusSynth *)1;
        MOTUS_CHECK(motus_synth_open(&synth, &bad[i]) == MOTUS_ERR_ARGUMENT && !synth, "case %d",
                    i);
    }
}

MOTUS_SUITE("synth", TEST(same_samples_as_ever), TEST(frames_in_any_order),
            TEST(whole_sample_motion_is_exact), TEST(pan_truth),
            TEST(texture_is_detailed_and_band_limited), TEST(affine_truth), TEST(noise_and_cuts),
            TEST(settings_out_of_range))
