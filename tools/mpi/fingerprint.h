// What a journal is of: the settings that the stream depends on, and the input.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_FINGERPRINT_H
#define TOOLS_MPI_FINGERPRINT_H

#include "tools/encode/encode_job.h"

// One line each. The number of threads, lanes and ranks, and where the work is done, do not matter.
void motus_settings_text(const MotusEncodeOptions *options, const MotusEncoderConfig *config,
                         char *text, size_t size);

// The input as it was when the job began; size -1: it is no file.
typedef struct MotusInputStamp {
    int64_t size, seconds, nanoseconds; // the time of its last change
} MotusInputStamp;

MotusInputStamp motus_input_stamp(const char *path);

// MOTUS_ERR_IO: it has changed. Where it cannot be looked at, as when it was removed, whoever wants
// to read it says so. size_only: on other machines, whose clocks and file systems may tell other
// times.
MotusStatus motus_input_unchanged(const char *path, const MotusInputStamp *before, int size_only,
                                  MotusError *error);

// Size, time of change, and a checksum of the first and the last 64 KiB. MOTUS_ERR_IO.
MotusStatus motus_input_text(const char *path, char *text, size_t size, MotusError *error);

#endif
