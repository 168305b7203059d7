// SPDX-License-Identifier: BSD-2-Clause
#include "tests/encoder/bitstream/slice_reader.h"

#include <string.h>

#include "tests/support/harness.h"

// Columns of table 9-4 for 4:2:0: coded_block_pattern of a codeNum.
static const uint8_t cbp_intra[48] = {
    47, 31, 15, 0,  23, 27, 29, 30, 7, 11, 13, 14, 39, 43, 45, 46, 16, 3,  5,  10, 12, 19, 21, 26,
    28, 35, 37, 42, 44, 1,  2,  4,  8, 17, 18, 20, 24, 6,  9,  22, 25, 32, 33, 34, 36, 40, 38, 41};
static const uint8_t cbp_inter[48] = {
    0,  16, 1,  2,  4,  8,  32, 3,  5,  10, 12, 15, 47, 7,  11, 13, 14, 6,  9,  31, 35, 37, 42, 44,
    33, 34, 36, 40, 39, 43, 45, 46, 17, 18, 20, 24, 19, 21, 26, 28, 23, 27, 29, 30, 22, 25, 38, 41};

static int neighbour_nc(const int *count, int stride, int x, int y) {
    int left = x ? count[y * stride + x - 1] : -1, above = y ? count[(y - 1) * stride + x] : -1;
    if (left >= 0 && above >= 0) return (left + above + 1) >> 1;
    return left >= 0 ? left : above >= 0 ? above : 0;
}

static void set_counts(SliceReader *p, int mb_x, int mb_y, int value) {
    for (int i = 0; i < 16; i++) p->luma_count[4 * mb_y + i / 4][4 * mb_x + i % 4] = value;
    for (int i = 0; i < 8; i++)
        p->chroma_count[i / 4][2 * mb_y + i / 2 % 2][2 * mb_x + i % 2] = value;
}

static void set_modes(SliceReader *p, int mb_x, int mb_y, int value) {
    for (int i = 0; i < 16; i++) p->mode[4 * mb_y + i / 4][4 * mb_x + i % 4] = value;
}

// Position of luma4x4BlkIdx in blocks, by 6.4.3.
static int blk_x(int idx) { return idx / 4 % 2 * 2 + idx % 2; }
static int blk_y(int idx) { return idx / 8 * 2 + idx % 4 / 2; }

static void parse_intra4x4_modes(SliceReader *p, ReadMb *c, int mb_x, int mb_y) {
    for (int idx = 0; idx < 16; idx++) {
        int x = 4 * mb_x + blk_x(idx), y = 4 * mb_y + blk_y(idx);
        int left = x ? p->mode[y][x - 1] : -1, above = y ? p->mode[y - 1][x] : -1;
        int predicted = left < 0 || above < 0 ? 2 : left < above ? left : above, mode = predicted;
        if (!read_bits(&p->reader, 1)) {
            int rem = (int)read_bits(&p->reader, 3);
            mode = rem < predicted ? rem : rem + 1;
        }
        p->mode[y][x] = mode;
        p->seen_mode[predicted][mode]++;
        c->mb.intra4x4_pred_mode[4 * blk_y(idx) + blk_x(idx)] = (uint8_t)mode;
    }
}

static void parse_luma(SliceReader *p, ReadMb *c, int mb_x, int mb_y) {
    int intra16 = c->mb.type == MOTUS_MB_I_16x16;
    if (intra16)
        read_residual(&p->reader, c->coef.luma_dc, 16,
                      neighbour_nc(p->luma_count[0], 4 * READ_WIDTH, 4 * mb_x, 4 * mb_y));
    for (int idx = 0; idx < 16; idx++) {
        int x = 4 * mb_x + blk_x(idx), y = 4 * mb_y + blk_y(idx), blk = 4 * blk_y(idx) + blk_x(idx),
            count = 0;
        if (c->mb.cbp >> (idx / 4) & 1)
            count = read_residual(&p->reader, c->coef.luma[blk] + intra16, 16 - intra16,
                                  neighbour_nc(p->luma_count[0], 4 * READ_WIDTH, x, y));
        p->luma_count[y][x] = count;
        c->mb.total_coeff[blk] = (uint8_t)count;
    }
}

static void parse_chroma(SliceReader *p, ReadMb *c, int mb_x, int mb_y) {
    for (int comp = 0; comp < 2 && c->mb.cbp >> 4; comp++)
        read_residual(&p->reader, c->coef.chroma_dc[comp], 4, -1);
    for (int i = 0; i < 8; i++) {
        int x = 2 * mb_x + i % 2, y = 2 * mb_y + i / 2 % 2, count = 0;
        int nc = neighbour_nc(p->chroma_count[i / 4][0], 2 * READ_WIDTH, x, y);
        if (c->mb.cbp >> 4 == 2)
            count = read_residual(&p->reader, c->coef.chroma_ac[i / 4][i % 4] + 1, 15, nc);
        p->chroma_count[i / 4][y][x] = count;
        c->mb.total_coeff[16 + i] = (uint8_t)count;
    }
}

static void parse_pcm(SliceReader *p, ReadMb *c) {
    while (p->reader.pos % 8) MOTUS_CHECK(!read_bits(&p->reader, 1), "pcm_alignment_zero_bit");
    for (int i = 0; i < 384; i++) c->pcm[i] = (uint8_t)read_bits(&p->reader, 8);
    memset(c->mb.total_coeff, 16, sizeof c->mb.total_coeff);
    p->stats.bits_luma += 256 * 8;
    p->stats.bits_chroma += 128 * 8;
}

// Parses the MVs; returns their bits.
static uint32_t parse_vectors(SliceReader *p, ReadMb *c) {
    static const uint8_t vectors[4] = {1, 2, 2, 4};
    size_t start = p->reader.pos;
    c->n_mvd = c->mb.type == MOTUS_MB_P_16x16 ? 1 : c->mb.type == MOTUS_MB_P_8x8 ? 0 : 2;
    for (int i = 0; i < 4 && c->mb.type == MOTUS_MB_P_8x8; i++) {
        uint32_t sub_mb_type = read_ue(&p->reader);
        MOTUS_CHECK(sub_mb_type < 4, "sub_mb_type %u", sub_mb_type);
        c->n_mvd += vectors[c->mb.sub_type[i] = (uint8_t)(sub_mb_type & 3)];
        p->seen_sub_type[sub_mb_type & 3]++;
        p->stats.sub[sub_mb_type & 3]++;
        start = p->reader.pos;
    }
    for (int i = 0; i < c->n_mvd; i++) {
        c->mvd[i].x = (int16_t)read_se(&p->reader);
        c->mvd[i].y = (int16_t)read_se(&p->reader);
    }
    return (uint32_t)(p->reader.pos - start);
}

// Parses mb_type by tables 7-11 and 7-13. Returns true if the MB is intra.
static int parse_mb_type(SliceReader *p, ReadMb *c) {
    uint32_t mb_type = read_ue(&p->reader);
    MOTUS_CHECK(mb_type < (p->slice_type ? 31u : 26u) && !(p->slice_type && mb_type == 4),
                "mb_type %u", mb_type);
    p->seen_mb_type[p->slice_type][mb_type % 31]++;
    if (p->slice_type && mb_type < 5) {
        c->mb.type = (uint8_t)(MOTUS_MB_P_16x16 + mb_type);
        return 0;
    }
    if (p->slice_type) mb_type -= 5;
    c->mb.type = mb_type == 0 ? MOTUS_MB_I_4x4 : mb_type == 25 ? MOTUS_MB_I_PCM : MOTUS_MB_I_16x16;
    if (c->mb.type == MOTUS_MB_I_16x16) {
        c->mb.intra16x16_pred_mode = (mb_type - 1) % 4;
        c->mb.cbp = (uint8_t)((mb_type - 1) / 4 % 3 << 4 | (mb_type >= 13 ? 15 : 0));
    }
    return 1;
}

static void parse_mb(SliceReader *p, ReadMb *c, int mb_x, int mb_y) {
    size_t start = p->reader.pos;
    uint32_t mv_bits = 0;
    int intra = parse_mb_type(p, c);
    p->stats.mb[c->mb.type]++;
    set_modes(p, mb_x, mb_y, c->mb.type == MOTUS_MB_I_4x4 ? -1 : 2);
    set_counts(p, mb_x, mb_y, c->mb.type == MOTUS_MB_I_PCM ? 16 : 0);
    if (c->mb.type == MOTUS_MB_I_PCM) {
        parse_pcm(p, c);
        p->stats.bits_mode += p->reader.pos - start - 384 * 8;
        return;
    }
    if (c->mb.type == MOTUS_MB_I_4x4) parse_intra4x4_modes(p, c, mb_x, mb_y);
    if (intra)
        c->mb.intra_chroma_pred_mode = (uint8_t)read_ue(&p->reader);
    else
        mv_bits = parse_vectors(p, c);
    if (c->mb.type != MOTUS_MB_I_16x16) {
        uint32_t code_num = read_ue(&p->reader);
        MOTUS_CHECK(code_num < 48, "coded_block_pattern %u", code_num);
        c->mb.cbp = (intra ? cbp_intra : cbp_inter)[code_num % 48];
        p->seen_cbp[intra][c->mb.cbp]++;
    }
    if (c->mb.cbp || c->mb.type == MOTUS_MB_I_16x16) {
        int mb_qp_delta = read_se(&p->reader);
        MOTUS_CHECK(mb_qp_delta >= -26 && mb_qp_delta <= 25, "mb_qp_delta %d", mb_qp_delta);
        p->qp = (p->qp + mb_qp_delta + 52) % 52;
    }
    c->mb.qp = (uint8_t)p->qp;
    p->stats.bits_mode += p->reader.pos - start - mv_bits;
    p->stats.bits_mv += mv_bits;
    start = p->reader.pos;
    if (!c->mb.cbp && c->mb.type != MOTUS_MB_I_16x16) return;
    parse_luma(p, c, mb_x, mb_y);
    p->stats.bits_luma += p->reader.pos - start;
    start = p->reader.pos;
    parse_chroma(p, c, mb_x, mb_y);
    p->stats.bits_chroma += p->reader.pos - start;
}

void read_slice(SliceReader *p, ReadMb mbs[READ_MBS]) {
    memset(p->luma_count, -1, sizeof p->luma_count);
    memset(p->chroma_count, -1, sizeof p->chroma_count);
    memset(p->mode, -1, sizeof p->mode);
    memset(&p->stats, 0, sizeof p->stats);
    memset(mbs, 0, READ_MBS * sizeof *mbs);
    for (int i = 0; i < READ_MBS && !p->reader.error; i++) {
        size_t start = p->reader.pos;
        uint32_t run = p->slice_type ? read_ue(&p->reader) : 0;
        p->stats.bits_mode += p->reader.pos - start;
        for (; run && i < READ_MBS; run--, i++) {
            set_modes(p, i % READ_WIDTH, i / READ_WIDTH, 2);
            set_counts(p, i % READ_WIDTH, i / READ_WIDTH, 0);
            mbs[i].mb.qp = (uint8_t)p->qp;
            p->stats.mb[MOTUS_MB_P_SKIP]++;
        }
        if (i < READ_MBS) parse_mb(p, &mbs[i], i % READ_WIDTH, i / READ_WIDTH);
    }
}
