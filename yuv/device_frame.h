// Frames in CUDA device memory: the device they lie on, their layout in a block, and copies to
// them. For .cu files. Functions that take `error` leave CUDA's own text in it on failure.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_DEVICE_FRAME_H
#define YUV_DEVICE_FRAME_H

#include "motus/frame.h"

// Finds the device that the frame's planes lie on. Leaves *device as it is if every device reads
// them (pinned host memory). MOTUS_ERR_ARGUMENT: a plane is in ordinary host memory, or planes lie
// on different devices.
MotusStatus motus_device_frame_locate(const MotusFrame *frame, int *device, MotusError *error);

// Lays out the planes of mb_width x mb_height MBs in a block of device memory, from byte *end on,
// and moves *end behind them. Strides are multiples of 64; 64 bytes follow each plane, because the
// search reads whole words beyond the last sample. With base NULL only *end counts.
void motus_device_frame_layout(MotusPlane plane[3], int mb_width, int mb_height, uint8_t *base,
                               size_t *end);

// Copies n planes of the frame, from `first` on, from host memory on the cudaStream_t `stream`.
// Returns immediately: the frame must not change until the stream has passed the copy.
MotusStatus motus_device_frame_upload(const MotusPlane to[3], const MotusFrame *frame, int first,
                                      int n, void *stream, MotusError *error);

// Copies n planes from device to device on the cudaStream_t `stream` of from_device. Blocks until
// they are complete.
MotusStatus motus_device_frame_copy_peer(const MotusPlane *to, int to_device,
                                         const MotusPlane *from, int from_device, int n,
                                         void *stream, MotusError *error);

#endif
