// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/job.h"

#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "encoder/decide/decide_core.h"
#include "encoder/mb/coded_mbs.h"
#include "encoder/settings/stream.h"

MotusStatus motus_jobs_open(MotusJobs *jobs, const MotusStream *stream, int has_recon, int pinned) {
    const size_t n_mb = (size_t)stream->mb_width * (size_t)stream->mb_height;
    jobs->stream = stream;
    jobs->has_recon = has_recon;
    jobs->pool = (MotusFramePool){
        .width = 16 * stream->mb_width, .height = 16 * stream->mb_height, .pinned = pinned};
    if (stream->config.stream_only) return MOTUS_OK;
    jobs->mvs = motus_alloc(16 * n_mb, sizeof *jobs->mvs);
    return jobs->mvs ? MOTUS_OK : MOTUS_ERR_MEMORY;
}

void motus_jobs_close(MotusJobs *jobs) {
    for (int i = 0; i < MOTUS_CODER_DEPTH; i++) motus_frame_unref(&jobs->job[i].recon);
    motus_frame_pool_close(&jobs->pool);
    motus_free(jobs->mvs);
}

// ---- References ---------------------------------------------------------------------------------

// Fills in reference k, which lies in buffer `b`.
static void set_reference(MotusPictureJob *job, int k, const MotusPictureBuffer *b,
                          const MotusSearchMemory *memory) {
    const MotusPictureParams *params = job->params;
    const int is_b = job->type == MOTUS_SLICE_B,
              is_weighted = !is_b && params->weights.ref[k].has_luma;
    const MotusRefLuma *luma = job->luma[k] = is_weighted ? &memory->weighted[k] : &b->luma;
    MotusReference *ref = &job->ref[k];
    ref->width = luma->width, ref->height = luma->height;
    ref->luma = luma->plane[0], ref->luma_stride = luma->stride;
    ref->chroma[0] = b->plane[1].data, ref->chroma[1] = b->plane[2].data;
    ref->chroma_stride = b->plane[1].stride;
    memcpy(ref->tap, luma->tap, sizeof ref->tap);
    if (!is_b) motus_reference_weigh(ref, &params->weights, k, b->luma.plane[0]);
    if (is_b && k < job->refs && job->stream->sequence.weighted_bipred)
        ref->pair_offset =
            motus_pair_offset(params->shown, params->ref_shown[k], params->ref_shown[job->refs]);
    job->motion[k] = memory->motion[k];
    job->span[k] = params->shown - params->ref_shown[k];
    MotusSearchGroup *group = &job->group[k && k < job->refs ? MOTUS_FAR : MOTUS_NEAR];
    group->at[group->n++] = k;
}

// Fills in where the direct prediction of a B picture comes from: list 1's reference.
static void set_direct(MotusPictureJob *job, const MotusReferencePicture *ref,
                       const MotusPictureBuffer *b, const MotusSearchMemory *memory) {
    const MotusPictureParams *params = job->params;
    if (params->direct == MOTUS_DIRECT_SPATIAL)
        job->direct.col_zero = b->col_zero;
    else
        job->direct.fixed = memory->direct;
    job->skips_first = motus_tries_skips_first(&job->direct, job->refs, &job->effort);
    if (params->direct != MOTUS_DIRECT_TEMPORAL) return;
    job->col = b->col;
    motus_temporal_map(&job->map, params->shown, params->ref_shown, params->refs, ref->listed,
                       ref->n_listed);
}

// Fills in what the search centres come from: the last P picture's MVs; in far references those of
// the first one, which has been searched.
static void set_groups(MotusPictureJob *job, const MotusHistory *h,
                       const MotusPictureBuffer *buffer) {
    MotusSearchGroup *near = &job->group[MOTUS_NEAR], *far = &job->group[MOTUS_FAR];
    near->range = job->effort.range;
    near->scales_near = job->type == MOTUS_SLICE_B;
    if (h->last_p.is_there) {
        near->near_mv = buffer[h->last_p.buffer].mv;
        near->near_span = h->last_span;
        job->last_p = h->last_p.buffer, job->last_p_number = h->last_p.number;
    }
    far->range = motus_far_range(job->effort.range);
    far->near_mv = job->motion[0].mv; // of 16x16, the first block
    far->near_span = job->span[0];
    far->scales_near = 1;
}

MotusCentresPicture motus_job_centres(const MotusPictureJob *job, int k) {
    const MotusStream *s = job->stream;
    const MotusPictureParams *p = job->params;
    const int is_far = k && k < p->refs, is_b = p->type == MOTUS_SLICE_B;
    return (MotusCentresPicture){
        .cur = job->src[0].data,
        .cur_stride = job->src[0].stride,
        .ref = job->luma[k],
        .lambda_q8 = job->qp_table[job->qp].lambda_q8,
        .reach = s->effort.reach,
        // The first reference of either list is no neighbour in display
        // order: motion may pass what 4:1 pictures reach.
        .wide = !is_far &&
                (p->shown - p->ref_shown[0] > 1 || (is_b && p->ref_shown[p->refs] - p->shown > 1)),
        .limit_x = MOTUS_MAX_CENTRE,
        .limit_y = s->centre_limit_y,
        .centre = job->motion[k].centre};
}

// ---- A picture ----------------------------------------------------------------------------------

// Returns the kind of a picture's costs.
static int cost_kind(const MotusPictureJob *job) {
    return job->type == MOTUS_SLICE_B ? 2 - job->params->is_reference : 0;
}

// Returns the table that a kind's next costs are learnt into.
static int next_table(const MotusHistory *h, int kind) {
    return (h->table[kind] + 1) % MOTUS_COST_TABLES;
}

// Chooses the costs of bins for the decisions, and where new ones are learnt. An IDR picture
// forgets all costs, a P picture begins a mini-GOP.
static void set_costs(MotusPictureJob *job, MotusHistory *h, const MotusSearchMemory *memory,
                      const MotusCostTables costs) {
    const int kind = cost_kind(job), idr = job->params->idr;
    for (int k = 0; k < MOTUS_COST_KINDS; k++) {
        if (idr) h->has_table[k] = h->has_next[k] = 0;
        if (job->type != MOTUS_SLICE_P || !h->has_next[k]) continue;
        h->table[k] = next_table(h, k);
        h->has_table[k] = 1;
        h->has_next[k] = 0;
    }
    job->learner = -1;
    if (!job->stream->sequence.cabac) return;
    job->sets_costs = !h->has_table[kind];
    job->costs = memory->first_costs;
    if (!job->sets_costs) {
        job->costs = costs[kind][h->table[kind]];
        job->learner = h->learner[kind][h->table[kind]];
    }
    if (!idr && !h->has_next[kind]) job->next_costs = costs[kind][next_table(h, kind)];
}

MotusStatus motus_jobs_begin(MotusJobs *jobs, const MotusPictureJob *given, const MotusPlane *src,
                             const MotusPictureBuffer *buffer, const MotusSearchMemory *memory,
                             const MotusCostTables costs, MotusPictureJob **out,
                             MotusError *error) {
    MotusPictureJob *job = *out = &jobs->job[jobs->begun % MOTUS_CODER_DEPTH];
    MotusFrame *recon = job->recon; // of an attempt that was taken back
    MotusHistory *h = &jobs->history;
    if (jobs->has_recon && !recon && motus_frame_pool_take(&jobs->pool, &recon))
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    *job = *given;
    job->stream = jobs->stream;
    job->number = jobs->begun;
    job->src = src, job->recon = recon;
    job->far_blocks = memory->far_blocks;
    job->last_p = -1;
    jobs->before = *h;
    const MotusStream *s = job->stream;
    const MotusPictureParams *params = job->params;
    job->slices = params->refresh.end ? &s->refresh_slices[params->refresh_at] : &s->slices;
    job->type = params->type, job->refs = params->refs, job->qp = params->qp;
    job->effort = motus_picture_effort(s, params);
    job->limits = s->limits;
    job->subpel = params->external.final ? MOTUS_SUBPEL_FULL : s->config.subpel;
    job->lambda = motus_picture_lambda(s, params);
    job->qp_table = s->qp_table[job->lambda];
    job->quant8 = s->sequence.transform_8x8 ? s->quant8_table[job->lambda] : NULL;
    job->cuts_slices = s->config.slice_max_size > 0;
    job->n_refs = motus_references_listed(params);
    set_costs(job, h, memory, costs);
    for (int k = 0; k < job->n_refs; k++) {
        const MotusReferencePicture *ref = NULL;
        for (int i = 0; i < MOTUS_MAX_REFERENCES && !ref; i++)
            if (h->ref[i].is_there && h->ref[i].shown == job->params->ref_shown[k])
                ref = &h->ref[i];
        if (!ref) return motus_fail(error, MOTUS_ERR_INTERNAL, "a reference picture is missing");
        job->buffer[k] = ref->buffer, job->picture[k] = ref->number;
        set_reference(job, k, &buffer[ref->buffer], memory);
        if (k == job->refs) set_direct(job, ref, &buffer[ref->buffer], memory);
    }
    if (job->n_refs) set_groups(job, h, buffer);
    return MOTUS_OK;
}

void motus_jobs_advance(MotusJobs *jobs, const MotusPictureJob *job, int buffer) {
    const MotusPictureParams *params = job->params;
    MotusHistory *h = &jobs->history;
    const int kind = cost_kind(job);
    if (!params->idr && !h->has_next[kind]) { // costs are learnt from the picture
        h->learner[kind][next_table(h, kind)] = job->number;
        h->has_next[kind] = 1;
    }
    jobs->begun++;
    for (int i = 0; i < MOTUS_MAX_REFERENCES && params->idr; i++) h->ref[i].is_there = 0;
    if (params->idr) h->last_p.is_there = 0;
    if (!params->is_reference) return;
    MotusReferencePicture *ref = &h->ref[params->slot];
    *ref = (MotusReferencePicture){.is_there = 1,
                                   .buffer = buffer,
                                   .number = job->number,
                                   .shown = params->shown,
                                   .n_listed = job->n_refs};
    memcpy(ref->listed, params->ref_shown, sizeof ref->listed);
    if (params->type == MOTUS_SLICE_P) h->last_p = *ref, h->last_span = job->span[0];
}

void motus_jobs_undo(void *coder) {
    MotusJobs *jobs = coder;
    MotusPictureJob *taken = motus_jobs_oldest(jobs);
    jobs->history = jobs->before;
    jobs->finished++;
    jobs->job[jobs->begun % MOTUS_CODER_DEPTH].recon = taken->recon; // for the next attempt
    taken->recon = NULL;
}

MotusStatus motus_jobs_show(MotusJobs *jobs, const MotusPictureJob *job, const MotusMb *mb,
                            int threads, MotusCodedPicture *out) {
    const MotusStream *s = job->stream;
    const MotusPictureParams *params = job->params;
    const MotusCodedMbs coded = {.mb_width = s->mb_width,
                                 .mb_height = s->mb_height,
                                 .n_mb = s->mb_width * s->mb_height,
                                 .slice_type = (int)job->type,
                                 .threads = threads,
                                 .refs = job->refs,
                                 .mb = (MotusMb *)mb};
    MotusRefDistances distances = {{{0}}};
    for (int k = 0; k < job->n_refs; k++) {
        const int list = k && k == job->refs;
        distances.to[list][list ? 0 : k] = (int16_t)(params->ref_shown[k] - params->shown);
    }
    MotusStatus status =
        motus_frame_crop(&out->recon, job->recon, s->config.width, s->config.height);
    if (status) return status;
    out->recon->number = params->number;
    out->mvs = jobs->mvs;
    out->n_mvs = motus_list_mvs(&coded, &distances, jobs->mvs);
    return MOTUS_OK;
}
