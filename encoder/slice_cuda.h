// Entropy coding of a slice on a CUDA device: the NAL unit that motus_settle_mbs, motus_write_slice_data and motus_nal_write give on the CPU.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SLICE_CUDA_H
#define ENCODER_SLICE_CUDA_H

#include <cuda_runtime_api.h>

#include "encoder/slice_core.h"
#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where the NAL unit ends.
typedef struct MotusSliceResult {
    uint32_t size;     // bytes in `nal`, with those of the slices before; 0 after an overflow
    uint32_t overflow; // 1: it, or one before, has no room in `capacity` bytes
} MotusSliceResult;

// One slice of whole MB rows: `mb`, `coef` and `src` begin with its first one, as if it were a picture of its own. All pointers are device memory.
// Everything is read when the kernels run, so that a captured launch may be played again with another head.
typedef struct MotusSliceCuda {
    int mb_width, mb_height; // at most 139,264 MBs (level 6.2)
    MotusMb *mb;             // settled in place by the first half, as by motus_settle_mbs: deblocking comes after that
    const MotusMbCoef *coef;
    const uint8_t *src[3]; // the source, for I_PCM
    ptrdiff_t src_stride[3];
    const MotusSliceHead *head;
    void *work; // motus_slice_cuda_bytes, aligned to 256, its content of no interest
    uint8_t *nal;
    uint32_t capacity;              // of nal, bytes; nothing is written past it
    const MotusSliceResult *before; // of the slice whose NAL unit this one follows in `nal`; NULL: it comes first
    MotusSliceResult *result;
    MotusPictureStats *stats; // mb, sub, bits_mode, bits_mv, bits_luma and bits_chroma are added to; 8-byte aligned
} MotusSliceCuda;

// Bytes of `work` for pictures of n_mb MBs and NAL units of at most `capacity` bytes.
size_t motus_slice_cuda_bytes(int n_mb, uint32_t capacity);

// The first half settles the MBs and counts; what comes after it may read mb beside the second half, which writes `nal` and `result`.
cudaError_t motus_slice_cuda_count(const MotusSliceCuda *slice, cudaStream_t stream);
cudaError_t motus_slice_cuda_write(const MotusSliceCuda *slice, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
