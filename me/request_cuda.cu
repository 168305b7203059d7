// Requests on a device. A request is one chain on its slot's stream: the picture in whole MBs, the
// mask of wanted blocks, statistics; then for each target hints, search, refinement and distances.
// Requests overlap. A slot's device memory grows to that of the largest request.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/request_cuda.h"

#include "common/slots.h"
#include "me/chain.cuh"
#include "me/field.h"
#include "me/request_kernels.cuh"
#include "me/search/refine_cuda.h"

extern "C" {
#include "common/alloc.h"
}

namespace {

// Offsets in a slot's device memory; from `results` on there is a pinned copy.
struct Layout {
    size_t cur, upload, modes, wanted, results, mask, stats, end;
    size_t centre, predictor, lambda, skip, hints_step; // target 0's; bytes to the next target's
    size_t mv, sad, satd, cost, skip_sad, skip_satd, zero_sad, found_step; // the same
};

struct Slot {
    MotusChain chain; // done: results are in the caller's memory, or in the pinned block
    uint8_t *device, *host;
    size_t device_bytes, host_bytes;
    Layout layout; // of the pending request
    bool masked;
};

} // namespace

struct MotusRequestCuda {
    MotusMeConfig config;
    int width, height, mb_width, n_mb; // whole MBs
    Slot slot[MOTUS_ME_IN_FLIGHT];
    uint64_t submitted, finished;
};

namespace {

int blocks_for(size_t threads) { return (int)((threads + THREADS - 1) / THREADS); }

// ---- Slots --------------------------------------------------------------------------------------

Layout lay_out(const MotusRequestCuda *q, int n_targets) {
    size_t n = (size_t)q->n_mb, plane = (size_t)q->width * q->height + 64, end = 0, first;
    Layout l;
    l.cur = motus_slot_reserve(&end, plane);
    l.upload = motus_slot_reserve(&end, plane);
    l.modes = motus_slot_reserve(&end, n);
    l.wanted = motus_slot_reserve(&end, n * sizeof(uint64_t));
    first = end;
    l.centre = motus_slot_reserve(&end, n * sizeof(MotusMv));
    l.predictor = motus_slot_reserve(&end, n * sizeof(MotusMv));
    l.skip = motus_slot_reserve(&end, n * sizeof(MotusMv));
    l.lambda = motus_slot_reserve(&end, n * sizeof(uint16_t));
    l.hints_step = end - first;
    end = first + l.hints_step * (size_t)n_targets;
    l.results = end;
    l.mask = motus_slot_reserve(&end, n);
    l.stats = motus_slot_reserve(&end, n * sizeof(MotusMbStats));
    first = end;
    l.mv = motus_slot_reserve(&end, MOTUS_BLOCKS * n * sizeof(MotusMv));
    l.sad = motus_slot_reserve(&end, MOTUS_BLOCKS * n * sizeof(uint16_t));
    l.satd = motus_slot_reserve(&end, MOTUS_BLOCKS * n * sizeof(uint32_t));
    l.cost = motus_slot_reserve(&end, MOTUS_BLOCKS * n * sizeof(uint32_t));
    l.skip_sad = motus_slot_reserve(&end, n * sizeof(uint16_t));
    l.skip_satd = motus_slot_reserve(&end, n * sizeof(uint32_t));
    l.zero_sad = motus_slot_reserve(&end, n * sizeof(uint16_t));
    l.found_step = end - first;
    l.end = first + l.found_step * (size_t)n_targets;
    return l;
}

// Grows the memory of a slot without a pending request.
MotusStatus grow(Slot *s, size_t device_bytes, size_t host_bytes, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    if (s->device_bytes < device_bytes) {
        cudaFree(s->device);
        s->device = NULL, s->device_bytes = 0;
        status =
            motus_cuda_check(cudaMalloc((void **)&s->device, device_bytes), "device memory", error);
        if (!status)
            status = motus_cuda_check(cudaMemsetAsync(s->device, 0, device_bytes, s->chain.stream),
                                      "device memory", error);
        if (!status) s->device_bytes = device_bytes;
    }
    if (!status && s->host_bytes < host_bytes) {
        cudaFreeHost(s->host);
        s->host = NULL, s->host_bytes = 0;
        status =
            motus_cuda_check(cudaMallocHost((void **)&s->host, host_bytes), "pinned memory", error);
        if (!status) s->host_bytes = host_bytes;
    }
    return status;
}

// ---- A request ----------------------------------------------------------------------------------

// A request being submitted.
struct Job {
    MotusRequestCuda *q;
    Slot *s;
    const MotusMeRequest *r;
    MotusPlane cur;           // whole MBs
    const uint8_t *mask;      // of modes, per MB; NULL: all
    MotusWantedBlocks wanted; // the same in blocks
    MotusError *error;

    size_t n() const { return (size_t)q->n_mb; }
    cudaStream_t stream() const { return s->chain.stream; }
    // Target i's hints and results.
    uint8_t *hint(size_t at, int i) const {
        return s->device + at + s->layout.hints_step * (size_t)i;
    }
    uint8_t *found(size_t at, int i) const {
        return s->device + at + s->layout.found_step * (size_t)i;
    }
    // Returns the destination of a result: the caller's device memory, or the slot.
    template <class T> T *result(T *wanted, uint8_t *own) const {
        return wanted && r->results_memory == MOTUS_MEMORY_DEVICE ? wanted
                                                                  : reinterpret_cast<T *>(own);
    }
    MotusStatus check(cudaError_t status, const char *what) const {
        return motus_cuda_check(status, what, error);
    }
    MotusStatus copy(void *to, const void *from, size_t bytes, const char *what) const {
        return motus_chain_copy(&s->chain, to, from, bytes, what, error);
    }
};

// Uploads MVs of the caller, or clips them if they are in device memory.
MotusStatus copy_mvs(const Job &j, const MotusMv *from, uint8_t *to, int limit, int step,
                     const MotusMv **mvs) {
    *mvs = from ? reinterpret_cast<MotusMv *>(to) : NULL;
    if (!from) return MOTUS_OK;
    if (j.r->hints_memory == MOTUS_MEMORY_HOST)
        return j.copy(to, from, j.n() * sizeof *from, "upload of hints");
    clip_mvs<<<blocks_for(j.n()), THREADS, 0, j.stream()>>>(reinterpret_cast<MotusMv *>(to), from,
                                                            j.q->n_mb, limit, step);
    return motus_cuda_launched("hints", j.error);
}

MotusStatus copy_hints(const Job &j, int i, MotusSearchPicture *p) {
    const MotusMeHints *hints = j.r->target[i].hints;
    const Layout &l = j.s->layout;
    if (!hints) return MOTUS_OK;
    MotusStatus status =
        copy_mvs(j, hints->centre, j.hint(l.centre, i), MOTUS_MAX_CENTRE, 4, &p->centre);
    if (!status)
        status = copy_mvs(j, hints->predictor, j.hint(l.predictor, i), 8191, 1, &p->predictor);
    p->lambda = hints->lambda, p->lambda_q8 = hints->lambda_q8;
    if (status || !hints->lambda || j.r->hints_memory == MOTUS_MEMORY_DEVICE) return status;
    p->lambda = reinterpret_cast<uint16_t *>(j.hint(l.lambda, i));
    return j.copy(j.hint(l.lambda, i), hints->lambda, j.n() * sizeof *hints->lambda,
                  "upload of hints");
}

MotusStatus search_target(const Job &j, int i, const MotusReferenceCuda *reference) {
    const MotusMeTarget *t = &j.r->target[i];
    const MotusMeConfig *c = &j.q->config;
    const Layout &l = j.s->layout;
    const MotusRefLuma *ref = &reference->luma;
    const bool refined = c->subpel != MOTUS_SUBPEL_FULL;
    if (!t->mv && !t->sad && !t->satd && !t->cost) return MOTUS_OK;
    MotusSearchPicture p = {};
    p.cur = j.cur.data, p.cur_stride = (int)j.cur.stride;
    p.ref = ref->plane[0], p.ref_stride = (int)ref->stride;
    p.mv = j.result(t->mv, j.found(l.mv, i)), p.sad = j.result(t->sad, j.found(l.sad, i));
    p.cost = j.result(t->cost, j.found(l.cost, i));
    MotusStatus status = copy_hints(j, i, &p);
    if (!status)
        status = j.check(motus_search_masked_cuda(&p, j.mask, j.q->width, j.q->height, c->range,
                                                  c->modes, j.stream()),
                         "search");
    if (!status && c->subpel == MOTUS_SUBPEL_BEST)
        status = j.check(motus_refine_best_cuda(&p, ref, j.q->width, j.q->height, c->range,
                                                c->modes, j.wanted, j.stream()),
                         "refinement");
    else if (!status && refined)
        status = j.check(motus_refine_cuda(&p, ref, j.q->width, j.q->height, c->subpel, c->modes,
                                           j.wanted, j.stream()),
                         "refinement");
    if (status || !t->satd) return status;
    find_satd<<<blocks_for(MOTUS_BLOCKS * j.n()), THREADS, 0, j.stream()>>>(
        j.result(t->satd, j.found(l.satd, i)), p, j.cur, *ref, motus_block_table(), j.mask,
        c->modes, refined, j.q->mb_width, j.q->n_mb);
    return motus_cuda_launched("SATDs", j.error);
}

MotusStatus measure_target(const Job &j, int i, const MotusReferenceCuda *reference) {
    const MotusMeTarget *t = &j.r->target[i];
    const Layout &l = j.s->layout;
    if (!t->skip_sad && !t->skip_satd && !t->zero_sad) return MOTUS_OK;
    Measures m = {};
    MotusStatus status =
        copy_mvs(j, t->skip_mv, j.hint(l.skip, i), 8191, reference->has_half ? 1 : 4, &m.skip);
    if (status) return status;
    if (t->skip_sad) m.skip_sad = j.result(t->skip_sad, j.found(l.skip_sad, i));
    if (t->skip_satd) m.skip_satd = j.result(t->skip_satd, j.found(l.skip_satd, i));
    if (t->zero_sad) m.zero_sad = j.result(t->zero_sad, j.found(l.zero_sad, i));
    measure<<<blocks_for(j.n()), THREADS, 0, j.stream()>>>(m, j.cur, reference->luma, j.mask,
                                                           j.q->mb_width, j.q->n_mb);
    return motus_cuda_launched("distances", j.error);
}

// Makes the mask, unless all blocks of all MBs are wanted.
MotusStatus prepare_mask(Job &j) {
    const MotusMeRequest *r = j.r;
    j.s->masked = r->modes || r->region.width;
    j.mask = j.s->masked ? j.s->device + j.s->layout.mask : NULL;
    if (!j.s->masked) return MOTUS_OK;
    const uint8_t *modes = r->modes;
    MotusStatus status = MOTUS_OK;
    if (modes && r->hints_memory == MOTUS_MEMORY_HOST) {
        modes = j.s->device + j.s->layout.modes;
        status = j.copy(j.s->device + j.s->layout.modes, r->modes, j.n(), "upload of modes");
    }
    if (status) return status;
    uint64_t *wanted = (uint64_t *)(j.s->device + j.s->layout.wanted);
    j.wanted = MotusWantedBlocks{wanted, 1};
    make_mask<<<blocks_for(j.n()), THREADS, 0, j.stream()>>>(
        j.s->device + j.s->layout.mask, wanted, motus_block_table(), modes, j.q->config.modes,
        r->region, j.q->mb_width, j.q->n_mb);
    return motus_cuda_launched("mask", j.error);
}

MotusStatus describe_picture(const Job &j) {
    if (!j.r->stats) return MOTUS_OK;
    describe<<<blocks_for(j.n()), THREADS, 0, j.stream()>>>(
        j.result(j.r->stats, j.s->device + j.s->layout.stats), j.cur, j.mask, j.q->mb_width,
        j.q->n_mb);
    return motus_cuda_launched("statistics", j.error);
}

// ---- Results that go to the host ----------------------------------------------------------------

// Copies a result from the slot's device memory to the pinned block.
MotusStatus down(const Job &j, const void *wanted, uint8_t *from, size_t bytes) {
    if (!wanted) return MOTUS_OK;
    const size_t at = (size_t)(from - j.s->device) - j.s->layout.results;
    return j.copy(j.s->host + at, from, bytes, "download");
}

// Returns the number of blocks up to the last one of the modes.
size_t blocks_of(uint32_t modes) {
    size_t n = 0;
    for (size_t b = 0; b < MOTUS_BLOCKS; b++)
        if (modes >> motus_blocks[b].mode & 1) n = b + 1;
    return n;
}

MotusStatus download(const Job &j) {
    const Layout &l = j.s->layout;
    const size_t n = j.n(), all = n * blocks_of(j.q->config.modes);
    MotusStatus status = down(j, j.mask, j.s->device + l.mask, n);
    if (!status) status = down(j, j.r->stats, j.s->device + l.stats, n * sizeof(MotusMbStats));
    for (int i = 0; i < j.r->n_targets && !status; i++) {
        const MotusMeTarget *t = &j.r->target[i];
        status = down(j, t->mv, j.found(l.mv, i), all * sizeof *t->mv);
        if (!status) status = down(j, t->sad, j.found(l.sad, i), all * sizeof *t->sad);
        if (!status) status = down(j, t->satd, j.found(l.satd, i), all * sizeof *t->satd);
        if (!status) status = down(j, t->cost, j.found(l.cost, i), all * sizeof *t->cost);
        if (!status) status = down(j, t->skip_sad, j.found(l.skip_sad, i), n * sizeof *t->skip_sad);
        if (!status)
            status = down(j, t->skip_satd, j.found(l.skip_satd, i), n * sizeof *t->skip_satd);
        if (!status) status = down(j, t->zero_sad, j.found(l.zero_sad, i), n * sizeof *t->zero_sad);
    }
    return status;
}

void store(const MotusRequestCuda *q, const Slot *s, const MotusMeRequest *r) {
    const Layout &l = s->layout;
    const uint8_t *host = s->host, *mask = s->masked ? host + (l.mask - l.results) : NULL;
    motus_stats_store(r->stats, (const MotusMbStats *)(host + (l.stats - l.results)), mask,
                      q->n_mb);
    for (int i = 0; i < r->n_targets; i++) {
        uint8_t *found = s->host + l.found_step * (size_t)i - l.results; // plus the layout's offset
        MotusMeTarget from = {};
        from.mv = (MotusMv *)(found + l.mv), from.sad = (uint16_t *)(found + l.sad);
        from.satd = (uint32_t *)(found + l.satd), from.cost = (uint32_t *)(found + l.cost);
        from.skip_sad = (uint16_t *)(found + l.skip_sad),
        from.skip_satd = (uint32_t *)(found + l.skip_satd);
        from.zero_sad = (uint16_t *)(found + l.zero_sad);
        motus_target_store(&r->target[i], &from, q->config.modes, mask, q->n_mb);
    }
}

} // namespace

// ---- Calls --------------------------------------------------------------------------------------

MotusStatus motus_request_cuda_open(MotusRequestCuda **requests, const MotusMeConfig *config,
                                    MotusError *error) {
    MotusRequestCuda *q = *requests = (MotusRequestCuda *)motus_alloc(1, sizeof *q);
    if (!q) return MOTUS_ERR_MEMORY;
    q->config = *config;
    q->mb_width = motus_mbs(config->width);
    q->n_mb = q->mb_width * motus_mbs(config->height);
    q->width = 16 * q->mb_width, q->height = 16 * motus_mbs(config->height);
    MotusStatus status = MOTUS_OK;
    for (Slot *s = q->slot; s < q->slot + MOTUS_ME_IN_FLIGHT && !status; s++)
        status = motus_chain_open(&s->chain, error);
    if (status) motus_request_cuda_close(requests);
    return status;
}

void motus_request_cuda_close(MotusRequestCuda **requests) {
    if (!requests || !*requests) return;
    MotusRequestCuda *q = *requests;
    for (Slot *s = q->slot; s < q->slot + MOTUS_ME_IN_FLIGHT; s++) {
        if (s->chain.stream) cudaStreamSynchronize(s->chain.stream);
        cudaFree(s->device);
        cudaFreeHost(s->host);
        motus_chain_close(&s->chain);
    }
    cudaGetLastError(); // a reported error must not reappear in the caller's own calls
    motus_free(q);
    *requests = NULL;
}

MotusStatus motus_request_cuda_submit(MotusRequestCuda *q, const MotusMeRequest *r,
                                      const MotusReferenceCuda *const *reference,
                                      MotusError *error) {
    Slot *s = &q->slot[q->submitted % MOTUS_ME_IN_FLIGHT];
    s->layout = lay_out(q, r->n_targets);
    const bool to_host = r->results_memory == MOTUS_MEMORY_HOST;
    MotusStatus status =
        grow(s, s->layout.end, to_host ? s->layout.end - s->layout.results : 0, error);
    if (status) return status;
    Job j = {q,    s,         r,    {s->device + s->layout.cur, q->width, q->width, q->height},
             NULL, {NULL, 0}, error};
    status = motus_chain_begin(&s->chain, r->stream, error);
    if (!status)
        status = motus_chain_copy_padded(&s->chain, &j.cur, s->device + s->layout.upload, r->cur,
                                         r->memory, error);
    if (!status) status = prepare_mask(j);
    if (!status) status = describe_picture(j);
    for (int i = 0; i < r->n_targets && !status; i++) {
        status = j.check(cudaStreamWaitEvent(s->chain.stream, reference[i]->ready, 0), "wait");
        if (!status) status = search_target(j, i, reference[i]);
        if (!status) status = measure_target(j, i, reference[i]);
    }
    if (!status && to_host) status = download(j);
    if (!status) status = motus_chain_end(&s->chain, r->stream, error);
    if (!status && r->event)
        status = j.check(cudaEventRecord((cudaEvent_t)r->event, s->chain.stream), "record");
    if (!status) q->submitted++;
    return status;
}

MotusStatus motus_request_cuda_finish(MotusRequestCuda *q, const MotusMeRequest *r, int timeout_ms,
                                      MotusError *error) {
    Slot *s = &q->slot[q->finished % MOTUS_ME_IN_FLIGHT];
    MotusStatus status = motus_cuda_wait(s->chain.done, timeout_ms, "motion estimation", error);
    if (status) return status;
    if (r->results_memory == MOTUS_MEMORY_HOST) store(q, s, r);
    q->finished++;
    return MOTUS_OK;
}
