// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/lookahead_passes.h"

#include <string.h>

#include "encoder/lookahead/lookahead_search_cpu.h"
#include "yuv/pad.h"

#define MOST_SAMPLES (MOTUS_MAX_SIZE + 16)

static ptrdiff_t stride_of(int mb_width) {
    return (MB * mb_width + 2 * MOTUS_HALF_BORDER + 63) / 64 * 64;
}

size_t motus_half_bytes(int mb_width, int mb_height) {
    return 4 * (size_t)stride_of(mb_width) * (size_t)(MB * mb_height + 2 * MOTUS_HALF_BORDER);
}

void motus_half_layout(MotusHalfPicture *half, uint8_t *memory, int mb_width, int mb_height) {
    half->memory = memory;
    half->mb_width = mb_width, half->mb_height = mb_height;
    half->stride = stride_of(mb_width);
    for (size_t i = 0; i < 4; i++)
        half->plane[i] = memory + i * (motus_half_bytes(mb_width, mb_height) / 4) +
                         MOTUS_HALF_BORDER * half->stride + MOTUS_HALF_BORDER;
}

// ---- Scaling ------------------------------------------------------------------------------------

// Builds row y / 2 of the two planes that begin at rows of y's parity, with their borders: 2x2
// means that begin at even and at odd columns. Returns the detail of row y.
static uint32_t build_row(const MotusHalfPicture *half, const MotusPlane *luma, int y) {
    const int border = MOTUS_HALF_BORDER, width = 16 * half->mb_width, rows = MB * half->mb_height;
    const size_t bytes = (size_t)(width / 2 + 2 * border);
    uint8_t line[2][MOST_SAMPLES + 2], *to[2];
    uint32_t detail = 0;
    for (int i = 0; i < 2; i++) {
        memcpy(line[i], luma->data + motus_min(y + i, luma->height - 1) * luma->stride,
               (size_t)luma->width);
        motus_row_pad(line[i], luma->width, 0, width + 2 - luma->width);
        to[i] = half->plane[2 * (y & 1) + i] + (y >> 1) * half->stride;
    }
    const uint8_t *a = line[0], *b = line[1];
    for (int x = 0; x < width / 2; x++) {
        const int s0 = a[2 * x] + b[2 * x], s1 = a[2 * x + 1] + b[2 * x + 1],
                  s2 = a[2 * x + 2] + b[2 * x + 2];
        to[0][x] = motus_half_mean(s0, s1);
        to[1][x] = motus_half_mean(s1, s2);
    }
    for (int i = 0; i < 2; i++) {
        motus_row_pad(to[i], width / 2, border, border);
        for (int k = 1; k <= border && y >> 1 == 0; k++)
            memcpy(to[i] - border - k * half->stride, to[i] - border, bytes);
        for (int k = 1; k <= border && y >> 1 == rows - 1; k++)
            memcpy(to[i] - border + k * half->stride, to[i] - border, bytes);
    }
    for (int x = 0; x < width; x++) {
        const int d = 2 * a[x + 1] - a[x] - a[x + 2];
        detail += (uint32_t)(d < 0 ? -d : d);
    }
    return detail;
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

void motus_mb_costs(const MotusMbCosts *costs, const MotusHalfPicture *cur,
                    const MotusHalfPicture *before, const MotusHalfWeight *weight, int threads) {
    const MotusPixelOps *ops = motus_pixel_ops();
    const MotusMv zero = {0, 0};
    const int mb_width = cur->mb_width, rows = before ? cur->mb_height : 0;
    (void)threads;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(dynamic, 2)
        for (int y = 0; y < rows; y++) // first pass: each MB from zero on
            for (int x = 0; x < mb_width; x++) {
                Search s = {.ops = ops, .before = before, .predictor = zero};
                begin_search(&s, cur, x, y, weight);
                try_mv(&s, zero, ops->sad);
                descend(&s);
                costs->first[y * mb_width + x] = s.best;
            }
#pragma omp for schedule(dynamic, 2)
        for (int y = 0; y < cur->mb_height; y++)
            for (int x = 0; x < mb_width; x++) {
                const int i = y * mb_width + x;
                const uint32_t intra = intra_cost(ops, cur, x, y);
                uint32_t inter = intra;
                costs->mv[i] = zero;
                if (before) inter = search_again(costs, cur, before, weight, x, y);
                costs->intra[i] = motus_lookahead_cost(intra);
                costs->inter[i] = motus_lookahead_cost(inter < intra ? inter : intra);
            }
    }
}

// ---- Weights ------------------------------------------------------------------------------------

void motus_half_measure(const MotusHalfStats *stats, const MotusHalfPicture *half, int threads) {
    const int width = 2 * half->mb_width, n = 4 * half->mb_width * half->mb_height;
    uint64_t sum = 0, squares = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum, squares)
    for (int i = 0; i < n; i++) {
        const uint8_t *at = half->plane[0] + 4 * (i / width * half->stride + i % width);
        uint32_t block_sum = 0;
        for (int k = 0; k < 16; k++) {
            const uint32_t sample = at[k / 4 * half->stride + k % 4];
            block_sum += sample, squares += sample * sample;
        }
        stats->small[i] = (int16_t)block_sum;
        sum += block_sum;
    }
    stats->sums[0] = sum, stats->sums[1] = squares;
}

MotusHalfWeight motus_half_find_weight(const MotusHalfStats *cur, const MotusHalfStats *ref,
                                       int mb_width, int mb_height) {
    const int n_mb = mb_width * mb_height, step = motus_half_row_step(n_mb);
    MotusHalfWeight suggestion[MOTUS_HALF_SUGGESTIONS];
    MotusHalfTrial trial = {{0}, {0}, {0}};
    if (!motus_half_suggest(suggestion, cur->sums, ref->sums, 64 * (uint64_t)n_mb))
        return motus_half_no_weight();
    for (int y = 0; y < mb_height; y += step)
        for (int x = 0; x < mb_width; x++)
            motus_half_try(&trial, cur->small, ref->small, mb_width, mb_height, x, y, suggestion);
    return motus_half_choose(&trial, suggestion);
}
