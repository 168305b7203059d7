// The lookahead's passes on a CUDA device. They give the results of lookahead_passes.h. Pointers
// are device memory; calls are asynchronous on the cudaStream_t `stream` of the current device and
// return MOTUS_ERR_CUDA with CUDA's text in *error.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_LOOKAHEAD_PASSES_CUDA_H
#define ENCODER_LOOKAHEAD_LOOKAHEAD_PASSES_CUDA_H

#include "encoder/lookahead/lookahead_core.h"
#include "encoder/lookahead/lookahead_ops.h"

#ifdef __cplusplus
extern "C" {
#endif

// Adds the detail to *detail, which is zeroed by the caller; NULL: nowhere.
MotusStatus motus_half_build_cuda(const MotusHalfPicture *half, const MotusPlane *luma,
                                  uint64_t *detail, void *stream, MotusError *error);

// Fills in the weights of n references, at most MOTUS_B_SPAN.
MotusStatus motus_half_find_weights_cuda(MotusHalfWeight *weight, const MotusHalfStats *cur,
                                         const MotusHalfStats *ref, int n, int mb_width,
                                         int mb_height, void *stream, MotusError *error);

// Fills costs->intra and, if it is not NULL, *stats, as motus_half_measure does; *stats->sums is
// zeroed by the caller, stats->small a multiple of 4.
MotusStatus motus_intra_costs_cuda(const MotusMbCosts *costs, const MotusHalfStats *stats,
                                   const MotusHalfPicture *cur, void *stream, MotusError *error);

// Search of a picture in the previous one.
typedef struct MotusLookaheadSearch {
    MotusMbCosts costs;            // intra is filled in
    MotusHalfPicture cur, before;  // before.memory NULL: no previous picture
    const MotusHalfWeight *weight; // of the previous picture; NULL: none
    MotusLookaheadSums *sums;      // zeroed by the caller
} MotusLookaheadSearch;

// Fills costs.inter and costs.mv and adds the costs to *sums.
MotusStatus motus_lookahead_search_cuda(const MotusLookaheadSearch *search, void *stream,
                                        MotusError *error);

// Adds to *costs, which is device memory and zeroed by the caller, all but p[0]: the sum of
// earlier[0] is that of motus_lookahead_search_cuda. Otherwise like motus_b_costs.
MotusStatus motus_b_costs_cuda(MotusBCosts *costs, const MotusBPicture *const *picture, int span,
                               int pyramid, void *stream, MotusError *error);

// sums->energies is zeroed by the caller.
MotusStatus motus_aq_offsets_cuda(int16_t *offset, const MotusPlane *luma, int mb_width,
                                  int mb_height, MotusAqMode mode, int strength_q8,
                                  MotusLookaheadSums *sums, void *stream, MotusError *error);

MotusStatus motus_mb_tree_propagate_cuda(uint64_t *const references[2], const uint64_t *propagated,
                                         const MotusTreePicture *picture, int mb_width,
                                         int mb_height, void *stream, MotusError *error);

// Applies mb-tree if strength_q8 is above 0, then adds offsets and weighted costs (is_idr: intra
// costs) to *sums.
MotusStatus motus_mb_tree_offsets_cuda(int16_t *offset, const uint64_t *propagated,
                                       const MotusMbCosts *costs, int is_idr, int n_mb,
                                       int strength_q8, MotusLookaheadSums *sums, void *stream,
                                       MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
