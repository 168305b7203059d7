// H.264 4x4 transforms and quantization (8.5.6..8.5.12), QP 0..51, flat scaling matrices.
// Blocks are 16 int16 in raster order (row * 4 + column) unless a name says zigzag.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_DCT_H
#define MOTUS_DCT_H

#include <stddef.h>
#include <stdint.h>

#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Rounding offset of the quantizer as a fraction of a step in 1/64: level = (|coef| * scale + offset) >> shift.
// Inter about 1/6, intra about 1/3 are the usual dead zones.
#define MOTUS_DEADZONE_INTER 11
#define MOTUS_DEADZONE_INTRA 21

#define MOTUS_MAX_LEVEL 2063 // largest |level| that CAVLC of the Baseline profile can always carry (9.2.2.1, level_prefix <= 15)

// Block functions; every entry gives the same results as the plain C one. Get a table with motus_dct_ops.
typedef struct MotusDctOps {
    const char *name; // "c", "avx2"

    // Forward core transform (encoder's side of 8.5.12) of src - pred. 4x4; and 16x16: 16 blocks in raster order of 4x4 blocks.
    void (*forward4x4)(int16_t coef[16], const uint8_t *src, ptrdiff_t src_stride, const uint8_t *pred, ptrdiff_t pred_stride);
    void (*forward16x16)(int16_t coef[16][16], const uint8_t *src, ptrdiff_t src_stride, const uint8_t *pred,
                         ptrdiff_t pred_stride);
    // 8x8 samples of chroma: 4 blocks in raster order.
    void (*forward8x8)(int16_t coef[4][16], const uint8_t *src, ptrdiff_t src_stride, const uint8_t *pred, ptrdiff_t pred_stride);

    // Quantizes one block; deadzone in 1/64 step (0..32). Levels are clipped to +-MOTUS_MAX_LEVEL. Returns the number of nonzero levels.
    int (*quant4x4)(int16_t level[16], const int16_t coef[16], int qp, int deadzone);

    // Scaling (8.5.12.1) of all 16 levels; the result feeds inverse4x4_add. DC of Intra16x16 and chroma blocks is put in by the caller.
    void (*dequant4x4)(int16_t coef[16], const int16_t level[16], int qp);

    // dst = clip(pred + ((inverse(coef) + 32) >> 6)) (8.5.12.2); dst and pred may be the same memory.
    void (*inverse4x4_add)(uint8_t *dst, ptrdiff_t dst_stride, const uint8_t *pred, ptrdiff_t pred_stride,
                           const int16_t coef[16]);
} MotusDctOps;

// The fastest table this CPU runs; the plain C table with cpu_flags_off != 0.
MOTUS_API const MotusDctOps *motus_dct_ops(int plain_c);

// Luma DC of Intra16x16: 4x4 Hadamard over the DCs of the 16 blocks (raster order), (x + 1) >> 1 forward; quantization at qp with twice the
// step's shift; inverse + scaling (8.5.10) gives the dequantized DC for each block. Returns nonzero levels. Blocks must not be NULL; QPs are clipped to
// 0..51, dead zones to 0..32.
MOTUS_API void motus_luma_dc_forward(int16_t out[16], const int16_t dc[16]);
MOTUS_API int motus_luma_dc_quant(int16_t level[16], const int16_t coef[16], int qp, int deadzone);
MOTUS_API void motus_luma_dc_inverse(int16_t dc[16], const int16_t level[16], int qp);

// Chroma DC: 2x2 Hadamard (8.5.11.1), its quantization and its inverse with scaling (8.5.11.2). qp is QP'c. Blocks must not be NULL; numbers are
// clipped as above.
MOTUS_API void motus_chroma_dc_forward(int16_t out[4], const int16_t dc[4]);
MOTUS_API int motus_chroma_dc_quant(int16_t level[4], const int16_t coef[4], int qp, int deadzone);
MOTUS_API void motus_chroma_dc_inverse(int16_t dc[4], const int16_t level[4], int qp);

// QPc of a luma QP with chroma_qp_index_offset (table 8-15); arguments clipped to 0..51.
MOTUS_API int motus_chroma_qp(int qp_luma, int offset);

// zigzag position -> raster position of a 4x4 block (figure 8-8 a, frame scan).
MOTUS_API extern const uint8_t motus_zigzag4x4[16];

#ifdef __cplusplus
}
#endif
#endif
