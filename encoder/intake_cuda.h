// Frames that lie in CUDA device memory: filled up to whole MBs there, for the search, and brought to host memory once, for the other stages.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTAKE_CUDA_H
#define ENCODER_INTAKE_CUDA_H

#include "motus/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusIntakeCuda MotusIntakeCuda;

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
