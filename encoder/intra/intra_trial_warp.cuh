// Intra search of an MB by one warp, or by a team of three: one each for Intra4x4, Intra16x16 and
// chroma.
// Equals `search` and what it consists of (intra.c): suite `lanes`, and
// `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA_TRIAL_WARP_CUH
#define ENCODER_INTRA_INTRA_TRIAL_WARP_CUH

#include "encoder/intra/intra4x4_warp.cuh"
#include "encoder/intra/intra_modes_warp.cuh"

// Shared memory of a warp that searches an MB.
typedef struct __attribute__((aligned(16))) MotusIntraShared {
    union {
        uint8_t pred[4][256];                                  // of Intra16x16 modes
        __attribute__((aligned(16))) int32_t i4_minus[16][16]; // of Intra4x4: MotusI4Memory
    };
    uint8_t canvas[18 * MOTUS_CANVAS_STRIDE];
    MotusI4Lanes i4;
    MotusIntraSides sides;
    MotusResidual residual;
    __attribute__((aligned(16))) MotusApartCosts costs;
} MotusIntraShared;

// ---- Intra16x16 and chroma ----------------------------------------------------------------------

// Chooses the levels of blocks [from, to) by eight lanes a block, since other MBs wait for this
// one. to - from is a multiple of 4.
MOTUS_WARP void residual_levels_warp(MotusResidual *r, MotusTrial *trial, int from, int to,
                                     int category, const MotusNeighbours *neighbours,
                                     const MotusQuant *q, const MotusLevelChoice *choice,
                                     const MotusApartCosts *costs) {
    const MotusQuant quant = *q; // copies stay in registers: no store can alias them
    const MotusLevelChoice own_choice = *choice;
    const MotusLevelPair pair = motus_level_pair(q);
    for (int four = from; four < to; four += 4) {
        const int blk = four + (motus_lane() >> 3),
                  context = motus_levels_context(r->count, neighbours, 1, blk, choice);
        MotusPairLevels own;
        const int coef[2] = {r->coef[blk][pair.at[0]], r->coef[blk][pair.at[1]]};
        MotusLevels levels = {0, motus_no_levels_bits(category, context, choice), 0};
        if (motus_lanes_ballot(r->live[blk] != 0)) // rarely in flat MBs
            levels = motus_eight_levels_intra(motus_coef_block(&trial->coef, blk), coef, &pair,
                                              r->live[blk] != 0, category, context, &quant,
                                              &own_choice, costs, &own);
        if (motus_lane() & 7) continue;
        r->levels[blk] = levels;
        trial->mb.total_coeff[blk] = (uint8_t)levels.n;
    }
    motus_lanes_sync();
}

// Returns motus_hadamard4x4 of the values of sixteen lanes, in raster order.
MOTUS_WARP int hadamard4x4_warp(int v) {
    const int lane = motus_lane();
    const int negative =
        0xC << 4 | 0x6 << 8 | 0xA << 12; // row k of the transform: bits 4k .. 4k + 3
    MOTUS_ONE_BODY
    for (int down = 0; down < 2; down++) {
        const int k = (down ? lane >> 2 : lane) & 3;
        int sum = 0;
        for (int i = 0; i < 4; i++) {
            const int other =
                (int)motus_lanes_shuffle((uint32_t)v, down ? (lane & 19) + 4 * i : (lane & 28) + i);
            sum += negative >> (4 * k + i) & 1 ? -other : other;
        }
        v = sum;
    }
    return v;
}

// Codes Intra16x16's DCs (motus_luma_dc_code). Returns the planes of their levels.
MOTUS_WARP MotusLevelPlanes intra16x16_dc_warp(MotusResidual *r, MotusTrial *trial, int qp) {
    const int lane = motus_lane(), blk = lane & 15;
    const MotusQuantizer q = motus_quantizer(qp, MOTUS_DEADZONE_INTRA, 1);
    const int sum = hadamard4x4_warp(r->coef[blk][0]);
    const int level = motus_quant((int16_t)((sum + 1) >> 1), q.scale[0], q.offset, q.shift);
    const int16_t dc = motus_luma_dc_dequant(hadamard4x4_warp(level), qp);
    // Lane k of sixteen has zigzag position 15 - k, as in MotusLevelPlanes.
    const int coded = (int)motus_lanes_shuffle((uint32_t)level,
                                               (lane & 16) + motus_zigzag_at(15 - blk)),
              less = motus_abs(coded) - 1;
    const int small = less >= 0 && less < MOTUS_PLANES_MAX;
    if (lane < 16) r->dc[blk] = dc, trial->coef.luma_dc[15 - blk] = (int16_t)coded;
    MotusLevelPlanes planes;
    planes.nonzero = motus_lanes_ballot(coded != 0) & 0xFFFF;
    planes.negative = motus_lanes_ballot(coded < 0) & 0xFFFF;
    planes.large = motus_lanes_ballot(less >= MOTUS_PLANES_MAX) & 0xFFFF;
    for (int p = 0; p < 4; p++)
        planes.plane[p] = motus_lanes_ballot(small && (less >> p & 1)) & 0xFFFF;
    motus_lanes_sync(); // levels are written
    return planes;
}

// Chroma, or luma as Intra16x16, whose samples are coded.
typedef struct MotusWhole {
    int ac;                  // 1: AC levels are coded
    uint32_t ac_bits;        // each 1 / motus_unit_of
    MotusLevelPlanes planes; // of luma's DCs
} MotusWhole;

// Predicts chroma, or luma as Intra16x16, by the best mode.
MOTUS_WARP void motus_predict_intra_whole(const MotusIntraMb *in, MotusIntraShared *s,
                                          MotusTrial *trial, int chroma) {
    const int lane = motus_lane();
    int mode;
    if (chroma) {
        mode = motus_intra_chroma_mode_warp(in, &s->sides, trial->chroma);
        if (lane == 0) trial->mb.intra_chroma_pred_mode = (uint8_t)mode;
    } else {
        motus_intra16x16_estimate_warp(in, &s->sides, s->pred, &mode);
        if (lane < 16) memcpy(trial->luma + 16 * lane, s->pred[mode] + 16 * lane, 16);
        if (lane == 0) trial->mb.intra16x16_pred_mode = (uint8_t)mode;
    }
    motus_lanes_sync(); // the prediction is written
}

// Codes chroma, or luma as Intra16x16, which is predicted, up to its samples and counts, which
// neighbours wait for. The two share most of their instructions, since the SM's instruction cache
// is small.
MOTUS_WARP MotusWhole motus_code_intra_samples(const MotusIntraMb *in, MotusIntraShared *s,
                                               MotusTrial *trial, int chroma) {
    MotusWhole whole;
    MotusResidual *r = &s->residual;
    const MotusQuant *q = chroma ? &in->qp->chroma : &in->qp->luma;
    const int lane = motus_lane(), from = chroma ? 16 : 0, n = chroma ? 8 : 16;
    if (chroma) {
        motus_residual_chroma_forward(r, &in->src, trial, q);
        if (lane < 2) motus_code_chroma_dc(r, trial, lane, MOTUS_DEADZONE_INTRA, q->qp);
    } else {
        motus_residual_luma_forward(r, &in->src, trial, q);
    }
    residual_levels_warp(r, trial, from, from + n, chroma ? 4 : 1, &in->neighbours, q, in->levels,
                         &s->costs);
    const MotusLevels *levels = r->levels + from;
    const int32_t ssd_drop =
        (int32_t)motus_lanes_sum(lane < n ? (uint32_t)levels[lane].ssd_drop : 0);
    whole.ac_bits = motus_lanes_sum(lane < n ? levels[lane].bits : 0);
    whole.ac = motus_ssd_drop_pays(ssd_drop, whole.ac_bits, q->rate, in->levels);
    if (!chroma) whole.planes = intra16x16_dc_warp(r, trial, q->qp);
    if (!whole.ac && lane < n) trial->mb.total_coeff[from + lane] = 0;
    motus_lanes_sync(); // counts and DCs are written
    motus_residual_add(r, trial, from, from + n, 1, q->qp);
    return whole;
}

// Returns the sums of what motus_code_intra_samples has coded.
MOTUS_WARP MotusIntraPart motus_intra_sums(const MotusIntraMb *in, MotusTrial *trial,
                                           const MotusWhole *whole, int chroma) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    const int lane = motus_lane();
    if (chroma) {
        const uint32_t found =
            motus_lanes_ballot(lane < 8 && trial->coef.chroma_dc[lane >> 2 & 1][lane & 3]);
        const uint32_t dc_bits =
            lane < 2 ? (uint32_t)motus_cavlc_chroma_dc_bits(trial->coef.chroma_dc[lane]) : 0;
        part.bits = motus_lanes_sum(whole->ac || found ? dc_bits : 0);
        part.cbp = whole->ac ? 32 : found ? 16 : 0;
        part.ssd = motus_ssd_chroma(&in->src, trial->chroma);
    } else {
        const MotusMb *a = in->neighbours.a, *b = in->neighbours.b;
        const int nc = motus_cavlc_nc(a ? a->total_coeff[3] : -1, b ? b->total_coeff[12] : -1);
        part.bits = motus_planes_block_bits(&whole->planes, trial->coef.luma_dc, -1, 0, 0,
                                            motus_cavlc_token_class(nc), in->levels->zero_runs);
        part.cbp = whole->ac ? 15 : 0;
        part.ssd = motus_ssd_luma(&in->src, trial->luma);
    }
    if (whole->ac) part.bits += motus_whole_bits(whole->ac_bits, in->levels);
    return part;
}

MOTUS_WARP MotusIntraPart motus_code_intra_whole(const MotusIntraMb *in, MotusIntraShared *s,
                                                 MotusTrial *trial, int chroma) {
    motus_apart_costs_load(&s->costs, in->levels->costs, chroma ? 4 : 1);
    motus_predict_intra_whole(in, s, trial, chroma);
    const MotusWhole whole = motus_code_intra_samples(in, s, trial, chroma);
    return motus_intra_sums(in, trial, &whole, chroma);
}

// ---- Intra4x4 -----------------------------------------------------------------------------------

// Prepares the part of Intra4x4 that needs no neighbours: the transformed source in s, and the
// parameters of its blocks.
MOTUS_WARP MotusI4Mb motus_i4_prepare(const MotusIntraMb *in, MotusIntraShared *s) {
    const int lane = motus_lane();
    MotusI4Mb mb;
    mb.qp = *in->qp;
    mb.levels = *in->levels;
    mb.keeps_left = in->keeps_left;
    mb.mode = in->keeps_left ? motus_i4_mode_of_eight() : lane & 15;
    mb.rows = motus_i4_rows(motus_min(mb.mode, MOTUS_I4_MODES - 1));
    mb.edge = motus_i4_edge(in->keeps_left ? lane & 7 : lane & 15);
    mb.pair = motus_level_pair(&in->qp->luma);
    mb.modes = motus_mode_costs(in->levels);
    mb.costs = MOTUS_SHARED(&s->costs);
    motus_apart_costs_load(&s->costs, in->levels->costs, 2);
    mb.basis = motus_i4_basis(&mb.pair);
    motus_i4_transform_source(s->residual.coef, s->i4.samples, s->i4_minus, in->src.plane[0],
                              in->src.stride[0], &mb.basis);
    if (lane < 16) s->i4.has[lane] = (uint8_t)motus_intra4x4_has(lane, in->has);
    motus_lanes_sync();
    return mb;
}

// Completes an MB whose blocks are coded: the trial's samples, counts and modes. Returns its sums.
MOTUS_WARP MotusIntraPart motus_i4_finish(const MotusI4Mb *mb, MotusIntraShared *s,
                                          MotusTrial *trial) {
    const int lane = motus_lane(), blk_of = lane & 15;
    MotusIntraPart part = {0, 0, 0, 0, 0};
    for (int i = lane; i < 64; i += MOTUS_LANES)
        motus_word_put(trial->luma + 4 * i,
                       motus_word_get(s->canvas + MOTUS_CANVAS_ORIGIN +
                                      (i >> 2) * MOTUS_CANVAS_STRIDE + 4 * (i & 3)));
    const int n = s->i4.count[1 + blk_of / 4][1 + blk_of % 4];
    if (lane < 16) {
        trial->mb.total_coeff[lane] = (uint8_t)n;
        trial->mb.intra4x4_pred_mode[lane] = (uint8_t)s->i4.mode[1 + lane / 4][1 + lane % 4];
    }
    uint32_t coded = motus_lanes_ballot(lane < 16 && n);
    for (int q = 0; q < 4; q++) part.cbp |= (coded >> (q / 2 * 8 + q % 2 * 2) & 0x33 ? 1 : 0) << q;
    int counts = lane < 16 && (part.cbp >> (blk_of / 8 * 2 + blk_of % 4 / 2) & 1);
    const uint32_t bits = s->i4.bits[blk_of], mode_bits = s->i4.mode_bits[blk_of];
    uint32_t ssd = 0;
    for (int k = 0; k < 4; k++) ssd += s->i4.error[blk_of][(lane >> 4) * 4 + k];
    ssd += motus_lanes_shuffle(ssd, lane ^ 16);
    part.bits = motus_whole_bits(motus_lanes_sum(counts ? bits : 0), &mb->levels);
    part.ssd = motus_lanes_sum(lane < 16 ? ssd : 0);
    part.mode_bits = motus_whole_bits(motus_lanes_sum(lane < 16 ? mode_bits : 0), &mb->levels);
    part.cost = motus_lanes_sum(lane < 16 ? motus_rd_cost_in(motus_unit_of(&mb->levels), ssd,
                                                             bits + mode_bits, mb->qp.lambda_ssd_q8)
                                          : 0);
    motus_lanes_sync(); // samples, counts and modes are written
    return part;
}

// Codes luma as Intra4x4, prepared. Stops as soon as the cost exceeds `limit`; with UINT32_MAX
// never, and no costs are computed on the way.
MOTUS_WARP MotusIntraPart motus_code_intra4x4_warp(const MotusI4Mb *mb, const MotusIntraMb *in,
                                                   MotusIntraShared *s, MotusTrial *trial,
                                                   uint32_t limit) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    s = MOTUS_SHARED(s), trial = MOTUS_SHARED(trial);
    const MotusI4Memory m = {&s->i4, trial, s->canvas, s->i4_minus, s->residual.coef};
    MotusI4Block block = motus_i4_block_of(mb, &m, 0);
    motus_i4_surroundings(&s->i4, s->canvas, &in->neighbours, in->rec.plane[0], in->rec.stride[0],
                          in->has);
    const int steps = mb->keeps_left ? 7 : 10, lanes = mb->keeps_left ? 8 : 16;
    MOTUS_ONE_BODY
    for (int step = 0; step < steps; step++) {
        const MotusI4Block now = block;
        block = motus_i4_block_of(mb, &m, motus_min(step + 1, steps - 1)); // overlaps this step
        const uint32_t cost = motus_i4_block(mb, &m, &now, in->i4_trials, limit != UINT32_MAX);
        if (limit == UINT32_MAX) continue;
        for (int first = 0; first < MOTUS_LANES; first += lanes)
            part.cost += motus_lanes_shuffle(now.kept ? cost : 0, first);
        if (part.cost > limit) return part;
    }
    return motus_i4_finish(mb, s, trial);
}

// ---- One warp -----------------------------------------------------------------------------------

MOTUS_WARP void motus_intra_add_up_warp(const MotusIntraMb *in, MotusTrial *trial,
                                        const MotusIntraPart *luma, const MotusIntraPart *chroma) {
    if (motus_lane() == 0) motus_intra_add_up(in, trial, luma, chroma);
    motus_lanes_sync();
}

// Evaluates the MB as Intra16x16. Returns its chroma.
MOTUS_WARP MotusIntraPart motus_intra_search16x16(const MotusIntraMb *in, MotusIntraShared *s,
                                                  MotusTrial *first) {
    MotusIntraPart chroma = {0, 0, 0, 0, 0}, i16 = chroma;
    MOTUS_ONE_BODY
    for (int luma = 0; luma < 2; luma++) {
        chroma = i16;
        i16 = motus_code_intra_whole(in, s, first, !luma);
    }
    motus_intra_add_up_warp(in, first, &i16, &chroma);
    return chroma;
}

// Evaluates the MB as Intra4x4. Returns the cheaper of the two trials.
MOTUS_WARP MotusTrial *motus_intra_search4x4(const MotusIntraMb *in, MotusIntraShared *s,
                                             MotusTrial *first, MotusTrial *second,
                                             const MotusIntraPart *chroma) {
    MotusIntraPart i4 = {0, 0, 0, 0, 0};
    if (in->i4_trials) {
        const uint32_t limit = first->cost;
        const MotusI4Mb mb = motus_i4_prepare(in, s);
        i4 = motus_code_intra4x4_warp(&mb, in, s, second, limit);
    }
    const int complete = in->i4_trials && i4.cost <= first->cost;
    if (complete) {
        motus_intra_copy_chroma(second, first);
        motus_intra_add_up_warp(in, second, &i4, chroma);
    }
    return motus_intra_cheaper(in, first, second, complete);
}

// ---- A team of three warps ----------------------------------------------------------------------

enum { MOTUS_ROLE_INTRA4X4, MOTUS_ROLE_INTRA16X16, MOTUS_ROLE_CHROMA, MOTUS_INTRA_ROLES };

// Shared memory of a team. Its warps meet between the calls: motus_intra_begin_as and
// motus_i4_prepare (scratch[0]) by the first warp, before or after the neighbours are done; a
// motus_intra_role_ function by each; motus_intra_join (intra8x8_warp.cuh) by one.
typedef struct MotusIntraTeam {
    MotusTrial trial[2];
    MotusIntraShared scratch[MOTUS_INTRA_ROLES];
    MotusIntraPart part[MOTUS_INTRA_ROLES];
} MotusIntraTeam;

// Codes Intra4x4. i4: as prepared.
MOTUS_WARP void motus_intra_role4x4(const MotusIntraMb *in, MotusIntraTeam *team,
                                    const MotusI4Mb *i4) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    if (in->i4_trials) // costs only grow: stopping early or late decides alike
        part = motus_code_intra4x4_warp(i4, in, &team->scratch[MOTUS_ROLE_INTRA4X4],
                                        &team->trial[1], UINT32_MAX);
    if (motus_lane() == 0) team->part[MOTUS_ROLE_INTRA4X4] = part;
}

// Codes Intra16x16 or chroma.
MOTUS_WARP void motus_intra_role_whole(const MotusIntraMb *in, MotusIntraTeam *team, int role) {
    const MotusIntraPart part = motus_code_intra_whole(in, &team->scratch[role], &team->trial[0],
                                                       role == MOTUS_ROLE_CHROMA);
    if (role == MOTUS_ROLE_CHROMA) motus_intra_copy_chroma(&team->trial[1], &team->trial[0]);
    if (motus_lane() == 0) team->part[role] = part;
}

#endif
