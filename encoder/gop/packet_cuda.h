// Packets whose bytes stay on a CUDA device: blocks of its memory that live on after the encoder. A
// lane has a pool of them, which grows until as many are there as are in use at the same time, and
// then allocates nothing more.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_PACKET_CUDA_H
#define ENCODER_GOP_PACKET_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusPacketPool MotusPacketPool;

// MOTUS_ERR_CUDA, MOTUS_ERR_MEMORY.
MotusStatus motus_packet_pool_open(MotusPacketPool **pool, int device, MotusError *error);
void motus_packet_pool_close(MotusPacketPool **pool); // accepts *pool == NULL; the pool goes with
                                                      // the last block that is in use

// Of a packet's bytes, in host memory or in the device's; 0 bytes are left out.
typedef struct MotusPacketPiece {
    const void *data;
    size_t size;
} MotusPacketPiece;

typedef struct MotusPacketBlock {
    uint8_t *data;
    int device; // CUDA's number
    MotusPacketPool *pool;
} MotusPacketBlock;

// Makes a block of n pieces; it is complete when the call returns. One thread at a time.
// MOTUS_ERR_CUDA, MOTUS_ERR_MEMORY.
MotusStatus motus_packet_pool_put(MotusPacketPool *pool, const MotusPacketPiece *piece, int n,
                                  MotusPacketBlock **block, MotusError *error);

// Waits for `stream`, a cudaStream_t of the block's device.
void motus_packet_block_wait(const MotusPacketBlock *block, void *stream);

// Gives a block back in the order of `stream`. From any thread, also after the pool has been
// closed.
void motus_packet_block_free(MotusPacketBlock *block, void *stream);

#ifdef __cplusplus
}
#endif
#endif
