// Configurations from outside: defaults and checks.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SETTINGS_CONFIG_H
#define ENCODER_SETTINGS_CONFIG_H

#include "motus/encoder_config.h"

// Copies and checks a configuration. A program built with an older header has a smaller one: the
// members that it lacks get their defaults. MOTUS_ERR_ARGUMENT.
MotusStatus motus_config_read(MotusEncoderConfig *to, const MotusEncoderConfig *from,
                              MotusError *error);

// Checks bitrate and VBV alone. MOTUS_ERR_ARGUMENT.
MotusStatus motus_config_check_rates(int64_t bitrate, int64_t vbv_rate, int64_t vbv_size,
                                     MotusError *error);

// True if a segment may begin at this picture and this IDR picture of a stream.
int motus_config_segment_is_possible(int64_t first_picture, int64_t first_gop);

#endif
