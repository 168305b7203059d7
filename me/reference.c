// SPDX-License-Identifier: BSD-2-Clause
#include "me/reference.h"

#include <string.h>

#include "common/alloc.h"
#include "common/threads.h"

MotusStatus motus_me_reference_alloc(MotusMeReference **reference, MotusMe *me) {
    if (!reference) return MOTUS_ERR_ARGUMENT;
    *reference = NULL;
    if (!me) return MOTUS_ERR_ARGUMENT;
    MotusStatus status = motus_me_failed(me);
    if (status) return status;
    MotusMeReference *r = motus_alloc(1, sizeof *r);
    if (!r) return MOTUS_ERR_MEMORY;
    r->width = me->config.width, r->height = me->config.height;
    r->has_half = me->config.subpel != MOTUS_SUBPEL_FULL;
    atomic_init(&r->owners, 1);
    atomic_init(&r->readers, 0);
    if (me->cuda)
        status = motus_reference_cuda_open(&r->cuda, me->device, r->width, r->height, r->has_half,
                                           &me->error);
    else
        status = motus_ref_luma_alloc(&r->luma, r->width, r->height);
    if (status) motus_me_reference_unref(&r);
    *reference = r;
    return status;
}

MotusMeReference *motus_me_reference_ref(const MotusMeReference *reference) {
    MotusMeReference *r = (MotusMeReference *)reference;
    if (r) atomic_fetch_add(&r->owners, 1);
    return r;
}

void motus_me_reference_unref(MotusMeReference **reference) {
    if (!reference || !*reference) return;
    MotusMeReference *r = *reference;
    *reference = NULL;
    if (atomic_fetch_sub(&r->owners, 1) > 1) return;
    motus_reference_cuda_close(&r->cuda);
    motus_ref_luma_free(&r->luma);
    motus_free(r);
}

MotusMeReference *motus_reference_hold(const MotusMeReference *reference) {
    MotusMeReference *r = motus_me_reference_ref(reference);
    atomic_fetch_add(&r->readers, 1);
    return r;
}

void motus_reference_release(MotusMeReference **reference) {
    atomic_fetch_sub(&(*reference)->readers, 1);
    motus_me_reference_unref(reference);
}

int motus_reference_fits(const MotusMeReference *r, const MotusMe *me) {
    return r->width == me->config.width && r->height == me->config.height &&
           !r->cuda == !me->cuda && (r->has_half || me->config.subpel == MOTUS_SUBPEL_FULL) &&
           (!r->cuda || motus_reference_cuda_device(r->cuda) == me->device);
}

MotusStatus motus_me_reference_fill(MotusMeReference *r, MotusMe *me, const MotusPlane *luma,
                                    MotusMemory memory, void *stream) {
    if (!r || !me || !motus_me_valid_plane(me, luma) || !motus_me_valid_memory(memory))
        return MOTUS_ERR_ARGUMENT;
    if (r->width != me->config.width || r->height != me->config.height || !r->cuda != !me->cuda ||
        (r->cuda && motus_reference_cuda_device(r->cuda) != me->device))
        return MOTUS_ERR_ARGUMENT;
    MotusStatus status = motus_me_failed(me);
    if (status) return status;
    if (atomic_load(&r->readers)) return MOTUS_ERR_STATE;
    if (!r->cuda && memory == MOTUS_MEMORY_DEVICE) return MOTUS_ERR_UNSUPPORTED;
    if (r->cuda)
        status = motus_reference_cuda_fill(r->cuda, luma, memory, stream, &me->error);
    else
        motus_ref_luma_build(&r->luma, luma, r->has_half, motus_threads_ready(me->threads));
    if (status == MOTUS_OK) r->filled = 1;
    return status;
}

MotusStatus motus_me_reference_block(const MotusMeReference *r, int x, int y, MotusMv mv, int width,
                                     int height, uint8_t *dst, ptrdiff_t stride) {
    if (!r || !dst || width < 4 || height < 4 || width > 16 || height > 16 ||
        (width | height) & 3 || stride < width)
        return MOTUS_ERR_ARGUMENT;
    if (x < -MOTUS_MAX_SIZE || y < -MOTUS_MAX_SIZE || x > MOTUS_MAX_SIZE || y > MOTUS_MAX_SIZE)
        return MOTUS_ERR_ARGUMENT;
    if (!r->has_half && (mv.x | mv.y) & 3) return MOTUS_ERR_ARGUMENT;
    if (r->cuda) return MOTUS_ERR_UNSUPPORTED;
    if (!r->filled) return MOTUS_ERR_STATE;
    ptrdiff_t from_stride = stride;
    const uint8_t *from =
        motus_ref_luma_block(&r->luma, x, y, mv, width, height, dst, &from_stride);
    for (int row = 0; from != dst && row < height; row++)
        memcpy(dst + row * stride, from + row * from_stride, (size_t)width);
    return MOTUS_OK;
}
