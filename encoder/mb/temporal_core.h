// Temporal direct prediction (8.4.1.2.3) with direct_8x8_inference_flag: a B picture's MBs move as
// the collocated MBs of the picture that is first in list 1.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_TEMPORAL_CORE_H
#define ENCODER_MB_TEMPORAL_CORE_H

#include "encoder/mb/direct_core.h"
#include "encoder/mb/weights_core.h"

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

// refs: of list 0 of its slices, behind which list 1's only reference is listed.
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
