// Intra8x8 of an MB by a warp, block after block: a lane a sample of the edge, four lanes a mode,
// then eight lanes a trial.
// Equals code_8x8 (intra.c): suite `lanes`, and `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA8X8_WARP_CUH
#define ENCODER_INTRA_INTRA8X8_WARP_CUH

#include "encoder/analyse/transform8_warp.cuh"
#include "encoder/intra/intra_trial_warp.cuh"

// Bytes of `runs`, from the filtered edge as one line, L7 .. L0 corner T0 .. T15. Every row of
// every mode but DC is eight consecutive ones.
enum {
    MOTUS_RUN8_SMOOTH = 0,   // 25: smooth, as in MotusIntraLine8, and the samples beyond the ends
    MOTUS_RUN8_HALF = 28,    // 24
    MOTUS_RUN8_LINE = 52,    // 25
    MOTUS_RUN8_VR_EVEN = 80, // 11: even rows of vertical right (8.3.2.2.7), the last one first
    MOTUS_RUN8_VR_ODD = 92,  // 11
    MOTUS_RUN8_HD = 104,     // 22: horizontal down (8.3.2.2.8)
    MOTUS_RUN8_HU = 128,     // 22: horizontal up (8.3.2.2.10)
    MOTUS_RUN8_LEFT = 152,   // 64: each sample to the left eight times, top one first
    MOTUS_RUN8_NOWHERE = 216 // a byte for each lane to write what is not needed
};

// Shared memory of an MB.
typedef struct __attribute__((aligned(16))) MotusI8Lanes {
    uint32_t runs[64];
    uint8_t rec[4][64]; // of the four trials of a warp; two are of use
    MotusBlocks8 blocks;
    uint8_t canvas[18 * MOTUS_CANVAS_STRIDE];
    int8_t mode[3][3]; // of the blocks and those around them, -1 outside the slice
    __attribute__((aligned(16))) MotusMapCosts map[65]; // as in MotusApartCosts
    MotusStateCosts state[8];
} MotusI8Lanes;

// ---- Prediction ---------------------------------------------------------------------------------

// Returns the first byte of row y of a mode.
MOTUS_WARP int i8_row_at(int mode, int y) {
    enum { TOP = 9, CORNER = 8 }; // in the line
    const int odd = y & 1, half = y >> 1;
    switch (mode) {
    case MOTUS_I4_VERTICAL:
        return MOTUS_RUN8_LINE + TOP;
    case MOTUS_I4_HORIZONTAL:
        return MOTUS_RUN8_LEFT + 8 * y;
    case MOTUS_I4_DOWN_LEFT:
        return MOTUS_RUN8_SMOOTH + TOP + 1 + y;
    case MOTUS_I4_DOWN_RIGHT:
        return MOTUS_RUN8_SMOOTH + CORNER - y;
    case MOTUS_I4_VERTICAL_RIGHT:
        return (odd ? MOTUS_RUN8_VR_ODD : MOTUS_RUN8_VR_EVEN) + 3 - half;
    case MOTUS_I4_HORIZONTAL_DOWN:
        return MOTUS_RUN8_HD + 14 - 2 * y;
    case MOTUS_I4_VERTICAL_LEFT:
        return (odd ? MOTUS_RUN8_SMOOTH + 1 : MOTUS_RUN8_HALF) + TOP + half;
    case MOTUS_I4_HORIZONTAL_UP:
        return MOTUS_RUN8_HU + 2 * y;
    default: // DC
        return 0;
    }
}

// Addresses in `runs` of the values that lane j makes, for sample j of the line.
typedef struct MotusI8Edge {
    uint8_t line, half[3], smooth[4], left;
} MotusI8Edge;

MOTUS_WARP MotusI8Edge i8_edge(void) {
    const int j = motus_lane(), none = MOTUS_RUN8_NOWHERE + j;
    MotusI8Edge at;
    at.line = (uint8_t)(j < 25 ? MOTUS_RUN8_LINE + j : none);
    at.left = (uint8_t)(j < 8 ? MOTUS_RUN8_LEFT + 8 * (7 - j) : none);
    at.half[0] = (uint8_t)(j < 24 ? MOTUS_RUN8_HALF + j : none);
    at.half[1] = (uint8_t)(j < 8    ? MOTUS_RUN8_HD + 2 * j
                           : j < 16 ? MOTUS_RUN8_VR_EVEN + j - 5
                                    : none);
    at.half[2] = (uint8_t)(j < 7 ? MOTUS_RUN8_HU + 12 - 2 * j : none);
    at.smooth[0] = (uint8_t)(j < 25 ? MOTUS_RUN8_SMOOTH + j : none);
    at.smooth[1] = (uint8_t)(j >= 8 && j < 16              ? MOTUS_RUN8_VR_ODD + j - 5
                             : j >= 2 && j < 7 && !(j & 1) ? MOTUS_RUN8_VR_ODD + j / 2 - 1
                             : j >= 3 && j < 8 && j & 1    ? MOTUS_RUN8_VR_EVEN + (j - 3) / 2
                                                           : none);
    at.smooth[2] = (uint8_t)(j >= 1 && j < 8    ? MOTUS_RUN8_HD + 2 * j - 1
                             : j >= 8 && j < 15 ? MOTUS_RUN8_HD + 7 + j
                                                : none);
    at.smooth[3] = (uint8_t)(j < 7 ? MOTUS_RUN8_HU + 13 - 2 * j : none);
    return at;
}

MOTUS_WARP uint32_t i8_smooth(uint32_t a, uint32_t b, uint32_t c) {
    return (a + 2 * b + c + 2) >> 2;
}

// Filters the edge of the block at `at` on the canvas (motus_intra_line8) and fills `runs`. Returns
// DC's prediction (motus_intra8x8_dc).
MOTUS_WARP uint32_t i8_line(uint32_t runs[64], const uint8_t *at, int has,
                            const MotusI8Edge *edge) {
    const int lane = motus_lane(), j = motus_min(lane, 24), above = j - 9;
    const int left = has & MOTUS_HAS_LEFT, top = has & MOTUS_HAS_TOP,
              corner = has & MOTUS_HAS_CORNER;
    uint8_t *to = (uint8_t *)runs;
    uint32_t p = 0;
    if (j < 8 ? left : j == 8 ? corner : top)
        p = at[j < 8 ? (7 - j) * MOTUS_CANVAS_STRIDE - 1
                     : (has & MOTUS_HAS_TOP_RIGHT ? above : motus_min(above, 7)) -
                           MOTUS_CANVAS_STRIDE];
    const uint32_t before = motus_lanes_shuffle(p, j - 1), next = motus_lanes_shuffle(p, j + 1);
    const int is_first = j == 0 || (j == 8 && !left) || (j == 9 && !corner),
              is_last = j == 24 || (j == 7 && !corner) || (j == 8 && !top && left);
    const uint32_t e = i8_smooth(is_first ? p : before, p, is_last ? p : next);
    const uint32_t e_before = motus_lanes_shuffle(e, j - 1), e_next = motus_lanes_shuffle(e, j + 1),
                   lowest = motus_lanes_shuffle(e, 0);
    const uint8_t half = (uint8_t)((e + e_next + 1) >> 1),
                  smooth = (uint8_t)i8_smooth(j ? e_before : e, e, j < 24 ? e_next : e);
    to[edge->line] = (uint8_t)e;
    for (int i = 0; i < 3; i++) to[edge->half[i]] = half;
    for (int i = 0; i < 4; i++) to[edge->smooth[i]] = smooth;
    if (lane < 8) {
        for (int i = 0; i < 8; i += 4) motus_word_put(to + edge->left + i, e * 0x01010101u);
        to[MOTUS_RUN8_HU + 14 + lane] = (uint8_t)lowest;
    }
    const uint32_t beside = motus_lanes_sum(lane < 8 ? e : 0),
                   over = motus_lanes_sum(lane > 8 && lane < 17 ? e : 0);
    motus_lanes_sync(); // `runs` is written
    if (left && top) return (beside + over + 8) >> 4;
    return left || top ? ((left ? beside : over) + 4) >> 3 : 128;
}

// ---- Modes --------------------------------------------------------------------------------------

// Returns motus_satd_with for a flat prediction.
MOTUS_WARP uint32_t satd_with_flat(const int32_t minus[16], uint32_t sample) {
    int v[4][4], sum = 0;
    for (int y = 0; y < 4; y++) {
        memcpy(v[y], __builtin_assume_aligned(minus + 4 * y, 16), 16);
        v[y][0] += 4 * (int)sample;
    }
    for (int k = 0; k < 4; k++) {
        sum += motus_max(motus_abs(v[0][k] + v[2][k]), motus_abs(v[1][k] + v[3][k]));
        sum += motus_max(motus_abs(v[0][k] - v[2][k]), motus_abs(v[1][k] - v[3][k]));
    }
    return (uint32_t)sum;
}

// Parameters of an MB that do not depend on its neighbours.
typedef struct MotusI8Mb {
    MotusTables8 tables;
    MotusI8Edge edge;
    int mode;             // of these four lanes, all but DC
    uint32_t rows;        // of this lane's 4x4 block of it: first bytes in `runs`, top row lowest
    MotusModeCosts modes; // 1/256 bits
} MotusI8Mb;

MOTUS_WARP uint32_t i8_key(const MotusIntraMb *in, const MotusModeCosts *costs, uint32_t satd,
                           int mode, int predicted) {
    const uint32_t bits = motus_i4_mode_bits(mode, predicted, costs);
    return (satd + motus_mode_cost(in->qp, bits) / MOTUS_BIT) << 4 | (uint32_t)mode;
}

// Finds the two modes of a block that are cheapest by SATD, as keys (SATD + lambda * bits) << 4 |
// mode, or UINT32_MAX. minus: of the source's 4x4 blocks (motus_satd_with).
MOTUS_WARP void i8_best_modes(uint32_t best[2], const MotusI8Mb *mb, const MotusIntraMb *in,
                              const uint32_t runs[64], const int32_t (*minus)[16], int q, int has,
                              int predicted, uint32_t dc) {
    const int32_t *of = minus[motus_blk_at(4 * q + (motus_lane() & 3))];
    uint32_t rows[4];
    for (int i = 0; i < 4; i++) rows[i] = motus_run_word(runs, (int)(mb->rows >> (8 * i) & 255));
    const uint32_t satd = motus_lanes_group_sum(motus_satd_with(of, rows), 4),
                   flat = motus_lanes_group_sum(satd_with_flat(of, dc), 4);
    const uint32_t key = motus_intra4x4_allowed(mb->mode, has)
                             ? i8_key(in, &mb->modes, satd, mb->mode, predicted)
                             : UINT32_MAX,
                   dc_key = i8_key(in, &mb->modes, flat, MOTUS_I4_DC, predicted);
    motus_two_least(best, key, 16, 4);
    best[1] = dc_key < best[0] ? best[0] : dc_key < best[1] ? dc_key : best[1];
    best[0] = dc_key < best[0] ? dc_key : best[0];
}

// ---- The MB -------------------------------------------------------------------------------------

// Prepares them, and copies costs: the SM's L1 cache is emptied again and again. quant: at the MB's
// QP.
MOTUS_WARP MotusI8Mb motus_i8_prepare(const MotusIntraMb *in, const MotusQuant8 *quant,
                                      MotusI8Lanes *s) {
    const MotusCabacCosts *costs = in->levels->costs;
    const int lane = motus_lane();
    const MotusMapCosts none = {0, 0, 0, {0, 0}, 0};
    for (int i = lane; costs && i < 65; i += MOTUS_LANES)
        s->map[i] = i < 64 ? costs->map8[i] : none;
    MotusI8Mb mb = {motus_tables8(quant, in->levels, MOTUS_SHARED(&s->map[0])), i8_edge(),
                    (lane >> 2) + (lane >= 4 * MOTUS_I4_DC), 0, motus_i8_mode_costs(in->levels)};
    for (int i = 0; i < 4; i++) {
        const int x = 4 * (lane & 1), y = 4 * (lane >> 1 & 1) + i;
        mb.rows |= (uint32_t)(i8_row_at(mb.mode, y) + x) << (8 * i);
    }
    mb.tables.state = MOTUS_SHARED(&s->state[0]);
    if (lane < 8) s->state[lane] = mb.tables.level;
    return mb;
}

// Loads the row above the MB with its corner and eight samples of the upper right MB, the column to
// the left, and the modes of blocks around.
MOTUS_WARP void i8_surroundings(MotusI8Lanes *s, const MotusIntraMb *in) {
    const int lane = motus_lane(), is_left = lane < 2, odd = lane & 1;
    const int needed = lane == 0    ? MOTUS_HAS_CORNER
                       : lane <= 16 ? MOTUS_HAS_TOP
                                    : MOTUS_HAS_TOP_RIGHT;
    const uint8_t *rec = in->rec.plane[0];
    const ptrdiff_t stride = in->rec.stride[0];
    const MotusMb *from = is_left ? in->neighbours.a : in->neighbours.b;
    int above = 0, left = 0, mode = -1;
    if (lane < 25 && in->has & needed) above = rec[-stride - 1 + lane];
    if (lane < 16 && in->has & MOTUS_HAS_LEFT) left = rec[lane * stride - 1];
    if (lane < 4 && from)
        mode = from->type == MOTUS_MB_I_4x4
                   ? from->intra4x4_pred_mode[is_left ? 3 + 8 * odd : 12 + 2 * odd]
                   : (int)MOTUS_I4_DC;
    if (lane < 25) s->canvas[MOTUS_CANVAS_ORIGIN - MOTUS_CANVAS_STRIDE - 1 + lane] = (uint8_t)above;
    if (lane < 16) s->canvas[MOTUS_CANVAS_ORIGIN + lane * MOTUS_CANVAS_STRIDE - 1] = (uint8_t)left;
    if (lane < 4) s->mode[is_left ? 1 + odd : 0][is_left ? 0 : 1 + odd] = (int8_t)mode;
    motus_lanes_sync(); // the canvas and the modes are written
}

// Stores the trial of eight lanes in the MB.
MOTUS_WARP void i8_keep(MotusI8Lanes *s, MotusTrial *trial, int q, uint8_t *at, int mode,
                        const MotusCoded8 *coded) {
    const int group = motus_lane() >> 3, k = motus_lane() & 7, x = q & 1, y = q >> 1;
    for (int i = 0; i < 8; i += 4) {
        const uint32_t word = motus_word_get(s->rec[group] + 8 * k + i);
        motus_word_put(at + k * MOTUS_CANVAS_STRIDE + i, word);
        motus_word_put(trial->luma + (8 * y + k) * MOTUS_LUMA_STRIDE + 8 * x + i, word);
    }
    if (coded->pays) motus_store8_warp(&trial->coef, q, s->blocks.level[group]);
    if (k >= 4) return;
    const int blk = motus_blk_at(4 * q + k);
    trial->mb.total_coeff[blk] = (uint8_t)(coded->pays ? motus_min(16, coded->n) : 0);
    trial->mb.intra4x4_pred_mode[blk] = (uint8_t)mode;
    s->mode[1 + y][1 + x] = (int8_t)mode;
}

// Codes luma block q and adds to the part (code_block8). The upper two trials of the warp
// repeat the lower two, and are dropped.
MOTUS_WARP void motus_i8_block(const MotusI8Mb *mb, const MotusIntraMb *in,
                               const int32_t (*minus)[16], MotusI8Lanes *s, MotusTrial *trial,
                               int q, MotusIntraPart *part) {
    const int lane = motus_lane(), k = lane & 7, group = lane >> 3, x = q & 1, y = q >> 1,
              has = motus_intra8x8_has(q, in->has), left = s->mode[1 + y][x],
              above = s->mode[y][1 + x];
    const int predicted = left < 0 || above < 0 ? (int)MOTUS_I4_DC : motus_min(left, above);
    const ptrdiff_t stride = in->src.stride[0];
    const uint8_t *src = in->src.plane[0] + 8 * y * stride + 8 * x;
    uint8_t *at = s->canvas + MOTUS_CANVAS_ORIGIN + 8 * y * MOTUS_CANVAS_STRIDE + 8 * x,
            *rec = s->rec[group];
    uint32_t best[2];
    const uint32_t dc = i8_line(s->runs, at, has, &mb->edge);
    i8_best_modes(best, mb, in, s->runs, minus, q, has, predicted, dc);
    const uint32_t chosen = best[group & 1];
    const int active = chosen != UINT32_MAX, mode = active ? (int)(chosen & 15) : (int)MOTUS_I4_DC,
              row = i8_row_at(mode, k);
    for (int i = 0; i < 8; i += 4)
        motus_word_put(rec + 8 * k + i,
                       mode == MOTUS_I4_DC ? dc * 0x01010101u : motus_run_word(s->runs, row + i));
    motus_lanes_sync(); // predictions are written, all have read the modes
    const MotusCoded8 coded =
        motus_code8_warp(&s->blocks, src, stride, rec, 8, &mb->tables, in->levels, 1);
    uint32_t ssd = 0;
    for (int i = 0; i < 8; i += 4)
        ssd = motus_words_ssd(motus_word_get(src + k * stride + i), motus_word_get(rec + 8 * k + i),
                              ssd);
    ssd = motus_lanes_group_sum(ssd, 8);
    const uint32_t bits = coded.pays ? coded.bits : 0,
                   mode_bits = motus_i4_mode_bits(mode, predicted, &mb->modes),
                   cost = active ? motus_rd_cost_in(MOTUS_BIT, ssd, bits + mode_bits,
                                                    in->qp->lambda_ssd_q8)
                                 : UINT32_MAX;
    const int winner = motus_lanes_shuffle(cost, 8) < motus_lanes_shuffle(cost, 0),
              from = 8 * winner;
    if (group == winner) i8_keep(s, trial, q, at, mode, &coded);
    part->cost += motus_lanes_shuffle(cost, from);
    part->ssd += motus_lanes_shuffle(ssd, from);
    part->bits += motus_lanes_shuffle(bits, from);
    part->mode_bits += motus_lanes_shuffle(mode_bits, from);
    part->cbp |= (int)motus_lanes_shuffle((uint32_t)coded.pays, from) << q;
    motus_lanes_sync(); // the block is stored
}

// Completes the sums of an MB whose blocks are coded.
MOTUS_WARP void motus_i8_finish(MotusIntraPart *part) {
    part->bits = (part->bits + MOTUS_BIT / 2) / MOTUS_BIT;
    part->mode_bits = (part->mode_bits + MOTUS_BIT / 2) / MOTUS_BIT;
}

// Codes luma as Intra8x8. The trial has begun, with the flag of the transform.
MOTUS_WARP MotusIntraPart motus_code_intra8x8_warp(const MotusI8Mb *mb, const MotusIntraMb *in,
                                                   const int32_t (*minus)[16], MotusI8Lanes *s,
                                                   MotusTrial *trial) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    s = MOTUS_SHARED(s), trial = MOTUS_SHARED(trial), minus = MOTUS_SHARED(minus);
    i8_surroundings(s, in);
    MOTUS_ONE_BODY
    for (int q = 0; q < 4; q++) motus_i8_block(mb, in, minus, s, trial, q, &part);
    motus_i8_finish(&part);
    return part;
}

// ---- A team of four warps -----------------------------------------------------------------------

enum { MOTUS_ROLE_INTRA8X8 = MOTUS_INTRA_ROLES, MOTUS_INTRA8_ROLES };

// Shared memory of a team with a fourth warp.
typedef struct MotusIntra8Team {
    MotusIntraTeam team;
    MotusTrial trial;
    MotusI8Lanes lanes;
    MotusIntraPart part;
} MotusIntra8Team;

// Begins the trial of the fourth warp, before any warp codes its part and before or after the
// neighbours are done. Chroma is copied to it by who has coded it.
MOTUS_WARP MotusI8Mb motus_intra8_begin(const MotusIntraMb *in, const MotusQuant8 *quant,
                                        MotusIntra8Team *t) {
    motus_intra_begin_as(in, &t->trial, MOTUS_MB_I_4x4);
    if (motus_lane() == 0) t->trial.mb.transform_8x8 = 1;
    return motus_i8_prepare(in, quant, &t->lanes);
}

// Codes Intra8x8. i8: as prepared.
MOTUS_WARP void motus_intra_role8x8(const MotusIntraMb *in, MotusIntra8Team *t,
                                    const MotusI8Mb *i8) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    if (motus_tries_intra8x8(in))
        part = motus_code_intra8x8_warp(i8, in, t->team.scratch[MOTUS_ROLE_INTRA4X4].i4_minus,
                                        &t->lanes, &t->trial);
    if (motus_lane() == 0) t->part = part;
}

// Returns the cheapest of a team's trials. t: the team with Intra8x8, or NULL.
MOTUS_WARP MotusTrial *motus_intra_join(const MotusIntraMb *in, MotusIntraTeam *team,
                                        MotusIntra8Team *t) {
    MotusIntraPart *part = team->part;
    MotusTrial *first = &team->trial[0], *second = &team->trial[1];
    const int lane = motus_lane();
    if (lane < 2 + !!t) // a lane a trial
        motus_intra_add_up(in,
                           lane == 0   ? first
                           : lane == 1 ? second
                                       : &t->trial,
                           lane == 0   ? &part[MOTUS_ROLE_INTRA16X16]
                           : lane == 1 ? &part[MOTUS_ROLE_INTRA4X4]
                                       : &t->part,
                           &part[MOTUS_ROLE_CHROMA]);
    motus_lanes_sync();
    int small = in->i4_trials && part[MOTUS_ROLE_INTRA4X4].cost <= first->cost;
    const uint32_t limit = small && second->cost < first->cost ? second->cost : first->cost;
    if (t && motus_tries_intra8x8(in) && t->part.cost <= limit) {
        if (!small || t->trial.cost < second->cost) second = &t->trial;
        small = 1;
    }
    return motus_intra_cheaper(in, first, second, small);
}

#endif
