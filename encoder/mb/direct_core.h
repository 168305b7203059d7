// Direct prediction of B MBs (8.4.1.2) with direct_8x8_inference_flag, whose unit is the 8x8 block.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_DIRECT_CORE_H
#define ENCODER_MB_DIRECT_CORE_H

#include "encoder/mb/mv_core.h"
#include "encoder/mb/weights_core.h"

// Direct prediction of an MB. All its 8x8 blocks have the same lists.
typedef struct MotusDirect {
    MotusMv mv[2][4];  // by list and 8x8 block; zero where the list is not used
    uint8_t ref[4][2]; // ref_idx by 8x8 block and list; 0 where the list is not used
    uint8_t pred;      // MOTUS_PRED_*
    uint8_t blocks;    // mask of the 8x8 blocks that may be direct; the MB if all may
} MotusDirect;

// Source of the direct prediction of a picture's MBs, besides their neighbours: one element each.
typedef struct MotusDirectSource {
    const MotusDirect *fixed; // temporal; or zeroed: none; NULL: spatial
    const uint8_t *col_zero;  // spatial: motus_col_zero of the collocated MB
} MotusDirectSource;

// True for B_Skip and B_Direct_16x16.
MOTUS_HD int motus_is_direct(const MotusMb *mb) {
    return mb->type <= MOTUS_MB_P_16x16 && mb->direct == MOTUS_ALL_DIRECT;
}

// Returns the smaller one of two ref_idx, negative ones not counted (MinPositive, 8.4.1.2.2).
MOTUS_HD int least_ref(int a, int b) { return (a | b) >= 0 ? motus_min(a, b) : motus_max(a, b); }

// Returns the mask of 8x8 blocks of a collocated MB that hardly move (colZeroFlag, 8.4.1.2.2).
MOTUS_HD int motus_col_zero(const MotusMb *mb) {
    int mask = 0;
    for (int q = 0; q < 4 && !motus_mb_is_intra(mb); q++) {
        const int corner = 3 * (q & 1) + 12 * (q >> 1), list = mb->pred[q] == MOTUS_PRED_L1;
        const MotusMv mv = list ? mb->mv1[q] : mb->mv[corner];
        if (!mb->ref[list][q] && motus_abs(mv.x) <= 1 && motus_abs(mv.y) <= 1) mask |= 1 << q;
    }
    return mask;
}

// Returns the direct prediction of an MB. col_zero: motus_col_zero of its collocated MB.
MOTUS_HD MotusDirect motus_direct_spatial(const MotusNeighbours *neighbours, int col_zero) {
    const MotusMb *a = neighbours->a, *b = neighbours->b, *c = neighbours->c;
    const MotusMv zero = {0, 0};
    const int c_blk = c ? 12 : 15; // C, or D in its place
    MotusDirect direct;
    int ref[2];
    if (!c) c = neighbours->d;
    for (int list = 0; list < 2; list++)
        ref[list] = least_ref(
            motus_ref_of(a, 1, list),
            least_ref(motus_ref_of(b, 2, list), motus_ref_of(c, motus_8x8_of(c_blk), list)));
    const int none = ref[0] < 0 && ref[1] < 0;
    for (int list = 0; list < 2; list++) {
        MotusMv mv = zero;
        if (ref[list] >= 0)
            mv = motus_mvp(motus_list_cell(a, 3, list), motus_list_cell(b, 12, list),
                           motus_list_cell(c, c_blk, list), MOTUS_MODE_16x16, 0, ref[list]);
        for (int q = 0; q < 4; q++)
            direct.mv[list][q] = !ref[list] && col_zero >> q & 1 ? zero : mv;
        for (int q = 0; q < 4; q++) direct.ref[q][list] = (uint8_t)motus_max(ref[list], 0);
    }
    direct.pred = (uint8_t)(none || (ref[0] >= 0 && ref[1] >= 0) ? MOTUS_PRED_BI
                            : ref[0] >= 0                        ? MOTUS_PRED_L0
                                                                 : MOTUS_PRED_L1);
    direct.blocks = MOTUS_ALL_DIRECT;
    return direct;
}

// Returns the direct prediction of MB i.
MOTUS_HD MotusDirect motus_direct_of(const MotusNeighbours *neighbours,
                                     const MotusDirectSource *source, int i) {
    return source->fixed ? source->fixed[i] : motus_direct_spatial(neighbours, source->col_zero[i]);
}

// Sets lists, references and MVs of 8x8 block q of an MB.
MOTUS_HD void motus_set_8x8(MotusMb *mb, int q, int pred, const uint8_t ref[2], MotusMv mv0,
                            MotusMv mv1) {
    const MotusMv zero = {0, 0};
    const int at = motus_corner_of(q);
    if (pred == MOTUS_PRED_L1) mv0 = zero;
    if (pred == MOTUS_PRED_L0) mv1 = zero;
    mb->mv[at] = mb->mv[at + 1] = mb->mv[at + 4] = mb->mv[at + 5] = mv0;
    mb->mv1[q] = mv1;
    mb->pred[q] = (uint8_t)pred;
    for (int list = 0; list < 2; list++)
        mb->ref[list][q] = (uint8_t)(motus_pred_uses(pred, list) ? ref[list] : 0);
}

// Makes 8x8 block q of an MB direct.
MOTUS_HD void motus_set_direct(MotusMb *mb, int q, const MotusDirect *direct) {
    motus_set_8x8(mb, q, direct->pred, direct->ref[q], direct->mv[0][q], direct->mv[1][q]);
    mb->direct |= (uint8_t)(1 << q);
}

// True if two 8x8 blocks of an MB are predicted alike.
MOTUS_HD int same_motion(const MotusMb *mb, int p, int q) {
    return mb->pred[p] == mb->pred[q] && mb->ref[0][p] == mb->ref[0][q] &&
           mb->ref[1][p] == mb->ref[1][q] && motus_mv_equal(mb->mv1[p], mb->mv1[q]) &&
           motus_mv_equal(mb->mv[motus_corner_of(p)], mb->mv[motus_corner_of(q)]);
}

// Returns the mode of the largest partitions that the MB's 8x8 blocks make up: 16x16 to 8x8.
MOTUS_HD int motus_motion_mode(const MotusMb *mb) {
    const int across = same_motion(mb, 0, 1) && same_motion(mb, 2, 3),
              down = same_motion(mb, 0, 2) && same_motion(mb, 1, 3);
    return across ? (down ? MOTUS_MODE_16x16 : MOTUS_MODE_16x8)
                  : (down ? MOTUS_MODE_8x16 : MOTUS_MODE_8x8);
}

// Finds the blocks of MB i that are direct once all MVs are final: MVs of neighbours may have
// changed since the MB was decided. Its MVs stay as they are, so that all MBs of a picture may be
// finalized at once.
MOTUS_HD void motus_mb_finalize_b(MotusMb *mb, const MotusNeighbours *neighbours,
                                  const MotusDirectSource *source, int i) {
    if (motus_mb_is_intra(mb)) return;
    const MotusDirect direct = motus_direct_of(neighbours, source, i);
    const int was_direct = mb->direct == MOTUS_ALL_DIRECT;
    int mask = 0;
    for (int q = 0; q < 4; q++) {
        const int same = (direct.blocks >> q & 1) && mb->pred[q] == direct.pred &&
                         mb->ref[0][q] == direct.ref[q][0] && mb->ref[1][q] == direct.ref[q][1] &&
                         motus_mv_equal(mb->mv[motus_corner_of(q)], direct.mv[0][q]) &&
                         motus_mv_equal(mb->mv1[q], direct.mv[1][q]);
        mask |= same << q;
    }
    mb->direct = 0;
    if (mask == MOTUS_ALL_DIRECT) {
        mb->direct = MOTUS_ALL_DIRECT;
        mb->type = (uint8_t)(mb->cbp ? MOTUS_MB_P_16x16 : MOTUS_MB_P_SKIP);
    } else if (was_direct) {
        mb->type = (uint8_t)(MOTUS_MB_P_16x16 + motus_motion_mode(mb));
    }
    if (mb->type == MOTUS_MB_P_8x8) mb->direct = (uint8_t)mask;
}

// ---- Temporal (8.4.1.2.3): as the collocated MBs of the picture that is first in list 1 ---------

enum { MOTUS_COL_INTRA = 255 };

// Motion of a collocated MB, by 8x8 block: the MV of its outer corner in list 0, or in list 1 if
// that is its only one.
typedef struct MotusColMb {
    MotusMv mv[4];
    uint8_t ref[4]; // place in MotusPictureParams.ref_shown of its picture; MOTUS_COL_INTRA
} MotusColMb;

// The collocated picture's references, seen from a B picture.
typedef struct MotusTemporalMap {
    int8_t ref[MOTUS_MAX_REFERENCES];    // ref_idx_l0 by MotusColMb.ref; below 0: not in list 0
    int16_t scale[MOTUS_MAX_REFERENCES]; // DistScaleFactor by ref_idx_l0
} MotusTemporalMap;

// Returns the motion that a reference picture keeps of an MB. refs: of list 0 of its slices, behind
// which list 1's only reference is listed.
MOTUS_HD MotusColMb motus_col_mb(const MotusMb *mb, int refs) {
    MotusColMb col;
    for (int q = 0; q < 4; q++) {
        const int corner = 3 * (q & 1) + 12 * (q >> 1), list = mb->pred[q] == MOTUS_PRED_L1;
        const MotusMv zero = {0, 0};
        col.mv[q] = motus_mb_is_intra(mb) ? zero : list ? mb->mv1[q] : mb->mv[corner];
        col.ref[q] = (uint8_t)(motus_mb_is_intra(mb) ? MOTUS_COL_INTRA
                               : list                ? refs
                                                     : mb->ref[0][q]);
    }
    return col;
}

// Fills in the map of a picture shown at `shown` with the references `ref_shown`, `refs` of list 0.
// col_shown: the col_listed references of the collocated picture.
MOTUS_HD void motus_temporal_map(MotusTemporalMap *map, int32_t shown, const int32_t *ref_shown,
                                 int refs, const int32_t *col_shown, int col_listed) {
    for (int k = 0; k < refs; k++)
        map->scale[k] = (int16_t)motus_dist_scale(shown, ref_shown[k], ref_shown[refs]);
    for (int i = 0; i < col_listed; i++) {
        map->ref[i] = -1;
        for (int k = refs - 1; k >= 0; k--) // the first one that it is
            if (ref_shown[k] == col_shown[i]) map->ref[i] = (int8_t)k;
    }
}

// Returns the temporal prediction of an MB.
MOTUS_HD MotusDirect motus_direct_temporal(const MotusColMb *col, const MotusTemporalMap *map) {
    MotusDirect direct;
    direct.pred = MOTUS_PRED_BI;
    direct.blocks = 0;
    for (int q = 0; q < 4; q++) {
        const int ref = col->ref[q] == MOTUS_COL_INTRA ? 0 : map->ref[col->ref[q]];
        // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): B pictures have a reference
        const int scale = map->scale[motus_max(ref, 0)];
        const MotusMv mv = col->mv[q];
        MotusMv mv0;
        mv0.x = (int16_t)((scale * mv.x + 128) >> 8), mv0.y = (int16_t)((scale * mv.y + 128) >> 8);
        direct.mv[0][q] = mv0;
        direct.mv[1][q].x = (int16_t)(mv0.x - mv.x), direct.mv[1][q].y = (int16_t)(mv0.y - mv.y);
        direct.ref[q][0] = (uint8_t)motus_max(ref, 0), direct.ref[q][1] = 0;
        direct.blocks |= (uint8_t)((ref >= 0) << q);
    }
    return direct;
}

#endif
