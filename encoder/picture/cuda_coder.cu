// A picture on a CUDA device:
//   frame -> whole MBs -> [reference planes -> centres -> search -> marked blocks -> refinement
//     -> decisions] -> intra -> deblocking -> squared errors
//                            \-> finalized MBs -> NAL unit -> download
// Each step is a launch on one of the two streams of a worker. The host blocks once, for the NAL
// unit, and meanwhile begins the next pictures: those that need only what is done run side by side.
// Events order them: choose_rec(), wait_for_reference(), wait_for_writing(), wait_for_costs().
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/cuda_coder.cuh"

#include <string.h>

#include "encoder/decide/decide_core.h"
#include "encoder/mb/mb_cuda.h"
#include "encoder/settings/picture_effort.h"
#include "me/pixel/ref_luma_cuda.h"

extern "C" {
#include "encoder/slice/slice.h"
}

using namespace motus_cuda_coder;

namespace {

// Keeps MBs, levels and first_costs until the worker's last picture has been written from them.
MotusStatus wait_for_writing(MotusCudaCoder *c, MotusError *error) {
    return wait_for(c, c->last, &Output::written, error);
}

// Waits until the costs of the current picture are learnt, by a picture of another worker maybe.
MotusStatus wait_for_costs(MotusCudaCoder *c, const MotusPictureParams *params, MotusError *error) {
    const MotusLearntCosts *learnt = &c->history.learnt;
    const int kind = motus_cost_kind((int)params->type, params->is_reference);
    if (!c->settings->sequence.cabac || !learnt->has_table[kind]) return MOTUS_OK;
    return wait_for(c, c->history.learner[kind][learnt->table[kind]], &Output::written, error);
}

// Uploads the costs of CABAC's bins for the first pictures of a kind in a GOP. Later ones were
// learnt.
MotusStatus set_costs(MotusCudaCoder *c, const Output *out, const MotusPictureParams *params,
                      MotusError *error) {
    if (!c->settings->sequence.cabac ||
        c->history.learnt.has_table[motus_cost_kind((int)params->type, params->is_reference)])
        return MOTUS_OK;
    motus_cabac_costs_set(out->h_costs, !params->idr, params->qp);
    return check(c,
                 cudaMemcpyAsync((void *)c->pic.costs, out->h_costs, sizeof *out->h_costs,
                                 cudaMemcpyHostToDevice, c->stream),
                 "costs", error);
}

MotusReference reference(const MotusCudaCoder *c, const MotusPictureParams *params,
                         const Reference *p, int k) {
    const MotusRefLuma *luma = luma_of(c, params, p, k);
    MotusReference ref = {};
    ref.width = luma->width, ref.height = luma->height;
    ref.luma = luma->plane[0], ref.luma_stride = luma->stride;
    ref.chroma[0] = p->rec.plane[1].data, ref.chroma[1] = p->rec.plane[2].data;
    ref.chroma_stride = p->rec.plane[1].stride;
    memcpy(ref.tap, luma->tap, sizeof ref.tap);
    if (!is_b(params))
        motus_reference_weigh(&ref, &params->weights, k, c->buffer[p->buffer].luma.plane[0]);
    return ref;
}

// Uploads a picture's n references.
MotusStatus upload_references(MotusCudaCoder *c, const Output *out, int n, MotusError *error) {
    return check(c,
                 cudaMemcpyAsync(out->refs, out->h_refs, (size_t)n * sizeof *out->refs,
                                 cudaMemcpyHostToDevice, c->stream),
                 "references", error);
}

// Computes the direct prediction of a B picture's MBs, unless it is spatial. The collocated MBs are
// final.
MotusStatus find_direct(MotusCudaCoder *c, const MotusPictureParams *params, const Reference *col,
                        MotusError *error) {
    MotusTemporalMap map;
    if (params->direct != MOTUS_DIRECT_TEMPORAL) return MOTUS_OK; // none: it is zeroed
    motus_temporal_map(&map, params->shown, params->ref_shown, params->refs, col->listed,
                       col->n_listed);
    return check(c,
                 motus_direct_temporal_cuda(col->rec.col, c->pic.n_mb, &map, c->direct, c->stream),
                 "direct prediction", error);
}

// Fills in a B picture's coding, and uploads its references if list 0 has several.
MotusStatus b_coding(MotusCudaCoder *c, const Output *out, const MotusPictureParams *params,
                     Reference *const ref[], MotusBCodingCuda *b, MotusError *error) {
    const int refs = params->refs;
    b->refs = refs;
    b->list = out->refs;
    b->far_blocks = c->far_blocks;
    b->direct = direct_source(c, params, ref[refs]);
    b->limits = c->settings->limits;
    for (int k = 0; k <= refs; k++) {
        MotusReference its = reference(c, params, ref[k], k);
        if (k < refs && c->settings->sequence.weighted_bipred)
            its.pair_offset =
                motus_pair_offset(params->shown, params->ref_shown[k], params->ref_shown[refs]);
        b->mv[k] = c->mv[k], b->cost[k] = c->cost[k], b->centre[k] = c->centre[k];
        if (refs > 1)
            out->h_refs[k] = its;
        else
            b->ref[k] = its;
    }
    return refs == 1 ? MOTUS_OK : upload_references(c, out, refs + 1, error);
}

// Returns where the marked blocks of a P or B picture's MBs are.
MotusWantedBlocks marked_blocks(const MotusCudaCoder *c, int has_b) {
    static_assert(sizeof(MotusCandidates) % sizeof(uint64_t) == 0 &&
                      sizeof(MotusMbCandidates) == sizeof(MotusCandidates),
                  "masks at a pitch of words, the same for P and B");
    const MotusMbCandidates *candidates = (const MotusMbCandidates *)c->pic.candidates;
    return {has_b ? &candidates->b[0].blocks : &candidates->p.blocks,
            sizeof *candidates / sizeof(uint64_t)};
}

// Marks the blocks to refine. P pictures keep their 16x16 MVs as they are before refinement: the
// next picture's centres are predicted from them if an MB becomes intra.
MotusStatus mark(MotusCudaCoder *c, int qp, const MotusEffort *effort, const MotusPCodingCuda *p,
                 const MotusBCodingCuda *b, MotusError *error) {
    return check(c,
                 b ? motus_mark_b_blocks_cuda(&c->pic, b, qp, effort, c->stream)
                   : motus_mark_blocks_cuda(&c->pic, p, c->whole_mv, qp, effort, c->stream),
                 "blocks", error);
}

// Fills in a P picture's coding, and uploads its references if it has several.
MotusStatus p_coding(MotusCudaCoder *c, const Output *out, const MotusPictureParams *params,
                     Reference *const ref[], MotusPCodingCuda *p, MotusError *error) {
    const int refs = params->refs;
    p->refs = refs;
    p->ref = reference(c, params, ref[0], 0);
    p->list = out->refs;
    p->far_blocks = c->far_blocks;
    p->limits = c->settings->limits;
    for (int k = 0; k < refs; k++) p->mv[k] = c->mv[k], p->cost[k] = c->cost[k];
    if (refs == 1) return MOTUS_OK;
    for (int k = 0; k < refs; k++) out->h_refs[k] = reference(c, params, ref[k], k);
    return upload_references(c, out, refs, error);
}

MotusStatus find_references(MotusCudaCoder *c, const MotusPictureParams *params,
                            Reference *ref[MOTUS_MAX_REFERENCES], MotusError *error) {
    for (int k = 0; k < fields_of(params); k++)
        if (!(ref[k] = find_reference(c, params->ref_shown[k])))
            return motus_fail(error, MOTUS_ERR_INTERNAL, "a reference picture is missing");
    return MOTUS_OK;
}

// Waits for all of the source that the first kernel did not wait for. The slot is free once the
// picture is coded, so its statistics have to be complete, too.
MotusStatus wait_for_source(MotusCudaCoder *c, const MotusFrameSlot *slot, MotusError *error) {
    cudaError_t status = cudaSuccess;
    if (slot->filled != slot->has_luma)
        status = cudaStreamWaitEvent(c->stream, (cudaEvent_t)slot->filled, 0);
    if (status == cudaSuccess && slot->measured != slot->filled)
        status = cudaStreamWaitEvent(c->stream, (cudaEvent_t)slot->measured, 0);
    return check(c, status, "wait", error);
}

// Waits for all that decisions need beside motion fields.
MotusStatus wait_for_decisions(MotusCudaCoder *c, const MotusFrameSlot *slot, const Output *out,
                               const MotusPictureParams *params, MotusError *error) {
    MotusStatus status = wait_for_source(c, slot, error);
    if (!status) status = wait_for_writing(c, error);
    if (!status) status = wait_for_costs(c, params, error);
    return status ? status : set_costs(c, out, params, error);
}

// Codes the MBs of a B picture whose B_Skip is sure, before the search, which leaves them out.
MotusStatus skip_first(MotusCudaCoder *c, const MotusFrameSlot *slot, const Output *out,
                       const MotusPictureParams *params, Reference *const ref[],
                       const MotusEffort *effort, const MotusBCodingCuda *b, MotusError *error) {
    MotusStatus status = wait_for_decisions(c, slot, out, params, error);
    for (int k = 0; k <= params->refs && !status; k++)
        status = wait_for_reference(c, ref[k], error);
    if (!status) status = find_direct(c, params, ref[params->refs], error);
    return status ? status
                  : check(c, motus_skip_b_cuda(&c->pic, b, params->qp, effort, c->stream),
                          "decisions", error);
}

MotusStatus code_inter(MotusCudaCoder *c, const MotusFrameSlot *slot, const Output *out,
                       const MotusPictureParams *params, MotusField *field, MotusError *error) {
    const int has_b = is_b(params), qp = params->qp;
    MotusEffort effort = motus_picture_effort(c->settings, params);
    if (effort.transforms && c->writing == c->stream) effort.transforms = 2; // many GOP coders
    if (has_b) effort.partitions &= (1u << (MOTUS_MODE_8x8 + 1)) - 1;
    Reference *ref[MOTUS_MAX_REFERENCES];
    MotusBCodingCuda b = {};
    MotusPCodingCuda p = {};
    MotusStatus status = find_references(c, params, ref, error);
    if (status) return status;
    if (has_b)
        status = b_coding(c, out, params, ref, &b, error);
    else
        status = p_coding(c, out, params, ref, &p, error);
    const MotusWantedBlocks marked = marked_blocks(c, has_b);
    b.skips_first = has_b && motus_tries_skips_first(&b.direct, params->refs, &effort);
    if (!status && b.skips_first)
        status = skip_first(c, slot, out, params, ref, &effort, &b, error);
    if (!status)
        status = search(c, params, ref, &effort,
                        b.skips_first && !field ? marked : MotusWantedBlocks{}, field, error);
    if (!status && has_b && !b.skips_first)
        status = find_direct(c, params, ref[params->refs], error);
    if (!status) status = mark(c, qp, &effort, &p, has_b ? &b : NULL, error);
    if (!status) status = refine(c, params, ref, effort.partitions, marked, error);
    if (!status && !b.skips_first) status = wait_for_decisions(c, slot, out, params, error);
    if (status) return status;
    return check(c,
                 has_b ? motus_code_b_cuda(&c->pic, &b, qp, &effort, c->stream)
                       : motus_code_p_cuda(&c->pic, &p, qp, &effort, c->stream),
                 "decisions", error);
}

MotusStatus deblock(MotusCudaCoder *c, const MotusPictureParams *params, MotusError *error) {
    const MotusPlane *rec = current_rec(c)->plane;
    const MotusPictureStateCuda *w = &c->pic;
    uint8_t *const to[3] = {rec[0].data, rec[1].data, rec[2].data};
    const uint8_t *const from[3] = {w->rec[0], w->rec[1], w->rec[2]};
    const ptrdiff_t stride[3] = {rec[0].stride, rec[1].stride, rec[2].stride};
    return check(c,
                 motus_deblock_cuda(to, from, stride, w->mb, w->mb_width, w->mb_height,
                                    is_b(params) ? 0 : motus_max(params->refs, 1), params->copies,
                                    motus_refresh_apart(&params->refresh), c->deblock_work,
                                    c->pic.early, c->stream),
                 "deblocking", error);
}

void put_heads(const MotusStream *s, const MotusPictureParams *params, MotusSliceHead *head) {
    const MotusSlices *slices = motus_picture_slices(s, params);
    for (int k = 0; k < slices->n; k++) {
        const MotusSliceSettings slice =
            motus_slice_settings(s, params, slices->begin ? slices->begin[k] * s->mb_width : 0);
        head[k] = motus_slice_head(&s->sequence, &slice, motus_nal_ref_idc(params));
    }
}

// Chooses how much of a picture runs beside the rest. With few coders the NAL units are written
// while the next picture runs up to its decisions. With one, blocks may launch before the kernel
// before theirs has ended. If many coders fill the device, both would cost more than they gain.
// An IDR picture runs beside few others.
void choose_concurrency(MotusCudaCoder *c, const MotusPictureParams *params, int coders) {
    const int pictures = coders * (c->settings->config.bframes && !params->idr ? c->n_workers : 1);
    c->pic.block_mbs =
        pictures < 3 ? 1 : c->max_block_mbs; // two pictures hardly slow each other down
    c->pic.early = pictures == 1 && c->can_launch_early;
    c->writing = coders <= FEW_CODERS && c->own_writing ? c->own_writing : c->stream;
}

// Chooses the costs of CABAC's bins for the decisions, and where new ones are learnt. All are NULL
// with CAVLC.
void choose_costs(MotusCudaCoder *c, const MotusPictureParams *params, Output *out) {
    MotusLearntCosts *learnt = &c->history.learnt;
    const int kind = motus_cost_kind((int)params->type, params->is_reference);
    motus_learnt_costs_begin(learnt, (int)params->type, params->idr);
    c->pic.costs = learnt->has_table[kind] ? c->costs[kind][learnt->table[kind]] : c->first_costs;
    out->next_costs = motus_costs_are_learnt(learnt, kind, params->idr)
                          ? c->costs[kind][motus_next_cost_table(learnt, kind)]
                          : NULL;
}

// Computes the half-sample planes; the picture may be predicted from then. Where every picture is
// an IDR picture, none is.
MotusStatus make_reference(MotusCudaCoder *c, const Output *out, MotusError *error) {
    MotusStatus status =
        c->settings->config.keyint == 1
            ? MOTUS_OK
            : check(c,
                    motus_ref_luma_cuda_build(&c->buffer[c->own_buffer].luma,
                                              &current_rec(c)->plane[0], c->stream),
                    "reference", error);
    return status ? status : record(c, out->made, c->stream, error);
}

// Launches all steps of a picture, in order.
MotusStatus code(MotusCudaCoder *c, const MotusFrameSlot *slot, const MotusPictureParams *params,
                 const Output *out, MotusField *field, MotusError *error) {
    const MotusStream *s = c->settings;
    MotusStatus status =
        c->pic.ended ? check(c, cudaEventRecord(out->began, c->stream), "record", error) : MOTUS_OK;
    if (!status && params->qp_offset)
        status = check(c,
                       cudaMemcpyAsync(out->qp_offset, out->h_qp_offset, (size_t)c->pic.n_mb,
                                       cudaMemcpyHostToDevice, c->stream),
                       "QP offsets", error);
    if (!status && params->idr) status = wait_for_source(c, slot, error);
    if (!status && params->idr) status = wait_for_writing(c, error);
    if (!status && params->idr) status = set_costs(c, out, params, error);
    if (!status)
        status = params->idr
                     ? check(c, motus_code_i_cuda(&c->pic, params->qp, &s->effort, c->stream),
                             "intra coding", error)
                     : code_inter(c, slot, out, params, field, error);
    if (!status) status = stage_ended(c, MOTUS_STAGE_INTRA, error);
    if (!status) status = entropy_code(c, out, params, error);
    if (!status) status = stage_ended(c, MOTUS_STAGE_ENTROPY, error);
    if (!status && motus_is_deblocked(s, params)) status = deblock(c, params, error);
    if (!status && params->is_reference) status = make_reference(c, out, error);
    return status ? status : stage_ended(c, MOTUS_STAGE_DEBLOCK, error);
}

// Chooses the current picture's worker. References follow one another, as most of them need the
// one before. IDR pictures, which need none, and pictures that are no references go to the other
// worker that has been idle for longest.
void choose_worker(MotusCudaCoder *c, const MotusPictureParams *params) {
    c->at = 0;
    const int is_apart = params->idr || !params->is_reference;
    for (int k = 1; k < c->n_workers && is_apart; k++)
        if (!c->at || c->worker[k].last < c->worker[c->at].last) c->at = k;
    static_cast<Worker &>(*c) = c->worker[c->at];
}

// Returns the device copy of the first MBs of the picture's slices; NULL: it has one slice.
int *slice_first_of(const MotusCudaCoder *c, const MotusPictureParams *params) {
    const size_t at = params->refresh.end ? 1 + (size_t)params->refresh_at : 0;
    return motus_picture_slices(c->settings, params)->first
               ? c->slice_first + at * (size_t)c->pic.n_mb
               : NULL;
}

// Sets what the passes read of the current picture's planes.
void place_planes(MotusCudaCoder *c, const MotusFrameSlot *slot) {
    c->src = slot->plane;
    for (int p = 0; p < 3; p++) {
        c->pic.src[p] = c->src[p].data, c->pic.src_stride[p] = c->src[p].stride;
        const MotusPlane *coded =
            c->settings->config.deblock ? &c->unfiltered[p] : &current_rec(c)->plane[p];
        c->pic.rec[p] = coded->data, c->pic.rec_stride[p] = coded->stride;
    }
}

// Returns the list that the picture's launches join; NULL: none. Other calls than waits and uploads
// would come before their launches. Several slices or rounds of decisions have more launches than a
// list takes, and are hardly bound by them; IDR pictures are rare.
MotusLaunchList *list_of(MotusCudaCoder *c, const MotusPictureParams *params, const Output *out,
                         const MotusField *field) {
    const int calls = c->pic.ended || out->with_mb || field || params->external.mv;
    if (!is_serial(c) || calls || params->idr || out->slices->n > 1 ||
        motus_picture_effort(c->settings, params).rounds > 1)
        return NULL;
    return c->list[is_b(params) + (is_b(params) && params->is_reference)];
}

// Launches all of a picture.
MotusStatus launch(MotusCudaCoder *c, const MotusFrameSlot *slot, const MotusPictureParams *params,
                   const Output *out, MotusFrame *rec, MotusField *field, MotusError *error) {
    MotusLaunchList *list = list_of(c, params, out, field);
    motus_launch_list_use(list);
    MotusStatus status = code(c, slot, params, out, field, error);
    if (!status) status = download(c, out, rec, error);
    motus_launch_list_use(NULL);
    if (!status && list)
        status = check(c, motus_launch_list_run(list, c->stream), "picture", error);
    return status ? status : check(c, cudaEventRecord(out->done, c->writing), "record", error);
}

} // namespace

extern "C" MotusStatus motus_cuda_coder_begin(MotusCudaCoder *c, const MotusFrameSlot *slot,
                                              const MotusPictureParams *params, int coders,
                                              MotusFrame *rec, MotusField *field,
                                              MotusError *error) {
    MotusOnDevice on(c->device);
    choose_worker(c, params);
    MotusStatus status =
        check(c, cudaStreamWaitEvent(c->stream, (cudaEvent_t)slot->has_luma, 0), "wait", error);
    if (status) return status;
    choose_concurrency(c, params, coders);
    c->before = c->history;
    Output *out = output_of(c, c->begun);
    put_heads(c->settings, params, out->h_head);
    if (params->qp_offset) memcpy(out->h_qp_offset, params->qp_offset, (size_t)c->pic.n_mb);
    c->pic.qp_offset = params->qp_offset ? out->qp_offset : NULL;
    c->pic.refresh = params->refresh;
    out->slices = motus_picture_slices(c->settings, params);
    c->pic.slice_first = slice_first_of(c, params);
    c->pic.lambda = motus_picture_lambda(c->settings, params);
    const size_t expected = downloads_by_kernel(c) ? SIZE_MAX : c->expected[is_b(params)];
    out->downloaded = packets_stay(c) ? 0 : expected < out->nal_room ? expected : out->nal_room;
    out->with_mb = rec != NULL;
    out->type = params->type, out->n_refs = params->refs;
    c->pic.ended = out->began ? out->ended : NULL;
    choose_costs(c, params, out);
    c->pic.transform_8x8 = c->settings->sequence.transform_8x8;
    status = choose_rec(c, params, error);
    place_planes(c, slot);
    if (!status) status = launch(c, slot, params, out, rec, field, error);
    if (status) { // no download outlives the call
        cudaStreamSynchronize(c->stream);
        cudaStreamSynchronize(c->writing);
    }
    advance(c, params);
    c->begun += !status;
    out->begun_us = now_us();
    return status;
}

extern "C" void motus_cuda_coder_undo(MotusCudaCoder *c) { c->history = c->before; }
