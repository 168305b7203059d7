// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/decoders/material.h"
#include "yuv/io/reader.h"

int grid_value(const GridAxis *axis, int i, char name[24]) {
    const char *word = axis->values;
    while (i--) word = strchr(word, ' ') + 1;
    const size_t length = strcspn(word, " ="), number = word[length] == '=' ? length + 1 : 0;
    if (name) snprintf(name, 24, "%.*s", (int)length, word);
    return (int)strtol(word + number, NULL, 0);
}

void grid_counts(const GridAxis *axes, int n, int *values) {
    for (int a = 0; a < n; a++) {
        values[a] = 1;
        for (const char *c = axes[a].values; *c; c++) values[a] += *c == ' ';
    }
}

void grid_print_row(const GridAxis *axes, int n, const int *row) {
    for (int a = 0; a < n; a++) {
        char name[24];
        grid_value(&axes[a], row[a], name);
        printf(" %s=%s", axes[a].name, name);
    }
}

int grid_sequence_load(GridSequence *sequence, const char *path) {
    MotusReader *reader;
    MotusError error;
    const char *slash = strrchr(path, '/');
    *sequence = (GridSequence){.name = slash ? slash + 1 : path};
    if (motus_reader_open(&reader, path, &(MotusReaderOptions){0}, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 0;
    }
    while (sequence->n < GRID_FRAMES &&
           !motus_reader_next(reader, &sequence->frame[sequence->n], &error))
        sequence->n++;
    motus_reader_close(&reader);
    return sequence->n;
}

void grid_sequence_free(GridSequence *sequence) {
    for (int i = 0; i < sequence->n; i++) motus_frame_unref(&sequence->frame[i]);
}

int grid_sequence_crop(MotusFrame **frame, const GridSequence *sequence, const int size[2],
                       long budget) {
    for (int i = 0; i < sequence->n; i++) frame[i] = motus_middle_of(sequence->frame[i], size);
    const long n = budget / ((long)frame[0]->width * frame[0]->height);
    if (n >= sequence->n) return sequence->n;
    return n >= GRID_LEAST_FRAMES            ? (int)n
           : sequence->n < GRID_LEAST_FRAMES ? sequence->n
                                             : GRID_LEAST_FRAMES;
}
