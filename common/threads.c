// SPDX-License-Identifier: BSD-2-Clause
#include "common/threads.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "common/int_core.h"
#ifdef _OPENMP
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST 256 // as in motus_cpu_threads

// Blocks until the creator has made all threads: they must exist at the same time.
static void *wait_for_creator(void *lock) {
    free(malloc(1)); // a thread's own arena is part of its cost
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

// The team that OpenMP keeps for this thread: a region of the same size creates no thread. It
// mirrors OpenMP's own per-thread state, and no result depends on it.
static _Thread_local struct {
    int wanted, size; // size: how many were created
    pid_t process;    // that created them
} team;

int motus_threads_ready(int wanted) {
    int n = motus_cpu_threads(wanted), there = 1, sum = 0; // there: with the calling thread
    if (n == 1 || omp_in_parallel()) return 1;
    // A child of fork() has a copy of the team's record, but none of its threads: OpenMP would
    // wait for them for ever.
    if (team.size > 1 && team.process != getpid()) return 1;
    if (n == team.wanted || n == team.size) return team.size;
    pthread_t thread[MOST];
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    while (there < n && !pthread_create(&thread[there - 1], NULL, wait_for_creator, &lock)) there++;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < there - 1; i++) pthread_join(thread[i], NULL);
    if (there < n) there = (there + 1) / 2; // leaves some for others
#pragma omp parallel num_threads(there) reduction(+ : sum)
    sum += 1;
    team.wanted = n;
    team.size = sum < there ? sum : there;
    team.process = getpid();
    return team.size;
}

int motus_threads_open(int wanted) {
    return omp_in_parallel() ? motus_cpu_threads(wanted) : motus_threads_ready(wanted);
}
#else
int motus_threads_ready(int wanted) { return motus_cpu_threads(wanted); }
int motus_threads_open(int wanted) { return motus_cpu_threads(wanted); }
#endif

int motus_cond_open(pthread_cond_t *cond) {
    pthread_condattr_t monotonic;
    int failed = pthread_condattr_init(&monotonic);
    if (failed) return failed;
    failed = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    if (!failed) failed = pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return failed;
}

// ---- Wavefronts ---------------------------------------------------------------------------------

// The number of finished MBs of a row. One cache line each: its thread writes it after every MB.
typedef struct Progress {
    _Alignas(64) atomic_int done;
} Progress;

// Walks row y. An MB that waits stays behind the MB above and to the right.
static void walk_row(int mb_width, int y, Progress *row, const MotusWave *wave) {
    for (int x = 0; x < mb_width; x++) {
        int needed = y && (!wave->waits || wave->waits(wave->context, x, y))
                         ? motus_min(x + 2, mb_width)
                         : 0;
        while (needed && atomic_load_explicit(&row[y - 1].done, memory_order_acquire) < needed)
            sched_yield();
        wave->visit(wave->context, x, y);
        atomic_store_explicit(&row[y].done, x + 1, memory_order_release);
    }
}

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
    for (int k; (k = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed)) < mb_height;)
        walk_row(mb_width, wave->row_order ? wave->row_order[k] : k, row, wave);
    motus_free(row);
}
