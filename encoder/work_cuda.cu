// Memory of a picture's passes on a CUDA device, and what is left of a picture when they are through.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "common/cuda_call.h"
#include "common/slots.h"
#include "encoder/decide_cuda.h"

namespace {

__global__ void __launch_bounds__(256) keep_kernel(const MotusMb *mb, const MotusMv *searched, MotusMv *kept, int n) {
    int i = (int)(blockIdx.x * 256 + threadIdx.x);
    if (i < n) kept[i] = motus_mb_is_intra(&mb[i]) ? searched[i] : mb[i].mv[0];
}

// A block sums rows of a plane: at most 2^12 samples a thread keep 32 bits from overflowing.
__global__ void __launch_bounds__(256) error_kernel(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride,
                                                    int width, int height, unsigned long long *ssd) {
    uint32_t sum = 0;
    for (int y = blockIdx.x; y < height; y += gridDim.x)
        for (int x = threadIdx.x; x < width; x += 256) {
            int d = a[y * a_stride + x] - b[y * b_stride + x];
            sum += (uint32_t)(d * d);
        }
    sum = motus_lanes_sum(sum);
    if (motus_lane() == 0 && sum) atomicAdd(ssd, (unsigned long long)sum);
}

// Lays the arrays out from `base` on; returns the bytes.
size_t lay_out(MotusWorkCuda *w, uint8_t *base, int mb_width, int mb_height) {
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
    w->flags = (int *)(base + motus_slot_place(&end, 2 * sizeof(int)));
    return end;
}

} // namespace

extern "C" size_t motus_work_cuda_bytes(int mb_width, int mb_height) {
    MotusWorkCuda unused;
    return lay_out(&unused, NULL, mb_width, mb_height);
}

extern "C" cudaError_t motus_work_cuda_place(MotusWorkCuda *w, void *memory, int mb_width, int mb_height) {
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
    zero_runs[0] = 0;
    for (uint32_t mask = 1; mask < MOTUS_ZERO_RUNS; mask++) zero_runs[mask] = (uint8_t)motus_cavlc_zero_run_bits(mask);
    cudaError_t status = cudaMemcpy((void *)w->zero_runs, zero_runs, MOTUS_ZERO_RUNS, cudaMemcpyHostToDevice);
    if (status == cudaSuccess) status = cudaMemcpy((void *)w->qp_table, qp_table, sizeof qp_table, cudaMemcpyHostToDevice);
    free(zero_runs);
    return status;
}

extern "C" cudaError_t motus_stage_ended_cuda(const MotusWorkCuda *work, MotusStage stage, cudaStream_t stream) {
    return work->ended ? cudaEventRecord(work->ended[stage], stream) : cudaSuccess;
}

extern "C" cudaError_t motus_keep_vectors_cuda(const MotusWorkCuda *work, const MotusMv *searched, MotusMv *kept,
                                               cudaStream_t stream) {
    keep_kernel<<<(work->n_mb + 255) / 256, 256, 0, stream>>>(work->mb, searched, kept, work->n_mb);
    return cudaGetLastError();
}

extern "C" cudaError_t motus_plane_errors_cuda(const MotusPlane src[3], const MotusPlane rec[3], int width, int height,
                                               uint64_t *ssd, cudaStream_t stream) {
    for (int p = 0; p < 3; p++) {
        int w = p ? width / 2 : width, h = p ? height / 2 : height;
        error_kernel<<<h, 256, 0, stream>>>(src[p].data, src[p].stride, rec[p].data, rec[p].stride, w, h,
                                            (unsigned long long *)(ssd + p));
    }
    return cudaGetLastError();
}
