// Variable-length code tables of CAVLC (9.2). They are in functions, where nvcc lets both sides
// read them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_CAVLC_TABLES_H
#define ENCODER_BITSTREAM_CAVLC_TABLES_H

#include <stdint.h>

#include "common/int_core.h"

// Code word: `bits` holds its `length` bits, right-aligned.
typedef struct MotusVlc {
    uint32_t bits;
    int length;
} MotusVlc;

MOTUS_HD MotusVlc motus_vlc(uint32_t bits, int length) {
    MotusVlc vlc = {bits, length};
    return vlc;
}

// Table entry; length 0: cannot occur. The longest code has 16 bits, and leading zeros enough for
// its value to fit a byte.
typedef struct MotusVlcEntry {
    uint8_t bits, length;
} MotusVlcEntry;

enum { MOTUS_TOKEN_CHROMA_DC = 4 }; // token class after the four of luma

// clang-format off

// Returns coeff_token (table 9-5) of token classes 0..2 and MOTUS_TOKEN_CHROMA_DC. Class 3 is a
// fixed-length code. Rows: total_coeff 0..16, by trailing_ones.
MOTUS_HD MotusVlcEntry motus_cavlc_token_entry(int token_class, int total_coeff,
                                               int trailing_ones) {
    static const MotusVlcEntry luma[3][17][4] = {
        { // 0 <= nC < 2
         {{1, 1}}, {{5, 6}, {1, 2}}, {{7, 8}, {4, 6}, {1, 3}}, {{7, 9}, {6, 8}, {5, 7}, {3, 5}},
         {{7, 10}, {6, 9}, {5, 8}, {3, 6}}, {{7, 11}, {6, 10}, {5, 9}, {4, 7}},
         {{15, 13}, {6, 11}, {5, 10}, {4, 8}}, {{11, 13}, {14, 13}, {5, 11}, {4, 9}},
         {{8, 13}, {10, 13}, {13, 13}, {4, 10}}, {{15, 14}, {14, 14}, {9, 13}, {4, 11}},
         {{11, 14}, {10, 14}, {13, 14}, {12, 13}}, {{15, 15}, {14, 15}, {9, 14}, {12, 14}},
         {{11, 15}, {10, 15}, {13, 15}, {8, 14}}, {{15, 16}, {1, 15}, {9, 15}, {12, 15}},
         {{11, 16}, {14, 16}, {13, 16}, {8, 15}}, {{7, 16}, {10, 16}, {9, 16}, {12, 16}},
         {{4, 16}, {6, 16}, {5, 16}, {8, 16}}
        },
        { // 2 <= nC < 4
         {{3, 2}}, {{11, 6}, {2, 2}}, {{7, 6}, {7, 5}, {3, 3}},
         {{7, 7}, {10, 6}, {9, 6}, {5, 4}}, {{7, 8}, {6, 6}, {5, 6}, {4, 4}},
         {{4, 8}, {6, 7}, {5, 7}, {6, 5}}, {{7, 9}, {6, 8}, {5, 8}, {8, 6}},
         {{15, 11}, {6, 9}, {5, 9}, {4, 6}}, {{11, 11}, {14, 11}, {13, 11}, {4, 7}},
         {{15, 12}, {10, 11}, {9, 11}, {4, 9}}, {{11, 12}, {14, 12}, {13, 12}, {12, 11}},
         {{8, 12}, {10, 12}, {9, 12}, {8, 11}}, {{15, 13}, {14, 13}, {13, 13}, {12, 12}},
         {{11, 13}, {10, 13}, {9, 13}, {12, 13}}, {{7, 13}, {11, 14}, {6, 13}, {8, 13}},
         {{9, 14}, {8, 14}, {10, 14}, {1, 13}}, {{7, 14}, {6, 14}, {5, 14}, {4, 14}}
        },
        { // 4 <= nC < 8
         {{15, 4}}, {{15, 6}, {14, 4}}, {{11, 6}, {15, 5}, {13, 4}},
         {{8, 6}, {12, 5}, {14, 5}, {12, 4}}, {{15, 7}, {10, 5}, {11, 5}, {11, 4}},
         {{11, 7}, {8, 5}, {9, 5}, {10, 4}}, {{9, 7}, {14, 6}, {13, 6}, {9, 4}},
         {{8, 7}, {10, 6}, {9, 6}, {8, 4}}, {{15, 8}, {14, 7}, {13, 7}, {13, 5}},
         {{11, 8}, {14, 8}, {10, 7}, {12, 6}}, {{15, 9}, {10, 8}, {13, 8}, {12, 7}},
         {{11, 9}, {14, 9}, {9, 8}, {12, 8}}, {{8, 9}, {10, 9}, {13, 9}, {8, 8}},
         {{13, 10}, {7, 9}, {9, 9}, {12, 9}}, {{9, 10}, {12, 10}, {11, 10}, {10, 10}},
         {{5, 10}, {8, 10}, {7, 10}, {6, 10}}, {{1, 10}, {4, 10}, {3, 10}, {2, 10}}
        }};
    static const MotusVlcEntry chroma_dc[5][4] = {
        {{1, 2}}, {{7, 6}, {1, 1}}, {{4, 6}, {6, 6}, {1, 3}}, {{3, 6}, {3, 7}, {2, 7}, {5, 6}},
        {{2, 6}, {3, 8}, {2, 8}, {0, 7}}};
    return token_class == MOTUS_TOKEN_CHROMA_DC ? chroma_dc[total_coeff][trailing_ones]
                                                : luma[token_class][total_coeff][trailing_ones];
}

// Returns total_zeros of blocks of 15 or 16 levels (tables 9-7 and 9-8) or, in class
// MOTUS_TOKEN_CHROMA_DC, of chroma DC blocks (table 9-9 a). Rows: total_coeff from 1 on.
MOTUS_HD MotusVlc motus_cavlc_total_zeros(int token_class, int total_coeff, int total_zeros) {
    static const MotusVlcEntry chroma_dc[3][4] = {
        {{1, 1}, {1, 2}, {1, 3}, {0, 3}},
        {{1, 1}, {1, 2}, {0, 2}},
        {{1, 1}, {0, 1}}};
    static const MotusVlcEntry table[15][16] = {
        {{1, 1}, {3, 3}, {2, 3}, {3, 4}, {2, 4}, {3, 5}, {2, 5}, {3, 6}, {2, 6}, {3, 7}, {2, 7},
         {3, 8}, {2, 8}, {3, 9}, {2, 9}, {1, 9}},
        {{7, 3}, {6, 3}, {5, 3}, {4, 3}, {3, 3}, {5, 4}, {4, 4}, {3, 4}, {2, 4}, {3, 5}, {2, 5},
         {3, 6}, {2, 6}, {1, 6}, {0, 6}},
        {{5, 4}, {7, 3}, {6, 3}, {5, 3}, {4, 4}, {3, 4}, {4, 3}, {3, 3}, {2, 4}, {3, 5}, {2, 5},
         {1, 6}, {1, 5}, {0, 6}},
        {{3, 5}, {7, 3}, {5, 4}, {4, 4}, {6, 3}, {5, 3}, {4, 3}, {3, 4}, {3, 3}, {2, 4}, {2, 5},
         {1, 5}, {0, 5}},
        {{5, 4}, {4, 4}, {3, 4}, {7, 3}, {6, 3}, {5, 3}, {4, 3}, {3, 3}, {2, 4}, {1, 5}, {1, 4},
         {0, 5}},
        {{1, 6}, {1, 5}, {7, 3}, {6, 3}, {5, 3}, {4, 3}, {3, 3}, {2, 3}, {1, 4}, {1, 3}, {0, 6}},
        {{1, 6}, {1, 5}, {5, 3}, {4, 3}, {3, 3}, {3, 2}, {2, 3}, {1, 4}, {1, 3}, {0, 6}},
        {{1, 6}, {1, 4}, {1, 5}, {3, 3}, {3, 2}, {2, 2}, {2, 3}, {1, 3}, {0, 6}},
        {{1, 6}, {0, 6}, {1, 4}, {3, 2}, {2, 2}, {1, 3}, {1, 2}, {1, 5}},
        {{1, 5}, {0, 5}, {1, 3}, {3, 2}, {2, 2}, {1, 2}, {1, 4}},
        {{0, 4}, {1, 4}, {1, 3}, {2, 3}, {1, 1}, {3, 3}},
        {{0, 4}, {1, 4}, {1, 2}, {1, 1}, {1, 3}},
        {{0, 3}, {1, 3}, {1, 1}, {1, 2}},
        {{0, 2}, {1, 2}, {1, 1}},
        {{0, 1}, {1, 1}}};
    const MotusVlcEntry e = token_class == MOTUS_TOKEN_CHROMA_DC
                                ? chroma_dc[total_coeff - 1][total_zeros]
                                : table[total_coeff - 1][total_zeros];
    return motus_vlc(e.bits, e.length);
}

// Returns run_before (table 9-10). Rows: zeros_left 1..6, more than 6 (run_before 0..14).
MOTUS_HD MotusVlc motus_cavlc_run(int zeros_left, int run_before) {
    static const MotusVlcEntry table[7][15] = {
        {{1, 1}, {0, 1}},
        {{1, 1}, {1, 2}, {0, 2}},
        {{3, 2}, {2, 2}, {1, 2}, {0, 2}},
        {{3, 2}, {2, 2}, {1, 2}, {1, 3}, {0, 3}},
        {{3, 2}, {2, 2}, {3, 3}, {2, 3}, {1, 3}, {0, 3}},
        {{3, 2}, {0, 3}, {1, 3}, {3, 3}, {2, 3}, {5, 3}, {4, 3}},
        {{7, 3}, {6, 3}, {5, 3}, {4, 3}, {3, 3}, {2, 3}, {1, 3}, {1, 4}, {1, 5}, {1, 6}, {1, 7},
         {1, 8}, {1, 9}, {1, 10}, {1, 11}}};
    const MotusVlcEntry e = table[(zeros_left < 7 ? zeros_left : 7) - 1][run_before];
    return motus_vlc(e.bits, e.length);
}

// Returns codeNum of coded_block_pattern (table 9-4, 4:2:0). Lines: chroma pattern 0, 1, 2.
MOTUS_HD int motus_cavlc_cbp_code(int cbp, int intra) {
    static const uint8_t table[2][48] = {
        { // inter
          0,  2,  3,  7,  4,  8, 17, 13,  5, 18,  9, 14, 10, 15, 16, 11,
          1, 32, 33, 36, 34, 37, 44, 40, 35, 45, 38, 41, 39, 42, 43, 19,
          6, 24, 25, 20, 26, 21, 46, 28, 27, 47, 22, 29, 23, 30, 31, 12},
        { // intra
          3, 29, 30, 17, 31, 18, 37,  8, 32, 38, 19,  9, 20, 10, 11,  2,
         16, 33, 34, 21, 35, 22, 39,  4, 36, 40, 23,  5, 24,  6,  7,  1,
         41, 42, 43, 25, 44, 26, 46, 12, 45, 47, 27, 13, 28, 14, 15,  0}};
    return table[intra != 0][cbp];
}

// clang-format on

#endif
