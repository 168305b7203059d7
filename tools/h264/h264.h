// Parser for H.264 streams of frame MBs in I and P slices, Baseline to High (CAVLC, CABAC, the 8x8
// transform): every syntax element, but no decoded samples. It parses motus's streams and x264's:
// several slices and references, I_PCM, weighted prediction, any deblocking. It refuses B slices,
// scaling matrices, fields and slice groups.
//
//     motus_h264_open(&stream, data, size, NULL);
//     while (!(status = motus_h264_next(stream, &picture))) ... picture.mb[n] ...
//     if (status != MOTUS_END) puts(motus_h264_error(stream));
//     motus_h264_close(&stream);
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_H264_H264_H
#define TOOLS_H264_H264_H

#include <stddef.h>
#include <stdint.h>

#include "encoder/cabac/cabac_core.h"
#include "encoder/mb/mv_core.h"
#include "motus/encoder.h"

// 4x4 blocks and 8x8 quarters are in raster order.
typedef struct MotusParsedMb {
    MotusMv mv[16];      // P_Skip: the inferred one; intra: zero
    MotusMv predictor;   // MV prediction (8.4.1.3) of the MB as one 16x16 block with refIdx 0
    uint8_t type;        // MotusMbKind
    uint8_t sub_type[4]; // of 8x8: MOTUS_SUB_8x8 ..
    int8_t ref_idx[4];   // of the quarters; -1: intra
    uint8_t qp, cbp;     // QP_Y, coded_block_pattern
    uint8_t total_coeff[24];
    uint8_t intra4x4_pred_mode[16]; // 2 (DC) if the MB is not I_NxN; Intra8x8: in all four blocks
    uint8_t intra_chroma_pred_mode, transform_8x8; // transform_size_8x8_flag
    uint32_t slice;                                // number in the stream, from 1
    // mb_type, the skip run before it (after it at the end of a slice), sub types, intra modes,
    // coded_block_pattern, mb_qp_delta, alignment of I_PCM.
    uint32_t bits_mode;
    uint32_t bits_mv;       // reference indices, MV differences
    uint32_t bits_residual; // coefficients, samples of I_PCM
} MotusParsedMb;

typedef struct MotusParsedPicture {
    int mb_width, mb_height, n_slices, profile_idc;
    char type;               // 'I': I slices only, else 'P'
    size_t begin, end;       // bytes of the stream, parameter sets and SEI before it included
    uint64_t bytes;          // from begin to end without SEI
    const MotusParsedMb *mb; // raster order; valid until the next call
} MotusParsedPicture;

// Counts of the values of each syntax element, to see which ones a set of streams covers.
typedef struct MotusCoverage {
    unsigned pictures[2]; // I, P
    unsigned nal_unit_type[32];
    unsigned i_mb_type[2][26]; // in I and in P slices, table 7-11
    unsigned p_mb_type[5];     // table 7-13
    unsigned p_skip;           // MBs
    unsigned copies;           // P slices with more than one command for their list
    unsigned sub_mb_type[4];
    unsigned intra4x4_pred_mode[9];
    unsigned intra8x8_pred_mode[9];
    unsigned intra4x4_is_predicted;   // prev_intra4x4_pred_mode_flag or its 8x8 twin is 1
    unsigned intra_chroma[4];         // intra_chroma_pred_mode
    unsigned cbp[2][48];              // coded_block_pattern of inter and of intra MBs
    unsigned qp[52];                  // QP_Y of coded MBs
    unsigned transform_8x8[2];        // transform_size_8x8_flag is 1: in inter and in intra MBs
    unsigned cabac_init_idc[3];       // P slices with CABAC
    unsigned bins[MOTUS_CONTEXTS][2]; // by context
    unsigned mvd_bits[33];            // code lengths of MV differences
    unsigned token[5][17][4];         // coeff_token: class (nC 0..1, 2..3, 4..7, 8.., -1),
                                      // total_coeff, trailing ones
    unsigned total_zeros[16][16];     // by total_coeff (0 unused)
    unsigned total_zeros_dc[4][4];    // chroma DC
    unsigned run_before[8][15];       // by min(zeros_left, 7)
    unsigned level_prefix[7][16];     // by suffixLength
    unsigned emulation_prevention;    // bytes
    unsigned mb_bits;                 // longest macroblock_layer()
} MotusCoverage;

typedef struct MotusH264Reader MotusH264Reader;

// Opens a parser of `data`, a whole byte stream (Annex B) that outlives it. Counts are added to
// *coverage (may be NULL). MOTUS_ERR_MEMORY.
MotusStatus motus_h264_open(MotusH264Reader **stream, const uint8_t *data, size_t size,
                            MotusCoverage *coverage);

// Parses the next picture. MOTUS_END: there is none. MOTUS_ERR_FORMAT, MOTUS_ERR_MEMORY: see
// motus_h264_error; further calls fail too.
MotusStatus motus_h264_next(MotusH264Reader *stream, MotusParsedPicture *picture);

// Returns the error's text (static storage), or NULL.
const char *motus_h264_error(const MotusH264Reader *stream);

// Finds `key` ("subme=") in the settings that x264 writes into its first SEI message, and copies
// its value, up to the next blank. Returns 0 if there is none.
int motus_h264_x264_option(const uint8_t *data, size_t size, const char *key, char *value,
                           size_t value_size);

void motus_h264_close(MotusH264Reader **stream); // accepts NULL and *stream == NULL

// Returns the offset of the next NAL unit's first byte from `from` on, `size` if there is none;
// *start is the offset of its start code.
size_t motus_next_nal(const uint8_t *data, size_t size, size_t from, size_t *start);

// Lists the blocks that an MB was coded in, in coding order; returns their number, 0 for intra.
int motus_parsed_partitions(const MotusParsedMb *mb, MotusPartition partitions[16]);

#endif
