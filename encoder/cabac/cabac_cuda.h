// CABAC of slices on a CUDA device. Equals motus_write_slice_data and motus_nal_write for finalized
// MBs.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_CABAC_CUDA_H
#define ENCODER_CABAC_CABAC_CUDA_H

#include "encoder/bitstream/slice_cuda.h"
#include "encoder/cabac/cabac_costs_core.h"

#ifdef __cplusplus
extern "C" {
#endif

// Slice; its `work` has motus_cabac_cuda_bytes. A slice of more than `piece` symbols is coded in
// pieces, by one block.
typedef struct MotusCabacSliceCuda {
    MotusSliceCuda slice;
    MotusMbContext *context; // scratch, of the slice's MBs
    uint32_t piece;
    MotusBinCounts *bins; // of the picture: its first slice clears them
    int n_mb, n_slices;   // last slice: of the picture, to append cabac_zero_words; else 0
    // Last slice: costs that are learnt from `bins` once it has begun; NULL: none are
    const MotusCabacCosts *costs;
    MotusCabacCosts *next;
    // Symbols in place of MBs, as of an MB each up to string_end[i]; NULL: none. I_PCM samples are
    // zero then.
    const uint16_t *string;
    const uint32_t *string_end; // [n_mb + 1]
} MotusCabacSliceCuda;

// Returns the usual size of a piece.
uint32_t motus_cabac_cuda_piece(int n_mb);

// Returns the bytes of `work`.
size_t motus_cabac_cuda_bytes(int n_mb, uint32_t capacity, uint32_t piece);

// Begins a slice: adds to `bins`, and learns costs. Its MBs, levels and contexts may change
// afterwards.
cudaError_t motus_cabac_slice_cuda_begin(const MotusCabacSliceCuda *slice, cudaStream_t stream);

// Writes `nal` and `result` of the slice that was begun last with this `work`. `stats` is complete.
cudaError_t motus_cabac_slice_cuda_end(const MotusCabacSliceCuda *slice, cudaStream_t stream);

// Equals motus_cabac_costs_learn: next = costs that are learnt from `bins`, of all slices begun.
cudaError_t motus_cabac_costs_cuda_learn(const MotusBinCounts *bins, const MotusCabacCosts *costs,
                                         MotusCabacCosts *next, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
