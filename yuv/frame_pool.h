// Frames of one size that are used again once everybody has let go of them: allocating a large
// frame and touching its pages for the first time costs as much as filling it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_FRAME_POOL_H
#define YUV_FRAME_POOL_H

#include "motus/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MOTUS_POOL_FRAMES = 32 };

typedef struct MotusFramePool {
    int width, height;
    int pinned;                           // memory is to be pinned where there is such memory
    MotusFrame *frame[MOTUS_POOL_FRAMES]; // the pool's own references
} MotusFramePool;

// A frame whose samples nobody else uses, with one reference for the caller. MOTUS_ERR_MEMORY. One
// thread at a time.
MotusStatus motus_frame_pool_take(MotusFramePool *pool, MotusFrame **frame);

// Lets go of all frames; those that somebody still refers to live on.
void motus_frame_pool_close(MotusFramePool *pool);

#ifdef __cplusplus
}
#endif
#endif
