// Memory, streams and events of a coder.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/slots.h"
#include "encoder/mb/mb_cuda.h"
#include "encoder/picture/cuda_coder.cuh"
#include "encoder/picture/cuda_executor.h"
#include "encoder/rate/rate.h"
#include "me/centres/centres_cuda.h"
#include "yuv/device_frame.h"

extern "C" {
#include "common/alloc.h"
}

using namespace motus_cuda_coder;

namespace {

constexpr size_t MIN_NAL =
    65536; // first bytes of pinned memory for NAL units, if they can be so large

constexpr int MOST_CODERS = 16; // of a device, if chosen here: more hardly add to the speed
constexpr size_t SLOTS_BYTES = (size_t)4 << 30; // likewise, of frame slots

// Memory that is laid out by others.
struct Places {
    void *luma[MAX_BUFFERS], *state[MAX_WORKERS];
};

template <typename T> void reserve(T **array, size_t n, uint8_t *base, size_t *end) {
    *array = (T *)(base + motus_slot_reserve(end, n * sizeof(T)));
}

// One more than references for the picture that is coded; others if workers run side by side, so
// that the next picture does not wait for the readers of the reference that was dropped. Without B
// pictures an IDR picture begins beside the last P pictures of the GOP before it.
int count_buffers(const MotusStream *s, int n_workers) {
    const int spare = n_workers == 1 ? 0 : s->config.bframes ? 1 : MOST_SPARE_BUFFERS;
    return s->sequence.max_refs + 1 + spare;
}

// Returns the references that a picture lists, at most.
int most_listed(const MotusStream *s) { return motus_max(s->p_refs, s->b_refs + (s->b_refs > 0)); }

// The first worker codes all P pictures, others IDR and B pictures only.
void lay_out_search(Worker *w, const MotusStream *s, int is_first, uint8_t *base, size_t *end) {
    const size_t n = (size_t)s->mb_width * s->mb_height;
    const int width = 16 * s->mb_width, height = 16 * s->mb_height,
              refs = is_first ? motus_max(s->p_refs, s->b_refs) : s->b_refs,
              fields = is_first ? most_listed(s) : s->b_refs + 1;
    for (int k = 0; k < fields; k++) {
        MotusMotion *motion = &w->memory.motion[k];
        reserve(&motion->centre, n, base, end);
        reserve(&motion->mv, MOTUS_BLOCKS * n, base, end);
        reserve(&motion->sad, MOTUS_BLOCKS * n, base, end);
        reserve(&motion->cost, MOTUS_BLOCKS * n, base, end);
    }
    for (int k = 0; k < refs && is_first && s->sequence.weighted_pred; k++) {
        const size_t at = motus_slot_reserve(end, motus_ref_luma_bytes(width, height));
        if (base) motus_ref_luma_layout(&w->memory.weighted[k], base + at, width, height);
    }
    if (refs > 1) reserve(&w->memory.far_blocks, (size_t)(refs - 1) * n, base, end);
    if (fields > 1) reserve(&w->memory.near_mv, (size_t)fields * n, base, end);
    if (s->config.bframes && s->config.direct != MOTUS_DIRECT_SPATIAL)
        reserve(&w->memory.direct, n, base, end);
    reserve(&w->whole_mv, n, base, end);
    w->centres_work = base + motus_slot_reserve(end, motus_centres_cuda_bytes(width, height));
}

// Memory of a worker; for B pictures only if the stream has them.
void lay_out_worker(Worker *w, const MotusStream *s, int is_first, uint8_t *base, size_t *end) {
    const int n = s->mb_width * s->mb_height;
    const uint32_t capacity = (uint32_t)motus_nal_bound(s->rbsp_capacity);
    if (s->config.bframes)
        for (MotusPlane *rec : w->spare)
            motus_device_frame_layout(rec, s->mb_width, s->mb_height, base, end);
    if (s->config.deblock) {
        motus_device_frame_layout(w->unfiltered, s->mb_width, s->mb_height, base, end);
        w->deblock_work =
            base + motus_slot_reserve(end, motus_deblock_cuda_bytes(s->mb_width, s->mb_height));
    }
    if (is_first || s->config.bframes) lay_out_search(w, s, is_first, base, end);
    w->slice_work =
        base +
        motus_slot_reserve(end, s->sequence.cabac
                                    ? motus_cabac_cuda_bytes(n, capacity, motus_cabac_cuda_piece(n))
                                    : motus_slice_cuda_bytes(n, capacity));
    if (s->sequence.cabac) {
        reserve(&w->context, (size_t)n, base, end);
        reserve(&w->bins, 1, base, end);
        reserve(&w->memory.first_costs, 1, base, end);
    }
    reserve(&w->marks.coded, motus_mark_words(n), base, end);
    reserve(&w->marks.with_qp, motus_mark_words(n), base, end);
    if (s->most_slices > 1) reserve(&w->slice_results, (size_t)s->most_slices, base, end);
}

// Lays the device memory out from `base` on; returns the bytes.
size_t lay_out(MotusCudaCoder *c, const MotusStream *s, uint8_t *base, Places *places) {
    const int width = 16 * s->mb_width, height = 16 * s->mb_height;
    const size_t n = (size_t)s->mb_width * s->mb_height;
    size_t end = 0;
    for (int k = 0; k < count_buffers(s, c->n_workers); k++) {
        MotusPictureBuffer *b = &c->buffer[k];
        motus_device_frame_layout(b->plane, s->mb_width, s->mb_height, base, &end);
        if (s->config.bframes) reserve(&b->col_zero, n, base, &end);
        if (s->config.bframes && s->config.direct == MOTUS_DIRECT_TEMPORAL)
            reserve(&b->col, n, base, &end);
        reserve(&b->mv, n, base, &end);
        places->luma[k] = base + motus_slot_reserve(&end, motus_ref_luma_bytes(width, height));
    }
    for (int k = 0; k < c->n_workers; k++) {
        lay_out_worker(&c->worker[k], s, k == 0, base, &end);
        places->state[k] =
            base +
            motus_slot_reserve(&end, motus_picture_state_cuda_bytes(s->mb_width, s->mb_height));
    }
    if (s->sequence.cabac)
        for (int k = 0; k < MOTUS_COST_TABLES * (s->config.bframes ? MOTUS_COST_KINDS : 1); k++)
            reserve(&c->costs[k / MOTUS_COST_TABLES][k % MOTUS_COST_TABLES], 1, base, &end);
    if (s->most_slices > 1) reserve(&c->slice_first, (1 + (size_t)s->n_refreshes) * n, base, &end);
    for (Output *out = c->output; out < c->output + c->depth; out++) {
        reserve(&out->nal, motus_nal_bound(s->rbsp_capacity), base, &end);
        reserve(&out->head, (size_t)s->most_slices, base, &end);
        reserve(&out->qp_offset, n, base, &end);
        reserve(&out->report, 1, base, &end);
        if (most_listed(s) > 1) reserve(&out->refs, (size_t)most_listed(s), base, &end);
    }
    return end;
}

size_t lay_out_host(MotusCudaCoder *c, const MotusStream *s, uint8_t *host) {
    const size_t n = (size_t)s->mb_width * s->mb_height;
    size_t end = 0;
    for (Output *out = c->output; out < c->output + c->depth; out++) {
        reserve(&out->h_report, 1, host, &end);
        reserve(&out->h_head, (size_t)s->most_slices, host, &end);
        reserve(&out->h_qp_offset, n, host, &end);
        if (s->sequence.cabac) reserve(&out->h_costs, 1, host, &end);
        if (most_listed(s) > 1) reserve(&out->h_refs, (size_t)most_listed(s), host, &end);
        if (!s->config.stream_only) reserve(&out->h_mb, n, host, &end);
    }
    return end;
}

// Sets what the laid-out memory holds before the first picture.
MotusStatus fill_memory(MotusCudaCoder *c, const Places *places, MotusError *error) {
    const MotusStream *s = c->jobs.stream;
    const size_t n = (size_t)s->mb_width * s->mb_height;
    cudaStream_t stream = c->worker[0].stream;
    MotusStatus status = MOTUS_OK;
    c->n_buffers = count_buffers(s, c->n_workers);
    for (int k = 0; k < c->n_buffers; k++) {
        motus_ref_luma_layout(&c->buffer[k].luma, places->luma[k], 16 * s->mb_width,
                              16 * s->mb_height);
        c->use[k].owner = -1;
        for (int64_t &reader : c->use[k].reader) reader = -1;
    }
    for (int k = 0; k <= s->n_refreshes && !status; k++) {
        const MotusSlices *slices = k ? &s->refresh_slices[k - 1] : &s->slices;
        if (slices->first)
            status = check(c,
                           cudaMemcpyAsync(c->slice_first + (size_t)k * n, slices->first,
                                           n * sizeof(int), cudaMemcpyHostToDevice, stream),
                           "slices", error);
    }
    if (!status) status = check(c, cudaStreamSynchronize(stream), "memory", error);
    for (int k = 0; k < c->n_workers && !status; k++) {
        Worker *w = &c->worker[k];
        w->last = -1;
        status = check(
            c, motus_picture_state_cuda_place(&w->pic, places->state[k], s->mb_width, s->mb_height),
            "device memory", error);
    }
    return status;
}

MotusStatus open_memory(MotusCudaCoder *c, MotusError *error) {
    const MotusStream *s = c->jobs.stream;
    Places places;
    size_t bytes = lay_out(c, s, NULL, &places);
    MotusStatus status = check(c, cudaMalloc((void **)&c->memory, bytes), "device memory", error);
    if (!status)
        status = check(c, cudaMemsetAsync(c->memory, 0, bytes, c->worker[0].stream),
                       "device memory", error);
    if (!status)
        status = check(c, cudaMallocHost((void **)&c->host, lay_out_host(c, s, NULL)),
                       "pinned memory", error);
    const size_t most = motus_nal_bound(s->rbsp_capacity),
                 usual = most / 16 > MIN_NAL ? most / 16 : MIN_NAL;
    for (int i = 0; i < c->depth && !status; i++)
        status = reserve_nal(c, &c->output[i], usual < most ? usual : most, error);
    if (status) return status;
    lay_out(c, s, c->memory, &places);
    lay_out_host(c, s, c->host);
    return fill_memory(c, &places, error);
}

// ---- Streams and events -------------------------------------------------------------------------

MotusStatus open_event(MotusCudaCoder *c, cudaEvent_t *event, unsigned flags, MotusError *error) {
    return check(c, cudaEventCreateWithFlags(event, flags), "event", error);
}

// The coder's first worker, which codes references, is preferred: the others wait for them.
// CABAC: the next picture's decisions wait for small kernels on the writing stream. Pictures that
// somebody waits for go before the work of other streams of the process.
MotusStatus open_worker(MotusCudaCoder *c, Worker *w, MotusError *error) {
    const MotusEncoderConfig *config = &c->jobs.stream->config;
    int least = 0, greatest = 0;
    MotusStatus status =
        check(c, cudaDeviceGetStreamPriorityRange(&least, &greatest), "stream", error);
    const int prefers = c->n_workers > 1 && w == c->worker && greatest < least;
    if (config->gop_coders == 1 && !config->lookahead)
        least = motus_min(least, greatest + 1 + prefers);
    if (!status)
        status = check(
            c, cudaStreamCreateWithPriority(&w->stream, cudaStreamNonBlocking, least - prefers),
            "stream", error);
    w->writing = w->stream;
    if (!status && c->coders <= FEW_CODERS)
        status =
            check(c, cudaStreamCreateWithPriority(&w->writing, cudaStreamNonBlocking, greatest),
                  "stream", error);
    return status ? status : open_event(c, &w->passed, cudaEventDisableTiming, error);
}

MotusStatus open_streams(MotusCudaCoder *c, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int k = 0; k < c->n_workers && !status; k++) status = open_worker(c, &c->worker[k], error);
    for (Output *out = c->output; out < c->output + c->depth; out++) {
        for (int k = 0; k < EVENTS && !status; k++)
            status =
                open_event(c, &out->event[k],
                           cudaEventDisableTiming | (k == DONE ? cudaEventBlockingSync : 0), error);
        if (!c->jobs.stream->config.time_stages) continue;
        if (!status) status = open_event(c, &out->began, cudaEventDefault, error);
        for (int k = 0; k < MOTUS_STAGES && !status; k++)
            status = open_event(c, &out->ended[k], cudaEventDefault, error);
    }
    // Many coders make the driver wait for itself, and leave no stream beside the one of passes.
    for (int i = 0; i < LISTS && !status && c->coders > FEW_CODERS; i++)
        if (!(c->list[i] = (MotusLaunchList *)motus_alloc(1, sizeof *c->list[i])))
            status = motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    return status;
}

// Rate control that wants sizes needs its pictures one after another. Pictures of one or two coders
// leave most of a device idle; those of more do not. Without B pictures only IDR pictures run
// beside others. Without lookahead pictures come one at a time.
int count_workers(const MotusStream *s, int coders) {
    const int waits = s->config.rate != MOTUS_RATE_QP && motus_rate_wants_sizes(&s->rate);
    if (waits || coders > 2) return 1;
    if (s->config.bframes) return coders == 1 ? MAX_WORKERS : 2;
    return coders == 1 && s->config.lookahead && s->config.keyint ? 2 : 1;
}

} // namespace

// Pinning takes half a millisecond a megabyte, one thread of a machine at a time, and few pictures
// come near the largest size. So the memory is as large as has been needed, or twice that.
MotusStatus motus_cuda_coder::reserve_nal(MotusCudaCoder *c, Output *out, size_t bytes,
                                          MotusError *error) {
    const size_t most = motus_nal_bound(c->jobs.stream->rbsp_capacity);
    if (bytes <= out->nal_room) return MOTUS_OK;
    if (out->h_nal) bytes = 2 * bytes < most ? 2 * bytes : most;
    bytes = (bytes + 15) & ~(size_t)15;
    cudaFreeHost(out->h_nal);
    out->h_nal = NULL;
    out->nal_room = 0;
    MotusStatus status =
        check(c, cudaMallocHost((void **)&out->h_nal, bytes), "pinned memory", error);
    if (!status) out->nal_room = bytes;
    return status;
}

extern "C" int motus_cuda_coder_depth(const MotusStream *stream, int coders) {
    return count_workers(stream, coders) > 1 ? MOTUS_CODER_DEPTH : 2;
}

extern "C" size_t motus_cuda_coder_bytes(const MotusStream *stream, int slots, int coders) {
    MotusCudaCoder unused;
    Places places;
    unused.n_workers = count_workers(stream, coders);
    unused.depth = motus_cuda_coder_depth(stream, coders);
    return lay_out(&unused, stream, NULL, &places) + motus_frame_slots_bytes(stream, slots);
}

// As many whole GOPs as fit into a quarter of the free memory of the device that has least.
extern "C" int motus_cuda_coder_best(const MotusStream *stream, const int *device, int n_devices,
                                     int, int slots) {
    size_t bytes = SLOTS_BYTES;
    for (int i = 0; i < n_devices; i++) {
        MotusOnDevice on(device[i]);
        size_t free_bytes = 0, total;
        if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess) free_bytes = 0;
        if (bytes > free_bytes / 4) bytes = free_bytes / 4;
    }
    const size_t fit = bytes / motus_cuda_coder_bytes(stream, slots, MOST_CODERS);
    return n_devices * (int)(fit < 1 ? 1 : fit > MOST_CODERS ? MOST_CODERS : fit);
}

extern "C" MotusStatus motus_cuda_coder_open(void **out, const MotusStream *stream, void *shared,
                                             int, int coders, int, MotusError *error) {
    const MotusCopyStreams *copies = (const MotusCopyStreams *)shared;
    MotusOnDevice on(copies->device);
    *out = NULL;
    if (stream->config.slice_max_size)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "slices of a largest size are cut on the CPU only");
    MotusCudaCoder *c = (MotusCudaCoder *)motus_alloc(1, sizeof *c);
    if (!c) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    *out = c;
    c->device = copies->device, c->coders = coders;
    c->n_workers = count_workers(stream, coders);
    c->depth = motus_cuda_coder_depth(stream, coders);
    c->down = (cudaStream_t)copies->down;
    MotusStatus status = motus_jobs_open(&c->jobs, stream, !stream->config.stream_only, 1);
    if (status) motus_fail(error, status, "out of memory");
    if (!status) status = check(c, motus_search_cuda_prepare(), "kernels", error);
    if (!status) status = open_streams(c, error);
    if (!status) status = open_memory(c, error);
    if (!status && packets_stay(c))
        status = motus_packet_pool_open(&c->packets, copies->device, error);
    c->max_block_mbs = c->worker[0].pic.block_mbs, c->can_launch_early = c->worker[0].pic.early;
    const size_t most = motus_nal_bound(stream->rbsp_capacity);
    for (size_t &expected : c->expected) expected = 4096 < most ? 4096 : most;
    if (status) motus_cuda_coder_close(out);
    return status;
}

extern "C" void motus_cuda_coder_close(void **coder) {
    MotusCudaCoder *c = (MotusCudaCoder *)*coder;
    if (!c) return;
    MotusOnDevice on(c->device);
    for (const Worker &w : c->worker) // all of them first: they wait for one another
        for (cudaStream_t stream : {w.stream, w.writing})
            if (stream) cudaStreamSynchronize(stream);
    for (MotusLaunchList *list : c->list) {
        motus_launch_list_close(list);
        motus_free(list);
    }
    for (const Worker &w : c->worker) {
        if (w.writing && w.writing != w.stream) cudaStreamDestroy(w.writing);
        if (w.stream) cudaStreamDestroy(w.stream);
        if (w.passed) cudaEventDestroy(w.passed);
    }
    for (Output &out : c->output) {
        for (cudaEvent_t event : out.event)
            if (event) cudaEventDestroy(event);
        for (cudaEvent_t event : out.ended)
            if (event) cudaEventDestroy(event);
        if (out.began) cudaEventDestroy(out.began);
        cudaFreeHost(out.h_nal);
        motus_field_free(&out.field);
    }
    cudaFree(c->memory);
    cudaFreeHost(c->host);
    (void)cudaGetLastError();
    motus_packet_pool_close(&c->packets);
    motus_field_free(&c->field);
    motus_jobs_close(&c->jobs);
    motus_free(c);
    *coder = NULL;
}
