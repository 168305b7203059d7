// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead_cost.h"

#include <string.h>

#include "common/alloc.h"
#include "encoder/intra_core.h"
#include "me/pixel.h"
#include "yuv/pad.h"

#define MB 8           // samples of an MB in a row at half the size
#define REACH 24       // an MB may be taken from this far outside the picture
#define STEPS 12       // of the descent
#define INTRA_BITS 6   // what an intra MB costs beside its residual
#define LAMBDA 2       // of a bit, in SAD and SATD
#define MAX_COST 65535 // of an MB
#define MOST_SAMPLES (MOTUS_MAX_SIZE + 16)

MotusStatus motus_half_alloc(MotusHalf *half, int mb_width, int mb_height) {
    const int border = MOTUS_HALF_BORDER;
    half->mb_width = mb_width, half->mb_height = mb_height;
    half->stride = (MB * mb_width + 2 * border + 63) / 64 * 64;
    const size_t size = (size_t)half->stride * (size_t)(MB * mb_height + 2 * border);
    half->memory = motus_alloc(4, size);
    if (!half->memory) return MOTUS_ERR_MEMORY;
    for (int i = 0; i < 4; i++) half->plane[i] = half->memory + (size_t)i * size + border * half->stride + border;
    return MOTUS_OK;
}

void motus_half_free(MotusHalf *half) {
    motus_free(half->memory);
    *half = (MotusHalf){0};
}

// ---- Scaling --------------------------------------------------------------------------------------------------------------------------------

// Means of two rows of `width` samples and one more: pairs that begin at even columns, and at odd ones.
static void scale_rows(uint8_t *even, uint8_t *odd, const uint8_t *a, const uint8_t *b, int width) {
    for (int x = 0; x < width / 2; x++) {
        const int s0 = a[2 * x] + b[2 * x], s1 = a[2 * x + 1] + b[2 * x + 1], s2 = a[2 * x + 2] + b[2 * x + 2];
        even[x] = (uint8_t)((s0 + s1 + 2) >> 2);
        odd[x] = (uint8_t)((s1 + s2 + 2) >> 2);
    }
}

static void repeat_rows(uint8_t *row, ptrdiff_t stride, size_t bytes, ptrdiff_t step) {
    for (int i = 1; i <= MOTUS_HALF_BORDER; i++) memcpy(row + i * step * stride, row, bytes);
}

// Row y of the full picture, and the one below it.
static void build_row(const MotusHalf *half, const MotusPlane *luma, int y) {
    const int border = MOTUS_HALF_BORDER, width = 16 * half->mb_width, rows = MB * half->mb_height;
    uint8_t line[2][MOST_SAMPLES + 1];
    for (int i = 0; i < 2; i++) {
        memcpy(line[i], luma->data + motus_min(y + i, luma->height - 1) * luma->stride, (size_t)luma->width);
        motus_row_pad(line[i], luma->width, 0, width + 1 - luma->width);
    }
    uint8_t *to[2];
    for (int i = 0; i < 2; i++) to[i] = half->plane[2 * (y & 1) + i] + (y >> 1) * half->stride;
    scale_rows(to[0], to[1], line[0], line[1], width);
    for (int i = 0; i < 2; i++) {
        motus_row_pad(to[i], width / 2, border, border);
        const size_t bytes = (size_t)(width / 2 + 2 * border);
        if (y >> 1 == 0) repeat_rows(to[i] - border, half->stride, bytes, -1);
        if (y >> 1 == rows - 1) repeat_rows(to[i] - border, half->stride, bytes, 1);
    }
}

void motus_half_build(MotusHalf *half, const MotusPlane *luma, int threads) {
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < 16 * half->mb_height; y++) build_row(half, luma, y);
}

// ---- Intra ----------------------------------------------------------------------------------------------------------------------------------

static uint32_t intra_cost(const MotusPixelOps *ops, const MotusHalf *cur, int x, int y) {
    const uint8_t *at = cur->plane[0] + MB * (y * cur->stride + x);
    const int has = (x ? MOTUS_HAS_LEFT : 0) | (y ? MOTUS_HAS_TOP : 0) | (x && y ? MOTUS_HAS_CORNER : 0);
    uint32_t best = UINT32_MAX;
    MotusIntraEdge edge;
    motus_intra_edge(&edge, at, cur->stride, MB, has);
    for (int mode = 0; mode < MOTUS_IC_MODES; mode++) {
        uint8_t pred[MB * MB];
        if (!motus_intra_chroma_allowed(mode, has)) continue;
        motus_intra_chroma(pred, MB, &edge, mode);
        const uint32_t satd = ops->satd(at, cur->stride, pred, MB, MB, MB);
        if (satd < best) best = satd;
    }
    return best + LAMBDA * INTRA_BITS;
}

// ---- Inter ----------------------------------------------------------------------------------------------------------------------------------

// A search of one MB. Vectors count samples of the full picture; those of the descent are even.
typedef struct Search {
    const MotusPixelOps *ops;
    const uint8_t *at;
    const MotusHalf *before;
    int x, y; // of the MB, samples of the half picture
    MotusMv predicted, best;
    uint32_t cost;
} Search;

static uint32_t vector_cost(const Search *s, MotusMv mv) {
    return LAMBDA * (uint32_t)(motus_se_bits(mv.x - s->predicted.x) + motus_se_bits(mv.y - s->predicted.y));
}

static int inside(const Search *s, MotusMv mv) {
    const int x = s->x + (mv.x >> 1), y = s->y + (mv.y >> 1);
    return x >= -REACH && y >= -REACH && x <= MB * s->before->mb_width + REACH - MB &&
           y <= MB * s->before->mb_height + REACH - MB;
}

static int try_vector(Search *s, MotusMv mv, MotusPixelCompare compare) {
    if (!inside(s, mv)) return 0;
    const MotusHalf *half = s->before;
    const uint8_t *ref = half->plane[2 * (mv.y & 1) + (mv.x & 1)] + (s->y + (mv.y >> 1)) * half->stride + s->x + (mv.x >> 1);
    const uint32_t cost = vector_cost(s, mv) + compare(s->at, half->stride, ref, half->stride, MB, MB);
    if (cost >= s->cost) return 0;
    s->cost = cost;
    s->best = mv;
    return 1;
}

static MotusMv even(MotusMv mv) { return (MotusMv){(int16_t)(mv.x & ~1), (int16_t)(mv.y & ~1)}; }

// Goes downhill: a wide hexagon while that helps, then the eight neighbours.
static void descend(Search *s) {
    static const int8_t hexagon[6][2] = {{-4, 0}, {-2, 4}, {2, 4}, {4, 0}, {2, -4}, {-2, -4}};
    static const int8_t square[8][2] = {{-2, 0}, {2, 0}, {0, -2}, {0, 2}, {-2, -2}, {2, -2}, {-2, 2}, {2, 2}};
    for (int step = 0, found = 1; found && step < STEPS; step++) {
        const MotusMv from = s->best;
        found = 0;
        for (int i = 0; i < 6; i++)
            found |= try_vector(s, (MotusMv){(int16_t)(from.x + hexagon[i][0]), (int16_t)(from.y + hexagon[i][1])}, s->ops->sad);
    }
    const MotusMv from = s->best;
    for (int i = 0; i < 8; i++)
        try_vector(s, (MotusMv){(int16_t)(from.x + square[i][0]), (int16_t)(from.y + square[i][1])}, s->ops->sad);
}

// Every sample of the full picture around the best even vector, by SATD.
static void refine(Search *s) {
    const MotusMv from = s->best;
    s->cost = UINT32_MAX;
    for (int i = 0; i < 9; i++)
        try_vector(s, (MotusMv){(int16_t)(from.x + i % 3 - 1), (int16_t)(from.y + i / 3 - 1)}, s->ops->satd);
    try_vector(s, (MotusMv){0, 0}, s->ops->satd);
}

// Starts from zero, the MB to the left and the picture before; rows do not look at one another.
static void search(Search *s, const MotusMv *earlier, int mb_x, int mb_y) {
    const int width = s->before->mb_width, height = s->before->mb_height, i = mb_y * width + mb_x;
    s->cost = UINT32_MAX;
    try_vector(s, (MotusMv){0, 0}, s->ops->sad);
    try_vector(s, even(s->predicted), s->ops->sad);
    if (earlier) {
        try_vector(s, even(earlier[i]), s->ops->sad);
        if (mb_x + 1 < width) try_vector(s, even(earlier[i + 1]), s->ops->sad);
        if (mb_y) try_vector(s, even(earlier[i - width]), s->ops->sad);
        if (mb_y + 1 < height) try_vector(s, even(earlier[i + width]), s->ops->sad);
    }
    descend(s);
    refine(s);
}

static void costs_of_row(const MotusMbCosts *costs, const MotusHalf *cur, const MotusHalf *before, const MotusMv *earlier,
                         int y) {
    const MotusPixelOps *ops = motus_pixel_ops(0);
    MotusMv left = {0, 0};
    for (int x = 0; x < cur->mb_width; x++) {
        const int i = y * cur->mb_width + x;
        const uint32_t intra = intra_cost(ops, cur, x, y);
        uint32_t inter = intra;
        costs->mv[i] = (MotusMv){0, 0};
        if (before) {
            Search s = {.ops = ops,
                        .at = cur->plane[0] + MB * (y * cur->stride + x),
                        .before = before,
                        .x = MB * x,
                        .y = MB * y,
                        .predicted = left};
            search(&s, earlier, x, y);
            left = costs->mv[i] = s.best;
            if (s.cost < inter) inter = s.cost;
        }
        costs->intra[i] = (uint16_t)(intra < MAX_COST ? intra : MAX_COST);
        costs->inter[i] = (uint16_t)(inter < MAX_COST ? inter : MAX_COST);
    }
}

void motus_mb_costs(const MotusMbCosts *costs, const MotusHalf *cur, const MotusHalf *before, const MotusMv *earlier,
                    int threads) {
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 2)
    for (int y = 0; y < cur->mb_height; y++) costs_of_row(costs, cur, before, before ? earlier : NULL, y);
}
