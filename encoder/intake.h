// How frames come in: filled up to whole MBs by repeating the last column and row, from host memory or from a CUDA device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTAKE_H
#define ENCODER_INTAKE_H

#include "encoder/frame_pool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusIntakeCuda MotusIntakeCuda;

typedef struct MotusIntake {
    int width, height; // visible
    MotusFramePool pool;
    MotusIntakeCuda *cuda; // NULL until a frame came from a device
} MotusIntake;

// width and height: visible, even. pinned: memory is to be pinned where there is such memory.
void motus_intake_open(MotusIntake *intake, int width, int height, int pinned);
void motus_intake_close(MotusIntake *intake); // accepts a zeroed one

// Take in a frame of the visible size, which is not needed any more afterwards: *whole is a copy in whole MBs, in host memory, *visible the same samples at
// the visible size; both are the caller's references. On failure both are NULL.
MotusStatus motus_intake_host(MotusIntake *intake, const MotusFrame *frame, MotusFrame **whole, MotusFrame **visible);
MotusStatus motus_intake_device(MotusIntake *intake, const MotusFrame *frame, void *stream, MotusFrame **whole,
                                MotusFrame **visible, MotusError *error);

// ---- Frames in CUDA device memory (intake_cuda.cu): filled up there and brought to host memory ---------------------------------------------------

// Which device the frame lies on; *device stays as it is where that does not matter (memory that every device reads). MOTUS_ERR_ARGUMENT: a plane of `frame` is in
// memory that no device can read, or planes are on different devices.
MotusStatus motus_intake_cuda_device(const MotusFrame *frame, int *device, MotusError *error);

// width and height: multiples of 16. On failure *error gets CUDA's own words, here and below.
MotusStatus motus_intake_cuda_open(MotusIntakeCuda **intake, int width, int height, MotusError *error);

// Fills `frame` (device memory, any strides and alignment, made on the cudaStream_t `stream` of its device) up on that stream as motus_frame_copy_padded would, and
// copies the result to `whole` (host memory), which is complete on return. MOTUS_ERR_ARGUMENT: memory that no device can read.
MotusStatus motus_intake_cuda_take(MotusIntakeCuda *intake, const MotusFrame *frame, void *stream, MotusFrame *whole,
                                   MotusError *error);
void motus_intake_cuda_close(MotusIntakeCuda **intake); // accepts NULL inside

#ifdef __cplusplus
}
#endif
#endif
