// Presets: their effort in mode decision.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SETTINGS_PRESET_H
#define ENCODER_SETTINGS_PRESET_H

#include "encoder/levels/effort.h"
#include "motus/encoder.h"

// Returns the effort of config->preset with the configuration's own range and partitions.
MotusEffort motus_effort_of(const MotusEncoderConfig *config);

#endif
