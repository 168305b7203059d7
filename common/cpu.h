// What this CPU can do, found at run time.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_CPU_H
#define COMMON_CPU_H

enum {
    MOTUS_CPU_AVX2 = 1, // AVX2, FMA, BMI1, BMI2 and POPCNT, with operating-system support
};

// Mask of MOTUS_CPU_*. The environment variable MOTUS_CPU=c switches all of them off (for tests and comparisons).
unsigned motus_cpu_flags(void);

// Threads to use for a request: n > 0 -> n (at most 256), 0 -> what OpenMP offers (1 without OpenMP).
int motus_cpu_threads(int wanted);

#endif
