// The CPU executor: its coders' memory.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "common/threads.h"
#include "encoder/picture/cpu_coder.h"
#include "encoder/slice/slice.h"

#define GOPS_BYTES ((size_t)256 << 20) // of pending frames, if the number of coders is chosen here
#define COST_TABLES (1 + MOTUS_COST_KINDS * MOTUS_COST_TABLES)

// ---- Memory -------------------------------------------------------------------------------------

// Returns the references that a picture lists, at most.
static int most_fields(const MotusStream *s) {
    return motus_max(s->p_refs, s->b_refs + (s->b_refs > 0));
}

// True if the direct prediction of MBs is kept.
static int has_direct(const MotusStream *s) {
    return s->config.bframes && s->config.direct != MOTUS_DIRECT_SPATIAL;
}

static int has_col(const MotusStream *s) {
    return s->config.bframes && s->config.direct == MOTUS_DIRECT_TEMPORAL;
}

static MotusStatus alloc_references(MotusCpuCoder *c) {
    const MotusStream *s = c->jobs.stream;
    const size_t n = (size_t)c->pic.mbs.n_mb;
    const int width = 16 * s->mb_width, height = 16 * s->mb_height;
    for (int i = 0; i < s->sequence.max_refs; i++) {
        MotusPictureBuffer *b = &c->buffer[i];
        if (motus_ref_luma_alloc(&b->luma, width, height) ||
            !(b->mv = motus_alloc(n, sizeof *b->mv)) ||
            (s->config.bframes && !(b->col_zero = motus_alloc(n, 1))) ||
            (has_col(s) && !(b->col = motus_alloc(n, sizeof *b->col))))
            return MOTUS_ERR_MEMORY;
    }
    for (int k = 0; k < most_fields(s); k++) {
        MotusMotion *motion = &c->memory.motion[k];
        if (motus_field_alloc(&c->field[k], width, height) ||
            !(motion->centre = motus_alloc(n, sizeof *motion->centre)))
            return MOTUS_ERR_MEMORY;
        motion->mv = c->field[k]->mv[0];
        motion->sad = c->field[k]->sad[0];
        motion->cost = c->field[k]->cost[0];
    }
    for (int k = 0; k < s->p_refs && s->sequence.weighted_pred; k++)
        if (motus_ref_luma_alloc(&c->memory.weighted[k], width, height)) return MOTUS_ERR_MEMORY;
    if (most_fields(s) > 1 && !(c->memory.near_mv = motus_alloc(n, sizeof(MotusMv))))
        return MOTUS_ERR_MEMORY;
    if (has_direct(s) && !(c->memory.direct = motus_alloc(n, sizeof(MotusDirect))))
        return MOTUS_ERR_MEMORY;
    return MOTUS_OK;
}

static MotusStatus alloc_memory(MotusCpuCoder *c, int threads) {
    const MotusStream *s = c->jobs.stream;
    MotusMeConfig me = motus_me_config_default(16 * s->mb_width, 16 * s->mb_height);
    me.range = s->effort.range;
    me.subpel = MOTUS_SUBPEL_FULL; // the decisions refine the blocks that are worth it
    me.modes = s->effort.partitions;
    me.threads = threads;
    c->rbsp = motus_alloc(s->rbsp_capacity, 1);
    c->nal = motus_alloc(motus_nal_bound(s->rbsp_capacity), 1);
    if (!c->rbsp || !c->nal) return MOTUS_ERR_MEMORY;
    MotusStatus status = motus_picture_state_alloc(&c->pic, s->mb_width, s->mb_height, 1);
    const size_t n = (size_t)c->pic.mbs.n_mb;
    if (!status && s->config.slice_max_size &&
        !(c->cut_first = motus_alloc(n, sizeof *c->cut_first)))
        status = MOTUS_ERR_MEMORY;
    if (!status && s->sequence.cabac) {
        c->context = motus_alloc(n, sizeof *c->context);
        c->costs = motus_alloc(COST_TABLES, sizeof *c->costs);
        if (!c->context || !c->costs) return MOTUS_ERR_MEMORY;
        c->pic.mbs.context = c->context;
        c->pic.mbs.bins = &c->bins;
        c->memory.first_costs = c->costs;
        for (int i = 1; i < COST_TABLES; i++)
            c->tables[(i - 1) / MOTUS_COST_TABLES][(i - 1) % MOTUS_COST_TABLES] = c->costs + i;
    }
    if (!status) status = alloc_references(c);
    if (!status) status = motus_me_cpu_open(&c->me, &me);
    if (!status) c->max_threads = c->me->threads;
    return status;
}

// Counts what a coder allocates, and its reconstructions.
static size_t coder_bytes(const MotusStream *s, int slots, int coders) {
    (void)slots, (void)coders;
    const size_t n = (size_t)s->mb_width * (size_t)s->mb_height, samples = 256 * n,
                 fields = (size_t)most_fields(s),
                 refs = (size_t)s->sequence.max_refs, // each: a frame and four luma planes
        per_field = sizeof(MotusMv) + MOTUS_BLOCKS * (sizeof(MotusMv) + 2 + 4);
    const size_t per_mb =
        16 * sizeof(MotusCodedMv) + 3 * sizeof(MotusMb) + sizeof(MotusMbCoef) +
        3 * sizeof(uint32_t) + 2 * sizeof(uint16_t) + 1 + sizeof(MotusMbCandidates) + sizeof(int) +
        (s->sequence.cabac ? sizeof(MotusMbContext) : 0) + sizeof(MotusMv) + fields * per_field +
        refs * (sizeof(MotusMv) + (s->config.bframes > 0)) +
        (has_direct(s) ? sizeof(MotusDirect) : 0) + (has_col(s) ? refs * sizeof(MotusColMb) : 0);
    return n * per_mb + s->rbsp_capacity + motus_nal_bound(s->rbsp_capacity) + 3 * samples / 2 +
           (s->sequence.weighted_pred ? 4 * samples * (size_t)s->p_refs : 0) +
           11 * refs * samples / 2;
}

static void close_coder(void **coder) {
    MotusCpuCoder *c = *coder;
    if (!c) return;
    motus_me_cpu_close(&c->me);
    motus_picture_state_free(&c->pic);
    for (int k = 0; k < MOTUS_MAX_REFERENCES; k++) {
        motus_frame_unref(&c->frame[k]);
        motus_ref_luma_free(&c->buffer[k].luma);
        motus_free(c->buffer[k].mv);
        motus_free(c->buffer[k].col_zero);
        motus_free(c->buffer[k].col);
        motus_field_free(&c->field[k]);
        motus_free(c->memory.motion[k].centre);
        motus_ref_luma_free(&c->memory.weighted[k]);
    }
    motus_free(c->memory.near_mv);
    motus_free(c->memory.direct);
    motus_free(c->costs);
    motus_free(c->rbsp);
    motus_free(c->nal);
    motus_free(c->cut_first);
    motus_free(c->context);
    motus_jobs_close(&c->jobs);
    motus_free(c);
    *coder = NULL;
}

// OpenMP's threads belong to the thread that calls begin(): it has to open the coder, too.
static MotusStatus open_coder(void **coder, const MotusStream *stream, void *shared, int index,
                              int coders, int threads, MotusError *error) {
    (void)shared, (void)index, (void)coders;
    MotusCpuCoder *c = *coder = motus_alloc(1, sizeof *c);
    MotusStatus status = c ? motus_jobs_open(&c->jobs, stream, 1, 0) : MOTUS_ERR_MEMORY;
    if (c) c->ops = motus_decide_ops();
    if (!status) status = alloc_memory(c, threads);
    if (!status) return MOTUS_OK;
    close_coder(coder);
    return motus_fail(error, status, "%s", motus_status_text(status));
}

// Two threads share a picture well; each further coder costs the memory of its pending frames.
static int best_coders(const MotusStream *s, const int *device, int n_devices, int threads,
                       int slots) {
    (void)device, (void)n_devices;
    const size_t gop = (size_t)slots * 384 * (size_t)s->mb_width * (size_t)s->mb_height;
    return motus_min((int)(1 + GOPS_BYTES / gop), motus_max(1, threads / 2));
}

// ---- A picture ----------------------------------------------------------------------------------

static MotusStatus begin(void *coder, const MotusPictureJob *given, MotusError *error) {
    MotusCpuCoder *c = coder;
    MotusPictureJob *job;
    MotusStatus status = motus_jobs_begin(&c->jobs, given, given->whole->plane, c->buffer,
                                          &c->memory, c->tables, &job, error);
    if (status) return status;
    MotusPictureState *pic = &c->pic;
    pic->mbs.src = job->whole;
    pic->mbs.slice_type = (int)job->type;
    pic->mbs.slice_first = job->slices->first;
    pic->mbs.apart_row = motus_refresh_apart(&job->params->refresh);
    pic->rec = job->recon;
    pic->qp_offset = job->params->qp_offset;
    pic->refresh = job->params->refresh;
    pic->row_order = job->slices->row_order;
    // OpenMP keeps as many threads as its last region had, and cannot report that one is missing.
    pic->mbs.threads = c->me->threads =
        motus_threads_ready(motus_min(job->threads, c->max_threads));
    pic->clock = job->stream->config.time_stages ? &c->clock : NULL;
    motus_stages_begin(pic->clock);
    status = motus_code_picture(&motus_passes_cpu, c, job, error);
    if (!status) motus_jobs_advance(&c->jobs, job, job->params->slot);
    return status;
}

static MotusStatus wait_coded(void *coder, size_t *size, MotusError *error) {
    (void)error;
    *size = ((MotusCpuCoder *)coder)->size;
    return MOTUS_OK;
}

static MotusStatus finish(void *coder, MotusCodedPicture *out, MotusError *error) {
    MotusCpuCoder *c = coder;
    MotusPictureJob *job = motus_jobs_oldest(&c->jobs);
    MotusStatus status = motus_complete_picture(&motus_passes_cpu, c, job, error);
    *out = (MotusCodedPicture){
        .nal = c->nal, .size = c->size, .slices = c->n_slices, .stats = c->stats};
    if (c->pic.clock) memcpy(out->stage_us, c->clock.us, sizeof out->stage_us);
    if (!status && c->jobs.mvs)
        status = motus_jobs_show(&c->jobs, job, c->pic.mbs.mb, c->pic.mbs.threads, out);
    if (job->stream->config.export_field && job->type == MOTUS_SLICE_P) out->field = c->field[0];
    motus_frame_unref(&job->recon);
    c->jobs.finished++;
    return status;
}

static MotusStatus measure(const MotusPictureJob *job, MotusSourceStats *stats, MotusError *error) {
    (void)error;
    motus_source_stats_measure(stats, job->whole, motus_threads_ready(job->threads));
    return MOTUS_OK;
}

const MotusExecutorOps motus_executor_ops_cpu = {.backend = MOTUS_BACKEND_CPU,
                                                 .codes_from_host = 1,
                                                 .best_coders = best_coders,
                                                 .coder_bytes = coder_bytes,
                                                 .open = open_coder,
                                                 .close = close_coder,
                                                 .measure = measure,
                                                 .begin = begin,
                                                 .wait = wait_coded,
                                                 .finish = finish};
