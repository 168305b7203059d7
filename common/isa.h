// Names of what x.c and x_avx2.c define, where the latter compiles the former a second time.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_ISA_H
#define COMMON_ISA_H

// Adds _c, or _avx2 where x_avx2.c has defined MOTUS_FOR_AVX2.
#ifdef MOTUS_FOR_AVX2
#define MOTUS_ISA(name) name##_avx2
#else
#define MOTUS_ISA(name) name##_c
#endif

#endif
