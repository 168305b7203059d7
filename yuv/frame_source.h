// A frame with the place of its samples: host memory, or memory of a CUDA device together with the
// stream that writes them. An image on a device becomes 4:2:0 where the frame is stored.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_FRAME_SOURCE_H
#define YUV_FRAME_SOURCE_H

#include "motus/frame.h"
#include "motus/image.h"

typedef struct MotusFrameSource {
    const MotusFrame *frame; // not owned; NULL: the image
    int on_device;           // 1: the planes point to device memory; 0: to host memory
    void *stream;            // cudaStream_t that writes the samples; unused if on_device is 0
    const MotusImage *image; // not owned; of the stream's size, on the device that stores the frame
    const MotusColour *colour;
} MotusFrameSource;

#endif
