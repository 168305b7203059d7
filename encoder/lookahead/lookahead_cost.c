// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/lookahead_passes.h"

#include <string.h>

#include "common/alloc.h"
#include "encoder/lookahead/lookahead_search_cpu.h"
#include "yuv/pad.h"

#define MOST_SAMPLES (MOTUS_MAX_SIZE + 16)

static ptrdiff_t stride_of(int mb_width) {
    return (MB * mb_width + 2 * MOTUS_HALF_BORDER + 63) / 64 * 64;
}

static size_t plane_bytes(int mb_width, int mb_height) {
    return (size_t)stride_of(mb_width) * (size_t)(MB * mb_height + 2 * MOTUS_HALF_BORDER);
}

size_t motus_half_bytes(int mb_width, int mb_height) {
    return 4 * plane_bytes(mb_width, mb_height);
}

void motus_half_layout(MotusHalfPicture *half, uint8_t *memory, int mb_width, int mb_height) {
    half->memory = memory;
    half->mb_width = mb_width, half->mb_height = mb_height;
    half->stride = stride_of(mb_width);
    for (size_t i = 0; i < 4; i++)
        half->plane[i] = memory + i * plane_bytes(mb_width, mb_height) +
                         MOTUS_HALF_BORDER * half->stride + MOTUS_HALF_BORDER;
}

MotusStatus motus_half_alloc(MotusHalfPicture *half, int mb_width, int mb_height) {
    uint8_t *memory = motus_alloc(1, motus_half_bytes(mb_width, mb_height));
    if (!memory) return MOTUS_ERR_MEMORY;
    motus_half_layout(half, memory, mb_width, mb_height);
    return MOTUS_OK;
}

void motus_half_free(MotusHalfPicture *half) {
    motus_free(half->memory);
    *half = (MotusHalfPicture){0};
}

// ---- Scaling ------------------------------------------------------------------------------------

// Writes the 2x2 means of rows a and b that begin at even and at odd columns. The rows have width +
// 1 samples.
static void scale_rows(uint8_t *even, uint8_t *odd, const uint8_t *a, const uint8_t *b, int width) {
    for (int x = 0; x < width / 2; x++) {
        const int s0 = a[2 * x] + b[2 * x], s1 = a[2 * x + 1] + b[2 * x + 1],
                  s2 = a[2 * x + 2] + b[2 * x + 2];
        even[x] = motus_half_mean(s0, s1);
        odd[x] = motus_half_mean(s1, s2);
    }
}

static void repeat_rows(uint8_t *row, ptrdiff_t stride, size_t bytes, ptrdiff_t step) {
    for (int i = 1; i <= MOTUS_HALF_BORDER; i++) memcpy(row + i * step * stride, row, bytes);
}

// Returns the detail of `width` samples from row[1] on, between row[0] and row[width + 1].
static uint32_t detail_of(const uint8_t *row, int width) {
    uint32_t sum = 0;
    for (int x = 0; x < width; x++) {
        const int d = 2 * row[x + 1] - row[x] - row[x + 2];
        sum += (uint32_t)(d < 0 ? -d : d);
    }
    return sum;
}

// Builds row y / 2 of the two planes that begin at rows of y's parity, with their borders. Returns
// the detail of row y.
static uint32_t build_row(const MotusHalfPicture *half, const MotusPlane *luma, int y) {
    const int border = MOTUS_HALF_BORDER, width = 16 * half->mb_width, rows = MB * half->mb_height;
    uint8_t line[2][MOST_SAMPLES + 2];
    for (int i = 0; i < 2; i++) {
        memcpy(line[i], luma->data + motus_min(y + i, luma->height - 1) * luma->stride,
               (size_t)luma->width);
        motus_row_pad(line[i], luma->width, 0, width + 2 - luma->width);
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
    return detail_of(line[0], width);
}

uint64_t motus_half_build(MotusHalfPicture *half, const MotusPlane *luma, int threads) {
    uint64_t detail = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : detail)
    for (int y = 0; y < 16 * half->mb_height; y++) detail += build_row(half, luma, y);
    return detail;
}

// ---- Intra --------------------------------------------------------------------------------------

static uint32_t intra_cost(const MotusPixelOps *ops, const MotusHalfPicture *cur, int x, int y) {
    const uint8_t *at = cur->plane[0] + MB * (y * cur->stride + x);
    const int has = motus_lookahead_has(x, y);
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
    return best + MOTUS_LOOKAHEAD_LAMBDA * MOTUS_LOOKAHEAD_INTRA_BITS;
}

// ---- Inter --------------------------------------------------------------------------------------

// First pass: each MB from zero on.
static void search_row(const MotusMbCosts *costs, const MotusHalfPicture *cur,
                       const MotusHalfPicture *before, const MotusHalfWeight *weight, int y) {
    const MotusMv zero = {0, 0};
    for (int x = 0; x < cur->mb_width; x++) {
        Search s = {.ops = motus_pixel_ops(), .before = before, .predictor = zero};
        begin_search(&s, cur, x, y, weight);
        try_mv(&s, zero, s.ops->sad);
        descend(&s);
        costs->first[y * cur->mb_width + x] = s.best;
    }
}

// Second pass. Returns the cost of MB (x, y) with costs->mv.
static uint32_t search_again(const MotusMbCosts *costs, const MotusHalfPicture *cur,
                             const MotusHalfPicture *before, const MotusHalfWeight *weight, int x,
                             int y) {
    int found = 0; // 1: another MB's MV is better
    Search s = {.ops = motus_pixel_ops(),
                .before = before,
                .predictor = motus_lookahead_predictor(costs->first, cur->mb_width, x, y)};
    begin_search(&s, cur, x, y, weight);
    for (int i = 0; i < MOTUS_LOOKAHEAD_STARTS; i++) {
        MotusMv mv;
        if (motus_lookahead_start(&mv, i, costs->first, cur, x, y))
            found = try_mv(&s, mv, s.ops->sad) ? i > 0 : found;
    }
    if (found) descend(&s);
    refine(&s);
    costs->mv[y * cur->mb_width + x] = s.best;
    return s.cost;
}

static void costs_of_row(const MotusMbCosts *costs, const MotusHalfPicture *cur,
                         const MotusHalfPicture *before, const MotusHalfWeight *weight, int y) {
    const MotusPixelOps *ops = motus_pixel_ops();
    for (int x = 0; x < cur->mb_width; x++) {
        const int i = y * cur->mb_width + x;
        const uint32_t intra = intra_cost(ops, cur, x, y);
        uint32_t inter = intra;
        costs->mv[i] = (MotusMv){0, 0};
        if (before) inter = search_again(costs, cur, before, weight, x, y);
        costs->intra[i] = motus_lookahead_cost(intra);
        costs->inter[i] = motus_lookahead_cost(inter < intra ? inter : intra);
    }
}

void motus_mb_costs(const MotusMbCosts *costs, const MotusHalfPicture *cur,
                    const MotusHalfPicture *before, const MotusHalfWeight *weight, int threads) {
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic, 2)
        for (int y = 0; y < cur->mb_height; y++)
            if (before) search_row(costs, cur, before, weight, y);
#pragma omp for schedule(dynamic, 2)
        for (int y = 0; y < cur->mb_height; y++) costs_of_row(costs, cur, before, weight, y);
    }
}
