// Reference pictures of a coder, and the motion fields of a picture in them.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/cuda_coder.cuh"

#include "encoder/mb/mb_cuda.h"
#include "encoder/picture/external_mvs.h"
#include "encoder/settings/picture_effort.h"
#include "me/centres/centres_cuda.h"
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

// Returns the number of the last picture that wrote or reads a buffer.
int64_t last_use(const MotusCudaCoder *c, const Buffer *buffer) {
    int64_t last = buffer->owner;
    for (int k = 0; k < c->n_workers; k++)
        if (buffer->reader[k] > last) last = buffer->reader[k];
    return last;
}

// Returns the buffer without a reference that has been unused for longest. There are more
// buffers than references.
int free_buffer(const MotusCudaCoder *c) {
    int best = -1;
    for (int i = 0; i < c->n_buffers; i++) {
        int is_used = 0;
        for (const Reference &ref : c->history.ref) is_used |= ref.is_there && ref.buffer == i;
        if (!is_used && (best < 0 || last_use(c, &c->buffer[i]) < last_use(c, &c->buffer[best])))
            best = i;
    }
    return best;
}

} // namespace

MotusStatus motus_cuda_coder::choose_rec(MotusCudaCoder *c, const MotusPictureParams *params,
                                         MotusError *error) {
    if (!params->is_reference) {
        // Squared errors of the worker's last picture may still be read when this one is
        // deblocked. Those of the one before it are not: wait_for_writing() comes behind them.
        Worker *worker = &c->worker[c->at];
        c->rec = worker->spare[worker->turn];
        worker->turn = !worker->turn;
        return MOTUS_OK;
    }
    c->own_buffer = free_buffer(c);
    Buffer *buffer = &c->buffer[c->own_buffer];
    c->rec = buffer->rec;
    // Pictures that predict from the old content read nothing of it once they are finalized; its
    // own squared errors and its download end with it.
    MotusStatus status = wait_for(c, buffer->owner, &Output::done, error);
    for (int k = 0; k < c->n_workers && !status; k++)
        status = wait_for(c, buffer->reader[k], &Output::finalized, error);
    buffer->owner = c->begun;
    for (int64_t &reader : buffer->reader) reader = -1;
    return status;
}

namespace {

// Makes the current picture's reconstruction a reference. Equals motus_references_add.
void add_reference(MotusCudaCoder *c, const MotusPictureParams *params) {
    History *h = &c->history;
    for (Reference &ref : h->ref) ref.is_there &= !params->idr;
    Reference *ref = &h->ref[params->slot];
    ref->rec = c->rec;
    ref->buffer = c->own_buffer;
    ref->picture = c->begun;
    ref->is_there = 1, ref->shown = params->shown;
    ref->n_listed = motus_references_listed(params);
    memcpy(ref->listed, params->ref_shown, sizeof ref->listed);
}

} // namespace

void motus_cuda_coder::advance(MotusCudaCoder *c, const MotusPictureParams *params) {
    History *h = &c->history;
    const int kind = motus_cost_kind((int)params->type, params->is_reference);
    if (motus_costs_are_learnt(&h->learnt, kind, params->idr)) {
        h->learner[kind][motus_next_cost_table(&h->learnt, kind)] = c->begun;
        h->learnt.has_next[kind] = 1;
    }
    if (params->idr) h->last_p.is_there = 0;
    if (params->is_reference) add_reference(c, params);
    if (params->type == MOTUS_SLICE_P) {
        h->last_p = *find_reference(c, params->shown);
        h->last_span = params->shown - params->ref_shown[0];
    }
    c->worker[c->at].last = c->begun;
}

// ---- Search -------------------------------------------------------------------------------------

MotusStatus motus_cuda_coder::wait_for_reference(MotusCudaCoder *c, const Reference *ref,
                                                 MotusError *error) {
    c->buffer[ref->buffer].reader[c->at] = c->begun;
    MotusStatus status = wait_for(c, ref->picture, &Output::made, error);
    return status ? status : wait_for(c, ref->picture, &Output::finalized, error);
}

const MotusRefLuma *motus_cuda_coder::luma_of(const MotusCudaCoder *c,
                                              const MotusPictureParams *params,
                                              const Reference *ref, int k) {
    const int is_weighted = params->type == MOTUS_SLICE_P && params->weights.ref[k].has_luma;
    return is_weighted ? &c->weighted[k] : &c->buffer[ref->buffer].luma;
}

namespace {

// Equals prepare_luma of inter_search.c. The worker's last P picture read c->weighted on the same
// stream.
MotusStatus prepare_luma(MotusCudaCoder *c, const MotusPictureParams *params, int k,
                         const Reference *ref, MotusError *error) {
    const MotusRefLuma *plain = &c->buffer[ref->buffer].luma, *luma = luma_of(c, params, ref, k);
    MotusStatus status = wait_for_reference(c, ref, error);
    if (status || luma == plain) return status;
    return check(c,
                 motus_weigh_luma_cuda(luma, plain, params->weights.ref[k].plane[0],
                                       params->weights.log2_denom, c->stream),
                 "weights", error);
}

// True for references of list 0 behind the first one: they are searched around its MVs.
int is_far(const MotusPictureParams *params, int k) { return k && k < params->refs; }

// References that are searched in one launch: all near or all far ones.
struct Group {
    int n, at[MOTUS_MAX_REFERENCES]; // their numbers
};

Group group_of(const MotusPictureParams *params, int far) {
    Group group = {};
    for (int k = 0; k < fields_of(params); k++)
        if (is_far(params, k) == far) group.at[group.n++] = k;
    return group;
}

// Equals near_mvs of inter_search.c: mvs[i] gets the MVs that the search centres of reference i of
// the group come from.
MotusStatus find_near_mvs(MotusCudaCoder *c, const MotusPictureParams *params, const Group *group,
                          const MotusMv *mvs[], MotusError *error) {
    const History *h = &c->history;
    const MotusMv *from = c->mv[0] + MOTUS_BLOCK_16x16 * c->pic.n_mb;
    int from_span = params->shown - params->ref_shown[0], to[MOTUS_CENTRES_SPANS];
    static_assert((int)MOTUS_MAX_REFERENCES <= (int)MOTUS_CENTRES_SPANS, "a group's distances");
    if (!is_far(params, group->at[0])) {
        if (!h->last_p.is_there) return MOTUS_OK;
        mvs[0] = from = c->buffer[h->last_p.buffer].mv;
        from_span = h->last_span;
        const MotusStatus status = wait_for_reference(c, &h->last_p, error);
        if (status || params->type == MOTUS_SLICE_P) return status;
    }
    for (int i = 0; i < group->n; i++) {
        mvs[i] = c->near_mv + (size_t)i * c->pic.n_mb;
        to[i] = params->shown - params->ref_shown[group->at[i]];
    }
    return check(
        c, motus_mvs_over_cuda(from, c->near_mv, c->pic.n_mb, to, group->n, from_span, c->stream),
        "centres", error);
}

MotusStatus find_centres(MotusCudaCoder *c, const MotusPictureParams *params, const Group *group,
                         Reference *const ref[], MotusWantedBlocks wanted, MotusError *error) {
    const MotusMv *near_mvs[MOTUS_MAX_REFERENCES] = {};
    MotusCentresPicture p[MOTUS_MAX_REFERENCES];
    MotusStatus status = find_near_mvs(c, params, group, near_mvs, error);
    for (int i = 0; i < group->n && !status; i++) {
        const int k = group->at[i];
        status = prepare_luma(c, params, k, ref[k], error);
        p[i] = {c->src[0].data,
                c->src[0].stride,
                luma_of(c, params, ref[k], k),
                near_mvs[i],
                motus_lambda_q8(params->qp, params->type),
                c->settings->effort.reach,
                motus_searches_wide(params, k),
                MOTUS_MAX_CENTRE,
                c->settings->centre_limit_y,
                c->centre[k],
                c->pic.early,
                wanted.mask,
                wanted.pitch};
    }
    for (int i = 0; i < group->n && !status; i += MOTUS_CENTRES_LISTS)
        status = check(c,
                       motus_centres_cuda(&p[i], motus_min(group->n - i, MOTUS_CENTRES_LISTS),
                                          c->centres_work, c->stream),
                       "centres", error);
    return status;
}

// The search of a list. refines: MVs only, whose SADs and costs are not needed.
MotusSearchPicture search_picture(const MotusCudaCoder *c, const MotusPictureParams *params,
                                  int list, const Reference *ref, int refines) {
    const MotusPlane *plain = &ref->rec.plane[0];
    const MotusRefLuma *luma = luma_of(c, params, ref, list);
    const int is_plain = luma == &c->buffer[ref->buffer].luma;
    MotusSearchPicture p = {};
    p.cur = c->src[0].data, p.cur_stride = (int)c->src[0].stride;
    p.ref = is_plain ? plain->data : luma->plane[0];
    p.ref_stride = (int)(is_plain ? plain->stride : luma->stride);
    p.centre = p.predictor = c->centre[list];
    p.lambda_q8 = motus_lambda_q8(params->qp, params->type);
    p.mv = c->mv[list];
    if (!refines) p.sad = c->sad[list], p.cost = c->cost[list];
    p.early = c->pic.early;
    return p;
}

// Uploads external MVs and measures them. Returns once they have been read, as they are in pageable
// memory, which gets those of the next reference.
MotusStatus measure(MotusCudaCoder *c, const MotusPictureParams *params, int list,
                    const Reference *ref, uint32_t modes, MotusError *error) {
    motus_external_mvs_choose(&params->external, c->settings,
                              params->ref_shown[list] - params->shown);
    MotusStatus status = check(c,
                               cudaMemcpyAsync(c->mv[list], params->external.mv,
                                               MOTUS_BLOCKS * (size_t)c->pic.n_mb * sizeof(MotusMv),
                                               cudaMemcpyHostToDevice, c->stream),
                               "vectors", error);
    return status ? status
                  : check(c,
                          motus_external_mvs_measure_cuda(
                              c->mv[list], modes, &c->src[0], luma_of(c, params, ref, list),
                              c->centre[list], motus_lambda_q8(params->qp, params->type),
                              c->sad[list], c->cost[list], c->stream),
                          "vectors", error);
}

// Searches the far references, or the others, in one launch.
MotusStatus search_references(MotusCudaCoder *c, const MotusPictureParams *params,
                              Reference *const ref[], int far, int range, uint32_t modes,
                              MotusWantedBlocks wanted, MotusError *error) {
    const MotusStream *s = c->settings;
    const Group group = group_of(params, far);
    MotusSearchPicture p[MOTUS_MAX_REFERENCES];
    if (!group.n) return MOTUS_OK;
    MotusStatus status = find_centres(c, params, &group, ref, wanted, error);
    for (int i = 0; i < group.n && !status; i++) {
        const int k = group.at[i];
        if (params->external.mv) status = measure(c, params, k, ref[k], modes, error);
        p[i] = search_picture(c, params, k, ref[k], 0);
        p[i].wanted = wanted;
    }
    if (!status && !far) status = stage_ended(c, MOTUS_STAGE_REFERENCE, error);
    if (status || params->external.mv) return status;
    return check(
        c,
        motus_search_cuda(p, group.n, 16 * s->mb_width, 16 * s->mb_height, range, modes, c->stream),
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
                                     Reference *const ref[], const MotusEffort *effort,
                                     MotusWantedBlocks wanted, MotusField *field,
                                     MotusError *error) {
    // Finalizing the worker's last picture reads whole_mv.
    MotusStatus status = wait_for(c, c->last, &Output::finalized, error);
    if (!status)
        status =
            search_references(c, params, ref, 0, effort->range, effort->partitions, wanted, error);
    if (!status && field) status = download_field(c, field, error);
    if (!status)
        status = search_references(c, params, ref, 1, motus_far_range(effort->range),
                                   effort->partitions, wanted, error);
    return status ? status : stage_ended(c, MOTUS_STAGE_SEARCH, error);
}

MotusStatus motus_cuda_coder::refine(MotusCudaCoder *c, const MotusPictureParams *params,
                                     Reference *const ref[], uint32_t modes,
                                     MotusWantedBlocks marked, MotusError *error) {
    const MotusStream *s = c->settings;
    MotusStatus status = MOTUS_OK;
    if (s->config.subpel == MOTUS_SUBPEL_FULL || params->external.final) return MOTUS_OK;
    for (int k = 0; k < fields_of(params) && !status; k++) {
        // Further references of B pictures are compared by their refined costs.
        const int keeps_costs = is_b(params) && params->refs > 1;
        const MotusSearchPicture p = search_picture(c, params, k, ref[k], !keeps_costs);
        const MotusWantedBlocks wanted =
            is_far(params, k) ? MotusWantedBlocks{c->far_blocks + (size_t)(k - 1) * c->pic.n_mb, 1}
                              : marked;
        status =
            check(c,
                  motus_refine_cuda(&p, luma_of(c, params, ref[k], k), 16 * s->mb_width,
                                    16 * s->mb_height, s->config.subpel, modes, wanted, c->stream),
                  "refinement", error);
    }
    return status;
}
