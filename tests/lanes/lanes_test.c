// Compares the warp formulations, which GPUs run, with the CPU's functions: every MB's decision,
// levels, samples, bits and cost. Lanes are emulated (emulated_lanes.h) in random order, and
// their memory starts out random: missing barriers and reads of unwritten memory show up.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encoder/analyse/inter.h"
#include "encoder/analyse/predict_cpu.h"
#include "encoder/decide/decide.h"
#include "encoder/decide/decide_core.h"
#include "encoder/intra/intra.h"
#include "tests/encoder/levels/random_costs.h"
#include "tests/lanes/lanes_picture.h"
#include "tests/lanes/same_trials.h"
#include "tests/support/harness.h"
#include "tools/synth/synth.h"
#include "yuv/io/reader.h"
#include "yuv/pad.h"

// The CPU's working memory, random before each call.
static struct Memory {
    MotusTrial trial[3];
    MotusIntraScratch intra;
    MotusDecideScratch decide;
} memory;

static LanesCall lanes;

static void set_effort(LanesPicture *p, MotusPreset preset, int qp) {
    MotusEncoderConfig config =
        motus_encoder_config_default(16 * p->mb_width, 16 * p->mb_height, (MotusRational){25, 1});
    config.preset = preset;
    p->effort = motus_effort_of(&config);
    p->qp = motus_qp_at(qp, motus_test_range(MOTUS_SLICE_I, MOTUS_SLICE_P));
    p->costs = motus_test_range(0, 2) ? &p->table : NULL;
    motus_random_costs(&p->table, qp);
    p->limits = (MotusInterLimits){.max_mvs = motus_test_range(0, 3) ? 16 : 5,
                                   .max_mv_y = 512,
                                   .unit = 1 << motus_test_range(0, 2),
                                   .steps = p->effort.steps};
}

// Writes a trial's samples as those of MB (x, y).
static void store_samples(const MotusFrame *frame, int x, int y, const MotusTrial *trial) {
    for (int k = 0; k < 3; k++) {
        const MotusPlane *plane = &frame->plane[k];
        const int size = k ? 8 : 16;
        for (int row = 0; row < size; row++)
            memcpy(plane->data + (size * y + row) * plane->stride + size * x,
                   k ? trial->chroma[k - 1] + 8 * row : trial->luma + 16 * row, (size_t)size);
    }
}

// Compares the trials of MB (x, y), and stores the CPU's for the MBs that follow. failure: of the
// lanes.
static void compare(LanesPicture *p, int x, int y, const MotusTrial *one, const char *failure,
                    const char *what) {
    const MotusTrial *many = &lanes.trial;
    const char *differs = failure ? failure : compare_trials(one, many);
    MOTUS_CHECK(!differs,
                "%s, case %d, MB %d,%d, %s: %s; type %d, not %d, bits %u, not %u, SSD %u, not %u",
                p->name, p->number, x, y, what, differs, many->mb.type, one->mb.type, many->bits,
                one->bits, many->ssd, one->ssd);
    if (failure) return;
    p->pic.mbs.mb[y * p->mb_width + x] = one->mb;
    store_samples(p->rec, x, y, one);
}

static MotusMbRecon mb_recon(const LanesPicture *p, int x, int y) {
    MotusMbSource at = motus_mb_source(p->rec, x, y);
    MotusMbRecon rec;
    for (int k = 0; k < 3; k++) rec.plane[k] = (uint8_t *)at.plane[k], rec.stride[k] = at.stride[k];
    return rec;
}

// Compares the types that are chosen from the source.
static void compare_types(LanesPicture *p, MotusIntraMb in, int x, int y) {
    for (int k = 0; k < 3; k++)
        in.rec.plane[k] = (uint8_t *)in.src.plane[k], in.rec.stride[k] = in.src.stride[k];
    motus_test_fill(&memory, sizeof memory);
    const MotusIntraType one = motus_intra_c.type_by_satd(&in, &memory.intra);
    lanes = (LanesCall){.intra = &in};
    const char *failure = lanes_call(LANES_TYPE_BY_SATD, &lanes);
    MOTUS_CHECK(!failure && !memcmp(&one, &lanes.type, sizeof one),
                "%s, case %d, MB %d,%d: type %d, not %d", p->name, p->number, x, y, lanes.type.type,
                one.type);
}

static void code_intra(LanesPicture *p, int x, int y, int slice_type) {
    const int guessed = !motus_test_range(0, 2);
    const MotusLevelChoice levels = {p->pic.zero_runs,
                                     guessed ? (int)MOTUS_LEVELS_GUESSED
                                             : motus_intra_levels(p->effort.intra_levels, p->costs),
                                     p->costs};
    MotusNeighbours neighbours = motus_neighbours(p->pic.mbs.mb, p->mb_width, x, y, 0);
    MotusIntraMb in = {.qp = &p->qp,
                       .levels = &levels,
                       .i4_trials = p->effort.i4_trials,
                       .keeps_left = motus_test_range(0, 1),
                       .slice_type = slice_type,
                       .src = motus_mb_source(p->src, x, y),
                       .rec = mb_recon(p, x, y),
                       .neighbours = neighbours,
                       .has = motus_intra_has(&neighbours)};
    int mode;
    motus_test_fill(&memory, sizeof memory);
    const uint32_t satd = motus_intra_c.estimate16x16(&in, &memory.intra, &mode);
    lanes = (LanesCall){.intra = &in};
    const char *failure = lanes_call(LANES_INTRA16x16, &lanes);
    MOTUS_CHECK(!failure && lanes.satd[0] == satd && lanes.mode == mode,
                "%s, case %d, MB %d,%d: estimate %u of mode %d, not %u of %d", p->name, p->number,
                x, y, lanes.satd[0], lanes.mode, satd, mode);
    compare_types(p, in, x, y);
    const MotusQuant8 quant8 = motus_quant8_at(p->qp.luma.qp, MOTUS_SLICE_P);
    const int warps = motus_test_range(0, 1) ? 4 : (x ^ y) & 1 ? 3 : 1;
    motus_test_fill(&memory, sizeof memory);
    if (warps == 4) in.quant8 = &quant8;
    const MotusTrial *best = motus_intra_c.search(&in, &memory.intra, memory.trial);
    lanes = (LanesCall){.intra = &in, .warps = warps};
    failure = lanes_call(LANES_INTRA, &lanes);
    p->intra8[p->costs != NULL] += best->mb.type == MOTUS_MB_I_4x4 && best->mb.transform_8x8;
    compare(p, x, y, best, failure,
            warps == 4   ? "intra by four warps"
            : warps == 3 ? "intra by three warps"
                         : "intra");
}

// Makes the MB's source the prediction of P_Skip.
static void skip_mb(LanesPicture *p, const MotusInterMb *in) {
    static MotusTrial trial;
    const MotusMv skip = motus_mb_skip_mv(&in->neighbours);
    trial.mb = (MotusMb){.type = MOTUS_MB_P_SKIP};
    for (int i = 0; i < 16; i++) trial.mb.mv[i] = skip;
    motus_predict_inter(trial.luma, trial.chroma, in, &trial.mb);
    store_samples(p->src, in->x, in->y, &trial);
}

static void compare_choices(const LanesPicture *p, int x, int y, uint32_t satd,
                            const MotusChoice *one) {
    const MotusChoice *many = &lanes.choice;
    MOTUS_CHECK(lanes.satd[0] == satd, "%s, case %d, MB %d,%d: SATD %u, not %u", p->name, p->number,
                x, y, lanes.satd[0], satd);
    for (int k = 0; k < 4; k++) {
        int same = one->cost[k] == many->cost[k];
        if (same && one->cost[k] != UINT32_MAX)
            same = one->mv_bits[k] == many->mv_bits[k] &&
                   !memcmp(&one->mb[k], &many->mb[k], sizeof one->mb[k]);
        MOTUS_CHECK(same, "%s, case %d, MB %d,%d: type %d costs %u, not %u", p->name, p->number, x,
                    y, k, many->cost[k], one->cost[k]);
    }
}

static void code_inter(LanesPicture *p, int x, int y) {
    const MotusLevelChoice levels = {p->pic.zero_runs, p->effort.levels, p->costs};
    const MotusQuant8 quant8 = motus_quant8_at(p->qp.luma.qp, MOTUS_SLICE_P);
    const MotusInterMb in = {.ref = p->reference,
                             .limits = &p->limits,
                             .qp = &p->qp,
                             .src = motus_mb_source(p->src, x, y),
                             .neighbours = motus_neighbours(p->pic.mbs.mb, p->mb_width, x, y, 0),
                             .x = x,
                             .y = y,
                             .lists = 1,
                             .refs = p->refs,
                             .costs = p->costs,
                             .max_mv_y = motus_test_range(0, 3) ? MOTUS_MAX_MV_Y
                                                                : 4 * motus_test_range(-2, 16),
                             .quant8 = p->costs && motus_test_range(0, 1) ? &quant8 : NULL};
    MotusCandidates found;
    lanes_draw_candidates(&found, p->refs);
    if (motus_test_range(0, 7))
        lanes_move_blocks(p, x, y, &found);
    else
        skip_mb(p, &in);
    lanes = (LanesCall){.in = &in, .ref = found.ref[0], .mv = found.mv[0]};
    const char *failure = lanes_call(LANES_SATDS, &lanes); // of one MV of each MB
    for (int v = 0; v < found.n; v++)
        motus_satd_mb(found.satd[v], in.src.plane[0], in.src.stride[0], &in.ref[found.ref[v]],
                      16 * x, 16 * y, found.mv[v]);
    int same = !failure;
    for (int blk = 0; blk < 16; blk++) same &= lanes.satd[blk] == found.satd[0][blk];
    MOTUS_CHECK(same, "%s, case %d, MB %d,%d: SATDs", p->name, p->number, x, y);
    const int warps = (x ^ y) & 1 ? 2 : motus_test_range(2, LANES_INTER_WARPS),
              shares = warps > 2 && !in.quant8 && motus_test_range(0, 2);
    uint32_t satd = 0;
    motus_test_fill(&memory, sizeof memory);
    const MotusTrial *best = &memory.decide.trial[0];
    if (!motus_inter_c.skip(&in, &p->effort, &levels, &memory.decide))
        best = motus_inter_c.types(&in, &found, &p->effort, &levels, &memory.decide, &satd);
    lanes = (LanesCall){.in = &in,
                        .found = &found,
                        .effort = &p->effort,
                        .levels = &levels,
                        .warps = warps,
                        .shares = shares};
    failure = lanes_call(LANES_INTER, &lanes);
    if (best->mb.type == MOTUS_MB_P_SKIP && motus_skip_is_enough(best->cost, &p->qp, &p->effort))
        p->at_once++; // there are no choices
    else if (!failure)
        compare_choices(p, x, y, satd, &memory.decide.choice);
    compare(p, x, y, best, failure,
            shares       ? "inter by warps that share a type"
            : warps == 2 ? "inter by two warps"
                         : "inter by more warps");
    if (motus_mb_is_intra(&best->mb)) return;
    MOTUS_CHECK(best->mb.type == MOTUS_MB_P_SKIP || best->luma_bits == lanes.trial.luma_bits,
                "%s, case %d, MB %d,%d: luma has %u bits, not %u", p->name, p->number, x, y,
                lanes.trial.luma_bits, best->luma_bits);
    failure = compare_refinement(&in, &levels, best, &p->moved);
    MOTUS_CHECK(!failure, "%s, case %d, MB %d,%d: refinement: %s", p->name, p->number, x, y,
                failure);
    failure = compare_transforms(&in, &levels, &quant8, best, &p->taken8[p->costs != NULL]);
    MOTUS_CHECK(!failure, "%s, case %d, MB %d,%d: transform: %s", p->name, p->number, x, y,
                failure);
}

// Codes the picture as I, or as P with itself as its reference.
static void code_picture(LanesPicture *p, int slice_type) {
    if (slice_type) lanes_picture_refer(p);
    for (int y = 0; y < p->mb_height; y++)
        for (int x = 0; x < p->mb_width; x++)
            if (slice_type && motus_test_range(0, 4))
                code_inter(p, x, y);
            else
                code_intra(p, x, y, slice_type);
    p->number++;
}

// Codes the picture with every preset at some QPs, the ends among them.
static void code_all(LanesPicture *p, int qps, int p_slices) {
    static const int ends[] = {28, 0, 51, 12, 40};
    for (int preset = 0; preset < MOTUS_PRESETS; preset++)
        for (int k = 0; k < qps; k++)
            for (int slice_type = 0; slice_type <= p_slices; slice_type++) {
                set_effort(p, (MotusPreset)preset, k < 5 ? ends[k] : motus_test_range(14, 44));
                code_picture(p, slice_type);
            }
}

static void drawn(void) {
    LanesPicture p;
    lanes_picture_open(&p, 5, 3);
    p.name = "drawn";
    for (int strength = 0; strength <= 64; strength = 4 * strength + 4) {
        for (int k = 0; k < 3; k++) lanes_draw_plane(&p.src->plane[k], strength);
        code_all(&p, 2, 1);
    }
    lanes_picture_close(&p);
}

static void generated(void) {
    LanesPicture p;
    MotusSynth *synth = NULL;
    lanes_picture_open(&p, 5, 4);
    MotusSynthConfig config = motus_synth_config_default(16 * p.mb_width, 16 * p.mb_height);
    config.seed = motus_test_random(), config.noise = 2, config.objects = 4, config.flat = 20;
    p.name = "generated";
    REQUIRE_OK(motus_synth_open(&synth, &config));
    motus_synth_frame(synth, 0, p.src);
    code_all(&p, 4, 1);
    CU_ASSERT_TRUE(p.at_once > 0 && p.moved > 0);
    for (int k = 0; k < 2; k++) CU_ASSERT_TRUE(p.taken8[k] > 0 && p.intra8[k] > 0);
    motus_synth_close(&synth);
    lanes_picture_close(&p);
}

// Codes the middle of a real picture.
static void real(void) {
    const char *dir = getenv("MOTUS_SEQS");
    char path[1024];
    MotusReader *reader = NULL;
    MotusFrame *frame = NULL;
    LanesPicture p;
    snprintf(path, sizeof path, "%s/foreman_cif_300.y4m", dir ? dir : "");
    if (!dir || motus_reader_open(&reader, path, NULL, NULL)) {
        motus_test_skip("MOTUS_SEQS names no folder with foreman_cif_300.y4m");
        return;
    }
    REQUIRE_OK(motus_reader_next(reader, &frame, NULL));
    lanes_picture_open(&p, 8, 5);
    p.name = "foreman";
    for (int k = 0; k < 3; k++) {
        MotusPlane middle = frame->plane[k];
        middle.data += (k ? 40 : 80) * middle.stride + (k ? 40 : 80);
        middle.width = p.src->plane[k].width, middle.height = p.src->plane[k].height;
        motus_plane_copy_padded(&p.src->plane[k], &middle);
    }
    code_all(&p, 2, 1);
    lanes_picture_close(&p);
    motus_frame_unref(&frame);
    motus_reader_close(&reader);
}

// Notes decisions about MBs that differ in little or nothing.
static void noted(void) {
    for (int n = 0; n < 500; n++) {
        MotusMb mb, decided;
        uint16_t changed = 3;
        motus_test_fill(&mb, sizeof mb);
        decided = mb;
        lanes = (LanesCall){.decided = &decided, .mb = mb, .now = 7, .changed_at = 3};
        int what = motus_test_range(0, 3), blk = motus_test_range(0, 15);
        if (what == 1) decided.mv[blk].y ^= 1;
        if (what == 2) decided.type = (uint8_t)(motus_test_random() & 7);
        if (what == 3) decided.total_coeff[blk] ^= 3;
        motus_note_decision(&mb, &decided, &changed, 7, 1);
        const char *failure = lanes_call(LANES_NOTE_DECISION, &lanes);
        MOTUS_CHECK(!failure && changed == lanes.changed_at && !memcmp(&mb, &decided, sizeof mb) &&
                        !memcmp(&lanes.mb, &decided, sizeof mb) && (what != 1 || changed == 7) &&
                        (what != 3 || changed == 3),
                    "case %d: change %d", n, what);
        lanes.mv = decided.mv[blk];
        motus_first_guess(&mb, lanes.mv);
        failure = lanes_call(LANES_FIRST_GUESS, &lanes);
        MotusMb guess = {.type = MOTUS_MB_P_16x16};
        for (int i = 0; i < 16; i++) guess.mv[i] = lanes.mv;
        MOTUS_CHECK(!failure && !memcmp(&mb, &guess, sizeof guess) &&
                        !memcmp(&lanes.mb, &guess, sizeof guess),
                    "case %d: first guess", n);
    }
}

static void tables(void) {
    const char *failure = lanes_check_tables();
    MOTUS_CHECK(!failure, "%s", failure);
}

MOTUS_SUITE("lanes", TEST(drawn), TEST(generated), TEST(real), TEST(noted), TEST(tables))
