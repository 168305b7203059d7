// The CUDA executor's functions (MotusExecutorOps): `copies` is a MotusCopyStreams, which the
// coders and slots of a device share, `slots` a MotusFrameSlots, `coder` a MotusCudaCoder.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_CUDA_EXECUTOR_H
#define ENCODER_PICTURE_CUDA_EXECUTOR_H

#include "encoder/picture/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Frame slots: the source frames of pending pictures -----------------------------------------

// A process has few hardware queues on a device (8, or CUDA_DEVICE_MAX_CONNECTIONS). Each takes
// some 15 ms to open, and streams that share one wait for each other: so coders share these two.
typedef struct MotusCopyStreams {
    int device;
    void *up;   // cudaStream_t of the highest priority, for frames: their sender waits for them
    void *down; // cudaStream_t, for the rest of NAL units that are longer than expected
} MotusCopyStreams;

// `copies` is a MotusCopyStreams. MOTUS_ERR_CUDA, _MEMORY: nothing is left open then.
MotusStatus motus_copy_streams_open(void **copies, int device, MotusError *error);
void motus_copy_streams_close(void **copies); // after its users; accepts NULL inside

size_t motus_frame_slots_bytes(const MotusStream *stream, int n); // of device memory

// Opens memory of n slots on the device of `copies`, which has to outlive it. `slots` is a
// MotusFrameSlots. MOTUS_ERR_CUDA, _MEMORY: nothing is left open then.
MotusStatus motus_frame_slots_open(void **slots, const MotusStream *stream, void *copies,
                                   MotusFrameSlot *slot, int n, MotusError *error);
void motus_frame_slots_close(void **slots); // accepts NULL inside

// Puts a frame of the visible size into a free slot, padded to whole MBs. A frame in host memory
// may be read until motus_frame_slot_wait() returns; one on the slot's device is read in the order
// of its stream; one on another device is copied before the call returns. After a failure nothing
// reads the frame. One thread at a time.
MotusStatus motus_frame_slot_fill(MotusFrameSlot *slot, const MotusFrameSource *source,
                                  MotusError *error);

// Blocks until the frame that came last from host memory has been read.
MotusStatus motus_frame_slot_wait(const MotusFrameSlot *slot, MotusError *error);

// Copies the statistics of the frame in a job's slot; blocks until they are in host memory.
MotusStatus motus_frame_slot_measure(const MotusPictureJob *job, MotusSourceStats *stats,
                                     MotusError *error);

// ---- Packet pool --------------------------------------------------------------------------------

// Blocks of device memory for packets that stay there. They live on after the encoder. Each coder
// has a pool, which grows to the number of blocks that are in use at once and then allocates no
// more.
typedef struct MotusPacketPool MotusPacketPool;

// MOTUS_ERR_CUDA, MOTUS_ERR_MEMORY.
MotusStatus motus_packet_pool_open(MotusPacketPool **pool, int device, MotusError *error);

// Accepts NULL inside. The pool lives on until its last block is freed.
void motus_packet_pool_close(MotusPacketPool **pool);

// Joins n pieces in a block, which is complete on return. One thread at a time. MOTUS_ERR_CUDA,
// MOTUS_ERR_MEMORY.
MotusStatus motus_packet_pool_put(MotusPacketPool *pool, const MotusPacketPiece *piece, int n,
                                  MotusPacketBlock **block, MotusError *error);

// ---- Coders -------------------------------------------------------------------------------------

int motus_cuda_coder_depth(const MotusStream *stream, int coders);
size_t motus_cuda_coder_bytes(const MotusStream *stream, int slots, int coders);
int motus_cuda_coder_best(const MotusStream *stream, const int *device, int n_devices, int threads,
                          int slots);

// The device of `shared` (MotusCopyStreams) has to outlive it. MOTUS_ERR_CUDA, _MEMORY;
// _UNSUPPORTED with slice_max_size.
MotusStatus motus_cuda_coder_open(void **coder, const MotusStream *stream, void *shared, int index,
                                  int coders, int threads, MotusError *error);
void motus_cuda_coder_close(void **coder); // accepts NULL inside

// After a failure the coder can only be closed.
MotusStatus motus_cuda_coder_begin(void *coder, const MotusPictureJob *job, MotusError *error);
// Blocks with little use of a processor.
MotusStatus motus_cuda_coder_wait(void *coder, size_t *size, MotusError *error);
MotusStatus motus_cuda_coder_finish(void *coder, MotusCodedPicture *coded, MotusError *error);
MotusStatus motus_cuda_coder_store(void *coder, const MotusPacketPiece *piece, int n,
                                   MotusPacketBlock **block, MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
