// What the files of the parser share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DECODERS_PARSE_INTERNAL_H
#define TESTS_DECODERS_PARSE_INTERNAL_H

#include "tests/decoders/parse.h"

// An RBSP; reading past its end gives zeros and sets `wrong`.
typedef struct Rbsp {
    const uint8_t *data;
    size_t bits, at;   // size and position in bits
    const char *wrong; // the first error, NULL while all is well
} Rbsp;

unsigned rbsp_peek(const Rbsp *rbsp, int n); // n 0..25
unsigned rbsp_u(Rbsp *rbsp, int n);          // n 0..32
unsigned rbsp_ue(Rbsp *rbsp);
int rbsp_se(Rbsp *rbsp);
void rbsp_fail(Rbsp *rbsp, const char *text); // keeps the first

// An MB as its neighbours see it. 4x4 blocks in raster order; counts of chroma blocks follow at 16 and 20.
typedef struct ParsedMb {
    uint8_t total_coeff[24];
    uint8_t intra4x4_pred_mode[16]; // 2 (DC) where the MB is not I_NxN
} ParsedMb;

typedef struct ParsedPicture {
    int mb_width, n_mb, p_slice, qp;
    ParsedMb *mb;
} ParsedPicture;

// macroblock_layer() of MB n.
void parse_mb(Rbsp *rbsp, ParsedPicture *picture, int n, MotusCoverage *coverage);

// residual_block_cavlc() with n coefficients; nc -1 is chroma DC. Returns total_coeff.
int parse_residual(Rbsp *rbsp, int n, int nc, MotusCoverage *coverage);

#endif
