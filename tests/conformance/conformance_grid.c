// The full grid of settings over real sequences: conformance_grid [--budget SAMPLES] [--keep
// FOLDER] FILE... Every value of every setting and every pair of values occurs for each file. Each
// stream is compared with the encoder's own figures and decoded by libavcodec. Those without B
// pictures are also parsed, and decoded by openh264. --keep stores streams with checksums of their
// reconstruction, for other decoders. Prints a line per file, a table of the settings, the syntax
// elements of all streams, and every failure.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/conformance/decoders/conform.h"
#include "tests/conformance/grid.h"

// clang-format off
enum {
    QP, PARTITIONS, CROP, RANGE, KEYINT, SUBPEL, DEBLOCK, AUD, PRESET, THREADS, RATE, MAPS, SLICES,
    SIZE, SCENECUT, PROFILE, BFRAMES, PYRAMID, AXES
};
// clang-format on

_Static_assert(AXES <= (int)MOTUS_MAX_AXES, "see tests/conformance/decoders/pairwise.h");

// Crops, as the visible size in the picture's middle; 0 = all, negative = less than all.
static const int crop_size[6][2] = {{0, 0}, {16, 16}, {-2, -6}, {50, 34}, {176, 80}, {2, 2}};

static const GridAxis axes[AXES] = {
    [QP] = {"qp", "0 10 22 27 32 37 45 51"},
    [PARTITIONS] = {"partitions", "16x16=0x01 +16x8,8x16=0x07 +8x8=0x0F +8x4=0x1F all=0x7F "
                                  "8x4=0x10 4x8=0x20 4x4=0x40"},
    [CROP] = {"size", "whole=0 16x16=1 -2x-6=2 50x34=3 176x80=4 2x2=5"},
    [RANGE] = {"range", "8 16 32 64"},
    [KEYINT] = {"keyint", "1 10 none=0"},
    [SUBPEL] = {"subpel", "full=0 half=1 quarter=2"},
    [DEBLOCK] = {"deblock", "off=0 on=1"},
    [AUD] = {"aud", "off=0 on=1"},
    [PRESET] = {"preset", GRID_PRESETS},
    [THREADS] = {"threads", "1 2"},
    [RATE] = {"rate", "qp=0 crf=1 crf+aq=2 bitrate=3 cbr=4"},
    [MAPS] = {"maps", "none=0 mixed=1"},
    [SLICES] = {"slices", "1 2 3 17 999"},
    [SIZE] = {"slice size", "any=0 128 300 1200 5000"},
    [SCENECUT] = {"scenecut", "off=0 on=60"},
    // Without CABAC: + 4; without the 8x8 transform: + 8.
    [PROFILE] = {"profile", "baseline=0 main=1 main,cavlc=5 high=2 high,cavlc=6 high,4x4=10"},
    [BFRAMES] = {"bframes", "0 1 2 3 7"}, // in profile baseline 0
    [PYRAMID] = {"b pyramid", "none=0 normal=1"},
};

_Static_assert(MOTUS_SUBPEL_QUARTER == 2 && MOTUS_MAPS_MIXED == 1, "values of the axes");

static int value(const int *row, int axis) { return grid_value(&axes[axis], row[axis], NULL); }

static MotusEncoderConfig configure(const MotusFrame *frame, const int *row) {
    MotusEncoderConfig config =
        motus_encoder_config_default(frame->width, frame->height, (MotusRational){30, 1});
    config.qp = value(row, QP);
    config.partitions = (uint32_t)value(row, PARTITIONS);
    config.range = value(row, RANGE);
    config.keyint = value(row, KEYINT);
    config.subpel = (MotusSubpel)value(row, SUBPEL);
    config.deblock = value(row, DEBLOCK);
    config.aud = value(row, AUD);
    config.preset = (MotusPreset)value(row, PRESET);
    config.threads = value(row, THREADS);
    config.backend = MOTUS_BACKEND_CPU;
    config.slices = value(row, SLICES);
    config.slice_max_size = value(row, SIZE);
    motus_conform_rate(&config, value(row, RATE));
    config.scenecut = value(row, SCENECUT);
    config.profile = (MotusProfile)(value(row, PROFILE) & 3);
    config.cabac = !(value(row, PROFILE) & 4);
    config.transform_8x8 = !(value(row, PROFILE) & 8);
    config.bframes = value(row, PROFILE) ? value(row, BFRAMES) : 0;
    config.b_pyramid = (MotusBPyramid)value(row, PYRAMID);
    return config;
}

static void print_failure(const GridSequence *sequence, const int *row, const char *failure) {
    printf("FAILURE %s", sequence->name);
    grid_print_row(axes, AXES, row);
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

static void run_row(const GridSequence *sequence, const int *row, long budget, Total *total) {
    MotusFrame *frames[GRID_FRAMES];
    const int n = grid_sequence_crop(frames, sequence, crop_size[value(row, CROP)], budget);
    const MotusEncoderConfig config = configure(frames[0], row);
    MotusCoded coded;
    motus_conform_encode(&coded, &config, frames, n, (MotusConformMaps)value(row, MAPS));
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

static void run_sequence(GridSequence *sequence, int (*rows)[MOTUS_MAX_AXES], int n_rows,
                         long budget, Total *total) {
    const Total before = *total;
    const time_t start = time(NULL);
    for (int i = 0; i < n_rows; i++) run_row(sequence, rows[i], budget, total);
    printf("%-28s %4dx%-4d %4u streams %5u pictures %8.1f MB %3u failures %4lds\n", sequence->name,
           sequence->frame[0]->width, sequence->frame[0]->height, total->streams - before.streams,
           total->pictures - before.pictures, (double)(total->bytes - before.bytes) / 1e6,
           total->failures - before.failures, (long)(time(NULL) - start));
    fflush(stdout);
    grid_sequence_free(sequence);
}

static void print_axes(const Total *total, const int *values) {
    for (int a = 0; a < AXES; a++) {
        printf("%-11s", axes[a].name);
        for (int i = 0; i < values[a]; i++) {
            char name[24];
            grid_value(&axes[a], i, name);
            printf(" %s: %u", name, total->good[a][i]);
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
    print_counts("intra8x8_pred_mode", c->intra8x8_pred_mode, 9);
    print_counts("8x8 transform", c->transform_8x8, 2);
    print_counts("mvd codes, by bits", c->mvd_bits + 1, 32);
    for (int i = 0; i < 7; i++) print_counts("level_prefix", c->level_prefix[i], 16);
    print_counts("longest MB in bits", &c->mb_bits, 1);
}

int main(int argc, char **argv) {
    static int rows[GRID_ROWS][MOTUS_MAX_AXES];
    static Total total;
    long budget = 12L * 352 * 288; // luma samples per stream
    int values[AXES], first = 1;
    for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2) {
        if (!strcmp(argv[first], "--budget")) budget = atol(argv[first + 1]);
        if (!strcmp(argv[first], "--keep")) total.folder = argv[first + 1];
    }
    if (first >= argc) {
        fprintf(stderr, "usage: conformance_grid [--budget SAMPLES] [--keep FOLDER] FILE...\n");
        return 2;
    }
    grid_counts(axes, AXES, values);
    const int n_rows = motus_pairwise(AXES, values, rows, GRID_ROWS);
    for (int i = first; i < argc; i++) {
        GridSequence sequence;
        if (grid_sequence_load(&sequence, argv[i]))
            run_sequence(&sequence, rows, n_rows, budget, &total);
        else
            total.failures++;
    }
    print_axes(&total, values);
    print_coverage(&total.coverage);
    printf("total: %u streams, %u pictures, %.1f MB, %u failures\n", total.streams, total.pictures,
           (double)total.bytes / 1e6, total.failures);
    return total.failures != 0;
}
