// Choice of an intra MB's type by SATD, by a warp: Intra4x4 or Intra16x16, from the source alone.
// Equals motus_intra_type_by_satd (intra_search_cpu.h): suite `lanes`, and `gpu_decide` on a
// device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA_TYPE_WARP_CUH
#define ENCODER_INTRA_INTRA_TYPE_WARP_CUH

#include "encoder/intra/intra_modes_warp.cuh"

// Shared memory of an MB.
typedef struct MotusTypeShared {
    MotusIntraSides sides;
    __attribute__((aligned(16))) int32_t minus[16][16]; // motus_satd_with
    uint32_t runs[16][40];                              // motus_i4_line
    __attribute__((aligned(16))) uint8_t canvas[17 * MOTUS_CANVAS_STRIDE];
} MotusTypeShared;

// Copies the source to the canvas, with the samples above and to the left of it.
MOTUS_WARP void motus_type_canvas(const MotusIntraMb *in, uint8_t *canvas) {
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

// Returns the sum of SATDs of 4x4 blocks: eight lanes a block, a lane a mode.
MOTUS_WARP uint32_t motus_intra4x4_satd_warp(const MotusIntraMb *in, MotusTypeShared *s) {
    const int lane = motus_lane(), k = lane & 7, x = lane >> 3, mode = motus_i4_mode_of_eight();
    const MotusI4Edge edge = motus_i4_edge(k);
    const MotusModeCosts none = {0, 0, 0};
    const uint32_t rows = motus_i4_rows(mode);
    uint32_t sum = 0;
    motus_type_canvas(in, s->canvas);
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
    // Each key is the SATD + 1.
    return motus_lanes_sum(k ? 0 : sum) - 16;
}

MOTUS_WARP MotusIntraType motus_intra_type_by_satd_warp(const MotusIntraMb *in,
                                                        MotusTypeShared *s) {
    int mode;
    const uint32_t small = motus_intra4x4_satd_warp(in, s),
                   whole = motus_intra16x16_estimate_warp(in, &s->sides, NULL, &mode);
    const int is_4x4 = motus_is_intra4x4_by_satd(small, whole, in->qp);
    const MotusIntraType type = {(uint8_t)(is_4x4 ? MOTUS_MB_I_4x4 : MOTUS_MB_I_16x16), 0,
                                 (uint8_t)mode};
    return type;
}

#endif
