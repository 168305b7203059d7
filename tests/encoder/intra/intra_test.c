// encoder/mb intra prediction: every mode against the sample equations of 8.3, one sample at a
// time.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/intra/intra_modes_cpu.h"
#include "tests/support/harness.h"

#include <string.h>

enum { STRIDE = 64, ORIGIN = 8 * STRIDE + 16 };

// A picture around the block, and which of the block's neighbours exist; p() reads it like p[x, y]
// in the standard.
typedef struct Scene {
    uint8_t picture[48 * STRIDE];
    int has;
    int size;
} Scene;

static int p(const Scene *scene, int x, int y) {
    if (y < 0 && x >= scene->size && !(scene->has & MOTUS_HAS_TOP_RIGHT))
        x = scene->size - 1; // the substitution of 8.3.1.2
    return scene->picture[ORIGIN + y * STRIDE + x];
}

static void make_scene(Scene *scene, int size, int has) {
    const int kind = motus_test_range(0, 3);
    motus_test_fill(scene->picture, sizeof scene->picture);
    for (size_t i = 0; i < sizeof scene->picture; i++) {
        uint8_t *s = scene->picture + i;
        if (kind == 0) *s = *s & 1 ? 255 : 0;
        if (kind == 1) *s = (uint8_t)(i % STRIDE * 4);
        if (kind == 2) *s = (uint8_t)(255 - i / STRIDE * 5);
    }
    scene->has = has;
    scene->size = size;
}

static int clip1(int v) { return v < 0 ? 0 : v > 255 ? 255 : v; }

// Sums n samples along the top (dx = 1) or left (dy = 1) edge from (x, y) on.
static int sum(const Scene *s, int x, int y, int dx, int dy, int n) {
    int total = 0;
    for (int i = 0; i < n; i++) total += p(s, x + i * dx, y + i * dy);
    return total;
}

// Returns DC over the named sides, with n samples each from offset (x, y) of the block.
static int mean(const Scene *s, int x, int y, int n, int top, int left) {
    const int t = top ? sum(s, x, -1, 1, 0, n) : 0, l = left ? sum(s, -1, y, 0, 1, n) : 0;
    return top && left ? (t + l + n) / (2 * n)
           : top       ? (t + n / 2) / n
           : left      ? (l + n / 2) / n
                       : 128;
}

static int naive_vertical_right(const Scene *s, int x, int y) { // 8.3.1.2.5
    const int z = 2 * x - y, i = x - (y >> 1);
    if (z >= 0 && z % 2 == 0) return (p(s, i - 1, -1) + p(s, i, -1) + 1) >> 1;
    if (z >= 0) return (p(s, i - 2, -1) + 2 * p(s, i - 1, -1) + p(s, i, -1) + 2) >> 2;
    if (z == -1) return (p(s, -1, 0) + 2 * p(s, -1, -1) + p(s, 0, -1) + 2) >> 2;
    return (p(s, -1, y - 1) + 2 * p(s, -1, y - 2) + p(s, -1, y - 3) + 2) >> 2;
}

static int naive_horizontal_down(const Scene *s, int x, int y) { // 8.3.1.2.6
    const int z = 2 * y - x, i = y - (x >> 1);
    if (z >= 0 && z % 2 == 0) return (p(s, -1, i - 1) + p(s, -1, i) + 1) >> 1;
    if (z >= 0) return (p(s, -1, i - 2) + 2 * p(s, -1, i - 1) + p(s, -1, i) + 2) >> 2;
    if (z == -1) return (p(s, -1, 0) + 2 * p(s, -1, -1) + p(s, 0, -1) + 2) >> 2;
    return (p(s, x - 1, -1) + 2 * p(s, x - 2, -1) + p(s, x - 3, -1) + 2) >> 2;
}

static int naive_horizontal_up(const Scene *s, int x, int y) { // 8.3.1.2.8
    const int z = x + 2 * y, i = y + (x >> 1);
    if (z > 5) return p(s, -1, 3);
    if (z == 5) return (p(s, -1, 2) + 3 * p(s, -1, 3) + 2) >> 2;
    if (z % 2 == 0) return (p(s, -1, i) + p(s, -1, i + 1) + 1) >> 1;
    return (p(s, -1, i) + 2 * p(s, -1, i + 1) + p(s, -1, i + 2) + 2) >> 2;
}

static int naive_down_right(const Scene *s, int x, int y) { // 8.3.1.2.4
    if (x > y) return (p(s, x - y - 2, -1) + 2 * p(s, x - y - 1, -1) + p(s, x - y, -1) + 2) >> 2;
    if (x < y) return (p(s, -1, y - x - 2) + 2 * p(s, -1, y - x - 1) + p(s, -1, y - x) + 2) >> 2;
    return (p(s, 0, -1) + 2 * p(s, -1, -1) + p(s, -1, 0) + 2) >> 2;
}

static int naive_4x4(const Scene *s, int mode, int x, int y) {
    const int i = x + (y >> 1);
    switch (mode) {
    case MOTUS_I4_VERTICAL:
        return p(s, x, -1);
    case MOTUS_I4_HORIZONTAL:
        return p(s, -1, y);
    case MOTUS_I4_DC:
        return mean(s, 0, 0, 4, s->has & MOTUS_HAS_TOP, s->has & MOTUS_HAS_LEFT);
    case MOTUS_I4_DOWN_LEFT: // 8.3.1.2.3
        if (x == 3 && y == 3) return (p(s, 6, -1) + 3 * p(s, 7, -1) + 2) >> 2;
        return (p(s, x + y, -1) + 2 * p(s, x + y + 1, -1) + p(s, x + y + 2, -1) + 2) >> 2;
    case MOTUS_I4_DOWN_RIGHT:
        return naive_down_right(s, x, y);
    case MOTUS_I4_VERTICAL_RIGHT:
        return naive_vertical_right(s, x, y);
    case MOTUS_I4_HORIZONTAL_DOWN:
        return naive_horizontal_down(s, x, y);
    case MOTUS_I4_VERTICAL_LEFT: // 8.3.1.2.7
        if (y % 2 == 0) return (p(s, i, -1) + p(s, i + 1, -1) + 1) >> 1;
        return (p(s, i, -1) + 2 * p(s, i + 1, -1) + p(s, i + 2, -1) + 2) >> 2;
    default:
        return naive_horizontal_up(s, x, y);
    }
}

static int naive_16x16(const Scene *s, int mode, int x, int y) {
    if (mode == MOTUS_I16_VERTICAL) return p(s, x, -1);
    if (mode == MOTUS_I16_HORIZONTAL) return p(s, -1, y);
    if (mode == MOTUS_I16_DC)
        return mean(s, 0, 0, 16, s->has & MOTUS_HAS_TOP, s->has & MOTUS_HAS_LEFT);
    int h = 0, v = 0; // 8.3.3.4
    for (int i = 0; i <= 7; i++) {
        h += (i + 1) * (p(s, 8 + i, -1) - p(s, 6 - i, -1));
        v += (i + 1) * (p(s, -1, 8 + i) - p(s, -1, 6 - i));
    }
    const int a = 16 * (p(s, -1, 15) + p(s, 15, -1)), b = (5 * h + 32) >> 6, c = (5 * v + 32) >> 6;
    return clip1((a + b * (x - 7) + c * (y - 7) + 16) >> 5);
}

static int naive_chroma_dc(const Scene *s, int x, int y) { // 8.3.4.1..3
    const int top = s->has & MOTUS_HAS_TOP, left = s->has & MOTUS_HAS_LEFT;
    const int x0 = x & ~3, y0 = y & ~3;
    if ((x0 == 0 && y0 == 0) || (x0 > 0 && y0 > 0)) return mean(s, x0, y0, 4, top, left);
    if (x0 > 0) return mean(s, x0, y0, 4, top, left && !top);
    return mean(s, x0, y0, 4, top && !left, left);
}

static int naive_chroma(const Scene *s, int mode, int x, int y) {
    if (mode == MOTUS_IC_DC) return naive_chroma_dc(s, x, y);
    if (mode == MOTUS_IC_HORIZONTAL) return p(s, -1, y);
    if (mode == MOTUS_IC_VERTICAL) return p(s, x, -1);
    int h = 0, v = 0; // 8.3.4.4 with xCF = yCF = 0
    for (int i = 0; i <= 3; i++) {
        h += (i + 1) * (p(s, 4 + i, -1) - p(s, 2 - i, -1));
        v += (i + 1) * (p(s, -1, 4 + i) - p(s, -1, 2 - i));
    }
    const int a = 16 * (p(s, -1, 7) + p(s, 7, -1)), b = (34 * h + 32) >> 6, c = (34 * v + 32) >> 6;
    return clip1((a + b * (x - 3) + c * (y - 3) + 16) >> 5);
}

typedef struct Kind {
    const char *name;
    int size, modes;
    int (*allowed)(int mode, int has);
    void (*predict)(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int mode);
    int (*naive)(const Scene *scene, int mode, int x, int y);
} Kind;

static void one_mode(const Kind *kind, const Scene *scene, int mode) {
    const ptrdiff_t stride = kind->size + motus_test_range(0, 1) * 16;
    const size_t bytes = (size_t)(stride * (kind->size - 1) + kind->size);
    uint8_t *pred = motus_test_guarded(bytes);
    MotusIntraEdge edge;
    memset(&edge, 0x5A, sizeof edge);
    motus_intra_edge(&edge, scene->picture + ORIGIN, STRIDE, kind->size, scene->has);
    kind->predict(pred, stride, &edge, mode);
    int wrong = 0;
    for (size_t i = 0; i < bytes; i++) {
        const int x = (int)((ptrdiff_t)i % stride), y = (int)((ptrdiff_t)i / stride);
        wrong += pred[i] != (x < kind->size ? kind->naive(scene, mode, x, y) : 0xDB);
    }
    MOTUS_CHECK(wrong == 0, "%s mode=%d has=%d stride=%d: %d samples", kind->name, mode, scene->has,
                (int)stride, wrong);
    MOTUS_CHECK(motus_test_guard_ok(pred), "%s mode=%d", kind->name, mode);
    motus_test_guard_free(pred);
}

static void all_modes(const Kind *kind) {
    for (int round = 0; round < 300; round++) {
        for (int has = 0; has < 32; has++) {
            Scene scene;
            make_scene(&scene, kind->size, has);
            for (int mode = 0; mode < kind->modes; mode++)
                if (kind->allowed(mode, has)) one_mode(kind, &scene, mode);
        }
    }
}

static void predict_4x4(uint8_t *pred, ptrdiff_t stride, const MotusIntraEdge *edge, int mode) {
    MotusIntraLine line;
    motus_intra_line(&line, edge);
    motus_intra4x4(pred, stride, edge, &line, mode);
}

static const Kind kinds[3] = {
    {"4x4", 4, MOTUS_I4_MODES, motus_intra4x4_allowed, predict_4x4, naive_4x4},
    {"16x16", 16, MOTUS_I16_MODES, motus_intra16x16_allowed, motus_intra16x16, naive_16x16},
    {"chroma", 8, MOTUS_IC_MODES, motus_intra_chroma_allowed, motus_intra_chroma, naive_chroma}};

static void modes(void) {
    for (int k = 0; k < 3; k++) all_modes(&kinds[k]);
}

// A mode is allowed exactly if it reads no missing sample, which changes of the missing samples
// show. DC adapts to any edge.
static int reads_missing(const Kind *kind, int mode, int has) {
    for (int round = 0; round < 20; round++) {
        Scene a, b;
        make_scene(&a, kind->size, has | MOTUS_HAS_TOP_RIGHT);
        b = a;
        motus_test_fill(b.picture, sizeof b.picture);
        const int n = kind->size;
        for (int i = 0; i < n; i++)
            if (has & MOTUS_HAS_LEFT)
                b.picture[ORIGIN + i * STRIDE - 1] = a.picture[ORIGIN + i * STRIDE - 1];
        if (has & MOTUS_HAS_TOP)
            memcpy(b.picture + ORIGIN - STRIDE, a.picture + ORIGIN - STRIDE, (size_t)n + 4);
        if (has & MOTUS_HAS_CORNER) b.picture[ORIGIN - STRIDE - 1] = a.picture[ORIGIN - STRIDE - 1];
        for (int i = 0; i < n * n; i++)
            if (kind->naive(&a, mode, i % n, i / n) != kind->naive(&b, mode, i % n, i / n))
                return 1;
    }
    return 0;
}

static void allowed_modes(void) {
    for (int k = 0; k < 3; k++)
        for (int mode = 0; mode < kinds[k].modes; mode++)
            for (int has = 0; has < 8; has++)
                MOTUS_CHECK(kinds[k].allowed(mode, has) == !reads_missing(&kinds[k], mode, has),
                            "%s mode=%d has=%d", kinds[k].name, mode, has);
}

// Checks the neighbours of each 4x4 block with a map of the blocks decoded before it (6.4.3,
// 6.4.11.4).
static void neighbours_4x4(void) {
    for (int mb_has = 0; mb_has < 16; mb_has++) {
        int decoded[5][6] = {{0}}; // one more block on the left, above and to the right
        decoded[0][0] = (mb_has & MOTUS_HAS_CORNER) != 0;
        decoded[0][5] = (mb_has & MOTUS_HAS_TOP_RIGHT) != 0;
        for (int i = 1; i < 5; i++) {
            decoded[0][i] = (mb_has & MOTUS_HAS_TOP) != 0;
            decoded[i][0] = (mb_has & MOTUS_HAS_LEFT) != 0;
        }
        for (int i = 0; i < 16; i++) {
            const int x = 1 + 2 * (i >> 2 & 1) + (i & 1), y = 1 + 2 * (i >> 3) + (i >> 1 & 1);
            int has = 0;
            if (decoded[y][x - 1]) has |= MOTUS_HAS_LEFT;
            if (decoded[y - 1][x]) has |= MOTUS_HAS_TOP;
            if (decoded[y - 1][x - 1]) has |= MOTUS_HAS_CORNER;
            if (decoded[y - 1][x + 1]) has |= MOTUS_HAS_TOP_RIGHT;
            MOTUS_CHECK(motus_intra4x4_has(4 * (y - 1) + x - 1, mb_has) == has,
                        "x=%d y=%d mb_has=%d", x - 1, y - 1, mb_has);
            decoded[y][x] = 1;
        }
    }
}

MOTUS_SUITE("intra", TEST(modes), TEST(allowed_modes), TEST(neighbours_4x4))
