// The CPU backend. It does the work when a job or request is submitted.
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

// Returns a thread's scratch memory for any range up to `range`: smaller ones may need more.
static size_t scratch_size_of(const MotusSearchOps *search, int range) {
    size_t most = 0;
    for (int r = 1; r <= range; r++) {
        const size_t size = (search->scratch_bytes(r) + 63) / 64 * 64;
        if (size > most) most = size;
    }
    return most;
}

MotusStatus motus_me_cpu_open(MotusMeCpu **out, const MotusMeConfig *config) {
    const int width = 16 * motus_mbs(config->width), height = 16 * motus_mbs(config->height);
    MotusMeCpu *cpu = *out = motus_alloc(1, sizeof *cpu);
    if (!cpu) return MOTUS_ERR_MEMORY;
    cpu->config = *config;
    cpu->threads = motus_threads_open(config->threads);
    cpu->search = motus_search_ops(motus_cpu_flags());
    cpu->refine = motus_refine_ops();
    cpu->pixel = motus_pixel_ops(!motus_cpu_flags());
    cpu->scratch_size = scratch_size_of(cpu->search, config->range);
    cpu->scratch = motus_alloc((size_t)cpu->threads, cpu->scratch_size);
    cpu->cur = (MotusPlane){motus_alloc((size_t)width, (size_t)height), width, width, height};
    MotusStatus status = motus_ref_luma_alloc(&cpu->ref, width, height);
    if (!status) status = motus_downscaled_alloc(&cpu->downscaled, width / 16, height / 16);
    if (!cpu->scratch || !cpu->cur.data) status = MOTUS_ERR_MEMORY;
    if (status) motus_me_cpu_close(out);
    return status;
}

void motus_me_cpu_close(MotusMeCpu **cpu) {
    if (!cpu || !*cpu) return;
    motus_free((*cpu)->last.data);
    motus_ref_luma_free(&(*cpu)->ref);
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

static MotusMv mv_at(const MotusMv *mv, int i) {
    static const MotusMv zero = {0, 0};
    return mv ? mv[i] : zero;
}

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

// Searches and refines. with_sad: writes SADs also after refinement.
static void search_mb(const MotusMeCpu *cpu, const MotusMbJob *job, int with_sad,
                      MotusMbMotion *motion) {
    const MotusSubpel subpel = cpu->config.subpel;
    size_t thread = 0;
#ifdef _OPENMP
    thread = (size_t)omp_get_thread_num();
#endif
    if (subpel != MOTUS_SUBPEL_FULL) // refinement compares MVs of all blocks
        *motion = (MotusMbMotion){0};
    cpu->search->search(job, motion, cpu->scratch + thread * cpu->scratch_size);
    if (subpel != MOTUS_SUBPEL_FULL && with_sad)
        motus_refine_mb(job, subpel, cpu->refine, cpu->pixel, motion);
    else if (subpel != MOTUS_SUBPEL_FULL)
        motus_refine_blocks(job, subpel, cpu->refine, motus_blocks_of(job->modes), motion);
}

void motus_me_cpu_search_mb(const MotusMeCpu *cpu, const MotusPlane *cur, const MotusRefLuma *ref,
                            const MotusMeHints *hints, int mb, MotusMbMotion *motion) {
    const MotusMbJob job = job_of(cpu, cur, ref, hints, cpu->config.modes, mb);
    search_mb(cpu, &job, 1, motion);
}

void motus_me_cpu_search(const MotusMeCpu *cpu, const MotusPlane *cur, const MotusRefLuma *ref,
                         const MotusMeHints *hints, MotusField *field) {
    const uint32_t modes = cpu->config.modes;
    const int threads = motus_threads_ready(cpu->threads);
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 16)
    for (int mb = 0; mb < field->n_mb; mb++) {
        MotusMbMotion motion;
        motus_me_cpu_search_mb(cpu, cur, ref, hints, mb, &motion);
        for (uint64_t left = motus_blocks_of(modes); left; left &= left - 1) {
            const int b = __builtin_ctzll(left);
            field->mv[b][mb] = motion.mv[b];
            field->sad[b][mb] = motion.sad[b];
            field->cost[b][mb] = motion.cost[b];
        }
    }
}

void motus_me_cpu_predict(MotusMeCpu *cpu, const MotusCentresPicture *picture) {
    motus_centres(picture, &cpu->downscaled, motus_threads_ready(cpu->threads));
}

void motus_me_cpu_predict_by_mb(MotusMeCpu *cpu, const MotusCentresPicture *picture) {
    motus_centres_begin(&cpu->centres, picture, &cpu->downscaled,
                        motus_threads_ready(cpu->threads));
}

// ---- Requests -----------------------------------------------------------------------------------

// Measures SAD and SATD (each unless NULL) of a block of the job's MB at mv.
static void measure(const MotusMeCpu *cpu, const MotusMbJob *job, const MotusBlock *b, MotusMv mv,
                    uint32_t *sad, uint32_t *satd) {
    uint8_t buffer[256];
    ptrdiff_t stride = 16;
    const uint8_t *cur = job->cur + b->y * job->cur_stride + b->x;
    const uint8_t *pred = motus_ref_luma_block(job->ref, job->x + b->x, job->y + b->y, mv, b->width,
                                               b->height, buffer, &stride);
    if (sad) *sad = cpu->pixel->sad(cur, job->cur_stride, pred, stride, b->width, b->height);
    if (satd) *satd = cpu->pixel->satd(cur, job->cur_stride, pred, stride, b->width, b->height);
}

static void search_target(const MotusMeCpu *cpu, const MotusMeTarget *t, const MotusMbJob *job,
                          int mb, int n_mb) {
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

// Measures the whole MB at the target's skip MV and at zero.
static void measure_target(const MotusMeCpu *cpu, const MotusMeTarget *t, const MotusMbJob *job,
                           int mb) {
    const MotusBlock *all = &motus_blocks[MOTUS_BLOCK_16x16];
    uint32_t sad = 0;
    if (t->skip_sad || t->skip_satd)
        measure(cpu, job, all, mv_at(t->skip_mv, mb), t->skip_sad ? &sad : NULL,
                t->skip_satd ? &t->skip_satd[mb] : NULL);
    if (t->skip_sad) t->skip_sad[mb] = (uint16_t)sad;
    if (t->zero_sad) measure(cpu, job, all, mv_at(NULL, 0), &sad, NULL);
    if (t->zero_sad) t->zero_sad[mb] = (uint16_t)sad;
}

static void request_mb(const MotusMeCpu *cpu, const MotusMeRequest *r, const MotusPlane *cur,
                       void *const planes[], int mb) {
    const int mb_width = cur->width / 16, n_mb = mb_width * (cur->height / 16);
    const uint32_t modes = cpu->config.modes & (r->modes ? r->modes[mb] : MOTUS_MODES_ALL);
    if (!modes) return;
    for (int i = 0; i < r->n_targets; i++) {
        const MotusMeTarget *t = &r->target[i];
        const MotusMbJob job = job_of(cpu, cur, planes[i], t->hints, modes, mb);
        if (t->mv || t->sad || t->satd || t->cost) search_target(cpu, t, &job, mb, n_mb);
        measure_target(cpu, t, &job, mb);
    }
    if (!r->stats) return;
    const int x = 16 * (mb % mb_width), y = 16 * (mb / mb_width);
    r->stats[mb] = motus_mb_describe(cpu->pixel, cur->data + y * cur->stride + x, cur->stride,
                                     motus_mb_has(x, y));
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

static MotusStatus search(void *state, const MotusPlane *cur, const MotusPlane *ref,
                          const MotusMeHints *hints, MotusField *field, MotusError *error) {
    (void)error;
    MotusMeCpu *cpu = state;
    motus_ref_luma_build(&cpu->ref, ref, cpu->config.subpel != MOTUS_SUBPEL_FULL,
                         motus_threads_ready(cpu->threads));
    motus_me_cpu_search(cpu, whole_mbs(cpu, cur), &cpu->ref, hints, field);
    return MOTUS_OK;
}

static MotusStatus submit(void *state, const MotusMeJob *job, MotusError *error) {
    MotusMeCpu *cpu = state;
    const MotusPlane *cur = job->cur;
    assert(job->memory == MOTUS_MEMORY_HOST && !job->device_mv);
    search(cpu, cur, job->ref ? job->ref : &cpu->last, job->hints, job->field, error);
    if (!cpu->last.data) {
        uint8_t *data = motus_alloc((size_t)cur->width, (size_t)cur->height);
        if (!data) return MOTUS_ERR_MEMORY;
        cpu->last = (MotusPlane){data, cur->width, cur->width, cur->height};
    }
    motus_plane_copy_padded(&cpu->last, cur); // the next job's reference, unless it has its own
    return MOTUS_OK;
}

static MotusStatus request(void *state, const MotusMeRequest *r, void *const planes[],
                           MotusError *error) {
    (void)error;
    const MotusMeCpu *cpu = state;
    assert(r->memory == MOTUS_MEMORY_HOST && r->hints_memory == MOTUS_MEMORY_HOST &&
           r->results_memory == MOTUS_MEMORY_HOST && !r->event);
    const MotusPlane *cur = whole_mbs(cpu, r->cur);
    const MotusMeRegion whole = {0, 0, cur->width / 16, cur->height / 16},
                        in = r->region.width ? r->region : whole;
    const int threads = motus_threads_ready(cpu->threads);
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8)
    for (int i = 0; i < in.width * in.height; i++)
        request_mb(cpu, r, cur, planes, (in.y + i / in.width) * whole.width + in.x + i % in.width);
    return MOTUS_OK;
}

static MotusStatus finish(void *state, const MotusMeRequest *r, int timeout_ms, MotusError *error) {
    (void)state, (void)r, (void)timeout_ms, (void)error;
    return MOTUS_OK;
}

static MotusStatus predict(void *state, const MotusMeCentres *p, const void *planes,
                           MotusError *error) {
    (void)error;
    assert(p->memory == MOTUS_MEMORY_HOST && p->mvs_memory == MOTUS_MEMORY_HOST);
    const MotusPlane *cur = whole_mbs(state, p->cur);
    const MotusCentresPicture picture = {.cur = cur->data,
                                         .cur_stride = cur->stride,
                                         .ref = planes,
                                         .previous = p->previous,
                                         .lambda_q8 = p->lambda_q8,
                                         .reach = p->reach,
                                         .limit_x = p->limit_x,
                                         .limit_y = p->limit_y,
                                         .centre = p->centre};
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
                               MotusMemory memory, int with_half, void *stream, MotusError *error) {
    (void)stream, (void)error;
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
                                     .search = search,
                                     .submit = submit,
                                     .request = request,
                                     .finish = finish,
                                     .predict = predict,
                                     .planes_alloc = planes_alloc,
                                     .planes_fill = planes_fill,
                                     .planes_free = planes_free,
                                     .block = block};
