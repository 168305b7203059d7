// Pictures' costs on a CUDA device: a ring of entries, the frame at hand and its half picture, on
// streams of its own that go before the lanes'. The host waits for a picture's costs before it
// plans with them; nothing of them is written any more then, so that plans need not wait for the
// pictures that have begun since.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/lookahead_cuda.h"

#include "common/cuda_call.h"
#include "common/on_device.h"
#include "common/slots.h"
#include "yuv/device_frame.h"

extern "C" {
#include "common/alloc.h"
}

namespace {

// What is known of a picture; sums and offsets lie in one block, so that they come down together,
// and progress in front of them is cleared with them.
struct Entry {
    MotusMbCosts costs;
    MotusLookaheadType type;
    uint32_t *progress; // of its search
    MotusLookaheadSums *sums;
    int16_t *offset;
    uint64_t *passed;
    cudaEvent_t prepared; // the half picture is there, and progress and sums are 0
    cudaEvent_t done;     // the sums are on the host
};

constexpr int HALVES = 3; // half pictures: of two that are searched, and the one before

} // namespace

struct MotusLookaheadCuda {
    MotusLookaheadSettings settings;
    int device, n_entries, n_mb;
    uint8_t *memory, *host; // the device's, pinned
    cudaStream_t stream, analysing[2],
        planning; // uploads; even and odd pictures; windows of pictures whose types are known
    cudaEvent_t made, planned; // the frame at hand is there; offsets are on the host
    Entry *entry;
    uint64_t *passed; // of all entries, one behind the other
    MotusHalfPicture half[HALVES];
    MotusFrame frame; // in `memory`: the one at hand, where it did not lie on this device
    int has_frame;    // all of it, from the host
};

namespace {

constexpr size_t SUMS_BYTES = 256; // in front of an entry's offsets
static_assert(sizeof(MotusLookaheadSums) <= SUMS_BYTES, "");

size_t block_bytes(const MotusLookaheadCuda *l) {
    return SUMS_BYTES + ((size_t)l->n_mb * sizeof(int16_t) + 255) / 256 * 256;
}

uint8_t *host_block(const MotusLookaheadCuda *l, int at) {
    return l->host + (size_t)at * block_bytes(l);
}

size_t progress_bytes(const MotusLookaheadCuda *l) {
    return ((size_t)l->settings.mb_height * sizeof(uint32_t) + 255) / 256 * 256;
}

Entry *entry_of(const MotusLookaheadCuda *l, int64_t number) {
    return &l->entry[(number + l->n_entries) % l->n_entries];
}

// Lays everything out from `base` on; returns the bytes.
size_t lay_out(MotusLookaheadCuda *l, uint8_t *base) {
    const int mb_width = l->settings.mb_width, mb_height = l->settings.mb_height;
    const size_t n = (size_t)l->n_mb;
    size_t end = 0;
    for (MotusHalfPicture &half : l->half) {
        uint8_t *memory = base + motus_slot_place(&end, motus_half_bytes(mb_width, mb_height));
        if (base) motus_half_lay_out(&half, memory, mb_width, mb_height);
    }
    motus_device_frame_layout(l->frame.plane, mb_width, mb_height, base, &end);
    l->passed =
        (uint64_t *)(base + motus_slot_place(&end, (size_t)l->n_entries * n * sizeof(uint64_t)));
    for (int i = 0; i < l->n_entries; i++) {
        Entry *e = &l->entry[i];
        uint8_t *block =
            base + motus_slot_place(&end, progress_bytes(l) + block_bytes(l)) + progress_bytes(l);
        e->progress = (uint32_t *)(block - progress_bytes(l));
        e->sums = (MotusLookaheadSums *)block;
        e->offset = (int16_t *)(block + SUMS_BYTES);
        e->passed = l->passed + (size_t)i * n;
        e->costs.intra = (uint16_t *)(base + motus_slot_place(&end, n * sizeof(uint16_t)));
        e->costs.inter = (uint16_t *)(base + motus_slot_place(&end, n * sizeof(uint16_t)));
        e->costs.mv = (MotusMv *)(base + motus_slot_place(&end, n * sizeof(MotusMv)));
    }
    return end;
}

MotusStatus open_waiting_event(cudaEvent_t *event, MotusError *error) {
    return motus_cuda_check(
        cudaEventCreateWithFlags(event, cudaEventDisableTiming | cudaEventBlockingSync), "event",
        error);
}

MotusStatus open_order(MotusLookaheadCuda *l, MotusError *error) {
    int least, greatest; // numbers of priorities, the greatest one being the lower number
    MotusStatus status =
        motus_cuda_check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "stream", error);
    for (cudaStream_t *stream : {&l->stream, &l->analysing[0], &l->analysing[1], &l->planning})
        if (!status)
            status = motus_cuda_check(
                cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, greatest), "stream",
                error);
    if (!status)
        status = motus_cuda_check(cudaEventCreateWithFlags(&l->made, cudaEventDisableTiming),
                                  "event", error);
    if (!status) status = open_waiting_event(&l->planned, error);
    for (int i = 0; i < l->n_entries && !status; i++) {
        Entry *e = &l->entry[i];
        status = motus_cuda_check(cudaEventCreateWithFlags(&e->prepared, cudaEventDisableTiming),
                                  "event", error);
        if (!status) status = open_waiting_event(&e->done, error);
    }
    return status;
}

MotusStatus open_all(MotusLookaheadCuda *l, MotusError *error) {
    const size_t bytes = lay_out(l, NULL);
    MotusStatus status = open_order(l, error);
    if (!status)
        status = motus_cuda_check(cudaMalloc((void **)&l->memory, bytes), "device memory", error);
    if (!status)
        status = motus_cuda_check(cudaMemsetAsync(l->memory, 0, bytes, l->stream), "device memory",
                                  error);
    if (!status)
        status = motus_cuda_check(cudaStreamSynchronize(l->stream), "device memory", error);
    if (!status)
        status = motus_cuda_check(
            cudaMallocHost((void **)&l->host, (size_t)l->n_entries * block_bytes(l)),
            "pinned memory", error);
    if (!status) lay_out(l, l->memory);
    return status;
}

// ---- A frame comes in ---------------------------------------------------------------------------

void show_planes(MotusLookaheadCuda *l, const MotusFrame *frame) {
    l->frame.width = frame->width, l->frame.height = frame->height;
    for (int p = 0; p < 3; p++)
        l->frame.plane[p].width = frame->plane[p].width,
        l->frame.plane[p].height = frame->plane[p].height;
}

// *luma: where it may be read behind `made`.
MotusStatus take_in(MotusLookaheadCuda *l, const MotusFrame *frame, int on_device, void *made_on,
                    MotusPlane *luma, MotusError *error) {
    show_planes(l, frame);
    *luma = l->frame.plane[0];
    int device = l->device;
    MotusStatus status = on_device
                             ? motus_device_frame_locate(frame, &device, error)
                             : motus_device_frame_upload(l->frame.plane, frame, l->stream, error);
    l->has_frame = !on_device && !status;
    const int here = on_device && device == l->device;
    if (!status && on_device && !here)
        status = motus_device_frame_copy_peer(l->frame.plane, l->device, frame->plane, device, 1,
                                              made_on, error);
    if (here) *luma = frame->plane[0];
    return status ? status
                  : motus_cuda_check(
                        cudaEventRecord(l->made, here ? (cudaStream_t)made_on : l->stream),
                        "record", error);
}

MotusStatus wait_on(cudaStream_t stream, cudaEvent_t event, MotusError *error) {
    return motus_cuda_check(cudaStreamWaitEvent(stream, event, 0), "wait", error);
}

// What needs no other picture.
MotusStatus prepare(MotusLookaheadCuda *l, int64_t number, const MotusPlane *luma,
                    cudaStream_t stream, MotusError *error) {
    const MotusLookaheadSettings *s = &l->settings;
    const Entry *e = entry_of(l, number);
    const MotusHalfPicture *half = &l->half[number % HALVES];
    const size_t bytes = progress_bytes(l) + (s->aq_mode ? sizeof *e->sums : block_bytes(l));
    MotusStatus status =
        motus_cuda_check(cudaMemsetAsync(e->progress, 0, bytes, stream), "sums", error);
    if (!status) status = motus_half_build_cuda(half, luma, stream, error);
    if (!status) status = motus_cuda_check(cudaEventRecord(e->prepared, stream), "record", error);
    if (!status) status = motus_intra_costs_cuda(&e->costs, half, stream, error);
    if (!status && s->aq_mode)
        status = motus_aq_variance_cuda(e->offset, luma, s->mb_width, s->mb_height, s->aq_mode,
                                        s->aq_strength_q8, e->sums, stream, error);
    return status;
}

MotusLookaheadSearch search_of(const MotusLookaheadCuda *l, int64_t number, int begins) {
    const Entry *e = entry_of(l, number), *before = entry_of(l, number - 1);
    MotusLookaheadSearch search = {};
    search.costs = e->costs;
    search.cur = l->half[number % HALVES];
    search.sums = e->sums, search.progress = e->progress;
    if (begins) return search;
    search.before = l->half[(number - 1) % HALVES];
    search.earlier = before->costs.mv;
    search.sums_before = before->sums, search.sums_two_before = entry_of(l, number - 2)->sums;
    search.progress_before = before->progress;
    search.type_before = before->type;
    search.type_before.scenecut = 0;
    return search;
}

// Even and odd pictures are on two streams, so that a picture begins when the type of the one two
// before is known: nothing looks any more at the half picture that lay where its own will, three
// before. Types are chosen in order.
MotusStatus analyse(MotusLookaheadCuda *l, const MotusLookaheadEntry *place, const MotusPlane *luma,
                    cudaEvent_t filled, MotusError *error) {
    const MotusLookaheadSettings *s = &l->settings;
    Entry *e = entry_of(l, place->number);
    const Entry *before = entry_of(l, place->number - 1);
    const cudaStream_t stream = l->analysing[place->number & 1];
    e->type = {place->begins, place->force_idr, s->keyint, s->min_keyint, s->scenecut};
    const MotusLookaheadSearch search = search_of(l, place->number, place->begins);
    MotusStatus status = wait_on(stream, filled, error);
    if (!status) status = prepare(l, place->number, luma, stream, error);
    if (!status) status = wait_on(stream, before->prepared, error);
    if (!status) status = motus_lookahead_search_cuda(&search, stream, error);
    if (!status) status = wait_on(stream, before->done, error);
    if (!status) status = motus_lookahead_type_cuda(&search, &e->type, stream, error);
    if (!status)
        status = motus_cuda_check(cudaMemcpyAsync(host_block(l, (int)(e - l->entry)), e->sums,
                                                  sizeof *e->sums, cudaMemcpyDeviceToHost, stream),
                                  "sums", error);
    return status ? status : motus_cuda_check(cudaEventRecord(e->done, stream), "record", error);
}

void wait_for_all(MotusLookaheadCuda *l) {
    for (cudaStream_t stream : {l->stream, l->analysing[0], l->analysing[1], l->planning})
        if (stream) cudaStreamSynchronize(stream);
}

} // namespace

extern "C" MotusStatus motus_lookahead_cuda_open(MotusLookaheadCuda **look,
                                                 const MotusLookaheadSettings *settings,
                                                 int entries, int device, MotusError *error) {
    MotusOnDevice on(device);
    *look = NULL;
    MotusLookaheadCuda *l = (MotusLookaheadCuda *)motus_alloc(1, sizeof *l);
    if (!l) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    l->settings = *settings;
    l->device = device, l->n_entries = entries;
    l->n_mb = settings->mb_width * settings->mb_height;
    l->entry = (Entry *)motus_alloc((size_t)entries, sizeof *l->entry);
    MotusStatus status =
        l->entry ? open_all(l, error) : motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    if (status) motus_lookahead_cuda_close(&l);
    *look = l;
    return status;
}

extern "C" void motus_lookahead_cuda_close(MotusLookaheadCuda **look) {
    if (!look || !*look) return;
    MotusLookaheadCuda *l = *look;
    MotusOnDevice on(l->device);
    wait_for_all(l);
    for (cudaStream_t stream : {l->stream, l->analysing[0], l->analysing[1], l->planning})
        if (stream) cudaStreamDestroy(stream);
    for (cudaEvent_t event : {l->made, l->planned})
        if (event) cudaEventDestroy(event);
    for (int i = 0; l->entry && i < l->n_entries; i++)
        for (cudaEvent_t event : {l->entry[i].prepared, l->entry[i].done})
            if (event) cudaEventDestroy(event);
    cudaFree(l->memory);
    cudaFreeHost(l->host);
    (void)cudaGetLastError();
    motus_free(l->entry);
    motus_free(l);
    *look = NULL;
}

extern "C" MotusStatus motus_lookahead_cuda_analyse(MotusLookaheadCuda *l,
                                                    const MotusLookaheadEntry *place,
                                                    const MotusFrame *frame, int on_device,
                                                    void *made_on, MotusLookaheadSums *sums,
                                                    MotusError *error) {
    MotusOnDevice on(l->device);
    MotusPlane luma;
    MotusStatus status = take_in(l, frame, on_device, made_on, &luma, error);
    if (!status) status = analyse(l, place, &luma, l->made, error);
    if (!status)
        status = motus_lookahead_cuda_wait(l, (int)(place->number % l->n_entries), sums, error);
    if (status) wait_for_all(l); // nothing may read the frame behind the caller's back
    return status;
}

extern "C" MotusStatus motus_lookahead_cuda_begin(MotusLookaheadCuda *l,
                                                  const MotusLookaheadEntry *place,
                                                  const MotusPlane *luma, void *filled,
                                                  MotusError *error) {
    MotusOnDevice on(l->device);
    l->has_frame = 0;
    MotusStatus status = analyse(l, place, luma, (cudaEvent_t)filled, error);
    if (!status) return MOTUS_OK;
    cudaEventSynchronize((cudaEvent_t)filled);
    wait_for_all(l);
    return status;
}

extern "C" MotusStatus motus_lookahead_cuda_wait(const MotusLookaheadCuda *l, int at,
                                                 MotusLookaheadSums *sums, MotusError *error) {
    MotusOnDevice on(l->device);
    MotusStatus status =
        motus_cuda_check(cudaEventSynchronize(l->entry[at].done), "look-ahead", error);
    memcpy(sums, host_block(l, at), sizeof *sums);
    return status;
}

extern "C" const MotusFrame *motus_lookahead_cuda_frame(const MotusLookaheadCuda *l, int device,
                                                        void **stream) {
    *stream = l->stream;
    return l->has_frame && device == l->device ? &l->frame : NULL;
}

extern "C" MotusStatus motus_lookahead_cuda_plan(MotusLookaheadCuda *l, int first, int n,
                                                 int n_final, int first_is_idr, MotusError *error) {
    MotusOnDevice on(l->device);
    const MotusLookaheadSettings *s = &l->settings;
    MotusStatus status = MOTUS_OK;
    if (s->propagation_q8)
        status = motus_cuda_check(
            cudaMemsetAsync(l->passed, 0,
                            (size_t)l->n_entries * (size_t)l->n_mb * sizeof *l->passed,
                            l->planning),
            "propagation", error);
    for (int k = n - 1; k > 0 && s->propagation_q8 && !status; k--) {
        const Entry *e = &l->entry[(first + k) % l->n_entries],
                    *before = &l->entry[(first + k - 1) % l->n_entries];
        status = motus_aq_pass_back_cuda(before->passed, e->passed, &e->costs,
                                         s->aq_mode ? e->offset : NULL, s->mb_width, s->mb_height,
                                         l->planning, error);
    }
    for (int k = 0; k < n_final && !status; k++) {
        const int at = (first + k) % l->n_entries;
        const Entry *e = &l->entry[at];
        status = motus_aq_propagated_cuda(e->offset, e->passed, &e->costs, !k && first_is_idr,
                                          l->n_mb, s->propagation_q8, e->sums, l->planning, error);
        if (!status)
            status =
                motus_cuda_check(cudaMemcpyAsync(host_block(l, at), e->sums,
                                                 SUMS_BYTES + (size_t)l->n_mb * sizeof *e->offset,
                                                 cudaMemcpyDeviceToHost, l->planning),
                                 "offsets", error);
    }
    if (!status)
        status = motus_cuda_check(cudaEventRecord(l->planned, l->planning), "record", error);
    return status ? status
                  : motus_cuda_check(cudaEventSynchronize(l->planned), "look-ahead", error);
}

extern "C" const int16_t *motus_lookahead_cuda_offsets(const MotusLookaheadCuda *l, int at,
                                                       MotusLookaheadSums *sums) {
    const uint8_t *block = host_block(l, at);
    memcpy(sums, block, sizeof *sums);
    return (const int16_t *)(block + SUMS_BYTES);
}
