// CABAC of slices on a CUDA device. Equals motus_write_slice_data and motus_nal_write for finalized
// MBs.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_CABAC_CUDA_H
#define ENCODER_CABAC_CABAC_CUDA_H

#include "encoder/bitstream/cabac_costs.h"
#include "encoder/bitstream/slice_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

// Slice; its `work` has motus_cabac_cuda_bytes. Pictures of more than `piece` symbols are coded in
// pieces, the first one in parallel, the others by one block.
typedef struct MotusCabacSliceCuda {
    MotusSliceCuda slice;
    MotusMbContext *context; // scratch, of the slice's MBs
    uint32_t piece;
    MotusBinCounts *bins; // added to
    // Symbols in place of MBs, as of an MB each up to string_end[i]; NULL: none. I_PCM samples are
    // zero then.
    const uint16_t *string;
    const uint32_t *string_end; // [n_mb + 1]
} MotusCabacSliceCuda;

// Returns the usual size of a piece.
uint32_t motus_cabac_cuda_piece(int n_mb);

// Returns the bytes of `work`.
size_t motus_cabac_cuda_bytes(int n_mb, uint32_t capacity, uint32_t piece);

// Writes `nal` and `result`, and adds to `stats` and `bins`.
cudaError_t motus_cabac_slice_cuda_write(const MotusCabacSliceCuda *slice, cudaStream_t stream);

// A picture whose slices are written. All pointers are device memory.
typedef struct MotusCabacPictureCuda {
    const MotusBinCounts *bins; // of all slices
    int n_mb, n_slices;
    uint8_t *nal;
    uint32_t capacity;
    MotusSliceResult *result;     // of the last slice
    const MotusCabacCosts *costs; // that the picture was decided with
    MotusCabacCosts *next;        // gets motus_cabac_costs_learn of them; NULL: not wanted
} MotusCabacPictureCuda;

// Appends cabac_zero_words, and learns costs for the next picture.
cudaError_t motus_cabac_picture_cuda_end(const MotusCabacPictureCuda *picture, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
