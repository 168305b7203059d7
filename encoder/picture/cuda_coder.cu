// A picture on a CUDA device:
//   frame -> whole MBs -> [reference planes -> centres -> search -> marked blocks -> refinement
//     -> decisions] -> intra -> deblocking -> squared errors
//                            \-> finalized MBs -> NAL unit -> download
// Each step is a launch on one of the coder's two streams. The host blocks once, for the NAL unit,
// and meanwhile begins the next picture.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/cuda_coder.cuh"

#include <string.h>
#include <time.h>

#include "encoder/mb/deblock_cuda.h"
#include "encoder/picture/external_mvs.h"
#include "encoder/picture/external_mvs_cuda.h"
#include "me/centres/centres_cuda.h"
#include "me/samples/ref_luma_cuda.h"
#include "me/search/refine_cuda.h"
#include "me/search/search_cuda.h"

extern "C" {
#include "encoder/bitstream/slice.h"
}

using namespace motus_cuda_coder;

namespace {

constexpr int64_t MOST_EXPECTED_US = 50000;

// `after` waits until `before` is where it is now.
MotusStatus follow(MotusCudaCoder *l, cudaStream_t after, cudaStream_t before, cudaEvent_t event,
                   MotusError *error) {
    MotusStatus status = check(l, cudaEventRecord(event, before), "record", error);
    return status ? status : check(l, cudaStreamWaitEvent(after, event, 0), "wait", error);
}

// MBs and levels may be overwritten once the NAL unit of the picture before is written from them.
MotusStatus wait_for_writing(MotusCudaCoder *l, MotusError *error) {
    return check(l, cudaStreamWaitEvent(l->stream, l->written, 0), "wait", error);
}

// What a picture leaves to the next one's centres is there once its MBs are settled.
MotusStatus wait_for_settling(MotusCudaCoder *l, MotusError *error) {
    return check(l, cudaStreamWaitEvent(l->stream, l->settled, 0), "wait", error);
}

MotusReference reference(const MotusCudaCoder *l, const MotusPlane rec[3]) {
    const MotusRefLuma *luma = &l->ref_luma;
    MotusReference ref = {};
    ref.width = luma->width, ref.height = luma->height;
    ref.luma = luma->plane[0], ref.luma_stride = luma->stride;
    ref.chroma[0] = rec[1].data, ref.chroma[1] = rec[2].data, ref.chroma_stride = rec[1].stride;
    memcpy(ref.tap, luma->tap, sizeof ref.tap);
    return ref;
}

MotusStatus stage_ended(MotusCudaCoder *l, MotusStage stage, MotusError *error) {
    return check(l, motus_stage_ended_cuda(&l->pic, stage, l->stream), "record", error);
}

// Uploads vectors that were given, and measures them. (From pageable memory: the call returns when
// they have been read.)
MotusStatus measure(MotusCudaCoder *l, uint32_t lambda_q8, const MotusExternalMvs *given,
                    uint32_t modes, MotusError *error) {
    MotusStatus status = check(l,
                               cudaMemcpyAsync(l->mv, given->mv,
                                               MOTUS_BLOCKS * (size_t)l->pic.n_mb * sizeof(MotusMv),
                                               cudaMemcpyHostToDevice, l->stream),
                               "vectors", error);
    return status ? status
                  : check(l,
                          motus_external_mvs_measure_cuda(l->mv, modes, &l->src[0], &l->ref_luma,
                                                          l->centre, lambda_q8, l->sad, l->cost,
                                                          l->stream),
                          "vectors", error);
}

// Brings the field down before refinement changes it. (To pageable memory: the call waits for the
// device.)
MotusStatus bring_field(MotusCudaCoder *l, MotusField *field, MotusError *error) {
    const size_t n = MOTUS_BLOCKS * (size_t)l->pic.n_mb;
    cudaError_t status = cudaMemcpyAsync(field->mv[0], l->mv, n * sizeof(MotusMv),
                                         cudaMemcpyDeviceToHost, l->stream);
    if (status == cudaSuccess)
        status = cudaMemcpyAsync(field->sad[0], l->sad, n * sizeof(uint16_t),
                                 cudaMemcpyDeviceToHost, l->stream);
    if (status == cudaSuccess)
        status = cudaMemcpyAsync(field->cost[0], l->cost, n * sizeof(uint32_t),
                                 cudaMemcpyDeviceToHost, l->stream);
    return check(l, status, "field", error);
}

// Vectors that were given are only measured.
MotusStatus search(MotusCudaCoder *l, const MotusPlane ref[3], uint32_t lambda_q8,
                   const MotusExternalMvs *given, uint32_t modes, MotusField *field,
                   MotusError *error) {
    const MotusStream *s = l->stream_settings;
    int width = 16 * s->mb_width, height = 16 * s->mb_height;
    MotusCentresPicture centres = {
        l->src[0].data,   l->src[0].stride,
        &l->ref_luma,     l->has_last_mv ? l->last_mv[!l->current] : NULL,
        lambda_q8,        s->effort.reach,
        MOTUS_MAX_CENTRE, s->centre_limit_y,
        l->centre,        l->pic.early};
    MotusSearchPicture search = {l->src[0].data,
                                 ref[0].data,
                                 (int)l->src[0].stride,
                                 (int)ref[0].stride,
                                 l->centre,
                                 l->centre,
                                 NULL,
                                 lambda_q8,
                                 l->mv,
                                 l->sad,
                                 l->cost,
                                 l->pic.early};
    MotusStatus status =
        check(l, motus_ref_luma_cuda_build(&l->ref_luma, &ref[0], l->stream), "reference", error);
    if (!status)
        status =
            check(l, motus_centres_cuda(&centres, l->centres_work, l->stream), "centres", error);
    if (!status) status = stage_ended(l, MOTUS_STAGE_REFERENCE, error);
    if (!status && given->mv)
        status = measure(l, lambda_q8, given, modes, error);
    else if (!status)
        status = check(
            l, motus_search_cuda(&search, 1, width, height, s->effort.range, modes, l->stream),
            "search", error);
    if (!status && field) status = bring_field(l, field, error);
    return status ? status : stage_ended(l, MOTUS_STAGE_SEARCH, error);
}

MotusStatus code_p(MotusCudaCoder *l, int qp, const MotusExternalMvs *given, MotusField *field,
                   MotusError *error) {
    const MotusStream *s = l->stream_settings;
    const MotusEffort effort = motus_external_mvs_effort(s, given);
    const MotusPlane *ref = l->rec[!l->current];
    uint32_t lambda_q8 = motus_lambda_q8(qp);
    MotusStatus status = wait_for_settling(l, error);
    if (!status) status = search(l, ref, lambda_q8, given, effort.partitions, field, error);
    // Refinement is about to change the vectors of 16x16, which the next picture's centres are
    // predicted from where an MB becomes intra.
    if (!status)
        status = check(
            l, motus_mark_blocks_cuda(&l->pic, l->cost, l->mv, l->whole_mv, qp, &effort, l->stream),
            "blocks", error);
    if (!status && s->config.subpel != MOTUS_SUBPEL_FULL && !given->final) {
        MotusSearchPicture p = {l->src[0].data,
                                ref[0].data,
                                (int)l->src[0].stride,
                                (int)ref[0].stride,
                                l->centre,
                                l->centre,
                                NULL,
                                lambda_q8,
                                l->mv,
                                NULL,
                                NULL,
                                l->pic.early};
        static_assert(sizeof(MotusCandidates) % sizeof(uint64_t) == 0,
                      "masks at a pitch of whole words");
        const MotusWantedBlocks marked = {&l->pic.candidates->blocks,
                                          sizeof(MotusCandidates) / sizeof(uint64_t)};
        status = check(l,
                       motus_refine_cuda(&p, &l->ref_luma, 16 * s->mb_width, 16 * s->mb_height,
                                         s->config.subpel, effort.partitions, marked, l->stream),
                       "refinement", error);
    }
    if (status) return status;
    const MotusPCodingCuda p = {reference(l, ref), l->mv, l->cost, s->limits};
    status = wait_for_writing(l, error);
    return status ? status
                  : check(l, motus_code_p_cuda(&l->pic, &p, qp, &effort, l->stream), "decisions",
                          error);
}

// Slice k, one of whole MB rows: a picture of its own to who writes it.
MotusStatus write_slice(MotusCudaCoder *l, const Output *out, int k, MotusError *error) {
    const MotusStream *s = l->stream_settings;
    const MotusSlices *slices = &s->slices;
    const int begin = slices->begin ? slices->begin[k] : 0,
              end = slices->begin ? slices->begin[k + 1] : s->mb_height;
    MotusSliceCuda slice = {};
    slice.mb_width = s->mb_width, slice.mb_height = end - begin;
    slice.first_mb = begin * s->mb_width;
    slice.mb = l->pic.mb + slice.first_mb, slice.coef = l->pic.coef + slice.first_mb;
    slice.marks = l->marks;
    for (int p = 0; p < 3; p++) {
        slice.src[p] = l->src[p].data + (p ? 8 : 16) * begin * l->src[p].stride;
        slice.src_stride[p] = l->src[p].stride;
    }
    slice.head = out->head + k, slice.work = l->slice_work;
    slice.nal = out->nal, slice.capacity = (uint32_t)motus_nal_bound(s->rbsp_capacity);
    slice.before = k ? &l->slice_results[k - 1] : NULL;
    slice.result = k + 1 == slices->n ? &out->report->result : &l->slice_results[k],
    slice.stats = &out->report->stats;
    return check(l, motus_slice_cuda_write(&slice, l->writing), "entropy coding", error);
}

// What the device is told of NAL units, and statistics that begin at zero: nobody waits for them
// but who writes.
MotusStatus begin_writing(MotusCudaCoder *l, const Output *out, MotusError *error) {
    const size_t heads = (size_t)l->stream_settings->slices.n * sizeof *out->head;
    MotusStatus status =
        check(l, cudaMemcpyAsync(out->head, out->h_head, heads, cudaMemcpyHostToDevice, l->writing),
              "slice header", error);
    return status ? status
                  : check(l, cudaMemsetAsync(out->report, 0, sizeof *out->report, l->writing),
                          "statistics", error);
}

// Entropy coding is a stream of its own, beside deblocking and what the next picture does before it
// decides. It settles the MBs: without a map of QPs deblocking sees the same before and after that
// (P_Skip is deblocked as P_16x16 is), with one it waits for the QPs that MBs take over; and so
// does who hands the MBs out.
MotusStatus entropy_code(MotusCudaCoder *l, const Output *out, const MotusPictureParams *place,
                         MotusError *error) {
    const MotusPictureStateCuda *w = &l->pic;
    const MotusFinalizeCuda settle = {
        w->mb_width, w->n_mb,  w->mb,       w->slice_first,
        place->qp,   l->marks, l->whole_mv, place->idr ? NULL : l->last_mv[l->current]};
    MotusStatus status = begin_writing(l, out, error);
    if (!status) status = follow(l, l->writing, l->stream, l->coded, error);
    if (!status)
        status = check(l, motus_finalize_cuda(&settle, l->writing), "entropy coding", error);
    if (!status) status = check(l, cudaEventRecord(l->settled, l->writing), "record", error);
    for (int k = 0; k < l->stream_settings->slices.n && !status; k++)
        status = write_slice(l, out, k, error);
    if (!status) status = check(l, cudaEventRecord(l->written, l->writing), "record", error);
    return status || !(place->qp_offset || out->with_mb) ? status : wait_for_settling(l, error);
}

MotusStatus deblock(MotusCudaCoder *l, MotusError *error) {
    const MotusPlane *rec = l->rec[l->current];
    const MotusPictureStateCuda *w = &l->pic;
    uint8_t *const to[3] = {rec[0].data, rec[1].data, rec[2].data};
    const uint8_t *const from[3] = {w->rec[0], w->rec[1], w->rec[2]};
    const ptrdiff_t stride[3] = {rec[0].stride, rec[1].stride, rec[2].stride};
    return check(l,
                 motus_deblock_cuda(to, from, stride, w->mb, w->mb_width, w->mb_height,
                                    l->deblock_work, l->pic.early, l->stream),
                 "deblocking", error);
}

void put_heads(const MotusStream *s, const MotusPictureParams *place, MotusSliceHead *head) {
    for (int k = 0; k < s->slices.n; k++) {
        const MotusSliceSettings slice =
            motus_slice_settings(s, place, s->slices.begin ? s->slices.begin[k] * s->mb_width : 0);
        head[k] = motus_slice_head(&s->sequence, &slice, 2);
    }
}

// What a picture may do beside itself. With few lanes at work its NAL unit is written while the
// next picture gets on, up to its decisions, and with one, blocks may take their places before
// those that they follow are done; where many lanes fill the device, that would cost them places
// and queues.
void suit(MotusCudaCoder *l, int at_work) {
    l->pic.teams = at_work < 3 ? 1 : l->most_teams; // two pictures are not much in each other's way
    l->pic.early = at_work == 1 && l->may_be_early;
    l->writing = at_work <= FEW_LANES && l->own_writing ? l->own_writing : l->stream;
}

// Everything that becomes of a picture on the device, in order.
MotusStatus code(MotusCudaCoder *l, const MotusPictureParams *place, const Output *out,
                 MotusField *field, MotusError *error) {
    const MotusStream *s = l->stream_settings;
    MotusStatus status =
        l->pic.ended ? check(l, cudaEventRecord(out->began, l->stream), "record", error) : MOTUS_OK;
    if (!status && place->qp_offset)
        status = check(l,
                       cudaMemcpyAsync(out->qp_offset, out->h_qp_offset, (size_t)l->pic.n_mb,
                                       cudaMemcpyHostToDevice, l->stream),
                       "QP offsets", error);
    if (!status && place->idr) status = wait_for_writing(l, error);
    if (!status)
        status = place->idr ? check(l, motus_code_i_cuda(&l->pic, place->qp, &s->effort, l->stream),
                                    "intra coding", error)
                            : code_p(l, place->qp, &place->given, field, error);
    if (!status) status = stage_ended(l, MOTUS_STAGE_INTRA, error);
    if (!status) status = entropy_code(l, out, place, error);
    if (!status) status = stage_ended(l, MOTUS_STAGE_ENTROPY, error);
    if (!status && s->config.deblock) status = deblock(l, error);
    return status ? status : stage_ended(l, MOTUS_STAGE_DEBLOCK, error);
}

MotusStatus bring_recon(MotusCudaCoder *l, const Output *out, const MotusFrame *rec,
                        MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int p = 0; rec && p < 3 && !status; p++) {
        const MotusPlane *from = &l->rec[l->current][p], *to = &rec->plane[p];
        status = check(l,
                       cudaMemcpy2DAsync(to->data, (size_t)to->stride, from->data,
                                         (size_t)from->stride, (size_t)from->width,
                                         (size_t)from->height, cudaMemcpyDeviceToHost, l->stream),
                       "download", error);
    }
    if (!status && out->with_mb)
        status = check(l,
                       cudaMemcpyAsync(out->h_mb, l->pic.mb, (size_t)l->pic.n_mb * sizeof(MotusMb),
                                       cudaMemcpyDeviceToHost, l->stream),
                       "download", error);
    return status;
}

// Whether NAL units are packed on the device.
bool packets_stay(const MotusCudaCoder *l) {
    return l->stream_settings->config.packet_memory == MOTUS_MEMORY_DEVICE;
}

// What comes down: the NAL unit as far as it is expected to reach, and where a reconstruction is
// wanted, that and the MBs.
MotusStatus bring(MotusCudaCoder *l, const Output *out, const MotusFrame *rec, MotusError *error) {
    MotusStatus status = bring_recon(l, out, rec, error);
    if (!status && out->brought)
        status = check(
            l,
            cudaMemcpyAsync(out->h_nal, out->nal, out->brought, cudaMemcpyDeviceToHost, l->writing),
            "download", error);
    if (!status) status = follow(l, l->writing, l->stream, l->made, error);
    if (!status)
        status = check(l,
                       motus_plane_errors_cuda(
                           l->src, l->rec[l->current], l->stream_settings->config.width,
                           l->stream_settings->config.height, out->report->stats.ssd, l->writing),
                       "statistics", error);
    if (!status)
        status = check(l,
                       cudaMemcpyAsync(out->h_report, out->report, sizeof *out->report,
                                       cudaMemcpyDeviceToHost, l->writing),
                       "download", error);
    return status ? status : check(l, cudaEventRecord(out->done, l->writing), "record", error);
}

int64_t now_us() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

void pause_us(int64_t us) {
    const struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000 * 1000)};
    if (us > 0) nanosleep(&t, NULL);
}

// Waits for the only picture of the lane that is under way. Nothing else is done meanwhile, so it
// counts how soon its end is noticed, and CUDA notices it some 100 us late where a processor is not
// to be kept busy. Sleeps for most of what such a picture is expected to take, then asks now and
// then; for a picture that takes twice as long CUDA waits. What the next one is expected to take is
// what this one took, or less if it was done already when first asked about.
cudaError_t wait_alone(MotusCudaCoder *l, const Output *out) {
    const int64_t expected = l->expected_us[out->is_i];
    pause_us(out->begun_us + expected - expected / 8 - now_us());
    cudaError_t status = cudaEventQuery(out->done);
    const int early = status == cudaSuccess;
    while (status == cudaErrorNotReady && now_us() < out->begun_us + 2 * expected) {
        pause_us(15);
        status = cudaEventQuery(out->done);
    }
    if (status == cudaErrorNotReady) {
        (void)cudaGetLastError(); // not to be taken for an error later
        status = cudaEventSynchronize(out->done);
    }
    const int64_t took = now_us() - out->begun_us;
    l->expected_us[out->is_i] = early                     ? expected * 3 / 4
                                : took < MOST_EXPECTED_US ? took
                                                          : MOST_EXPECTED_US;
    return status;
}

// What of the NAL unit has not come down.
MotusStatus bring_rest(MotusCudaCoder *l, Output *out, size_t size, MotusError *error) {
    size_t done = out->brought;
    if (size <= done) return MOTUS_OK;
    if (size > out->nal_room) done = 0;
    MotusStatus status = reserve_nal(l, out, size, error);
    if (!status)
        status = check(l,
                       cudaMemcpyAsync(out->h_nal + done, out->nal + done, size - done,
                                       cudaMemcpyDeviceToHost, l->copying),
                       "download", error);
    return status ? status : check(l, cudaStreamSynchronize(l->copying), "download", error);
}

// What each stage of a picture that is done took.
MotusStatus read_timing(MotusCudaCoder *l, const Output *out, float us[MOTUS_STAGES],
                        MotusError *error) {
    MotusStatus status = MOTUS_OK;
    cudaEvent_t before = out->began;
    memset(us, 0, MOTUS_STAGES * sizeof *us);
    for (int k = out->is_i ? MOTUS_STAGE_INTRA : 0; out->began && k < MOTUS_STAGES && !status;
         k++) {
        status = check(l, cudaEventElapsedTime(&us[k], before, out->ended[k]), "timing", error);
        us[k] *= 1000;
        before = out->ended[k];
    }
    return status;
}

} // namespace

extern "C" MotusStatus motus_cuda_coder_begin(MotusCudaCoder *l, const MotusFrameSlot *slot,
                                              const MotusPictureParams *place, int at_work,
                                              MotusFrame *rec, MotusField *field,
                                              MotusError *error) {
    MotusOnDevice on(l->device);
    MotusStatus status =
        check(l, cudaStreamWaitEvent(l->stream, (cudaEvent_t)slot->filled, 0), "wait", error);
    if (status) return status;
    suit(l, at_work);
    Output *out = &l->output[l->begun % MOTUS_CODER_DEPTH];
    put_heads(l->stream_settings, place, out->h_head);
    if (place->qp_offset) memcpy(out->h_qp_offset, place->qp_offset, (size_t)l->pic.n_mb);
    l->pic.qp_offset = place->qp_offset ? out->qp_offset : NULL;
    out->brought = packets_stay(l) ? 0 : l->expected < out->nal_room ? l->expected : out->nal_room;
    out->with_mb = rec != NULL;
    out->is_i = place->idr;
    l->pic.ended = out->began ? out->ended : NULL;
    l->current = !l->current;
    l->src = slot->src;
    for (int p = 0; p < 3; p++) {
        l->pic.src[p] = l->src[p].data, l->pic.src_stride[p] = l->src[p].stride;
        const MotusPlane *coded =
            l->stream_settings->config.deblock ? &l->unfiltered[p] : &l->rec[l->current][p];
        l->pic.rec[p] = coded->data, l->pic.rec_stride[p] = coded->stride;
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
    out->begun_us = now_us();
    return status;
}

extern "C" void motus_cuda_coder_undo(MotusCudaCoder *l) {
    l->current = !l->current;
    l->has_last_mv = l->had_last_mv;
}

extern "C" MotusStatus motus_cuda_coder_finish(MotusCudaCoder *l, MotusCodedPicture *picture,
                                               MotusError *error) {
    MotusOnDevice on(l->device);
    Output *out = &l->output[l->finished % MOTUS_CODER_DEPTH];
    const int alone = l->begun - l->finished == 1;
    MotusStatus status =
        check(l, alone ? wait_alone(l, out) : cudaEventSynchronize(out->done), "picture", error);
    l->finished++;
    if (status) return status;
    size_t size = out->h_report->result.size,
           most = motus_nal_bound(l->stream_settings->rbsp_capacity);
    if (out->h_report->result.overflow)
        return motus_fail(error, MOTUS_ERR_INTERNAL, "the picture is larger than its buffer");
    if (!packets_stay(l)) status = bring_rest(l, out, size, error);
    l->expected = size + size / 4 + 4096 < most ? size + size / 4 + 4096 : most;
    picture->nal = packets_stay(l) ? NULL : out->h_nal;
    picture->device_nal = out->nal;
    picture->size = size;
    picture->stats = out->h_report->stats;
    picture->mb = out->with_mb ? out->h_mb : NULL;
    return status ? status : read_timing(l, out, picture->stage_us, error);
}
