// Compares x264's MVs with those that motus finds for the same source in the same reference.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_JUDGE_H
#define TOOLS_COMPARE_JUDGE_H

#include "encoder/mb/mv_core.h"
#include "tools/h264/h264.h"

enum { MOTUS_X264, MOTUS_OURS, MOTUS_SIDES }; // index of a pair

// A block with the MVs of both sides, measured on the same samples. J = SAD (whole samples) or
// SATD, plus lambda_q8 * bits >> 8; bits count from the MB's predictor.
typedef struct MotusPair {
    MotusPartition partition; // position and size in the MB, in units of 4 samples
    // 0: x264 has no MV in this block, or several: then its SAD and SATD are valid, but not mv,
    // bits and j.
    int has_both;
    int inside; // x264's MV is within motus's search window
    MotusMv mv[MOTUS_SIDES];
    uint32_t sad[MOTUS_SIDES], satd[MOTUS_SIDES], j[MOTUS_SIDES];
    int bits[MOTUS_SIDES];
} MotusPair;

typedef struct MotusMbPairs {
    // Blocks of x264's partition (0: intra), and of the partition with the least J over motus's
    // MVs.
    int n_x264, n_own;
    MotusPair x264[16], own[16];
    // The second partition: MOTUS_MB_P_16x16 .. 8x8. J includes the bits of mb_type and sub types.
    uint8_t own_type, own_sub[4];
    MotusMv predictor; // of both sides
} MotusMbPairs;

typedef struct MotusJudgeConfig {
    int width, height; // of whole MBs
    int range, threads;
    MotusSubpel subpel; // FULL: J uses SAD
    uint32_t modes;     // for the partition with the least J
} MotusJudgeConfig;

typedef struct MotusJudge MotusJudge;

MotusStatus motus_judge_open(MotusJudge **judge, const MotusJudgeConfig *config);

// Sets the picture. `source` has the visible size and is padded to whole MBs as x264 does; `ref` is
// the picture that x264's stream decoded to before, whole MBs. The search window's centre is the
// predictor of `mb`, x264's MBs, rounded to whole samples.
MotusStatus motus_judge_picture(MotusJudge *judge, const MotusPlane *source, const MotusPlane *ref,
                                const MotusParsedMb *mb, uint32_t lambda_q8);

// Find motus's MVs by its search; or, to test the comparison, copy x264's into all 41 blocks.
MotusStatus motus_judge_search(MotusJudge *judge);
void motus_judge_copy_x264(MotusJudge *judge);

// Finds the bound of each block: its least SATD + MV cost over all MVs at most range + 3/4 samples
// from the centre, which is as far as refinement goes. It depends on no search. MOTUS_ERR_MEMORY.
MotusStatus motus_judge_bound(MotusJudge *judge);
// Returns the bounds of MB n, [MOTUS_BLOCKS].
const uint32_t *motus_judge_least(const MotusJudge *judge, int n);

// Returns J of our MV of a block of MB n, UINT32_MAX if its mode is not searched.
uint32_t motus_judge_cost(const MotusJudge *judge, int n, int block);

// Compares MB n of the picture.
void motus_judge_mb(const MotusJudge *judge, int n, MotusMbPairs *pairs);

void motus_judge_close(MotusJudge **judge); // accepts NULL and *judge == NULL

#endif
