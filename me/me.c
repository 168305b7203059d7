// The motion estimator: public calls. Arguments are checked here, then the backend does the work.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/me.h"

#include <inttypes.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
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

#define REFUSE(...) return motus_fail(error, MOTUS_ERR_ARGUMENT, __VA_ARGS__)

static MotusStatus check_config(const MotusMeConfig *c, MotusError *error) {
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
    if (!config) return MOTUS_ERR_ARGUMENT;
    MotusStatus status = check_config(config, config->error);
    if (status) return status;
    MotusBackend backend = config->backend;
    status = motus_backend_choose(config->backend, &backend);
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
    if (!me) return &none;
    return me->refused.status ? &me->refused : &me->error;
}

// ---- One picture --------------------------------------------------------------------------------

// Checks that the field has the size of the estimator's pictures, and arrays for its modes.
static MotusStatus check_field(const MotusMe *me, const MotusField *field, MotusError *error) {
    const int mb_width = motus_mbs(me->config.width), mb_height = motus_mbs(me->config.height);
    if (!field) REFUSE("field is NULL");
    if (field->mb_width != mb_width || field->mb_height != mb_height ||
        field->n_mb != motus_me_n_mb(me))
        REFUSE("field has %dx%d MBs (n_mb %d), must have %dx%d", field->mb_width, field->mb_height,
               field->n_mb, mb_width, mb_height);
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (me->config.modes >> motus_blocks[b].mode & 1 &&
            (!field->mv[b] || !field->sad[b] || !field->cost[b]))
            REFUSE("field lacks mv, sad or cost of block %d", b);
    return MOTUS_OK;
}

MotusStatus motus_me_search(MotusMe *me, const MotusPlane *cur, const MotusPlane *ref,
                            const MotusMeHints *hints, MotusField *field) {
    MotusStatus status = motus_me_begin_call(me);
    if (!status) status = motus_me_check_plane(me, cur, "cur", &me->refused);
    if (!status) status = motus_me_check_plane(me, ref, "ref", &me->refused);
    if (!status) status = check_field(me, field, &me->refused);
    if (!status) status = motus_me_check_hints(me, hints, MOTUS_MEMORY_HOST, &me->refused);
    if (status) return status;
    if (me->submitted != me->received)
        return motus_fail(&me->refused, MOTUS_ERR_STATE, "jobs or requests are pending");
    return me->ops->search(me->state, cur, ref, hints, field, &me->error);
}

// ---- Several pictures in flight -----------------------------------------------------------------

static MotusStatus check_job(const MotusMe *me, const MotusMeJob *job, MotusError *error) {
    if (!job) REFUSE("job is NULL");
    MotusStatus status = motus_me_check_plane(me, job->cur, "cur", error);
    if (!status && job->ref) status = motus_me_check_plane(me, job->ref, "ref", error);
    if (!status) status = motus_me_check_memory(job->memory, "memory", error);
    if (status) return status;
    const int on_device = job->device_mv != NULL; // the results
    if (on_device != (job->device_sad != NULL) || on_device != (job->device_cost != NULL))
        REFUSE("device_mv, device_sad and device_cost must all be NULL, or none");
    if (!on_device || job->field) status = check_field(me, job->field, error);
    if (!status) status = motus_me_check_hints(me, job->hints, MOTUS_MEMORY_HOST, error);
    if (!status && !job->ref && !me->has_job)
        status = motus_fail(error, MOTUS_ERR_STATE, "ref is NULL, and no job was before");
    if (!status) status = motus_me_check_host(me, job->memory, "memory", error);
    if (!status && on_device)
        status = motus_me_check_host(me, MOTUS_MEMORY_DEVICE, "device_mv", error);
    return status;
}

MotusStatus motus_me_submit(MotusMe *me, const MotusMeJob *job) {
    MotusStatus status = motus_me_begin_call(me);
    if (!status) status = check_job(me, job, &me->refused);
    if (!status) status = motus_me_ready(me);
    if (status) return status;
    status = me->ops->submit(me->state, job, &me->error);
    if (status) return status;
    MotusMePending *p = pending_at(me, me->submitted++);
    p->is_request = 0;
    p->field = job->device_mv ? NULL : job->field;
    me->has_job = 1;
    return MOTUS_OK;
}

MotusStatus motus_me_request(MotusMe *me, const MotusMeRequest *request) {
    MotusStatus status = motus_me_begin_call(me);
    if (!status) status = motus_request_check(me, request, &me->refused);
    if (!status) status = motus_me_ready(me);
    if (status) return status;
    void *planes[MOTUS_ME_MAX_TARGETS];
    for (int i = 0; i < request->n_targets; i++) planes[i] = request->target[i].reference->planes;
    status = me->ops->request(me->state, request, planes, &me->error);
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
    MotusStatus status = motus_me_begin_call(me);
    if (!me) return status;
    if (me->submitted == me->received) return MOTUS_END;
    const MotusMePending *p = pending_at(me, me->received);
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
