// Lookahead on a CUDA device: a ring of pictures' costs, the frame at hand and a few half-size
// pictures, on streams of their own with the highest priority. The host waits for a picture's sums
// before it plans with it; nothing writes its costs after that, so plans need not wait for pictures
// that have begun since.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/lookahead_ops.h"

#include "common/cuda_call.cuh"
#include "encoder/lookahead/lookahead_passes_cuda.h"
#include "yuv/device_frame.h"

extern "C" {
#include "common/alloc.h"
}

namespace {

// Half-size pictures: two that are searched, and the one before them. With b_span, pictures up to
// three before the one that begins have their mini-GOPs measured.
constexpr int HALVES = 3;

static_assert(sizeof(MotusLookaheadSums) <= MOTUS_LOOKAHEAD_SUMS_BYTES, "");

// Events of a slot: the half-size picture is built, its sums for weights are complete; its sums are
// complete, and without b_span on the host; with the costs of mini-GOPs they are on the host.
enum { PREPARED, DONE, MEASURED, EVENTS };

enum { UPLOADS, EVEN, ODD, PLANNING, MINI_GOPS, STREAMS }; // EVEN, ODD: pictures are analysed

struct Cuda {
    MotusLookaheadRing ring;
    int device;
    uint8_t *host; // pinned memory: the blocks of each slot
    cudaStream_t stream[STREAMS];
    cudaEvent_t made;             // the frame at hand may be read
    cudaEvent_t planned;          // offsets are on the host
    cudaEvent_t (*event)[EVENTS]; // of slots
    MotusFrame frame; // in ring.memory: the frame at hand, if it did not lie on this device
    int has_upload;   // `frame` is a complete frame from the host
};

uint8_t *host_block(const Cuda *c, int slot) { return c->host + (size_t)slot * c->ring.blocks; }

MotusStatus wait_on(cudaStream_t stream, cudaEvent_t event, MotusError *error) {
    return motus_cuda_check(cudaStreamWaitEvent(stream, event, 0), "wait", error);
}

MotusStatus record(cudaEvent_t event, cudaStream_t stream, MotusError *error) {
    return motus_cuda_check(cudaEventRecord(event, stream), "record", error);
}

void wait_for_all(Cuda *c) {
    for (cudaStream_t stream : c->stream)
        if (stream) cudaStreamSynchronize(stream);
}

// ---- Opening ------------------------------------------------------------------------------------

// host: the host waits for the event, without spinning.
MotusStatus open_event(cudaEvent_t *event, int host, MotusError *error) {
    const unsigned flags = cudaEventDisableTiming | (host ? cudaEventBlockingSync : 0u);
    return motus_cuda_check(cudaEventCreateWithFlags(event, flags), "event", error);
}

MotusStatus open_streams(Cuda *c, MotusError *error) {
    int least, greatest; // the greatest priority is the lower number
    MotusStatus status =
        motus_cuda_check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "stream", error);
    for (cudaStream_t &stream : c->stream)
        if (!status)
            status = motus_cuda_check(
                cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest), "stream",
                error);
    if (!status) status = open_event(&c->made, 0, error);
    if (!status) status = open_event(&c->planned, 1, error);
    for (int i = 0; i < c->ring.n_slots; i++)
        for (int k = 0; k < EVENTS && !status; k++)
            status = open_event(&c->event[i][k], k != PREPARED, error);
    return status;
}

MotusStatus open_memory(Cuda *c, MotusError *error) {
    const MotusLookaheadSettings *s = &c->ring.settings;
    const size_t ring = motus_lookahead_ring_lay_out(&c->ring, NULL);
    size_t bytes = ring;
    motus_device_frame_layout(c->frame.plane, s->mb_width, s->mb_height, NULL, &bytes);
    MotusStatus status =
        motus_cuda_check(cudaMalloc((void **)&c->ring.memory, bytes), "device memory", error);
    if (!status)
        status = motus_cuda_check(cudaMemsetAsync(c->ring.memory, 0, bytes, c->stream[UPLOADS]),
                                  "device memory", error);
    if (!status)
        status =
            motus_cuda_check(cudaStreamSynchronize(c->stream[UPLOADS]), "device memory", error);
    if (!status)
        status = motus_cuda_check(
            cudaMallocHost((void **)&c->host, (size_t)c->ring.n_slots * c->ring.blocks),
            "pinned memory", error);
    if (status) return status;
    motus_lookahead_ring_lay_out(&c->ring, c->ring.memory);
    bytes = ring;
    motus_device_frame_layout(c->frame.plane, s->mb_width, s->mb_height, c->ring.memory, &bytes);
    return MOTUS_OK;
}

void close_cuda(void **executor) {
    Cuda *c = (Cuda *)*executor;
    if (!c) return;
    MotusOnDevice on(c->device);
    wait_for_all(c);
    for (cudaStream_t stream : c->stream)
        if (stream) cudaStreamDestroy(stream);
    for (cudaEvent_t event : {c->made, c->planned})
        if (event) cudaEventDestroy(event);
    for (int i = 0; c->event && i < c->ring.n_slots; i++)
        for (cudaEvent_t event : c->event[i])
            if (event) cudaEventDestroy(event);
    cudaFree(c->ring.memory);
    cudaFreeHost(c->host);
    (void)cudaGetLastError();
    motus_free(c->event);
    motus_free(c->ring.slot);
    motus_free(c);
    *executor = NULL;
}

MotusStatus open_cuda(void **executor, const MotusLookaheadSettings *settings, int n_slots,
                      int device, MotusError *error) {
    MotusOnDevice on(device);
    Cuda *c = (Cuda *)motus_alloc(1, sizeof *c);
    *executor = c;
    if (!c) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    c->device = device;
    MotusStatus status = motus_lookahead_ring_open(
        &c->ring, settings, n_slots, settings->b_span ? MOTUS_LOOKAHEAD_MOST_HALVES : HALVES);
    c->event = (cudaEvent_t(*)[EVENTS])motus_alloc((size_t)n_slots, sizeof *c->event);
    if (status || !c->event) status = motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    if (!status) status = open_streams(c, error);
    if (!status) status = open_memory(c, error);
    if (status) close_cuda(executor);
    return status;
}

// ---- Frames in ----------------------------------------------------------------------------------

// Uploads a frame from the host, or copies luma from another device. A frame on this device is read
// where it lies.
MotusStatus take(void *executor, const MotusFrameSource *source, MotusPlane *luma, void **filled,
                 MotusError *error) {
    Cuda *c = (Cuda *)executor;
    const MotusFrame *from = source->frame;
    MotusOnDevice on(c->device);
    cudaStream_t made_on = c->stream[UPLOADS];
    int device = c->device;
    MotusStatus status = MOTUS_OK;
    c->frame.width = from->width, c->frame.height = from->height;
    for (int p = 0; p < 3; p++) {
        c->frame.plane[p].width = from->plane[p].width;
        c->frame.plane[p].height = from->plane[p].height;
    }
    *luma = c->frame.plane[0];
    if (!source->on_device)
        status = motus_device_frame_upload(c->frame.plane, from, 0, 3, made_on, error);
    else
        status = motus_device_frame_locate(from, &device, error);
    if (!status && device != c->device)
        status = motus_device_frame_copy_peer(c->frame.plane, c->device, from->plane, device, 1,
                                              source->stream, error);
    else if (!status && source->on_device)
        *luma = from->plane[0], made_on = (cudaStream_t)source->stream;
    if (!status) status = record(c->made, made_on, error);
    c->has_upload = !source->on_device && !status;
    *filled = c->made;
    if (status) wait_for_all(c); // nothing may read the caller's frame after the return
    return status;
}

int uploaded(const void *executor, int device, MotusFrameSource *source) {
    const Cuda *c = (const Cuda *)executor;
    if (!c->has_upload || device != c->device) return 0;
    *source = {&c->frame, 1, c->stream[UPLOADS], NULL, NULL};
    return 1;
}

// ---- Analysis -----------------------------------------------------------------------------------

// Runs the passes that need no other picture.
MotusStatus prepare(Cuda *c, int64_t number, const MotusPlane *luma, cudaStream_t stream,
                    MotusError *error) {
    const MotusLookaheadSettings *s = &c->ring.settings;
    const MotusLookaheadSlot *cur = motus_lookahead_slot(&c->ring, number);
    const MotusHalfPicture *half = motus_lookahead_half(&c->ring, number);
    const size_t sums_alone = MOTUS_LOOKAHEAD_SUMS_BYTES,
                 bytes = s->aq_mode ? sums_alone : c->ring.block;
    MotusStatus status =
        motus_cuda_check(cudaMemsetAsync(cur->sums, 0, bytes, stream), "sums", error);
    if (!status)
        status =
            motus_half_build_cuda(half, luma, s->b_span ? &cur->sums->detail : NULL, stream, error);
    if (!status)
        status = motus_intra_costs_cuda(&cur->costs, s->weights ? &cur->stats : NULL, half, stream,
                                        error);
    if (!status) status = record(c->event[number % c->ring.n_slots][PREPARED], stream, error);
    if (!status && s->aq_mode)
        status = motus_aq_offsets_cuda(cur->offset, luma, s->mb_width, s->mb_height, s->aq_mode,
                                       s->aq_strength_q8, cur->sums, stream, error);
    return status;
}

MotusStatus download_sums(const Cuda *c, int slot, cudaStream_t stream, MotusError *error) {
    const MotusLookaheadSums *sums = c->ring.slot[slot].sums;
    return motus_cuda_check(
        cudaMemcpyAsync(host_block(c, slot), sums, sizeof *sums, cudaMemcpyDeviceToHost, stream),
        "sums", error);
}

// Enqueues a picture's passes. Even and odd pictures have a stream each: a picture begins once the
// sums of the picture two before are complete, which come in order. By then no search reads the
// half-size picture three before, whose memory it takes. The costs of mini-GOPs that end with the
// picture follow behind its sums.
MotusStatus enqueue(Cuda *c, int64_t number, int refs, int span, const MotusPlane *luma,
                    cudaEvent_t filled, MotusError *error) {
    const MotusLookaheadSettings *s = &c->ring.settings;
    const int n_slots = c->ring.n_slots, slot = (int)(number % n_slots);
    const cudaEvent_t *event = c->event[slot], *before = c->event[(slot + n_slots - 1) % n_slots],
                      *three_before = c->event[(slot + n_slots - 3) % n_slots];
    const cudaStream_t stream = c->stream[EVEN + (number & 1)], measuring = c->stream[MINI_GOPS];
    MotusLookaheadSlot *cur = &c->ring.slot[slot];
    MotusStatus status = wait_on(stream, filled, error);
    if (!status && s->b_span) status = wait_on(stream, three_before[MEASURED], error);
    if (!status) status = prepare(c, number, luma, stream, error);
    if (!status) status = wait_on(stream, before[PREPARED], error);
    if (!status && s->weights) {
        MotusHalfStats ref[MOTUS_B_SPAN];
        for (int d = 1; d <= refs; d++)
            ref[d - 1] = motus_lookahead_slot(&c->ring, number - d)->stats;
        status = motus_half_find_weights_cuda(cur->weight, &cur->stats, ref, refs, s->mb_width,
                                              s->mb_height, stream, error);
    }
    if (!status) {
        MotusLookaheadSearch search = {};
        search.costs = cur->costs;
        search.cur = *motus_lookahead_half(&c->ring, number);
        search.weight = cur->weight;
        search.sums = cur->sums;
        if (refs) search.before = *motus_lookahead_half(&c->ring, number - 1);
        status = motus_lookahead_search_cuda(&search, stream, error);
    }
    if (!status) status = wait_on(stream, before[DONE], error);
    if (!status && !s->b_span) status = download_sums(c, slot, stream, error);
    if (!status) status = record(event[DONE], stream, error);
    if (status || !s->b_span) return status;
    const MotusBPicture *list[MOTUS_B_SPAN + 1];
    motus_lookahead_list(&c->ring, number, span, list);
    status = wait_on(measuring, event[DONE], error);
    if (!status)
        status =
            motus_b_costs_cuda(&cur->sums->mini_gops, list, span, s->b_pyramid, measuring, error);
    if (!status) status = download_sums(c, slot, measuring, error);
    return status ? status : record(event[MEASURED], measuring, error);
}

MotusStatus begin(void *executor, int64_t number, int refs, int span, const MotusPlane *luma,
                  void *filled, MotusError *error) {
    Cuda *c = (Cuda *)executor;
    MotusOnDevice on(c->device);
    MotusStatus status = enqueue(c, number, refs, span, luma, (cudaEvent_t)filled, error);
    if (!status) return MOTUS_OK;
    cudaEventSynchronize((cudaEvent_t)filled);
    wait_for_all(c); // nothing may read luma after the return
    return status;
}

MotusStatus wait_for(void *executor, int slot, MotusLookaheadSums *sums, MotusError *error) {
    Cuda *c = (Cuda *)executor;
    MotusOnDevice on(c->device);
    const cudaEvent_t event = c->event[slot][c->ring.settings.b_span ? MEASURED : DONE];
    MotusStatus status = motus_cuda_check(cudaEventSynchronize(event), "lookahead", error);
    if (status) wait_for_all(c);
    memcpy(sums, host_block(c, slot), sizeof *sums);
    sums->mini_gops.p[0] = sums->inter;
    return status;
}

// ---- Plans --------------------------------------------------------------------------------------

// Keeps AQ's offsets and their sums as a P picture has them, before mb-tree lowers the offsets.
MotusStatus keep_aq(const Cuda *c, const MotusLookaheadSlot *s, cudaStream_t stream,
                    MotusError *error) {
    const size_t bytes = (size_t)c->ring.n_mb * sizeof *s->offset;
    MotusStatus status =
        motus_cuda_check(cudaMemsetAsync(s->aq_sums, 0, sizeof *s->aq_sums, stream), "sums", error);
    if (!status)
        status = motus_cuda_check(
            cudaMemcpyAsync(s->aq, s->offset, bytes, cudaMemcpyDeviceToDevice, stream), "offsets",
            error);
    return status ? status
                  : motus_mb_tree_offsets_cuda(s->aq, s->propagated, &s->costs, 0, c->ring.n_mb, 0,
                                               s->aq_sums, stream, error);
}

MotusStatus plan(void *executor, int first, int n, int n_final, int first_is_idr,
                 const MotusTreeLink *links, int n_links, MotusError *error) {
    (void)n;
    Cuda *c = (Cuda *)executor;
    MotusOnDevice on(c->device);
    const MotusLookaheadSettings *set = &c->ring.settings;
    const size_t n_mb = (size_t)c->ring.n_mb;
    const cudaStream_t stream = c->stream[PLANNING];
    MotusStatus status = MOTUS_OK;
    if (set->mb_tree_q8)
        status = motus_cuda_check(
            cudaMemsetAsync(c->ring.propagated, 0,
                            (size_t)c->ring.n_slots * n_mb * sizeof *c->ring.propagated, stream),
            "mb-tree", error);
    for (const MotusTreeLink *link = links; link < links + n_links && !status; link++) {
        uint64_t *references[2];
        const MotusTreePicture picture = motus_tree_picture(&c->ring, first, link, references);
        status = motus_mb_tree_propagate_cuda(
            references, motus_lookahead_slot(&c->ring, first + link->at)->propagated, &picture,
            set->mb_width, set->mb_height, stream, error);
    }
    for (int k = 0; k < n_final && !status; k++) {
        const int slot = (first + k) % c->ring.n_slots;
        const MotusLookaheadSlot *s = &c->ring.slot[slot];
        const size_t before = set->keep_aq ? c->ring.block : 0;
        if (before) status = keep_aq(c, s, stream, error);
        if (!status)
            status =
                motus_mb_tree_offsets_cuda(s->offset, s->propagated, &s->costs, !k && first_is_idr,
                                           (int)n_mb, set->mb_tree_q8, s->sums, stream, error);
        if (!status)
            status = motus_cuda_check(
                cudaMemcpyAsync(host_block(c, slot), s->sums,
                                before + MOTUS_LOOKAHEAD_SUMS_BYTES + n_mb * sizeof *s->offset,
                                cudaMemcpyDeviceToHost, stream),
                "offsets", error);
    }
    if (!status) status = record(c->planned, stream, error);
    return status ? status : motus_cuda_check(cudaEventSynchronize(c->planned), "lookahead", error);
}

const int16_t *offsets(const void *executor, int slot, int aq, MotusLookaheadSums *sums) {
    const Cuda *c = (const Cuda *)executor;
    const uint8_t *block = host_block(c, slot) + (aq ? c->ring.block : 0);
    memcpy(sums, block, sizeof *sums);
    return (const int16_t *)(block + MOTUS_LOOKAHEAD_SUMS_BYTES);
}

} // namespace

const MotusLookaheadOps motus_lookahead_ops_cuda = {MOTUS_LOOKAHEAD_MAX_PENDING,
                                                    open_cuda,
                                                    close_cuda,
                                                    take,
                                                    begin,
                                                    wait_for,
                                                    uploaded,
                                                    plan,
                                                    offsets};
