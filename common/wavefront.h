// Calls a function for all MBs of a picture on several threads, after the neighbours A, B, C, D.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_WAVEFRONT_H
#define COMMON_WAVEFRONT_H

// visit(context, x, y) is called once per MB, from left to right in a row. If waits is NULL or
// waits(context, x, y) is true, the MBs above left, above and above right have been visited.
typedef struct MotusWave {
    void (*visit)(void *context, int x, int y);
    int (*waits)(void *context, int x, int y);
    void *context;
    const int *row_order; // the order in which rows are begun, above first; NULL: 0, 1, ...
} MotusWave;

// Walks `threads` rows at a time. The order of independent calls is undefined.
void motus_wavefront(int mb_width, int mb_height, int threads, const MotusWave *wave);

#endif
