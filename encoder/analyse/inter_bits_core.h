// Bits of an inter MB besides the residual, for trials: as in CAVLC, or by the costs of CABAC's
// bins. All are parts of a bit of motus_unit_of.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTER_BITS_CORE_H
#define ENCODER_ANALYSE_INTER_BITS_CORE_H

#include "encoder/analyse/b_core.h"
#include "encoder/cabac/cabac_mb_core.h"

// ---- MVs of a decided MB ------------------------------------------------------------------------

// True if luma4x4BlkIdx i begins a partition of an inter MB, which *part becomes (x, y, width,
// height; units of 4 samples).
MOTUS_HD int motus_mb_partition_at(const MotusMb *mb, int i, MotusPartition *part) {
    const int blk = motus_blk_at(i), is_8x8 = mb->type == MOTUS_MB_P_8x8,
              sub = is_8x8 ? mb->sub_type[i >> 2] : 0;
    const int large = is_8x8 ? 2 : 4,
              halves = is_8x8 ? sub == MOTUS_SUB_8x4 || sub == MOTUS_SUB_4x4
                              : mb->type == MOTUS_MB_P_16x8,
              columns = is_8x8 ? sub == MOTUS_SUB_4x8 || sub == MOTUS_SUB_4x4
                               : mb->type == MOTUS_MB_P_8x16;
    part->x = (uint8_t)(blk & 3), part->y = (uint8_t)(blk >> 2);
    part->width = (uint8_t)(large >> columns), part->height = (uint8_t)(large >> halves);
    return !(part->x & (part->width - 1)) && !(part->y & (part->height - 1));
}

// True if the partition that begins at luma4x4BlkIdx i has an MV of a list.
MOTUS_HD int motus_mb_has_mv(const MotusMb *mb, int i, int list, int lists) {
    const int q = i >> 2;
    return lists == 1 || (!(mb->direct >> q & 1) && motus_pred_uses(mb->pred[q], list));
}

// Returns the cell at (x, y), units of 4 samples from the MB's first one, as luma4x4BlkIdx i sees
// it: it is not available if it comes later.
MOTUS_HD MotusMvCell motus_mb_cell(const MotusMb *mb, const MotusNeighbours *n, int x, int y, int i,
                                   int list) {
    if (y < 0)
        return x < 0   ? motus_list_cell(n->d, 15, list)
               : x > 3 ? motus_list_cell(n->c, 12, list)
                       : motus_list_cell(n->b, 12 + x, list);
    if (x < 0) return motus_list_cell(n->a, 4 * y + 3, list);
    const int is_later = x > 3 || motus_blk_at(4 * y + x) >= i;
    return motus_list_cell(is_later ? NULL : mb, (4 * y + x) & 15, list);
}

// Returns the predicted MV of the partition that begins at luma4x4BlkIdx i (8.4.1.3), as
// motus_grid_mvp does on a grid.
MOTUS_HD MotusMv motus_mb_mvp_at(const MotusMb *mb, const MotusNeighbours *n,
                                 const MotusPartition *part, int i, int list) {
    const int x = part->x, y = part->y, ref = mb->ref[list][i >> 2], inter = MOTUS_CELL_INTER + ref;
    const MotusMvCell a = motus_mb_cell(mb, n, x - 1, y, i, list),
                      b = motus_mb_cell(mb, n, x, y - 1, i, list);
    MotusMvCell c = motus_mb_cell(mb, n, x + part->width, y - 1, i, list);
    if (c.state == MOTUS_CELL_NONE) c = motus_mb_cell(mb, n, x - 1, y - 1, i, list);
    if (mb->type == MOTUS_MB_P_16x8 && (i ? a : b).state == inter) return (i ? a : b).mv;
    if (mb->type == MOTUS_MB_P_8x16 && (i ? c : a).state == inter) return (i ? c : a).mv;
    return motus_mvp(a, b, c, ref);
}

// ---- Bits ---------------------------------------------------------------------------------------

// Returns motus_mvd_bits_in of the MV that begins at luma4x4BlkIdx i in a list; 0 without one.
MOTUS_HD uint32_t motus_trial_mv_bits(const MotusInterMb *in, const MotusMb *mb, int i, int list) {
    MotusPartition part;
    if (!motus_mb_partition_at(mb, i, &part) || !motus_mb_has_mv(mb, i, list, in->lists)) return 0;
    const int q = i >> 2, has_ref = !list && !(i & 3);
    return motus_mvd_bits_in(in->costs, list ? mb->mv1[q] : mb->mv[motus_blk_at(i)],
                             motus_mb_mvp_at(mb, &in->neighbours, &part, i, list),
                             has_ref ? motus_ref_bits(in->refs, mb->ref[0][q]) : 0);
}

// Returns motus_trial_bits of P_Skip or B_Skip, whose bits are mb_skip_flag alone; of another MB
// with CABAC it is those of the flag.
MOTUS_HD uint32_t motus_skip_bits(const MotusInterMb *in, const MotusMb *mb) {
    const int is_b = in->lists == 2;
    if (!in->costs) return is_b ? motus_b_bits(mb, 0) : motus_inter_bits(mb, 0);
    MotusSymbols s = {NULL, 0, 0, in->costs->bin, 0, 0};
    MotusMbSyntax m;
    m.mb = mb, m.neighbours = in->neighbours;
    if (is_b)
        motus_put_b_skip_flag(&s, &m);
    else
        motus_put_skip_flag(&s, &m);
    return s.bits;
}

// Returns the most bits that B_Skip may take (motus_skip_bits), whatever the MB's neighbours are.
MOTUS_HD uint32_t motus_most_b_skip_bits(const MotusCabacCosts *costs) {
    int most = 0;
    if (!costs) return MOTUS_SKIP_RUN_BITS;
    for (int coded = 0; coded < 3; coded++)
        most = motus_max(most, costs->bin[MOTUS_CTX_SKIP_IN_B + coded][1]);
    return (uint32_t)most;
}

// Returns the bits of an inter MB besides the residual. mv_bits: motus_mvd_bits_in
// of its MVs. mb_qp_delta is taken to be 0.
MOTUS_HD uint32_t motus_trial_bits(const MotusInterMb *in, const MotusMb *mb, uint32_t mv_bits) {
    const int is_b = in->lists == 2;
    if (!in->costs) return is_b ? motus_b_bits(mb, mv_bits) : motus_inter_bits(mb, mv_bits);
    MotusSymbols s = {NULL, 0, 0, in->costs->bin, motus_skip_bits(in, mb), 0};
    MotusMbSyntax m;
    m.mb = mb, m.neighbours = in->neighbours;
    if (mb->type == MOTUS_MB_P_SKIP) return s.bits;
    if (is_b)
        motus_put_b_types(&s, &m);
    else
        motus_put_p_types(&s, mb);
    for (int q = 0; q < 4 && in->refs > 1; q++)
        if (is_b ? motus_has_b_mvd(mb, q, 0) : motus_has_ref(mb, q))
            motus_put_ref_symbol(&s, &m, q);
    motus_put_cbp_symbols(&s, &m);
    if (mb->cbp) motus_put_bin(&s, MOTUS_CTX_QP_DELTA, 0);
    return s.bits + mv_bits;
}

// True if a coded MB is P_Skip or B_Skip: without levels, 16x16 with P_Skip's MV, or direct.
MOTUS_HD int motus_trial_is_skip(const MotusInterMb *in, const MotusMb *mb, MotusMv skip) {
    if (mb->type != MOTUS_MB_P_16x16 || mb->cbp) return 0;
    if (in->lists == 2) return mb->direct == MOTUS_ALL_DIRECT;
    return (in->refs == 1 || !mb->ref[0][0]) && motus_mv_equal(mb->mv[0], skip);
}

#endif
