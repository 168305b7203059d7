// Filling in a MotusError.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_ERROR_H
#define COMMON_ERROR_H

#include "motus/status.h"

// Writes status and the formatted text to *error (may be NULL): cut to fit, control characters
// replaced by '?'. Returns status.
MotusStatus motus_fail(MotusError *error, MotusStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Returns the end of a path for error texts, at most 120 bytes, so the cause still fits behind it.
const char *motus_shown(const char *path);

#endif
