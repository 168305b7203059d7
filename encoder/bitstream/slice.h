// Finalization and entropy coding of a picture's slices (7.3.3, 7.3.4).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_SLICE_H
#define ENCODER_BITSTREAM_SLICE_H

#include "encoder/bitstream/bits_core.h"
#include "encoder/bitstream/cavlc_mb_core.h"
#include "encoder/bitstream/headers.h"
#include "encoder/mb/coded_mbs.h"

// ---- Whole rows ---------------------------------------------------------------------------------

// Finalizes the MBs of a decided picture: P_Skip, and the QP of MBs without mb_qp_delta. slice_qp:
// QP of every slice.
void motus_finalize_mbs(MotusCodedMbs *mbs, int slice_qp);

// Writes slice_data() of MB rows [from, to), which are finalized, and its trailing bits, after a
// slice header. Adds kinds and bits to *stats.
void motus_write_slice_data(MotusBits *bits, const MotusCodedMbs *mbs, int from, int to,
                            int p_slice, int slice_qp, MotusPictureStats *stats);

// ---- MB by MB, for slices that begin anywhere ---------------------------------------------------

// State of a slice between two MBs.
typedef struct MotusSliceState {
    uint32_t skip_run; // P_Skip MBs since the last coded one
    int qp;            // of the last MB with mb_qp_delta, else the slice's
} MotusSliceState;

// Writer of MBs, with counts. I_PCM samples are byte-aligned in the slice. While the bit position
// of the first MB is unknown (`floating`), everything after the mb_type of the first I_PCM goes to
// `tail`, which joining aligns.
typedef struct MotusMbWriter {
    MotusBits bits, tail;
    int floating;
    int in_tail;      // `tail` is being written
    size_t n, n_tail; // bits of both
    uint64_t count[MOTUS_BIT_KINDS];
    MotusPictureStats stats; // kinds of MBs
} MotusMbWriter;

// Finalizes MB i; *state: that of its slice.
void motus_finalize_mb(MotusCodedMbs *mbs, int i, const MotusSliceState *state);

// Writes MB i, which is finalized, and advances *state.
void motus_write_mb(MotusMbWriter *writer, const MotusCodedMbs *mbs, int p_slice, int i,
                    MotusSliceState *state);

// Writes the end of a slice with its trailing bits.
void motus_end_slice(MotusBits *bits, const MotusSliceState *state, MotusPictureStats *stats);

// Adds the writer's counts to *stats.
void motus_add_written(const MotusMbWriter *writer, MotusPictureStats *stats);

// ---- Motion vectors -----------------------------------------------------------------------------

// Lists the MVs of a coded P picture, up to 16 per MB. Blocks are not cropped to the visible size.
// Returns their number.
size_t motus_list_mvs(const MotusCodedMbs *mbs, MotusCodedMv *mvs);

#endif
