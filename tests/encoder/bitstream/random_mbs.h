// Pictures of random macroblocks as mode decision leaves them: input for tests of entropy coding.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_RANDOM_MBS_H
#define TESTS_RANDOM_MBS_H

#include "encoder/slice/slice.h"

typedef enum MbContent {
    MBS_MIXED,   // all kinds alike
    MBS_QUIET,   // long runs of P_Skip; I pictures: few levels
    MBS_SKIPPED, // only P_Skip or B_Skip (P and B pictures)
    MBS_PCM,     // only I_PCM, of samples that are mostly zero
    MBS_LARGEST, // every level as long as its code allows
    MBS_CONTENTS,
} MbContent;

// Allocates only the arrays that slices are written from: mb, coef, src and col_zero.
void random_mbs_open(MotusCodedMbs *pic, int mb_width, int mb_height);
void random_mbs_close(MotusCodedMbs *pic);

// Fills the arrays and sets slice_type. Each MB has the slice's QP or any other; MBs without
// mb_qp_delta have one that finalization replaces. Levels without a bit in cbp, and of Intra16x16
// blocks without level 0, are zero.
void random_mbs_fill(MotusCodedMbs *pic, int slice_type, int slice_qp, MbContent content);

// Gives transform_size_8x8_flag to half of the MBs that may have it. Before poisoning.
void random_mbs_transform_8x8(MotusCodedMbs *pic, int cabac);

// Overwrites the levels that must not be read; returns the number of such blocks.
int random_mbs_poison(MotusCodedMbs *pic);

#endif
