// SPDX-License-Identifier: BSD-2-Clause
#include "me/me_cuda.h"

#include "common/cuda_call.h"
#include "common/int_core.h"
#include "me/refine_cuda.h"
#include "me/search_cuda.h"

extern "C" {
#include "common/alloc.h"
#include "common/cpu.h"
}

namespace {

constexpr int SLOTS = MOTUS_ME_IN_FLIGHT + 1; // the job before stays whole: its picture is the reference of the next

// The device memory of a slot is one allocation, carved at these offsets.
struct Layout {
    size_t cur, ref, planes, centre, predictor, lambda, mv, sad, cost, size;
};

struct Slot {
    cudaStream_t stream;
    cudaEvent_t uploaded, done; // the slot's cur is in place; all of the job is
    uint8_t *device;
    uint8_t *host;      // pinned: mv, sad, cost as on the device
    const uint8_t *cur; // the job's picture: in the slot, or the caller's
    int cur_stride;
    MotusField *field; // of the job in flight
};

} // namespace

struct MotusMeCuda {
    MotusMeConfig config;
    int stride, n_mb, threads;
    Layout layout;
    Slot slot[SLOTS];
    unsigned submitted, received;
    MotusStatus failed; // sticky
};

namespace {

size_t place(size_t *end, size_t bytes) {
    size_t at = *end;
    *end += (bytes + 255) & ~(size_t)255;
    return at;
}

Layout lay_out(const MotusMeConfig *c, int stride, int n_mb) {
    size_t n = (size_t)n_mb, plane = (size_t)stride * c->height + 32, end = 0;
    Layout l;
    l.cur = place(&end, plane);
    l.ref = place(&end, plane);
    l.planes = place(&end, c->subpel == MOTUS_SUBPEL_FULL ? 0 : motus_refine_cuda_bytes(c->width, c->height));
    l.centre = place(&end, n * sizeof(MotusMv));
    l.predictor = place(&end, n * sizeof(MotusMv));
    l.lambda = place(&end, n * sizeof(uint16_t));
    l.mv = place(&end, MOTUS_BLOCKS * n * sizeof(MotusMv));
    l.sad = place(&end, MOTUS_BLOCKS * n * sizeof(uint16_t));
    l.cost = place(&end, MOTUS_BLOCKS * n * sizeof(uint32_t));
    l.size = end;
    return l;
}

// Every CUDA call passes here.
MotusStatus check(MotusMeCuda *m, cudaError_t status, const char *what, MotusError *error) {
    if (m->failed) return m->failed;
    return m->failed = motus_cuda_check(status, what, error);
}

// Copies a plane of `memory` into the slot, unless it is on the device already and lies as the kernels want it.
MotusStatus bring(MotusMeCuda *m, Slot *s, const MotusPlane *plane, MotusMemory memory, size_t at, const uint8_t **data,
                  int *stride, MotusError *error) {
    *data = plane->data, *stride = (int)plane->stride;
    if (memory == MOTUS_MEMORY_DEVICE && !(((uintptr_t)plane->data | (uintptr_t)plane->stride) & 15)) return MOTUS_OK;
    *data = s->device + at, *stride = m->stride;
    return check(m,
                 cudaMemcpy2DAsync(s->device + at, (size_t)m->stride, plane->data, (size_t)plane->stride, (size_t)m->config.width,
                                   (size_t)m->config.height, cudaMemcpyDefault, s->stream),
                 "upload", error);
}

MotusStatus bring_hint(MotusMeCuda *m, Slot *s, const void *hint, size_t bytes, size_t at, const void **data, MotusError *error) {
    *data = hint ? s->device + at : NULL;
    if (!hint) return MOTUS_OK;
    return check(m, cudaMemcpyAsync(s->device + at, hint, bytes, cudaMemcpyHostToDevice, s->stream), "upload of hints", error);
}

MotusStatus bring_hints(MotusMeCuda *m, Slot *s, const MotusMeHints *hints, MotusSearchPicture *p, MotusError *error) {
    if (!hints) return MOTUS_OK;
    const void *centre, *predictor, *lambda;
    size_t n = (size_t)m->n_mb;
    MotusStatus status = bring_hint(m, s, hints->centre, n * sizeof(MotusMv), m->layout.centre, &centre, error);
    if (!status) status = bring_hint(m, s, hints->predictor, n * sizeof(MotusMv), m->layout.predictor, &predictor, error);
    if (!status) status = bring_hint(m, s, hints->lambda, n * sizeof(uint16_t), m->layout.lambda, &lambda, error);
    if (status) return status;
    p->centre = (const MotusMv *)centre, p->predictor = (const MotusMv *)predictor, p->lambda = (const uint16_t *)lambda;
    p->lambda_q8 = hints->lambda_q8;
    return MOTUS_OK;
}

// Blocks [first, end) of the run of modes that begins with mode `from`; the next mode to look at is returned.
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

MotusStatus take_back(MotusMeCuda *m, Slot *s, size_t array, size_t entry, int first, int end, MotusError *error) {
    size_t from = array + (size_t)first * m->n_mb * entry, bytes = (size_t)(end - first) * m->n_mb * entry;
    return check(m, cudaMemcpyAsync(s->host + (from - m->layout.mv), s->device + from, bytes, cudaMemcpyDeviceToHost, s->stream),
                 "download", error);
}

MotusStatus download(MotusMeCuda *m, Slot *s, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int mode = 0, first, end; mode < MOTUS_MODES && !status;) {
        mode = run_of_modes(m->config.modes, mode, &first, &end);
        if (first == end) break;
        status = take_back(m, s, m->layout.mv, sizeof(MotusMv), first, end, error);
        if (!status) status = take_back(m, s, m->layout.sad, sizeof(uint16_t), first, end, error);
        if (!status) status = take_back(m, s, m->layout.cost, sizeof(uint32_t), first, end, error);
    }
    return status;
}

MotusStatus run(MotusMeCuda *m, Slot *s, const MotusSearchPicture *p, MotusError *error) {
    const MotusMeConfig *c = &m->config;
    MotusStatus status = check(m, motus_search_cuda(p, 1, c->width, c->height, c->range, c->modes, s->stream), "search", error);
    if (status || c->subpel == MOTUS_SUBPEL_FULL) return status;
    return check(m, motus_refine_cuda(p, s->device + m->layout.planes, c->width, c->height, c->subpel, c->modes, s->stream),
                 "refinement", error);
}

// The slot's stream waits for the caller's planes, and for the job after the slot's last one, which read the slot's picture.
MotusStatus wait_before(MotusMeCuda *m, Slot *s, Slot *next, const MotusMeJob *job, MotusError *error) {
    MotusStatus status = check(m, cudaStreamWaitEvent(s->stream, next->done, 0), "wait", error);
    if (status || job->memory != MOTUS_MEMORY_DEVICE || !job->stream) return status;
    status = check(m, cudaEventRecord(s->uploaded, (cudaStream_t)job->stream), "record", error);
    return status ? status : check(m, cudaStreamWaitEvent(s->stream, s->uploaded, 0), "wait", error);
}

MotusStatus bring_reference(MotusMeCuda *m, Slot *s, const Slot *before, const MotusMeJob *job, MotusMemory memory,
                            MotusSearchPicture *p, MotusError *error) {
    if (job->ref) return bring(m, s, job->ref, memory, m->layout.ref, &p->ref, &p->ref_stride, error);
    p->ref = before->cur, p->ref_stride = before->cur_stride;
    return check(m, cudaStreamWaitEvent(s->stream, before->uploaded, 0), "wait", error);
}

MotusStatus finish(MotusMeCuda *m, Slot *s, const MotusMeJob *job, MotusError *error) {
    MotusStatus status = job->device_mv ? MOTUS_OK : download(m, s, error);
    if (!status) status = check(m, cudaEventRecord(s->done, s->stream), "record", error);
    if (!status && job->memory == MOTUS_MEMORY_DEVICE && job->stream)
        status = check(m, cudaStreamWaitEvent((cudaStream_t)job->stream, s->done, 0), "wait", error);
    return status;
}

MotusStatus open_slot(MotusMeCuda *m, Slot *s, MotusError *error) {
    MotusStatus status = check(m, cudaStreamCreateWithFlags(&s->stream, cudaStreamNonBlocking), "stream", error);
    if (!status) status = check(m, cudaEventCreateWithFlags(&s->uploaded, cudaEventDisableTiming), "event", error);
    if (!status) status = check(m, cudaEventCreateWithFlags(&s->done, cudaEventDisableTiming), "event", error);
    if (!status) status = check(m, cudaMalloc((void **)&s->device, m->layout.size), "device memory", error);
    // Kernels read whole words, beyond the last column as well; what they find there has no effect.
    if (!status) status = check(m, cudaMemsetAsync(s->device, 0, m->layout.size, s->stream), "device memory", error);
    if (!status) status = check(m, cudaMallocHost((void **)&s->host, m->layout.size - m->layout.mv), "page-locked memory", error);
    return status;
}

void close_slot(Slot *s) {
    if (s->stream) cudaStreamSynchronize(s->stream);
    cudaFreeHost(s->host);
    cudaFree(s->device);
    if (s->uploaded) cudaEventDestroy(s->uploaded);
    if (s->done) cudaEventDestroy(s->done);
    if (s->stream) cudaStreamDestroy(s->stream);
}

void store(const MotusMeCuda *m, const Slot *s, MotusField *field) {
    auto at = [&](size_t array) { return s->host + (array - m->layout.mv); };
    motus_field_store(field, m->config.modes, (const MotusMv *)at(m->layout.mv), (const uint16_t *)at(m->layout.sad),
                      (const uint32_t *)at(m->layout.cost), m->threads);
}

} // namespace

MotusStatus motus_me_cuda_open(MotusMeCuda **cuda, const MotusMeConfig *config, MotusError *error) {
    *cuda = NULL;
    MotusMeCuda *m = (MotusMeCuda *)motus_alloc(1, sizeof *m);
    if (!m) return MOTUS_ERR_MEMORY;
    m->config = *config;
    m->stride = (config->width + 15) & ~15;
    m->n_mb = motus_mbs(config->width) * motus_mbs(config->height);
    m->threads = motus_cpu_threads(config->threads);
    m->layout = lay_out(config, m->stride, m->n_mb);
    MotusStatus status = check(m, motus_search_cuda_prepare(), "kernels", error);
    for (int i = 0; i < SLOTS && !status; i++) status = open_slot(m, &m->slot[i], error);
    *cuda = m;
    if (status) motus_me_cuda_close(cuda);
    return status;
}

void motus_me_cuda_close(MotusMeCuda **cuda) {
    if (!cuda || !*cuda) return;
    for (int i = 0; i < SLOTS; i++) close_slot(&(*cuda)->slot[i]);
    cudaGetLastError(); // what was kept in `error` need not trouble the caller's own calls
    motus_free(*cuda);
    *cuda = NULL;
}

MotusStatus motus_me_cuda_submit(MotusMeCuda *m, const MotusMeJob *job, MotusMemory ref_memory, MotusError *error) {
    if (m->failed) return m->failed;
    if (m->submitted - m->received >= MOTUS_ME_IN_FLIGHT) return MOTUS_AGAIN;
    Slot *s = &m->slot[m->submitted % SLOTS], *next = &m->slot[(m->submitted + 1) % SLOTS];
    Slot *before = &m->slot[(m->submitted + SLOTS - 1) % SLOTS];
    MotusSearchPicture p = {};
    p.mv = job->device_mv ? job->device_mv : (MotusMv *)(s->device + m->layout.mv);
    p.sad = job->device_mv ? job->device_sad : (uint16_t *)(s->device + m->layout.sad);
    p.cost = job->device_mv ? job->device_cost : (uint32_t *)(s->device + m->layout.cost);
    MotusStatus status = wait_before(m, s, next, job, error);
    if (!status) status = bring(m, s, job->cur, job->memory, m->layout.cur, &p.cur, &p.cur_stride, error);
    s->cur = p.cur, s->cur_stride = p.cur_stride;
    if (!status) status = check(m, cudaEventRecord(s->uploaded, s->stream), "record", error);
    if (!status) status = bring_reference(m, s, before, job, ref_memory, &p, error);
    if (!status) status = bring_hints(m, s, job->hints, &p, error);
    if (!status) status = run(m, s, &p, error);
    if (!status) status = finish(m, s, job, error);
    s->field = job->device_mv ? NULL : job->field;
    if (!status) m->submitted++;
    return status;
}

MotusStatus motus_me_cuda_receive(MotusMeCuda *m, MotusField **field, MotusError *error) {
    if (field) *field = NULL;
    if (m->failed) return m->failed;
    if (m->submitted == m->received) return MOTUS_END;
    Slot *s = &m->slot[m->received % SLOTS];
    MotusStatus status = check(m, cudaEventSynchronize(s->done), "motion estimation", error);
    if (status) return status;
    m->received++;
    if (s->field) store(m, s, s->field);
    if (field) *field = s->field;
    return MOTUS_OK;
}
