// Requests and predicted centres: their defaults and checks, and the public call for centres.
// SPDX-License-Identifier: BSD-2-Clause
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

static int valid_region(const MotusMe *me, const MotusMeRegion *r) {
    const int mb_width = motus_mbs(me->config.width), mb_height = motus_mbs(me->config.height);
    return (!r->x && !r->y && !r->width && !r->height) ||
           (r->x >= 0 && r->y >= 0 && r->x < mb_width && r->y < mb_height && r->width >= 1 &&
            r->height >= 1 && r->width <= mb_width - r->x && r->height <= mb_height - r->y);
}

static int valid_skip(const MotusMv *skip, int has_half, int n_mb) {
    for (int i = 0; skip && i < n_mb; i++) {
        if (motus_abs(skip[i].x) > 8191 || motus_abs(skip[i].y) > 8191) return 0;
        if (!has_half && (skip[i].x | skip[i].y) & 3) return 0;
    }
    return 1;
}

static int valid_target(const MotusMe *me, const MotusMeTarget *t, MotusMemory hints_memory) {
    if (!t->reference || !motus_reference_fits(t->reference, me)) return 0;
    if (hints_memory == MOTUS_MEMORY_DEVICE)
        return !t->hints || t->hints->lambda_q8 <= MOTUS_MAX_LAMBDA_Q8;
    return motus_me_valid_hints(me, t->hints) &&
           valid_skip(t->skip_mv, t->reference->has_half, motus_me_n_mb(me));
}

int motus_request_valid(const MotusMe *me, const MotusMeRequest *r) {
    if (!r || r->size != sizeof *r || (r->n_targets && r->target_size != sizeof *r->target))
        return 0;
    if (!motus_me_valid_plane(me, r->cur) || !motus_me_valid_memory(r->memory) ||
        !motus_me_valid_memory(r->hints_memory) || !motus_me_valid_memory(r->results_memory))
        return 0;
    if (r->n_targets < 0 || r->n_targets > MOTUS_ME_MAX_TARGETS || (r->n_targets && !r->target) ||
        !valid_region(me, &r->region))
        return 0;
    for (int i = 0; i < r->n_targets; i++)
        if (!valid_target(me, &r->target[i], r->hints_memory)) return 0;
    return 1;
}

// ---- Predicted centres --------------------------------------------------------------------------

MotusMeCentres motus_me_centres_default(const MotusPlane *cur, const MotusMeReference *reference,
                                        MotusMv *centre) {
    return (MotusMeCentres){
        .size = sizeof(MotusMeCentres), .cur = cur, .reference = reference, .centre = centre};
}

static int valid_predict(const MotusMe *me, const MotusMeCentres *p) {
    return motus_me_valid_plane(me, p->cur) && motus_me_valid_memory(p->memory) &&
           motus_me_valid_memory(p->mvs_memory) && p->reference &&
           motus_reference_fits(p->reference, me) && p->centre && p->centre != p->previous &&
           p->lambda_q8 <= MOTUS_MAX_LAMBDA_Q8 && p->reach >= 4 && p->reach <= MOTUS_ME_MAX_REACH &&
           p->reach % 4 == 0 && p->limit_x >= 0 && p->limit_y >= 0;
}

MotusStatus motus_me_centres(MotusMe *me, const MotusMeCentres *predict) {
    if (!me || !predict || predict->size != sizeof *predict) return MOTUS_ERR_ARGUMENT;
    MotusMeCentres p = *predict;
    if (!p.reach) p.reach = MOTUS_ME_MAX_REACH;
    if (!p.limit_x) p.limit_x = MOTUS_MAX_CENTRE;
    if (!p.limit_y) p.limit_y = MOTUS_MAX_CENTRE;
    if (!valid_predict(me, &p)) return MOTUS_ERR_ARGUMENT;
    MotusStatus status = motus_me_failed(me);
    if (status) return status;
    if (!p.reference->filled) return MOTUS_ERR_STATE;
    return me->ops->predict(me->state, &p, p.reference->planes, &me->error);
}
