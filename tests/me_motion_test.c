// Known motion: pans of a generated texture are found; search centres follow large pans.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/centres.h"
#include "me/me_internal.h"
#include "tests/harness.h"
#include "tools/synth.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH 208
#define HEIGHT 144

typedef struct Pan {
    MotusFrame *frame[2];
    MotusSynth *synth;
} Pan;

static void pan_open(Pan *p, int pan_x, int pan_y, uint32_t seed) {
    MotusSynthConfig config = motus_synth_config_default(WIDTH, HEIGHT);
    config.pan_x = pan_x, config.pan_y = pan_y, config.seed = seed;
    CU_ASSERT_EQUAL_FATAL(motus_synth_open(&p->synth, &config), MOTUS_OK);
    for (int i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL_FATAL(motus_frame_alloc(&p->frame[i], WIDTH, HEIGHT), MOTUS_OK);
        motus_synth_frame(p->synth, i, p->frame[i]);
    }
}

static void pan_close(Pan *p) {
    for (int i = 0; i < 2; i++) motus_frame_unref(&p->frame[i]);
    motus_synth_close(&p->synth);
}

typedef struct Score {
    int found[MOTUS_MODES], total[MOTUS_MODES];
} Score;

// Counts interior blocks (visible in both pictures, as the generator says) that find the generator's vector.
static void score_pan(Score *score, int pan_x, int pan_y, uint32_t seed, MotusSubpel subpel) {
    Pan p;
    MotusMe *me;
    MotusField *field;
    MotusMeConfig config = motus_me_config_default(WIDTH, HEIGHT);
    config.subpel = subpel, config.backend = MOTUS_BACKEND_CPU;
    pan_open(&p, pan_x, pan_y, seed);
    CU_ASSERT_EQUAL_FATAL(motus_me_open(&me, &config), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_field_alloc(&field, WIDTH, HEIGHT), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_me_search(me, &p.frame[1]->plane[0], &p.frame[0]->plane[0], NULL, field), MOTUS_OK);
    for (int i = 0; i < field->n_mb * MOTUS_BLOCKS; i++) {
        int mb = i / MOTUS_BLOCKS, b = i % MOTUS_BLOCKS;
        const MotusBlock *block = &motus_blocks[b];
        MotusSynthTruth truth;
        int x = 16 * (mb % field->mb_width) + block->x, y = 16 * (mb / field->mb_width) + block->y;
        if (!motus_synth_truth(p.synth, 1, x, y, block->width, block->height, &truth) || !truth.whole) continue;
        score->total[block->mode]++;
        score->found[block->mode] += field->mv[b][mb].x == truth.mv.x && field->mv[b][mb].y == truth.mv.y;
    }
    motus_field_free(&field);
    motus_me_close(&me);
    pan_close(&p);
}

static void whole_sample_pans(void) {
    for (int subpel = MOTUS_SUBPEL_FULL; subpel <= MOTUS_SUBPEL_QUARTER; subpel++) {
        Score score = {{0}, {0}};
        for (uint32_t i = 0; i < 6; i++)
            score_pan(&score, 4 * motus_test_range(-16, 16), 4 * motus_test_range(-16, 16), i + 1, (MotusSubpel)subpel);
        for (int m = 0; m < MOTUS_MODES; m++)
            MOTUS_CHECK(score.total[m] > 100 && score.found[m] >= 0.99 * score.total[m], "subpel %d mode %d: %d of %d", subpel, m,
                        score.found[m], score.total[m]);
    }
}

static void quarter_sample_pans(void) {
    Score score = {{0}, {0}};
    for (int i = 0; i < 16; i++) // every fraction once
        score_pan(&score, 4 * motus_test_range(-12, 12) + i % 4, 4 * motus_test_range(-12, 12) + i / 4, (uint32_t)i + 20,
                  MOTUS_SUBPEL_QUARTER);
    for (int m = 0; m <= MOTUS_MODE_8x8; m++)
        MOTUS_CHECK(score.total[m] > 500 && score.found[m] >= 0.95 * score.total[m], "mode %d: %d of %d", m, score.found[m],
                    score.total[m]);
}

static void centres_of(Pan *p, int plain_c, int threads, const MotusMv *previous, int limit, MotusMv *centre) {
    MotusMe *me;
    MotusRefLuma ref;
    MotusMeConfig config = motus_me_config_default(WIDTH, HEIGHT);
    config.threads = threads, config.backend = MOTUS_BACKEND_CPU;
    if (plain_c) setenv("MOTUS_CPU", "c", 1);
    CU_ASSERT_EQUAL_FATAL(motus_me_open(&me, &config), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_ref_luma_alloc(&ref, WIDTH, HEIGHT), MOTUS_OK);
    unsetenv("MOTUS_CPU");
    motus_ref_luma_build(&ref, &p->frame[0]->plane[0], 0, threads);
    CU_ASSERT_EQUAL(motus_me_predict_centres(me, &p->frame[1]->plane[0], &ref, previous, 300, limit, limit, centre), MOTUS_OK);
    motus_ref_luma_free(&ref);
    motus_me_close(&me);
}

// Pans beyond a search range are met by the centres: of the MBs whose content was visible before, nearly all.
static void centres(void) {
    enum { N = WIDTH / 16 * (HEIGHT / 16) };
    for (int i = 0; i < 8; i++) {
        Pan p;
        MotusMv centre[N], other[N], previous[N];
        int limit = i == 7 ? 99 : 400, near = 0, total = 0;
        pan_open(&p, motus_test_range(-230, 230), motus_test_range(-230, 230), (uint32_t)i + 50);
        for (int k = 0; k < N; k++)
            previous[k] = (MotusMv){(int16_t)motus_test_range(-999, 999), (int16_t)motus_test_range(-999, 999)};
        const MotusMv *before = i & 1 ? previous : NULL;
        centres_of(&p, 0, 1, before, limit, centre);
        centres_of(&p, 1, 3, before, limit, other);
        MOTUS_CHECK(!memcmp(centre, other, sizeof centre), "pan %d: C with 3 threads differs from the best with 1", i);
        for (int k = 0; k < N; k++) {
            MotusSynthTruth truth;
            MOTUS_CHECK(!((centre[k].x | centre[k].y) & 3) && abs(centre[k].x) <= limit && abs(centre[k].y) <= limit,
                        "pan %d MB %d: (%d,%d)", i, k, centre[k].x, centre[k].y);
            int x = k % (WIDTH / 16) * 16, y = k / (WIDTH / 16) * 16;
            if (!motus_synth_truth(p.synth, 1, x, y, 16, 16, &truth) || !truth.whole) continue;
            total++;
            near += abs(centre[k].x - truth.mv.x) <= 8 && abs(centre[k].y - truth.mv.y) <= 8;
        }
        if (limit == 400) MOTUS_CHECK(near >= 0.95 * total, "pan %d: %d of %d MBs", i, near, total);
        pan_close(&p);
    }
}

// The scaled search is the same for both versions on noise, extremes and where everything ties.
static void coarse_versions(void) {
    enum { W = 80, H = 48 };
    static uint8_t cur[W * H], ref[W * H];
    for (int i = 0; i < 60; i++) {
        MotusCoarse coarse[2];
        uint32_t lambda_q8 = (uint32_t[]){0, 65535, 300}[i % 3];
        motus_test_fill(cur, sizeof cur);
        motus_test_fill(ref, sizeof ref);
        if (i % 4 == 1) memset(cur, 0, sizeof cur), memset(ref, 255, sizeof ref);
        if (i % 4 == 2) memset(cur, 9, sizeof cur), memset(ref, 9, sizeof ref);
        for (int k = 0; i % 4 == 3 && k < W * H; k++) cur[k] = ref[k] = k / 16 & 1 ? 255 : 0;
        for (int plain_c = 0; plain_c < 2; plain_c++) {
            if (plain_c) setenv("MOTUS_CPU", "c", 1);
            CU_ASSERT_EQUAL_FATAL(motus_coarse_alloc(&coarse[plain_c], W / 16, H / 16), MOTUS_OK);
            unsetenv("MOTUS_CPU");
            motus_coarse_run(&coarse[plain_c], &(MotusPlane){cur, W, W, H}, &(MotusPlane){ref, W, W, H}, lambda_q8, 1 + plain_c);
        }
        MOTUS_CHECK(!memcmp(coarse[0].mv, coarse[1].mv, W / 16 * (H / 16) * sizeof(MotusMv)), "case %d", i);
        if (i % 4 == 2) MOTUS_CHECK(coarse[0].mv[3].x == (lambda_q8 ? 0 : -256), "case %d: %d", i, coarse[0].mv[3].x);
        motus_coarse_free(&coarse[0]);
        motus_coarse_free(&coarse[1]);
    }
}

static const MotusTest tests[] = {{"whole_sample_pans", whole_sample_pans},
                                  {"quarter_sample_pans", quarter_sample_pans},
                                  {"centres", centres},
                                  {"coarse_versions", coarse_versions},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("me_motion", tests, argc, argv); }
