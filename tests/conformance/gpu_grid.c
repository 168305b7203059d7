// gpu_grid [OPTION...] FILE...: CUDA's streams, pass logs and reconstructions against the CPU's.
// Every pair of values of two settings occurs for each file, with 1, 2, 7 and 16 GOP coders.
// Prints a line per file with a checksum of its streams and reconstructions, and every failure.
// --cpu leaves the device out. --keep FOLDER keeps the streams and the Adler-32 of each picture,
// for decode_sums.sh: if the checksums of two machines agree, decoding on one is enough.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/cpu.h"
#include "tests/conformance/grid_case.h"

typedef struct Options {
    const char *folder; // NULL: streams are not kept
    long budget;        // luma samples of a stream
    int rows, cpu;      // most rows, spread over all; the CPU alone
    int whole;          // no crops
} Options;

// Writes FILE-NUMBER.264, and FILE-NUMBER.sums with a line per picture.
static void keep(const GridCoded *coded, const char *folder, const char *name, int number) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%03d.264", folder, name, number);
    FILE *stream = fopen(path, "wb");
    snprintf(path, sizeof path, "%s/%s-%03d.sums", folder, name, number);
    FILE *sums = fopen(path, "w");
    if (!stream || !sums) abort();
    fwrite(coded->data, 1, coded->size, stream);
    for (int i = 0; i < coded->pictures; i++) fprintf(sums, "0x%08x\n", coded->sum[i]);
    if (fclose(stream) || fclose(sums)) abort();
}

static uint64_t fnv(uint64_t hash, const void *data, size_t size) {
    for (size_t i = 0; i < size; i++) hash = (hash ^ ((const uint8_t *)data)[i]) * 1099511628211u;
    return hash;
}

static unsigned run_sequence(GridSequence *sequence, int (*rows)[MOTUS_MAX_AXES], int n_rows,
                             const Options *o) {
    static GridCase cases[GRID_ROWS];
    const int n = o->rows && o->rows < n_rows ? o->rows : n_rows;
    const int threads = motus_cpu_threads(0) / n;
    const time_t began = time(NULL);
    unsigned failures = 0, pictures = 0;
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < n; i++) {
        grid_case_open(&cases[i], sequence, rows[(long)i * n_rows / n], o->budget, o->whole);
        cases[i].threads = threads > 1 ? threads : 1;
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < n; i++) grid_case_on_the_cpu(&cases[i]);
    const time_t coded = time(NULL);
    for (int i = 0; i < n; i++) {
        GridCase *c = &cases[i];
        const GridCoded *bad = *c->first.failure ? &c->first : &c->want;
        if (*bad->failure)
            grid_print_failure(c, 0, bad->failure), failures++;
        else if (!o->cpu)
            failures += grid_case_on_the_device(c);
        pictures += (unsigned)c->want.pictures;
        hash = fnv(fnv(hash, c->want.data, c->want.size), c->want.sum, sizeof c->want.sum);
        if (o->folder) keep(&c->want, o->folder, sequence->name, i);
        grid_case_close(c);
    }
    printf(
        "%-28s %4dx%-4d %3d settings %5u pictures%s %016llx %3u failures, CPU %ld s, all %ld s\n",
        sequence->name, sequence->frame[0]->width, sequence->frame[0]->height, n, pictures,
        o->cpu ? "" : " x 4 numbers of GOP coders", (unsigned long long)hash, failures,
        (long)(coded - began), (long)(time(NULL) - began));
    fflush(stdout);
    grid_sequence_free(sequence);
    return failures;
}

static int usage(void) {
    fprintf(stderr, "usage: gpu_grid [--budget LUMA_SAMPLES] [--rows N] [--keep FOLDER] [--cpu] "
                    "[--whole] FILE...\n");
    return 2;
}

int main(int argc, char **argv) {
    static int rows[GRID_ROWS][MOTUS_MAX_AXES];
    Options o = {.budget = 12L * 352 * 288};
    int values[MOTUS_MAX_AXES], i = 1;
    unsigned failures = 0;
    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        if (!strcmp(argv[i], "--cpu") || !strcmp(argv[i], "--whole")) {
            *(argv[i][2] == 'c' ? &o.cpu : &o.whole) = 1;
            continue;
        }
        if (i + 1 == argc) return usage();
        const char *name = argv[i++];
        if (!strcmp(name, "--budget"))
            o.budget = atol(argv[i]);
        else if (!strcmp(name, "--rows"))
            o.rows = atoi(argv[i]);
        else if (!strcmp(name, "--keep"))
            o.folder = argv[i];
        else
            return usage();
    }
    if (i == argc) return usage();
    const int n_rows = motus_pairwise(grid_settings(values), values, rows, GRID_ROWS);
    for (; i < argc; i++) {
        GridSequence sequence;
        if (grid_sequence_load(&sequence, argv[i]))
            failures += run_sequence(&sequence, rows, n_rows, &o);
        else
            failures++;
    }
    return failures != 0;
}
