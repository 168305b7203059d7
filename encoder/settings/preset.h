// Presets: their effort in mode decision.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SETTINGS_PRESET_H
#define ENCODER_SETTINGS_PRESET_H

#include "encoder/levels/effort.h"
#include "motus/encoder.h"

// Returns the effort of config->preset with the configuration's own range and partitions.
MotusEffort motus_effort_of(const MotusEncoderConfig *config);

// Fills in what the configuration leaves to its preset: references, at most as many pictures of its
// size as a level allows, and AUTO's direct mode. *spatial_references: 1 if B pictures that are
// references are SPATIAL nevertheless.
void motus_preset_complete(MotusEncoderConfig *config, int *spatial_references);

#endif
