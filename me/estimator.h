// The motion estimator and its references behind the public API, and checks of arguments. For .c
// files.
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

struct MotusMe {
    MotusMeConfig config;
    MotusBackend backend; // never AUTO
    const MotusMeOps *ops;
    void *state;           // of the backend
    int device;            // CUDA's number; -1 with the CPU backend
    MotusError error;      // of CUDA
    MotusError refused;    // of the last call's arguments; MOTUS_OK if they were good
    MotusMeReference *own; // of motus_me_search, allocated with its first call
    // Copies of pending requests, number i at i % MOTUS_ME_IN_FLIGHT. They own their references
    // until they are received.
    struct {
        MotusMeRequest request;
        MotusMeTarget target[MOTUS_ME_MAX_TARGETS];
    } pending[MOTUS_ME_IN_FLIGHT];
    uint64_t submitted, received; // requests
};

// Checks of public arguments: MOTUS_ERR_ARGUMENT, and *error names the member and its range.
// MOTUS_ERR_UNSUPPORTED: the CPU backend gets device memory. MOTUS_ERR_STATE: a reference is not
// filled. Planes have the configured size. Of hints in device memory only lambda_q8 is checked.
MotusStatus motus_me_check_config(const MotusMeConfig *config, MotusError *error);
MotusStatus motus_me_check_plane(const MotusMe *me, const MotusPlane *plane, const char *name,
                                 MotusError *error);
MotusStatus motus_me_check_memory(const MotusMe *me, MotusMemory memory, const char *name,
                                  MotusError *error);
// searches: `me` will search it, and not only fill it.
MotusStatus motus_me_check_reference(const MotusMe *me, const MotusMeReference *reference,
                                     int searches, MotusError *error);
MotusStatus motus_me_check_field(const MotusMe *me, const MotusField *field, MotusError *error);
MotusStatus motus_me_check_request(const MotusMe *me, const MotusMeRequest *request,
                                   MotusError *error);
MotusStatus motus_me_check_centres(const MotusMe *me, const MotusMeCentres *centres,
                                   MotusError *error);

#endif
