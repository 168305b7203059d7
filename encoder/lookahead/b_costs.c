// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/b_costs.h"

#include <assert.h>

#include "encoder/lookahead/lookahead_search_cpu.h"

// ---- One field ----------------------------------------------------------------------------------

static void search_mb(const MotusBSearch *p, const MotusPixelOps *ops, int x, int y) {
    const int i = y * p->cur.mb_width + x;
    Search s = {.ops = ops, .before = &p->ref, .predictor = motus_b_predictor(p, x, y)};
    begin_search(&s, &p->cur, x, y, p->weight);
    for (int k = 0; k < MOTUS_B_STARTS; k++) {
        MotusMv mv;
        if (motus_b_start(&mv, k, p, x, y)) try_mv(&s, mv, ops->sad);
    }
    try_around(&s); // expected MVs are near enough
    refine(&s);
    p->field.mv[i] = s.best;
    p->field.cost[i] = motus_lookahead_cost(s.cost < p->intra[i] ? s.cost : p->intra[i]);
}

// Fills p->field.
static void search_field(const MotusBSearch *p, int threads) {
    const MotusPixelOps *ops = motus_pixel_ops();
    assert(p->back || (p->first && p->rest));
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 2)
    for (int y = 0; y < p->cur.mb_height; y++)
        for (int x = 0; x < p->cur.mb_width; x++) search_mb(p, ops, x, y);
}

// ---- One B picture ------------------------------------------------------------------------------

// Returns the SATD of the mean of both predictions of MB (x, y).
static uint32_t mean_satd(const MotusPixelOps *ops, const MotusBetween *p, int x, int y) {
    const MotusHalfPicture *cur = &p->cur;
    const int i = y * cur->mb_width + x;
    uint8_t mean[MB * MB];
    const uint8_t *a = motus_lookahead_at(&p->ref[0], MB * x, MB * y, p->field[0].mv[i]),
                  *b = motus_lookahead_at(&p->ref[1], MB * x, MB * y, p->field[1].mv[i]);
    for (int v = 0; v < MB; v++, a += cur->stride, b += cur->stride)
        for (int u = 0; u < MB; u++) mean[MB * v + u] = (uint8_t)((a[u] + b[u] + 1) >> 1);
    return ops->satd(cur->plane[0] + MB * (y * cur->stride + x), cur->stride, mean, MB, MB, MB);
}

// Returns the cost of MB (x, y) as ref alone predicts it without its weight, at most intra. Its
// MV's bits are counted against the left MB's MV.
static uint32_t unweighted_cost(const MotusPixelOps *ops, const MotusHalfPicture *cur,
                                const MotusHalfPicture *ref, const MotusBField *field,
                                uint32_t intra, int x, int y) {
    const MotusMv *mv = &field->mv[y * cur->mb_width + x];
    const uint32_t cost =
        ops->satd(cur->plane[0] + MB * (y * cur->stride + x), cur->stride,
                  motus_lookahead_at(ref, MB * x, MB * y, *mv), ref->stride, MB, MB) +
        motus_lookahead_mv_cost(*mv, x ? mv[-1] : motus_lookahead_mv(0, 0));
    return cost < intra ? cost : intra;
}

// Returns the cost of a B picture and fills in its MBs' costs if they are kept.
static uint64_t picture_cost(const MotusBetween *b, int threads) {
    const MotusPixelOps *ops = motus_pixel_ops();
    const MotusHalfPicture *cur = &b->cur;
    uint64_t sum = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (int y = 0; y < cur->mb_height; y++)
        for (int x = 0; x < cur->mb_width; x++) {
            const int i = y * cur->mb_width + x;
            const uint32_t earlier =
                b->weight && b->weight->is_used
                    ? unweighted_cost(ops, cur, &b->ref[0], &b->field[0], b->intra[i], x, y)
                    : b->field[0].cost[i];
            const uint32_t cost =
                motus_b_cost(mean_satd(ops, b, x, y), earlier, b->field[1].cost[i]);
            if (b->mb_cost) b->mb_cost[i] = (uint16_t)cost;
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

// Adds up the measured costs of the B pictures of a mini-GOP of n pictures.
static void cost_between(MotusBCosts *costs, const MotusBPicture *const *picture, int n,
                         int pyramid, int threads) {
    for (int d = 1; d < n; d++) {
        if (!motus_b_is_measured(n - d, d, pyramid)) continue;
        const MotusBetween between = motus_b_between(picture, n, d);
        costs->b[n - 1] += picture_cost(&between, threads);
    }
}

void motus_b_costs(MotusBCosts *costs, const MotusBPicture *const *picture, int span, int pyramid,
                   int threads) {
    const MotusHalfPicture *half = &picture[0]->half;
    *costs = (MotusBCosts){{0}, {0}};
    for (int d = 2; d <= span; d++) {
        const MotusBSearch search = motus_b_search_earlier(picture, d);
        search_field(&search, threads);
    }
    for (int d = 1; d <= motus_b_farthest_later(span, pyramid); d++) {
        const MotusBSearch search = motus_b_search_later(picture, d);
        search_field(&search, threads);
    }
    for (int n = 1; n <= span; n++) {
        costs->p[n - 1] = sum_of(&picture[0]->earlier[n - 1], half->mb_width * half->mb_height);
        cost_between(costs, picture, n, pyramid, threads);
    }
}

// ---- Choice -------------------------------------------------------------------------------------

// Weights of costs, fitted to the bits of 21 stretches of nine sequences with mini-GOPs of fixed
// lengths. Lookahead costs of B pictures count more than those of P pictures: what the mean of two
// predictions saves of them is noise, much of which is not coded. A share of its intra cost belongs
// to each mini-GOP: long ones pay where motion is well predicted.
enum {
    WEIGHT_P = 100,
    WEIGHT_RUN = 20, // of the part of a P picture behind its reference that is predicted
    WEIGHT_INTRA = 16,
    WEIGHT_REFERENCE = 154,
    WEIGHT_ALONE = 160, // of the B picture of a mini-GOP of two
    WEIGHT_OTHER = 172, // of further B pictures that are no references
    WEIGHT_FLAT = 83,   // of all B pictures without a pyramid
    WEIGHT_SHARP = 20   // of the intra cost, of a picture that is certainly one of the source's P
};

// Returns the weighted cost of the B pictures of a mini-GOP of d pictures, or of a part of one,
// that ends with *costs.
static uint64_t cost_of_b(const MotusBCosts *costs, int d, int level) {
    if (d < 2) return 0;
    if (d == 2) return (level > 1 ? WEIGHT_OTHER : WEIGHT_ALONE) * costs->b[1];
    const int behind = d - 1 - motus_b_middle(d);
    return WEIGHT_REFERENCE * costs->b[d - 1] + cost_of_b(costs - behind, d - behind, level + 1) +
           cost_of_b(costs, behind, level + 1);
}

// Returns what a P picture right behind its reference costs more: a B picture would be as well
// predicted and is coded coarser. Costs of pictures are below 2^32.
static uint64_t cost_of_run(uint64_t p, uint64_t intra) {
    return p < intra ? WEIGHT_RUN * (p * (intra - p) / intra) : 0;
}

static uint64_t cost_of(const MotusBCosts *costs, uint64_t intra, int d, int pyramid) {
    const uint64_t p = WEIGHT_P * costs->p[d - 1];
    if (!pyramid) return p + WEIGHT_FLAT * costs->b[d - 1];
    return p + WEIGHT_INTRA * intra +
           (d == 1 ? cost_of_run(costs->p[0], intra) : cost_of_b(costs, d, 1));
}

int motus_b_length(const MotusBCosts *costs, const uint64_t *intra, const int *sharp, int n,
                   int span, int pyramid) {
    int64_t least[MOTUS_B_WINDOW + 1] = {0}; // of the first i pictures
    int first[MOTUS_B_WINDOW + 1] = {0};     // length of their first mini-GOP
    for (int i = 1; i <= n; i++) {
        const int64_t saving =
            WEIGHT_SHARP * (int64_t)intra[i - 1] * sharp[i - 1] / MOTUS_SHARPNESS_ONE;
        least[i] = INT64_MAX;
        for (int d = 1; d <= span && d <= i; d++) {
            const int64_t cost =
                least[i - d] - saving + (int64_t)cost_of(&costs[i - 1], intra[i - 1], d, pyramid);
            if (cost >= least[i]) continue;
            least[i] = cost;
            first[i] = i == d ? d : first[i - d];
        }
    }
    return first[n];
}
