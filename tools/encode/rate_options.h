// Options of rate control.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_ENCODE_RATE_OPTIONS_H
#define TOOLS_ENCODE_RATE_OPTIONS_H

#include "tools/cli/options.h"

// Values of the command line; below 0: not given. Rates in kb/s, sizes in kbit.
typedef struct MotusRateOptions {
    int qp;
    double crf, bitrate, vbv_maxrate, vbv_bufsize, aq_strength;
    int aq_mode, tune, hrd;
    int no_mbtree;
    int pass; // 0: one pass
    const char *pass_log;
    char *log_text; // contents of the second pass's log; the owner frees it
} MotusRateOptions;

enum { MOTUS_TUNE_NONE, MOTUS_TUNE_PSNR, MOTUS_TUNE_SSIM, MOTUS_TUNE_ZEROLATENCY };

MotusRateOptions motus_rate_options_default(void);

// Checks the options, applies them to *c and reads the log of a second pass. Returns -1, or the
// exit status after one line.
int motus_rate_options_apply(MotusRateOptions *o, MotusEncoderConfig *c);

// Writes "QP 26", "CRF 23", "500 kb/s", ...
void motus_rate_text(const MotusEncoderConfig *c, char *text, size_t size);

#endif
