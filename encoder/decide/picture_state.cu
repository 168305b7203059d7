// Memory of a picture's passes on a CUDA device.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "common/slots.h"
#include "encoder/decide/decide_cuda.h"

namespace {

// Lays out the arrays from `base` on. Returns their bytes.
size_t lay_out(MotusPictureStateCuda *w, uint8_t *base, int mb_width, int mb_height) {
    const size_t n = (size_t)mb_width * (size_t)mb_height, qps = MOTUS_LAMBDAS * MOTUS_QPS;
    size_t end = 0;
    const auto take = [&](auto *&array, size_t count) {
        array = (decltype(&*array))(base + motus_slot_reserve(&end, count * sizeof *array));
    };
    take(w->mb, n);
    take(w->mb_inter, n);
    take(w->mb_intra, n);
    take(w->coef, n);
    take(w->candidates, n);
    take(w->inter_cost, n);
    take(w->intra_cost, n);
    take(w->satd, n);
    take(w->luma_bits, n);
    take(w->changed_at, n);
    take(w->seen_at, n);
    take(w->chain, n);
    take(w->zero_runs, MOTUS_ZERO_RUNS);
    take(w->qp_table, qps);
    take(w->quant8, qps);
    take(w->listed, n);
    take(w->found, n);
    take(w->list, n);
    take(w->flags, MOTUS_FLAGS);
    take(w->estimate, n);
    take(w->handed, n);
    take(w->parts, n);
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
    MotusQp qp_table[MOTUS_LAMBDAS * MOTUS_QPS];
    MotusQuant8 quant8[MOTUS_LAMBDAS * MOTUS_QPS];
    uint8_t *zero_runs = (uint8_t *)malloc(MOTUS_ZERO_RUNS);
    if (!zero_runs) return cudaErrorMemoryAllocation;
    lay_out(w, (uint8_t *)memory, mb_width, mb_height);
    w->lambda = MOTUS_LAMBDA_I;
    w->qp_offset = NULL;
    w->slice_first = NULL;
    w->costs = NULL;
    w->transform_8x8 = 0;
    w->ended = NULL;
    w->mb_width = mb_width, w->mb_height = mb_height, w->n_mb = mb_width * mb_height;
    for (int i = 0; i < MOTUS_LAMBDAS * MOTUS_QPS; i++) {
        qp_table[i] = motus_qp_at(i % MOTUS_QPS, i / MOTUS_QPS);
        quant8[i] = motus_quant8_at(i % MOTUS_QPS, i / MOTUS_QPS);
    }
    motus_cavlc_zero_runs(zero_runs);
    cudaError_t status =
        cudaMemcpy((void *)w->zero_runs, zero_runs, MOTUS_ZERO_RUNS, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy((void *)w->qp_table, qp_table, sizeof qp_table, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy((void *)w->quant8, quant8, sizeof quant8, cudaMemcpyHostToDevice);
    free(zero_runs);
    return status == cudaSuccess ? motus_decide_cuda_prepare(&w->early, &w->block_mbs) : status;
}

extern "C" cudaError_t motus_stage_ended_cuda(const MotusPictureStateCuda *pic, MotusStage stage,
                                              cudaStream_t stream) {
    return pic->ended ? cudaEventRecord(pic->ended[stage], stream) : cudaSuccess;
}
