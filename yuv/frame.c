// Frames, their copies, and the pool.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/frame.h"

#include <stdatomic.h>
#include <string.h>

#include "common/alloc.h"
#include "motus/upload.h"
#include "yuv/frame_pool.h"
#include "yuv/pad.h"
#include "yuv/usable.h"

#define ALIGNMENT 64

// One allocation with its frame, which comes first.
struct MotusFrameOwner {
    MotusFrame frame;
    atomic_int count;
    void (*release)(void *opaque); // NULL: nothing to release
    void *opaque;
};

// Rounds up to ALIGNMENT.
static size_t align(size_t n) { return (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

// Allocates a frame with one reference, and sample_bytes behind it.
static MotusFrame *frame_new(int width, int height, size_t sample_bytes) {
    struct MotusFrameOwner *owner = motus_alloc(1, align(sizeof *owner) + sample_bytes);
    if (!owner) return NULL;
    MotusFrame *frame = &owner->frame;
    frame->width = width;
    frame->height = height;
    for (int i = 0; i < 3; i++) {
        frame->plane[i].width = i ? (width + 1) / 2 : width;
        frame->plane[i].height = i ? (height + 1) / 2 : height;
    }
    frame->owner = owner;
    atomic_init(&owner->count, 1);
    return frame;
}

MotusStatus motus_frame_alloc(MotusFrame **frame, int width, int height) {
    if (!frame || !motus_size_usable(width, height)) return MOTUS_ERR_ARGUMENT;
    size_t luma_stride = align((size_t)width), chroma_stride = align(((size_t)width + 1) / 2);
    size_t luma = luma_stride * (size_t)height, chroma = chroma_stride * (((size_t)height + 1) / 2);
    MotusFrame *f = frame_new(width, height, luma + 2 * chroma);
    if (!f) return MOTUS_ERR_MEMORY;
    uint8_t *samples = (uint8_t *)f + align(sizeof(struct MotusFrameOwner));
    f->plane[0].data = samples;
    f->plane[1].data = samples + luma;
    f->plane[2].data = samples + luma + chroma;
    f->plane[0].stride = (ptrdiff_t)luma_stride;
    f->plane[1].stride = f->plane[2].stride = (ptrdiff_t)chroma_stride;
    *frame = f;
    return MOTUS_OK;
}

MotusStatus motus_frame_wrap(MotusFrame **frame, int width, int height, uint8_t *const data[3],
                             const ptrdiff_t stride[3], void (*release)(void *opaque),
                             void *opaque) {
    if (!frame || !data || !stride || !motus_size_usable(width, height)) return MOTUS_ERR_ARGUMENT;
    for (int i = 0; i < 3; i++)
        if (!data[i] || stride[i] < (i ? (width + 1) / 2 : width)) return MOTUS_ERR_ARGUMENT;
    MotusFrame *f = frame_new(width, height, 0);
    if (!f) return MOTUS_ERR_MEMORY;
    for (int i = 0; i < 3; i++) {
        f->plane[i].data = data[i];
        f->plane[i].stride = stride[i];
    }
    f->owner->release = release;
    f->owner->opaque = opaque;
    *frame = f;
    return MOTUS_OK;
}

MotusFrame *motus_frame_ref(const MotusFrame *frame) {
    if (frame) atomic_fetch_add_explicit(&frame->owner->count, 1, memory_order_relaxed);
    return (MotusFrame *)frame;
}

int motus_frame_shared(const MotusFrame *frame) {
    return frame && atomic_load_explicit(&frame->owner->count, memory_order_acquire) > 1;
}

// Drops the reference of a part.
static void release_whole(void *opaque) {
    MotusFrame *whole = opaque;
    motus_frame_unref(&whole);
}

MotusStatus motus_frame_crop(MotusFrame **part, MotusFrame *whole, int width, int height) {
    if (!whole || width > whole->width || height > whole->height) return MOTUS_ERR_ARGUMENT;
    uint8_t *const data[3] = {whole->plane[0].data, whole->plane[1].data, whole->plane[2].data};
    const ptrdiff_t stride[3] = {whole->plane[0].stride, whole->plane[1].stride,
                                 whole->plane[2].stride};
    MotusStatus status = motus_frame_wrap(part, width, height, data, stride, release_whole, whole);
    if (status) return status;
    motus_frame_ref(whole);
    (*part)->number = whole->number;
    return MOTUS_OK;
}

void motus_frame_unref(MotusFrame **frame) {
    if (!frame || !*frame) return;
    struct MotusFrameOwner *owner = (*frame)->owner;
    // Release/acquire: writes of other threads before their unref are visible to release().
    if (atomic_fetch_sub_explicit(&owner->count, 1, memory_order_acq_rel) == 1) {
        if (owner->release) owner->release(owner->opaque);
        motus_free(*frame);
    }
    *frame = NULL;
}

void motus_plane_copy_padded(const MotusPlane *dst, const MotusPlane *src) {
    for (int y = 0; y < src->height; y++) {
        uint8_t *row = dst->data + y * dst->stride;
        memcpy(row, src->data + y * src->stride, (size_t)src->width);
        motus_row_pad(row, src->width, 0, dst->width - src->width);
    }
    const uint8_t *last = dst->data + (src->height - 1) * dst->stride;
    for (int y = src->height; y < dst->height; y++)
        memcpy(dst->data + y * dst->stride, last, (size_t)dst->width);
}

MotusStatus motus_frame_copy_padded(MotusFrame *dst, const MotusFrame *src) {
    if (!motus_frame_usable(dst) || !motus_frame_usable(src)) return MOTUS_ERR_ARGUMENT;
    if (dst->width < src->width || dst->height < src->height) return MOTUS_ERR_ARGUMENT;
    for (int i = 0; i < 3; i++) motus_plane_copy_padded(&dst->plane[i], &src->plane[i]);
    return MOTUS_OK;
}

// ---- The pool -----------------------------------------------------------------------------------

// Takes the first free frame: few frames are in use, and they stay in the caches.
MotusStatus motus_frame_pool_take(MotusFramePool *pool, MotusFrame **frame) {
    const int width = pool->width, height = pool->height;
    MotusFrame **place = NULL;
    *frame = NULL;
    for (int i = 0; i < MOTUS_POOL_FRAMES && !place; i++)
        if (!motus_frame_shared(pool->frame[i])) place = &pool->frame[i];
    if (!place) return motus_frame_alloc(frame, width, height); // not kept
    if (!*place) {
        // In pinned memory, aligned as by motus_frame_alloc, or in ordinary memory if there is
        // none.
        const size_t half = align(((size_t)width + 1) / 2);
        const ptrdiff_t stride[3] = {(ptrdiff_t)align((size_t)width), (ptrdiff_t)half,
                                     (ptrdiff_t)half};
        const size_t luma = (size_t)(stride[0] * height),
                     chroma = half * (((size_t)height + 1) / 2);
        uint8_t *memory = pool->pinned ? motus_host_alloc(luma + 2 * chroma) : NULL;
        MotusStatus status;
        if (memory) {
            memset(memory, 0, luma + 2 * chroma); // SIMD code reads beyond the last column
            uint8_t *const data[3] = {memory, memory + luma, memory + luma + chroma};
            status = motus_frame_wrap(place, width, height, data, stride, motus_host_free, memory);
            if (status) motus_host_free(memory);
        } else {
            status = motus_frame_alloc(place, width, height);
        }
        if (status) return status;
    }
    *frame = motus_frame_ref(*place);
    return MOTUS_OK;
}

void motus_frame_pool_close(MotusFramePool *pool) {
    for (int i = 0; i < MOTUS_POOL_FRAMES; i++) motus_frame_unref(&pool->frame[i]);
}
