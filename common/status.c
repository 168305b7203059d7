// Statuses: names, texts, errors; the version.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "motus/version.h"

static const struct {
    MotusStatus status;
    const char *name, *text;
} statuses[] = {
    {MOTUS_OK, "MOTUS_OK", "success"},
    {MOTUS_END, "MOTUS_END", "no more data"},
    {MOTUS_AGAIN, "MOTUS_AGAIN", "more input needed first"},
    {MOTUS_ERR_ARGUMENT, "MOTUS_ERR_ARGUMENT", "argument out of range"},
    {MOTUS_ERR_MEMORY, "MOTUS_ERR_MEMORY", "out of memory"},
    {MOTUS_ERR_UNSUPPORTED, "MOTUS_ERR_UNSUPPORTED", "not supported"},
    {MOTUS_ERR_IO, "MOTUS_ERR_IO", "input/output error"},
    {MOTUS_ERR_FORMAT, "MOTUS_ERR_FORMAT", "malformed input"},
    {MOTUS_ERR_TRUNCATED, "MOTUS_ERR_TRUNCATED", "input ends too early"},
    {MOTUS_ERR_STATE, "MOTUS_ERR_STATE", "call out of order"},
    {MOTUS_ERR_NO_DEVICE, "MOTUS_ERR_NO_DEVICE", "no usable CUDA device"},
    {MOTUS_ERR_CUDA, "MOTUS_ERR_CUDA", "CUDA call failed"},
    {MOTUS_ERR_INTERNAL, "MOTUS_ERR_INTERNAL", "internal error, a bug in motus"},
};

#define N_STATUSES (sizeof statuses / sizeof *statuses)

const char *motus_status_name(MotusStatus status) {
    for (unsigned i = 0; i < N_STATUSES; i++)
        if (statuses[i].status == status) return statuses[i].name;
    return "MOTUS_ERR_?";
}

const char *motus_status_text(MotusStatus status) {
    for (unsigned i = 0; i < N_STATUSES; i++)
        if (statuses[i].status == status) return statuses[i].text;
    return "unknown status";
}

#define TEXT(x) #x
#define VERSION(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *motus_version(void) {
    return VERSION(MOTUS_VERSION_MAJOR, MOTUS_VERSION_MINOR, MOTUS_VERSION_PATCH);
}

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
