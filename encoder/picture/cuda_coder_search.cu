// Reference pictures of a coder, and the motion fields of a picture in them.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/cuda_coder.cuh"

#include "encoder/picture/external_mvs.h"
#include "me/centres/centres_cuda.h"
#include "me/pixel/ref_luma_cuda.h"
#include "me/search/search_cuda.h"

using namespace motus_cuda_coder;

// ---- References ---------------------------------------------------------------------------------

// Equals motus_references_find.
Reference *motus_cuda_coder::find_reference(MotusCudaCoder *c, int32_t shown) {
    for (Reference &ref : c->history.ref)
        if (ref.is_there && ref.shown == shown) return &ref;
    return NULL;
}

namespace {

void swap(Reconstruction *a, Reconstruction *b) {
    const Reconstruction other = *a;
    *a = *b;
    *b = other;
}

// Makes the current picture's reconstruction a reference. Equals motus_references_add.
void add_reference(MotusCudaCoder *c, const MotusPictureParams *params) {
    History *h = &c->history;
    for (Reference &ref : h->ref) ref.is_there &= !params->idr;
    Reference *ref = &h->ref[h->oldest];
    h->oldest = (h->oldest + 1) % c->settings->sequence.max_refs;
    swap(&ref->rec, &h->rec[0]);
    ref->is_there = 1, ref->shown = params->shown, ref->is_prepared = 0;
}

} // namespace

void motus_cuda_coder::advance(MotusCudaCoder *c, const MotusPictureParams *params) {
    History *h = &c->history;
    if (params->idr)
        h->has_last_mv = 0;
    else
        h->learnt.has_next[motus_cost_kind(params)] = 1;
    if (params->type == MOTUS_SLICE_P) {
        h->last_mv = !h->last_mv, h->has_last_mv = 1;
        h->last_span = params->shown - params->ref_shown[0];
    }
    // Squared errors of a picture that is no reference may still be read when the next is
    // deblocked.
    if (params->is_reference)
        add_reference(c, params);
    else
        swap(&h->rec[0], &h->rec[1]);
}

// ---- Search -------------------------------------------------------------------------------------

namespace {

const MotusRefLuma *luma_of(const MotusCudaCoder *c, const Reference *ref) {
    return &c->ref_luma[ref - c->history.ref];
}

MotusStatus prepare(MotusCudaCoder *c, Reference *ref, MotusError *error) {
    if (ref->is_prepared) return MOTUS_OK;
    ref->is_prepared = 1;
    return check(c, motus_ref_luma_cuda_build(luma_of(c, ref), &ref->rec.plane[0], c->stream),
                 "reference", error);
}

// Equals near_mvs of cpu_executor.c: *mvs gets the MVs that a list's search centres come from.
MotusStatus find_near_mvs(MotusCudaCoder *c, const MotusPictureParams *params, int list,
                          const MotusMv **mvs, MotusError *error) {
    const History *h = &c->history;
    *mvs = h->has_last_mv ? c->last_mv[h->last_mv] : NULL;
    if (!*mvs || params->type == MOTUS_SLICE_P) return MOTUS_OK;
    const int span = params->shown - params->ref_shown[list];
    const MotusMv *last = *mvs;
    *mvs = c->near_mv;
    return check(c,
                 motus_mvs_over_cuda(last, c->near_mv, c->pic.n_mb, span, h->last_span, c->stream),
                 "centres", error);
}

MotusStatus find_centres(MotusCudaCoder *c, const MotusPictureParams *params, int list,
                         Reference *ref, MotusError *error) {
    const MotusMv *near_mvs;
    MotusStatus status = find_near_mvs(c, params, list, &near_mvs, error);
    if (!status) status = prepare(c, ref, error);
    if (status) return status;
    MotusCentresPicture centres = {c->src[0].data,
                                   c->src[0].stride,
                                   luma_of(c, ref),
                                   near_mvs,
                                   motus_lambda_q8(params->qp, params->type),
                                   c->settings->effort.reach,
                                   MOTUS_MAX_CENTRE,
                                   c->settings->centre_limit_y,
                                   c->centre[list],
                                   c->pic.early};
    return check(c, motus_centres_cuda(&centres, c->centres_work, c->stream), "centres", error);
}

// The search of a list. refines: MVs only, whose SADs and costs are not needed.
MotusSearchPicture search_picture(const MotusCudaCoder *c, const MotusPictureParams *params,
                                  int list, const Reference *ref, int refines) {
    const MotusPlane *luma = &ref->rec.plane[0];
    MotusSearchPicture p = {};
    p.cur = c->src[0].data, p.cur_stride = (int)c->src[0].stride;
    p.ref = luma->data, p.ref_stride = (int)luma->stride;
    p.centre = p.predictor = c->centre[list];
    p.lambda_q8 = motus_lambda_q8(params->qp, params->type);
    p.mv = c->mv[list];
    if (!refines) p.sad = c->sad[list], p.cost = c->cost[list];
    p.early = c->pic.early;
    return p;
}

// Uploads external MVs and measures them. Returns once they have been read, as they are in pageable
// memory.
MotusStatus measure(MotusCudaCoder *c, const MotusPictureParams *params, int list,
                    const Reference *ref, uint32_t modes, MotusError *error) {
    MotusStatus status = check(c,
                               cudaMemcpyAsync(c->mv[list], params->external.mv,
                                               MOTUS_BLOCKS * (size_t)c->pic.n_mb * sizeof(MotusMv),
                                               cudaMemcpyHostToDevice, c->stream),
                               "vectors", error);
    return status ? status
                  : check(c,
                          motus_external_mvs_measure_cuda(c->mv[list], modes, &c->src[0],
                                                          luma_of(c, ref), c->centre[list],
                                                          motus_lambda_q8(params->qp, params->type),
                                                          c->sad[list], c->cost[list], c->stream),
                          "vectors", error);
}

// Searches both lists of a B picture in one launch.
MotusStatus search_lists(MotusCudaCoder *c, const MotusPictureParams *params,
                         Reference *const ref[2], const MotusEffort *effort, MotusError *error) {
    const MotusStream *s = c->settings;
    const int lists = 1 + is_b(params);
    MotusSearchPicture p[2];
    if (params->external.mv) return measure(c, params, 0, ref[0], effort->partitions, error);
    for (int list = 0; list < lists; list++)
        p[list] = search_picture(c, params, list, ref[list], 0);
    return check(c,
                 motus_search_cuda(p, lists, 16 * s->mb_width, 16 * s->mb_height, effort->range,
                                   effort->partitions, c->stream),
                 "search", error);
}

// Downloads list 0's motion field before refinement changes it. Blocks, as the memory is pageable.
MotusStatus download_field(MotusCudaCoder *c, MotusField *field, MotusError *error) {
    const size_t n = MOTUS_BLOCKS * (size_t)c->pic.n_mb;
    cudaError_t status = cudaMemcpyAsync(field->mv[0], c->mv[0], n * sizeof(MotusMv),
                                         cudaMemcpyDeviceToHost, c->stream);
    if (status == cudaSuccess)
        status = cudaMemcpyAsync(field->sad[0], c->sad[0], n * sizeof(uint16_t),
                                 cudaMemcpyDeviceToHost, c->stream);
    if (status == cudaSuccess)
        status = cudaMemcpyAsync(field->cost[0], c->cost[0], n * sizeof(uint32_t),
                                 cudaMemcpyDeviceToHost, c->stream);
    return check(c, status, "field", error);
}

} // namespace

MotusStatus motus_cuda_coder::search(MotusCudaCoder *c, const MotusPictureParams *params,
                                     Reference *const ref[2], const MotusEffort *effort,
                                     MotusField *field, MotusError *error) {
    const int lists = 1 + is_b(params);
    MotusStatus status = wait_for_finalizing(c, error);
    for (int list = 0; list < lists && !status; list++)
        status = find_centres(c, params, list, ref[list], error);
    if (!status) status = stage_ended(c, MOTUS_STAGE_REFERENCE, error);
    if (!status) status = search_lists(c, params, ref, effort, error);
    if (!status && field) status = download_field(c, field, error);
    return status ? status : stage_ended(c, MOTUS_STAGE_SEARCH, error);
}

MotusStatus motus_cuda_coder::refine(MotusCudaCoder *c, const MotusPictureParams *params,
                                     Reference *const ref[2], uint32_t modes,
                                     MotusWantedBlocks marked, MotusError *error) {
    const MotusStream *s = c->settings;
    MotusStatus status = MOTUS_OK;
    if (s->config.subpel == MOTUS_SUBPEL_FULL || params->external.final) return MOTUS_OK;
    for (int list = 0; list < 1 + is_b(params) && !status; list++) {
        const MotusSearchPicture p = search_picture(c, params, list, ref[list], 1);
        status =
            check(c,
                  motus_refine_cuda(&p, luma_of(c, ref[list]), 16 * s->mb_width, 16 * s->mb_height,
                                    s->config.subpel, modes, marked, c->stream),
                  "refinement", error);
    }
    return status;
}
