// Known motion: pans of a generated texture are found; search centres follow large pans.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"
#include "me/centres/centres.h"
#include "me/me_cpu.h"
#include "tests/support/harness.h"
#include "tools/synth/synth.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH 208
#define HEIGHT 144

typedef struct Pan {
    MotusFrame *frame[2];
    MotusSynth *synth;
    int mv_x, mv_y; // of what both frames show
} Pan;

// The pan is that from frame 0 to frame `last`, in quarter samples.
static void pan_open_sized(Pan *p, int width, int height, int pan_x, int pan_y, int last,
                           uint32_t seed) {
    MotusSynthConfig config = motus_synth_config_default(width, height);
    config.pan_x = pan_x / last, config.pan_y = pan_y / last, config.seed = seed;
    p->mv_x = -config.pan_x * last, p->mv_y = -config.pan_y * last;
    REQUIRE_OK(motus_synth_open(&p->synth, &config));
    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(motus_frame_alloc(&p->frame[i], width, height));
        motus_synth_frame(p->synth, i * last, p->frame[i]);
    }
}

static void pan_open(Pan *p, int pan_x, int pan_y, uint32_t seed) {
    pan_open_sized(p, WIDTH, HEIGHT, pan_x, pan_y, 1, seed);
}

static void pan_close(Pan *p) {
    for (int i = 0; i < 2; i++) motus_frame_unref(&p->frame[i]);
    motus_synth_close(&p->synth);
}

typedef struct Score {
    int found[MOTUS_MODES], total[MOTUS_MODES];
} Score;

// Counts interior blocks (visible in both pictures) that find the generator's MV.
static void score_pan(Score *score, int pan_x, int pan_y, uint32_t seed, MotusSubpel subpel) {
    Pan p;
    MotusMe *me;
    MotusField *field;
    MotusMeConfig config = motus_me_config_default(WIDTH, HEIGHT);
    config.subpel = subpel, config.backend = MOTUS_BACKEND_CPU;
    pan_open(&p, pan_x, pan_y, seed);
    REQUIRE_OK(motus_me_open(&me, &config));
    REQUIRE_OK(motus_field_alloc(&field, WIDTH, HEIGHT));
    EXPECT_OK(motus_me_search(me, &p.frame[1]->plane[0], &p.frame[0]->plane[0], NULL, field));
    for (int i = 0; i < field->n_mb * MOTUS_BLOCKS; i++) {
        int mb = i / MOTUS_BLOCKS, b = i % MOTUS_BLOCKS;
        const MotusBlock *block = &motus_blocks[b];
        MotusSynthTruth truth;
        int x = 16 * (mb % field->mb_width) + block->x, y = 16 * (mb / field->mb_width) + block->y;
        if (!motus_synth_truth(p.synth, 1, x, y, block->width, block->height, &truth) ||
            !truth.whole)
            continue;
        score->total[block->mode]++;
        score->found[block->mode] +=
            field->mv[b][mb].x == truth.mv.x && field->mv[b][mb].y == truth.mv.y;
    }
    motus_field_free(&field);
    motus_me_close(&me);
    pan_close(&p);
}

static void whole_sample_pans(void) {
    for (int subpel = MOTUS_SUBPEL_FULL; subpel <= MOTUS_SUBPEL_QUARTER; subpel++) {
        Score score = {{0}, {0}};
        for (uint32_t i = 0; i < 6; i++)
            score_pan(&score, 4 * motus_test_range(-16, 16), 4 * motus_test_range(-16, 16), i + 1,
                      (MotusSubpel)subpel);
        for (int m = 0; m < MOTUS_MODES; m++)
            MOTUS_CHECK(score.total[m] > 100 && score.found[m] >= 0.99 * score.total[m],
                        "subpel %d mode %d: %d of %d", subpel, m, score.found[m], score.total[m]);
    }
}

static void quarter_sample_pans(void) {
    Score score = {{0}, {0}};
    for (int i = 0; i < 16; i++) // every fraction once
        score_pan(&score, 4 * motus_test_range(-12, 12) + i % 4,
                  4 * motus_test_range(-12, 12) + i / 4, (uint32_t)i + 20, MOTUS_SUBPEL_QUARTER);
    for (int m = 0; m <= MOTUS_MODE_8x8; m++)
        MOTUS_CHECK(score.total[m] > 500 && score.found[m] >= 0.95 * score.total[m],
                    "mode %d: %d of %d", m, score.found[m], score.total[m]);
}

static void centres_of(Pan *p, int plain_c, int threads, const MotusMv *previous, int reach,
                       int wide, int limit, MotusMv *centre) {
    MotusMeCpu *me;
    MotusRefLuma ref;
    const MotusPlane *cur = &p->frame[1]->plane[0];
    MotusMeConfig config = motus_me_config_default(cur->width, cur->height);
    config.threads = threads;
    if (plain_c) motus_test_cpu("c");
    REQUIRE_OK(motus_me_cpu_open(&me, &config));
    REQUIRE_OK(motus_ref_luma_alloc(&ref, cur->width, cur->height));
    motus_test_cpu(NULL);
    motus_ref_luma_build(&ref, &p->frame[0]->plane[0], 0, threads);
    motus_me_cpu_predict(me, &(MotusCentresPicture){.cur = cur->data,
                                                    .cur_stride = cur->stride,
                                                    .ref = &ref,
                                                    .previous = previous,
                                                    .lambda_q8 = 300,
                                                    .reach = reach,
                                                    .wide = wide,
                                                    .limit_x = limit,
                                                    .limit_y = limit,
                                                    .centre = centre});
    motus_ref_luma_free(&ref);
    motus_me_cpu_close(&me);
}

// Checks centres against a pan's; previous may be NULL.
static void check_centres(Pan *p, int pan, const MotusMv *previous, int reach, int wide, int limit,
                          double found) {
    const MotusPlane *luma = &p->frame[1]->plane[0];
    const int mb_width = luma->width / 16, n = mb_width * (luma->height / 16);
    MotusMv *centre = motus_alloc(2 * (size_t)n, sizeof *centre), *other = centre + n;
    int near = 0, total = 0;
    centres_of(p, 0, 1, previous, reach, wide, limit, centre);
    centres_of(p, 1, 3, previous, reach, wide, limit, other);
    MOTUS_CHECK(!memcmp(centre, other, (size_t)n * sizeof *centre),
                "pan %d: C with 3 threads differs from the best with 1", pan);
    for (int k = 0; k < n; k++) {
        const int x = 64 * (k % mb_width) + p->mv_x, y = 64 * (k / mb_width) + p->mv_y;
        MOTUS_CHECK(!((centre[k].x | centre[k].y) & 3) && abs(centre[k].x) <= limit &&
                        abs(centre[k].y) <= limit,
                    "pan %d MB %d: (%d,%d)", pan, k, centre[k].x, centre[k].y);
        if (x < 0 || y < 0 || x > 4 * luma->width - 64 || y > 4 * luma->height - 64) continue;
        total++;
        near += abs(centre[k].x - p->mv_x) <= 8 && abs(centre[k].y - p->mv_y) <= 8;
    }
    MOTUS_CHECK(near >= found * total, "pan %d: %d of %d MBs", pan, near, total);
    motus_free(centre);
}

// Search centres reach pans beyond the search range, for nearly all MBs whose content was visible
// before.
static void centres(void) {
    enum { N = WIDTH / 16 * (HEIGHT / 16) };
    for (int i = 0; i < 8; i++) {
        Pan p;
        MotusMv previous[N];
        const int reach = i % 3 == 2 ? 32 : 64, limit = i == 7 ? 99 : 400,
                  pan = 4 * reach - 26; // quarter samples: refined MVs go further than the search
        pan_open(&p, motus_test_range(-pan, pan), motus_test_range(-pan, pan), (uint32_t)i + 50);
        for (int k = 0; k < N; k++)
            previous[k] = (MotusMv){(int16_t)motus_test_range(-999, 999),
                                    (int16_t)motus_test_range(-999, 999)};
        check_centres(&p, i, i & 1 ? previous : NULL, reach, 0, limit, limit == 400 ? 0.95 : 0);
        pan_close(&p);
    }
}

// The wide search reaches pans four times as far.
static void wide_centres(void) {
    for (int i = 0; i < 4; i++) {
        Pan p;
        const int reach = i & 1 ? 32 : 64, far = 4 * motus_test_range(reach + 10, 4 * reach - 40),
                  other = motus_test_range(-4 * reach, 4 * reach);
        pan_open_sized(&p, 720, 560, i & 2 ? far : other, i & 2 ? other : -far, 8,
                       (uint32_t)i + 80);
        check_centres(&p, i, NULL, reach, 1, 2000, 0.9);
        pan_close(&p);
    }
}

static int ascending(const void *a, const void *b) {
    return *(const int16_t *)a - *(const int16_t *)b;
}

static void medians(void) {
    enum { MOST = 700 };
    for (int round = 0; round < 300; round++) {
        MotusMv mv[MOST], median;
        int16_t x[MOST], y[MOST];
        int n = motus_test_range(1, round % 3 ? MOST : 4), reach = 1 << motus_test_range(0, 15),
            off = motus_test_range(-9, 9);
        for (int i = 0; i < n; i++) {
            x[i] = mv[i].x = (int16_t)motus_clip(INT16_MIN, INT16_MAX,
                                                 300 * off + motus_test_range(-reach, reach));
            y[i] = mv[i].y = (int16_t)motus_test_range(-reach, reach - 1);
        }
        median = motus_mv_median(mv, n);
        qsort(x, (size_t)n, sizeof *x, ascending);
        qsort(y, (size_t)n, sizeof *y, ascending);
        MOTUS_CHECK(median.x == x[n / 2] && median.y == y[n / 2], "n %d reach %d", n, reach);
    }
    MotusMv none = motus_mv_median(NULL, 9);
    CU_ASSERT(none.x == 0 && none.y == 0);
}

enum { VERSIONS = MOTUS_TEST_CPUS };
static void open_versions(MotusDownscaled downscaled[VERSIONS], int mb_width, int mb_height) {
    for (int i = 0; i < VERSIONS; i++) {
        motus_test_cpu(motus_test_cpus[i]);
        REQUIRE_OK(motus_downscaled_alloc(&downscaled[i], mb_width, mb_height));
    }
}

// All versions of the downscaled search agree on noise, extremes and ties.
static void downscaled_versions(void) {
    enum { W = 80, H = 48 };
    static uint8_t cur[W * H], ref[W * H];
    for (int i = 0; i < 60; i++) {
        MotusDownscaled downscaled[VERSIONS];
        uint32_t lambda_q8 = (uint32_t[]){0, 65535, 300}[i % 3];
        int reach = i < 30 ? 64 : 4 * motus_test_range(1, 16);
        const MotusCentresPicture picture = {
            .lambda_q8 = lambda_q8, .reach = reach, .wide = i % 5 > 2};
        motus_test_fill(cur, sizeof cur);
        motus_test_fill(ref, sizeof ref);
        if (i % 4 == 1) memset(cur, 0, sizeof cur), memset(ref, 255, sizeof ref);
        if (i % 4 == 2) memset(cur, 9, sizeof cur), memset(ref, 9, sizeof ref);
        for (int k = 0; i % 4 == 3 && k < W * H; k++) cur[k] = ref[k] = k / 16 & 1 ? 255 : 0;
        open_versions(downscaled, W / 16, H / 16);
        for (int v = 0; v < VERSIONS; v++) {
            motus_downscaled_run(&downscaled[v], &(MotusPlane){cur, W, W, H},
                                 &(MotusPlane){ref, W, W, H}, &picture, 1 + v);
            MOTUS_CHECK(!memcmp(downscaled[0].mbs.mv, downscaled[v].mbs.mv,
                                W / 16 * (H / 16) * sizeof(MotusMv)),
                        "case %d version %d reach %d", i, v, reach);
        }
        if (i % 4 == 2)
            MOTUS_CHECK(downscaled[0].mbs.mv[3].x == (lambda_q8 ? 0 : -4 * reach), "case %d: %d", i,
                        downscaled[0].mbs.mv[3].x);
        for (int v = 0; v < VERSIONS; v++) motus_downscaled_free(&downscaled[v]);
    }
}

static void find_ops(const MotusCentreOps *ops[VERSIONS]) {
    for (int v = 0; v < VERSIONS; v++) {
        motus_test_cpu(motus_test_cpus[v]);
        ops[v] = motus_centre_ops();
    }
}

// Every point of the window is found, and the first of two that tie.
static void downscaled_points(void) {
    enum { STRIDE = 48, COLUMNS = MOTUS_DOWNSCALED_COLUMNS };
    static MotusDownscaledCosts cost; // zero for the points that count
    static uint8_t ref[43 * STRIDE], cur[8 * STRIDE];
    const MotusCentreOps *ops[VERSIONS];
    memset(cost, 0xFF, sizeof cost);
    for (int row = 0; row < MOTUS_DOWNSCALED_POINTS; row++)
        memset(cost[row], 0, MOTUS_DOWNSCALED_POINTS * sizeof cost[0][0]);
    find_ops(ops);
    for (int at = 0; at < MOTUS_DOWNSCALED_POINTS * COLUMNS; at++) {
        int row = at / COLUMNS, column = at % COLUMNS, other_row = motus_test_range(0, 32),
            other_column = motus_test_range(0, 32);
        if (column >= MOTUS_DOWNSCALED_POINTS) continue;
        motus_test_fill(ref, sizeof ref);
        for (int y = 0; y < 8; y++) memcpy(cur + y * STRIDE, ref + (row + y) * STRIDE + column, 8);
        int tie = abs(other_row - row) >= 8 || abs(other_column - column) >= 8,
            other = other_row * COLUMNS + other_column;
        for (int y = 0; y < 8 && tie; y++)
            memcpy(ref + (other_row + y) * STRIDE + other_column, cur + y * STRIDE, 8);
        int want = tie && other < at ? other : at;
        for (int v = 0; v < VERSIONS; v++) {
            int found = ops[v]->search(cur, ref, STRIDE, cost, MOTUS_DOWNSCALED_POINTS,
                                       at % 3 ? other : at);
            MOTUS_CHECK(found == want, "version %d: %d, want %d (planted at %d and %d)", v, found,
                        want, at, tie ? other : at);
        }
    }
}

// All versions give the SAD, or no less than the limit where the SAD is no less.
static void centre_sads(void) {
    enum { STRIDE = 40 };
    static _Alignas(32) uint8_t cur[256];
    static uint8_t ref[16 * STRIDE];
    const MotusCentreOps *ops[VERSIONS];
    find_ops(ops);
    for (int i = 0; i < 2000; i++) {
        uint32_t sad = 0;
        motus_test_fill(cur, sizeof cur);
        motus_test_fill(ref, sizeof ref);
        if (i == 0) memset(cur, 0, sizeof cur), memset(ref, 255, sizeof ref);
        for (int k = 0; k < 256; k++)
            sad += (uint32_t)abs(cur[k] - ref[k / 16 * STRIDE + 3 + k % 16]);
        const uint32_t limit = i % 3 == 0   ? UINT32_MAX
                               : i % 3 == 1 ? (uint32_t)motus_test_range(1, 30000)
                                            : sad + (uint32_t)motus_test_range(0, 2) - 1;
        for (int v = 0; v < VERSIONS; v++) {
            const uint32_t found = ops[v]->sad(cur, ref + 3, STRIDE, limit);
            MOTUS_CHECK(sad < limit ? found == sad : found >= limit,
                        "case %d version %d: %u, SAD %u, limit %u", i, v, found, sad, limit);
        }
    }
}

MOTUS_SUITE("me_motion", TEST(whole_sample_pans), TEST(quarter_sample_pans), TEST(centres),
            TEST(wide_centres), TEST(downscaled_versions), TEST(downscaled_points),
            TEST(centre_sads), TEST(medians))
