// Harness of the suites: CUnit registration in one call, a printed and settable seed, random data,
// guarded buffers.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <CUnit/Basic.h>
#include <stddef.h>
#include <stdint.h>

#include "motus/frame.h"
#include "motus/me.h"

typedef struct MotusTest {
    const char *name;
    void (*run)(void);
} MotusTest;

// Runs the tests as one CUnit suite and returns the exit status for main. The list ends with a NULL
// name. Prints the seed, which MOTUS_SEED sets. An argument selects one test.
int motus_test_main(const char *suite, const MotusTest *tests, int argc, char **argv);

// Defines a suite's tests and main function: MOTUS_SUITE("name", TEST(one), TEST(another)).
// MOTUS_SUITE_BY names the function that runs them instead of motus_test_main.
#define TEST(function)                                                                             \
    { #function, function }
#define MOTUS_SUITE_BY(run, suite, ...)                                                            \
    static const MotusTest tests[] = {__VA_ARGS__, {0}};                                           \
    int main(int argc, char **argv) { return run(suite, tests, argc, argv); }
#define MOTUS_SUITE(suite, ...) MOTUS_SUITE_BY(motus_test_main, suite, __VA_ARGS__)

// Random numbers by xorshift, seeded by motus_test_main.
uint32_t motus_test_random(void);
void motus_test_seed(uint32_t seed);           // 0 counts as 1
int motus_test_range(int lo, int hi);          // both ends included
void motus_test_fill(void *data, size_t size); // random bytes

int motus_test_cases(int usual); // number of cases: MOTUS_CASES, or the usual number

// Checks a condition and adds the case's parameters to its message. The first failures of a test
// are printed.
#define MOTUS_CHECK(condition, ...)                                                                \
    motus_test_check((condition) != 0, #condition, __FILE__, __LINE__, __VA_ARGS__)
void motus_test_check(int ok, const char *what, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

// Checks that a call returns MOTUS_OK and prints its status if not. REQUIRE_OK also ends the test.
#define EXPECT_OK(call) motus_test_ok(call, #call, __FILE__, __LINE__, CU_FALSE)
#define REQUIRE_OK(call) motus_test_ok(call, #call, __FILE__, __LINE__, CU_TRUE)
void motus_test_ok(MotusStatus status, const char *call, const char *file, int line, int fatal);

enum { MOTUS_TEST_POISON = 0xDB }; // of outputs

// Returns size poisoned bytes between guard bands. motus_test_guard_ok returns true if the bands
// are untouched.
uint8_t *motus_test_guarded(size_t size);
int motus_test_guard_ok(const uint8_t *data);
void motus_test_guard_free(uint8_t *data);

// Returns a plane in a guarded buffer, with up to nine bytes between its rows.
MotusPlane motus_test_plane(int width, int height);

// Returns a frame of random samples.
MotusFrame *motus_test_frame(int width, int height);

int motus_test_same_planes(const MotusPlane *a, const MotusPlane *b); // sizes and samples
int motus_test_same_frames(const MotusFrame *a, const MotusFrame *b); // sizes and samples
int motus_test_same_fields(const MotusField *a,
                           const MotusField *b); // of one size: vectors, SADs and costs

// Sets MOTUS_CPU ("c", "avx2") for contexts opened later; NULL restores the value at program start.
void motus_test_cpu(const char *name);

// Names for motus_test_cpu: plain C, AVX2, the fastest version of this CPU (NULL).
enum { MOTUS_TEST_CPUS = 3 };
extern const char *const motus_test_cpus[MOTUS_TEST_CPUS];

// Marks the running test as skipped and prints it. The process exits with 77 if all tests skip.
void motus_test_skip(const char *reason);
int motus_test_skips(void); // number of skipped tests

#endif
