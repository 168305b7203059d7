// SADs and costs of external MVs. Grid: 64 MBs x one of the 41 blocks; a thread measures one block
// of one MB from global memory. Reads MVs, source and reference planes; writes SADs and costs.
// Equals motus_external_mvs_measure.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/external_mvs.h"

#include "common/cuda_call.cuh"
#include "me/pixel/cost_core.h"
#include "me/pixel/measure_core.h"

namespace {

struct Input {
    MotusBlockTable table;
    const MotusMv *mv, *predictor;
    MotusPlane src;
    MotusRefLuma ref;
    uint32_t modes, lambda_q8;
    uint16_t *sad;
    uint32_t *cost;
};

__global__ void __launch_bounds__(64)
    measure_kernel(const __grid_constant__ Input in, int mb_width, int n_mb) {
    const int mb = (int)(blockIdx.x * 64 + threadIdx.x);
    const MotusBlock &block = in.table.block[blockIdx.y];
    if (mb >= n_mb || !(in.modes >> block.mode & 1)) return;
    const int x = 16 * (mb % mb_width), y = 16 * (mb / mb_width);
    const size_t at = (size_t)blockIdx.y * n_mb + mb;
    const uint32_t sad = motus_measure_block(&block, &in.src, &in.ref, x, y, in.mv[at]).sad;
    in.sad[at] = (uint16_t)sad;
    in.cost[at] = sad + motus_mv_cost(in.lambda_q8, in.mv[at], in.predictor[mb]);
}

} // namespace

extern "C" cudaError_t motus_external_mvs_measure_cuda(const MotusMv *mv, uint32_t modes,
                                                       const MotusPlane *src,
                                                       const MotusRefLuma *ref,
                                                       const MotusMv *predictor, uint32_t lambda_q8,
                                                       uint16_t *sad, uint32_t *cost,
                                                       cudaStream_t stream) {
    const int mb_width = src->width / 16, n_mb = mb_width * (src->height / 16);
    const Input input = {motus_block_table(), mv,  predictor, *src, *ref, modes,
                         lambda_q8,           sad, cost};
    const dim3 grid((n_mb + 63) / 64, MOTUS_BLOCKS);
    return motus_launch(0, grid, 64, 0, stream, measure_kernel, input, mb_width, n_mb);
}
