// Prepared references and requests on the CPU: every option against the oracle, the queue, states.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "common/faults.h"
#include "common/int_core.h"
#include "me/me_cpu.h"
#include "motus/upload.h"
#include "tests/me/me_oracle.h"
#include "tests/me/request_case.h"
#include "tests/support/harness.h"

static MotusMe *open_cpu(MotusMeConfig config, const char *cpu, int threads) {
    MotusMe *me = NULL;
    config.backend = MOTUS_BACKEND_CPU;
    config.threads = threads;
    if (cpu) motus_test_cpu(cpu);
    REQUIRE_OK(motus_me_open(&me, &config));
    return me;
}

// ---- Against the oracle -------------------------------------------------------------------------

// A kept reference predicts as one that is filled from the same plane.
static void check_kept(const MotusMeReference *kept, MotusMe *me, const MotusPlane *cur,
                       int number) {
    MotusMeReference *filled = me_case_reference(me, cur);
    for (int i = 0; i < 100; i++) {
        const int x = motus_test_range(-40, cur->width + 40), // beyond the border, too
            y = motus_test_range(-40, cur->height + 40);
        uint8_t got[256], want[256];
        MotusMv mv = {(int16_t)(motus_test_range(-9, 9) * 4),
                      (int16_t)(motus_test_range(-9, 9) * 4)};
        if (motus_me_reference_block(filled, x, y, (MotusMv){1, 1}, 16, 16, want, 16) == MOTUS_OK)
            mv.x = (int16_t)(mv.x + i % 4), mv.y = (int16_t)(mv.y + i / 4 % 4);
        MOTUS_CHECK(motus_me_reference_block(kept, x, y, mv, 16, 16, got, 16) == MOTUS_OK &&
                        motus_me_reference_block(filled, x, y, mv, 16, 16, want, 16) == MOTUS_OK &&
                        !memcmp(got, want, sizeof got),
                    "case %d: kept at %d,%d mv %d,%d", number, x, y, mv.x, mv.y);
    }
    motus_me_reference_unref(&filled);
}

static void run(const RequestCase *c, const char *cpu, int threads, int number) {
    MotusMe *me = open_cpu(c->me[0].config, cpu, threads);
    MotusMeReference *reference[REQUEST_TARGETS] = {NULL}, *kept = NULL, *request_kept;
    RequestResults results;
    void *opaque = NULL;
    request_results_alloc(c, &results);
    for (int i = 0; i < c->n_targets; i++)
        results.target[i].reference = reference[i] = me_case_reference(me, &c->me[i].ref);
    motus_test_cpu(NULL);
    MotusMeRequest request = request_of(c, &results);
    request.opaque = &results;
    if (number % 3) REQUIRE_OK(motus_me_reference_alloc(&kept, me));
    request.keep = request_kept = motus_me_reference_ref(kept);
    MOTUS_CHECK(motus_me_request(me, &request) == MOTUS_OK, "case %d", number);
    motus_me_reference_unref(&request_kept);
    for (int i = 0; i < c->n_targets; i++)
        motus_me_reference_unref(&reference[i]); // only the request holds it from here on
    MOTUS_CHECK(motus_me_wait(me, &opaque, 0) == MOTUS_OK && opaque == &results, "case %d", number);
    request_case_check(c, &results, cpu ? cpu : "best", number);
    if (kept) check_kept(kept, me, &c->me[0].cur, number);
    motus_me_reference_unref(&kept);
    request_results_free(&results);
    motus_me_close(&me);
}

static void random_cases(void) {
    for (int i = 0; i < 90; i++) {
        RequestCase c;
        request_case_random(&c, i);
        run(&c, "c", 1, i);
        run(&c, "avx2", 3, i);
        run(&c, NULL, 1, i);
        request_case_free(&c);
    }
}

// The largest distances and energies, and contents in which every mode ties.
static void extremes(void) {
    static const MeContent contents[] = {ME_OPPOSITE, ME_FLAT, ME_CHECKERBOARD, ME_EXTREMES,
                                         ME_NEARLY_OPPOSITE};
    for (int i = 0; i < 25; i++) {
        RequestCase c;
        request_case_random(&c, i);
        me_case_fill(&c.me[0], contents[i % 5]);
        run(&c, "c", 1, i);
        run(&c, NULL, 1, i);
        request_case_free(&c);
    }
}

// Half and a quarter of a picture, white below: the largest energies.
static void statistics(void) {
    enum { W = 48, H = 32 };
    static uint8_t samples[W * H];
    const MotusPlane plane = {samples, W, W, H};
    MotusMe *me = open_cpu(motus_me_config_default(W, H), NULL, 1);
    MotusMbStats stats[6];
    const MotusMeRequest request = {.size = sizeof request, .cur = &plane, .stats = stats};
    for (int i = 0; i < 50; i++) {
        for (int k = 0; k < W * H; k++)
            samples[k] = (uint8_t)(i % 5           ? motus_test_range(0, 255 >> i % 9)
                                   : k / W % 8 < 4 ? 255
                                                   : 0);
        EXPECT_OK(motus_me_request(me, &request));
        EXPECT_OK(motus_me_wait(me, NULL, -1));
        for (int mb = 0; mb < 6; mb++) {
            const MotusMbStats want = oracle_stats(&plane, mb % 3 * 16, mb / 3 * 16);
            MOTUS_CHECK(!memcmp(&stats[mb], &want, sizeof want),
                        "picture %d MB %d: energy %u, want %u; mode %d, want %d", i, mb,
                        stats[mb].energy[0], want.energy[0], stats[mb].intra_mode, want.intra_mode);
        }
        if (i == 0) CU_ASSERT_EQUAL(stats[0].energy[0], 256 * 255 * 255 / 4);
    }
    motus_me_close(&me);
}

// ---- References ---------------------------------------------------------------------------------

static void blocks(void) {
    enum { W = 51, H = 37 };
    static uint8_t samples[W * H];
    const MotusPlane plane = {samples, W, W, H};
    motus_test_fill(samples, sizeof samples);
    for (int half = 0; half < 2; half++) {
        MotusMeConfig config = motus_me_config_default(W, H);
        config.subpel = half ? MOTUS_SUBPEL_QUARTER : MOTUS_SUBPEL_FULL;
        MotusMe *me = open_cpu(config, NULL, 1);
        MotusMeReference *reference = me_case_reference(me, &plane);
        for (int i = 0; i < 2000; i++) {
            const int w = 4 * motus_test_range(1, 4), h = 4 * motus_test_range(1, 4),
                      far = i % 3 ? 100 : MOTUS_MAX_SIZE;
            const int x = motus_test_range(-far, far), y = motus_test_range(-far, far),
                      step = half ? 1 : 4;
            const MotusMv mv = {(int16_t)(motus_test_range(-99, 99) * step),
                                (int16_t)(motus_test_range(-99, 99) * step)};
            const ptrdiff_t stride = w + motus_test_range(0, 3);
            uint8_t *dst = motus_test_guarded((size_t)(stride * (h - 1) + w));
            int wrong =
                motus_me_reference_block(reference, x, y, mv, w, h, dst, stride) != MOTUS_OK;
            for (int k = 0; k < w * h; k++)
                wrong += dst[k / w * stride + k % w] !=
                         plain_luma(&plane, 4 * (x + k % w) + mv.x, 4 * (y + k / w) + mv.y);
            MOTUS_CHECK(!wrong && motus_test_guard_ok(dst), "%dx%d at %d,%d mv %d,%d", w, h, x, y,
                        mv.x, mv.y);
            motus_test_guard_free(dst);
        }
        uint8_t dst[16];
        const MotusStatus fraction =
            motus_me_reference_block(reference, 0, 0, (MotusMv){1, 0}, 4, 4, dst, 4);
        CU_ASSERT_EQUAL(fraction, half ? MOTUS_OK : MOTUS_ERR_ARGUMENT);
        motus_me_reference_unref(&reference);
        motus_me_close(&me);
    }
}

// One reference serves two estimators, outlives the first, and is filled again.
static void shared(void) {
    enum { W = 70, H = 45, N = 15 };
    static uint8_t samples[3][W * H];
    const MotusPlane plane[3] = {
        {samples[0], W, W, H}, {samples[1], W, W, H}, {samples[2], W, W, H}};
    motus_test_fill(samples, sizeof samples);
    MotusMeConfig config = motus_me_config_default(W, H);
    MotusMe *me[2] = {open_cpu(config, NULL, 1), NULL};
    config.subpel = MOTUS_SUBPEL_FULL;
    me[1] = open_cpu(config, NULL, 1);
    MotusMeReference *reference = me_case_reference(me[0], &plane[0]),
                     *second = motus_me_reference_ref(reference);
    CU_ASSERT_PTR_EQUAL(second, reference);
    motus_me_reference_unref(&reference);
    CU_ASSERT_PTR_NULL(reference);
    MotusField *want = NULL, *got = NULL;
    REQUIRE_OK(motus_field_alloc(&want, W, H));
    REQUIRE_OK(motus_field_alloc(&got, W, H));
    for (int i = 0; i < 3; i++) {
        MotusMe *by = i ? me[1] : me[0];
        if (i == 1) motus_me_close(&me[0]);
        if (i == 2)
            EXPECT_OK(motus_me_reference_fill(second, by, &plane[1], MOTUS_MEMORY_HOST, NULL));
        const MotusMeTarget target = {
            .reference = second, .mv = got->mv[0], .sad = got->sad[0], .cost = got->cost[0]};
        const MotusMeRequest request = motus_me_request_default(&plane[2], &target, 1);
        EXPECT_OK(motus_me_request(by, &request));
        EXPECT_OK(motus_me_wait(by, NULL, -1));
        EXPECT_OK(motus_me_search(by, &plane[2], &plane[i / 2], NULL, want));
        MOTUS_CHECK(!memcmp(want->mv[0], got->mv[0], N * MOTUS_BLOCKS * sizeof(MotusMv)) &&
                        !memcmp(want->sad[0], got->sad[0], N * MOTUS_BLOCKS * 2) &&
                        !memcmp(want->cost[0], got->cost[0], N * MOTUS_BLOCKS * 4),
                    "search %d", i);
    }
    motus_field_free(&want);
    motus_field_free(&got);
    motus_me_reference_unref(&second);
    motus_me_reference_unref(&second);
    motus_me_reference_unref(NULL);
    CU_ASSERT_PTR_NULL(motus_me_reference_ref(NULL));
    motus_me_close(&me[1]);
}

// ---- Centres ------------------------------------------------------------------------------------

// Centres are those of the encoder: for whole and partial MBs; 0 means the largest value.
static void centres(void) {
    for (int i = 0; i < 12; i++) {
        const int w = motus_test_range(33, 120), h = motus_test_range(17, 90),
                  n = motus_mbs(w) * motus_mbs(h);
        const MotusPlane ref = {motus_test_guarded((size_t)(w * h)), w, w, h},
                         cur = {motus_test_guarded((size_t)(w * h)), w, w, h};
        motus_test_fill(ref.data, (size_t)(w * h));
        memcpy(cur.data, ref.data + w * 9 + 7, (size_t)(w * (h - 10)));
        const MotusMeConfig config = motus_me_config_default(w, h);
        MotusMe *me = open_cpu(config, NULL, 1 + i % 3);
        MotusMeReference *reference = me_case_reference(me, &ref);
        MotusMv *previous = malloc((size_t)n * sizeof *previous),
                *want = malloc((size_t)n * sizeof *want);
        MotusMv *centre = (MotusMv *)motus_test_guarded((size_t)n * sizeof *centre);
        for (int k = 0; k < n; k++)
            previous[k] = (MotusMv){(int16_t)motus_test_range(-200, 200),
                                    (int16_t)motus_test_range(-200, 200)};
        MotusMeCentres p = motus_me_centres_default(&cur, reference, centre);
        p.lambda_q8 = 256;
        if (i & 1) p.previous = previous;
        if (i & 2) p.reach = 4 * motus_test_range(1, 16), p.limit_x = 100, p.limit_y = 77;
        EXPECT_OK(motus_me_centres(me, &p));

        MotusRefLuma luma;
        MotusFrame *whole = NULL;
        MotusMeCpu *cpu = NULL;
        REQUIRE_OK(motus_ref_luma_alloc(&luma, w, h));
        REQUIRE_OK(motus_frame_alloc(&whole, luma.width, luma.height));
        motus_ref_luma_build(&luma, &ref, 0, 1);
        for (int k = 0; k < luma.width * luma.height; k++)
            whole->plane[0].data[k / luma.width * whole->plane[0].stride + k % luma.width] =
                cur.data[motus_min(k / luma.width, h - 1) * w + motus_min(k % luma.width, w - 1)];
        REQUIRE_OK(motus_me_cpu_open(&cpu, &config));
        motus_me_cpu_predict(
            cpu, &(MotusCentresPicture){.cur = whole->plane[0].data,
                                        .cur_stride = whole->plane[0].stride,
                                        .ref = &luma,
                                        .previous = p.previous,
                                        .lambda_q8 = 256,
                                        .reach = p.reach ? p.reach : 64,
                                        .limit_x = p.limit_x ? p.limit_x : MOTUS_MAX_CENTRE,
                                        .limit_y = p.limit_y ? p.limit_y : MOTUS_MAX_CENTRE,
                                        .centre = want});
        motus_me_cpu_close(&cpu);
        MOTUS_CHECK(!memcmp(want, centre, (size_t)n * sizeof *want) &&
                        motus_test_guard_ok((uint8_t *)centre),
                    "%dx%d, %d", w, h, i);

        p.size--;
        CU_ASSERT_EQUAL(motus_me_centres(me, &p), MOTUS_ERR_ARGUMENT);
        p.size++, p.reach = 6;
        CU_ASSERT_EQUAL(motus_me_centres(me, &p), MOTUS_ERR_ARGUMENT);
        p.reach = 8, p.limit_x = -4;
        CU_ASSERT_EQUAL(motus_me_centres(me, &p), MOTUS_ERR_ARGUMENT);
        p.limit_x = 0, p.mvs_memory = MOTUS_MEMORY_DEVICE;
        CU_ASSERT_EQUAL(motus_me_centres(me, &p), MOTUS_ERR_UNSUPPORTED);
        motus_frame_unref(&whole);
        motus_ref_luma_free(&luma);
        motus_test_guard_free((uint8_t *)centre);
        motus_test_guard_free(ref.data);
        motus_test_guard_free(cur.data);
        free(previous);
        free(want);
        motus_me_reference_unref(&reference);
        motus_me_close(&me);
    }
}

// ---- The queue, states ------------------------------------------------------------------------

enum { WIDTH = 40, HEIGHT = 20, N_MB = 6 };
static uint8_t samples[WIDTH * HEIGHT];
static const MotusPlane plane = {samples, WIDTH, WIDTH, HEIGHT};

static void queue(void) {
    MotusMe *me = open_cpu(motus_me_config_default(WIDTH, HEIGHT), NULL, 1);
    MotusField *field = NULL;
    REQUIRE_OK(motus_field_alloc(&field, WIDTH, HEIGHT));
    MotusMbStats stats[N_MB];
    int tags[MOTUS_ME_IN_FLIGHT];
    void *opaque = NULL;
    MotusMeRequest request = {.size = sizeof request, .cur = &plane, .stats = stats};
    CU_ASSERT_EQUAL(motus_me_wait(me, &opaque, 0), MOTUS_END);
    for (int round = 0; round < 3; round++) {
        EXPECT_OK(motus_me_search(me, &plane, &plane, NULL, field));
        for (int i = 0; i < MOTUS_ME_IN_FLIGHT; i++) {
            request.opaque = &tags[i];
            EXPECT_OK(motus_me_request(me, &request));
            CU_ASSERT_EQUAL(motus_me_search(me, &plane, &plane, NULL, field), MOTUS_ERR_STATE);
        }
        CU_ASSERT_EQUAL(motus_me_request(me, &request), MOTUS_AGAIN);
        for (int i = 0; i < MOTUS_ME_IN_FLIGHT; i++)
            CU_ASSERT(motus_me_wait(me, &opaque, i - 1) == MOTUS_OK && opaque == &tags[i]);
        CU_ASSERT(motus_me_wait(me, &opaque, -1) == MOTUS_END && !opaque);
    }
    EXPECT_OK(motus_me_request(me, &request)); // closed while it is pending
    motus_field_free(&field);
    motus_me_close(&me);
}

static void host_memory(void) {
    uint8_t *memory = motus_host_alloc(1000);
    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    CU_ASSERT_EQUAL((uintptr_t)memory % 64, 0);
    memset(memory, 1, 1000);
    motus_host_free(memory);
    motus_host_free(NULL);
}

static void check_request(MotusMe *me, MotusMeRequest request, MotusMeTarget target,
                          MotusStatus want, const char *what) {
    if (request.n_targets) request.target = &target;
    MotusStatus got = motus_me_request(me, &request);
    MOTUS_CHECK(got == want, "%s: %d", what, got);
    if (got == MOTUS_OK) motus_me_wait(me, NULL, -1);
}

// States, and references of other contexts; bad arguments are in tests/arguments.
static void states(void) {
    MotusMeConfig config = motus_me_config_default(WIDTH, HEIGHT), whole = config, other = config;
    whole.subpel = MOTUS_SUBPEL_FULL;
    other.width++;
    MotusMe *me = open_cpu(config, NULL, 1), *me_whole = open_cpu(whole, NULL, 1),
            *me_other = open_cpu(other, NULL, 1);
    MotusMeReference *reference = me_case_reference(me, &plane),
                     *full = me_case_reference(me_whole, &plane), *empty = NULL, *none = reference;
    EXPECT_OK(motus_me_reference_alloc(&empty, me));
    static uint8_t larger[(WIDTH + 1) * HEIGHT];
    MotusMeReference *wide =
        me_case_reference(me_other, &(MotusPlane){larger, WIDTH + 1, WIDTH + 1, HEIGHT});
    MotusMv far[N_MB] = {{0}}, odd[N_MB] = {{0}};
    far[N_MB - 1].y = -8192, odd[2].x = 2;
    uint16_t sad[N_MB];
    const MotusMeTarget good_target = {.reference = reference, .skip_mv = odd, .skip_sad = sad};
    const MotusMeRequest good = {
        .size = sizeof good, .target_size = sizeof good_target, .cur = &plane, .n_targets = 1};
    MotusMeRequest r = good;
    r.n_targets = 0, r.target_size = 0;
    check_request(me, r, good_target, MOTUS_OK, "no targets");
    r = good, r.stream = &r; // for CUDA only
    check_request(me, r, good_target, MOTUS_OK, "a stream on the CPU");
    r = good, r.region = (MotusMeRegion){2, 1, 1, 1};
    check_request(me, r, good_target, MOTUS_OK, "the last MB");
    check_request(me_whole, good, good_target, MOTUS_OK,
                  "half-sample vectors in a finer reference");
    check_request(me_whole, good,
                  (MotusMeTarget){.reference = full, .skip_mv = odd, .skip_sad = sad},
                  MOTUS_ERR_ARGUMENT, "fractions");
    CU_ASSERT_EQUAL(motus_me_reference_fill(reference, me_other, &plane, MOTUS_MEMORY_HOST, NULL),
                    MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_me_reference_fill(reference, me, &plane, MOTUS_MEMORY_DEVICE, NULL),
                    MOTUS_ERR_UNSUPPORTED);
    MotusMeTarget target = good_target;
    MotusMeRequest waiting = good;
    waiting.target = &target;
    EXPECT_OK(motus_me_request(me, &waiting));
    CU_ASSERT_EQUAL(motus_me_reference_fill(reference, me, &plane, MOTUS_MEMORY_HOST, NULL),
                    MOTUS_ERR_STATE);
    EXPECT_OK(motus_me_wait(me, NULL, -1));
    EXPECT_OK(motus_me_reference_fill(reference, me, &plane, MOTUS_MEMORY_HOST, NULL));
    // A kept reference may be searched while it is pending, not kept or filled.
    MotusMeReference *kept = NULL;
    EXPECT_OK(motus_me_reference_alloc(&kept, me));
    waiting.keep = kept;
    EXPECT_OK(motus_me_request(me, &waiting));
    CU_ASSERT_EQUAL(motus_me_request(me, &waiting), MOTUS_ERR_STATE);
    CU_ASSERT_EQUAL(motus_me_reference_fill(kept, me, &plane, MOTUS_MEMORY_HOST, NULL),
                    MOTUS_ERR_STATE);
    target.reference = kept, waiting.keep = NULL;
    EXPECT_OK(motus_me_request(me, &waiting));
    EXPECT_OK(motus_me_wait(me, NULL, -1));
    waiting.keep = kept, target.reference = reference;
    CU_ASSERT_EQUAL(motus_me_request(me, &waiting), MOTUS_ERR_STATE); // still searched
    EXPECT_OK(motus_me_wait(me, NULL, -1));
    motus_alloc_fail_after(0); // a request needs no memory
    EXPECT_OK(motus_me_request(me, &waiting));
    motus_alloc_fail_after(-1);
    motus_me_reference_unref(&kept); // closed while it is pending, for the request alone
    for (int i = 0; i < 2; i++) {    // the reference, and its planes
        motus_alloc_fail_after(i);
        CU_ASSERT_EQUAL(motus_me_reference_alloc(&none, me), MOTUS_ERR_MEMORY);
        CU_ASSERT_PTR_NULL(none);
    }
    motus_alloc_fail_after(-1);
    uint8_t dst[256];
    CU_ASSERT_EQUAL(motus_me_reference_block(empty, 0, 0, far[0], 4, 4, dst, 16), MOTUS_ERR_STATE);
    CU_ASSERT_EQUAL(motus_me_reference_block(reference, 0, 0, far[0], 20, 4, dst, 20),
                    MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_me_reference_block(reference, 0, 0, far[0], 8, 6, dst, 16),
                    MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_me_reference_block(reference, 0, 0, far[0], 8, 8, dst, 7),
                    MOTUS_ERR_ARGUMENT);
    MotusMeReference **const all[] = {&reference, &full, &empty, &wide};
    for (int i = 0; i < 4; i++) motus_me_reference_unref(all[i]);
    motus_me_close(&me);
    motus_me_close(&me_whole);
    motus_me_close(&me_other);
}

MOTUS_SUITE("me_request", TEST(random_cases), TEST(extremes), TEST(statistics), TEST(blocks),
            TEST(shared), TEST(centres), TEST(queue), TEST(states), TEST(host_memory))
