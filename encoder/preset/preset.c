// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/preset/preset.h"

#include "common/int_core.h"
#include "encoder/bitstream/headers.h"

typedef struct Preset {
    const char *name;
    int references;         // of P pictures, where a level allows as many
    MotusDirectMode direct; // what AUTO means in B pictures, and in those that are references
    MotusDirectMode b_ref_direct;
    int mixed_transforms; // effort.transforms and .levels of streams with B pictures
    int mixed_levels;
    MotusEffort effort;
} Preset;

enum { NEAREST = MOTUS_LEVELS_NEAREST, LOWERED = MOTUS_LEVELS_LOWERED };
#define MODES_FROM_8x8                                                                             \
    (1u << MOTUS_MODE_16x16 | 1u << MOTUS_MODE_16x8 | 1u << MOTUS_MODE_8x16 | 1u << MOTUS_MODE_8x8)

// A GPU's time is set by the passes that depend on one another (rounds * phases) and by the chains
// of intra MBs in P pictures; a CPU's by the number of trials, which the gates limit. intra_levels
// and estimate_levels are for CAVLC (motus_intra_levels). More than one reference costs `medium` a
// fifth of its speed on a GPU, for 1.4 % of the bits. Temporal direct prediction saves 0.7 % of the
// bits of `fast` and 1.2 of `faster` (the sequences of docs/bench.md), 0.2 of `medium`, whose
// neighbours are closer to what they become; 0.3 there if references are spatial. With B pictures
// both transforms would save `slow` 0.4 % of the bits, for a sixth of a full GPU; lowered levels
// save `faster` 2.6 %.
// clang-format off
static const Preset presets[MOTUS_PRESETS] = {
    [MOTUS_PRESET_PLACEBO] = {
        .name = "placebo", .references = 16, .mixed_transforms = 1, .mixed_levels = LOWERED,
        .direct = MOTUS_DIRECT_SPATIAL, .b_ref_direct = MOTUS_DIRECT_SPATIAL,
        .effort = {
            .range = 48, .reach = 64, .partitions = MOTUS_MODES_ALL,
            .rounds = 4, .phases = 32, .b_phases = 32,
            .type_gate = 24, .sub_gate = 24, .trial_gate = 24, .skip_gate = 0, .b_skip_gate = 0,
            .pair_steps = 8, .steps = 2, .rd_mvs = 32, .transforms = 1, .b_transforms = 1,
            .levels = LOWERED, .intra_levels = LOWERED, .estimate_levels = LOWERED,
            .intra_gate = 64, .intra_slope = 0, .i4_trials = 3, .estimate_trials = 3,
            .types_first = 0, .types_by_satd = 0, .keeps_left = 0, .intra_chain = 255,
        },
    },
    [MOTUS_PRESET_SLOWER] = {
        .name = "slower", .references = 5, .mixed_transforms = 1, .mixed_levels = LOWERED,
        .direct = MOTUS_DIRECT_SPATIAL, .b_ref_direct = MOTUS_DIRECT_SPATIAL,
        .effort = {
            .range = 32, .reach = 64, .partitions = MOTUS_MODES_ALL,
            .rounds = 3, .phases = 32, .b_phases = 32,
            .type_gate = 24, .sub_gate = 24, .trial_gate = 24, .skip_gate = 0, .b_skip_gate = 0,
            .pair_steps = 8, .steps = 2, .rd_mvs = 16, .transforms = 1, .b_transforms = 1,
            .levels = LOWERED, .intra_levels = LOWERED, .estimate_levels = LOWERED,
            .intra_gate = 64, .intra_slope = 0, .i4_trials = 3, .estimate_trials = 3,
            .types_first = 0, .types_by_satd = 0, .keeps_left = 0, .intra_chain = 255,
        },
    },
    [MOTUS_PRESET_SLOW] = {
        .name = "slow", .references = 3, .mixed_transforms = 0, .mixed_levels = LOWERED,
        .direct = MOTUS_DIRECT_SPATIAL, .b_ref_direct = MOTUS_DIRECT_SPATIAL,
        .effort = {
            .range = 16, .reach = 64, .partitions = MOTUS_MODES_ALL,
            .rounds = 2, .phases = 16, .b_phases = 16,
            .type_gate = 24, .sub_gate = 24, .trial_gate = 24, .skip_gate = 0, .b_skip_gate = 16,
            .pair_steps = 8, .steps = 2, .rd_mvs = 8, .transforms = 1, .b_transforms = 0,
            .levels = LOWERED, .intra_levels = LOWERED, .estimate_levels = LOWERED,
            .intra_gate = 64, .intra_slope = 0, .i4_trials = 3, .estimate_trials = 3,
            .types_first = 0, .types_by_satd = 0, .keeps_left = 0, .intra_chain = 255,
        },
    },
    [MOTUS_PRESET_MEDIUM] = {
        .name = "medium", .references = 1, .mixed_transforms = 1, .mixed_levels = LOWERED,
        .direct = MOTUS_DIRECT_TEMPORAL, .b_ref_direct = MOTUS_DIRECT_SPATIAL,
        .effort = {
            .range = 16, .reach = 64, .partitions = MOTUS_MODES_ALL,
            .rounds = 1, .phases = 16, .b_phases = 32,
            .type_gate = 20, .sub_gate = 20, .trial_gate = 20, .skip_gate = 16, .b_skip_gate = 16,
            .pair_steps = 4, .steps = 2, .rd_mvs = 0, .transforms = 1, .b_transforms = 0,
            .levels = LOWERED, .intra_levels = LOWERED, .estimate_levels = NEAREST,
            .intra_gate = 12, .intra_slope = 5, .i4_trials = 2, .estimate_trials = 1,
            .types_first = 1, .types_by_satd = 0, .keeps_left = 0, .intra_chain = 12,
        },
    },
    [MOTUS_PRESET_FAST] = {
        .name = "fast", .references = 1, .mixed_transforms = 0, .mixed_levels = LOWERED,
        .direct = MOTUS_DIRECT_TEMPORAL, .b_ref_direct = MOTUS_DIRECT_TEMPORAL,
        .effort = {
            .range = 8, .reach = 64, .partitions = MOTUS_MODES_ALL,
            .rounds = 1, .phases = 8, .b_phases = 16,
            .type_gate = 17, .sub_gate = 17, .trial_gate = 16, .skip_gate = 16, .b_skip_gate = 16,
            .pair_steps = 2, .steps = 1, .rd_mvs = 0, .transforms = 0, .b_transforms = 0,
            .levels = LOWERED, .intra_levels = NEAREST, .estimate_levels = NEAREST,
            .intra_gate = 10, .intra_slope = 4, .i4_trials = 2, .estimate_trials = 1,
            .types_first = 1, .types_by_satd = 1, .keeps_left = 0, .intra_chain = 8,
        },
    },
    [MOTUS_PRESET_FASTER] = {
        .name = "faster", .references = 1, .mixed_transforms = 0, .mixed_levels = LOWERED,
        .direct = MOTUS_DIRECT_TEMPORAL, .b_ref_direct = MOTUS_DIRECT_TEMPORAL,
        .effort = {
            .range = 6, .reach = 32, .partitions = MODES_FROM_8x8,
            .rounds = 1, .phases = 8, .b_phases = 8,
            .type_gate = 16, .sub_gate = 16, .trial_gate = 16, .skip_gate = 0, .b_skip_gate = 24,
            .pair_steps = 0, .steps = 0, .rd_mvs = 0, .transforms = 0, .b_transforms = 0,
            .levels = NEAREST, .intra_levels = NEAREST, .estimate_levels = NEAREST,
            .intra_gate = 10, .intra_slope = 3, .i4_trials = 1, .estimate_trials = 1,
            .types_first = 1, .types_by_satd = 0, .keeps_left = 1, .intra_chain = 8,
        },
    },
};
// clang-format on

const char *motus_preset_name(MotusPreset preset) {
    return (unsigned)preset < MOTUS_PRESETS ? presets[preset].name : "unknown";
}

const char *motus_profile_name(MotusProfile profile) {
    static const char *const names[MOTUS_PROFILES] = {"baseline", "main", "high"};
    return (unsigned)profile < MOTUS_PROFILES ? names[profile] : "unknown";
}

MotusEffort motus_effort_of(const MotusEncoderConfig *config) {
    const Preset *preset = &presets[config->preset];
    MotusEffort effort = preset->effort;
    if (config->range) effort.range = config->range;
    effort.partitions &= config->partitions;
    if (effort.partitions >> MOTUS_MODE_8x4)
        effort.partitions |= 1u << MOTUS_MODE_8x8; // sub-macroblock types need it
    effort.partitions |= 1u << MOTUS_MODE_16x16;
    if (config->bframes) {
        effort.transforms = preset->mixed_transforms;
        effort.levels = preset->mixed_levels;
    }
    return effort;
}

void motus_preset_complete(MotusEncoderConfig *c, int *spatial_references) {
    const Preset *preset = &presets[c->preset];
    const int width = motus_mbs(c->width), height = motus_mbs(c->height);
    if (!c->references) {
        const MotusLevel *level = motus_level_choose(width, height, c->fps, preset->references, 0);
        const int most = level ? (int)level->max_dpb_mbs / (width * height) : 1;
        c->references = motus_clip(1, motus_max(1, most), preset->references);
    }
    const int is_auto = c->direct == MOTUS_DIRECT_AUTO;
    *spatial_references = is_auto && preset->b_ref_direct == MOTUS_DIRECT_SPATIAL;
    if (is_auto) c->direct = preset->direct;
}
