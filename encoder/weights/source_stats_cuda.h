// MotusSourceStats of a picture on a CUDA device; equal motus_source_stats_measure. The device
// writes them straight to pinned memory, sums by share, so that nothing is cleared or downloaded.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_WEIGHTS_SOURCE_STATS_CUDA_H
#define ENCODER_WEIGHTS_SOURCE_STATS_CUDA_H

#include <cuda_runtime_api.h>

#include "encoder/weights/source_stats.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MOTUS_SOURCE_SHARES = 256 };

typedef struct MotusSourceShares {
    uint64_t sums[MOTUS_SOURCE_SHARES][6]; // of a share of the MBs: as sum and squares
    int16_t small[];
} MotusSourceShares;

size_t motus_source_shares_bytes(int mb_width, int mb_height);

// Fills *shares, which the device can write, from planes of whole MBs on the device, rows at
// multiples of 8 bytes.
cudaError_t motus_source_shares_measure(MotusSourceShares *shares, const MotusPlane plane[3],
                                        cudaStream_t stream);

// Makes statistics of what has been measured.
void motus_source_shares_add(MotusSourceStats *stats, const MotusSourceShares *shares, int mb_width,
                             int mb_height);

#ifdef __cplusplus
}
#endif
#endif
