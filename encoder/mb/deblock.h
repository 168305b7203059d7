// In-loop deblocking (8.7) of a whole picture.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_DEBLOCK_H
#define ENCODER_MB_DEBLOCK_H

#include "encoder/mb/coded_mbs.h"

// Filters `rec` (whole MBs) in place, as a wavefront over MB rows. mbs: size, slice type, finalized
// MBs with one reference per list, threads. FilterOffsetA, FilterOffsetB and chroma_qp_index_offset
// are 0; edges between slices are filtered, but for those of slices that begin in apart_row. Both
// chroma planes have the same stride.
void motus_deblock_picture(MotusFrame *rec, const MotusCodedMbs *mbs);

// Versions of it with the same results.
void motus_deblock_picture_c(MotusFrame *rec, const MotusCodedMbs *mbs);
void motus_deblock_picture_avx2(MotusFrame *rec, const MotusCodedMbs *mbs);

#endif
