// Runs a function over all MBs of a picture in an order that respects the neighbours A, B, C and D,
// on several threads.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_WAVEFRONT_H
#define COMMON_WAVEFRONT_H

// What runs over the MBs. visit(context, x, y) is called once for each; where waits is NULL, or
// waits(context, x, y) says so, not before the calls for the MBs to the left, above left, above and
// above right have returned. MBs of a row are always visited from left to right.
typedef struct MotusWave {
    void (*visit)(void *context, int x, int y);
    int (*waits)(void *context, int x, int y);
    void *context;
    // All rows in the order in which they are begun, one in which MBs may wait behind the row above
    // it; NULL: from the top.
    const int *row_order;
} MotusWave;

// `threads` rows are worked on at a time; the order of independent calls is open.
void motus_wavefront(int mb_width, int mb_height, int threads, const MotusWave *wave);

#endif
