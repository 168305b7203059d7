// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/cuda_executor.h"

#include <pthread.h>

#include "common/cuda_call.cuh"

extern "C" {
#include "common/alloc.h"
}

namespace {

using Block = MotusPacketBlock;

constexpr size_t UNIT =
    65536; // room is a multiple: pictures of similar size fit each other's blocks

} // namespace

struct MotusPacketPool {
    int device;
    cudaStream_t stream;
    pthread_mutex_t lock;
    // Under the lock.
    Block *list; // of free blocks
    int owners;  // 1 while it is open, and 1 for each block in use
};

namespace {

void drop_block(Block *b) {
    if (b->unused) cudaEventDestroy((cudaEvent_t)b->unused);
    cudaFree(b->data); // waits for the device
    motus_free(b);
}

// Drops one owner, and the pool with the last one. `back` (or NULL) goes into the list.
void let_go(MotusPacketPool *p, Block *back) {
    pthread_mutex_lock(&p->lock);
    if (back) back->next = p->list, p->list = back;
    const int owners = --p->owners;
    pthread_mutex_unlock(&p->lock);
    if (owners) return;
    while (p->list) {
        Block *b = p->list;
        p->list = b->next;
        drop_block(b);
    }
    if (p->stream) cudaStreamDestroy(p->stream);
    cudaGetLastError(); // the caller's own calls shall not report what was reported here
    pthread_mutex_destroy(&p->lock);
    motus_free(p);
}

void wait_block(const Block *block, void *stream) {
    MotusOnDevice on(block->device);
    cudaStreamSynchronize((cudaStream_t)stream);
    cudaGetLastError();
}

void free_block(Block *b, void *stream) {
    MotusOnDevice on(b->device);
    cudaEventRecord((cudaEvent_t)b->unused, (cudaStream_t)stream);
    cudaGetLastError(); // there is nobody to tell
    let_go(b->pool, b);
}

MotusStatus new_block(Block **block, MotusPacketPool *p, size_t size, MotusError *error) {
    Block *b = *block = (Block *)motus_alloc(1, sizeof *b);
    if (!b) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    b->device = p->device, b->pool = p;
    b->wait = wait_block, b->free = free_block;
    b->room = (size + size / 4 + UNIT - 1) / UNIT * UNIT;
    MotusStatus status = motus_cuda_check(
        cudaEventCreateWithFlags((cudaEvent_t *)&b->unused, cudaEventDisableTiming), "event",
        error);
    return status ? status
                  : motus_cuda_check(cudaMalloc((void **)&b->data, b->room), "packet", error);
}

} // namespace

extern "C" MotusStatus motus_packet_pool_open(MotusPacketPool **pool, int device,
                                              MotusError *error) {
    MotusOnDevice on(device);
    *pool = NULL;
    MotusPacketPool *p = (MotusPacketPool *)motus_alloc(1, sizeof *p);
    if (!p || pthread_mutex_init(&p->lock, NULL)) {
        motus_free(p);
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    }
    p->device = device;
    p->owners = 1;
    *pool = p;
    MotusStatus status = motus_cuda_check(
        cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking), "stream", error);
    if (status) motus_packet_pool_close(pool);
    return status;
}

extern "C" void motus_packet_pool_close(MotusPacketPool **pool) {
    if (!*pool) return;
    MotusOnDevice on((*pool)->device);
    let_go(*pool, NULL);
    *pool = NULL;
}

extern "C" MotusStatus motus_packet_pool_put(MotusPacketPool *p, const MotusPacketPiece *piece,
                                             int n, MotusPacketBlock **block, MotusError *error) {
    MotusOnDevice on(p->device);
    size_t size = 0, at = 0;
    for (int i = 0; i < n; i++) size += piece[i].size;
    pthread_mutex_lock(&p->lock);
    Block **fits = &p->list; // the first one that has the room
    while (*fits && (*fits)->room < size) fits = &(*fits)->next;
    Block *b = *fits;
    if (b) *fits = b->next;
    p->owners++;
    pthread_mutex_unlock(&p->lock);
    MotusStatus status =
        b ? motus_cuda_check(cudaStreamWaitEvent(p->stream, (cudaEvent_t)b->unused, 0), "wait",
                             error)
          : new_block(&b, p, size, error);
    for (int i = 0; i < n && !status; at += piece[i++].size)
        if (piece[i].size)
            status = motus_cuda_check(cudaMemcpyAsync(b->data + at, piece[i].data, piece[i].size,
                                                      cudaMemcpyDefault, p->stream),
                                      "packet", error);
    if (!status) status = motus_cuda_check(cudaStreamSynchronize(p->stream), "packet", error);
    *block = status ? NULL : b;
    if (!status) return MOTUS_OK;
    if (b) drop_block(b);
    let_go(p, NULL);
    return status;
}
