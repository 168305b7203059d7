// Settings of rate control and lookahead from a configuration.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SETTINGS_RATE_CONFIG_H
#define ENCODER_SETTINGS_RATE_CONFIG_H

#include "encoder/rate/rate.h"
#include "motus/encoder.h"

typedef struct MotusRateConfig {
    MotusLookaheadSettings lookahead;
    MotusRateSettings control;
    MotusPassLog log;      // second pass: the first one's; control.log points at it
    char fingerprint[200]; // of the settings that both passes must share: one line without its end
} MotusRateConfig;

// Returns 6 log2(ratio) in 1/256 QP: the QP difference of two quantizer steps.
int motus_ratio_q8(double ratio);

// Checks all members of *config that rate control and lookahead read. MOTUS_ERR_ARGUMENT.
MotusStatus motus_rate_config_check(const MotusEncoderConfig *config, MotusError *error);

// Checks bitrate and VBV alone. MOTUS_ERR_ARGUMENT.
MotusStatus motus_rate_config_check_rates(int64_t bitrate, int64_t vbv_rate, int64_t vbv_size,
                                          MotusError *error);

// Fills *rate from a checked configuration with a rate control other than QP, and reads its pass
// log. MOTUS_ERR_FORMAT (the pass log), MOTUS_ERR_MEMORY.
MotusStatus motus_rate_config_open(MotusRateConfig *rate, const MotusEncoderConfig *config,
                                   int mb_width, int mb_height, MotusError *error);
void motus_rate_config_close(MotusRateConfig *rate); // accepts a zeroed one

#endif
