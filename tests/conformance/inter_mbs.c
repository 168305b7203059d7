// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/inter_mbs.h"

#include <string.h>

#include "dct/dct_core.h"
#include "dct/dct_mb_core.h"
#include "dct/transform8_core.h"
#include "encoder/bitstream/syntax_core.h"
#include "encoder/mb/intra_core.h"
#include "tests/support/harness.h"
#include "tests/support/plain_luma.h"

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

// ---- An MB by the definition
// -----------------------------------------------------------------------

// ---- Inter prediction (8.4.2.2) -----------------------------------------------------------------

// Returns the chroma sample at (x, y) in eighths.
static int chroma_at(const MotusPlane *p, int x, int y) {
    const int fx = x & 7, fy = y & 7;
    x >>= 3, y >>= 3;
    return ((8 - fx) * (8 - fy) * plain_sample(p, x, y) +
            fx * (8 - fy) * plain_sample(p, x + 1, y) + (8 - fx) * fy * plain_sample(p, x, y + 1) +
            fx * fy * plain_sample(p, x + 1, y + 1) + 32) >>
           6;
}

// Predicts sample (x, y) of plane c, in its samples; mb_x, mb_y: those inside the MB.
static int inter_sample(const MotusCodedMbs *mbs, const MotusMb *mb, const MotusFrame *const refs[],
                        int c, int x, int y, int mb_x, int mb_y) {
    const int size = c ? 2 : 4, blk = mb_y / size * 4 + mb_x / size, q = motus_8x8_of(blk);
    int sum = 0, n = 0;
    for (int list = 0; list < 2; list++) {
        if (!motus_pred_uses(mb->pred[q], list)) continue;
        const MotusMv mv = list ? mb->mv1[q] : mb->mv[blk];
        const MotusPlane *p = &refs[list ? mbs->refs : mb->ref[0][q]]->plane[c];
        sum += c ? chroma_at(p, 8 * x + mv.x, 8 * y + mv.y)
                 : plain_luma(p, 4 * x + mv.x, 4 * y + mv.y);
        n++;
    }
    return n == 2 ? (sum + 1) >> 1 : sum;
}

// ---- Intra prediction (8.3) ---------------------------------------------------------------------

enum { VERTICAL, HORIZONTAL, DC }; // of a square of samples

// Predicts the size x size samples at `at`. has_*: those neighbours are available for DC.
static void intra_square(uint8_t *at, ptrdiff_t stride, int size, int mode, int has_left,
                         int has_top) {
    int sum = 0, n = (has_left + has_top) * size;
    for (int i = 0; i < size; i++)
        sum += (has_left ? at[i * stride - 1] : 0) + (has_top ? at[i - stride] : 0);
    const int dc = n ? (sum + n / 2) / n : 128;
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++)
            at[y * stride + x] = (uint8_t)(mode == VERTICAL     ? at[x - stride]
                                           : mode == HORIZONTAL ? at[y * stride - 1]
                                                                : dc);
}

static void intra_chroma(uint8_t *at, ptrdiff_t stride, int mode, int has_left, int has_top) {
    for (int i = 0; i < 4;
         i++) { // in an order that leaves neighbours outside of the MB as they are
        const int x = i & 1, y = i >> 1;
        uint8_t *block = at + 4 * y * stride + 4 * x, first[5][5];
        // Its neighbours are the MB's own: a copy has them at its border.
        for (int k = 0; k < 4; k++) {
            first[0][k + 1] = has_top ? at[4 * x + k - stride] : 0;
            first[k + 1][0] = has_left ? at[(4 * y + k) * stride - 1] : 0;
        }
        int left = has_left, top = has_top;
        if (mode == MOTUS_IC_DC && x > y && top) left = 0;
        if (mode == MOTUS_IC_DC && x < y && left) top = 0;
        intra_square(&first[1][1], 5, 4,
                     mode == MOTUS_IC_DC           ? DC
                     : mode == MOTUS_IC_HORIZONTAL ? HORIZONTAL
                                                   : VERTICAL,
                     left, top);
        for (int k = 0; k < 4; k++) memcpy(block + k * stride, &first[k + 1][1], 4);
    }
}

// ---- Residual (8.5) -----------------------------------------------------------------------------

static void add_block(uint8_t *at, ptrdiff_t stride, const int16_t zigzag[16], int n, int has_dc,
                      int16_t dc, int qp) {
    int16_t coef[16] = {0};
    if (n) motus_dequant_zigzag(coef, zigzag, qp);
    if (has_dc) coef[0] = dc;
    motus_inverse4x4_add(at, stride, at, stride, coef);
}

static void add_block8(uint8_t *at, ptrdiff_t stride, const MotusMbCoef *coef, int q, int qp) {
    int v[64];
    for (int i = 0; i < 64; i++) {
        const int to = motus_zigzag8_at(i), level = coef->luma[motus_blk_at(4 * q + i % 4)][i / 4];
        v[to] = motus_dequant8(level, motus_dequant8_scale(qp % 6, motus_coef8_class(to)), qp);
    }
    motus_inverse8x8_add(at, stride, v);
}

static void add_luma(uint8_t *at, ptrdiff_t stride, const MotusMb *mb, const MotusMbCoef *coef) {
    const int intra16 = mb->type == MOTUS_MB_I_16x16;
    int dc[16] = {0};
    for (int i = 0; i < 16 && intra16; i++) dc[motus_zigzag_at(i)] = coef->luma_dc[i];
    if (intra16) motus_hadamard4x4(dc);
    for (int q = 0; q < 4 && mb->transform_8x8; q++)
        if (mb->cbp >> q & 1)
            add_block8(at + q / 2 * 8 * stride + q % 2 * 8, stride, coef, q, mb->qp);
    for (int blk = 0; blk < 16 && !mb->transform_8x8; blk++)
        add_block(at + blk / 4 * 4 * stride + blk % 4 * 4, stride, coef->luma[blk],
                  mb->total_coeff[blk], intra16, motus_luma_dc_dequant(dc[blk], mb->qp), mb->qp);
}

static void add_chroma(uint8_t *at, ptrdiff_t stride, const MotusMb *mb, const MotusMbCoef *coef,
                       int c) {
    const int qp = motus_chroma_qp_of(mb->qp);
    int dc[4] = {0};
    for (int i = 0; i < 4 && mb->cbp >> 4; i++) dc[i] = coef->chroma_dc[c][i];
    motus_hadamard2x2(dc);
    for (int i = 0; i < 4; i++)
        add_block(at + i / 2 * 4 * stride + i % 2 * 4, stride, coef->chroma_ac[c][i],
                  mb->total_coeff[16 + 4 * c + i], 1, motus_chroma_dc_dequant(dc[i], qp), qp);
}

// ---- An MB --------------------------------------------------------------------------------------

static void intra4x4(uint8_t *at, ptrdiff_t stride, const MotusMb *mb, const MotusMbCoef *coef,
                     int has_left, int has_top) {
    for (int i = 0; i < 16; i++) {
        const int blk = motus_blk_at(i), x = blk % 4, y = blk / 4;
        uint8_t *block = at + 4 * y * stride + 4 * x;
        intra_square(block, stride, 4, mb->intra4x4_pred_mode[blk], x || has_left, y || has_top);
        add_block(block, stride, coef->luma[blk], mb->total_coeff[blk], 0, 0, mb->qp);
    }
}

void plain_mb_reconstruct(MotusFrame *rec, const MotusCodedMbs *mbs, int i,
                          const MotusFrame *const refs[]) {
    const MotusMb *mb = &mbs->mb[i];
    const MotusMbCoef *coef = &mbs->coef[i];
    const MotusNeighbours neighbours = motus_neighbours_at(mbs, i);
    const int left = neighbours.a != NULL, top = neighbours.b != NULL;
    for (int c = 0; c < 3; c++) {
        const int size = c ? 8 : 16, x0 = i % mbs->mb_width * size, y0 = i / mbs->mb_width * size;
        const ptrdiff_t stride = rec->plane[c].stride;
        uint8_t *at = rec->plane[c].data + y0 * stride + x0;
        const uint8_t *src = mbs->src->plane[c].data + y0 * mbs->src->plane[c].stride + x0;
        for (int y = 0; y < size && mb->type == MOTUS_MB_I_PCM; y++)
            memcpy(at + y * stride, src + y * mbs->src->plane[c].stride, (size_t)size);
        if (mb->type == MOTUS_MB_I_PCM) continue;
        for (int k = 0; k < size * size && !motus_mb_is_intra(mb); k++) {
            const int x = k % size, y = k / size;
            at[y * stride + x] = (uint8_t)inter_sample(mbs, mb, refs, c, x0 + x, y0 + y, x, y);
        }
        if (c && motus_mb_is_intra(mb))
            intra_chroma(at, stride, mb->intra_chroma_pred_mode, left, top);
        else if (mb->type == MOTUS_MB_I_16x16)
            intra_square(at, stride, 16, mb->intra16x16_pred_mode, left, top);
        if (c)
            add_chroma(at, stride, mb, coef, c - 1);
        else if (mb->type == MOTUS_MB_I_4x4)
            intra4x4(at, stride, mb, coef, left, top);
        else
            add_luma(at, stride, mb, coef);
    }
}
