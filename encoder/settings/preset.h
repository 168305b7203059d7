// Presets: their effort in mode decision.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_SETTINGS_PRESET_H
#define ENCODER_SETTINGS_PRESET_H

#include "encoder/levels/effort.h"
#include "motus/encoder.h"

// Returns the effort of config->preset with the configuration's own range and partitions.
MotusEffort motus_effort_of(const MotusEncoderConfig *config);

// Returns config->references, or the preset's: at most as many pictures of the configuration's size
// as a level allows.
int motus_references_of(const MotusEncoderConfig *config);

// Returns config->direct, or the preset's mode for AUTO, and whether B pictures that are references
// are SPATIAL nevertheless.
MotusDirectMode motus_direct_mode_of(const MotusEncoderConfig *config, int *spatial_references);

// Returns how many of config->references list 0 of a B picture may have, at most 15; 0 without B
// pictures.
int motus_b_references_of(const MotusEncoderConfig *config);

#endif
