// Lookahead on the CPU: a picture is analysed when it begins, on OpenMP threads.
// SPDX-License-Identifier: BSD-2-Clause
#include <assert.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/threads.h"
#include "encoder/lookahead/lookahead_ops.h"
#include "encoder/lookahead/lookahead_passes.h"
#include "encoder/lookahead/qp_offsets_core.h"

// Slot of the ring. Its arrays lie in one block.
typedef struct CpuSlot {
    uint32_t *propagated; // mb-tree; begins the block
    MotusMbCosts costs;
    int16_t *offset; // AQ's; final after `plan`
    int16_t *aq;     // AQ's, with keep_aq
    MotusLookaheadSums sums;
    MotusHalfStats stats; // with weights
    MotusHalfSums half_sums;
    MotusHalfWeight weight[MOTUS_B_SPAN]; // with weights: of earlier pictures
    MotusBPicture b; // with b_span: the picture's fields; their memory begins with earlier[1].mv
} CpuSlot;

typedef struct Cpu {
    MotusLookaheadSettings settings;
    int n_mb, n_slots;
    CpuSlot *slot;
    int n_pictures;
    MotusHalfPicture half[MOTUS_B_SPAN + 1]; // the last n_pictures ones: number % n_pictures
} Cpu;

// ---- Opening ------------------------------------------------------------------------------------

static int alloc_slot(CpuSlot *s, size_t n, const MotusLookaheadSettings *settings) {
    const size_t bytes = sizeof *s->propagated + 2 * sizeof *s->costs.mv + sizeof *s->costs.intra +
                         sizeof *s->costs.inter + (settings->keep_aq ? 2 : 1) * sizeof *s->offset +
                         (settings->weights ? 4 : 0) * sizeof *s->stats.small;
    s->propagated = motus_alloc(n, bytes);
    if (!s->propagated) return 0;
    s->costs.mv = (MotusMv *)(s->propagated + n);
    s->costs.first = s->costs.mv + n;
    s->costs.intra = (uint16_t *)(s->costs.first + n);
    s->costs.inter = s->costs.intra + n;
    s->offset = (int16_t *)(s->costs.inter + n);
    s->aq = s->offset + n;
    s->stats = (MotusHalfStats){&s->half_sums, s->offset + (settings->keep_aq ? 2 : 1) * n};
    if (settings->weights) s->b.weight = s->weight;
    return 1;
}

// earlier[0] is that of the slot's costs.
static int alloc_fields(CpuSlot *s, const MotusLookaheadSettings *settings, size_t n) {
    const size_t span = (size_t)settings->b_span, n_fields = 2 * (span - 1),
                 n_pairs = settings->mb_tree_q8
                               ? (size_t)motus_b_measured(settings->b_span, settings->b_pyramid)
                               : 0;
    MotusMv *mv = motus_alloc(n, n_fields * (sizeof(MotusMv) + sizeof(uint16_t)) +
                                     n_pairs * sizeof(uint16_t));
    if (!mv) return 0;
    uint16_t *cost = (uint16_t *)(mv + n_fields * n);
    for (size_t d = 1; d < span; d++) {
        s->b.earlier[d] = (MotusBField){mv, cost};
        s->b.later[d - 1] = (MotusBField){mv + n, cost + n};
        mv += 2 * n, cost += 2 * n;
    }
    if (n_pairs)
        motus_b_lay_out_between(&s->b, (uint8_t *)cost, n * sizeof *cost, settings->b_span,
                                settings->b_pyramid);
    s->b.intra = s->costs.intra;
    s->b.earlier[0] = (MotusBField){s->costs.mv, s->costs.inter};
    return 1;
}

static MotusHalfPicture *half_of(Cpu *c, int64_t number) {
    return &c->half[number % c->n_pictures];
}

static void close_cpu(void **executor) {
    Cpu *c = *executor;
    if (!c) return;
    for (int i = 0; c->slot && i < c->n_slots; i++) {
        motus_free(c->slot[i].propagated);
        motus_free(c->slot[i].b.earlier[1].mv);
    }
    for (int i = 0; i < MOTUS_B_SPAN + 1; i++) motus_half_free(&c->half[i]);
    motus_free(c->slot);
    motus_free(c);
    *executor = NULL;
}

static MotusStatus open_cpu(void **executor, const MotusLookaheadSettings *settings, int n_slots,
                            int device, MotusError *error) {
    (void)device;
    const int mb_width = settings->mb_width, mb_height = settings->mb_height;
    Cpu *c = *executor = motus_alloc(1, sizeof *c);
    if (!c) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    c->settings = *settings;
    c->n_mb = mb_width * mb_height, c->n_slots = n_slots;
    c->slot = motus_alloc((size_t)n_slots, sizeof *c->slot);
    int ok = c->slot != NULL;
    for (int i = 0; ok && i < n_slots; i++)
        ok = alloc_slot(&c->slot[i], (size_t)c->n_mb, settings) &&
             (!settings->b_span || alloc_fields(&c->slot[i], settings, (size_t)c->n_mb));
    c->n_pictures = motus_max(settings->b_span, 1) + 1;
    for (int i = 0; ok && i < c->n_pictures; i++)
        ok = !motus_half_alloc(&c->half[i], mb_width, mb_height);
    if (ok) return MOTUS_OK;
    close_cpu(executor);
    return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
}

// ---- Analysis -----------------------------------------------------------------------------------

static MotusStatus take(void *executor, const MotusFrameSource *source, MotusPlane *luma,
                        void **filled, MotusError *error) {
    (void)executor, (void)error;
    assert(!source->on_device);
    *luma = source->frame->plane[0];
    *filled = NULL;
    return MOTUS_OK;
}

// Measures the mini-GOPs that end with the picture.
static void mini_gops(Cpu *c, const MotusLookaheadPicture *picture, CpuSlot *cur, int threads) {
    const MotusBPicture *list[MOTUS_B_SPAN + 1];
    cur->b.half = *half_of(c, picture->number);
    for (int d = 0; d <= picture->span; d++)
        list[d] = &c->slot[(picture->number - d + c->n_slots) % c->n_slots].b;
    motus_b_costs(&cur->sums.mini_gops, list, picture->span, c->settings.b_pyramid, threads);
}

// Finds the weights of the earlier pictures that the picture is searched in.
static void weigh(Cpu *c, const MotusLookaheadPicture *picture, const MotusHalfPicture *half,
                  int threads) {
    CpuSlot *cur = &c->slot[picture->number % c->n_slots];
    motus_half_measure(&cur->stats, half, threads);
    for (int d = 1; d <= motus_lookahead_refs(picture); d++)
        cur->weight[d - 1] = motus_half_find_weight(
            &cur->stats, &c->slot[(picture->number - d + c->n_slots) % c->n_slots].stats,
            c->settings.mb_width, c->settings.mb_height);
}

static MotusStatus begin(void *executor, const MotusLookaheadPicture *picture,
                         const MotusPlane *luma, void *filled, MotusError *error) {
    (void)filled, (void)error;
    Cpu *c = executor;
    const MotusLookaheadSettings *s = &c->settings;
    const int threads = motus_threads_ready(s->threads); // a team of the calling thread
    assert(c->slot);
    CpuSlot *cur = &c->slot[picture->number % c->n_slots];
    MotusHalfPicture *half = half_of(c, picture->number);
    const uint64_t detail = motus_half_build(half, luma, threads);
    if (s->weights) weigh(c, picture, half, threads);
    motus_mb_costs(&cur->costs, half,
                   picture->first_in_segment ? NULL : half_of(c, picture->number - 1),
                   cur->b.weight, threads);
    if (s->aq_mode)
        motus_aq_offsets(cur->offset, luma, s->mb_width, s->mb_height, s->aq_mode,
                         s->aq_strength_q8, threads);
    else
        memset(cur->offset, 0, (size_t)c->n_mb * sizeof *cur->offset);
    cur->sums = (MotusLookaheadSums){.detail = detail};
    for (int i = 0; i < c->n_mb; i++) {
        cur->sums.intra += cur->costs.intra[i];
        cur->sums.inter += cur->costs.inter[i];
    }
    if (s->b_span) mini_gops(c, picture, cur, threads);
    return MOTUS_OK;
}

static MotusStatus wait_for(void *executor, int slot, MotusLookaheadSums *sums, MotusError *error) {
    (void)error;
    const Cpu *c = executor;
    *sums = c->slot[slot].sums;
    return MOTUS_OK;
}

// ---- Plans --------------------------------------------------------------------------------------

// Runs mb-tree over the n pictures from slot `first` on.
static void propagate(Cpu *c, int first, int n, const MotusTreeLink *links, int n_links) {
    const MotusLookaheadSettings *s = &c->settings;
    for (int k = 0; k < n; k++)
        memset(c->slot[(first + k) % c->n_slots].propagated, 0, (size_t)c->n_mb * sizeof(uint32_t));
    for (const MotusTreeLink *link = links; link < links + n_links; link++) {
        const CpuSlot *cur = &c->slot[(first + link->at) % c->n_slots];
        const MotusTreePicture picture =
            motus_tree_picture(link, &cur->costs, &cur->b, s->aq_mode ? cur->offset : NULL);
        uint32_t *const references[2] = {
            link->at < link->before
                ? NULL
                : c->slot[(first + link->at - link->before) % c->n_slots].propagated,
            link->after ? c->slot[(first + link->at + link->after) % c->n_slots].propagated : NULL};
        motus_mb_tree_propagate(references, cur->propagated, &picture, s->mb_width, s->mb_height);
    }
}

static void sum_offsets(const CpuSlot *s, const int16_t *offset, int n_mb, int is_idr,
                        MotusLookaheadSums *sums) {
    const uint16_t *cost = is_idr ? s->costs.intra : s->costs.inter;
    int64_t sum = 0;
    sums->weighted = 0;
    for (int i = 0; i < n_mb; i++) {
        sum += offset[i];
        sums->weighted += motus_weighted_cost(cost[i], offset[i]);
    }
    sums->offsets = (uint64_t)sum;
}

static MotusStatus plan(void *executor, int first, int n, int n_final, int first_is_idr,
                        const MotusTreeLink *links, int n_links, MotusError *error) {
    (void)error;
    Cpu *c = executor;
    const int strength = c->settings.mb_tree_q8;
    if (strength) propagate(c, first, n, links, n_links);
    for (int k = 0; k < n_final; k++) {
        CpuSlot *s = &c->slot[(first + k) % c->n_slots];
        if (c->settings.keep_aq) memcpy(s->aq, s->offset, (size_t)c->n_mb * sizeof *s->aq);
        if (strength) motus_mb_tree_offsets(s->offset, s->propagated, &s->costs, c->n_mb, strength);
        sum_offsets(s, s->offset, c->n_mb, !k && first_is_idr, &s->sums);
    }
    return MOTUS_OK;
}

static const int16_t *offsets(const void *executor, int slot, MotusLookaheadSums *sums) {
    const Cpu *c = executor;
    *sums = c->slot[slot].sums;
    return c->slot[slot].offset;
}

static const int16_t *aq_offsets(const void *executor, int slot, MotusLookaheadSums *sums) {
    const Cpu *c = executor;
    const CpuSlot *s = &c->slot[slot];
    sum_offsets(s, s->aq, c->n_mb, 0, sums);
    return s->aq;
}

const MotusLookaheadOps motus_lookahead_ops_cpu = {.open = open_cpu,
                                                   .close = close_cpu,
                                                   .take = take,
                                                   .begin = begin,
                                                   .wait = wait_for,
                                                   .plan = plan,
                                                   .offsets = offsets,
                                                   .aq_offsets = aq_offsets};
