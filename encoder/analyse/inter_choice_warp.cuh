// Choice of an inter MB's partitions and MVs by a team: the warps that decide one MB together. MVs
// are listed and measured first: lane v of every warp holds MV v, so that listing needs no memory;
// measuring takes two MVs a warp, a lane a 4x4 block. Then one warp chooses P_8x8 by eight lanes
// for each sub type, each on its own grid; another one chooses P_16x16, P_16x8 and P_8x16 in that
// way. Equals choose_types in inter.c: suite `lanes`, and `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTER_CHOICE_WARP_CUH
#define ENCODER_ANALYSE_INTER_CHOICE_WARP_CUH

#include "dct/dct_warp.cuh"
#include "encoder/analyse/inter_core.h"
#include "encoder/mb/direct_core.h"
#include "me/pixel/words_warp.cuh"

// ---- MVs to choose from -------------------------------------------------------------------------

// SATD of each of the 41 blocks with each MV: at most 65,280 for half an MB. That of 16x16 may
// exceed 16 bits: it is stored as 0 and computed as the sum of the two 16x8 blocks.
typedef struct MotusTeamSums {
    uint16_t sum[MOTUS_CHOICES][MOTUS_BLOCKS];
} MotusTeamSums;

// MotusMvGrid with an MV and its state in one 8-byte cell.
typedef struct __attribute__((aligned(8))) MotusLaneCell {
    uint32_t mv; // motus_mv_word
    int32_t state;
} MotusLaneCell;
typedef MotusLaneCell MotusLaneGrid[30]; // 6 row + column

// A lane's cell of the grid (6 row + column) around the MB.
typedef struct MotusEdge {
    MotusLaneCell cell[2]; // by list
    uint32_t counts; // total_coeff of the luma block, of a chroma block in bits 8..15; 65535: no MB
} MotusEdge;

// A lane's MV, and values that all lanes have alike.
typedef struct MotusTeamLane {
    uint32_t mv; // motus_mv_word
    int ref;     // ref_idx of the MV; not set if there is one reference
    int n;       // MVs in the list
    MotusMv predictor, skip;
} MotusTeamLane;

// Appends an MV to the list, unless it is there already, is not allowed, or the list is full.
MOTUS_WARP void team_add(MotusTeamLane *own, const MotusInterMb *in, MotusMv mv, int ref) {
    const uint32_t word = motus_mv_word(mv);
    const uint32_t same = motus_lanes_ballot(motus_lane() < own->n && own->mv == word &&
                                             (in->refs == 1 || own->ref == ref));
    if (own->n == MOTUS_CHOICES || same || !motus_inter_mv_allowed(in, mv)) return;
    if (motus_lane() == own->n) {
        own->mv = word;
        if (in->refs > 1) own->ref = ref;
    }
    own->n++;
}

// Stores the SATDs of an MV's 41 blocks from its sixteen 4x4 blocks, a lane of half a warp each.
MOTUS_WARP void team_put(uint16_t sum[MOTUS_BLOCKS], uint32_t satd, int valid) {
    const int lane = motus_lane(), blk = lane & 15, x = blk & 3, y = blk >> 2;
    const uint32_t wide = satd + motus_lanes_shuffle(satd, lane ^ 1),
                   high = satd + motus_lanes_shuffle(satd, lane ^ 4);
    const uint32_t square = wide + motus_lanes_shuffle(wide, lane ^ 4);
    const uint32_t row = square + motus_lanes_shuffle(square, lane ^ 2),
                   column = square + motus_lanes_shuffle(square, lane ^ 8);
    if (!valid) return;
    sum[MOTUS_BLOCK_4x4 + blk] = (uint16_t)satd;
    if (!(x & 1)) sum[MOTUS_BLOCK_8x4 + 2 * y + x / 2] = (uint16_t)wide;
    if (!(y & 1)) sum[MOTUS_BLOCK_4x8 + 2 * y + x] = (uint16_t)high;
    if (x & 1 || y & 1) return;
    sum[MOTUS_BLOCK_8x8 + y + x / 2] = (uint16_t)square;
    if (!x) sum[MOTUS_BLOCK_16x8 + y / 2] = (uint16_t)row;
    if (!y) sum[MOTUS_BLOCK_8x16 + x / 2] = (uint16_t)column;
    if (!blk) sum[MOTUS_BLOCK_16x16] = 0;
}

// Returns the SATD of a lane's 4x4 block (lane & 15) with an MV into a reference.
MOTUS_WARP uint32_t motus_team_satd(const MotusInterMb *in, int ref_idx, MotusMv mv) {
    const MotusReference *ref = &in->ref[ref_idx];
    const int blk = motus_lane() & 15, bx = 4 * (blk & 3), by = 4 * (blk >> 2);
    const uint8_t *src = in->src.plane[0] + by * in->src.stride[0] + bx, *tap[2];
    const ptrdiff_t stride = ref->luma_stride, at = by * stride + bx;
    uint32_t a[4], b[4], s[4];
    motus_luma_taps(ref, ref->luma, 16 * in->x, 16 * in->y, mv, tap);
    motus_words_load(a, 4, tap[0] + at, stride, 4);
    motus_words_load(b, 4, tap[1] + at, stride, 4);
    for (int i = 0; i < 4; i++) {
        a[i] = motus_words_average(a[i], b[i]);
        s[i] = motus_word_get(src + i * in->src.stride[0]);
    }
    return motus_words_satd(s, a);
}

// Measures the MVs from `from` on.
MOTUS_WARP void motus_team_measure(MotusTeamSums *sums, const MotusInterMb *in,
                                   const MotusTeamLane *own, int from, int warp, int warps) {
    for (int first = from + 2 * warp; first < own->n; first += 2 * warps) {
        const int v = first + (motus_lane() >> 4), valid = v < own->n;
        const MotusMv mv = motus_mv_of_word(motus_lanes_shuffle(own->mv, v));
        const int ref = in->refs > 1 ? (int)motus_lanes_shuffle((uint32_t)own->ref, v) : 0;
        team_put(sums->sum[v & (MOTUS_CHOICES - 1)], valid ? motus_team_satd(in, ref, mv) : 0,
                 valid);
    }
}

// Returns the SATD of a block with MV v. `whole`: the block may be 16x16.
MOTUS_WARP uint32_t team_sum(const MotusTeamSums *sums, int v, int block, int whole) {
    const uint16_t *sum = sums->sum[v];
    if (!whole) return sum[block];
    return (uint32_t)sum[block ? block : MOTUS_BLOCK_16x8] +
           sum[block ? MOTUS_BLOCK_16x16 : MOTUS_BLOCK_16x8 + 1];
}

// Returns motus_mv_bits of MVs in words.
MOTUS_WARP uint32_t word_mv_bits(uint32_t mv, uint32_t predictor) {
    const uint32_t apart = motus_pairs_abs(motus_pairs_sub(mv, predictor));
    return (uint32_t)(motus_mvd_bits((int)(apart & 0xFFFF)) + motus_mvd_bits((int)(apart >> 16)));
}

// Returns a lane's cell: A's right column, B's lowest row, D's last block, C's first block of its
// lowest row. The four cells of A also carry the right columns of Cb and Cr, those of B their
// lowest rows. No load depends on another. refs: of list 0 of the slice; lists: of its MBs.
MOTUS_WARP MotusEdge motus_edge(const MotusNeighbours *n, int refs, int lists) {
    const int row = motus_lane() / 6, column = motus_lane() % 6, k = (column - 1) & 3;
    const int blk = row ? 4 * row - 1 : column == 0 ? 15 : column == 5 ? 12 : 11 + column;
    const MotusMb *mb = row > 4       ? NULL
                        : row         ? (column ? NULL : n->a)
                        : column == 0 ? n->d
                        : column == 5 ? n->c
                                      : n->b;
    MotusEdge edge = {{{0, MOTUS_CELL_NONE}, {0, MOTUS_CELL_NONE}}, 0xFFFF};
    if (lists == 2)
        for (int list = 0; list < 2; list++) {
            const MotusMvCell cell = motus_list_cell(mb, blk, list);
            edge.cell[list].mv = motus_mv_word(cell.mv);
            edge.cell[list].state = cell.state;
        }
    if (!mb) return edge;
    if (lists == 1) {
        edge.cell[0].mv = motus_mv_word(mb->mv[blk]); // zero for intra
        edge.cell[0].state = motus_mb_is_intra(mb) ? MOTUS_CELL_INTRA
                             : refs > 1 ? MOTUS_CELL_INTER + mb->ref[0][motus_8x8_of(blk)]
                                        : MOTUS_CELL_INTER;
    }
    edge.counts = mb->total_coeff[blk] |
                  (uint32_t)mb->total_coeff[row ? 15 + 2 * row : 18 + (k & 1) + 4 * (k >> 1)] << 8;
    return edge;
}

// Returns a cell of list 0, to all lanes.
MOTUS_WARP MotusMvCell motus_edge_cell(const MotusEdge *edge, int row, int column) {
    MotusMvCell cell;
    cell.mv = motus_mv_of_word(motus_lanes_shuffle(edge->cell[0].mv, 6 * row + column));
    cell.state = (int)motus_lanes_shuffle((uint32_t)edge->cell[0].state, 6 * row + column);
    return cell;
}

// Returns the predicted MV of 16x16 for a ref_idx, which each lane has for itself.
MOTUS_WARP MotusMv motus_edge_mvp(const MotusEdge *edge, int ref) {
    const MotusMvCell a = motus_edge_cell(edge, 1, 0), b = motus_edge_cell(edge, 0, 1),
                      c = motus_edge_cell(edge, 0, 5), d = motus_edge_cell(edge, 0, 0);
    return motus_mvp(a, b, c.state == MOTUS_CELL_NONE ? d : c, MOTUS_MODE_16x16, 0, ref);
}

// Lists P_Skip's MV, the median, zero and the neighbours' MVs; fills the warp's four grids, if any.
MOTUS_WARP void motus_team_list(MotusTeamLane *own, const MotusEdge *edge, const MotusInterMb *in,
                                MotusLaneGrid *grid) {
    const int lane = motus_lane();
    const MotusMv zero = {0, 0};
    for (int g = 0; grid && lane < 30 && g < 4; g++) grid[g][lane] = edge->cell[0];
    const MotusMvCell a = motus_edge_cell(edge, 1, 0), b = motus_edge_cell(edge, 0, 1),
                      c = motus_edge_cell(edge, 0, 5), d = motus_edge_cell(edge, 0, 0);
    own->predictor = motus_mvp(a, b, c.state == MOTUS_CELL_NONE ? d : c, MOTUS_MODE_16x16, 0, 0);
    own->skip = motus_skip_is_zero(a) || motus_skip_is_zero(b) ? zero : own->predictor;
    team_add(own, in, own->skip, 0);
    team_add(own, in, own->predictor, 0);
    team_add(own, in, zero, 0);
    if (a.state >= MOTUS_CELL_INTER) team_add(own, in, a.mv, a.state - MOTUS_CELL_INTER);
    if (b.state >= MOTUS_CELL_INTER) team_add(own, in, b.mv, b.state - MOTUS_CELL_INTER);
    if (c.state >= MOTUS_CELL_INTER) team_add(own, in, c.mv, c.state - MOTUS_CELL_INTER);
}

// Lists the search's candidates with their SATDs, and clears the choice: all that depends on no
// neighbour. refs: of the slice.
MOTUS_WARP void motus_team_begin(MotusTeamLane *own, const MotusCandidates *found, int refs,
                                 MotusChoice *choice, MotusTeamSums *sums, int warp, int warps) {
    const int lane = motus_lane();
    own->n = found->n;
    own->mv = lane < own->n ? motus_mv_word(found->mv[lane]) : 0;
    if (refs > 1) own->ref = lane < own->n ? found->ref[lane] : 0;
    if (warp == warps - 1) {
        for (int i = lane; i < (int)(sizeof choice->mb / 4); i += MOTUS_LANES)
            motus_word_put((char *)choice->mb + 4 * i, 0);
        if (lane < 4) choice->cost[lane] = UINT32_MAX;
    }
    for (int first = 2 * warp; first < own->n; first += 2 * warps) {
        const int v = first + (lane >> 4), valid = v < own->n;
        team_put(sums->sum[v], valid ? found->satd[v][lane & 15] : 0, valid);
    }
}

// Adds the MVs around the best one for the whole MB, as long as that is not among the first `old`,
// the search's. Begins after a motus_team_sync().
MOTUS_WARP void motus_team_refine(MotusTeamLane *own, const MotusEdge *edge, const MotusInterMb *in,
                                  int old, MotusTeamSums *sums, int warp, int warps) {
    uint32_t predictor = motus_mv_word(own->predictor);
    for (int step = 0; step < in->limits->steps; step++) {
        if (in->refs > 1) predictor = motus_mv_word(motus_edge_mvp(edge, own->ref));
        uint32_t cost = UINT32_MAX; // above the MV's number (as in choose_mv of inter.c)
        if (motus_lane() < own->n) {
            uint32_t bits = word_mv_bits(own->mv, predictor);
            if (in->refs > 1) bits += (uint32_t)motus_ref_bits(in->refs, own->ref);
            cost = (team_sum(sums, motus_lane(), MOTUS_BLOCK_16x16, 1) +
                    (in->qp->lambda_q8 * bits >> 8))
                       << 5 |
                   (uint32_t)motus_lane();
        }
        const int best = (int)(motus_lanes_min(cost) & 31), first = own->n;
        if (best < old) break;
        const int ref = in->refs > 1 ? (int)motus_lanes_shuffle((uint32_t)own->ref, best) : 0;
        const MotusMv centre = motus_mv_of_word(motus_lanes_shuffle(own->mv, best));
        for (int i = 0; i < 4; i++) {
            MotusMv mv;
            mv.x = (int16_t)(centre.x + in->limits->unit * (i == 1 ? -1 : i == 2));
            mv.y = (int16_t)(centre.y + in->limits->unit * (i == 0 ? -1 : i == 3));
            team_add(own, in, mv, ref);
        }
        motus_team_measure(sums, in, own, first, warp, warps);
        motus_team_sync(); // they are measured
        old = first;
    }
}

enum { MOTUS_CHOOSE_8x8, MOTUS_CHOOSE_WHOLE, MOTUS_CHOOSERS }; // warps that choose

// ---- Types, by eight lanes each -----------------------------------------------------------------

// MVs that eight lanes choose from: lane k holds k, k + 8, k + 16 and k + 24 in `own`.
typedef struct MotusTeamChooser {
    const MotusTeamSums *sums;
    uint32_t own[4], all;   // all: MotusTeamLane's mv
    uint32_t own_refs, ref; // ref_idx of own, a byte each; of all
    int n, refs;            // refs: of the slice
    const MotusCabacCosts *costs;
    uint32_t lambda_q8;
} MotusTeamChooser;

MOTUS_WARP MotusTeamChooser motus_team_chooser(const MotusTeamSums *sums, const MotusTeamLane *own,
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
MOTUS_WARP MotusLanePartition motus_whole_partition(int k, int i) {
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
MOTUS_WARP MotusLanePartition motus_lane_sub_partition(int sub, int q, int i) {
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
MOTUS_WARP uint32_t motus_mvp_warp(const MotusLaneCell *grid, const MotusLanePartition *p,
                                   int ref) {
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
    uint32_t predictor = motus_mvp_warp(grid, &p, 0);
    for (int k = 0; k < 4; k++) {
        if (k >= most) break;
        const int ref = c->refs > 1 ? (int)(c->own_refs >> 8 * k & 255) : 0;
        if (c->refs > 1) predictor = motus_mvp_warp(grid, &p, ref);
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
    if (c->refs > 1) predictor = motus_mvp_warp(grid, &p, ref);
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
MOTUS_WARP void motus_team_choose_whole(const MotusTeamChooser *c, const MotusInterMb *in,
                                        uint64_t blocks, MotusLaneGrid grids[4],
                                        MotusChoice *choice) {
    const int group = motus_lane() >> 3, k = motus_min(group, 2), parts = k ? 2 : 1;
    const int wanted =
        group < 3 && (!k || (blocks >> (k == 1 ? MOTUS_BLOCK_16x8 : MOTUS_BLOCK_8x16) &
                             1)); // blocks of a type go together
    const int steps = motus_lanes_ballot(wanted && k) ? 2 : 1;
    MotusLaneCell *grid = grids[group];
    uint32_t cost = motus_mode_cost(in->qp, k ? 3 : 1), mv_bits = 0; // ue(k)
    for (int i = 0; i < steps; i++)
        team_choose_partition(c, grid, motus_whole_partition(k, motus_min(i, parts - 1)), 1, -1,
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
    const int wanted =
        sub == MOTUS_SUB_8x8 ||
        (parts <= max_mvs && (blocks >> motus_lane_sub_partition(sub, q, 0).block & 1));
    const uint32_t some = motus_lanes_ballot(wanted && parts > 1);
    const int steps = some >> 8 * MOTUS_SUB_4x4 ? 4 : some ? 2 : 1;
    const int begins = in->refs > 1 ? sub != MOTUS_SUB_8x8 : 1; // else it is chosen already
    uint32_t cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)sub)), bits = 0;
    int ref = -1;
    if (in->refs > 1) { // the MV of the whole block chooses the reference
        ref = team_choose_partition(c, grid[sub], motus_lane_sub_partition(MOTUS_SUB_8x8, q, 0), 0,
                                    -1, sub == MOTUS_SUB_8x8, &cost, &bits);
        if (sub != MOTUS_SUB_8x8) {
            const uint32_t ref_bits = (uint32_t)motus_ref_bits(in->refs, ref);
            bits = in->costs ? 0 : ref_bits;
            cost = motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)sub) + ref_bits);
        }
    }
    for (int i = 0; i < steps; i++)
        team_choose_partition(c, grid[sub],
                              motus_lane_sub_partition(sub, q, motus_min(i, parts - 1)), 0, ref,
                              begins && wanted && i < parts, &cost, &bits);
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

MOTUS_WARP void motus_team_choose_8x8(const MotusTeamChooser *c, const MotusInterMb *in,
                                      uint64_t blocks, MotusLaneGrid grid[4], MotusChoice *choice) {
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
