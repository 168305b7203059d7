// macroblock_layer() (7.3.5).
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "tools/baseline/baseline_internal.h"

// coded_block_pattern by codeNum, of intra and of inter MBs (table 9-4).
static const uint8_t cbp_of_code[2][48] = {
    {0,  16, 1,  2,  4,  8,  32, 3,  5,  10, 12, 15, 47, 7,  11, 13,
     14, 6,  9,  31, 35, 37, 42, 44, 33, 34, 36, 40, 39, 43, 45, 46,
     17, 18, 20, 24, 19, 21, 26, 28, 23, 27, 29, 30, 22, 25, 38, 41},
    {47, 31, 15, 0,  23, 27, 29, 30, 7,  11, 13, 14, 39, 43, 45, 46,
     16, 3,  5,  10, 12, 19, 21, 26, 28, 35, 37, 42, 44, 1,  2,  4,
     8,  17, 18, 20, 24, 6,  9,  22, 25, 32, 33, 34, 36, 40, 38, 41}};

// Returns the MB that holds block (x, y); -1 is in the left or upper neighbour.
static const MotusParsedMb *mb_at(const MotusMbParser *r, int x, int y) {
    return x < 0   ? motus_parsed_neighbour(r, -1, 0)
           : y < 0 ? motus_parsed_neighbour(r, 0, -1)
                   : r->mb + r->n;
}

// Returns total_coeff of block (x, y) of a component that begins at `first` and is `side` blocks
// wide, or -1 if it is not available.
static int count_at(const MotusMbParser *r, int first, int side, int x, int y) {
    const MotusParsedMb *mb = mb_at(r, x, y);
    return mb ? mb->total_coeff[first + (y + side) % side * side + (x + side) % side] : -1;
}

static int nc_at(const MotusMbParser *r, int first, int side, int x, int y) {
    const int left = count_at(r, first, side, x - 1, y), above = count_at(r, first, side, x, y - 1);
    if (left >= 0 && above >= 0) return (left + above + 1) >> 1;
    return left >= 0 ? left : above >= 0 ? above : 0;
}

// Returns the prediction mode of block (x, y), or -1 if DC is predicted because of it (8.3.1.1).
static int mode_at(const MotusMbParser *r, int x, int y) {
    const MotusParsedMb *mb = mb_at(r, x, y);
    if (!mb || (r->constrained_intra && mb->type < MOTUS_MB_I_4x4)) return -1;
    return mb->intra4x4_pred_mode[(y & 3) * 4 + (x & 3)];
}

static void parse_intra4x4_modes(MotusMbParser *r) {
    for (int i = 0; i < 16; i++) {
        const int x = (i >> 2 & 1) * 2 + (i & 1), y = (i >> 3) * 2 + (i >> 1 & 1);
        const int left = mode_at(r, x - 1, y), above = mode_at(r, x, y - 1);
        int mode = left < 0 || above < 0 ? 2 : left < above ? left : above; // 8.3.1.1
        const int predicted = (int)motus_rbsp_u(r->rbsp, 1);
        if (!predicted) {
            const int rem = (int)motus_rbsp_u(r->rbsp, 3);
            mode = rem + (rem >= mode);
        }
        r->mb[r->n].intra4x4_pred_mode[y * 4 + x] = (uint8_t)mode;
        r->coverage->intra4x4_is_predicted += (unsigned)predicted;
        r->coverage->intra4x4_pred_mode[mode]++;
    }
}

// Parses te(v) (9.1).
static int parse_ref_idx(MotusMbParser *r) {
    if (r->num_ref_idx == 1) return 0;
    const uint32_t index = r->num_ref_idx == 2 ? !motus_rbsp_u(r->rbsp, 1) : motus_rbsp_ue(r->rbsp);
    motus_rbsp_expect(r->rbsp, index < (uint32_t)r->num_ref_idx, "ref_idx_l0");
    return (int)(index & 31);
}

// Parses mb_pred() or sub_mb_pred() of an inter MB up to its MVs; mb_type as in table 7-13.
static void parse_inter_prediction(MotusMbParser *r, uint32_t mb_type) {
    MotusParsedMb *mb = r->mb + r->n;
    if (mb->type == MOTUS_MB_P_8x8)
        for (int q = 0; q < 4; q++) {
            mb->sub_type[q] = (uint8_t)motus_rbsp_ue_max(r->rbsp, 3, "sub_mb_type");
            r->coverage->sub_mb_type[mb->sub_type[q]]++;
        }
    // Quarters of one partition share its reference index.
    static const uint8_t reads_own[4][4] = {{1, 0, 0, 0}, {1, 0, 1, 0}, {1, 1, 0, 0}, {1, 1, 1, 1}};
    const uint8_t *own = reads_own[mb->type - MOTUS_MB_P_16x16];
    for (int q = 0; q < 4; q++) {
        const int from = mb->type == MOTUS_MB_P_16x8   ? q & 2
                         : mb->type == MOTUS_MB_P_8x16 ? q & 1
                                                       : 0;
        if (own[q])
            mb->ref_idx[q] = (int8_t)(mb_type == 4 ? 0 : parse_ref_idx(r));
        else
            mb->ref_idx[q] = mb->ref_idx[from];
    }
}

static void parse_luma(MotusMbParser *r, int intra16x16) {
    MotusParsedMb *mb = r->mb + r->n;
    if (intra16x16) motus_parse_residual(r, 16, nc_at(r, 0, 4, 0, 0));
    for (int i = 0; i < 16; i++) {
        const int x = (i >> 2 & 1) * 2 + (i & 1), y = (i >> 3) * 2 + (i >> 1 & 1);
        if (mb->cbp >> (i >> 2) & 1)
            mb->total_coeff[y * 4 + x] =
                (uint8_t)motus_parse_residual(r, intra16x16 ? 15 : 16, nc_at(r, 0, 4, x, y));
    }
}

static void parse_chroma(MotusMbParser *r) {
    MotusParsedMb *mb = r->mb + r->n;
    for (int c = 0; c < 2 && mb->cbp >> 4; c++) motus_parse_residual(r, 4, -1);
    for (int i = 0; i < 8 && mb->cbp >> 4 == 2; i++) {
        const int first = 16 + i / 4 * 4, x = i & 1, y = i >> 1 & 1;
        mb->total_coeff[16 + i] = (uint8_t)motus_parse_residual(r, 15, nc_at(r, first, 2, x, y));
    }
}

static void parse_pcm(MotusMbParser *r) {
    MotusParsedMb *mb = r->mb + r->n;
    const size_t from = r->rbsp->at;
    while (r->rbsp->at % 8)
        if (motus_rbsp_u(r->rbsp, 1)) motus_rbsp_fail(r->rbsp, "pcm_alignment_zero_bit");
    mb->bits_mode += (uint32_t)(r->rbsp->at - from);
    for (int i = 0; i < 384; i++) motus_rbsp_u(r->rbsp, 8);
    mb->bits_residual = 8 * 384;
    mb->cbp = 47;
    memset(mb->total_coeff, 16, sizeof mb->total_coeff);
}

static void begin_mb(MotusParsedMb *mb) {
    const uint32_t slice = mb->slice, bits_mode = mb->bits_mode;
    memset(mb, 0, sizeof *mb);
    memset(mb->intra4x4_pred_mode, 2, sizeof mb->intra4x4_pred_mode);
    mb->slice = slice;
    mb->bits_mode = bits_mode;
}

// Parses the prediction of an intra MB; returns 1 for Intra16x16, whose mb_type implies
// coded_block_pattern.
static int parse_intra_prediction(MotusMbParser *r, uint32_t type) {
    MotusParsedMb *mb = r->mb + r->n;
    memset(mb->ref_idx, -1, sizeof mb->ref_idx);
    if (type == 0) parse_intra4x4_modes(r);
    r->coverage->intra_chroma[motus_rbsp_ue_max(r->rbsp, 3, "intra_chroma_pred_mode")]++;
    if (type > 0) mb->cbp = (uint8_t)((type - 1) / 4 % 3 * 16 + (type > 12 ? 15 : 0));
    return type > 0;
}

static void parse_cbp(MotusMbParser *r, int inter) {
    const int cbp = cbp_of_code[!inter][motus_rbsp_ue_max(r->rbsp, 47, "coded_block_pattern")];
    r->mb[r->n].cbp = (uint8_t)cbp;
    r->coverage->cbp[!inter][cbp]++;
}

static void parse_coded(MotusMbParser *r, uint32_t type, int inter) {
    MotusParsedMb *mb = r->mb + r->n;
    int intra16x16 = 0;
    const size_t from = r->rbsp->at;
    if (inter) {
        parse_inter_prediction(r, type);
        const size_t mvs = r->rbsp->at;
        motus_parse_mvs(r);
        mb->bits_mv = (uint32_t)(r->rbsp->at - mvs);
    } else {
        intra16x16 = parse_intra_prediction(r, type);
    }
    if (!intra16x16) parse_cbp(r, inter);
    if (mb->cbp || intra16x16) r->qp = (r->qp + motus_rbsp_se(r->rbsp) % 52 + 52) % 52;
    mb->qp = (uint8_t)r->qp;
    r->coverage->qp[mb->qp]++;
    mb->bits_mode += (uint32_t)(r->rbsp->at - from) - mb->bits_mv;
    const size_t residual = r->rbsp->at;
    if (mb->cbp || intra16x16) {
        parse_luma(r, intra16x16);
        parse_chroma(r);
    }
    mb->bits_residual = (uint32_t)(r->rbsp->at - residual);
}

void motus_parse_mb(MotusMbParser *r) {
    MotusParsedMb *mb = r->mb + r->n;
    begin_mb(mb);
    const size_t from = r->rbsp->at;
    uint32_t type = motus_rbsp_ue(r->rbsp);
    const int inter = r->is_p && type < 5;
    if (r->is_p && !inter) type -= 5;
    mb->bits_mode += (uint32_t)(r->rbsp->at - from);
    if (type > (inter ? 4u : 25u)) {
        motus_rbsp_fail(r->rbsp, "mb_type");
        return;
    }
    if (inter) {
        r->coverage->p_mb_type[type]++;
        mb->type = (uint8_t)(type == 4 ? MOTUS_MB_P_8x8 : MOTUS_MB_P_16x16 + type);
    } else {
        r->coverage->i_mb_type[r->is_p][type]++;
        mb->type = type == 0 ? MOTUS_MB_I_4x4 : type == 25 ? MOTUS_MB_I_PCM : MOTUS_MB_I_16x16;
    }
    mb->predictor = motus_predict_16x16(r);
    if (mb->type == MOTUS_MB_I_PCM) {
        memset(mb->ref_idx, -1, sizeof mb->ref_idx);
        parse_pcm(r);
    } else {
        parse_coded(r, type, inter);
    }
}

void motus_parse_skip_mb(MotusMbParser *r) {
    MotusParsedMb *mb = r->mb + r->n;
    begin_mb(mb);
    mb->type = MOTUS_MB_P_SKIP;
    mb->qp = (uint8_t)r->qp;
    mb->predictor = motus_predict_16x16(r);
    const MotusMv mv = motus_predict_skip(r);
    for (int i = 0; i < 16; i++) mb->mv[i] = mv;
}
