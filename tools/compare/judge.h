// One picture, one problem, two answers: the vectors that x264's stream holds and ours, searched in
// the same reference, measured alike.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_JUDGE_H
#define TOOLS_COMPARE_JUDGE_H

#include "encoder/mb/mv_core.h"
#include "tools/baseline/baseline.h"

enum { MOTUS_X264, MOTUS_OURS, MOTUS_SIDES }; // index of a pair

// A block with both vectors, both measured on its samples. J = SAD (whole samples) or SATD +
// (lambda_q8 * bits >> 8), bits counted from the MB's predictor.
typedef struct MotusPair {
    MotusPartition part; // place and size, units of 4 samples inside the MB
    int has_both; // 0: x264 has several vectors in this block, or none; only mv[MOTUS_OURS] counts,
                  // and with several x264's SAD and SATD
    int inside;   // x264's vector lies in our window
    MotusMv mv[MOTUS_SIDES];
    uint32_t sad[MOTUS_SIDES], satd[MOTUS_SIDES], j[MOTUS_SIDES];
    int bits[MOTUS_SIDES];
} MotusPair;

typedef struct MotusMbPairs {
    int n_x264, n_own; // blocks of x264's partition (0: intra) and of ours
    MotusPair x264[16], own[16];
    uint8_t own_type, own_sub[4]; // MOTUS_MB_P_16x16 .. 8x8: the partition whose J over our vectors
                                  // is least, mode bits included
    MotusMv predictor;            // of both
} MotusMbPairs;

typedef struct MotusJudgeConfig {
    int width, height; // whole MBs
    int range, threads;
    MotusSubpel subpel; // FULL: J is made of SAD
    uint32_t modes;     // that our partition may use
} MotusJudgeConfig;

typedef struct MotusJudge MotusJudge;

MotusStatus motus_judge_open(MotusJudge **judge, const MotusJudgeConfig *config);

// The problem: `source` (visible size, filled up to whole MBs by edge repetition as x264 does) in
// `ref`, the picture that x264's stream decoded to before, whole MBs. mb: x264's answer, which
// gives each MB's predictor; the window's centre is the predictor rounded to whole samples.
MotusStatus motus_judge_picture(MotusJudge *judge, const MotusPlane *source, const MotusPlane *ref,
                                const MotusReadMb *mb, uint32_t lambda_q8);

// Our answer by our search; or, to test the judge itself, x264's vectors in place of ours, for
// every one of the 41 blocks.
MotusStatus motus_judge_search(MotusJudge *judge);
void motus_judge_copy_x264(MotusJudge *judge);

// Compares MB n of the picture.
void motus_judge_mb(const MotusJudge *judge, int n, MotusMbPairs *pairs);

void motus_judge_close(MotusJudge **judge); // accepts NULL and *judge == NULL

// The blocks that an MB was coded in, in coding order; returns how many, 0 for intra.
int motus_read_parts(const MotusReadMb *mb, MotusPartition parts[16]);

#endif
