// SPDX-License-Identifier: BSD-2-Clause
#include "tests/me/request_case.h"

#include <stdlib.h>
#include <string.h>

#include "common/int_core.h"
#include "tests/me/me_oracle.h"
#include "tests/support/harness.h"

size_t request_blocks(uint32_t modes) {
    size_t n = 0;
    for (size_t b = 0; b < MOTUS_BLOCKS; b++)
        if (modes >> motus_blocks[b].mode & 1) n = b + 1;
    return n;
}

// Makes another reference and other hints for the same picture.
static void other_target(MeCase *c, const MeCase *first) {
    do {
        me_case_free(c);
        me_case_random(c, first->config.range, first->config.subpel);
    } while (motus_mbs(c->config.width) * motus_mbs(c->config.height) <
             motus_mbs(first->config.width) * motus_mbs(first->config.height));
    free(c->cur.data);
    c->cur.data = NULL;
    free(c->ref.data);
    c->ref = first->ref;
    c->ref.data = malloc((size_t)(c->ref.stride * (c->ref.height - 1) + c->ref.width));
    motus_test_fill(c->ref.data, (size_t)(c->ref.stride * (c->ref.height - 1) + c->ref.width));
    for (int y = 0; y < c->ref.height && motus_test_range(0, 2);
         y++) // rows of the picture itself, moved
        memcpy(c->ref.data + y * c->ref.stride,
               first->cur.data + (y + 1) % c->ref.height * first->cur.stride, (size_t)c->ref.width);
}

static MotusMv *random_skip(int n_mb, int whole) {
    MotusMv *mv = malloc((size_t)n_mb * sizeof *mv);
    for (int i = 0; i < n_mb; i++) {
        int limit = motus_test_range(0, 3) ? 40 : 8191;
        mv[i] = (MotusMv){(int16_t)motus_test_range(-limit, limit),
                          (int16_t)motus_test_range(-limit, limit)};
        if (whole) mv[i].x = (int16_t)(mv[i].x & ~3), mv[i].y = (int16_t)(mv[i].y & ~3);
        if (whole)
            mv[i].x = (int16_t)motus_max(mv[i].x, -8188),
            mv[i].y = (int16_t)motus_max(mv[i].y, -8188);
    }
    return mv;
}

static void random_region(RequestCase *c) {
    const int mb_height = c->n_mb / c->mb_width;
    c->region = (MotusMeRegion){0, 0, 0, 0};
    if (motus_test_range(0, 1)) return;
    c->region.x = motus_test_range(0, c->mb_width - 1),
    c->region.y = motus_test_range(0, mb_height - 1);
    c->region.width = motus_test_range(1, c->mb_width - c->region.x);
    c->region.height = motus_test_range(1, mb_height - c->region.y);
}

void request_case_random(RequestCase *c, int number) {
    memset(c, 0, sizeof *c);
    const MotusSubpel subpel = (MotusSubpel)(number % 4);
    me_case_random(&c->me[0], motus_test_range(1, 5), subpel);
    const MotusMeConfig *config = &c->me[0].config;
    c->mb_width = motus_mbs(config->width);
    c->n_mb = c->mb_width * motus_mbs(config->height);
    c->n_targets = motus_test_range(0, REQUEST_TARGETS);
    for (int i = 0; i < REQUEST_TARGETS; i++) {
        if (i) other_target(&c->me[i], &c->me[0]);
        if (motus_test_range(0, 3)) c->skip[i] = random_skip(c->n_mb, subpel == MOTUS_SUBPEL_FULL);
        c->wanted[i] = motus_test_range(0, 2)
                           ? (unsigned)motus_test_range(0, (1 << REQUEST_RESULTS) - 1)
                           : (1u << REQUEST_RESULTS) - 1;
    }
    if (motus_test_range(0, 1)) {
        c->modes = malloc((size_t)c->n_mb);
        for (int i = 0; i < c->n_mb; i++)
            c->modes[i] = (uint8_t)(motus_test_range(0, 3) ? motus_test_random() : 0);
    }
    random_region(c);
    c->stats = motus_test_range(0, 1);
}

void request_case_free(RequestCase *c) {
    for (int i = 0; i < REQUEST_TARGETS; i++) {
        me_case_free(&c->me[i]);
        free(c->skip[i]);
    }
    free(c->modes);
}

void **request_result(MotusMeTarget *t, int result) {
    void **const results[REQUEST_RESULTS] = {
        (void **)&t->mv,       (void **)&t->sad,       (void **)&t->satd,    (void **)&t->cost,
        (void **)&t->skip_sad, (void **)&t->skip_satd, (void **)&t->zero_sad};
    return results[result];
}

size_t request_result_bytes(const RequestCase *c, int result) {
    static const size_t entry[REQUEST_RESULTS] = {sizeof(MotusMv), 2, 4, 4, 2, 4, 2};
    const size_t blocks = result < 4 ? request_blocks(c->me[0].config.modes) : 1;
    return (size_t)c->n_mb * blocks * entry[result];
}

void request_results_alloc(const RequestCase *c, RequestResults *r) {
    memset(r, 0, sizeof *r);
    for (int i = 0; i < c->n_targets; i++)
        for (int k = 0; k < REQUEST_RESULTS; k++)
            if (c->wanted[i] >> k & 1)
                *request_result(&r->target[i], k) = motus_test_guarded(request_result_bytes(c, k));
    if (c->stats) r->stats = (MotusMbStats *)motus_test_guarded((size_t)c->n_mb * sizeof *r->stats);
}

int request_results_guards_ok(const RequestResults *r) {
    int ok = !r->stats || motus_test_guard_ok((const uint8_t *)r->stats);
    for (int i = 0; i < REQUEST_TARGETS; i++)
        for (int k = 0; k < REQUEST_RESULTS; k++) {
            MotusMeTarget t = r->target[i];
            const uint8_t *data = *request_result(&t, k);
            ok &= !data || motus_test_guard_ok(data);
        }
    return ok;
}

void request_results_free(RequestResults *r) {
    motus_test_guard_free((uint8_t *)r->stats);
    for (int i = 0; i < REQUEST_TARGETS; i++)
        for (int k = 0; k < REQUEST_RESULTS; k++)
            motus_test_guard_free(*request_result(&r->target[i], k));
}

MotusMeRequest request_of(const RequestCase *c, RequestResults *r) {
    for (int i = 0; i < c->n_targets; i++) {
        r->target[i].hints = &c->me[i].hints;
        r->target[i].skip_mv = c->skip[i];
    }
    return (MotusMeRequest){.size = sizeof(MotusMeRequest),
                            .target_size = sizeof(MotusMeTarget),
                            .cur = &c->me[0].cur,
                            .target = r->target,
                            .n_targets = c->n_targets,
                            .modes = c->modes,
                            .region = c->region,
                            .stats = r->stats};
}

// ---- Against the oracle -------------------------------------------------------------------------

static int is_poison(const void *data, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (((const uint8_t *)data)[i] != MOTUS_TEST_POISON) return 0;
    return 1;
}

// Returns the requested modes of an MB.
static uint32_t modes_of(const RequestCase *c, int mb) {
    const MotusMeRegion *r = &c->region;
    const int x = mb % c->mb_width - r->x, y = mb / c->mb_width - r->y;
    if (r->width && (x < 0 || y < 0 || x >= r->width || y >= r->height)) return 0;
    return c->me[0].config.modes & (c->modes ? c->modes[mb] : MOTUS_MODES_ALL);
}

typedef struct Where {
    const RequestCase *c;
    const MotusMeTarget *t; // results, in host memory
    const MeCase *me;
    const MotusMv *skip; // as requested, wherever it was
    int mb, x, y;
} Where;

static int block_is_right(const Where *w, int b, uint32_t modes, OracleResult want) {
    const MotusMeTarget *t = w->t;
    const size_t at = (size_t)b * (size_t)w->c->n_mb + (size_t)w->mb;
    if (!(modes >> motus_blocks[b].mode & 1))
        return (!t->mv || is_poison(&t->mv[at], sizeof *t->mv)) &&
               (!t->sad || is_poison(&t->sad[at], sizeof *t->sad)) &&
               (!t->satd || is_poison(&t->satd[at], sizeof *t->satd)) &&
               (!t->cost || is_poison(&t->cost[at], sizeof *t->cost));
    int x, y, width, height;
    oracle_block(b, &x, &y, &width, &height);
    const MotusPlane *cur = &w->c->me[0].cur, *ref = &w->me->ref;
    return (!t->mv || (t->mv[at].x == want.mv.x && t->mv[at].y == want.mv.y)) &&
           (!t->sad || t->sad[at] == want.sad) &&
           (!t->satd ||
            t->satd[at] == oracle_satd(cur, ref, w->x + x, w->y + y, width, height, want.mv)) &&
           (!t->cost || t->cost[at] == want.cost);
}

// Fills what is expected of the MB's blocks of `modes`.
static void expect(const Where *w, uint32_t modes, OracleResult want[MOTUS_BLOCKS]) {
    static const MotusMv zero = {0, 0};
    const MotusMeHints *hints = &w->me->hints;
    const MotusMeConfig *config = &w->c->me[0].config;
    memset(want, 0, MOTUS_BLOCKS * sizeof *want);
    oracle_search_mb(&w->c->me[0].cur, &w->me->ref, w->x, w->y, config->range, config->subpel,
                     modes, hints->centre ? hints->centre[w->mb] : zero,
                     hints->predictor ? hints->predictor[w->mb] : zero,
                     hints->lambda ? hints->lambda[w->mb] : hints->lambda_q8, want);
}

static int mb_is_right(const Where *w, uint32_t modes) {
    static const MotusMv zero = {0, 0};
    const MotusMeTarget *t = w->t;
    const int mb = w->mb;
    if (!modes)
        return (!t->skip_sad || is_poison(&t->skip_sad[mb], 2)) &&
               (!t->skip_satd || is_poison(&t->skip_satd[mb], 4)) &&
               (!t->zero_sad || is_poison(&t->zero_sad[mb], 2));
    const MotusPlane *cur = &w->c->me[0].cur, *ref = &w->me->ref;
    const MotusMv skip = w->skip ? w->skip[mb] : zero;
    return (!t->skip_sad || t->skip_sad[mb] == oracle_sad(cur, ref, w->x, w->y, 16, 16, skip)) &&
           (!t->skip_satd || t->skip_satd[mb] == oracle_satd(cur, ref, w->x, w->y, 16, 16, skip)) &&
           (!t->zero_sad || t->zero_sad[mb] == oracle_sad(cur, ref, w->x, w->y, 16, 16, zero));
}

static int stats_are_right(const RequestCase *c, const MotusMbStats *stats, const Where *w,
                           uint32_t modes) {
    if (!stats) return 1;
    if (!modes) return is_poison(&stats[w->mb], sizeof *stats);
    const MotusMbStats want = oracle_stats(&c->me[0].cur, w->x, w->y), *got = &stats[w->mb];
    return !memcmp(got->mean, want.mean, sizeof want.mean) &&
           !memcmp(got->energy, want.energy, sizeof want.energy) &&
           got->intra_mode == want.intra_mode && got->intra_sad == want.intra_sad &&
           got->intra_satd == want.intra_satd;
}

void request_case_check(const RequestCase *c, const RequestResults *r, const char *who,
                        int number) {
    const MotusMeConfig *config = &c->me[0].config;
    const int blocks = (int)request_blocks(config->modes);
    for (int mb = 0; mb < c->n_mb; mb++) {
        const uint32_t modes = modes_of(c, mb);
        Where w = {.c = c, .mb = mb, .x = 16 * (mb % c->mb_width), .y = 16 * (mb / c->mb_width)};
        MOTUS_CHECK(stats_are_right(c, r->stats, &w, modes), "case %d %s: %dx%d MB %d: statistics",
                    number, who, config->width, config->height, mb);
        for (int i = 0; i < c->n_targets; i++) {
            w.t = &r->target[i], w.me = &c->me[i], w.skip = c->skip[i];
            MOTUS_CHECK(mb_is_right(&w, modes), "case %d %s: %dx%d target %d MB %d: distances",
                        number, who, config->width, config->height, i, mb);
            OracleResult want[MOTUS_BLOCKS];
            if (c->wanted[i] & 15) expect(&w, modes, want);
            for (int b = 0; b < blocks && (c->wanted[i] & 15); b++)
                MOTUS_CHECK(
                    block_is_right(&w, b, modes, want[b]),
                    "case %d %s: %dx%d R=%d subpel %d target %d MB %d block %d, modes %x of %x",
                    number, who, config->width, config->height, config->range, (int)config->subpel,
                    i, mb, b, modes, config->modes);
        }
    }
    MOTUS_CHECK(request_results_guards_ok(r), "case %d %s: written beyond a result", number, who);
}
