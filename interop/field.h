// Motion fields in the shapes that other encoders and flow tools take. A field has up to 41 vectors
// a macroblock (MB); where a shape has room for one partition, it is the one of least cost: that of
// its blocks summed up, the first of equals in the order of MotusMode, sub-macroblocks chosen for
// each 8x8 by themselves. Without lambda (MotusMeHints) small blocks always win. A library of its
// own (motus_field_shapes) that needs nothing but motus.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_FIELD_H
#define INTEROP_FIELD_H

#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

// In all of these: modes is the mask of 1 << MotusMode that the field holds (16x16 among them);
// arrays have field->n_mb entries, MBs in raster order.

// The block of the least partition that each 4x4 block of an MB, in raster order, belongs to:
// 0..40.
void motus_field_least(const MotusField *field, uint32_t modes, int mb, uint8_t block[16]);

// What NVENC's ME-only mode gives for an MB: NV_ENC_H264_MV_DATA of nvEncodeAPI.h (Video Codec SDK
// 11). mv: of the partition's blocks in raster order, the others zero; quarter samples.
typedef struct MotusNvencMb {
    MotusMv mv[4];
    uint8_t mb_type;        // 1: P
    uint8_t partition_type; // 0: 16x16, 1: 8x8, 2: 16x8, 3: 8x16
    uint16_t reserved;      // 0
    uint32_t mb_cost;
} MotusNvencMb;

// The least of 16x16, 16x8, 8x16 and 8x8.
void motus_field_to_nvenc(const MotusField *field, uint32_t modes, MotusNvencMb *to);

// NVENC's external hints: words of NVENC_EXTERNAL_ME_HINT, a candidate for each block of 16x16,
// 16x8, 8x16 and 8x8 as far as `modes` has them, in this order. From bit 0 on: 12 bits x and 10
// bits y in whole samples (rounded, clipped), 5 bits reference index 0, 1 bit direction 0 (list 0),
// 2 bits type (0 16x16, 1 16x8, 2 8x16, 3 8x8), 1 bit last of its type, 1 bit last of the MB.
// meHintCountsPerBlock has 1 for each type that is there.
enum { MOTUS_NVENC_MAX_HINTS = 9 };    // words of an MB
int motus_nvenc_hints(uint32_t modes); // likewise, for these modes
void motus_field_to_nvenc_hints(const MotusField *field, uint32_t modes,
                                uint32_t *hints); // motus_nvenc_hints words an MB

// Intel's FEI: mfxExtFeiEncMV.MB of mfxfei.h (Media SDK). 4x4 blocks in coding order (6.4.3),
// quarter samples; list 1 is unused, -32768 both.
typedef struct MotusFeiMb {
    MotusMv mv[16][2];
} MotusFeiMb;

void motus_field_to_fei(const MotusField *field, uint32_t modes, MotusFeiMb *to);

// Dense flow of the picture searched to the one it was searched in: u, v in samples for each of
// width x height (the visible size), row after row.
void motus_field_to_flow(const MotusField *field, uint32_t modes, int width, int height,
                         float *flow);

#ifdef __cplusplus
}
#endif
#endif
