// What the presets mean.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SETTINGS_PRESET_H
#define ENCODER_SETTINGS_PRESET_H

#include "encoder/analyse/effort.h"
#include "motus/encoder.h"

// The effort of the configuration's preset, with what the configuration says otherwise.
MotusEffort motus_effort_of(const MotusEncoderConfig *config);

#endif
