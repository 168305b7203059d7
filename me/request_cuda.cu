// Requests on a device. A request is one chain on its slot's stream: the picture in whole MBs, the
// mask of wanted blocks, statistics; then for each target hints, search, refinement and distances.
// Requests overlap. A slot's device memory grows to that of the largest request.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/request_cuda.h"

#include <cstddef>

#include "common/slots.h"
#include "me/chain.cuh"
#include "me/field.h"
#include "me/request_kernels.cuh"
#include "me/search/refine_cuda.h"

extern "C" {
#include "common/alloc.h"
#include "common/cpu.h"
}

namespace {

// Results of a target: where it has the pointer, bytes of an entry, an entry per block or per MB.
// Those of a field come first: they go to the host in one copy if all blocks are wanted.
enum { MV, SAD, COST, SATD, SKIP_SAD, SKIP_SATD, ZERO_SAD, RESULTS };
struct Result {
    size_t member, entry;
    bool by_block;
};
constexpr Result results[RESULTS] = {{offsetof(MotusMeTarget, mv), sizeof(MotusMv), true},
                                     {offsetof(MotusMeTarget, sad), 2, true},
                                     {offsetof(MotusMeTarget, cost), 4, true},
                                     {offsetof(MotusMeTarget, satd), 4, true},
                                     {offsetof(MotusMeTarget, skip_sad), 2, false},
                                     {offsetof(MotusMeTarget, skip_satd), 4, false},
                                     {offsetof(MotusMeTarget, zero_sad), 2, false}};

// Returns the caller's array for result k; NULL: not wanted.
void *wanted_of(const MotusMeTarget &t, int k) {
    void *array;
    memcpy(&array, reinterpret_cast<const char *>(&t) + results[k].member, sizeof array);
    return array;
}

// Offsets in a slot's device memory; from `results` on there is a pinned copy.
struct Layout {
    size_t cur, modes, wanted, results, mask, stats, end;
    size_t centre, predictor, lambda, skip, hints_step; // target 0's; bytes to the next target's
    size_t found[RESULTS], found_step;                  // the same
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
    int threads;
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
    for (int k = 0; k < RESULTS; k++)
        l.found[k] = motus_slot_reserve(&end, n * results[k].entry *
                                                  (results[k].by_block ? MOTUS_BLOCKS : 1));
    l.found_step = end - first;
    l.end = first + l.found_step * (size_t)n_targets;
    return l;
}

// Lays out a slot without a pending request, and grows its memory.
MotusStatus prepare_slot(const MotusRequestCuda *q, Slot *s, int n_targets, bool to_host,
                         MotusError *error) {
    s->layout = lay_out(q, n_targets);
    const size_t host_bytes = to_host ? s->layout.end - s->layout.results : 0;
    MotusStatus status = MOTUS_OK;
    if (s->device_bytes < s->layout.end) {
        cudaFree(s->device);
        s->device = NULL, s->device_bytes = 0;
        status = motus_cuda_check(cudaMalloc((void **)&s->device, s->layout.end), "device memory",
                                  error);
        if (!status)
            status = motus_cuda_check(cudaMemsetAsync(s->device, 0, s->layout.end, s->chain.stream),
                                      "device memory", error);
        if (!status) s->device_bytes = s->layout.end;
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
    // Target i's hints and results in the slot.
    uint8_t *hint(size_t at, int i) const {
        return s->device + at + s->layout.hints_step * (size_t)i;
    }
    uint8_t *found(int k, int i) const {
        return s->device + s->layout.found[k] + s->layout.found_step * (size_t)i;
    }
    // Returns the destination of target i's result k: the caller's device memory, or the slot.
    template <class T> T *result(int k, int i) const {
        void *wanted = wanted_of(r->target[i], k);
        return (T *)(wanted && r->results_memory == MOTUS_MEMORY_DEVICE ? wanted : found(k, i));
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
    return j.check(cudaGetLastError(), "hints");
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

MotusStatus search_target(const Job &j, int i, const MotusRefLuma *ref) {
    const MotusMeTarget *t = &j.r->target[i];
    const MotusMeConfig *c = &j.q->config;
    const int width = j.q->width, height = j.q->height;
    const bool refined = c->subpel != MOTUS_SUBPEL_FULL;
    if (!t->mv && !t->sad && !t->satd && !t->cost) return MOTUS_OK;
    MotusSearchPicture p = {};
    p.cur = j.cur.data, p.cur_stride = (int)j.cur.stride;
    p.ref = ref->plane[0], p.ref_stride = (int)ref->stride;
    p.mv = j.result<MotusMv>(MV, i), p.sad = j.result<uint16_t>(SAD, i);
    p.cost = j.result<uint32_t>(COST, i);
    MotusStatus status = copy_hints(j, i, &p);
    if (!status)
        status = j.check(
            j.mask ? motus_search_masked_cuda(&p, j.mask, width, height, c->range, c->modes,
                                              j.stream())
                   : motus_search_cuda(&p, 1, width, height, c->range, c->modes, j.stream()),
            "search");
    if (!status && refined)
        status = j.check(c->subpel == MOTUS_SUBPEL_BEST
                             ? motus_refine_best_cuda(&p, ref, width, height, c->range, c->modes,
                                                      j.wanted, j.stream())
                             : motus_refine_cuda(&p, ref, width, height, c->subpel, c->modes,
                                                 j.wanted, j.stream()),
                         "refinement");
    if (status || !t->satd) return status;
    find_satd<<<blocks_for(MOTUS_BLOCKS * j.n()), THREADS, 0, j.stream()>>>(
        j.result<uint32_t>(SATD, i), p, j.cur, *ref, motus_block_table(), j.mask, c->modes, refined,
        j.q->mb_width, j.q->n_mb);
    return j.check(cudaGetLastError(), "SATDs");
}

// Measures the picture's MBs at the target's skip MVs and at zero.
MotusStatus measure_target(const Job &j, int i, const MotusReferenceCuda *reference) {
    const MotusMeTarget *t = &j.r->target[i];
    if (!t->skip_sad && !t->skip_satd && !t->zero_sad) return MOTUS_OK;
    Measures m = {};
    MotusStatus status = copy_mvs(j, t->skip_mv, j.hint(j.s->layout.skip, i), 8191,
                                  reference->has_half ? 1 : 4, &m.skip);
    if (status) return status;
    if (t->skip_sad) m.skip_sad = j.result<uint16_t>(SKIP_SAD, i);
    if (t->skip_satd) m.skip_satd = j.result<uint32_t>(SKIP_SATD, i);
    if (t->zero_sad) m.zero_sad = j.result<uint16_t>(ZERO_SAD, i);
    measure<<<blocks_for(j.n()), THREADS, 0, j.stream()>>>(m, j.cur, reference->luma, j.mask,
                                                           j.q->mb_width, j.q->n_mb);
    return j.check(cudaGetLastError(), "distances");
}

// Makes the mask, unless all blocks of all MBs are wanted; describes the picture's MBs if the
// request has statistics.
MotusStatus mask_and_describe(Job &j) {
    const MotusMeRequest *r = j.r;
    const Layout &l = j.s->layout;
    MotusStatus status = MOTUS_OK;
    j.s->masked = r->modes || r->region.width;
    if (j.s->masked) {
        const uint8_t *modes = r->modes;
        uint64_t *wanted = (uint64_t *)(j.s->device + l.wanted);
        if (modes && r->hints_memory == MOTUS_MEMORY_HOST) {
            modes = j.s->device + l.modes;
            status = j.copy(j.s->device + l.modes, r->modes, j.n(), "upload of modes");
            if (status) return status;
        }
        j.mask = j.s->device + l.mask;
        j.wanted = MotusWantedBlocks{wanted, 1};
        make_mask<<<blocks_for(j.n()), THREADS, 0, j.stream()>>>(
            j.s->device + l.mask, wanted, motus_block_table(), modes, j.q->config.modes, r->region,
            j.q->mb_width, j.q->n_mb);
        status = j.check(cudaGetLastError(), "mask");
    }
    if (status || !r->stats) return status;
    MotusMbStats *stats = r->results_memory == MOTUS_MEMORY_DEVICE
                              ? r->stats
                              : (MotusMbStats *)(j.s->device + l.stats);
    describe<<<blocks_for(j.n()), THREADS, 0, j.stream()>>>(stats, j.cur, j.mask, j.q->mb_width,
                                                            j.q->n_mb);
    return j.check(cudaGetLastError(), "statistics");
}

// ---- Results that go to the host ----------------------------------------------------------------

// Copies the wanted results from the slot's device memory to its pinned block.
MotusStatus download(const Job &j) {
    const Layout &l = j.s->layout;
    uint8_t *const host = j.s->host - l.results; // plus the layout's offset
    size_t blocks = 0;                           // up to the last one of the modes
    for (size_t b = 0; b < MOTUS_BLOCKS; b++)
        if (j.q->config.modes >> motus_blocks[b].mode & 1) blocks = b + 1;
    MotusStatus status = MOTUS_OK;
    size_t from = 0, end = 0; // wanted, and not copied yet
    auto add = [&](size_t at, size_t bytes) {
        if (at - end >= 256) { // more than what motus_slot_reserve rounds up
            if (!status && end)
                status = j.copy(host + from, j.s->device + from, end - from, "download");
            from = at;
        }
        end = at + bytes;
    };
    if (j.mask) add(l.mask, j.n());
    if (j.r->stats) add(l.stats, j.n() * sizeof(MotusMbStats));
    for (int i = 0; i < j.r->n_targets; i++)
        for (int k = 0; k < RESULTS; k++)
            if (wanted_of(j.r->target[i], k))
                add((size_t)(j.found(k, i) - j.s->device),
                    j.n() * results[k].entry * (results[k].by_block ? blocks : 1));
    if (!status && end) status = j.copy(host + from, j.s->device + from, end - from, "download");
    return status;
}

void store(const MotusRequestCuda *q, const Slot *s, const MotusMeRequest *r) {
    const Layout &l = s->layout;
    const uint8_t *host = s->host - l.results, *mask = s->masked ? host + l.mask : NULL;
    MotusResultCopy copy[1 + RESULTS * MOTUS_ME_MAX_TARGETS];
    int n = 0;
    if (r->stats) copy[n++] = {r->stats, host + l.stats, sizeof *r->stats, 0};
    for (int i = 0; i < r->n_targets; i++)
        for (int k = 0; k < RESULTS; k++)
            if (void *to = wanted_of(r->target[i], k))
                copy[n++] = {to, host + l.found[k] + l.found_step * (size_t)i, results[k].entry,
                             results[k].by_block};
    motus_results_store(copy, n, q->config.modes, mask, q->n_mb, q->threads);
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
    q->threads = motus_cpu_threads(config->threads);
    MotusStatus status = MOTUS_OK;
    for (Slot *s = q->slot; s < q->slot + MOTUS_ME_IN_FLIGHT && !status; s++)
        status = motus_chain_open(&s->chain, error);
    if (!status) status = prepare_slot(q, &q->slot[0], 1, true, error);
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
                                      MotusReferenceCuda *keep, MotusError *error) {
    Slot *s = &q->slot[q->submitted % MOTUS_ME_IN_FLIGHT];
    const bool to_host = r->results_memory == MOTUS_MEMORY_HOST;
    MotusStatus status = prepare_slot(q, s, r->n_targets, to_host, error);
    if (status) return status;
    Job j = {q,    s,         r,    {s->device + s->layout.cur, q->width, q->width, q->height},
             NULL, {NULL, 0}, error};
    status = motus_chain_begin(&s->chain, r->stream, error);
    if (keep) { // has the picture in whole MBs
        j.cur.data = keep->luma.plane[0], j.cur.stride = keep->luma.stride;
        if (!status)
            status = motus_reference_cuda_fill(keep, r->cur, r->memory, s->chain.stream, error);
    } else if (!status) {
        status = motus_chain_copy_padded(&s->chain, &j.cur, r->cur, r->memory, error);
    }
    if (!status) status = mask_and_describe(j);
    for (int i = 0; i < r->n_targets && !status; i++) {
        status = j.check(cudaStreamWaitEvent(s->chain.stream, reference[i]->ready, 0), "wait");
        if (!status) status = search_target(j, i, &reference[i]->luma);
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
