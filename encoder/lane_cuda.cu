// The way of a picture on the device:
//   frame -> whole MBs -> [reference planes -> centres -> search -> marked blocks -> refinement -> decisions] -> intra -> counting bits -> deblocking -> error
//                                                                                                                       \-> NAL unit -> down
// Every step is a launch on one of the lane's two streams; the host waits once, for the NAL unit's size and its bytes, and meanwhile the next picture is put on
// its way.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lane_cuda.h"

#include <string.h>

#include "common/cuda_call.h"
#include "common/on_device.h"
#include "common/slots.h"
#include "encoder/deblock_cuda.h"
#include "encoder/decide_cuda.h"
#include "encoder/given.h"
#include "encoder/given_cuda.h"
#include "encoder/intake.h"
#include "encoder/slice_cuda.h"
#include "me/centres_cuda.h"
#include "me/ref_luma_cuda.h"
#include "me/refine_cuda.h"
#include "me/search_cuda.h"
#include "yuv/pad.h"

extern "C" {
#include "common/alloc.h"
#include "encoder/slice.h"
}

// What the device hands back of a picture beside its NAL unit.
typedef struct Report {
    MotusSliceResult result;
    MotusPictureStats stats;
} Report;

// What goes in and comes out of a picture beside its samples: two, as the next picture begins before the host has seen to this one.
typedef struct Output {
    MotusSliceHead *head; // on the device; one for each slice
    int8_t *qp_offset;
    Report *report;
    uint8_t *nal;
    MotusSliceHead *h_head; // pinned
    int8_t *h_qp_offset;
    Report *h_report;
    uint8_t *h_nal;
    MotusMb *h_mb;
    size_t brought; // bytes of the NAL unit that come down without its size being known
    int with_mb, is_i;
    cudaEvent_t done;
    cudaEvent_t began, ended[MOTUS_STAGES]; // where stages are timed
} Output;

typedef struct Slot {
    MotusPlane src[3];  // whole MBs
    cudaEvent_t filled; // the frame is there
} Slot;

struct MotusLaneCuda {
    const MotusStream *stream_settings;
    int device, n_slots;
    cudaStream_t stream, writing, copying; // coding; NAL units; frames from the host, and what comes down late
    cudaEvent_t counted, written, made;    // a picture's bits, its NAL unit, its reconstruction
    uint8_t *memory, *host;                // device memory, pinned memory
    Slot *slot;
    MotusPlane frame[3]; // as it came from the host
    // What the lane's thread uses.
    MotusWorkCuda work;
    MotusPlane rec[2][3];  // reconstructions in turn
    const MotusPlane *src; // of the picture that is put on its way
    MotusRefLuma ref_luma;
    MotusMv *centre, *mv, *whole_mv; // whole_mv: of 16x16 before refinement
    MotusMv *last_mv[2];             // what a picture leaves to the next one, in turn as rec is
    uint16_t *sad;
    uint32_t *cost;
    void *centres_work, *slice_work;
    MotusSliceResult *slice_results; // of all slices but the last one
    int *slice_first;                // of work; not there for one slice
    int *deblock_flags;
    Output output[MOTUS_LANE_BEGUN];
    unsigned begun, finished;     // pictures
    size_t expected;              // bytes of the next NAL unit, with some to spare
    int current;                  // of rec: the picture that is put on its way
    int has_last_mv, had_last_mv; // had: before the picture that was begun last
    MotusError failure;           // of the call that failed: the lane stays so
};

namespace {

MotusPlane place_plane(uint8_t *base, size_t *end, int width, int height) {
    MotusPlane plane;
    plane.stride = (width + 63) / 64 * 64;
    plane.width = width, plane.height = height;
    plane.data =
        base + motus_slot_place(end, (size_t)plane.stride * height + 64); // the search reads whole words beyond the last sample
    return plane;
}

// Lays what does not depend on the number of slots out from `base` on; returns the bytes.
size_t lay_out(MotusLaneCuda *l, const MotusStream *s, uint8_t *base, void **ref_memory, void **work_memory) {
    int width = 16 * s->mb_width, height = 16 * s->mb_height;
    size_t n = (size_t)s->mb_width * s->mb_height, nal_capacity = motus_nal_bound(s->rbsp_capacity), end = 0;
    *work_memory = base + motus_slot_place(&end, motus_work_cuda_bytes(s->mb_width, s->mb_height));
    for (int p = 0; p < 3; p++) {
        int half = p ? 2 : 1;
        l->frame[p] = place_plane(base, &end, s->config.width / half, s->config.height / half);
        for (int k = 0; k < 2; k++) l->rec[k][p] = place_plane(base, &end, width / half, height / half);
    }
    *ref_memory = base + motus_slot_place(&end, motus_ref_luma_bytes(width, height));
    l->centre = (MotusMv *)(base + motus_slot_place(&end, n * sizeof(MotusMv)));
    for (int k = 0; k < 2; k++) l->last_mv[k] = (MotusMv *)(base + motus_slot_place(&end, n * sizeof(MotusMv)));
    l->whole_mv = (MotusMv *)(base + motus_slot_place(&end, n * sizeof(MotusMv)));
    l->mv = (MotusMv *)(base + motus_slot_place(&end, MOTUS_BLOCKS * n * sizeof(MotusMv)));
    l->sad = (uint16_t *)(base + motus_slot_place(&end, MOTUS_BLOCKS * n * sizeof(uint16_t)));
    l->cost = (uint32_t *)(base + motus_slot_place(&end, MOTUS_BLOCKS * n * sizeof(uint32_t)));
    l->centres_work = base + motus_slot_place(&end, motus_centres_cuda_bytes(width, height));
    l->slice_work = base + motus_slot_place(&end, motus_slice_cuda_bytes((int)n, (uint32_t)nal_capacity));
    if (s->slices.first) {
        l->slice_first = (int *)(base + motus_slot_place(&end, n * sizeof(int)));
        l->slice_results = (MotusSliceResult *)(base + motus_slot_place(&end, (size_t)s->slices.n * sizeof(MotusSliceResult)));
    }
    l->deblock_flags = (int *)(base + motus_slot_place(&end, motus_deblock_cuda_flags(s->mb_width, s->mb_height) * sizeof(int)));
    for (Output *out = l->output; out < l->output + MOTUS_LANE_BEGUN; out++) {
        out->nal = base + motus_slot_place(&end, nal_capacity);
        out->head = (MotusSliceHead *)(base + motus_slot_place(&end, (size_t)s->slices.n * sizeof(MotusSliceHead)));
        out->qp_offset = (int8_t *)(base + motus_slot_place(&end, n));
        out->report = (Report *)(base + motus_slot_place(&end, sizeof(Report)));
    }
    return end;
}

size_t lay_out_slot(Slot *slot, const MotusStream *s, uint8_t *base) {
    size_t end = 0;
    for (int p = 0; p < 3; p++) slot->src[p] = place_plane(base, &end, (p ? 8 : 16) * s->mb_width, (p ? 8 : 16) * s->mb_height);
    return end;
}

size_t lay_out_host(MotusLaneCuda *l, const MotusStream *s, uint8_t *host) {
    size_t end = 0, n = (size_t)s->mb_width * s->mb_height;
    for (Output *out = l->output; out < l->output + MOTUS_LANE_BEGUN; out++) {
        out->h_report = (Report *)(host + motus_slot_place(&end, sizeof(Report)));
        out->h_head = (MotusSliceHead *)(host + motus_slot_place(&end, (size_t)s->slices.n * sizeof(MotusSliceHead)));
        out->h_qp_offset = (int8_t *)(host + motus_slot_place(&end, n));
        out->h_mb = (MotusMb *)(host + motus_slot_place(&end, n * sizeof(MotusMb)));
        out->h_nal = host + motus_slot_place(&end, motus_nal_bound(s->rbsp_capacity));
    }
    return end;
}

// Every CUDA call of the lane's thread passes here.
MotusStatus check(MotusLaneCuda *l, cudaError_t status, const char *what, MotusError *error) {
    if (!l->failure.status) motus_cuda_check(status, what, &l->failure);
    if (l->failure.status && error) *error = l->failure;
    return l->failure.status;
}

MotusReference reference(const MotusLaneCuda *l, const MotusPlane rec[3]) {
    const MotusRefLuma *luma = &l->ref_luma;
    MotusReference ref = {};
    ref.width = luma->width, ref.height = luma->height;
    ref.luma = luma->plane[0], ref.luma_stride = luma->stride;
    ref.chroma[0] = rec[1].data, ref.chroma[1] = rec[2].data, ref.chroma_stride = rec[1].stride;
    memcpy(ref.tap, luma->tap, sizeof ref.tap);
    return ref;
}

MotusStatus stage_ended(MotusLaneCuda *l, MotusStage stage, MotusError *error) {
    return check(l, motus_stage_ended_cuda(&l->work, stage, l->stream), "record", error);
}

// Uploads vectors that were given, and measures them. (From pageable memory: the call returns when they have been read.)
MotusStatus measure(MotusLaneCuda *l, const MotusPlane ref[3], uint32_t lambda_q8, const MotusGiven *given, uint32_t modes,
                    MotusError *error) {
    const MotusReference with_half = reference(l, ref);
    MotusStatus status = check(l,
                               cudaMemcpyAsync(l->mv, given->mv, MOTUS_BLOCKS * (size_t)l->work.n_mb * sizeof(MotusMv),
                                               cudaMemcpyHostToDevice, l->stream),
                               "vectors", error);
    return status ? status
                  : check(l,
                          motus_given_measure_cuda(l->mv, modes, &l->src[0], &with_half, l->centre, lambda_q8, l->sad, l->cost,
                                                   l->stream),
                          "vectors", error);
}

// Brings the field down before refinement changes it. (To pageable memory: the call waits for the device.)
MotusStatus bring_field(MotusLaneCuda *l, MotusField *field, MotusError *error) {
    const size_t n = MOTUS_BLOCKS * (size_t)l->work.n_mb;
    cudaError_t status = cudaMemcpyAsync(field->mv[0], l->mv, n * sizeof(MotusMv), cudaMemcpyDeviceToHost, l->stream);
    if (status == cudaSuccess)
        status = cudaMemcpyAsync(field->sad[0], l->sad, n * sizeof(uint16_t), cudaMemcpyDeviceToHost, l->stream);
    if (status == cudaSuccess)
        status = cudaMemcpyAsync(field->cost[0], l->cost, n * sizeof(uint32_t), cudaMemcpyDeviceToHost, l->stream);
    return check(l, status, "field", error);
}

// Keeps the whole-sample vectors of 16x16 for the next picture's centres: refinement is about to change them. Vectors that were given are only measured.
MotusStatus search(MotusLaneCuda *l, const MotusPlane ref[3], uint32_t lambda_q8, const MotusGiven *given, uint32_t modes,
                   MotusField *field, MotusError *error) {
    const MotusStream *s = l->stream_settings;
    int width = 16 * s->mb_width, height = 16 * s->mb_height;
    MotusCentresPicture centres = {
        l->src[0].data, l->src[0].stride, &l->ref_luma,     l->has_last_mv ? l->last_mv[!l->current] : NULL,
        lambda_q8,      s->effort.reach,  MOTUS_MAX_CENTRE, s->centre_limit_y,
        l->centre};
    MotusSearchPicture search = {
        l->src[0].data, ref[0].data, (int)l->src[0].stride, (int)ref[0].stride, l->centre, l->centre, NULL, lambda_q8, l->mv,
        l->sad,         l->cost};
    MotusStatus status = check(l, motus_ref_luma_cuda_build(&l->ref_luma, &ref[0], l->stream), "reference", error);
    if (!status) status = check(l, motus_centres_cuda(&centres, l->centres_work, l->stream), "centres", error);
    if (!status) status = stage_ended(l, MOTUS_STAGE_REFERENCE, error);
    if (!status && given->mv)
        status = measure(l, ref, lambda_q8, given, modes, error);
    else if (!status)
        status = check(l, motus_search_cuda(&search, 1, width, height, s->effort.range, modes, l->stream), "search", error);
    if (!status && field) status = bring_field(l, field, error);
    if (!status)
        status = check(
            l, cudaMemcpyAsync(l->whole_mv, l->mv, (size_t)l->work.n_mb * sizeof(MotusMv), cudaMemcpyDeviceToDevice, l->stream),
            "vectors", error);
    return status ? status : stage_ended(l, MOTUS_STAGE_SEARCH, error);
}

MotusStatus code_p(MotusLaneCuda *l, int qp, const MotusGiven *given, MotusField *field, MotusError *error) {
    const MotusStream *s = l->stream_settings;
    const MotusEffort effort = motus_given_effort(s, given);
    const MotusPlane *ref = l->rec[!l->current];
    uint32_t lambda_q8 = motus_lambda_q8(qp);
    MotusStatus status = search(l, ref, lambda_q8, given, effort.partitions, field, error);
    if (!status) status = check(l, motus_mark_blocks_cuda(&l->work, l->cost, qp, &effort, l->stream), "blocks", error);
    if (!status && s->config.subpel != MOTUS_SUBPEL_FULL && !given->final) {
        MotusSearchPicture p = {
            l->src[0].data, ref[0].data, (int)l->src[0].stride, (int)ref[0].stride, l->centre, l->centre, NULL, lambda_q8, l->mv,
            l->sad,         l->cost};
        static_assert(sizeof(MotusCandidates) % sizeof(uint64_t) == 0, "masks at a pitch of whole words");
        const MotusWantedBlocks marked = {&l->work.candidates->blocks, sizeof(MotusCandidates) / sizeof(uint64_t)};
        status = check(l,
                       motus_refine_cuda(&p, &l->ref_luma, 16 * s->mb_width, 16 * s->mb_height, s->config.subpel,
                                         effort.partitions, marked, l->stream),
                       "refinement", error);
    }
    if (status) return status;
    const MotusPCodingCuda p = {reference(l, ref), l->mv, l->cost, s->limits};
    status = check(l, motus_code_p_cuda(&l->work, &p, qp, &effort, l->stream), "decisions", error);
    if (!status)
        status = check(l, motus_keep_vectors_cuda(&l->work, l->whole_mv, l->last_mv[l->current], l->stream), "vectors", error);
    return status;
}

// `after` waits until `before` is where it is now.
MotusStatus follow(MotusLaneCuda *l, cudaStream_t after, cudaStream_t before, cudaEvent_t event, MotusError *error) {
    MotusStatus status = check(l, cudaEventRecord(event, before), "record", error);
    return status ? status : check(l, cudaStreamWaitEvent(after, event, 0), "wait", error);
}

// Slice k, one of whole MB rows: a picture of its own to who writes it. Bits are counted, and MBs settled, before deblocking; the last slice's NAL unit is written
// beside it, those before on the same stream: they share the working memory.
MotusStatus entropy_code_slice(MotusLaneCuda *l, const Output *out, int k, MotusError *error) {
    const MotusStream *s = l->stream_settings;
    const MotusSlices *slices = &s->slices;
    const int begin = slices->begin ? slices->begin[k] : 0, end = slices->begin ? slices->begin[k + 1] : s->mb_height;
    MotusSliceCuda slice = {};
    slice.mb_width = s->mb_width, slice.mb_height = end - begin;
    slice.mb = l->work.mb + begin * s->mb_width, slice.coef = l->work.coef + begin * s->mb_width;
    for (int p = 0; p < 3; p++) {
        slice.src[p] = l->src[p].data + (p ? 8 : 16) * begin * l->src[p].stride;
        slice.src_stride[p] = l->src[p].stride;
    }
    slice.head = out->head + k, slice.work = l->slice_work;
    slice.nal = out->nal, slice.capacity = (uint32_t)motus_nal_bound(s->rbsp_capacity);
    const int last = k + 1 == slices->n;
    slice.before = k ? &l->slice_results[k - 1] : NULL;
    slice.result = last ? &out->report->result : &l->slice_results[k], slice.stats = &out->report->stats;
    MotusStatus status = check(l, motus_slice_cuda_count(&slice, l->stream), "entropy coding", error);
    if (!status && last) status = follow(l, l->writing, l->stream, l->counted, error);
    return status ? status : check(l, motus_slice_cuda_write(&slice, last ? l->writing : l->stream), "entropy coding", error);
}

MotusStatus entropy_code(MotusLaneCuda *l, const Output *out, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int k = 0; k < l->stream_settings->slices.n && !status; k++) status = entropy_code_slice(l, out, k, error);
    return status;
}

MotusStatus deblock(MotusLaneCuda *l, MotusError *error) {
    const MotusPlane *rec = l->rec[l->current];
    uint8_t *const plane[3] = {rec[0].data, rec[1].data, rec[2].data};
    const ptrdiff_t stride[3] = {rec[0].stride, rec[1].stride, rec[2].stride};
    return check(l,
                 motus_deblock_cuda(plane, stride, l->work.mb, l->work.mb_width, l->work.mb_height, l->deblock_flags, l->stream),
                 "deblocking", error);
}

void put_heads(const MotusStream *s, const MotusPlace *place, MotusSliceHead *head) {
    for (int k = 0; k < s->slices.n; k++) {
        const MotusSliceSettings slice = motus_slice_settings(s, place, s->slices.begin ? s->slices.begin[k] * s->mb_width : 0);
        head[k] = motus_slice_head(&s->sequence, &slice, 2);
    }
}

// Everything that becomes of a picture on the device, in order.
MotusStatus code(MotusLaneCuda *l, const MotusPlace *place, const Output *out, MotusField *field, MotusError *error) {
    const MotusStream *s = l->stream_settings;
    MotusStatus status = l->work.ended ? check(l, cudaEventRecord(out->began, l->stream), "record", error) : MOTUS_OK;
    if (!status)
        status = check(
            l,
            cudaMemcpyAsync(out->head, out->h_head, (size_t)s->slices.n * sizeof *out->head, cudaMemcpyHostToDevice, l->stream),
            "slice header", error);
    if (!status && place->qp_offset)
        status =
            check(l, cudaMemcpyAsync(out->qp_offset, out->h_qp_offset, (size_t)l->work.n_mb, cudaMemcpyHostToDevice, l->stream),
                  "QP offsets", error);
    if (!status) status = check(l, cudaMemsetAsync(out->report, 0, sizeof *out->report, l->stream), "statistics", error);
    if (!status)
        status = place->idr ? check(l, motus_code_i_cuda(&l->work, place->qp, &s->effort, l->stream), "intra coding", error)
                            : code_p(l, place->qp, &place->given, field, error);
    if (!status) status = stage_ended(l, MOTUS_STAGE_INTRA, error);
    if (!status) status = entropy_code(l, out, error);
    if (!status) status = stage_ended(l, MOTUS_STAGE_ENTROPY, error);
    if (!status && s->config.deblock) status = deblock(l, error);
    if (!status)
        status = check(l,
                       motus_plane_errors_cuda(l->src, l->rec[l->current], s->config.width, s->config.height,
                                               out->report->stats.ssd, l->stream),
                       "statistics", error);
    if (!status) status = stage_ended(l, MOTUS_STAGE_DEBLOCK, error);
    // The next picture overwrites what the NAL unit is written from.
    return status ? status : follow(l, l->stream, l->writing, l->written, error);
}

MotusStatus bring_recon(MotusLaneCuda *l, const Output *out, const MotusFrame *rec, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int p = 0; rec && p < 3 && !status; p++) {
        const MotusPlane *from = &l->rec[l->current][p], *to = &rec->plane[p];
        status = check(l,
                       cudaMemcpy2DAsync(to->data, (size_t)to->stride, from->data, (size_t)from->stride, (size_t)from->width,
                                         (size_t)from->height, cudaMemcpyDeviceToHost, l->stream),
                       "download", error);
    }
    if (!status && out->with_mb)
        status = check(
            l, cudaMemcpyAsync(out->h_mb, l->work.mb, (size_t)l->work.n_mb * sizeof(MotusMb), cudaMemcpyDeviceToHost, l->stream),
            "download", error);
    return status;
}

// What comes down: the NAL unit as far as it is expected to reach, and where a reconstruction is wanted, that and the MBs.
MotusStatus bring(MotusLaneCuda *l, const Output *out, const MotusFrame *rec, MotusError *error) {
    MotusStatus status = bring_recon(l, out, rec, error);
    if (!status)
        status =
            check(l, cudaMemcpyAsync(out->h_nal, out->nal, out->brought, cudaMemcpyDeviceToHost, l->writing), "download", error);
    if (!status) status = follow(l, l->writing, l->stream, l->made, error); // the report is complete
    if (!status)
        status = check(l, cudaMemcpyAsync(out->h_report, out->report, sizeof *out->report, cudaMemcpyDeviceToHost, l->writing),
                       "download", error);
    return status ? status : check(l, cudaEventRecord(out->done, l->writing), "record", error);
}

MotusStatus open_memory(MotusLaneCuda *l, MotusError *error) {
    const MotusStream *s = l->stream_settings;
    void *ref_memory, *work_memory;
    Slot unused;
    size_t common = lay_out(l, s, NULL, &ref_memory, &work_memory), of_slot = lay_out_slot(&unused, s, NULL);
    size_t bytes = common + (size_t)l->n_slots * of_slot;
    MotusStatus status = check(l, cudaMalloc((void **)&l->memory, bytes), "device memory", error);
    if (!status) status = check(l, cudaMemsetAsync(l->memory, 0, bytes, l->stream), "device memory", error);
    if (!status) status = check(l, cudaMallocHost((void **)&l->host, lay_out_host(l, s, NULL)), "pinned memory", error);
    if (status) return status;
    lay_out(l, s, l->memory, &ref_memory, &work_memory);
    lay_out_host(l, s, l->host);
    for (int i = 0; i < l->n_slots; i++) lay_out_slot(&l->slot[i], s, l->memory + common + (size_t)i * of_slot);
    motus_ref_luma_layout(&l->ref_luma, ref_memory, 16 * s->mb_width, 16 * s->mb_height);
    if (s->slices.first)
        status = check(l,
                       cudaMemcpyAsync(l->slice_first, s->slices.first, (size_t)s->mb_width * s->mb_height * sizeof(int),
                                       cudaMemcpyHostToDevice, l->stream),
                       "slices", error);
    if (!status) status = check(l, cudaStreamSynchronize(l->stream), "device memory", error);
    if (!status)
        status = check(l, motus_work_cuda_place(&l->work, work_memory, s->mb_width, s->mb_height), "device memory", error);
    l->work.slice_first = s->slices.first ? l->slice_first : NULL;
    return status;
}

MotusStatus open_timing(MotusLaneCuda *l, Output *out, MotusError *error) {
    MotusStatus status = check(l, cudaEventCreate(&out->began), "event", error);
    for (int k = 0; k < MOTUS_STAGES && !status; k++) status = check(l, cudaEventCreate(&out->ended[k]), "event", error);
    return status;
}

void close_timing(Output *out) {
    if (out->began) cudaEventDestroy(out->began);
    for (cudaEvent_t event : out->ended)
        if (event) cudaEventDestroy(event);
}

// A picture that is done.
MotusStatus read_timing(MotusLaneCuda *l, const Output *out, float us[MOTUS_STAGES], MotusError *error) {
    MotusStatus status = MOTUS_OK;
    cudaEvent_t before = out->began;
    memset(us, 0, MOTUS_STAGES * sizeof *us);
    for (int k = out->is_i ? MOTUS_STAGE_INTRA : 0; out->began && k < MOTUS_STAGES && !status; k++) {
        status = check(l, cudaEventElapsedTime(&us[k], before, out->ended[k]), "timing", error);
        us[k] *= 1000;
        before = out->ended[k];
    }
    return status;
}

MotusStatus open_streams(MotusLaneCuda *l, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (cudaStream_t *stream : {&l->stream, &l->writing, &l->copying})
        if (!status) status = check(l, cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "stream", error);
    for (cudaEvent_t *event : {&l->counted, &l->written, &l->made})
        if (!status) status = check(l, cudaEventCreateWithFlags(event, cudaEventDisableTiming), "event", error);
    for (int i = 0; i < l->n_slots && !status; i++)
        status = check(l, cudaEventCreateWithFlags(&l->slot[i].filled, cudaEventDisableTiming), "event", error);
    for (int i = 0; i < MOTUS_LANE_BEGUN && !status; i++) {
        status = check(l, cudaEventCreateWithFlags(&l->output[i].done, cudaEventDisableTiming | cudaEventBlockingSync), "event",
                       error);
        if (!status && l->stream_settings->config.time_stages) status = open_timing(l, &l->output[i], error);
    }
    return status;
}

MotusStatus upload(MotusLaneCuda *l, const MotusFrame *frame, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int p = 0; p < 3 && !status; p++) {
        const MotusPlane *from = &frame->plane[p], *to = &l->frame[p];
        status =
            motus_cuda_check(cudaMemcpy2DAsync(to->data, (size_t)to->stride, from->data, (size_t)from->stride,
                                               (size_t)from->width, (size_t)from->height, cudaMemcpyHostToDevice, l->copying),
                             "upload of the frame", error);
    }
    return status;
}

// Copies a frame that lies on another device, where `made_on` is, into l->frame, which nothing uses now: whoever did has waited for it. Complete on return.
MotusStatus bring_over(MotusLaneCuda *l, const MotusFrame *frame, int device, void *made_on, MotusError *error) {
    MotusOnDevice there(device);
    MotusStatus status = MOTUS_OK;
    for (int p = 0; p < 3 && !status; p++) {
        const MotusPlane *from = &frame->plane[p], *to = &l->frame[p];
        const size_t width = (size_t)from->width, height = (size_t)from->height;
        cudaMemcpy3DPeerParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(from->data, (size_t)from->stride, width, height);
        copy.dstPtr = make_cudaPitchedPtr(to->data, (size_t)to->stride, width, height);
        copy.srcDevice = device, copy.dstDevice = l->device;
        copy.extent = make_cudaExtent(width, height, 1);
        status = motus_cuda_check(cudaMemcpy3DPeerAsync(&copy, (cudaStream_t)made_on), "copy from another device", error);
    }
    MotusStatus waited =
        motus_cuda_check(cudaStreamSynchronize((cudaStream_t)made_on), "copy from another device", status ? NULL : error);
    return status ? status : waited;
}

} // namespace

extern "C" MotusStatus motus_lane_cuda_device(int wanted, int *device, MotusError *error) {
    MotusStatus status = motus_device_check(error);
    if (status) return status;
    int n = motus_device_count();
    if (wanted >= n) return motus_fail(error, MOTUS_ERR_NO_DEVICE, "there is no CUDA device %d, only %d", wanted, n);
    *device = wanted;
    if (wanted < 0) return motus_cuda_check(cudaGetDevice(device), "device", error);
    MotusOnDevice on(wanted);
    return motus_device_check(error);
}

extern "C" size_t motus_lane_cuda_bytes(const MotusStream *stream, int slots) {
    MotusLaneCuda unused;
    Slot slot;
    void *ref_memory, *work_memory;
    return lay_out(&unused, stream, NULL, &ref_memory, &work_memory) + (size_t)slots * lay_out_slot(&slot, stream, NULL);
}

extern "C" size_t motus_lane_cuda_free_bytes(int device) {
    MotusOnDevice on(device);
    size_t free_bytes = 0, total;
    return cudaMemGetInfo(&free_bytes, &total) == cudaSuccess ? free_bytes : 0;
}

extern "C" MotusStatus motus_lane_cuda_open(MotusLaneCuda **out, const MotusStream *stream, int device, int slots,
                                            MotusError *error) {
    MotusOnDevice on(device);
    *out = NULL;
    if (stream->config.slice_max_size)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "slices of a largest size are cut on the CPU only");
    MotusLaneCuda *l = (MotusLaneCuda *)motus_alloc(1, sizeof *l);
    if (!l) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    l->stream_settings = stream;
    l->device = device, l->n_slots = slots;
    l->slot = (Slot *)motus_alloc((size_t)slots, sizeof *l->slot);
    MotusStatus status = l->slot ? MOTUS_OK : motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    if (!status) status = check(l, motus_search_cuda_prepare(), "kernels", error);
    if (!status) status = open_streams(l, error);
    if (!status) status = open_memory(l, error);
    l->expected = 4096 < motus_nal_bound(stream->rbsp_capacity) ? 4096 : motus_nal_bound(stream->rbsp_capacity);
    if (status) motus_lane_cuda_close(&l);
    *out = l;
    return status;
}

extern "C" void motus_lane_cuda_close(MotusLaneCuda **lane) {
    if (!lane || !*lane) return;
    MotusLaneCuda *l = *lane;
    MotusOnDevice on(l->device);
    for (cudaStream_t stream : {l->copying, l->stream, l->writing}) {
        if (stream) cudaStreamSynchronize(stream);
        if (stream) cudaStreamDestroy(stream);
    }
    for (cudaEvent_t event : {l->counted, l->written, l->made})
        if (event) cudaEventDestroy(event);
    for (int i = 0; l->slot && i < l->n_slots; i++)
        if (l->slot[i].filled) cudaEventDestroy(l->slot[i].filled);
    for (int i = 0; i < MOTUS_LANE_BEGUN; i++) {
        if (l->output[i].done) cudaEventDestroy(l->output[i].done);
        close_timing(&l->output[i]);
    }
    cudaFree(l->memory);
    cudaFreeHost(l->host);
    (void)cudaGetLastError();
    motus_free(l->slot);
    motus_free(l);
    *lane = NULL;
}

extern "C" MotusStatus motus_lane_cuda_take(MotusLaneCuda *l, int slot, const MotusFrame *frame, int on_device, void *made_on,
                                            MotusError *error) {
    MotusOnDevice on(l->device);
    Slot *to = &l->slot[slot];
    int device = l->device; // that the frame lies on
    MotusStatus status = on_device ? motus_intake_cuda_device(frame, &device, error) : MOTUS_OK;
    const int here = on_device && device == l->device;
    cudaStream_t stream = here ? (cudaStream_t)made_on : l->copying;
    if (!status && !here) status = on_device ? bring_over(l, frame, device, made_on, error) : upload(l, frame, error);
    if (!status) status = motus_planes_copy_padded_cuda(to->src, here ? frame->plane : l->frame, stream, error);
    if (!status) status = motus_cuda_check(cudaEventRecord(to->filled, stream), "record", error);
    if (here) return status;
    // Even after a failure nothing may read the frame behind the caller's back.
    MotusStatus waited = motus_cuda_check(cudaStreamSynchronize(stream), "upload of the frame", status ? NULL : error);
    return status ? status : waited;
}

extern "C" MotusStatus motus_lane_cuda_begin(MotusLaneCuda *l, int slot, const MotusPlace *place, MotusFrame *rec,
                                             MotusField *field, MotusError *error) {
    MotusOnDevice on(l->device);
    MotusStatus status = check(l, cudaStreamWaitEvent(l->stream, l->slot[slot].filled, 0), "wait", error);
    if (status) return status;
    Output *out = &l->output[l->begun % MOTUS_LANE_BEGUN];
    put_heads(l->stream_settings, place, out->h_head);
    if (place->qp_offset) memcpy(out->h_qp_offset, place->qp_offset, (size_t)l->work.n_mb);
    l->work.qp_offset = place->qp_offset ? out->qp_offset : NULL;
    out->brought = l->expected;
    out->with_mb = rec != NULL;
    out->is_i = place->idr;
    l->work.ended = out->began ? out->ended : NULL;
    l->current = !l->current;
    l->src = l->slot[slot].src;
    for (int p = 0; p < 3; p++) {
        l->work.src[p] = l->src[p].data, l->work.src_stride[p] = l->src[p].stride;
        l->work.rec[p] = l->rec[l->current][p].data, l->work.rec_stride[p] = l->rec[l->current][p].stride;
    }
    status = code(l, place, out, field, error);
    if (!status) status = bring(l, out, rec, error);
    if (status) { // nothing may write to `rec` behind the caller's back
        cudaStreamSynchronize(l->stream);
        cudaStreamSynchronize(l->writing);
    }
    l->had_last_mv = l->has_last_mv;
    l->has_last_mv = !place->idr;
    l->begun += !status;
    return status;
}

extern "C" void motus_lane_cuda_undo(MotusLaneCuda *l) {
    l->current = !l->current;
    l->has_last_mv = l->had_last_mv;
}

extern "C" MotusStatus motus_lane_cuda_finish(MotusLaneCuda *l, MotusLanePicture *picture, MotusError *error) {
    MotusOnDevice on(l->device);
    const Output *out = &l->output[l->finished++ % MOTUS_LANE_BEGUN];
    MotusStatus status = check(l, cudaEventSynchronize(out->done), "picture", error);
    if (status) return status;
    size_t size = out->h_report->result.size, most = motus_nal_bound(l->stream_settings->rbsp_capacity);
    if (out->h_report->result.overflow) return motus_fail(error, MOTUS_ERR_INTERNAL, "the picture is larger than its buffer");
    if (size > out->brought) {
        status = check(l,
                       cudaMemcpyAsync(out->h_nal + out->brought, out->nal + out->brought, size - out->brought,
                                       cudaMemcpyDeviceToHost, l->copying),
                       "download", error);
        if (!status) status = check(l, cudaStreamSynchronize(l->copying), "download", error);
    }
    l->expected = size + size / 4 + 4096 < most ? size + size / 4 + 4096 : most;
    picture->nal = out->h_nal;
    picture->size = size;
    picture->stats = out->h_report->stats;
    picture->mb = out->with_mb ? out->h_mb : NULL;
    return status ? status : read_timing(l, out, picture->stage_us, error);
}
