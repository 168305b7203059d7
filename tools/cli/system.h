// The machine: clocks, the CPU, standard files, and the CUDA devices that this process sees.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_SYSTEM_H
#define TOOLS_CLI_SYSTEM_H

#include <stddef.h>

// Returns seconds of a monotonic clock.
double motus_seconds(void);

// Returns the CPU seconds of this process, all threads together.
double motus_processor_seconds(void);

// Seconds of an interval: on the clock, and of processor time (all threads together).
typedef struct MotusTimes {
    double elapsed, processor;
} MotusTimes;

// Returns the CPU seconds of this thread.
double motus_thread_seconds(void);

// Returns the number of CPUs that are online, and the mean number of tasks that wanted one in the
// last minute (-1: unknown), those of other programs included.
int motus_cpu_count(void);
double motus_cpu_load(void);

// Writes the CPU's model name, "unknown CPU" if the system does not tell it.
void motus_cpu_name(char *text, size_t size);

// Returns the fastest instructions that motus uses here: "avx512", "avx2" or "c".
const char *motus_cpu_instructions(void);

// Returns MOTUS_CPU's value if it is none of c, avx2 and avx512; NULL if it is, or unset or empty.
const char *motus_cpu_unknown_word(void);

// Opens /dev/null on descriptors 0 to 2 that are closed, so that no file gets their numbers: a
// message would be written into it. Reading 0 and writing 1 or 2 fail there as on a closed one.
void motus_standard_files_open(void);

// Hides all CUDA devices but the first: CUDA opens every device that it sees, 0.2 s each.
// CUDA_VISIBLE_DEVICES, if set, stays as it is. Call it before CUDA's first call.
void motus_devices_hide(void);

// Undoes motus_devices_hide, also before CUDA's first call.
void motus_devices_show(void);

#endif
