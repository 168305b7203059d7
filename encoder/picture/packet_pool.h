// Blocks of device memory for packets that stay there. They live on after the encoder. Each coder
// has a pool, which grows to the number of blocks that are in use at once and then allocates no
// more.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_PACKET_POOL_H
#define ENCODER_PICTURE_PACKET_POOL_H

#include "encoder/picture/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusPacketPool MotusPacketPool;

// MOTUS_ERR_CUDA, MOTUS_ERR_MEMORY.
MotusStatus motus_packet_pool_open(MotusPacketPool **pool, int device, MotusError *error);

// Accepts NULL inside. The pool lives on until its last block is freed.
void motus_packet_pool_close(MotusPacketPool **pool);

// Joins n pieces in a block, which is complete on return. One thread at a time. MOTUS_ERR_CUDA,
// MOTUS_ERR_MEMORY.
MotusStatus motus_packet_pool_put(MotusPacketPool *pool, const MotusPacketPiece *piece, int n,
                                  MotusPacketBlock **block, MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
