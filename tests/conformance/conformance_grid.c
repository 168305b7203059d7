// The full grid of settings over real sequences: conformance_grid [--budget SAMPLES] [--keep
// FOLDER] FILE... Every value of every setting and every pair of values occurs for each file. Each
// stream is parsed, compared with the encoder's own figures and decoded by libavcodec and openh264.
// --keep stores it with checksums of its reconstruction, for other decoders. Prints a line per
// file, a table of the settings, the syntax elements of all streams, and every failure.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/conformance/decoders/conform.h"
#include "tests/conformance/decoders/material.h"
#include "tests/conformance/decoders/pairwise.h"
#include "yuv/io/reader.h"

enum { MOST_ROWS = 200, MOST_FRAMES = 12, LEAST_FRAMES = 3 };
enum {
    QP,
    PARTITIONS,
    CROP,
    RANGE,
    KEYINT,
    SUBPEL,
    DEBLOCK,
    AUD,
    PRESET,
    THREADS,
    RATE,
    MAPS,
    SLICES,
    SIZE,
    SCENECUT,
    AXES
};

_Static_assert(AXES <= (int)MOTUS_MAX_AXES, "see tests/conformance/decoders/pairwise.h");

typedef struct Value {
    const char *name;
    int number;
} Value;

typedef struct Axis {
    const char *name;
    int n;
    Value value[MOTUS_MAX_VALUES];
} Axis;

// Crops, as the visible size in the picture's middle; 0 = all, negative = less than all.
static const int crop_size[6][2] = {{0, 0}, {16, 16}, {-2, -6}, {50, 34}, {176, 80}, {2, 2}};

static const Axis axes[AXES] = {
    {"qp",
     8,
     {{"0", 0},
      {"10", 10},
      {"22", 22},
      {"27", 27},
      {"32", 32},
      {"37", 37},
      {"45", 45},
      {"51", 51}}},
    {"partitions",
     8,
     {{"16x16", 0x01},
      {"+16x8,8x16", 0x07},
      {"+8x8", 0x0F},
      {"+8x4", 0x1F},
      {"all", 0x7F},
      {"8x4", 0x10},
      {"4x8", 0x20},
      {"4x4", 0x40}}},
    {"size",
     6,
     {{"whole", 0}, {"16x16", 1}, {"-2x-6", 2}, {"50x34", 3}, {"176x80", 4}, {"2x2", 5}}},
    {"range", 4, {{"8", 8}, {"16", 16}, {"32", 32}, {"64", 64}}},
    {"keyint", 3, {{"1", 1}, {"10", 10}, {"none", 0}}},
    {"subpel",
     3,
     {{"full", MOTUS_SUBPEL_FULL}, {"half", MOTUS_SUBPEL_HALF}, {"quarter", MOTUS_SUBPEL_QUARTER}}},
    {"deblock", 2, {{"off", 0}, {"on", 1}}},
    {"aud", 2, {{"off", 0}, {"on", 1}}},
    {"preset",
     MOTUS_PRESETS,
     {{"slow", MOTUS_PRESET_SLOW},
      {"medium", MOTUS_PRESET_MEDIUM},
      {"fast", MOTUS_PRESET_FAST},
      {"faster", MOTUS_PRESET_FASTER}}},
    {"threads", 2, {{"1", 1}, {"2", 2}}},
    {"rate", 5, {{"qp", 0}, {"crf", 1}, {"crf+aq", 2}, {"bitrate", 3}, {"cbr", 4}}},
    {"maps", 2, {{"none", 0}, {"wild", 1}}},
    {"slices", 5, {{"1", 1}, {"2", 2}, {"3", 3}, {"17", 17}, {"999", 999}}},
    {"slice size", 5, {{"any", 0}, {"128", 128}, {"300", 300}, {"1200", 1200}, {"5000", 5000}}},
    {"scenecut", 2, {{"off", 0}, {"on", 60}}},
};

typedef struct Sequence {
    const char *name;
    MotusFrame *frame[MOST_FRAMES];
    int n;
} Sequence;

static int load(Sequence *sequence, const char *path) {
    const MotusReaderOptions options = {0};
    MotusReader *reader;
    MotusError error;
    const char *slash = strrchr(path, '/');
    sequence->name = slash ? slash + 1 : path;
    sequence->n = 0;
    if (motus_reader_open(&reader, path, &options, &error)) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        return 0;
    }
    while (sequence->n < MOST_FRAMES &&
           motus_reader_next(reader, &sequence->frame[sequence->n], &error) == MOTUS_OK)
        sequence->n++;
    motus_reader_close(&reader);
    return sequence->n > 0;
}

static MotusEncoderConfig configure(const MotusFrame *frame, const int *row) {
    MotusEncoderConfig config =
        motus_encoder_config_default(frame->width, frame->height, (MotusRational){30, 1});
    config.qp = axes[QP].value[row[QP]].number;
    config.partitions = (uint32_t)axes[PARTITIONS].value[row[PARTITIONS]].number;
    config.range = axes[RANGE].value[row[RANGE]].number;
    config.keyint = axes[KEYINT].value[row[KEYINT]].number;
    config.subpel = (MotusSubpel)axes[SUBPEL].value[row[SUBPEL]].number;
    config.deblock = axes[DEBLOCK].value[row[DEBLOCK]].number;
    config.aud = axes[AUD].value[row[AUD]].number;
    config.preset = (MotusPreset)axes[PRESET].value[row[PRESET]].number;
    config.threads = axes[THREADS].value[row[THREADS]].number;
    config.backend = MOTUS_BACKEND_CPU;
    config.slices = axes[SLICES].value[row[SLICES]].number;
    config.slice_max_size = axes[SIZE].value[row[SIZE]].number;
    motus_conform_rate(&config, axes[RATE].value[row[RATE]].number);
    config.scenecut = axes[SCENECUT].value[row[SCENECUT]].number;
    return config;
}

static void print_failure(const Sequence *sequence, const int *row, const char *failure) {
    printf("FAILURE %s", sequence->name);
    for (int a = 0; a < AXES; a++) printf(" %s=%s", axes[a].name, axes[a].value[row[a]].name);
    printf(": %s\n", failure);
}

// Writes FILE-NUMBER.264 and FILE-NUMBER.sums: the size, and per picture the FNV-1a of its visible
// samples.
static void keep(const MotusCoded *coded, const char *folder, const char *name, unsigned number) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s-%03u.264", folder, name, number);
    FILE *stream = fopen(path, "wb");
    snprintf(path, sizeof path, "%s/%s-%03u.sums", folder, name, number);
    FILE *sums = fopen(path, "w");
    if (!stream || !sums) abort();
    fwrite(coded->data, 1, coded->size, stream);
    fprintf(sums, "%d %d\n", coded->recon[0]->width, coded->recon[0]->height);
    for (int i = 0; i < coded->pictures; i++) {
        uint32_t sum = 2166136261u;
        for (int c = 0; c < 3; c++) {
            const MotusPlane *p = &coded->recon[i]->plane[c];
            for (int y = 0; y < p->height; y++)
                for (int x = 0; x < p->width; x++)
                    sum = (sum ^ p->data[y * p->stride + x]) * 16777619u;
        }
        fprintf(sums, "%08x\n", sum);
    }
    if (fclose(stream) || fclose(sums)) abort();
}

typedef struct Total {
    const char *folder; // NULL: streams are not kept
    unsigned streams, pictures, failures;
    size_t bytes;
    unsigned good[AXES][MOTUS_MAX_VALUES], bad[AXES][MOTUS_MAX_VALUES]; // streams by setting
    MotusCoverage coverage;
} Total;

static void run_row(const Sequence *sequence, const int *row, long budget, Total *total) {
    MotusFrame *frames[MOST_FRAMES];
    const int *size = crop_size[axes[CROP].value[row[CROP]].number];
    for (int i = 0; i < sequence->n; i++) frames[i] = motus_middle_of(sequence->frame[i], size);
    long n = budget / ((long)frames[0]->width * frames[0]->height);
    n = n < LEAST_FRAMES ? LEAST_FRAMES : n;
    n = n > sequence->n ? sequence->n : n;
    const MotusEncoderConfig config = configure(frames[0], row);
    MotusCoded coded;
    motus_conform_encode(&coded, &config, frames, (int)n,
                         (MotusConformMaps)axes[MAPS].value[row[MAPS]].number);
    motus_conform_judge(&coded, &total->coverage);
    if (total->folder && coded.pictures)
        keep(&coded, total->folder, sequence->name, total->streams);
    const int failed = coded.failure[0] != 0;
    if (failed) print_failure(sequence, row, coded.failure);
    total->streams++;
    total->failures += (unsigned)failed;
    total->pictures += (unsigned)coded.pictures;
    total->bytes += coded.size;
    for (int a = 0; a < AXES; a++) (failed ? total->bad : total->good)[a][row[a]]++;
    motus_coded_free(&coded);
    for (int i = 0; i < sequence->n; i++) motus_frame_unref(&frames[i]);
}

static void run_sequence(Sequence *sequence, int (*rows)[MOTUS_MAX_AXES], int n_rows, long budget,
                         Total *total) {
    const Total before = *total;
    const time_t start = time(NULL);
    for (int i = 0; i < n_rows; i++) run_row(sequence, rows[i], budget, total);
    printf("%-28s %4dx%-4d %4u streams %5u pictures %8.1f MB %3u failures %4lds\n", sequence->name,
           sequence->frame[0]->width, sequence->frame[0]->height, total->streams - before.streams,
           total->pictures - before.pictures, (double)(total->bytes - before.bytes) / 1e6,
           total->failures - before.failures, (long)(time(NULL) - start));
    fflush(stdout);
    for (int i = 0; i < sequence->n; i++) motus_frame_unref(&sequence->frame[i]);
}

static void print_axes(const Total *total) {
    for (int a = 0; a < AXES; a++) {
        printf("%-11s", axes[a].name);
        for (int i = 0; i < axes[a].n; i++) {
            printf(" %s: %u", axes[a].value[i].name, total->good[a][i]);
            if (total->bad[a][i]) printf(" (%u FAILED)", total->bad[a][i]);
        }
        printf("\n");
    }
}

static void print_counts(const char *name, const unsigned *counts, int n) {
    printf("%-26s", name);
    for (int i = 0; i < n; i++) printf(" %u", counts[i]);
    printf("\n");
}

static void print_coverage(const MotusCoverage *c) {
    print_counts("pictures I, P", c->pictures, 2);
    print_counts("mb_type, I slices", c->i_mb_type[0], 26);
    print_counts("mb_type, intra in P", c->i_mb_type[1], 26);
    print_counts("mb_type, inter", c->p_mb_type, 4);
    print_counts("P_Skip", &c->p_skip, 1);
    print_counts("sub_mb_type", c->sub_mb_type, 4);
    print_counts("intra4x4_pred_mode", c->intra4x4_pred_mode, 9);
    print_counts("intra_chroma_pred_mode", c->intra_chroma, 4);
    print_counts("mvd codes, by bits", c->mvd_bits + 1, 32);
    for (int i = 0; i < 7; i++) print_counts("level_prefix", c->level_prefix[i], 16);
    print_counts("longest MB in bits", &c->mb_bits, 1);
}

int main(int argc, char **argv) {
    static int rows[MOST_ROWS][MOTUS_MAX_AXES];
    static Total total;
    long budget = 12L * 352 * 288; // luma samples per stream
    int sizes[AXES], first = 1;
    for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2) {
        if (!strcmp(argv[first], "--budget")) budget = atol(argv[first + 1]);
        if (!strcmp(argv[first], "--keep")) total.folder = argv[first + 1];
    }
    if (first >= argc) {
        fprintf(stderr, "usage: conformance_grid [--budget SAMPLES] [--keep FOLDER] FILE...\n");
        return 2;
    }
    for (int a = 0; a < AXES; a++) sizes[a] = axes[a].n;
    const int n_rows = motus_pairwise(AXES, sizes, rows, MOST_ROWS);
    for (int i = first; i < argc; i++) {
        Sequence sequence;
        if (load(&sequence, argv[i]))
            run_sequence(&sequence, rows, n_rows, budget, &total);
        else
            total.failures++;
    }
    print_axes(&total);
    print_coverage(&total.coverage);
    printf("total: %u streams, %u pictures, %.1f MB, %u failures\n", total.streams, total.pictures,
           (double)total.bytes / 1e6, total.failures);
    return total.failures != 0;
}
