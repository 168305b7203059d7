// The CPU backend. It does the work when a request is submitted.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/me_cpu.h"

#include <assert.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "common/alloc.h"
#include "common/cpu.h"
#include "common/threads.h"
#include "me/backend.h"
#include "me/pixel/cost_core.h"
#include "me/stats_core.h"
#include "yuv/pad.h"

MotusStatus motus_me_cpu_open(MotusMeCpu **out, const MotusMeConfig *config) {
    const int width = 16 * motus_mbs(config->width), height = 16 * motus_mbs(config->height);
    MotusMeCpu *cpu = *out = motus_alloc(1, sizeof *cpu);
    if (!cpu) return MOTUS_ERR_MEMORY;
    cpu->config = *config;
    cpu->threads = motus_threads_open(config->threads);
    cpu->search = motus_search_ops();
    cpu->refine = motus_refine_ops();
    cpu->pixel = motus_pixel_ops();
    for (int r = 1; r <= config->range; r++) { // smaller ranges may need more
        const size_t size = (cpu->search->scratch_bytes(r) + 63) / 64 * 64;
        if (size > cpu->scratch_size) cpu->scratch_size = size;
    }
    cpu->scratch = motus_alloc((size_t)cpu->threads, cpu->scratch_size);
    cpu->cur = (MotusPlane){motus_alloc((size_t)width, (size_t)height), width, width, height};
    MotusStatus status = motus_downscaled_alloc(&cpu->downscaled, width / 16, height / 16);
    if (!cpu->scratch || !cpu->cur.data) status = MOTUS_ERR_MEMORY;
    if (status) motus_me_cpu_close(out);
    return status;
}

void motus_me_cpu_close(MotusMeCpu **cpu) {
    if (!cpu || !*cpu) return;
    motus_downscaled_free(&(*cpu)->downscaled);
    motus_free((*cpu)->cur.data);
    motus_free((*cpu)->scratch);
    motus_free(*cpu);
    *cpu = NULL;
}

// Returns `plane`, or a copy in whole MBs if its size is no multiple of 16.
static const MotusPlane *whole_mbs(const MotusMeCpu *cpu, const MotusPlane *plane) {
    if (plane->width == cpu->cur.width && plane->height == cpu->cur.height) return plane;
    motus_plane_copy_padded(&cpu->cur, plane);
    return &cpu->cur;
}

// ---- One MB -------------------------------------------------------------------------------------

static MotusMv mv_at(const MotusMv *mv, int i) { return mv ? mv[i] : (MotusMv){0, 0}; }

// Describes MB number mb of `cur`, in whole MBs.
static MotusMbJob job_of(const MotusMeCpu *cpu, const MotusPlane *cur, const MotusRefLuma *ref,
                         const MotusMeHints *hints, uint32_t modes, int mb) {
    static const MotusMeHints none = {0};
    const int mb_width = cur->width / 16, x = 16 * (mb % mb_width), y = 16 * (mb / mb_width);
    if (!hints) hints = &none;
    return (MotusMbJob){.cur = cur->data + y * cur->stride + x,
                        .cur_stride = cur->stride,
                        .ref = ref,
                        .x = x,
                        .y = y,
                        .centre = mv_at(hints->centre, mb),
                        .predictor = mv_at(hints->predictor, mb),
                        .lambda_q8 = hints->lambda ? hints->lambda[mb] : hints->lambda_q8,
                        .modes = modes,
                        .range = cpu->config.range};
}

// Measures SAD and SATD (each unless NULL) of a block of the job's MB at mv.
static void measure(const MotusMeCpu *cpu, const MotusMbJob *job, const MotusBlock *b, MotusMv mv,
                    uint16_t *sad, uint32_t *satd) {
    uint8_t buffer[256];
    ptrdiff_t stride = 16;
    const uint8_t *cur = job->cur + b->y * job->cur_stride + b->x;
    const uint8_t *pred = motus_ref_luma_block(job->ref, job->x + b->x, job->y + b->y, mv, b->width,
                                               b->height, buffer, &stride);
    if (sad)
        *sad = (uint16_t)cpu->pixel->sad(cur, job->cur_stride, pred, stride, b->width, b->height);
    if (satd) *satd = cpu->pixel->satd(cur, job->cur_stride, pred, stride, b->width, b->height);
}

// Searches and refines. with_sad: writes SADs also after refinement.
static void search_mb(const MotusMeCpu *cpu, const MotusMbJob *job, int with_sad,
                      MotusMbMotion *motion) {
    size_t thread = 0;
#ifdef _OPENMP
    thread = (size_t)omp_get_thread_num();
#endif
    uint8_t *scratch = cpu->scratch + thread * cpu->scratch_size;
    if (cpu->config.subpel == MOTUS_SUBPEL_FULL) {
        cpu->search->search(job, motion, scratch);
        return;
    }
    uint64_t left = motus_blocks_of(job->modes);
    *motion = (MotusMbMotion){0}; // refinement compares MVs of all blocks
    cpu->search->search(job, motion, scratch);
    motus_refine_blocks(job, cpu->config.subpel, cpu->refine, left, motion);
    for (; with_sad && left; left &= left - 1) {
        const int b = __builtin_ctzll(left);
        measure(cpu, job, &motus_blocks[b], motion->mv[b], &motion->sad[b], NULL);
    }
}

void motus_me_cpu_search_mb(const MotusMeCpu *cpu, const MotusPlane *cur, const MotusRefLuma *ref,
                            const MotusMeHints *hints, int mb, MotusMbMotion *motion) {
    const MotusMbJob job = job_of(cpu, cur, ref, hints, cpu->config.modes, mb);
    search_mb(cpu, &job, 1, motion);
}

// ---- Requests -----------------------------------------------------------------------------------

// Finds a target's results for an MB: of its blocks, then of the whole MB at the skip MV and zero.
static void find_results(const MotusMeCpu *cpu, const MotusMeTarget *t, const MotusMbJob *job,
                         int mb, int n_mb) {
    const MotusBlock *all = &motus_blocks[MOTUS_BLOCK_16x16];
    if (t->mv || t->sad || t->satd || t->cost) {
        const int refined = cpu->config.subpel != MOTUS_SUBPEL_FULL;
        MotusMbMotion motion;
        search_mb(cpu, job, t->sad != NULL, &motion);
        for (uint64_t left = motus_blocks_of(job->modes); left; left &= left - 1) {
            const int b = __builtin_ctzll(left);
            const size_t at = (size_t)b * (size_t)n_mb + (size_t)mb;
            if (t->mv) t->mv[at] = motion.mv[b];
            if (t->sad) t->sad[at] = motion.sad[b];
            if (t->cost) t->cost[at] = motion.cost[b];
            if (t->satd && refined)
                t->satd[at] =
                    motion.cost[b] - motus_mv_cost(job->lambda_q8, motion.mv[b], job->predictor);
            else if (t->satd)
                measure(cpu, job, &motus_blocks[b], motion.mv[b], NULL, &t->satd[at]);
        }
    }
    if (t->skip_sad || t->skip_satd)
        measure(cpu, job, all, mv_at(t->skip_mv, mb), t->skip_sad ? &t->skip_sad[mb] : NULL,
                t->skip_satd ? &t->skip_satd[mb] : NULL);
    if (t->zero_sad) measure(cpu, job, all, mv_at(NULL, 0), &t->zero_sad[mb], NULL);
}

// Works on a request whose picture is `cur`, in whole MBs.
static void run(const MotusMeCpu *cpu, const MotusMeRequest *r, const MotusPlane *cur,
                void *const planes[]) {
    const int mb_width = cur->width / 16, mb_height = cur->height / 16,
              threads = motus_threads_ready(cpu->threads);
    const MotusMeRegion whole = {0, 0, mb_width, mb_height},
                        in = r->region.width ? r->region : whole;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8)
    for (int i = 0; i < in.width * in.height; i++) {
        const int mb_x = in.x + i % in.width, mb_y = in.y + i / in.width,
                  mb = mb_y * mb_width + mb_x;
        const uint32_t modes = cpu->config.modes & (r->modes ? r->modes[mb] : MOTUS_MODES_ALL);
        if (!modes) continue;
        for (int k = 0; k < r->n_targets; k++) {
            const MotusMeTarget *t = &r->target[k];
            const MotusMbJob job = job_of(cpu, cur, planes[k], t->hints, modes, mb);
            find_results(cpu, t, &job, mb, mb_width * mb_height);
        }
        if (r->stats)
            r->stats[mb] =
                motus_mb_describe(cpu->pixel, cur->data + 16 * mb_y * cur->stride + 16 * mb_x,
                                  cur->stride, motus_mb_has(mb_x, mb_y));
    }
}

void motus_me_cpu_search(const MotusMeCpu *cpu, const MotusPlane *cur, const MotusRefLuma *ref,
                         const MotusMeHints *hints, MotusField *field) {
    const MotusMeTarget target = {
        .hints = hints, .mv = field->mv[0], .sad = field->sad[0], .cost = field->cost[0]};
    void *const planes[] = {(void *)ref};
    run(cpu, &(MotusMeRequest){.target = &target, .n_targets = 1}, cur, planes);
}

void motus_me_cpu_predict(MotusMeCpu *cpu, const MotusCentresPicture *picture) {
    motus_centres(picture, &cpu->downscaled, motus_threads_ready(cpu->threads));
}

void motus_me_cpu_predict_by_mb(MotusMeCpu *cpu, const MotusCentresPicture *picture) {
    motus_centres_begin(&cpu->centres, picture, &cpu->downscaled,
                        motus_threads_ready(cpu->threads));
}

// ---- The table ----------------------------------------------------------------------------------

static MotusStatus open_state(void **state, const MotusMeConfig *config, int device,
                              MotusError *error) {
    (void)device, (void)error;
    MotusMeCpu *cpu;
    MotusStatus status = motus_me_cpu_open(&cpu, config);
    *state = cpu;
    return status;
}

static void close_state(void *state) {
    MotusMeCpu *cpu = state;
    motus_me_cpu_close(&cpu);
}

static MotusStatus request(void *state, const MotusMeRequest *r, void *const planes[], void *keep,
                           int keep_half, MotusError *error) {
    (void)error;
    const MotusMeCpu *cpu = state;
    assert(r->memory == MOTUS_MEMORY_HOST && r->hints_memory == MOTUS_MEMORY_HOST &&
           r->results_memory == MOTUS_MEMORY_HOST && !r->event);
    if (keep) { // has the picture in whole MBs
        MotusRefLuma *luma = keep;
        motus_ref_luma_build(luma, r->cur, keep_half, motus_threads_ready(cpu->threads));
        run(cpu, r, &(MotusPlane){luma->plane[0], luma->stride, luma->width, luma->height}, planes);
    } else {
        run(cpu, r, whole_mbs(cpu, r->cur), planes);
    }
    return MOTUS_OK;
}

static MotusStatus centres(void *state, const MotusMeCentres *c, const void *planes,
                           MotusError *error) {
    (void)error;
    assert(c->memory == MOTUS_MEMORY_HOST && c->mvs_memory == MOTUS_MEMORY_HOST);
    const MotusPlane *cur = whole_mbs(state, c->cur);
    const MotusCentresPicture picture = {.cur = cur->data,
                                         .cur_stride = cur->stride,
                                         .ref = planes,
                                         .previous = c->previous,
                                         .lambda_q8 = c->lambda_q8,
                                         .reach = c->reach,
                                         .limit_x = c->limit_x,
                                         .limit_y = c->limit_y,
                                         .centre = c->centre};
    motus_me_cpu_predict(state, &picture);
    return MOTUS_OK;
}

static MotusStatus planes_alloc(void **planes, const MotusMeConfig *config, int device,
                                MotusError *error) {
    (void)device, (void)error;
    MotusRefLuma *luma = *planes = motus_alloc(1, sizeof *luma);
    return luma ? motus_ref_luma_alloc(luma, config->width, config->height) : MOTUS_ERR_MEMORY;
}

static void planes_free(void *planes) {
    if (planes) motus_ref_luma_free(planes);
    motus_free(planes);
}

static MotusStatus planes_fill(void *planes, void *state, const MotusPlane *luma,
                               MotusMemory memory, int with_half, void *stream, int wait,
                               MotusError *error) {
    (void)stream, (void)wait, (void)error;
    const MotusMeCpu *cpu = state;
    (void)memory; // the host's
    motus_ref_luma_build(planes, luma, with_half, motus_threads_ready(cpu->threads));
    return MOTUS_OK;
}

static const uint8_t *block(const void *planes, int x, int y, MotusMv mv, int width, int height,
                            uint8_t *dst, ptrdiff_t *stride) {
    return motus_ref_luma_block(planes, x, y, mv, width, height, dst, stride);
}

const MotusMeOps motus_me_ops_cpu = {.open = open_state,
                                     .close = close_state,
                                     .request = request,
                                     .centres = centres,
                                     .planes_alloc = planes_alloc,
                                     .planes_fill = planes_fill,
                                     .planes_free = planes_free,
                                     .block = block};
