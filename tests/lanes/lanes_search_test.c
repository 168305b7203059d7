// The refinement of MOTUS_SUBPEL_BEST by 32 emulated lanes, against plain C and AVX2.
// SPDX-License-Identifier: BSD-2-Clause
#define MOTUS_EMULATED_LANES
#include "me/search/refine_best_warp.cuh"

#include "me/pixel/pixel.h"
#include "me/search/refine.h"
#include "tests/lanes/emulated_lanes.h"
#include "tests/support/harness.h"

enum { WIDTH = 80, HEIGHT = 64, RANGE = 5 };

typedef struct Refined {
    const MotusMbJob *job;
    uint64_t blocks;
    const MotusMbMotion *found; // by the search
    MotusMbMotion motion;
} Refined;

static RingsShared shared;

// Refines the blocks as a thread of rings_kernel does (refine_best.cu).
static void body(void *argument) {
    Refined *r = argument;
    const MotusMbJob *job = r->job;
    const int cell = rings_cell();
    const RingsMb mb = {.ref = job->ref,
                        .x = job->x,
                        .y = job->y,
                        .centre = job->centre,
                        .predictor = job->predictor,
                        .lambda_q8 = job->lambda_q8,
                        .reach = 4 * job->range + 3};
    RingsLane lane;
    RingsOwn own = {.moved = {0, 0}};
    for (int h = 0; h < 2; h++) {
        const int block = motus_lane() + 32 * h;
        memcpy(&lane.cur[h],
               job->cur + (4 * (cell >> 2) + 8 * h + rings_row()) * job->cur_stride +
                   4 * (cell & 3),
               sizeof lane.cur[h]);
        own.wanted[h] = (int)(r->blocks >> block & 1);
        own.mv[h] = own.wanted[h] ? motus_mv_word(r->found->mv[block]) : 0;
    }
    rings_run(&mb, &lane, &shared, &own);
    for (int h = 0; h < 2; h++) {
        const int block = motus_lane() + 32 * h;
        if (!own.wanted[h]) continue;
        r->motion.cost[block] = own.cost[h];
        if (!own.moved[h]) continue;
        r->motion.mv[block] = motus_mv_of_word(own.mv[h]);
        r->motion.sad[block] = (uint16_t)own.sad[h];
    }
}

// True if all wanted blocks are the same.
static int same(const MotusMbMotion *a, const MotusMbMotion *b, uint64_t blocks) {
    for (; blocks; blocks &= blocks - 1) {
        const int i = __builtin_ctzll(blocks);
        if (a->mv[i].x != b->mv[i].x || a->mv[i].y != b->mv[i].y || a->cost[i] != b->cost[i] ||
            a->sad[i] != b->sad[i])
            return 0;
    }
    return 1;
}

// Searches one MB, then refines some of its modes with plain C or AVX2 and with lanes.
static void compare(const MotusPlane *cur, const MotusRefLuma *ref, int number) {
    static const int lambdas[] = {0, 300, 3000, 65535};
    const int x = 16 * motus_test_range(0, WIDTH / 16 - 1),
              y = 16 * motus_test_range(0, HEIGHT / 16 - 1);
    const MotusMv centre = {(int16_t)(4 * motus_test_range(-30, 30)),
                            (int16_t)(4 * motus_test_range(-30, 30))};
    const int far = number % 2 ? 150 : 25; // of the predictor: outside the window, or near its edge
    const MotusMbJob job = {.cur = cur->data + y * cur->stride + x,
                            .cur_stride = cur->stride,
                            .ref = ref,
                            .x = x,
                            .y = y,
                            .centre = centre,
                            .predictor = {(int16_t)(centre.x + motus_test_range(-far, far)),
                                          (int16_t)(centre.y + motus_test_range(-far, far))},
                            .lambda_q8 = (uint32_t)lambdas[motus_test_range(0, 3)],
                            .modes = number % 3 ? MOTUS_MODES_ALL
                                                : (uint32_t)motus_test_range(1, MOTUS_MODES_ALL),
                            .range = motus_test_range(1, RANGE)};
    uint8_t scratch[(2 * RANGE + 16) * (2 * RANGE + 16)];
    MotusMbMotion found = {0}, want;
    motus_search_ops_c.search(&job, &found, scratch);
    want = found;
    Refined r = {
        .job = &job, .blocks = motus_blocks_of(job.modes), .found = &found, .motion = found};
    if (number & 1) motus_test_cpu("c");
    motus_refine_blocks(&job, MOTUS_SUBPEL_BEST, motus_refine_ops(), r.blocks, &want);
    motus_test_cpu(NULL);
    for (uint64_t left = r.blocks; left; left &= left - 1) {
        const int b = __builtin_ctzll(left);
        const MotusBlock *of = &motus_blocks[b];
        uint8_t buffer[256];
        ptrdiff_t stride = 16;
        const uint8_t *pred = motus_ref_luma_block(ref, x + of->x, y + of->y, want.mv[b], of->width,
                                                   of->height, buffer, &stride);
        want.sad[b] =
            (uint16_t)motus_pixel_ops()->sad(job.cur + of->y * cur->stride + of->x, cur->stride,
                                             pred, stride, of->width, of->height);
    }
    const char *failure = emulated_lanes_run(1, body, &r);
    MOTUS_CHECK(!failure, "case %d: %s", number, failure);
    MOTUS_CHECK(same(&want, &r.motion, r.blocks), "case %d: modes %x lambda %u", number, job.modes,
                job.lambda_q8);
}

// Pictures of noise, of one value, and of a moved slope with a little noise.
static void fill(MotusPlane *cur, MotusPlane *ref, int content) {
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        const int x = i % WIDTH, y = i / WIDTH;
        cur->data[i] = (uint8_t)(content == 0   ? (int)(motus_test_random() & 255)
                                 : content == 1 ? 50
                                 : content == 2 ? 0
                                                : 3 * x + (x * y >> 4) + motus_test_range(0, 3));
        ref->data[i] = (uint8_t)(content == 0   ? (int)(motus_test_random() & 255)
                                 : content == 1 ? 50
                                 : content == 2 ? 255
                                                : 3 * x + 5 + ((x + 2) * (y - 1) >> 4));
    }
}

static void refined(void) {
    static uint8_t cur_data[WIDTH * HEIGHT], ref_data[WIDTH * HEIGHT];
    MotusPlane cur = {cur_data, WIDTH, WIDTH, HEIGHT}, ref = {ref_data, WIDTH, WIDTH, HEIGHT};
    MotusRefLuma luma;
    REQUIRE_OK(motus_ref_luma_alloc(&luma, WIDTH, HEIGHT));
    for (int i = 0; i < 160; i++) {
        if (i % 4 == 0) {
            fill(&cur, &ref, i / 4 % 4);
            motus_ref_luma_build(&luma, &ref, 1, 1);
        }
        compare(&cur, &luma, i);
    }
    motus_ref_luma_free(&luma);
}

MOTUS_SUITE("lanes_search", TEST(refined))
