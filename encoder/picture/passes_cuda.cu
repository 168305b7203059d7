// The passes on a CUDA device: what each launches. Pictures are frames of whole MBs in slots.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/decide/decide_core.h"
#include "encoder/mb/mb_cuda.h"
#include "encoder/picture/cuda_coder.cuh"
#include "encoder/picture/external_mvs.h"
#include "me/centres/centres_cuda.h"
#include "me/pixel/ref_luma_cuda.h"
#include "me/search/refine_cuda.h"
#include "yuv/metrics_cuda.h"

extern "C" {
#include "encoder/slice/slice.h"
}

using namespace motus_cuda_coder;

namespace {

// ---- Uploads ------------------------------------------------------------------------------------

MotusStatus upload(void *at, MotusPictureJob *job, int, MotusError *error) {
    Picture *p = (Picture *)at;
    const Output *out = p->out;
    cudaStream_t stream = p->w->stream;
    MotusStatus status = MOTUS_OK;
    if (p->w->pic.ended) status = check(p->c, cudaEventRecord(out->began, stream), "record", error);
    if (!status && job->params->qp_offset)
        status = check(p->c,
                       cudaMemcpyAsync(out->qp_offset, out->h_qp_offset, (size_t)p->w->pic.n_mb,
                                       cudaMemcpyHostToDevice, stream),
                       "QP offsets", error);
    if (status || job->refs < 2) return status;
    return check(p->c,
                 cudaMemcpyAsync(out->refs, out->h_refs, (size_t)job->n_refs * sizeof *out->refs,
                                 cudaMemcpyHostToDevice, stream),
                 "references", error);
}

MotusStatus upload_costs(void *at, MotusPictureJob *job, int, MotusError *error) {
    Picture *p = (Picture *)at;
    motus_cabac_costs_set(p->out->h_costs, job->type != MOTUS_SLICE_I, job->qp);
    return check(p->c,
                 cudaMemcpyAsync(p->w->memory.first_costs, p->out->h_costs, sizeof *p->out->h_costs,
                                 cudaMemcpyHostToDevice, p->w->stream),
                 "costs", error);
}

// ---- Search -------------------------------------------------------------------------------------

const MotusRefLuma *plain_luma(const Picture *p, int k) {
    return &p->c->buffer[p->job->buffer[k]].luma;
}

MotusStatus weigh(void *at, MotusPictureJob *job, int group, MotusError *error) {
    Picture *p = (Picture *)at;
    const MotusWeights *weights = &job->params->weights;
    MotusStatus status = MOTUS_OK;
    for (int i = 0; i < job->group[group].n && !status; i++) {
        const int k = job->group[group].at[i];
        const MotusRefLuma *plain = plain_luma(p, k);
        if (job->luma[k] != plain)
            status = check(p->c,
                           motus_weigh_luma_cuda(job->luma[k], plain, weights->ref[k].plane[0],
                                                 weights->log2_denom, p->w->stream),
                           "weights", error);
    }
    return status;
}

// Returns where the marked blocks of a P or B picture's MBs are.
MotusWantedBlocks marked_blocks(const Picture *p) {
    static_assert(sizeof(MotusCandidates) % sizeof(uint64_t) == 0 &&
                      sizeof(MotusMbCandidates) == sizeof(MotusCandidates),
                  "masks at a pitch of words, the same for P and B");
    const MotusMbCandidates *candidates = (const MotusMbCandidates *)p->w->pic.candidates;
    return {p->job->type == MOTUS_SLICE_B ? &candidates->b[0].blocks : &candidates->p.blocks,
            sizeof *candidates / sizeof(uint64_t)};
}

// Returns the MBs to search: MBs with an empty mask need no MVs.
MotusWantedBlocks searched_blocks(const Picture *p) {
    return p->job->skips_first ? marked_blocks(p) : MotusWantedBlocks{};
}

MotusStatus find_centres(void *at, MotusPictureJob *job, int group, MotusError *error) {
    Picture *p = (Picture *)at;
    Worker *w = p->w;
    const MotusSearchGroup *g = &job->group[group];
    const int n_mb = w->pic.n_mb, scales = g->near_mv && g->scales_near;
    const MotusWantedBlocks wanted = searched_blocks(p);
    MotusCentresPicture picture[MOTUS_MAX_REFERENCES];
    int to[MOTUS_CENTRES_SPANS];
    static_assert((int)MOTUS_MAX_REFERENCES <= (int)MOTUS_CENTRES_SPANS, "a group's distances");
    MotusStatus status = MOTUS_OK;
    for (int i = 0; i < g->n; i++) {
        picture[i] = motus_job_centres(job, g->at[i]);
        picture[i].previous = scales ? w->memory.near_mv + (size_t)i * n_mb : g->near_mv;
        picture[i].early = w->pic.early;
        picture[i].wanted = wanted.mask, picture[i].wanted_pitch = wanted.pitch;
        to[i] = job->span[g->at[i]];
    }
    if (scales)
        status = check(p->c,
                       motus_mvs_over_cuda(g->near_mv, w->memory.near_mv, n_mb, to, g->n,
                                           g->near_span, w->stream),
                       "centres", error);
    for (int i = 0; i < g->n && !status; i += MOTUS_CENTRES_LISTS)
        status = check(p->c,
                       motus_centres_cuda(&picture[i], motus_min(g->n - i, MOTUS_CENTRES_LISTS),
                                          w->centres_work, w->stream),
                       "centres", error);
    return status;
}

// The search in a reference. refines: of MVs only, whose SADs and costs are not needed.
MotusSearchPicture search_picture(const Picture *p, int k, int refines) {
    const MotusPictureJob *job = p->job;
    const MotusPlane *plain = &p->c->buffer[job->buffer[k]].plane[0];
    const MotusRefLuma *luma = job->luma[k];
    const int is_plain = luma == plain_luma(p, k);
    MotusSearchPicture s = {};
    s.cur = job->src[0].data, s.cur_stride = (int)job->src[0].stride;
    s.ref = is_plain ? plain->data : luma->plane[0];
    s.ref_stride = (int)(is_plain ? plain->stride : luma->stride);
    s.centre = s.predictor = job->motion[k].centre;
    s.lambda_q8 = job->qp_table[job->qp].lambda_q8;
    s.mv = job->motion[k].mv;
    if (!refines) s.sad = job->motion[k].sad, s.cost = job->motion[k].cost;
    s.early = p->w->pic.early;
    return s;
}

// Uploads external MVs and measures them. Returns once they have been read, as they are in pageable
// memory, which gets those of the next reference.
MotusStatus measure(Picture *p, int k, MotusError *error) {
    const MotusPictureJob *job = p->job;
    const MotusExternalMvs *external = &job->params->external;
    const MotusMotion *motion = &job->motion[k];
    motus_external_mvs_choose(external, job->stream, -job->span[k]);
    MotusStatus status =
        check(p->c,
              cudaMemcpyAsync(motion->mv, external->mv,
                              MOTUS_BLOCKS * (size_t)p->w->pic.n_mb * sizeof(MotusMv),
                              cudaMemcpyHostToDevice, p->w->stream),
              "vectors", error);
    return status
               ? status
               : check(p->c,
                       motus_external_mvs_measure_cuda(motion->mv, job->effort.partitions,
                                                       &job->src[0], job->luma[k], motion->centre,
                                                       job->qp_table[job->qp].lambda_q8,
                                                       motion->sad, motion->cost, p->w->stream),
                       "vectors", error);
}

// Downloads the first motion field before refinement changes it. Blocks, as the memory is pageable.
MotusStatus download_field(Picture *p, MotusError *error) {
    const size_t n = MOTUS_BLOCKS * (size_t)p->w->pic.n_mb;
    const MotusMotion *motion = &p->job->motion[0];
    const MotusField *field = p->out->field;
    cudaError_t status = cudaMemcpyAsync(field->mv[0], motion->mv, n * sizeof(MotusMv),
                                         cudaMemcpyDeviceToHost, p->w->stream);
    if (status == cudaSuccess)
        status = cudaMemcpyAsync(field->sad[0], motion->sad, n * sizeof(uint16_t),
                                 cudaMemcpyDeviceToHost, p->w->stream);
    if (status == cudaSuccess)
        status = cudaMemcpyAsync(field->cost[0], motion->cost, n * sizeof(uint32_t),
                                 cudaMemcpyDeviceToHost, p->w->stream);
    return check(p->c, status, "field", error);
}

// Searches a group's references in one launch.
MotusStatus search(void *at, MotusPictureJob *job, int group, MotusError *error) {
    Picture *p = (Picture *)at;
    const MotusStream *s = job->stream;
    const MotusSearchGroup *g = &job->group[group];
    MotusSearchPicture picture[MOTUS_MAX_REFERENCES];
    MotusStatus status = MOTUS_OK;
    for (int i = 0; i < g->n && !status; i++) {
        if (job->params->external.mv) status = measure(p, g->at[i], error);
        picture[i] = search_picture(p, g->at[i], 0);
        picture[i].wanted = searched_blocks(p);
    }
    if (!status && !job->params->external.mv)
        status = check(p->c,
                       motus_search_cuda(picture, g->n, 16 * s->mb_width, 16 * s->mb_height,
                                         g->range, job->effort.partitions, p->w->stream),
                       "search", error);
    const int downloads =
        group == MOTUS_NEAR && job->type == MOTUS_SLICE_P && s->config.export_field;
    return status || !downloads ? status : download_field(p, error);
}

// ---- Decisions ----------------------------------------------------------------------------------

MotusStatus find_direct(void *at, MotusPictureJob *job, int, MotusError *error) {
    Picture *p = (Picture *)at;
    return check(p->c,
                 motus_direct_temporal_cuda(job->col, p->w->pic.n_mb, &job->map,
                                            p->w->memory.direct, p->w->stream),
                 "direct prediction", error);
}

MotusStatus skip(void *at, MotusPictureJob *job, int, MotusError *error) {
    Picture *p = (Picture *)at;
    return check(p->c, motus_skip_cuda(&p->w->pic, job, p->w->stream), "decisions", error);
}

// Marks the blocks that are worth it, and refines them: in both lists, or in a P picture's first
// reference; far_blocks are those in further ones. P pictures keep their 16x16 MVs as they are
// before: the next picture's centres are predicted from them if an MB becomes intra.
MotusStatus find_candidates(void *at, MotusPictureJob *job, int, MotusError *error) {
    Picture *p = (Picture *)at;
    const MotusStream *s = job->stream;
    const MotusWantedBlocks marked = marked_blocks(p);
    MotusStatus status = check(p->c, motus_mark_cuda(&p->w->pic, job, p->w->whole_mv, p->w->stream),
                               "blocks", error);
    // Further references of B pictures are compared by their refined costs.
    const int keeps_costs = job->type == MOTUS_SLICE_B && job->refs > 1;
    for (int k = 0; k < job->n_refs && job->subpel != MOTUS_SUBPEL_FULL && !status; k++) {
        const MotusSearchPicture picture = search_picture(p, k, !keeps_costs);
        const MotusWantedBlocks far = {job->far_blocks + (ptrdiff_t)(k - 1) * p->w->pic.n_mb, 1};
        status = check(p->c,
                       motus_refine_cuda(&picture, job->luma[k], 16 * s->mb_width,
                                         16 * s->mb_height, job->subpel, job->effort.partitions,
                                         k && k < job->refs ? far : marked, p->w->stream),
                       "refinement", error);
    }
    return status;
}

MotusStatus decide(void *at, MotusPictureJob *job, int, MotusError *error) {
    Picture *p = (Picture *)at;
    return check(p->c, motus_decide_cuda(&p->w->pic, job, p->w->stream), "decisions", error);
}

MotusStatus code_intra(void *at, MotusPictureJob *job, int, MotusError *error) {
    Picture *p = (Picture *)at;
    return check(p->c, motus_code_intra_cuda(&p->w->pic, job, p->w->stream), "intra coding", error);
}

// ---- Writing ------------------------------------------------------------------------------------

// Finalizes the MBs, and computes what B pictures read of a reference picture's.
MotusStatus finalize(void *at, MotusPictureJob *job, int, MotusError *error) {
    Picture *p = (Picture *)at;
    const MotusPictureStateCuda *pic = &p->w->pic;
    const MotusPictureBuffer *buffer = p->buffer < 0 ? NULL : &p->c->buffer[p->buffer];
    MotusFinalizeCuda f = {};
    f.mb_width = pic->mb_width, f.n_mb = pic->n_mb, f.mb = pic->mb;
    f.slice_first = pic->slice_first;
    f.qp = job->qp, f.marks = p->w->marks;
    for (int k = 0; job->type == MOTUS_SLICE_P && k < job->refs; k++) f.span[k] = job->span[k];
    if (job->type == MOTUS_SLICE_P) f.searched = p->w->whole_mv, f.kept = buffer->mv;
    f.is_b = job->type == MOTUS_SLICE_B, f.refs = job->refs, f.direct = job->direct;
    f.head = p->out->head, f.h_head = p->out->h_head, f.n_heads = job->slices->n;
    f.stats = &p->out->report->stats;
    MotusStatus status =
        check(p->c, motus_finalize_cuda(&f, p->w->writing), "entropy coding", error);
    if (!status && buffer && buffer->col_zero)
        status =
            check(p->c, motus_col_zero_cuda(pic->mb, pic->n_mb, buffer->col_zero, p->w->writing),
                  "entropy coding", error);
    if (!status && buffer && buffer->col)
        status = check(
            p->c, motus_col_mbs_cuda(pic->mb, pic->n_mb, job->refs, buffer->col, p->w->writing),
            "collocated MVs", error);
    return status;
}

// Writes slice k, whole MB rows, as if it were a picture of its own.
MotusStatus write_slice(Picture *p, int k, MotusError *error) {
    const MotusPictureJob *job = p->job;
    const MotusStream *s = job->stream;
    const MotusSlices *slices = job->slices;
    const Worker *w = p->w;
    const Output *out = p->out;
    const int begin = slices->begin ? slices->begin[k] : 0,
              end = slices->begin ? slices->begin[k + 1] : s->mb_height,
              is_last = k + 1 == slices->n;
    MotusSliceCuda slice = {};
    slice.mb_width = s->mb_width, slice.mb_height = end - begin;
    slice.first_mb = begin * s->mb_width, slice.is_b = job->type == MOTUS_SLICE_B;
    slice.refs = job->refs;
    slice.mb = w->pic.mb + slice.first_mb, slice.coef = w->pic.coef + slice.first_mb;
    slice.marks = w->marks;
    for (int i = 0; i < 3; i++) {
        slice.src[i] = job->src[i].data + (i ? 8 : 16) * begin * job->src[i].stride;
        slice.src_stride[i] = job->src[i].stride;
    }
    slice.head = out->head + k, slice.work = w->slice_work;
    slice.nal = out->nal, slice.capacity = (uint32_t)motus_nal_bound(s->rbsp_capacity);
    slice.before = k ? &w->slice_results[k - 1] : NULL;
    slice.result = is_last ? &out->report->result : &w->slice_results[k];
    slice.stats = &out->report->stats;
    slice.early = w->pic.early;
    if (!s->sequence.cabac)
        return check(p->c, motus_slice_cuda_write(&slice, w->writing), "entropy coding", error);
    MotusCabacSliceCuda cabac = {};
    cabac.slice = slice, cabac.context = w->context + slice.first_mb;
    cabac.piece = motus_cabac_cuda_piece(w->pic.n_mb), cabac.bins = w->bins;
    if (is_last) cabac.n_mb = w->pic.n_mb, cabac.n_slices = slices->n;
    if (is_last && !p->alone) cabac.costs = w->pic.costs, cabac.next = p->next_costs;
    MotusStatus status =
        check(p->c, motus_cabac_slice_cuda_begin(&cabac, w->writing), "entropy coding", error);
    // Once all MBs are symbols and costs are learnt, the next picture's decisions may begin.
    if (!status && is_last) status = record(p, WRITTEN, w->writing, error);
    return status ? status
                  : check(p->c, motus_cabac_slice_cuda_end(&cabac, w->writing), "entropy coding",
                          error);
}

MotusStatus write_slices(void *at, MotusPictureJob *job, int, MotusError *error) {
    Picture *p = (Picture *)at;
    MotusStatus status = MOTUS_OK;
    for (int k = 0; k < job->slices->n && !status; k++) status = write_slice(p, k, error);
    return status || job->stream->sequence.cabac ? status
                                                 : record(p, WRITTEN, p->w->writing, error);
}

// ---- Completion ---------------------------------------------------------------------------------

MotusStatus deblock(void *at, MotusPictureJob *job, int, MotusError *error) {
    Picture *p = (Picture *)at;
    const MotusPictureStateCuda *pic = &p->w->pic;
    uint8_t *const to[3] = {p->rec[0].data, p->rec[1].data, p->rec[2].data};
    const uint8_t *const from[3] = {pic->rec[0], pic->rec[1], pic->rec[2]};
    const ptrdiff_t stride[3] = {p->rec[0].stride, p->rec[1].stride, p->rec[2].stride};
    const int refs = job->type == MOTUS_SLICE_B ? 0 : motus_max(job->refs, 1);
    return check(p->c,
                 motus_deblock_cuda(to, from, stride, pic->mb, pic->mb_width, pic->mb_height, refs,
                                    job->params->copies, motus_refresh_apart(&pic->refresh),
                                    p->w->deblock_work, pic->early, p->w->stream),
                 "deblocking", error);
}

MotusStatus make_reference(void *at, MotusPictureJob *, int, MotusError *error) {
    Picture *p = (Picture *)at;
    return check(p->c,
                 motus_ref_luma_cuda_build(&p->c->buffer[p->buffer].luma, &p->rec[0], p->w->stream),
                 "reference", error);
}

MotusStatus sum_errors(void *at, MotusPictureJob *job, int, MotusError *error) {
    Picture *p = (Picture *)at;
    const MotusEncoderConfig *config = &job->stream->config;
    return check(p->c,
                 motus_planes_ssd_cuda(job->src, p->rec, config->width, config->height,
                                       p->out->report->stats.ssd,
                                       p->alone ? p->w->stream : p->w->writing),
                 "statistics", error);
}

MotusStatus learn(void *at, MotusPictureJob *job, int, MotusError *error) {
    Picture *p = (Picture *)at;
    return check(
        p->c, motus_cabac_costs_cuda_learn(p->w->bins, job->costs, job->next_costs, p->w->stream),
        "costs", error);
}

MotusStatus stage_ended(void *at, MotusStage stage, MotusError *error) {
    Picture *p = (Picture *)at;
    return check(p->c, motus_stage_ended_cuda(&p->w->pic, stage, p->w->stream), "record", error);
}

constexpr MotusPassTable table() {
    MotusPassTable t = {};
    t.pass[MOTUS_PASS_UPLOAD] = upload;
    t.pass[MOTUS_PASS_COSTS] = upload_costs;
    t.pass[MOTUS_PASS_DIRECT] = find_direct;
    t.pass[MOTUS_PASS_SKIPS] = skip;
    t.pass[MOTUS_PASS_WEIGHTS] = weigh;
    t.pass[MOTUS_PASS_CENTRES] = find_centres;
    t.pass[MOTUS_PASS_SEARCH] = search;
    t.pass[MOTUS_PASS_CANDIDATES] = find_candidates;
    t.pass[MOTUS_PASS_DECIDE] = decide;
    t.pass[MOTUS_PASS_INTRA] = code_intra;
    t.pass[MOTUS_PASS_FINALIZE] = finalize;
    t.pass[MOTUS_PASS_ENTROPY] = write_slices;
    t.pass[MOTUS_PASS_DEBLOCK] = deblock;
    t.pass[MOTUS_PASS_REFERENCE] = make_reference;
    t.pass[MOTUS_PASS_DOWNLOAD] = download;
    t.pass[MOTUS_PASS_ERRORS] = sum_errors;
    t.pass[MOTUS_PASS_LEARN] = learn;
    t.pass[MOTUS_PASS_REPORT] = report;
    t.before = before_pass, t.after = after_pass, t.stage_ended = stage_ended;
    return t;
}

} // namespace

const MotusPassTable motus_cuda_coder::passes = table();
