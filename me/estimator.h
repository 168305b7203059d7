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
    void *state;      // of the backend
    int device;       // CUDA's number; -1 with the CPU backend
    MotusError error; // of CUDA
    MotusMePending
        pending[MOTUS_ME_IN_FLIGHT]; // number i of those submitted: i % MOTUS_ME_IN_FLIGHT
    uint64_t submitted, received;    // jobs and requests
    int has_job;                     // a job has been submitted, and may be a reference
};

// Checks of public arguments: a plane of the configured size, hints in host memory, an enumerator.
int motus_me_valid_plane(const MotusMe *me, const MotusPlane *plane);
int motus_me_valid_hints(const MotusMe *me, const MotusMeHints *hints);
int motus_me_valid_memory(MotusMemory memory);

// MBs of a picture.
int motus_me_n_mb(const MotusMe *me);

// Returns the error that the device has failed with since; MOTUS_OK with the CPU backend.
MotusStatus motus_me_failed(const MotusMe *me);

// Returns MOTUS_OK if one more job or request may be submitted: the device has not failed, and
// fewer than MOTUS_ME_IN_FLIGHT are pending (else MOTUS_AGAIN).
MotusStatus motus_me_ready(const MotusMe *me);

// True if `me` can search the reference.
int motus_reference_fits(const MotusMeReference *reference, const MotusMe *me);

// True if all that can be checked of a request is in its range.
int motus_request_valid(const MotusMe *me, const MotusMeRequest *request);

// Adds the pending request as an owner of the reference, which cannot be filled until it lets go.
void motus_reference_hold(const MotusMeReference *reference);
void motus_reference_release(const MotusMeReference *reference);

#endif
