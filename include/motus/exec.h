// How a call on the CPU is run: threads and instruction set. The result never depends on it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_EXEC_H
#define MOTUS_EXEC_H

// Functions that take a MotusExec * accept NULL: every core, the fastest instructions this CPU has.
typedef struct MotusExec {
    int threads; // 0 = what OpenMP offers; 1..256; fewer where they cannot be made
    int plain_c; // nonzero: scalar C only
} MotusExec;

#endif
