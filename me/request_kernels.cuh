// Kernels of requests beside search and refinement: the mask of wanted blocks, statistics and
// distances. They are plain: a thread per entry written, 128 per block, and the arithmetic of the
// *_core.h files.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_REQUEST_KERNELS_CUH
#define ME_REQUEST_KERNELS_CUH

#include "me/pixel/cost_core.h"
#include "me/pixel/measure_core.h"
#include "me/search/search_cuda.h"
#include "me/stats_core.h"

namespace {

constexpr int THREADS = 128;

__device__ int thread_number() { return blockIdx.x * THREADS + threadIdx.x; }

// Clips MVs of the caller in device memory, which are not checked.
__global__ void clip_mvs(MotusMv *to, const MotusMv *from, int n, int limit, int step) {
    int i = thread_number();
    if (i >= n) return;
    to[i].x = (int16_t)(motus_clip(-limit, limit, from[i].x) & -step);
    to[i].y = (int16_t)(motus_clip(-limit, limit, from[i].y) & -step);
}

// Writes the wanted modes of each MB, also as a mask of blocks. modes: NULL: all.
__global__ void make_mask(uint8_t *mask, uint64_t *wanted, MotusBlockTable blocks,
                          const uint8_t *modes, uint32_t configured, MotusMeRegion region,
                          int mb_width, int n_mb) {
    int mb = thread_number();
    if (mb >= n_mb) return;
    int x = mb % mb_width - region.x, y = mb / mb_width - region.y;
    bool inside = !region.width || (x >= 0 && y >= 0 && x < region.width && y < region.height);
    uint8_t found = inside ? (uint8_t)((modes ? modes[mb] : MOTUS_MODES_ALL) & configured) : 0;
    uint64_t bits = 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        bits |= (uint64_t)(found >> blocks.block[b].mode & 1) << b;
    mask[mb] = found;
    wanted[mb] = bits;
}

// cur: whole MBs.
__global__ void describe(MotusMbStats *stats, MotusPlane cur, const uint8_t *mask, int mb_width,
                         int n_mb) {
    int mb = thread_number();
    if (mb >= n_mb || (mask && !mask[mb])) return;
    int x = mb % mb_width, y = mb / mb_width;
    stats[mb] = motus_mb_describe(NULL, cur.data + 16 * y * cur.stride + 16 * x, cur.stride,
                                  motus_mb_has(x, y));
}

// Writes the SATDs of a search: from the cost if refined, else measured. Thread: block * n_mb + MB.
__global__ void find_satd(uint32_t *satd, MotusSearchPicture p, MotusPlane cur, MotusRefLuma ref,
                          MotusBlockTable blocks, const uint8_t *mask, uint32_t configured,
                          bool refined, int mb_width, int n_mb) {
    int i = thread_number(), b = i / n_mb, mb = i % n_mb;
    if (b >= MOTUS_BLOCKS) return;
    const MotusBlock &block = blocks.block[b];
    if (!((mask ? mask[mb] : configured) >> block.mode & 1)) return;
    if (refined) {
        MotusMv predictor = p.predictor ? p.predictor[mb] : MotusMv{0, 0};
        satd[i] =
            p.cost[i] - motus_mv_cost(p.lambda ? p.lambda[mb] : p.lambda_q8, p.mv[i], predictor);
        return;
    }
    satd[i] =
        motus_measure_block(&block, &cur, &ref, mb % mb_width * 16, mb / mb_width * 16, p.mv[i])
            .satd;
}

struct Measures {
    const MotusMv *skip; // NULL: zero
    uint16_t *skip_sad;  // NULL, as the others: not wanted
    uint32_t *skip_satd;
    uint16_t *zero_sad;
};

// Measures whole MBs at the MV `skip` and at zero.
__global__ void measure(Measures m, MotusPlane cur, MotusRefLuma ref, const uint8_t *mask,
                        int mb_width, int n_mb) {
    int mb = thread_number();
    if (mb >= n_mb || (mask && !mask[mb])) return;
    int x = mb % mb_width * 16, y = mb / mb_width * 16;
    const uint8_t *at = cur.data + y * cur.stride + x;
    if (m.skip_sad || m.skip_satd) {
        MotusDistance d =
            motus_measure(at, cur.stride, &ref, x, y, 16, 16, m.skip ? m.skip[mb] : MotusMv{0, 0});
        if (m.skip_sad) m.skip_sad[mb] = (uint16_t)d.sad;
        if (m.skip_satd) m.skip_satd[mb] = d.satd;
    }
    if (m.zero_sad)
        m.zero_sad[mb] =
            (uint16_t)motus_measure(at, cur.stride, &ref, x, y, 16, 16, MotusMv{0, 0}).sad;
}

} // namespace

#endif
