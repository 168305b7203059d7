// Random input of the deblocking filter, for its tests on the CPU and on a GPU.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DEBLOCK_CASE_H
#define TESTS_DEBLOCK_CASE_H

#include "encoder/mb/mb.h"
#include "motus/frame.h"

// Fills a plane with noise around a level per 4x4 block, on both sides of all thresholds. From a
// spread of 128 on, most samples are extremes.
void deblock_case_samples(MotusPlane *plane, int spread);

typedef enum DeblockKind {
    DEBLOCK_MIXED,
    DEBLOCK_INTRA,
    DEBLOCK_INTER,
    DEBLOCK_STILL,
    DEBLOCK_KINDS
} DeblockKind;

// Fills an MB as the encoder may leave it: any type, some types only, or skipped with the zero MV.
// qp -1: random.
void deblock_case_mb(MotusMb *mb, DeblockKind kind, int qp);

// Makes such an MB one of a B picture: its 8x8 blocks get lists, any of `refs` references of list
// 0, and MVs that are close.
void deblock_case_b(MotusMb *mb, int refs);

// Gives the partitions of such an MB any of `refs` references.
void deblock_case_refs(MotusMb *mb, int refs);

#endif
