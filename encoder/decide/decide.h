// A picture on its way through the passes of docs/design.md. Passes over MBs that do not depend on
// one another run on OpenMP threads.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_DECIDE_H
#define ENCODER_DECIDE_DECIDE_H

#include "encoder/analyse/inter_core.h"
#include "encoder/decide/stages.h"
#include "encoder/mb/coded_mbs.h"
#include "motus/frame.h"

// What was decided about a picture's MBs, in raster order, and how they are coded.
typedef struct MotusPictureState {
    MotusCodedMbs mbs;
    MotusFrame *rec; // whole MBs; reconstruction
    const int8_t
        *qp_offset;       // per MB, added to the picture's QP (motus_mb_qp); NULL: none. Not owned
    const int *row_order; // the order of wavefronts (MotusWave); NULL: from the top. Not owned
    MotusCandidates *candidates; // of P pictures
    MotusMb *mb_inter;           // how an MB would be coded as inter
    MotusMb *mb_intra;           // how an MB would be coded as intra, where intra_cost is known
    uint32_t *inter_cost,
        *intra_cost; // motus_rd_cost of both ways; UINT32_MAX where intra was not evaluated
    uint32_t *satd;  // cost of the best inter type by SATD
    uint16_t *changed_at, *seen_at; // pass in which the decision last changed for its neighbours;
                                    // and was last evaluated
    uint8_t *chain;                 // length of the chain of intra MBs that ends here, 0 for inter
    uint8_t *zero_runs;             // MOTUS_ZERO_RUNS
    MotusStageClock *clock;         // NULL: stages are not timed. Not owned
} MotusPictureState;

MotusStatus motus_picture_state_alloc(MotusPictureState *pic, int mb_width, int mb_height,
                                      int threads);
void motus_picture_state_free(MotusPictureState *pic); // accepts a zeroed one

// What a picture is coded with. MBs are decided and coded at their own QPs; what comes before
// (search, refinement) is weighed at the picture's.
typedef struct MotusCoding {
    const MotusQp *qp_table; // all 52
    int qp;                  // of the slice and, without offsets, of every MB
    MotusEffort effort;
} MotusCoding;

// What P pictures need beside that.
typedef struct MotusPCoding {
    MotusReference ref;
    const MotusRefLuma *ref_luma;
    const MotusField
        *field; // vectors and their costs: whole samples, or what the caller gave instead
    const MotusMv *centre; // per MB, what the field's costs are relative to
    MotusInterLimits limits;
    MotusSubpel subpel; // how far vectors of whole samples are refined
} MotusPCoding;

// The passes, compiled for plain C and for AVX2: the same results.
typedef struct MotusPasses {
    void (*code_i)(MotusPictureState *pic, const MotusCoding *coding);
    void (*code_p)(MotusPictureState *pic, const MotusCoding *coding, const MotusPCoding *p);
    // The same in two steps, for slices that are not known yet: all of code_p but its wavefront of
    // intra MBs; and MB i of an I or P picture in that wavefront, to be called in raster order. qp
    // -1: as was decided; else the MB becomes intra at that QP.
    void (*decide_p)(MotusPictureState *pic, const MotusCoding *coding, const MotusPCoding *p);
    void (*code_mb)(MotusPictureState *pic, const MotusCoding *coding, int p_slice, int i, int qp);
} MotusPasses;

extern const MotusPasses motus_passes_c, motus_passes_avx2;
const MotusPasses *motus_passes(void); // the fastest this CPU runs (see motus_cpu_flags)

#endif
