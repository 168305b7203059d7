// Statistics of an MB of the source: means, energies, and its best Intra16x16 prediction.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_STATS_CORE_H
#define ME_STATS_CORE_H

#include "me/intra16_core.h"
#include "me/pixel/pixel.h"
#include "me/pixel/pixel_core.h"
#include "motus/me_request.h"

// Returns the energy of n = 1 << log2_n samples, n <= 256, from their sum (at most 65,280) and sum
// of squares (at most 16,646,400).
MOTUS_HD uint32_t motus_energy(uint32_t sum, uint32_t squares, int log2_n) {
    return squares - (uint32_t)((uint64_t)sum * sum >> log2_n);
}

MOTUS_HD uint8_t motus_mean(uint32_t sum, int log2_n) {
    return (uint8_t)((sum + (1u << (log2_n - 1))) >> log2_n);
}

// Computes means and energies of the MB at `at`.
MOTUS_HD void motus_mb_spread(MotusMbStats *stats, const uint8_t *at, ptrdiff_t stride) {
    uint32_t all = 0, all_squares = 0;
    for (int q = 0; q < 4; q++) {
        const uint8_t *row = at + 8 * (q >> 1) * stride + 8 * (q & 1);
        uint32_t sum = 0, squares = 0;
        for (int y = 0; y < 8; y++, row += stride)
            for (int x = 0; x < 8; x++) {
                sum += row[x];
                squares += (uint32_t)(row[x] * row[x]);
            }
        stats->mean[1 + q] = motus_mean(sum, 6);
        stats->energy[1 + q] = motus_energy(sum, squares, 6);
        all += sum;
        all_squares += squares;
    }
    stats->mean[0] = motus_mean(all, 8);
    stats->energy[0] = motus_energy(all, all_squares, 8);
}

// Returns the mask of available neighbours of the MB at (x, y).
MOTUS_HD int motus_mb_has(int x, int y) {
    return (x ? MOTUS_HAS_LEFT : 0) | (y ? MOTUS_HAS_TOP : 0) | (x && y ? MOTUS_HAS_CORNER : 0);
}

// Computes all statistics of the MB at `at`, whose available neighbours are `has`. ops: for the
// CPU.
MOTUS_HD MotusMbStats motus_mb_describe(const MotusPixelOps *ops, const uint8_t *at,
                                        ptrdiff_t stride, int has) {
    MotusMbStats stats;
    MotusIntraEdge edge;
    motus_mb_spread(&stats, at, stride);
    motus_intra_edge(&edge, at, stride, 16, has);
    stats.intra_satd = UINT32_MAX;
    for (int mode = 0; mode < MOTUS_I16_MODES; mode++) {
        uint8_t pred[256];
        uint32_t sad, satd;
        if (!motus_intra16x16_allowed(mode, has)) continue;
        motus_intra16x16(pred, 16, &edge, mode);
#ifdef __CUDA_ARCH__
        sad = satd = 0;
        for (int i = 0; i < 16; i++) {
            const int u = 4 * (i & 3), v = 4 * (i >> 2);
            sad += motus_sad4x4(at + v * stride + u, stride, pred + 16 * v + u, 16);
            satd += motus_satd4x4(at + v * stride + u, stride, pred + 16 * v + u, 16);
        }
#else
        sad = ops->sad(at, stride, pred, 16, 16, 16);
        satd = ops->satd(at, stride, pred, 16, 16, 16);
#endif
        if (satd >= stats.intra_satd) continue; // the first of equals
        stats.intra_mode = (uint8_t)mode;
        stats.intra_sad = (uint16_t)sad;
        stats.intra_satd = satd;
    }
    return stats;
}

#endif
