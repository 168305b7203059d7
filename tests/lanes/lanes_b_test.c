// Compares the warp formulations for B MBs with the CPU's functions, as the suite `lanes` does for
// others: candidates, first guess, decision and transform of each MB.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "encoder/analyse/b_choice_cpu.h"
#include "encoder/analyse/b_trial_cpu.h"
#include "encoder/analyse/transform8_cpu.h"
#include "encoder/decide/decide.h"
#include "encoder/decide/decide_core.h"
#include "encoder/settings/preset.h"
#include "tests/encoder/levels/random_costs.h"
#include "tests/encoder/levels/same_levels.h"
#include "tests/lanes/lanes_b_warp.h"
#include "tests/support/harness.h"
#include "tools/synth/synth.h"

enum { MB_WIDTH = 6, MB_HEIGHT = 4, PICTURES = 3 };

// A B picture between two others.
typedef struct Picture {
    MotusFrame *frame[PICTURES]; // list 0's reference, the picture, list 1's
    MotusRefLuma luma[2];
    MotusReference ref[2];
    MotusPictureState state;
    MotusQp qp;
    MotusQuant8 quant8;
    MotusEffort effort;
    MotusInterLimits limits;
    MotusCabacCosts table;
    const MotusCabacCosts *costs; // NULL: CAVLC
    int number;                   // of the case
    int types[MOTUS_MB_KINDS], direct, taken;
} Picture;

static struct Memory { MotusBDecideScratch decide; } memory;

static void open_reference(Picture *p, int list) {
    const MotusFrame *frame = p->frame[2 * list];
    MotusRefLuma *luma = &p->luma[list];
    REQUIRE_OK(motus_ref_luma_alloc(luma, 16 * MB_WIDTH, 16 * MB_HEIGHT));
    motus_ref_luma_build(luma, &frame->plane[0], 1, 1);
    p->ref[list] = (MotusReference){.width = luma->width,
                                    .height = luma->height,
                                    .luma = luma->plane[0],
                                    .chroma = {frame->plane[1].data, frame->plane[2].data},
                                    .luma_stride = luma->stride,
                                    .chroma_stride = frame->plane[1].stride};
    memcpy(p->ref[list].tap, luma->tap, sizeof luma->tap);
}

static void picture_open(Picture *p) {
    MotusSynth *synth = NULL;
    MotusSynthConfig config = motus_synth_config_default(16 * MB_WIDTH, 16 * MB_HEIGHT);
    config.seed = motus_test_random(), config.noise = 2, config.objects = 6, config.flat = 20;
    *p = (Picture){.number = 0};
    REQUIRE_OK(motus_synth_open(&synth, &config));
    for (int i = 0; i < PICTURES; i++) {
        REQUIRE_OK(motus_frame_alloc(&p->frame[i], 16 * MB_WIDTH, 16 * MB_HEIGHT));
        motus_synth_frame(synth, i, p->frame[i]);
    }
    motus_synth_close(&synth);
    REQUIRE_OK(motus_picture_state_alloc(&p->state, MB_WIDTH, MB_HEIGHT, 1));
    for (int list = 0; list < 2; list++) open_reference(p, list);
}

static void picture_close(Picture *p) {
    motus_picture_state_free(&p->state);
    for (int list = 0; list < 2; list++) motus_ref_luma_free(&p->luma[list]);
    for (int i = 0; i < PICTURES; i++) motus_frame_unref(&p->frame[i]);
}

static void set_effort(Picture *p, MotusPreset preset, int qp) {
    MotusEncoderConfig config =
        motus_encoder_config_default(16 * MB_WIDTH, 16 * MB_HEIGHT, (MotusRational){25, 1});
    config.preset = preset;
    p->effort = motus_effort_of(&config);
    p->effort.pair_steps = motus_test_range(0, 8);
    p->qp = motus_qp_at(qp, MOTUS_SLICE_B);
    p->quant8 = motus_quant8_at(qp, MOTUS_SLICE_B);
    p->costs = motus_test_range(0, 2) ? &p->table : NULL;
    motus_random_costs(&p->table, qp);
    p->limits =
        (MotusInterLimits){.max_mvs = 8, .max_mv_y = 128, .unit = 1 << motus_test_range(0, 2)};
}

static MotusMv random_mv(int reach) {
    return (MotusMv){(int16_t)motus_test_range(-reach, reach),
                     (int16_t)motus_test_range(-reach, reach)};
}

// Makes the MB's 8x8 blocks move by their MVs, each from one list or both, with a little noise.
static void move_blocks(const Picture *p, const MotusInterMb *in, const MotusMbMotion motion[2]) {
    const MotusPlane *src = &p->frame[1]->plane[0];
    for (int q = 0; q < 4; q++) {
        const int pred = motus_test_range(0, MOTUS_PREDS - 1);
        const MotusMv mv[2] = {motion[0].mv[MOTUS_BLOCK_8x8 + q],
                               motion[1].mv[MOTUS_BLOCK_8x8 + q]};
        uint8_t luma[256];
        const MotusReference *const ref[2] = {&p->ref[0], &p->ref[1]};
        motus_predict_luma_lists(luma, ref, in->x, in->y, q % 2 * 8, q / 2 * 8, 8, 8, pred, mv);
        for (int i = 0; i < 64; i++) {
            const int x = q % 2 * 8 + i % 8, y = q / 2 * 8 + i / 8;
            src->data[(16 * in->y + y) * src->stride + 16 * in->x + x] =
                motus_clip_u8(luma[16 * y + x] + motus_test_range(-2, 2));
        }
    }
}

// Draws the MVs that refinement would have found, and which blocks have candidates.
static void find_candidates(Picture *p, const MotusInterMb *in, MotusBCandidates *found) {
    const MotusMv centre[2] = {random_mv(16), random_mv(16)};
    MotusMbMotion motion[2];
    MotusBCandidates many;
    const MotusRefLuma *const ref_luma[2] = {&p->luma[0], &p->luma[1]};
    const MotusBJob search = {.refs = 1,
                              .ref = p->ref,
                              .ref_luma = ref_luma,
                              .ops = motus_refine_ops(),
                              .subpel = MOTUS_SUBPEL_FULL, // the MVs stay
                              .effort = &p->effort,
                              .limits = &p->limits,
                              .lambda_q8 = in->qp->lambda_q8,
                              .src = in->src,
                              .centre = {centre[0], centre[1]},
                              .x = in->x,
                              .y = in->y};
    for (int list = 0; list < 2; list++) {
        const MotusMv common = random_mv(1 << motus_test_range(0, 7));
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            motion[list].mv[b] = motus_test_range(0, 2) ? common : random_mv(64);
            motion[list].cost[b] = (uint32_t)motus_test_range(100, b ? 700 : 1400);
        }
    }
    if (!motus_test_range(0, 2)) move_blocks(p, in, motion);
    motus_test_fill(found, MOTUS_B_SETS * sizeof *found);
    motus_test_fill(&many, sizeof many);
    motus_b_candidates(&search, motion, found);
    many.blocks = found->blocks;
    MotusMv mv[2][MOTUS_BLOCKS];
    for (int list = 0; list < 2; list++) memcpy(mv[list], motion[list].mv, sizeof mv[list]);
    const char *failure = lanes_b_candidates(in, &p->effort, mv, centre, &many);
    int same = !failure;
    for (int b = 0; b < MOTUS_B_BLOCKS; b++) {
        if (!(found->blocks >> b & 1)) continue;
        for (int list = 0; list < 2; list++)
            same &= motus_mv_equal(found->mv[list][b], many.mv[list][b]) &&
                    motus_mv_equal(found->both[list][b], many.both[list][b]);
        for (int k = 0; k < MOTUS_PREDS; k++) same &= found->satd[k][b] == many.satd[k][b];
    }
    MOTUS_CHECK(same, "case %d, MB %d,%d: candidates: %s", p->number, in->x, in->y,
                failure ? failure : "not the CPU's");
    MotusMb guess[2];
    motus_test_fill(guess, sizeof guess);
    motus_b_first_guess(&guess[0], found);
    failure = lanes_b_first_guess(&guess[1], found);
    MOTUS_CHECK(!failure && !memcmp(&guess[0], &guess[1], sizeof guess[0]),
                "case %d, MB %d,%d: first guess", p->number, in->x, in->y);
}

static void compare_transforms(Picture *p, const MotusInterMb *in, const MotusLevelChoice *levels,
                               const MotusTrial *best) {
    struct Transformed {
        MotusMb mb;
        MotusMbCoef coef;
        __attribute__((aligned(16))) uint8_t rec[256];
        uint32_t cost;
        int taken;
    } one = {.mb = best->mb, .coef = best->coef, .cost = best->cost}, many;
    memcpy(one.rec, best->luma, sizeof one.rec);
    many = one;
    one.taken = motus_choose_transform(in, levels, &p->quant8, &one.mb, &one.coef, one.rec, 16,
                                       best->luma_bits, &one.cost);
    const char *failure =
        lanes_b_choose_transform(in, levels, &p->quant8, &many.mb, &many.coef, many.rec,
                                 best->luma_bits, &many.cost, &many.taken);
    MOTUS_CHECK(!failure && one.taken == many.taken && one.cost == many.cost &&
                    !memcmp(&one.mb, &many.mb, sizeof one.mb) &&
                    !memcmp(one.rec, many.rec, sizeof one.rec) &&
                    same_levels(&one.mb, &one.coef, &many.coef),
                "case %d, MB %d,%d: 8x8 transform %d, not %d", p->number, in->x, in->y, many.taken,
                one.taken);
    p->taken += one.taken;
}

static void compare_choices(const Picture *p, const MotusInterMb *in, const MotusBChoice *one,
                            const MotusBChoice *many) {
    for (int k = 0; k < MOTUS_B_TYPES; k++) {
        int same = one->cost[k] == many->cost[k];
        if (same && one->cost[k] != UINT32_MAX)
            same = one->mv_bits[k] == many->mv_bits[k] &&
                   !memcmp(&one->mb[k], &many->mb[k], sizeof one->mb[k]);
        MOTUS_CHECK(same, "case %d, MB %d,%d: type %d costs %u, not %u", p->number, in->x, in->y, k,
                    many->cost[k], one->cost[k]);
    }
}

static void code_mb(Picture *p, int x, int y) {
    const MotusLevelChoice levels = {p->state.zero_runs, p->effort.levels, p->costs};
    const MotusInterMb in = {.ref = p->ref,
                             .limits = &p->limits,
                             .qp = &p->qp,
                             .src = motus_mb_source(p->frame[1], x, y),
                             .neighbours = motus_neighbours(p->state.mbs.mb, MB_WIDTH, x, y, 0),
                             .x = x,
                             .y = y,
                             .lists = 2,
                             .refs = 1};
    static MotusTrial many;
    MotusBChoice choice;
    MotusBCandidates found[MOTUS_B_SETS];
    uint32_t satd[2];
    const int col_zero = motus_test_range(0, 15);
    find_candidates(p, &in, found);
    motus_test_fill(&memory, sizeof memory);
    const MotusTrial *one = motus_decide_b(&in, found, col_zero, &p->effort, &levels,
                                           motus_refine_ops(), &memory.decide, &satd[0]);
    const char *failure =
        lanes_decide_b(&in, found, col_zero, &p->effort, &levels, &many, &choice, &satd[1]);
    MOTUS_CHECK(!failure && satd[0] == satd[1], "case %d, MB %d,%d: %s", p->number, x, y,
                failure ? failure : "SATD");
    if (failure) return;
    if (satd[0]) compare_choices(p, &in, &memory.decide.choice, &choice);
    MOTUS_CHECK(!memcmp(&one->mb, &many.mb, sizeof one->mb) &&
                    same_levels(&one->mb, &one->coef, &many.coef) &&
                    !memcmp(one->luma, many.luma, sizeof one->luma) &&
                    !memcmp(one->chroma, many.chroma, sizeof one->chroma) &&
                    one->bits == many.bits && one->ssd == many.ssd && one->cost == many.cost,
                "case %d, MB %d,%d: type %d, not %d; %u bits, not %u; SSD %u, not %u", p->number, x,
                y, many.mb.type, one->mb.type, many.bits, one->bits, many.ssd, one->ssd);
    p->types[one->mb.type]++;
    p->direct += one->mb.type == MOTUS_MB_P_16x16 && one->mb.direct;
    p->state.mbs.mb[y * MB_WIDTH + x] = one->mb;
    if (!motus_mb_is_intra(&one->mb)) compare_transforms(p, &in, &levels, one);
}

// Codes the picture MB by MB in raster order; some MBs are intra.
static void code_picture(Picture *p) {
    for (int y = 0; y < MB_HEIGHT; y++)
        for (int x = 0; x < MB_WIDTH; x++) {
            if (motus_test_range(0, 7)) {
                code_mb(p, x, y);
                continue;
            }
            MotusMb *mb = &p->state.mbs.mb[y * MB_WIDTH + x];
            *mb = (MotusMb){.type = MOTUS_MB_I_16x16};
            memset(mb->intra4x4_pred_mode, 5, sizeof mb->intra4x4_pred_mode);
            memset(mb->total_coeff, motus_test_range(0, 16), sizeof mb->total_coeff);
        }
    p->number++;
}

static void generated(void) {
    static const int qps[] = {28, 0, 51, 18, 38};
    Picture p;
    int types[MOTUS_MB_KINDS] = {0}, direct = 0, taken = 0;
    for (int k = 0; k < 10; k++) {
        picture_open(&p);
        for (int preset = 0; preset < MOTUS_PRESETS; preset++) {
            // An implicit weight of list 1 is -64..128; half of the pictures have none.
            p.ref[0].pair_offset = preset & 1 ? motus_test_range(-64, 128) - MOTUS_EVEN_PAIR : 0;
            set_effort(&p, (MotusPreset)preset, qps[k % 5]);
            code_picture(&p);
        }
        for (int i = 0; i < MOTUS_MB_KINDS; i++) types[i] += p.types[i];
        direct += p.direct, taken += p.taken;
        picture_close(&p);
    }
    for (int i = MOTUS_MB_P_SKIP; i <= MOTUS_MB_P_8x8; i++)
        MOTUS_CHECK(types[i] > 0, "no MB of type %d", i);
    CU_ASSERT_TRUE(direct > 0 && taken > 0);
}

MOTUS_SUITE("lanes_b", TEST(generated))
