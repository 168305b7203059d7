// Several pictures in flight: motus_me_submit and motus_me_receive.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/alloc.h"
#include "common/int_core.h"
#include "me/me_context.h"

int motus_me_same_size(const MotusField *field, int width, int height) {
    return field->mb_width == motus_mbs(width) && field->mb_height == motus_mbs(height);
}

static int valid_plane(const MotusMe *me, const MotusPlane *plane) {
    return plane->data && plane->width == me->config.width && plane->height == me->config.height;
}

static int valid_job(const MotusMe *me, const MotusMeJob *job) {
    if (!job || !job->cur || !valid_plane(me, job->cur) || (job->ref && !valid_plane(me, job->ref))) return 0;
    int stays = job->device_mv != NULL;
    if (stays != (job->device_sad != NULL) || stays != (job->device_cost != NULL) || (!stays && !job->field)) return 0;
    if (job->field && !motus_me_same_size(job->field, me->config.width, me->config.height)) return 0;
    return motus_me_valid_hints(job->hints, motus_mbs(me->config.width) * motus_mbs(me->config.height));
}

// Keeps the job's picture for the next one, which may refer to it.
static MotusStatus keep(MotusMe *me, const MotusPlane *cur) {
    if (!me->last.data) {
        me->last = (MotusPlane){motus_alloc((size_t)cur->width, (size_t)cur->height), cur->width, cur->width, cur->height};
        if (!me->last.data) return MOTUS_ERR_MEMORY;
    }
    for (int y = 0; y < cur->height; y++)
        memcpy(me->last.data + y * me->last.stride, cur->data + y * cur->stride, (size_t)cur->width);
    return MOTUS_OK;
}

static MotusStatus work_now(MotusMe *me, const MotusMeJob *job) {
    if (job->memory != MOTUS_MEMORY_HOST || job->device_mv) return MOTUS_ERR_UNSUPPORTED;
    MotusStatus status = motus_me_search(me, job->cur, job->ref ? job->ref : &me->last, job->hints, job->field);
    if (status == MOTUS_OK) status = keep(me, job->cur);
    if (status == MOTUS_OK) me->waiting[me->submitted % MOTUS_ME_IN_FLIGHT] = job->field;
    return status;
}

MotusStatus motus_me_submit(MotusMe *me, const MotusMeJob *job) {
    if (!me || !valid_job(me, job)) return MOTUS_ERR_ARGUMENT;
    if (me->submitted - me->received >= MOTUS_ME_IN_FLIGHT) return MOTUS_AGAIN;
    if (!job->ref && !me->submitted) return MOTUS_ERR_STATE;
    MotusStatus status = me->cuda ? motus_me_cuda_submit(me->cuda, job, job->memory, &me->error) : work_now(me, job);
    if (status == MOTUS_OK) me->submitted++;
    return status;
}

MotusStatus motus_me_receive(MotusMe *me, MotusField **field) {
    if (field) *field = NULL;
    if (!me) return MOTUS_ERR_ARGUMENT;
    if (me->submitted == me->received) return MOTUS_END;
    MotusStatus status = MOTUS_OK;
    if (me->cuda)
        status = motus_me_cuda_receive(me->cuda, field, &me->error);
    else if (field)
        *field = me->waiting[me->received % MOTUS_ME_IN_FLIGHT];
    if (status == MOTUS_OK) me->received++;
    return status;
}

const MotusError *motus_me_error(const MotusMe *me) { return &me->error; }
