// Grids of settings over real sequences: axes of values, rows of them, sequences from files.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_GRID_H
#define TESTS_GRID_H

#include "motus/encoder_config.h"
#include "motus/frame.h"
#include "tests/conformance/decoders/conform.h"

enum { GRID_ROWS = 200, GRID_FRAMES = 12, GRID_LEAST_FRAMES = 3 };

// Values: words of "NAME=NUMBER", or "NUMBER" alone.
typedef struct GridAxis {
    const char *name, *values;
} GridAxis;

// All presets. New ones come last, so that rows of the others stay.
#define GRID_PRESETS "slow=2 medium=3 fast=4 faster=5 slower=1 placebo=0"
_Static_assert(MOTUS_PRESETS == 6 && MOTUS_PRESET_PLACEBO == 0 && MOTUS_PRESET_FASTER == 5,
               "values of GRID_PRESETS");

// Returns value i of an axis; if `name` is not NULL, it gets its name.
int grid_value(const GridAxis *axis, int i, char name[24]);

// Fills values[] with the numbers of values of n axes.
void grid_counts(const GridAxis *axes, int n, int *values);

// Prints " AXIS=VALUE" of each axis.
void grid_print_row(const GridAxis *axes, int n, const int *row);

// The first frames of a file.
typedef struct GridSequence {
    const char *name; // of the file, without folders
    MotusFrame *frame[GRID_FRAMES];
    int n;
} GridSequence;

// Returns the number of frames; prints an error and returns 0 if there is none.
int grid_sequence_load(GridSequence *sequence, const char *path);
void grid_sequence_free(GridSequence *sequence);

// Fills frame[] with the middles of all frames (motus_middle_of). Returns the number of those that
// have at most `budget` luma samples together, but at least GRID_LEAST_FRAMES.
int grid_sequence_crop(MotusFrame **frame, const GridSequence *sequence, const int size[2],
                       long budget);

#endif
