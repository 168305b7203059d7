// A lane's memory, streams and events.
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

constexpr size_t LEAST_NAL =
    65536; // bytes of pinned memory for a NAL unit at first, unless none can be so large

// Lays the lane out from `base` on; returns the bytes.
size_t lay_out(MotusCudaCoder *l, const MotusStream *s, uint8_t *base, void **ref_memory,
               void **work_memory) {
    int width = 16 * s->mb_width, height = 16 * s->mb_height;
    size_t n = (size_t)s->mb_width * s->mb_height, nal_capacity = motus_nal_bound(s->rbsp_capacity),
           end = 0;
    *work_memory =
        base + motus_slot_place(&end, motus_picture_state_cuda_bytes(s->mb_width, s->mb_height));
    for (int k = 0; k < 2; k++)
        motus_device_frame_layout(l->rec[k], s->mb_width, s->mb_height, base, &end);
    if (s->config.deblock)
        motus_device_frame_layout(l->unfiltered, s->mb_width, s->mb_height, base, &end);
    *ref_memory = base + motus_slot_place(&end, motus_ref_luma_bytes(width, height));
    l->centre = (MotusMv *)(base + motus_slot_place(&end, n * sizeof(MotusMv)));
    for (int k = 0; k < 2; k++)
        l->last_mv[k] = (MotusMv *)(base + motus_slot_place(&end, n * sizeof(MotusMv)));
    l->whole_mv = (MotusMv *)(base + motus_slot_place(&end, n * sizeof(MotusMv)));
    l->mv = (MotusMv *)(base + motus_slot_place(&end, MOTUS_BLOCKS * n * sizeof(MotusMv)));
    l->sad = (uint16_t *)(base + motus_slot_place(&end, MOTUS_BLOCKS * n * sizeof(uint16_t)));
    l->cost = (uint32_t *)(base + motus_slot_place(&end, MOTUS_BLOCKS * n * sizeof(uint32_t)));
    l->centres_work = base + motus_slot_place(&end, motus_centres_cuda_bytes(width, height));
    l->slice_work =
        base + motus_slot_place(&end, motus_slice_cuda_bytes((int)n, (uint32_t)nal_capacity));
    l->marks.coded =
        (uint32_t *)(base + motus_slot_place(&end, motus_mark_words((int)n) * sizeof(uint32_t)));
    l->marks.with_qp =
        (uint32_t *)(base + motus_slot_place(&end, motus_mark_words((int)n) * sizeof(uint32_t)));
    if (s->slices.first) {
        l->slice_first = (int *)(base + motus_slot_place(&end, n * sizeof(int)));
        l->slice_results =
            (MotusSliceResult *)(base + motus_slot_place(&end, (size_t)s->slices.n *
                                                                   sizeof(MotusSliceResult)));
    }
    if (s->config.deblock)
        l->deblock_work =
            base + motus_slot_place(&end, motus_deblock_cuda_bytes(s->mb_width, s->mb_height));
    for (Output *out = l->output; out < l->output + MOTUS_CODER_DEPTH; out++) {
        out->nal = base + motus_slot_place(&end, nal_capacity);
        out->head = (MotusSliceHead *)(base + motus_slot_place(&end, (size_t)s->slices.n *
                                                                         sizeof(MotusSliceHead)));
        out->qp_offset = (int8_t *)(base + motus_slot_place(&end, n));
        out->report = (Report *)(base + motus_slot_place(&end, sizeof(Report)));
    }
    return end;
}

size_t lay_out_host(MotusCudaCoder *l, const MotusStream *s, uint8_t *host) {
    size_t end = 0, n = (size_t)s->mb_width * s->mb_height;
    for (Output *out = l->output; out < l->output + MOTUS_CODER_DEPTH; out++) {
        out->h_report = (Report *)(host + motus_slot_place(&end, sizeof(Report)));
        out->h_head = (MotusSliceHead *)(host + motus_slot_place(&end, (size_t)s->slices.n *
                                                                           sizeof(MotusSliceHead)));
        out->h_qp_offset = (int8_t *)(host + motus_slot_place(&end, n));
        if (!s->config.stream_only)
            out->h_mb = (MotusMb *)(host + motus_slot_place(&end, n * sizeof(MotusMb)));
    }
    return end;
}

MotusStatus open_memory(MotusCudaCoder *l, MotusError *error) {
    const MotusStream *s = l->stream_settings;
    void *ref_memory, *work_memory;
    size_t bytes = lay_out(l, s, NULL, &ref_memory, &work_memory);
    MotusStatus status = check(l, cudaMalloc((void **)&l->memory, bytes), "device memory", error);
    if (!status)
        status = check(l, cudaMemsetAsync(l->memory, 0, bytes, l->stream), "device memory", error);
    if (!status)
        status = check(l, cudaMallocHost((void **)&l->host, lay_out_host(l, s, NULL)),
                       "pinned memory", error);
    const size_t most = motus_nal_bound(s->rbsp_capacity),
                 usual = most / 16 > LEAST_NAL ? most / 16 : LEAST_NAL;
    for (int i = 0; i < MOTUS_CODER_DEPTH && !status; i++)
        status = reserve_nal(l, &l->output[i], usual < most ? usual : most, error);
    if (status) return status;
    lay_out(l, s, l->memory, &ref_memory, &work_memory);
    lay_out_host(l, s, l->host);
    motus_ref_luma_layout(&l->ref_luma, ref_memory, 16 * s->mb_width, 16 * s->mb_height);
    if (s->slices.first)
        status = check(l,
                       cudaMemcpyAsync(l->slice_first, s->slices.first,
                                       (size_t)s->mb_width * s->mb_height * sizeof(int),
                                       cudaMemcpyHostToDevice, l->stream),
                       "slices", error);
    if (!status) status = check(l, cudaStreamSynchronize(l->stream), "device memory", error);
    if (!status)
        status = check(
            l, motus_picture_state_cuda_place(&l->pic, work_memory, s->mb_width, s->mb_height),
            "device memory", error);
    l->pic.slice_first = s->slices.first ? l->slice_first : NULL;
    return status;
}

MotusStatus open_timing(MotusCudaCoder *l, Output *out, MotusError *error) {
    MotusStatus status = check(l, cudaEventCreate(&out->began), "event", error);
    for (int k = 0; k < MOTUS_STAGES && !status; k++)
        status = check(l, cudaEventCreate(&out->ended[k]), "event", error);
    return status;
}

void close_timing(Output *out) {
    if (out->began) cudaEventDestroy(out->began);
    for (cudaEvent_t event : out->ended)
        if (event) cudaEventDestroy(event);
}

MotusStatus open_streams(MotusCudaCoder *l, int index, MotusError *error) {
    MotusStatus status =
        check(l, cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking), "stream", error);
    if (!status && index < FEW_LANES)
        status = check(l, cudaStreamCreateWithFlags(&l->own_writing, cudaStreamNonBlocking),
                       "stream", error);
    for (cudaEvent_t *event : {&l->coded, &l->settled, &l->written, &l->made})
        if (!status)
            status =
                check(l, cudaEventCreateWithFlags(event, cudaEventDisableTiming), "event", error);
    for (int i = 0; i < MOTUS_CODER_DEPTH && !status; i++) {
        status = check(l,
                       cudaEventCreateWithFlags(&l->output[i].done,
                                                cudaEventDisableTiming | cudaEventBlockingSync),
                       "event", error);
        if (!status && l->stream_settings->config.time_stages)
            status = open_timing(l, &l->output[i], error);
    }
    return status;
}

} // namespace

// Few pictures take a large part of what they might, and memory is pinned by one thread of a
// machine at a time, half a millisecond a megabyte: with room for the largest of pictures 32 lanes
// of 1080p took 0.13 s longer to open. So there is as much as has been needed, or twice that.
MotusStatus motus_cuda_coder::reserve_nal(MotusCudaCoder *l, Output *out, size_t bytes,
                                          MotusError *error) {
    const size_t most = motus_nal_bound(l->stream_settings->rbsp_capacity);
    if (bytes <= out->nal_room) return MOTUS_OK;
    if (out->h_nal) bytes = 2 * bytes < most ? 2 * bytes : most;
    cudaFreeHost(out->h_nal);
    out->h_nal = NULL;
    out->nal_room = 0;
    MotusStatus status =
        check(l, cudaMallocHost((void **)&out->h_nal, bytes), "pinned memory", error);
    if (!status) out->nal_room = bytes;
    return status;
}

extern "C" size_t motus_cuda_coder_bytes(const MotusStream *stream, int slots) {
    MotusCudaCoder unused;
    void *ref_memory, *work_memory;
    return lay_out(&unused, stream, NULL, &ref_memory, &work_memory) +
           motus_frame_slots_bytes(stream, slots);
}

extern "C" size_t motus_cuda_coder_free_bytes(int device) {
    MotusOnDevice on(device);
    size_t free_bytes = 0, total;
    return cudaMemGetInfo(&free_bytes, &total) == cudaSuccess ? free_bytes : 0;
}

extern "C" MotusStatus motus_cuda_coder_open(MotusCudaCoder **out, const MotusStream *stream,
                                             const MotusCopyStreams *transfer, int index,
                                             MotusError *error) {
    MotusOnDevice on(transfer->device);
    *out = NULL;
    if (stream->config.slice_max_size)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED,
                          "slices of a largest size are cut on the CPU only");
    MotusCudaCoder *l = (MotusCudaCoder *)motus_alloc(1, sizeof *l);
    if (!l) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    l->stream_settings = stream;
    l->device = transfer->device;
    l->copying = (cudaStream_t)transfer->down;
    MotusStatus status = check(l, motus_search_cuda_prepare(), "kernels", error);
    if (!status) status = open_streams(l, index, error);
    if (!status) status = open_memory(l, error);
    l->most_teams = l->pic.teams, l->may_be_early = l->pic.early;
    l->expected = 4096 < motus_nal_bound(stream->rbsp_capacity)
                      ? 4096
                      : motus_nal_bound(stream->rbsp_capacity);
    if (status) motus_cuda_coder_close(&l);
    *out = l;
    return status;
}

extern "C" void motus_cuda_coder_close(MotusCudaCoder **lane) {
    if (!lane || !*lane) return;
    MotusCudaCoder *l = *lane;
    MotusOnDevice on(l->device);
    for (cudaStream_t stream : {l->stream, l->own_writing}) {
        if (stream) cudaStreamSynchronize(stream);
        if (stream) cudaStreamDestroy(stream);
    }
    for (cudaEvent_t event : {l->coded, l->settled, l->written, l->made})
        if (event) cudaEventDestroy(event);
    for (int i = 0; i < MOTUS_CODER_DEPTH; i++) {
        if (l->output[i].done) cudaEventDestroy(l->output[i].done);
        cudaFreeHost(l->output[i].h_nal);
        close_timing(&l->output[i]);
    }
    cudaFree(l->memory);
    cudaFreeHost(l->host);
    (void)cudaGetLastError();
    motus_free(l);
    *lane = NULL;
}
