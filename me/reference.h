// What is behind a MotusMeReference. For .c files.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_REFERENCE_H
#define ME_REFERENCE_H

#include <stdatomic.h>

#include "me/me_internal.h"

struct MotusMeReference {
    int width, height; // of the planes that fill it, luma samples
    int has_half, filled;
    MotusRefLuma luma;        // in host memory, unless there is:
    MotusReferenceCuda *cuda; // in a device's
    atomic_int owners, readers;
};

// Whether `me` can search it.
int motus_reference_fits(const MotusMeReference *reference, const MotusMe *me);

// A request under way owns what it searches, and keeps it from being filled.
MotusMeReference *motus_reference_hold(const MotusMeReference *reference);
void motus_reference_release(MotusMeReference **reference);

#endif
