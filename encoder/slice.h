// Entropy coding of a whole picture: one slice (7.3.3, 7.3.4), and what it cost.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SLICE_H
#define ENCODER_SLICE_H

#include "encoder/bits_core.h"
#include "encoder/decide.h"
#include "encoder/headers.h"
#include "encoder/slice_core.h"

// Settles what the MBs of a decided picture leave to one another: P_Skip, and the QP of MBs that code none.
void motus_settle_mbs(MotusWork *work, int slice_qp);

// Writes slice_data() of a settled picture, with its trailing bits, after a slice header; counts kinds and bits into *stats.
void motus_write_slice_data(MotusBits *bits, const MotusWork *work, int p_slice, int slice_qp, MotusPictureStats *stats);

// The slice's head for who writes slices elsewhere (slice_cuda.h). A header of this encoder has at most 80 bits.
MotusSliceHead motus_slice_head(const MotusSequenceSettings *settings, const MotusSliceSettings *slice, int nal_ref_idc);

// Lists the vectors of a coded P picture, cropped to nothing: blocks may reach past the visible size. `mvs` has room for 16 per MB. Returns how many.
size_t motus_list_mvs(const MotusWork *work, MotusCodedMv *mvs);

#endif
