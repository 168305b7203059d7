// Pictures from host memory through a job on a CUDA device, and back, several under way at once;
// and device and pinned memory for callers who use no CUDA themselves.
//
// All calls concern the current device. MOTUS_ERR_CUDA: a CUDA call failed; MOTUS_ERR_MEMORY: for
// want of device or pinned memory; `error` (may be NULL) gets CUDA's own words. A build without
// CUDA has these functions too; what needs a device returns MOTUS_ERR_UNSUPPORTED.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_UPLOAD_H
#define MOTUS_UPLOAD_H

#include <stddef.h>

#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// Device memory, zeroed, that the caller frees; and a copy between device or pinned memory in the
// order of `stream` (a cudaStream_t, NULL: the default stream), which returns at once.
// MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_cuda_alloc(void **memory, size_t bytes, MotusError *error);
MOTUS_API void motus_cuda_free(void *memory); // accepts NULL
MOTUS_API MotusStatus motus_cuda_copy(void *dst, const void *src, size_t bytes, void *stream,
                                      MotusError *error);

// Pinned memory where a CUDA device is there, else ordinary memory; aligned to 64 bytes at least,
// not initialized. NULL: none.
MOTUS_API void *motus_host_alloc(size_t size);
MOTUS_API void motus_host_free(void *memory); // accepts NULL

// A ring of slots, each a pinned and a device buffer for a picture's input and output. Uploads,
// jobs and downloads run on three streams, so that the upload of one picture, the job of the one
// before and the download of the one before that overlap.
//
//     for (n = 0; n < pictures + slots; n++) {
//         if (n >= slots) motus_cuda_ring_take(ring, &result, error), use(result);
//         if (n < pictures) motus_cuda_ring_input(ring, &input, error), fill(input),
//         motus_cuda_ring_submit(ring, job, opaque, error);
//     }
typedef struct MotusCudaRing MotusCudaRing;

// Launches one picture's work on `stream`: d_in holds the picture, d_out takes the result. Both are
// the ring's.
typedef MotusStatus MotusCudaJob(void *opaque, const void *d_in, void *d_out, void *stream,
                                 MotusError *error);

// slots 2..16; in_bytes and out_bytes of one picture, 1..SIZE_MAX / 4. Close with
// motus_cuda_ring_close; *ring is NULL after an error: MOTUS_ERR_ARGUMENT, MOTUS_ERR_NO_DEVICE,
// MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_cuda_ring_open(MotusCudaRing **ring, int slots, size_t in_bytes,
                                           size_t out_bytes, MotusError *error);
// The same for results that stay on the device: nothing is downloaded, and
// motus_cuda_ring_take_device takes in place of motus_cuda_ring_take.
MOTUS_API MotusStatus motus_cuda_ring_open_device(MotusCudaRing **ring, int slots, size_t in_bytes,
                                                  size_t out_bytes, MotusError *error);
// Pinned memory for the next picture, the ring's, to be filled before its submit. MOTUS_ERR_STATE:
// every slot is taken; take a result first. MOTUS_ERR_ARGUMENT (NULL), MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_cuda_ring_input(MotusCudaRing *ring, void **input, MotusError *error);
// Sends it on its way. The job is called before the function returns. MOTUS_ERR_STATE: every slot
// is taken; MOTUS_ERR_ARGUMENT (NULL), MOTUS_ERR_CUDA, and whatever the job returns. After an error
// the picture is not under way and will not be taken; the slot waits for the next.
MOTUS_API MotusStatus motus_cuda_ring_submit(MotusCudaRing *ring, MotusCudaJob *job, void *opaque,
                                             MotusError *error);
// Waits for the oldest picture; its pinned output, the ring's, is valid until the slot's next
// submit. MOTUS_END: none is under way. MOTUS_ERR_STATE: results stay on the device.
// MOTUS_ERR_ARGUMENT (NULL). MOTUS_ERR_CUDA: also where the picture's job failed on the device.
MOTUS_API MotusStatus motus_cuda_ring_take(MotusCudaRing *ring, const void **output,
                                           MotusError *error);
// Hands out the oldest picture's result without waiting: device memory, there for work that the
// caller puts on *stream (a cudaStream_t of the ring's) before the slot's next submit; jobs of
// later pictures run beside it. MOTUS_END: none is under way. MOTUS_ERR_STATE: results are
// downloaded. MOTUS_ERR_ARGUMENT (NULL), MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_cuda_ring_take_device(MotusCudaRing *ring, const void **d_output,
                                                  void **stream, MotusError *error);
// Waits for what is under way, the caller's work on the ring's stream too, frees everything and
// sets *ring to NULL; accepts NULL and *ring == NULL.
MOTUS_API void motus_cuda_ring_close(MotusCudaRing **ring);

#ifdef __cplusplus
}
#endif
#endif
