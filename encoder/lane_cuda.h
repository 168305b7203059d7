// A lane: the whole way of a picture on a CUDA device, from the frame to the NAL unit, on a stream and in buffers of its own. Pictures of a lane refer to one
// another; lanes do not. One thread takes frames in, another codes them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LANE_CUDA_H
#define ENCODER_LANE_CUDA_H

#include "encoder/mb.h"
#include "encoder/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MOTUS_LANE_BEGUN = 2 }; // pictures of a lane that may be on the device at the same time, one behind the other

typedef struct MotusLaneCuda MotusLaneCuda;

// Device memory of a lane with `slots` frames that wait, bytes; and what there is of it on the device that is not in use.
size_t motus_lane_cuda_bytes(const MotusStream *stream, int slots);
size_t motus_lane_cuda_free_bytes(int device);

// Opens a lane on that device; `lanes`: how many will use it. MOTUS_ERR_CUDA, _MEMORY with CUDA's words in *error; _UNSUPPORTED with slice_max_size.
MotusStatus motus_lane_cuda_open(MotusLaneCuda **lane, const MotusStream *stream, int device, int slots, int lanes,
                                 MotusError *error);
void motus_lane_cuda_close(MotusLaneCuda **lane); // accepts NULL inside

// Puts a frame of the visible size into a slot whose picture before is finished: one in host memory, which may still be read until motus_lane_cuda_taken has
// returned, or one made on `made_on`, which is read there if it lies on the lane's device, and else copied over before the call returns. After a failure nothing
// reads the frame.
MotusStatus motus_lane_cuda_take(MotusLaneCuda *lane, int slot, const MotusFrame *frame, int on_device, void *made_on,
                                 MotusError *error);

// Waits until a frame from host memory has been read. Its picture may have begun meanwhile.
MotusStatus motus_lane_cuda_taken(MotusLaneCuda *lane, int slot, MotusError *error);

// Puts the picture in `slot` on its way and returns. rec, where not NULL, is a frame of whole MBs in host memory that gets the deblocked reconstruction; field,
// where not NULL, gets the picture's field, if it is a P picture, before the call returns (as packet.h wants it laid out). At most
// MOTUS_LANE_BEGUN pictures may have begun and not finished. After a failure the lane can only be closed, and nothing of it runs any more.
MotusStatus motus_lane_cuda_begin(MotusLaneCuda *lane, int slot, const MotusPlace *place, MotusFrame *rec, MotusField *field,
                                  MotusError *error);

// Takes back the picture that was finished last, with none begun after it, so that it may begin again at another QP.
void motus_lane_cuda_undo(MotusLaneCuda *lane);

// What came out. Pointers are good until the second next motus_lane_cuda_begin.
typedef struct MotusLanePicture {
    const uint8_t *nal;        // NULL where packets stay on the device
    const uint8_t *device_nal; // the same, on the device
    size_t size;
    MotusPictureStats stats;      // without bits_header
    const MotusMb *mb;            // NULL where no reconstruction was asked for
    float stage_us[MOTUS_STAGES]; // where stages are timed
} MotusLanePicture;

// Waits, with little use of a processor, for the picture that began first.
MotusStatus motus_lane_cuda_finish(MotusLaneCuda *lane, MotusLanePicture *picture, MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
