// SPDX-License-Identifier: BSD-2-Clause
#include "tests/support/harness.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAND 64
#define MAX_MESSAGES 5

static uint32_t state = 1;
static int messages, skipped;

uint32_t motus_test_random(void) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

void motus_test_seed(uint32_t seed) { state = seed ? seed : 1; }

int motus_test_range(int lo, int hi) {
    return lo + (int)(motus_test_random() % ((uint32_t)(hi - lo) + 1));
}

void motus_test_fill(void *data, size_t size) {
    uint8_t *p = data;
    for (size_t i = 0; i < size; i++) p[i] = (uint8_t)(motus_test_random() >> 11);
}

void motus_test_check(int ok, const char *what, const char *file, int line, const char *format,
                      ...) {
    static CU_pTest last;
    CU_assertImplementation(ok ? CU_TRUE : CU_FALSE, (unsigned)line, what, file, "", CU_FALSE);
    if (CU_get_current_test() != last) messages = 0;
    last = CU_get_current_test();
    if (ok || ++messages > MAX_MESSAGES) return;
    va_list args;
    va_start(args, format);
    printf("\n    %s:%d: %s: ", file, line, what);
    vprintf(format, args);
    va_end(args);
}

void motus_test_ok(MotusStatus status, const char *call, const char *file, int line, int fatal) {
    if (status) printf("\n    %s:%d: %s: %s ", file, line, call, motus_status_name(status));
    CU_assertImplementation(status == MOTUS_OK, (unsigned)line, call, file, "", fatal);
}

uint8_t *motus_test_guarded(size_t size) {
    uint8_t *base = aligned_alloc(64, (sizeof size + size + 2 * BAND + 127) / 64 * 64);
    if (!base) abort();
    memcpy(base, &size, sizeof size);
    memset(base + sizeof size, 0xA5, BAND - sizeof size);
    memset(base + BAND, MOTUS_TEST_POISON, size);
    memset(base + BAND + size, 0xA5, BAND);
    return base + BAND;
}

int motus_test_guard_ok(const uint8_t *data) {
    size_t size;
    memcpy(&size, data - BAND, sizeof size);
    for (size_t i = sizeof size; i < BAND; i++)
        if (data[(ptrdiff_t)i - BAND] != 0xA5) return 0;
    for (size_t i = 0; i < BAND; i++)
        if (data[size + i] != 0xA5) return 0;
    return 1;
}

void motus_test_guard_free(uint8_t *data) {
    if (data) free(data - BAND);
}

MotusPlane motus_test_plane(int width, int height) {
    const size_t stride = (size_t)(width + motus_test_range(0, 9));
    return (MotusPlane){motus_test_guarded(stride * (size_t)height), (ptrdiff_t)stride, width,
                        height};
}

MotusFrame *motus_test_frame(int width, int height) {
    MotusFrame *f = NULL;
    REQUIRE_OK(motus_frame_alloc(&f, width, height));
    for (int i = 0; i < 3; i++)
        for (int y = 0; y < f->plane[i].height; y++)
            motus_test_fill(f->plane[i].data + y * f->plane[i].stride, (size_t)f->plane[i].width);
    return f;
}

int motus_test_same_planes(const MotusPlane *a, const MotusPlane *b) {
    if (a->width != b->width || a->height != b->height) return 0;
    for (int y = 0; y < a->height; y++)
        if (memcmp(a->data + y * a->stride, b->data + y * b->stride, (size_t)a->width)) return 0;
    return 1;
}

int motus_test_same_frames(const MotusFrame *a, const MotusFrame *b) {
    for (int i = 0; i < 3; i++)
        if (!motus_test_same_planes(&a->plane[i], &b->plane[i])) return 0;
    return 1;
}

int motus_test_same_fields(const MotusField *a, const MotusField *b) {
    size_t n = (size_t)a->n_mb * MOTUS_BLOCKS;
    return !memcmp(a->mv[0], b->mv[0], n * sizeof(MotusMv)) &&
           !memcmp(a->sad[0], b->sad[0], n * sizeof(uint16_t)) &&
           !memcmp(a->cost[0], b->cost[0], n * sizeof(uint32_t));
}

int motus_test_cases(int usual) {
    const char *wanted = getenv("MOTUS_CASES");
    return wanted ? atoi(wanted) : usual;
}

const char *const motus_test_cpus[MOTUS_TEST_CPUS] = {"c", "avx2", NULL};

void motus_test_cpu(const char *name) {
    static char before[16];
    static int known, was_set;
    const char *now = getenv("MOTUS_CPU");
    if (!known++ && now) was_set = snprintf(before, sizeof before, "%s", now) >= 0;
    if (!name && was_set) name = before;
    if (name)
        setenv("MOTUS_CPU", name, 1);
    else
        unsetenv("MOTUS_CPU");
}

void motus_test_skip(const char *reason) {
    printf(" SKIP (%s) ", reason);
    skipped++;
}

int motus_test_skips(void) { return skipped; }

int motus_test_main(const char *suite, const MotusTest *tests, int argc, char **argv) {
    const char *seed = getenv("MOTUS_SEED");
    uint32_t start =
        seed ? (uint32_t)strtoul(seed, NULL, 0) : 1; // the same cases in every run by default
    printf("%s: MOTUS_SEED=%u\n", suite, start);
    if (CU_initialize_registry() != CUE_SUCCESS) return 1;
    CU_pSuite s = CU_add_suite(suite, NULL, NULL);
    int n = 0;
    for (const MotusTest *t = tests; t->name; t++)
        if (argc < 2 || !strcmp(argv[1], t->name)) n += CU_add_test(s, t->name, t->run) != NULL;
    if (!n) {
        fprintf(stderr, "%s: no test of that name\n", suite);
        return 2;
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    motus_test_seed(start);
    CU_basic_run_tests();
    unsigned failed = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failed ? 1 : skipped == n ? 77 : 0;
}
