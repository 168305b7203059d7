// Reference planes and sub-pel refinement against 8.4.2.2.1 written out.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "me/pixel/ref_luma.h"
#include "tests/me/me_case.h"
#include "tests/me/me_oracle.h"
#include "tests/support/harness.h"

#include <stdlib.h>

static void random_cases(void) {
    for (int i = 0; i < 300; i++) {
        MeCase c;
        me_case_random(&c, motus_test_range(1, 8), (MotusSubpel)(MOTUS_SUBPEL_HALF + i % 3));
        me_case_check(&c, i);
        me_case_free(&c);
    }
}

// SATDs beyond 16 bits, and contents in which every candidate ties.
static void extremes(void) {
    static const MeContent contents[] = {ME_OPPOSITE, ME_NEARLY_OPPOSITE, ME_FLAT, ME_CHECKERBOARD,
                                         ME_EXTREMES};
    for (int i = 0; i < 60; i++) {
        MeCase c;
        me_case_random(&c, motus_test_range(1, 4), (MotusSubpel)(MOTUS_SUBPEL_HALF + i % 3));
        me_case_fill(&c, contents[i % 5]);
        me_case_check(&c, i);
        me_case_free(&c);
    }
}

// Returns the summed costs of all blocks of a field.
static uint64_t cost_of(const MeCase *c, MotusSubpel subpel) {
    MotusMeConfig config = c->config;
    config.subpel = subpel;
    MotusMe *me = me_case_open(config, MOTUS_BACKEND_CPU);
    MotusField *field = me_case_search(me, c);
    uint64_t sum = 0;
    for (int i = 0; i < MOTUS_BLOCKS * field->n_mb; i++) sum += field->cost[0][i];
    motus_field_free(&field);
    motus_me_close(&me);
    return sum;
}

// A higher level costs less in all; single blocks may cost more.
static void levels(void) {
    enum { LEVELS = 3 };
    uint64_t sum[LEVELS] = {0}, moved[LEVELS] = {0};
    for (int i = 0; i < 4 * ME_CONTENTS; i++) {
        MeCase c;
        me_case_moved(&c, 176, 96, 2 + 3 * (i % 4), MOTUS_SUBPEL_BEST);
        me_case_fill(&c, (MeContent)(i % ME_CONTENTS));
        c.hints.lambda_q8 = (uint32_t[]){0, 300, 2000}[i % 3];
        for (int k = 0; k < LEVELS; k++) {
            const uint64_t cost = cost_of(&c, (MotusSubpel)(MOTUS_SUBPEL_HALF + k));
            sum[k] += cost;
            moved[k] += c.content == ME_MOVED ? cost : 0;
        }
        me_case_free(&c);
    }
    MOTUS_CHECK(sum[2] < sum[1] && sum[1] < sum[0] && moved[2] <= moved[1] && moved[1] <= moved[0],
                "%llu, %llu, %llu", (unsigned long long)sum[0], (unsigned long long)sum[1],
                (unsigned long long)sum[2]);
}

static MotusPlane random_plane(int width, int height) {
    MotusPlane p = {malloc((size_t)(width * height)), width, width, height};
    motus_test_fill(p.data, (size_t)(width * height));
    for (int i = 0; width & 1 && i < width * height; i++) p.data[i] = p.data[i] & 1 ? 255 : 0;
    return p;
}

static void build(MotusRefLuma *ref, const MotusPlane *p, int plain_c, int threads) {
    if (plain_c) motus_test_cpu("c");
    REQUIRE_OK(motus_ref_luma_alloc(ref, p->width, p->height));
    motus_test_cpu(NULL);
    motus_ref_luma_build(ref, p, 1, threads);
}

// Every sample of the four planes, border included, for both versions.
static void planes(void) {
    static const int sizes[][2] = {{1, 1},   {16, 16}, {17, 33},  {64, 48},
                                   {500, 3}, {3, 50},  {449, 20}, {1030, 16}};
    for (int i = 0; i < 16; i++) {
        MotusPlane p = random_plane(sizes[i / 2][0], sizes[i / 2][1]);
        MotusRefLuma ref;
        build(&ref, &p, i & 1, 1 + i % 3);
        CU_ASSERT(ref.width % 16 == 0 && ref.height % 16 == 0 && ref.width >= p.width &&
                  ref.height >= p.height);
        int wrong = 0;
        for (int y = -MOTUS_REF_PAD; y < ref.height + MOTUS_REF_PAD; y++)
            for (int x = -MOTUS_REF_PAD; x < ref.width + MOTUS_REF_PAD; x++)
                for (int k = 0; k < 4; k++)
                    wrong += ref.plane[k][y * ref.stride + x] !=
                             plain_luma(&p, 4 * x + 2 * (k & 1), 4 * y + (k & 2));
        MOTUS_CHECK(!wrong, "%dx%d %s: %d samples differ", p.width, p.height, i & 1 ? "C" : "best",
                    wrong);
        motus_ref_luma_free(&ref);
        free(p.data);
    }
}

// Prediction of blocks at any position, by any MV, near and far outside the picture, inside guard
// bands.
static void blocks(void) {
    MotusPlane p = random_plane(51, 37);
    for (int plain_c = 0; plain_c < 2; plain_c++) {
        MotusRefLuma ref;
        build(&ref, &p, plain_c, 1);
        for (int i = 0; i < 3000; i++) {
            int w = 4 * motus_test_range(1, 4), h = 4 * motus_test_range(1, 4), wrong = 0;
            int x = motus_test_range(0, ref.width - w), y = motus_test_range(0, ref.height - h);
            int far = i % 3 == 0 ? 8191 : 200;
            MotusMv mv = {(int16_t)motus_test_range(-far, far),
                          (int16_t)motus_test_range(-far, far)};
            ptrdiff_t stride = w + motus_test_range(0, 9);
            uint8_t *dst = motus_test_guarded((size_t)(stride * (h - 1) + w));
            const uint8_t *pred = motus_ref_luma_block(&ref, x, y, mv, w, h, dst, &stride);
            for (int k = 0; k < w * h; k++) {
                int px = k % w, py = k / w;
                wrong += pred[py * stride + px] !=
                         plain_luma(&p, 4 * (x + px) + mv.x, 4 * (y + py) + mv.y);
            }
            MOTUS_CHECK(!wrong && motus_test_guard_ok(dst), "%dx%d at %d,%d mv %d,%d %s", w, h, x,
                        y, mv.x, mv.y, plain_c ? "C" : "best");
            motus_test_guard_free(dst);
        }
        motus_ref_luma_free(&ref);
    }
    free(p.data);
}

static void reference_arguments(void) {
    MotusRefLuma ref;
    CU_ASSERT_EQUAL(motus_ref_luma_alloc(&ref, 0, 16), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_ref_luma_alloc(&ref, 16, MOTUS_MAX_SIZE + 1), MOTUS_ERR_ARGUMENT);
    motus_alloc_fail_after(0);
    CU_ASSERT_EQUAL(motus_ref_luma_alloc(&ref, 16, 16), MOTUS_ERR_MEMORY);
    motus_alloc_fail_after(-1);
    motus_ref_luma_free(&ref);
}

MOTUS_SUITE("me_refine", TEST(random_cases), TEST(extremes), TEST(levels), TEST(planes),
            TEST(blocks), TEST(reference_arguments))
