// In-loop deblocking (8.7) of a whole picture.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_DEBLOCK_H
#define ENCODER_MB_DEBLOCK_H

#include "encoder/mb/mb.h"
#include "motus/frame.h"

// Filters `rec` (whole MBs) in place. mb: mb_width * mb_height MBs in raster order, one reference;
// FilterOffsetA = FilterOffsetB = 0, chroma_qp_index_offset 0; edges between slices are filtered as
// others are. Both chroma planes have the same stride. A wavefront over MB rows on `threads`
// threads; the result does not depend on it.
void motus_deblock_picture(MotusFrame *rec, const MotusMb *mb, int mb_width, int mb_height,
                           int threads);

// The versions it chooses from: the same results.
void motus_deblock_picture_c(MotusFrame *rec, const MotusMb *mb, int mb_width, int mb_height,
                             int threads);
void motus_deblock_picture_avx2(MotusFrame *rec, const MotusMb *mb, int mb_width, int mb_height,
                                int threads);

#endif
