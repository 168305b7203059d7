// The 8x8 DCT-II of JPEG over whole planes, with quantization. Coefficients keep their block's
// place: coefficient (u, v) of the block whose first sample is (8 i, 8 j) lies at column 8 i + u,
// row 8 j + v. CPU and CUDA (motus/filter_cuda.h) give the same bits for both kinds.
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

typedef enum MotusDct8Kind {
    MOTUS_DCT8_FLOAT =
        0, // single precision, level = coefficient / q rounded to nearest, ties to even
    MOTUS_DCT8_INTEGER =
        1, // integers only, level = coefficient / q rounded to nearest, ties away from zero
} MotusDct8Kind;

// A plane of quantized coefficients. Width and height are those of the samples, rounded up to
// multiples of 8.
typedef struct MotusCoefs {
    int16_t *data;
    ptrdiff_t stride;  // bytes from one row to the next; a multiple of 16
    int width, height; // multiples of 8
} MotusCoefs;

// Quantization tables in raster order (row v, column u), steps 1..65535. ITU-T T.81 tables K.1 and
// K.2.
MOTUS_API extern const uint16_t motus_jpeg_luma_table[64];
MOTUS_API extern const uint16_t motus_jpeg_chroma_table[64];

// Scales a base table to a quality of 1 (coarsest) .. 100 (all ones), by the rule that the
// Independent JPEG Group's tools made usual: 50 leaves it as it is; steps stay in 1..255.
// MOTUS_ERR_ARGUMENT: quality out of range.
MOTUS_API MotusStatus motus_dct8_quality(uint16_t table[64], const uint16_t base[64], int quality);

// Forward transform of samples - 128 and quantization. dst must be as large as src rounded up to
// whole blocks (the last column and row are repeated). MOTUS_ERR_ARGUMENT: sizes that do not fit, a
// step of 0, NULL.
MOTUS_API MotusStatus motus_dct8_forward(MotusCoefs *dst, const MotusPlane *src,
                                         const uint16_t table[64], MotusDct8Kind kind,
                                         const MotusExec *exec);

// Dequantization, inverse transform, + 128, rounding and clipping to 0..255. dst may be smaller
// than src by less than a block.
MOTUS_API MotusStatus motus_dct8_inverse(MotusPlane *dst, const MotusCoefs *src,
                                         const uint16_t table[64], MotusDct8Kind kind,
                                         const MotusExec *exec);

#ifdef __cplusplus
}
#endif
#endif
