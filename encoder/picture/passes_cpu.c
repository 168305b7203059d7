// The passes on the CPU. Each runs on the picture's OpenMP threads.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/int_core.h"
#include "encoder/mb/deblock.h"
#include "encoder/mb/mv_core.h"
#include "encoder/picture/cpu_coder.h"
#include "encoder/picture/external_mvs.h"
#include "encoder/slice/slice.h"
#include "encoder/slice/slice_cut.h"
#include "yuv/pad.h"

// ---- Search -------------------------------------------------------------------------------------

// Weights before interpolation differ from those after it by rounding, which search and SATDs may.
static MotusStatus weigh(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    MotusCpuCoder *c = coder;
    const MotusWeights *weights = &job->params->weights;
    (void)error;
    for (int i = 0; i < job->group[group].n; i++) {
        const int k = job->group[group].at[i];
        const MotusRefLuma *plain = &c->buffer[job->buffer[k]].luma, *to = job->luma[k];
        if (to == plain) continue;
        uint8_t weighted[256];
        for (int v = 0; v < 256; v++)
            weighted[v] = motus_weighted_sample(v, weights->ref[k].plane[0], weights->log2_denom);
        const ptrdiff_t bytes = (ptrdiff_t)motus_ref_luma_bytes(to->width, to->height);
#pragma omp parallel for num_threads(c->me->threads) schedule(static)
        for (ptrdiff_t at = 0; at < bytes; at++) to->memory[at] = weighted[plain->memory[at]];
    }
    return MOTUS_OK;
}

// Searches MB i while it is decided. Of the field only what motus_mv_to_keep() reads is filled: an
// MB that is not searched becomes P_Skip.
static void search_mb(const void *context, int k, int i, MotusMbMotion *motion) {
    const MotusCpuCoder *c = context;
    const MotusPictureJob *job = &c->jobs.job[c->jobs.begun % MOTUS_CODER_DEPTH];
    if (job->type == MOTUS_SLICE_P) job->motion[k].centre[i] = motus_centre_of(&c->me->centres, i);
    motus_me_cpu_search_mb(c->me, job->src, job->luma[k], &c->hints[k], i, motion);
    job->motion[k].mv[i] = motion->mv[MOTUS_BLOCK_16x16];
}

// True if the MBs of a picture are searched while they are decided, each in the cache and only if
// P_Skip or B_Skip is not taken at once: in a single round, with one reference a list, whose MVs no
// other search needs. Times of stages are taken one after another.
static int searches_by_mb(const MotusPictureJob *job) {
    const MotusEncoderConfig *config = &job->stream->config;
    return job->refs == 1 && !job->params->external.mv && job->effort.rounds == 1 &&
           !job->params->refresh.end && !config->slice_max_size && !config->export_field &&
           !config->time_stages;
}

// Predicts centres. A P picture's are predicted MB by MB if it is searched so.
static MotusStatus find_centres(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    MotusCpuCoder *c = coder;
    const MotusSearchGroup *g = &job->group[group];
    (void)error;
    for (int i = 0; i < g->n; i++) {
        const int k = g->at[i];
        MotusCentresPicture picture = motus_job_centres(job, k);
        picture.previous = g->near_mv;
        if (g->near_mv && g->scales_near) {
#pragma omp parallel for num_threads(c->me->threads) schedule(static)
            for (int mb = 0; mb < c->pic.mbs.n_mb; mb++)
                c->memory.near_mv[mb] = motus_mv_over(g->near_mv[mb], job->span[k], g->near_span);
            picture.previous = c->memory.near_mv;
        }
        if (searches_by_mb(job) && job->type == MOTUS_SLICE_P)
            motus_me_cpu_predict_by_mb(c->me, &picture);
        else
            motus_me_cpu_predict(c->me, &picture);
    }
    return MOTUS_OK;
}

static MotusStatus search(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    MotusCpuCoder *c = coder;
    const MotusSearchGroup *g = &job->group[group];
    const MotusExternalMvs *external = &job->params->external;
    const uint32_t lambda_q8 = job->qp_table[job->qp].lambda_q8;
    (void)error;
    c->me->config.modes = job->effort.partitions;
    c->me->config.range = g->range;
    for (int i = 0; i < g->n; i++) {
        const int k = g->at[i];
        const MotusMv *centre = job->motion[k].centre;
        const MotusMeHints hints = {.centre = centre, .predictor = centre, .lambda_q8 = lambda_q8};
        if (external->mv) {
            motus_external_mvs_choose(external, job->stream, -job->span[k]);
            motus_external_mvs_measure(external, job->effort.partitions, job->src, job->luma[k],
                                       centre, lambda_q8, c->me->threads, c->field[k]);
        } else if (searches_by_mb(job)) {
            c->hints[k] = hints;
            job->search = search_mb, job->search_context = c;
        } else {
            motus_me_cpu_search(c->me, job->src, job->luma[k], &hints, c->field[k]);
        }
    }
    return MOTUS_OK;
}

static MotusStatus find_direct(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    MotusCpuCoder *c = coder;
    (void)group, (void)error;
#pragma omp parallel for num_threads(c->me->threads) schedule(static)
    for (int i = 0; i < c->pic.mbs.n_mb; i++)
        c->memory.direct[i] = motus_direct_temporal(&job->col[i], &job->map);
    return MOTUS_OK;
}

// ---- Decisions ----------------------------------------------------------------------------------

static MotusStatus set_costs(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    MotusCpuCoder *c = coder;
    (void)group, (void)error;
    motus_cabac_costs_set(c->memory.first_costs, job->type != MOTUS_SLICE_I, job->qp);
    return MOTUS_OK;
}

static MotusStatus decide(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    MotusCpuCoder *c = coder;
    (void)group, (void)error;
    c->pic.mbs.direct = job->direct;
    c->pic.mbs.refs = job->refs;
    c->pic.mbs.copies = job->params->copies;
    c->ops->decide(&c->pic, job);
    return MOTUS_OK;
}

static MotusStatus code_intra(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    MotusCpuCoder *c = coder;
    (void)group, (void)error;
    c->ops->code_intra(&c->pic, job);
    return MOTUS_OK;
}

// ---- Slices -------------------------------------------------------------------------------------

static MotusStatus finalize(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    MotusCpuCoder *c = coder;
    (void)group, (void)error;
    motus_finalize_mbs(&c->pic.mbs, job->qp);
    return MOTUS_OK;
}

// Appends the NAL unit of the slice that is MB rows [from, to).
static MotusStatus write_slice(MotusCpuCoder *c, const MotusPictureJob *job, int from, int to) {
    const MotusStream *s = job->stream;
    const MotusSliceSettings slice =
        motus_slice_settings(s, job->params, from * c->pic.mbs.mb_width);
    MotusBits bits;
    motus_bits_init(&bits, c->rbsp, s->rbsp_capacity);
    motus_write_slice_header(&bits, &s->sequence, &slice);
    motus_write_slice_data(&bits, &c->pic.mbs, from, to, &slice, &c->stats);
    if (bits.overflow) return MOTUS_ERR_INTERNAL;
    c->size +=
        motus_nal_write(c->nal + c->size, motus_nal_ref_idc(job->params),
                        job->params->idr ? MOTUS_NAL_IDR : MOTUS_NAL_SLICE, c->rbsp, bits.size);
    return MOTUS_OK;
}

static MotusStatus write_slices(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    MotusCpuCoder *c = coder;
    const MotusSlices *slices = job->slices;
    MotusStatus status = MOTUS_OK;
    (void)group, (void)error;
    c->bins = (MotusBinCounts){.others = 0};
    c->stats = (MotusPictureStats){0};
    c->size = 0;
    c->n_slices = slices->n;
    if (job->cuts_slices) {
        MotusSliceCut cut = {.ops = c->ops,
                             .job = job,
                             .pic = &c->pic,
                             .first = c->cut_first,
                             .rbsp = c->rbsp,
                             .nal = c->nal,
                             .stats = &c->stats};
        status = motus_slice_cut_picture(&cut);
        c->size = cut.size, c->n_slices = cut.n_slices;
        return status;
    }
    for (int k = 0; k < slices->n && !status; k++)
        status = slices->begin ? write_slice(c, job, slices->begin[k], slices->begin[k + 1])
                               : write_slice(c, job, 0, c->pic.mbs.mb_height);
    if (!status && job->costs) // start codes do not count
        c->size += motus_write_zero_words(c->nal + c->size, &c->bins,
                                          c->size - 4 * (size_t)c->n_slices, c->pic.mbs.n_mb);
    return status;
}

// ---- Completion ---------------------------------------------------------------------------------

static MotusStatus deblock(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    MotusCpuCoder *c = coder;
    (void)group, (void)error;
    motus_deblock_picture(job->recon, &c->pic.mbs);
    return MOTUS_OK;
}

// Puts the picture into its slot, with what later ones read of its MBs. An IDR picture drops all
// others.
static MotusStatus keep_reference(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    MotusCpuCoder *c = coder;
    const MotusStream *s = job->stream;
    const int slot = job->params->slot;
    // Temporal direct MVs lie between samples, whatever `subpel` is.
    const int has_half = s->config.subpel != MOTUS_SUBPEL_FULL ||
                         (s->config.bframes && s->config.direct == MOTUS_DIRECT_TEMPORAL);
    MotusPictureBuffer *b = &c->buffer[slot];
    (void)group, (void)error;
    for (int i = 0; i < MOTUS_MAX_REFERENCES && job->params->idr; i++)
        motus_frame_unref(&c->frame[i]);
    motus_frame_unref(&c->frame[slot]);
    c->frame[slot] = motus_frame_ref(job->recon);
    memcpy(b->plane, job->recon->plane, sizeof b->plane);
    motus_ref_luma_build(&b->luma, &b->plane[0], has_half, c->me->threads);
#pragma omp parallel for num_threads(c->me->threads) schedule(static)
    for (int i = 0; i < c->pic.mbs.n_mb; i++) {
        const MotusMb *mb = &c->pic.mbs.mb[i];
        if (job->type == MOTUS_SLICE_P)
            b->mv[i] = motus_mv_to_keep(mb, job->motion[0].mv[i], job->refs, job->span);
        if (b->col_zero) b->col_zero[i] = (uint8_t)motus_col_zero(mb);
        if (b->col) b->col[i] = motus_col_mb(mb, job->refs);
    }
    return MOTUS_OK;
}

static uint64_t rows_ssd(const MotusPlane *a, const MotusPlane *b, int first, int n) {
    const MotusPlane rows = motus_plane_rows(a, first, n), others = motus_plane_rows(b, first, n);
    return motus_plane_ssd(&rows, &others, rows.width, rows.height);
}

// Sums the squared errors of the three planes, by rows of MBs.
static MotusStatus sum_errors(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    MotusCpuCoder *c = coder;
    const MotusPlane *a = job->visible->plane, *b = job->recon->plane;
    uint64_t y = 0, cb = 0, cr = 0;
    (void)group, (void)error;
#pragma omp parallel for num_threads(c->me->threads) schedule(dynamic, 1) reduction(+ : y, cb, cr)
    for (int row = 0; row < motus_mbs(job->visible->height); row++) {
        y += rows_ssd(&a[0], &b[0], 16 * row, 16);
        cb += rows_ssd(&a[1], &b[1], 8 * row, 8);
        cr += rows_ssd(&a[2], &b[2], 8 * row, 8);
    }
    c->stats.ssd[0] = y, c->stats.ssd[1] = cb, c->stats.ssd[2] = cr;
    return MOTUS_OK;
}

static MotusStatus learn(void *coder, MotusPictureJob *job, int group, MotusError *error) {
    MotusCpuCoder *c = coder;
    (void)group, (void)error;
    *job->next_costs = *job->costs;
    motus_cabac_costs_learn(job->next_costs, &c->bins);
    return MOTUS_OK;
}

static MotusStatus stage_ended(void *coder, MotusStage stage, MotusError *error) {
    (void)error;
    motus_stage_ended(((MotusCpuCoder *)coder)->pic.clock, stage);
    return MOTUS_OK;
}

// Samples and MVs are where they are read. Candidates are found, blocks refined, while MBs are
// decided.
const MotusPassTable motus_passes_cpu = {.pass = {[MOTUS_PASS_COSTS] = set_costs,
                                                  [MOTUS_PASS_DIRECT] = find_direct,
                                                  [MOTUS_PASS_WEIGHTS] = weigh,
                                                  [MOTUS_PASS_CENTRES] = find_centres,
                                                  [MOTUS_PASS_SEARCH] = search,
                                                  [MOTUS_PASS_DECIDE] = decide,
                                                  [MOTUS_PASS_INTRA] = code_intra,
                                                  [MOTUS_PASS_FINALIZE] = finalize,
                                                  [MOTUS_PASS_ENTROPY] = write_slices,
                                                  [MOTUS_PASS_DEBLOCK] = deblock,
                                                  [MOTUS_PASS_REFERENCE] = keep_reference,
                                                  [MOTUS_PASS_ERRORS] = sum_errors,
                                                  [MOTUS_PASS_LEARN] = learn},
                                         .stage_ended = stage_ended};
