// Refinement of MOTUS_SUBPEL_BEST on a CUDA device; equals motus_refine_best.
//
// A warp per MB (refine_best_warp.cuh), 128 threads a block. It reads the MB's samples once, and of
// the reference's planes 66 rows for each of some 11 rings, by way of shared memory.
// Shared memory: 6.2 KiB a warp. MVs, costs and SADs are updated in place.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cuda_call.cuh"
#include "me/pixel/sad.cuh"
#include "me/search/refine_best_warp.cuh"
#include "me/search/refine_cuda.h"

extern "C" {
#include "me/search/refine.h"
}

namespace {

static_assert(MOTUS_RINGS_MOST == MOTUS_MOST_RINGS && MOTUS_RINGS_ENOUGH == MOTUS_ENOUGH_RINGS,
              "as on the CPU");

constexpr int WARPS = 4; // of a thread block

struct Job {
    MotusSearchPicture picture;
    MotusRefLuma ref;
    int width, height; // of the picture, not padded
    int mb_width, n_mb, reach;
    uint64_t blocks; // of the modes
    MotusWantedBlocks wanted;
};

// Loads the lane's rows and the search's MVs of its own blocks. Returns false if the MB has none.
__device__ bool begin(const Job &job, int mb, RingsMb *of, RingsLane *lane, RingsOwn *own) {
    const MotusSearchPicture &p = job.picture;
    const uint64_t mask =
        job.blocks & (job.wanted.mask ? job.wanted.mask[(size_t)mb * job.wanted.pitch] : ~0ull);
    if (!mask) return false;
    const int cell = rings_cell();
    of->ref = &job.ref;
    of->x = mb % job.mb_width * 16, of->y = mb / job.mb_width * 16;
    of->centre = p.centre ? p.centre[mb] : MotusMv{0, 0};
    of->predictor = p.predictor ? p.predictor[mb] : MotusMv{0, 0};
    of->lambda_q8 = p.lambda ? p.lambda[mb] : p.lambda_q8;
    of->reach = job.reach;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int y = min(of->y + 4 * (cell >> 2) + 8 * h + rings_row(), job.height - 1);
        lane->cur[h] =
            motus_edge_word(p.cur + (ptrdiff_t)y * p.cur_stride, job.width, of->x + 4 * (cell & 3));
        const int block = motus_lane() + 32 * h;
        own->wanted[h] = (int)(mask >> block & 1);
        own->mv[h] = own->wanted[h] ? motus_mv_word(p.mv[(size_t)block * job.n_mb + mb]) : 0;
    }
    return true;
}

__global__ void __launch_bounds__(32 * WARPS, 6) rings_kernel(const __grid_constant__ Job job) {
    __shared__ RingsShared shared[WARPS];
    const int mb = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32;
    const MotusSearchPicture &p = job.picture;
    RingsMb of;
    RingsLane lane;
    RingsOwn own;
    motus_begin_early();
    if (mb >= job.n_mb || !begin(job, mb, &of, &lane, &own)) return; // whole warps
    rings_run(&of, &lane, &shared[threadIdx.x / 32], &own);
#pragma unroll
    for (int h = 0; h < 2; h++) {
        if (!own.wanted[h]) continue;
        const size_t at = (size_t)(motus_lane() + 32 * h) * job.n_mb + mb;
        p.cost[at] = own.cost[h];
        if (!own.moved[h]) continue;
        p.mv[at] = motus_mv_of_word(own.mv[h]);
        p.sad[at] = (uint16_t)own.sad[h];
    }
}

} // namespace

cudaError_t motus_refine_best_cuda(const MotusSearchPicture *picture, const MotusRefLuma *ref,
                                   int width, int height, int range, uint32_t modes,
                                   MotusWantedBlocks wanted, cudaStream_t stream) {
    const int n_mb = motus_mbs(width) * motus_mbs(height);
    const Job job = {*picture,
                     *ref,
                     width,
                     height,
                     motus_mbs(width),
                     n_mb,
                     4 * range + 3,
                     motus_blocks_of(modes),
                     wanted};
    return motus_launch(picture->early, (n_mb + WARPS - 1) / WARPS, 32 * WARPS, 0, stream,
                        rings_kernel, job);
}
