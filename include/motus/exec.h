// Execution of a call on the CPU: threads and instruction set. Results do not depend on it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_EXEC_H
#define MOTUS_EXEC_H

// NULL in its place means all cores and the fastest instructions of this CPU.
typedef struct MotusExec {
    int threads; // 1..256, fewer if they cannot be created; 0 = as many as OpenMP offers
    int plain_c; // 1 = scalar C only
} MotusExec;

#endif
