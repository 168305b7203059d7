// Pictures' costs on a CUDA device: a ring of entries, the frame at hand and its half picture, on a stream of its own that goes before the lanes'.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead_cuda.h"

#include "common/cuda_call.h"
#include "common/on_device.h"
#include "common/slots.h"
#include "encoder/intake.h"

extern "C" {
#include "common/alloc.h"
}

namespace {

// What is known of a picture; sums and offsets lie in one block, so that they come down together.
struct Entry {
    MotusMbCosts costs;
    MotusLookSums *sums;
    int16_t *offset;
    uint64_t *passed;
};

} // namespace

struct MotusLookCuda {
    MotusLookaheadSettings settings;
    int device, n_entries, n_mb;
    uint8_t *memory, *host; // the device's, pinned
    cudaStream_t stream;
    cudaEvent_t made, done; // the caller's frame; results are on the host
    Entry *entry;
    uint64_t *passed; // of all entries, one behind the other
    MotusHalf half[2];
    MotusFrame frame; // in `memory`: the one at hand, where it did not lie on this device
    int has_frame;    // all of it, from the host
};

namespace {

constexpr size_t SUMS_BYTES = 256; // in front of an entry's offsets
static_assert(sizeof(MotusLookSums) <= SUMS_BYTES, "");

size_t block_bytes(const MotusLookCuda *l) { return SUMS_BYTES + ((size_t)l->n_mb * sizeof(int16_t) + 255) / 256 * 256; }

uint8_t *host_block(const MotusLookCuda *l, int at) { return l->host + (size_t)at * block_bytes(l); }

// Lays everything out from `base` on; returns the bytes.
size_t lay_out(MotusLookCuda *l, uint8_t *base) {
    const int mb_width = l->settings.mb_width, mb_height = l->settings.mb_height;
    const size_t n = (size_t)l->n_mb;
    size_t end = 0;
    for (MotusHalf &half : l->half) {
        uint8_t *memory = base + motus_slot_place(&end, motus_half_bytes(mb_width, mb_height));
        if (base) motus_half_lay_out(&half, memory, mb_width, mb_height);
    }
    motus_intake_cuda_place(l->frame.plane, mb_width, mb_height, base, &end);
    l->passed = (uint64_t *)(base + motus_slot_place(&end, (size_t)l->n_entries * n * sizeof(uint64_t)));
    for (int i = 0; i < l->n_entries; i++) {
        Entry *e = &l->entry[i];
        uint8_t *block = base + motus_slot_place(&end, block_bytes(l));
        e->sums = (MotusLookSums *)block;
        e->offset = (int16_t *)(block + SUMS_BYTES);
        e->passed = l->passed + (size_t)i * n;
        e->costs.intra = (uint16_t *)(base + motus_slot_place(&end, n * sizeof(uint16_t)));
        e->costs.inter = (uint16_t *)(base + motus_slot_place(&end, n * sizeof(uint16_t)));
        e->costs.mv = (MotusMv *)(base + motus_slot_place(&end, n * sizeof(MotusMv)));
    }
    return end;
}

MotusStatus open_all(MotusLookCuda *l, MotusError *error) {
    const size_t bytes = lay_out(l, NULL);
    int least, greatest; // numbers of priorities, the greatest one being the lower number
    MotusStatus status = motus_cuda_check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "stream", error);
    if (!status)
        status = motus_cuda_check(cudaStreamCreateWithPriority(&l->stream, cudaStreamNonBlocking, greatest), "stream", error);
    if (!status) status = motus_cuda_check(cudaEventCreateWithFlags(&l->made, cudaEventDisableTiming), "event", error);
    if (!status)
        status =
            motus_cuda_check(cudaEventCreateWithFlags(&l->done, cudaEventDisableTiming | cudaEventBlockingSync), "event", error);
    if (!status) status = motus_cuda_check(cudaMalloc((void **)&l->memory, bytes), "device memory", error);
    if (!status) status = motus_cuda_check(cudaMemsetAsync(l->memory, 0, bytes, l->stream), "device memory", error);
    if (!status) status = motus_cuda_check(cudaStreamSynchronize(l->stream), "device memory", error);
    if (!status)
        status =
            motus_cuda_check(cudaMallocHost((void **)&l->host, (size_t)l->n_entries * block_bytes(l)), "pinned memory", error);
    if (!status) lay_out(l, l->memory);
    return status;
}

MotusStatus wait_for_results(MotusLookCuda *l, MotusError *error) {
    MotusStatus status = motus_cuda_check(cudaEventRecord(l->done, l->stream), "record", error);
    return status ? status : motus_cuda_check(cudaEventSynchronize(l->done), "look-ahead", error);
}

// ---- A frame comes in -------------------------------------------------------------------------------------------------------------------------

void show_planes(MotusLookCuda *l, const MotusFrame *frame) {
    l->frame.width = frame->width, l->frame.height = frame->height;
    for (int p = 0; p < 3; p++)
        l->frame.plane[p].width = frame->plane[p].width, l->frame.plane[p].height = frame->plane[p].height;
}

// *luma: where the look-ahead's stream may read it from now on.
MotusStatus take_in(MotusLookCuda *l, const MotusFrame *frame, int on_device, void *made_on, MotusPlane *luma,
                    MotusError *error) {
    show_planes(l, frame);
    *luma = l->frame.plane[0];
    l->has_frame = 0;
    if (!on_device) {
        MotusStatus status = motus_intake_cuda_upload(l->frame.plane, frame, l->stream, error);
        l->has_frame = !status;
        return status;
    }
    int device = l->device;
    MotusStatus status = motus_intake_cuda_device(frame, &device, error);
    if (status) return status;
    if (device != l->device)
        return motus_intake_cuda_bring_over(l->frame.plane, l->device, frame->plane, device, 1, made_on, error);
    *luma = frame->plane[0];
    status = motus_cuda_check(cudaEventRecord(l->made, (cudaStream_t)made_on), "record", error);
    return status ? status : motus_cuda_check(cudaStreamWaitEvent(l->stream, l->made, 0), "wait", error);
}

MotusStatus analyse(MotusLookCuda *l, const MotusLookPlace *place, const MotusPlane *luma, MotusError *error) {
    const MotusLookaheadSettings *s = &l->settings;
    const Entry *e = &l->entry[place->at], *before = place->before < 0 ? NULL : &l->entry[place->before];
    const MotusHalf *half = &l->half[place->parity];
    MotusStatus status =
        motus_cuda_check(cudaMemsetAsync(e->sums, 0, s->aq_mode ? sizeof *e->sums : block_bytes(l), l->stream), "sums", error);
    if (!status) status = motus_half_build_cuda(half, luma, l->stream, error);
    if (!status)
        status = motus_mb_costs_cuda(&e->costs, half, before ? &l->half[!place->parity] : NULL,
                                     before && place->searched ? before->costs.mv : NULL, e->sums, l->stream, error);
    if (!status && s->aq_mode)
        status = motus_aq_variance_cuda(e->offset, luma, s->mb_width, s->mb_height, s->aq_mode, s->aq_strength_q8, e->sums,
                                        l->stream, error);
    return status;
}

} // namespace

extern "C" MotusStatus motus_look_cuda_open(MotusLookCuda **look, const MotusLookaheadSettings *settings, int entries, int device,
                                            MotusError *error) {
    MotusOnDevice on(device);
    *look = NULL;
    MotusLookCuda *l = (MotusLookCuda *)motus_alloc(1, sizeof *l);
    if (!l) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    l->settings = *settings;
    l->device = device, l->n_entries = entries;
    l->n_mb = settings->mb_width * settings->mb_height;
    l->entry = (Entry *)motus_alloc((size_t)entries, sizeof *l->entry);
    MotusStatus status = l->entry ? open_all(l, error) : motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    if (status) motus_look_cuda_close(&l);
    *look = l;
    return status;
}

extern "C" void motus_look_cuda_close(MotusLookCuda **look) {
    if (!look || !*look) return;
    MotusLookCuda *l = *look;
    MotusOnDevice on(l->device);
    if (l->stream) cudaStreamSynchronize(l->stream);
    if (l->stream) cudaStreamDestroy(l->stream);
    for (cudaEvent_t event : {l->made, l->done})
        if (event) cudaEventDestroy(event);
    cudaFree(l->memory);
    cudaFreeHost(l->host);
    (void)cudaGetLastError();
    motus_free(l->entry);
    motus_free(l);
    *look = NULL;
}

extern "C" MotusStatus motus_look_cuda_analyse(MotusLookCuda *l, const MotusLookPlace *place, const MotusFrame *frame,
                                               int on_device, void *made_on, MotusLookSums *sums, MotusError *error) {
    MotusOnDevice on(l->device);
    MotusPlane luma;
    uint8_t *down = host_block(l, place->at);
    MotusStatus status = take_in(l, frame, on_device, made_on, &luma, error);
    if (!status) status = analyse(l, place, &luma, error);
    if (!status)
        status = motus_cuda_check(
            cudaMemcpyAsync(down, l->entry[place->at].sums, sizeof *sums, cudaMemcpyDeviceToHost, l->stream), "sums", error);
    if (!status) status = wait_for_results(l, error);
    if (status) cudaStreamSynchronize(l->stream); // nothing may read the frame behind the caller's back
    memcpy(sums, down, sizeof *sums);
    return status;
}

extern "C" const MotusFrame *motus_look_cuda_frame(const MotusLookCuda *l, int device, void **stream) {
    *stream = l->stream;
    return l->has_frame && device == l->device ? &l->frame : NULL;
}

extern "C" MotusStatus motus_look_cuda_plan(MotusLookCuda *l, int first, int n, int n_final, int first_is_idr,
                                            MotusError *error) {
    MotusOnDevice on(l->device);
    const MotusLookaheadSettings *s = &l->settings;
    MotusStatus status = MOTUS_OK;
    if (s->propagation_q8)
        status =
            motus_cuda_check(cudaMemsetAsync(l->passed, 0, (size_t)l->n_entries * (size_t)l->n_mb * sizeof *l->passed, l->stream),
                             "propagation", error);
    for (int k = n - 1; k > 0 && s->propagation_q8 && !status; k--) {
        const Entry *e = &l->entry[(first + k) % l->n_entries], *before = &l->entry[(first + k - 1) % l->n_entries];
        status = motus_aq_pass_back_cuda(before->passed, e->passed, &e->costs, s->aq_mode ? e->offset : NULL, s->mb_width,
                                         s->mb_height, l->stream, error);
    }
    for (int k = 0; k < n_final && !status; k++) {
        const int at = (first + k) % l->n_entries;
        const Entry *e = &l->entry[at];
        status = motus_aq_propagated_cuda(e->offset, e->passed, &e->costs, !k && first_is_idr, l->n_mb, s->propagation_q8,
                                          e->sums, l->stream, error);
        if (!status)
            status =
                motus_cuda_check(cudaMemcpyAsync(host_block(l, at), e->sums, SUMS_BYTES + (size_t)l->n_mb * sizeof *e->offset,
                                                 cudaMemcpyDeviceToHost, l->stream),
                                 "offsets", error);
    }
    return status ? status : wait_for_results(l, error);
}

extern "C" const int16_t *motus_look_cuda_offsets(const MotusLookCuda *l, int at, MotusLookSums *sums) {
    const uint8_t *block = host_block(l, at);
    memcpy(sums, block, sizeof *sums);
    return (const int16_t *)(block + SUMS_BYTES);
}
