// Mode-decision passes over a picture (docs/design.md), on the CPU. MBs of a pass that do not
// depend on one another run on OpenMP threads.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_DECIDE_H
#define ENCODER_DECIDE_DECIDE_H

#include "common/stage_clock.h"
#include "encoder/decide/job.h"
#include "encoder/mb/coded_mbs.h"
#include "encoder/mb/refresh_core.h"
#include "motus/frame.h"

// Candidates of an MB of a P or B picture.
typedef union MotusMbCandidates {
    MotusCandidates p;
    MotusBCandidates b[MOTUS_B_SETS];
} MotusMbCandidates;

// A picture's MBs as decided and coded, and per-MB scratch of its passes, in raster order.
typedef struct MotusPictureState {
    MotusCodedMbs mbs;
    MotusFrame *rec;                   // reconstruction, whole MBs. Not owned
    const int8_t *qp_offset;           // per MB, added to the picture's QP; NULL: none. Not owned
    MotusRefresh refresh;              // of this picture
    const int *row_order;              // of wavefronts (MotusWave); NULL: from the top. Not owned
    MotusMbCandidates *candidates;     // of P and B pictures
    MotusMb *mb_inter, *mb_intra;      // each MB coded either way
    uint32_t *inter_cost, *intra_cost; // their RD costs; UINT32_MAX: intra was not evaluated
    uint32_t *satd;                    // SATD cost of the best inter type
    uint32_t *luma_bits;               // of the levels of luma as decided, with the 4x4 transform
    uint16_t *changed_at, *seen_at; // pass of the last change for neighbours; of the last decision
    uint8_t *chain;                 // length of the chain of intra MBs that ends here, 0 for inter
    int longest_chain;              // that this P picture may have
    uint8_t *zero_runs;             // MOTUS_ZERO_RUNS entries
    MotusStageClock *clock;         // Not owned
} MotusPictureState;

// MOTUS_ERR_MEMORY.
MotusStatus motus_picture_state_alloc(MotusPictureState *pic, int mb_width, int mb_height,
                                      int threads);
void motus_picture_state_free(MotusPictureState *pic); // accepts a zeroed one

// Diagonals x + 2y before an MB's own that have its neighbours A (1), B (2), C (1) and D (3).
#define MOTUS_NEIGHBOUR_DIAGONALS 3

// The CPU's passes, compiled for plain C and for AVX2, with equal results.
typedef struct MotusDecideOps {
    // Decides the MBs of a P or B picture. Of an I picture whose slices are cut it leaves the types
    // for code_mb.
    void (*decide)(MotusPictureState *pic, const MotusPictureJob *job);
    // Codes the MBs that are intra, in a wavefront.
    void (*code_intra)(MotusPictureState *pic, const MotusPictureJob *job);
    // Codes MB i of a decided picture in place of code_intra, in raster order, for slices whose
    // ends are not known yet. qp -1: as decided; else the MB becomes intra at that QP. An MB of an
    // I picture that would rather be I_PCM is searched alone.
    void (*code_mb)(MotusPictureState *pic, const MotusPictureJob *job, int i, int qp);
} MotusDecideOps;

extern const MotusDecideOps motus_decide_ops_c, motus_decide_ops_avx2;

// Returns the fastest ones that this CPU runs (motus_cpu_flags).
const MotusDecideOps *motus_decide_ops(void);

#endif
