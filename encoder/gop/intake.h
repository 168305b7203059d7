// Frames and images on their way in: padded to whole MBs in host memory, and images made frames.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_INTAKE_H
#define ENCODER_GOP_INTAKE_H

#include "motus/image.h"
#include "yuv/frame_pool.h"
#include "yuv/frame_source.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusIntakeCuda MotusIntakeCuda;

typedef struct MotusIntake {
    int width, height;     // visible, even
    MotusFramePool pool;   // of whole MBs
    MotusIntakeCuda *cuda; // NULL until a frame comes from a device
} MotusIntake;

// Copies a frame of the visible size, which is the caller's again on return. *whole gets it padded
// to whole MBs in host memory, *visible the same samples at the visible size. Both are references
// for the caller, and NULL on failure.
MotusStatus motus_intake_take(MotusIntake *intake, const MotusFrameSource *source,
                              MotusFrame **whole, MotusFrame **visible, MotusError *error);

// Downloads a frame from a device, padded as by motus_frame_copy_padded. *intake is opened for
// whole->width x height when it is NULL. MOTUS_ERR_ARGUMENT: memory that no device reads.
MotusStatus motus_intake_cuda_take(MotusIntakeCuda **intake, const MotusFrameSource *source,
                                   MotusFrame *whole, MotusError *error);
void motus_intake_cuda_close(MotusIntakeCuda **intake); // accepts NULL inside

// ---- Images -------------------------------------------------------------------------------------

typedef struct MotusImageCuda MotusImageCuda;

// The current image as a frame, until the next image.
typedef struct MotusImageIntake {
    MotusFrame view;      // of an image that is a frame already
    MotusFrame *host;     // NULL until an image is converted on the host
    MotusImageCuda *cuda; // NULL until an image comes from a device
} MotusImageIntake;

// Makes a frame of an image of the stream's size. MOTUS_ERR_ARGUMENT: RGB, and `colour` has no
// matrix for it.
MotusStatus motus_image_intake_take(MotusImageIntake *intake, const MotusImage *image,
                                    const MotusColour *colour, const MotusFrame **frame,
                                    MotusError *error);

// Finds the device that the image lies on, or the current one if each reads it.
// MOTUS_ERR_ARGUMENT: memory that no device reads, or on several devices.
MotusStatus motus_image_cuda_locate(const MotusImage *image, int *device, MotusError *error);

// Makes a frame of an image on `device`, there, in the order of `stream` (a cudaStream_t). The
// frame may be read on that stream until motus_image_cuda_read() says that all readers have been
// put there.
MotusStatus motus_image_cuda_take(MotusImageCuda **intake, const MotusImage *image, int device,
                                  const MotusColour *colour, void *stream, const MotusFrame **frame,
                                  MotusError *error);
MotusStatus motus_image_cuda_read(MotusImageCuda *intake, void *stream, MotusError *error);
void motus_image_cuda_close(MotusImageCuda **intake); // accepts NULL inside

#ifdef __cplusplus
}
#endif
#endif
