// Converts motion fields to the formats of other encoders and of flow tools, in a library of its
// own, motus_field_shapes. A field has up to 41 MVs an MB. A format with room for one partition
// gets the one of least cost (sum over its blocks); of equal ones the first MotusMode wins, and
// each 8x8 chooses its sub type by itself. Costs need lambda (MotusMeHints): without it small
// blocks always win.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_FIELD_H
#define INTEROP_FIELD_H

#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

// All functions: `modes` is the mask of 1 << MotusMode that the field has (16x16 among them);
// arrays have field->n_mb entries, MBs in raster order.

// Finds the block (0..40) of the MB's best partition that each 4x4 block, in raster order, belongs
// to.
void motus_field_best_blocks(const MotusField *field, uint32_t modes, int mb, uint8_t block[16]);

// MB of NVENC's ME-only mode: NV_ENC_H264_MV_DATA of nvEncodeAPI.h (Video Codec SDK 11).
typedef struct MotusNvencMb {
    MotusMv mv[4];
    uint8_t mb_type;        // 1: P
    uint8_t partition_type; // 0: 16x16, 1: 8x8, 2: 16x8, 3: 8x16
    uint16_t reserved;      // 0
    uint32_t mb_cost;
} MotusNvencMb;

// Converts to the best of 16x16, 16x8, 8x16 and 8x8. mv has the partition's blocks in raster order,
// then zeros; quarter samples.
void motus_field_to_nvenc(const MotusField *field, uint32_t modes, MotusNvencMb *to);

// NVENC's external hints: words of NVENC_EXTERNAL_ME_HINT, a candidate for each block of 16x16,
// 16x8, 8x16 and 8x8 that `modes` has, in this order. From bit 0: 12 bits x, 10 bits y in whole
// samples (rounded, clipped), 5 bits reference index 0, 1 bit direction 0 (list 0), 2 bits type (0
// 16x16, 1 16x8, 2 8x16, 3 8x8), 1 bit last of its type, 1 bit last of the MB. Set
// meHintCountsPerBlock to 1 for each type present.
enum { MOTUS_NVENC_MAX_HINTS = 9 };    // words of an MB
int motus_nvenc_hints(uint32_t modes); // words of an MB for these modes
// Writes motus_nvenc_hints(modes) words an MB.
void motus_field_to_nvenc_hints(const MotusField *field, uint32_t modes, uint32_t *hints);

// MB of Intel's FEI: mfxExtFeiEncMV.MB of mfxfei.h (Media SDK). 4x4 blocks in coding order (6.4.3),
// quarter samples; the MVs of list 1 are unused, -32768 both.
typedef struct MotusFeiMb {
    MotusMv mv[16][2];
} MotusFeiMb;

void motus_field_to_fei(const MotusField *field, uint32_t modes, MotusFeiMb *to);

// Writes dense flow from the searched picture to its reference: u, v in samples for each of width x
// height samples (the visible size), row by row.
void motus_field_to_flow(const MotusField *field, uint32_t modes, int width, int height,
                         float *flow);

#ifdef __cplusplus
}
#endif
#endif
