// SPDX-License-Identifier: BSD-2-Clause
#include "tools/compare/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"

typedef struct Cell {
    int frame, x, y;
    MotusMv mv;
    int known; // moves as one and is not flat
} Cell;

struct MotusTruth {
    int grid;
    Cell *cell; // sorted by frame, y, x
    size_t n, capacity;
};

static int compare_cells(const Cell *a, const Cell *b) {
    if (a->frame != b->frame) return a->frame < b->frame ? -1 : 1;
    if (a->y != b->y) return a->y < b->y ? -1 : 1;
    return (a->x > b->x) - (a->x < b->x);
}

static int by_position(const void *a, const void *b) { return compare_cells(a, b); }

static MotusStatus add(MotusTruth *t, Cell cell) {
    if (t->n == t->capacity) {
        const size_t capacity = t->capacity ? 2 * t->capacity : 4096;
        Cell *more = motus_alloc(capacity, sizeof *more);
        if (!more) return MOTUS_ERR_MEMORY;
        if (t->n) memcpy(more, t->cell, t->n * sizeof *more);
        motus_free(t->cell);
        t->cell = more;
        t->capacity = capacity;
    }
    t->cell[t->n++] = cell;
    return MOTUS_OK;
}

// Reads n integers separated by commas; returns 0 if there are fewer.
static int numbers(const char *line, long *value, int n) {
    for (int i = 0; i < n; i++) {
        char *end;
        errno = 0;
        value[i] = strtol(line, &end, 10);
        if (end == line || errno || value[i] < -65536 || value[i] > 10000000 ||
            (i + 1 < n && *end != ','))
            return 0;
        line = end + 1;
    }
    return 1;
}

static MotusStatus read_rows(MotusTruth *t, FILE *file, const char *path, MotusError *error) {
    char line[256];
    if (!fgets(line, sizeof line, file) ||
        strncmp(line, "frame,x,y,w,h,mv_x,mv_y,layer,whole,flat", 40))
        return motus_fail(error, MOTUS_ERR_FORMAT, "%s: is no table of 'motus synth --vectors'",
                          motus_shown(path));
    for (long row = 2; fgets(line, sizeof line, file); row++) {
        long v[10];
        if (!numbers(line, v, 10) || v[3] < 4 || v[3] > 64 || v[3] != v[4] ||
            (t->grid && v[3] != t->grid))
            return motus_fail(error, MOTUS_ERR_FORMAT, "%s: line %ld is not understood",
                              motus_shown(path), row);
        t->grid = (int)v[3];
        const Cell cell = {
            (int)v[0], (int)v[1], (int)v[2], {(int16_t)v[5], (int16_t)v[6]}, v[8] && !v[9]};
        if (add(t, cell))
            return motus_fail(error, MOTUS_ERR_MEMORY, "%s: out of memory", motus_shown(path));
    }
    if (ferror(file))
        return motus_fail(error, MOTUS_ERR_IO, "%s: cannot be read", motus_shown(path));
    if (t->n) qsort(t->cell, t->n, sizeof *t->cell, by_position);
    return t->n ? MOTUS_OK
                : motus_fail(error, MOTUS_ERR_FORMAT, "%s: holds no vectors", motus_shown(path));
}

MotusStatus motus_truth_load(MotusTruth **truth, const char *path, MotusError *error) {
    *truth = NULL;
    FILE *file = fopen(path, "r");
    if (!file) return motus_fail(error, MOTUS_ERR_IO, "%s: %s", motus_shown(path), strerror(errno));
    MotusTruth *t = motus_alloc(1, sizeof *t);
    MotusStatus status =
        t ? read_rows(t, file, path, error) : motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    fclose(file);
    *truth = t;
    if (status) motus_truth_free(truth);
    return status;
}

int motus_truth_at(const MotusTruth *t, int64_t n, int x, int y, int width, int height,
                   MotusMv *mv) {
    int first = 1;
    for (int cy = y / t->grid * t->grid; cy < y + height; cy += t->grid)
        for (int cx = x / t->grid * t->grid; cx < x + width; cx += t->grid) {
            const Cell wanted = {.frame = (int)n, .x = cx, .y = cy};
            const Cell *cell = bsearch(&wanted, t->cell, t->n, sizeof *t->cell, by_position);
            if (!cell || !cell->known) return 0;
            if (!first && (cell->mv.x != mv->x || cell->mv.y != mv->y)) return 0;
            *mv = cell->mv;
            first = 0;
        }
    return !first;
}

void motus_truth_free(MotusTruth **truth) {
    if (!truth || !*truth) return;
    motus_free((*truth)->cell);
    motus_free(*truth);
    *truth = NULL;
}
