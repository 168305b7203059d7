// Threads that are really there (OpenMP ends the process where it cannot make a thread that it was
// promised), and what they wait for.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_THREADS_H
#define COMMON_THREADS_H

#include <pthread.h>

// How many threads the next parallel region of the calling thread may have: as motus_cpu_threads
// (common/cpu.h), but no more than can be made now. They are made, and OpenMP keeps them for this
// thread's regions of that size, so that asking again costs nothing; the first time it takes some
// 10 us a thread. Every call that works in parallel asks for itself, since a context may be used by
// another thread than the one that opened it. 1 inside a parallel region.
int motus_threads_ready(int wanted);

// The most that a context will use, for what it has one of per thread: the same now, and what was
// asked for inside a parallel region, which it may leave.
int motus_threads_open(int wanted);

// A condition whose timed waits go by CLOCK_MONOTONIC, so that nobody waits longer because a clock
// is set. Not 0: there is none.
int motus_cond_open(pthread_cond_t *cond);

#endif
