// Finalization and entropy coding of a picture's slices (7.3.3, 7.3.4).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SLICE_SLICE_H
#define ENCODER_SLICE_SLICE_H

#include "encoder/bitstream/cavlc_mb_core.h"
#include "encoder/bitstream/headers.h"
#include "encoder/cabac/cabac.h"
#include "encoder/cabac/cabac_mb_core.h"
#include "encoder/mb/coded_mbs.h"

// ---- Whole rows ---------------------------------------------------------------------------------

// Finalizes the MBs of a decided picture: P_Skip or B_Skip, the QP of MBs without mb_qp_delta, and
// mbs->context. slice_qp: QP of every slice.
void motus_finalize_mbs(MotusCodedMbs *mbs, int slice_qp);

// Writes slice_data() of MB rows [from, to), which are finalized, and its trailing bits, after a
// slice header. Adds kinds and bits to *stats. CABAC needs mbs->context.
void motus_write_slice_data(MotusBits *bits, const MotusCodedMbs *mbs, int from, int to,
                            const MotusSliceSettings *slice, MotusPictureStats *stats);

// ---- MB by MB, for slices that begin anywhere ---------------------------------------------------

// State of a slice between two MBs.
typedef struct MotusSliceState {
    uint32_t skip_run; // skipped MBs since the last coded one
    int qp;            // of the last MB with mb_qp_delta, else the slice's
    int qp_delta;      // mb_qp_delta of the last MB; 0 without it
    int has_mb;        // an MB has been written
} MotusSliceState;

// Writer of MBs, with counts. A copy takes back what was written since, because bytes once written
// never change.
//
// With CABAC the coder's bytes follow those of `bits`. In CAVLC I_PCM samples are byte-aligned in
// the slice: while the bit position of the first MB is unknown (`floating`), everything after the
// mb_type of the first I_PCM goes to `tail`, which joining aligns.
typedef struct MotusMbWriter {
    MotusBits bits;
    MotusCabac cabac; // with slice->cabac
    const MotusSliceSettings *slice;
    MotusBits tail;
    int floating;
    int in_tail;      // `tail` is being written
    size_t n, n_tail; // bits of both
    uint64_t count[MOTUS_BIT_KINDS];
    MotusPictureStats stats; // kinds of MBs
} MotusMbWriter;

// Begins slice data behind the slice header in writer->bits. *slice must outlive the writer.
void motus_begin_slice_data(MotusMbWriter *writer, const MotusSliceSettings *slice);

// Finalizes MB i; *state: that of its slice.
void motus_finalize_mb(MotusCodedMbs *mbs, int i, const MotusSliceState *state);

// Writes MB i, which is finalized, and advances *state.
void motus_write_mb(MotusMbWriter *writer, const MotusCodedMbs *mbs, int i, MotusSliceState *state);

// Returns the bits written so far.
size_t motus_written_bits(const MotusMbWriter *writer);

// Writes the end of a slice with its trailing bits; all is in writer->bits then.
void motus_end_slice(MotusMbWriter *writer, const MotusSliceState *state);

// Adds the writer's counts to *stats, and its bins to mbs->bins.
void motus_add_written(const MotusMbWriter *writer, const MotusCodedMbs *mbs,
                       MotusPictureStats *stats);

#endif
