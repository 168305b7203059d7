// Choice of an inter MB's partitions and MVs among those that a team has listed: one warp chooses
// P_8x8 by eight lanes for each sub type, each on its own grid; another one chooses P_16x16, P_16x8
// and P_8x16 in that way. Equals choose_whole and choose_sub in inter.c: suite `lanes`, and
// `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTER_CHOICE_WARP_CUH
#define ENCODER_ANALYSE_INTER_CHOICE_WARP_CUH

#include "encoder/analyse/inter_list_warp.cuh"

enum { MOTUS_CHOOSE_8x8, MOTUS_CHOOSE_WHOLE, MOTUS_CHOOSERS }; // warps that choose

// MVs that eight lanes choose from: lane k holds k, k + 8, k + 16 and k + 24 in `own`.
typedef struct MotusTeamChooser {
    const MotusTeamSums *sums;
    uint32_t own[4], all;   // all: MotusTeamLane's mv
    uint32_t own_refs, ref; // ref_idx of own, a byte each; of all
    int n, refs;            // refs: of the slice
    const MotusCabacCosts *costs;
    uint32_t lambda_q8;
} MotusTeamChooser;

MOTUS_WARP MotusTeamChooser team_chooser(const MotusTeamSums *sums, const MotusTeamLane *own,
                                         const MotusInterMb *in) {
    MotusTeamChooser c;
    c.sums = sums;
    c.all = own->mv;
    c.n = own->n, c.refs = in->refs, c.costs = in->costs;
    c.lambda_q8 = in->qp->lambda_q8;
    for (int k = 0; k < 4; k++) c.own[k] = motus_lanes_shuffle(own->mv, (motus_lane() & 7) + 8 * k);
    if (in->refs == 1) return c;
    c.ref = (uint32_t)own->ref;
    c.own_refs = 0;
    for (int k = 0; k < 4; k++)
        c.own_refs |= motus_lanes_shuffle(c.ref, (motus_lane() & 7) + 8 * k) << 8 * k;
    return c;
}

// The cell that alone predicts a block of 16x8 or 8x16 if it is inter (8.4.1.3).
enum { MOTUS_ALONE_NONE, MOTUS_ALONE_A, MOTUS_ALONE_B, MOTUS_ALONE_C };

// A block whose MV is chosen, in units of 4 samples inside the MB.
typedef struct MotusLanePartition {
    int at;         // cell D: 6 y + x
    int width;      // for cell C
    int block;      // of the 41
    uint32_t cells; // bit 4 y + x
    int alone;      // MOTUS_ALONE_*
} MotusLanePartition;

// Returns the mask of a block's cells.
MOTUS_WARP uint32_t partition_cells(int x, int y, int width, int height) {
    return ((1u << width) - 1) * (0x1111u & ((1u << 4 * height) - 1)) << (4 * y + x);
}

// Returns the i-th block of P_16x16, P_16x8 or P_8x16: k is 0, 1 or 2.
MOTUS_WARP MotusLanePartition lane_whole_partition(int k, int i) {
    const int x = k == 2 ? 2 * i : 0, y = k == 1 ? 2 * i : 0, width = k == 2 ? 2 : 4,
              height = k == 1 ? 2 : 4;
    MotusLanePartition p;
    p.at = 6 * y + x, p.width = width, p.block = k ? 2 * k - 1 + i : 0;
    p.cells = partition_cells(x, y, width, height);
    p.alone = k == 0   ? MOTUS_ALONE_NONE
              : k == 1 ? (i ? MOTUS_ALONE_A : MOTUS_ALONE_B)
              : i      ? MOTUS_ALONE_C
                       : MOTUS_ALONE_A;
    return p;
}

// First block of each sub type, a byte each.
#define MOTUS_SUB_FIRSTS                                                                           \
    ((uint32_t)MOTUS_BLOCK_8x8 | MOTUS_BLOCK_8x4 << 8 | MOTUS_BLOCK_4x8 << 16 |                    \
     (uint32_t)MOTUS_BLOCK_4x4 << 24)

// Returns the i-th block of 8x8 block q with this sub type (motus_sub_partition).
MOTUS_WARP MotusLanePartition lane_sub_partition(int sub, int q, int i) {
    const int narrow = sub >> 1, flat = sub & 1; // 4 samples wide; 4 high
    const int x = 2 * (q & 1) + (narrow ? i & 1 : 0), y = (q & 2) + (flat ? i >> narrow : 0);
    MotusLanePartition p;
    p.at = 6 * y + x, p.width = 2 - narrow;
    p.block = (int)(MOTUS_SUB_FIRSTS >> (8 * sub) & 63) + ((flat ? y : y >> 1) << (1 + narrow)) +
              (narrow ? x : x >> 1);
    p.cells = partition_cells(x, y, 2 - narrow, 2 - flat);
    p.alone = MOTUS_ALONE_NONE;
    return p;
}

// Returns motus_grid_mvp of a block.
MOTUS_WARP uint32_t lane_mvp(const MotusLaneCell *grid, const MotusLanePartition *p, int ref) {
    const int inter = MOTUS_CELL_INTER + ref;
    const MotusLaneCell *at = grid + p->at, d = at[0], b = at[1], a = at[6],
                        beyond = at[1 + p->width];
    const MotusLaneCell c = beyond.state == MOTUS_CELL_NONE ? d : beyond;
    const int inter_a = a.state == inter, inter_b = b.state == inter, inter_c = c.state == inter;
    const int only_a =
        b.state == MOTUS_CELL_NONE && c.state == MOTUS_CELL_NONE && a.state != MOTUS_CELL_NONE;
    uint32_t mv = motus_pairs_median(a.mv, b.mv, c.mv);
    if (inter_a + inter_b + inter_c == 1) mv = inter_a ? a.mv : inter_b ? b.mv : c.mv;
    if (only_a || (p->alone == MOTUS_ALONE_A && inter_a)) mv = a.mv;
    if (p->alone == MOTUS_ALONE_B && inter_b) mv = b.mv;
    if (p->alone == MOTUS_ALONE_C && inter_c) mv = c.mv;
    return mv;
}

// Returns the bits of a ref_idx beside an MV; only: as in team_choose_partition.
MOTUS_WARP uint32_t team_ref_bits(const MotusTeamChooser *c, int ref, int only) {
    return c->refs > 1 && only < 0 ? (uint32_t)motus_ref_bits(c->refs, ref) : 0;
}

// Chooses the MV of a block, sets it in the grid, and adds to cost and mv_bits. Lanes that are not
// `active` take part in exchanges only. `whole`: the block may be 16x16. only: the one reference
// that counts, -1: all. Returns its reference.
MOTUS_WARP int team_choose_partition(const MotusTeamChooser *c, MotusLaneCell *grid,
                                     MotusLanePartition p, int whole, int only, int active,
                                     uint32_t *cost, uint32_t *mv_bits) {
    const int lane = motus_lane() & 7, most = c->n > 16 ? 4 : 2; // MVs of a lane
    uint32_t best = UINT32_MAX, satd[4];
    for (int k = 0; k < 4; k++) // loads overlap the prediction
        if (k < most) satd[k] = team_sum(c->sums, lane + 8 * k, p.block, whole);
    uint32_t predictor = lane_mvp(grid, &p, 0);
    for (int k = 0; k < 4; k++) {
        if (k >= most) break;
        const int ref = c->refs > 1 ? (int)(c->own_refs >> 8 * k & 255) : 0;
        if (c->refs > 1) predictor = lane_mvp(grid, &p, ref);
        const uint32_t bits = word_mv_bits(c->own[k], predictor) + team_ref_bits(c, ref, only);
        const uint32_t own = (satd[k] + (c->lambda_q8 * bits >> 8)) << 5 |
                             (uint32_t)(lane + 8 * k); // as in choose_mv of inter.c
        const int counts = lane + 8 * k < c->n && (c->refs == 1 || only < 0 || ref == only);
        best = counts && own < best ? own : best;
    }
    best = motus_lanes_group_min(best, 8);
    const int ref = c->refs > 1 ? (int)motus_lanes_shuffle(c->ref, (int)(best & 31)) : 0;
    const MotusLaneCell chosen = {motus_lanes_shuffle(c->all, (int)(best & 31)),
                                  MOTUS_CELL_INTER + ref};
    if (c->refs > 1) predictor = lane_mvp(grid, &p, ref);
    motus_lanes_sync(); // all have read the grid
    for (int cell = lane; cell < 16; cell += 8)
        if (active && (p.cells >> cell & 1)) grid[6 * (cell >> 2) + (cell & 3) + 7] = chosen;
    motus_lanes_sync(); // the grid is written
    if (!active) return ref;
    *cost += best >> 5;
    *mv_bits += motus_mvd_bits_in(c->costs, motus_mv_of_word(chosen.mv),
                                  motus_mv_of_word(predictor), (int)team_ref_bits(c, ref, only));
    return ref;
}

// Chooses the MVs of P_16x16, P_16x8 and P_8x16, as far as `blocks` has them. The last eight lanes
// take part in exchanges only.
MOTUS_WARP void team_choose_whole(const MotusTeamChooser *c, const MotusInterMb *in,
                                  uint64_t blocks, MotusLaneGrid grids[4], MotusChoice *choice) {
    const int group = motus_lane() >> 3, k = motus_min(group, 2), parts = k ? 2 : 1;
    const int wanted =
        group < 3 && (!k || (blocks >> (k == 1 ? MOTUS_BLOCK_16x8 : MOTUS_BLOCK_8x16) &
                             1)); // blocks of a type go together
    const int steps = motus_lanes_ballot(wanted && k) ? 2 : 1;
    MotusLaneCell *grid = grids[group];
    uint32_t cost = motus_mode_cost(in->qp, k ? 3 : 1), mv_bits = 0; // ue(k)
    for (int i = 0; i < steps; i++)
        team_choose_partition(c, grid, lane_whole_partition(k, motus_min(i, parts - 1)), 1, -1,
                              wanted && i < parts, &cost, &mv_bits);
    if (!wanted) return;
    const int q = motus_lane() & 3;
    if (c->refs > 1)
        choice->mb[k].ref[0][q] =
            (uint8_t)(grid[12 * (q >> 1) + 2 * (q & 1) + 7].state - MOTUS_CELL_INTER);
    for (int cell = motus_lane() & 7; cell < 16; cell += 8)
        motus_word_put(&choice->mb[k].mv[cell], grid[6 * (cell >> 2) + (cell & 3) + 7].mv);
    if (!(motus_lane() & 7)) motus_choice_put(choice, k, cost, mv_bits);
}

// Chooses the sub type of 8x8 block q with at most max_mvs MVs. Returns its cost << 2 | sub type.
MOTUS_WARP uint32_t team_choose_sub(const MotusTeamChooser *c, const MotusInterMb *in,
                                    uint64_t blocks, MotusLaneGrid grid[4], MotusMb *mb, int q,
                                    int max_mvs, uint32_t *mv_bits) {
    const int sub = motus_lane() >> 3, parts = motus_sub_partitions(sub);
    const int wanted = sub == MOTUS_SUB_8x8 ||
                       (parts <= max_mvs && (blocks >> lane_sub_partition(sub, q, 0).block & 1));
    const uint32_t some = motus_lanes_ballot(wanted && parts > 1);
    const int steps = some >> 8 * MOTUS_SUB_4x4 ? 4 : some ? 2 : 1;
    const int begins = in->refs > 1 ? sub != MOTUS_SUB_8x8 : 1; // else it is chosen already
    uint32_t cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)sub)), bits = 0;
    int ref = -1;
    if (in->refs > 1) { // the MV of the whole block chooses the reference
        ref = team_choose_partition(c, grid[sub], lane_sub_partition(MOTUS_SUB_8x8, q, 0), 0, -1,
                                    sub == MOTUS_SUB_8x8, &cost, &bits);
        if (sub != MOTUS_SUB_8x8) {
            const uint32_t ref_bits = (uint32_t)motus_ref_bits(in->refs, ref);
            bits = in->costs ? 0 : ref_bits;
            cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)sub) + ref_bits);
        }
    }
    for (int i = 0; i < steps; i++)
        team_choose_partition(c, grid[sub], lane_sub_partition(sub, q, motus_min(i, parts - 1)), 0,
                              ref, begins && wanted && i < parts, &cost, &bits);
    const uint32_t best = // the first of equals; below 2^20
        motus_lanes_min(wanted ? cost << 2 | (uint32_t)sub : UINT32_MAX);
    const int k = motus_lane() & 3, x = 2 * (q & 1) + (k & 1), y = (q & 2) + (k >> 1),
              at = 6 * y + x + 7;
    const MotusLaneCell chosen = grid[best & 3][at];
    *mv_bits += motus_lanes_shuffle(bits, 8 * (int)(best & 3));
    motus_lanes_sync(); // all have read its MVs
    if ((motus_lane() & 7) < 4) grid[sub][at] = chosen;
    if (motus_lane() < 4) motus_word_put(&mb->mv[4 * y + x], chosen.mv);
    if (motus_lane() == 0) mb->sub_type[q] = (uint8_t)(best & 3);
    if (motus_lane() == 0 && in->refs > 1) mb->ref[0][q] = (uint8_t)ref;
    motus_lanes_sync(); // its MVs are in all grids
    return best;
}

MOTUS_WARP void team_choose_8x8(const MotusTeamChooser *c, const MotusInterMb *in, uint64_t blocks,
                                MotusLaneGrid grid[4], MotusChoice *choice) {
    const int k = MOTUS_MB_P_8x8 - MOTUS_MB_P_16x16;
    uint32_t cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)k)), mv_bits = 0;
    int left = in->limits->max_mvs;
    for (int q = 0; q < 4; q++) { // each later 8x8 block needs at least one MV
        const uint32_t best =
            team_choose_sub(c, in, blocks, grid, &choice->mb[k], q, left - (3 - q), &mv_bits);
        cost += best >> 2;
        left -= motus_sub_partitions((int)(best & 3));
    }
    if (!motus_lane()) motus_choice_put(choice, k, cost, mv_bits);
}

#endif
