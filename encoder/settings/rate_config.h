// What a configuration asks of rate control and look-ahead: checked, and in their own terms.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SETTINGS_RATE_CONFIG_H
#define ENCODER_SETTINGS_RATE_CONFIG_H

#include "encoder/settings/stream.h"

// MOTUS_ERR_ARGUMENT with words in *error.
MotusStatus motus_rate_config_check(const MotusEncoderConfig *config, MotusError *error);

// Bitrate and VBV alone: may a running encoder go on with them?
MotusStatus motus_rate_config_rates(int64_t bitrate, int64_t vbv_rate, int64_t vbv_size,
                                    MotusError *error);

// Fills in stream->look, control, log, fingerprint and the HRD of stream->sequence, from
// stream->config and the size in MBs. MOTUS_ERR_FORMAT (the pass log), MOTUS_ERR_MEMORY.
MotusStatus motus_rate_config_apply(MotusStream *stream, MotusError *error);

#endif
