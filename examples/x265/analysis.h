// A motion field of motus as the analysis data that x265 loads: which coding units (CUs) and
// prediction units a picture has, and their vectors.
// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef EXAMPLES_X265_ANALYSIS_H
#define EXAMPLES_X265_ANALYSIS_H

#include <motus/motus.h>
#include <x265.h>

typedef struct Analysis {
    x265_analysis_data
        data;          // x265 takes the pointers out of the picture that it is given; these stay
    int width, height; // of the picture as x265 codes it: a multiple of its smallest CU
    int ctu;           // size of the largest CU: 16, 32 or 64
    int still;         // 1: all vectors are handed on as zero
    uint32_t entries;  // written so far
} Analysis;

// param: what x265_encoder_parameters gives; width, height: of the pictures that x265 is given. 0,
// or -1 without memory.
int analysis_open(Analysis *a, x265_param *param, int width, int height);
void analysis_close(Analysis *a, x265_param *param);

// An IDR picture: x265 decides everything.
void analysis_of_intra(Analysis *a);

// A P picture: lambda_q8 is the one that the field was searched with.
void analysis_of_field(Analysis *a, const MotusField *field, uint32_t lambda_q8);

#endif
