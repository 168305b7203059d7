// Costs of mini-GOPs: B pictures' fields and costs sample by sample, lengths by trying everything.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/int_core.h"
#include "encoder/lookahead/b_costs.h"
#include "encoder/lookahead/b_order.h"
#include "me/pixel/pixel_core.h"
#include "tests/encoder/lookahead/pictures.h"
#include "tests/support/harness.h"

enum { SPAN = MOTUS_B_SPAN };

typedef struct Chain { // of a picture and those before it, nearest first
    MotusBPicture picture[SPAN + 1];
    MotusMbCosts costs[SPAN + 1];
    MotusHalfStats stats[SPAN + 1];
    MotusHalfWeight weight[SPAN + 1][SPAN];
    int n_mb, span, pyramid;
} Chain;

static MotusBField field_alloc(int n) {
    return (MotusBField){malloc((size_t)n * sizeof(MotusMv)), malloc((size_t)n * 2)};
}

// keeps: costs between two references are kept by MB. weights: references have weights.
static void chain_open(Chain *c, int width, int height, int keeps, int weights) {
    const int mbw = (width + 15) / 16, mbh = (height + 15) / 16, n = c->n_mb = mbw * mbh;
    for (int d = 0; d <= SPAN; d++) {
        MotusBPicture *p = &c->picture[d];
        p->half = half_alloc(mbw, mbh);
        c->costs[d] = costs_alloc(n);
        p->intra = c->costs[d].intra;
        p->weight = weights ? c->weight[d] : NULL;
        c->stats[d] = (MotusHalfStats){malloc(2 * sizeof(uint64_t)), malloc((size_t)n * 8)};
        p->earlier[0] = (MotusBField){c->costs[d].mv, c->costs[d].inter};
        for (int i = 1; i < SPAN; i++) p->earlier[i] = field_alloc(n);
        for (int i = 0; i < SPAN - 1; i++) p->later[i] = field_alloc(n);
        for (int i = 0; i < MOTUS_B_PAIRS && keeps; i++) p->between[i] = malloc((size_t)n * 2);
    }
}

static void chain_close(Chain *c) {
    for (int d = 0; d <= SPAN; d++) {
        MotusBPicture *p = &c->picture[d];
        free(p->half.memory);
        costs_free(&c->costs[d]);
        free(c->stats[d].sums), free(c->stats[d].small);
        for (int i = 1; i < SPAN; i++) free(p->earlier[i].mv), free(p->earlier[i].cost);
        for (int i = 0; i < SPAN - 1; i++) free(p->later[i].mv), free(p->later[i].cost);
        for (int i = 0; i < MOTUS_B_PAIRS; i++) free(p->between[i]);
    }
}

// Analyses the pictures from the first one on, as the lookahead does; costs of the last one.
static MotusBCosts chain_run(Chain *c, const MotusPlane *plane, int threads) {
    MotusBCosts costs = {{0}, {0}};
    for (int k = 0; k <= SPAN; k++) { // picture k of the sequence is SPAN - k before the last one
        MotusBPicture *p = &c->picture[SPAN - k];
        const MotusBPicture *list[SPAN + 1];
        motus_half_build(&p->half, &plane[k], threads);
        motus_half_measure(&c->stats[SPAN - k], &p->half, threads);
        for (int d = 1; d <= k; d++)
            c->weight[SPAN - k][d - 1] = motus_half_find_weight(
                &c->stats[SPAN - k], &c->stats[SPAN - k + d], p->half.mb_width, p->half.mb_height);
        motus_mb_costs(&c->costs[SPAN - k], &p->half, k ? &p[1].half : NULL, p->weight, threads);
        for (int d = 0; d <= k; d++) list[d] = p + d;
        motus_b_costs(&costs, list, motus_min(k, c->span), c->pyramid, threads);
    }
    return costs;
}

static uint32_t satd(const uint8_t *a, const uint8_t *b, ptrdiff_t a_stride, ptrdiff_t b_stride) {
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++) {
        const int x = 4 * (i & 1), y = 4 * (i >> 1);
        sum += motus_satd4x4(a + y * a_stride + x, a_stride, b + y * b_stride + x, b_stride);
    }
    return sum;
}

// Returns the cost of MB i as a field has it, from its MV.
static uint32_t cost_by_mv(const MotusBSearch *s, int i) {
    const int x = i % s->cur.mb_width, y = i / s->cur.mb_width;
    const MotusMv mv = s->field.mv[i];
    const MotusHalfWeight w = s->weight ? *s->weight : motus_half_no_weight();
    uint8_t source[64];
    for (int k = 0; k < 64; k++)
        source[k] = (uint8_t)motus_half_unweigh(
            s->cur.plane[0][(8 * y + k / 8) * s->cur.stride + 8 * x + k % 8], &w, 1);
    const uint32_t error =
        satd(source, motus_lookahead_at(&s->ref, 8 * x, 8 * y, mv), 8, s->ref.stride);
    const uint32_t inter = error * (uint32_t)w.weight / (1u << w.log2_denom) +
                           motus_lookahead_mv_cost(mv, motus_b_predictor(s, x, y));
    return inter < s->intra[i] ? inter : s->intra[i];
}

static void check_costs(const MotusBSearch *s, const char *what) {
    for (int i = 0; i < s->cur.mb_width * s->cur.mb_height; i++)
        MOTUS_CHECK(s->field.cost[i] == cost_by_mv(s, i), "%s %d: MB %d", what, s->d, i);
}

// Returns the cost of a B picture sample by sample.
static uint64_t b_cost_of(const Chain *c, int earlier, int d) {
    const MotusBPicture *p = c->picture, *cur = &p[d];
    const MotusBField *a = &cur->earlier[earlier - d - 1], *b = &cur->later[d - 1];
    const int width = cur->half.mb_width;
    uint64_t sum = 0;
    for (int i = 0; i < c->n_mb; i++) {
        const int x = 8 * (i % width), y = 8 * (i / width);
        const uint8_t *u = motus_lookahead_at(&p[earlier].half, x, y, a->mv[i]),
                      *v = motus_lookahead_at(&p[0].half, x, y, b->mv[i]);
        uint8_t mean[64];
        for (int k = 0; k < 64; k++) {
            const ptrdiff_t at = k / 8 * cur->half.stride + k % 8;
            mean[k] = (uint8_t)((u[at] + v[at] + 1) / 2);
        }
        const uint8_t *source = cur->half.plane[0] + y * cur->half.stride + x;
        uint32_t cost = satd(source, mean, cur->half.stride, 8) + 2 * 4, alone = a->cost[i];
        if (cur->weight && cur->weight[earlier - d - 1].is_used) {
            const MotusMv left = x ? a->mv[i - 1] : (MotusMv){0, 0};
            alone = satd(source, u, cur->half.stride, cur->half.stride) +
                    motus_lookahead_mv_cost(a->mv[i], left);
            if (cur->intra[i] < alone) alone = cur->intra[i];
        }
        if (alone < cost) cost = alone;
        if (b->cost[i] < cost) cost = b->cost[i];
        const uint16_t *kept = cur->between[motus_b_pair(earlier - d, d)];
        MOTUS_CHECK(!kept || kept[i] == cost, "MB %d between %d and %d", i, earlier - d, d);
        sum += cost;
    }
    return sum;
}

// The middle one of a mini-GOP of n pictures is (n + 1) / 2 before its P picture.
static void check_chain(const Chain *c, const MotusBCosts *costs) {
    const MotusBPicture *p = c->picture;
    const int span = c->span, farthest = c->pyramid ? (span + 1) / 2 : span - 1;
    for (int d = 2; d <= span; d++)
        check_costs(&(MotusBSearch){.cur = p[0].half,
                                    .ref = p[d].half,
                                    .intra = p[0].intra,
                                    .field = p[0].earlier[d - 1],
                                    .d = d,
                                    .first = p[0].earlier[0].mv,
                                    .rest = p[1].earlier[d - 2].mv,
                                    .weight = p[0].weight ? &p[0].weight[d - 1] : NULL},
                    "earlier");
    for (int d = 1; d <= farthest; d++)
        check_costs(&(MotusBSearch){.cur = p[d].half,
                                    .ref = p[0].half,
                                    .intra = p[d].intra,
                                    .field = p[d].later[d - 1],
                                    .d = d,
                                    .back = p[0].earlier[d - 1].mv},
                    "later");
    for (int n = 1; n <= span; n++) {
        uint64_t b = 0, sum = 0;
        for (int d = 1; d < n; d++)
            if (!c->pyramid || d == (n + 1) / 2 || n == 2) b += b_cost_of(c, n, d);
        for (int i = 0; i < c->n_mb; i++) sum += p[0].earlier[n - 1].cost[i];
        CU_ASSERT_EQUAL(costs->p[n - 1], sum);
        CU_ASSERT_EQUAL(costs->b[n - 1], b);
    }
}

// Random pictures, moving ones and fades of any size: costs by their definition, from any number of
// threads and from plain C.
static void mini_gop_costs(void) {
    int used = 0;
    for (int k = 0; k < 24; k++) {
        const int width = motus_test_range(2, 150), height = motus_test_range(2, 100);
        MotusPlane plane[SPAN + 1];
        MotusBCosts costs[3];
        Chain chain = {.span = k / 2 % 2 ? SPAN : MOTUS_B_FLAT_SPAN, .pyramid = k / 2 % 2};
        for (int i = 0; i <= SPAN; i++) {
            plane[i] = plane_alloc(width, height);
            if (k % 3)
                draw(&plane[i], k, (k % 12 - 4) * i, -5 * i),
                    fade(&plane[i], k < 12 ? 64 : 20 + 5 * i);
            else
                motus_test_fill(plane[i].data, (size_t)(width * height));
        }
        chain_open(&chain, width, height, k % 2, k >= 6);
        for (int version = 0; version < 3; version++) {
            if (version == 2) motus_test_cpu("c");
            costs[version] = chain_run(&chain, plane, version == 1 ? 3 : 1);
            motus_test_cpu(NULL);
        }
        CU_ASSERT(!memcmp(&costs[0], &costs[1], sizeof *costs));
        CU_ASSERT(!memcmp(&costs[0], &costs[2], sizeof *costs));
        check_chain(&chain, &costs[0]);
        for (int d = 1; d <= SPAN; d++) used += chain.weight[0][d - 1].is_used && k >= 12 && k % 3;
        chain_close(&chain);
        for (int i = 0; i <= SPAN; i++) free(plane[i].data);
    }
    MOTUS_CHECK(used > 4 * SPAN, "%d weights in fades", used);
}

// Returns the weighted cost of the B pictures between pictures `from` and `to`, numbered from 1, as
// b_costs.c weighs them.
static uint64_t weigh_between(const MotusBCosts *costs, int from, int to, int is_part) {
    const uint64_t b = costs[to - 1].b[to - from - 1];
    const int middle = (from + to) / 2;
    if (to - from < 2) return 0;
    if (to - from == 2) return b * (is_part ? 172 : 160);
    return 154 * b + weigh_between(costs, from, middle, 1) + weigh_between(costs, middle, to, 1);
}

// Pictures that are divided into mini-GOPs.
typedef struct Lengths {
    MotusBCosts costs[MOTUS_B_WINDOW];
    uint64_t intra[MOTUS_B_WINDOW];
    int sharp[MOTUS_B_WINDOW];
    int span, pyramid;
} Lengths;

// Returns the cost of the d pictures that end with picture n.
static int64_t weigh(const Lengths *l, int n, int d) {
    const MotusBCosts *end = &l->costs[n - 1];
    const int64_t intra = (int64_t)l->intra[n - 1], p = 100 * (int64_t)end->p[d - 1],
                  alone = (int64_t)end->p[0],
                  run = d > 1 || alone >= intra ? 0 : 20 * (alone * (intra - alone) / intra),
                  saving = 20 * intra * l->sharp[n - 1] / 256;
    if (!l->pyramid) return p + 83 * (int64_t)end->b[d - 1] - saving;
    return p + 16 * intra + run + (int64_t)weigh_between(l->costs, n - d, n, 0) - saving;
}

// Returns the least cost of n pictures by trying everything. *length: the first mini-GOP of the
// way that is found first, shortest last mini-GOPs first.
static int64_t try_all(const Lengths *l, int n, int *length) {
    int64_t least = n ? INT64_MAX : 0;
    for (int d = 1; d <= l->span && d <= n; d++) {
        int first = d;
        const int64_t cost = try_all(l, n - d, &first) + weigh(l, n, d);
        if (cost < least) least = cost, *length = n == d ? d : first;
    }
    return least;
}

static void lengths(void) {
    for (int round = 0; round < 2000; round++) {
        Lengths l;
        const int n = motus_test_range(1, 12), most = round % 2 ? 9 : 10000;
        l.span = motus_test_range(2, SPAN);
        for (int i = 0; i < n; i++) {
            l.intra[i] = (uint64_t)motus_test_range(0, 3 * most);
            l.sharp[i] = motus_test_range(-MOTUS_SHARPNESS_ONE, MOTUS_SHARPNESS_ONE);
            for (int d = 0; d < SPAN; d++) {
                l.costs[i].p[d] = (uint64_t)motus_test_range(0, most) + 50 * d;
                l.costs[i].b[d] = (uint64_t)motus_test_range(0, most) * (round % 3 ? 1 : d);
            }
        }
        for (l.pyramid = 0; l.pyramid < 2; l.pyramid++) {
            int want = 0;
            try_all(&l, n, &want);
            MOTUS_CHECK(motus_b_length(l.costs, l.intra, l.sharp, n, l.span, l.pyramid) == want,
                        "%d pictures, span %d, pyramid %d", n, l.span, l.pyramid);
        }
    }
}

// ---- Sharpness ----------------------------------------------------------------------------------

// Detail of pictures that were coded with B pictures between every third one, with a drift.
static void fill_detail(uint64_t *detail, int n, int noise) {
    for (int i = 0; i < n; i++)
        detail[i] =
            (uint64_t)(1000000 + 3000 * i + (i % 3 ? 0 : 60000) + motus_test_range(-noise, noise));
}

static void sharpness(void) {
    enum { N = MOTUS_B_WINDOW, BEFORE = MOTUS_SHARPNESS_BEFORE };
    uint64_t detail[BEFORE + N], intra[BEFORE + N];
    int sign[N];
    for (int i = 0; i < BEFORE + N; i++) intra[i] = (uint64_t)(1000000 + motus_test_range(0, 9000));
    for (int noise = 0; noise <= 5000; noise += 1000) {
        fill_detail(detail, BEFORE + N, noise);
        motus_sharpness_signs(sign, detail + BEFORE, intra + BEFORE, BEFORE, N, 1000);
        for (int i = 0; i < N - MOTUS_SHARPNESS_SIDE; i++)
            MOTUS_CHECK((sign[i] > 0) == !((i + BEFORE) % 3), "noise %d: %d at %d", noise, sign[i],
                        i);
    }
    for (int round = 0; round < 100; round++) { // never coded
        for (int i = 0; i < BEFORE + N; i++)
            detail[i] = (uint64_t)(1000000 + 9000 * i + motus_test_range(-4000, 4000));
        motus_sharpness_signs(sign, detail + BEFORE, intra + BEFORE, BEFORE, N, 1000);
        for (int i = 0; i < N; i++) CU_ASSERT_EQUAL(sign[i], 0);
    }
    for (int i = 0; i < BEFORE + N; i++) detail[i] = i == 9 ? 0 : 1000000; // a black picture
    motus_sharpness_signs(sign, detail + BEFORE, intra + BEFORE, BEFORE, N, 1000);
    for (int i = 0; i < N; i++) CU_ASSERT_EQUAL(sign[i], 0);
    memset(detail, 0, sizeof detail);
    for (int before = 0; before <= BEFORE; before++)
        for (int n = 1; n <= N; n++) {
            motus_sharpness_signs(sign, detail + before, intra + before, before, n, 1000);
            for (int i = 0; i < n; i++) CU_ASSERT_EQUAL(sign[i], 0);
        }
}

// Pictures that fade, or flicker, are not judged; those before the fade are.
static void fades(void) {
    enum { N = MOTUS_B_WINDOW, BEFORE = MOTUS_SHARPNESS_BEFORE };
    uint64_t detail[BEFORE + N], intra[BEFORE + N];
    int sign[N];
    fill_detail(detail, BEFORE + N, 0);
    for (int flickers = 0; flickers < 2; flickers++)
        for (int way = -1; way <= 1; way += 2) {
            for (int i = 0; i < BEFORE + N; i++) {
                const int since = motus_max(0, i - BEFORE - 8);
                intra[i] =
                    (uint64_t)(1000000 + way * (flickers ? since % 2 * 60000 : since * 12000));
            }
            motus_sharpness_signs(sign, detail + BEFORE, intra + BEFORE, BEFORE, N, 1000);
            CU_ASSERT_TRUE(sign[1] > 0 && sign[4] > 0 && sign[2] < 0);
            for (int i = 12; i < N; i++) CU_ASSERT_EQUAL(sign[i], 0);
        }
}

// ---- Order --------------------------------------------------------------------------------------

// Every B picture comes once, behind its references, which are the nearest ones of those that were
// coded before it. Levels count the references that it lies between.
static void order(void) {
    for (int levels = 0; levels < 4; levels++)
        for (int n = 1; n <= MOTUS_MAX_BFRAMES + 1; n++) {
            MotusBPlace place[MOTUS_MAX_BFRAMES];
            int is_coded[MOTUS_MAX_BFRAMES + 2] = {1}, level[MOTUS_MAX_BFRAMES + 2] = {0};
            is_coded[n] = 1; // 0 and n: P pictures; B picture i is shown at 1 + i
            motus_b_order(place, n, levels);
            for (int i = 0; i < n - 1; i++) {
                const MotusBPlace *p = &place[i];
                const int at = 1 + p->at;
                int before = at - 1, after = at + 1;
                CU_ASSERT_FATAL(at > 0 && at < n && !is_coded[at] && !level[at]);
                while (!is_coded[before]) before--;
                while (!is_coded[after]) after++;
                const int above = motus_max(level[before], level[after]);
                MOTUS_CHECK(at - before == p->before && after - at == p->after, "%d of %d", at, n);
                MOTUS_CHECK(p->level == above + 1, "%d of %d: level %d", at, n, p->level);
                MOTUS_CHECK(p->is_reference == (p->level <= levels && after - before > 2),
                            "%d of %d", at, n);
                if (p->is_reference) CU_ASSERT_EQUAL(at, (before + after) / 2);
                level[at] = p->level;
                is_coded[at] = p->is_reference;
            }
        }
}

// Counts pictures that are coded before and shown after another one.
static void reorder(void) {
    const int want[] = {0, 1, 1, 2, 2, 2, 2, 3, 3}; // of two levels, by B pictures
    for (int b = 0; b <= 8; b++) {
        CU_ASSERT_EQUAL(motus_b_reorder(b, 0), b > 0);
        CU_ASSERT_EQUAL(motus_b_reorder(b, 1), b > 2 ? 2 : b > 0);
        CU_ASSERT_EQUAL(motus_b_reorder(b, 2), want[b]);
    }
    CU_ASSERT_EQUAL(motus_b_reorder(MOTUS_MAX_BFRAMES, MOTUS_B_LEVELS), 3);
}

MOTUS_SUITE("mini_gop", TEST(mini_gop_costs), TEST(lengths), TEST(sharpness), TEST(fades),
            TEST(order), TEST(reorder))
