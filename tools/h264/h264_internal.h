// Types and functions that the parser's files share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_H264_H264_INTERNAL_H
#define TOOLS_H264_H264_INTERNAL_H

#include "encoder/cabac/cabac_mb_core.h"
#include "tools/h264/h264.h"

// An RBSP. Reading past its end returns zeros and sets `error`.
typedef struct MotusRbsp {
    const uint8_t *data; // followed by 8 readable bytes
    size_t bits, at;     // size and position in bits
    const char *error;   // the first one, or NULL
} MotusRbsp;

uint32_t motus_rbsp_peek(const MotusRbsp *rbsp, int n); // n 0..32
uint32_t motus_rbsp_u(MotusRbsp *rbsp, int n);          // n 0..32
uint32_t motus_rbsp_ue(MotusRbsp *rbsp);
// Returns 0, and fails with the text, if ue(v) is above max.
uint32_t motus_rbsp_ue_max(MotusRbsp *rbsp, uint32_t max, const char *text);
int32_t motus_rbsp_se(MotusRbsp *rbsp);
// Returns the position of the rbsp_stop_one_bit.
size_t motus_rbsp_end(const MotusRbsp *rbsp);
void motus_rbsp_fail(MotusRbsp *rbsp, const char *text); // keeps the first
void motus_rbsp_expect(MotusRbsp *rbsp, int ok, const char *text);

// Copies a NAL unit's payload without emulation prevention bytes (7.3.1); returns its size.
size_t motus_unescape(uint8_t *rbsp, const uint8_t *nal, size_t size, MotusCoverage *coverage,
                      const char **error);

// Code tables of 9.2, indexed by the next bits of the stream. An entry is length << 8 | value, or 0
// if no code begins with these bits.
enum { MOTUS_TOKEN_CLASSES = 5 };
typedef struct MotusCodes {
    uint16_t token[83264]; // value: total_coeff << 2 | trailing_ones; a range for each class
    uint16_t total_zeros[16][1 << 9], total_zeros_dc[4][1 << 3], run_before[8][1 << 11];
} MotusCodes;

void motus_codes_build(MotusCodes *codes);

// The members of parameter sets that slices need.
typedef struct MotusSps {
    int log2_max_frame_num, poc_type, log2_max_poc_lsb, delta_pic_order_always_zero;
    int profile_idc, mb_width, mb_height; // mb_width 0: no SPS yet
} MotusSps;

typedef struct MotusPps {
    int is_valid, cabac, bottom_field_pic_order, num_ref_idx, weighted_pred, pic_init_qp,
        deblocking_control, constrained_intra, transform_8x8;
} MotusPps;

typedef struct MotusParsedSlice {
    int first_mb, is_p, num_ref_idx, list_commands, qp, cabac_init_idc;
    uint32_t number;
} MotusParsedSlice;

void motus_parse_sps(MotusRbsp *rbsp, MotusSps *sps);
void motus_parse_pps(MotusRbsp *rbsp, MotusPps *pps);
void motus_parse_slice_header(MotusRbsp *rbsp, const MotusSps *sps, const MotusPps *pps,
                              int nal_ref_idc, int idr, MotusParsedSlice *slice);

// Arithmetic decoding engine (9.3.1.2). Its first 9 bits, and each bit of a renormalization, are
// read from the RBSP.
typedef struct MotusArithmetic {
    uint32_t range, offset;
    uint8_t state[MOTUS_CONTEXTS]; // pStateIdx * 2 + valMPS
} MotusArithmetic;

// State of slice_data().
typedef struct MotusMbParser {
    MotusRbsp *rbsp;
    const MotusCodes *codes;
    MotusArithmetic *arithmetic; // NULL: CAVLC
    MotusCoverage *coverage;
    MotusParsedMb *mb;       // of the whole picture
    MotusMbContext *context; // of each MB, for CABAC
    int mb_width;
    int n; // current MB
    int num_ref_idx, is_p, constrained_intra, transform_8x8;
    int qp, qp_delta; // of the last MB; mb_qp_delta: 0 without it
} MotusMbParser;

void motus_parse_mb(MotusMbParser *parser);      // macroblock_layer()
void motus_parse_skip_mb(MotusMbParser *parser); // P_Skip

// Returns MB n + dx + dy * mb_width (dx -1..1, dy -1..0), or NULL if it is outside the slice or
// follows later.
const MotusParsedMb *motus_parsed_neighbour(const MotusMbParser *parser, int dx, int dy);

// Parses the MVs of an inter MB whose type, sub types and reference indices are known (7.3.5.1,
// 7.3.5.2, 8.4.1).
void motus_parse_mvs(MotusMbParser *parser);
MotusMv motus_predict_16x16(const MotusMbParser *parser); // refIdx 0
MotusMv motus_predict_skip(const MotusMbParser *parser);

// Begin a slice at a whole byte (table: 0 for I slices, else 1 + cabac_init_idc); begin anew behind
// I_PCM samples.
void motus_arithmetic_begin(MotusArithmetic *a, MotusRbsp *rbsp, int table, int slice_qp);
void motus_arithmetic_start(MotusArithmetic *a, MotusRbsp *rbsp);
int motus_arithmetic_bin(MotusMbParser *parser, int context);
int motus_arithmetic_bypass(MotusMbParser *parser);
int motus_arithmetic_terminate(MotusMbParser *parser);
uint32_t motus_arithmetic_exp_golomb(MotusMbParser *parser, int k);

// Parse syntax elements in CABAC. mb_type has the numbers of the tables, as in CAVLC.
int motus_cabac_skip_flag(MotusMbParser *parser);
uint32_t motus_cabac_mb_type(MotusMbParser *parser);
uint32_t motus_cabac_sub_type(MotusMbParser *parser);
int motus_cabac_transform_size(MotusMbParser *parser);
uint32_t motus_cabac_chroma_mode(MotusMbParser *parser);
int motus_cabac_ref_idx(MotusMbParser *parser, int quarter);
int motus_cabac_mvd(MotusMbParser *parser, const MotusPartition *partition, int vertical);
int motus_cabac_cbp(MotusMbParser *parser);
int motus_cabac_qp_delta(MotusMbParser *parser);

// Parses residual_block_cabac() of a ctxBlockCat, 0..5; returns its number of levels. flag_context:
// of coded_block_flag in its category.
int motus_cabac_residual(MotusMbParser *parser, int category, int flag_context);
int motus_cabac_dc_flag(MotusMbParser *parser, int component); // 0 luma, 1 Cb, 2 Cr
int motus_cabac_ac_flag(MotusMbParser *parser, int left_count, int upper_count); // -1: no block

// residual_block_cavlc() with n coefficients; nc -1 is chroma DC. Returns total_coeff.
int motus_parse_residual(MotusMbParser *parser, int n, int nc);

#endif
