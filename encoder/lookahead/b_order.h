// Order of a mini-GOP's B pictures. In a pyramid the middle one of two or more is a reference and
// is coded before the others; those on either side of it are ordered alike. The references make
// MOTUS_B_LEVELS levels: in a mini-GOP of eight pictures B4, then B2 and B6.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_B_ORDER_H
#define ENCODER_LOOKAHEAD_B_ORDER_H

#include "motus/encoder.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MOTUS_B_LEVELS = 2 };

typedef struct MotusBPlace {
    int at;            // in display order, from 0
    int before, after; // pictures to its nearest references
    int level;         // 1: between P pictures, 2: beside a reference of level 1, and so on
    int is_reference;
} MotusBPlace;

// Lists the n - 1 B pictures of a mini-GOP of n pictures, in coding order. levels: of references.
void motus_b_order(MotusBPlace place[MOTUS_MAX_BFRAMES], int n, int levels);

// Returns max_num_reorder_frames of streams with up to `bframes` B pictures in a mini-GOP: how many
// pictures at most are coded before and shown after another one.
int motus_b_reorder(int bframes, int levels);

#ifdef __cplusplus
}
#endif
#endif
