// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/settings/picture_effort.h"

#include "common/int_core.h"

#define MIN_FAR_RANGE 4
#define MODES_BELOW_8x8 (1u << MOTUS_MODE_8x4 | 1u << MOTUS_MODE_4x8 | 1u << MOTUS_MODE_4x4)

// MVs of one reference tell those of another.
int motus_far_range(int range) { return motus_min(range, motus_max(range / 2, MIN_FAR_RANGE)); }

int motus_searches_wide(const MotusPictureParams *params, int k) {
    const int is_far = k && k < params->refs, is_b = params->type == MOTUS_SLICE_B;
    return !is_far && (params->shown - params->ref_shown[0] > 1 ||
                       (is_b && params->ref_shown[params->refs] - params->shown > 1));
}

MotusEffort motus_picture_effort(const MotusStream *s, const MotusPictureParams *params) {
    const MotusExternalMvs *external = &params->external;
    MotusEffort effort = s->effort;
    if (params->type == MOTUS_SLICE_B) {
        // The last P picture's MVs tell those of B pictures, which have few intra MBs. More than
        // half saves 0.1 % of the bits each.
        effort.range = motus_far_range(effort.range);
        effort.intra_chain /= 2;
        effort.phases = effort.b_phases;
        effort.skip_gate = effort.b_skip_gate;
        effort.transforms = effort.b_transforms;
    }
    if (!external->mv) return effort;
    effort.partitions &= external->modes;
    if (external->final) effort.pair_steps = 0;
    if (!(effort.partitions >> MOTUS_MODE_8x8 & 1))
        effort.partitions &= ~MODES_BELOW_8x8; // sub types need their 8x8
    return effort;
}

int motus_picture_lambda(const MotusStream *s, const MotusPictureParams *params) {
    const int has_b_tree = s->config.bframes && s->rate.lookahead.mb_tree_q8;
    // Where pictures take little from one another few inherit P pictures' errors, too.
    if (!has_b_tree && params->type == MOTUS_SLICE_B && params->moves) return MOTUS_LAMBDA_TREE_B;
    if (!has_b_tree || params->type == MOTUS_SLICE_P) return (int)params->type;
    return params->type == MOTUS_SLICE_I ? MOTUS_LAMBDA_TREE_I
           : params->is_reference        ? MOTUS_LAMBDA_TREE_B_REFERENCE
                                         : MOTUS_LAMBDA_TREE_B;
}
