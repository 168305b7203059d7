// Room for frames that wait on a CUDA device until they are coded, and how they come there. Each
// lane brings some; all lanes of its device use it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_FRAME_SLOTS_H
#define ENCODER_PICTURE_FRAME_SLOTS_H

#include "encoder/picture/copy_streams.h"
#include "encoder/settings/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusFrameSlots MotusFrameSlots;

// Room for one frame.
typedef struct MotusFrameSlot {
    struct MotusFrameSlot *next; // of those that are free: for whoever deals them out
    MotusFrameSlots *room;       // that it is part of
    MotusPlane src[3];           // whole MBs, on the device
    void *filled;                // cudaEvent_t: the frame is there
} MotusFrameSlot;

size_t motus_frame_slots_bytes(const MotusStream *stream, int slots); // of device memory

// Opens n slots on the device of `transfer`, which has to stay; *slots gets all of them, linked.
// MOTUS_ERR_CUDA, _MEMORY with CUDA's words in *error: nothing is left open then.
MotusStatus motus_frame_slots_open(MotusFrameSlots **room, const MotusStream *stream,
                                   const MotusCopyStreams *transfer, int n, MotusFrameSlot **slots,
                                   MotusError *error);
void motus_frame_slots_close(MotusFrameSlots **room); // when no slot is in use; accepts NULL inside

// Puts a frame of the visible size into a slot whose picture before is finished: one in host
// memory, which may still be read until motus_frame_slots_taken has returned, or one made on
// `made_on`, which is read there if it lies on the slot's device, and else copied over before the
// call returns. After a failure nothing reads the frame. One thread at a time.
MotusStatus motus_frame_slots_take(MotusFrameSlot *slot, const MotusFrame *frame, int on_device,
                                   void *made_on, MotusError *error);

// Waits until a frame from host memory has been read. Its picture may have begun meanwhile.
MotusStatus motus_frame_slots_taken(const MotusFrameSlot *slot, MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
