// Failures that tests plan, to reach every error path. They concern the whole process, and exist in
// builds with tests only: other builds keep no state outside their contexts.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_FAULTS_H
#define COMMON_FAULTS_H

#ifdef MOTUS_FAULTS
#ifdef __cplusplus
extern "C" {
#endif

// Makes the allocation (motus_alloc) after the next n fail, and no later one. n < 0: none.
void motus_alloc_fail_after(long n);

// Makes all CUDA calls that motus_cuda_check sees after the next n fail. n < 0: none.
void motus_device_fail_after(long n);

// Makes the process see one CUDA device, of this compute capability (86 is 8.6), which cannot be
// opened. 0: what MOTUS_PRETEND_DEVICE in the environment names, else what is there.
void motus_device_pretend(int capability);

// Returns what motus_device_pretend was given.
int motus_device_pretended(void);

// Count an allocation or a call. True if it must fail.
int motus_alloc_fault(void);
int motus_device_fault(void);

#ifdef __cplusplus
}
#endif
#else
static inline int motus_alloc_fault(void) { return 0; }
static inline int motus_device_fault(void) { return 0; }
static inline int motus_device_pretended(void) { return 0; }
#endif

#endif
