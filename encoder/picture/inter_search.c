// Motion search of P and B pictures (inter_search.h).
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture/inter_search.h"

#include <string.h>

#include "common/alloc.h"
#include "common/int_core.h"
#include "encoder/decide/decide_core.h"
#include "encoder/mb/mv_core.h"
#include "encoder/picture/external_mvs.h"
#include "encoder/settings/picture_effort.h"

// ---- Opening ------------------------------------------------------------------------------------

static int most_fields(const MotusStream *stream) {
    return motus_max(stream->p_refs, stream->b_refs + (stream->b_refs > 0));
}

// True if the direct prediction of MBs is kept.
static int has_direct(const MotusStream *stream) {
    return stream->config.bframes && stream->config.direct != MOTUS_DIRECT_SPATIAL;
}

static MotusStatus alloc_buffers(MotusInterSearch *s) {
    const MotusStream *stream = s->stream;
    const size_t n = (size_t)stream->mb_width * (size_t)stream->mb_height;
    const int width = 16 * stream->mb_width, height = 16 * stream->mb_height;
    MotusStatus status = MOTUS_OK;
    if (!(s->last_mv = motus_alloc(n, sizeof *s->last_mv))) return MOTUS_ERR_MEMORY;
    if (s->fields > 1 && !(s->near_mv = motus_alloc(n, sizeof *s->near_mv)))
        return MOTUS_ERR_MEMORY;
    if (has_direct(stream) && !(s->direct = motus_alloc(n, sizeof *s->direct)))
        return MOTUS_ERR_MEMORY;
    for (int k = 0; k < s->fields && !status; k++) {
        if (!(s->centre[k] = motus_alloc(n, sizeof *s->centre[0]))) return MOTUS_ERR_MEMORY;
        status = motus_field_alloc(&s->field[k], width, height);
    }
    for (int k = 0; k < stream->p_refs && stream->sequence.weighted_pred && !status; k++)
        status = motus_ref_luma_alloc(&s->weighted[k], width, height);
    return status;
}

MotusStatus motus_inter_search_open(MotusInterSearch *s, const MotusStream *stream, int threads) {
    *s = (MotusInterSearch){.stream = stream, .fields = most_fields(stream)};
    MotusMeConfig me = motus_me_config_default(16 * stream->mb_width, 16 * stream->mb_height);
    me.range = stream->effort.range;
    me.subpel = MOTUS_SUBPEL_FULL; // the decisions refine the blocks that are worth it
    me.modes = stream->effort.partitions;
    me.threads = threads;
    MotusStatus status = motus_me_cpu_open(&s->me, &me);
    if (!status) status = motus_references_alloc(&s->refs, stream);
    return status ? status : alloc_buffers(s);
}

void motus_inter_search_close(MotusInterSearch *s) {
    motus_me_cpu_close(&s->me);
    motus_references_free(&s->refs);
    for (int k = 0; k < MOTUS_MAX_REFERENCES; k++) {
        motus_field_free(&s->field[k]);
        motus_free(s->centre[k]);
        motus_ref_luma_free(&s->weighted[k]);
    }
    motus_free(s->near_mv);
    motus_free(s->last_mv);
    motus_free(s->direct);
}

size_t motus_inter_search_bytes(const MotusStream *stream) {
    const size_t n = (size_t)stream->mb_width * (size_t)stream->mb_height, samples = 256 * n,
                 fields = (size_t)most_fields(stream),
                 refs = (size_t)stream->sequence.max_refs, // each: a frame and four luma planes
        per_field = sizeof(MotusMv) + MOTUS_BLOCKS * (sizeof(MotusMv) + 2 + 4);
    return n * (2 * sizeof(MotusMv) + fields * per_field) +
           (has_direct(stream) ? n * (sizeof(MotusDirect) + refs * sizeof(MotusColMb)) : 0) +
           (stream->sequence.weighted_pred ? 4 * samples * (size_t)stream->p_refs : 0) +
           11 * refs * samples / 2 + (refs > 1 ? refs * n : 0);
}

// ---- References ---------------------------------------------------------------------------------

static MotusReference reference_of(const MotusReferencePicture *p, const MotusRefLuma *luma) {
    MotusReference ref = {.width = luma->width,
                          .height = luma->height,
                          .luma = luma->plane[0],
                          .chroma = {p->frame->plane[1].data, p->frame->plane[2].data},
                          .luma_stride = luma->stride,
                          .chroma_stride = p->frame->plane[1].stride};
    memcpy(ref.tap, luma->tap, sizeof ref.tap);
    return ref;
}

// True if predictions may lie between samples. Temporal direct MVs are scaled, whatever `subpel`
// is.
static int has_half(const MotusStream *stream) {
    return stream->config.subpel != MOTUS_SUBPEL_FULL ||
           (stream->config.bframes && stream->config.direct == MOTUS_DIRECT_TEMPORAL);
}

// Prepares the luma of reference k, with its weights if it has any. Weights before interpolation
// differ from those after it by rounding, which search and SATDs may.
static const MotusRefLuma *prepare_luma(MotusInterSearch *s, const MotusPictureParams *params,
                                        int k, MotusReferencePicture *p) {
    const MotusWeights *weights = &params->weights;
    motus_reference_prepare(p, has_half(s->stream), s->me->threads);
    if (params->type != MOTUS_SLICE_P || !weights->ref[k].has_luma) return &p->luma;
    MotusRefLuma *to = &s->weighted[k];
    uint8_t weighted[256];
    motus_weight_table(weighted, weights->ref[k].plane[0], weights->log2_denom);
    const ptrdiff_t bytes = (ptrdiff_t)motus_ref_luma_bytes(to->width, to->height);
#pragma omp parallel for num_threads(s->me->threads) schedule(static)
    for (ptrdiff_t i = 0; i < bytes; i++) to->memory[i] = weighted[p->luma.memory[i]];
    return to;
}

// ---- Search -------------------------------------------------------------------------------------

// Fills in the MVs that the search centres of reference k come from, over the pictures from here to
// it: those of the last P picture; those into the first reference for further ones of list 0.
// Returns NULL if there are none.
static const MotusMv *near_mvs(MotusInterSearch *s, const MotusPictureParams *params, int k) {
    const int32_t span = params->shown - params->ref_shown[k];
    const int is_far = k && k < params->refs;
    const MotusMv *mv = is_far ? s->field[0]->mv[MOTUS_BLOCK_16x16] : s->last_mv;
    const int32_t mv_span = is_far ? params->shown - params->ref_shown[0] : s->last_span;
    if (!is_far && (!s->has_last_mv || params->type == MOTUS_SLICE_P))
        return s->has_last_mv ? s->last_mv : NULL;
    const int n = s->stream->mb_width * s->stream->mb_height;
#pragma omp parallel for num_threads(s->me->threads) schedule(static)
    for (int i = 0; i < n; i++) s->near_mv[i] = motus_mv_over(mv[i], span, mv_span);
    return s->near_mv;
}

// Searches MB i while it is decided. Of the field only what motus_inter_search_keep() reads is
// filled: an MB that is not searched becomes P_Skip.
static void search_mb(const void *context, int k, int i, MotusMbMotion *motion) {
    const MotusInterSearch *s = context;
    if (s->centres_by_mb) s->centre[k][i] = motus_centre_of(&s->me->centres, i);
    motus_me_cpu_search_mb(s->me, s->src, s->ref_luma[k], &s->hints[k], i, motion);
    s->field[k]->mv[MOTUS_BLOCK_16x16][i] = motion->mv[MOTUS_BLOCK_16x16];
}

// True if the MBs of a picture are searched while they are decided, each in the cache and only if
// P_Skip or B_Skip is not taken at once: in a single round, with one reference a list, whose MVs no
// other search needs. Times of stages are taken one after another.
static int searches_by_mb(const MotusInterSearch *s, const MotusPictureParams *params,
                          const MotusPictureState *pic, const MotusPictureJob *job) {
    const MotusEncoderConfig *config = &s->stream->config;
    return params->refs == 1 && !params->external.mv && job->effort.rounds == 1 &&
           !params->refresh.end && !config->slice_max_size && !config->export_field && !pic->clock;
}

// Fills the motion field of reference k of picture `pic`, unless its MBs are searched one by one.
// External MVs are only measured.
static void search(MotusInterSearch *s, const MotusPictureParams *params,
                   const MotusPictureState *pic, const MotusPictureJob *job, int k,
                   const MotusRefLuma *ref) {
    const MotusStream *stream = s->stream;
    const MotusPlane *luma = &pic->mbs.src->plane[0];
    const uint32_t lambda_q8 = job->qp_table[job->qp].lambda_q8;
    MotusMv *centre = s->centre[k];
    const int by_mb = searches_by_mb(s, params, pic, job);
    s->centres_by_mb = by_mb && params->type == MOTUS_SLICE_P;
    const MotusCentresPicture picture = {.cur = luma->data,
                                         .cur_stride = luma->stride,
                                         .ref = ref,
                                         .previous = near_mvs(s, params, k),
                                         .lambda_q8 = lambda_q8,
                                         .reach = stream->effort.reach,
                                         .wide = motus_searches_wide(params, k),
                                         .limit_x = MOTUS_MAX_CENTRE,
                                         .limit_y = stream->centre_limit_y,
                                         .centre = centre};
    (s->centres_by_mb ? motus_me_cpu_predict_by_mb : motus_me_cpu_predict)(s->me, &picture);
    motus_stage_ended(pic->clock, MOTUS_STAGE_REFERENCE);
    if (params->external.mv) {
        motus_external_mvs_choose(&params->external, stream, params->ref_shown[k] - params->shown);
        motus_external_mvs_measure(&params->external, job->effort.partitions, luma, ref, centre,
                                   lambda_q8, s->me->threads, s->field[k]);
        return;
    }
    const MotusMeHints hints = {.centre = centre, .predictor = centre, .lambda_q8 = lambda_q8};
    s->me->config.modes = job->effort.partitions;
    s->me->config.range =
        k && k < params->refs ? motus_far_range(job->effort.range) : job->effort.range;
    if (by_mb) {
        s->src = luma, s->ref_luma[k] = ref, s->hints[k] = hints;
        return;
    }
    motus_me_cpu_search(s->me, luma, ref, &hints, s->field[k]);
    motus_stage_ended(pic->clock, MOTUS_STAGE_SEARCH);
}

// Returns where the direct prediction of a B picture's MBs comes from.
static MotusDirectSource find_direct(MotusInterSearch *s, const MotusPictureParams *params) {
    const MotusReferencePicture *col =
        motus_references_find(&s->refs, params->ref_shown[params->refs]);
    const int n = s->stream->mb_width * s->stream->mb_height;
    MotusTemporalMap map;
    if (params->direct == MOTUS_DIRECT_SPATIAL) return (MotusDirectSource){NULL, col->col_zero};
    if (params->direct == MOTUS_DIRECT_NONE) return (MotusDirectSource){s->direct, NULL};
    motus_temporal_map(&map, params->shown, params->ref_shown, params->refs, col->listed,
                       col->n_listed);
#pragma omp parallel for num_threads(s->me->threads) schedule(static)
    for (int i = 0; i < n; i++) s->direct[i] = motus_direct_temporal(&col->col[i], &map);
    return (MotusDirectSource){s->direct, NULL};
}

void motus_inter_search(MotusInterSearch *s, const MotusPictureParams *params,
                        const MotusPictureState *pic, MotusPictureJob *job) {
    const int is_b = params->type == MOTUS_SLICE_B, n = motus_references_listed(params);
    for (int k = 0; k < n; k++) {
        MotusReferencePicture *ref = motus_references_find(&s->refs, params->ref_shown[k]);
        const MotusRefLuma *luma = prepare_luma(s, params, k, ref);
        search(s, params, pic, job, k, luma);
        job->ref[k] = reference_of(ref, luma);
        if (!is_b) motus_reference_weigh(&job->ref[k], &params->weights, k, ref->luma.plane[0]);
        job->luma[k] = luma;
        job->motion[k] = (MotusMotion){s->field[k]->mv[0], s->field[k]->sad[0],
                                       s->field[k]->cost[0], s->centre[k]};
    }
    if (is_b) job->direct = find_direct(s, params);
    job->skips_first = is_b && motus_tries_skips_first(&job->direct, job->refs, &job->effort);
    if (searches_by_mb(s, params, pic, job)) job->search = search_mb, job->search_context = s;
    for (int k = 0; is_b && s->stream->sequence.weighted_bipred && k < params->refs; k++)
        job->ref[k].pair_offset =
            motus_pair_offset(params->shown, params->ref_shown[k], params->ref_shown[params->refs]);
    motus_stage_ended(pic->clock, MOTUS_STAGE_SEARCH);
}

void motus_inter_search_keep(MotusInterSearch *s, const MotusPictureParams *params,
                             const MotusCodedMbs *mbs) {
    if (params->idr) s->has_last_mv = 0;
    if (params->type != MOTUS_SLICE_P) return;
    int32_t span[MOTUS_MAX_REFERENCES];
    for (int k = 0; k < params->refs; k++) span[k] = params->shown - params->ref_shown[k];
    const MotusMv *searched = s->field[0]->mv[MOTUS_BLOCK_16x16];
#pragma omp parallel for num_threads(s->me->threads) schedule(static)
    for (int i = 0; i < mbs->n_mb; i++)
        s->last_mv[i] = motus_mv_to_keep(&mbs->mb[i], searched[i], params->refs, span);
    s->has_last_mv = 1;
    s->last_span = span[0];
}
