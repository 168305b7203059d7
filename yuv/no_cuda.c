// SPDX-License-Identifier: BSD-2-Clause
#include "common/no_cuda.h"

#include "common/alloc.h"
#include "motus/image.h"
#include "motus/upload.h"

void *motus_host_alloc(size_t size) { return motus_alloc(size, 1); }
void motus_host_free(void *memory) { motus_free(memory); }
void motus_cuda_free(void *memory) {}
void motus_cuda_ring_close(MotusCudaRing **ring) {}

MOTUS_NO_CUDA_OPEN(motus_cuda_alloc, void, size_t bytes)
MOTUS_NO_CUDA_OPEN(motus_cuda_ring_open, MotusCudaRing, int slots, size_t in_bytes,
                   size_t out_bytes, int on_device)
MOTUS_NO_CUDA(motus_cuda_copy, void *dst, const void *src, size_t bytes, void *stream)
MOTUS_NO_CUDA(motus_cuda_ring_input, MotusCudaRing *ring, void **input)
MOTUS_NO_CUDA(motus_cuda_ring_submit, MotusCudaRing *ring, MotusCudaJob *job, void *opaque)
MOTUS_NO_CUDA(motus_cuda_ring_take, MotusCudaRing *ring, const void **output, void **stream)
MOTUS_NO_CUDA(motus_cuda_image_convert, const MotusFrame *dst, const MotusImage *src,
              const MotusColour *colour, void *stream)
