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
} CpuSlot;

typedef struct Cpu {
    MotusLookaheadSettings settings;
    int n_mb, n_slots;
    CpuSlot *slot;
    int n_pictures;
    MotusBPicture picture[MOTUS_B_SPAN + 1]; // the last n_pictures ones: number % n_pictures
    MotusMv *fields;                         // of all pictures, with b_span; begins their block
} Cpu;

// ---- Opening ------------------------------------------------------------------------------------

static int alloc_slot(CpuSlot *s, size_t n, int keep_aq) {
    const size_t bytes = sizeof *s->propagated + sizeof *s->costs.mv + sizeof *s->costs.intra +
                         sizeof *s->costs.inter + (keep_aq ? 2 : 1) * sizeof *s->offset;
    s->propagated = motus_alloc(n, bytes);
    if (!s->propagated) return 0;
    s->costs.mv = (MotusMv *)(s->propagated + n);
    s->costs.intra = (uint16_t *)(s->costs.mv + n);
    s->costs.inter = s->costs.intra + n;
    s->offset = (int16_t *)(s->costs.inter + n);
    s->aq = s->offset + n;
    return 1;
}

// earlier[0] is the slot's.
static int alloc_fields(Cpu *c) {
    const size_t n = (size_t)c->n_mb, n_fields = 2 * MOTUS_B_SPAN - 2;
    c->fields =
        motus_alloc((size_t)c->n_pictures * n_fields * n, sizeof(MotusMv) + sizeof(uint16_t));
    if (!c->fields) return 0;
    MotusMv *mv = c->fields;
    uint16_t *cost = (uint16_t *)(mv + (size_t)c->n_pictures * n_fields * n);
    for (int i = 0; i < c->n_pictures; i++)
        for (int d = 1; d < MOTUS_B_SPAN; d++) {
            c->picture[i].earlier[d] = (MotusBField){mv, cost};
            c->picture[i].later[d - 1] = (MotusBField){mv + n, cost + n};
            mv += 2 * n, cost += 2 * n;
        }
    return 1;
}

static MotusBPicture *picture_of(Cpu *c, int64_t number) {
    return &c->picture[number % c->n_pictures];
}

static void close_cpu(void **executor) {
    Cpu *c = *executor;
    if (!c) return;
    for (int i = 0; c->slot && i < c->n_slots; i++) motus_free(c->slot[i].propagated);
    for (int i = 0; i < MOTUS_B_SPAN + 1; i++) motus_half_free(&c->picture[i].half);
    motus_free(c->fields);
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
        ok = alloc_slot(&c->slot[i], (size_t)c->n_mb, c->settings.keep_aq);
    c->n_pictures = motus_max(settings->b_span, 1) + 1;
    for (int i = 0; ok && i < c->n_pictures; i++)
        ok = !motus_half_alloc(&c->picture[i].half, mb_width, mb_height);
    if (ok && settings->b_span) ok = alloc_fields(c);
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
    MotusBPicture *p = picture_of(c, picture->number);
    const MotusBPicture *list[MOTUS_B_SPAN + 1];
    p->intra = cur->costs.intra;
    p->earlier[0] = (MotusBField){cur->costs.mv, cur->costs.inter};
    for (int d = 0; d <= picture->span; d++) list[d] = picture_of(c, picture->number - d);
    motus_b_costs(&cur->sums.mini_gops, list, picture->span, threads);
}

static MotusStatus begin(void *executor, const MotusLookaheadPicture *picture,
                         const MotusPlane *luma, void *filled, MotusError *error) {
    (void)filled, (void)error;
    Cpu *c = executor;
    const MotusLookaheadSettings *s = &c->settings;
    const int threads = motus_threads_ready(s->threads); // a team of the calling thread
    assert(c->slot);
    CpuSlot *cur = &c->slot[picture->number % c->n_slots],
            *before =
                picture->first_in_segment ? NULL : &c->slot[(picture->number - 1) % c->n_slots];
    MotusHalfPicture *half = &picture_of(c, picture->number)->half;
    motus_half_build(half, luma, threads);
    // MVs of an IDR picture are no candidates: a GOP's plan depends on nothing before it.
    motus_mb_costs(&cur->costs, half, before ? &picture_of(c, picture->number - 1)->half : NULL,
                   before && !picture->after_idr ? before->costs.mv : NULL, threads);
    if (s->aq_mode)
        motus_aq_offsets(cur->offset, luma, s->mb_width, s->mb_height, s->aq_mode,
                         s->aq_strength_q8, threads);
    else
        memset(cur->offset, 0, (size_t)c->n_mb * sizeof *cur->offset);
    cur->sums = (MotusLookaheadSums){0};
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

// Runs mb-tree from the last of n pictures back to the one in slot `first`.
static void propagate(Cpu *c, int first, int n) {
    const MotusLookaheadSettings *s = &c->settings;
    for (int k = 0; k < n; k++)
        memset(c->slot[(first + k) % c->n_slots].propagated, 0, (size_t)c->n_mb * sizeof(uint32_t));
    for (int k = n - 1; k > 0; k--) {
        const CpuSlot *cur = &c->slot[(first + k) % c->n_slots];
        motus_mb_tree_propagate(c->slot[(first + k - 1) % c->n_slots].propagated, cur->propagated,
                                &cur->costs, s->aq_mode ? cur->offset : NULL, s->mb_width,
                                s->mb_height);
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
                        MotusError *error) {
    (void)error;
    Cpu *c = executor;
    const int strength = c->settings.mb_tree_q8;
    if (strength) propagate(c, first, n);
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
