// References: public calls.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "me/estimator.h"

#define REFUSE(...) return motus_fail(error, MOTUS_ERR_ARGUMENT, __VA_ARGS__)

MotusStatus motus_me_reference_alloc(MotusMeReference **reference, MotusMe *me) {
    if (!reference) return MOTUS_ERR_ARGUMENT;
    *reference = NULL;
    MotusStatus status = motus_me_begin_call(me);
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

// Checks that the reference has the size, backend and device of `me`.
static MotusStatus check(const MotusMeReference *r, const MotusMe *me, const char *name,
                         MotusError *error) {
    if (!r) REFUSE("%s is NULL", name);
    if (r->width != me->config.width || r->height != me->config.height)
        REFUSE("%s is %dx%d, must be %dx%d", name, r->width, r->height, me->config.width,
               me->config.height);
    if (r->ops != me->ops || r->device != me->device)
        REFUSE("%s is on another backend or device than the estimator", name);
    return MOTUS_OK;
}

MotusStatus motus_reference_check(const MotusMeReference *r, const MotusMe *me, const char *name,
                                  MotusError *error) {
    MotusStatus status = check(r, me, name, error);
    if (!status && !r->has_half && me->config.subpel != MOTUS_SUBPEL_FULL)
        REFUSE("%s has no half-sample planes, which the estimator's subpel needs", name);
    return status;
}

MotusStatus motus_me_reference_fill(MotusMeReference *r, MotusMe *me, const MotusPlane *luma,
                                    MotusMemory memory, void *stream) {
    MotusStatus status = motus_me_begin_call(me);
    if (!status) status = check(r, me, "reference", &me->refused);
    if (!status) status = motus_me_check_plane(me, luma, "luma", &me->refused);
    if (!status) status = motus_me_check_memory(memory, "memory", &me->refused);
    if (!status) status = motus_me_check_host(me, memory, "memory", &me->refused);
    if (status) return status;
    if (atomic_load(&r->readers))
        return motus_fail(&me->refused, MOTUS_ERR_STATE,
                          "a pending request searches the reference");
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
