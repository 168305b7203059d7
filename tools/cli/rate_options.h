// Options of rate control, and what they make of a configuration.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_RATE_OPTIONS_H
#define TOOLS_CLI_RATE_OPTIONS_H

#include "tools/cli/options.h"

// As given; `unset` values are below 0 or 0. Rates in kb/s and kbit, as people write them.
typedef struct MotusRateOptions {
    int qp;
    double crf, bitrate, vbv_maxrate, vbv_bufsize, aq_strength;
    int aq_mode, tune, hrd;
    int no_mbtree;
    int pass;
    const char *pass_log;
    char *log_text; // of the second pass, read
} MotusRateOptions;

enum { MOTUS_TUNE_NONE, MOTUS_TUNE_PSNR, MOTUS_TUNE_SSIM, MOTUS_TUNE_ZEROLATENCY };

MotusRateOptions motus_rate_options_default(void);

MotusOptionParse motus_option_number; // double, 0 or more
MotusOptionParse motus_option_tune, motus_option_hrd;

// Puts what was given into *c; reads the log of a second pass. Returns -1, or the exit status after
// one line.
int motus_rate_options_apply(MotusRateOptions *o, MotusEncoderConfig *c);

// "QP 26", "CRF 23", "500 kb/s", ...
void motus_rate_text(const MotusEncoderConfig *c, char *text, size_t size);

#endif
