// Lookahead: the same costs from plain C and any number of threads, MVs of known motion, cuts,
// still pictures, order and number of plans, QP offsets of referenced MBs.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/lookahead.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/log2_core.h"
#include "encoder/lookahead/b_costs.h"
#include "encoder/lookahead/lookahead_passes.h"
#include "tests/encoder/lookahead/pictures.h"
#include "tests/support/harness.h"

// ---- Fixed point --------------------------------------------------------------------------------

static void logarithms(void) {
    for (int i = 0; i < 20000; i++) {
        const uint64_t v =
            ((uint64_t)motus_test_random() << 32 | motus_test_random()) >> motus_test_range(0, 63);
        if (!v) continue;
        const double exact = log2((double)v) * MOTUS_OCTAVE;
        MOTUS_CHECK(fabs(motus_log2_q12(v) - exact) <= 2, "log2 %llu", (unsigned long long)v);
    }
    for (int x = -16 * MOTUS_OCTAVE; x < 40 * MOTUS_OCTAVE; x += motus_test_range(1, 999)) {
        const double exact = exp2((double)x / MOTUS_OCTAVE) * 65536;
        MOTUS_CHECK(fabs((double)motus_exp2_q16(x) - exact) <= 1 + exact * 2e-7, "2^%d", x);
    }
    CU_ASSERT_EQUAL(motus_log2_q12(1), 0);
    CU_ASSERT_EQUAL(motus_log2_q12(1u << 20), 20 * MOTUS_OCTAVE);
    CU_ASSERT_EQUAL(motus_exp2_q16(0), 65536);
}

// ---- Costs --------------------------------------------------------------------------------------

static void known_motion(void) {
    MotusPlane plane[2] = {plane_alloc(W, H), plane_alloc(W, H)};
    MotusHalfPicture half[2] = {half_alloc(MBW, MBH), half_alloc(MBW, MBH)};
    MotusMbCosts costs = costs_alloc(N_MB);
    int right = 0;
    for (int k = 0; k < 12; k++) {
        const int dx = motus_test_range(-9, 9), dy = motus_test_range(-9, 9);
        draw(&plane[0], k % 3, 0, 0);
        draw(&plane[1], k % 3, dx, dy);
        for (int i = 0; i < 2; i++) motus_half_build(&half[i], &plane[i], 1);
        motus_mb_costs(&costs, &half[1], &half[0], NULL, 1);
        for (int y = 1; y + 1 < MBH; y++)
            for (int x = 1; x + 1 < MBW; x++) {
                const MotusMv mv = costs.mv[y * MBW + x];
                right += mv.x == dx && mv.y == dy;
                MOTUS_CHECK(costs.inter[y * MBW + x] <= costs.intra[y * MBW + x],
                            "pan %d,%d at %d,%d", dx, dy, x, y);
            }
    }
    MOTUS_CHECK(right * 10 >= 8 * 12 * (MBW - 2) * (MBH - 2), "%d of %d", right,
                12 * (MBW - 2) * (MBH - 2));
    for (int i = 0; i < 2; i++) free(half[i].memory), free(plane[i].data);
    costs_free(&costs);
}

static int same_costs(const MotusMbCosts *a, const MotusMbCosts *b, int n) {
    return !memcmp(a->intra, b->intra, (size_t)n * 2) &&
           !memcmp(a->inter, b->inter, (size_t)n * 2) &&
           !memcmp(a->mv, b->mv, (size_t)n * sizeof *a->mv);
}

// Returns the detail of a plane in whole MBs, sample by sample.
static uint64_t detail_of(const MotusPlane *plane, int mb_width, int mb_height) {
    uint64_t sum = 0;
    for (int y = 0; y < 16 * mb_height; y++) {
        const uint8_t *row = plane->data + motus_min(y, plane->height - 1) * plane->stride;
        const int last = plane->width - 1;
        for (int x = 1; x <= 16 * mb_width; x++)
            sum += (uint64_t)abs(2 * row[motus_min(x, last)] - row[motus_min(x - 1, last)] -
                                 row[motus_min(x + 1, last)]);
    }
    return sum;
}

// Random pictures, sizes that are no multiples of 16, motion out of the picture.
static void versions_agree(void) {
    for (int k = 0; k < 30; k++) {
        const int width = motus_test_range(2, 150), height = motus_test_range(2, 100),
                  mbw = (width + 15) / 16, mbh = (height + 15) / 16, n = mbw * mbh;
        MotusPlane plane[2] = {plane_alloc(width, height), plane_alloc(width, height)};
        MotusHalfPicture half[2] = {half_alloc(mbw, mbh), half_alloc(mbw, mbh)};
        MotusMbCosts costs[3];
        for (int i = 0; i < 3; i++) costs[i] = costs_alloc(n);
        for (int i = 0; i < 2; i++) {
            if (k % 3)
                draw(&plane[i], k, 3 * i, -5 * i);
            else
                motus_test_fill(plane[i].data, (size_t)(width * height));
        }
        for (int version = 0; version < 3; version++) {
            if (version == 2) motus_test_cpu("c");
            for (int i = 0; i < 2; i++)
                MOTUS_CHECK(motus_half_build(&half[i], &plane[i], version == 1 ? 3 : 1) ==
                                detail_of(&plane[i], mbw, mbh),
                            "%dx%d: detail", width, height);
            motus_mb_costs(&costs[version], &half[1], &half[0], NULL, version == 1 ? 3 : 1);
            motus_test_cpu(NULL);
        }
        MOTUS_CHECK(same_costs(&costs[0], &costs[1], n), "%dx%d: threads", width, height);
        MOTUS_CHECK(same_costs(&costs[0], &costs[2], n), "%dx%d: plain C", width, height);
        for (int i = 0; i < 3; i++) costs_free(&costs[i]);
        for (int i = 0; i < 2; i++) free(half[i].memory), free(plane[i].data);
    }
}

// ---- Weights ------------------------------------------------------------------------------------

static MotusHalfWeight find_weight(MotusPlane plane[2], int threads) {
    MotusHalfPicture half = half_alloc(MBW, MBH);
    uint64_t sums[2][2];
    static int16_t small[2][4 * N_MB];
    for (int i = 0; i < 2; i++) {
        motus_half_build(&half, &plane[i], 1);
        motus_half_measure(&(MotusHalfStats){sums[i], small[i]}, &half, threads);
    }
    free(half.memory);
    return motus_half_find_weight(&(MotusHalfStats){sums[1], small[1]},
                                  &(MotusHalfStats){sums[0], small[0]}, MBW, MBH);
}

// A picture that becomes darker or brighter has a weight near its scale. A picture that moves has
// none.
static void weights(void) {
    MotusPlane plane[2] = {plane_alloc(W, H), plane_alloc(W, H)};
    for (int k = 0; k < 40; k++) {
        const int before = motus_test_range(20, 64), after = motus_test_range(20, 64);
        for (int i = 0; i < 2; i++) draw(&plane[i], k % 5, 3 * i, -2 * i);
        CU_ASSERT(!find_weight(plane, 1).is_used);
        draw(&plane[1], k % 5, 0, 0);
        fade(&plane[0], before), fade(&plane[1], after);
        const MotusHalfWeight w = find_weight(plane, 1), same = find_weight(plane, 3);
        CU_ASSERT(!memcmp(&w, &same, sizeof w));
        if (motus_abs(before - after) < 6) continue;
        const int scale = 64 * after / before, found = 64 * w.weight >> w.log2_denom;
        MOTUS_CHECK(w.is_used && motus_abs(found - scale) <= 4 + scale / 16, "%d / %d: %d for %d",
                    after, before, found, scale);
        for (int v = 0; v < 256; v++) { // dividing undoes the weight
            const MotusWeight weight = {w.weight, w.offset};
            const int there = motus_weighted_sample(v, weight, motus_max(1, w.log2_denom));
            if (!w.log2_denom || there == 0 || there == 255) continue;
            MOTUS_CHECK(motus_abs(motus_half_unweigh(there, &w, 1) - v) <= 1 + 64 / found,
                        "%d by %d", v, found);
        }
    }
    for (int i = 0; i < 2; i++) free(plane[i].data);
}

// ---- Plans --------------------------------------------------------------------------------------

static MotusLookaheadSettings settings_of(int depth) {
    return (MotusLookaheadSettings){.mb_width = MBW,
                                    .mb_height = MBH,
                                    .threads = 1,
                                    .depth = depth,
                                    .keyint = 250,
                                    .min_keyint = 3,
                                    .scenecut = 40,
                                    .mb_tree_q8 = 512};
}

typedef struct Plans {
    MotusLookaheadPlan plan[64], alone[64]; // alone: with keep_aq, AQ's
    int16_t offset[64][N_MB], aq[64][N_MB];
    int held[64], n; // held: pictures put before the plan came
} Plans;

static void put(MotusLookahead *look, const MotusPlane *luma, int force_idr) {
    const MotusFrame frame = {.width = W, .height = H, .plane = {*luma}};
    const MotusFrameSource source = {.frame = &frame};
    EXPECT_OK(motus_lookahead_put(look, &source, &force_idr, NULL));
}

// Plans a sequence that pans by a sample a picture; `scene` per picture, `force` is a forced IDR
// picture.
static void plan_all(Plans *out, const MotusLookaheadSettings *settings, const int *scene, int n,
                     int force) {
    MotusLookahead *look;
    MotusPlane plane = plane_alloc(W, H);
    int n_put = 0;
    out->n = 0;
    REQUIRE_OK(motus_lookahead_open(&look, settings, MOTUS_LOOKAHEAD_HOST, NULL));
    for (MotusStatus status = MOTUS_AGAIN; status != MOTUS_END;) {
        if (status == MOTUS_AGAIN && n_put < n) {
            draw(&plane, scene[n_put], n_put, 0);
            put(look, &plane, n_put == force);
            n_put++;
        } else if (status == MOTUS_AGAIN) {
            motus_lookahead_end(look);
        }
        status = motus_lookahead_get(look, &out->plan[out->n], out->offset[out->n], NULL);
        if (!status && settings->keep_aq) {
            out->alone[out->n] = out->plan[out->n];
            motus_lookahead_aq(look, &out->alone[out->n], out->aq[out->n]);
        }
        if (!status) out->held[out->n++] = n_put;
    }
    motus_lookahead_close(&look);
    free(plane.data);
}

static const int one_scene[64] = {0};

static void order_and_delay(void) {
    static const int depths[] = {0, 1, 2, 7, 30, 60};
    static Plans p;
    for (int d = 0; d < 6; d++) {
        const MotusLookaheadSettings s = settings_of(depths[d]);
        plan_all(&p, &s, one_scene, 24, -1);
        CU_ASSERT_EQUAL(p.n, 24);
        for (int i = 0; i < p.n; i++) {
            CU_ASSERT_EQUAL(p.plan[i].number, i);
            CU_ASSERT_EQUAL(p.plan[i].idr, i == 0);
            CU_ASSERT_EQUAL(p.held[i], i + 1 + depths[d] < 24
                                           ? i + 1 + depths[d]
                                           : 24); // exactly the stated number of pictures
        }
    }
}

static void cuts(void) {
    static const int scene[40] = {
        [12] = 1, [13] = 1, [14] = 1, [15] = 1, [16] = 1, [17] = 1, [18] = 1, [19] = 1,
        [20] = 2, [21] = 3, [22] = 3, [23] = 3, [24] = 3, [25] = 3, [26] = 3, [27] = 3};
    static Plans p;
    MotusLookaheadSettings s = settings_of(10);
    plan_all(&p, &s, scene, 40, -1);
    for (int i = 0; i < 40; i++)
        MOTUS_CHECK(p.plan[i].idr == (i == 0 || i == 12 || i == 20 || i == 28), "picture %d", i);
    s.scenecut = 0; // the stated limit of pictures, and a forced IDR picture
    s.keyint = 9;
    plan_all(&p, &s, scene, 40, 5);
    for (int i = 0; i < 40; i++) {
        MOTUS_CHECK(p.plan[i].idr == (i == 0 || (i >= 5 && (i - 5) % 9 == 0)), "picture %d", i);
        CU_ASSERT_EQUAL(p.plan[i].forced, i == 5);
    }
}

// Without AQ the last picture of a GOP has no offsets and those before it have negative ones; an
// IDR picture ends the chain.
static void offsets_lean_back(void) {
    static Plans p, alone;
    const MotusLookaheadSettings s = settings_of(20);
    plan_all(&p, &s, one_scene, 30, 10);
    plan_all(&alone, &s, one_scene, 10, -1);
    CU_ASSERT(!memcmp(p.offset, alone.offset,
                      sizeof p.offset[0] * 10)); // a GOP's plans do not depend on later GOPs
    CU_ASSERT_EQUAL(p.plan[9].mean, 0);
    CU_ASSERT_EQUAL(p.plan[29].mean, 0);
    for (int i = 0; i < 8; i++) {
        CU_ASSERT(p.plan[i].mean < p.plan[i + 1].mean + 64);
        CU_ASSERT(p.plan[i].mean < -MOTUS_QP_UNIT);
        CU_ASSERT(p.plan[i].weighted > p.plan[i].cost);
    }
    for (int i = 0; i < 30; i++)
        for (int k = 0; k < N_MB; k++) MOTUS_CHECK(p.offset[i][k] <= 0, "picture %d MB %d", i, k);
}

// Offsets of AQ alone are those without mb-tree.
static void aq_apart(void) {
    static const int scene[40] = {[12] = 1, [13] = 1, [14] = 1};
    static Plans p, without;
    MotusLookaheadSettings s = settings_of(9);
    s.aq_mode = MOTUS_AQ_AUTO, s.aq_strength_q8 = 300;
    s.keep_aq = 1;
    plan_all(&p, &s, scene, 40, 5);
    s.keep_aq = s.mb_tree_q8 = 0;
    plan_all(&without, &s, scene, 40, 5);
    CU_ASSERT(p.n == 40 && without.n == 40);
    for (int i = 0; i < 40; i++) {
        const MotusLookaheadPlan *a = &p.alone[i], *b = &without.plan[i];
        MOTUS_CHECK(!memcmp(p.aq[i], without.offset[i], sizeof p.aq[i]) && a->mean == b->mean &&
                        (a->idr || a->weighted == b->weighted),
                    "picture %d", i);
    }
}

// Mini-GOPs end with their GOP, are as long as they may be at most, and known 12 pictures later, or
// 16 with the longest ones; a GOP's do not depend on other GOPs.
static void mini_gops(void) {
    static Plans p, alone;
    for (int span = 2; span <= MOTUS_B_SPAN; span++)
        for (int depth = 0; depth <= 20; depth += 5) {
            MotusLookaheadSettings s = settings_of(depth);
            s.b_pyramid = depth / 5 % 2;
            s.b_span = s.b_pyramid ? span : motus_min(span, MOTUS_B_FLAT_SPAN);
            plan_all(&p, &s, one_scene, 30, 10);
            plan_all(&alone, &s, one_scene, 10, -1);
            CU_ASSERT(p.n == 30 && alone.n == 10);
            for (int i = 0, run = 0, any = 0; i < 30; i++) {
                run = p.plan[i].b ? run + 1 : 0;
                any |= run;
                CU_ASSERT(run < span);
                if (i == 0 || i == 9 || i == 10 || i == 29) CU_ASSERT(!p.plan[i].b);
                if (i < 10) CU_ASSERT_EQUAL(p.plan[i].b, alone.plan[i].b);
                const int after = motus_max(depth, motus_max(12, 2 * s.b_span));
                CU_ASSERT(p.held[i] <= (i + 1 + after < 30 ? i + 1 + after : 30));
                if (i == 29) CU_ASSERT(any);
            }
        }
}

// Without AQ B pictures that are no references have no offsets; middle ones have.
static void offsets_of_mini_gops(void) {
    static Plans p;
    MotusLookaheadSettings s = settings_of(20);
    s.b_span = 4;
    for (s.b_pyramid = 0; s.b_pyramid < 2; s.b_pyramid++) {
        int n = 0, references = 0;
        plan_all(&p, &s, one_scene, 30, 30);
        for (int i = 0; i < 30; i++) {
            n = p.plan[i].b ? n + 1 : 0;
            references += p.plan[i].b && p.plan[i].mean;
            if (i && !p.plan[i].b && i < 20) CU_ASSERT(p.plan[i].mean < 0);
            if (n == 1 && !p.plan[i + 1].b) CU_ASSERT_EQUAL(p.plan[i].mean, 0);
            if (n == 3) CU_ASSERT(!p.plan[i].mean && !p.plan[i - 2].mean);
        }
        CU_ASSERT(s.b_pyramid ? references > 0 : references == 0);
    }
}

// Adds an amount to the MBs under 16x16 samples, each by the share of them that it covers.
static void spread_by_samples(uint64_t *to, uint64_t amount, int x, int y) {
    int under[N_MB] = {0};
    for (int i = 0; i < 256; i++) {
        const int u = x + i % 16, v = y + i / 16;
        if (u >= 0 && v >= 0 && u < 16 * MBW && v < 16 * MBH) under[v / 16 * MBW + u / 16]++;
    }
    for (int i = 0; i < N_MB; i++) to[i] += amount * (uint64_t)under[i] >> 8;
}

// Amounts go to the reference with the lower cost, by halves to both if that is cheaper.
static void amounts_of_two_references(void) {
    for (int round = 0; round < 40; round++) {
        uint16_t intra[N_MB], cost[2][N_MB], both[N_MB];
        MotusMv mv[2][N_MB];
        uint64_t propagated[N_MB], got[2][N_MB] = {{0}}, want[2][N_MB] = {{0}};
        for (int i = 0; i < N_MB; i++) {
            intra[i] = (uint16_t)motus_test_range(1, 9000);
            propagated[i] = (uint64_t)motus_test_range(0, 1 << motus_test_range(0, 30));
            if (!motus_test_range(0, 9)) propagated[i] <<= 10;
            for (int k = 0; k < 2; k++) {
                cost[k][i] = (uint16_t)motus_test_range(0, intra[i]);
                mv[k][i] = (MotusMv){(int16_t)motus_test_range(-70, 70),
                                     (int16_t)motus_test_range(-70, 70)};
            }
            const int least = cost[0][i] < cost[1][i] ? cost[0][i] : cost[1][i];
            both[i] = (uint16_t)motus_test_range(motus_test_range(0, 1) ? least : 0, least);
            const int uses = round % 4 == 3            ? 1
                             : both[i] < least         ? 3
                             : cost[1][i] < cost[0][i] ? 2
                                                       : 1,
                      inter = uses == 3 ? both[i] : cost[uses - 1][i];
            uint64_t amount =
                (intra[i] + (propagated[i] < UINT32_MAX ? propagated[i] : UINT32_MAX)) *
                (uint64_t)(intra[i] - inter) / intra[i];
            if (uses == 3) amount /= 2;
            for (int k = 0; k < 2; k++)
                if (uses >> k & 1)
                    spread_by_samples(want[k], amount, i % MBW * 16 + mv[k][i].x,
                                      i / MBW * 16 + mv[k][i].y);
        }
        const MotusTreePicture picture = {
            intra, {cost[0], cost[1]}, {mv[0], mv[1]}, round % 4 == 3 ? NULL : both, NULL};
        uint64_t *const to[2] = {round % 4 == 1 ? NULL : got[0], round % 4 == 2 ? NULL : got[1]};
        motus_mb_tree_propagate(to, propagated, &picture, MBW, MBH);
        for (int i = 0; i < 2 * N_MB; i++) {
            const uint64_t sum = to[i / N_MB] ? want[i / N_MB][i % N_MB] : 0;
            MOTUS_CHECK(got[i / N_MB][i % N_MB] == sum, "round %d, list %d, MB %d", round, i / N_MB,
                        i % N_MB);
        }
    }
}

static void still_pictures(void) {
    MotusLookahead *look;
    MotusPlane plane = plane_alloc(W, H);
    MotusLookaheadSettings s = settings_of(15);
    int16_t offset[N_MB];
    MotusLookaheadPlan plan;
    draw(&plane, 1, 0, 0);
    REQUIRE_OK(motus_lookahead_open(&look, &s, MOTUS_LOOKAHEAD_HOST, NULL));
    for (int i = 0; i < 16; i++) put(look, &plane, 0);
    REQUIRE_OK(motus_lookahead_get(look, &plan, offset, NULL));
    for (int k = 0; k < N_MB; k++)
        MOTUS_CHECK(offset[k] < -5 * MOTUS_QP_UNIT, "MB %d: %d", k,
                    offset[k]); // 15 pictures reference it
    uint64_t cost[32];
    uint8_t idr[32];
    int ended = 1;
    CU_ASSERT_EQUAL(motus_lookahead_costs(look, cost, idr, 32, &ended), 15);
    for (int i = 0; i < 15; i++) CU_ASSERT(!idr[i] && cost[i] * 20 < plan.intra);
    CU_ASSERT(!ended);
    motus_lookahead_close(&look);
    free(plane.data);
}

static void variance(void) {
    MotusPlane plane = plane_alloc(W, H);
    int16_t offset[2][N_MB];
    draw(&plane, 0, 0, 0);
    for (int y = 0; y < H; y++) // left half flat
        for (int x = 0; x < W / 2; x++) plane.data[y * W + x] = (uint8_t)(100 + (x + y) % 2);
    for (int threads = 1; threads < 4; threads += 2)
        for (int mode = MOTUS_AQ_VARIANCE; mode <= MOTUS_AQ_AUTO; mode++) {
            int64_t sum = 0;
            motus_aq_offsets(offset[threads / 2], &plane, MBW, MBH, (MotusAqMode)mode, 256,
                             threads);
            for (int i = 0; i < N_MB; i++) sum += offset[threads / 2][i];
            CU_ASSERT(offset[threads / 2][0] < -MOTUS_QP_UNIT);
            CU_ASSERT(offset[threads / 2][MBW - 1] > offset[threads / 2][0] + 3 * MOTUS_QP_UNIT);
            if (mode == MOTUS_AQ_AUTO) CU_ASSERT(llabs(sum) < 2 * N_MB);
        }
    CU_ASSERT(!memcmp(offset[0], offset[1], sizeof offset[0]));
    free(plane.data);
}

// Returns how much coarser than the first MB the last one of the first row is.
static int gap(const MotusPlane *plane, MotusAqMode mode) {
    int16_t offset[N_MB];
    motus_aq_offsets(offset, plane, MBW, MBH, mode, 64, 1);
    return offset[MBW - 1] - offset[0];
}

// Mode 2 has its whole strength in pictures full of detail, less of it in flat ones.
static void flat_pictures(void) {
    MotusPlane plane = plane_alloc(W, H);
    draw(&plane, 0, 0, 0);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < 16; x++) plane.data[y * W + x] = 100;
    CU_ASSERT_EQUAL(gap(&plane, MOTUS_AQ_AUTO), gap(&plane, MOTUS_AQ_VARIANCE));
    for (int y = 0; y < H; y++)
        for (int x = 16; x < W - 16; x++) plane.data[y * W + x] = 100;
    const int automatic = gap(&plane, MOTUS_AQ_AUTO), fixed = gap(&plane, MOTUS_AQ_VARIANCE);
    MOTUS_CHECK(fixed > 4 * automatic / 3 && fixed < 4 * automatic, "%d, %d", automatic, fixed);
    free(plane.data);
}

MOTUS_SUITE("lookahead", TEST(logarithms), TEST(known_motion), TEST(versions_agree), TEST(weights),
            TEST(order_and_delay), TEST(cuts), TEST(offsets_lean_back), TEST(aq_apart),
            TEST(mini_gops), TEST(offsets_of_mini_gops), TEST(amounts_of_two_references),
            TEST(still_pictures), TEST(variance), TEST(flat_pictures))
