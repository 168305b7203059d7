// SPDX-License-Identifier: BSD-2-Clause
#include "common/threads.h"

#include "common/cpu.h"
#ifdef _OPENMP
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>

#define MOST 256 // as motus_cpu_threads has it

// Threads wait for the lock that their maker holds, so that all exist at the same time.
static void *wait_for_the_others(void *lock) {
    free(malloc(1)); // takes what memory a thread takes for itself
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

// How many of n threads, the calling one among them, can exist.
static int try_threads(int n) {
    pthread_t thread[MOST];
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    int made = 0;
    pthread_mutex_lock(&lock);
    while (made < n - 1 && !pthread_create(&thread[made], NULL, wait_for_the_others, &lock)) made++;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < made; i++) pthread_join(thread[i], NULL);
    return made + 1;
}

int motus_threads_open(int wanted) {
    int n = motus_cpu_threads(wanted), there = n > 1 && !omp_in_parallel() ? try_threads(n) : n, sum = 0;
    if (there < n) there = (there + 1) / 2; // what there is is not for us alone
#pragma omp parallel num_threads(there) reduction(+ : sum)
    sum += 1;
    return sum < there ? sum : there;
}
#else
int motus_threads_open(int wanted) { return motus_cpu_threads(wanted); }
#endif
