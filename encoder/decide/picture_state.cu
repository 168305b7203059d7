// Memory of a picture's passes on a CUDA device.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "common/slots.h"
#include "encoder/decide/decide_cuda.h"

namespace {

// Lays out the arrays from `base` on. Returns their bytes.
size_t lay_out(MotusPictureStateCuda *w, uint8_t *base, int mb_width, int mb_height) {
    size_t n = (size_t)mb_width * (size_t)mb_height, end = 0;
    w->mb = (MotusMb *)(base + motus_slot_reserve(&end, n * sizeof(MotusMb)));
    w->mb_inter = (MotusMb *)(base + motus_slot_reserve(&end, n * sizeof(MotusMb)));
    w->mb_intra = (MotusMb *)(base + motus_slot_reserve(&end, n * sizeof(MotusMb)));
    w->coef = (MotusMbCoef *)(base + motus_slot_reserve(&end, n * sizeof(MotusMbCoef)));
    w->candidates =
        (MotusCandidates *)(base + motus_slot_reserve(&end, n * sizeof(MotusCandidates)));
    w->inter_cost = (uint32_t *)(base + motus_slot_reserve(&end, 4 * n));
    w->intra_cost = (uint32_t *)(base + motus_slot_reserve(&end, 4 * n));
    w->satd = (uint32_t *)(base + motus_slot_reserve(&end, 4 * n));
    w->luma_bits = (uint32_t *)(base + motus_slot_reserve(&end, 4 * n));
    w->changed_at = (uint16_t *)(base + motus_slot_reserve(&end, 2 * n));
    w->seen_at = (uint16_t *)(base + motus_slot_reserve(&end, 2 * n));
    w->chain = base + motus_slot_reserve(&end, n);
    w->zero_runs = base + motus_slot_reserve(&end, MOTUS_ZERO_RUNS);
    w->qp_table = (const MotusQp *)(base + motus_slot_reserve(&end, MOTUS_LAMBDAS * MOTUS_QPS *
                                                                        sizeof(MotusQp)));
    w->quant8 = (const MotusQuant8 *)(base + motus_slot_reserve(&end, MOTUS_LAMBDAS * MOTUS_QPS *
                                                                          sizeof(MotusQuant8)));
    w->listed = base + motus_slot_reserve(&end, n);
    w->found = (int *)(base + motus_slot_reserve(&end, 4 * n));
    w->list = (int *)(base + motus_slot_reserve(&end, 4 * n));
    w->flags = (int *)(base + motus_slot_reserve(&end, MOTUS_FLAGS * sizeof(int)));
    w->estimate =
        (MotusIntraEstimate *)(base + motus_slot_reserve(&end, n * sizeof(MotusIntraEstimate)));
    w->handed = (MotusHandedMb *)(base + motus_slot_reserve(&end, n * sizeof(MotusHandedMb)));
    w->parts = (MotusIntraParts *)(base + motus_slot_reserve(&end, n * sizeof(MotusIntraParts)));
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
