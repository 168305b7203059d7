// CPU features, found at run time.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_CPU_H
#define COMMON_CPU_H

enum {
    MOTUS_CPU_AVX2 = 1,   // AVX2, FMA, BMI1, BMI2, LZCNT and POPCNT, with operating-system support
    MOTUS_CPU_AVX512 = 2, // AVX-512 F, BW, CD, DQ and VL too; only together with MOTUS_CPU_AVX2
};

// Returns the mask of MOTUS_CPU_*. For tests and comparisons the environment variable MOTUS_CPU
// lowers it: "c" clears it, "avx2" leaves AVX2.
unsigned motus_cpu_flags(void);

// Returns the number of threads for a setting: n > 0 -> n, at most 256; 0 -> OpenMP's, or 1.
int motus_cpu_threads(int wanted);

// Names what x.c defines, where x_avx2.c compiles it a second time: x_c, or x_avx2 if the latter
// has defined MOTUS_FOR_AVX2.
#ifdef MOTUS_FOR_AVX2
#define MOTUS_ISA(name) name##_avx2
#else
#define MOTUS_ISA(name) name##_c
#endif

#endif
