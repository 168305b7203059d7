// macroblock_layer (7.3.5).
// SPDX-License-Identifier: BSD-2-Clause
#include "tests/decoders/parse_internal.h"

#include <string.h>

// coded_block_pattern by codeNum (table 9-4), for intra and inter MBs.
static const uint8_t cbp_of_code[2][48] = {
    {0,  16, 1,  2,  4,  8,  32, 3,  5,  10, 12, 15, 47, 7,  11, 13, 14, 6,  9,  31, 35, 37, 42, 44,
     33, 34, 36, 40, 39, 43, 45, 46, 17, 18, 20, 24, 19, 21, 26, 28, 23, 27, 29, 30, 22, 25, 38, 41},
    {47, 31, 15, 0,  23, 27, 29, 30, 7, 11, 13, 14, 39, 43, 45, 46, 16, 3,  5,  10, 12, 19, 21, 26,
     28, 35, 37, 42, 44, 1,  2,  4,  8, 17, 18, 20, 24, 6,  9,  22, 25, 32, 33, 34, 36, 40, 38, 41}};

// The value at block (x, y) of a component that begins at `first` and is `side` blocks wide; x or y of -1 look into the neighbour MB.
// -1: not available.
static int count_at(const ParsedPicture *picture, int n, int first, int side, int x, int y) {
    if (x < 0 && n % picture->mb_width == 0) return -1;
    if (y < 0 && n < picture->mb_width) return -1;
    const ParsedMb *mb = picture->mb + n - (x < 0 ? 1 : 0) - (y < 0 ? picture->mb_width : 0);
    return mb->total_coeff[first + (y + side) % side * side + (x + side) % side];
}

static int nc_at(const ParsedPicture *picture, int n, int first, int side, int x, int y) {
    const int left = count_at(picture, n, first, side, x - 1, y), above = count_at(picture, n, first, side, x, y - 1);
    if (left >= 0 && above >= 0) return (left + above + 1) >> 1;
    return left >= 0 ? left : above >= 0 ? above : 0;
}

static int mode_at(const ParsedPicture *picture, int n, int x, int y) {
    if ((x < 0 && n % picture->mb_width == 0) || (y < 0 && n < picture->mb_width)) return -1;
    const ParsedMb *mb = picture->mb + n - (x < 0 ? 1 : 0) - (y < 0 ? picture->mb_width : 0);
    return mb->intra4x4_pred_mode[(y & 3) * 4 + (x & 3)];
}

static void parse_intra4x4_modes(Rbsp *rbsp, ParsedPicture *picture, int n, MotusCoverage *coverage) {
    for (int i = 0; i < 16; i++) {
        const int x = (i >> 2 & 1) * 2 + (i & 1), y = (i >> 3) * 2 + (i >> 1 & 1);
        const int left = mode_at(picture, n, x - 1, y), above = mode_at(picture, n, x, y - 1);
        int mode = left < 0 || above < 0 ? 2 : left < above ? left : above; // 8.3.1.1
        if (rbsp_u(rbsp, 1)) {
            coverage->intra4x4_is_predicted++;
        } else {
            const int rem = (int)rbsp_u(rbsp, 3);
            mode = rem + (rem >= mode);
        }
        picture->mb[n].intra4x4_pred_mode[y * 4 + x] = (uint8_t)mode;
        coverage->intra4x4_pred_mode[mode]++;
    }
}

static void parse_vectors(Rbsp *rbsp, int count, MotusCoverage *coverage) {
    for (int i = 0; i < 2 * count; i++) {
        const size_t before = rbsp->at;
        rbsp_se(rbsp);
        coverage->mvd_bits[rbsp->at - before < 33 ? rbsp->at - before : 32]++;
    }
}

static void parse_inter_prediction(Rbsp *rbsp, unsigned mb_type, MotusCoverage *coverage) {
    static const uint8_t vectors_of_sub_type[4] = {1, 2, 2, 4};
    int count = mb_type == 0 ? 1 : 2;
    if (mb_type == 3) {
        count = 0;
        for (int i = 0; i < 4; i++) {
            const unsigned sub = rbsp_ue(rbsp);
            if (sub > 3) rbsp_fail(rbsp, "sub_mb_type");
            coverage->sub_mb_type[sub & 3]++;
            count += vectors_of_sub_type[sub & 3];
        }
    }
    parse_vectors(rbsp, count, coverage);
}

static void parse_luma(Rbsp *rbsp, ParsedPicture *picture, int n, int cbp, int intra16x16, MotusCoverage *coverage) {
    ParsedMb *mb = picture->mb + n;
    if (intra16x16) parse_residual(rbsp, 16, nc_at(picture, n, 0, 4, 0, 0), coverage);
    for (int i = 0; i < 16; i++) {
        const int x = (i >> 2 & 1) * 2 + (i & 1), y = (i >> 3) * 2 + (i >> 1 & 1);
        if (cbp >> (i >> 2) & 1)
            mb->total_coeff[y * 4 + x] =
                (uint8_t)parse_residual(rbsp, intra16x16 ? 15 : 16, nc_at(picture, n, 0, 4, x, y), coverage);
    }
}

static void parse_chroma(Rbsp *rbsp, ParsedPicture *picture, int n, int cbp, MotusCoverage *coverage) {
    for (int c = 0; c < 2 && cbp >> 4; c++) parse_residual(rbsp, 4, -1, coverage);
    for (int i = 0; i < 8 && cbp >> 4 == 2; i++) {
        const int first = 16 + i / 4 * 4, x = i & 1, y = i >> 1 & 1;
        picture->mb[n].total_coeff[16 + i] = (uint8_t)parse_residual(rbsp, 15, nc_at(picture, n, first, 2, x, y), coverage);
    }
}

static void parse_pcm(Rbsp *rbsp, ParsedMb *mb) {
    while (rbsp->at % 8)
        if (rbsp_u(rbsp, 1)) rbsp_fail(rbsp, "pcm_alignment_zero_bit");
    for (int i = 0; i < 384; i++) rbsp_u(rbsp, 8);
    memset(mb->total_coeff, 16, sizeof mb->total_coeff);
}

void parse_mb(Rbsp *rbsp, ParsedPicture *picture, int n, MotusCoverage *coverage) {
    ParsedMb *mb = picture->mb + n;
    memset(mb->total_coeff, 0, sizeof mb->total_coeff);
    memset(mb->intra4x4_pred_mode, 2, sizeof mb->intra4x4_pred_mode);
    unsigned type = rbsp_ue(rbsp);
    const int inter = picture->p_slice && type < 5;
    if (picture->p_slice && !inter) type -= 5;
    if (type > (inter ? 3 : 25)) {
        rbsp_fail(rbsp, "mb_type");
        return;
    }
    if (inter)
        coverage->p_mb_type[type]++;
    else
        coverage->i_mb_type[picture->p_slice][type]++;
    if (!inter && type == 25) {
        parse_pcm(rbsp, mb);
        return;
    }
    if (inter) {
        parse_inter_prediction(rbsp, type, coverage);
    } else {
        if (type == 0) parse_intra4x4_modes(rbsp, picture, n, coverage);
        const unsigned mode = rbsp_ue(rbsp);
        if (mode > 3) rbsp_fail(rbsp, "intra_chroma_pred_mode");
        coverage->intra_chroma[mode & 3]++;
    }
    const int intra16x16 = !inter && type > 0;
    int cbp = intra16x16 ? (int)((type - 1) / 4 % 3 * 16 + (type > 12 ? 15 : 0)) : 0;
    if (!intra16x16) {
        const unsigned code = rbsp_ue(rbsp);
        if (code > 47) rbsp_fail(rbsp, "coded_block_pattern");
        cbp = cbp_of_code[!inter][code % 48];
        coverage->cbp[!inter][cbp]++;
    }
    if (cbp || intra16x16) picture->qp = (picture->qp + rbsp_se(rbsp) + 52) % 52;
    if (picture->qp < 0) rbsp_fail(rbsp, "mb_qp_delta");
    coverage->qp[picture->qp < 0 ? 0 : picture->qp]++;
    if (cbp || intra16x16) {
        parse_luma(rbsp, picture, n, cbp, intra16x16, coverage);
        parse_chroma(rbsp, picture, n, cbp, coverage);
    }
}
