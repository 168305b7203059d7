// Ground truth: the true MVs of a generated sequence, written by motus synth --vectors.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_TRUTH_H
#define TOOLS_COMPARE_TRUTH_H

#include "motus/me.h"

typedef struct MotusTruth MotusTruth;

// Reads a CSV file with the columns frame,x,y,w,h,mv_x,mv_y,layer,whole,flat. MOTUS_ERR_IO,
// _FORMAT, _MEMORY.
MotusStatus motus_truth_load(MotusTruth **truth, const char *path, MotusError *error);

// Finds the true MV of a block of frame n (luma samples). Returns 0 unless all its cells move as
// one, were visible before and are not flat.
int motus_truth_at(const MotusTruth *truth, int64_t n, int x, int y, int width, int height,
                   MotusMv *mv);

void motus_truth_free(MotusTruth **truth); // accepts NULL and *truth == NULL

#endif
