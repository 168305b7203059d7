// What requests do on a device beside search and refinement: the mask of what is wanted, statistics, and distances. The kernels are plain: a thread per
// entry that they write, 128 a block, and the arithmetic of the *_core.h files that the CPU uses.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_REQUEST_KERNELS_CUH
#define ME_REQUEST_KERNELS_CUH

#include <string.h>

#include "me/cost_core.h"
#include "me/measure_core.h"
#include "me/search_cuda.h"
#include "me/stats_core.h"

namespace {

constexpr int THREADS = 128;

struct Blocks {
    MotusBlock block[MOTUS_BLOCKS];
};

__device__ int thread_number() { return blockIdx.x * THREADS + threadIdx.x; }

// Vectors of the caller's that nobody has checked.
__global__ void clip_vectors(MotusMv *to, const MotusMv *from, int n, int limit, int step) {
    int i = thread_number();
    if (i >= n) return;
    to[i].x = (int16_t)(motus_clip(-limit, limit, from[i].x) & -step);
    to[i].y = (int16_t)(motus_clip(-limit, limit, from[i].y) & -step);
}

// Per MB the modes that are wanted, and the same as blocks; modes may be NULL: all.
__global__ void make_mask(uint8_t *mask, uint64_t *wanted, Blocks blocks, const uint8_t *modes, uint32_t configured,
                          MotusMeRegion region, int mb_width, int n_mb) {
    int mb = thread_number();
    if (mb >= n_mb) return;
    int x = mb % mb_width - region.x, y = mb / mb_width - region.y;
    bool inside = !region.width || (x >= 0 && y >= 0 && x < region.width && y < region.height);
    uint8_t found = inside ? (uint8_t)((modes ? modes[mb] : MOTUS_MODES_ALL) & configured) : 0;
    uint64_t bits = 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++) bits |= (uint64_t)(found >> blocks.block[b].mode & 1) << b;
    mask[mb] = found;
    wanted[mb] = bits;
}

// cur: whole MBs. Equals `describe` of request.c.
__global__ void describe(MotusMbStats *stats, MotusPlane cur, const uint8_t *mask, int mb_width, int n_mb) {
    int mb = thread_number();
    if (mb >= n_mb || (mask && !mask[mb])) return;
    int x = mb % mb_width, y = mb / mb_width, has = motus_mb_has(x, y);
    const uint8_t *at = cur.data + 16 * y * cur.stride + 16 * x;
    MotusMbStats found = {};
    MotusIntraEdge edge;
    motus_mb_spread(&found, at, cur.stride);
    motus_intra_edge(&edge, at, cur.stride, 16, has);
    found.intra_satd = UINT32_MAX;
    for (int mode = 0; mode < MOTUS_I16_MODES; mode++) {
        uint8_t pred[256];
        if (!motus_intra16x16_allowed(mode, has)) continue;
        motus_intra16x16(pred, 16, &edge, mode);
        uint32_t sad = 0, satd = 0;
        for (int i = 0; i < 16; i++) {
            int u = 4 * (i & 3), v = 4 * (i >> 2);
            sad += motus_sad4x4(at + v * cur.stride + u, cur.stride, pred + 16 * v + u, 16);
            satd += motus_satd4x4(at + v * cur.stride + u, cur.stride, pred + 16 * v + u, 16);
        }
        motus_mb_offer_intra(&found, mode, sad, satd);
    }
    stats[mb] = found;
}

// SATDs after a search: part of the cost after refinement, else measured. One entry is block * n_mb + MB.
__global__ void find_satd(uint32_t *satd, MotusSearchPicture p, MotusRefLuma ref, Blocks blocks, const uint8_t *mask,
                          uint32_t configured, bool refined, int mb_width, int n_mb) {
    int i = thread_number(), b = i / n_mb, mb = i % n_mb;
    if (b >= MOTUS_BLOCKS) return;
    const MotusBlock &block = blocks.block[b];
    if (!((mask ? mask[mb] : configured) >> block.mode & 1)) return;
    if (refined) {
        MotusMv predictor = p.predictor ? p.predictor[mb] : MotusMv{0, 0};
        satd[i] = p.cost[i] - motus_mv_cost(p.lambda ? p.lambda[mb] : p.lambda_q8, p.mv[i], predictor);
        return;
    }
    int x = mb % mb_width * 16 + block.x, y = mb / mb_width * 16 + block.y;
    satd[i] =
        motus_measure(p.cur + (ptrdiff_t)y * p.cur_stride + x, p.cur_stride, &ref, x, y, block.width, block.height, p.mv[i]).satd;
}

struct Measures {
    const MotusMv *skip; // NULL: zero
    uint16_t *skip_sad;  // NULL: not wanted; so are the others
    uint32_t *skip_satd;
    uint16_t *zero_sad;
};

// Distances of whole MBs at given vectors.
__global__ void measure(Measures m, MotusPlane cur, MotusRefLuma ref, const uint8_t *mask, int mb_width, int n_mb) {
    int mb = thread_number();
    if (mb >= n_mb || (mask && !mask[mb])) return;
    int x = mb % mb_width * 16, y = mb / mb_width * 16;
    const uint8_t *at = cur.data + y * cur.stride + x;
    if (m.skip_sad || m.skip_satd) {
        MotusDistance d = motus_measure(at, cur.stride, &ref, x, y, 16, 16, m.skip ? m.skip[mb] : MotusMv{0, 0});
        if (m.skip_sad) m.skip_sad[mb] = (uint16_t)d.sad;
        if (m.skip_satd) m.skip_satd[mb] = d.satd;
    }
    if (m.zero_sad) m.zero_sad[mb] = (uint16_t)motus_measure(at, cur.stride, &ref, x, y, 16, 16, MotusMv{0, 0}).sad;
}

Blocks all_blocks() {
    Blocks blocks;
    memcpy(blocks.block, motus_blocks, sizeof blocks.block);
    return blocks;
}

} // namespace

#endif
