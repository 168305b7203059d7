// Mode-decision passes over a picture (docs/design.md), on the CPU. MBs of a pass that do not
// depend on one another run on OpenMP threads.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_DECIDE_H
#define ENCODER_DECIDE_DECIDE_H

#include "common/stage_clock.h"
#include "encoder/analyse/b_core.h"
#include "encoder/cabac/cabac_costs_core.h"
#include "encoder/mb/coded_mbs.h"
#include "encoder/mb/refresh_core.h"
#include "me/search/search.h"
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

// Parameters of a picture. MBs are decided at their own QPs; search and refinement use the
// picture's.
typedef struct MotusCoding {
    const MotusQp *qp_table; // [MOTUS_QPS]
    int qp;                  // of the slice, and of every MB without an offset
    MotusEffort effort;
    const MotusQuant8 *quant8;    // [MOTUS_QPS]; NULL: no 8x8 transform
    const MotusCabacCosts *costs; // NULL: CAVLC
} MotusCoding;

// Further parameters of P and B pictures: of list 0 by ref_idx, then, in B pictures, of list 1's
// only reference.
typedef struct MotusInterCoding {
    int lists; // 1: a P picture, 2: a B picture
    int refs;  // of list 0
    MotusReference ref[MOTUS_MAX_REFERENCES];
    const MotusRefLuma *ref_luma[MOTUS_MAX_REFERENCES];
    // Whole-sample MVs and costs of the search; P: or external MVs.
    const MotusField *field[MOTUS_MAX_REFERENCES];
    // Searches MB i in reference k. NULL: the fields have been filled.
    void (*search)(const void *context, int k, int i, MotusMbMotion *motion);
    const void *search_context;
    const MotusMv *centre[MOTUS_MAX_REFERENCES]; // per MB: the predictor of the field's costs
    MotusDirectSource direct;                    // B
    MotusInterLimits limits;
    MotusSubpel subpel; // refinement of whole-sample MVs
} MotusInterCoding;

// The passes, compiled for plain C and for AVX2, with equal results.
typedef struct MotusPasses {
    void (*code_i)(MotusPictureState *pic, const MotusCoding *coding);
    void (*code_inter)(MotusPictureState *pic, const MotusCoding *coding,
                       const MotusInterCoding *inter);

    // The same in two steps, for slices whose ends are not known yet. choose_types begins an I
    // picture; decide_inter leaves out the wavefront of intra MBs. code_mb codes MB i of a picture
    // in that wavefront; it is called in raster order. qp -1: as decided; else the MB becomes intra
    // at that QP. An MB of an I picture that would rather be I_PCM is searched alone.
    void (*choose_types)(MotusPictureState *pic, const MotusCoding *coding);
    void (*decide_inter)(MotusPictureState *pic, const MotusCoding *coding,
                         const MotusInterCoding *inter);
    void (*code_mb)(MotusPictureState *pic, const MotusCoding *coding, int slice_type, int i,
                    int qp);
} MotusPasses;

extern const MotusPasses motus_passes_c, motus_passes_avx2;

// Returns the fastest passes that this CPU runs (motus_cpu_flags).
const MotusPasses *motus_passes(void);

#endif
