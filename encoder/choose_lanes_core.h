// Choice of an inter MB's partitions and vectors by a team of warps: the same result as choose_core.h's, another order. What counts here is the longest chain of
// steps that wait for one another, and that no warp is held by what has no chance.
//
// Every lane of every warp knows one vector of the MB (the v-th lane the v-th vector), so that listing needs no memory; measuring is shared out, two vectors a
// warp, a lane a 4x4 block. Then one warp chooses P_8x8: eight lanes for each sub type, side by side, each on a grid of its own; another one chooses
// P_16x16, P_16x8 and P_8x16 in the same way.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CHOOSE_LANES_CORE_H
#define ENCODER_CHOOSE_LANES_CORE_H

#include "encoder/choose_core.h"
#include "me/words_core.h"

// The SATD of each of the 41 blocks with each vector: at most 130,560. 41 is odd, so that the lanes of a warp, a block or a vector each, meet in no bank.
typedef struct MotusTeamSums {
    uint32_t sum[MOTUS_CHOICES][MOTUS_BLOCKS];
} MotusTeamSums;

enum { MOTUS_CHOOSE_8x8, MOTUS_CHOOSE_WHOLE, MOTUS_CHOOSERS }; // the warps that choose

// What the warps of a team share while they choose.
typedef struct MotusChooseTeam {
    MotusMvGrid grid[MOTUS_CHOOSERS][4];
    MotusChoice choice; // but for `skip`
} MotusChooseTeam;

// What a lane knows: its vector, and what all lanes have the same.
typedef struct MotusTeamLane {
    uint32_t mv; // motus_mv_word
    int n;       // vectors that there are
    MotusMv predictor, skip;
} MotusTeamLane;

#if MOTUS_LANES > 1

MOTUS_HD uint32_t motus_mv_word(MotusMv mv) { return (uint16_t)mv.x | (uint32_t)(uint16_t)mv.y << 16; }
MOTUS_HD MotusMv motus_mv_of_word(uint32_t word) {
    MotusMv mv;
    mv.x = (int16_t)(word & 0xFFFF);
    mv.y = (int16_t)(word >> 16);
    return mv;
}

// ---- The vectors --------------------------------------------------------------------------------------------------------------------------

// A vector becomes the last one, unless it is there, is not allowed, or finds no room.
MOTUS_HD void motus_team_add(MotusTeamLane *own, const MotusInterLimits *limits, MotusMv mv) {
    const uint32_t word = motus_mv_word(mv);
    const uint32_t same = motus_lanes_which(motus_lane() < own->n && own->mv == word);
    if (own->n == MOTUS_CHOICES || same || !motus_mv_allowed(limits, mv)) return;
    if (motus_lane() == own->n) own->mv = word;
    own->n++;
}

// Half of a warp brings the SATDs of a vector's sixteen blocks, and leaves those of all 41.
MOTUS_HD void motus_team_put(uint32_t sum[MOTUS_BLOCKS], uint32_t satd, int valid) {
    const int lane = motus_lane(), blk = lane & 15, x = blk & 3, y = blk >> 2;
    const uint32_t wide = satd + motus_lanes_get(satd, lane ^ 1), high = satd + motus_lanes_get(satd, lane ^ 4);
    const uint32_t square = wide + motus_lanes_get(wide, lane ^ 4);
    const uint32_t row = square + motus_lanes_get(square, lane ^ 2), column = square + motus_lanes_get(square, lane ^ 8);
    const uint32_t whole = row + motus_lanes_get(row, lane ^ 8);
    if (!valid) return;
    sum[MOTUS_BLOCK_4x4 + blk] = satd;
    if (!(x & 1)) sum[MOTUS_BLOCK_8x4 + 2 * y + x / 2] = wide;
    if (!(y & 1)) sum[MOTUS_BLOCK_4x8 + 2 * y + x] = high;
    if (x & 1 || y & 1) return;
    sum[MOTUS_BLOCK_8x8 + y + x / 2] = square;
    if (!x) sum[MOTUS_BLOCK_16x8 + y / 2] = row;
    if (!y) sum[MOTUS_BLOCK_8x16 + x / 2] = column;
    if (!blk) sum[MOTUS_BLOCK_16x16] = whole;
}

MOTUS_HD uint32_t motus_team_satd(const MotusInterMb *in, MotusMv mv) {
    const int blk = motus_lane() & 15, bx = 4 * (blk & 3), by = 4 * (blk >> 2);
    const uint8_t *src = in->src.plane[0] + by * in->src.stride[0] + bx, *tap[2];
    const ptrdiff_t stride = in->ref->luma_stride, at = by * stride + bx;
    uint32_t a[4], b[4], s[4];
    motus_luma_taps(in->ref, 16 * in->x, 16 * in->y, mv, tap);
    motus_words_load(a, 4, tap[0] + at, stride, 4);
    motus_words_load(b, 4, tap[1] + at, stride, 4);
    for (int i = 0; i < 4; i++) {
        a[i] = motus_words_average(a[i], b[i]);
        s[i] = motus_word_get(src + i * in->src.stride[0]);
    }
    return motus_words_satd(s, a);
}

// Measures the vectors from `from` on.
MOTUS_HD void motus_team_measure(MotusTeamSums *sums, const MotusInterMb *in, const MotusTeamLane *own, int from, int warp,
                                 int warps) {
    for (int first = from + 2 * warp; first < own->n; first += 2 * warps) {
        const int v = first + (motus_lane() >> 4), valid = v < own->n;
        const MotusMv mv = motus_mv_of_word(motus_lanes_get(own->mv, v));
        motus_team_put(sums->sum[v & (MOTUS_CHOICES - 1)], valid ? motus_team_satd(in, mv) : 0, valid);
    }
}

// What a lane's vector costs for a block, over its number; UINT32_MAX where it has none.
MOTUS_HD uint32_t motus_team_cost(const MotusTeamSums *sums, uint32_t mv, int v, int n, int block, MotusMv predictor,
                                  uint32_t lambda_q8) {
    if (v >= n) return UINT32_MAX;
    const MotusMv own = motus_mv_of_word(mv);
    const int bits = motus_se_bits_of(own.x - predictor.x) + motus_se_bits_of(own.y - predictor.y);
    return (sums->sum[v][block] + (lambda_q8 * (uint32_t)bits >> 8)) << 5 | (uint32_t)v; // as in motus_choose_mv
}

// ---- The beginning ------------------------------------------------------------------------------------------------------------------------

// A lane's cell of the grid.
MOTUS_HD MotusMvCell motus_lane_cell(const MotusNeighbours *n) {
    const int lane = motus_lane(), row = lane / 6, column = lane % 6;
    const MotusMb *mb = row ? (column || lane >= 30 ? NULL : n->a) : column == 0 ? n->d : column == 5 ? n->c : n->b;
    const int blk = row ? 4 * row - 1 : column == 0 ? 15 : column == 5 ? 12 : 11 + column;
    MotusMvCell cell = {{0, 0}, MOTUS_CELL_NONE};
    if (!mb) return cell;
    cell.state = motus_mb_is_intra(mb) ? MOTUS_CELL_INTRA : MOTUS_CELL_INTER;
    if (cell.state == MOTUS_CELL_INTER) cell.mv = mb->mv[blk];
    return cell;
}

MOTUS_HD MotusMvCell motus_lane_cell_at(uint32_t mv, int state, int row, int column) {
    MotusMvCell cell;
    cell.mv = motus_mv_of_word(motus_lanes_get(mv, 6 * row + column));
    cell.state = (int)motus_lanes_get((uint32_t)state, 6 * row + column);
    return cell;
}

// Lists what the search has left and the neighbours' vectors, P_Skip's and zero; makes the grids.
MOTUS_HD void motus_team_list(MotusTeamLane *own, const MotusInterMb *in, const MotusCandidates *found, MotusChooseTeam *t,
                              int warp) {
    const int lane = motus_lane();
    const MotusMvCell cell = motus_lane_cell(&in->neighbours);
    const uint32_t mv = motus_mv_word(cell.mv);
    const MotusMv zero = {0, 0};
    own->n = found->n;
    own->mv = lane < own->n ? motus_mv_word(found->mv[lane]) : 0;
    for (int g = 0; warp < MOTUS_CHOOSERS && lane < 30 && g < 4; g++) {
        t->grid[warp][g].mv[lane / 6][lane % 6] = cell.mv;
        t->grid[warp][g].state[lane / 6][lane % 6] = (uint8_t)cell.state;
    }
    const MotusMvCell a = motus_lane_cell_at(mv, cell.state, 1, 0), b = motus_lane_cell_at(mv, cell.state, 0, 1);
    const MotusMvCell c = motus_lane_cell_at(mv, cell.state, 0, 5), d = motus_lane_cell_at(mv, cell.state, 0, 0);
    own->predictor = motus_mvp_of(a, b, c.state == MOTUS_CELL_NONE ? d : c);
    own->skip = motus_skip_is_zero(a) || motus_skip_is_zero(b) ? zero : own->predictor;
    motus_team_add(own, in->limits, own->skip);
    motus_team_add(own, in->limits, own->predictor);
    motus_team_add(own, in->limits, zero);
    if (a.state == MOTUS_CELL_INTER) motus_team_add(own, in->limits, a.mv);
    if (b.state == MOTUS_CELL_INTER) motus_team_add(own, in->limits, b.mv);
    if (c.state == MOTUS_CELL_INTER) motus_team_add(own, in->limits, c.mv);
}

// Measures what is listed. The team has met when this returns.
MOTUS_HD void motus_team_load(const MotusTeamLane *own, const MotusInterMb *in, const MotusCandidates *found, MotusChooseTeam *t,
                              MotusTeamSums *sums, int warp, int warps) {
    const int lane = motus_lane();
    if (warp == warps - 1) {
        for (int i = lane; i < (int)(sizeof t->choice.mb / 4); i += MOTUS_LANES) motus_word_put((char *)t->choice.mb + 4 * i, 0);
        if (lane < 4) t->choice.cost[lane] = UINT32_MAX;
    }
    const int old = found->n;
    for (int first = 2 * warp; first < old; first += 2 * warps) {
        const int v = first + (lane >> 4), valid = v < old;
        motus_team_put(sums->sum[v], valid ? found->satd[v][lane & 15] : 0, valid);
    }
    motus_team_measure(sums, in, own, old, warp, warps);
    motus_team_sync(); // all are measured
}

// Adds what lies around a neighbour's vector that serves the whole MB best; the first `old` vectors are those that the search has left. The team has met.
MOTUS_HD void motus_team_refine(MotusTeamLane *own, const MotusInterMb *in, int old, MotusTeamSums *sums, int warp, int warps) {
    const int lane = motus_lane();
    for (int step = 0; step < in->limits->steps; step++) {
        const uint32_t cost = motus_team_cost(sums, own->mv, lane, own->n, MOTUS_BLOCK_16x16, own->predictor, in->qp->lambda_q8);
        const int best = (int)(motus_lanes_min(cost) & 31), first = own->n;
        if (best < old) break;
        const MotusMv centre = motus_mv_of_word(motus_lanes_get(own->mv, best));
        for (int i = 0; i < 4; i++) {
            MotusMv mv;
            mv.x = (int16_t)(centre.x + in->limits->unit * (i == 1 ? -1 : i == 2));
            mv.y = (int16_t)(centre.y + in->limits->unit * (i == 0 ? -1 : i == 3));
            motus_team_add(own, in->limits, mv);
        }
        motus_team_measure(sums, in, own, first, warp, warps);
        motus_team_sync(); // these as well
        old = first;
    }
}

// ---- The types, by eight lanes each ----------------------------------------------------------------------------------------------------------

// What eight lanes choose from: lane k has the vectors k, k + 8, k + 16, k + 24.
typedef struct MotusTeamChooser {
    const MotusTeamSums *sums;
    uint32_t own[4], all; // `all`: as in MotusTeamLane
    int n;
    uint32_t lambda_q8;
} MotusTeamChooser;

MOTUS_HD MotusTeamChooser motus_team_chooser(const MotusTeamSums *sums, const MotusTeamLane *own, const MotusInterMb *in) {
    MotusTeamChooser c;
    c.sums = sums;
    c.all = own->mv;
    c.n = own->n;
    c.lambda_q8 = in->qp->lambda_q8;
    for (int k = 0; k < 4; k++) c.own[k] = motus_lanes_get(own->mv, (motus_lane() & 7) + 8 * k);
    return c;
}

// Chooses the vector of a block, notes it in the grid, and adds to cost and bits; where `active` is 0, the eight lanes only come along.
MOTUS_HD void motus_team_choose_part(const MotusTeamChooser *c, MotusMvGrid *grid, MotusPart p, int active, uint32_t *cost,
                                     uint32_t *mv_bits) {
    const int lane = motus_lane() & 7;
    const MotusMv predictor = motus_mvp(grid, p.mode, p.part, p.x, p.y, p.width);
    uint32_t best = UINT32_MAX;
    for (int k = 0; k < 4; k++) {
        if (8 * k >= c->n) break;
        const uint32_t own = motus_team_cost(c->sums, c->own[k], lane + 8 * k, c->n, p.block, predictor, c->lambda_q8);
        best = own < best ? own : best;
    }
    best = motus_lanes_min_of(best, 8);
    const MotusMv mv = motus_mv_of_word(motus_lanes_get(c->all, (int)(best & 31)));
    motus_lanes_sync(); // the grid has been read by all
    for (int cell = lane; cell < 16; cell += 8) {
        const int x = cell & 3, y = cell >> 2;
        if (!active || x < p.x || x >= p.x + p.width || y < p.y || y >= p.y + p.height) continue;
        grid->mv[y + 1][x + 1] = mv;
        grid->state[y + 1][x + 1] = MOTUS_CELL_INTER;
    }
    motus_lanes_sync(); // and written, before the next block is predicted
    if (!active) return;
    *cost += best >> 5;
    *mv_bits += (uint32_t)motus_mv_bits(mv, predictor);
}

// P_16x16, P_16x8 and P_8x16, as far as `blocks` leave them a chance; the fourth eight lanes only come along.
MOTUS_HD void motus_team_choose_whole(const MotusTeamChooser *c, const MotusInterMb *in, uint64_t blocks, MotusChooseTeam *t) {
    const int group = motus_lane() >> 3, k = motus_min(group, 2), parts = k ? 2 : 1;
    const int chance =
        group < 3 && (!k || (blocks >> (k == 1 ? MOTUS_BLOCK_16x8 : MOTUS_BLOCK_8x16) & 1)); // blocks of a type go together
    const int steps = motus_lanes_which(chance && k) ? 2 : 1;
    MotusMvGrid *grid = &t->grid[MOTUS_CHOOSE_WHOLE][group];
    uint32_t cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)k)), mv_bits = 0;
    for (int i = 0; i < steps; i++) {
        const int at = motus_min(i, parts - 1);
        const MotusPart p = motus_part_at(k, at, k == 2 ? 2 * at : 0, k == 1 ? 2 * at : 0);
        motus_team_choose_part(c, grid, p, chance && i < parts, &cost, &mv_bits);
    }
    if (!chance) return;
    for (int cell = motus_lane() & 7; cell < 16; cell += 8) t->choice.mb[k].mv[cell] = grid->mv[(cell >> 2) + 1][(cell & 3) + 1];
    if (motus_lane() & 7) return;
    t->choice.mb[k].type = (uint8_t)(MOTUS_MB_P_16x16 + k);
    t->choice.cost[k] = cost;
    t->choice.mv_bits[k] = mv_bits;
}

// The best sub type of 8x8 block q with at most max_mvs vectors. Returns its cost over its number.
MOTUS_HD uint32_t motus_team_choose_sub(const MotusTeamChooser *c, const MotusInterMb *in, uint64_t blocks, MotusChooseTeam *t,
                                        int q, int max_mvs, uint32_t *mv_bits) {
    const int sub = motus_lane() >> 3, parts = motus_sub_parts(sub);
    const int chance = sub == MOTUS_SUB_8x8 || (parts <= max_mvs && (blocks >> motus_sub_part(sub, q, 0).block & 1));
    const uint32_t some = motus_lanes_which(chance && parts > 1);
    const int steps = some >> 8 * MOTUS_SUB_4x4 ? 4 : some ? 2 : 1;
    MotusMvGrid *grid = t->grid[MOTUS_CHOOSE_8x8];
    MotusMb *mb = &t->choice.mb[MOTUS_MB_P_8x8 - MOTUS_MB_P_16x16];
    uint32_t cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)sub)), bits = 0;
    for (int i = 0; i < steps; i++)
        motus_team_choose_part(c, &grid[sub], motus_sub_part(sub, q, motus_min(i, parts - 1)), chance && i < parts, &cost, &bits);
    const uint32_t best = motus_lanes_min(chance ? cost << 2 | (uint32_t)sub : UINT32_MAX); // the first of equals; below 2^20
    const int k = motus_lane() & 3, x = 2 * (q & 1) + (k & 1), y = (q & 2) + (k >> 1);
    const MotusMv mv = grid[best & 3].mv[y + 1][x + 1];
    *mv_bits += motus_lanes_get(bits, 8 * (int)(best & 3));
    motus_lanes_sync(); // its vectors have been read
    if ((motus_lane() & 7) < 4) {
        grid[sub].mv[y + 1][x + 1] = mv;
        grid[sub].state[y + 1][x + 1] = MOTUS_CELL_INTER;
    }
    if (motus_lane() < 4) mb->mv[4 * y + x] = mv;
    if (motus_lane() == 0) mb->sub_type[q] = (uint8_t)(best & 3);
    motus_lanes_sync(); // and are in all grids
    return best;
}

MOTUS_HD void motus_team_choose_8x8(const MotusTeamChooser *c, const MotusInterMb *in, uint64_t blocks, MotusChooseTeam *t) {
    const int k = MOTUS_MB_P_8x8 - MOTUS_MB_P_16x16;
    uint32_t cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)k)), mv_bits = 0;
    int left = in->limits->max_mvs;
    for (int q = 0; q < 4; q++) { // each later 8x8 block needs at least one vector
        const uint32_t best = motus_team_choose_sub(c, in, blocks, t, q, left - (3 - q), &mv_bits);
        cost += best >> 2;
        left -= motus_sub_parts((int)(best & 3));
    }
    if (motus_lane()) return;
    t->choice.mb[k].type = MOTUS_MB_P_8x8;
    t->choice.cost[k] = cost;
    t->choice.mv_bits[k] = mv_bits;
}

#endif
#endif
