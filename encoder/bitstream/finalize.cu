// Finalization of a decided picture's MBs on a CUDA device. Equals motus_finalize_mbs: P_Skip,
// what is direct, and QP of all slices in one launch, a thread per MB. The marks let slice.cu find
// the last MB before another one that is coded or has mb_qp_delta.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cuda_call.cuh"
#include "common/lanes.h"
#include "encoder/bitstream/slice_cuda.h"
#include "encoder/bitstream/syntax_core.h"
#include "encoder/mb/direct_core.h"
#include "me/centres/centres_core.h"

namespace {

constexpr int THREADS = 256; // of a block

// Returns 1 + the last MB with mb_qp_delta in [first, end), 0 if there is none, to every thread of
// the block, all of which call it.
__device__ int last_with_qp(const MotusMb *mb, int first, int end, int *room) {
    if (threadIdx.x == 0) *room = 0;
    __syncthreads(); // cleared before it is added to
    for (; end > first; end -= THREADS) {
        const int i = end - 1 - (int)threadIdx.x,
                  found = i >= first && motus_mb_has_qp_delta(&mb[i]);
        if (found) atomicMax(room, i + 1);
        if (__syncthreads_or(found)) break;
    }
    return *room;
}

// Finalizes an MB per thread. Threads read the types of MBs that others change: skipped, direct or
// not, such an MB is inter and keeps its MVs and cbp, on which mb_qp_delta depends. QPs change of
// MBs without mb_qp_delta, and are read of the others.
// MANY: P slices with several references.
template <bool B, bool MANY>
__global__ void __launch_bounds__(THREADS) finalize_kernel(MotusFinalizeCuda s) {
    __shared__ uint32_t with_qp[THREADS / 32];
    __shared__ int room;
    // Copies the heads and clears the statistics, so that the host need not.
    static_assert(sizeof *s.head % 4 == 0 && sizeof *s.stats % 4 == 0, "words");
    const int heads = s.n_heads * (int)(sizeof *s.head / 4),
              stats = s.stats ? (int)(sizeof *s.stats / 4) : 0;
    for (int k = (int)(blockIdx.x * THREADS + threadIdx.x); k < motus_max(heads, stats);
         k += (int)gridDim.x * THREADS) {
        if (k < heads) ((uint32_t *)s.head)[k] = ((const uint32_t *)s.h_head)[k];
        if (k < stats) ((uint32_t *)s.stats)[k] = 0;
    }
    const int block = (int)blockIdx.x * THREADS, i = block + (int)threadIdx.x,
              warp = (int)threadIdx.x / 32, there = i < s.n_mb;
    const int first = there ? motus_slice_first(s.slice_first, i) : 0;
    MotusMb *mb = &s.mb[there ? i : 0];
    if (there) {
        MotusNeighbours neighbours =
            motus_neighbours(s.mb, s.mb_width, i % s.mb_width, i / s.mb_width, first);
        if (B)
            motus_mb_finalize_b(mb, &neighbours, &s.direct, i);
        else
            motus_mb_finalize_skip(mb, &neighbours, MANY ? s.refs : 1);
        if (s.kept) s.kept[i] = motus_mv_to_keep(mb, s.searched[i], MANY ? s.refs : 1, s.span);
    }
    const uint32_t coded = __ballot_sync(MOTUS_ALL_LANES, there && mb->type != MOTUS_MB_P_SKIP);
    const uint32_t delta = __ballot_sync(MOTUS_ALL_LANES, there && motus_mb_has_qp_delta(mb));
    if (motus_lane() == 0) with_qp[warp] = delta;
    if (motus_lane() == 0 && there) s.marks.coded[i / 32] = coded, s.marks.with_qp[i / 32] = delta;
    const int before = last_with_qp(s.mb, motus_slice_first(s.slice_first, block), block, &room);
    // Its barrier: with_qp is written.
    if (!there || motus_mb_has_qp_delta(mb)) return;
    uint32_t bits = delta & ((1u << motus_lane()) - 1);
    int word = warp, last = before;
    while (!bits && word) bits = with_qp[--word];
    if (bits) last = block + 32 * word + 32 - __clz((int)bits);
    motus_mb_finalize_qp(mb, last > first ? s.mb[last - 1].qp : s.qp);
}

__global__ void __launch_bounds__(THREADS)
    col_zero_kernel(const MotusMb *mb, int n_mb, uint8_t *col_zero) {
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i < n_mb) col_zero[i] = (uint8_t)motus_col_zero(&mb[i]);
}

} // namespace

cudaError_t motus_finalize_cuda(const MotusFinalizeCuda *finalize, cudaStream_t stream) {
    const auto kernel = finalize->is_b       ? finalize_kernel<true, false>
                        : finalize->refs > 1 ? finalize_kernel<false, true>
                                             : finalize_kernel<false, false>;
    const int blocks = (finalize->n_mb + THREADS - 1) / THREADS;
    return motus_launch(0, blocks, THREADS, 0, stream, kernel, *finalize);
}

cudaError_t motus_col_zero_cuda(const MotusMb *mb, int n_mb, uint8_t *col_zero,
                                cudaStream_t stream) {
    const int blocks = (n_mb + THREADS - 1) / THREADS;
    return motus_launch(0, blocks, THREADS, 0, stream, col_zero_kernel, mb, n_mb, col_zero);
}
