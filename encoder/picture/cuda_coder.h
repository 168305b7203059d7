// Codes pictures on a CUDA device, from a frame slot to the NAL units, with streams, buffers and
// reference pictures of its own.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_CUDA_CODER_H
#define ENCODER_PICTURE_CUDA_CODER_H

#include "encoder/mb/mb.h"
#include "encoder/picture/executor.h"
#include "encoder/picture/frame_slots.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MOTUS_CODER_DEPTH = 8 }; // pictures of a coder on the device at once, at most

typedef struct MotusCudaCoder MotusCudaCoder;

// Returns how many pictures of a coder may be between begin() and wait(). coders: GOP coders of the
// device.
int motus_cuda_coder_depth(const MotusStream *stream, int coders);

// Returns the device memory of a coder with its frame slots, and the free memory of a device.
size_t motus_cuda_coder_bytes(const MotusStream *stream, int slots, int coders);
size_t motus_cuda_coder_free_bytes(int device);

// Opens coder number `index` of the device of `copies`, which has to outlive it. MOTUS_ERR_CUDA,
// _MEMORY; _UNSUPPORTED with slice_max_size.
MotusStatus motus_cuda_coder_open(MotusCudaCoder **coder, const MotusStream *stream,
                                  const MotusCopyStreams *copies, int index, int coders,
                                  MotusError *error);
void motus_cuda_coder_close(MotusCudaCoder **coder); // accepts NULL inside

// Begins the picture in `slot` and returns immediately. coders: open GOP coders of the device.
// rec: NULL, or a frame of whole MBs that gets the deblocked reconstruction. field: NULL, or gets
// the motion field of a P picture before the call returns. At most motus_cuda_coder_depth()
// pictures may be between begin() and wait(). After a failure the coder can only be closed.
MotusStatus motus_cuda_coder_begin(MotusCudaCoder *coder, const MotusFrameSlot *slot,
                                   const MotusPictureParams *params, int coders, MotusFrame *rec,
                                   MotusField *field, MotusError *error);

// Takes back the picture that wait() returned last, with none begun after it.
void motus_cuda_coder_undo(MotusCudaCoder *coder);

// Results of a picture; pointers stay valid until the next begin() but one.
typedef struct MotusCudaPicture {
    const uint8_t *nal;        // NULL if packets stay on the device
    const uint8_t *device_nal; // the same, on the device
    size_t size;
    MotusPictureStats stats;      // without bits_header
    const MotusMb *mb;            // NULL without a reconstruction
    float stage_us[MOTUS_STAGES]; // with config.time_stages
} MotusCudaPicture;

// Blocks until the oldest picture is coded, with little use of a processor.
MotusStatus motus_cuda_coder_wait(MotusCudaCoder *coder, MotusCudaPicture *picture,
                                  MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
