// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/b_costs.h"

#include <assert.h>

#include "common/int_core.h"
#include "encoder/lookahead/lookahead_search_cpu.h"

// ---- One field ----------------------------------------------------------------------------------

// Fills p->field.
static void search_field(const MotusBSearch *p, int threads) {
    const MotusPixelOps *ops = motus_pixel_ops();
    assert(p->back || (p->first && p->rest));
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 2)
    for (int y = 0; y < p->cur.mb_height; y++)
        for (int x = 0; x < p->cur.mb_width; x++) {
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
}

// ---- Mini-GOPs that end with a picture ----------------------------------------------------------

// Returns the cost of a B picture and fills in its MBs' costs if they are kept.
static uint64_t cost_between(const MotusBetween *b, int threads) {
    const MotusPixelOps *ops = motus_pixel_ops();
    const MotusHalfPicture *cur = &b->cur;
    uint64_t sum = 0;
    (void)threads;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : sum)
    for (int i = 0; i < cur->mb_width * cur->mb_height; i++) {
        const int x = i % cur->mb_width, y = i / cur->mb_width;
        const ptrdiff_t stride = cur->stride;
        const MotusMv *mv = &b->field[0].mv[i];
        const uint8_t *source = cur->plane[0] + MB * (y * stride + x),
                      *earlier = motus_lookahead_at(&b->ref[0], MB * x, MB * y, *mv),
                      *later = motus_lookahead_at(&b->ref[1], MB * x, MB * y, b->field[1].mv[i]);
        uint32_t alone = b->field[0].cost[i];
        if (b->weight && b->weight->is_used) { // measured again, without the weight
            alone = ops->satd(source, stride, earlier, stride, MB, MB) +
                    motus_lookahead_mv_cost(*mv, x ? mv[-1] : motus_lookahead_mv(0, 0));
            if (b->intra[i] < alone) alone = b->intra[i];
        }
        uint8_t mean[MB * MB];
        for (int k = 0; k < MB * MB; k++) {
            const ptrdiff_t at = k / MB * stride + k % MB;
            mean[k] = (uint8_t)((earlier[at] + later[at] + 1) >> 1);
        }
        const uint32_t cost =
            motus_b_cost(ops->satd(source, stride, mean, MB, MB, MB), alone, b->field[1].cost[i]);
        if (b->mb_cost) b->mb_cost[i] = (uint16_t)cost;
        sum += cost;
    }
    return sum;
}

void motus_b_costs(MotusBCosts *costs, const MotusBPicture *const *picture, int span, int pyramid,
                   int threads) {
    const int n_mb = picture[0]->half.mb_width * picture[0]->half.mb_height;
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
        for (int i = 0; i < n_mb; i++) costs->p[n - 1] += picture[0]->earlier[n - 1].cost[i];
        for (int d = 1; d < n; d++) {
            if (!motus_b_is_measured(n - d, d, pyramid)) continue;
            const MotusBetween between = motus_b_between(picture, n, d);
            costs->b[n - 1] += cost_between(&between, threads);
        }
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
    const int behind = (d + 1) / 2; // the middle B picture, and those after it
    return WEIGHT_REFERENCE * costs->b[d - 1] + cost_of_b(costs - behind, d - behind, level + 1) +
           cost_of_b(costs, behind, level + 1);
}

int motus_b_length(const MotusBCosts *costs, const uint64_t *intra, const int *sharp, int n,
                   int span, int pyramid) {
    int64_t least[MOTUS_B_WINDOW + 1] = {0}; // of the first i pictures
    int first[MOTUS_B_WINDOW + 1] = {0};     // length of their first mini-GOP
    for (int i = 1; i <= n; i++) {
        const int64_t saving =
            WEIGHT_SHARP * (int64_t)intra[i - 1] * sharp[i - 1] / MOTUS_SHARPNESS_ONE;
        const MotusBCosts *c = &costs[i - 1];
        // A P picture right behind its reference costs more: a B picture would be as well predicted
        // and is coded coarser. Costs of pictures are below 2^32.
        const uint64_t own = intra[i - 1], p = c->p[0],
                       run = p < own ? WEIGHT_RUN * (p * (own - p) / own) : 0;
        least[i] = INT64_MAX;
        for (int d = 1; d <= span && d <= i; d++) {
            const uint64_t b = !pyramid ? WEIGHT_FLAT * c->b[d - 1]
                               : d == 1 ? WEIGHT_INTRA * own + run
                                        : WEIGHT_INTRA * own + cost_of_b(c, d, 1);
            const int64_t cost = least[i - d] - saving + (int64_t)(WEIGHT_P * c->p[d - 1] + b);
            if (cost >= least[i]) continue;
            least[i] = cost;
            first[i] = i == d ? d : first[i - d];
        }
    }
    return first[n];
}

// ---- Sharpness: pictures that were P pictures of a source that was coded before -----------------

// Excess of a picture's detail over the mean of the pictures around it, 1/1024. In video that was
// never coded, noise makes up to NOISE of it, up to NOISE_MB / sqrt(MBs) in small pictures, and
// motion now and then up to MOTION. More than CHANGE is another scene.
enum { NOISE = 10, NOISE_MB = 200, MOTION = 24, CHANGE = 256 };

// A peak counts in full from RISE above the noise on. From CERTAIN on it counts in full against
// pictures near it whose excess is 0 or less, and not at all against those from DULL on.
enum { RISE = 20, CERTAIN = 40, DULL = 10 };

// Costs of I pictures that rise or fall steadily by FADE / 1024 over 2 FADE_SIDE pictures, or jump
// by FLICKER / 1024: B pictures, which have no weights, are dear then wherever the source has them.
enum { FADE_SIDE = 3, FADE = 64, FLICKER = 40 };

// True if two costs differ by more than part / 1024 of the lesser one.
static int differ(uint64_t a, uint64_t b, int part) {
    const uint64_t least = a < b ? a : b;
    return 1024 * (a - least + b - least) > (uint64_t)part * least;
}

// True if the picture fades or flickers. before, after: pictures around *intra that are known.
static int fades(const uint64_t *intra, int before, int after) {
    const int from = -motus_min(before, FADE_SIDE), to = motus_min(after, FADE_SIDE);
    int rises = to > from, falls = rises;
    if (before && differ(intra[0], intra[-1], FLICKER)) return 1;
    if (after && differ(intra[0], intra[1], FLICKER)) return 1;
    for (int k = from; k < to; k++) {
        rises &= intra[k + 1] >= intra[k];
        falls &= intra[k + 1] <= intra[k];
    }
    return (rises || falls) && differ(intra[from], intra[to], FADE * (to - from) / (2 * FADE_SIDE));
}

// Returns the excess of *detail over the mean of the pictures up to `side` before and after it, or
// DULL if they are too different.
static int excess_of(const uint64_t *detail, int side) {
    uint64_t sum = 0, least = *detail, most = *detail;
    assert(side >= 0);
    for (int k = -side; k <= side; k++) {
        sum += detail[k];
        if (detail[k] < least) least = detail[k];
        if (detail[k] > most) most = detail[k];
    }
    if (!sum || 1024 * (most - least) > CHANGE * least) return DULL;
    return (int)(1024 * (uint64_t)(2 * side + 1) * *detail / sum) - 1024;
}

static int share_of(int peak, int from, int to) {
    return MOTUS_SHARPNESS_ONE * motus_clip(0, to - from, peak - from) / (to - from);
}

void motus_sharpness_signs(int *sign, const uint64_t *detail, const uint64_t *intra, int before,
                           int n, int n_mb) {
    enum { EARLIER = MOTUS_SHARPNESS_RANGE, MOST = EARLIER + MOTUS_B_WINDOW };
    const int first = -motus_min(before, EARLIER);
    int noise = NOISE;
    while (noise < MOTION && noise * noise * n_mb < NOISE_MB * NOISE_MB) noise++;
    int excess_at[MOST] = {0}, peak_at[MOST] = {0};
    int *excess = excess_at + EARLIER, *peak = peak_at + EARLIER;
    assert(n <= MOTUS_B_WINDOW && before >= 0 && before <= MOTUS_SHARPNESS_BEFORE);
    for (int i = first; i < n; i++) {
        const int side = motus_min(MOTUS_SHARPNESS_SIDE, motus_min(i + before, n - 1 - i));
        // B pictures that are references stand out from the next pictures only.
        const int near = excess_of(&detail[i], motus_min(side, 1)) * 3 / 2;
        const int is_peak = side == MOTUS_SHARPNESS_SIDE && detail[i] >= detail[i - 1] &&
                            detail[i] >= detail[i + 1];
        excess[i] = motus_min(excess_of(&detail[i], side), near);
        peak[i] = is_peak ? excess[i] : 0;
    }
    for (int i = 0; i < n; i++) {
        int nearest = 0;
        sign[i] = 0;
        if (fades(&intra[i], i + before, n - 1 - i)) continue;
        for (int k = motus_max(i - EARLIER, first); k <= motus_min(i + EARLIER, n - 1); k++)
            nearest = motus_max(nearest, share_of(peak[k], MOTION, CERTAIN));
        sign[i] = share_of(peak[i], noise, noise + RISE) -
                  nearest * motus_clip(0, DULL, DULL - excess[i]) / DULL;
    }
}
