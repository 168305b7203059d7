// One way to code an MB, worked out to the last bit; and what is needed to work it out.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_TRIAL_H
#define ENCODER_TRIAL_H

#include "encoder/mb.h"
#include "me/pixel.h"
#include "motus/dct.h"
#include "motus/frame.h"

#define MOTUS_LUMA_STRIDE 16  // of the MB-sized luma buffers
#define MOTUS_CHROMA_STRIDE 8 // of the MB-sized chroma buffers

// An MB whose estimated size passes this many bits is coded as I_PCM: macroblock_layer() may not pass 3,200 (A.3.1), I_PCM itself takes
// about 3,085. The estimate may miss by what later passes change around the MB: coeff_token of 24 blocks by 10 bits each, and vectors.
#define MOTUS_MB_BITS_LIMIT 2600
#define MOTUS_PCM_BITS 3090

// What stays the same for all MBs of a picture.
typedef struct MotusCoding {
    const MotusDctOps *dct;
    const MotusPixelOps *pixel;
    int qp, chroma_qp;
    uint32_t lambda_q8, lambda_ssd_q8;
    int p_slice;
} MotusCoding;

// The MB's place in the source: pointers at its first sample of each plane.
typedef struct MotusMbSource {
    const uint8_t *plane[3];
    ptrdiff_t stride[3];
} MotusMbSource;

typedef struct MotusTrial {
    uint8_t luma[256] __attribute__((aligned(64))); // prediction, then reconstruction before deblocking
    uint8_t chroma[2][64];
    MotusMbCoef coef;
    MotusMb mb;
    uint32_t bits; // of macroblock_layer() and its mb_skip_run, with the coefficient contexts of the neighbours as known
    uint32_t ssd;  // all three planes
    uint64_t cost; // motus_rd_cost
} MotusTrial;

MotusCoding motus_coding(int qp, int p_slice, int plain_c);

MotusMbSource motus_mb_source(const MotusFrame *frame, int mb_x, int mb_y);

// Neighbours of MB (x, y) in a raster array.
MotusMbAround motus_mb_around(const MotusMb *mb, int mb_width, int x, int y);

// Copies the trial's samples to MB (x, y) of a frame.
void motus_trial_store(const MotusTrial *trial, MotusFrame *frame, int mb_x, int mb_y);

// Fills ssd and cost from the reconstruction and `bits`.
void motus_trial_judge(MotusTrial *trial, const MotusCoding *coding, const MotusMbSource *src);

// Makes the trial an I_PCM macroblock.
void motus_trial_pcm(MotusTrial *trial, const MotusCoding *coding, const MotusMbSource *src);

#endif
