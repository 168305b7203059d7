// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/b_costs.h"

#include "encoder/lookahead/lookahead_search_cpu.h"

// ---- One field ----------------------------------------------------------------------------------

static void search_mb(const MotusBSearch *p, const MotusPixelOps *ops, int x, int y) {
    const int i = y * p->cur.mb_width + x;
    Search s = {.ops = ops,
                .at = p->cur.plane[0] + MB * (y * p->cur.stride + x),
                .before = &p->ref,
                .x = MB * x,
                .y = MB * y,
                .predictor = motus_b_predictor(p, x, y),
                .cost = UINT32_MAX};
    for (int k = 0; k < MOTUS_B_STARTS; k++) {
        MotusMv mv;
        if (motus_b_start(&mv, k, p, x, y)) try_mv(&s, mv, ops->sad);
    }
    descend(&s);
    refine(&s);
    p->field.mv[i] = s.best;
    p->field.cost[i] = motus_lookahead_cost(s.cost < p->intra[i] ? s.cost : p->intra[i]);
}

void motus_b_search(const MotusBSearch *p, int threads) {
    const MotusPixelOps *ops = motus_pixel_ops(0);
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 2)
    for (int y = 0; y < p->cur.mb_height; y++)
        for (int x = 0; x < p->cur.mb_width; x++) search_mb(p, ops, x, y);
}

// ---- One B picture ------------------------------------------------------------------------------

// Returns the SATD of the mean of both predictions of MB (x, y).
static uint32_t mean_satd(const MotusPixelOps *ops, const MotusHalfPicture *cur,
                          const MotusHalfPicture *const ref[2], const MotusMv mv[2], int x, int y) {
    uint8_t mean[MB * MB];
    const uint8_t *a = motus_lookahead_at(ref[0], MB * x, MB * y, mv[0]),
                  *b = motus_lookahead_at(ref[1], MB * x, MB * y, mv[1]);
    for (int v = 0; v < MB; v++, a += cur->stride, b += cur->stride)
        for (int u = 0; u < MB; u++) mean[MB * v + u] = (uint8_t)((a[u] + b[u] + 1) >> 1);
    return ops->satd(cur->plane[0] + MB * (y * cur->stride + x), cur->stride, mean, MB, MB, MB);
}

uint64_t motus_b_picture_cost(const MotusHalfPicture *cur, const MotusHalfPicture *const ref[2],
                              const MotusBField *const field[2], uint16_t *mb_cost, int threads) {
    const MotusPixelOps *ops = motus_pixel_ops(0);
    uint64_t sum = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (int y = 0; y < cur->mb_height; y++)
        for (int x = 0; x < cur->mb_width; x++) {
            const int i = y * cur->mb_width + x;
            const MotusMv mv[2] = {field[0]->mv[i], field[1]->mv[i]};
            const uint32_t cost = motus_b_cost(mean_satd(ops, cur, ref, mv, x, y),
                                               field[0]->cost[i], field[1]->cost[i]);
            if (mb_cost) mb_cost[i] = (uint16_t)cost;
            sum += cost;
        }
    return sum;
}

// ---- Mini-GOPs that end with a picture ----------------------------------------------------------

static uint64_t sum_of(const MotusBField *field, int n) {
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) sum += field->cost[i];
    return sum;
}

// Adds up the costs of the B pictures of a mini-GOP of n pictures.
static void cost_between(MotusBCosts *costs, const MotusBPicture *const *picture, int n,
                         int threads) {
    const MotusHalfPicture *const ref[2] = {&picture[n]->half, &picture[0]->half};
    for (int d = 1; d < n; d++) {
        const MotusBField *const field[2] = {&picture[d]->earlier[n - d - 1],
                                             &picture[d]->later[d - 1]};
        const uint64_t cost = motus_b_picture_cost(
            &picture[d]->half, ref, field, picture[d]->between[motus_b_pair(n - d, d)], threads);
        costs->b[n - 1] += cost;
        if (n - 1 - d == motus_b_middle(n)) costs->middle[n - 1] = cost;
    }
}

void motus_b_costs(MotusBCosts *costs, const MotusBPicture *const *picture, int span, int threads) {
    const MotusHalfPicture *half = &picture[0]->half;
    *costs = (MotusBCosts){{0}, {0}, {0}};
    for (int d = 2; d <= span; d++) {
        const MotusBSearch search = motus_b_search_earlier(picture, d);
        motus_b_search(&search, threads);
    }
    for (int d = 1; d < span; d++) {
        const MotusBSearch search = motus_b_search_later(picture, d);
        motus_b_search(&search, threads);
    }
    for (int n = 1; n <= span; n++) {
        costs->p[n - 1] = sum_of(&picture[0]->earlier[n - 1], half->mb_width * half->mb_height);
        cost_between(costs, picture, n, threads);
    }
}

// ---- Choice -------------------------------------------------------------------------------------

// Returns the cost of the mini-GOP of d pictures that ends with *costs. B pictures count 5/6 of a P
// picture, since their steps are coarser, and 3/4 with a pyramid if they are no references. Those
// before and behind the middle one cost as in mini-GOPs that end and begin with it, and an eighth
// of what they would cost more without it, or all of that in long ones. The weights are those with
// the fewest bits on eight sequences.
static uint64_t cost_of(const MotusBCosts *costs, int d, int pyramid) {
    const uint64_t p = costs->p[d - 1], outer = costs->b[d - 1];
    const int middle = motus_b_middle(d), behind = d - 1 - middle;
    if (!pyramid) return 96 * p + 80 * outer;
    if (middle < 0) return 96 * p + 72 * outer;
    const uint64_t b = costs->middle[d - 1] + costs[-behind].b[middle] + costs->b[behind - 1],
                   more = outer > b ? outer - b : 0;
    return 96 * p + 72 * b + 8 * costs->middle[d - 1] + (d > 4 ? 72 : 9) * more;
}

int motus_b_length(const MotusBCosts *costs, int n, int span, int pyramid) {
    uint64_t least[MOTUS_B_WINDOW + 1] = {0}; // of the first i pictures
    int first[MOTUS_B_WINDOW + 1] = {0};      // length of their first mini-GOP
    for (int i = 1; i <= n; i++) {
        least[i] = UINT64_MAX;
        for (int d = 1; d <= span && d <= i; d++) {
            const uint64_t cost = least[i - d] + cost_of(&costs[i - 1], d, pyramid);
            if (cost >= least[i]) continue;
            least[i] = cost;
            first[i] = i == d ? d : first[i - d];
        }
    }
    return first[n];
}
