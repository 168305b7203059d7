// SPDX-License-Identifier: BSD-2-Clause
#include "me/reference_cuda.h"

#include "common/cuda_call.cuh"
#include "common/slots.h"
#include "me/pixel/ref_luma_cuda.h"

extern "C" {
#include "common/alloc.h"
}

static MotusStatus open_planes(MotusReferenceCuda *r, const MotusMeConfig *c, MotusError *error) {
    const size_t stride = ((size_t)c->width + 15) & ~(size_t)15;
    size_t end = 0, planes = motus_slot_reserve(&end, motus_ref_luma_bytes(c->width, c->height)),
           upload = motus_slot_reserve(&end, stride * c->height + 32);
    MotusStatus status = motus_cuda_check(
        cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking), "stream", error);
    if (!status)
        status = motus_cuda_check(cudaEventCreateWithFlags(&r->ready, cudaEventDisableTiming),
                                  "event", error);
    if (!status)
        status = motus_cuda_check(cudaMalloc((void **)&r->memory, end), "device memory", error);
    // Kernels read beyond the end of a row: those bytes need a value.
    if (!status)
        status =
            motus_cuda_check(cudaMemsetAsync(r->memory, 0, end, r->stream), "device memory", error);
    if (!status)
        status = motus_cuda_check(cudaStreamSynchronize(r->stream), "device memory", error);
    if (status) return status;
    motus_ref_luma_layout(&r->luma, r->memory + planes, c->width, c->height);
    r->upload = MotusPlane{r->memory + upload, (ptrdiff_t)stride, c->width, c->height};
    return MOTUS_OK;
}

MotusStatus motus_reference_cuda_open(MotusReferenceCuda **planes, const MotusMeConfig *config,
                                      int device, MotusError *error) {
    MotusOnDevice on(device);
    MotusReferenceCuda *r = *planes = (MotusReferenceCuda *)motus_alloc(1, sizeof *r);
    if (!r) return MOTUS_ERR_MEMORY;
    r->device = device, r->has_half = config->subpel != MOTUS_SUBPEL_FULL;
    MotusStatus status = open_planes(r, config, error);
    if (status) motus_reference_cuda_close(r), *planes = NULL;
    return status;
}

void motus_reference_cuda_close(MotusReferenceCuda *r) {
    if (!r) return;
    MotusOnDevice on(r->device);
    cudaFree(r->memory); // blocks until the device is idle
    if (r->ready) cudaEventDestroy(r->ready);
    if (r->stream) cudaStreamDestroy(r->stream);
    cudaGetLastError(); // a reported error must not reappear in the caller's own calls
    motus_free(r);
}

MotusStatus motus_reference_cuda_fill(MotusReferenceCuda *r, const MotusPlane *luma,
                                      MotusMemory memory, void *stream, MotusError *error) {
    MotusOnDevice on(r->device);
    const bool asynchronous = memory == MOTUS_MEMORY_DEVICE && stream;
    const bool in_place =
        memory == MOTUS_MEMORY_DEVICE && !(((uintptr_t)luma->data | (uintptr_t)luma->stride) & 15);
    cudaStream_t s = asynchronous ? (cudaStream_t)stream : r->stream;
    const MotusPlane *from = in_place ? luma : &r->upload;
    // The previous fill may be on another stream.
    MotusStatus status = motus_cuda_check(cudaStreamWaitEvent(s, r->ready, 0), "wait", error);
    if (!status && !in_place)
        status =
            motus_cuda_check(cudaMemcpy2DAsync(r->upload.data, (size_t)r->upload.stride, luma->data,
                                               (size_t)luma->stride, (size_t)luma->width,
                                               (size_t)luma->height, cudaMemcpyDefault, s),
                             "upload of a reference", error);
    if (!status)
        status = motus_cuda_check(motus_ref_luma_cuda_build(&r->luma, from, s), "reference", error);
    if (!status) status = motus_cuda_check(cudaEventRecord(r->ready, s), "record", error);
    if (!status && !asynchronous)
        status = motus_cuda_check(cudaStreamSynchronize(s), "reference", error);
    return status;
}
