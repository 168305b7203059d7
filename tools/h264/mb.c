// macroblock_layer() (7.3.5).
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "encoder/bitstream/cavlc_core.h"
#include "tools/h264/h264_internal.h"

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

// Returns the prediction mode of block (x, y), or -1 if DC is predicted because of it (8.3.1.1).
static int mode_at(const MotusMbParser *r, int x, int y) {
    const MotusParsedMb *mb = mb_at(r, x, y);
    if (!mb || (r->constrained_intra && mb->type < MOTUS_MB_I_4x4)) return -1;
    return mb->intra4x4_pred_mode[(y & 3) * 4 + (x & 3)];
}

// Parses rem_intra4x4_pred_mode.
static int parse_rem_mode(MotusMbParser *r) {
    int rem = 0;
    if (!r->arithmetic) return (int)motus_rbsp_u(r->rbsp, 3);
    for (int i = 0; i < 3; i++) rem |= motus_arithmetic_bin(r, MOTUS_CTX_INTRA4x4_MODE) << i;
    return rem;
}

// Parses the modes of 16 4x4 blocks, or of four 8x8 blocks with transform_8x8.
static void parse_intra4x4_modes(MotusMbParser *r) {
    MotusParsedMb *mb = r->mb + r->n;
    for (int i = 0; i < 16; i += mb->transform_8x8 ? 4 : 1) {
        const int blk = motus_blk_at(i), x = blk & 3, y = blk >> 2;
        const int left = mode_at(r, x - 1, y), above = mode_at(r, x, y - 1);
        int mode = left < 0 || above < 0 ? 2 : motus_min(left, above);
        const int predicted = r->arithmetic ? motus_arithmetic_bin(r, MOTUS_CTX_INTRA4x4_PREDICTED)
                                            : (int)motus_rbsp_u(r->rbsp, 1);
        if (!predicted) {
            const int rem = parse_rem_mode(r);
            mode = rem + (rem >= mode);
        }
        for (int k = 0; k < (mb->transform_8x8 ? 4 : 1); k++)
            mb->intra4x4_pred_mode[motus_blk_at(i + k)] = (uint8_t)mode;
        r->coverage->intra4x4_is_predicted += (unsigned)predicted;
        (mb->transform_8x8 ? r->coverage->intra8x8_pred_mode
                           : r->coverage->intra4x4_pred_mode)[mode]++;
    }
}

// Parses transform_size_8x8_flag.
static void parse_transform_size(MotusMbParser *r) {
    MotusParsedMb *mb = r->mb + r->n;
    mb->transform_8x8 =
        (uint8_t)(r->arithmetic ? motus_cabac_transform_size(r) : (int)motus_rbsp_u(r->rbsp, 1));
    r->coverage->transform_8x8[mb->type >= MOTUS_MB_I_4x4] += mb->transform_8x8;
}

// Parses ref_idx_l0 of a quarter, te(v) in CAVLC (9.1).
static int parse_ref_idx(MotusMbParser *r, int q) {
    if (r->num_ref_idx == 1) return 0;
    const uint32_t index = r->arithmetic         ? (uint32_t)motus_cabac_ref_idx(r, q)
                           : r->num_ref_idx == 2 ? !motus_rbsp_u(r->rbsp, 1)
                                                 : motus_rbsp_ue(r->rbsp);
    motus_rbsp_expect(r->rbsp, index < (uint32_t)r->num_ref_idx, "ref_idx_l0");
    return (int)(index & 31);
}

// Parses mb_pred() or sub_mb_pred() of an inter MB up to its MVs; mb_type as in table 7-13.
static void parse_sub_types(MotusMbParser *r) {
    MotusParsedMb *mb = r->mb + r->n;
    for (int q = 0; q < 4; q++) {
        mb->sub_type[q] = (uint8_t)(r->arithmetic ? motus_cabac_sub_type(r)
                                                  : motus_rbsp_ue_max(r->rbsp, 3, "sub_mb_type"));
        r->coverage->sub_mb_type[mb->sub_type[q]]++;
    }
}

// Parses reference indices. Quarters of one partition share its index.
static void parse_references(MotusMbParser *r, uint32_t mb_type) {
    MotusParsedMb *mb = r->mb + r->n;
    static const uint8_t reads_own[4][4] = {{1, 0, 0, 0}, {1, 0, 1, 0}, {1, 1, 0, 0}, {1, 1, 1, 1}};
    const uint8_t *own = reads_own[mb->type - MOTUS_MB_P_16x16];
    for (int q = 0; q < 4; q++) {
        const int from = mb->type == MOTUS_MB_P_16x8   ? q & 2
                         : mb->type == MOTUS_MB_P_8x16 ? q & 1
                                                       : 0;
        if (own[q])
            mb->ref_idx[q] = (int8_t)(mb_type == 4 ? 0 : parse_ref_idx(r, q));
        else
            mb->ref_idx[q] = mb->ref_idx[from];
    }
}

// Parses a block of a component (first, side: of total_coeff); returns its levels' number.
static int parse_block(MotusMbParser *r, int n, int category, int first, int side, int x, int y) {
    const int left = count_at(r, first, side, x - 1, y), above = count_at(r, first, side, x, y - 1);
    if (r->arithmetic)
        return motus_cabac_residual(r, category, motus_cabac_ac_flag(r, left, above));
    return motus_parse_residual(r, n, motus_cavlc_nc(left, above));
}

// Parses a DC block (component 0 luma, 1 Cb, 2 Cr).
static void parse_dc(MotusMbParser *r, int component) {
    const int category = component ? 3 : 0;
    const int left = count_at(r, 0, 4, -1, 0), above = count_at(r, 0, 4, 0, -1);
    const int n = r->arithmetic
                      ? motus_cabac_residual(r, category, motus_cabac_dc_flag(r, component))
                  : component ? motus_parse_residual(r, 4, -1)
                              : motus_parse_residual(r, 16, motus_cavlc_nc(left, above));
    r->context[r->n].dc |= (uint8_t)((n > 0) << component);
}

// Parses the blocks of luma 8x8 block q.
static void parse_luma8(MotusMbParser *r, int q, int intra16x16) {
    MotusParsedMb *mb = r->mb + r->n;
    if (r->arithmetic && mb->transform_8x8) {
        const int n = motus_cabac_residual(r, 5, 0);
        for (int k = 0; k < 4; k++)
            mb->total_coeff[motus_blk_at(4 * q + k)] = (uint8_t)motus_min(16, n);
        return;
    }
    for (int i = 4 * q; i < 4 * q + 4; i++) {
        const int blk = motus_blk_at(i);
        mb->total_coeff[blk] = (uint8_t)parse_block(r, intra16x16 ? 15 : 16, intra16x16 ? 1 : 2, 0,
                                                    4, blk & 3, blk >> 2);
    }
}

static void parse_residual(MotusMbParser *r, int intra16x16) {
    MotusParsedMb *mb = r->mb + r->n;
    if (intra16x16) parse_dc(r, 0);
    for (int q = 0; q < 4; q++)
        if (mb->cbp >> q & 1) parse_luma8(r, q, intra16x16);
    for (int c = 1; c <= 2 && mb->cbp >> 4; c++) parse_dc(r, c);
    for (int i = 0; i < 8 && mb->cbp >> 4 == 2; i++)
        mb->total_coeff[16 + i] =
            (uint8_t)parse_block(r, 15, 4, 16 + i / 4 * 4, 2, i & 1, i >> 1 & 1);
}

static void parse_pcm(MotusMbParser *r) {
    MotusParsedMb *mb = r->mb + r->n;
    // With CABAC the engine holds its 9 bits here, the last of them a stop bit (9.3.1.2).
    const size_t from = r->rbsp->at - (r->arithmetic ? 9 : 0);
    while (r->rbsp->at % 8)
        if (motus_rbsp_u(r->rbsp, 1)) motus_rbsp_fail(r->rbsp, "pcm_alignment_zero_bit");
    mb->bits_mode += (uint32_t)(r->rbsp->at - from);
    for (int i = 0; i < 384; i++) motus_rbsp_u(r->rbsp, 8);
    if (r->arithmetic) motus_arithmetic_start(r->arithmetic, r->rbsp);
    r->context[r->n].dc = 7;
    mb->bits_residual = 8 * 384;
    mb->cbp = 47;
    memset(mb->total_coeff, 16, sizeof mb->total_coeff);
}

static void begin_mb(MotusMbParser *r) {
    MotusParsedMb *mb = r->mb + r->n;
    const uint32_t slice = mb->slice, bits_mode = mb->bits_mode;
    memset(mb, 0, sizeof *mb);
    memset(mb->intra4x4_pred_mode, 2, sizeof mb->intra4x4_pred_mode);
    mb->slice = slice;
    mb->bits_mode = bits_mode;
    r->context[r->n] = (MotusMbContext){.dc = 0};
}

// Parses the prediction of an intra MB; returns 1 for Intra16x16, whose mb_type implies
// coded_block_pattern.
static int parse_intra_prediction(MotusMbParser *r, uint32_t type) {
    MotusParsedMb *mb = r->mb + r->n;
    memset(mb->ref_idx, -1, sizeof mb->ref_idx);
    if (type == 0 && r->transform_8x8) parse_transform_size(r);
    if (type == 0) parse_intra4x4_modes(r);
    mb->intra_chroma_pred_mode =
        (uint8_t)(r->arithmetic ? motus_cabac_chroma_mode(r)
                                : motus_rbsp_ue_max(r->rbsp, 3, "intra_chroma_pred_mode"));
    r->coverage->intra_chroma[mb->intra_chroma_pred_mode]++;
    if (type > 0) mb->cbp = (uint8_t)((type - 1) / 4 % 3 * 16 + (type > 12 ? 15 : 0));
    return type > 0;
}

static void parse_cbp(MotusMbParser *r, int inter) {
    const int cbp =
        r->arithmetic ? motus_cabac_cbp(r)
                      : cbp_of_code[!inter][motus_rbsp_ue_max(r->rbsp, 47, "coded_block_pattern")];
    r->mb[r->n].cbp = (uint8_t)cbp;
    r->coverage->cbp[!inter][cbp]++;
}

// True if an inter MB with luma levels has transform_size_8x8_flag (7.3.5).
static int has_transform_size(const MotusParsedMb *mb) {
    int small = 0;
    for (int q = 0; q < 4; q++) small |= mb->sub_type[q];
    return mb->cbp & 15 && !small;
}

static void parse_qp_delta(MotusMbParser *r) {
    r->qp_delta = r->arithmetic ? motus_cabac_qp_delta(r) : motus_rbsp_se(r->rbsp) % 52;
    r->qp = (r->qp + r->qp_delta + 52) % 52;
}

static void parse_coded(MotusMbParser *r, uint32_t type, int inter) {
    MotusParsedMb *mb = r->mb + r->n;
    int intra16x16 = 0;
    const size_t from = r->rbsp->at;
    if (inter) {
        if (mb->type == MOTUS_MB_P_8x8) parse_sub_types(r);
        const size_t mvs = r->rbsp->at;
        parse_references(r, type);
        motus_parse_mvs(r);
        mb->bits_mv = (uint32_t)(r->rbsp->at - mvs);
    } else {
        intra16x16 = parse_intra_prediction(r, type);
    }
    if (!intra16x16) parse_cbp(r, inter);
    if (inter && r->transform_8x8 && has_transform_size(mb)) parse_transform_size(r);
    if (mb->cbp || intra16x16)
        parse_qp_delta(r);
    else
        r->qp_delta = 0;
    mb->qp = (uint8_t)r->qp;
    r->coverage->qp[mb->qp]++;
    mb->bits_mode += (uint32_t)(r->rbsp->at - from) - mb->bits_mv;
    const size_t residual = r->rbsp->at;
    if (mb->cbp || intra16x16) parse_residual(r, intra16x16);
    mb->bits_residual = (uint32_t)(r->rbsp->at - residual);
}

void motus_parse_mb(MotusMbParser *r) {
    MotusParsedMb *mb = r->mb + r->n;
    begin_mb(r);
    const size_t from = r->rbsp->at;
    uint32_t type = r->arithmetic ? motus_cabac_mb_type(r) : motus_rbsp_ue(r->rbsp);
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
        r->qp_delta = 0;
        parse_pcm(r);
    } else {
        parse_coded(r, type, inter);
    }
}

void motus_parse_skip_mb(MotusMbParser *r) {
    MotusParsedMb *mb = r->mb + r->n;
    begin_mb(r);
    mb->type = MOTUS_MB_P_SKIP;
    mb->qp = (uint8_t)r->qp;
    r->qp_delta = 0;
    mb->predictor = motus_predict_16x16(r);
    const MotusMv mv = motus_predict_skip(r);
    for (int i = 0; i < 16; i++) mb->mv[i] = mv;
}
