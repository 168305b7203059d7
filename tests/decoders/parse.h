// Parses our streams down to the last syntax element, only to count what occurs: which types, modes and code words a set of streams covers.
// Knows the subset that motus writes (frame MBs, CAVLC, one slice, one reference) and refuses everything else.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DECODERS_PARSE_H
#define TESTS_DECODERS_PARSE_H

#include <stddef.h>
#include <stdint.h>

// Occurrences by value of the syntax element that the name says.
typedef struct MotusCoverage {
    unsigned pictures[2];           // I, P
    unsigned nal_unit_type[32];     //
    unsigned i_mb_type[2][26];      // in I and in P slices, table 7-11
    unsigned p_mb_type[4];          // table 7-13 without P_8x8ref0
    unsigned p_skip;                // skipped MBs
    unsigned sub_mb_type[4];        //
    unsigned intra4x4_pred_mode[9]; //
    unsigned intra4x4_is_predicted; // prev_intra4x4_pred_mode_flag is 1
    unsigned intra_chroma[4];       // intra_chroma_pred_mode
    unsigned cbp[2][48];            // coded_block_pattern of inter and intra MBs
    unsigned qp[52];                // QP_Y of coded MBs
    unsigned mvd_bits[33];          // length of the codes of vector differences
    unsigned token[5][17][4];       // coeff_token by class (nC 0..1, 2..3, 4..7, 8.., -1), total_coeff, trailing ones
    unsigned total_zeros[16][16];   // by total_coeff (0 unused)
    unsigned total_zeros_dc[4][4];  // chroma DC
    unsigned run_before[8][15];     // by min(zeros_left, 7)
    unsigned level_prefix[7][16];   // by suffixLength
    unsigned emulation_prevention;  // bytes inserted
    unsigned mb_bits;               // longest macroblock_layer()
} MotusCoverage;

// Adds a whole byte stream's counts to *coverage. Returns NULL, or what is wrong with the stream (static text).
const char *motus_parse(const uint8_t *data, size_t size, MotusCoverage *coverage);

#endif
