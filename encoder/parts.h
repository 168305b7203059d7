// The blocks an inter MB is coded in, in coding order, and what their syntax costs.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PARTS_H
#define ENCODER_PARTS_H

#include "encoder/mb.h"
#include "encoder/mvp_core.h"

typedef struct MotusPart {
    uint8_t x, y, width, height; // in units of 4 luma samples, inside the MB
    uint8_t mode;                // MotusMode
    uint8_t part;                // 0 or 1 of 16x8 and 8x16, else 0
    uint8_t block;               // of the 41 blocks
} MotusPart;

// Lists the 1..16 blocks of an inter MB; none for intra. Returns how many.
int motus_mb_parts(const MotusMb *mb, MotusPart parts[16]);

// The blocks of 8x8 quarter q with this sub type; returns how many (1, 2 or 4).
int motus_quarter_parts(int sub_type, int q, MotusPart parts[4]);

// Sets the vectors of a block's cells.
void motus_mb_set_mv(MotusMb *mb, const MotusPart *part, MotusMv mv);

// Vector differences in coding order; returns how many.
int motus_mb_mvd(const MotusMb *mb, const MotusMbAround *around, MotusMv mvd[16]);

// Vector that P_Skip would have here.
MotusMv motus_mb_skip_mv(const MotusMbAround *around);

// Bits of everything of an MB that is not residual: mb_skip_run (a share), mb_type, sub types, vectors, intra modes, cbp, mb_qp_delta.
uint32_t motus_mb_mode_bits(const MotusMb *mb, const MotusMbAround *around, int p_slice);

static inline int motus_mv_equal(MotusMv a, MotusMv b) { return a.x == b.x && a.y == b.y; }

MOTUS_HD int motus_mv_bits(MotusMv mv, MotusMv predictor) {
    return motus_se_bits(mv.x - predictor.x) + motus_se_bits(mv.y - predictor.y);
}

#endif
