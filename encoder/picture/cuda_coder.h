// A lane: the whole way of a picture on a CUDA device, from the frame to the NAL unit, on a stream
// and in buffers of its own. Pictures of a lane refer to one another; lanes do not.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_CUDA_CODER_H
#define ENCODER_PICTURE_CUDA_CODER_H

#include "encoder/mb/mb.h"
#include "encoder/picture/frame_slots.h"
#include "encoder/settings/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MOTUS_CODER_DEPTH = 2
}; // pictures of a lane that may be on the device at the same time, one behind the other

typedef struct MotusCudaCoder MotusCudaCoder;

// Device memory of a lane and of the room that it brings for `slots` frames, bytes; and what there
// is of it on the device that is not in use.
size_t motus_cuda_coder_bytes(const MotusStream *stream, int slots);
size_t motus_cuda_coder_free_bytes(int device);

// Opens a lane, number `index` of the device of `transfer`, which has to stay. MOTUS_ERR_CUDA,
// _MEMORY with CUDA's words in *error; _UNSUPPORTED with slice_max_size.
MotusStatus motus_cuda_coder_open(MotusCudaCoder **lane, const MotusStream *stream,
                                  const MotusCopyStreams *transfer, int index, MotusError *error);
void motus_cuda_coder_close(MotusCudaCoder **lane); // accepts NULL inside

// Puts the picture in `slot` on its way and returns. at_work: lanes of the device that have
// pictures to code, with this one. rec, where not NULL, is a frame of whole MBs in host memory that
// gets the deblocked reconstruction; field, where not NULL, gets the picture's field, if it is a P
// picture, before the call returns (as packet.h wants it laid out). At most MOTUS_CODER_DEPTH
// pictures may have begun and not finished. After a failure the lane can only be closed, and
// nothing of it runs any more.
MotusStatus motus_cuda_coder_begin(MotusCudaCoder *lane, const MotusFrameSlot *slot,
                                   const MotusPictureParams *place, int at_work, MotusFrame *rec,
                                   MotusField *field, MotusError *error);

// Takes back the picture that was finished last, with none begun after it, so that it may begin
// again at another QP.
void motus_cuda_coder_undo(MotusCudaCoder *lane);

// What came out. Pointers are good until the second next motus_cuda_coder_begin.
typedef struct MotusCodedPicture {
    const uint8_t *nal;        // NULL where packets stay on the device
    const uint8_t *device_nal; // the same, on the device
    size_t size;
    MotusPictureStats stats;      // without bits_header
    const MotusMb *mb;            // NULL where no reconstruction was asked for
    float stage_us[MOTUS_STAGES]; // where stages are timed
} MotusCodedPicture;

// Waits, with little use of a processor, for the picture that began first.
MotusStatus motus_cuda_coder_finish(MotusCudaCoder *lane, MotusCodedPicture *picture,
                                    MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
