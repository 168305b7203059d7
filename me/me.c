// The public calls: arguments are checked here, then the device or the CPU does the work.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/me.h"

#include "common/alloc.h"
#include "common/cpu.h"
#include "common/device.h"
#include "common/int_core.h"
#include "common/threads.h"
#include "me/reference.h"
#include "me/request.h"
#include "yuv/pad.h"
#include "yuv/usable.h"

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

// Where the caller left the choice, a device that cannot be opened leaves it to the CPU; me->error
// says why.
static MotusStatus open_cuda(MotusMe *me) {
    MotusStatus status = motus_device_choose(me->config.device, &me->device, &me->error);
    if (status == MOTUS_OK)
        status = motus_me_cuda_open(&me->cuda, &me->config, me->device, &me->error);
    if (status != MOTUS_OK && me->config.error) *me->config.error = me->error;
    if (status == MOTUS_OK || me->config.backend != MOTUS_BACKEND_AUTO) return status;
    me->backend = MOTUS_BACKEND_CPU;
    return MOTUS_OK;
}

MotusStatus motus_me_open(MotusMe **out, const MotusMeConfig *config) {
    if (!out) return MOTUS_ERR_ARGUMENT;
    *out = NULL;
    if (!config || !valid(config)) return MOTUS_ERR_ARGUMENT;
    MotusBackend backend = config->backend;
    MotusStatus status = motus_backend_choose(config->backend, &backend);
    if (status != MOTUS_OK)
        return status == MOTUS_ERR_ARGUMENT ? status : motus_device_check(config->error);
    MotusMe *me = motus_alloc(1, sizeof *me);
    if (!me) return MOTUS_ERR_MEMORY;
    int width = 16 * motus_mbs(config->width), height = 16 * motus_mbs(config->height);
    me->config = *config;
    me->backend = backend;
    me->threads = motus_threads_open(config->threads);
    me->search = motus_search_mb(motus_cpu_flags());
    me->refine = motus_refine_ops();
    me->pixel = motus_pixel_ops(!motus_cpu_flags());
    me->scratch_size = (motus_search_scratch(config->range) + 63) / 64 * 64;
    me->scratch = motus_alloc((size_t)me->threads, me->scratch_size);
    me->cur = (MotusPlane){motus_alloc((size_t)width, (size_t)height), width, width, height};
    status = motus_ref_luma_alloc(&me->ref, width, height);
    if (status == MOTUS_OK) status = motus_coarse_alloc(&me->coarse, width / 16, height / 16);
    if (!me->scratch || !me->cur.data) status = MOTUS_ERR_MEMORY;
    if (status == MOTUS_OK && backend == MOTUS_BACKEND_CUDA) status = open_cuda(me);
    me->config.error = NULL; // the caller's, for this call
    if (status != MOTUS_OK) motus_me_close(&me);
    *out = me;
    return status;
}

static MotusWaiting *waiting_at(MotusMe *me, uint64_t number) {
    return &me->waiting[number % MOTUS_ME_IN_FLIGHT];
}

// Lets go of the references of a request.
static void release(MotusWaiting *w) {
    for (int i = 0; w->is_request && i < w->request.n_targets; i++)
        motus_reference_release(&w->held[i]);
}

void motus_me_close(MotusMe **me) {
    if (!me || !*me) return;
    motus_me_cuda_close(&(*me)->cuda);
    motus_request_cuda_close(&(*me)->requests);
    motus_predict_cuda_close(&(*me)->predict);
    for (; (*me)->received != (*me)->submitted; (*me)->received++)
        release(waiting_at(*me, (*me)->received));
    motus_free((*me)->last.data);
    motus_ref_luma_free(&(*me)->ref);
    motus_coarse_free(&(*me)->coarse);
    motus_free((*me)->cur.data);
    motus_free((*me)->scratch);
    motus_free(*me);
    *me = NULL;
}

MotusBackend motus_me_backend(const MotusMe *me) { return me ? me->backend : MOTUS_BACKEND_CPU; }

const MotusError *motus_me_error(const MotusMe *me) {
    static const MotusError none = {MOTUS_OK, ""};
    return me ? &me->error : &none;
}

// ---- One picture --------------------------------------------------------------------------------

static void store(MotusField *field, int mb, uint32_t modes, const MotusMbMotion *motion) {
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        if (!(modes >> motus_blocks[b].mode & 1)) continue;
        field->mv[b][mb] = motion->mv[b];
        field->sad[b][mb] = motion->sad[b];
        field->cost[b][mb] = motion->cost[b];
    }
}

static void search_one(const MotusMe *me, const MotusPlane *cur, const MotusRefLuma *ref,
                       const MotusMeHints *hints, MotusField *field, int mb, uint8_t *scratch) {
    static const MotusMv zero = {0, 0};
    int x = 16 * (mb % field->mb_width), y = 16 * (mb / field->mb_width);
    MotusMbJob job = {.cur = cur->data + y * cur->stride + x,
                      .cur_stride = cur->stride,
                      .ref = ref,
                      .x = x,
                      .y = y,
                      .centre = hints && hints->centre ? hints->centre[mb] : zero,
                      .predictor = hints && hints->predictor ? hints->predictor[mb] : zero,
                      .lambda_q8 = !hints          ? 0
                                   : hints->lambda ? hints->lambda[mb]
                                                   : hints->lambda_q8,
                      .modes = me->config.modes,
                      .range = me->config.range};
    MotusMbMotion motion = {
        0}; // blocks of modes that are not searched are compared with others, to no effect
    me->search(&job, &motion, scratch);
    if (me->config.subpel != MOTUS_SUBPEL_FULL)
        motus_refine_mb(&job, me->config.subpel, me->refine, me->pixel, &motion);
    store(field, mb, job.modes, &motion);
}

int motus_me_valid_hints(const MotusMeHints *hints, int n_mb) {
    if (!hints) return 1;
    if (hints->lambda_q8 > MOTUS_MAX_LAMBDA_Q8) return 0;
    for (int i = 0; hints->centre && i < n_mb; i++) {
        MotusMv c = hints->centre[i];
        if ((c.x | c.y) & 3 || motus_abs(c.x) > MOTUS_MAX_CENTRE ||
            motus_abs(c.y) > MOTUS_MAX_CENTRE)
            return 0;
    }
    for (int i = 0; hints->predictor && i < n_mb; i++)
        if (motus_abs(hints->predictor[i].x) > 8191 || motus_abs(hints->predictor[i].y) > 8191)
            return 0;
    return 1;
}

// The field is one for pictures of this size.
static int same_size(const MotusField *field, int width, int height) {
    return field->mb_width == motus_mbs(width) && field->mb_height == motus_mbs(height) &&
           field->n_mb == field->mb_width * field->mb_height;
}

// Of the size, and with room for the modes that are found.
static int valid_field(const MotusMe *me, const MotusField *field) {
    if (!field || !same_size(field, me->config.width, me->config.height)) return 0;
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (me->config.modes >> motus_blocks[b].mode & 1 &&
            (!field->mv[b] || !field->sad[b] || !field->cost[b]))
            return 0;
    return 1;
}

int motus_me_valid_plane(const MotusMe *me, const MotusPlane *plane) {
    return motus_plane_usable(plane) && plane->width == me->config.width &&
           plane->height == me->config.height;
}

int motus_me_valid_memory(MotusMemory memory) {
    return memory == MOTUS_MEMORY_HOST || memory == MOTUS_MEMORY_DEVICE;
}

MotusStatus motus_me_failed(const MotusMe *me) { return me->cuda ? me->error.status : MOTUS_OK; }

// A device that has failed stays so; jobs in flight come first.
static MotusStatus ready(const MotusMe *me) {
    MotusStatus status = motus_me_failed(me);
    return status ? status : me->submitted == me->received ? MOTUS_OK : MOTUS_ERR_STATE;
}

// One picture from start to end; `memory` is where cur lies, ref is host memory.
static MotusStatus search_on_device(MotusMe *me, const MotusPlane *cur, MotusMemory memory,
                                    const MotusPlane *ref, const MotusMeHints *hints,
                                    MotusField *field) {
    MotusMeJob job = {.cur = cur, .ref = ref, .memory = memory, .hints = hints, .field = field};
    MotusStatus status = motus_me_cuda_submit(me->cuda, &job, MOTUS_MEMORY_HOST, &me->error);
    return status ? status : motus_me_cuda_receive(me->cuda, NULL, -1, &me->error);
}

// cur is whole MBs.
static void search_on_cpu(const MotusMe *me, const MotusPlane *cur, const MotusRefLuma *ref,
                          const MotusMeHints *hints, MotusField *field) {
    const int threads = motus_threads_ready(me->threads);
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 16)
    for (int mb = 0; mb < field->n_mb; mb++)
        search_one(me, cur, ref, hints, field, mb, motus_me_scratch(me));
}

const MotusPlane *motus_me_whole(const MotusMe *me, const MotusPlane *plane) {
    if (plane->width == me->cur.width && plane->height == me->cur.height) return plane;
    motus_plane_copy_padded(&me->cur, plane);
    return &me->cur;
}

// Planes of the configured size.
static void search_planes_on_cpu(MotusMe *me, const MotusPlane *cur, const MotusPlane *ref,
                                 const MotusMeHints *hints, MotusField *field) {
    motus_ref_luma_build(&me->ref, ref, me->config.subpel != MOTUS_SUBPEL_FULL,
                         motus_threads_ready(me->threads));
    search_on_cpu(me, motus_me_whole(me, cur), &me->ref, hints, field);
}

MotusStatus motus_me_search(MotusMe *me, const MotusPlane *cur, const MotusPlane *ref,
                            const MotusMeHints *hints, MotusField *field) {
    if (!me || !motus_me_valid_plane(me, cur) || !motus_me_valid_plane(me, ref))
        return MOTUS_ERR_ARGUMENT;
    if (!valid_field(me, field) || !motus_me_valid_hints(hints, field->n_mb))
        return MOTUS_ERR_ARGUMENT;
    MotusStatus status = ready(me);
    if (status) return status;
    if (me->cuda) return search_on_device(me, cur, MOTUS_MEMORY_HOST, ref, hints, field);
    search_planes_on_cpu(me, cur, ref, hints, field);
    return MOTUS_OK;
}

MotusStatus motus_me_search_prepared(MotusMe *me, const MotusPlane *cur, const MotusRefLuma *ref,
                                     const MotusMeHints *hints, MotusField *field) {
    if (!me || !cur || !ref || !field || !motus_me_valid_plane(me, cur)) return MOTUS_ERR_ARGUMENT;
    if (cur->width != me->cur.width || cur->height != me->cur.height) return MOTUS_ERR_ARGUMENT;
    if (ref->width != cur->width || ref->height != cur->height) return MOTUS_ERR_ARGUMENT;
    if (!same_size(field, cur->width, cur->height) || !motus_me_valid_hints(hints, field->n_mb))
        return MOTUS_ERR_ARGUMENT;
    MotusStatus status = ready(me);
    if (status) return status;
    if (me->cuda) {
        MotusPlane plane = {ref->plane[0], ref->stride, ref->width, ref->height};
        return search_on_device(me, cur, MOTUS_MEMORY_HOST, &plane, hints, field);
    }
    search_on_cpu(me, cur, ref, hints, field);
    return MOTUS_OK;
}

// ---- Several pictures in flight -----------------------------------------------------------------

static int valid_job(const MotusMe *me, const MotusMeJob *job) {
    if (!job || !job->cur || !motus_me_valid_plane(me, job->cur) ||
        (job->ref && !motus_me_valid_plane(me, job->ref)))
        return 0;
    int stays = job->device_mv != NULL;
    if (stays != (job->device_sad != NULL) || stays != (job->device_cost != NULL) ||
        (!stays && !job->field))
        return 0;
    if (!motus_me_valid_memory(job->memory)) return 0;
    if (job->field && !valid_field(me, job->field)) return 0;
    return motus_me_valid_hints(job->hints,
                                motus_mbs(me->config.width) * motus_mbs(me->config.height));
}

// Keeps the job's picture for the next one, which may refer to it.
static MotusStatus keep(MotusMe *me, const MotusPlane *cur) {
    if (!me->last.data) {
        me->last = (MotusPlane){motus_alloc((size_t)cur->width, (size_t)cur->height), cur->width,
                                cur->width, cur->height};
        if (!me->last.data) return MOTUS_ERR_MEMORY;
    }
    motus_plane_copy_padded(&me->last, cur);
    return MOTUS_OK;
}

static MotusStatus work_now(MotusMe *me, const MotusMeJob *job) {
    if (job->memory != MOTUS_MEMORY_HOST || job->device_mv) return MOTUS_ERR_UNSUPPORTED;
    search_planes_on_cpu(me, job->cur, job->ref ? job->ref : &me->last, job->hints, job->field);
    return keep(me, job->cur);
}

MotusStatus motus_me_submit(MotusMe *me, const MotusMeJob *job) {
    if (!me || !valid_job(me, job)) return MOTUS_ERR_ARGUMENT;
    MotusStatus status = motus_me_failed(me);
    if (status) return status;
    if (me->submitted - me->received >= MOTUS_ME_IN_FLIGHT) return MOTUS_AGAIN;
    if (!job->ref && !me->jobs) return MOTUS_ERR_STATE;
    status =
        me->cuda ? motus_me_cuda_submit(me->cuda, job, job->memory, &me->error) : work_now(me, job);
    if (status) return status;
    MotusWaiting *w = waiting_at(me, me->submitted++);
    w->is_request = 0;
    w->field = job->field;
    me->jobs++;
    return MOTUS_OK;
}

MotusStatus motus_me_request(MotusMe *me, const MotusMeRequest *request) {
    if (!me || !motus_request_valid(me, request)) return MOTUS_ERR_ARGUMENT;
    MotusStatus status = motus_me_failed(me);
    if (status) return status;
    if (me->submitted - me->received >= MOTUS_ME_IN_FLIGHT) return MOTUS_AGAIN;
    status = motus_request_start(me, request);
    if (status) return status;
    MotusWaiting *w = waiting_at(me, me->submitted++);
    w->is_request = 1;
    w->request = *request;
    w->request.target = w->target;
    for (int i = 0; i < request->n_targets; i++) {
        w->target[i] = request->target[i];
        w->held[i] = motus_reference_hold(request->target[i].reference);
    }
    return MOTUS_OK;
}

// Takes the oldest job or request, which leaves the queue unless the device failed or it is not
// ready.
static MotusStatus take(MotusMe *me, MotusField **field, void **opaque, int timeout_ms) {
    if (!me) return MOTUS_ERR_ARGUMENT;
    if (me->submitted == me->received) return MOTUS_END;
    MotusStatus status = motus_me_failed(me);
    MotusWaiting *w = waiting_at(me, me->received);
    if (!status && me->cuda && w->is_request)
        status = motus_request_cuda_take(me->requests, &w->request, timeout_ms, &me->error);
    if (!status && me->cuda && !w->is_request)
        status = motus_me_cuda_receive(me->cuda, field, timeout_ms, &me->error);
    if (status) return status;
    if (field && !me->cuda && !w->is_request) *field = w->field;
    if (opaque && w->is_request) *opaque = w->request.opaque;
    release(w);
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
