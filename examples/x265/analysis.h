// Converts a motion field to the analysis data that x265 loads: coding units (CUs), prediction
// units and their MVs.
// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef EXAMPLES_X265_ANALYSIS_H
#define EXAMPLES_X265_ANALYSIS_H

#include <motus/motus.h>
#include <x265.h>

typedef struct Analysis {
    x265_analysis_data data; // x265 clears the pointers of the picture it receives; these stay
    int width, height;       // of the coded picture: a multiple of the smallest CU
    int ctu;                 // size of the largest CU: 16, 32 or 64
    int still;               // 1: all MVs become zero
    uint32_t entries;        // written so far
} Analysis;

// Opens for pictures of width x height; param comes from x265_encoder_parameters. Returns -1
// without memory, else 0.
int analysis_open(Analysis *a, x265_param *param, int width, int height);
void analysis_close(Analysis *a, x265_param *param);

// Sets an IDR picture, in which x265 decides everything.
void analysis_of_intra(Analysis *a);

// Sets a P picture from the field.
void analysis_of_field(Analysis *a, const MotusField *field);

#endif
