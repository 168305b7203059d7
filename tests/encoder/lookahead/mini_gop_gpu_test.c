// Costs of mini-GOPs: fields and costs of B pictures are the CPU's.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/b_costs.h"
#include "encoder/lookahead/lookahead_passes_cuda.h"
#include "tests/encoder/lookahead/pictures.h"
#include "tests/gpu/sequence.h"

enum { SPAN = MOTUS_B_SPAN };

// Memory that both sides read.
static void *shared(size_t bytes) {
    void *at = NULL;
    GPU_OK(cudaMallocManaged(&at, bytes, cudaMemAttachGlobal));
    CU_ASSERT_FATAL(at != NULL);
    return at;
}

// The last SPAN + 1 pictures, nearest first; fields of either side.
typedef struct Chain {
    MotusBPicture picture[2][SPAN + 1];
    MotusMbCosts costs[SPAN + 1];
    MotusHalfStats stats[2][SPAN + 1];
    MotusHalfWeight *weight[2][SPAN + 1];
    uint8_t *memory;
    size_t n;
} Chain;

static void chain_open(Chain *c, int width, int height) {
    const int mbw = (width + 15) / 16, mbh = (height + 15) / 16;
    const size_t n = ((size_t)(mbw * mbh) + 3) / 4 * 4, half = motus_half_bytes(mbw, mbh),
                 fields = 2 * n * sizeof(MotusMv) + 4 * n, // of two fields, or of costs
        stats = 2 * sizeof(uint64_t) + 8 * n + SPAN * sizeof(MotusHalfWeight);
    c->n = (size_t)(mbw * mbh);
    uint8_t *at = c->memory =
        shared((SPAN + 1) * (half + fields * (2 * SPAN + 1) + 4 * n * MOTUS_B_PAIRS + 2 * stats));
    for (int d = 0; d <= SPAN; d++, at += half)
        for (int on = 0; on < 2; on++) motus_half_layout(&c->picture[on][d].half, at, mbw, mbh);
    for (int d = 0; d <= SPAN; d++) {
        c->costs[d] = (MotusMbCosts){(uint16_t *)at, (uint16_t *)at + n, (MotusMv *)at + n,
                                     (MotusMv *)at + 2 * n};
        at += fields;
        for (int on = 0; on < 2; on++) {
            MotusBPicture *p = &c->picture[on][d];
            p->intra = c->costs[d].intra;
            p->weight = NULL;
            p->earlier[0] = (MotusBField){c->costs[d].mv, c->costs[d].inter};
            for (int i = 1; i < SPAN; i++, at += fields / 2)
                p->earlier[i] = (MotusBField){(MotusMv *)at, (uint16_t *)((MotusMv *)at + n)};
            for (int i = 0; i < SPAN - 1; i++, at += fields / 2)
                p->later[i] = (MotusBField){(MotusMv *)at, (uint16_t *)((MotusMv *)at + n)};
            for (int i = 0; i < MOTUS_B_PAIRS; i++, at += 2 * n) p->between[i] = (uint16_t *)at;
        }
    }
    for (int d = 0; d <= SPAN; d++)
        for (int on = 0; on < 2; on++, at += stats) {
            c->stats[on][d].sums = memset(at, 0, 2 * sizeof(uint64_t));
            c->stats[on][d].small = (int16_t *)(c->stats[on][d].sums + 2);
            c->weight[on][d] = (MotusHalfWeight *)(c->stats[on][d].small + 4 * n);
        }
}

static int same_field(const MotusBField *a, const MotusBField *b, size_t n) {
    return !memcmp(a->mv, b->mv, n * sizeof *a->mv) && !memcmp(a->cost, b->cost, n * 2);
}

static void compare_chain(const Chain *c, int span, int pyramid, const char *what) {
    const MotusBPicture *a = c->picture[0], *b = c->picture[1];
    for (int d = 2; d <= span; d++)
        MOTUS_CHECK(same_field(&a->earlier[d - 1], &b->earlier[d - 1], c->n), "%s: earlier %d",
                    what, d);
    for (int d = 1; d <= motus_b_farthest_later(span, pyramid); d++)
        MOTUS_CHECK(same_field(&a[d].later[d - 1], &b[d].later[d - 1], c->n), "%s: later %d", what,
                    d);
    for (int n = 2; n <= span; n++)
        for (int d = 1; d < n; d++) {
            if (!motus_b_is_measured(n - d, d, pyramid)) continue;
            const int pair = motus_b_pair(n - d, d);
            MOTUS_CHECK(!memcmp(a[d].between[pair], b[d].between[pair], 2 * c->n),
                        "%s: between %d and %d", what, n - d, d);
        }
}

// Measures picture `at` and finds the weights of up to `most` pictures before it.
static void weigh(Chain *c, int at, int most) {
    const MotusHalfPicture *half = &c->picture[0][at].half;
    MotusError error = {0};
    motus_half_measure(&c->stats[0][at], half, 1);
    MOTUS_CHECK(!motus_intra_costs_cuda(&c->costs[at], &c->stats[1][at], half, NULL, &error), "%s",
                error.text);
    for (int d = 1; d <= most; d++)
        c->weight[0][at][d - 1] = motus_half_find_weight(&c->stats[0][at], &c->stats[0][at + d],
                                                         half->mb_width, half->mb_height);
    MOTUS_CHECK(!motus_half_find_weights_cuda(c->weight[1][at], &c->stats[1][at],
                                              &c->stats[1][at + 1], most, half->mb_width,
                                              half->mb_height, NULL, &error),
                "%s", error.text);
    GPU_OK(cudaDeviceSynchronize());
    CU_ASSERT(!memcmp(c->stats[0][at].sums, c->stats[1][at].sums, 2 * sizeof(uint64_t)));
    CU_ASSERT(!memcmp(c->stats[0][at].small, c->stats[1][at].small, 8 * c->n));
    CU_ASSERT(!memcmp(c->weight[0][at], c->weight[1][at], (size_t)most * sizeof(MotusHalfWeight)));
    for (int on = 0; on < 2; on++) c->picture[on][at].weight = c->weight[on][at];
}

static void mini_gop_costs(void) {
    for (int round = 0; round < 24; round++) {
        const int content = round % GPU_PICTURES, pyramid = round / 2 % 2,
                  span = pyramid ? SPAN : MOTUS_B_FLAT_SPAN,
                  width = motus_test_range(1, round ? 150 : 960) * 2,
                  height = motus_test_range(1, round ? 100 : 540) * 2;
        MotusBCosts *costs = shared(2 * sizeof *costs);
        MotusError error = {0};
        Chain c;
        char what[60];
        snprintf(what, sizeof what, "%dx%d, content %d, pyramid %d", width, height, content,
                 pyramid);
        chain_open(&c, width, height);
        for (int k = 0; k <= SPAN; k++) {
            MotusFrame *frame = gpu_picture(content, width, height, k);
            const int at = SPAN - k;
            const MotusBPicture *list[2][SPAN + 1];
            if (round / 8 == 2) fade(&frame->plane[0], 24 + 5 * k);
            motus_half_build(&c.picture[0][at].half, &frame->plane[0], 1);
            if (round >= 8) weigh(&c, at, motus_min(k, span));
            motus_frame_unref(&frame);
            motus_mb_costs(&c.costs[at], &c.picture[0][at].half,
                           k ? &c.picture[0][at + 1].half : NULL, c.picture[0][at].weight, 1);
            for (int d = 0; d <= k; d++)
                for (int on = 0; on < 2; on++) list[on][d] = &c.picture[on][at + d];
            memset(costs, 0, 2 * sizeof *costs);
            motus_b_costs(&costs[0], list[0], motus_min(k, span), pyramid, 1);
            MOTUS_CHECK(
                !motus_b_costs_cuda(&costs[1], list[1], motus_min(k, span), pyramid, NULL, &error),
                "%s", error.text);
            GPU_OK(cudaDeviceSynchronize());
            CU_ASSERT(!costs[1].p[0]); // the lookahead's own sum
            costs[1].p[0] = costs[0].p[0];
            MOTUS_CHECK(!memcmp(&costs[0], &costs[1], sizeof *costs), "%s: span %d", what, k);
        }
        compare_chain(&c, span, pyramid, what);
        GPU_OK(cudaFree(c.memory));
        GPU_OK(cudaFree(costs));
    }
}

static const GpuRow rows[] = {GPU_TEST(mini_gop_costs), {0}};
const GpuSuite gpu_mini_gop = {"mini_gop", rows};
