// What given vectors cost: a thread measures one block of one MB, from global memory: the caller's search is not what this is compared with.
// Grid: MBs in 64s, blocks of the 41. Read: vectors, source, reference planes; written: SADs and costs. Equals motus_given_measure.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/given_core.h"
#include "encoder/given_cuda.h"

namespace {

// Place, size and mode of block b: motus_blocks is the host's.
__device__ MotusBlock block_at(int b) {
    const int mode = b < MOTUS_BLOCK_16x8   ? MOTUS_MODE_16x16
                     : b < MOTUS_BLOCK_8x16 ? MOTUS_MODE_16x8
                     : b < MOTUS_BLOCK_8x8  ? MOTUS_MODE_8x16
                     : b < MOTUS_BLOCK_8x4  ? MOTUS_MODE_8x8
                     : b < MOTUS_BLOCK_4x8  ? MOTUS_MODE_8x4
                     : b < MOTUS_BLOCK_4x4  ? MOTUS_MODE_4x8
                                            : MOTUS_MODE_4x4;
    const MotusPart first = motus_part_at(mode, 0, 0, 0);
    const int columns = 4 / first.width, i = b - first.block;
    return MotusBlock{(uint8_t)(4 * first.width * (i % columns)), (uint8_t)(4 * first.height * (i / columns)),
                      (uint8_t)(4 * first.width), (uint8_t)(4 * first.height), (uint8_t)mode};
}

struct Given {
    const MotusMv *mv, *predictor;
    const uint8_t *src;
    ptrdiff_t src_stride;
    MotusReference ref;
    uint32_t modes, lambda_q8;
    uint16_t *sad;
    uint32_t *cost;
};

__global__ void __launch_bounds__(64) measure_kernel(const __grid_constant__ Given g, int mb_width, int n_mb) {
    const int mb = (int)(blockIdx.x * 64 + threadIdx.x);
    const MotusBlock block = block_at((int)blockIdx.y);
    if (mb >= n_mb || !(g.modes >> block.mode & 1)) return;
    const int x = 16 * (mb % mb_width), y = 16 * (mb / mb_width);
    const size_t at = (size_t)blockIdx.y * n_mb + mb;
    const uint32_t sad = motus_sad_at(&block, g.src + y * g.src_stride + x, g.src_stride, &g.ref, x, y, g.mv[at]);
    g.sad[at] = (uint16_t)sad;
    g.cost[at] = sad + motus_mv_cost(g.lambda_q8, g.mv[at], g.predictor[mb]);
}

} // namespace

extern "C" cudaError_t motus_given_measure_cuda(const MotusMv *mv, uint32_t modes, const MotusPlane *src,
                                                const MotusReference *ref, const MotusMv *predictor, uint32_t lambda_q8,
                                                uint16_t *sad, uint32_t *cost, cudaStream_t stream) {
    const int mb_width = src->width / 16, n_mb = mb_width * (src->height / 16);
    const Given given = {mv, predictor, src->data, src->stride, *ref, modes, lambda_q8, sad, cost};
    const dim3 grid((n_mb + 63) / 64, MOTUS_BLOCKS);
    measure_kernel<<<grid, 64, 0, stream>>>(given, mb_width, n_mb);
    return cudaGetLastError();
}
