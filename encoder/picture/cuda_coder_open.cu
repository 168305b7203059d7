// Memory, streams and events of a coder.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/cuda_coder.cuh"

#include "common/slots.h"
#include "encoder/mb/deblock_cuda.h"
#include "encoder/picture/frame_slots.h"
#include "me/centres/centres_cuda.h"
#include "me/search/search_cuda.h"
#include "yuv/device_frame.h"

extern "C" {
#include "common/alloc.h"
}

using namespace motus_cuda_coder;

namespace {

constexpr size_t MIN_NAL =
    65536; // first bytes of pinned memory for NAL units, if they can be so large

size_t slice_work_bytes(const MotusStream *s, int n_mb, size_t capacity) {
    return s->sequence.cabac
               ? motus_cabac_cuda_bytes(n_mb, (uint32_t)capacity, motus_cabac_cuda_piece(n_mb))
               : motus_slice_cuda_bytes(n_mb, (uint32_t)capacity);
}

// Memory that is laid out by others.
struct Places {
    void *ref[MOTUS_MAX_REFS], *work;
};

void lay_out_rec(Reconstruction *rec, const MotusStream *s, uint8_t *base, size_t *end) {
    motus_device_frame_layout(rec->plane, s->mb_width, s->mb_height, base, end);
    if (s->sequence.max_refs > 1)
        rec->col_zero = base + motus_slot_reserve(end, (size_t)s->mb_width * s->mb_height);
}

// Lays the device memory out from `base` on; returns the bytes. Of list 1 and of B pictures there
// is none if the stream has no B pictures.
size_t lay_out(MotusCudaCoder *c, const MotusStream *s, uint8_t *base, Places *places) {
    int width = 16 * s->mb_width, height = 16 * s->mb_height;
    size_t n = (size_t)s->mb_width * s->mb_height, nal_capacity = motus_nal_bound(s->rbsp_capacity),
           end = 0;
    const int refs = s->sequence.max_refs, lists = refs > 1 ? 2 : 1;
    places->work =
        base + motus_slot_reserve(&end, motus_picture_state_cuda_bytes(s->mb_width, s->mb_height));
    for (int k = 0; k < refs; k++) lay_out_rec(&c->history.ref[k].rec, s, base, &end);
    for (int k = 0; k < lists; k++) lay_out_rec(&c->history.rec[k], s, base, &end);
    if (s->config.deblock)
        motus_device_frame_layout(c->unfiltered, s->mb_width, s->mb_height, base, &end);
    for (int k = 0; k < refs; k++)
        places->ref[k] = base + motus_slot_reserve(&end, motus_ref_luma_bytes(width, height));
    for (int k = 0; k < lists; k++) {
        c->centre[k] = (MotusMv *)(base + motus_slot_reserve(&end, n * sizeof(MotusMv)));
        c->mv[k] = (MotusMv *)(base + motus_slot_reserve(&end, MOTUS_BLOCKS * n * sizeof(MotusMv)));
        c->sad[k] =
            (uint16_t *)(base + motus_slot_reserve(&end, MOTUS_BLOCKS * n * sizeof(uint16_t)));
        c->cost[k] =
            (uint32_t *)(base + motus_slot_reserve(&end, MOTUS_BLOCKS * n * sizeof(uint32_t)));
    }
    if (lists > 1) c->near_mv = (MotusMv *)(base + motus_slot_reserve(&end, n * sizeof(MotusMv)));
    for (int k = 0; k < 2; k++)
        c->last_mv[k] = (MotusMv *)(base + motus_slot_reserve(&end, n * sizeof(MotusMv)));
    c->whole_mv = (MotusMv *)(base + motus_slot_reserve(&end, n * sizeof(MotusMv)));
    c->centres_work = base + motus_slot_reserve(&end, motus_centres_cuda_bytes(width, height));
    c->slice_work = base + motus_slot_reserve(&end, slice_work_bytes(s, (int)n, nal_capacity));
    if (s->sequence.cabac) {
        c->context = (MotusMbContext *)(base + motus_slot_reserve(&end, n * sizeof *c->context));
        c->bins = (MotusBinCounts *)(base + motus_slot_reserve(&end, sizeof *c->bins));
        for (int k = 0; k < MOTUS_COST_TABLES * (lists > 1 ? MOTUS_COST_KINDS : 1); k++)
            c->costs[k / MOTUS_COST_TABLES][k % MOTUS_COST_TABLES] =
                (MotusCabacCosts *)(base + motus_slot_reserve(&end, sizeof(MotusCabacCosts)));
    }
    c->marks.coded =
        (uint32_t *)(base + motus_slot_reserve(&end, motus_mark_words((int)n) * sizeof(uint32_t)));
    c->marks.with_qp =
        (uint32_t *)(base + motus_slot_reserve(&end, motus_mark_words((int)n) * sizeof(uint32_t)));
    if (s->slices.first) {
        c->slice_first = (int *)(base + motus_slot_reserve(&end, n * sizeof(int)));
        c->slice_results =
            (MotusSliceResult *)(base + motus_slot_reserve(&end, (size_t)s->slices.n *
                                                                     sizeof(MotusSliceResult)));
    }
    if (s->config.deblock)
        c->deblock_work =
            base + motus_slot_reserve(&end, motus_deblock_cuda_bytes(s->mb_width, s->mb_height));
    for (Output *out = c->output; out < c->output + MOTUS_CODER_DEPTH; out++) {
        out->nal = base + motus_slot_reserve(&end, nal_capacity);
        out->head = (MotusSliceHead *)(base + motus_slot_reserve(&end, (size_t)s->slices.n *
                                                                           sizeof(MotusSliceHead)));
        out->qp_offset = (int8_t *)(base + motus_slot_reserve(&end, n));
        out->report = (Report *)(base + motus_slot_reserve(&end, sizeof(Report)));
    }
    return end;
}

size_t lay_out_host(MotusCudaCoder *c, const MotusStream *s, uint8_t *host) {
    size_t end = 0, n = (size_t)s->mb_width * s->mb_height;
    for (Output *out = c->output; out < c->output + MOTUS_CODER_DEPTH; out++) {
        out->h_report = (Report *)(host + motus_slot_reserve(&end, sizeof(Report)));
        out->h_head =
            (MotusSliceHead *)(host + motus_slot_reserve(&end, (size_t)s->slices.n *
                                                                   sizeof(MotusSliceHead)));
        out->h_qp_offset = (int8_t *)(host + motus_slot_reserve(&end, n));
        if (s->sequence.cabac)
            out->h_costs =
                (MotusCabacCosts *)(host + motus_slot_reserve(&end, sizeof *out->h_costs));
        if (!s->config.stream_only)
            out->h_mb = (MotusMb *)(host + motus_slot_reserve(&end, n * sizeof(MotusMb)));
    }
    return end;
}

MotusStatus open_memory(MotusCudaCoder *c, MotusError *error) {
    const MotusStream *s = c->settings;
    Places places;
    size_t bytes = lay_out(c, s, NULL, &places);
    MotusStatus status = check(c, cudaMalloc((void **)&c->memory, bytes), "device memory", error);
    if (!status)
        status = check(c, cudaMemsetAsync(c->memory, 0, bytes, c->stream), "device memory", error);
    if (!status)
        status = check(c, cudaMallocHost((void **)&c->host, lay_out_host(c, s, NULL)),
                       "pinned memory", error);
    const size_t most = motus_nal_bound(s->rbsp_capacity),
                 usual = most / 16 > MIN_NAL ? most / 16 : MIN_NAL;
    for (int i = 0; i < MOTUS_CODER_DEPTH && !status; i++)
        status = reserve_nal(c, &c->output[i], usual < most ? usual : most, error);
    if (status) return status;
    lay_out(c, s, c->memory, &places);
    lay_out_host(c, s, c->host);
    for (int k = 0; k < s->sequence.max_refs; k++)
        motus_ref_luma_layout(&c->ref_luma[k], places.ref[k], 16 * s->mb_width, 16 * s->mb_height);
    if (s->slices.first)
        status = check(c,
                       cudaMemcpyAsync(c->slice_first, s->slices.first,
                                       (size_t)s->mb_width * s->mb_height * sizeof(int),
                                       cudaMemcpyHostToDevice, c->stream),
                       "slices", error);
    if (!status) status = check(c, cudaStreamSynchronize(c->stream), "device memory", error);
    if (!status)
        status = check(
            c, motus_picture_state_cuda_place(&c->pic, places.work, s->mb_width, s->mb_height),
            "device memory", error);
    c->pic.slice_first = s->slices.first ? c->slice_first : NULL;
    return status;
}

MotusStatus open_timing(MotusCudaCoder *c, Output *out, MotusError *error) {
    MotusStatus status = check(c, cudaEventCreate(&out->began), "event", error);
    for (int k = 0; k < MOTUS_STAGES && !status; k++)
        status = check(c, cudaEventCreate(&out->ended[k]), "event", error);
    return status;
}

void close_timing(Output *out) {
    if (out->began) cudaEventDestroy(out->began);
    for (cudaEvent_t event : out->ended)
        if (event) cudaEventDestroy(event);
}

MotusStatus open_streams(MotusCudaCoder *c, int index, MotusError *error) {
    MotusStatus status =
        check(c, cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking), "stream", error);
    // CABAC: the next picture's decisions wait for small kernels on this stream.
    int least = 0, greatest = 0;
    if (!status && c->settings->sequence.cabac)
        status = check(c, cudaDeviceGetStreamPriorityRange(&least, &greatest), "stream", error);
    if (!status && index < FEW_CODERS)
        status =
            check(c, cudaStreamCreateWithPriority(&c->own_writing, cudaStreamNonBlocking, greatest),
                  "stream", error);
    for (cudaEvent_t *event : {&c->coded, &c->finalized, &c->written, &c->packed, &c->made})
        if (!status)
            status =
                check(c, cudaEventCreateWithFlags(event, cudaEventDisableTiming), "event", error);
    for (int i = 0; i < MOTUS_CODER_DEPTH && !status; i++) {
        status = check(c,
                       cudaEventCreateWithFlags(&c->output[i].done,
                                                cudaEventDisableTiming | cudaEventBlockingSync),
                       "event", error);
        if (!status && c->settings->config.time_stages)
            status = open_timing(c, &c->output[i], error);
    }
    return status;
}

} // namespace

// Pinning takes half a millisecond a megabyte, one thread of a machine at a time, and few pictures
// come near the largest size. So the memory is as large as has been needed, or twice that.
MotusStatus motus_cuda_coder::reserve_nal(MotusCudaCoder *c, Output *out, size_t bytes,
                                          MotusError *error) {
    const size_t most = motus_nal_bound(c->settings->rbsp_capacity);
    if (bytes <= out->nal_room) return MOTUS_OK;
    if (out->h_nal) bytes = 2 * bytes < most ? 2 * bytes : most;
    cudaFreeHost(out->h_nal);
    out->h_nal = NULL;
    out->nal_room = 0;
    MotusStatus status =
        check(c, cudaMallocHost((void **)&out->h_nal, bytes), "pinned memory", error);
    if (!status) out->nal_room = bytes;
    return status;
}

extern "C" size_t motus_cuda_coder_bytes(const MotusStream *stream, int slots) {
    MotusCudaCoder unused;
    Places places;
    return lay_out(&unused, stream, NULL, &places) + motus_frame_slots_bytes(stream, slots);
}

extern "C" size_t motus_cuda_coder_free_bytes(int device) {
    MotusOnDevice on(device);
    size_t free_bytes = 0, total;
    return cudaMemGetInfo(&free_bytes, &total) == cudaSuccess ? free_bytes : 0;
}

extern "C" MotusStatus motus_cuda_coder_open(MotusCudaCoder **out, const MotusStream *stream,
                                             const MotusCopyStreams *copies, int index,
                                             MotusError *error) {
    MotusOnDevice on(copies->device);
    *out = NULL;
    if (stream->config.slice_max_size)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "slices of a largest size are cut on the CPU only");
    if (stream->config.references > 1)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "P pictures with several references are coded on the CPU only");
    MotusCudaCoder *c = (MotusCudaCoder *)motus_alloc(1, sizeof *c);
    if (!c) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    c->settings = stream;
    c->device = copies->device;
    c->down = (cudaStream_t)copies->down;
    MotusStatus status = check(c, motus_search_cuda_prepare(), "kernels", error);
    if (!status) status = open_streams(c, index, error);
    if (!status) status = open_memory(c, error);
    c->max_teams = c->pic.teams, c->can_launch_early = c->pic.early;
    const size_t most = motus_nal_bound(stream->rbsp_capacity);
    for (size_t &expected : c->expected) expected = 4096 < most ? 4096 : most;
    if (status) motus_cuda_coder_close(&c);
    *out = c;
    return status;
}

extern "C" void motus_cuda_coder_close(MotusCudaCoder **coder) {
    if (!coder || !*coder) return;
    MotusCudaCoder *c = *coder;
    MotusOnDevice on(c->device);
    for (cudaStream_t stream : {c->stream, c->own_writing}) {
        if (stream) cudaStreamSynchronize(stream);
        if (stream) cudaStreamDestroy(stream);
    }
    for (cudaEvent_t event : {c->coded, c->finalized, c->written, c->packed, c->made})
        if (event) cudaEventDestroy(event);
    for (int i = 0; i < MOTUS_CODER_DEPTH; i++) {
        if (c->output[i].done) cudaEventDestroy(c->output[i].done);
        cudaFreeHost(c->output[i].h_nal);
        close_timing(&c->output[i]);
    }
    cudaFree(c->memory);
    cudaFreeHost(c->host);
    (void)cudaGetLastError();
    motus_free(c);
    *coder = NULL;
}
