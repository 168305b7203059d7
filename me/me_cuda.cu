// The CUDA backend. Whole pictures (jobs) go through a ring of slots, on streams in turn, so that
// upload, search, refinement and download of neighbouring pictures overlap. Nothing is allocated
// per picture. Requests: request_cuda.cu; references: reference_cuda.cu; centres: predict_cuda.cu.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cuda_call.cuh"
#include "common/int_core.h"
#include "common/slots.h"
#include "me/backend.h"
#include "me/field.h"
#include "me/pixel/ref_luma_cuda.h"
#include "me/request_cuda.h"
#include "me/search/refine_cuda.h"
#include "me/search/search_cuda.h"

extern "C" {
#include "common/alloc.h"
#include "common/cpu.h"
}

namespace {

// One more than may be pending: the previous job's picture may be the next one's reference.
constexpr int SLOTS = MOTUS_ME_IN_FLIGHT + 1;
constexpr int STREAMS = MOTUS_ME_IN_FLIGHT; // in turn, so that all pending jobs have their own
static_assert(STREAMS <= MOTUS_MAX_STREAMS, "motus_slots_open");

// Offsets in the device memory of a slot.
struct Layout {
    size_t cur, ref, planes, centre, predictor, lambda, mv, sad, cost, size;
};

// The job of a slot. The slot's pinned block holds mv, sad and cost with the device's layout.
struct Task {
    MotusSlot *slot;
    cudaStream_t stream;
    const uint8_t *cur; // the picture, in the slot or in the caller's memory
    int cur_stride;
    MotusField *field;
};

struct MeCuda {
    MotusMeConfig config;
    int device, stride, n_mb, threads;
    Layout layout;
    MotusSlots slots;
    Task task[SLOTS];           // of each slot
    MotusRequestCuda *requests; // opened with the first request
    MotusPredictCuda *predict;  // opened with the first prediction
};

Layout lay_out(const MotusMeConfig *c, int stride, int n_mb) {
    size_t n = (size_t)n_mb, plane = (size_t)stride * c->height + 32, end = 0;
    Layout l;
    l.cur = motus_slot_reserve(&end, plane);
    l.ref = motus_slot_reserve(&end, plane);
    l.planes = motus_slot_reserve(
        &end, c->subpel == MOTUS_SUBPEL_FULL ? 0 : motus_ref_luma_bytes(c->width, c->height));
    l.centre = motus_slot_reserve(&end, n * sizeof(MotusMv));
    l.predictor = motus_slot_reserve(&end, n * sizeof(MotusMv));
    l.lambda = motus_slot_reserve(&end, n * sizeof(uint16_t));
    l.mv = motus_slot_reserve(&end, MOTUS_BLOCKS * n * sizeof(MotusMv));
    l.sad = motus_slot_reserve(&end, MOTUS_BLOCKS * n * sizeof(uint16_t));
    l.cost = motus_slot_reserve(&end, MOTUS_BLOCKS * n * sizeof(uint32_t));
    l.size = end;
    return l;
}

// Copies a plane into the slot, unless it is in device memory and aligned for the kernels.
MotusStatus copy_plane(MeCuda *m, Task *t, const MotusPlane *plane, MotusMemory memory, size_t at,
                       const uint8_t **data, int *stride, MotusError *error) {
    *data = plane->data, *stride = (int)plane->stride;
    if (memory == MOTUS_MEMORY_DEVICE &&
        !(((uintptr_t)plane->data | (uintptr_t)plane->stride) & 15))
        return MOTUS_OK;
    *data = t->slot->device + at, *stride = m->stride;
    return motus_cuda_check(cudaMemcpy2DAsync(t->slot->device + at, (size_t)m->stride, plane->data,
                                              (size_t)plane->stride, (size_t)m->config.width,
                                              (size_t)m->config.height, cudaMemcpyDefault,
                                              t->stream),
                            "upload", error);
}

MotusStatus copy_hint(Task *t, const void *hint, size_t bytes, size_t at, const void **data,
                      MotusError *error) {
    *data = hint ? t->slot->device + at : NULL;
    if (!hint) return MOTUS_OK;
    return motus_cuda_check(
        cudaMemcpyAsync(t->slot->device + at, hint, bytes, cudaMemcpyHostToDevice, t->stream),
        "upload of hints", error);
}

MotusStatus copy_hints(MeCuda *m, Task *t, const MotusMeHints *hints, MotusSearchPicture *p,
                       MotusError *error) {
    if (!hints) return MOTUS_OK;
    const void *centre, *predictor, *lambda;
    size_t n = (size_t)m->n_mb;
    MotusStatus status =
        copy_hint(t, hints->centre, n * sizeof(MotusMv), m->layout.centre, &centre, error);
    if (!status)
        status = copy_hint(t, hints->predictor, n * sizeof(MotusMv), m->layout.predictor,
                           &predictor, error);
    if (!status)
        status =
            copy_hint(t, hints->lambda, n * sizeof(uint16_t), m->layout.lambda, &lambda, error);
    if (status) return status;
    p->centre = (const MotusMv *)centre, p->predictor = (const MotusMv *)predictor,
    p->lambda = (const uint16_t *)lambda;
    p->lambda_q8 = hints->lambda_q8;
    return MOTUS_OK;
}

// Finds blocks [first, end) of the first run of modes from `from` on. Returns the mode after it.
int run_of_modes(uint32_t modes, int from, int *first, int *end) {
    int b = 0;
    while (from < MOTUS_MODES && !(modes >> from & 1)) from++;
    while (b < MOTUS_BLOCKS && motus_blocks[b].mode < from) b++;
    *first = b;
    while (from < MOTUS_MODES && modes >> from & 1) from++;
    while (b < MOTUS_BLOCKS && motus_blocks[b].mode < from) b++;
    *end = b;
    return from;
}

MotusStatus download_bytes(MeCuda *m, Task *t, size_t from, size_t bytes, MotusError *error) {
    return motus_cuda_check(cudaMemcpyAsync(t->slot->host + (from - m->layout.mv),
                                            t->slot->device + from, bytes, cudaMemcpyDeviceToHost,
                                            t->stream),
                            "download", error);
}

MotusStatus download_array(MeCuda *m, Task *t, size_t array, size_t entry, int first, int end,
                           MotusError *error) {
    return download_bytes(m, t, array + (size_t)first * m->n_mb * entry,
                          (size_t)(end - first) * m->n_mb * entry, error);
}

MotusStatus download(MeCuda *m, Task *t, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    if (m->config.modes == MOTUS_MODES_ALL)
        return download_bytes(m, t, m->layout.mv, m->layout.size - m->layout.mv, error);
    for (int mode = 0, first, end; mode < MOTUS_MODES && !status;) {
        mode = run_of_modes(m->config.modes, mode, &first, &end);
        if (first == end) break;
        status = download_array(m, t, m->layout.mv, sizeof(MotusMv), first, end, error);
        if (!status)
            status = download_array(m, t, m->layout.sad, sizeof(uint16_t), first, end, error);
        if (!status)
            status = download_array(m, t, m->layout.cost, sizeof(uint32_t), first, end, error);
    }
    return status;
}

MotusStatus run(MeCuda *m, Task *t, const MotusSearchPicture *p, MotusError *error) {
    const MotusMeConfig *c = &m->config;
    MotusStatus status = motus_cuda_check(
        motus_search_cuda(p, 1, c->width, c->height, c->range, c->modes, t->stream), "search",
        error);
    if (status || c->subpel == MOTUS_SUBPEL_FULL) return status;
    MotusRefLuma ref;
    motus_ref_luma_layout(&ref, t->slot->device + m->layout.planes, c->width, c->height);
    const MotusPlane luma = {const_cast<uint8_t *>(p->ref), p->ref_stride, c->width, c->height};
    status =
        motus_cuda_check(motus_ref_luma_cuda_build(&ref, &luma, t->stream), "reference", error);
    if (status) return status;
    const cudaError_t refined =
        c->subpel == MOTUS_SUBPEL_BEST
            ? motus_refine_best_cuda(p, &ref, c->width, c->height, c->range, c->modes, {},
                                     t->stream)
            : motus_refine_cuda(p, &ref, c->width, c->height, c->subpel, c->modes, {}, t->stream);
    return motus_cuda_check(refined, "refinement", error);
}

// Lets the job's stream wait for the caller's planes, and for the job after the slot's previous
// one, which has read the slot's picture.
MotusStatus wait_before(Task *t, Task *next, const MotusMeJob *job, MotusError *error) {
    MotusStatus status =
        motus_cuda_check(cudaStreamWaitEvent(t->stream, next->slot->done, 0), "wait", error);
    if (status || job->memory != MOTUS_MEMORY_DEVICE || !job->stream) return status;
    status = motus_cuda_check(cudaEventRecord(t->slot->uploaded, (cudaStream_t)job->stream),
                              "record", error);
    return status ? status
                  : motus_cuda_check(cudaStreamWaitEvent(t->stream, t->slot->uploaded, 0), "wait",
                                     error);
}

MotusStatus find_reference(MeCuda *m, Task *t, const Task *before, const MotusMeJob *job,
                           MotusSearchPicture *p, MotusError *error) {
    if (job->ref)
        return copy_plane(m, t, job->ref, job->memory, m->layout.ref, &p->ref, &p->ref_stride,
                          error);
    p->ref = before->cur, p->ref_stride = before->cur_stride;
    return motus_cuda_check(cudaStreamWaitEvent(t->stream, before->slot->uploaded, 0), "wait",
                            error);
}

MotusStatus end_job(MeCuda *m, Task *t, const MotusMeJob *job, MotusError *error) {
    MotusStatus status = job->device_mv ? MOTUS_OK : download(m, t, error);
    if (!status)
        status = motus_cuda_check(cudaEventRecord(t->slot->done, t->stream), "record", error);
    if (!status && job->memory == MOTUS_MEMORY_DEVICE && job->stream)
        status = motus_cuda_check(cudaStreamWaitEvent((cudaStream_t)job->stream, t->slot->done, 0),
                                  "wait", error);
    return status;
}

void store(const MeCuda *m, const Task *t, MotusField *field) {
    auto at = [&](size_t array) { return t->slot->host + (array - m->layout.mv); };
    motus_field_store(field, m->config.modes, (const MotusMv *)at(m->layout.mv),
                      (const uint16_t *)at(m->layout.sad), (const uint32_t *)at(m->layout.cost),
                      m->threads);
}

// ---- The table ----------------------------------------------------------------------------------

void close_state(void *state) {
    MeCuda *m = (MeCuda *)state;
    if (!m) return;
    MotusOnDevice on(m->device);
    motus_slots_close(&m->slots);
    motus_request_cuda_close(&m->requests);
    motus_predict_cuda_close(&m->predict);
    motus_free(m);
}

MotusStatus open_state(void **state, const MotusMeConfig *config, int device, MotusError *error) {
    MotusOnDevice on(device);
    MeCuda *m = (MeCuda *)motus_alloc(1, sizeof *m);
    if (!m) return MOTUS_ERR_MEMORY;
    m->config = *config;
    m->device = device;
    m->stride = (config->width + 15) & ~15;
    m->n_mb = motus_mbs(config->width) * motus_mbs(config->height);
    m->threads = motus_cpu_threads(config->threads);
    m->layout = lay_out(config, m->stride, m->n_mb);
    MotusStatus status = motus_cuda_check(motus_search_cuda_prepare(), "kernels", error);
    if (!status)
        status = motus_slots_open(&m->slots, SLOTS, STREAMS, m->layout.size,
                                  m->layout.size - m->layout.mv, error);
    for (int i = 0; i < SLOTS; i++) m->task[i].slot = &m->slots.slot[i];
    if (status)
        close_state(m);
    else
        *state = m;
    return status;
}

MotusStatus submit(void *state, const MotusMeJob *job, MotusError *error) {
    MeCuda *m = (MeCuda *)state;
    MotusOnDevice on(m->device);
    int64_t n = m->slots.submitted;
    Task *t = &m->task[n % SLOTS], *next = &m->task[(n + 1) % SLOTS],
         *before = &m->task[(n + SLOTS - 1) % SLOTS];
    t->stream = m->slots.stream[n % STREAMS];
    MotusSearchPicture p = {};
    p.mv = job->device_mv ? job->device_mv : (MotusMv *)(t->slot->device + m->layout.mv);
    p.sad = job->device_mv ? job->device_sad : (uint16_t *)(t->slot->device + m->layout.sad);
    p.cost = job->device_mv ? job->device_cost : (uint32_t *)(t->slot->device + m->layout.cost);
    MotusStatus status = wait_before(t, next, job, error);
    if (!status)
        status =
            copy_plane(m, t, job->cur, job->memory, m->layout.cur, &p.cur, &p.cur_stride, error);
    t->cur = p.cur, t->cur_stride = p.cur_stride;
    if (!status)
        status = motus_cuda_check(cudaEventRecord(t->slot->uploaded, t->stream), "record", error);
    if (!status) status = find_reference(m, t, before, job, &p, error);
    if (!status) status = copy_hints(m, t, job->hints, &p, error);
    if (!status) status = run(m, t, &p, error);
    if (!status) status = end_job(m, t, job, error);
    t->field = job->device_mv ? NULL : job->field;
    if (!status) m->slots.submitted++;
    return status;
}

MotusStatus request(void *state, const MotusMeRequest *r, void *const planes[], MotusError *error) {
    MeCuda *m = (MeCuda *)state;
    MotusOnDevice on(m->device);
    MotusStatus status =
        m->requests ? MOTUS_OK : motus_request_cuda_open(&m->requests, &m->config, error);
    return status ? status
                  : motus_request_cuda_submit(m->requests, r,
                                              (const MotusReferenceCuda *const *)planes, error);
}

MotusStatus finish(void *state, const MotusMeRequest *r, int timeout_ms, MotusError *error) {
    MeCuda *m = (MeCuda *)state;
    MotusOnDevice on(m->device);
    if (r) return motus_request_cuda_finish(m->requests, r, timeout_ms, error);
    Task *t = &m->task[m->slots.taken % SLOTS];
    MotusStatus status = motus_cuda_wait(t->slot->done, timeout_ms, "motion estimation", error);
    if (status) return status;
    m->slots.taken++;
    if (t->field) store(m, t, t->field);
    return MOTUS_OK;
}

MotusStatus search(void *state, const MotusPlane *cur, const MotusPlane *ref,
                   const MotusMeHints *hints, MotusField *field, MotusError *error) {
    MotusMeJob job = {};
    job.cur = cur, job.ref = ref, job.hints = hints, job.field = field;
    MotusStatus status = submit(state, &job, error);
    return status ? status : finish(state, NULL, -1, error);
}

MotusStatus predict(void *state, const MotusMeCentres *p, const void *planes, MotusError *error) {
    MeCuda *m = (MeCuda *)state;
    MotusOnDevice on(m->device);
    MotusStatus status =
        m->predict ? MOTUS_OK : motus_predict_cuda_open(&m->predict, &m->config, error);
    return status ? status
                  : motus_predict_cuda(m->predict, p, (const MotusReferenceCuda *)planes, error);
}

MotusStatus planes_alloc(void **planes, const MotusMeConfig *config, int device,
                         MotusError *error) {
    return motus_reference_cuda_open((MotusReferenceCuda **)planes, config, device, error);
}

MotusStatus planes_fill(void *planes, void *, const MotusPlane *luma, MotusMemory memory, int,
                        void *stream, MotusError *error) {
    return motus_reference_cuda_fill((MotusReferenceCuda *)planes, luma, memory, stream, error);
}

void planes_free(void *planes) { motus_reference_cuda_close((MotusReferenceCuda *)planes); }

} // namespace

const MotusMeOps motus_me_ops_cuda = {open_state,  close_state, search,  submit,
                                      request,     finish,      predict, planes_alloc,
                                      planes_fill, planes_free, NULL};
