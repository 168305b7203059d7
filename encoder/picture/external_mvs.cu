// What given vectors cost: a thread measures one block of one MB, from global memory: the caller's
// search is not what this is compared with. Grid: MBs in 64s, blocks of the 41. Read: vectors,
// source, reference planes; written: SADs and costs. Equals motus_external_mvs_measure.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/external_mvs_cuda.h"

#include "me/samples/cost_core.h"
#include "me/samples/measure_core.h"

namespace {

struct Given {
    MotusBlockTable table;
    const MotusMv *mv, *predictor;
    MotusPlane src;
    MotusRefLuma ref;
    uint32_t modes, lambda_q8;
    uint16_t *sad;
    uint32_t *cost;
};

__global__ void __launch_bounds__(64)
    measure_kernel(const __grid_constant__ Given g, int mb_width, int n_mb) {
    const int mb = (int)(blockIdx.x * 64 + threadIdx.x);
    const MotusBlock &block = g.table.block[blockIdx.y];
    if (mb >= n_mb || !(g.modes >> block.mode & 1)) return;
    const int x = 16 * (mb % mb_width), y = 16 * (mb / mb_width);
    const size_t at = (size_t)blockIdx.y * n_mb + mb;
    const uint32_t sad = motus_measure_block(&block, &g.src, &g.ref, x, y, g.mv[at]).sad;
    g.sad[at] = (uint16_t)sad;
    g.cost[at] = sad + motus_mv_cost(g.lambda_q8, g.mv[at], g.predictor[mb]);
}

} // namespace

extern "C" cudaError_t motus_external_mvs_measure_cuda(const MotusMv *mv, uint32_t modes,
                                                       const MotusPlane *src,
                                                       const MotusRefLuma *ref,
                                                       const MotusMv *predictor, uint32_t lambda_q8,
                                                       uint16_t *sad, uint32_t *cost,
                                                       cudaStream_t stream) {
    const int mb_width = src->width / 16, n_mb = mb_width * (src->height / 16);
    const Given given = {motus_block_table(), mv,  predictor, *src, *ref, modes,
                         lambda_q8,           sad, cost};
    const dim3 grid((n_mb + 63) / 64, MOTUS_BLOCKS);
    measure_kernel<<<grid, 64, 0, stream>>>(given, mb_width, n_mb);
    return cudaGetLastError();
}
