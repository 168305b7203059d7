// Choice of the Intra16x16 and the chroma mode by the 32 lanes of a warp: a lane a 4x4 block of a
// mode. The same results as the loops over modes that one lane runs (intra_search_core.h).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTRA_LANES_CORE_H
#define ENCODER_ANALYSE_INTRA_LANES_CORE_H

#include "encoder/analyse/intra4x4_lanes_core.h"

// The samples above an MB and to its left: of luma 16 and 16; of both chroma planes 8 and 8 each. 0
// where there is no neighbour.
typedef struct __attribute__((aligned(16))) MotusIntraSides {
    uint8_t luma[2][16], chroma[2][2][8];
} MotusIntraSides;

#if MOTUS_LANES > 1

// A row of a plane prediction, four samples from x on.
MOTUS_HD uint32_t motus_plane_row4(int base, int b, int c, int x, int y) {
    uint32_t row = 0;
    for (int i = 0; i < 4; i++)
        row |= (uint32_t)motus_clip_u8((base + b * (x + i) + c * y) >> 5) << (8 * i);
    return row;
}

// Row y of a 4x4 block at x of an MB's component: from above, from the left, flat or plane,
// whichever `mode` (of Intra16x16) says.
MOTUS_HD uint32_t motus_mode_row4(const uint8_t *top, const uint8_t *left, uint32_t dc,
                                  const MotusIntraPlane *plane, int mode, int x, int y) {
    if (mode == MOTUS_I16_VERTICAL) return motus_word_get(top + x);
    if (mode == MOTUS_I16_HORIZONTAL) return left[y] * 0x01010101u;
    return mode == MOTUS_I16_DC ? dc * 0x01010101u
                                : motus_plane_row4(plane->base, plane->b, plane->c, x, y);
}

// motus_intra_dc from the sums of 1 << log2_n samples above and to the left.
MOTUS_HD uint32_t motus_dc_of_sums(uint32_t top, uint32_t left, int log2_n, int has) {
    const uint32_t n = 1u << log2_n;
    has &= MOTUS_HAS_LEFT | MOTUS_HAS_TOP;
    if (has == (MOTUS_HAS_LEFT | MOTUS_HAS_TOP)) return (top + left + n) >> (log2_n + 1);
    return !has ? 128 : ((has & MOTUS_HAS_LEFT ? left : top) + n / 2) >> log2_n;
}

// Least of four costs as cost << 2 | index, the first of equals. Costs are below 2^20; UINT32_MAX
// stands for a mode that is not allowed.
MOTUS_HD uint32_t motus_least_of_4(const uint32_t cost[4]) {
    uint32_t best = UINT32_MAX;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t key = cost[k] == UINT32_MAX ? UINT32_MAX : cost[k] << 2 | k;
        best = key < best ? key : best;
    }
    return best;
}

// SATD + mode bits of the best Intra16x16 mode; predictions are left in pred.
MOTUS_HD uint32_t motus_intra16x16_lanes(MotusIntraSides *s, const uint8_t *at, ptrdiff_t stride,
                                         const MotusMbSource *src, const MotusQp *qp, int has,
                                         uint8_t pred[4][256], int *mode) {
    // A lane a sample of the edge: 16 above, 16 to the left. Slopes as motus_intra_slope has them:
    // sample i counts i - 7 times, the corner -8 times.
    const int lane = motus_lane(), i = lane & 15, left = lane >> 4;
    uint32_t sample = 0, corner = has & MOTUS_HAS_CORNER ? at[-stride - 1] : 0, best = UINT32_MAX;
    if (has & (left ? MOTUS_HAS_LEFT : MOTUS_HAS_TOP))
        sample = left ? at[i * stride - 1] : at[i - stride];
    s->luma[left][i] = (uint8_t)sample;
    uint32_t sum = motus_lanes_sum_of(sample, 16),
             weighted = motus_lanes_sum_of(sample * (uint32_t)(i - 7), 16);
    int slope = (5 * ((int)weighted - 8 * (int)corner) + 32) >> 6;
    MotusIntraPlane plane;
    plane.b = (int)motus_lanes_get((uint32_t)slope, 0);
    plane.c = (int)motus_lanes_get((uint32_t)slope, 16);
    plane.base = 16 * (int)(motus_lanes_get(sample, 15) + motus_lanes_get(sample, 31)) + 16 -
                 7 * (plane.b + plane.c);
    const uint32_t dc = motus_dc_of_sums(motus_lanes_get(sum, 0), motus_lanes_get(sum, 16), 4, has);
    const int x = 4 * (lane & 3), y = 4 * (lane >> 2 & 3);
    uint32_t rows[4], own[4];
    for (int k = 0; k < 4; k++)
        own[k] = motus_word_get(src->plane[0] + (y + k) * src->stride[0] + x);
    motus_lanes_sync(); // the sides are there
    MOTUS_ONE_BODY
    for (int m = 0; m < 4; m += 2) {
        int own_mode = m + (lane >> 4);
        for (int k = 0; k < 4; k++) {
            rows[k] = motus_mode_row4(s->luma[0], s->luma[1], dc, &plane, own_mode, x, y + k);
            motus_word_put(pred[own_mode] + MOTUS_LUMA_STRIDE * (y + k) + x, rows[k]);
        }
        uint32_t satd = motus_lanes_sum_of(motus_satd_rows(own, rows), 16);
        for (int k = m; k < m + 2; k++) { // the first of equals, as in motus_least_of_4
            const uint32_t cost = motus_lanes_get(satd, 16 * (k - m)) +
                                  motus_mode_cost(qp, (uint32_t)motus_ue_bits(1u + (uint32_t)k));
            if (motus_intra16x16_allowed(k, has) && (cost << 2 | (uint32_t)k) < best)
                best = cost << 2 | (uint32_t)k;
        }
    }
    motus_lanes_sync(); // predictions are there
    *mode = (int)(best & 3);
    return best >> 2;
}

// The best chroma mode by SATD, whose prediction is left in chroma. at, stride: Cb and Cr.
MOTUS_HD int motus_chroma_mode_lanes(MotusIntraSides *s, uint8_t *const *at,
                                     const ptrdiff_t *stride, const MotusMbSource *src,
                                     const MotusQp *qp, int has, uint8_t chroma[2][64]) {
    // A lane a sample of the edges: plane, side, sample. Sample i counts i - 3 times in slopes, the
    // corner -4 times; DC takes them by fours.
    const int lane = motus_lane();
    {
        const int c = lane >> 4, left = lane >> 3 & 1, i = lane & 7;
        const uint8_t *from = c ? at[1] : at[0];
        const ptrdiff_t step = c ? stride[1] : stride[0];
        uint32_t sample = 0;
        if (has & (left ? MOTUS_HAS_LEFT : MOTUS_HAS_TOP))
            sample = left ? from[i * step - 1] : from[i - step];
        s->chroma[c][left][i] = (uint8_t)sample;
    }
    motus_lanes_sync(); // the sides are there
    // Then a lane a 4x4 block: mode, plane, block.
    const int mode = lane >> 3, c = lane >> 2 & 1, x = lane & 1, y = lane >> 1 & 1;
    const uint8_t *top = s->chroma[c][0], *left = s->chroma[c][1];
    const uint8_t *corner_at = c ? at[1] - stride[1] - 1 : at[0] - stride[0] - 1;
    const int corner = has & MOTUS_HAS_CORNER ? *corner_at : 0;
    const int as16 = 0x3012 >> (4 * mode) & 3; // the Intra16x16 mode that does the same
    int across = -4 * corner, down = across, dc_has = has;
    for (int i = 0; i < 8; i++) {
        across += (i - 3) * top[i];
        down += (i - 3) * left[i];
    }
    MotusIntraPlane plane;
    plane.b = (34 * across + 32) >> 6;
    plane.c = (34 * down + 32) >> 6;
    plane.base = 16 * (top[7] + left[7]) + 16 - 3 * (plane.b + plane.c);
    if (x > y && (has & MOTUS_HAS_TOP)) dc_has = MOTUS_HAS_TOP; // motus_intra_chroma_dc
    if (x < y && (has & MOTUS_HAS_LEFT)) dc_has = MOTUS_HAS_LEFT;
    const uint32_t dc =
        motus_dc_of_sums((uint32_t)motus_sum_of_samples(motus_word_get(top + 4 * x)),
                         (uint32_t)motus_sum_of_samples(motus_word_get(left + 4 * y)), 2, dc_has);
    uint32_t rows[4], own[4], cost[4];
    for (int k = 0; k < 4; k++) {
        own[k] = motus_word_get((c ? src->plane[2] : src->plane[1]) +
                                (4 * y + k) * (c ? src->stride[2] : src->stride[1]) + 4 * x);
        rows[k] = motus_mode_row4(top, left, dc, &plane, as16, 4 * x, 4 * y + k);
    }
    uint32_t satd = motus_lanes_sum_of(motus_satd_rows(own, rows), 8);
    for (int k = 0; k < 4; k++) {
        cost[k] = motus_lanes_get(satd, 8 * k) +
                  motus_mode_cost(qp, (uint32_t)motus_ue_bits((uint32_t)k));
        if (!motus_intra_chroma_allowed(k, has)) cost[k] = UINT32_MAX;
    }
    int best = (int)(motus_least_of_4(cost) & 3);
    for (int k = 0; k < 4 && mode == best; k++)
        motus_word_put(chroma[c] + MOTUS_CHROMA_STRIDE * (4 * y + k) + 4 * x, rows[k]);
    motus_lanes_sync();
    return best;
}

// ---- Residual -----------------------------------------------------------------------------------

// motus_hadamard4x4 of values that sixteen lanes have, in raster order.
MOTUS_HD int motus_hadamard_lanes(int v) {
    const int lane = motus_lane();
    MOTUS_ONE_BODY
    for (int down = 0; down < 2; down++) {
        const int k = (down ? lane >> 2 : lane) & 3;
        int sum = 0;
        for (int i = 0; i < 4; i++) { // bit 4 * k + i: the k-th output subtracts the i-th value
            const int other =
                (int)motus_lanes_get((uint32_t)v, down ? (lane & 19) + 4 * i : (lane & 28) + i);
            sum += 0xA6C0 >> (4 * k + i) & 1 ? -other : other;
        }
        v = sum;
    }
    return v;
}

// Intra16x16's DC levels, and what they come to in the blocks: motus_luma_dc_code. Returns their
// bits.
MOTUS_HD uint32_t motus_intra16x16_dc_lanes(MotusResidual *r, MotusTrial *trial,
                                            const MotusNeighbours *neighbours, int qp,
                                            const uint8_t *zero_runs) {
    const int lane = motus_lane(), blk = lane & 15;
    const MotusQuantizer q = motus_quantizer(qp, MOTUS_DEADZONE_INTRA, 1);
    const int sum = motus_hadamard_lanes(r->coef[blk][0]);
    const int level = motus_quant((int16_t)((sum + 1) >> 1), q.scale[0], q.offset, q.shift);
    const int16_t dc = motus_luma_dc_dequant(motus_hadamard_lanes(level), qp);
    // Lane k of sixteen has zigzag position 15 - k: MotusLevelPlanes.
    const int coded =
                  (int)motus_lanes_get((uint32_t)level, (lane & 16) + motus_zigzag_at(15 - blk)),
              less = motus_abs(coded) - 1;
    const int small = less >= 0 && less < MOTUS_PLANES_MAX;
    if (lane < 16) r->dc[blk] = dc, trial->coef.luma_dc[15 - blk] = (int16_t)coded;
    MotusLevelPlanes planes;
    planes.nonzero = motus_lanes_which(coded != 0) & 0xFFFF;
    planes.negative = motus_lanes_which(coded < 0) & 0xFFFF;
    planes.large = motus_lanes_which(less >= MOTUS_PLANES_MAX) & 0xFFFF;
    for (int p = 0; p < 4; p++)
        planes.plane[p] = motus_lanes_which(small && (less >> p & 1)) & 0xFFFF;
    const int left = neighbours->a ? neighbours->a->total_coeff[3] : -1,
              above = neighbours->b ? neighbours->b->total_coeff[12] : -1;
    motus_lanes_sync(); // levels are there
    return motus_planes_block_bits(&planes, trial->coef.luma_dc, -1, 0, 0,
                                   motus_cavlc_token_class(motus_cavlc_nc(left, above)), zero_runs);
}

// Whether the levels of n <= 32 blocks pay for their bits together: motus_levels_pay.
MOTUS_HD int motus_levels_pay_lanes(const MotusLevels *levels, int n, const MotusQuant *q,
                                    uint32_t *bits) {
    const int there = motus_lane() < n;
    const int32_t gain = (int32_t)motus_lanes_sum(there ? (uint32_t)levels[motus_lane()].gain : 0);
    *bits = motus_lanes_sum(there ? levels[motus_lane()].bits : 0);
    return gain > (int32_t)(*bits * q->rate);
}

#endif
#endif
