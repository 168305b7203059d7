// Memory of a CUDA device, and a ring that uploads pictures, runs a job on them and downloads the
// results, several at once.
//
// All calls concern the current device; `error` may be NULL. Errors of every call: MOTUS_ERR_CUDA,
// MOTUS_ERR_MEMORY (device or pinned memory), MOTUS_ERR_UNSUPPORTED (a build without CUDA).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_UPLOAD_H
#define MOTUS_UPLOAD_H

#include <stddef.h>

#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Memory -------------------------------------------------------------------------------------

// Allocates zeroed device memory. Free it with motus_cuda_free, which accepts NULL.
MOTUS_API MotusStatus motus_cuda_alloc(void **memory, size_t bytes, MotusError *error);
MOTUS_API void motus_cuda_free(void *memory);

// Copies between device and pinned memory in the order of `stream` (a cudaStream_t, NULL = the
// default stream) and returns immediately.
MOTUS_API MotusStatus motus_cuda_copy(void *dst, const void *src, size_t bytes, void *stream,
                                      MotusError *error);

// Returns `size` bytes of pinned memory if there is a CUDA device, else of ordinary memory; NULL if
// there is none. Aligned to 64 bytes at least, not initialized. Free it with motus_host_free, which
// accepts NULL.
MOTUS_API void *motus_host_alloc(size_t size);
MOTUS_API void motus_host_free(void *memory);

// ---- Ring ---------------------------------------------------------------------------------------

// Ring of slots, each with pinned and device buffers for a picture's input and output. Uploads,
// jobs and downloads of successive pictures overlap, on a stream each.
//
//     for (n = 0; n < pictures + slots; n++) {
//         if (n >= slots) {
//             motus_cuda_ring_take(ring, &result, NULL, error);
//             use(result);
//         }
//         if (n < pictures) {
//             motus_cuda_ring_input(ring, &input, error);
//             fill(input);
//             motus_cuda_ring_submit(ring, job, opaque, error);
//         }
//     }
typedef struct MotusCudaRing MotusCudaRing;

// Job: launches a picture's kernels on `stream` (a cudaStream_t). d_in holds the picture, d_out
// takes the result; both belong to the ring.
typedef MotusStatus MotusCudaJob(void *opaque, const void *d_in, void *d_out, void *stream,
                                 MotusError *error);

// Opens a ring of 2..16 slots. in_bytes, out_bytes: per picture, 1..SIZE_MAX / 4. on_device:
// results stay in device memory. *ring is NULL after an error: also MOTUS_ERR_ARGUMENT,
// MOTUS_ERR_NO_DEVICE.
MOTUS_API MotusStatus motus_cuda_ring_open(MotusCudaRing **ring, int slots, size_t in_bytes,
                                           size_t out_bytes, int on_device, MotusError *error);

// Sets *input to the ring's pinned memory for the next picture; fill it, then submit.
// MOTUS_ERR_STATE: every slot is in use, take a result first. MOTUS_ERR_ARGUMENT (NULL).
MOTUS_API MotusStatus motus_cuda_ring_input(MotusCudaRing *ring, void **input, MotusError *error);

// Starts upload, job and download of the picture in the input. Calls `job` before it returns.
// MOTUS_ERR_STATE: every slot is in use. MOTUS_ERR_ARGUMENT (NULL), and the job's own errors. After
// an error the picture is dropped and its slot is free.
MOTUS_API MotusStatus motus_cuda_ring_submit(MotusCudaRing *ring, MotusCudaJob *job, void *opaque,
                                             MotusError *error);

// Takes the oldest picture. If results are downloaded, blocks until it is done and sets *output to
// its result in the ring's pinned memory. Else returns without blocking and sets *output to its
// result in device memory, for work put on *stream (a cudaStream_t of the ring). Valid until the
// slot's next submit. stream: may be NULL if results are downloaded, and becomes NULL then.
// MOTUS_END: no picture is pending. MOTUS_ERR_ARGUMENT (NULL). MOTUS_ERR_CUDA: also if the job
// failed.
MOTUS_API MotusStatus motus_cuda_ring_take(MotusCudaRing *ring, const void **output, void **stream,
                                           MotusError *error);

// Blocks until the ring's streams are done, frees everything and sets *ring to NULL; accepts NULL
// and *ring == NULL.
MOTUS_API void motus_cuda_ring_close(MotusCudaRing **ring);

#ifdef __cplusplus
}
#endif
#endif
