// Pictures of random macroblocks, as decisions leave them: what entropy coding is tested with.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_RANDOM_MBS_H
#define TESTS_RANDOM_MBS_H

#include "encoder/bitstream/slice.h"

typedef enum MbContent {
    MBS_MIXED,   // every kind alike
    MBS_QUIET,   // long runs of P_Skip; I pictures: few levels
    MBS_SKIPPED, // nothing but P_Skip (P pictures)
    MBS_PCM,     // nothing but I_PCM, of samples that are mostly zero
    MBS_LARGEST, // every level as long as codes get
    MBS_CONTENTS,
} MbContent;

// Allocates the arrays that slices are written from, and no others: work->mb, coef and src.
void random_mbs_open(MotusCodedMbs *pic, int mb_width, int mb_height);
void random_mbs_close(MotusCodedMbs *pic);

// Fills all three. QP is the slice's or any, per MB; MBs that code none have one that is to be
// settled. Where cbp has no bit, and where an Intra16x16 block has no level 0, levels are zero.
void random_mbs_fill(MotusCodedMbs *pic, int p_slice, int slice_qp, MbContent content);

// Overwrites the levels that nobody may read, and says how many blocks that were.
int random_mbs_poison(MotusCodedMbs *pic);

#endif
