// SPDX-License-Identifier: BSD-2-Clause
#include "common/threads.h"

#include <time.h>

#include "common/cpu.h"
#ifdef _OPENMP
#include <omp.h>
#include <stdlib.h>

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
} team;

int motus_threads_ready(int wanted) {
    int n = motus_cpu_threads(wanted), there = 1, sum = 0; // there: with the calling thread
    if (n == 1 || omp_in_parallel()) return 1;
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
