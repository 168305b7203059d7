// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/inter_mbs.h"

#include <string.h>

#include "dct/dct_core.h"
#include "encoder/bitstream/syntax_core.h"
#include "tests/support/harness.h"

enum { MOST_MV_Y = 2000 }; // quarter samples, within level 4's range

static int chance(int per_cent) { return motus_test_range(1, 100) <= per_cent; }

// ---- MVs ----------------------------------------------------------------------------------------

static MotusMv random_mv(const InterMbs *how) {
    const int reach = chance(40) ? motus_test_range(0, 2) : chance(60) ? 12 : how->reach;
    const int y = motus_min(reach, MOST_MV_Y);
    const MotusMv mv = {(int16_t)motus_test_range(-reach, reach), (int16_t)motus_test_range(-y, y)};
    return mv;
}

static void set_mv(MotusMb *mb, const MotusPartition *part, MotusMv mv) {
    for (int y = part->y; y < part->y + part->height; y++)
        for (int x = part->x; x < part->x + part->width; x++) mb->mv[4 * y + x] = mv;
}

static void random_p(MotusMb *mb, const MotusNeighbours *neighbours, const InterMbs *how) {
    MotusPartition parts[16];
    for (int q = 0; q < 4 && mb->type == MOTUS_MB_P_8x8; q++)
        mb->sub_type[q] = (uint8_t)motus_test_range(0, 3);
    const int n = motus_mb_partitions(mb, parts),
              skip = mb->type == MOTUS_MB_P_SKIP || (mb->type == MOTUS_MB_P_16x16 && chance(30));
    for (int i = 0; i < n; i++)
        set_mv(mb, &parts[i], skip ? motus_mb_skip_mv(neighbours) : random_mv(how));
}

// Sets all 8x8 blocks of a partition of a B MB at random; its MVs are often the predicted ones.
// refs: of list 0.
static void random_partition(MotusMb *mb, const MotusNeighbours *neighbours,
                             const MotusPartition *part, const InterMbs *how, int refs) {
    const uint8_t ref[2] = {(uint8_t)motus_test_range(0, refs - 1), 0};
    const int pred = motus_test_range(MOTUS_PRED_L0, MOTUS_PRED_BI);
    MotusMv mv[2];
    mb->ref[0][motus_8x8_of(4 * part->y + part->x)] = ref[0];
    for (int list = 0; list < 2; list++)
        mv[list] = chance(30) ? motus_mb_mvp(mb, neighbours, part, list) : random_mv(how);
    for (int y = part->y; y < part->y + part->height; y += 2)
        for (int x = part->x; x < part->x + part->width; x += 2)
            motus_set_8x8(mb, motus_8x8_of(4 * y + x), pred, ref, mv[0], mv[1]);
}

static void random_b(MotusMb *mb, const MotusNeighbours *neighbours, const InterMbs *how,
                     const MotusDirectSource *source, int mb_i, int refs) {
    const MotusDirect direct = motus_direct_of(neighbours, source, mb_i);
    MotusPartition parts[16];
    const int n = motus_mb_partitions(mb, parts);
    const int whole = direct.blocks == MOTUS_ALL_DIRECT &&
                      (mb->type == MOTUS_MB_P_SKIP || (mb->type == MOTUS_MB_P_16x16 && chance(30)));
    if (whole || mb->type == MOTUS_MB_P_SKIP) mb->type = MOTUS_MB_P_16x16; // B_Skip without levels
    for (int q = 0; q < 4 && whole; q++) motus_set_direct(mb, q, &direct);
    for (int i = 0; i < n && !whole; i++)
        if (mb->type == MOTUS_MB_P_8x8 && (direct.blocks >> i & 1) && chance(30))
            motus_set_direct(mb, i, &direct);
        else
            random_partition(mb, neighbours, &parts[i], how, refs);
}

static void random_intra(MotusMb *mb, const MotusNeighbours *neighbours) {
    enum { VERTICAL, HORIZONTAL, DC }; // tables 8-2 and 8-4
    const int left = neighbours->a != NULL, top = neighbours->b != NULL;
    int mode = motus_test_range(VERTICAL, DC);
    if (mode == VERTICAL && top)
        mb->intra_chroma_pred_mode = MOTUS_IC_VERTICAL;
    else if (mode == HORIZONTAL && left)
        mb->intra_chroma_pred_mode = MOTUS_IC_HORIZONTAL;
    else
        mode = DC;
    mb->intra16x16_pred_mode = (uint8_t)(mb->type == MOTUS_MB_I_16x16 ? mode : 0);
    for (int blk = 0; blk < 16 && mb->type == MOTUS_MB_I_4x4; blk++) {
        mode = motus_test_range(VERTICAL, DC);
        const int allowed = mode == DC || (mode == VERTICAL ? blk / 4 || top : blk % 4 || left);
        mb->intra4x4_pred_mode[blk] = (uint8_t)(allowed ? mode : DC);
    }
}

// ---- Levels -------------------------------------------------------------------------------------

// Fills a zeroed block. unit: the most that a level of 1 adds to a coefficient; together they stay
// far below 2^15 (8.5.12). Returns the number of levels.
static int random_levels(int16_t *level, int n, int unit) {
    int count = 0, left = 8000;
    for (int k = chance(80) ? motus_test_range(0, 3) : motus_test_range(0, n); k > 0; k--) {
        const int i = motus_test_range(0, n - 1), most = left / unit,
                  magnitude = chance(80) ? 1 : motus_test_range(1, motus_clip(1, 60, most));
        if (level[i] || magnitude > most) continue;
        level[i] = (int16_t)(chance(50) ? magnitude : -magnitude);
        left -= magnitude * unit;
        count++;
    }
    return count;
}

static void random_block8(MotusMb *mb, MotusMbCoef *coef, int q, int cabac) {
    int16_t level[64] = {0};
    int n[4] = {0};
    if (!random_levels(level, 64, (58 << mb->qp / 6 >> 2) + 1)) level[motus_test_range(0, 63)] = 1;
    for (int i = 0; i < 64; i++) {
        coef->luma[motus_blk_at(4 * q + i % 4)][i / 4] = level[i];
        n[i % 4] += level[i] != 0;
    }
    for (int k = 0; k < 4; k++)
        mb->total_coeff[motus_blk_at(4 * q + k)] =
            (uint8_t)(cabac ? motus_min(16, n[0] + n[1] + n[2] + n[3]) : n[k]);
}

static void random_luma(MotusMb *mb, MotusMbCoef *coef, const InterMbs *how) {
    const int intra16 = mb->type == MOTUS_MB_I_16x16, per = mb->qp / 6;
    mb->cbp |= (uint8_t)(intra16 ? 15 * motus_test_range(0, 1) : motus_test_range(0, 15));
    mb->transform_8x8 =
        how->transform_8x8 && !motus_mb_is_intra(mb) && motus_has_transform_size(mb) && chance(50);
    if (intra16) random_levels(coef->luma_dc, 16, (18 << per >> 2) + 1);
    for (int q = 0; q < 4; q++) {
        if (!(mb->cbp >> q & 1)) continue;
        if (mb->transform_8x8) random_block8(mb, coef, q, how->cabac);
        for (int k = 4 * q; k < 4 * q + 4 && !mb->transform_8x8; k++) {
            const int blk = motus_blk_at(k);
            mb->total_coeff[blk] =
                (uint8_t)random_levels(coef->luma[blk] + intra16, 16 - intra16, 29 << per);
        }
    }
}

static void random_chroma(MotusMb *mb, MotusMbCoef *coef) {
    const int chroma = motus_test_range(0, 2), per = motus_chroma_qp_of(mb->qp) / 6;
    mb->cbp |= (uint8_t)(chroma << 4);
    for (int c = 0; c < 2 && chroma; c++)
        random_levels(coef->chroma_dc[c], 4, (18 << per >> 1) + 1);
    for (int i = 0; i < 8 && chroma == 2; i++)
        mb->total_coeff[16 + i] =
            (uint8_t)random_levels(coef->chroma_ac[i / 4][i % 4] + 1, 15, 29 << per);
}

// ---- An MB --------------------------------------------------------------------------------------

static void random_mb(MotusCodedMbs *mbs, int i, const InterMbs *how) {
    const MotusNeighbours neighbours = motus_neighbours_at(mbs, i);
    MotusMb *mb = &mbs->mb[i];
    memset(mb, 0, sizeof *mb);
    memset(&mbs->coef[i], 0, sizeof mbs->coef[i]);
    mb->type = (uint8_t)(chance(10) ? motus_test_range(MOTUS_MB_I_4x4, MOTUS_MB_I_PCM)
                                    : motus_test_range(MOTUS_MB_P_SKIP, MOTUS_MB_P_8x8));
    mb->qp = (uint8_t)(chance(60) ? how->qp : motus_clip(0, 51, how->qp + motus_test_range(-9, 9)));
    if (mb->type == MOTUS_MB_I_PCM) memset(mb->total_coeff, 16, sizeof mb->total_coeff);
    if (mb->type == MOTUS_MB_I_PCM) return;
    if (motus_mb_is_intra(mb))
        random_intra(mb, &neighbours);
    else if (mbs->slice_type == MOTUS_SLICE_B)
        random_b(mb, &neighbours, how, &how->direct, i, mbs->refs);
    else
        random_p(mb, &neighbours, how);
    if (mb->type == MOTUS_MB_P_SKIP || !chance(how->residual)) return;
    random_luma(mb, &mbs->coef[i], how);
    random_chroma(mb, &mbs->coef[i]);
}

void inter_mbs_fill(MotusCodedMbs *mbs, const InterMbs *how) {
    for (int i = 0; i < mbs->n_mb; i++) random_mb(mbs, i, how);
}
