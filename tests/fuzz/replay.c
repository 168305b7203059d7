// Runs a fuzz target without libFuzzer, over its seeds and a fixed series of mutations of them.
//   replay CASES          runs, or as many as MOTUS_FUZZ_CASES says
//   replay --seeds DIR    writes the seeds as files for libFuzzer to start from
//   replay --file FILE    runs one saved input
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static uint32_t state = 20240229;

static uint32_t below(uint32_t n) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % n;
}

// Makes one change at a random position; returns the new size, at least 1.
static size_t mutate(uint8_t *data, size_t size) {
    static const uint8_t telling[] = {0, 1, 127, 128, 255, '\n', ' ', ':', '0', '9', 'W', 'F'};
    size_t at = below((uint32_t)size), n = 1 + below(16);
    if (n > size - at) n = size - at;
    switch (below(6)) {
    case 0:
        data[at] ^= (uint8_t)(1 << below(8));
        break;
    case 1:
        data[at] = telling[below(sizeof telling)];
        break;
    case 2:
        data[at] = (uint8_t)below(256);
        break;
    case 3: // cut off
        return at + 1;
    case 4: // remove n bytes
        memmove(data + at, data + at + n, size - at - n);
        return size > n ? size - n : 1;
    default: // repeat n bytes
        if (size + n > FUZZ_MAX_INPUT) break;
        memmove(data + at + n, data + at, size - at);
        return size + n;
    }
    return size;
}

static int run_cases(int cases) {
    static uint8_t data[FUZZ_MAX_INPUT];
    int seeds = 0;
    for (size_t n; (n = motus_fuzz_seed(seeds, data)); seeds++) LLVMFuzzerTestOneInput(data, n);
    for (int i = 0; i < cases; i++) {
        size_t size = motus_fuzz_seed(i % seeds, data);
        // A copy of the exact size, so that the address sanitizer sees reads beyond it.
        for (uint32_t changes = 1 + below(6); changes; changes--) size = mutate(data, size);
        uint8_t *exact = malloc(size);
        if (!exact) return 1;
        memcpy(exact, data, size);
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
    }
    printf("%d seeds, %d cases\n", seeds, cases);
    return 0;
}

static int write_seeds(const char *folder) {
    static uint8_t data[FUZZ_MAX_INPUT];
    char path[4096];
    size_t n;
    for (int i = 0; (n = motus_fuzz_seed(i, data)); i++) {
        snprintf(path, sizeof path, "%s/seed%d", folder, i);
        FILE *f = fopen(path, "wb");
        if (!f || fwrite(data, 1, n, f) != n || fclose(f)) {
            perror(path);
            return 1;
        }
    }
    return 0;
}

static int run_file(const char *path) {
    static uint8_t data[1 << 20];
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return 1;
    }
    size_t n = fread(data, 1, sizeof data, f);
    fclose(f);
    return LLVMFuzzerTestOneInput(data, n);
}

int main(int argc, char **argv) {
    if (argc == 3 && !strcmp(argv[1], "--seeds")) return write_seeds(argv[2]);
    if (argc == 3 && !strcmp(argv[1], "--file")) return run_file(argv[2]);
    const char *wanted = getenv("MOTUS_FUZZ_CASES");
    return run_cases(wanted ? atoi(wanted) : argc > 1 ? atoi(argv[1]) : 300);
}
