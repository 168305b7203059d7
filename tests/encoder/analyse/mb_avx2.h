// Functions of an MB's prediction and errors that have a version for AVX2, compiled for it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_ENCODER_MB_MB_AVX2_H
#define TESTS_ENCODER_MB_MB_AVX2_H

#include "encoder/analyse/predict_core.h"
#include "me/intra16_core.h"

typedef struct MbAvx2 {
    void (*chroma_block)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *plane, ptrdiff_t stride,
                         int width, int height, int x, int y, MotusChromaWeights weights, int w,
                         int h);
    void (*fill_plane)(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int size);
    uint32_t (*ssd)(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                    int size);
    uint32_t (*satd)(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                     int w, int h);
    void (*intra4x4_modes)(uint8_t *pred, const MotusIntraEdge *edge);
} MbAvx2;

extern const MbAvx2 mb_avx2;

#endif
