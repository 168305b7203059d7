// Statistics of source pictures that the finder of weights (weights.h) reads.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_WEIGHTS_SOURCE_STATS_H
#define ENCODER_WEIGHTS_SOURCE_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "common/int_core.h"
#include "motus/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

// Statistics of a picture of whole MBs.
typedef struct MotusSourceStats {
    uint64_t sum[3], squares[3]; // of each plane's samples
    int16_t small[];             // luma downscaled 8:1, 2 mb_width x 2 mb_height samples of 1/16
} MotusSourceStats;

// Returns a downscaled sample from the sum of 8x8 samples.
MOTUS_HD int16_t motus_small_sample(uint32_t sum) { return (int16_t)((sum + 2) >> 2); }

size_t motus_source_stats_bytes(int mb_width, int mb_height);

// Fills in the statistics of a frame. The result does not depend on `threads`, an OpenMP team of
// the caller's.
void motus_source_stats_measure(MotusSourceStats *stats, const MotusFrame *frame, int threads);

#ifdef __cplusplus
}
#endif
#endif
