// Text that identifies a journal's settings and input.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_FINGERPRINT_H
#define TOOLS_MPI_FINGERPRINT_H

#include "tools/encode/encode.h"

// Writes the settings that the stream depends on as one line: not threads, GOP coders, ranks or
// backend.
void motus_settings_text(const MotusEncodeOptions *options, const MotusEncoderConfig *config,
                         char *text, size_t size);

// Writes one line with the input's size, time of change and a checksum of its first and last
// 64 KiB. MOTUS_ERR_IO.
MotusStatus motus_input_text(const char *path, char *text, size_t size, MotusError *error);

// Size and time of change of the input; size -1: not a regular file.
typedef struct MotusInputStamp {
    int64_t size, seconds, nanoseconds;
} MotusInputStamp;

MotusInputStamp motus_input_stamp(const char *path);

// Returns MOTUS_ERR_IO if the input has changed. An input that is gone counts as unchanged: reading
// it fails. size_only: ignores the time, which other hosts may see differently.
MotusStatus motus_input_unchanged(const char *path, const MotusInputStamp *before, int size_only,
                                  MotusError *error);

#endif
