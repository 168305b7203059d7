// A ring of slots on a CUDA device: memory and events of the pictures in flight, allocated once.
// The user decides what runs on which stream, and when a slot is free again. For .cu files.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_SLOTS_H
#define COMMON_SLOTS_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#include "motus/status.h"

enum { MOTUS_MAX_SLOTS = 16, MOTUS_MAX_STREAMS = 4 };

typedef struct MotusSlot {
    uint8_t *device;      // a block of device memory, cleared
    uint8_t *host;        // a block of pinned memory; NULL: none
    cudaEvent_t uploaded; // the input is in place
    cudaEvent_t worked;   // the job has read it and written its result on the device
    cudaEvent_t done;     // the result is complete where the caller wants it
} MotusSlot;

typedef struct MotusSlots {
    int n, n_streams;
    cudaStream_t stream[MOTUS_MAX_STREAMS]; // none waits for the default stream
    MotusSlot slot[MOTUS_MAX_SLOTS];
    int64_t submitted, taken; // pictures so far; picture i is in slot i % n
} MotusSlots;

// Opens n slots (1..MOTUS_MAX_SLOTS) and n_streams streams (1..MOTUS_MAX_STREAMS). host_bytes 0: no
// pinned blocks. MOTUS_ERR_CUDA (error, may be NULL, gets CUDA's own text): nothing is left open.
MotusStatus motus_slots_open(MotusSlots *ring, int n, int n_streams, size_t device_bytes,
                             size_t host_bytes, MotusError *error);

// Blocks until the streams are idle and frees everything; accepts a zeroed ring.
void motus_slots_close(MotusSlots *ring);

static inline MotusSlot *motus_slot(MotusSlots *ring, int64_t picture) {
    return &ring->slot[picture % ring->n];
}
// Returns the number of pictures submitted and not taken.
static inline int motus_slots_pending(const MotusSlots *ring) {
    return (int)(ring->submitted - ring->taken);
}

// Reserves `bytes` of a block behind its first *end bytes. Returns the offset, a multiple of 256.
static inline size_t motus_slot_reserve(size_t *end, size_t bytes) {
    size_t at = *end;
    *end += (bytes + 255) & ~(size_t)255;
    return at;
}

#endif
