// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/copy_streams.h"

#include "common/cuda_call.h"
#include "common/on_device.h"

extern "C" {
#include "common/alloc.h"
}

extern "C" MotusStatus motus_copy_streams_open(MotusCopyStreams **out, int device,
                                               MotusError *error) {
    MotusOnDevice on(device);
    int least, greatest; // numbers of priorities, the greatest one being the lower number
    MotusCopyStreams *t = *out = (MotusCopyStreams *)motus_alloc(1, sizeof *t);
    if (!t) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    t->device = device;
    MotusStatus status =
        motus_cuda_check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "stream", error);
    if (!status)
        status = motus_cuda_check(
            cudaStreamCreateWithPriority((cudaStream_t *)&t->up, cudaStreamNonBlocking, greatest),
            "stream", error);
    if (!status)
        status = motus_cuda_check(
            cudaStreamCreateWithFlags((cudaStream_t *)&t->down, cudaStreamNonBlocking), "stream",
            error);
    if (status) motus_copy_streams_close(out);
    return status;
}

extern "C" void motus_copy_streams_close(MotusCopyStreams **transfer) {
    if (!*transfer) return;
    MotusOnDevice on((*transfer)->device);
    for (void *stream : {(*transfer)->up, (*transfer)->down}) {
        if (stream) cudaStreamSynchronize((cudaStream_t)stream);
        if (stream) cudaStreamDestroy((cudaStream_t)stream);
    }
    (void)cudaGetLastError();
    motus_free(*transfer);
    *transfer = NULL;
}
