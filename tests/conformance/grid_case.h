// A row of gpu_grid: a sequence's first frames with one value of every setting, coded on the CPU
// and then on a CUDA device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_GRID_CASE_H
#define TESTS_GRID_CASE_H

#include "motus/encoder.h"

enum { GRID_FRAMES = 12 }; // of a sequence at most

typedef struct GridSequence {
    const char *name;
    MotusFrame *frame[GRID_FRAMES];
    int n;
} GridSequence;

// What an encode came to. sum: Adler-32 of each reconstruction, 0: none was given out.
typedef struct GridCoded {
    uint8_t *data;
    size_t size;
    char *log; // of a first pass
    uint32_t sum[GRID_FRAMES];
    int pictures;
    char failure[320]; // empty: none
} GridCoded;

typedef struct GridCase {
    const GridSequence *sequence;
    const int *row;
    MotusFrame *frame[GRID_FRAMES], *device[GRID_FRAMES]; // the cropped frames
    int n, threads;                                       // of the CPU's encodes
    MotusPacket *field[GRID_FRAMES]; // whose motion fields are given; else NULL
    GridCoded first, want;           // the CPU's
} GridCase;

// How many values each setting has; returns how many settings there are.
int grid_settings(int *values);

// row: numbers of values. At most `budget` luma samples, but three frames; whole: no crops.
void grid_case_open(GridCase *c, const GridSequence *sequence, const int *row, long budget,
                    int whole);
void grid_case_close(GridCase *c);

// Fills `first` and `want`, or says there what failed.
void grid_case_on_the_cpu(GridCase *c);

// With 1, 2, 7 and 16 lanes. Returns how many differ from the CPU's, each of which is printed.
unsigned grid_case_on_the_device(GridCase *c);

// lanes 0: on the CPU.
void grid_print_failure(const GridCase *c, int gop_coders, const char *failure);

#endif
