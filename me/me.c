// The motion estimator: public calls. Arguments are checked here, then the backend does the work.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/me.h"

#include "common/alloc.h"
#include "common/device.h"
#include "common/int_core.h"
#include "me/estimator.h"

MotusMeConfig motus_me_config_default(int width, int height) {
    return (MotusMeConfig){.width = width,
                           .height = height,
                           .range = 16,
                           .subpel = MOTUS_SUBPEL_QUARTER,
                           .modes = MOTUS_MODES_ALL,
                           .threads = 0,
                           .backend = MOTUS_BACKEND_AUTO,
                           .device = -1};
}

static int valid(const MotusMeConfig *c) {
    return c->width >= 1 && c->height >= 1 && c->width <= MOTUS_MAX_SIZE &&
           c->height <= MOTUS_MAX_SIZE && c->range >= 1 && c->range <= MOTUS_MAX_RANGE &&
           (unsigned)c->subpel <= MOTUS_SUBPEL_QUARTER && c->modes &&
           !(c->modes & ~MOTUS_MODES_ALL) && c->threads >= 0 && c->device >= -1;
}

static MotusStatus open_backend(MotusMe *me, MotusBackend backend) {
    me->backend = backend;
    me->ops = &motus_me_ops_cpu;
    me->device = -1;
    MotusStatus status = MOTUS_OK;
#ifdef MOTUS_HAVE_CUDA
    if (backend == MOTUS_BACKEND_CUDA) {
        me->ops = &motus_me_ops_cuda;
        status = motus_device_choose(me->config.device, &me->device, &me->error);
    }
#endif
    return status ? status : me->ops->open(&me->state, &me->config, me->device, &me->error);
}

MotusStatus motus_me_open(MotusMe **out, const MotusMeConfig *config) {
    if (!out) return MOTUS_ERR_ARGUMENT;
    *out = NULL;
    if (!config || !valid(config)) return MOTUS_ERR_ARGUMENT;
    MotusBackend backend = config->backend;
    MotusStatus status = motus_backend_choose(config->backend, &backend);
    if (status) return status == MOTUS_ERR_ARGUMENT ? status : motus_device_check(config->error);
    MotusMe *me = motus_alloc(1, sizeof *me);
    if (!me) return MOTUS_ERR_MEMORY;
    me->config = *config;
    me->config.error = NULL; // the caller's, valid for this call alone
    const int fell_back = config->backend == MOTUS_BACKEND_AUTO && backend == MOTUS_BACKEND_CPU &&
                          motus_device_lacks_code(&me->error);
    status = open_backend(me, backend);
    if (config->error && (fell_back || (status && backend == MOTUS_BACKEND_CUDA)))
        *config->error = me->error;
    if (status && backend == MOTUS_BACKEND_CUDA && config->backend == MOTUS_BACKEND_AUTO)
        status = open_backend(me, MOTUS_BACKEND_CPU);
    if (status) motus_me_close(&me);
    *out = me;
    return status;
}

static MotusMePending *pending_at(MotusMe *me, uint64_t number) {
    return &me->pending[number % MOTUS_ME_IN_FLIGHT];
}

static void release_references(const MotusMePending *p) {
    for (int i = 0; p->is_request && i < p->request.n_targets; i++)
        motus_reference_release(p->target[i].reference);
}

void motus_me_close(MotusMe **me) {
    if (!me || !*me) return;
    (*me)->ops->close((*me)->state);
    for (; (*me)->received != (*me)->submitted; (*me)->received++)
        release_references(pending_at(*me, (*me)->received));
    motus_free(*me);
    *me = NULL;
}

MotusBackend motus_me_backend(const MotusMe *me) { return me ? me->backend : MOTUS_BACKEND_CPU; }

const MotusError *motus_me_error(const MotusMe *me) {
    static const MotusError none = {MOTUS_OK, ""};
    return me ? &me->error : &none;
}

// ---- One picture --------------------------------------------------------------------------------

// True if the field has the size of the estimator's pictures, and arrays for its modes.
static int valid_field(const MotusMe *me, const MotusField *field) {
    if (!field || field->mb_width != motus_mbs(me->config.width) ||
        field->mb_height != motus_mbs(me->config.height) || field->n_mb != motus_me_n_mb(me))
        return 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (me->config.modes >> motus_blocks[b].mode & 1 &&
            (!field->mv[b] || !field->sad[b] || !field->cost[b]))
            return 0;
    return 1;
}

MotusStatus motus_me_search(MotusMe *me, const MotusPlane *cur, const MotusPlane *ref,
                            const MotusMeHints *hints, MotusField *field) {
    if (!me || !motus_me_valid_plane(me, cur) || !motus_me_valid_plane(me, ref) ||
        !valid_field(me, field) || !motus_me_valid_hints(me, hints))
        return MOTUS_ERR_ARGUMENT;
    MotusStatus status = motus_me_failed(me);
    if (status) return status;
    if (me->submitted != me->received) return MOTUS_ERR_STATE;
    return me->ops->search(me->state, cur, ref, hints, field, &me->error);
}

// ---- Several pictures in flight -----------------------------------------------------------------

static int valid_job(const MotusMe *me, const MotusMeJob *job) {
    if (!job || !motus_me_valid_plane(me, job->cur) ||
        (job->ref && !motus_me_valid_plane(me, job->ref)) || !motus_me_valid_memory(job->memory))
        return 0;
    const int on_device = job->device_mv != NULL; // the results
    if (on_device != (job->device_sad != NULL) || on_device != (job->device_cost != NULL) ||
        (!on_device && !job->field))
        return 0;
    return (!job->field || valid_field(me, job->field)) && motus_me_valid_hints(me, job->hints);
}

MotusStatus motus_me_submit(MotusMe *me, const MotusMeJob *job) {
    if (!me || !valid_job(me, job)) return MOTUS_ERR_ARGUMENT;
    MotusStatus status = motus_me_ready(me);
    if (status) return status;
    if (!job->ref && !me->has_job) return MOTUS_ERR_STATE;
    status = me->ops->submit(me->state, job, &me->error);
    if (status) return status;
    MotusMePending *p = pending_at(me, me->submitted++);
    p->is_request = 0;
    p->field = job->device_mv ? NULL : job->field;
    me->has_job = 1;
    return MOTUS_OK;
}

MotusStatus motus_me_request(MotusMe *me, const MotusMeRequest *request) {
    if (!me || !motus_request_valid(me, request)) return MOTUS_ERR_ARGUMENT;
    MotusStatus status = motus_me_ready(me);
    void *planes[MOTUS_ME_MAX_TARGETS];
    for (int i = 0; i < request->n_targets && !status; i++) {
        planes[i] = request->target[i].reference->planes;
        if (!request->target[i].reference->filled) status = MOTUS_ERR_STATE;
    }
    if (!status) status = me->ops->request(me->state, request, planes, &me->error);
    if (status) return status;
    MotusMePending *p = pending_at(me, me->submitted++);
    p->is_request = 1;
    p->request = *request;
    p->request.target = p->target;
    for (int i = 0; i < request->n_targets; i++) {
        p->target[i] = request->target[i];
        motus_reference_hold(p->target[i].reference);
    }
    return MOTUS_OK;
}

// Takes the oldest job or request, which stays pending if the device failed or it is not ready.
static MotusStatus take(MotusMe *me, MotusField **field, void **opaque, int timeout_ms) {
    if (!me) return MOTUS_ERR_ARGUMENT;
    if (me->submitted == me->received) return MOTUS_END;
    const MotusMePending *p = pending_at(me, me->received);
    MotusStatus status = motus_me_failed(me);
    if (!status)
        status =
            me->ops->finish(me->state, p->is_request ? &p->request : NULL, timeout_ms, &me->error);
    if (status) return status;
    if (field && !p->is_request) *field = p->field;
    if (opaque && p->is_request) *opaque = p->request.opaque;
    release_references(p);
    me->received++;
    return MOTUS_OK;
}

MotusStatus motus_me_receive(MotusMe *me, MotusField **field) {
    if (field) *field = NULL;
    return take(me, field, NULL, -1);
}

MotusStatus motus_me_wait(MotusMe *me, void **opaque, int timeout_ms) {
    if (opaque) *opaque = NULL;
    return take(me, NULL, opaque, timeout_ms);
}
