// Packets whose bytes stay on a CUDA device: blocks of its memory that live on after the encoder. A lane has a pool, from which blocks come without an allocation
// as soon as packets before have gone.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PACKET_CUDA_H
#define ENCODER_PACKET_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusPacketPool MotusPacketPool;

// MOTUS_ERR_CUDA, MOTUS_ERR_MEMORY; MOTUS_ERR_UNSUPPORTED: the device has no memory pools.
MotusStatus motus_packet_pool_open(MotusPacketPool **pool, int device, MotusError *error);
void motus_packet_pool_close(MotusPacketPool **pool); // accepts *pool == NULL; the pool goes with its last block

// Of a packet's bytes, in host memory or in the device's; 0 bytes are left out.
typedef struct MotusPacketPiece {
    const void *data;
    size_t size;
} MotusPacketPiece;

// Makes a block of n pieces; it is complete when the call returns. One thread at a time.
MotusStatus motus_packet_pool_put(MotusPacketPool *pool, const MotusPacketPiece *piece, int n, uint8_t **data, int *device,
                                  MotusError *error);

// Waits for `stream`, a cudaStream_t of the device.
void motus_packet_pool_wait(const MotusPacketPool *pool, void *stream);

// Gives a block back in the order of `stream`. From any thread, also after the pool has been closed.
void motus_packet_pool_free(MotusPacketPool *pool, uint8_t *data, void *stream);

#ifdef __cplusplus
}
#endif
#endif
