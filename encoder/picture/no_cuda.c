// Stands in for encoder/*.cu in a build without the CUDA backend: nothing here works, and
// motus_device_check says so.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/device.h"
#include "encoder/gop/intake.h"
#include "encoder/gop/packet_cuda.h"
#include "encoder/picture/cuda_coder.h"

// ---- frames -------------------------------------------------------------------------------------

MotusStatus motus_intake_cuda_open(MotusIntakeCuda **intake, int width, int height,
                                   MotusError *error) {
    (void)width, (void)height;
    *intake = NULL;
    return motus_device_check(error);
}

MotusStatus motus_intake_cuda_take(MotusIntakeCuda *intake, const MotusFrame *frame, void *stream,
                                   MotusFrame *whole, MotusError *error) {
    (void)intake, (void)frame, (void)stream, (void)whole;
    return motus_device_check(error);
}

void motus_intake_cuda_close(MotusIntakeCuda **intake) { (void)intake; }

MotusStatus motus_image_cuda(MotusImageCuda **room, const MotusImage *image,
                             const MotusColour *colour, void *stream, const MotusFrame **frame,
                             MotusError *error) {
    (void)room, (void)image, (void)colour, (void)stream, (void)frame;
    return motus_device_check(error);
}

MotusStatus motus_image_cuda_read(MotusImageCuda *room, void *stream, MotusError *error) {
    (void)room, (void)stream;
    return motus_device_check(error);
}

void motus_image_cuda_close(MotusImageCuda **room) { (void)room; }

// ---- lanes --------------------------------------------------------------------------------------

size_t motus_cuda_coder_bytes(const MotusStream *stream, int slots) {
    (void)stream, (void)slots;
    return 0;
}

size_t motus_cuda_coder_free_bytes(int device) {
    (void)device;
    return 0;
}

MotusStatus motus_cuda_coder_open(MotusCudaCoder **lane, const MotusStream *stream,
                                  const MotusCopyStreams *transfer, int index, MotusError *error) {
    (void)stream, (void)transfer, (void)index;
    *lane = NULL;
    return motus_device_check(error);
}

void motus_cuda_coder_close(MotusCudaCoder **lane) { (void)lane; }

MotusStatus motus_copy_streams_open(MotusCopyStreams **transfer, int device, MotusError *error) {
    (void)device;
    *transfer = NULL;
    return motus_device_check(error);
}

void motus_copy_streams_close(MotusCopyStreams **transfer) { (void)transfer; }

MotusStatus motus_frame_slots_open(MotusFrameSlots **room, const MotusStream *stream,
                                   const MotusCopyStreams *transfer, int n, MotusFrameSlot **slots,
                                   MotusError *error) {
    (void)stream, (void)transfer, (void)n;
    *room = NULL;
    *slots = NULL;
    return motus_device_check(error);
}

void motus_frame_slots_close(MotusFrameSlots **room) { (void)room; }

MotusStatus motus_frame_slots_take(MotusFrameSlot *slot, const MotusFrame *frame, int on_device,
                                   void *made_on, MotusError *error) {
    (void)slot, (void)frame, (void)on_device, (void)made_on;
    return motus_device_check(error);
}

MotusStatus motus_frame_slots_taken(const MotusFrameSlot *slot, MotusError *error) {
    (void)slot;
    return motus_device_check(error);
}

MotusStatus motus_cuda_coder_begin(MotusCudaCoder *lane, const MotusFrameSlot *slot,
                                   const MotusPictureParams *place, int at_work, MotusFrame *rec,
                                   MotusField *field, MotusError *error) {
    (void)lane, (void)slot, (void)place, (void)at_work, (void)rec, (void)field;
    return motus_device_check(error);
}

void motus_cuda_coder_undo(MotusCudaCoder *lane) { (void)lane; }

MotusStatus motus_cuda_coder_finish(MotusCudaCoder *lane, MotusCodedPicture *picture,
                                    MotusError *error) {
    (void)lane, (void)picture;
    return motus_device_check(error);
}

// ---- packets ------------------------------------------------------------------------------------

MotusStatus motus_packet_pool_open(MotusPacketPool **pool, int device, MotusError *error) {
    (void)pool, (void)device;
    return motus_device_check(error);
}

void motus_packet_pool_close(MotusPacketPool **pool) { (void)pool; }

MotusStatus motus_packet_pool_put(MotusPacketPool *pool, const MotusPacketPiece *piece, int n,
                                  MotusPacketBlock **block, MotusError *error) {
    (void)pool, (void)piece, (void)n, (void)block;
    return motus_device_check(error);
}

void motus_packet_block_wait(const MotusPacketBlock *block, void *stream) {
    (void)block, (void)stream;
}

void motus_packet_block_free(MotusPacketBlock *block, void *stream) { (void)block, (void)stream; }
