// A lane: the whole way of a picture on a CUDA device, from the frame to the NAL unit, on a stream and in buffers of its own. Pictures of a lane refer to one
// another; lanes do not.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LANE_CUDA_H
#define ENCODER_LANE_CUDA_H

#include "encoder/decide.h"
#include "encoder/slice_core.h"
#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusLaneCuda MotusLaneCuda;

typedef struct MotusLaneSettings {
    int width, height;       // visible, luma samples
    int mb_width, mb_height; // whole MBs
    MotusEffort effort;
    MotusInterLimits limits;
    MotusSubpel subpel;
    int centre_limit_y; // of search centres, quarter samples
    int deblock;
    size_t nal_capacity; // bytes of the largest NAL unit
} MotusLaneSettings;

// Opens a lane on the current device. MOTUS_ERR_CUDA, _NO_DEVICE, _MEMORY with CUDA's words in *error.
MotusStatus motus_lane_cuda_open(MotusLaneCuda **lane, const MotusLaneSettings *settings, MotusError *error);
void motus_lane_cuda_close(MotusLaneCuda **lane); // accepts NULL inside

// Device memory of a lane, bytes.
size_t motus_lane_cuda_bytes(const MotusLaneCuda *lane);

// Puts a picture on the lane's way and returns: a frame of the visible size, in host memory (read by the time `taken` is waited for) or made on `stream` of
// the device. One picture at a time: motus_lane_cuda_finish comes before the next.
MotusStatus motus_lane_cuda_begin(MotusLaneCuda *lane, const MotusFrame *frame, int on_device, void *stream,
                                  const MotusSliceHead *head, MotusError *error);

// What came out. Pointers are good until the next motus_lane_cuda_begin.
typedef struct MotusLanePicture {
    const uint8_t *nal;
    size_t size;
    MotusPictureStats stats; // without bits_header
    const MotusMb *mb;       // NULL unless asked for
} MotusLanePicture;

// Waits for the picture. rec, where not NULL, is a frame of whole MBs in host memory that gets the deblocked reconstruction; want_mb: picture->mb as well.
MotusStatus motus_lane_cuda_finish(MotusLaneCuda *lane, MotusFrame *rec, int want_mb, MotusLanePicture *picture,
                                   MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
