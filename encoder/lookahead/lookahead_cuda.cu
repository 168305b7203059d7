// Lookahead on a CUDA device: a ring of pictures' costs, the frame at hand and a few half-size
// pictures, on streams of their own with the highest priority. The host waits for a picture's sums
// before it plans with it; nothing writes its costs after that, so plans need not wait for pictures
// that have begun since.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/lookahead_ops.h"

#include "common/cuda_call.cuh"
#include "common/slots.h"
#include "encoder/lookahead/lookahead_passes_cuda.h"
#include "yuv/device_frame.h"

extern "C" {
#include "common/alloc.h"
}

namespace {

// Slot of the ring. Sums and offsets lie in one block: one copy brings them to the host, one memset
// clears them, sums for weights with them. With keep_aq a second block follows, with the sums and
// offsets of AQ alone.
struct CudaSlot {
    MotusMbCosts costs;
    MotusLookaheadSums *sums;
    int16_t *offset;
    MotusLookaheadSums *aq_sums;
    int16_t *aq;
    uint64_t *propagated;
    MotusHalfStats stats; // with weights
    MotusHalfWeight *weight;
    MotusBPicture b;      // with b_span
    cudaEvent_t prepared; // the half-size picture is built, its sums for weights are complete
    cudaEvent_t done;     // its sums are complete, and without b_span on the host
    cudaEvent_t measured; // with the costs of mini-GOPs they are on the host
};

// Half-size pictures: two that are searched, and the one before them. With b_span, pictures up to
// three before the one that begins have their mini-GOPs measured.
constexpr int HALVES = 3, MOST_HALVES = MOTUS_B_SPAN + 3;

struct Cuda {
    MotusLookaheadSettings settings;
    int device, n_slots, n_mb;
    uint8_t *memory, *host;    // device memory; pinned memory: a block of each slot
    cudaStream_t stream;       // uploads
    cudaStream_t analysing[2]; // even and odd pictures
    cudaStream_t planning;
    cudaStream_t measuring; // mini-GOPs
    cudaEvent_t made;       // the frame at hand may be read
    cudaEvent_t planned;    // offsets are on the host
    CudaSlot *slot;
    uint64_t *propagated; // of all slots, without gaps
    int n_halves;
    MotusHalfPicture half[MOST_HALVES]; // the last n_halves ones: number % n_halves
    MotusFrame frame; // in `memory`: the frame at hand, if it did not lie on this device
    int has_upload;   // `frame` is a complete frame from the host
};

// Before a slot's offsets.
struct Sums {
    MotusLookaheadSums costs;
    MotusHalfSums samples;
};

constexpr size_t SUMS_BYTES = 256;
static_assert(sizeof(Sums) <= SUMS_BYTES, "");

size_t block_bytes(const Cuda *c) {
    return SUMS_BYTES + ((size_t)c->n_mb * sizeof(int16_t) + 255) / 256 * 256;
}

// Returns the bytes of a slot's block, or of both.
size_t blocks_bytes(const Cuda *c) { return (c->settings.keep_aq ? 2 : 1) * block_bytes(c); }

uint8_t *host_block(const Cuda *c, int slot) { return c->host + (size_t)slot * blocks_bytes(c); }

CudaSlot *slot_of(const Cuda *c, int64_t number) {
    return &c->slot[(number + c->n_slots) % c->n_slots];
}

MotusHalfPicture *half_of(Cuda *c, int64_t number) {
    return &c->half[(number + c->n_halves) % c->n_halves];
}

// ---- Opening ------------------------------------------------------------------------------------

MotusBField lay_out_field(uint8_t *base, size_t n, size_t *end) {
    MotusBField field;
    field.mv = (MotusMv *)(base + motus_slot_reserve(end, n * sizeof(MotusMv)));
    field.cost = (uint16_t *)(base + motus_slot_reserve(end, n * sizeof(uint16_t)));
    return field;
}

// Lays out the fields of a slot. earlier[0] is that of its costs.
void lay_out_fields(CudaSlot *s, const MotusLookaheadSettings *settings, uint8_t *base, size_t n,
                    size_t *end) {
    const int span = settings->b_span;
    s->b.intra = s->costs.intra;
    s->b.earlier[0] = {s->costs.mv, s->costs.inter};
    for (int d = 1; d < span; d++) {
        s->b.earlier[d] = lay_out_field(base, n, end);
        s->b.later[d - 1] = lay_out_field(base, n, end);
    }
    if (!settings->mb_tree_q8 || !span) return;
    const size_t stride = (n * sizeof(uint16_t) + 255) & ~(size_t)255,
                 pairs = (size_t)motus_b_measured(span, settings->b_pyramid);
    uint8_t *between = base + motus_slot_reserve(end, pairs * stride);
    if (base) motus_b_lay_out_between(&s->b, between, stride, span, settings->b_pyramid);
}

void lay_out_weights(CudaSlot *s, const MotusLookaheadSettings *settings, uint8_t *base, size_t n,
                     size_t *end) {
    if (!settings->weights) return;
    s->stats.sums = &((Sums *)(void *)s->sums)->samples;
    s->stats.small = (int16_t *)(base + motus_slot_reserve(end, 4 * n * sizeof *s->stats.small));
    s->weight =
        (MotusHalfWeight *)(base + motus_slot_reserve(end, MOTUS_B_SPAN * sizeof *s->weight));
    s->b.weight = s->weight;
}

// Lays out all buffers from `base` on (NULL: only counts) and returns their bytes.
size_t lay_out(Cuda *c, uint8_t *base) {
    const int mb_width = c->settings.mb_width, mb_height = c->settings.mb_height;
    const size_t n = (size_t)c->n_mb;
    size_t end = 0;
    for (int i = 0; i < c->n_halves; i++) {
        uint8_t *memory = base + motus_slot_reserve(&end, motus_half_bytes(mb_width, mb_height));
        if (base) motus_half_layout(&c->half[i], memory, mb_width, mb_height);
    }
    motus_device_frame_layout(c->frame.plane, mb_width, mb_height, base, &end);
    c->propagated =
        (uint64_t *)(base + motus_slot_reserve(&end, (size_t)c->n_slots * n * sizeof(uint64_t)));
    for (int i = 0; i < c->n_slots; i++) {
        CudaSlot *s = &c->slot[i];
        uint8_t *block = base + motus_slot_reserve(&end, blocks_bytes(c));
        s->sums = (MotusLookaheadSums *)block;
        s->offset = (int16_t *)(block + SUMS_BYTES);
        s->aq_sums = (MotusLookaheadSums *)(block + block_bytes(c));
        s->aq = (int16_t *)(block + block_bytes(c) + SUMS_BYTES);
        s->propagated = c->propagated + (size_t)i * n;
        s->costs.intra = (uint16_t *)(base + motus_slot_reserve(&end, n * sizeof(uint16_t)));
        s->costs.inter = (uint16_t *)(base + motus_slot_reserve(&end, n * sizeof(uint16_t)));
        s->costs.mv = (MotusMv *)(base + motus_slot_reserve(&end, n * sizeof(MotusMv)));
        s->costs.first = (MotusMv *)(base + motus_slot_reserve(&end, n * sizeof(MotusMv)));
        lay_out_weights(s, &c->settings, base, n, &end);
        lay_out_fields(s, &c->settings, base, n, &end);
    }
    return end;
}

// Creates an event that the host waits for without spinning.
MotusStatus open_host_event(cudaEvent_t *event, MotusError *error) {
    return motus_cuda_check(
        cudaEventCreateWithFlags(event, cudaEventDisableTiming | cudaEventBlockingSync), "event",
        error);
}

MotusStatus open_stream_event(cudaEvent_t *event, MotusError *error) {
    return motus_cuda_check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "event",
                            error);
}

MotusStatus open_streams(Cuda *c, MotusError *error) {
    int least, greatest; // the greatest priority is the lower number
    MotusStatus status =
        motus_cuda_check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "stream", error);
    for (cudaStream_t *stream :
         {&c->stream, &c->analysing[0], &c->analysing[1], &c->planning, &c->measuring})
        if (!status)
            status = motus_cuda_check(
                cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, greatest), "stream",
                error);
    if (!status) status = open_stream_event(&c->made, error);
    if (!status) status = open_host_event(&c->planned, error);
    for (int i = 0; i < c->n_slots && !status; i++) {
        status = open_stream_event(&c->slot[i].prepared, error);
        if (!status) status = open_host_event(&c->slot[i].done, error);
        if (!status) status = open_host_event(&c->slot[i].measured, error);
    }
    return status;
}

MotusStatus open_memory(Cuda *c, MotusError *error) {
    const size_t bytes = lay_out(c, NULL);
    MotusStatus status =
        motus_cuda_check(cudaMalloc((void **)&c->memory, bytes), "device memory", error);
    if (!status)
        status = motus_cuda_check(cudaMemsetAsync(c->memory, 0, bytes, c->stream), "device memory",
                                  error);
    if (!status)
        status = motus_cuda_check(cudaStreamSynchronize(c->stream), "device memory", error);
    if (!status)
        status = motus_cuda_check(
            cudaMallocHost((void **)&c->host, (size_t)c->n_slots * blocks_bytes(c)),
            "pinned memory", error);
    if (!status) lay_out(c, c->memory);
    return status;
}

void wait_for_all(Cuda *c) {
    for (cudaStream_t stream :
         {c->stream, c->analysing[0], c->analysing[1], c->planning, c->measuring})
        if (stream) cudaStreamSynchronize(stream);
}

void close_cuda(void **executor) {
    Cuda *c = (Cuda *)*executor;
    if (!c) return;
    MotusOnDevice on(c->device);
    wait_for_all(c);
    for (cudaStream_t stream :
         {c->stream, c->analysing[0], c->analysing[1], c->planning, c->measuring})
        if (stream) cudaStreamDestroy(stream);
    for (cudaEvent_t event : {c->made, c->planned})
        if (event) cudaEventDestroy(event);
    for (int i = 0; c->slot && i < c->n_slots; i++)
        for (cudaEvent_t event : {c->slot[i].prepared, c->slot[i].done, c->slot[i].measured})
            if (event) cudaEventDestroy(event);
    cudaFree(c->memory);
    cudaFreeHost(c->host);
    (void)cudaGetLastError();
    motus_free(c->slot);
    motus_free(c);
    *executor = NULL;
}

MotusStatus open_cuda(void **executor, const MotusLookaheadSettings *settings, int n_slots,
                      int device, MotusError *error) {
    MotusOnDevice on(device);
    Cuda *c = (Cuda *)motus_alloc(1, sizeof *c);
    *executor = c;
    if (!c) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    c->settings = *settings;
    c->device = device, c->n_slots = n_slots;
    c->n_halves = settings->b_span ? MOST_HALVES : HALVES;
    c->n_mb = settings->mb_width * settings->mb_height;
    c->slot = (CudaSlot *)motus_alloc((size_t)n_slots, sizeof *c->slot);
    MotusStatus status =
        c->slot ? open_streams(c, error) : motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    if (!status) status = open_memory(c, error);
    if (status) close_cuda(executor);
    return status;
}

// ---- Frames in ----------------------------------------------------------------------------------

void set_sizes(MotusFrame *frame, const MotusFrame *from) {
    frame->width = from->width, frame->height = from->height;
    for (int p = 0; p < 3; p++)
        frame->plane[p].width = from->plane[p].width,
        frame->plane[p].height = from->plane[p].height;
}

// Uploads a frame from the host, or copies luma from another device. A frame on this device is read
// where it lies.
MotusStatus bring(Cuda *c, const MotusFrameSource *source, MotusPlane *luma, cudaStream_t *made_on,
                  MotusError *error) {
    const MotusFrame *frame = source->frame;
    int device = c->device;
    *luma = c->frame.plane[0], *made_on = c->stream;
    if (!source->on_device)
        return motus_device_frame_upload(c->frame.plane, frame, 0, 3, c->stream, error);
    MotusStatus status = motus_device_frame_locate(frame, &device, error);
    if (status) return status;
    if (device != c->device)
        return motus_device_frame_copy_peer(c->frame.plane, c->device, frame->plane, device, 1,
                                            source->stream, error);
    *luma = frame->plane[0], *made_on = (cudaStream_t)source->stream;
    return MOTUS_OK;
}

MotusStatus take(void *executor, const MotusFrameSource *source, MotusPlane *luma, void **filled,
                 MotusError *error) {
    Cuda *c = (Cuda *)executor;
    MotusOnDevice on(c->device);
    cudaStream_t made_on;
    set_sizes(&c->frame, source->frame);
    MotusStatus status = bring(c, source, luma, &made_on, error);
    if (!status) status = motus_cuda_check(cudaEventRecord(c->made, made_on), "record", error);
    c->has_upload = !source->on_device && !status;
    *filled = c->made;
    if (status) wait_for_all(c); // nothing may read the caller's frame after the return
    return status;
}

int uploaded(const void *executor, int device, MotusFrameSource *source) {
    const Cuda *c = (const Cuda *)executor;
    if (!c->has_upload || device != c->device) return 0;
    *source = {&c->frame, 1, c->stream, NULL, NULL};
    return 1;
}

// ---- Analysis -----------------------------------------------------------------------------------

MotusStatus wait_on(cudaStream_t stream, cudaEvent_t event, MotusError *error) {
    return motus_cuda_check(cudaStreamWaitEvent(stream, event, 0), "wait", error);
}

// Runs the passes that need no other picture.
MotusStatus prepare(Cuda *c, int64_t number, const MotusPlane *luma, cudaStream_t stream,
                    MotusError *error) {
    const MotusLookaheadSettings *s = &c->settings;
    const CudaSlot *cur = slot_of(c, number);
    const MotusHalfPicture *half = half_of(c, number);
    const size_t bytes = s->aq_mode ? SUMS_BYTES : block_bytes(c);
    MotusStatus status =
        motus_cuda_check(cudaMemsetAsync(cur->sums, 0, bytes, stream), "sums", error);
    if (!status)
        status =
            motus_half_build_cuda(half, luma, s->b_span ? &cur->sums->detail : NULL, stream, error);
    if (!status)
        status = motus_intra_costs_cuda(&cur->costs, s->weights ? &cur->stats : NULL, half, stream,
                                        error);
    if (!status) status = motus_cuda_check(cudaEventRecord(cur->prepared, stream), "record", error);
    if (!status && s->aq_mode)
        status = motus_aq_offsets_cuda(cur->offset, luma, s->mb_width, s->mb_height, s->aq_mode,
                                       s->aq_strength_q8, cur->sums, stream, error);
    return status;
}

// Finds the weights of the earlier pictures that the picture is searched in.
MotusStatus weigh(Cuda *c, const MotusLookaheadPicture *picture, cudaStream_t stream,
                  MotusError *error) {
    const CudaSlot *cur = slot_of(c, picture->number);
    const int n = motus_lookahead_refs(picture);
    MotusHalfStats ref[MOTUS_B_SPAN];
    for (int d = 1; d <= n; d++) ref[d - 1] = slot_of(c, picture->number - d)->stats;
    return motus_half_find_weights_cuda(cur->weight, &cur->stats, ref, n, c->settings.mb_width,
                                        c->settings.mb_height, stream, error);
}

MotusLookaheadSearch search_of(Cuda *c, const MotusLookaheadPicture *picture) {
    const CudaSlot *cur = slot_of(c, picture->number);
    MotusLookaheadSearch search = {};
    search.costs = cur->costs;
    search.cur = *half_of(c, picture->number);
    search.weight = cur->weight;
    search.sums = cur->sums;
    if (!picture->first_in_segment) search.before = *half_of(c, picture->number - 1);
    return search;
}

MotusStatus download_sums(const Cuda *c, const CudaSlot *s, cudaStream_t stream,
                          MotusError *error) {
    return motus_cuda_check(cudaMemcpyAsync(host_block(c, (int)(s - c->slot)), s->sums,
                                            sizeof *s->sums, cudaMemcpyDeviceToHost, stream),
                            "sums", error);
}

// Enqueues a picture's passes. Even and odd pictures have a stream each: a picture begins once the
// sums of the picture two before are complete, which come in order. By then no search reads the
// half-size picture three before, whose memory it takes.
MotusStatus enqueue(Cuda *c, const MotusLookaheadPicture *picture, const MotusPlane *luma,
                    cudaEvent_t filled, MotusError *error) {
    const MotusLookaheadSettings *s = &c->settings;
    const int64_t number = picture->number;
    CudaSlot *cur = slot_of(c, number);
    const CudaSlot *before = slot_of(c, number - 1);
    const cudaStream_t stream = c->analysing[number & 1];
    const MotusLookaheadSearch search = search_of(c, picture);
    MotusStatus status = wait_on(stream, filled, error);
    if (!status && s->b_span) status = wait_on(stream, slot_of(c, number - 3)->measured, error);
    if (!status) status = prepare(c, number, luma, stream, error);
    if (!status) status = wait_on(stream, before->prepared, error);
    if (!status && s->weights) status = weigh(c, picture, stream, error);
    if (!status) status = motus_lookahead_search_cuda(&search, stream, error);
    if (!status) status = wait_on(stream, before->done, error);
    if (!status && !s->b_span) status = download_sums(c, cur, stream, error);
    return status ? status : motus_cuda_check(cudaEventRecord(cur->done, stream), "record", error);
}

// Enqueues the costs of mini-GOPs that end with the picture, behind its sums.
MotusStatus measure(Cuda *c, const MotusLookaheadPicture *picture, MotusError *error) {
    const int64_t number = picture->number;
    CudaSlot *cur = slot_of(c, number);
    const MotusBPicture *list[MOTUS_B_SPAN + 1];
    cur->b.half = *half_of(c, number);
    for (int d = 0; d <= picture->span; d++) list[d] = &slot_of(c, number - d)->b;
    MotusStatus status = wait_on(c->measuring, cur->done, error);
    if (!status)
        status = motus_b_costs_cuda(&cur->sums->mini_gops, list, picture->span,
                                    c->settings.b_pyramid, c->measuring, error);
    if (!status) status = download_sums(c, cur, c->measuring, error);
    return status ? status
                  : motus_cuda_check(cudaEventRecord(cur->measured, c->measuring), "record", error);
}

MotusStatus begin(void *executor, const MotusLookaheadPicture *picture, const MotusPlane *luma,
                  void *filled, MotusError *error) {
    Cuda *c = (Cuda *)executor;
    MotusOnDevice on(c->device);
    MotusStatus status = enqueue(c, picture, luma, (cudaEvent_t)filled, error);
    if (!status && c->settings.b_span) status = measure(c, picture, error);
    if (!status) return MOTUS_OK;
    cudaEventSynchronize((cudaEvent_t)filled);
    wait_for_all(c); // nothing may read luma after the return
    return status;
}

MotusStatus wait_for(void *executor, int slot, MotusLookaheadSums *sums, MotusError *error) {
    Cuda *c = (Cuda *)executor;
    MotusOnDevice on(c->device);
    const cudaEvent_t event = c->settings.b_span ? c->slot[slot].measured : c->slot[slot].done;
    MotusStatus status = motus_cuda_check(cudaEventSynchronize(event), "lookahead", error);
    if (status) wait_for_all(c);
    memcpy(sums, host_block(c, slot), sizeof *sums);
    sums->mini_gops.p[0] = sums->inter;
    return status;
}

// ---- Plans --------------------------------------------------------------------------------------

// Runs mb-tree over the pictures from slot `first` on.
MotusStatus propagate(Cuda *c, int first, const MotusTreeLink *links, int n_links,
                      MotusError *error) {
    const MotusLookaheadSettings *s = &c->settings;
    const size_t bytes = (size_t)c->n_slots * (size_t)c->n_mb * sizeof *c->propagated;
    MotusStatus status =
        motus_cuda_check(cudaMemsetAsync(c->propagated, 0, bytes, c->planning), "mb-tree", error);
    for (const MotusTreeLink *link = links; link < links + n_links && !status; link++) {
        const CudaSlot *cur = slot_of(c, first + link->at);
        const MotusTreePicture picture =
            motus_tree_picture(link, &cur->costs, &cur->b, s->aq_mode ? cur->offset : NULL);
        uint64_t *const references[2] = {
            link->at < link->before ? NULL
                                    : slot_of(c, first + link->at - link->before)->propagated,
            link->after ? slot_of(c, first + link->at + link->after)->propagated : NULL};
        status = motus_mb_tree_propagate_cuda(references, cur->propagated, &picture, s->mb_width,
                                              s->mb_height, c->planning, error);
    }
    return status;
}

// Keeps AQ's offsets and their sums as a P picture has them, before mb-tree lowers the offsets.
MotusStatus keep_aq(const Cuda *c, const CudaSlot *s, MotusError *error) {
    MotusStatus status = motus_cuda_check(
        cudaMemsetAsync(s->aq_sums, 0, sizeof *s->aq_sums, c->planning), "sums", error);
    if (!status)
        status =
            motus_cuda_check(cudaMemcpyAsync(s->aq, s->offset, (size_t)c->n_mb * sizeof *s->offset,
                                             cudaMemcpyDeviceToDevice, c->planning),
                             "offsets", error);
    return status ? status
                  : motus_mb_tree_offsets_cuda(s->aq, s->propagated, &s->costs, 0, c->n_mb, 0,
                                               s->aq_sums, c->planning, error);
}

MotusStatus plan(void *executor, int first, int n, int n_final, int first_is_idr,
                 const MotusTreeLink *links, int n_links, MotusError *error) {
    (void)n;
    Cuda *c = (Cuda *)executor;
    MotusOnDevice on(c->device);
    const int strength = c->settings.mb_tree_q8;
    MotusStatus status = strength ? propagate(c, first, links, n_links, error) : MOTUS_OK;
    for (int k = 0; k < n_final && !status; k++) {
        const int slot = (first + k) % c->n_slots;
        const CudaSlot *s = &c->slot[slot];
        const size_t before = c->settings.keep_aq ? block_bytes(c) : 0;
        if (before) status = keep_aq(c, s, error);
        if (status) break;
        status = motus_mb_tree_offsets_cuda(s->offset, s->propagated, &s->costs, !k && first_is_idr,
                                            c->n_mb, strength, s->sums, c->planning, error);
        if (!status)
            status = motus_cuda_check(
                cudaMemcpyAsync(host_block(c, slot), s->sums,
                                before + SUMS_BYTES + (size_t)c->n_mb * sizeof *s->offset,
                                cudaMemcpyDeviceToHost, c->planning),
                "offsets", error);
    }
    if (!status)
        status = motus_cuda_check(cudaEventRecord(c->planned, c->planning), "record", error);
    return status ? status : motus_cuda_check(cudaEventSynchronize(c->planned), "lookahead", error);
}

const int16_t *offsets(const void *executor, int slot, MotusLookaheadSums *sums) {
    const uint8_t *block = host_block((const Cuda *)executor, slot);
    memcpy(sums, block, sizeof *sums);
    return (const int16_t *)(block + SUMS_BYTES);
}

const int16_t *aq_offsets(const void *executor, int slot, MotusLookaheadSums *sums) {
    const Cuda *c = (const Cuda *)executor;
    const uint8_t *block = host_block(c, slot) + block_bytes(c);
    memcpy(sums, block, sizeof *sums);
    return (const int16_t *)(block + SUMS_BYTES);
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
                                                    offsets,
                                                    aq_offsets};
