// References: public calls.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/alloc.h"
#include "me/estimator.h"

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
    r->ops = me->ops, r->device = me->device;
    atomic_init(&r->owners, 1);
    atomic_init(&r->readers, 0);
    status = r->ops->planes_alloc(&r->planes, &me->config, me->device, &me->error);
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
    r->ops->planes_free(r->planes);
    motus_free(r);
}

void motus_reference_hold(const MotusMeReference *reference) {
    atomic_fetch_add(&motus_me_reference_ref(reference)->readers, 1);
}

void motus_reference_release(const MotusMeReference *reference) {
    MotusMeReference *r = (MotusMeReference *)reference;
    atomic_fetch_sub(&r->readers, 1);
    motus_me_reference_unref(&r);
}

// True if the reference has the size, backend and device of `me`.
static int matches(const MotusMeReference *r, const MotusMe *me) {
    return r->width == me->config.width && r->height == me->config.height && r->ops == me->ops &&
           r->device == me->device;
}

int motus_reference_fits(const MotusMeReference *r, const MotusMe *me) {
    return matches(r, me) && (r->has_half || me->config.subpel == MOTUS_SUBPEL_FULL);
}

MotusStatus motus_me_reference_fill(MotusMeReference *r, MotusMe *me, const MotusPlane *luma,
                                    MotusMemory memory, void *stream) {
    if (!r || !me || !motus_me_valid_plane(me, luma) || !motus_me_valid_memory(memory) ||
        !matches(r, me))
        return MOTUS_ERR_ARGUMENT;
    MotusStatus status = motus_me_failed(me);
    if (status) return status;
    if (atomic_load(&r->readers)) return MOTUS_ERR_STATE;
    status =
        r->ops->planes_fill(r->planes, me->state, luma, memory, r->has_half, stream, &me->error);
    if (!status) r->filled = 1;
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
    if (!r->ops->block) return MOTUS_ERR_UNSUPPORTED;
    if (!r->filled) return MOTUS_ERR_STATE;
    ptrdiff_t from_stride = stride;
    const uint8_t *from = r->ops->block(r->planes, x, y, mv, width, height, dst, &from_stride);
    for (int row = 0; from != dst && row < height; row++)
        memcpy(dst + row * stride, from + row * from_stride, (size_t)width);
    return MOTUS_OK;
}
