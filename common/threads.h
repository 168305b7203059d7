// Threads that are really there. OpenMP ends the process where it cannot make a thread that it was promised.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_THREADS_H
#define COMMON_THREADS_H

// As motus_cpu_threads (common/cpu.h), but at most as many as can be made now; they are made, and OpenMP keeps them for this thread's next parallel
// regions of that size. For the opening of contexts: it takes some 10 us a thread.
int motus_threads_open(int wanted);

#endif
