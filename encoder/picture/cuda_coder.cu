// A picture on a CUDA device:
//   frame -> whole MBs -> [reference planes -> centres -> search -> marked blocks -> refinement
//     -> decisions] -> intra -> deblocking -> squared errors
//                            \-> finalized MBs -> NAL unit -> download
// Each step is a launch on one of the coder's two streams. The host blocks once, for the NAL unit,
// and meanwhile begins the next picture.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/cuda_coder.cuh"

#include <string.h>

#include "encoder/mb/deblock_cuda.h"
#include "encoder/picture/external_mvs.h"
#include "me/centres/centres_cuda.h"
#include "me/pixel/ref_luma_cuda.h"
#include "me/search/refine_cuda.h"
#include "me/search/search_cuda.h"

extern "C" {
#include "encoder/bitstream/slice.h"
}

using namespace motus_cuda_coder;

namespace {

// Keeps MBs and levels until the previous picture has been written from them.
MotusStatus wait_for_writing(MotusCudaCoder *c, MotusError *error) {
    return check(c, cudaStreamWaitEvent(c->stream, c->written, 0), "wait", error);
}

// The next picture's search centres may be read once this picture is finalized.
MotusStatus wait_for_finalizing(MotusCudaCoder *c, MotusError *error) {
    return check(c, cudaStreamWaitEvent(c->stream, c->finalized, 0), "wait", error);
}

// Uploads the costs of CABAC's bins for the first pictures of a GOP. Later ones were learnt.
MotusStatus set_costs(MotusCudaCoder *c, const Output *out, const MotusPictureParams *params,
                      MotusError *error) {
    if (!c->settings->sequence.cabac || params->since_idr > 1) return MOTUS_OK;
    motus_cabac_costs_set(out->h_costs, !params->idr, params->qp);
    return check(c,
                 cudaMemcpyAsync(c->costs[c->current], out->h_costs, sizeof *out->h_costs,
                                 cudaMemcpyHostToDevice, c->stream),
                 "costs", error);
}

MotusReference reference(const MotusCudaCoder *c, const MotusPlane rec[3]) {
    const MotusRefLuma *luma = &c->ref_luma;
    MotusReference ref = {};
    ref.width = luma->width, ref.height = luma->height;
    ref.luma = luma->plane[0], ref.luma_stride = luma->stride;
    ref.chroma[0] = rec[1].data, ref.chroma[1] = rec[2].data, ref.chroma_stride = rec[1].stride;
    memcpy(ref.tap, luma->tap, sizeof ref.tap);
    return ref;
}

MotusStatus stage_ended(MotusCudaCoder *c, MotusStage stage, MotusError *error) {
    return check(c, motus_stage_ended_cuda(&c->pic, stage, c->stream), "record", error);
}

// Uploads external MVs and measures them. Returns once they have been read, as they are in pageable
// memory.
MotusStatus measure(MotusCudaCoder *c, uint32_t lambda_q8, const MotusExternalMvs *external,
                    uint32_t modes, MotusError *error) {
    MotusStatus status = check(c,
                               cudaMemcpyAsync(c->mv, external->mv,
                                               MOTUS_BLOCKS * (size_t)c->pic.n_mb * sizeof(MotusMv),
                                               cudaMemcpyHostToDevice, c->stream),
                               "vectors", error);
    return status ? status
                  : check(c,
                          motus_external_mvs_measure_cuda(c->mv, modes, &c->src[0], &c->ref_luma,
                                                          c->centre, lambda_q8, c->sad, c->cost,
                                                          c->stream),
                          "vectors", error);
}

// Downloads the motion field before refinement changes it. Blocks, as the memory is pageable.
MotusStatus download_field(MotusCudaCoder *c, MotusField *field, MotusError *error) {
    const size_t n = MOTUS_BLOCKS * (size_t)c->pic.n_mb;
    cudaError_t status = cudaMemcpyAsync(field->mv[0], c->mv, n * sizeof(MotusMv),
                                         cudaMemcpyDeviceToHost, c->stream);
    if (status == cudaSuccess)
        status = cudaMemcpyAsync(field->sad[0], c->sad, n * sizeof(uint16_t),
                                 cudaMemcpyDeviceToHost, c->stream);
    if (status == cudaSuccess)
        status = cudaMemcpyAsync(field->cost[0], c->cost, n * sizeof(uint32_t),
                                 cudaMemcpyDeviceToHost, c->stream);
    return check(c, status, "field", error);
}

// Fills the motion field. External MVs are only measured.
MotusStatus search(MotusCudaCoder *c, const MotusPlane ref[3], uint32_t lambda_q8,
                   const MotusExternalMvs *external, uint32_t modes, MotusField *field,
                   MotusError *error) {
    const MotusStream *s = c->settings;
    int width = 16 * s->mb_width, height = 16 * s->mb_height;
    MotusCentresPicture centres = {
        c->src[0].data,   c->src[0].stride,
        &c->ref_luma,     c->has_last_mv ? c->last_mv[!c->current] : NULL,
        lambda_q8,        s->effort.reach,
        MOTUS_MAX_CENTRE, s->centre_limit_y,
        c->centre,        c->pic.early};
    MotusSearchPicture search = {c->src[0].data,
                                 ref[0].data,
                                 (int)c->src[0].stride,
                                 (int)ref[0].stride,
                                 c->centre,
                                 c->centre,
                                 NULL,
                                 lambda_q8,
                                 c->mv,
                                 c->sad,
                                 c->cost,
                                 c->pic.early};
    MotusStatus status =
        check(c, motus_ref_luma_cuda_build(&c->ref_luma, &ref[0], c->stream), "reference", error);
    if (!status)
        status =
            check(c, motus_centres_cuda(&centres, c->centres_work, c->stream), "centres", error);
    if (!status) status = stage_ended(c, MOTUS_STAGE_REFERENCE, error);
    if (!status && external->mv)
        status = measure(c, lambda_q8, external, modes, error);
    else if (!status)
        status = check(
            c, motus_search_cuda(&search, 1, width, height, s->effort.range, modes, c->stream),
            "search", error);
    if (!status && field) status = download_field(c, field, error);
    return status ? status : stage_ended(c, MOTUS_STAGE_SEARCH, error);
}

MotusStatus code_p(MotusCudaCoder *c, const Output *out, const MotusPictureParams *params,
                   MotusField *field, MotusError *error) {
    const MotusStream *s = c->settings;
    const MotusExternalMvs *external = &params->external;
    const int qp = params->qp;
    const MotusEffort effort = motus_external_mvs_effort(s, external);
    const MotusPlane *ref = c->rec[!c->current];
    uint32_t lambda_q8 = motus_lambda_q8(qp, params->type);
    MotusStatus status = wait_for_finalizing(c, error);
    if (!status) status = search(c, ref, lambda_q8, external, effort.partitions, field, error);
    // Keeps the 16x16 MVs as they are before refinement: the next picture's centres are predicted
    // from them if an MB becomes intra.
    if (!status)
        status = check(
            c, motus_mark_blocks_cuda(&c->pic, c->cost, c->mv, c->whole_mv, qp, &effort, c->stream),
            "blocks", error);
    if (!status && s->config.subpel != MOTUS_SUBPEL_FULL && !external->final) {
        MotusSearchPicture p = {c->src[0].data,
                                ref[0].data,
                                (int)c->src[0].stride,
                                (int)ref[0].stride,
                                c->centre,
                                c->centre,
                                NULL,
                                lambda_q8,
                                c->mv,
                                NULL,
                                NULL,
                                c->pic.early};
        static_assert(sizeof(MotusCandidates) % sizeof(uint64_t) == 0,
                      "masks at a pitch of whole words");
        const MotusWantedBlocks marked = {&c->pic.candidates->blocks,
                                          sizeof(MotusCandidates) / sizeof(uint64_t)};
        status = check(c,
                       motus_refine_cuda(&p, &c->ref_luma, 16 * s->mb_width, 16 * s->mb_height,
                                         s->config.subpel, effort.partitions, marked, c->stream),
                       "refinement", error);
    }
    if (status) return status;
    const MotusPCodingCuda p = {reference(c, ref), c->mv, c->cost, s->limits};
    status = wait_for_writing(c, error);
    if (!status) status = set_costs(c, out, params, error);
    return status ? status
                  : check(c, motus_code_p_cuda(&c->pic, &p, qp, &effort, c->stream), "decisions",
                          error);
}

// CABAC: once all MBs are symbols and the next picture's costs are learnt, its decisions may begin.
MotusStatus release_mbs(MotusCudaCoder *c, const Output *out, MotusError *error) {
    MotusStatus status =
        out->is_i ? MOTUS_OK
                  : check(c,
                          motus_cabac_costs_cuda_learn(c->bins, c->costs[c->current],
                                                       c->costs[!c->current], c->writing),
                          "costs", error);
    return status ? status : check(c, cudaEventRecord(c->written, c->writing), "record", error);
}

// Writes slice k, whole MB rows, as if it were a picture of its own.
MotusStatus write_slice(MotusCudaCoder *c, const Output *out, int k, MotusError *error) {
    const MotusStream *s = c->settings;
    const MotusSlices *slices = &s->slices;
    const int begin = slices->begin ? slices->begin[k] : 0,
              end = slices->begin ? slices->begin[k + 1] : s->mb_height;
    MotusSliceCuda slice = {};
    slice.mb_width = s->mb_width, slice.mb_height = end - begin;
    slice.first_mb = begin * s->mb_width;
    slice.mb = c->pic.mb + slice.first_mb, slice.coef = c->pic.coef + slice.first_mb;
    slice.marks = c->marks;
    for (int p = 0; p < 3; p++) {
        slice.src[p] = c->src[p].data + (p ? 8 : 16) * begin * c->src[p].stride;
        slice.src_stride[p] = c->src[p].stride;
    }
    slice.head = out->head + k, slice.work = c->slice_work;
    slice.nal = out->nal, slice.capacity = (uint32_t)motus_nal_bound(s->rbsp_capacity);
    slice.before = k ? &c->slice_results[k - 1] : NULL;
    slice.result = k + 1 == slices->n ? &out->report->result : &c->slice_results[k],
    slice.stats = &out->report->stats;
    if (!s->sequence.cabac)
        return check(c, motus_slice_cuda_write(&slice, c->writing), "entropy coding", error);
    MotusCabacSliceCuda cabac = {};
    cabac.slice = slice, cabac.context = c->context + slice.first_mb;
    cabac.piece = motus_cabac_cuda_piece(c->pic.n_mb), cabac.bins = c->bins;
    MotusStatus status =
        check(c, motus_cabac_slice_cuda_begin(&cabac, c->writing), "entropy coding", error);
    if (!status && k + 1 == slices->n) status = release_mbs(c, out, error);
    return status
               ? status
               : check(c, motus_cabac_slice_cuda_end(&cabac, c->writing), "entropy coding", error);
}

// Writes all slices.
MotusStatus write_slices(MotusCudaCoder *c, const Output *out, MotusError *error) {
    const MotusStream *s = c->settings;
    MotusStatus status = MOTUS_OK;
    if (s->sequence.cabac)
        status = check(c, cudaMemsetAsync(c->bins, 0, sizeof *c->bins, c->writing), "bins", error);
    for (int k = 0; k < s->slices.n && !status; k++) status = write_slice(c, out, k, error);
    if (status) return status;
    if (!s->sequence.cabac)
        return check(c, cudaEventRecord(c->written, c->writing), "record", error);
    MotusCabacPictureCuda picture = {};
    picture.bins = c->bins, picture.n_mb = c->pic.n_mb, picture.n_slices = s->slices.n;
    picture.nal = out->nal, picture.capacity = (uint32_t)motus_nal_bound(s->rbsp_capacity);
    picture.result = &out->report->result;
    return check(c, motus_cabac_picture_cuda_end(&picture, c->writing), "entropy coding", error);
}

// Uploads the slice headers and clears the statistics.
MotusStatus begin_writing(MotusCudaCoder *c, const Output *out, MotusError *error) {
    const size_t heads = (size_t)c->settings->slices.n * sizeof *out->head;
    MotusStatus status =
        check(c, cudaMemcpyAsync(out->head, out->h_head, heads, cudaMemcpyHostToDevice, c->writing),
              "slice header", error);
    return status ? status
                  : check(c, cudaMemsetAsync(out->report, 0, sizeof *out->report, c->writing),
                          "statistics", error);
}

// Finalizes the MBs and writes the NAL units on a stream of their own, beside deblocking and the
// next picture up to its decisions. Deblocking waits for finalization only if there is a QP map:
// it changes QPs, and P_Skip is deblocked as P_16x16. A download of the MBs waits, too.
MotusStatus entropy_code(MotusCudaCoder *c, const Output *out, const MotusPictureParams *params,
                         MotusError *error) {
    const MotusPictureStateCuda *w = &c->pic;
    const MotusFinalizeCuda finalize = {w->mb_width,
                                        w->n_mb,
                                        w->mb,
                                        w->slice_first,
                                        params->qp,
                                        0,
                                        c->marks,
                                        c->whole_mv,
                                        params->idr ? NULL : c->last_mv[c->current],
                                        NULL};
    MotusStatus status = begin_writing(c, out, error);
    // The previous picture may have been written on the other stream.
    if (!status) status = check(c, cudaStreamWaitEvent(c->writing, c->packed, 0), "wait", error);
    if (!status) status = follow(c, c->writing, c->stream, c->coded, error);
    if (!status)
        status = check(c, motus_finalize_cuda(&finalize, c->writing), "entropy coding", error);
    if (!status) status = check(c, cudaEventRecord(c->finalized, c->writing), "record", error);
    if (!status) status = write_slices(c, out, error);
    if (!status) status = check(c, cudaEventRecord(c->packed, c->writing), "record", error);
    return status || !(params->qp_offset || out->with_mb) ? status : wait_for_finalizing(c, error);
}

MotusStatus deblock(MotusCudaCoder *c, MotusError *error) {
    const MotusPlane *rec = c->rec[c->current];
    const MotusPictureStateCuda *w = &c->pic;
    uint8_t *const to[3] = {rec[0].data, rec[1].data, rec[2].data};
    const uint8_t *const from[3] = {w->rec[0], w->rec[1], w->rec[2]};
    const ptrdiff_t stride[3] = {rec[0].stride, rec[1].stride, rec[2].stride};
    return check(c,
                 motus_deblock_cuda(to, from, stride, w->mb, w->mb_width, w->mb_height, 0,
                                    c->deblock_work, c->pic.early, c->stream),
                 "deblocking", error);
}

void put_heads(const MotusStream *s, const MotusPictureParams *params, MotusSliceHead *head) {
    for (int k = 0; k < s->slices.n; k++) {
        const MotusSliceSettings slice =
            motus_slice_settings(s, params, s->slices.begin ? s->slices.begin[k] * s->mb_width : 0);
        head[k] = motus_slice_head(&s->sequence, &slice, 2);
    }
}

// Chooses how much of a picture runs beside the rest. With few coders the NAL units are written
// while the next picture runs up to its decisions. With one, blocks may launch before the kernel
// before theirs has ended. If many coders fill the device, both would cost more than they gain.
void choose_concurrency(MotusCudaCoder *c, int coders) {
    c->pic.teams = coders < 3 ? 1 : c->max_teams; // two pictures hardly slow each other down
    c->pic.early = coders == 1 && c->can_launch_early;
    c->writing = coders <= FEW_CODERS && c->own_writing ? c->own_writing : c->stream;
}

// Launches all steps of a picture, in order.
MotusStatus code(MotusCudaCoder *c, const MotusPictureParams *params, const Output *out,
                 MotusField *field, MotusError *error) {
    const MotusStream *s = c->settings;
    MotusStatus status =
        c->pic.ended ? check(c, cudaEventRecord(out->began, c->stream), "record", error) : MOTUS_OK;
    if (!status && params->qp_offset)
        status = check(c,
                       cudaMemcpyAsync(out->qp_offset, out->h_qp_offset, (size_t)c->pic.n_mb,
                                       cudaMemcpyHostToDevice, c->stream),
                       "QP offsets", error);
    if (!status && params->idr) status = wait_for_writing(c, error);
    if (!status && params->idr) status = set_costs(c, out, params, error);
    if (!status)
        status = params->idr
                     ? check(c, motus_code_i_cuda(&c->pic, params->qp, &s->effort, c->stream),
                             "intra coding", error)
                     : code_p(c, out, params, field, error);
    if (!status) status = stage_ended(c, MOTUS_STAGE_INTRA, error);
    if (!status) status = entropy_code(c, out, params, error);
    if (!status) status = stage_ended(c, MOTUS_STAGE_ENTROPY, error);
    if (!status && s->config.deblock) status = deblock(c, error);
    return status ? status : stage_ended(c, MOTUS_STAGE_DEBLOCK, error);
}

} // namespace

extern "C" MotusStatus motus_cuda_coder_begin(MotusCudaCoder *c, const MotusFrameSlot *slot,
                                              const MotusPictureParams *params, int coders,
                                              MotusFrame *rec, MotusField *field,
                                              MotusError *error) {
    MotusOnDevice on(c->device);
    MotusStatus status =
        check(c, cudaStreamWaitEvent(c->stream, (cudaEvent_t)slot->filled, 0), "wait", error);
    if (status) return status;
    choose_concurrency(c, coders);
    Output *out = &c->output[c->begun % MOTUS_CODER_DEPTH];
    put_heads(c->settings, params, out->h_head);
    if (params->qp_offset) memcpy(out->h_qp_offset, params->qp_offset, (size_t)c->pic.n_mb);
    c->pic.qp_offset = params->qp_offset ? out->qp_offset : NULL;
    out->downloaded = packets_stay(c)               ? 0
                      : c->expected < out->nal_room ? c->expected
                                                    : out->nal_room;
    out->with_mb = rec != NULL;
    out->is_i = params->idr;
    c->pic.ended = out->began ? out->ended : NULL;
    c->current = !c->current;
    c->pic.costs = c->costs[c->current]; // NULL: CAVLC
    c->pic.transform_8x8 = c->settings->sequence.transform_8x8;
    c->src = slot->plane;
    for (int p = 0; p < 3; p++) {
        c->pic.src[p] = c->src[p].data, c->pic.src_stride[p] = c->src[p].stride;
        const MotusPlane *coded =
            c->settings->config.deblock ? &c->unfiltered[p] : &c->rec[c->current][p];
        c->pic.rec[p] = coded->data, c->pic.rec_stride[p] = coded->stride;
    }
    status = code(c, params, out, field, error);
    if (!status) status = download(c, out, rec, error);
    if (status) { // no download outlives the call
        cudaStreamSynchronize(c->stream);
        cudaStreamSynchronize(c->writing);
    }
    c->had_last_mv = c->has_last_mv;
    c->has_last_mv = !params->idr;
    c->begun += !status;
    out->begun_us = now_us();
    return status;
}

extern "C" void motus_cuda_coder_undo(MotusCudaCoder *c) {
    c->current = !c->current;
    c->has_last_mv = c->had_last_mv;
}
