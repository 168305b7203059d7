// What the first of two passes leaves to the second: a line a picture, in a text file.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_PASS_LOG_H
#define ENCODER_RATE_PASS_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "motus/status.h"

typedef struct MotusPassPicture {
    int idr;
    int qp_q8;         // as motus_rate_qp gave it
    int64_t bits;      // of the access unit
    int64_t duration;  // in 1 / fps
    uint64_t cost;     // of the plan: tells whether the second pass sees the same picture
    uint64_t weighted; // likewise
} MotusPassPicture;

typedef struct MotusPassLog {
    MotusPassPicture *picture;
    int64_t n, capacity;
    char fingerprint[200]; // of the settings that both passes must share, one line without its end
} MotusPassLog;

MotusStatus motus_pass_log_add(MotusPassLog *log,
                               const MotusPassPicture *picture); // MOTUS_ERR_MEMORY
void motus_pass_log_free(MotusPassLog *log);                     // accepts a zeroed one

// A log as text: a first line that names format and version, the fingerprint, a line a picture, and
// a last line with their number, so that a log that was cut short is known. Returns bytes; with
// size 0 none are written. Line by line: `line` -2 and -1 are the first two, n is the last.
int motus_pass_log_line(const MotusPassLog *log, int64_t line, char *text, size_t size);

// Takes in one line. MOTUS_AGAIN: more lines belong to the log. MOTUS_OK: complete.
// MOTUS_ERR_FORMAT with the cause in *error.
MotusStatus motus_pass_log_read_line(MotusPassLog *log, int64_t line, const char *text,
                                     MotusError *error);

#endif
