// Blocks come from a memory pool of CUDA's own, which orders them by streams and keeps what was given back. It is counted: closing and each block that goes may
// be the last to let go of it.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/packet_cuda.h"

#include "common/cuda_call.h"
#include "common/on_device.h"

extern "C" {
#include "common/alloc.h"
}

struct MotusPacketPool {
    int device, owners; // owners: whoever has it open, and each block
    cudaMemPool_t memory;
    cudaStream_t stream;
};

// Nothing but what `stream` has yet to do may use the pool's memory any more, if this is the last owner.
static void let_go(MotusPacketPool *p, cudaStream_t stream) {
    if (__atomic_sub_fetch(&p->owners, 1, __ATOMIC_ACQ_REL)) return;
    cudaStreamSynchronize(stream);
    if (p->stream) cudaStreamDestroy(p->stream);
    if (p->memory) cudaMemPoolDestroy(p->memory);
    cudaGetLastError(); // what went wrong has been told, and need not trouble the caller's own calls
    motus_free(p);
}

extern "C" MotusStatus motus_packet_pool_open(MotusPacketPool **pool, int device, MotusError *error) {
    MotusOnDevice on(device);
    *pool = NULL;
    int supported = 0;
    MotusStatus status =
        motus_cuda_check(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device), "memory pools", error);
    if (status) return status;
    if (!supported)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "packets cannot stay on CUDA device %d: it has no memory pools", device);
    MotusPacketPool *p = (MotusPacketPool *)motus_alloc(1, sizeof *p);
    if (!p) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = p->device = device;
    p->owners = 1;
    uint64_t keep = UINT64_MAX; // bytes that are not given back to the system
    int no = 0;                 // packets do not wait for streams in whose order others will be given back
    status = motus_cuda_check(cudaMemPoolCreate(&p->memory, &props), "memory pool", error);
    if (!status)
        status =
            motus_cuda_check(cudaMemPoolSetAttribute(p->memory, cudaMemPoolAttrReleaseThreshold, &keep), "memory pool", error);
    if (!status)
        status = motus_cuda_check(cudaMemPoolSetAttribute(p->memory, cudaMemPoolReuseAllowInternalDependencies, &no),
                                  "memory pool", error);
    if (!status) status = motus_cuda_check(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking), "stream", error);
    *pool = p;
    if (status) motus_packet_pool_close(pool);
    return status;
}

extern "C" void motus_packet_pool_close(MotusPacketPool **pool) {
    if (!*pool) return;
    MotusOnDevice on((*pool)->device);
    let_go(*pool, (*pool)->stream);
    *pool = NULL;
}

extern "C" MotusStatus motus_packet_pool_put(MotusPacketPool *p, const MotusPacketPiece *piece, int n, uint8_t **data,
                                             int *device, MotusError *error) {
    MotusOnDevice on(p->device);
    size_t size = 0, at = 0;
    for (int i = 0; i < n; i++) size += piece[i].size;
    *data = NULL;
    *device = p->device;
    __atomic_add_fetch(&p->owners, 1, __ATOMIC_RELAXED);
    MotusStatus status = motus_cuda_check(cudaMallocFromPoolAsync((void **)data, size, p->memory, p->stream), "packet", error);
    for (int i = 0; i < n && !status; at += piece[i++].size)
        if (piece[i].size)
            status = motus_cuda_check(cudaMemcpyAsync(*data + at, piece[i].data, piece[i].size, cudaMemcpyDefault, p->stream),
                                      "packet", error);
    if (!status) status = motus_cuda_check(cudaStreamSynchronize(p->stream), "packet", error);
    if (!status) return MOTUS_OK;
    motus_packet_pool_free(p, *data, p->stream);
    *data = NULL;
    return status;
}

extern "C" void motus_packet_pool_wait(const MotusPacketPool *p, void *stream) {
    MotusOnDevice on(p->device);
    cudaStreamSynchronize((cudaStream_t)stream);
    cudaGetLastError();
}

extern "C" void motus_packet_pool_free(MotusPacketPool *p, uint8_t *data, void *stream) {
    MotusOnDevice on(p->device);
    if (data) cudaFreeAsync(data, (cudaStream_t)stream);
    cudaGetLastError(); // nobody is told: there is nothing to be done about it
    let_go(p, (cudaStream_t)stream);
}
