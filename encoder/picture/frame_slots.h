// The source frames of pending pictures on a CUDA device, and the copy streams that the coders of
// a device share. Each coder brings some slots; all coders of its device use them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_FRAME_SLOTS_H
#define ENCODER_PICTURE_FRAME_SLOTS_H

#include "encoder/picture/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

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

// Copies the statistics of the frame that came last; blocks until they are in host memory.
MotusStatus motus_frame_slot_stats(const MotusFrameSlot *slot, MotusSourceStats *stats,
                                   MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
