// What the files of the reader share.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BASELINE_BASELINE_INTERNAL_H
#define TOOLS_BASELINE_BASELINE_INTERNAL_H

#include "encoder/mb/mb.h"
#include "tools/baseline/baseline.h"

// An RBSP; reading past its end gives zeros and sets `wrong`.
typedef struct MotusRbsp {
    const uint8_t *data; // 8 readable bytes follow the last one
    size_t bits, at;     // size and position in bits
    const char *wrong;   // the first error, NULL while all is well
} MotusRbsp;

uint32_t motus_rbsp_peek(const MotusRbsp *rbsp, int n); // n 0..32
uint32_t motus_rbsp_u(MotusRbsp *rbsp, int n);          // n 0..32
uint32_t motus_rbsp_ue(MotusRbsp *rbsp);
int32_t motus_rbsp_se(MotusRbsp *rbsp);
void motus_rbsp_fail(MotusRbsp *rbsp, const char *text); // keeps the first
void motus_rbsp_expect(MotusRbsp *rbsp, int ok, const char *text);

// Copies a NAL unit's payload without emulation prevention bytes (7.3.1); returns its size.
size_t motus_unescape(uint8_t *rbsp, const uint8_t *nal, size_t size, MotusCoverage *coverage,
                      const char **wrong);

// The code tables of 9.2 by what comes next in the stream: an entry is length << 8 | value, 0 where
// no code begins so.
enum { MOTUS_TOKEN_CLASSES = 5 };
typedef struct MotusCodes {
    uint16_t token_a[1 << 16], token_b[1 << 14], token_c[1 << 10], token_d[1 << 6],
        token_dc[1 << 8]; // value: total_coeff << 2 | trailing_ones
    uint16_t total_zeros[16][1 << 9], total_zeros_dc[4][1 << 3], run_before[8][1 << 11];
} MotusCodes;

void motus_codes_build(MotusCodes *codes);

// Parameter sets as far as slices need them.
typedef struct MotusSps {
    int log2_max_frame_num, poc_type, log2_max_poc_lsb, delta_pic_order_always_zero, mb_width,
        mb_height; // mb_width 0: none came
} MotusSps;

typedef struct MotusPps {
    int there, bottom_field_pic_order, num_ref_idx, pic_init_qp, deblocking_control,
        constrained_intra;
} MotusPps;

typedef struct MotusSlice {
    int first_mb, is_p, num_ref_idx, qp;
    uint32_t number;
} MotusSlice;

void motus_read_sps(MotusRbsp *rbsp, MotusSps *sps);
void motus_read_pps(MotusRbsp *rbsp, MotusPps *pps);
void motus_read_slice_header(MotusRbsp *rbsp, const MotusSps *sps, const MotusPps *pps,
                             int nal_ref_idc, int idr, MotusSlice *slice);

// What an MB is read with.
typedef struct MotusMbReader {
    MotusRbsp *rbsp;
    const MotusCodes *codes;
    MotusCoverage *coverage;
    MotusReadMb *mb; // all of the picture
    int mb_width, n; // n: the MB at hand
    int num_ref_idx, is_p, constrained_intra;
    int qp;
} MotusMbReader;

// MB n + dx + dy * mb_width (dx -1..1, dy -1..0) where it exists in this slice and was read before,
// else NULL.
const MotusReadMb *motus_read_neighbour(const MotusMbReader *reader, int dx, int dy);

void motus_read_mb(MotusMbReader *reader);      // macroblock_layer()
void motus_read_skip_mb(MotusMbReader *reader); // P_Skip

// Vectors of an inter MB whose type, sub types and reference indices are known
// (7.3.5.1, 7.3.5.2, 8.4.1).
void motus_read_vectors(MotusMbReader *reader);
MotusMv motus_predict_16x16(const MotusMbReader *reader); // of reference 0
MotusMv motus_predict_skip(const MotusMbReader *reader);

// residual_block_cavlc() with n coefficients; nc -1 is chroma DC. Returns total_coeff.
int motus_read_residual(MotusMbReader *reader, int n, int nc);

#endif
