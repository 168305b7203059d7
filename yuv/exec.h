// Execution of a call on the CPU: its threads, and its version of a table of row functions.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_EXEC_H
#define YUV_EXEC_H

#include "common/cpu.h"
#include "common/threads.h"
#include "motus/exec.h"

// Returns the threads that a call may use.
static inline int motus_exec_threads(const MotusExec *exec) {
    return motus_threads_ready(exec ? exec->threads : 0);
}

// True if a call runs versions for AVX2: this CPU has it, and `exec` does not ask for plain C.
static inline int motus_exec_avx2(const MotusExec *exec) {
    return !(exec && exec->plain_c) && motus_cpu_flags() & MOTUS_CPU_AVX2;
}

// The address of NAME_avx2, which is compiled for x86-64 alone, or of NAME_c.
#if defined(__x86_64__)
#define MOTUS_VERSION(name, exec) (motus_exec_avx2(exec) ? &name##_avx2 : &name##_c)
#else
#define MOTUS_VERSION(name, exec) ((void)(exec), &name##_c)
#endif

#endif
