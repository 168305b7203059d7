// Compares the warp formulations for B MBs with the CPU's functions, as the suite `lanes` does for
// others: candidates, first guess, decision and transform of each MB.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "encoder/analyse/b.h"
#include "encoder/analyse/predict_cpu.h"
#include "encoder/decide/decide.h"
#include "encoder/decide/decide_core.h"
#include "encoder/preset/preset.h"
#include "tests/encoder/levels/random_costs.h"
#include "tests/lanes/same_trials.h"
#include "tests/support/harness.h"
#include "tools/synth/synth.h"

enum { MB_WIDTH = 6, MB_HEIGHT = 4, REFS = 3, PICTURES = REFS + 2 };

// A B picture between others.
typedef struct Picture {
    MotusFrame *frame[PICTURES]; // list 0's references, the picture, list 1's
    int refs;                    // of list 0
    MotusRefLuma luma[REFS + 1]; // list 1's behind them
    MotusReference all[REFS + 1], ref[REFS + 1];
    MotusPictureState state;
    MotusQp qp;
    MotusQuant8 quant8;
    MotusEffort effort;
    MotusInterLimits limits;
    MotusCabacCosts table;
    const MotusCabacCosts *costs; // NULL: CAVLC
    int number;                   // of the case
} Picture;

// Counts of all pictures' MBs.
static struct Counts {
    int types[MOTUS_MB_KINDS], direct, sure, taken, moved;
    int further, far; // with candidates in further references; 8x8 blocks that have one
} counts;

static MotusBDecideScratch memory; // the CPU's
static LanesCall lanes;

// Opens reference k of list 0, or list 1's (REFS).
static void open_reference(Picture *p, int k) {
    const MotusFrame *frame = p->frame[k < REFS ? REFS - 1 - k : PICTURES - 1];
    MotusRefLuma *luma = &p->luma[k];
    REQUIRE_OK(motus_ref_luma_alloc(luma, 16 * MB_WIDTH, 16 * MB_HEIGHT));
    motus_ref_luma_build(luma, &frame->plane[0], 1, 1);
    p->all[k] = (MotusReference){.width = luma->width,
                                 .height = luma->height,
                                 .luma = luma->plane[0],
                                 .chroma = {frame->plane[1].data, frame->plane[2].data},
                                 .luma_stride = luma->stride,
                                 .chroma_stride = frame->plane[1].stride};
    memcpy(p->all[k].tap, luma->tap, sizeof luma->tap);
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
    for (int k = 0; k <= REFS; k++) open_reference(p, k);
}

static void picture_close(Picture *p) {
    motus_picture_state_free(&p->state);
    for (int k = 0; k <= REFS; k++) motus_ref_luma_free(&p->luma[k]);
    for (int i = 0; i < PICTURES; i++) motus_frame_unref(&p->frame[i]);
}

// Draws the number of list 0's references. Half of the pictures have weights of list 1, -64..128.
static void set_references(Picture *p, int weighted) {
    p->refs = motus_test_range(1, REFS);
    for (int k = 0; k <= p->refs; k++) {
        p->ref[k] = p->all[k < p->refs ? k : REFS];
        if (k < p->refs && weighted)
            p->ref[k].pair_offset = motus_test_range(-64, 128) - MOTUS_EVEN_PAIR;
    }
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
static void move_blocks(const Picture *p, const MotusInterMb *in, const MotusMbMotion motion[]) {
    const MotusPlane *src = &p->frame[REFS]->plane[0];
    for (int q = 0; q < 4; q++) {
        const int pred = motus_test_range(0, MOTUS_PREDS - 1), k = motus_test_range(0, p->refs - 1);
        const MotusMv mv[2] = {motion[k].mv[MOTUS_BLOCK_8x8 + q],
                               motion[p->refs].mv[MOTUS_BLOCK_8x8 + q]};
        uint8_t luma[256];
        const MotusReference *const ref[2] = {&p->ref[k], &p->ref[p->refs]};
        motus_predict_luma_lists(luma, ref, in->x, in->y, q % 2 * 8, q / 2 * 8, 8, 8, pred, mv);
        for (int i = 0; i < 64; i++) {
            const int x = q % 2 * 8 + i % 8, y = q / 2 * 8 + i / 8;
            src->data[(16 * in->y + y) * src->stride + 16 * in->x + x] =
                motus_clip_u8(luma[16 * y + x] + motus_test_range(-2, 2));
        }
    }
}

// Sets the masks of the blocks that further references are refined for (mark_kernel).
static void mark_far(const Picture *p, const MotusInterMb *in, const MotusMbMotion motion[],
                     uint64_t blocks, uint64_t far[REFS]) {
    for (int ref = 1; ref < p->refs; ref++) far[ref - 1] = 0;
    for (int b = 0; b < MOTUS_B_BLOCKS; b++) {
        uint32_t cost[REFS], least = UINT32_MAX;
        for (int ref = 0; ref < p->refs; ref++) {
            cost[ref] = motion[ref].cost[b] + motus_ref_cost(in->qp->lambda_q8, p->refs, ref);
            if (cost[ref] < least) least = cost[ref];
        }
        for (int ref = 1; ref < p->refs; ref++)
            if (motus_ref_is_close(cost[ref], least, p->effort.type_gate))
                far[ref - 1] |= blocks & 1ull << b;
    }
}

// True if two sets of candidates are equal.
static int same_candidates(const MotusBCandidates *one, const MotusBCandidates *many) {
    int same = one->blocks == many->blocks && one->refs == many->refs;
    for (int b = 0; b < MOTUS_B_BLOCKS; b++) {
        if (!(one->blocks >> b & 1)) continue;
        for (int list = 0; list < 2; list++)
            same &= motus_mv_equal(one->mv[list][b], many->mv[list][b]) &&
                    motus_mv_equal(one->both[list][b], many->both[list][b]);
        for (int k = 0; k < MOTUS_PREDS; k++) same &= one->satd[k][b] == many->satd[k][b];
    }
    return same;
}

// Draws the MVs and costs that refinement would have found, and which blocks have candidates.
static void find_candidates(Picture *p, const MotusInterMb *in,
                            MotusBCandidates found[MOTUS_B_SETS]) {
    MotusMbMotion motion[REFS + 1];
    MotusBCandidates many[MOTUS_B_SETS];
    const MotusRefLuma *ref_luma[REFS + 1];
    uint64_t far[REFS];
    MotusBJob search = {.refs = p->refs,
                        .ref = p->ref,
                        .ref_luma = ref_luma,
                        .ops = motus_refine_ops(),
                        .subpel = MOTUS_SUBPEL_FULL, // the MVs stay
                        .effort = &p->effort,
                        .limits = &p->limits,
                        .lambda_q8 = in->qp->lambda_q8,
                        .src = in->src,
                        .x = in->x,
                        .y = in->y};
    for (int ref = 0; ref <= p->refs; ref++) {
        const MotusMv common = random_mv(1 << motus_test_range(0, 7));
        ref_luma[ref] = &p->luma[ref < p->refs ? ref : REFS];
        search.centre[ref] = random_mv(16);
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            motion[ref].mv[b] = motus_test_range(0, 2) ? common : random_mv(64);
            motion[ref].cost[b] = (uint32_t)motus_test_range(100, b ? 700 : 1400);
        }
    }
    if (!motus_test_range(0, 2)) move_blocks(p, in, motion);
    motus_test_fill(found, MOTUS_B_SETS * sizeof *found);
    motus_test_fill(many, sizeof many);
    motus_b_c.candidates(&search, motion, found);
    many->blocks = found->blocks, many->refs = 0;
    mark_far(p, in, motion, found->blocks, far);
    lanes = (LanesCall){.in = in,
                        .effort = &p->effort,
                        .motion = motion,
                        .centre = search.centre,
                        .far = far,
                        .found_b = many};
    const char *failure = lanes_call(LANES_B_CANDIDATES, &lanes);
    int same = !failure && same_candidates(&found[0], &many[0]);
    if (p->refs > 1) same &= same_candidates(&found[1], &many[1]);
    counts.further += p->refs > 1 && found[1].blocks;
    MOTUS_CHECK(same, "case %d, MB %d,%d: candidates: %s", p->number, in->x, in->y,
                failure ? failure : "not the CPU's");
    MotusMb guess;
    motus_b_first_guess(&guess, found);
    lanes.found_b = found;
    motus_test_fill(&lanes.mb, sizeof lanes.mb);
    failure = lanes_call(LANES_B_FIRST_GUESS, &lanes);
    MOTUS_CHECK(!failure && !memcmp(&guess, &lanes.mb, sizeof guess),
                "case %d, MB %d,%d: first guess", p->number, in->x, in->y);
}

static void compare_choices(const Picture *p, const MotusInterMb *in) {
    const MotusBChoice *one = &memory.choice, *many = &lanes.b_choice;
    for (int k = 0; k < MOTUS_B_TYPES; k++) {
        int same = one->cost[k] == many->cost[k];
        if (same && one->cost[k] != UINT32_MAX)
            same = one->mv_bits[k] == many->mv_bits[k] &&
                   !memcmp(&one->mb[k], &many->mb[k], sizeof one->mb[k]);
        MOTUS_CHECK(same, "case %d, MB %d,%d: type %d costs %u, not %u", p->number, in->x, in->y, k,
                    many->cost[k], one->cost[k]);
    }
}

// Temporal prediction, of which some blocks may be missing.
static MotusDirect random_direct(int refs) {
    MotusDirect direct = {.pred = MOTUS_PRED_BI, .blocks = MOTUS_ALL_DIRECT};
    if (!motus_test_range(0, 2)) direct.blocks = (uint8_t)motus_test_range(0, MOTUS_ALL_DIRECT);
    for (int q = 0; q < 4; q++) {
        direct.ref[q][0] = (uint8_t)motus_test_range(0, refs - 1);
        for (int list = 0; list < 2; list++)
            direct.mv[list][q] =
                (MotusMv){(int16_t)motus_test_range(-20, 20), (int16_t)motus_test_range(-20, 20)};
    }
    return direct;
}

// Compares whether B_Skip is sure, with the arguments of the decision in `lanes`.
static void compare_sure_skips(Picture *p, const MotusTrial *decided) {
    static MotusTrial one;
    const MotusInterMb *in = lanes.in;
    const MotusTrial *many = &lanes.trial;
    const int expected =
        motus_b_c.skip_is_sure(in, lanes.direct->fixed, &p->effort, lanes.levels, &one);
    const char *failure = lanes_call(LANES_B_SKIP_IS_SURE, &lanes);
    MOTUS_CHECK(!failure && lanes.taken == expected, "case %d, MB %d,%d: %s", p->number, in->x,
                in->y, failure ? failure : "a sure B_Skip");
    if (failure || !expected) return;
    MOTUS_CHECK(!memcmp(&one.mb, &many->mb, sizeof one.mb) &&
                    !memcmp(one.luma, many->luma, sizeof one.luma) &&
                    !memcmp(one.chroma, many->chroma, sizeof one.chroma) &&
                    !memcmp(&one.mb, &decided->mb, sizeof one.mb),
                "case %d, MB %d,%d: a sure B_Skip is not what is decided", p->number, in->x, in->y);
    counts.sure++;
}

static void code_mb(Picture *p, int x, int y) {
    const MotusLevelChoice levels = {p->state.zero_runs, p->effort.levels, p->costs};
    const MotusInterMb in = {.ref = p->ref,
                             .limits = &p->limits,
                             .qp = &p->qp,
                             .src = motus_mb_source(p->frame[REFS], x, y),
                             .neighbours = motus_neighbours(p->state.mbs.mb, MB_WIDTH, x, y, 0),
                             .x = x,
                             .y = y,
                             .lists = 2,
                             .refs = p->refs,
                             .costs = p->costs,
                             .max_mv_y = MOTUS_MAX_MV_Y,
                             .quant8 = p->costs && motus_test_range(0, 1) ? &p->quant8 : NULL};
    MotusBCandidates found[MOTUS_B_SETS];
    uint32_t satd = 0;
    const MotusDirect fixed = random_direct(p->refs);
    const uint8_t col_zero = (uint8_t)motus_test_range(0, 15);
    const MotusDirectSource source = {motus_test_range(0, 3) ? NULL : &fixed, &col_zero};
    find_candidates(p, &in, found);
    motus_test_fill(&memory, sizeof memory);
    const MotusTrial *one = &memory.trial[0], *many = &lanes.trial;
    if (!motus_b_c.skip(&in, &source, 0, &p->effort, &levels, motus_refine_ops(), &memory))
        one = motus_b_c.types(&in, found, &p->effort, &levels, motus_refine_ops(), &memory, &satd);
    lanes = (LanesCall){
        .in = &in, .found_b = found, .direct = &source, .effort = &p->effort, .levels = &levels};
    const char *failure = lanes_call(LANES_B, &lanes);
    MOTUS_CHECK(!failure && satd == lanes.satd[0], "case %d, MB %d,%d: %s", p->number, x, y,
                failure ? failure : "SATD");
    if (failure) return;
    if (satd) compare_choices(p, &in);
    failure = compare_trials(one, many);
    MOTUS_CHECK(!failure, "case %d, MB %d,%d: %s; type %d, not %d; %u bits, not %u; SSD %u, not %u",
                p->number, x, y, failure, many->mb.type, one->mb.type, many->bits, one->bits,
                many->ssd, one->ssd);
    if (source.fixed) compare_sure_skips(p, one);
    counts.types[one->mb.type]++;
    for (int q = 0; q < 4 && !motus_mb_is_intra(&one->mb); q++) counts.far += one->mb.ref[0][q] > 0;
    counts.direct += one->mb.type == MOTUS_MB_P_16x16 && one->mb.direct;
    p->state.mbs.mb[y * MB_WIDTH + x] = one->mb;
    if (motus_mb_is_intra(&one->mb)) return;
    failure = compare_refinement(&in, &levels, one, &counts.moved);
    MOTUS_CHECK(!failure, "case %d, MB %d,%d: refinement: %s", p->number, x, y, failure);
    failure = compare_transforms(&in, &levels, &p->quant8, one, &counts.taken);
    MOTUS_CHECK(!failure, "case %d, MB %d,%d: transform: %s", p->number, x, y, failure);
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
    for (int k = 0; k < 10; k++) {
        picture_open(&p);
        for (int preset = 0; preset < MOTUS_PRESETS; preset++) {
            set_references(&p, preset & 1);
            set_effort(&p, (MotusPreset)preset, qps[k % 5]);
            code_picture(&p);
        }
        picture_close(&p);
    }
    for (int i = MOTUS_MB_P_SKIP; i <= MOTUS_MB_P_8x8; i++)
        MOTUS_CHECK(counts.types[i] > 0, "no MB of type %d", i);
    CU_ASSERT_TRUE(counts.direct > 0 && counts.sure > 0 && counts.taken > 0 && counts.moved > 0);
    CU_ASSERT_TRUE(counts.further > 0 && counts.far > 0);
}

MOTUS_SUITE("lanes_b", TEST(generated))
