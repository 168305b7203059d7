// Entropy coding of a picture's slices (7.3.3, 7.3.4), and what they cost.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_SLICE_H
#define ENCODER_BITSTREAM_SLICE_H

#include "encoder/bitstream/bits_core.h"
#include "encoder/bitstream/headers.h"
#include "encoder/bitstream/slice_core.h"
#include "encoder/mb/coded_mbs.h"

// Settles what the MBs of a decided picture leave to one another: P_Skip, and the QP of MBs that
// code none. Its slices are whole rows, all with this QP.
void motus_finalize_mbs(MotusCodedMbs *mbs, int slice_qp);

// Writes slice_data() of the slice that is MB rows [from, to) of a settled picture, with its
// trailing bits, after a slice header; counts kinds and bits into *stats.
void motus_write_slice_data(MotusBits *bits, const MotusCodedMbs *mbs, int from, int to,
                            int p_slice, int slice_qp, MotusPictureStats *stats);

// ---- The same MB for MB, for slices that may begin anywhere -------------------------------------

// What the MBs of a slice leave to the next one.
typedef struct MotusSliceState {
    uint32_t skip_run; // P_Skip MBs since the last coded one
    int qp;            // of the last MB with mb_qp_delta, else the slice's
} MotusSliceState;

// What writes MBs, and what they cost. I_PCM samples begin at a byte of the slice: where it is not
// known yet at which bit the MBs begin (`apart`), what follows the first I_PCM's mb_type is kept
// apart, in `rest`.
typedef struct MotusMbWriter {
    MotusBits bits, rest;
    int apart, split; // split: `rest` is being written
    size_t n, n_rest; // bits of both
    uint64_t count[MOTUS_BIT_KINDS];
    MotusPictureStats stats; // kinds alone
} MotusMbWriter;

// Settles MB i, whose slice has come to *state, and writes it. Then the slice's end, with its
// trailing bits; and what was counted goes into *stats.
void motus_finalize_mb(MotusCodedMbs *mbs, int i, const MotusSliceState *state);
void motus_write_mb(MotusMbWriter *writer, const MotusCodedMbs *mbs, int p_slice, int i,
                    MotusSliceState *state);
void motus_end_slice(MotusBits *bits, const MotusSliceState *state, MotusPictureStats *stats);
void motus_add_written(const MotusMbWriter *writer, MotusPictureStats *stats);

// The slice's head for who writes slices elsewhere (slice_cuda.h). A header of this encoder has at
// most 120 bits.
MotusSliceHead motus_slice_head(const MotusSequenceSettings *settings,
                                const MotusSliceSettings *slice, int nal_ref_idc);

// Lists the vectors of a coded P picture, cropped to nothing: blocks may reach past the visible
// size. `mvs` has room for 16 per MB. Returns how many.
size_t motus_list_mvs(const MotusCodedMbs *mbs, MotusCodedMv *mvs);

#endif
