// Entropy coding of a slice on a CUDA device: the NAL unit that motus_finalize_mbs,
// motus_write_slice_data and motus_nal_write give on the CPU.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_SLICE_CUDA_H
#define ENCODER_BITSTREAM_SLICE_CUDA_H

#include <cuda_runtime_api.h>

#include "encoder/bitstream/slice_core.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where the NAL unit ends.
typedef struct MotusSliceResult {
    uint32_t size;     // bytes in `nal`, with those of the slices before; 0 after an overflow
    uint32_t overflow; // 1: it, or one before, has no room in `capacity` bytes
} MotusSliceResult;

// A bit for each MB of a picture, the first one in the lowest: it is coded; it has mb_qp_delta.
typedef struct MotusMarks {
    uint32_t *coded, *with_qp; // motus_mark_words
} MotusMarks;

static inline size_t motus_mark_words(int n_mb) { return ((size_t)n_mb + 31) / 32; }

// A picture whose MBs are to be settled. All pointers are device memory.
typedef struct MotusFinalizeCuda {
    int mb_width, n_mb;
    MotusMb *mb;
    const int *slice_first; // per MB (motus_slice_first); NULL: one slice
    int qp;                 // of every slice
    MotusMarks marks;
    const MotusMv *searched; // what an intra MB leaves in `kept`
    MotusMv *kept; // the first vector of each MB, for the next picture's centres; NULL: not wanted
} MotusFinalizeCuda;

// Settles the MBs in place, as motus_finalize_mbs does, and marks them.
cudaError_t motus_finalize_cuda(const MotusFinalizeCuda *settle, cudaStream_t stream);

// One slice of whole MB rows: `mb`, `coef` and `src` begin with its first one, as if it were a
// picture of its own. All pointers are device memory. Everything is read when the kernels run, so
// that a captured launch may be played again with another head of the same QP.
typedef struct MotusSliceCuda {
    int mb_width, mb_height; // at most 139,264 MBs (level 6.2)
    const MotusMb *mb;       // settled
    MotusMarks marks;        // of the picture
    int first_mb;            // the slice's first MB in the picture
    const MotusMbCoef *coef;
    const uint8_t *src[3]; // the source, for I_PCM
    ptrdiff_t src_stride[3];
    const MotusSliceHead *head;
    void *work; // motus_slice_cuda_bytes, aligned to 256, its content of no interest
    uint8_t *nal;
    uint32_t capacity; // of nal, bytes; nothing is written past it
    const MotusSliceResult
        *before; // of the slice whose NAL unit this one follows in `nal`; NULL: it comes first
    MotusSliceResult *result;
    MotusPictureStats *stats; // mb, sub, bits_mode, bits_mv, bits_luma and bits_chroma are added
                              // to; 8-byte aligned
} MotusSliceCuda;

// Bytes of `work` for pictures of n_mb MBs and NAL units of at most `capacity` bytes.
size_t motus_slice_cuda_bytes(int n_mb, uint32_t capacity);

// Writes `nal` and `result`. Others may read what it reads meanwhile.
cudaError_t motus_slice_cuda_write(const MotusSliceCuda *slice, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
