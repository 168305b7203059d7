// MVs of an inter MB that is tried, and its bits besides the residual: as in CAVLC, or by the costs
// of CABAC's bins. All bits are parts of a bit of motus_unit_of.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTER_BITS_CORE_H
#define ENCODER_ANALYSE_INTER_BITS_CORE_H

#include "encoder/analyse/b_core.h"
#include "encoder/cabac/cabac_mb_core.h"

// ---- MVs of a decided MB ------------------------------------------------------------------------

// True if luma4x4BlkIdx i begins a partition of an inter MB that has an MV of a list. *part becomes
// the partition; mode and part are those of whole MBs.
MOTUS_HD int motus_mb_has_mv(const MotusMb *mb, int i, int list, int lists, MotusPartition *part) {
    const int blk = motus_blk_at(i), q = i >> 2, is_8x8 = mb->type == MOTUS_MB_P_8x8,
              sub = is_8x8 ? mb->sub_type[q] : 0;
    const int large = is_8x8 ? 2 : 4,
              halves = is_8x8 ? sub == MOTUS_SUB_8x4 || sub == MOTUS_SUB_4x4
                              : mb->type == MOTUS_MB_P_16x8,
              columns = is_8x8 ? sub == MOTUS_SUB_4x8 || sub == MOTUS_SUB_4x4
                               : mb->type == MOTUS_MB_P_8x16;
    part->x = (uint8_t)(blk & 3), part->y = (uint8_t)(blk >> 2);
    part->width = (uint8_t)(large >> columns), part->height = (uint8_t)(large >> halves);
    part->mode = (uint8_t)(mb->type - MOTUS_MB_P_16x16), part->part = i != 0;
    return !(part->x & (part->width - 1)) && !(part->y & (part->height - 1)) &&
           (lists == 1 || (!(mb->direct >> q & 1) && motus_pred_uses(mb->pred[q], list)));
}

// ---- Bits ---------------------------------------------------------------------------------------

// Returns motus_mvd_bits_in of the MV that begins at luma4x4BlkIdx i in a list; 0 without one.
MOTUS_HD uint32_t motus_trial_mv_bits(const MotusInterMb *in, const MotusMb *mb, int i, int list) {
    MotusPartition part;
    if (!motus_mb_has_mv(mb, i, list, in->lists, &part)) return 0;
    const int q = i >> 2, has_ref = !list && !(i & 3);
    return motus_mvd_bits_in(in->costs, list ? mb->mv1[q] : mb->mv[motus_blk_at(i)],
                             motus_mb_mvp(mb, &in->neighbours, &part, list),
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
        motus_put_skip_flag(&s, &m, MOTUS_CTX_SKIP_IN_B);
    else
        motus_put_skip_flag(&s, &m, MOTUS_CTX_SKIP);
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

// ---- RD refinement ------------------------------------------------------------------------------
//
// Each MV of a decided MB moves to the best of its eight neighbours, all coded in full, while that
// costs less.

enum { MOTUS_RD_MOVES = 8 }; // of an MV, in the order of motus_neighbour_dx

// True if MVs of the MB are refined: it is inter, and neither skipped nor direct as a whole.
MOTUS_HD int motus_rd_is_open(const MotusMb *mb) {
    return !motus_mb_is_intra(mb) && mb->type != MOTUS_MB_P_SKIP && mb->direct != MOTUS_ALL_DIRECT;
}

// Returns move k of the MV at luma4x4BlkIdx i.
MOTUS_HD MotusMv motus_rd_move(const MotusMb *mb, int i, int list, int k, int unit) {
    MotusMv mv = list ? mb->mv1[i >> 2] : mb->mv[motus_blk_at(i)];
    mv.x = (int16_t)(mv.x + unit * motus_neighbour_dx(k));
    mv.y = (int16_t)(mv.y + unit * motus_neighbour_dy(k));
    return mv;
}

// Sets a partition's MV of a list. A warp may call it, or one thread of a CPU.
MOTUS_HD void motus_rd_set(MotusMb *mb, const MotusPartition *part, int list, MotusMv mv) {
    for (int blk = motus_lane(); blk < 16; blk += MOTUS_LANES) {
        const int x = (blk & 3) - part->x, y = (blk >> 2) - part->y;
        if (x < 0 || y < 0 || x >= part->width || y >= part->height) continue;
        if (!list)
            mb->mv[blk] = mv;
        else if (!(blk & 5)) // the 8x8 block's first one
            mb->mv1[motus_8x8_of(blk)] = mv;
    }
    motus_lanes_sync(); // it is written
}

#endif
