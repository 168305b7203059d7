// Intra8x8 against 8.3.2.2: the filter of the neighbours and the nine modes.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/intra/intra_modes_cpu.h"
#include "tests/support/harness.h"

// Samples p[x, y] of 8.3.2.2 around an 8x8 block, before and after the filter of 8.3.2.2.1.
typedef struct Around8 {
    int above[16], left[8], corner;
} Around8;

static int at8(const Around8 *p, int x, int y) {
    return y < 0 ? x < 0 ? p->corner : p->above[x] : p->left[y];
}

static int three(int a, int b, int c) { return (a + 2 * b + c + 2) >> 2; }

static Around8 filtered8(const Around8 *p, int has) {
    const int has_top = has & MOTUS_HAS_TOP, has_left = has & MOTUS_HAS_LEFT,
              has_corner = has & MOTUS_HAS_CORNER;
    Around8 f = {{0}, {0}, 0};
    if (has_top) {
        f.above[0] = has_corner ? three(p->corner, p->above[0], p->above[1])
                                : (3 * p->above[0] + p->above[1] + 2) >> 2;
        for (int x = 1; x < 15; x++)
            f.above[x] = three(p->above[x - 1], p->above[x], p->above[x + 1]);
        f.above[15] = (p->above[14] + 3 * p->above[15] + 2) >> 2;
    }
    if (has_corner)
        f.corner = !has_top    ? (3 * p->corner + p->left[0] + 2) >> 2
                   : !has_left ? (3 * p->corner + p->above[0] + 2) >> 2
                               : three(p->above[0], p->corner, p->left[0]);
    if (has_left) {
        f.left[0] = has_corner ? three(p->corner, p->left[0], p->left[1])
                               : (3 * p->left[0] + p->left[1] + 2) >> 2;
        for (int y = 1; y < 7; y++) f.left[y] = three(p->left[y - 1], p->left[y], p->left[y + 1]);
        f.left[7] = (p->left[6] + 3 * p->left[7] + 2) >> 2;
    }
    return f;
}

static int dc8(const Around8 *p, int has) {
    int above = 0, left = 0;
    for (int i = 0; i < 8; i++) above += p->above[i], left += p->left[i];
    if (has & MOTUS_HAS_TOP && has & MOTUS_HAS_LEFT) return (above + left + 8) >> 4;
    return has & MOTUS_HAS_TOP ? (above + 4) >> 3 : has & MOTUS_HAS_LEFT ? (left + 4) >> 3 : 128;
}

// 8.3.2.2.7 and 8.3.2.2.8 along the edge that the direction comes from.
static int vertical_right8(const Around8 *p, int x, int y) {
    const int z = 2 * x - y, i = x - (y >> 1);
    if (z == -1) return three(at8(p, -1, 0), p->corner, at8(p, 0, -1));
    if (z < 0)
        return three(at8(p, -1, y - 2 * x - 1), at8(p, -1, y - 2 * x - 2),
                     at8(p, -1, y - 2 * x - 3));
    return z % 2 ? three(at8(p, i - 2, -1), at8(p, i - 1, -1), at8(p, i, -1))
                 : (at8(p, i - 1, -1) + at8(p, i, -1) + 1) >> 1;
}

static int horizontal_down8(const Around8 *p, int x, int y) {
    const int z = 2 * y - x, i = y - (x >> 1);
    if (z == -1) return three(at8(p, -1, 0), p->corner, at8(p, 0, -1));
    if (z < 0)
        return three(at8(p, x - 2 * y - 1, -1), at8(p, x - 2 * y - 2, -1),
                     at8(p, x - 2 * y - 3, -1));
    const int before = i - 1 < 0 ? p->corner : p->left[i - 1],
              before2 = i - 2 < 0 ? p->corner : p->left[i - 2];
    return z % 2 ? three(before2, before, p->left[i]) : (before + p->left[i] + 1) >> 1;
}

static int horizontal_up8(const Around8 *p, int x, int y) {
    const int z = x + 2 * y, i = y + (x >> 1);
    if (z > 13) return p->left[7];
    if (z == 13) return (p->left[6] + 3 * p->left[7] + 2) >> 2;
    return z % 2 ? three(p->left[i], p->left[i + 1], p->left[i + 2])
                 : (p->left[i] + p->left[i + 1] + 1) >> 1;
}

static int naive8(const Around8 *p, int has, int mode, int x, int y) {
    const int i = x + (y >> 1);
    switch (mode) {
    case MOTUS_I4_VERTICAL:
        return p->above[x];
    case MOTUS_I4_HORIZONTAL:
        return p->left[y];
    case MOTUS_I4_DC:
        return dc8(p, has);
    case MOTUS_I4_DOWN_LEFT:
        return x == 7 && y == 7 ? (p->above[14] + 3 * p->above[15] + 2) >> 2
                                : three(p->above[x + y], p->above[x + y + 1], p->above[x + y + 2]);
    case MOTUS_I4_DOWN_RIGHT:
        return x > y   ? three(at8(p, x - y - 2, -1), at8(p, x - y - 1, -1), at8(p, x - y, -1))
               : x < y ? three(y - x < 2 ? p->corner : p->left[y - x - 2], p->left[y - x - 1],
                               p->left[y - x])
                       : three(p->above[0], p->corner, p->left[0]);
    case MOTUS_I4_VERTICAL_RIGHT:
        return vertical_right8(p, x, y);
    case MOTUS_I4_HORIZONTAL_DOWN:
        return horizontal_down8(p, x, y);
    case MOTUS_I4_VERTICAL_LEFT:
        return y % 2 ? three(p->above[i], p->above[i + 1], p->above[i + 2])
                     : (p->above[i] + p->above[i + 1] + 1) >> 1;
    default:
        return horizontal_up8(p, x, y);
    }
}

static void blocks_of_8x8(void) {
    for (int round = 0; round < 4000; round++) {
        uint8_t picture[9][32], pred[64];
        Around8 p;
        MotusIntraLine8 line;
        const int q = round % 4, has = motus_intra8x8_has(q, motus_test_range(0, 31));
        motus_test_fill(picture, sizeof picture);
        if (round % 3 == 0) // extremes
            for (int i = 0; i < 9 * 32; i++)
                picture[i / 32][i % 32] = picture[i / 32][i % 32] & 1 ? 255 : 0;
        for (int x = 0; x < 16; x++)
            p.above[x] = picture[0][8 + (has & MOTUS_HAS_TOP_RIGHT || x < 8 ? x : 7)];
        for (int y = 0; y < 8; y++) p.left[y] = picture[1 + y][7];
        p.corner = picture[0][7];
        p = filtered8(&p, has);
        motus_intra_line8(&line, &picture[1][8], 32, has);
        for (int mode = 0; mode < MOTUS_I4_MODES; mode++) {
            if (!motus_intra4x4_allowed(mode, has)) continue;
            motus_intra8x8(pred, 8, &line, mode);
            for (int i = 0; i < 64; i++)
                MOTUS_CHECK(pred[i] == naive8(&p, has, mode, i % 8, i / 8),
                            "mode %d, neighbours %d, sample %d,%d: %d", mode, has, i % 8, i / 8,
                            pred[i]);
        }
    }
}

// 6.4.11.2 and the order of decoding: what a block may be predicted from.
static void neighbours_of_8x8(void) {
    for (int mb = 0; mb < 32; mb++) {
        const int l = mb & MOTUS_HAS_LEFT, t = mb & MOTUS_HAS_TOP;
        CU_ASSERT_EQUAL(motus_intra8x8_has(0, mb),
                        l | t | (mb & MOTUS_HAS_CORNER) | (t ? MOTUS_HAS_TOP_RIGHT : 0));
        CU_ASSERT_EQUAL(motus_intra8x8_has(1, mb), MOTUS_HAS_LEFT | t | (t ? MOTUS_HAS_CORNER : 0) |
                                                       (mb & MOTUS_HAS_TOP_RIGHT));
        CU_ASSERT_EQUAL(motus_intra8x8_has(2, mb),
                        l | MOTUS_HAS_TOP | (l ? MOTUS_HAS_CORNER : 0) | MOTUS_HAS_TOP_RIGHT);
        CU_ASSERT_EQUAL(motus_intra8x8_has(3, mb),
                        MOTUS_HAS_LEFT | MOTUS_HAS_TOP | MOTUS_HAS_CORNER);
    }
}

MOTUS_SUITE("intra8x8", TEST(blocks_of_8x8), TEST(neighbours_of_8x8))
