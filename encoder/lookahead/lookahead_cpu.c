// Lookahead on the CPU: a picture is analysed when it begins, on OpenMP threads. The ring that both
// executors have.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/threads.h"
#include "encoder/lookahead/lookahead_ops.h"
#include "encoder/lookahead/lookahead_passes.h"
#include "encoder/lookahead/qp_offsets_core.h"

// ---- Ring ---------------------------------------------------------------------------------------

MotusStatus motus_lookahead_ring_open(MotusLookaheadRing *ring,
                                      const MotusLookaheadSettings *settings, int n_slots,
                                      int n_halves) {
    const size_t n = (size_t)settings->mb_width * (size_t)settings->mb_height;
    ring->settings = *settings;
    ring->n_mb = (int)n, ring->n_slots = n_slots, ring->n_halves = n_halves;
    ring->block = MOTUS_LOOKAHEAD_SUMS_BYTES + (n * sizeof(int16_t) + 255) / 256 * 256;
    ring->blocks = (settings->keep_aq ? 2 : 1) * ring->block;
    ring->slot = motus_alloc((size_t)n_slots, sizeof *ring->slot);
    return ring->slot ? MOTUS_OK : MOTUS_ERR_MEMORY;
}

// Reserves `bytes` behind *end, a multiple of 256.
static uint8_t *reserve(uint8_t *memory, size_t *end, size_t bytes) {
    uint8_t *at = memory ? memory + *end : NULL;
    *end += (bytes + 255) / 256 * 256;
    return at;
}

static MotusBField reserve_field(uint8_t *memory, size_t *end, size_t n) {
    MotusMv *mv = (MotusMv *)(void *)reserve(memory, end, n * sizeof *mv);
    return (MotusBField){mv, (uint16_t *)(void *)reserve(memory, end, n * sizeof(uint16_t))};
}

// Lays out the fields of a slot. earlier[0] is that of its costs.
static void lay_out_b(MotusLookaheadSlot *s, const MotusLookaheadSettings *settings,
                      uint8_t *memory, size_t *end, size_t n) {
    const int span = settings->b_span;
    s->b.intra = s->costs.intra;
    s->b.weight = s->weight;
    s->b.earlier[0] = (MotusBField){s->costs.mv, s->costs.inter};
    for (int d = 1; d < span; d++) {
        s->b.earlier[d] = reserve_field(memory, end, n);
        s->b.later[d - 1] = reserve_field(memory, end, n);
    }
    for (int length = 2; length <= span && settings->mb_tree_q8; length++)
        for (int after = 1; after < length; after++)
            if (motus_b_is_measured(length - after, after, settings->b_pyramid))
                s->b.between[motus_b_pair(length - after, after)] =
                    (uint16_t *)(void *)reserve(memory, end, n * sizeof(uint16_t));
}

size_t motus_lookahead_ring_lay_out(MotusLookaheadRing *ring, uint8_t *memory) {
    const MotusLookaheadSettings *settings = &ring->settings;
    const int mb_width = settings->mb_width, mb_height = settings->mb_height;
    const size_t n = (size_t)ring->n_mb;
    size_t end = 0;
    for (int i = 0; i < ring->n_halves; i++) {
        uint8_t *half = reserve(memory, &end, motus_half_bytes(mb_width, mb_height));
        if (half) motus_half_layout(&ring->half[i], half, mb_width, mb_height);
    }
    ring->propagated =
        (uint64_t *)(void *)reserve(memory, &end, (size_t)ring->n_slots * n * sizeof(uint64_t));
    for (int i = 0; i < ring->n_slots && memory; i++)
        ring->slot[i].propagated = ring->propagated + (size_t)i * n;
    for (int i = 0; i < ring->n_slots; i++) {
        MotusLookaheadSlot *s = &ring->slot[i];
        uint8_t *block = reserve(memory, &end, ring->blocks);
        if (block) {
            s->sums = (MotusLookaheadSums *)(void *)block;
            s->offset = (int16_t *)(void *)(block + MOTUS_LOOKAHEAD_SUMS_BYTES);
            s->aq_sums = (MotusLookaheadSums *)(void *)(block + ring->block);
            s->aq = (int16_t *)(void *)(block + ring->block + MOTUS_LOOKAHEAD_SUMS_BYTES);
        }
        s->costs.intra = (uint16_t *)(void *)reserve(memory, &end, n * sizeof(uint16_t));
        s->costs.inter = (uint16_t *)(void *)reserve(memory, &end, n * sizeof(uint16_t));
        s->costs.mv = (MotusMv *)(void *)reserve(memory, &end, n * sizeof(MotusMv));
        s->costs.first = (MotusMv *)(void *)reserve(memory, &end, n * sizeof(MotusMv));
        if (settings->weights) {
            s->stats.sums = block ? s->sums->samples : NULL;
            s->stats.small = (int16_t *)(void *)reserve(memory, &end, 4 * n * sizeof(int16_t));
            s->weight =
                (MotusHalfWeight *)(void *)reserve(memory, &end, MOTUS_B_SPAN * sizeof *s->weight);
        }
        lay_out_b(s, settings, memory, &end, n);
    }
    return end;
}

void motus_lookahead_list(MotusLookaheadRing *ring, int64_t number, int span,
                          const MotusBPicture *list[MOTUS_B_SPAN + 1]) {
    motus_lookahead_slot(ring, number)->b.half = *motus_lookahead_half(ring, number);
    for (int d = 0; d <= span; d++) list[d] = &motus_lookahead_slot(ring, number - d)->b;
}

MotusTreePicture motus_tree_picture(const MotusLookaheadRing *ring, int first,
                                    const MotusTreeLink *link, uint64_t *references[2]) {
    const int at = first + link->at, before = link->before, after = link->after;
    const MotusLookaheadSlot *s = motus_lookahead_slot(ring, at);
    const MotusBField none = {NULL, NULL}, *earlier = &s->b.earlier[before - 1],
                      *later = after ? &s->b.later[after - 1] : &none;
    references[0] = link->at < before ? NULL : motus_lookahead_slot(ring, at - before)->propagated;
    references[1] = after ? motus_lookahead_slot(ring, at + after)->propagated : NULL;
    return (MotusTreePicture){s->costs.intra,
                              {earlier->cost, later->cost},
                              {earlier->mv, later->mv},
                              after ? s->b.between[motus_b_pair(before, after)] : NULL,
                              ring->settings.aq_mode ? s->offset : NULL};
}

// ---- Opening ------------------------------------------------------------------------------------

static void close_cpu(void **executor) {
    MotusLookaheadRing *ring = *executor;
    if (!ring) return;
    motus_free(ring->memory);
    motus_free(ring->slot);
    motus_free(ring);
    *executor = NULL;
}

static MotusStatus open_cpu(void **executor, const MotusLookaheadSettings *settings, int n_slots,
                            int device, MotusError *error) {
    (void)device;
    MotusLookaheadRing *ring = *executor = motus_alloc(1, sizeof *ring);
    const int n_halves = motus_max(settings->b_span, 1) + 1;
    if (ring && !motus_lookahead_ring_open(ring, settings, n_slots, n_halves)) {
        ring->memory = motus_alloc(motus_lookahead_ring_lay_out(ring, NULL), 1);
        if (ring->memory) {
            motus_lookahead_ring_lay_out(ring, ring->memory);
            return MOTUS_OK;
        }
    }
    close_cpu(executor);
    return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
}

// ---- Analysis and plans -------------------------------------------------------------------------

static MotusStatus begin(void *executor, int64_t number, int refs, int span, const MotusPlane *luma,
                         void *filled, MotusError *error) {
    (void)filled, (void)error;
    MotusLookaheadRing *ring = executor;
    const MotusLookaheadSettings *s = &ring->settings;
    const int threads = motus_threads_ready(s->threads); // a team of the calling thread
    MotusLookaheadSlot *cur = motus_lookahead_slot(ring, number);
    MotusHalfPicture *half = motus_lookahead_half(ring, number);
    *cur->sums = (MotusLookaheadSums){.detail = motus_half_build(half, luma, threads)};
    if (s->weights) {
        motus_half_measure(&cur->stats, half, threads);
        for (int d = 1; d <= refs; d++)
            cur->weight[d - 1] =
                motus_half_find_weight(&cur->stats, &motus_lookahead_slot(ring, number - d)->stats,
                                       s->mb_width, s->mb_height);
    }
    motus_mb_costs(&cur->costs, half, refs ? motus_lookahead_half(ring, number - 1) : NULL,
                   cur->weight, threads);
    if (s->aq_mode)
        motus_aq_offsets(cur->offset, luma, s->mb_width, s->mb_height, s->aq_mode,
                         s->aq_strength_q8, threads);
    else
        memset(cur->offset, 0, (size_t)ring->n_mb * sizeof *cur->offset);
    for (int i = 0; i < ring->n_mb; i++) {
        cur->sums->intra += cur->costs.intra[i];
        cur->sums->inter += cur->costs.inter[i];
    }
    if (!s->b_span) return MOTUS_OK;
    const MotusBPicture *list[MOTUS_B_SPAN + 1];
    motus_lookahead_list(ring, number, span, list);
    motus_b_costs(&cur->sums->mini_gops, list, span, s->b_pyramid, threads);
    return MOTUS_OK;
}

static MotusStatus wait_for(void *executor, int slot, MotusLookaheadSums *sums, MotusError *error) {
    (void)error;
    *sums = *((MotusLookaheadRing *)executor)->slot[slot].sums;
    return MOTUS_OK;
}

static void sum_offsets(MotusLookaheadSums *sums, const int16_t *offset, const uint16_t *cost,
                        int n_mb) {
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
    MotusLookaheadRing *ring = executor;
    const MotusLookaheadSettings *set = &ring->settings;
    const size_t n_mb = (size_t)ring->n_mb;
    for (int k = 0; k < n && set->mb_tree_q8; k++)
        memset(motus_lookahead_slot(ring, first + k)->propagated, 0, n_mb * sizeof(uint64_t));
    for (const MotusTreeLink *link = links; link < links + n_links; link++) {
        uint64_t *references[2];
        const MotusTreePicture picture = motus_tree_picture(ring, first, link, references);
        motus_mb_tree_propagate(references,
                                motus_lookahead_slot(ring, first + link->at)->propagated, &picture,
                                set->mb_width, set->mb_height);
    }
    for (int k = 0; k < n_final; k++) {
        MotusLookaheadSlot *s = motus_lookahead_slot(ring, first + k);
        if (set->keep_aq) {
            memcpy(s->aq, s->offset, n_mb * sizeof *s->aq);
            sum_offsets(s->aq_sums, s->aq, s->costs.inter, ring->n_mb);
        }
        if (set->mb_tree_q8)
            motus_mb_tree_offsets(s->offset, s->propagated, &s->costs, ring->n_mb, set->mb_tree_q8);
        sum_offsets(s->sums, s->offset, !k && first_is_idr ? s->costs.intra : s->costs.inter,
                    ring->n_mb);
    }
    return MOTUS_OK;
}

static const int16_t *offsets(const void *executor, int slot, int aq, MotusLookaheadSums *sums) {
    const MotusLookaheadSlot *s = &((const MotusLookaheadRing *)executor)->slot[slot];
    *sums = aq ? *s->aq_sums : *s->sums;
    return aq ? s->aq : s->offset;
}

const MotusLookaheadOps motus_lookahead_ops_cpu = {.open = open_cpu,
                                                   .close = close_cpu,
                                                   .begin = begin,
                                                   .wait = wait_for,
                                                   .plan = plan,
                                                   .offsets = offsets};
