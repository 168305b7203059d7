// Memory of a picture's passes on a CUDA device, and what is left of a picture when they are
// through.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "common/slots.h"
#include "encoder/decide/decide_cuda.h"

namespace {

constexpr int ERROR_ROWS = 8; // of a block, a warp each

struct Errors {
    MotusPlane a[3], b[3]; // rows at multiples of 16 bytes
    int width, height;     // of luma
    unsigned long long *ssd;
};

// Squared error of four samples, of which those from `width` on don't count.
__device__ uint32_t word_error(uint32_t a, uint32_t b, int width, uint32_t sum) {
    uint32_t d = __vabsdiffu4(a, b);
    if (width < 4) d &= width > 0 ? (1u << 8 * width) - 1 : 0;
    return __dp4a(d, d, sum);
}

// Squared error of a row of at most 2^14 samples: 32 bits hold it. A warp's lanes take 16 samples
// in turn.
__device__ uint32_t row_error(const uint8_t *a, const uint8_t *b, int width) {
    uint32_t sum = 0;
#pragma unroll 4
    for (int x = 16 * motus_lane(); x < width; x += 16 * MOTUS_LANES) {
        const uint4 v = *reinterpret_cast<const uint4 *>(a + x),
                    w = *reinterpret_cast<const uint4 *>(b + x);
        sum = word_error(v.x, w.x, width - x, sum);
        sum = word_error(v.y, w.y, width - x - 4, sum);
        sum = word_error(v.z, w.z, width - x - 8, sum);
        sum = word_error(v.w, w.w, width - x - 12, sum);
    }
    return motus_lanes_sum(sum);
}

__global__ void __launch_bounds__(32 * ERROR_ROWS) error_kernel(const __grid_constant__ Errors e) {
    __shared__ uint32_t row[ERROR_ROWS];
    const int p = (int)blockIdx.y, half = p ? 2 : 1, warp = (int)threadIdx.x / 32,
              y = (int)blockIdx.x * ERROR_ROWS + warp;
    if ((int)blockIdx.x * ERROR_ROWS >= e.height / half) return; // the whole block
    uint32_t sum = 0;
    if (y < e.height / half)
        sum = row_error(e.a[p].data + y * e.a[p].stride, e.b[p].data + y * e.b[p].stride,
                        e.width / half);
    if (motus_lane() == 0) row[warp] = sum;
    __syncthreads(); // written before they are summed
    if (threadIdx.x) return;
    unsigned long long all = 0;
    for (int i = 0; i < ERROR_ROWS; i++) all += row[i];
    if (all) atomicAdd(&e.ssd[p], all);
}

// Lays the arrays out from `base` on; returns the bytes.
size_t lay_out(MotusPictureStateCuda *w, uint8_t *base, int mb_width, int mb_height) {
    size_t n = (size_t)mb_width * (size_t)mb_height, end = 0;
    w->mb = (MotusMb *)(base + motus_slot_place(&end, n * sizeof(MotusMb)));
    w->mb_inter = (MotusMb *)(base + motus_slot_place(&end, n * sizeof(MotusMb)));
    w->mb_intra = (MotusMb *)(base + motus_slot_place(&end, n * sizeof(MotusMb)));
    w->coef = (MotusMbCoef *)(base + motus_slot_place(&end, n * sizeof(MotusMbCoef)));
    w->candidates = (MotusCandidates *)(base + motus_slot_place(&end, n * sizeof(MotusCandidates)));
    w->inter_cost = (uint32_t *)(base + motus_slot_place(&end, 4 * n));
    w->intra_cost = (uint32_t *)(base + motus_slot_place(&end, 4 * n));
    w->satd = (uint32_t *)(base + motus_slot_place(&end, 4 * n));
    w->changed_at = (uint16_t *)(base + motus_slot_place(&end, 2 * n));
    w->seen_at = (uint16_t *)(base + motus_slot_place(&end, 2 * n));
    w->chain = base + motus_slot_place(&end, n);
    w->zero_runs = base + motus_slot_place(&end, MOTUS_ZERO_RUNS);
    w->qp_table = (const MotusQp *)(base + motus_slot_place(&end, 52 * sizeof(MotusQp)));
    w->listed = base + motus_slot_place(&end, n);
    w->found = (int *)(base + motus_slot_place(&end, 4 * n));
    w->list = (int *)(base + motus_slot_place(&end, 4 * n));
    w->flags = (int *)(base + motus_slot_place(&end, 3 * sizeof(int)));
    w->estimate =
        (MotusIntraEstimate *)(base + motus_slot_place(&end, n * sizeof(MotusIntraEstimate)));
    return end;
}

} // namespace

extern "C" size_t motus_picture_state_cuda_bytes(int mb_width, int mb_height) {
    MotusPictureStateCuda unused;
    return lay_out(&unused, NULL, mb_width, mb_height);
}

extern "C" cudaError_t motus_picture_state_cuda_place(MotusPictureStateCuda *w, void *memory,
                                                      int mb_width, int mb_height) {
    static_assert(sizeof(MotusMb) == 128, "see mb.h");
    MotusQp qp_table[52];
    uint8_t *zero_runs = (uint8_t *)malloc(MOTUS_ZERO_RUNS);
    if (!zero_runs) return cudaErrorMemoryAllocation;
    lay_out(w, (uint8_t *)memory, mb_width, mb_height);
    w->qp_offset = NULL;
    w->slice_first = NULL;
    w->ended = NULL;
    w->mb_width = mb_width, w->mb_height = mb_height, w->n_mb = mb_width * mb_height;
    for (int qp = 0; qp < 52; qp++) qp_table[qp] = motus_qp_at(qp);
    motus_cavlc_zero_runs(zero_runs);
    cudaError_t status =
        cudaMemcpy((void *)w->zero_runs, zero_runs, MOTUS_ZERO_RUNS, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy((void *)w->qp_table, qp_table, sizeof qp_table, cudaMemcpyHostToDevice);
    free(zero_runs);
    if (status == cudaSuccess) status = motus_decide_cuda_prepare(&w->early);
    return status == cudaSuccess ? motus_intra_cuda_prepare(&w->teams) : status;
}

extern "C" cudaError_t motus_stage_ended_cuda(const MotusPictureStateCuda *pic, MotusStage stage,
                                              cudaStream_t stream) {
    return pic->ended ? cudaEventRecord(pic->ended[stage], stream) : cudaSuccess;
}

extern "C" cudaError_t motus_plane_errors_cuda(const MotusPlane src[3], const MotusPlane rec[3],
                                               int width, int height, uint64_t *ssd,
                                               cudaStream_t stream) {
    Errors e = {};
    for (int p = 0; p < 3; p++) e.a[p] = src[p], e.b[p] = rec[p];
    e.width = width, e.height = height;
    e.ssd = (unsigned long long *)ssd;
    error_kernel<<<dim3((height + ERROR_ROWS - 1) / ERROR_ROWS, 3), 32 * ERROR_ROWS, 0, stream>>>(
        e);
    return cudaGetLastError();
}
