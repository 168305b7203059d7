// 8x8 DCT-II of JPEG (ITU-T T.81, A.3.3) over whole planes, with quantization. Coefficient (u, v)
// of the block at sample (8 i, 8 j) lies at column 8 i + u, row 8 j + v. CPU and CUDA
// (motus/filter_cuda.h) give the same bits.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_DCT8X8_H
#define MOTUS_DCT8X8_H

#include <stddef.h>
#include <stdint.h>

#include "motus/exec.h"
#include "motus/frame.h"
#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Arithmetic of transform and quantization; level = coefficient / step.
typedef enum MotusDct8Kind {
    MOTUS_DCT8_FLOAT = 0,   // single precision; levels are rounded to nearest, ties to even
    MOTUS_DCT8_INTEGER = 1, // integers; levels are rounded to nearest, ties away from zero
} MotusDct8Kind;

// Plane of quantized coefficients, as large as the samples rounded up to whole blocks. The caller
// owns `data`.
typedef struct MotusCoefs {
    int16_t *data;
    ptrdiff_t stride;  // bytes from one row to the next, a multiple of 16
    int width, height; // coefficients, multiples of 8
} MotusCoefs;

// Quantization tables of ITU-T T.81, K.1 and K.2, in raster order (row v, column u). Steps of a
// table are 1..65535.
MOTUS_API extern const uint16_t motus_jpeg_luma_table[64];
MOTUS_API extern const uint16_t motus_jpeg_chroma_table[64];

// Scales a base table to quality 1 (coarsest) .. 100 (all ones) by the rule of the Independent JPEG
// Group's software: 50 keeps it; steps stay in 1..255. MOTUS_ERR_ARGUMENT: quality out of range.
MOTUS_API MotusStatus motus_dct8_quality(uint16_t table[64], const uint16_t base[64], int quality);

// Transforms samples - 128 and quantizes. dst is as large as src rounded up to whole blocks; the
// last column and row are repeated. MOTUS_ERR_ARGUMENT: sizes that do not fit, a step of 0, NULL.
MOTUS_API MotusStatus motus_dct8_forward(MotusCoefs *dst, const MotusPlane *src,
                                         const uint16_t table[64], MotusDct8Kind kind,
                                         const MotusExec *exec);

// Dequantizes, transforms back, adds 128, rounds and clips to 0..255. dst may be smaller than src
// by less than a block in each direction. Errors of motus_dct8_forward.
MOTUS_API MotusStatus motus_dct8_inverse(MotusPlane *dst, const MotusCoefs *src,
                                         const uint16_t table[64], MotusDct8Kind kind,
                                         const MotusExec *exec);

#ifdef __cplusplus
}
#endif
#endif
