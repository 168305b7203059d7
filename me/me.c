// The motion estimator: public calls. Arguments are checked (check.c), then the backend does the
// work. Requests wait in one queue; motus_me_search is a request that is waited for.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
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
    MotusStatus status = motus_me_check_config(config, config->error);
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

// Takes the oldest request off the queue, which lets its references go.
static void drop_oldest(MotusMe *me) {
    const MotusMeRequest *r = &me->pending[me->received++ % MOTUS_ME_IN_FLIGHT].request;
    for (int i = 0; i < r->n_targets; i++) {
        MotusMeReference *reference = (MotusMeReference *)r->target[i].reference;
        atomic_fetch_sub(&reference->readers, 1);
        motus_me_reference_unref(&reference);
    }
    MotusMeReference *kept = r->keep;
    if (kept) atomic_fetch_sub(&kept->readers, 1);
    motus_me_reference_unref(&kept);
}

void motus_me_close(MotusMe **me) {
    if (!me || !*me) return;
    (*me)->ops->close((*me)->state);
    while ((*me)->received != (*me)->submitted) drop_oldest(*me);
    motus_me_reference_unref(&(*me)->own);
    motus_free(*me);
    *me = NULL;
}

MotusBackend motus_me_backend(const MotusMe *me) { return me ? me->backend : MOTUS_BACKEND_CPU; }

const MotusError *motus_me_error(const MotusMe *me) {
    static const MotusError none = {MOTUS_OK, ""};
    if (!me) return &none;
    return me->refused.status ? &me->refused : &me->error;
}

// Begins a call of the API: forgets the error of the call before. Returns MOTUS_ERR_ARGUMENT if me
// is NULL, the error of a device that has failed since, else MOTUS_OK. A device's failure comes
// before refused arguments: what failed may have left them incomplete.
static MotusStatus begin_call(MotusMe *me) {
    if (!me) return MOTUS_ERR_ARGUMENT;
    me->refused.status = MOTUS_OK;
    return me->backend == MOTUS_BACKEND_CUDA ? me->error.status : MOTUS_OK;
}

// ---- References and centres ---------------------------------------------------------------------

MotusStatus motus_me_reference_alloc(MotusMeReference **reference, MotusMe *me) {
    if (!reference) return MOTUS_ERR_ARGUMENT;
    *reference = NULL;
    MotusStatus status = begin_call(me);
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

MotusStatus motus_me_reference_fill(MotusMeReference *r, MotusMe *me, const MotusPlane *luma,
                                    MotusMemory memory, void *stream) {
    MotusStatus status = begin_call(me);
    if (!status) status = motus_me_check_reference(me, r, 0, &me->refused);
    if (!status) status = motus_me_check_plane(me, luma, "luma", &me->refused);
    if (!status) status = motus_me_check_memory(me, memory, "memory", &me->refused);
    if (status) return status;
    if (atomic_load(&r->readers))
        return motus_fail(&me->refused, MOTUS_ERR_STATE,
                          "a pending request searches or keeps the reference");
    status =
        r->ops->planes_fill(r->planes, me->state, luma, memory, r->has_half, stream, 1, &me->error);
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

MotusMeCentres motus_me_centres_default(const MotusPlane *cur, const MotusMeReference *reference,
                                        MotusMv *centre) {
    return (MotusMeCentres){
        .size = sizeof(MotusMeCentres), .cur = cur, .reference = reference, .centre = centre};
}

MotusStatus motus_me_centres(MotusMe *me, const MotusMeCentres *centres) {
    MotusStatus status = begin_call(me);
    if (status) return status;
    if (!centres) return motus_fail(&me->refused, MOTUS_ERR_ARGUMENT, "the parameters are NULL");
    if (centres->size != sizeof *centres)
        return motus_fail(&me->refused, MOTUS_ERR_ARGUMENT, "size is %zu, must be %zu",
                          centres->size, sizeof *centres);
    MotusMeCentres c = *centres;
    if (!c.reach) c.reach = MOTUS_ME_MAX_REACH;
    if (!c.limit_x) c.limit_x = MOTUS_MAX_CENTRE;
    if (!c.limit_y) c.limit_y = MOTUS_MAX_CENTRE;
    status = motus_me_check_centres(me, &c, &me->refused);
    return status ? status : me->ops->centres(me->state, &c, c.reference->planes, &me->error);
}

// ---- Requests -----------------------------------------------------------------------------------

MotusMeRequest motus_me_request_default(const MotusPlane *cur, const MotusMeTarget *target,
                                        int n_targets) {
    return (MotusMeRequest){.size = sizeof(MotusMeRequest),
                            .target_size = sizeof *target,
                            .cur = cur,
                            .target = target,
                            .n_targets = n_targets};
}

// Starts a request whose arguments are good.
static MotusStatus start(MotusMe *me, const MotusMeRequest *request) {
    void *planes[MOTUS_ME_MAX_TARGETS];
    MotusMeReference *keep = request->keep;
    for (int i = 0; i < request->n_targets; i++) planes[i] = request->target[i].reference->planes;
    const MotusStatus status = me->ops->request(
        me->state, request, planes, keep ? keep->planes : NULL, keep && keep->has_half, &me->error);
    if (status) return status;
    if (keep) {
        keep->filled = 1;
        atomic_fetch_add(&motus_me_reference_ref(keep)->readers, 1);
    }
    const uint64_t at = me->submitted++ % MOTUS_ME_IN_FLIGHT;
    me->pending[at].request = *request;
    me->pending[at].request.target = me->pending[at].target;
    for (int i = 0; i < request->n_targets; i++) {
        me->pending[at].target[i] = request->target[i];
        atomic_fetch_add(&motus_me_reference_ref(request->target[i].reference)->readers, 1);
    }
    return MOTUS_OK;
}

MotusStatus motus_me_request(MotusMe *me, const MotusMeRequest *request) {
    MotusStatus status = begin_call(me);
    if (!status) status = motus_me_check_request(me, request, &me->refused);
    if (status) return status;
    if (me->submitted - me->received == MOTUS_ME_IN_FLIGHT) return MOTUS_AGAIN;
    if (request->keep && atomic_load(&request->keep->readers))
        return motus_fail(&me->refused, MOTUS_ERR_STATE,
                          "keep: a pending request searches or keeps the reference");
    return start(me, request);
}

// The request stays pending if the device failed or it is not ready.
MotusStatus motus_me_wait(MotusMe *me, void **opaque, int timeout_ms) {
    if (opaque) *opaque = NULL;
    MotusStatus status = begin_call(me);
    if (!me) return status;
    if (me->submitted == me->received) return MOTUS_END;
    const MotusMeRequest *r = &me->pending[me->received % MOTUS_ME_IN_FLIGHT].request;
    if (!status && me->ops->finish) status = me->ops->finish(me->state, r, timeout_ms, &me->error);
    if (status) return status;
    if (opaque) *opaque = r->opaque;
    drop_oldest(me);
    return MOTUS_OK;
}

MotusStatus motus_me_search(MotusMe *me, const MotusPlane *cur, const MotusPlane *ref,
                            const MotusMeHints *hints, MotusField *field) {
    MotusStatus status = begin_call(me);
    if (!status) status = motus_me_check_plane(me, cur, "cur", &me->refused);
    if (!status) status = motus_me_check_plane(me, ref, "ref", &me->refused);
    if (!status) status = motus_me_check_field(me, field, &me->refused);
    if (status) return status;
    if (me->submitted != me->received)
        return motus_fail(&me->refused, MOTUS_ERR_STATE, "requests are pending");
    if (!me->own) status = motus_me_reference_alloc(&me->own, me);
    if (status) return status;
    const MotusMeTarget target = {.reference = me->own,
                                  .hints = hints,
                                  .mv = field->mv[0],
                                  .sad = field->sad[0],
                                  .cost = field->cost[0]};
    const MotusMeRequest request = motus_me_request_default(cur, &target, 1);
    me->own->filled = 1;
    status = motus_me_check_request(me, &request, &me->refused);
    if (!status)
        status = me->ops->planes_fill(me->own->planes, me->state, ref, MOTUS_MEMORY_HOST,
                                      me->own->has_half, NULL, 0, &me->error);
    if (!status) status = start(me, &request);
    return status ? status : motus_me_wait(me, NULL, -1);
}
