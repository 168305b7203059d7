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
    work->mb_before = motus_alloc(n, sizeof *work->mb_before);
    work->mb_intra = motus_alloc(n, sizeof *work->mb_intra);
    work->coef = motus_alloc(n, sizeof *work->coef);
    work->inter_cost = motus_alloc(n, sizeof *work->inter_cost);
    work->intra_cost = motus_alloc(n, sizeof *work->intra_cost);
    work->changed[0] = motus_alloc(n, 1);
    work->changed[1] = motus_alloc(n, 1);
    if (work->mb && work->mb_before && work->mb_intra && work->coef && work->inter_cost && work->intra_cost && work->changed[0] &&
        work->changed[1])
        return MOTUS_OK;
    motus_work_free(work);
    return MOTUS_ERR_MEMORY;
}

void motus_work_free(MotusWork *work) {
    motus_free(work->mb);
    motus_free(work->mb_before);
    motus_free(work->mb_intra);
    motus_free(work->coef);
    motus_free(work->inter_cost);
    motus_free(work->intra_cost);
    motus_free(work->changed[0]);
    motus_free(work->changed[1]);
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
        MotusMb *mb = &work->mb_before[i];
        memset(mb, 0, sizeof *mb);
        mb->type = MOTUS_MB_P_16x16;
        for (int blk = 0; blk < 16; blk++) mb->mv[blk] = inter->field->mv[MOTUS_BLOCK_16x16][i];
        work->intra_cost[i] = UINT64_MAX;
    }
}

static MotusInterMb inter_mb(const MotusWork *work, const MotusInter *inter, int i) {
    int x = i % work->mb_width, y = i / work->mb_width;
    return (MotusInterMb){.inter = inter,
                          .src = motus_mb_source(work->src, x, y),
                          .around = motus_mb_around(work->mb_before, work->mb_width, x, y),
                          .mb_x = x,
                          .mb_y = y,
                          .index = i};
}

// A round that only looks at SATD and vector cost.
static void satd_round(MotusWork *work, const MotusInter *inter) {
#pragma omp parallel for num_threads(work->threads) schedule(dynamic, 8)
    for (int i = 0; i < work->n_mb; i++) {
        MotusInterMb in = inter_mb(work, inter, i);
        MotusAnalysis analysis;
        motus_analyse_inter(&in, &analysis);
        work->mb[i] = analysis.mb[analysis.best];
    }
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
    const uint8_t *changed = work->changed[1];
    int w = work->mb_width, x = i % w;
    return (x && changed[i - 1]) ||
           (i >= w && (changed[i - w] || (x && changed[i - w - 1]) || (x + 1 < w && changed[i - w + 1])));
}

// A round of true rate and distortion. Where nothing changed around an MB since the round before, its decision stands.
static void rd_round(MotusWork *work, const MotusInter *inter, int all) {
#pragma omp parallel for num_threads(work->threads) schedule(dynamic, 4)
    for (int i = 0; i < work->n_mb; i++) {
        work->mb[i] = work->mb_before[i];
        work->changed[0][i] = 0;
        if (!all && !neighbours_changed(work, i)) continue;
        MotusTrial trials[2];
        MotusInterMb in = inter_mb(work, inter, i);
        MotusTrial *best = best_inter(&in, &trials[0], &trials[1]);
        work->inter_cost[i] = best->cost;
        work->mb[i] = best->mb;
        work->coef[i] = best->coef;
        motus_trial_store(best, work->rec, in.mb_x, in.mb_y);
        if (work->intra_cost[i] < best->cost) work->mb[i] = work->mb_intra[i];
        work->changed[0][i] = memcmp(&work->mb[i], &work->mb_before[i], sizeof work->mb[i]) != 0;
    }
}

// Estimates intra coding from the reconstruction that the last round left, and takes it where it is cheaper.
static void intra_estimate(MotusWork *work, const MotusCoding *coding) {
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
        if (work->intra_cost[i] < work->inter_cost[i]) {
            work->mb[i] = work->mb_intra[i];
            work->changed[0][i] = 1;
        }
}

static void end_round(MotusWork *work) {
    MotusMb *mb = work->mb;
    work->mb = work->mb_before;
    work->mb_before = mb;
    uint8_t *changed = work->changed[0];
    work->changed[0] = work->changed[1];
    work->changed[1] = changed;
}

void motus_code_p_picture(MotusWork *work, const MotusInter *inter, int rounds) {
    first_guess(work, inter);
    satd_round(work, inter);
    for (int round = 2; round <= rounds; round++) {
        end_round(work);
        rd_round(work, inter, round == 2);
        if (round == 2) intra_estimate(work, inter->coding);
    }
    IntraPass pass = {work, inter->coding, 0};
    motus_wavefront(work->mb_width, work->mb_height, work->threads, intra_visit, &pass);
}
