// The motion estimator and its references behind the public API. For .c files.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_ESTIMATOR_H
#define ME_ESTIMATOR_H

#include <stdatomic.h>

#include "me/backend.h"

struct MotusMeReference {
    int width, height;    // of the planes that fill it, luma samples
    int has_half, filled; // has_half: with half-sample planes
    const MotusMeOps *ops;
    int device;
    void *planes; // of the backend
    atomic_int owners, readers;
};

// A job or request that has been submitted and not received.
typedef struct MotusMePending {
    int is_request;
    MotusField *field; // of a job; NULL: its results stay on the device
    // A copy of a request. Its references are owned until it is received.
    MotusMeRequest request;
    MotusMeTarget target[MOTUS_ME_MAX_TARGETS];
} MotusMePending;

struct MotusMe {
    MotusMeConfig config;
    MotusBackend backend; // never AUTO
    const MotusMeOps *ops;
    void *state;        // of the backend
    int device;         // CUDA's number; -1 with the CPU backend
    MotusError error;   // of CUDA
    MotusError refused; // of the last call's arguments; MOTUS_OK if they were good
    MotusMePending
        pending[MOTUS_ME_IN_FLIGHT]; // number i of those submitted: i % MOTUS_ME_IN_FLIGHT
    uint64_t submitted, received;    // jobs and requests
    int has_job;                     // a job has been submitted, and may be a reference
};

enum { MOTUS_ME_MAX_MV = 8191 }; // largest |component| of predictors and skip MVs

// Checks of public arguments: MOTUS_ERR_ARGUMENT, and *error names the member and its range.
// Planes have the configured size. whole: MVs of whole samples. Of hints in device memory only
// lambda_q8 is checked.
MotusStatus motus_me_check_plane(const MotusMe *me, const MotusPlane *plane, const char *name,
                                 MotusError *error);
MotusStatus motus_me_check_memory(MotusMemory memory, const char *name, MotusError *error);
// MOTUS_ERR_UNSUPPORTED if the CPU backend gets device memory.
MotusStatus motus_me_check_host(const MotusMe *me, MotusMemory memory, const char *name,
                                MotusError *error);
MotusStatus motus_me_check_lambda(uint32_t lambda_q8, const char *name, MotusError *error);
MotusStatus motus_me_check_mvs(const MotusMv *mv, int n, int most, int whole, const char *name,
                               MotusError *error);
MotusStatus motus_me_check_hints(const MotusMe *me, const MotusMeHints *hints, MotusMemory memory,
                                 MotusError *error);

// MBs of a picture.
int motus_me_n_mb(const MotusMe *me);

// Begins a call of the API: forgets the error of the call before. Returns MOTUS_ERR_ARGUMENT if me
// is NULL, the error of a device that has failed since, else MOTUS_OK. A device's failure comes
// before refused arguments: what failed may have left them incomplete.
MotusStatus motus_me_begin_call(MotusMe *me);

// Returns MOTUS_OK if one more job or request may be submitted: fewer than MOTUS_ME_IN_FLIGHT are
// pending, else MOTUS_AGAIN.
MotusStatus motus_me_ready(const MotusMe *me);

// Checks that `me` can search the reference.
MotusStatus motus_reference_check(const MotusMeReference *reference, const MotusMe *me,
                                  const char *name, MotusError *error);

// Checks what can be checked of a request.
MotusStatus motus_request_check(const MotusMe *me, const MotusMeRequest *request,
                                MotusError *error);

// Adds the pending request as an owner of the reference, which cannot be filled until it lets go.
void motus_reference_hold(const MotusMeReference *reference);
void motus_reference_release(const MotusMeReference *reference);

#endif
