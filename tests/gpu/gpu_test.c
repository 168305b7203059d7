// gpu_test [SUITE[.TEST]...] [--list] [--bench [PATTERN]] [--seed N]: what a GPU must show. Without
// names all suites run. Exit status: 0, 1 after a failure, 2 for wrong arguments, 77 where
// everything was skipped for want of a GPU, which MOTUS_REQUIRE_GPU=1 makes a failure.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_required(void) {
    const char *required = getenv("MOTUS_REQUIRE_GPU");
    return required && !strcmp(required, "1");
}

#ifndef MOTUS_HAVE_CUDA
int main(void) {
    puts("SKIP: this build has no CUDA");
    return is_required() ? 1 : 77;
}
#else
#include <time.h>

#include "motus/backend.h"
#include "tests/gpu/gpu_test.h"

extern const GpuSuite gpu_driver, gpu_device, gpu_filters, gpu_colour, gpu_image, gpu_refusals,
    gpu_me, gpu_me_api, gpu_me_request, gpu_centres, gpu_decide, gpu_deblock, gpu_slice, gpu_cabac,
    gpu_lookahead, gpu_mini_gop, gpu_rate, gpu_encoder, gpu_scenes, gpu_weights, gpu_packets,
    gpu_devices, gpu_faults, gpu_av, gpu_lost;

static const GpuSuite *const suites[] = {
    &gpu_driver, &gpu_device,  &gpu_filters,    &gpu_colour,   &gpu_image,  &gpu_refusals,
    &gpu_me,     &gpu_me_api,  &gpu_me_request, &gpu_centres,  &gpu_decide, &gpu_deblock,
    &gpu_slice,  &gpu_cabac,   &gpu_lookahead,  &gpu_mini_gop, &gpu_rate,   &gpu_encoder,
    &gpu_scenes, &gpu_weights, &gpu_packets,    &gpu_devices,  &gpu_faults,
#ifdef MOTUS_HAVE_AV
    &gpu_av,
#endif
    &gpu_lost, // last: the process has no device afterwards
};

enum { SUITES = sizeof suites / sizeof *suites };

uint32_t gpu_seed = 1;
static const char *bench; // pattern; NULL: rows are tested
static int lists, n_names;
static char **names; // suites or SUITE.TEST

// ---- What suites share --------------------------------------------------------------------------

int gpu_ok(cudaError_t status, const char *call, const char *file, int line) {
    motus_test_check(status == cudaSuccess, call, file, line, "%s", cudaGetErrorString(status));
    return status == cudaSuccess;
}

size_t gpu_free_bytes(void) {
    size_t now = 0, total;
    GPU_OK(cudaMemGetInfo(&now, &total));
    return now;
}

// The first two attempts may load kernels.
long gpu_fail_everywhere(int (*attempt)(void *opaque, long n), void *opaque) {
    enum { MOST = 5000 };
    size_t before = 0, after = 0;
    long n = 0;
    int failed;
    do {
        failed = attempt(opaque, n);
        *(n < 2 ? &before : &after) = gpu_free_bytes();
    } while (failed && n++ < MOST);
    MOTUS_CHECK(!failed && before == after, "%zu bytes free, then %zu after %ld failures", before,
                after, n);
    return n;
}

uint32_t gpu_seed_of(const char *suite, const char *name, int number) {
    uint32_t hash = gpu_seed * 2654435761u + (uint32_t)number * 2246822519u;
    for (const char *text = suite; *text; text++) hash = (hash ^ (uint8_t)*text) * 16777619u;
    for (const char *text = name; *text; text++) hash = (hash ^ (uint8_t)*text) * 16777619u;
    return hash ? hash : 1;
}

void gpu_copy_plane(const MotusPlane *to, const MotusPlane *from) {
    for (int y = 0; y < to->height; y++)
        memcpy(to->data + y * to->stride, from->data + y * from->stride, (size_t)to->width);
}

void gpu_fill(void *data, size_t bytes, GpuContent content) {
    const uint8_t base = (uint8_t)motus_test_random();
    uint8_t *p = data;
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t v = (uint8_t)(motus_test_random() >> 11);
        p[i] = content == GPU_EXTREMES      ? (v & 1 ? 255 : 0)
               : content == GPU_FLAT        ? base
               : content == GPU_SLOPE       ? (uint8_t)(i / 16 + v % 8)
               : content == GPU_NEARLY_FLAT ? (uint8_t)(base + v % 11)
               : content == GPU_MINIMUM     ? 0
               : content == GPU_MAXIMUM     ? 255
                                            : v;
    }
}

void gpu_random_size(int *width, int *height, int most_width, int most_height) {
    const int shift = motus_test_range(0, 6);
    *width = 1 + motus_test_range(0, (most_width - 1) >> shift);
    *height = 1 + motus_test_range(0, (most_height - 1) >> shift);
}

// ---- Registration -------------------------------------------------------------------------------

// Runs the row that CUnit has just begun.
static void run_current(void) {
    const char *suite = CU_get_current_suite()->pName, *name = CU_get_current_test()->pName;
    const GpuRow *row = NULL;
    for (int i = 0; i < SUITES; i++)
        if (!strcmp(suites[i]->name, suite)) row = suites[i]->rows;
    while (strcmp(row->name, name)) row++;
    motus_test_seed(gpu_seed_of(suite, name, 0));
    if (bench)
        gpu_row_bench(suite, row);
    else if (row->test)
        row->test();
    else
        gpu_row_run(suite, row);
}

// True if the row is to run: it can be tested, or timed; and it or its suite is named, or nothing
// is.
static int is_wanted(const GpuSuite *suite, const GpuRow *row) {
    char name[64];
    int wanted = !n_names;
    snprintf(name, sizeof name, "%s.%s", suite->name, row->name);
    for (int i = 0; i < n_names; i++)
        wanted |= !strcmp(names[i], suite->name) || !strcmp(names[i], name);
    if (bench) return wanted && row->bench.width && strstr(name, bench);
    return wanted && (row->test || row->sizes || row->most.width);
}

// Adds the wanted rows of a suite to CUnit (NULL: to nothing), prints their names with --list, and
// returns how many there are.
static int add_rows(const GpuSuite *suite, CU_pSuite to) {
    int n = 0;
    for (const GpuRow *row = suite->rows; row->name; row++) {
        if (!is_wanted(suite, row)) continue;
        if (lists) printf("%s.%s\n", suite->name, row->name);
        n += !to || CU_add_test(to, row->name, run_current);
    }
    return n;
}

// Runs the wanted rows of a suite, prints a line about them and returns the number of failures.
static unsigned run_suite(const GpuSuite *suite) {
    const time_t began = time(NULL);
    const int skips = motus_test_skips();
    CU_pSuite registered = CU_add_suite(suite->name, NULL, NULL);
    if (!registered || !add_rows(suite, registered)) return 1;
    CU_basic_run_suite(registered);
    if (!bench)
        printf("gpu_%s: %u asserts, %u failures, %d tests skipped, %ld s\n\n", suite->name,
               CU_get_number_of_asserts(), CU_get_number_of_failures(), motus_test_skips() - skips,
               (long)(time(NULL) - began));
    fflush(stdout);
    return CU_get_number_of_failures();
}

// ---- Arguments ----------------------------------------------------------------------------------

static int usage(void) {
    fprintf(stderr, "usage: gpu_test [SUITE[.TEST]...] [--list] [--bench [PATTERN]] [--seed N]\n");
    return 2;
}

// Runs what is wanted and returns the exit status.
static int run(void) {
    int n = 0, without_gpu = 0;
    unsigned failures = 0;
    MotusBackend chosen;
    const MotusStatus no_gpu = motus_backend_choose(MOTUS_BACKEND_CUDA, &chosen);
    printf("gpu_test: seed %u\n", gpu_seed);
    if (bench && !no_gpu)
        printf("%-34s %10s %10s %8s %12s\n", "kernel", "size", "us", "GB/s", "CPU us");
    for (int i = 0; i < SUITES; i++) {
        const int rows = add_rows(suites[i], NULL);
        if (!rows) continue;
        if (!no_gpu || suites[i] == &gpu_driver) // which runs on the host
            failures += run_suite(suites[i]);
        else
            without_gpu += rows;
        n += rows;
    }
    if (without_gpu) printf("SKIP %d tests: %s\n", without_gpu, motus_status_text(no_gpu));
    if (!n) fprintf(stderr, "gpu_test: nothing of that name; see --list\n");
    if (failures || (without_gpu && is_required())) return 1;
    return !n ? 2 : without_gpu || motus_test_skips() == n ? 77 : 0;
}

int main(int argc, char **argv) {
    const char *seed = getenv("MOTUS_SEED");
    names = argv; // which keeps them at its beginning
    if (seed) gpu_seed = (uint32_t)strtoul(seed, NULL, 0);
    for (int i = 1; i < argc; i++) {
        const int has_value = i + 1 < argc && argv[i + 1][0] != '-';
        if (!strcmp(argv[i], "--list"))
            lists = 1;
        else if (!strcmp(argv[i], "--bench"))
            bench = has_value ? argv[++i] : "";
        else if (!strcmp(argv[i], "--seed") && has_value)
            gpu_seed = (uint32_t)strtoul(argv[++i], NULL, 0);
        else if (argv[i][0] == '-')
            return usage();
        else
            names[n_names++] = argv[i];
    }
    for (int i = 0; i < SUITES && lists; i++) add_rows(suites[i], NULL);
    if (lists) return 0;
    if (CU_initialize_registry() != CUE_SUCCESS) return 1;
    CU_basic_set_mode(bench ? CU_BRM_SILENT : CU_BRM_VERBOSE);
    return run();
}
#endif
