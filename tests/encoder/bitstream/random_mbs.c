// SPDX-License-Identifier: BSD-2-Clause
#include "tests/encoder/bitstream/random_mbs.h"

#include <stdlib.h>
#include <string.h>

#include "encoder/bitstream/syntax_core.h"
#include "tests/support/harness.h"

#define DISTINCT 2000 // MBs drawn per picture; later ones repeat them except for their MVs

void random_mbs_open(MotusCodedMbs *pic, int mb_width, int mb_height) {
    size_t n = (size_t)mb_width * (size_t)mb_height;
    MotusFrame *src = NULL;
    *pic =
        (MotusCodedMbs){.mb_width = mb_width, .mb_height = mb_height, .n_mb = (int)n, .threads = 1};
    pic->mb = aligned_alloc(64, (n * sizeof *pic->mb + 63) & ~(size_t)63);
    pic->coef = aligned_alloc(64, (n * sizeof *pic->coef + 63) & ~(size_t)63);
    uint8_t *col_zero = malloc(n);
    CU_ASSERT_FATAL(pic->mb && pic->coef && col_zero &&
                    motus_frame_alloc(&src, 16 * mb_width, 16 * mb_height) == MOTUS_OK);
    pic->src = src;
    for (size_t i = 0; i < n; i++) col_zero[i] = (uint8_t)motus_test_range(0, 15);
    pic->direct.col_zero = col_zero;
}

void random_mbs_close(MotusCodedMbs *pic) {
    MotusFrame *src = (MotusFrame *)pic->src;
    motus_frame_unref(&src);
    free(pic->mb);
    free(pic->coef);
    free((uint8_t *)pic->direct.col_zero);
    *pic = (MotusCodedMbs){0};
}

static int random_block(int16_t *level, int n, int density) {
    static const int largest[4] = {1, 3, 40, 2063};
    int count = 0, most = largest[motus_test_range(0, 3)];
    for (int i = 0; i < n; i++)
        if (motus_test_range(0, 16) < density) {
            int magnitude = motus_test_range(1, motus_test_range(1, most));
            level[i] = (int16_t)(motus_test_random() & 8 ? magnitude : -magnitude);
            count++;
        }
    return count;
}

static void random_residual(MotusMb *mb, MotusMbCoef *coef, int density) {
    int intra16 = mb->type == MOTUS_MB_I_16x16;
    int luma = intra16 ? 15 * motus_test_range(0, 1) : motus_test_range(0, 15),
        chroma = motus_test_range(0, 2);
    mb->cbp = (uint8_t)(luma | chroma << 4);
    if (intra16) random_block(coef->luma_dc, 16, density);
    for (int blk = 0; blk < 16; blk++)
        if (luma >> (blk / 8 * 2 + blk % 4 / 2) & 1)
            mb->total_coeff[blk] =
                (uint8_t)random_block(coef->luma[blk] + intra16, 16 - intra16, density);
    for (int i = 0; i < 8; i++) {
        if (chroma && i < 2) random_block(coef->chroma_dc[i], 4, density);
        if (chroma == 2)
            mb->total_coeff[16 + i] =
                (uint8_t)random_block(coef->chroma_ac[i / 4][i % 4] + 1, 15, density);
    }
}

static void largest_residual(MotusMb *mb, MotusMbCoef *coef) {
    int intra16 = mb->type == MOTUS_MB_I_16x16;
    mb->cbp = 0x2F;
    for (int i = 0; i < 384; i++) {
        int16_t *at = i < 256 ? &coef->luma[i / 16][i % 16]
                              : &coef->chroma_ac[(i - 256) / 64][i / 16 % 4][i % 16];
        *at = (int16_t)(i % 16 || (i < 256 && !intra16) ? 2063 - (i & 3) : 0);
    }
    for (int i = 0; i < 8; i++) coef->chroma_dc[i / 4][i % 4] = -2063;
    for (int i = 0; i < 16 && intra16; i++) coef->luma_dc[i] = -2063;
    memset(mb->total_coeff, intra16 ? 15 : 16, 16);
    memset(mb->total_coeff + 16, 15, 8);
}

static void set_mv(MotusMb *mb, const MotusPartition *part, MotusMv mv) {
    for (int y = part->y; y < part->y + part->height; y++)
        for (int x = part->x; x < part->x + part->width; x++) mb->mv[4 * y + x] = mv;
}

static MotusMv random_mv(int reach) {
    const MotusMv mv = {(int16_t)motus_test_range(-reach, reach),
                        (int16_t)motus_test_range(-reach, reach)};
    return mv;
}

static void random_vectors(MotusMb *mb) {
    MotusPartition parts[16];
    int n = motus_mb_partitions(mb, parts), reach = 1 << motus_test_range(0, 13);
    for (int i = 0; i < n; i++) set_mv(mb, &parts[i], random_mv(reach));
}

// Gives an inter MB lists and MVs of a B picture.
static void random_lists(const MotusCodedMbs *pic, int i) {
    static const uint8_t ref[2] = {0, 0};
    const MotusNeighbours neighbours =
        motus_neighbours(pic->mb, pic->mb_width, i % pic->mb_width, i / pic->mb_width, 0);
    const MotusDirect direct = motus_direct_spatial(&neighbours, pic->direct.col_zero[i]);
    MotusMb *mb = &pic->mb[i];
    const int reach = 1 << motus_test_range(0, 13),
              is_direct = mb->type == MOTUS_MB_P_SKIP ||
                          (mb->type == MOTUS_MB_P_16x16 && !motus_test_range(0, 2));
    memset(mb->sub_type, 0, sizeof mb->sub_type);
    mb->direct = 0;
    for (int q = 0; q < 4; q++) {
        const MotusPartition part = motus_b_partition(mb, q);
        const int first = motus_8x8_of(4 * part.y + part.x);
        if (is_direct || (mb->type == MOTUS_MB_P_8x8 && !motus_test_range(0, 3)))
            motus_set_direct(mb, q, &direct);
        else if (first == q)
            motus_set_8x8(mb, q, motus_test_range(MOTUS_PRED_L0, MOTUS_PRED_BI), ref,
                          random_mv(reach), random_mv(reach));
        else
            motus_set_8x8(mb, q, mb->pred[first], ref, mb->mv[4 * part.y + part.x], mb->mv1[first]);
    }
}

static MotusMbKind random_type(int slice_type, MbContent content) {
    if (content == MBS_PCM) return MOTUS_MB_I_PCM;
    if (!slice_type)
        return (MotusMbKind)motus_test_range(
            MOTUS_MB_I_4x4, content == MBS_MIXED ? MOTUS_MB_I_PCM : MOTUS_MB_I_16x16);
    if (content == MBS_SKIPPED || (content == MBS_QUIET && motus_test_range(0, 30)))
        return MOTUS_MB_P_SKIP;
    if (content == MBS_LARGEST)
        return (MotusMbKind)motus_test_range(MOTUS_MB_P_8x8, MOTUS_MB_I_16x16);
    return (MotusMbKind)motus_test_range(MOTUS_MB_P_SKIP, MOTUS_MB_I_PCM);
}

static void random_mb(MotusMb *mb, MotusMbCoef *coef, int slice_type, MbContent content) {
    memset(mb, 0, sizeof *mb);
    memset(coef, 0, sizeof *coef);
    mb->type = (uint8_t)random_type(slice_type, content);
    if (mb->type == MOTUS_MB_I_PCM) memset(mb->total_coeff, 16, sizeof mb->total_coeff);
    if (mb->type == MOTUS_MB_P_SKIP || mb->type == MOTUS_MB_I_PCM) return;
    if (motus_mb_is_intra(mb)) mb->intra_chroma_pred_mode = (uint8_t)motus_test_range(0, 3);
    if (mb->type == MOTUS_MB_I_16x16) mb->intra16x16_pred_mode = (uint8_t)motus_test_range(0, 3);
    int usual_mode = motus_test_range(0, 8);
    for (int i = 0; i < 16 && mb->type == MOTUS_MB_I_4x4; i++)
        mb->intra4x4_pred_mode[i] =
            (uint8_t)(motus_test_range(0, 2) ? usual_mode : motus_test_range(0, 8));
    for (int i = 0; i < 4 && mb->type == MOTUS_MB_P_8x8; i++)
        mb->sub_type[i] =
            (uint8_t)(content == MBS_LARGEST ? MOTUS_SUB_4x4 : motus_test_range(0, 3));
    if (content == MBS_LARGEST)
        largest_residual(mb, coef);
    else
        random_residual(mb, coef, motus_test_range(0, content == MBS_QUIET ? 1 : 16));
}

// I_PCM brings long runs of zeros into a slice.
static void random_samples(MotusCodedMbs *pic, MbContent content) {
    for (int p = 0; p < 3; p++) {
        const MotusPlane *plane = &pic->src->plane[p];
        for (int y = 0; y < plane->height; y++) {
            uint8_t *row = plane->data + y * plane->stride;
            motus_test_fill(row, (size_t)plane->width);
            for (int x = 0; x < plane->width && content == MBS_PCM; x++)
                row[x] = (uint8_t)(row[x] & 0x30 ? 0 : row[x] & 7);
        }
    }
}

void random_mbs_fill(MotusCodedMbs *pic, int slice_type, int slice_qp, MbContent content) {
    int any_qp = motus_test_range(0, 1);
    random_samples(pic, content);
    pic->slice_type = slice_type;
    for (int i = 0; i < pic->n_mb; i++) {
        MotusMb *mb = &pic->mb[i];
        if (i < DISTINCT) {
            random_mb(mb, &pic->coef[i], slice_type, content);
        } else {
            int from = motus_test_range(0, DISTINCT - 1);
            *mb = pic->mb[from];
            pic->coef[i] = pic->coef[from];
        }
        if (slice_type != MOTUS_SLICE_B)
            random_vectors(mb);
        else if (!motus_mb_is_intra(mb))
            random_lists(pic, i);
        mb->qp =
            (uint8_t)(any_qp || !motus_mb_has_qp_delta(mb) ? motus_test_range(0, 51) : slice_qp);
        if (slice_type == MOTUS_SLICE_B || mb->type > MOTUS_MB_P_16x16 || mb->cbp ||
            (content != MBS_SKIPPED && !motus_test_range(0, 3)))
            continue;
        MotusNeighbours neighbours =
            motus_neighbours(pic->mb, pic->mb_width, i % pic->mb_width, i / pic->mb_width, 0);
        MotusPartition whole = motus_partition_at(MOTUS_MODE_16x16, 0, 0, 0);
        set_mv(mb, &whole, motus_mb_skip_mv(&neighbours));
    }
}

// Makes luma 8x8 block q of an MB one block, which has a level. In CABAC its 4x4 blocks share the
// count.
static void join_block8(MotusMb *mb, MotusMbCoef *coef, int q, int cabac) {
    int total = 0;
    for (int k = 0; k < 4; k++) total += mb->total_coeff[motus_blk_at(4 * q + k)];
    if (!total) {
        const int i = motus_test_range(0, 63), blk = motus_blk_at(4 * q + i % 4);
        coef->luma[blk][i / 4] = (int16_t)(total = 1);
        mb->total_coeff[blk] = 1;
    }
    for (int k = 0; k < 4; k++) {
        const int blk = motus_blk_at(4 * q + k);
        if (cabac) mb->total_coeff[blk] = (uint8_t)motus_min(total, 16);
        if (mb->type == MOTUS_MB_I_4x4)
            mb->intra4x4_pred_mode[blk] = mb->intra4x4_pred_mode[motus_blk_at(4 * q)];
    }
}

void random_mbs_transform_8x8(MotusCodedMbs *pic, int cabac) {
    for (int i = 0; i < pic->n_mb; i++) {
        MotusMb *mb = &pic->mb[i];
        if (!motus_has_transform_size(mb) || motus_test_range(0, 1)) continue;
        mb->transform_8x8 = 1;
        for (int q = 0; q < 4; q++)
            if (mb->cbp >> q & 1)
                join_block8(mb, &pic->coef[i], q, cabac);
            else
                for (int k = 1; k < 4 && mb->type == MOTUS_MB_I_4x4; k++)
                    mb->intra4x4_pred_mode[motus_blk_at(4 * q + k)] =
                        mb->intra4x4_pred_mode[motus_blk_at(4 * q)];
    }
}

static int poison(int16_t *level, int n) {
    for (int i = 0; i < n; i++) level[i] = 0x5A5A;
    return 1;
}

int random_mbs_poison(MotusCodedMbs *pic) {
    int count = 0;
    for (int i = 0; i < pic->n_mb; i++) {
        const MotusMb *mb = &pic->mb[i];
        MotusMbCoef *coef = &pic->coef[i];
        int pcm = mb->type == MOTUS_MB_I_PCM;
        for (int blk = 0; blk < 24; blk++)
            if (pcm || !mb->total_coeff[blk])
                count += poison(
                    blk < 16 ? coef->luma[blk] : coef->chroma_ac[(blk - 16) / 4][blk & 3], 16);
        if (mb->type != MOTUS_MB_I_16x16) count += poison(coef->luma_dc, 16);
        if (!(mb->cbp >> 4)) count += poison(coef->chroma_dc[0], 8);
    }
    return count;
}
