// Prediction and residual of an inter MB by a warp: all 24 blocks at once, a lane a block, with its
// samples in registers.
// Equals motus_predict_inter, code_inter_luma and motus_code_chroma (residual_cpu.h): suite
// `lanes`, and `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_RESIDUAL_WARP_CUH
#define ENCODER_ANALYSE_RESIDUAL_WARP_CUH

#include "dct/dct_warp.cuh"
#include "encoder/analyse/inter_bits_core.h"
#include "encoder/analyse/predict_warp.cuh"
#include "encoder/levels/levels_cabac_warp.cuh"

// Forward transforms of a trial's blocks with live coefficients; 18 a block, so that lanes with a
// block each have no bank conflicts.
typedef struct MotusTrialCoefs {
    int16_t coef[24][18];
} MotusTrialCoefs;

// Copies an MB.
MOTUS_WARP void lane_copy_mb(MotusMb *to, const MotusMb *from) {
    motus_word_put((char *)to + 4 * motus_lane(),
                   motus_word_get((const char *)from + 4 * motus_lane()));
    motus_lanes_sync(); // it is written
}

// ---- Prediction ---------------------------------------------------------------------------------

// A lane's block: luma 0..15 in raster order, Cb, Cr. Lanes from 24 on have block 23 as well, and
// write nothing.
typedef struct MotusLaneBlock {
    int blk;
    uint8_t *at; // in the trial
    ptrdiff_t stride;
    uint32_t src[4], rec[4]; // rec: prediction, then reconstruction
} MotusLaneBlock;

// Predicts the MB with the MVs of trial->mb, and loads each lane's block.
MOTUS_WARP MotusLaneBlock lane_predict(MotusTrial *trial, const MotusInterMb *in) {
    MotusLaneBlock b;
    b.blk = motus_min(motus_lane(), 23);
    b.at = motus_trial_block(trial, b.blk, &b.stride);
    const int plane = b.blk < 16 ? 0 : 1 + (b.blk - 16) / 4, side = plane ? 1 : 3,
              shift = plane ? 1 : 2;
    const ptrdiff_t stride = plane == 0   ? in->src.stride[0]
                             : plane == 1 ? in->src.stride[1]
                                          : in->src.stride[2];
    const uint8_t *src = plane == 0   ? in->src.plane[0]
                         : plane == 1 ? in->src.plane[1]
                                      : in->src.plane[2];
    src += (b.blk >> shift & side) * 4 * stride + (b.blk & side) * 4;
    for (int i = 0; i < 4; i++) b.src[i] = motus_word_get(src + i * stride);
    lane_predict_luma(trial->luma, in, &trial->mb);
    lane_predict_chroma(trial->chroma, in, &trial->mb);
    motus_lanes_sync(); // the prediction is written
    for (int i = 0; i < 4; i++) b.rec[i] = motus_word_get(b.at + i * b.stride);
    return b;
}

// Sets bits, SSD and cost of a trial from its blocks. Returns the cost, UINT32_MAX if it may be too
// large for an MB, which is right in lane 0. bits: lane 0's, each 1 / motus_unit_of.
MOTUS_WARP uint32_t lane_measure(MotusTrial *trial, const MotusLaneBlock *b, const MotusQp *qp,
                                 uint32_t bits, const MotusLevelChoice *choice) {
    uint32_t ssd = 0;
    for (int i = 0; i < 4; i++) ssd = motus_words_ssd(b->src[i], b->rec[i], ssd);
    ssd = motus_lanes_sum(motus_lane() < 24 ? ssd : 0);
    const uint32_t cost = motus_rd_cost_in(motus_unit_of(choice), ssd, bits, qp->lambda_ssd_q8),
                   whole = motus_whole_bits(bits, choice);
    if (motus_lane() == 0) trial->bits = whole, trial->ssd = ssd, trial->cost = cost;
    return whole <= MOTUS_MB_BITS_LIMIT ? cost : UINT32_MAX;
}

// ---- Residual -----------------------------------------------------------------------------------

// Returns the context of a lane's block (motus_count_context) from each lane's count and the edge's
// counts.
MOTUS_WARP int lane_context(int blk, int count, uint32_t edge, const MotusLevelChoice *choice) {
    const int luma = blk < 16, side = luma ? 4 : 2, x = blk & (side - 1),
              y = blk >> (luma ? 2 : 1) & (side - 1);
    const int row = luma ? y : blk >> 1 & 3,
              column = luma ? x : (blk >> 1 & 2) + x; // cells of A and B
    int left = (int)motus_lanes_shuffle((uint32_t)count, motus_lane() - 1);
    int above = (int)motus_lanes_shuffle((uint32_t)count, motus_lane() - side);
    const int of_a = (int8_t)(motus_lanes_shuffle(edge, 6 * row + 6) >> (luma ? 0 : 8) & 0xFF);
    const int of_b = (int8_t)(motus_lanes_shuffle(edge, column + 1) >> (luma ? 0 : 8) & 0xFF);
    if (!x) left = of_a;
    if (!y) above = of_b;
    return motus_count_context(left, above, 0, choice);
}

// Returns motus_hadamard2x2 of the values of each four lanes.
MOTUS_WARP int lane_hadamard2x2(int v) {
    const int lane = motus_lane(), beside = (int)motus_lanes_shuffle((uint32_t)v, lane ^ 1);
    v = lane & 1 ? beside - v : v + beside;
    const int below = (int)motus_lanes_shuffle((uint32_t)v, lane ^ 2);
    return lane & 2 ? below - v : v + below;
}

// Returns the chroma DC level of a lane's block behind the 2x2 transform, with costs of CABAC
// (motus_choose_dc_levels). All lanes get the sums of both planes.
MOTUS_WARP int lane_dc_level_cabac(int dc, const MotusQuant *q, const MotusCabacCosts *costs,
                                   MotusLevels *sum) {
    const int lane = motus_lane(), chroma = lane >= 16 && lane < 24,
              t = chroma ? motus_dc_scaled(dc, q) : 0;
    const uint32_t all = motus_lanes_ballot(t >= MOTUS_LEVEL_FROM), live = all >> (lane & 28) & 15;
    MotusLevelWalk walk = motus_dc_walk(costs, q);
    int level = 0;
    sum->n = 0;
    if (!all) {
        sum->bits = 2 * motus_dc_levels(&walk, costs).bits, sum->ssd_drop = 0;
        return 0;
    }
    for (int i = 3; i >= 0; i--) {
        const int its = (int)motus_lanes_shuffle((uint32_t)t, (lane & 28) + i);
        if (!(live >> i & 1)) continue;
        const uint32_t below = live & ((1u << i) - 1);
        const int magnitude =
            motus_walk_level(&walk, i, below ? motus_bit_length(below) - 1 : -1, its);
        if (i == (lane & 3)) level = dc < 0 ? -magnitude : magnitude;
    }
    const MotusLevels levels = motus_dc_levels(&walk, costs);
    sum->n = motus_lanes_ballot(levels.n != 0) != 0;
    sum->bits = motus_lanes_shuffle(levels.bits, 16) + motus_lanes_shuffle(levels.bits, 20);
    sum->ssd_drop = (int32_t)(motus_lanes_shuffle((uint32_t)levels.ssd_drop, 16) +
                              motus_lanes_shuffle((uint32_t)levels.ssd_drop, 20));
    return levels.n ? level : 0;
}

// Returns the mask of lanes whose group (an 8x8 block of luma, or all of chroma's AC) is worth its
// bits, and the bits of those groups: *ac_bits, each 1 / motus_unit_of, and luma's whole ones.
MOTUS_WARP uint32_t lane_groups_pay(const MotusLevels *levels, int blk, uint32_t rate,
                                    const MotusChromaChoice *chroma, const MotusLevelChoice *choice,
                                    uint32_t *ac_bits, uint32_t *luma_bits) {
    const int lane = motus_lane(), luma = blk < 16;
    uint32_t sum[2] = {(uint32_t)levels->ssd_drop, levels->bits};
    for (int i = 0; i < 2; i++) {
        if (lane >= 24) sum[i] = 0;
        sum[i] += motus_lanes_shuffle(sum[i], lane ^ 1);
        const uint32_t two = motus_lanes_shuffle(sum[i], lane ^ 2);
        if (!luma) sum[i] += two;
        sum[i] += motus_lanes_shuffle(sum[i], lane ^ 4);
    }
    const int pays = luma || !choice->costs
                         ? motus_ssd_drop_pays((int32_t)sum[0], sum[1], rate, choice)
                         : motus_chroma_ac_pays(chroma, (int32_t)sum[0], sum[1], rate),
              first = luma ? !(blk & 5) : lane == 16;
    const uint32_t paid = first && pays ? sum[1] : 0;
    *luma_bits = motus_whole_bits(motus_lanes_sum(luma ? paid : 0), choice);
    *ac_bits = motus_lanes_shuffle(paid, 16);
    return motus_lanes_ballot(pays);
}

// Adds a block's residual to its prediction: n levels in zigzag order, and chroma's DC.
MOTUS_WARP void lane_reconstruct(MotusLaneBlock *b, const int16_t level[16], int n, int dc,
                                 int qp) {
    const int rem = qp % 6, per = qp / 6;
    uint32_t scale[3], scaled[16], coef[8]; // the lower halves of `scaled`
    for (int k = 0; k < 3; k++) scale[k] = (uint32_t)motus_dequant_scale(rem, k) << per;
    for (int i = 0; i < 16; i += 2) {
        const uint32_t two =
            n ? motus_word_get(level + i) : 0; // nothing was written if there are none
        scaled[i] = two * scale[motus_coef_class(motus_zigzag_at(i))];
        scaled[i + 1] = (two >> 16) * scale[motus_coef_class(motus_zigzag_at(i + 1))];
    }
    for (int i = 0; i < 8; i++) {
        const int at = 8 * (i >> 2) + (i & 3);
        coef[i] =
            motus_word_bytes(scaled[motus_zigzag_of(at)], scaled[motus_zigzag_of(at + 4)], 0x5410);
    }
    if (b->blk >= 16) coef[0] = motus_word_bytes((uint32_t)dc, coef[0], 0x7610);
    motus_pairs_inverse_add(b->rec, coef, b->rec);
    for (int y = 0; y < 4; y++) motus_word_put(b->at + y * b->stride, b->rec[y]);
}

// Residual of a lane's block before its levels are chosen.
typedef struct MotusLaneResidual {
    uint32_t live;    // mask of live coefficients without chroma's DC; 0 for a lane without a block
    uint32_t any;     // mask of lanes with live coefficients
    int scaled;       // chroma's DC, dequantized
    int context;      // motus_count_context; set if `any`
    uint32_t dc_bits; // of chroma's DCs, each 1 / motus_unit_of
    MotusChromaChoice chroma; // CAVLC: dc_pays alone
} MotusLaneResidual;

MOTUS_WARP const MotusQuant *lane_quant(const MotusInterMb *in, int blk) {
    return blk < 16 ? &in->qp->luma : &in->qp->chroma;
}

// Returns the chroma DC level of a lane's block. Sets what r has of the choice for chroma; its live
// coefficients are set.
MOTUS_WARP int lane_dcs(int dc, const MotusInterMb *in, const MotusLevelChoice *choice,
                        MotusLaneResidual *r) {
    const int lane = motus_lane();
    int level;
    if (choice->costs) {
        MotusLevels sum;
        level = lane_dc_level_cabac(dc, &in->qp->chroma, choice->costs, &sum);
        r->dc_bits = sum.bits;
        if (sum.n || r->any >> 16 & 0xFF)
            r->chroma =
                motus_chroma_choice(&sum, choice->costs, &in->neighbours, in->qp->chroma.rate);
    } else {
        const MotusQuantizer q = motus_quantizer(in->qp->chroma.qp, MOTUS_DEADZONE_INTER, 1);
        level = motus_quant((int16_t)dc, q.scale[0], q.offset, q.shift); // motus_code_chroma_dc
        r->chroma.dc_pays = motus_lanes_ballot(lane >= 16 && lane < 24 && level) != 0;
    }
    return level;
}

// Transforms the predicted MB and codes chroma's DC. Stores a block's coefficients by rows if some
// are live (motus_lane_levels).
MOTUS_WARP MotusLaneResidual lane_transform(MotusTrial *trial, const MotusLaneBlock *b,
                                            MotusTrialCoefs *coefs, const MotusInterMb *in,
                                            uint32_t edge, const MotusLevelChoice *choice) {
    const int blk = b->blk, chroma = blk >= 16 && motus_lane() < 24;
    const MotusQuant *q = lane_quant(in, blk);
    const uint32_t mixed = (uint16_t)q->threshold[2],
                   even = (uint16_t)q->threshold[0] | mixed << 16;
    const uint32_t odd = mixed | (uint32_t)(uint16_t)q->threshold[1] << 16; // of columns
    MotusLaneResidual r = {0};
    uint32_t coef[8], less = 0;
    motus_pairs_forward(coef, b->src, b->rec);
    for (int i = 0; i < 8; i++) // two sign bits each, next to each other in bytes 1 and 3
        less |=
            (motus_pairs_sub(motus_pairs_abs(coef[i]), i & 1 ? odd : even) & 0x80008000) >> (7 - i);
    r.live = motus_word_bytes(~less, 0, 0x4431);
    const int dc = (int16_t)(coef[0] & 0xFFFF);
    if (r.live && motus_lane() < 24)
        for (int i = 0; i < 8; i++) motus_word_put(&coefs->coef[blk][2 * i], coef[i]);
    if (blk >= 16) r.live &= 0xFFFE; // AC
    r.any = motus_lanes_ballot(r.live != 0);
    const int level = lane_dcs(lane_hadamard2x2(dc), in, choice, &r);
    r.scaled = motus_chroma_dc_dequant(lane_hadamard2x2(level), in->qp->chroma.qp);
    if (chroma) trial->coef.chroma_dc[(blk - 16) >> 2][blk & 3] = (int16_t)level;
    if (r.any) // half of all trials have none
        r.context = lane_context(blk, motus_cavlc_total_coeff(r.live), edge, choice);
    if (motus_lane() >= 24) r.live = 0;
    return r;
}

// Completes a trial from the chosen levels: cbp, counts, reconstruction, bits, SSD and cost
// (motus_inter_trial). Returns what lane_measure does.
MOTUS_WARP uint32_t lane_complete(MotusTrial *trial, MotusLaneBlock *b, const MotusInterMb *in,
                                  const MotusLaneResidual *r, const MotusLevels *levels,
                                  const MotusLevelChoice *choice, MotusMv skip, uint32_t mv_bits) {
    const int lane = motus_lane(), blk = b->blk, luma = blk < 16, scaled = r->scaled;
    const MotusQuant *q = lane_quant(in, blk);
    const int16_t *level = motus_coef_block(&trial->coef, blk);
    uint32_t pays = 0, bits = 0, luma_bits = 0;
    int n = 0;
    if (r->any) {
        pays = lane_groups_pay(levels, blk, q->rate, &r->chroma, choice, &bits, &luma_bits);
        if (pays >> lane & 1) n = levels->n;
    }
    const uint32_t ac = pays >> 16 & 1, dc = ac || r->chroma.dc_pays;
    if (lane < 24) trial->mb.total_coeff[blk] = (uint8_t)n;
    motus_lanes_sync(); // chroma's DC levels are written
    if (dc && choice->costs) {
        bits += r->dc_bits;
    } else if (dc) {
        const uint32_t plane =
            (uint32_t)motus_cavlc_chroma_dc_bits(trial->coef.chroma_dc[lane & 1]);
        bits += motus_lanes_shuffle(plane, 0) + motus_lanes_shuffle(plane, 1);
    }
    if (lane < 24 && (n || (!luma && dc && scaled))) lane_reconstruct(b, level, n, scaled, q->qp);
    bits = (luma_bits + motus_whole_bits(bits, choice)) * motus_unit_of(choice);
    if (lane == 0) {
        trial->luma_bits = luma_bits;
        trial->mb.cbp = (uint8_t)((pays & 1) | (pays >> 2 & 1) << 1 | (pays >> 8 & 1) << 2 |
                                  (pays >> 10 & 1) << 3 |
                                  (ac   ? 32
                                   : dc ? 16
                                        : 0));
        if (motus_trial_is_skip(in, &trial->mb, skip)) trial->mb.type = MOTUS_MB_P_SKIP;
        bits += motus_trial_bits(in, &trial->mb, mv_bits);
    }
    return lane_measure(trial, b, in->qp, bits, choice);
}

// Evaluates trial->mb, whose type, lists, MVs, references and QP are set. edge: MotusEdge's
// counts. Returns what lane_measure does.
MOTUS_WARP uint32_t lane_trial(const MotusInterMb *in, uint32_t edge,
                               const MotusLevelChoice *levels, MotusMv skip, uint32_t mv_bits,
                               MotusTrialCoefs *coefs, MotusTrial *trial) {
    MotusLaneBlock b = lane_predict(trial, in);
    const MotusLaneResidual r = lane_transform(trial, &b, coefs, in, edge, levels);
    MotusLevels chosen = {0, 0, 0};
    if (r.any)
        chosen =
            motus_lane_levels(motus_coef_block(&trial->coef, b.blk), coefs->coef[b.blk], r.live,
                              b.blk >= 16 ? 4 : 2, r.context, lane_quant(in, b.blk), levels);
    return lane_complete(trial, &b, in, &r, &chosen, levels, skip, mv_bits);
}

#endif
