// How frames come in: filled up to whole MBs by repeating the last column and row, from host memory
// or from a CUDA device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_INTAKE_H
#define ENCODER_GOP_INTAKE_H

#include "motus/image.h"
#include "yuv/frame_pool.h"

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

// Take in a frame of the visible size, which is not needed any more afterwards: *whole is a copy in
// whole MBs, in host memory, *visible the same samples at the visible size; both are the caller's
// references. On failure both are NULL.
MotusStatus motus_intake_host(MotusIntake *intake, const MotusFrame *frame, MotusFrame **whole,
                              MotusFrame **visible);
MotusStatus motus_intake_device(MotusIntake *intake, const MotusFrame *frame, void *stream,
                                MotusFrame **whole, MotusFrame **visible, MotusError *error);

// ---- Images, which become frames first ----------------------------------------------------------

typedef struct MotusImageCuda MotusImageCuda;

// Where the image at hand is a frame, until the next one.
typedef struct MotusIntakeImage {
    MotusFrame view;      // of an image that is a frame already
    MotusFrame *host;     // NULL until an image had to be converted on the host
    MotusImageCuda *cuda; // NULL until one came from a device
} MotusIntakeImage;

// image: usable, and of the frame's size. MOTUS_ERR_ARGUMENT: RGB, and `colour` has no matrix for
// it.
MotusStatus motus_intake_image(MotusIntakeImage *intake, const MotusImage *image,
                               const MotusColour *colour, const MotusFrame **frame,
                               MotusError *error);
void motus_intake_image_close(MotusIntakeImage *intake); // accepts a zeroed one

// In device memory, on `stream`: *frame may be read on that stream until motus_image_cuda_read says
// that all readers have been put there.
MotusStatus motus_image_cuda(MotusImageCuda **room, const MotusImage *image,
                             const MotusColour *colour, void *stream, const MotusFrame **frame,
                             MotusError *error);
MotusStatus motus_image_cuda_read(MotusImageCuda *room, void *stream, MotusError *error);
void motus_image_cuda_close(MotusImageCuda **room); // accepts NULL inside

// ---- Frames in CUDA device memory (intake_cuda.cu): filled up there and brought to host memory --

// width and height: multiples of 16.
MotusStatus motus_intake_cuda_open(MotusIntakeCuda **intake, int width, int height,
                                   MotusError *error);

// Fills `frame` (device memory, any strides and alignment, made on the cudaStream_t `stream` of its
// device) up on that stream as motus_frame_copy_padded would, and copies the result to `whole`
// (host memory), which is complete on return. MOTUS_ERR_ARGUMENT: memory that no device can read.
MotusStatus motus_intake_cuda_take(MotusIntakeCuda *intake, const MotusFrame *frame, void *stream,
                                   MotusFrame *whole, MotusError *error);
void motus_intake_cuda_close(MotusIntakeCuda **intake); // accepts NULL inside

#ifdef __cplusplus
}
#endif
#endif
