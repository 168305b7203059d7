// A row of gpu_grid: a sequence's first frames with one value of every setting, coded on the CPU
// and then on a CUDA device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_GRID_CASE_H
#define TESTS_GRID_CASE_H

#include "motus/encoder.h"
#include "tests/conformance/grid.h"

// Results of an encode. sum: Adler-32 of each frame's reconstruction; 0: there was
// none.
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
    MotusPacket *field[GRID_FRAMES];                      // with external MVs; else NULL
    GridCoded first, want;                                // the CPU's
} GridCase;

// Fills values[] with the number of values of each setting, and returns the number of settings.
int grid_settings(int *values);

// Opens the case of a row (numbers of values). It has at most `budget` luma samples, but at least
// three frames. whole: no crops.
void grid_case_open(GridCase *c, const GridSequence *sequence, const int *row, long budget,
                    int whole);
void grid_case_close(GridCase *c);

// Fills `first` and `want`, or their `failure`.
void grid_case_on_the_cpu(GridCase *c);

// Codes with 1, 2, 7 and 16 GOP coders. Prints each failure and each stream that differs from the
// CPU's, and returns their number.
unsigned grid_case_on_the_device(GridCase *c);

// gop_coders 0: on the CPU.
void grid_print_failure(const GridCase *c, int gop_coders, const char *failure);

#endif
