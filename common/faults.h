// Planned failures, so that tests see every error path. Built only with the tests (MOTUS_TESTS): a
// library built without them keeps no state outside its contexts. They concern the whole process.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_FAULTS_H
#define COMMON_FAULTS_H

#ifdef MOTUS_FAULTS
#ifdef __cplusplus
extern "C" {
#endif

// The next `n` allocations (motus_alloc) succeed, the one after fails, later ones succeed again; n
// < 0 switches it off.
void motus_alloc_fail_after(long n);

// The next n CUDA calls whose status is looked at (motus_cuda_check) succeed, the one after fails,
// and so does every later one; n < 0 switches it off.
void motus_device_fail_after(long n);

// Count an allocation or a call and tell whether it is to fail.
int motus_alloc_fault(void);
int motus_device_fault(void);

#ifdef __cplusplus
}
#endif
#else
static inline int motus_alloc_fault(void) { return 0; }
static inline int motus_device_fault(void) { return 0; }
#endif

#endif
