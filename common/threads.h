// Thread counts that OpenMP can keep (it ends the process if it cannot create a thread), and
// conditions with monotonic timeouts; wavefronts over MBs.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_THREADS_H
#define COMMON_THREADS_H

#include <pthread.h>

// Returns the threads of the calling thread's next parallel region: as motus_cpu_threads (cpu.h),
// but no more than can be created now; 1 inside a parallel region, and in a child of fork() whose
// thread had a team in the parent. They are created, some 10 us
// each, and OpenMP keeps them, so the next call costs nothing. Every call that works in parallel
// asks again: a context may be used by another thread than the one that opened it.
int motus_threads_ready(int wanted);

// Returns the largest number of threads that a context will use, to size its per-thread memory: as
// motus_threads_ready, but `wanted` inside a parallel region, which the context may leave.
int motus_threads_open(int wanted);

// Opens a condition whose timed waits use CLOCK_MONOTONIC. Returns 0, or an error number.
int motus_cond_open(pthread_cond_t *cond);

// ---- Wavefronts ---------------------------------------------------------------------------------

// Visits of all MBs of a picture, after the neighbours A, B, C, D. visit(context, x, y) is called
// once per MB, from left to right in a row. If waits is NULL or waits(context, x, y) is true, the
// MBs above left, above and above right have been visited.
typedef struct MotusWave {
    void (*visit)(void *context, int x, int y);
    int (*waits)(void *context, int x, int y);
    void *context;
    const int *row_order; // the order in which rows are begun, above first; NULL: 0, 1, ...
} MotusWave;

// Walks `threads` rows at a time. The order of independent calls is undefined.
void motus_wavefront(int mb_width, int mb_height, int threads, const MotusWave *wave);

#endif
