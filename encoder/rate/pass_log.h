// Log of the first of two passes, a text file: a line with format and version, a fingerprint of the
// settings that both passes must share, a line per picture, and "end N" for N pictures, so that a
// log that was cut short is recognized.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_PASS_LOG_H
#define ENCODER_RATE_PASS_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "motus/status.h"

typedef struct MotusPassPicture {
    int idr;
    int qp_q8;         // from motus_rate_qp
    int64_t bits;      // of the access unit
    int64_t duration;  // in 1 / fps
    uint64_t cost;     // of the plan: shows whether the second pass sees the same picture
    uint64_t weighted; // of the plan
    int b;             // MotusPictureB
} MotusPassPicture;

typedef struct MotusPassLog {
    MotusPassPicture *picture; // in display order; the text has them in stream order
    int64_t n, capacity;
    char fingerprint[200];
} MotusPassLog;

// Appends a picture. MOTUS_ERR_MEMORY.
MotusStatus motus_pass_log_add(MotusPassLog *log, const MotusPassPicture *picture);
void motus_pass_log_free(MotusPassLog *log); // accepts a zeroed one

// Returns a picture's line of the log, preceded by the first two lines if fingerprint is not NULL.
// Free it with motus_free. NULL: out of memory.
char *motus_pass_log_text(const MotusPassPicture *picture, const char *fingerprint);

// Reads a whole log into an empty one. MOTUS_ERR_FORMAT with the cause in *error, MOTUS_ERR_MEMORY.
MotusStatus motus_pass_log_read(MotusPassLog *log, const char *text, MotusError *error);

#endif
