// Checks of public arguments.
// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>

#include "common/error.h"
#include "common/int_core.h"
#include "me/estimator.h"
#include "yuv/usable.h"

enum { MAX_MV = 8191 }; // largest |component| of predictors and skip MVs

#define REFUSE(...) return motus_fail(error, MOTUS_ERR_ARGUMENT, __VA_ARGS__)

MotusStatus motus_me_check_config(const MotusMeConfig *c, MotusError *error) {
    if (c->width < 1 || c->height < 1 || c->width > MOTUS_MAX_SIZE || c->height > MOTUS_MAX_SIZE)
        REFUSE("width and height are %d and %d, must be 1..%d", c->width, c->height,
               MOTUS_MAX_SIZE);
    if (c->range < 1 || c->range > MOTUS_MAX_RANGE)
        REFUSE("range is %d, must be 1..%d", c->range, MOTUS_MAX_RANGE);
    if ((unsigned)c->subpel > MOTUS_SUBPEL_BEST)
        REFUSE("subpel is %d, must be 0..%d", (int)c->subpel, (int)MOTUS_SUBPEL_BEST);
    if (!c->modes || c->modes & ~MOTUS_MODES_ALL)
        REFUSE("modes is %#" PRIx32 ", must be 1..%#x", c->modes, (unsigned)MOTUS_MODES_ALL);
    if (c->threads < 0) REFUSE("threads is %d, must not be negative", c->threads);
    if (c->device < -1) REFUSE("device is %d, must be at least -1", c->device);
    if ((unsigned)c->backend > MOTUS_BACKEND_CUDA)
        REFUSE("backend is %d, must be 0..%d", (int)c->backend, (int)MOTUS_BACKEND_CUDA);
    return MOTUS_OK;
}

MotusStatus motus_me_check_plane(const MotusMe *me, const MotusPlane *p, const char *name,
                                 MotusError *error) {
    if (!p) REFUSE("%s is NULL", name);
    if (!p->data) REFUSE("%s.data is NULL", name);
    if (p->width != me->config.width || p->height != me->config.height)
        REFUSE("%s is %dx%d, must be %dx%d", name, p->width, p->height, me->config.width,
               me->config.height);
    if (!motus_plane_usable(p))
        REFUSE("%s.stride is %td, must be at least the width, %d", name, p->stride, p->width);
    return MOTUS_OK;
}

MotusStatus motus_me_check_memory(const MotusMe *me, MotusMemory memory, const char *name,
                                  MotusError *error) {
    if (memory == MOTUS_MEMORY_HOST) return MOTUS_OK;
    if (memory != MOTUS_MEMORY_DEVICE)
        REFUSE("%s is %d, must be MOTUS_MEMORY_HOST (%d) or MOTUS_MEMORY_DEVICE (%d)", name,
               (int)memory, (int)MOTUS_MEMORY_HOST, (int)MOTUS_MEMORY_DEVICE);
    if (me->backend == MOTUS_BACKEND_CUDA) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "%s is device memory, which the CPU cannot use",
                      name);
}

MotusStatus motus_me_check_reference(const MotusMe *me, const MotusMeReference *r, int searches,
                                     MotusError *error) {
    if (!r) REFUSE("reference is NULL");
    if (r->width != me->config.width || r->height != me->config.height)
        REFUSE("reference is %dx%d, must be %dx%d", r->width, r->height, me->config.width,
               me->config.height);
    if (r->ops != me->ops || r->device != me->device)
        REFUSE("reference is on another backend or device than the estimator");
    if (searches && !r->has_half && me->config.subpel != MOTUS_SUBPEL_FULL)
        REFUSE("reference has no half-sample planes, which the estimator's subpel needs");
    return searches && !r->filled ? motus_fail(error, MOTUS_ERR_STATE, "reference is not filled")
                                  : MOTUS_OK;
}

MotusStatus motus_me_check_field(const MotusMe *me, const MotusField *field, MotusError *error) {
    const int mb_width = motus_mbs(me->config.width), mb_height = motus_mbs(me->config.height);
    if (!field) REFUSE("field is NULL");
    if (field->mb_width != mb_width || field->mb_height != mb_height ||
        field->n_mb != mb_width * mb_height)
        REFUSE("field has %dx%d MBs (n_mb %d), must have %dx%d", field->mb_width, field->mb_height,
               field->n_mb, mb_width, mb_height);
    if (!field->mv[0] || !field->sad[0] || !field->cost[0]) REFUSE("field lacks mv, sad or cost");
    for (int b = 1; b < MOTUS_BLOCKS; b++) {
        const ptrdiff_t at = (ptrdiff_t)b * field->n_mb;
        if (field->mv[b] != field->mv[0] + at || field->sad[b] != field->sad[0] + at ||
            field->cost[b] != field->cost[0] + at)
            REFUSE("field has block %d elsewhere than motus_field_alloc put it", b);
    }
    return MOTUS_OK;
}

static MotusStatus check_lambda(uint32_t lambda_q8, const char *name, MotusError *error) {
    if (lambda_q8 > MOTUS_MAX_LAMBDA_Q8)
        REFUSE("%s is %" PRIu32 ", must be 0..%d", name, lambda_q8, (int)MOTUS_MAX_LAMBDA_Q8);
    return MOTUS_OK;
}

// Checks MVs per MB; NULL: none. whole: they must be of whole samples.
static MotusStatus check_mvs(const MotusMe *me, const MotusMv *mv, int most, int whole,
                             const char *name, MotusError *error) {
    const int n = motus_mbs(me->config.width) * motus_mbs(me->config.height);
    for (int i = 0; mv && i < n; i++)
        if (motus_abs(mv[i].x) > most || motus_abs(mv[i].y) > most ||
            (whole && (mv[i].x | mv[i].y) & 3))
            REFUSE("%s[%d] is (%d, %d), must be %swithin +-%d", name, i, mv[i].x, mv[i].y,
                   whole ? "multiples of 4 " : "", most);
    return MOTUS_OK;
}

static MotusStatus check_target(const MotusMe *me, const MotusMeTarget *t, MotusMemory hints_memory,
                                MotusError *error) {
    static const MotusMeHints none = {0};
    const MotusMeHints *hints = t->hints ? t->hints : &none;
    MotusStatus status = check_lambda(hints->lambda_q8, "hints.lambda_q8", error);
    if (!status && hints_memory == MOTUS_MEMORY_HOST) {
        status = check_mvs(me, hints->centre, MOTUS_MAX_CENTRE, 1, "hints.centre", error);
        if (!status) status = check_mvs(me, hints->predictor, MAX_MV, 0, "hints.predictor", error);
        if (!status)
            status = check_mvs(me, t->skip_mv, MAX_MV, t->reference && !t->reference->has_half,
                               "skip_mv", error);
    }
    return status ? status : motus_me_check_reference(me, t->reference, 1, error);
}

MotusStatus motus_me_check_request(const MotusMe *me, const MotusMeRequest *r, MotusError *error) {
    const int mb_width = motus_mbs(me->config.width), mb_height = motus_mbs(me->config.height);
    if (!r) REFUSE("request is NULL");
    if (r->size != sizeof *r) REFUSE("size is %zu, must be %zu", r->size, sizeof *r);
    if (r->n_targets < 0 || r->n_targets > MOTUS_ME_MAX_TARGETS)
        REFUSE("n_targets is %d, must be 0..%d", r->n_targets, MOTUS_ME_MAX_TARGETS);
    if (r->n_targets && r->target_size != sizeof *r->target)
        REFUSE("target_size is %zu, must be %zu", r->target_size, sizeof *r->target);
    if (r->n_targets && !r->target) REFUSE("target is NULL, and n_targets is %d", r->n_targets);
    const MotusMeRegion *in = &r->region;
    if ((in->x || in->y || in->width || in->height) &&
        (in->x < 0 || in->y < 0 || in->x >= mb_width || in->y >= mb_height || in->width < 1 ||
         in->height < 1 || in->width > mb_width - in->x || in->height > mb_height - in->y))
        REFUSE("region is %dx%d MBs at (%d, %d), must lie in the picture's %dx%d", in->width,
               in->height, in->x, in->y, mb_width, mb_height);
    MotusStatus status = motus_me_check_plane(me, r->cur, "cur", error);
    if (!status) status = motus_me_check_memory(me, r->memory, "memory", error);
    if (!status) status = motus_me_check_memory(me, r->hints_memory, "hints_memory", error);
    if (!status) status = motus_me_check_memory(me, r->results_memory, "results_memory", error);
    for (int i = 0; i < r->n_targets && !status; i++) {
        MotusError cause;
        status = check_target(me, &r->target[i], r->hints_memory, &cause);
        if (status) motus_fail(error, status, "target[%d].%s", i, cause.text);
        if (!status && r->keep && r->target[i].reference == r->keep)
            REFUSE("keep is target[%d].reference, must be another one", i);
    }
    if (!status && r->keep) {
        MotusError cause;
        status = motus_me_check_reference(me, r->keep, 0, &cause);
        if (status) motus_fail(error, status, "keep: %s", cause.text);
    }
    if (!status && r->event && me->backend != MOTUS_BACKEND_CUDA)
        status = motus_fail(error, MOTUS_ERR_UNSUPPORTED, "event needs the CUDA backend");
    return status;
}

MotusStatus motus_me_check_centres(const MotusMe *me, const MotusMeCentres *c, MotusError *error) {
    if (!c->centre) REFUSE("centre is NULL");
    if (c->centre == c->previous) REFUSE("centre is `previous`, must be another array");
    if (c->reach < 4 || c->reach > MOTUS_ME_MAX_REACH || c->reach % 4)
        REFUSE("reach is %d, must be a multiple of 4 in 4..%d, or 0", c->reach, MOTUS_ME_MAX_REACH);
    if (c->limit_x < 0 || c->limit_y < 0)
        REFUSE("limit_x and limit_y are %d and %d, must not be negative", c->limit_x, c->limit_y);
    MotusStatus status = check_lambda(c->lambda_q8, "lambda_q8", error);
    if (!status) status = motus_me_check_plane(me, c->cur, "cur", error);
    if (!status) status = motus_me_check_reference(me, c->reference, 1, error);
    if (!status) status = motus_me_check_memory(me, c->memory, "memory", error);
    return status ? status : motus_me_check_memory(me, c->mvs_memory, "mvs_memory", error);
}
