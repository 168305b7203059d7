// SPDX-License-Identifier: BSD-2-Clause
#include "common/wavefront.h"

#include <sched.h>
#include <stdatomic.h>

#include "common/alloc.h"
#include "common/int_core.h"

// The number of finished MBs of a row. One cache line each: its thread writes it after every MB.
typedef struct Progress {
    _Alignas(64) atomic_int done;
} Progress;

void motus_wavefront(int mb_width, int mb_height, int threads, const MotusWave *wave) {
    Progress *row =
        threads > 1 && mb_height > 1 ? motus_alloc((size_t)mb_height, sizeof *row) : NULL;
    if (!row) { // one thread, or no memory: raster order
        for (int y = 0; y < mb_height; y++)
            for (int x = 0; x < mb_width; x++) wave->visit(wave->context, x, y);
        return;
    }
    // Threads take rows in order, so the row that a thread waits for is in progress or done.
    atomic_int next;
    atomic_init(&next, 0);
#pragma omp parallel num_threads(threads)
    for (int k; (k = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed)) < mb_height;) {
        const int y = wave->row_order ? wave->row_order[k] : k;
        for (int x = 0; x < mb_width; x++) {
            // An MB that waits stays behind the MB above and to the right.
            const int needed = y && (!wave->waits || wave->waits(wave->context, x, y))
                                   ? motus_min(x + 2, mb_width)
                                   : 0;
            while (needed && atomic_load_explicit(&row[y - 1].done, memory_order_acquire) < needed)
                sched_yield();
            wave->visit(wave->context, x, y);
            atomic_store_explicit(&row[y].done, x + 1, memory_order_release);
        }
    }
    motus_free(row);
}
