// Search centres from the previous picture's vectors and from a search in pictures scaled down 4:1.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/predict.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "me/cost_core.h"
#include "me/me_context.h"

#define BORDER 32       // around a scaled picture: a block's margin of 2 and the range of 16, rounded up
#define COARSE_RANGE 16 // scaled samples: +-64 samples of the picture
#define COARSE_BLOCK 8  // an MB is 4x4 scaled samples; half an MB more on each side steadies the result
#define FINE_RANGE 2    // samples around a coarse vector, which is a multiple of 4

MotusStatus motus_coarse_alloc(MotusCoarse *coarse, int mb_width, int mb_height) {
    int width = 4 * mb_width, height = 4 * mb_height, stride = (width + 2 * BORDER + 63) / 64 * 64;
    size_t plane_size = (size_t)stride * (size_t)(height + 2 * BORDER), n_mb = (size_t)mb_width * (size_t)mb_height;
    coarse->memory = motus_alloc(2, plane_size);
    coarse->mv = motus_alloc(n_mb, sizeof *coarse->mv);
    coarse->sorted = motus_alloc(n_mb, sizeof *coarse->sorted);
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
static void scale_row(const MotusPlane *dst, const uint8_t *src, ptrdiff_t stride, int y) {
    const uint8_t *from = src + 4 * motus_clip(0, dst->height - 1, y) * stride;
    uint8_t *to = dst->data + y * dst->stride;
    for (int x = 0; x < dst->width; x++, from += 4) {
        int sum = 8;
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 4; k++) sum += from[i * stride + k];
        to[x] = (uint8_t)(sum >> 4);
    }
    memset(to - BORDER, to[0], BORDER);
    memset(to + dst->width, to[dst->width - 1], BORDER);
}

// The displacement of the least SAD (scaled up to that of 16x16 samples) + cost of the vector itself.
static MotusMv coarse_search(const MotusMe *me, int mb_x, int mb_y, uint32_t lambda_q8) {
    const MotusCoarse *c = &me->coarse;
    ptrdiff_t at = (4 * mb_y - 2) * c->cur.stride + 4 * mb_x - 2;
    MotusMv best = {0, 0}, zero = {0, 0};
    uint32_t best_cost = UINT32_MAX;
    for (int dy = -COARSE_RANGE; dy <= COARSE_RANGE; dy++)
        for (int dx = -COARSE_RANGE; dx <= COARSE_RANGE; dx++) {
            MotusMv mv = {(int16_t)(16 * dx), (int16_t)(16 * dy)};
            const uint8_t *ref = c->ref.data + at + dy * c->ref.stride + dx;
            uint32_t sad = me->pixel->sad(c->cur.data + at, c->cur.stride, ref, c->ref.stride, COARSE_BLOCK, COARSE_BLOCK);
            uint32_t cost = 4 * sad + motus_mv_cost(lambda_q8, mv, zero);
            if (cost < best_cost) best_cost = cost, best = mv;
        }
    return best;
}

static int by_value(const void *a, const void *b) {
    const int16_t *p = a, *q = b;
    return *p - *q;
}

// Component-wise median of the picture's vectors, zero without any; `room` has space for them all.
static MotusMv picture_median(const MotusMv *mv, int n, MotusMv *room) {
    MotusMv median = {0, 0};
    if (!mv) return median;
    int16_t *value = (int16_t *)room;
    for (int i = 0; i < n; i++) value[i] = mv[i].x;
    qsort(value, (size_t)n, sizeof *value, by_value);
    median.x = value[n / 2];
    for (int i = 0; i < n; i++) value[i] = mv[i].y;
    qsort(value, (size_t)n, sizeof *value, by_value);
    median.y = value[n / 2];
    return median;
}

typedef struct Centre {
    const MotusMe *me;
    const MotusPlane *cur;
    const MotusRefLuma *ref;
    MotusMv median; // what vectors cost relative to
    uint32_t lambda_q8;
    int limit_x, limit_y; // multiples of 4
    int mb_width, mb_height;
} Centre;

typedef struct Best {
    MotusMv mv;
    uint32_t cost;
} Best;

// Rounds a vector to whole samples within the limits and keeps it if it is better than *best.
static void try_vector(const Centre *c, int mb_x, int mb_y, int vx, int vy, Best *best) {
    MotusMv mv = {(int16_t)motus_clip(-c->limit_x, c->limit_x, (vx + 2) & ~3),
                  (int16_t)motus_clip(-c->limit_y, c->limit_y, (vy + 2) & ~3)};
    uint32_t cost = motus_mv_cost(c->lambda_q8, mv, c->median);
    if (cost >= best->cost) return;
    int x = 16 * mb_x, y = 16 * mb_y;
    uint8_t unused[1];
    ptrdiff_t stride = 16;
    const uint8_t *pred = motus_ref_luma_block(c->ref, x, y, mv, 16, 16, unused, &stride); // whole samples: nothing is written
    cost += c->me->pixel->sad(c->cur->data + y * c->cur->stride + x, c->cur->stride, pred, stride, 16, 16);
    if (cost < best->cost) *best = (Best){mv, cost};
}

// The vectors of a field at the MB and at its eight neighbours inside the picture, in raster order.
static void try_field(const Centre *c, int mb_x, int mb_y, const MotusMv *field, Best *best) {
    for (int y = motus_max(mb_y - 1, 0); y <= motus_min(mb_y + 1, c->mb_height - 1); y++)
        for (int x = motus_max(mb_x - 1, 0); x <= motus_min(mb_x + 1, c->mb_width - 1); x++) {
            MotusMv mv = field[y * c->mb_width + x];
            try_vector(c, mb_x, mb_y, mv.x, mv.y, best);
        }
}

static MotusMv centre_of(const Centre *c, int mb_x, int mb_y, const MotusMv *previous) {
    Best best = {{0, 0}, UINT32_MAX};
    MotusMv own = c->me->coarse.mv[mb_y * c->mb_width + mb_x];
    try_vector(c, mb_x, mb_y, 0, 0, &best);
    if (previous) try_field(c, mb_x, mb_y, previous, &best);
    try_vector(c, mb_x, mb_y, c->median.x, c->median.y, &best);
    try_field(c, mb_x, mb_y, c->me->coarse.mv, &best);
    for (int dy = -FINE_RANGE; dy <= FINE_RANGE; dy++)
        for (int dx = -FINE_RANGE; dx <= FINE_RANGE; dx++) try_vector(c, mb_x, mb_y, own.x + 4 * dx, own.y + 4 * dy, &best);
    return best.mv;
}

MotusStatus motus_me_predict_centres(MotusMe *me, const MotusPlane *cur, const MotusRefLuma *ref, const MotusMv *previous,
                                     uint32_t lambda_q8, int limit_x, int limit_y, MotusMv *centre) {
    if (!me || !cur || !ref || !centre || lambda_q8 > MOTUS_MAX_LAMBDA_Q8) return MOTUS_ERR_ARGUMENT;
    if (cur->width != me->ref.width || cur->height != me->ref.height) return MOTUS_ERR_ARGUMENT;
    if (ref->width != cur->width || ref->height != cur->height || limit_x < 0 || limit_y < 0) return MOTUS_ERR_ARGUMENT;
    int mb_width = cur->width / 16, mb_height = cur->height / 16;
    MotusCoarse *coarse = &me->coarse;
    Centre c = {.me = me,
                .cur = cur,
                .ref = ref,
                .median = picture_median(previous, mb_width * mb_height, coarse->sorted),
                .lambda_q8 = lambda_q8,
                .limit_x = motus_min(limit_x, MOTUS_MAX_CENTRE) & ~3,
                .limit_y = motus_min(limit_y, MOTUS_MAX_CENTRE) & ~3,
                .mb_width = mb_width,
                .mb_height = mb_height};
#pragma omp parallel num_threads(me->threads)
    {
#pragma omp for schedule(static)
        for (int y = -BORDER; y < coarse->cur.height + BORDER; y++) {
            scale_row(&coarse->cur, cur->data, cur->stride, y);
            scale_row(&coarse->ref, ref->plane[0], ref->stride, y);
        }
#pragma omp for schedule(dynamic)
        for (int y = 0; y < mb_height; y++)
            for (int x = 0; x < mb_width; x++) coarse->mv[y * mb_width + x] = coarse_search(me, x, y, lambda_q8);
#pragma omp for schedule(dynamic)
        for (int y = 0; y < mb_height; y++)
            for (int x = 0; x < mb_width; x++) centre[y * mb_width + x] = centre_of(&c, x, y, previous);
    }
    return MOTUS_OK;
}
