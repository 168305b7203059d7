// Choice of the Intra16x16 and the chroma mode by a warp, a lane a 4x4 block of a mode; and that of
// the type by SATD, from the source alone.
// Equals estimate16x16, code_chroma and type_by_satd (intra.c): suite `lanes`, and `gpu_decide` on
// a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA_MODES_WARP_CUH
#define ENCODER_INTRA_INTRA_MODES_WARP_CUH

#include "encoder/intra/intra4x4_modes_warp.cuh"
#include "encoder/intra/intra_trial_core.h"

// Samples above an MB ([0]) and to its left ([1]); 0 without a neighbour.
typedef struct __attribute__((aligned(16))) MotusIntraSides {
    uint8_t luma[2][16], chroma[2][2][8];
} MotusIntraSides;

// Returns row y of a 4x4 block at x, predicted by an Intra16x16 mode.
MOTUS_WARP uint32_t mode_row4(const uint8_t *top, const uint8_t *left, uint32_t dc,
                              const MotusIntraPlane *plane, int mode, int x, int y) {
    if (mode == MOTUS_I16_VERTICAL) return motus_word_get(top + x);
    if (mode == MOTUS_I16_HORIZONTAL) return left[y] * 0x01010101u;
    if (mode == MOTUS_I16_DC) return dc * 0x01010101u;
    uint32_t row = 0;
    for (int i = 0; i < 4; i++)
        row |= (uint32_t)motus_clip_u8((plane->base + plane->b * (x + i) + plane->c * y) >> 5)
               << (8 * i);
    return row;
}

// Returns motus_intra_dc from the sums of 1 << log2_n samples above and to the left.
MOTUS_WARP uint32_t dc_of_sums(uint32_t top, uint32_t left, int log2_n, int has) {
    const uint32_t n = 1u << log2_n;
    has &= MOTUS_HAS_LEFT | MOTUS_HAS_TOP;
    if (has == (MOTUS_HAS_LEFT | MOTUS_HAS_TOP)) return (top + left + n) >> (log2_n + 1);
    return !has ? 128 : ((has & MOTUS_HAS_LEFT ? left : top) + n / 2) >> log2_n;
}

// Loads the luma sides of an MB. Returns the parameters of Intra16x16's plane mode and DC.
MOTUS_WARP MotusIntraPlane intra16x16_sides(const MotusIntraMb *in, MotusIntraSides *s,
                                            uint32_t *dc) {
    const uint8_t *at = in->rec.plane[0];
    const ptrdiff_t stride = in->rec.stride[0];
    const int has = in->has;
    // A lane a sample of the edge: 16 above, 16 to the left. In motus_intra_slope sample i counts
    // i - 7 times, the corner -8 times.
    const int lane = motus_lane(), i = lane & 15, left = lane >> 4;
    uint32_t sample = 0, corner = has & MOTUS_HAS_CORNER ? at[-stride - 1] : 0;
    if (has & (left ? MOTUS_HAS_LEFT : MOTUS_HAS_TOP))
        sample = left ? at[i * stride - 1] : at[i - stride];
    s->luma[left][i] = (uint8_t)sample;
    uint32_t sum = motus_lanes_group_sum(sample, 16),
             weighted = motus_lanes_group_sum(sample * (uint32_t)(i - 7), 16);
    int slope = (5 * ((int)weighted - 8 * (int)corner) + 32) >> 6;
    MotusIntraPlane plane;
    plane.b = (int)motus_lanes_shuffle((uint32_t)slope, 0);
    plane.c = (int)motus_lanes_shuffle((uint32_t)slope, 16);
    plane.base = 16 * (int)(motus_lanes_shuffle(sample, 15) + motus_lanes_shuffle(sample, 31)) +
                 16 - 7 * (plane.b + plane.c);
    *dc = dc_of_sums(motus_lanes_shuffle(sum, 0), motus_lanes_shuffle(sum, 16), 4, has);
    motus_lanes_sync(); // the sides are written
    return plane;
}

// Predicts luma by an Intra16x16 mode.
MOTUS_WARP void motus_intra16x16_predict_warp(const MotusIntraMb *in, MotusIntraSides *s, int mode,
                                              uint8_t pred[256]) {
    uint32_t dc;
    const MotusIntraPlane plane = intra16x16_sides(in, s, &dc);
    const int x = 4 * (motus_lane() & 3);
    for (int y = motus_lane() >> 2; y < 16; y += 8)
        motus_word_put(pred + MOTUS_LUMA_STRIDE * y + x,
                       mode_row4(s->luma[0], s->luma[1], dc, &plane, mode, x, y));
    motus_lanes_sync(); // the prediction is written
}

// Returns SATD + lambda * bits of the best Intra16x16 mode, and leaves predictions in pred, if it
// is not NULL.
MOTUS_WARP uint32_t motus_intra16x16_estimate_warp(const MotusIntraMb *in, MotusIntraSides *s,
                                                   uint8_t pred[4][256], int *mode) {
    uint32_t dc;
    const MotusIntraPlane plane = intra16x16_sides(in, s, &dc);
    const int lane = motus_lane(), has = in->has;
    uint32_t best = UINT32_MAX;
    const int x = 4 * (lane & 3), y = 4 * (lane >> 2 & 3);
    uint32_t rows[4], own[4];
    for (int k = 0; k < 4; k++)
        own[k] = motus_word_get(in->src.plane[0] + (y + k) * in->src.stride[0] + x);
    MOTUS_ONE_BODY
    for (int m = 0; m < 4; m += 2) {
        int own_mode = m + (lane >> 4);
        for (int k = 0; k < 4; k++) {
            rows[k] = mode_row4(s->luma[0], s->luma[1], dc, &plane, own_mode, x, y + k);
            if (pred) motus_word_put(pred[own_mode] + MOTUS_LUMA_STRIDE * (y + k) + x, rows[k]);
        }
        uint32_t satd = motus_lanes_group_sum(motus_satd_rows(own, rows), 16);
        for (int k = m; k < m + 2; k++) { // the first of equals
            const uint32_t cost =
                motus_lanes_shuffle(satd, 16 * (k - m)) +
                motus_mode_cost(in->qp, (uint32_t)motus_ue_bits(1u + (uint32_t)k));
            if (motus_intra16x16_allowed(k, has) && (cost << 2 | (uint32_t)k) < best)
                best = cost << 2 | (uint32_t)k;
        }
    }
    motus_lanes_sync(); // predictions are written
    *mode = (int)(best & 3);
    return best >> 2;
}

// Returns the best chroma mode by SATD, and leaves its prediction in chroma.
MOTUS_WARP int motus_intra_chroma_mode_warp(const MotusIntraMb *in, MotusIntraSides *s,
                                            uint8_t chroma[2][64]) {
    uint8_t *const *at = in->rec.plane + 1;
    const ptrdiff_t *stride = in->rec.stride + 1;
    const int has = in->has;
    // A lane a sample of the edges: plane, side, sample. In slopes sample i counts i - 3 times, the
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
    motus_lanes_sync(); // the sides are written
    // A lane a 4x4 block: mode, plane, block.
    const int mode = lane >> 3, c = lane >> 2 & 1, x = lane & 1, y = lane >> 1 & 1;
    const uint8_t *top = s->chroma[c][0], *left = s->chroma[c][1];
    const uint8_t *corner_at = c ? at[1] - stride[1] - 1 : at[0] - stride[0] - 1;
    const int corner = has & MOTUS_HAS_CORNER ? *corner_at : 0;
    const int same =
        MOTUS_I16_DC << 4 * MOTUS_IC_DC | MOTUS_I16_HORIZONTAL << 4 * MOTUS_IC_HORIZONTAL |
        MOTUS_I16_VERTICAL << 4 * MOTUS_IC_VERTICAL | MOTUS_I16_PLANE << 4 * MOTUS_IC_PLANE;
    const int as16 = same >> (4 * mode) & 3; // the Intra16x16 mode that predicts alike
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
        dc_of_sums((uint32_t)motus_sum_of_samples(motus_word_get(top + 4 * x)),
                   (uint32_t)motus_sum_of_samples(motus_word_get(left + 4 * y)), 2, dc_has);
    uint32_t rows[4], own[4], least = UINT32_MAX;
    for (int k = 0; k < 4; k++) {
        own[k] = motus_word_get((c ? in->src.plane[2] : in->src.plane[1]) +
                                (4 * y + k) * (c ? in->src.stride[2] : in->src.stride[1]) + 4 * x);
        rows[k] = mode_row4(top, left, dc, &plane, as16, 4 * x, 4 * y + k);
    }
    uint32_t satd = motus_lanes_group_sum(motus_satd_rows(own, rows), 8);
    for (int k = 0; k < 4; k++) { // the first of equals; costs are below 2^20
        uint32_t cost = motus_lanes_shuffle(satd, 8 * k) +
                        motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)k));
        if (!motus_intra_chroma_allowed(k, has)) cost = UINT32_MAX;
        const uint32_t key = cost == UINT32_MAX ? UINT32_MAX : cost << 2 | (uint32_t)k;
        least = key < least ? key : least;
    }
    const int best = (int)(least & 3);
    for (int k = 0; k < 4 && mode == best; k++)
        motus_word_put(chroma[c] + MOTUS_CHROMA_STRIDE * (4 * y + k) + 4 * x, rows[k]);
    motus_lanes_sync();
    return best;
}

// ---- Types before samples -----------------------------------------------------------------------

// Shared memory of an MB.
typedef struct MotusTypeShared {
    MotusIntraSides sides;
    __attribute__((aligned(16))) int32_t minus[16][16]; // motus_satd_with
    uint32_t runs[16][40];                              // motus_i4_line
    __attribute__((aligned(16))) uint8_t canvas[17 * MOTUS_CANVAS_STRIDE];
} MotusTypeShared;

// Copies the source to the canvas, with the samples above and to the left of it.
MOTUS_WARP void type_canvas(const MotusIntraMb *in, uint8_t *canvas) {
    const int lane = motus_lane();
    const uint8_t *src = in->src.plane[0];
    const ptrdiff_t stride = in->src.stride[0];
    const int needed = lane ? MOTUS_HAS_TOP : MOTUS_HAS_CORNER;
    uint8_t above = 0, left = 0;
    uint32_t own[2];
    if (lane < 17 && in->has & needed) above = src[lane - 1 - stride];
    if (lane < 16 && in->has & MOTUS_HAS_LEFT) left = src[lane * stride - 1];
    for (int i = 0; i < 2; i++)
        own[i] = motus_word_get(src + (8 * i + (lane >> 2)) * stride + 4 * (lane & 3));
    uint8_t *first = canvas + MOTUS_CANVAS_ORIGIN;
    if (lane < 17) first[lane - 1 - MOTUS_CANVAS_STRIDE] = above;
    if (lane < 16) first[lane * MOTUS_CANVAS_STRIDE - 1] = left;
    for (int i = 0; i < 2; i++)
        motus_word_put(first + (8 * i + (lane >> 2)) * MOTUS_CANVAS_STRIDE + 4 * (lane & 3),
                       own[i]);
    motus_lanes_sync(); // the canvas is written
}

// Returns the type of least SATD. Of 4x4 blocks eight lanes have one, a lane a mode.
MOTUS_WARP MotusIntraType motus_intra_type_by_satd_warp(const MotusIntraMb *in,
                                                        MotusTypeShared *s) {
    const int lane = motus_lane(), k = lane & 7, x = lane >> 3, mode = motus_i4_mode_of_eight();
    const MotusI4Edge edge = motus_i4_edge(k);
    const MotusModeCosts none = {0, 0, 0};
    const uint32_t rows = motus_i4_rows(mode);
    uint32_t sum = 0;
    type_canvas(in, s->canvas);
    for (int y = 0; y < 4; y++) {
        const int blk = 4 * y + x, at = MOTUS_CANVAS_ORIGIN + 4 * y * MOTUS_CANVAS_STRIDE + 4 * x;
        const uint32_t own = motus_word_get(s->canvas + at + (k >> 1) * MOTUS_CANVAS_STRIDE);
        motus_i4_line_of_eight(s->runs[blk], s->canvas, at, &edge);
        for (int i = 2 * (k & 1); i < 2 * (k & 1) + 2; i++)
            s->minus[blk][4 * (k >> 1) + i] = -motus_dot4(own, motus_hadamard_bytes(i), 0);
    }
    motus_lanes_sync(); // lines and the source's transforms are written
    for (int y = 0; y < 4; y++) {
        const int blk = 4 * y + x;
        uint32_t pred[4];
        sum +=
            motus_least_of_eight(motus_i4_mode(pred, s->runs[blk], s->minus[blk], in->qp, &none, 1,
                                               motus_intra4x4_has(blk, in->has), 0, rows, mode)) >>
            4;
    }
    const uint32_t small = motus_lanes_sum(k ? 0 : sum) - 16; // each key is the SATD + 1
    int mode16;
    const uint32_t whole = motus_intra16x16_estimate_warp(in, &s->sides, NULL, &mode16);
    const int is_4x4 = motus_is_intra4x4_by_satd(small, whole, in->qp);
    const MotusIntraType type = {(uint8_t)(is_4x4 ? MOTUS_MB_I_4x4 : MOTUS_MB_I_16x16), 0,
                                 (uint8_t)mode16};
    return type;
}

#endif
