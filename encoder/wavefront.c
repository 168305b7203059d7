// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/wavefront.h"

#include <sched.h>
#include <stdatomic.h>

#include "common/alloc.h"
#include "common/int_core.h"

// Walks row y; where an MB waits, one MB behind the row above's right neighbour. done[y] counts the finished MBs of row y.
static void walk_row(int mb_width, int y, atomic_int *done, const MotusWave *wave) {
    for (int x = 0; x < mb_width; x++) {
        int needed = y && (!wave->waits || wave->waits(wave->context, x, y)) ? motus_min(x + 2, mb_width) : 0;
        while (needed && atomic_load_explicit(&done[y - 1], memory_order_acquire) < needed) sched_yield();
        wave->visit(wave->context, x, y);
        atomic_store_explicit(&done[y], x + 1, memory_order_release);
    }
}

void motus_wavefront(int mb_width, int mb_height, int threads, const MotusWave *wave) {
    atomic_int *done = threads > 1 && mb_height > 1 ? motus_alloc((size_t)mb_height, sizeof *done) : NULL;
    if (!done) { // one thread asked for, or no memory for more: raster order
        for (int y = 0; y < mb_height; y++)
            for (int x = 0; x < mb_width; x++) wave->visit(wave->context, x, y);
        return;
    }
    // Rows go round the threads in order, so that the row a thread waits for is always being worked on or done. Where there are more threads than rows, some
    // have none: OpenMP ends the threads that a smaller region leaves out, and makes them again for the next one.
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int k = 0; k < mb_height; k++) walk_row(mb_width, wave->row_order ? wave->row_order[k] : k, done, wave);
    motus_free(done);
}
