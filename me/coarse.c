// SPDX-License-Identifier: BSD-2-Clause
#include "me/coarse.h"

#include <string.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "me/cost_core.h"

#define BORDER 32 // around a scaled picture: a margin of 2 and the range of 16, and what the search may read beyond
#define BLOCK 8
#define MARGIN 2 // of the block on each side of the MB's 4x4 scaled samples

static int search_c(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride, const MotusCoarseCosts cost) {
    int best = 0, best_cost = 65535;
    for (int i = 0; i < MOTUS_COARSE_POINTS * MOTUS_COARSE_COLUMNS; i++) {
        int row = i / MOTUS_COARSE_COLUMNS, column = i % MOTUS_COARSE_COLUMNS, j = cost[row][column];
        if (column >= MOTUS_COARSE_POINTS) continue;
        for (int y = 0; y < BLOCK; y++)
            for (int x = 0; x < BLOCK; x++) j += motus_abs(cur[y * stride + x] - ref[(row + y) * stride + column + x]);
        if (j < best_cost) best_cost = j, best = i;
    }
    return best;
}

MotusStatus motus_coarse_alloc(MotusCoarse *coarse, int mb_width, int mb_height) {
    int width = 4 * mb_width, height = 4 * mb_height, stride = (width + 2 * BORDER + 63) / 64 * 64;
    size_t plane_size = (size_t)stride * (size_t)(height + 2 * BORDER), n_mb = (size_t)mb_width * (size_t)mb_height;
    coarse->memory = motus_alloc(2, plane_size);
    coarse->mv = motus_alloc(n_mb, sizeof *coarse->mv);
    coarse->sorted = motus_alloc(n_mb, sizeof *coarse->sorted);
    coarse->search = search_c;
#if defined(__x86_64__)
    if (motus_cpu_flags() & MOTUS_CPU_AVX2) coarse->search = motus_coarse_search_avx2;
#endif
    if (!coarse->memory || !coarse->mv || !coarse->sorted) return MOTUS_ERR_MEMORY;
    uint8_t *origin = coarse->memory + BORDER * stride + BORDER;
    coarse->cur = (MotusPlane){origin, stride, width, height};
    coarse->ref = (MotusPlane){origin + plane_size, stride, width, height};
    return MOTUS_OK;
}

void motus_coarse_free(MotusCoarse *coarse) {
    motus_free(coarse->memory);
    motus_free(coarse->mv);
    motus_free(coarse->sorted);
    memset(coarse, 0, sizeof *coarse);
}

// Row y of the scaled picture (rounded means of 4x4 samples) with its border; rows outside repeat the first or last one.
static void scale_row(const MotusPlane *dst, const MotusPlane *src, int y) {
    const uint8_t *from = src->data + 4 * motus_clip(0, dst->height - 1, y) * src->stride;
    uint8_t *to = dst->data + y * dst->stride;
    for (int x = 0; x < dst->width; x++, from += 4) {
        int sum = 8;
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 4; k++) sum += from[i * src->stride + k];
        to[x] = (uint8_t)(sum >> 4);
    }
    memset(to - BORDER, to[0], BORDER);
    memset(to + dst->width, to[dst->width - 1], BORDER);
}

static MotusMv vector_of(int row, int column) {
    return (MotusMv){(int16_t)(16 * (column - MOTUS_COARSE_RANGE)), (int16_t)(16 * (row - MOTUS_COARSE_RANGE))};
}

static void fill_costs(MotusCoarseCosts cost, uint32_t lambda_q8) {
    static const MotusMv zero = {0, 0};
    memset(cost, 0xFF, sizeof(MotusCoarseCosts));
    for (int row = 0; row < MOTUS_COARSE_POINTS; row++)
        for (int column = 0; column < MOTUS_COARSE_POINTS; column++)
            cost[row][column] = (uint16_t)motus_mv_cost(lambda_q8 / 4, vector_of(row, column), zero);
}

void motus_coarse_run(MotusCoarse *coarse, const MotusPlane *cur, const MotusPlane *ref, uint32_t lambda_q8, int threads) {
    MotusCoarseCosts cost;
    int mb_width = coarse->cur.width / 4, mb_height = coarse->cur.height / 4;
    ptrdiff_t stride = coarse->cur.stride;
    (void)threads;
    fill_costs(cost, lambda_q8);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int y = -BORDER; y < coarse->cur.height + BORDER; y++) {
            scale_row(&coarse->cur, cur, y);
            scale_row(&coarse->ref, ref, y);
        }
#pragma omp for schedule(static)
        for (int mb = 0; mb < mb_width * mb_height; mb++) {
            ptrdiff_t at = (4 * (mb / mb_width) - MARGIN) * stride + 4 * (mb % mb_width) - MARGIN;
            const uint8_t *window = coarse->ref.data + at - MOTUS_COARSE_RANGE * (stride + 1);
            int best = coarse->search(coarse->cur.data + at, window, stride, cost);
            coarse->mv[mb] = vector_of(best / MOTUS_COARSE_COLUMNS, best % MOTUS_COARSE_COLUMNS);
        }
    }
}
