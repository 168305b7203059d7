// Statistics of source pictures against plain sums, and the weights that are found in pictures that
// fade, move, change in part, or do not change.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "encoder/weights/moments_core.h"
#include "encoder/weights/weights.h"
#include "tests/support/harness.h"
#include "tools/synth/synth.h"

static int scene_mbs[2] = {22, 18}; // width and height

// ---- Statistics ---------------------------------------------------------------------------------

static void expect_stats(const MotusSourceStats *stats, const MotusFrame *frame, int mb_width) {
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &frame->plane[p];
        uint64_t sum = 0, squares = 0;
        for (int y = 0; y < plane->height; y++)
            for (int x = 0; x < plane->width; x++) {
                const uint64_t v = plane->data[y * plane->stride + x];
                sum += v, squares += v * v;
            }
        MOTUS_CHECK(stats->sum[p] == sum && stats->squares[p] == squares, "plane %d", p);
    }
    for (int y = 0; y < frame->plane[0].height; y += 8)
        for (int x = 0; x < frame->plane[0].width; x += 8) {
            int sum = 0;
            for (int i = 0; i < 64; i++)
                sum += frame->plane[0].data[(y + i / 8) * frame->plane[0].stride + x + i % 8];
            const int want = (sum * MOTUS_SMALL_ONE + 32) / 64,
                      got = stats->small[y / 8 * 2 * mb_width + x / 8];
            MOTUS_CHECK(got == want, "sample %d, %d is %d, not %d", x / 8, y / 8, got, want);
        }
}

static void statistics(void) {
    for (int k = 0; k < 20; k++) {
        const int mb_width = motus_test_range(1, 9), mb_height = motus_test_range(1, 5);
        const size_t bytes = motus_source_stats_bytes(mb_width, mb_height);
        MotusFrame *frame = NULL;
        MotusSourceStats *stats = malloc(bytes), *again = malloc(bytes);
        CU_ASSERT_FATAL(stats && again);
        REQUIRE_OK(motus_frame_alloc(&frame, 16 * mb_width, 16 * mb_height));
        for (int p = 0; p < 3; p++)
            for (int y = 0; y < frame->plane[p].height; y++)
                for (int x = 0; x < frame->plane[p].width; x++)
                    frame->plane[p].data[y * frame->plane[p].stride + x] =
                        (uint8_t)(k ? motus_test_range(0, 255) : 255);
        memset(stats, MOTUS_TEST_POISON, bytes);
        motus_source_stats_measure(stats, frame, 1);
        motus_source_stats_measure(again, frame, 3);
        expect_stats(stats, frame, mb_width);
        MOTUS_CHECK(!memcmp(stats, again, bytes), "three threads, case %d", k);
        motus_frame_unref(&frame);
        free(stats);
        free(again);
    }
}

// ---- Weights ------------------------------------------------------------------------------------

// Picture i of a scene whose objects move.
static MotusFrame *scene(int i) {
    MotusSynthConfig config = motus_synth_config_default(16 * scene_mbs[0], 16 * scene_mbs[1]);
    MotusSynth *synth = NULL;
    MotusFrame *frame = NULL;
    config.seed = 7, config.noise = 1;
    REQUIRE_OK(motus_synth_open(&synth, &config));
    REQUIRE_OK(motus_frame_alloc(&frame, 16 * scene_mbs[0], 16 * scene_mbs[1]));
    motus_synth_frame(synth, i, frame);
    motus_synth_close(&synth);
    return frame;
}

// Scales the luma of columns from `first` on by scale / 64, towards 16, and chroma towards 128.
static void fade(const MotusFrame *frame, int first, int scale) {
    for (int p = 0; p < 3; p++)
        for (int y = 0; y < frame->plane[p].height; y++)
            for (int x = p ? first / 2 : first; x < frame->plane[p].width; x++) {
                uint8_t *v = &frame->plane[p].data[y * frame->plane[p].stride + x];
                const int black = p ? 128 : 16;
                *v = motus_clip_u8(black + (*v - black) * scale / 64);
            }
}

// Shows the finder a picture, which it takes over.
static void show(MotusWeightFinder *finder, MotusFrame *frame) {
    motus_source_stats_measure(motus_weight_finder_stats(finder), frame, 1);
    motus_frame_unref(&frame);
}

static MotusWeightFinder *finder_of(int references) {
    MotusWeightFinder *finder = NULL;
    REQUIRE_OK(motus_weight_finder_open(&finder, references, scene_mbs[0], scene_mbs[1]));
    return finder;
}

// Returns the weights of a picture in one reference.
static MotusWeights find_one(MotusFrame *reference, MotusFrame *frame, int repeats,
                             MotusRepeat *repeat) {
    static const int32_t shown = 3;
    MotusWeightFinder *finder = finder_of(1);
    MotusWeights weights;
    show(finder, reference);
    motus_weight_finder_keep(finder, shown, 0, 1);
    show(finder, frame);
    *repeat = motus_weights_find(finder, 1, &shown, repeats, &weights);
    motus_weight_finder_close(&finder);
    CU_ASSERT(!finder);
    return weights;
}

static void fade_by(int first, int step) {
    for (int scale = first; scale <= 250; scale += step) {
        MotusFrame *from = scene(0), *to = scene(1);
        fade(from, 0, scale > 64 ? 16 : 64);
        fade(to, 0, scale > 64 ? scale / 4 : scale);
        MotusRepeat repeat;
        const MotusWeights w = find_one(from, to, 1, &repeat);
        CU_ASSERT(repeat == MOTUS_REPEAT_NONE);
        const MotusWeight luma = w.ref[0].plane[0], cb = w.ref[0].plane[1];
        const int wanted = motus_min(127, scale * (1 << w.log2_denom) / 64),
                  tolerance = 2 + wanted / 16;
        MOTUS_CHECK(w.ref[0].has_luma && motus_abs(luma.weight - wanted) <= tolerance,
                    "scale %d: weight %d / %d", scale, luma.weight, 1 << w.log2_denom);
        MOTUS_CHECK(w.ref[0].has_chroma && motus_abs(cb.weight - wanted) <= tolerance + wanted / 8,
                    "scale %d: chroma's weight %d / %d", scale, cb.weight, 1 << w.log2_denom);
        for (int p = 0; p < 3; p++)
            MOTUS_CHECK(w.ref[0].plane[p].weight <= 127, "plane %d cannot be written", p);
    }
}

static void fades(void) { fade_by(16, 13); }

static void no_weights(MotusFrame *from, MotusFrame *to, const char *what) {
    MotusRepeat repeat;
    const MotusWeights w = find_one(from, to, 0, &repeat);
    CU_ASSERT(repeat == MOTUS_REPEAT_NONE);
    MOTUS_CHECK(!w.log2_denom && !w.ref[0].has_luma && !w.ref[0].has_chroma, "%s: %d / %d %+d",
                what, w.ref[0].plane[0].weight, 1 << w.log2_denom, w.ref[0].plane[0].offset);
}

static void others_have_none(void) {
    no_weights(scene(0), scene(0), "the same picture");
    for (int i = 1; i < 8; i++) no_weights(scene(0), scene(i), "motion");
    MotusFrame *part = scene(1);
    fade(part, 16 * scene_mbs[0] * 3 / 5, 20);
    no_weights(scene(0), part, "less than half of the picture darkens");
}

// Darkens the picture from a column on. What most MBs need comes first in the list: the reference
// with weights, or without. The repeated one pushes out the last one of a full list.
static void part_repeats(int column, MotusRepeat want) {
    MotusFrame *part = scene(0);
    MotusRepeat repeat;
    fade(part, column, 20);
    const MotusWeights w = find_one(scene(0), part, 1, &repeat);
    CU_ASSERT(repeat == want && w.ref[0].has_luma);
    const int plain = want == MOTUS_REPEAT_FIRST ? 0 : 1;
    for (int most = 1; most < 5; most++) {
        int32_t shown[4] = {9, 5, 3, 0};
        int refs = 3 < most ? 3 : most;
        MotusWeights listed = w;
        listed.ref[1].has_luma = 1, listed.ref[1].plane[0].offset = 77;
        const int copies = motus_weights_repeat(&listed, repeat, shown, &refs, most);
        CU_ASSERT(copies == (most > 1) && refs == most);
        if (!copies) continue;
        CU_ASSERT(shown[0] == 9 && shown[1] == 9 && (most < 3 || shown[2] == 5));
        CU_ASSERT(!listed.ref[plain].has_luma && !listed.ref[plain].has_chroma);
        CU_ASSERT(listed.ref[!plain].has_luma);
        CU_ASSERT(listed.ref[2].plane[0].offset == 77 || most < 3);
    }
}

static void parts_repeat(void) {
    part_repeats(16 * scene_mbs[0] / 3, MOTUS_REPEAT_SECOND);
    part_repeats(16 * scene_mbs[0] * 3 / 5, MOTUS_REPEAT_FIRST);
}

// Only some rows of large pictures are searched.
static void large_pictures(void) {
    scene_mbs[0] = 100, scene_mbs[1] = 63;
    fade_by(40, 70);
    others_have_none();
    scene_mbs[0] = 22, scene_mbs[1] = 18;
}

// Each reference has its own weights, and what was shown before an IDR picture is forgotten.
static void several_references(void) {
    const int32_t shown[3] = {7, 6, 5};
    const int scales[3] = {64, 40, 64};
    MotusWeightFinder *finder = finder_of(3);
    MotusWeights w;
    show(finder, scene(9));
    motus_weight_finder_keep(finder, 7, 2, 1); // as old as the newest below, were it kept
    for (int k = 2; k >= 0; k--) {
        MotusFrame *frame = scene(2 - k);
        fade(frame, 0, scales[k]);
        show(finder, frame);
        motus_weight_finder_keep(finder, shown[k], 2 - k, k == 2);
    }
    MotusFrame *frame = scene(3);
    fade(frame, 0, 40);
    show(finder, frame);
    motus_weights_find(finder, 3, shown, 0, &w);
    for (int k = 0; k < 3; k++)
        MOTUS_CHECK(w.ref[k].has_luma == (scales[k] != 40), "reference %d", k);
    motus_weight_finder_close(&finder);
}

MOTUS_SUITE("weight_finder", TEST(statistics), TEST(fades), TEST(others_have_none),
            TEST(parts_repeat), TEST(large_pictures), TEST(several_references))
