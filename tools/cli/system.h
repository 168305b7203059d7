// What the machine is and what time it is.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_SYSTEM_H
#define TOOLS_CLI_SYSTEM_H

#include <stddef.h>

// Seconds from some fixed point, never going back.
double motus_seconds(void);

// Seconds that the processors have spent on this process so far, all threads together.
double motus_processor_seconds(void);

// The processor's name as it tells it itself, "unknown CPU" where it does not.
void motus_cpu_name(char *text, size_t size);

// "avx2" or "c": the fastest instructions that motus uses here.
const char *motus_cpu_instructions(void);

#endif
