// Presets: their effort in mode decision, and what else a configuration leaves to them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PRESET_PRESET_H
#define ENCODER_PRESET_PRESET_H

#include <stdint.h>

#include "motus/encoder.h"

#ifdef __cplusplus // CUDA code
extern "C" {
#endif

// Choice of a block's levels: the nearest ones, or those lowered where bits cost more than error.
// APART: each is lowered as if those before it were the nearest ones, so that none waits for
// another; intra MBs have it in every preset with CABAC, and nothing else has. GUESSED: the nearest
// ones with a dead zone, and bits from counts; of intra MBs that are coded as types chosen before.
enum { MOTUS_LEVELS_NEAREST, MOTUS_LEVELS_LOWERED, MOTUS_LEVELS_APART, MOTUS_LEVELS_GUESSED };

// Effort of a preset (presets[] has the values). Gates are in 1/16: a candidate is dropped if it
// costs more than gate / 16 times the best one.
typedef struct MotusEffort {
    int range;           // of the whole-sample search, +- samples
    int reach;           // of the search in downscaled pictures, +- samples
    uint32_t partitions; // mask of the MotusModes that are tried
    int rounds, phases;  // of mode decision: each round runs the phases one after another
    int b_phases;        // the same in B pictures, where more depends on neighbours
    int type_gate;       // MB types, and further references, by whole-sample costs
    int sub_gate;        // sub-macroblock types, by whole-sample costs
    int trial_gate;      // MB types that get a trial, by SATD costs
    int skip_gate;       // P_Skip is taken at once if its RD cost is at most so many bits; 0 never
    int b_skip_gate;     // the same for B_Skip
    int pair_steps;      // refinements of one MV of a bi-predicted block beside the other one
    int steps;           // refinements around predicted MVs
    int rd_mvs;          // MVs of a decided MB that are refined by RD cost, at most
    int transforms;      // 1: with CABAC every trial of an inter MB has both; 2: on a shared device
    int b_transforms;    // the same in B pictures
    int levels;          // MOTUS_LEVELS_* of inter MBs
    int intra_levels;    // of intra MBs as they are coded, with CAVLC; CABAC: APART
    int intra_gate;      // intra in P pictures: SATD of Intra16x16 against the best inter type
    int intra_slope;     // of that gate: 1/1024 for each bit that the inter cost is worth
    int i4_trials;       // Intra4x4 modes with a trial, per block, where the MB is coded
    int estimate_trials; // Intra4x4 modes with a trial where intra in P pictures is estimated
    int estimate_levels; // of these estimates, with CAVLC; CABAC: APART
    int types_first;     // 1: intra MBs get their types before any of them is coded
    int types_by_satd;   // 1: these types by SATD, without the 8x8 transform; 0: by RD cost
    int keeps_left;      // 1: MotusIntraMb.keeps_left of MBs that are coded as their types, without
                         // the 8x8 transform
    int intra_chain;     // motus_longest_chain: of dependent intra MBs in P pictures
} MotusEffort;

// Limits of the MVs of a picture's inter MBs, and how they are refined.
typedef struct MotusInterLimits {
    int max_mvs;  // MVs per MB
    int max_mv_y; // vertical range [-max_mv_y, max_mv_y - 1], quarter samples
    int unit;     // smallest difference of two MVs, quarter samples: 4, 2 or 1
    int steps;    // refinements around a predicted MV that beats the searched ones
} MotusInterLimits;

// Returns the effort of config->preset with the configuration's own range and partitions.
MotusEffort motus_effort_of(const MotusEncoderConfig *config);

// Fills in what the configuration leaves to its preset: references, at most as many pictures of its
// size as a level allows, and AUTO's direct mode. *spatial_references: 1 if B pictures that are
// references are SPATIAL nevertheless.
void motus_preset_complete(MotusEncoderConfig *config, int *spatial_references);

#ifdef __cplusplus
}
#endif
#endif
