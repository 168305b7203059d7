// A pool of frames of one size, reused once they are unreferenced: allocating a large frame and
// touching its pages for the first time costs as much as filling it.
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
    int pinned;                           // allocate pinned memory if possible
    MotusFrame *frame[MOTUS_POOL_FRAMES]; // the pool's own references
} MotusFramePool;

// Takes an unused frame, with one reference for the caller. One thread at a time. MOTUS_ERR_MEMORY.
MotusStatus motus_frame_pool_take(MotusFramePool *pool, MotusFrame **frame);

// Drops the pool's references.
void motus_frame_pool_close(MotusFramePool *pool);

#ifdef __cplusplus
}
#endif
#endif
