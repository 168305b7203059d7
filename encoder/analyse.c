// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/analyse.h"

#include <string.h>

#define MAX_CANDIDATES 8
#define DIAMOND_STEPS 2 // refinements around a predicted vector that beats the searched one

typedef struct Best {
    MotusMv mv;
    uint32_t cost;
} Best;

static uint32_t bits_cost(const MotusInterMb *in, uint32_t bits) { return (in->inter->coding->lambda_q8 * bits) >> 8; }

static int mv_allowed(const MotusInter *inter, MotusMv mv) {
    return mv.y >= -inter->max_mv_y && mv.y < inter->max_mv_y && mv.x >= -8192 && mv.x < 8192;
}

static uint32_t satd_at(const MotusInterMb *in, const MotusPart *part, MotusMv mv) {
    uint8_t buffer[256] __attribute__((aligned(64)));
    int x = 4 * part->x, y = 4 * part->y, width = 4 * part->width, height = 4 * part->height;
    ptrdiff_t stride = MOTUS_LUMA_STRIDE;
    const uint8_t *at =
        motus_ref_luma_block(in->inter->ref_luma, 16 * in->mb_x + x, 16 * in->mb_y + y, mv, width, height, buffer, &stride);
    return in->inter->coding->pixel->satd(in->src.plane[0] + y * in->src.stride[0] + x, in->src.stride[0], at, stride, width,
                                          height);
}

static void try_mv(const MotusInterMb *in, const MotusPart *part, MotusMv mv, MotusMv predictor, Best *best) {
    uint32_t cost = bits_cost(in, (uint32_t)motus_mv_bits(mv, predictor));
    if (cost >= best->cost) return;
    cost += satd_at(in, part, mv);
    if (cost < best->cost) *best = (Best){mv, cost};
}

// The searched vector's SATD comes out of its cost, where the search has measured SATD.
static Best searched(const MotusInterMb *in, const MotusPart *part, MotusMv predictor) {
    const MotusInter *inter = in->inter;
    MotusMv mv = inter->field->mv[part->block][in->index];
    uint32_t cost = bits_cost(in, (uint32_t)motus_mv_bits(mv, predictor));
    if (inter->subpel == MOTUS_SUBPEL_FULL) return (Best){mv, cost + satd_at(in, part, mv)};
    uint32_t search_bits = (uint32_t)motus_mv_bits(mv, inter->predictor[in->index]);
    return (Best){mv, cost + inter->field->cost[part->block][in->index] - bits_cost(in, search_bits)};
}

// Four neighbours around a vector that came from a predictor, as long as one is better.
static void diamond(const MotusInterMb *in, const MotusPart *part, MotusMv predictor, Best *best) {
    static const int8_t around[4][2] = {{0, -1}, {-1, 0}, {1, 0}, {0, 1}};
    int unit = 4 >> in->inter->subpel;
    for (int step = 0; step < DIAMOND_STEPS; step++) {
        MotusMv centre = best->mv;
        for (int i = 0; i < 4; i++) {
            MotusMv mv = {(int16_t)(centre.x + unit * around[i][0]), (int16_t)(centre.y + unit * around[i][1])};
            if (mv_allowed(in->inter, mv)) try_mv(in, part, mv, predictor, best);
        }
        if (motus_mv_equal(centre, best->mv)) break;
    }
}

// Best vector of a block among the searched one and `n` candidates; `grid` holds what comes before it.
static Best choose_mv(const MotusInterMb *in, const MotusMvGrid *grid, const MotusPart *part, const MotusMv *candidates, int n) {
    MotusMv predictor = motus_mvp(grid, part->mode, part->part, part->x, part->y, part->width);
    Best best = searched(in, part, predictor);
    MotusMv first = best.mv;
    if (!motus_mv_equal(predictor, first)) try_mv(in, part, predictor, predictor, &best);
    for (int i = 0; i < n; i++)
        if (!motus_mv_equal(candidates[i], first) && !motus_mv_equal(candidates[i], predictor))
            try_mv(in, part, candidates[i], predictor, &best);
    if (!motus_mv_equal(best.mv, first)) diamond(in, part, predictor, &best);
    return best;
}

// Chooses vectors for `n` blocks in coding order, notes them in mb and grid, and returns their cost.
static uint32_t choose_parts(const MotusInterMb *in, MotusMvGrid *grid, const MotusPart *parts, int n, const MotusMv *candidates,
                             int n_candidates, MotusMb *mb) {
    uint32_t cost = 0;
    for (int i = 0; i < n; i++) {
        Best best = choose_mv(in, grid, &parts[i], candidates, n_candidates);
        motus_mb_set_mv(mb, &parts[i], best.mv);
        motus_grid_set(grid, parts[i].x, parts[i].y, parts[i].width, parts[i].height, MOTUS_CELL_INTER, best.mv);
        cost += best.cost;
    }
    return cost;
}

static void choose_type(const MotusInterMb *in, const MotusMvGrid *neighbours, int type, const MotusMv *candidates, int n,
                        MotusAnalysis *analysis) {
    int k = type - MOTUS_MB_P_16x16;
    MotusMb *mb = &analysis->mb[k];
    MotusPart parts[16];
    MotusMvGrid grid = *neighbours;
    mb->type = (uint8_t)type;
    int n_parts = motus_mb_parts(mb, parts);
    analysis->cost[k] =
        choose_parts(in, &grid, parts, n_parts, candidates, n, mb) + bits_cost(in, (uint32_t)motus_ue_bits((uint32_t)k));
}

// Best sub type of quarter q; at most max_mvs vectors. Leaves its vectors in mb and grid.
static uint32_t choose_quarter(const MotusInterMb *in, MotusMvGrid *grid, int q, MotusMv whole, int max_mvs, MotusMb *mb,
                               int *n_mvs) {
    const MotusMvGrid before = *grid;
    uint32_t best = UINT32_MAX;
    for (int sub = MOTUS_SUB_8x8; sub <= MOTUS_SUB_4x4; sub++) {
        MotusPart parts[4];
        MotusMvGrid trial_grid = before;
        MotusMb trial = *mb;
        int n = motus_quarter_parts(sub, q, parts);
        if (sub != MOTUS_SUB_8x8 && (!(in->inter->partitions >> parts[0].mode & 1) || n > max_mvs)) continue;
        trial.sub_type[q] = (uint8_t)sub;
        uint32_t cost = bits_cost(in, (uint32_t)motus_ue_bits((uint32_t)sub));
        cost += choose_parts(in, &trial_grid, parts, n, &whole, sub == MOTUS_SUB_8x8, &trial);
        if (cost >= best) continue;
        best = cost;
        *mb = trial;
        *grid = trial_grid;
        *n_mvs = n;
    }
    return best;
}

static void choose_8x8(const MotusInterMb *in, const MotusMvGrid *neighbours, MotusMv whole, MotusAnalysis *analysis) {
    const int k = MOTUS_MB_P_8x8 - MOTUS_MB_P_16x16;
    MotusMvGrid grid = *neighbours;
    int left = in->inter->max_mvs;
    analysis->mb[k].type = MOTUS_MB_P_8x8;
    analysis->cost[k] = bits_cost(in, (uint32_t)motus_ue_bits(k));
    for (int q = 0; q < 4; q++) {
        int n = 0; // each later quarter needs at least one vector
        analysis->cost[k] += choose_quarter(in, &grid, q, whole, left - (3 - q), &analysis->mb[k], &n);
        left -= n;
    }
}

// Vectors of the neighbours and zero, as candidates for the 16x16 block.
static int neighbour_mvs(const MotusMvGrid *grid, MotusMv candidates[MAX_CANDIDATES]) {
    static const uint8_t cells[4][2] = {{1, 0}, {0, 1}, {0, 5}, {0, 0}};
    int n = 0;
    candidates[n++] = motus_mvp_skip(grid);
    candidates[n++] = (MotusMv){0, 0};
    for (int i = 0; i < 4; i++) {
        MotusMv mv = grid->mv[cells[i][0]][cells[i][1]];
        int seen = grid->state[cells[i][0]][cells[i][1]] != MOTUS_CELL_INTER;
        for (int k = 0; k < n; k++) seen |= motus_mv_equal(candidates[k], mv);
        if (!seen) candidates[n++] = mv;
    }
    return n;
}

void motus_analyse_inter(const MotusInterMb *in, MotusAnalysis *analysis) {
    MotusMv candidates[MAX_CANDIDATES];
    MotusMvGrid grid;
    uint32_t partitions = in->inter->partitions;
    memset(analysis->mb, 0, sizeof analysis->mb);
    for (int k = 0; k < 4; k++) analysis->cost[k] = UINT32_MAX;
    motus_grid_load(&grid, &in->around);
    choose_type(in, &grid, MOTUS_MB_P_16x16, candidates, neighbour_mvs(&grid, candidates), analysis);
    MotusMv whole = analysis->mb[0].mv[0];
    if (partitions >> MOTUS_MODE_16x8 & 1) choose_type(in, &grid, MOTUS_MB_P_16x8, &whole, 1, analysis);
    if (partitions >> MOTUS_MODE_8x16 & 1) choose_type(in, &grid, MOTUS_MB_P_8x16, &whole, 1, analysis);
    if (partitions >> MOTUS_MODE_8x8 & 0xF) choose_8x8(in, &grid, whole, analysis);
    analysis->best = 0;
    for (int k = 1; k < 4; k++)
        if (analysis->cost[k] < analysis->cost[analysis->best]) analysis->best = k;
}
