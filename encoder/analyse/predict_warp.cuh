// Inter prediction of an MB by a warp, from one list or both.
// Equals motus_predict_inter (predict_cpu.h): suite `lanes`,
// and `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_PREDICT_WARP_CUH
#define ENCODER_ANALYSE_PREDICT_WARP_CUH

#include "encoder/analyse/inter_core.h"
#include "encoder/mb/direct_core.h"
#include "me/pixel/words_warp.cuh"

// Returns the index of the reference that an 8x8 block is predicted from first: list 1's in B
// pictures, else by ref_idx.
MOTUS_WARP int lane_reference(const MotusInterMb *in, const MotusMb *mb, int q, int pred) {
    if (in->lists == 2 && pred == MOTUS_PRED_L1) return in->refs;
    return in->refs > 1 ? mb->ref[0][q] : 0;
}

// ---- Weights (8.4.2.3) --------------------------------------------------------------------------

// Returns the rounded averages of four pairs of samples, or weighted sums. pair_offset: of b's
// weight (MotusReference).
MOTUS_WARP uint32_t lane_pair(uint32_t a, uint32_t b, int pair_offset) {
    uint32_t sum = 0;
    if (!pair_offset) return motus_words_average(a, b);
    for (int i = 0; i < 4; i++)
        sum |= (uint32_t)motus_pair_sample(motus_word_sample(a, i), motus_word_sample(b, i),
                                           MOTUS_EVEN_PAIR + pair_offset)
               << 8 * i;
    return sum;
}

// ---- Luma ---------------------------------------------------------------------------------------

// Interpolates n rows of four samples at (x, y) of the picture. luma: as in motus_luma_taps.
MOTUS_WARP void lane_luma_rows(uint32_t *row, int n, const MotusReference *ref, const uint8_t *luma,
                               int x, int y, MotusMv mv) {
    const uint8_t *tap[2];
    uint32_t other[4];
    motus_luma_taps(ref, luma, x, y, mv, tap);
    motus_words_load(row, n, tap[0], ref->luma_stride, 4);
    motus_words_load(other, n, tap[1], ref->luma_stride, 4);
    for (int i = 0; i < n; i++) row[i] = motus_words_average(row[i], other[i]);
}

// Predicts luma, a lane two rows of a 4x4 block.
MOTUS_WARP void lane_predict_luma(uint8_t luma[256], const MotusInterMb *in, const MotusMb *mb) {
    const int blk = motus_lane() >> 1, q = motus_8x8_of(blk);
    const int x = 4 * (blk & 3), y = (blk & 12) + 2 * (motus_lane() & 1), px = 16 * in->x + x,
              py = 16 * in->y + y;
    const int pred = in->lists == 2 ? mb->pred[q] : MOTUS_PRED_L0, first = pred == MOTUS_PRED_L1;
    const MotusReference *ref = &in->ref[lane_reference(in, mb, q, pred)];
    const int has_weights = in->lists == 1 && ref->plain; // none has in B pictures
    uint32_t row[2], other[2];
    lane_luma_rows(row, 2, ref, has_weights ? ref->plain : ref->luma, px, py,
                   first ? mb->mv1[q] : mb->mv[blk]);
    if (pred == MOTUS_PRED_BI) {
        const MotusReference *ref1 = &in->ref[in->refs];
        lane_luma_rows(other, 2, ref1, ref1->luma, px, py, mb->mv1[q]);
        for (int i = 0; i < 2; i++) row[i] = lane_pair(row[i], other[i], ref->pair_offset);
    }
    for (int i = 0; i < 2 && has_weights; i++) {
        uint32_t weighted = 0;
        for (int k = 0; k < 4; k++)
            weighted |= (uint32_t)motus_weighted_sample(motus_word_sample(row[i], k),
                                                        ref->weight[0], ref->log2_denom)
                        << 8 * k;
        row[i] = weighted;
    }
    for (int i = 0; i < 2; i++) motus_word_put(luma + (y + i) * MOTUS_LUMA_STRIDE + x, row[i]);
}

// ---- Chroma -------------------------------------------------------------------------------------

// Predicts 2x2 samples at (x, y) of a plane, by rows, from 3x3.
MOTUS_WARP void lane_chroma_samples(uint32_t sample[4], const MotusReference *ref, int plane, int x,
                                    int y, MotusMv mv) {
    const int width = ref->width / 2, height = ref->height / 2;
    const int px = x + (mv.x >> 3), py = y + (mv.y >> 3);
    const uint8_t *from = ref->chroma[plane];
    const ptrdiff_t stride = ref->chroma_stride;
    const MotusChromaWeights w = motus_chroma_weights(mv.x & 7, mv.y & 7);
    const uint32_t weights = w.a | (uint32_t)w.b << 8 | (uint32_t)w.c << 16 | (uint32_t)w.d << 24;
    uint32_t row[3];
    if (px >= 0 && py >= 0 && px + 2 < width && py + 2 < height) {
        motus_words_load(row, 3, from + py * stride + px, stride, 3);
    } else {
        for (int i = 0; i < 3; i++) {
            row[i] = 0;
            for (int k = 0; k < 3; k++)
                row[i] |= (uint32_t)from[motus_clip(0, height - 1, py + i) * stride +
                                         motus_clip(0, width - 1, px + k)]
                          << 8 * k;
        }
    }
    for (int i = 0; i < 2; i++) {
        const uint32_t left = (row[i] & 0xFFFF) | row[i + 1] << 16,
                       right = (row[i] >> 8 & 0xFFFF) | row[i + 1] >> 8 << 16;
        sample[2 * i] = motus_words_dot(left, weights, 32) >> 6;
        sample[2 * i + 1] = motus_words_dot(right, weights, 32) >> 6;
    }
}

// Predicts chroma, a lane the 2x2 samples of one 4x4 block.
MOTUS_WARP void lane_predict_chroma(uint8_t chroma[2][64], const MotusInterMb *in,
                                    const MotusMb *mb) {
    const int lane = motus_lane(), plane = lane >> 4, blk = lane & 15, q = motus_8x8_of(blk);
    const int x = 2 * (blk & 3), y = 2 * (blk >> 2), px = 8 * in->x + x, py = 8 * in->y + y;
    const int pred = in->lists == 2 ? mb->pred[q] : MOTUS_PRED_L0, first = pred == MOTUS_PRED_L1;
    uint8_t *to = chroma[plane] + y * MOTUS_CHROMA_STRIDE + x;
    const MotusReference *ref = &in->ref[lane_reference(in, mb, q, pred)];
    uint32_t sample[4], other[4];
    lane_chroma_samples(sample, ref, plane, px, py, first ? mb->mv1[q] : mb->mv[blk]);
    if (pred == MOTUS_PRED_BI) {
        lane_chroma_samples(other, &in->ref[in->refs], plane, px, py, mb->mv1[q]);
        for (int i = 0; i < 4; i++)
            sample[i] = motus_pair_sample((int)sample[i], (int)other[i],
                                          MOTUS_EVEN_PAIR + ref->pair_offset);
    }
    for (int i = 0; i < 4 && in->lists == 1 && ref->plain; i++)
        sample[i] = motus_weighted_sample((int)sample[i], plane ? ref->weight[2] : ref->weight[1],
                                          ref->log2_denom);
    for (int i = 0; i < 4; i++) to[(i >> 1) * MOTUS_CHROMA_STRIDE + (i & 1)] = (uint8_t)sample[i];
}

#endif
