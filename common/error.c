// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

MotusStatus motus_fail(MotusError *error, MotusStatus status, const char *format, ...) {
    if (!error) return status;
    error->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    for (char *c = error->text; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127) *c = '?';
    return status;
}

const char *motus_shown(const char *path) {
    size_t length = strlen(path);
    return length > 120 ? path + length - 120 : path;
}
