// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/frame_pool.h"

#include <string.h>

#include "motus/upload.h"

static ptrdiff_t row_of(int samples) { return (samples + 63) / 64 * 64; }

// Allocates a frame in pinned memory, aligned as by motus_frame_alloc, or in ordinary memory if
// there is none.
static MotusStatus alloc_pinned(MotusFrame **frame, int width, int height) {
    ptrdiff_t stride[3] = {row_of(width), row_of((width + 1) / 2), row_of((width + 1) / 2)};
    size_t luma = (size_t)(stride[0] * height), chroma = (size_t)(stride[1] * ((height + 1) / 2));
    uint8_t *memory = motus_host_alloc(luma + 2 * chroma);
    if (!memory) return motus_frame_alloc(frame, width, height);
    memset(memory, 0, luma + 2 * chroma); // SIMD code reads beyond the last column
    uint8_t *data[3] = {memory, memory + luma, memory + luma + chroma};
    MotusStatus status =
        motus_frame_wrap(frame, width, height, data, stride, motus_host_free, memory);
    if (status) motus_host_free(memory);
    return status;
}

// Takes the first free frame: few frames are in use, and they stay in the caches.
MotusStatus motus_frame_pool_take(MotusFramePool *pool, MotusFrame **frame) {
    *frame = NULL;
    for (int i = 0; i < MOTUS_POOL_FRAMES; i++) {
        MotusFrame **place = &pool->frame[i];
        if (*place && motus_frame_shared(*place)) continue;
        MotusStatus status = MOTUS_OK;
        if (!*place)
            status = pool->pinned ? alloc_pinned(place, pool->width, pool->height)
                                  : motus_frame_alloc(place, pool->width, pool->height);
        if (status) return status;
        *frame = motus_frame_ref(*place);
        return MOTUS_OK;
    }
    return motus_frame_alloc(frame, pool->width, pool->height); // not kept
}

void motus_frame_pool_close(MotusFramePool *pool) {
    for (int i = 0; i < MOTUS_POOL_FRAMES; i++) motus_frame_unref(&pool->frame[i]);
}
