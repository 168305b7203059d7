// CPU features, number of threads, choice of the backend.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cpu.h"

#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "common/device.h"
#include "motus/backend.h"

unsigned motus_cpu_flags(void) {
    const char *wanted = getenv("MOTUS_CPU");
    if (wanted && !strcmp(wanted, "c")) return 0;
    unsigned flags = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    // Older compilers' __builtin_cpu_supports doesn't know LZCNT, which older CPUs execute as BSR.
    // Where it does, it saves an instruction that takes microseconds on a virtual machine.
#if !defined(__clang__) && __GNUC__ >= 11
    const int has_lzcnt = __builtin_cpu_supports("lzcnt");
#else
    unsigned a, b, c, d;
    const int has_lzcnt = __get_cpuid(0x80000001, &a, &b, &c, &d) && c & bit_LZCNT;
#endif
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt") && has_lzcnt)
        flags |= MOTUS_CPU_AVX2;
    if (flags && !(wanted && !strcmp(wanted, "avx2")) && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        flags |= MOTUS_CPU_AVX512;
#endif
    return flags;
}

int motus_cpu_threads(int wanted) {
#ifdef _OPENMP
    int n = wanted > 0 ? wanted : omp_get_max_threads();
#else
    int n = wanted > 0 ? wanted : 1;
#endif
    return n < 1 ? 1 : n > 256 ? 256 : n;
}

const char *motus_backend_name(MotusBackend backend) {
    static const char *const names[] = {"auto", "cpu", "cuda"};
    return (unsigned)backend < sizeof names / sizeof *names ? names[backend] : "?";
}

MotusStatus motus_backend_choose(MotusBackend wanted, MotusBackend *chosen) {
    if (!chosen || (unsigned)wanted > MOTUS_BACKEND_CUDA) return MOTUS_ERR_ARGUMENT;
    MotusStatus status =
        wanted == MOTUS_BACKEND_CPU ? MOTUS_ERR_UNSUPPORTED : motus_device_check(NULL);
    if (wanted == MOTUS_BACKEND_CUDA && status != MOTUS_OK) return status;
    *chosen = status == MOTUS_OK ? MOTUS_BACKEND_CUDA : MOTUS_BACKEND_CPU;
    return MOTUS_OK;
}
