// List of the MVs that a team, the warps that decide one MB together, chooses from: lane v of every
// warp holds MV v, so that listing needs no memory; measuring takes two MVs a warp, a lane a 4x4
// block. Equals choices_of_neighbours and choices_merge in inter.c: suite `lanes`, and `gpu_decide`
// on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTER_LIST_WARP_CUH
#define ENCODER_ANALYSE_INTER_LIST_WARP_CUH

#include "dct/dct_warp.cuh"
#include "encoder/analyse/inter_core.h"
#include "encoder/mb/direct_core.h"
#include "me/pixel/words_warp.cuh"

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
MOTUS_WARP void team_measure(MotusTeamSums *sums, const MotusInterMb *in, const MotusTeamLane *own,
                             int from, int warp, int warps) {
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
MOTUS_WARP MotusMvCell edge_cell(const MotusEdge *edge, int row, int column) {
    MotusMvCell cell;
    cell.mv = motus_mv_of_word(motus_lanes_shuffle(edge->cell[0].mv, 6 * row + column));
    cell.state = (int)motus_lanes_shuffle((uint32_t)edge->cell[0].state, 6 * row + column);
    return cell;
}

// Returns the predicted MV of 16x16 for a ref_idx, which each lane has for itself.
MOTUS_WARP MotusMv edge_mvp(const MotusEdge *edge, int ref) {
    const MotusMvCell a = edge_cell(edge, 1, 0), b = edge_cell(edge, 0, 1),
                      c = edge_cell(edge, 0, 5), d = edge_cell(edge, 0, 0);
    return motus_mvp(a, b, c.state == MOTUS_CELL_NONE ? d : c, MOTUS_MODE_16x16, 0, ref);
}

// Lists P_Skip's MV, the median, zero and the neighbours' MVs; fills the warp's four grids, if any.
MOTUS_WARP void team_list(MotusTeamLane *own, const MotusEdge *edge, const MotusInterMb *in,
                          MotusLaneGrid *grid) {
    const int lane = motus_lane();
    const MotusMv zero = {0, 0};
    for (int g = 0; grid && lane < 30 && g < 4; g++) grid[g][lane] = edge->cell[0];
    const MotusMvCell a = edge_cell(edge, 1, 0), b = edge_cell(edge, 0, 1),
                      c = edge_cell(edge, 0, 5), d = edge_cell(edge, 0, 0);
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
MOTUS_WARP void team_refine(MotusTeamLane *own, const MotusEdge *edge, const MotusInterMb *in,
                            int old, MotusTeamSums *sums, int warp, int warps) {
    uint32_t predictor = motus_mv_word(own->predictor);
    for (int step = 0; step < in->limits->steps; step++) {
        if (in->refs > 1) predictor = motus_mv_word(edge_mvp(edge, own->ref));
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
        team_measure(sums, in, own, first, warp, warps);
        motus_team_sync(); // they are measured
        old = first;
    }
}

#endif
