// Refinement of MOTUS_SUBPEL_BEST on a CUDA device; equals motus_refine_best and motus_refine_mb.
//
// A warp per MB (refine_best_warp.cuh), 128 threads a block. It reads the MB's samples once, and of
// the reference's planes 16 4x4 blocks for each position, through the L1: about 100 positions an MB
// in natural pictures, 1700 at most. MVs, costs and SADs are updated in place.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cuda_call.cuh"
#include "me/pixel/sad.cuh"
#include "me/search/refine_best_warp.cuh"
#include "me/search/refine_cuda.h"

extern "C" {
#include "me/search/refine.h"
}

namespace {

constexpr int WARPS = 4; // of a thread block

struct Job {
    MotusSearchPicture picture;
    MotusRefLuma ref;
    int width, height; // of the picture, not padded
    int mb_width, n_mb, reach;
    uint64_t blocks; // of the modes
    MotusWantedBlocks wanted;
};

// Loads the lane's samples and the search's MVs of its blocks. Returns 0 if the MB has none.
__device__ bool begin(const Job &job, int mb, MotusRingsMb *of, MotusRingsLane *lane,
                      MotusMv found[MOTUS_MODES]) {
    const MotusSearchPicture &p = job.picture;
    const uint64_t mask =
        job.blocks & (job.wanted.mask ? job.wanted.mask[(size_t)mb * job.wanted.pitch] : ~0ull);
    if (!mask) return false;
    const int cell = motus_lane() & 15;
    of->ref = &job.ref;
    of->x = mb % job.mb_width * 16, of->y = mb / job.mb_width * 16;
    of->centre = p.centre ? p.centre[mb] : MotusMv{0, 0};
    of->predictor = p.predictor ? p.predictor[mb] : MotusMv{0, 0};
    of->lambda_q8 = p.lambda ? p.lambda[mb] : p.lambda_q8;
    of->reach = job.reach;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int y = min(of->y + 4 * (cell >> 2) + i, job.height - 1);
        lane->cur[i] =
            motus_edge_word(p.cur + (ptrdiff_t)y * p.cur_stride, job.width, of->x + 4 * (cell & 3));
    }
    lane->wanted = 0;
#pragma unroll
    for (int m = 0; m < MOTUS_MODES; m++) {
        const int block = motus_rings_block(m, cell);
        const bool is = mask >> block & 1;
        lane->wanted |= (uint32_t)is << m;
        found[m] = is ? p.mv[(size_t)block * job.n_mb + mb] : MotusMv{0, 0};
    }
    return true;
}

// Writes the results of the blocks that begin with the lane's 4x4 block.
__device__ void write(const Job &job, int mb, const MotusRingsMb &of, const MotusRingsLane &lane,
                      const uint32_t sad[MOTUS_MODES]) {
    const MotusSearchPicture &p = job.picture;
    if (motus_lane() >= 16) return;
#pragma unroll
    for (int m = 0; m < MOTUS_MODES; m++) {
        if (!(lane.wanted >> m & 1) || !motus_rings_is_first(m, motus_lane())) continue;
        const size_t at = (size_t)motus_rings_block(m, motus_lane()) * job.n_mb + mb;
        p.mv[at] = motus_rings_mv(&of, motus_rings_place_of(lane.at[m]));
        p.cost[at] = lane.cost[m];
        p.sad[at] = (uint16_t)sad[m];
    }
}

__global__ void __launch_bounds__(32 * WARPS) rings_kernel(const __grid_constant__ Job job) {
    const int mb = (int)blockIdx.x * WARPS + (int)threadIdx.x / 32;
    MotusRingsMb of;
    MotusRingsLane lane;
    MotusMv found[MOTUS_MODES];
    uint32_t sad[MOTUS_MODES];
    motus_let_successor_start();
    motus_wait_for_predecessor();
    if (mb >= job.n_mb || !begin(job, mb, &of, &lane, found)) return; // whole warps
    motus_rings_run(&of, &lane, found);
    motus_rings_sads(&of, &lane, sad);
    write(job, mb, of, lane, sad);
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
