// filter/equalize_rgb: against its parts put together by hand, grey pictures, bad arguments, memory
// that runs out.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "motus/filter.h"
#include "tests/filter/from_rgb24.h"

#include <stdlib.h>
#include <string.h>

// Returns a frame of luma and chroma within `spread` of one value each.
static MotusFrame *make_frame(int width, int height, int spread) {
    MotusFrame *f = NULL;
    if (motus_frame_alloc(&f, width, height)) abort();
    for (int p = 0; p < 3; p++) {
        int base = motus_test_range(0, 255 - spread);
        for (int y = 0; y < f->plane[p].height; y++)
            for (int x = 0; x < f->plane[p].width; x++)
                f->plane[p].data[y * f->plane[p].stride + x] =
                    (uint8_t)(base + motus_test_range(0, spread));
    }
    return f;
}

// Converts to RGB24, equalizes each channel by itself, and converts back.
static void by_hand(MotusFrame *dst, const MotusFrame *src, MotusEqualizer *const channel[3],
                    int matrix_709, int full_range) {
    int w = src->width, h = src->height;
    MotusPlane rgb = {malloc(3 * (size_t)w * (size_t)h), 3 * w, 3 * w, h},
               one = {malloc((size_t)w * (size_t)h), w, w, h};
    EXPECT_OK(motus_frame_to_rgb24(&rgb, src, matrix_709, full_range, NULL));
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < w * h; i++) one.data[i] = rgb.data[3 * i + k];
        EXPECT_OK(motus_equalizer_run(channel[k], &one, &one, NULL));
        for (int i = 0; i < w * h; i++) rgb.data[3 * i + k] = one.data[i];
    }
    EXPECT_OK(frame_from_rgb24(dst, &rgb, matrix_709, full_range));
    free(rgb.data), free(one.data);
}

static void each_channel_by_itself(void) {
    for (int n = 0; n < 40; n++) {
        int w = motus_test_range(1, 150), h = motus_test_range(1, 90), m709 = n & 1,
            full = n >> 1 & 1;
        MotusEqualizeConfig config = n % 3 ? (MotusEqualizeConfig)MOTUS_EQUALIZE_PLANE
                                           : (MotusEqualizeConfig)MOTUS_EQUALIZE_CLAHE;
        config.smooth_q8 = n % 4 ? 0 : 200;
        MotusExec exec = {1 + n % 3, n >> 2 & 1};
        MotusEqualizer *channel[3];
        MotusRgbEqualizer *e;
        REQUIRE_OK(motus_rgb_equalizer_open(&e, &config, w, h, m709, full));
        for (int k = 0; k < 3; k++) REQUIRE_OK(motus_equalizer_open(&channel[k], &config, w, h));
        for (int picture = 0; picture < 3; picture++) {
            MotusFrame *src = make_frame(w, h, n % 5 ? 60 : 255), *want = make_frame(w, h, 0),
                       *dst = make_frame(w, h, 0);
            by_hand(want, src, channel, m709, full);
            EXPECT_OK(motus_rgb_equalizer_run(e, dst, src, &exec));
            MOTUS_CHECK(motus_test_same_frames(dst, want), "%dx%d case %d picture %d", w, h, n,
                        picture);
            motus_frame_unref(&src), motus_frame_unref(&want), motus_frame_unref(&dst);
        }
        for (int k = 0; k < 3; k++) motus_equalizer_close(&channel[k]);
        motus_rgb_equalizer_close(&e);
    }
}

// Three equal channels have luma's curve; in place.
static void grey_is_equalized_in_luma(void) {
    MotusEqualizeConfig config = MOTUS_EQUALIZE_PLANE;
    MotusRgbEqualizer *e;
    MotusEqualizer *luma;
    MotusFrame *f = make_frame(80, 60, 50), *want = make_frame(80, 60, 0);
    for (int p = 1; p < 3; p++)
        for (int y = 0; y < 30; y++) memset(f->plane[p].data + y * f->plane[p].stride, 128, 40);
    REQUIRE_OK(motus_frame_copy_padded(want, f));
    REQUIRE_OK(motus_rgb_equalizer_open(&e, &config, 80, 60, 0, 1));
    REQUIRE_OK(motus_equalizer_open(&luma, &config, 80, 60));
    EXPECT_OK(motus_equalizer_run(luma, &want->plane[0], &want->plane[0], NULL));
    EXPECT_OK(motus_rgb_equalizer_run(e, f, f, NULL));
    CU_ASSERT(motus_test_same_frames(f, want));
    motus_rgb_equalizer_close(&e), motus_equalizer_close(&luma);
    motus_frame_unref(&f), motus_frame_unref(&want);
}

static void memory_runs_out(void) {
    MotusEqualizeConfig config = MOTUS_EQUALIZE_PLANE;
    MotusRgbEqualizer *e = NULL;
    long n = 0;
    for (MotusStatus status = MOTUS_ERR_MEMORY; status; n++) {
        motus_alloc_fail_after(n);
        status = motus_rgb_equalizer_open(&e, &config, 33, 17, 1, 0);
        motus_alloc_fail_after(-1);
        MOTUS_CHECK(status ? status == MOTUS_ERR_MEMORY && !e : e != NULL, "allocation %ld", n);
    }
    CU_ASSERT(n > 4);
    motus_rgb_equalizer_close(&e);
}

MOTUS_SUITE("equalize_rgb", TEST(each_channel_by_itself), TEST(grey_is_equalized_in_luma),
            TEST(memory_runs_out))
