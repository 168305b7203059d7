// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/preset/preset.h"

#include "common/int_core.h"
#include "encoder/bitstream/headers.h"

// Presets with all trials differ in the search range, in how often MBs are decided again, in the
// refinement of their MVs and in what B pictures leave out.
#define THOROUGH(range_, rounds_, phases_, rd_mvs_, b_skip_gate_, b_transforms_)                   \
    {                                                                                              \
        .range = (range_), .reach = 64, .partitions = MOTUS_MODES_ALL, .rounds = (rounds_),        \
        .phases = (phases_), .b_phases = (phases_), .type_gate = 24, .sub_gate = 24,               \
        .trial_gate = 24, .skip_gate = 0, .b_skip_gate = (b_skip_gate_), .pair_steps = 8,          \
        .steps = 2, .rd_mvs = (rd_mvs_), .transforms = 1, .b_transforms = (b_transforms_),         \
        .levels = MOTUS_LEVELS_LOWERED, .intra_levels = MOTUS_LEVELS_LOWERED, .intra_gate = 64,    \
        .intra_slope = 0, .i4_trials = 3, .estimate_trials = 3,                                    \
        .estimate_levels = MOTUS_LEVELS_LOWERED, .types_first = 0, .intra_chain = 255              \
    }

// A GPU's time is set by the passes that depend on one another (rounds * phases) and by the chains
// of intra MBs in P pictures; a CPU's by the number of trials, which the gates limit. intra_levels
// and estimate_levels are for CAVLC (motus_intra_levels).
static const MotusEffort presets[MOTUS_PRESETS] = {
    [MOTUS_PRESET_SLOW] = THOROUGH(16, 2, 16, 8, 16, 0),
    [MOTUS_PRESET_MEDIUM] = {.range = 16,
                             .reach = 64,
                             .partitions = MOTUS_MODES_ALL,
                             .rounds = 1,
                             .phases = 16,
                             .b_phases = 32,
                             .type_gate = 20,
                             .sub_gate = 20,
                             .trial_gate = 20,
                             .skip_gate = 16,
                             .b_skip_gate = 16,
                             .pair_steps = 4,
                             .steps = 2,
                             .transforms = 1,
                             .levels = MOTUS_LEVELS_LOWERED,
                             .intra_levels = MOTUS_LEVELS_LOWERED,
                             .intra_gate = 12,
                             .intra_slope = 5,
                             .i4_trials = 2,
                             .estimate_trials = 1,
                             .estimate_levels = MOTUS_LEVELS_NEAREST,
                             .types_first = 1,
                             .intra_chain = 12},
    [MOTUS_PRESET_FAST] = {.range = 8,
                           .reach = 64,
                           .partitions = MOTUS_MODES_ALL,
                           .rounds = 1,
                           .phases = 8,
                           .b_phases = 16,
                           .type_gate = 17,
                           .sub_gate = 17,
                           .trial_gate = 16,
                           .skip_gate = 16,
                           .b_skip_gate = 16,
                           .pair_steps = 2,
                           .steps = 1,
                           .levels = MOTUS_LEVELS_LOWERED,
                           .intra_levels = MOTUS_LEVELS_NEAREST,
                           .intra_gate = 10,
                           .intra_slope = 4,
                           .i4_trials = 2,
                           .estimate_trials = 1,
                           .estimate_levels = MOTUS_LEVELS_NEAREST,
                           .types_first = 1,
                           .types_by_satd = 1,
                           .intra_chain = 8},
    [MOTUS_PRESET_FASTER] = {.range = 6,
                             .reach = 32,
                             .partitions = 1u << MOTUS_MODE_16x16 | 1u << MOTUS_MODE_16x8 |
                                           1u << MOTUS_MODE_8x16 | 1u << MOTUS_MODE_8x8,
                             .rounds = 1,
                             .phases = 8,
                             .b_phases = 8,
                             .type_gate = 16,
                             .sub_gate = 16,
                             .trial_gate = 16,
                             .skip_gate = 0,
                             .b_skip_gate = 24,
                             .pair_steps = 0,
                             .steps = 0,
                             .levels = MOTUS_LEVELS_NEAREST,
                             .intra_levels = MOTUS_LEVELS_NEAREST,
                             .intra_gate = 10,
                             .intra_slope = 3,
                             .i4_trials = 1,
                             .estimate_trials = 1,
                             .estimate_levels = MOTUS_LEVELS_NEAREST,
                             .types_first = 1,
                             .keeps_left = 1,
                             .intra_chain = 8},
    [MOTUS_PRESET_SLOWER] = THOROUGH(32, 3, 32, 16, 0, 1),
    [MOTUS_PRESET_PLACEBO] = THOROUGH(48, 4, 32, 32, 0, 1),
};

// More than one costs `medium` a fifth of its speed on a GPU, for 1.4 % of the bits.
static const int references[MOTUS_PRESETS] = {
    [MOTUS_PRESET_PLACEBO] = 16, [MOTUS_PRESET_SLOWER] = 5, [MOTUS_PRESET_SLOW] = 3,
    [MOTUS_PRESET_MEDIUM] = 1,   [MOTUS_PRESET_FAST] = 1,   [MOTUS_PRESET_FASTER] = 1,
};

// Three save 1.5 % of the bits (slower; carphone, parkjoy, mobile), five 1.6 %.
enum { MOST_B_REFERENCES = 5 };

const char *motus_preset_name(MotusPreset preset) {
    static const char *const names[MOTUS_PRESETS] = {"slow",   "medium", "fast",
                                                     "faster", "slower", "placebo"};
    return (unsigned)preset < MOTUS_PRESETS ? names[preset] : "unknown";
}

const char *motus_profile_name(MotusProfile profile) {
    static const char *const names[MOTUS_PROFILES] = {"baseline", "main", "high"};
    return (unsigned)profile < MOTUS_PROFILES ? names[profile] : "unknown";
}

// Changes the effort of a stream with B pictures, whose P pictures have other gains.
static void adapt_to_b_pictures(MotusEffort *effort, MotusPreset preset) {
    // P pictures among B pictures save 0.4 % of the bits with both, for a sixth of a full GPU.
    if (preset == MOTUS_PRESET_SLOW) effort->transforms = 0;
    // Saves 2.6 % of the bits.
    if (preset == MOTUS_PRESET_FASTER) effort->levels = MOTUS_LEVELS_LOWERED;
}

MotusEffort motus_effort_of(const MotusEncoderConfig *config) {
    MotusEffort effort = presets[config->preset];
    if (config->range) effort.range = config->range;
    effort.partitions &= config->partitions;
    if (effort.partitions >> MOTUS_MODE_8x4)
        effort.partitions |= 1u << MOTUS_MODE_8x8; // sub-macroblock types need it
    effort.partitions |= 1u << MOTUS_MODE_16x16;
    if (config->bframes) adapt_to_b_pictures(&effort, config->preset);
    return effort;
}

int motus_references_of(const MotusEncoderConfig *c) {
    if (c->references) return c->references;
    const int width = motus_mbs(c->width), height = motus_mbs(c->height),
              wanted = references[c->preset];
    const MotusLevel *level = motus_level_choose(width, height, c->fps, wanted, 0);
    const int most = level ? (int)level->max_dpb_mbs / (width * height) : 1;
    return motus_clip(1, motus_max(1, most), wanted);
}

// Temporal direct prediction saves 0.7 % of the bits of `fast` and 1.2 of `faster` (the sequences
// of docs/bench.md), 0.2 of `medium`, whose neighbours are closer to what they become; 0.3 there if
// references are spatial.
MotusDirectMode motus_direct_mode_of(const MotusEncoderConfig *c, int *spatial_references) {
    const int is_fast = c->preset == MOTUS_PRESET_FAST || c->preset == MOTUS_PRESET_FASTER,
              is_auto = c->direct == MOTUS_DIRECT_AUTO;
    *spatial_references = is_auto && !is_fast;
    if (!is_auto) return c->direct;
    return is_fast || c->preset == MOTUS_PRESET_MEDIUM ? MOTUS_DIRECT_TEMPORAL
                                                       : MOTUS_DIRECT_SPATIAL;
}

int motus_b_references_of(const MotusEncoderConfig *c) {
    return c->bframes ? motus_min(c->references, MOST_B_REFERENCES) : 0;
}
