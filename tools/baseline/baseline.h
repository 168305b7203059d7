// Reads H.264 streams of the Baseline profile (CAVLC, frame MBs, I and P slices) down to the last
// syntax element, without decoding samples: what every MB is, where its vectors point and what its
// parts cost. Reads motus's streams and x264's: several slices, several references, I_PCM, any
// deblocking. Everything else is refused in words: CABAC, B and weighted prediction, the 8x8
// transform, fields, slice groups.
//
//     motus_baseline_open(&stream, data, size, NULL);
//     while (!(status = motus_baseline_next(stream, &picture))) ... picture.mb[n] ...
//     if (status != MOTUS_END) puts(motus_baseline_wrong(stream));
//     motus_baseline_close(&stream);
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BASELINE_BASELINE_H
#define TOOLS_BASELINE_BASELINE_H

#include <stddef.h>
#include <stdint.h>

#include "motus/encoder.h"

// A macroblock as it was read. 4x4 blocks in raster order.
typedef struct MotusReadMb {
    MotusMv mv[16];      // of P_Skip the inferred one; zero for intra
    MotusMv predictor;   // what 8.4.1.3 predicts for this MB as one 16x16 block of reference 0
    uint8_t type;        // MotusMbKind
    uint8_t sub_type[4]; // of 8x8: MOTUS_SUB_8x8 ..
    int8_t ref_idx[4];   // of the 8x8 quarters; -1: intra
    uint8_t qp, cbp;     // QP_Y, coded_block_pattern
    uint8_t total_coeff[24];
    uint8_t intra4x4_pred_mode[16]; // 2 (DC) where the MB is not I_NxN
    uint32_t slice;                 // number of its slice in the stream, from 1
    // mb_type, skip run before it (a run that ends a slice: of its last MB), reference indices, sub
    // types, intra modes, coded_block_pattern, mb_qp_delta, alignment of I_PCM; vector differences;
    // coefficients, samples of I_PCM.
    uint32_t bits_mode, bits_mv, bits_residual;
} MotusReadMb;

typedef struct MotusReadPicture {
    int mb_width, mb_height, n_slices;
    char type; // 'I': only I slices
    size_t begin,
        end;        // where it lies in the stream, with what stands before it (parameter sets, SEI)
    uint64_t bytes; // of its NAL units with start codes, and of those before it, but without SEI
    const MotusReadMb *mb; // raster order; valid until the next call
} MotusReadPicture;

// Occurrences by value of the syntax element that the name says: which types, modes and code words
// a set of streams covers.
typedef struct MotusCoverage {
    unsigned pictures[2];           // I, P
    unsigned nal_unit_type[32];     //
    unsigned i_mb_type[2][26];      // in I and in P slices, table 7-11
    unsigned p_mb_type[5];          // table 7-13
    unsigned p_skip;                // skipped MBs
    unsigned sub_mb_type[4];        //
    unsigned intra4x4_pred_mode[9]; //
    unsigned intra4x4_is_predicted; // prev_intra4x4_pred_mode_flag is 1
    unsigned intra_chroma[4];       // intra_chroma_pred_mode
    unsigned cbp[2][48];            // coded_block_pattern of inter and intra MBs
    unsigned qp[52];                // QP_Y of coded MBs
    unsigned mvd_bits[33];          // length of the codes of vector differences
    unsigned token[5][17][4]; // coeff_token by class (nC 0..1, 2..3, 4..7, 8.., -1), total_coeff,
                              // trailing ones
    unsigned total_zeros[16][16];  // by total_coeff (0 unused)
    unsigned total_zeros_dc[4][4]; // chroma DC
    unsigned run_before[8][15];    // by min(zeros_left, 7)
    unsigned level_prefix[7][16];  // by suffixLength
    unsigned emulation_prevention; // bytes inserted
    unsigned mb_bits;              // longest macroblock_layer()
} MotusCoverage;

typedef struct MotusBaseline MotusBaseline;

// `data`, a whole byte stream (Annex B), must outlive the reader. *coverage (may be NULL) is added
// to. MOTUS_ERR_MEMORY.
MotusStatus motus_baseline_open(MotusBaseline **stream, const uint8_t *data, size_t size,
                                MotusCoverage *coverage);

// Reads the next picture. MOTUS_END: there is none. MOTUS_ERR_FORMAT, MOTUS_ERR_MEMORY:
// motus_baseline_wrong has the words, and the reader is of no further use.
MotusStatus motus_baseline_next(MotusBaseline *stream, MotusReadPicture *picture);

// What is wrong with the stream, NULL: nothing so far. Static storage.
const char *motus_baseline_wrong(const MotusBaseline *stream);

// Finds `key` ("subme=") in the settings that x264 writes into its first SEI message and copies
// what follows, up to the next blank, to `value`. 0: not there.
int motus_baseline_x264_option(const uint8_t *data, size_t size, const char *key, char *value,
                               size_t value_size);

void motus_baseline_close(MotusBaseline **stream); // accepts NULL and *stream == NULL

// Offset of the next NAL unit's first byte (after its start code) from `from` on; *start is that of
// the start code. Returns size when there is none.
size_t motus_next_nal(const uint8_t *data, size_t size, size_t from, size_t *start);

#endif
