// What every suite shares: CUnit registration in one call, a printed and accepted seed, random
// data, guarded buffers.
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

// Runs the tests (the list ends with a NULL name) as one CUnit suite; returns the exit status for
// main. Prints the seed, which MOTUS_SEED sets. An argument names the one test to run.
int motus_test_main(const char *suite, const MotusTest *tests, int argc, char **argv);

// xorshift generator seeded by motus_test_main.
uint32_t motus_test_random(void);
void motus_test_seed(uint32_t seed);           // seeds it again; 0 counts as 1
int motus_test_range(int lo, int hi);          // both ends included
void motus_test_fill(void *data, size_t size); // random bytes

int motus_test_cases(int usual); // how many cases: MOTUS_CASES where that is set

// Like CU_ASSERT, with a message that carries the case's parameters; the first few failures of a
// test are printed.
#define MOTUS_CHECK(condition, ...)                                                                \
    motus_test_check((condition) != 0, #condition, __FILE__, __LINE__, __VA_ARGS__)
void motus_test_check(int ok, const char *what, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

enum { MOTUS_TEST_POISON = 0xDB }; // of outputs

// size bytes with poisoned bands before and after; motus_test_guard_ok tells whether the bands are
// untouched.
uint8_t *motus_test_guarded(size_t size);
int motus_test_guard_ok(const uint8_t *data);
void motus_test_guard_free(uint8_t *data);

int motus_test_same_frames(const MotusFrame *a, const MotusFrame *b); // sizes and samples
int motus_test_same_fields(const MotusField *a,
                           const MotusField *b); // of one size: vectors, SADs and costs

// The instructions that contexts opened from here on may use: MOTUS_CPU as this name ("c", "avx2");
// NULL: as it was when the program began.
void motus_test_cpu(const char *name);

// Marks the running test as skipped (printed, and the process exits with 77 if every test was
// skipped).
void motus_test_skip(const char *reason);
int motus_test_skips(void); // how many were skipped

#endif
