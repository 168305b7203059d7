// SPDX-License-Identifier: BSD-2-Clause
#include "me/request.h"

#include <string.h>

#include "common/threads.h"
#include "me/reference.h"
#include "me/samples/cost_core.h"
#include "me/stats_core.h"

// ---- Checks -------------------------------------------------------------------------------------

static int n_mb_of(const MotusMe *me) {
    return motus_mbs(me->config.width) * motus_mbs(me->config.height);
}

static int is_everywhere(const MotusMeRegion *r) {
    return !r->x && !r->y && !r->width && !r->height;
}

static int valid_region(const MotusMe *me, const MotusMeRegion *r) {
    const int mb_width = motus_mbs(me->config.width), mb_height = motus_mbs(me->config.height);
    return is_everywhere(r) ||
           (r->x >= 0 && r->y >= 0 && r->x < mb_width && r->y < mb_height && r->width >= 1 &&
            r->height >= 1 && r->width <= mb_width - r->x && r->height <= mb_height - r->y);
}

static int valid_skip(const MotusMv *skip, int has_half, int n_mb) {
    for (int i = 0; skip && i < n_mb; i++) {
        if (motus_abs(skip[i].x) > 8191 || motus_abs(skip[i].y) > 8191) return 0;
        if (!has_half && (skip[i].x | skip[i].y) & 3) return 0;
    }
    return 1;
}

static int valid_target(const MotusMe *me, const MotusMeTarget *t, MotusMemory hints_memory) {
    if (!t->reference || !motus_reference_fits(t->reference, me)) return 0;
    if (hints_memory == MOTUS_MEMORY_DEVICE)
        return !t->hints || t->hints->lambda_q8 <= MOTUS_MAX_LAMBDA_Q8;
    return motus_me_valid_hints(t->hints, n_mb_of(me)) &&
           valid_skip(t->skip_mv, t->reference->has_half, n_mb_of(me));
}

int motus_request_valid(const MotusMe *me, const MotusMeRequest *r) {
    if (!r || r->size != sizeof *r || (r->n_targets && r->target_size != sizeof *r->target))
        return 0;
    if (!motus_me_valid_plane(me, r->cur)) return 0;
    if (!motus_me_valid_memory(r->memory) || !motus_me_valid_memory(r->hints_memory) ||
        !motus_me_valid_memory(r->results_memory))
        return 0;
    if (r->n_targets < 0 || r->n_targets > MOTUS_ME_MAX_TARGETS || (r->n_targets && !r->target) ||
        !valid_region(me, &r->region))
        return 0;
    for (int i = 0; i < r->n_targets; i++)
        if (!valid_target(me, &r->target[i], r->hints_memory)) return 0;
    return 1;
}

// ---- One MB on the CPU --------------------------------------------------------------------------

// Of the picture that is searched for, whole MBs.
typedef struct Mb {
    const uint8_t *cur;
    ptrdiff_t stride;
    int number, x, y; // samples
    uint32_t modes;
} Mb;

static MotusMv vector_at(const MotusMv *mv, int i) {
    static const MotusMv zero = {0, 0};
    return mv ? mv[i] : zero;
}

static void distance(const MotusMe *me, const Mb *mb, const MotusRefLuma *ref, const MotusBlock *b,
                     MotusMv mv, uint32_t *sad, uint32_t *satd) {
    uint8_t buffer[256];
    ptrdiff_t stride = 16;
    const uint8_t *cur = mb->cur + b->y * mb->stride + b->x;
    const uint8_t *pred = motus_ref_luma_block(ref, mb->x + b->x, mb->y + b->y, mv, b->width,
                                               b->height, buffer, &stride);
    if (sad) *sad = me->pixel->sad(cur, mb->stride, pred, stride, b->width, b->height);
    if (satd) *satd = me->pixel->satd(cur, mb->stride, pred, stride, b->width, b->height);
}

static void search_target(const MotusMe *me, const MotusMeTarget *t, const Mb *mb,
                          uint8_t *scratch) {
    const MotusRefLuma *ref = &t->reference->luma;
    const MotusMeHints none = {0}, *hints = t->hints ? t->hints : &none;
    const int whole = me->config.subpel == MOTUS_SUBPEL_FULL;
    const MotusMbJob job = {.cur = mb->cur,
                            .cur_stride = mb->stride,
                            .ref = ref,
                            .x = mb->x,
                            .y = mb->y,
                            .centre = vector_at(hints->centre, mb->number),
                            .predictor = vector_at(hints->predictor, mb->number),
                            .lambda_q8 =
                                hints->lambda ? hints->lambda[mb->number] : hints->lambda_q8,
                            .modes = mb->modes,
                            .range = me->config.range};
    MotusMbMotion motion;
    me->search(&job, &motion, scratch);
    if (!whole && t->sad) motus_refine_mb(&job, me->config.subpel, me->refine, me->pixel, &motion);
    if (!whole && !t->sad)
        motus_refine_blocks(&job, me->config.subpel, me->refine, motus_blocks_of(mb->modes),
                            &motion);
    for (uint64_t left = motus_blocks_of(mb->modes); left; left &= left - 1) {
        const int b = __builtin_ctzll(left);
        const size_t at = (size_t)b * (size_t)n_mb_of(me) + (size_t)mb->number;
        if (t->mv) t->mv[at] = motion.mv[b];
        if (t->sad) t->sad[at] = motion.sad[b];
        if (t->cost) t->cost[at] = motion.cost[b];
        if (t->satd && !whole)
            t->satd[at] =
                motion.cost[b] - motus_mv_cost(job.lambda_q8, motion.mv[b], job.predictor);
        if (t->satd && whole)
            distance(me, mb, ref, &motus_blocks[b], motion.mv[b], NULL, &t->satd[at]);
    }
}

// Distances of the whole MB at given vectors.
static void measure_target(const MotusMe *me, const MotusMeTarget *t, const Mb *mb) {
    const MotusRefLuma *ref = &t->reference->luma;
    const MotusBlock *all = &motus_blocks[MOTUS_BLOCK_16x16];
    uint32_t sad;
    if (t->skip_sad || t->skip_satd) {
        distance(me, mb, ref, all, vector_at(t->skip_mv, mb->number), t->skip_sad ? &sad : NULL,
                 t->skip_satd ? &t->skip_satd[mb->number] : NULL);
        if (t->skip_sad) t->skip_sad[mb->number] = (uint16_t)sad;
    }
    if (!t->zero_sad) return;
    distance(me, mb, ref, all, vector_at(NULL, 0), &sad, NULL);
    t->zero_sad[mb->number] = (uint16_t)sad;
}

static void serve(const MotusMe *me, const MotusMeRequest *r, const MotusPlane *cur, int number) {
    const int mb_width = cur->width / 16, x = 16 * (number % mb_width),
              y = 16 * (number / mb_width);
    const Mb mb = {.cur = cur->data + y * cur->stride + x,
                   .stride = cur->stride,
                   .number = number,
                   .x = x,
                   .y = y,
                   .modes = me->config.modes & (r->modes ? r->modes[number] : MOTUS_MODES_ALL)};
    if (!mb.modes) return;
    if (r->stats)
        r->stats[number] = motus_mb_describe(me->pixel, mb.cur, mb.stride, motus_mb_has(x, y));
    for (const MotusMeTarget *t = r->target; t < r->target + r->n_targets; t++) {
        if (t->mv || t->sad || t->satd || t->cost) search_target(me, t, &mb, motus_me_scratch(me));
        measure_target(me, t, &mb);
    }
}

static void serve_all(const MotusMe *me, const MotusMeRequest *r) {
    const MotusPlane *cur = motus_me_whole(me, r->cur);
    const MotusMeRegion whole = {0, 0, cur->width / 16, cur->height / 16},
                        in = is_everywhere(&r->region) ? whole : r->region;
    const int threads = motus_threads_ready(me->threads);
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 8)
    for (int i = 0; i < in.width * in.height; i++)
        serve(me, r, cur, (in.y + i / in.width) * whole.width + in.x + i % in.width);
}

// ---- Requests -----------------------------------------------------------------------------------

MotusMeRequest motus_me_request_default(const MotusPlane *cur, const MotusMeTarget *target,
                                        int n_targets) {
    return (MotusMeRequest){.size = sizeof(MotusMeRequest),
                            .target_size = sizeof *target,
                            .cur = cur,
                            .target = target,
                            .n_targets = n_targets};
}

static MotusStatus start_on_device(MotusMe *me, const MotusMeRequest *r) {
    const MotusReferenceCuda *reference[MOTUS_ME_MAX_TARGETS];
    for (int i = 0; i < r->n_targets; i++) reference[i] = r->target[i].reference->cuda;
    MotusStatus status =
        me->requests ? MOTUS_OK
                     : motus_request_cuda_open(&me->requests, &me->config, me->device, &me->error);
    return status ? status : motus_request_cuda_submit(me->requests, r, reference, &me->error);
}

MotusStatus motus_request_start(MotusMe *me, const MotusMeRequest *r) {
    for (int i = 0; i < r->n_targets; i++)
        if (!r->target[i].reference->filled) return MOTUS_ERR_STATE;
    if (me->cuda) return start_on_device(me, r);
    if (r->memory != MOTUS_MEMORY_HOST || r->hints_memory != MOTUS_MEMORY_HOST ||
        r->results_memory != MOTUS_MEMORY_HOST || r->event)
        return MOTUS_ERR_UNSUPPORTED;
    serve_all(me, r);
    return MOTUS_OK;
}

// n_mb entries; only MBs with some of `modes` in their mask.
static void copy_masked(void *to, const void *from, size_t entry, const uint8_t *mask,
                        uint32_t modes, int n_mb) {
    if (!mask) {
        memcpy(to, from, entry * (size_t)n_mb);
        return;
    }
    for (int i = 0; i < n_mb; i++)
        if (mask[i] & modes)
            memcpy((uint8_t *)to + entry * (size_t)i, (const uint8_t *)from + entry * (size_t)i,
                   entry);
}

static void copy_blocks(void *to, const void *from, size_t entry, uint32_t modes,
                        const uint8_t *mask, int n_mb) {
    for (int b = 0; to && b < MOTUS_BLOCKS; b++) {
        const size_t at = entry * (size_t)b * (size_t)n_mb;
        if (modes >> motus_blocks[b].mode & 1)
            copy_masked((uint8_t *)to + at, (const uint8_t *)from + at, entry, mask,
                        1u << motus_blocks[b].mode, n_mb);
    }
}

void motus_target_store(const MotusMeTarget *to, const MotusMeTarget *from, uint32_t modes,
                        const uint8_t *mask, int n_mb) {
    copy_blocks(to->mv, from->mv, sizeof *to->mv, modes, mask, n_mb);
    copy_blocks(to->sad, from->sad, sizeof *to->sad, modes, mask, n_mb);
    copy_blocks(to->satd, from->satd, sizeof *to->satd, modes, mask, n_mb);
    copy_blocks(to->cost, from->cost, sizeof *to->cost, modes, mask, n_mb);
    if (to->skip_sad)
        copy_masked(to->skip_sad, from->skip_sad, sizeof *to->skip_sad, mask, MOTUS_MODES_ALL,
                    n_mb);
    if (to->skip_satd)
        copy_masked(to->skip_satd, from->skip_satd, sizeof *to->skip_satd, mask, MOTUS_MODES_ALL,
                    n_mb);
    if (to->zero_sad)
        copy_masked(to->zero_sad, from->zero_sad, sizeof *to->zero_sad, mask, MOTUS_MODES_ALL,
                    n_mb);
}

void motus_stats_store(MotusMbStats *to, const MotusMbStats *from, const uint8_t *mask, int n_mb) {
    if (to) copy_masked(to, from, sizeof *to, mask, MOTUS_MODES_ALL, n_mb);
}

// ---- Centres ------------------------------------------------------------------------------------

MotusMeCentres motus_me_centres_default(const MotusPlane *cur, const MotusMeReference *reference,
                                        MotusMv *centre) {
    return (MotusMeCentres){
        .size = sizeof(MotusMeCentres), .cur = cur, .reference = reference, .centre = centre};
}

static int valid_predict(const MotusMe *me, const MotusMeCentres *p) {
    return motus_me_valid_plane(me, p->cur) && motus_me_valid_memory(p->memory) &&
           motus_me_valid_memory(p->mvs_memory) && p->reference &&
           motus_reference_fits(p->reference, me) && p->centre && p->centre != p->previous &&
           p->lambda_q8 <= MOTUS_MAX_LAMBDA_Q8 && p->reach >= 4 && p->reach <= MOTUS_ME_MAX_REACH &&
           p->reach % 4 == 0 && p->limit_x >= 0 && p->limit_y >= 0;
}

MotusStatus motus_me_centres(MotusMe *me, const MotusMeCentres *predict) {
    if (!me || !predict || predict->size != sizeof *predict) return MOTUS_ERR_ARGUMENT;
    MotusMeCentres p = *predict;
    if (!p.reach) p.reach = MOTUS_ME_MAX_REACH;
    if (!p.limit_x) p.limit_x = MOTUS_MAX_CENTRE;
    if (!p.limit_y) p.limit_y = MOTUS_MAX_CENTRE;
    if (!valid_predict(me, &p)) return MOTUS_ERR_ARGUMENT;
    MotusStatus status = motus_me_failed(me);
    if (status) return status;
    if (!p.reference->filled) return MOTUS_ERR_STATE;
    if (me->cuda) {
        if (!me->predict)
            status = motus_predict_cuda_open(&me->predict, &me->config, me->device, &me->error);
        return status ? status : motus_predict_cuda(me->predict, &p, p.reference->cuda, &me->error);
    }
    if (p.memory != MOTUS_MEMORY_HOST || p.mvs_memory != MOTUS_MEMORY_HOST)
        return MOTUS_ERR_UNSUPPORTED;
    return motus_me_predict_centres(me, motus_me_whole(me, p.cur), &p.reference->luma, p.previous,
                                    p.lambda_q8, p.reach, p.limit_x, p.limit_y, p.centre);
}
