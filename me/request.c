// Requests and predicted centres: their defaults and checks, and the public call for centres.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"
#include "common/int_core.h"
#include "me/estimator.h"

MotusMeRequest motus_me_request_default(const MotusPlane *cur, const MotusMeTarget *target,
                                        int n_targets) {
    return (MotusMeRequest){.size = sizeof(MotusMeRequest),
                            .target_size = sizeof *target,
                            .cur = cur,
                            .target = target,
                            .n_targets = n_targets};
}

#define REFUSE(...) return motus_fail(error, MOTUS_ERR_ARGUMENT, __VA_ARGS__)

static MotusStatus check_region(const MotusMe *me, const MotusMeRegion *r, MotusError *error) {
    const int mb_width = motus_mbs(me->config.width), mb_height = motus_mbs(me->config.height);
    if (!r->x && !r->y && !r->width && !r->height) return MOTUS_OK;
    if (r->x < 0 || r->y < 0 || r->x >= mb_width || r->y >= mb_height || r->width < 1 ||
        r->height < 1 || r->width > mb_width - r->x || r->height > mb_height - r->y)
        REFUSE("region is %dx%d MBs at (%d, %d), must lie in the picture's %dx%d", r->width,
               r->height, r->x, r->y, mb_width, mb_height);
    return MOTUS_OK;
}

static MotusStatus check_target(const MotusMe *me, const MotusMeTarget *t, MotusMemory hints_memory,
                                MotusError *error) {
    MotusStatus status = motus_reference_check(t->reference, me, "reference", error);
    if (!status) status = motus_me_check_hints(me, t->hints, hints_memory, error);
    if (status || hints_memory == MOTUS_MEMORY_DEVICE) return status;
    return motus_me_check_mvs(t->skip_mv, motus_me_n_mb(me), MOTUS_ME_MAX_MV,
                              !t->reference->has_half, "skip_mv", error);
}

static MotusStatus check_targets(const MotusMe *me, const MotusMeRequest *r, MotusError *error) {
    for (int i = 0; i < r->n_targets; i++) {
        MotusError cause;
        const MotusStatus status = check_target(me, &r->target[i], r->hints_memory, &cause);
        if (status) return motus_fail(error, status, "target[%d].%s", i, cause.text);
    }
    for (int i = 0; i < r->n_targets; i++)
        if (!r->target[i].reference->filled)
            return motus_fail(error, MOTUS_ERR_STATE, "target[%d].reference is not filled", i);
    return MOTUS_OK;
}

MotusStatus motus_request_check(const MotusMe *me, const MotusMeRequest *r, MotusError *error) {
    if (!r) REFUSE("request is NULL");
    if (r->size != sizeof *r) REFUSE("size is %zu, must be %zu", r->size, sizeof *r);
    if (r->n_targets < 0 || r->n_targets > MOTUS_ME_MAX_TARGETS)
        REFUSE("n_targets is %d, must be 0..%d", r->n_targets, MOTUS_ME_MAX_TARGETS);
    if (r->n_targets && r->target_size != sizeof *r->target)
        REFUSE("target_size is %zu, must be %zu", r->target_size, sizeof *r->target);
    if (r->n_targets && !r->target) REFUSE("target is NULL, and n_targets is %d", r->n_targets);
    MotusStatus status = motus_me_check_plane(me, r->cur, "cur", error);
    if (!status) status = motus_me_check_memory(r->memory, "memory", error);
    if (!status) status = motus_me_check_memory(r->hints_memory, "hints_memory", error);
    if (!status) status = motus_me_check_memory(r->results_memory, "results_memory", error);
    if (!status) status = check_region(me, &r->region, error);
    if (!status) status = check_targets(me, r, error);
    if (!status) status = motus_me_check_host(me, r->memory, "memory", error);
    if (!status) status = motus_me_check_host(me, r->hints_memory, "hints_memory", error);
    if (!status) status = motus_me_check_host(me, r->results_memory, "results_memory", error);
    if (!status && r->event && me->backend != MOTUS_BACKEND_CUDA)
        status = motus_fail(error, MOTUS_ERR_UNSUPPORTED, "event needs the CUDA backend");
    return status;
}

// ---- Predicted centres --------------------------------------------------------------------------

MotusMeCentres motus_me_centres_default(const MotusPlane *cur, const MotusMeReference *reference,
                                        MotusMv *centre) {
    return (MotusMeCentres){
        .size = sizeof(MotusMeCentres), .cur = cur, .reference = reference, .centre = centre};
}

static MotusStatus check_centres(const MotusMe *me, const MotusMeCentres *p, MotusError *error) {
    MotusStatus status = motus_me_check_plane(me, p->cur, "cur", error);
    if (!status) status = motus_me_check_memory(p->memory, "memory", error);
    if (!status) status = motus_me_check_memory(p->mvs_memory, "mvs_memory", error);
    if (!status) status = motus_reference_check(p->reference, me, "reference", error);
    if (!status) status = motus_me_check_lambda(p->lambda_q8, "lambda_q8", error);
    if (status) return status;
    if (!p->centre) REFUSE("centre is NULL");
    if (p->centre == p->previous) REFUSE("centre is `previous`, must be another array");
    if (p->reach < 4 || p->reach > MOTUS_ME_MAX_REACH || p->reach % 4)
        REFUSE("reach is %d, must be a multiple of 4 in 4..%d, or 0", p->reach, MOTUS_ME_MAX_REACH);
    if (p->limit_x < 0 || p->limit_y < 0)
        REFUSE("limit_x and limit_y are %d and %d, must not be negative", p->limit_x, p->limit_y);
    if (!p->reference->filled) return motus_fail(error, MOTUS_ERR_STATE, "reference is not filled");
    status = motus_me_check_host(me, p->memory, "memory", error);
    return status ? status : motus_me_check_host(me, p->mvs_memory, "mvs_memory", error);
}

MotusStatus motus_me_centres(MotusMe *me, const MotusMeCentres *predict) {
    MotusStatus status = motus_me_begin_call(me);
    if (status) return status;
    MotusError *error = &me->refused;
    if (!predict) REFUSE("the parameters are NULL");
    if (predict->size != sizeof *predict)
        REFUSE("size is %zu, must be %zu", predict->size, sizeof *predict);
    MotusMeCentres p = *predict;
    if (!p.reach) p.reach = MOTUS_ME_MAX_REACH;
    if (!p.limit_x) p.limit_x = MOTUS_MAX_CENTRE;
    if (!p.limit_y) p.limit_y = MOTUS_MAX_CENTRE;
    status = check_centres(me, &p, error);
    if (status) return status;
    return me->ops->predict(me->state, &p, p.reference->planes, &me->error);
}
