// How frames come in: filled up to whole MBs by repeating the last column and row, from host memory or from a CUDA device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTAKE_H
#define ENCODER_INTAKE_H

#include "motus/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusIntakeCuda MotusIntakeCuda;

typedef struct MotusIntake {
    int width, height;      // visible
    int threads;            // of copies
    int pinned;             // host memory is to be pinned where there is such memory
    MotusFrame *whole;      // the frame in whole MBs, host memory
    MotusFrame *visible;    // the same samples at the visible size
    MotusPlane device_luma; // of `whole`, in device memory; data NULL where the frame did not come from there
    MotusIntakeCuda *cuda;  // NULL until a frame came from a device
} MotusIntake;

// A frame in pinned memory, rows aligned as motus_frame_alloc aligns them; in ordinary memory, only slower, where there is no more of that.
MotusStatus motus_frame_alloc_pinned(MotusFrame **frame, int width, int height);

MotusStatus motus_intake_open(MotusIntake *intake, int width, int height, int threads, int pinned);
void motus_intake_close(MotusIntake *intake); // accepts a zeroed one

// Take in a frame of the visible size, which is not needed any more afterwards. `visible` and `whole` are then good until the next call; whoever
// refers to one of them keeps it.
MotusStatus motus_intake_host(MotusIntake *intake, const MotusFrame *frame);
MotusStatus motus_intake_device(MotusIntake *intake, const MotusFrame *frame, void *stream, MotusError *error);

// ---- Frames in CUDA device memory (intake_cuda.cu): filled up there, for the search, and brought to host memory once, for the other stages -----------

// MOTUS_ERR_ARGUMENT: a plane of `frame` is in memory that no device can read.
MotusStatus motus_intake_cuda_check(const MotusFrame *frame, MotusError *error);

// width and height: multiples of 16. On failure *error gets CUDA's own words, here and below.
MotusStatus motus_intake_cuda_open(MotusIntakeCuda **intake, int width, int height, MotusError *error);

// Fills `frame` (device memory, any strides and alignment, made on the cudaStream_t `stream`) up on that stream as motus_frame_copy_padded would, and
// copies the result to `whole` (host memory), which is complete on return. *luma is the filled-up luma plane on the device, ready, rows at multiples
// of 16 bytes; it stays until the next call. MOTUS_ERR_ARGUMENT: memory that no device can read.
MotusStatus motus_intake_cuda_take(MotusIntakeCuda *intake, const MotusFrame *frame, void *stream, MotusFrame *whole,
                                   MotusPlane *luma, MotusError *error);
void motus_intake_cuda_close(MotusIntakeCuda **intake); // accepts NULL inside

#ifdef __cplusplus
}
#endif
#endif
