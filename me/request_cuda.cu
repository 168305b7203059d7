// Requests on a device. A request's work is one chain on its slot's stream: the picture as whole
// MBs, the mask of what is wanted, statistics, then for each target hints, search, refinement and
// measures; requests overlap. Device memory of a slot grows to that of the largest request.
// request_kernels.cuh has the kernels that only requests need.
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

// Where everything lies in a slot's device memory; from `results` on there is a pinned copy.
struct Layout {
    size_t cur, upload, modes, wanted, results, mask, stats, end;
    size_t centre, predictor, lambda, skip, hints_step; // of target 0; bytes to those of the next
    size_t mv, sad, satd, cost, skip_sad, skip_satd, zero_sad, found_step; // the same
};

struct Slot {
    MotusChain chain; // done: results are where they are wanted, or in the pinned block
    uint8_t *device, *host;
    size_t device_bytes, host_bytes;
    Layout layout; // of the request that is under way
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
    l.cur = motus_slot_place(&end, plane);
    l.upload = motus_slot_place(&end, plane);
    l.modes = motus_slot_place(&end, n);
    l.wanted = motus_slot_place(&end, n * sizeof(uint64_t));
    first = end;
    l.centre = motus_slot_place(&end, n * sizeof(MotusMv));
    l.predictor = motus_slot_place(&end, n * sizeof(MotusMv));
    l.skip = motus_slot_place(&end, n * sizeof(MotusMv));
    l.lambda = motus_slot_place(&end, n * sizeof(uint16_t));
    l.hints_step = end - first;
    end = first + l.hints_step * (size_t)n_targets;
    l.results = end;
    l.mask = motus_slot_place(&end, n);
    l.stats = motus_slot_place(&end, n * sizeof(MotusMbStats));
    first = end;
    l.mv = motus_slot_place(&end, MOTUS_BLOCKS * n * sizeof(MotusMv));
    l.sad = motus_slot_place(&end, MOTUS_BLOCKS * n * sizeof(uint16_t));
    l.satd = motus_slot_place(&end, MOTUS_BLOCKS * n * sizeof(uint32_t));
    l.cost = motus_slot_place(&end, MOTUS_BLOCKS * n * sizeof(uint32_t));
    l.skip_sad = motus_slot_place(&end, n * sizeof(uint16_t));
    l.skip_satd = motus_slot_place(&end, n * sizeof(uint32_t));
    l.zero_sad = motus_slot_place(&end, n * sizeof(uint16_t));
    l.found_step = end - first;
    l.end = first + l.found_step * (size_t)n_targets;
    return l;
}

// Nothing of the slot is under way.
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

// What is under way: the slot, the request and its picture.
struct Work {
    MotusRequestCuda *q;
    Slot *s;
    const MotusMeRequest *r;
    MotusPlane cur;           // whole MBs
    const uint8_t *mask;      // of modes, per MB; NULL: all of all MBs
    MotusWantedBlocks wanted; // the same
    MotusError *error;

    size_t n() const { return (size_t)q->n_mb; }
    cudaStream_t stream() const { return s->chain.stream; }
    // Target i's part at an offset of the layout, of hints and of results.
    uint8_t *hint(size_t at, int i) const {
        return s->device + at + s->layout.hints_step * (size_t)i;
    }
    uint8_t *found(size_t at, int i) const {
        return s->device + at + s->layout.found_step * (size_t)i;
    }
    // Where kernels write a result: to the caller's device memory, or in the slot.
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

// Vectors of the caller's, per MB: uploaded, for they have been checked, or clipped.
MotusStatus bring_vectors(const Work &w, const MotusMv *from, uint8_t *to, int limit, int step,
                          const MotusMv **vectors) {
    *vectors = from ? reinterpret_cast<MotusMv *>(to) : NULL;
    if (!from) return MOTUS_OK;
    if (w.r->hints_memory == MOTUS_MEMORY_HOST)
        return w.copy(to, from, w.n() * sizeof *from, "upload of hints");
    clip_vectors<<<blocks_for(w.n()), THREADS, 0, w.stream()>>>(reinterpret_cast<MotusMv *>(to),
                                                                from, w.q->n_mb, limit, step);
    return motus_cuda_launched("hints", w.error);
}

MotusStatus bring_hints(const Work &w, int i, MotusSearchPicture *p) {
    const MotusMeHints *hints = w.r->target[i].hints;
    const Layout &l = w.s->layout;
    if (!hints) return MOTUS_OK;
    MotusStatus status =
        bring_vectors(w, hints->centre, w.hint(l.centre, i), MOTUS_MAX_CENTRE, 4, &p->centre);
    if (!status)
        status = bring_vectors(w, hints->predictor, w.hint(l.predictor, i), 8191, 1, &p->predictor);
    p->lambda = hints->lambda, p->lambda_q8 = hints->lambda_q8;
    if (status || !hints->lambda || w.r->hints_memory == MOTUS_MEMORY_DEVICE) return status;
    p->lambda = reinterpret_cast<uint16_t *>(w.hint(l.lambda, i));
    return w.copy(w.hint(l.lambda, i), hints->lambda, w.n() * sizeof *hints->lambda,
                  "upload of hints");
}

MotusStatus search_target(const Work &w, int i, const MotusReferenceCuda *reference) {
    const MotusMeTarget *t = &w.r->target[i];
    const MotusMeConfig *c = &w.q->config;
    const Layout &l = w.s->layout;
    const MotusRefLuma *ref = &reference->luma;
    const bool refined = c->subpel != MOTUS_SUBPEL_FULL;
    if (!t->mv && !t->sad && !t->satd && !t->cost) return MOTUS_OK;
    MotusSearchPicture p = {};
    p.cur = w.cur.data, p.cur_stride = (int)w.cur.stride;
    p.ref = ref->plane[0], p.ref_stride = (int)ref->stride;
    p.mv = w.result(t->mv, w.found(l.mv, i)), p.sad = w.result(t->sad, w.found(l.sad, i));
    p.cost = w.result(t->cost, w.found(l.cost, i));
    MotusStatus status = bring_hints(w, i, &p);
    if (!status)
        status = w.check(motus_search_masked_cuda(&p, w.mask, w.q->width, w.q->height, c->range,
                                                  c->modes, w.stream()),
                         "search");
    if (!status && refined)
        status = w.check(motus_refine_cuda(&p, ref, w.q->width, w.q->height, c->subpel, c->modes,
                                           w.wanted, w.stream()),
                         "refinement");
    if (status || !t->satd) return status;
    find_satd<<<blocks_for(MOTUS_BLOCKS * w.n()), THREADS, 0, w.stream()>>>(
        w.result(t->satd, w.found(l.satd, i)), p, w.cur, *ref, motus_block_table(), w.mask,
        c->modes, refined, w.q->mb_width, w.q->n_mb);
    return motus_cuda_launched("SATDs", w.error);
}

MotusStatus measure_target(const Work &w, int i, const MotusReferenceCuda *reference) {
    const MotusMeTarget *t = &w.r->target[i];
    const Layout &l = w.s->layout;
    if (!t->skip_sad && !t->skip_satd && !t->zero_sad) return MOTUS_OK;
    Measures m = {};
    MotusStatus status =
        bring_vectors(w, t->skip_mv, w.hint(l.skip, i), 8191, reference->has_half ? 1 : 4, &m.skip);
    if (status) return status;
    if (t->skip_sad) m.skip_sad = w.result(t->skip_sad, w.found(l.skip_sad, i));
    if (t->skip_satd) m.skip_satd = w.result(t->skip_satd, w.found(l.skip_satd, i));
    if (t->zero_sad) m.zero_sad = w.result(t->zero_sad, w.found(l.zero_sad, i));
    measure<<<blocks_for(w.n()), THREADS, 0, w.stream()>>>(m, w.cur, reference->luma, w.mask,
                                                           w.q->mb_width, w.q->n_mb);
    return motus_cuda_launched("distances", w.error);
}

// The mask, where not all of all MBs is wanted.
MotusStatus prepare_mask(Work &w) {
    const MotusMeRequest *r = w.r;
    w.s->masked = r->modes || r->region.width;
    w.mask = w.s->masked ? w.s->device + w.s->layout.mask : NULL;
    if (!w.s->masked) return MOTUS_OK;
    const uint8_t *modes = r->modes;
    MotusStatus status = MOTUS_OK;
    if (modes && r->hints_memory == MOTUS_MEMORY_HOST) {
        modes = w.s->device + w.s->layout.modes;
        status = w.copy(w.s->device + w.s->layout.modes, r->modes, w.n(), "upload of modes");
    }
    if (status) return status;
    uint64_t *wanted = (uint64_t *)(w.s->device + w.s->layout.wanted);
    w.wanted = MotusWantedBlocks{wanted, 1};
    make_mask<<<blocks_for(w.n()), THREADS, 0, w.stream()>>>(
        w.s->device + w.s->layout.mask, wanted, motus_block_table(), modes, w.q->config.modes,
        r->region, w.q->mb_width, w.q->n_mb);
    return motus_cuda_launched("mask", w.error);
}

MotusStatus describe_picture(const Work &w) {
    if (!w.r->stats) return MOTUS_OK;
    describe<<<blocks_for(w.n()), THREADS, 0, w.stream()>>>(
        w.result(w.r->stats, w.s->device + w.s->layout.stats), w.cur, w.mask, w.q->mb_width,
        w.q->n_mb);
    return motus_cuda_launched("statistics", w.error);
}

// ---- Results that go to the host ----------------------------------------------------------------

// A block of device memory into the pinned one.
MotusStatus down(const Work &w, const void *wanted, uint8_t *from, size_t bytes) {
    if (!wanted) return MOTUS_OK;
    const size_t at = (size_t)(from - w.s->device) - w.s->layout.results;
    return w.copy(w.s->host + at, from, bytes, "download");
}

// Up to the last block of the modes that are searched.
size_t blocks_of(uint32_t modes) {
    size_t n = 0;
    for (size_t b = 0; b < MOTUS_BLOCKS; b++)
        if (modes >> motus_blocks[b].mode & 1) n = b + 1;
    return n;
}

MotusStatus download(const Work &w) {
    const Layout &l = w.s->layout;
    const size_t n = w.n(), all = n * blocks_of(w.q->config.modes);
    MotusStatus status = down(w, w.mask, w.s->device + l.mask, n);
    if (!status) status = down(w, w.r->stats, w.s->device + l.stats, n * sizeof(MotusMbStats));
    for (int i = 0; i < w.r->n_targets && !status; i++) {
        const MotusMeTarget *t = &w.r->target[i];
        status = down(w, t->mv, w.found(l.mv, i), all * sizeof *t->mv);
        if (!status) status = down(w, t->sad, w.found(l.sad, i), all * sizeof *t->sad);
        if (!status) status = down(w, t->satd, w.found(l.satd, i), all * sizeof *t->satd);
        if (!status) status = down(w, t->cost, w.found(l.cost, i), all * sizeof *t->cost);
        if (!status) status = down(w, t->skip_sad, w.found(l.skip_sad, i), n * sizeof *t->skip_sad);
        if (!status)
            status = down(w, t->skip_satd, w.found(l.skip_satd, i), n * sizeof *t->skip_satd);
        if (!status) status = down(w, t->zero_sad, w.found(l.zero_sad, i), n * sizeof *t->zero_sad);
    }
    return status;
}

void store(const MotusRequestCuda *q, const Slot *s, const MotusMeRequest *r) {
    const Layout &l = s->layout;
    const uint8_t *host = s->host, *mask = s->masked ? host + (l.mask - l.results) : NULL;
    motus_stats_store(r->stats, (const MotusMbStats *)(host + (l.stats - l.results)), mask,
                      q->n_mb);
    for (int i = 0; i < r->n_targets; i++) {
        uint8_t *found =
            s->host + l.found_step * (size_t)i - l.results; // offsets of the layout count from here
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
    const bool comes_down = r->results_memory == MOTUS_MEMORY_HOST;
    MotusStatus status =
        grow(s, s->layout.end, comes_down ? s->layout.end - s->layout.results : 0, error);
    if (status) return status;
    Work w = {q,    s,         r,    {s->device + s->layout.cur, q->width, q->width, q->height},
              NULL, {NULL, 0}, error};
    status = motus_chain_begin(&s->chain, r->stream, error);
    if (!status)
        status = motus_chain_copy_padded(&s->chain, &w.cur, s->device + s->layout.upload, r->cur,
                                         r->memory, error);
    if (!status) status = prepare_mask(w);
    if (!status) status = describe_picture(w);
    for (int i = 0; i < r->n_targets && !status; i++) {
        status = w.check(cudaStreamWaitEvent(s->chain.stream, reference[i]->ready, 0), "wait");
        if (!status) status = search_target(w, i, reference[i]);
        if (!status) status = measure_target(w, i, reference[i]);
    }
    if (!status && comes_down) status = download(w);
    if (!status) status = motus_chain_end(&s->chain, r->stream, error);
    if (!status && r->event)
        status = w.check(cudaEventRecord((cudaEvent_t)r->event, s->chain.stream), "record");
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
