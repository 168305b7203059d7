// filter/chromakey: what becomes of chroma in 4:2:0: spill, weights.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cpu.h"
#include "filter/key/key.h"
#include "motus/filter.h"
#include "tests/support/harness.h"

#include <math.h>
#include <string.h>

// Spill in 4:2:0, for every pair of chroma samples: those within 45 degrees of the key's direction
// move away from it, by the distance to that border.
static void chroma_spill(void) {
    MotusFrame *f = motus_test_frame(512, 512), *dst = motus_test_frame(512, 512);
    for (int i = 0; i < 256 * 256; i++) {
        f->plane[1].data[i / 256 * f->plane[1].stride + i % 256] = (uint8_t)i;
        f->plane[2].data[i / 256 * f->plane[2].stride + i % 256] = (uint8_t)(i >> 8);
    }
    for (int n = 0; n < 30; n++) {
        double c[3] = {0}, kr = n & 1 ? 0.2126 : 0.299, kb = n & 1 ? 0.0722 : 0.114;
        int full = n % 3, half = (full + 1 + n / 2 % 2) % 3, partial = motus_test_range(0, 255);
        c[full] = 255, c[half] = partial;
        MotusKeyConfig key = motus_key_config((uint8_t)c[0], (uint8_t)c[1], (uint8_t)c[2]);
        key.matrix_709 = n & 1, key.full_range = n >> 1 & 1,
        key.spill_q8 = motus_test_range(1, 256);
        key.saturation = key.value = 0, key.sat_range = key.value_range = 1,
        key.soft_q8 = 1; // only black is background
        for (int y = 0; y < 512; y++) memset(f->plane[0].data + y * f->plane[0].stride, 255, 512);
        EXPECT_OK(motus_key_frame(dst, f, f, &key, NULL));
        double luma = kr * c[0] + (1 - kr - kb) * c[1] + kb * c[2], cb = (c[2] - luma) / (1 - kb),
               cr = (c[0] - luma) / (1 - kr), length = hypot(cb, cr);
        cb /= length, cr /= length;
        for (int i = 0; i < 256 * 256; i++) {
            double u = i % 256 - 128, v = i / 256 - 128,
                   inside = fmax(0, u * cb + v * cr - fabs(u * cr - v * cb)) * key.spill_q8 / 256;
            double want[2] = {fmin(fmax(u - cb * inside + 128, 0), 255),
                              fmin(fmax(v - cr * inside + 128, 0), 255)};
            for (int p = 0; p < 2; p++) {
                int got = dst->plane[1 + p].data[i / 256 * dst->plane[1 + p].stride + i % 256];
                if (fabs(got - want[p]) > 0.5 + 0.4) { // directions are rounded to 1/1024 and hues
                    MOTUS_CHECK(0, "case %d, chroma %d: %d, not %g", n, i, got, want[p]);
                    return;
                }
            }
        }
    }
    motus_frame_unref(&f), motus_frame_unref(&dst);
}

// Weights of chroma samples are rounded means. In a row with an odd number of luma samples, the
// last one counts twice.
static void mean_weights(void) {
    const MotusKeyOps *ops[2] = {&motus_key_ops_c, &motus_key_ops_c};
#if defined(__x86_64__)
    if (motus_cpu_flags() & MOTUS_CPU_AVX2) ops[1] = &motus_key_ops_avx2;
#endif
    for (int n = 1; n <= KEY_CHUNK; n++) {
        uint16_t rows[2][KEY_CHUNK], mean[KEY_CHUNK / 2];
        for (int i = 0; i < n; i++)
            rows[0][i] = (uint16_t)motus_test_range(0, 256),
            rows[1][i] = (uint16_t)motus_test_range(0, 256);
        for (int k = 0; k < 2; k++) {
            ops[k]->halve(mean, rows[0], rows[1], n);
            for (int i = 0; i < n; i += 2) {
                int j = i + 1 < n ? i + 1 : i;
                CU_ASSERT_EQUAL(
                    mean[i / 2],
                    (int)floor((rows[0][i] + rows[0][j] + rows[1][i] + rows[1][j]) / 4.0 + 0.5));
            }
        }
    }
}

// Chroma is mixed by the mean weight of its luma samples; a last single column or row counts twice.
// Dark luma is background here, bright luma foreground.
static void chroma_mean(void) {
    for (int n = 0; n < 60; n++) {
        int w = motus_test_range(1, 300), h = motus_test_range(1, 9);
        MotusFrame *fg = motus_test_frame(w, h), *bg = motus_test_frame(w, h),
                   *dst = motus_test_frame(w, h);
        for (int p = 1; p < 3; p++)
            for (int y = 0; y < fg->plane[p].height; y++)
                memset(fg->plane[p].data + y * fg->plane[p].stride, 128,
                       (size_t)fg->plane[p].width);
        MotusKeyConfig key = motus_key_config(0, 0, 0);
        key.hue_range = 5760, key.sat_range = 2048, key.value_range = 512, key.full_range = 1;
        EXPECT_OK(motus_key_frame(dst, fg, bg, &key, &(MotusExec){1 + n % 2, n / 2 & 1}));
        for (int y = 0; y < h; y += 2)
            for (int x = 0; x < w; x += 2) {
                int bright = 0;
                for (int k = 0; k < 4; k++) {
                    int px = x + (k & 1) < w ? x + (k & 1) : x,
                        py = y + (k >> 1) < h ? y + (k >> 1) : y;
                    bright += fg->plane[0].data[py * fg->plane[0].stride + px] >= 128;
                }
                for (int p = 1; p < 3; p++) {
                    int at = y / 2 * (int)bg->plane[p].stride + x / 2, back = bg->plane[p].data[at];
                    CU_ASSERT_EQUAL(dst->plane[p].data[at],
                                    (128 * 64 * bright + back * (256 - 64 * bright) + 128) >> 8);
                }
            }
        motus_frame_unref(&fg), motus_frame_unref(&bg), motus_frame_unref(&dst);
    }
}

MOTUS_SUITE("key_chroma", TEST(chroma_spill), TEST(mean_weights), TEST(chroma_mean))
