// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/picture.h"

#include <string.h>

#include "common/alloc.h"
#include "encoder/analyse.h"
#include "encoder/intra_search.h"
#include "encoder/wavefront.h"

MotusStatus motus_work_alloc(MotusWork *work, int mb_width, int mb_height, int threads) {
    size_t n = (size_t)mb_width * (size_t)mb_height;
    *work = (MotusWork){.mb_width = mb_width, .mb_height = mb_height, .n_mb = (int)n, .threads = threads};
    work->mb = motus_alloc(n, sizeof *work->mb);
    work->mb_intra = motus_alloc(n, sizeof *work->mb_intra);
    work->coef = motus_alloc(n, sizeof *work->coef);
    work->inter_cost = motus_alloc(n, sizeof *work->inter_cost);
    work->intra_cost = motus_alloc(n, sizeof *work->intra_cost);
    work->changed_at = motus_alloc(n, sizeof *work->changed_at);
    work->seen_at = motus_alloc(n, sizeof *work->seen_at);
    if (work->mb && work->mb_intra && work->coef && work->inter_cost && work->intra_cost && work->changed_at && work->seen_at)
        return MOTUS_OK;
    motus_work_free(work);
    return MOTUS_ERR_MEMORY;
}

void motus_work_free(MotusWork *work) {
    motus_free(work->mb);
    motus_free(work->mb_intra);
    motus_free(work->coef);
    motus_free(work->inter_cost);
    motus_free(work->intra_cost);
    motus_free(work->changed_at);
    motus_free(work->seen_at);
    *work = (MotusWork){0};
}

typedef struct IntraPass {
    MotusWork *work;
    const MotusCoding *coding;
    int all; // else only the MBs already decided to be intra
} IntraPass;

static void intra_visit(void *context, int x, int y) {
    const IntraPass *pass = context;
    MotusWork *work = pass->work;
    int i = y * work->mb_width + x;
    if (!pass->all && !motus_mb_is_intra(&work->mb[i])) return;
    MotusTrial best, other;
    MotusMbSource src = motus_mb_source(work->src, x, y);
    MotusMbAround around = motus_mb_around(work->mb, work->mb_width, x, y);
    motus_intra_search(pass->coding, &around, &src, work->rec, x, y, &best, &other);
    work->mb[i] = best.mb;
    work->coef[i] = best.coef;
    motus_trial_store(&best, work->rec, x, y);
}

void motus_code_i_picture(MotusWork *work, const MotusCoding *coding) {
    IntraPass pass = {work, coding, 1};
    motus_wavefront(work->mb_width, work->mb_height, work->threads, intra_visit, &pass);
}

// Round 0: every MB is 16x16 with its searched vector.
static void first_guess(MotusWork *work, const MotusInter *inter) {
    for (int i = 0; i < work->n_mb; i++) {
        MotusMb *mb = &work->mb[i];
        memset(mb, 0, sizeof *mb);
        mb->type = MOTUS_MB_P_16x16;
        for (int blk = 0; blk < 16; blk++) mb->mv[blk] = inter->field->mv[MOTUS_BLOCK_16x16][i];
        work->intra_cost[i] = UINT64_MAX;
        work->changed_at[i] = work->seen_at[i] = 0;
    }
}

// MBs with equal x + 2y are one diagonal: A, B, C and D of an MB lie on the three diagonals before its own. A round is DIAGONALS passes, each
// over every DIAGONALS-th diagonal, so that no MB reads what another decides in the same pass, and yet most MBs see their neighbours' newest
// decisions: a vector's influence travels DIAGONALS steps in a round where plain Jacobi iteration takes one.
#define DIAGONALS 8

typedef void (*RoundVisit)(MotusWork *work, const MotusInter *inter, int i, int now);

// `now` numbers the passes of a picture, from 1.
static void run_round(MotusWork *work, const MotusInter *inter, int *now, RoundVisit visit) {
    for (int k = 0; k < DIAGONALS; k++) {
        ++*now;
#pragma omp parallel for num_threads(work->threads) schedule(dynamic, 1)
        for (int y = 0; y < work->mb_height; y++)
            for (int x = (k + DIAGONALS * 2 - 2 * y % DIAGONALS) % DIAGONALS; x < work->mb_width; x += DIAGONALS)
                visit(work, inter, y * work->mb_width + x, *now);
    }
}

static MotusInterMb inter_mb(const MotusWork *work, const MotusInter *inter, int i) {
    int x = i % work->mb_width, y = i / work->mb_width;
    return (MotusInterMb){.inter = inter,
                          .src = motus_mb_source(work->src, x, y),
                          .around = motus_mb_around(work->mb, work->mb_width, x, y),
                          .mb_x = x,
                          .mb_y = y,
                          .index = i};
}

// A round that only looks at SATD and vector cost.
static void visit_satd(MotusWork *work, const MotusInter *inter, int i, int now) {
    MotusInterMb in = inter_mb(work, inter, i);
    MotusAnalysis analysis;
    (void)now;
    motus_analyse_inter(&in, &analysis);
    work->mb[i] = analysis.mb[analysis.best];
}

// Types within this factor (in 1/8) of the best SATD cost are worked out.
#define WORTH_A_TRIAL(cost, best) ((uint64_t)(cost)*8 <= (uint64_t)(best)*9)

// Works out the promising ways to code the MB; returns the cheapest of the two buffers.
static MotusTrial *best_inter(const MotusInterMb *in, MotusTrial *best, MotusTrial *other) {
    MotusAnalysis analysis;
    motus_analyse_inter(in, &analysis);
    motus_skip_trial(in, best);
    for (int k = 0; k < 4; k++) {
        if (analysis.cost[k] == UINT32_MAX || !WORTH_A_TRIAL(analysis.cost[k], analysis.cost[analysis.best])) continue;
        other->mb = analysis.mb[k];
        motus_inter_trial(in, other);
        if (other->cost >= best->cost) continue;
        MotusTrial *swap = best;
        best = other;
        other = swap;
    }
    if (best->bits > MOTUS_MB_BITS_LIMIT) motus_trial_pcm(best, in->inter->coding, &in->src);
    return best;
}

static int neighbours_changed(const MotusWork *work, int i) {
    const uint16_t *changed = work->changed_at;
    int w = work->mb_width, x = i % w, seen = work->seen_at[i];
    return !seen || (x && changed[i - 1] > seen) ||
           (i >= w && (changed[i - w] > seen || (x && changed[i - w - 1] > seen) || (x + 1 < w && changed[i - w + 1] > seen)));
}

// Whether the neighbours would predict other vectors. (Coefficient counts, which choose code tables, change too often to be followed.)
static int predicts_differently(const MotusMb *a, const MotusMb *b) {
    return motus_mb_is_intra(a) != motus_mb_is_intra(b) || memcmp(a->mv, b->mv, sizeof a->mv);
}

static void decide(MotusWork *work, int i, const MotusMb *mb, int now) {
    if (predicts_differently(mb, &work->mb[i])) work->changed_at[i] = (uint16_t)now;
    work->mb[i] = *mb;
}

// A round of true rate and distortion. Where nothing changed around an MB since it was last looked at, its decision stands.
static void visit_rd(MotusWork *work, const MotusInter *inter, int i, int now) {
    if (!neighbours_changed(work, i)) return;
    MotusTrial trials[2];
    MotusInterMb in = inter_mb(work, inter, i);
    MotusTrial *best = best_inter(&in, &trials[0], &trials[1]);
    work->inter_cost[i] = best->cost;
    work->coef[i] = best->coef;
    motus_trial_store(best, work->rec, in.mb_x, in.mb_y);
    work->seen_at[i] = (uint16_t)now;
    decide(work, i, work->intra_cost[i] < best->cost ? &work->mb_intra[i] : &best->mb, now);
}

// Estimates intra coding from the reconstruction that the last round left, and takes it where it is cheaper.
static void intra_estimate(MotusWork *work, const MotusCoding *coding, int now) {
#pragma omp parallel for num_threads(work->threads) schedule(dynamic, 4)
    for (int i = 0; i < work->n_mb; i++) {
        if (work->mb[i].type == MOTUS_MB_P_SKIP) continue;
        MotusTrial best, other;
        int x = i % work->mb_width, y = i / work->mb_width;
        MotusMbSource src = motus_mb_source(work->src, x, y);
        MotusMbAround around = motus_mb_around(work->mb, work->mb_width, x, y);
        motus_intra_search(coding, &around, &src, work->rec, x, y, &best, &other);
        work->intra_cost[i] = best.cost;
        work->mb_intra[i] = best.mb;
    }
    for (int i = 0; i < work->n_mb; i++)
        if (work->intra_cost[i] < work->inter_cost[i]) decide(work, i, &work->mb_intra[i], now);
}

void motus_code_p_picture(MotusWork *work, const MotusInter *inter, int rounds) {
    int now = 0;
    first_guess(work, inter);
    run_round(work, inter, &now, visit_satd);
    for (int round = 2; round <= rounds; round++) {
        run_round(work, inter, &now, visit_rd);
        if (round == 2) intra_estimate(work, inter->coding, ++now);
    }
    IntraPass pass = {work, inter->coding, 0};
    motus_wavefront(work->mb_width, work->mb_height, work->threads, intra_visit, &pass);
}
