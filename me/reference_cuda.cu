// References in device memory.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/reference_cuda.h"

#include "common/cuda_call.h"
#include "common/on_device.h"
#include "common/slots.h"
#include "me/samples/ref_luma_cuda.h"

extern "C" {
#include "common/alloc.h"
}

MotusStatus motus_reference_cuda_open(MotusReferenceCuda **reference, int device, int width,
                                      int height, int has_half, MotusError *error) {
    MotusOnDevice on(device);
    *reference = NULL;
    MotusReferenceCuda *r = (MotusReferenceCuda *)motus_alloc(1, sizeof *r);
    if (!r) return MOTUS_ERR_MEMORY;
    r->device = device, r->has_half = has_half;
    size_t end = 0, stride = ((size_t)width + 15) & ~(size_t)15;
    size_t planes = motus_slot_place(&end, motus_ref_luma_bytes(width, height)),
           plane = motus_slot_place(&end, stride * height + 32);
    MotusStatus status = motus_cuda_check(
        cudaStreamCreateWithFlags(&r->stream, cudaStreamNonBlocking), "stream", error);
    if (!status)
        status = motus_cuda_check(cudaEventCreateWithFlags(&r->ready, cudaEventDisableTiming),
                                  "event", error);
    if (!status)
        status = motus_cuda_check(cudaMalloc((void **)&r->memory, end), "device memory", error);
    // What kernels read beyond a row's end has a value.
    if (!status)
        status =
            motus_cuda_check(cudaMemsetAsync(r->memory, 0, end, r->stream), "device memory", error);
    if (!status)
        status = motus_cuda_check(cudaStreamSynchronize(r->stream), "device memory", error);
    if (!status) {
        motus_ref_luma_layout(&r->luma, r->memory + planes, width, height);
        r->plane = MotusPlane{r->memory + plane, (ptrdiff_t)stride, width, height};
    }
    *reference = r;
    if (status) motus_reference_cuda_close(reference);
    return status;
}

void motus_reference_cuda_close(MotusReferenceCuda **reference) {
    if (!reference || !*reference) return;
    MotusReferenceCuda *r = *reference;
    MotusOnDevice on(r->device);
    cudaFree(r->memory); // waits for the device
    if (r->ready) cudaEventDestroy(r->ready);
    if (r->stream) cudaStreamDestroy(r->stream);
    cudaGetLastError(); // what went wrong has been told, and need not trouble the caller's own
                        // calls
    motus_free(r);
    *reference = NULL;
}

int motus_reference_cuda_device(const MotusReferenceCuda *reference) { return reference->device; }

MotusStatus motus_reference_cuda_fill(MotusReferenceCuda *r, const MotusPlane *luma,
                                      MotusMemory memory, void *stream, MotusError *error) {
    MotusOnDevice on(r->device);
    const bool returns_at_once = memory == MOTUS_MEMORY_DEVICE && stream;
    const bool in_place =
        memory == MOTUS_MEMORY_DEVICE && !(((uintptr_t)luma->data | (uintptr_t)luma->stride) & 15);
    cudaStream_t s = returns_at_once ? (cudaStream_t)stream : r->stream;
    const MotusPlane *from = in_place ? luma : &r->plane;
    MotusStatus status = motus_cuda_check(cudaStreamWaitEvent(s, r->ready, 0), "wait",
                                          error); // for the filling before, on whatever stream
    if (!status && !in_place)
        status =
            motus_cuda_check(cudaMemcpy2DAsync(r->plane.data, (size_t)r->plane.stride, luma->data,
                                               (size_t)luma->stride, (size_t)luma->width,
                                               (size_t)luma->height, cudaMemcpyDefault, s),
                             "upload of a reference", error);
    if (!status)
        status = motus_cuda_check(motus_ref_luma_cuda_build(&r->luma, from, s), "reference", error);
    if (!status) status = motus_cuda_check(cudaEventRecord(r->ready, s), "record", error);
    if (!status && !returns_at_once)
        status = motus_cuda_check(cudaStreamSynchronize(s), "reference", error);
    return status;
}
