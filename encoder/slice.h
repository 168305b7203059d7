// Entropy coding of a whole picture: one slice (7.3.3, 7.3.4), and what it cost.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SLICE_H
#define ENCODER_SLICE_H

#include "encoder/bits.h"
#include "encoder/decide.h"
#include "encoder/mb.h"

// Settles P_Skip: with all vectors final, an inter 16x16 MB without residual is skipped if, and only if, it has the skip vector.
void motus_settle_skips(MotusWork *work);

// Writes slice_data() with its trailing bits after a slice header; counts kinds and bits into *stats.
void motus_write_slice_data(MotusBits *bits, const MotusWork *work, int p_slice, MotusPictureStats *stats);

// Lists the vectors of a coded P picture, cropped to nothing: blocks may reach past the visible size. `mvs` has room for 16 per MB. Returns how many.
size_t motus_list_mvs(const MotusWork *work, MotusCodedMv *mvs);

#endif
