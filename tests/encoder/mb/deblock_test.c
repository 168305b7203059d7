// encoder/mb/deblock: against 8.7 written out sample by sample, from the positions of p0 and q0.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cpu.h"
#include "dct/dct_core.h"
#include "encoder/mb/deblock.h"
#include "tests/encoder/mb/deblock_case.h"
#include "tests/support/harness.h"

#include <stdlib.h>
#include <string.h>

typedef struct Scene {
    MotusFrame *frame;
    MotusMb *mb;
    int mb_width, mb_height, slice_type, refs, copies; // refs, copies: of P pictures
} Scene;

// Tables 8-16 and 8-17 as printed.
static const int alpha_table[52] = {0,  0,  0,  0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
                                    0,  0,  0,  4,   4,   5,   6,   7,   8,   9,   10,  12,  13,
                                    15, 17, 20, 22,  25,  28,  32,  36,  40,  45,  50,  56,  63,
                                    71, 80, 90, 101, 113, 127, 144, 162, 182, 203, 226, 255, 255};
static const int beta_table[52] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0,  0,  2,  2,  2,  3,  3,  3,  3,  4,  4,  4,
    6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17, 18, 18};
static const int tc0_table[3][52] = {
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,  1,  1,
     1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6, 6, 7, 8, 9, 10, 11, 13},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  1,  1,  1,  1,  1,
     1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 8, 10, 11, 12, 13, 15, 17},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,  1,  1,  1,  1,  1,  1,  1,  1,
     1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6, 6, 7, 8, 9, 10, 11, 13, 14, 16, 18, 20, 23, 25}};

static int clip3(int lo, int hi, int v) { return v < lo ? lo : v > hi ? hi : v; }
static int clip1(int v) { return clip3(0, 255, v); }

static const MotusMb *mb_at(const Scene *s, int x, int y) {
    return s->mb + (y >> 4) * s->mb_width + (x >> 4);
}
static int blk_at(int x, int y) { return ((y & 15) >> 2) * 4 + ((x & 15) >> 2); }

// True if the transform block at a sample has levels.
static int has_levels(const MotusMb *mb, int x, int y) {
    const uint8_t *n = mb->total_coeff, *n8 = n + blk_at(x & ~7, y & ~7);
    return mb->transform_8x8 ? n8[0] || n8[1] || n8[4] || n8[5] : n[blk_at(x, y)];
}

static int far_apart(MotusMv a, MotusMv b) { return abs(a.x - b.x) >= 4 || abs(a.y - b.y) >= 4; }

// Returns the reference picture of a ref_idx: the first ones are the same.
static int picture_of(const Scene *s, int ref) { return ref <= s->copies ? 0 : ref; }

// Returns bS by 8.7.2.1 for the luma samples p0 at (px, py) and q0 at (qx, qy).
static int naive_strength(const Scene *s, int px, int py, int qx, int qy) {
    const MotusMb *p = mb_at(s, px, py), *q = mb_at(s, qx, qy);
    const int intra = p->type >= MOTUS_MB_I_4x4 || q->type >= MOTUS_MB_I_4x4;
    if (intra) return p != q ? 4 : 3;
    if (has_levels(p, px, py) || has_levels(q, qx, qy)) return 2;
    const int p_blk = blk_at(px, py), q_blk = blk_at(qx, qy);
    const int p8 = p_blk / 8 * 2 + p_blk % 4 / 2, q8 = q_blk / 8 * 2 + q_blk % 4 / 2;
    if (s->slice_type != MOTUS_SLICE_B)
        return picture_of(s, p->ref[0][p8]) != picture_of(s, q->ref[0][q8]) ||
               far_apart(p->mv[p_blk], q->mv[q_blk]);
    const int lists = p->pred[p8];
    if (lists != q->pred[q8] || p->ref[0][p8] != q->ref[0][q8])
        return 1; // other references, or another number of MVs
    return (lists != MOTUS_PRED_L1 && far_apart(p->mv[p_blk], q->mv[q_blk])) ||
           (lists != MOTUS_PRED_L0 && far_apart(p->mv1[p8], q->mv1[q8]));
}

// Filters one line by 8.7.2.2 to 8.7.2.4: v[0..3] are p0..p3, v[4..7] are q0..q3.
static void naive_line(int v[8], int strength, int qp, int chroma) {
    int *p = v, *q = v + 4;
    const int p0 = p[0], p1 = p[1], p2 = p[2], p3 = p[3], q0 = q[0], q1 = q[1], q2 = q[2],
              q3 = q[3];
    const int alpha = alpha_table[qp], beta = beta_table[qp];
    if (!strength || abs(p0 - q0) >= alpha || abs(p1 - p0) >= beta || abs(q1 - q0) >= beta) return;
    const int ap = abs(p2 - p0), aq = abs(q2 - q0);
    if (strength < 4) {
        const int tc0 = tc0_table[strength - 1][qp];
        const int tc = chroma ? tc0 + 1 : tc0 + (ap < beta) + (aq < beta);
        const int delta = clip3(-tc, tc, (4 * (q0 - p0) + (p1 - q1) + 4) >> 3);
        p[0] = clip1(p0 + delta);
        q[0] = clip1(q0 - delta);
        if (!chroma && ap < beta)
            p[1] = p1 + clip3(-tc0, tc0, (p2 + ((p0 + q0 + 1) >> 1) - (p1 << 1)) >> 1);
        if (!chroma && aq < beta)
            q[1] = q1 + clip3(-tc0, tc0, (q2 + ((p0 + q0 + 1) >> 1) - (q1 << 1)) >> 1);
        return;
    }
    const int small = abs(p0 - q0) < (alpha >> 2) + 2;
    p[0] = (2 * p1 + p0 + q1 + 2) >> 2;
    q[0] = (2 * q1 + q0 + p1 + 2) >> 2;
    if (!chroma && ap < beta && small) {
        p[0] = (p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3;
        p[1] = (p2 + p1 + p0 + q0 + 2) >> 2;
        p[2] = (2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3;
    }
    if (!chroma && aq < beta && small) {
        q[0] = (p1 + 2 * p0 + 2 * q0 + 2 * q1 + q2 + 4) >> 3;
        q[1] = (p0 + q0 + q1 + q2 + 2) >> 2;
        q[2] = (2 * q3 + 3 * q2 + q1 + q0 + p0 + 4) >> 3;
    }
}

// Filters one line of plane c across the edge before sample (x, y); dx, dy point from p to q.
static void naive_position(Scene *s, int c, int x, int y, int dx, int dy) {
    MotusPlane *plane = &s->frame->plane[c];
    const int scale = c ? 2 : 1, reach = c ? 2 : 4; // chroma reads and writes less
    const int strength =
        naive_strength(s, scale * (x - dx), scale * (y - dy), scale * x, scale * y);
    const MotusMb *p = mb_at(s, scale * (x - dx), scale * (y - dy)),
                  *q = mb_at(s, scale * x, scale * y);
    const int qp_p = p->type == MOTUS_MB_I_PCM ? 0 : p->qp,
              qp_q = q->type == MOTUS_MB_I_PCM ? 0 : q->qp;
    const int qp =
        c ? (motus_chroma_qp_of(qp_p) + motus_chroma_qp_of(qp_q) + 1) >> 1 : (qp_p + qp_q + 1) >> 1;
    int v[8] = {0};
    uint8_t *at[8] = {NULL};
    for (int i = 0; i < reach; i++) {
        at[i] = plane->data + (y - (i + 1) * dy) * plane->stride + x - (i + 1) * dx;
        at[4 + i] = plane->data + (y + i * dy) * plane->stride + x + i * dx;
        v[i] = *at[i], v[4 + i] = *at[4 + i];
    }
    naive_line(v, strength, qp, c > 0);
    for (int i = 0; i < 8; i++)
        if (at[i]) *at[i] = (uint8_t)v[i];
}

// Filters all MBs in order; in each luma before chroma, vertical edges before horizontal ones, from
// the left and the top.
static void naive_picture(Scene *s) {
    for (int n = 0; n < s->mb_width * s->mb_height; n++) {
        for (int c = 0; c < 3; c++) {
            const int size = c ? 8 : 16, x0 = n % s->mb_width * size, y0 = n / s->mb_width * size;
            const int step = c == 0 && s->mb[n].transform_8x8 ? 8 : 4;
            for (int e = x0 ? 0 : step; e < size; e += step)
                for (int k = 0; k < size; k++) naive_position(s, c, x0 + e, y0 + k, 1, 0);
            for (int e = y0 ? 0 : step; e < size; e += step)
                for (int k = 0; k < size; k++) naive_position(s, c, x0 + k, y0 + e, 0, 1);
        }
    }
}

static Scene make_scene(int mb_width, int mb_height, int qp, int spread) {
    const size_t n = (size_t)mb_width * (size_t)mb_height;
    Scene s = {.mb = aligned_alloc(64, (n * sizeof *s.mb + 63) & ~(size_t)63),
               .mb_width = mb_width,
               .mb_height = mb_height,
               .slice_type = motus_test_range(MOTUS_SLICE_P, MOTUS_SLICE_B),
               .refs = motus_test_range(1, 4),
               .copies = motus_test_range(0, 1)};
    if (!s.mb || motus_frame_alloc(&s.frame, 16 * mb_width, 16 * mb_height)) abort();
    for (int c = 0; c < 3; c++) deblock_case_samples(&s.frame->plane[c], spread);
    for (int i = 0; i < mb_width * mb_height; i++) {
        deblock_case_mb(s.mb + i, DEBLOCK_MIXED, qp);
        if (s.slice_type == MOTUS_SLICE_B) deblock_case_b(s.mb + i, s.refs);
        if (s.slice_type == MOTUS_SLICE_P) deblock_case_refs(s.mb + i, s.refs);
    }
    return s;
}

static Scene copy_scene(const Scene *from) {
    Scene s = *from;
    if (motus_frame_alloc(&s.frame, from->frame->width, from->frame->height)) abort();
    motus_frame_copy_padded(s.frame, from->frame);
    return s;
}

static int differences(const MotusFrame *a, const MotusFrame *b) {
    int n = 0;
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < a->plane[c].height; y++)
            n += memcmp(a->plane[c].data + y * a->plane[c].stride,
                        b->plane[c].data + y * b->plane[c].stride, (size_t)a->plane[c].width) != 0;
    return n;
}

typedef void (*Version)(MotusFrame *rec, const MotusCodedMbs *mbs);

static void one_version(const char *name, Version deblock, const Scene *scene,
                        const Scene *expected, int threads) {
    Scene got = copy_scene(scene);
    const MotusCodedMbs mbs = {.mb_width = got.mb_width,
                               .mb_height = got.mb_height,
                               .slice_type = got.slice_type,
                               .refs = got.refs,
                               .copies = got.copies,
                               .threads = threads,
                               .mb = got.mb};
    deblock(got.frame, &mbs);
    const int wrong = differences(got.frame, expected->frame);
    MOTUS_CHECK(wrong == 0, "%s: %c %dx%d MBs threads=%d: %d rows", name, "IPB"[got.slice_type],
                got.mb_width, got.mb_height, threads, wrong);
    motus_frame_unref(&got.frame);
}

// Filters one random picture with each version and number of threads and by the definition.
static void one_picture(int mb_width, int mb_height, int qp, int spread) {
    Scene scene = make_scene(mb_width, mb_height, qp, spread);
    Scene expected = copy_scene(&scene);
    naive_picture(&expected);
    for (int threads = 1; threads <= 5; threads += 2) {
        one_version("c", motus_deblock_picture_c, &scene, &expected, threads);
#if defined(__x86_64__)
        if (motus_cpu_flags() & MOTUS_CPU_AVX2)
            one_version("avx2", motus_deblock_picture_avx2, &scene, &expected, threads);
#endif
    }
    // At high QP and low contrast the filter must change samples; otherwise the comparison proves
    // nothing.
    if (qp >= 36 && spread <= 16 && mb_width * mb_height > 4)
        MOTUS_CHECK(differences(scene.frame, expected.frame) > 0, "qp=%d spread=%d", qp, spread);
    motus_frame_unref(&scene.frame);
    motus_frame_unref(&expected.frame);
    free(scene.mb);
}

static void every_qp(void) {
    for (int qp = 0; qp <= 51; qp++)
        for (int spread = 2; spread <= 128; spread *= 2) one_picture(4, 3, qp, spread);
}

static void mixed_qp(void) {
    for (int round = 0; round < 60; round++)
        one_picture(motus_test_range(1, 6), motus_test_range(1, 6), -1, 8 << round % 4);
}

static void narrow_pictures(void) {
    one_picture(1, 1, 40, 16);
    one_picture(1, 12, 40, 16);
    one_picture(2, 12, 40, 16);
    one_picture(12, 1, 40, 16);
}

static void many_rows(void) { one_picture(24, 20, 34, 12); }

MOTUS_SUITE("deblock", TEST(every_qp), TEST(mixed_qp), TEST(narrow_pictures), TEST(many_rows))
