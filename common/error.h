// Filling in a MotusError.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_ERROR_H
#define COMMON_ERROR_H

#include "motus/status.h"

// Writes status and the formatted text (cut to fit, control characters replaced by '?') into
// *error, which may be NULL; returns status.
MotusStatus motus_fail(MotusError *error, MotusStatus status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The part of a path that error texts show: at most its last 120 bytes, so that the cause still
// fits behind it. Points into path.
const char *motus_shown(const char *path);

#endif
