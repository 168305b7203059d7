// Finalization and entropy coding of slices on a CUDA device. Equals motus_finalize_mbs,
// motus_write_slice_data and motus_nal_write.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_SLICE_CUDA_H
#define ENCODER_BITSTREAM_SLICE_CUDA_H

#include <cuda_runtime_api.h>

#include "encoder/bitstream/bits_core.h"
#include "encoder/bitstream/headers.h"
#include "encoder/mb/direct_core.h"
#include "encoder/mb/mb.h"

#ifdef __cplusplus
extern "C" {
#endif

// End of a NAL unit.
typedef struct MotusSliceResult {
    uint32_t size;     // bytes in `nal`, including previous slices; 0 after an overflow
    uint32_t overflow; // 1: this slice or a previous one exceeds `capacity`
} MotusSliceResult;

// Masks over the MBs of a picture, MB 0 in the lowest bit of the first word.
typedef struct MotusMarks {
    uint32_t *coded;   // not P_Skip; motus_mark_words
    uint32_t *with_qp; // mb_qp_delta; motus_mark_words
} MotusMarks;

static inline size_t motus_mark_words(int n_mb) { return ((size_t)n_mb + 31) / 32; }

// Picture whose MBs are finalized. All pointers are device memory.
typedef struct MotusFinalizeCuda {
    int mb_width, n_mb;
    MotusMb *mb;
    const int *slice_first; // per MB (motus_slice_first); NULL: one slice
    int qp;                 // of every slice
    int is_b, refs;         // refs: of P slices, 1 or more
    MotusMarks marks;
    const MotusMv *searched; // per MB: MV that an intra MB puts in `kept`
    MotusMv *kept; // first MV of each MB, for the next picture's search centres; NULL: not wanted
    int span[MOTUS_MAX_REFERENCES]; // P: pictures from each reference to this one
    MotusDirectSource direct;       // B
    // For the slices: n_heads are copied from pinned memory, `stats` is cleared unless it is NULL.
    MotusSliceHead *head;
    const MotusSliceHead *h_head;
    int n_heads;
    MotusPictureStats *stats;
} MotusFinalizeCuda;

// Finalizes the MBs in place, sets their marks, and prepares slices.
cudaError_t motus_finalize_cuda(const MotusFinalizeCuda *finalize, cudaStream_t stream);

// Sets col_zero to motus_col_zero of each MB of a picture.
cudaError_t motus_col_zero_cuda(const MotusMb *mb, int n_mb, uint8_t *col_zero,
                                cudaStream_t stream);

// Slice of whole MB rows; `mb`, `coef` and `src` begin with its first one. All pointers are device
// memory, read when the kernels run: a captured launch may be replayed with another head of the
// same QP and is_b.
typedef struct MotusSliceCuda {
    int mb_width, mb_height; // at most 139,264 MBs (level 6.2)
    const MotusMb *mb;       // finalized
    MotusMarks marks;        // of the picture
    int first_mb;            // the slice's first MB in the picture
    int is_b, refs;          // head->slice_type is MOTUS_SLICE_B; of P slices, 1 or more
    const MotusMbCoef *coef;
    const uint8_t *src[3]; // source, for I_PCM
    ptrdiff_t src_stride[3];
    const MotusSliceHead *head;
    void *work; // motus_slice_cuda_bytes, aligned to 256, uninitialized
    uint8_t *nal;
    uint32_t capacity;              // bytes of nal
    const MotusSliceResult *before; // of the previous slice in `nal`; NULL: this is the first
    MotusSliceResult *result;
    MotusPictureStats *stats; // mb, sub, bits_mode to bits_chroma are added to; 8-byte aligned
    int early;                // 1: CAVLC's launches may begin early (common/cuda_call.cuh)
} MotusSliceCuda;

// NAL unit of an RBSP on the device. All pointers are device memory.
typedef struct MotusNalCuda {
    const uint8_t *rbsp;   // readable up to a multiple of MOTUS_NAL_TILE behind `capacity`
    const uint32_t *bytes; // of rbsp; 0: the NAL unit exceeds `capacity`
    uint32_t *escapes;     // scratch, motus_nal_tiles
    int counted;           // 1: `escapes` has those of each tile, as if no zeros preceded it
    const MotusSliceHead *head;
    uint8_t *nal;
    uint32_t capacity;
    const MotusSliceResult *before; // as in MotusSliceCuda
    MotusSliceResult *result;
    int early; // as in MotusSliceCuda
    // Bins of the picture: cabac_zero_words follow its last slice as they ask; NULL: none follow
    const MotusBinCounts *bins;
    int n_mb, n_slices;
} MotusNalCuda;

enum { MOTUS_NAL_TILE = 4096, MOTUS_NAL_START = 5 }; // bytes of a block; of start code and header

static inline int motus_nal_tiles(uint32_t capacity) {
    return (int)(((size_t)capacity + MOTUS_NAL_TILE - 1) / MOTUS_NAL_TILE);
}

// Writes `nal` and `result`.
cudaError_t motus_nal_cuda_write(const MotusNalCuda *nal, cudaStream_t stream);

// Returns the bytes of `work` for pictures of n_mb MBs and NAL units of at most `capacity` bytes.
size_t motus_slice_cuda_bytes(int n_mb, uint32_t capacity);

// Writes `nal` and `result`, and adds to `stats`. Other kernels may read the inputs meanwhile.
cudaError_t motus_slice_cuda_write(const MotusSliceCuda *slice, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
