// The job of a picture: all that its passes read beside its MBs and their scratch, for the CPU and
// for CUDA. Samples, MVs and tables lie in the executor's memory.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_JOB_H
#define ENCODER_DECIDE_JOB_H

#include "encoder/analyse/b_core.h"
#include "encoder/cabac/cabac_costs_core.h"
#include "me/search/search.h"

// Motion field of a reference, [MOTUS_BLOCKS][n_mb]: MVs of whole samples, or external ones. A
// device refines them in place.
typedef struct MotusMotion {
    MotusMv *mv;
    uint16_t *sad;
    uint32_t *cost;
    MotusMv *centre; // per MB: the predictor of the costs
} MotusMotion;

typedef struct MotusPictureJob {
    MotusSliceType type;
    int refs; // of list 0
    int qp;   // of the slices, and of every MB without an offset. Search and refinement use it
    MotusEffort effort;
    MotusInterLimits limits;
    MotusSubpel subpel;           // refinement of whole-sample MVs
    const MotusQp *qp_table;      // [MOTUS_QPS]
    const MotusQuant8 *quant8;    // [MOTUS_QPS]; NULL: no 8x8 transform
    const MotusCabacCosts *costs; // NULL: CAVLC
    // References: of list 0 by ref_idx, then, of B pictures, of list 1's only one.
    MotusReference ref[MOTUS_MAX_REFERENCES];
    const MotusRefLuma *luma[MOTUS_MAX_REFERENCES];
    MotusMotion motion[MOTUS_MAX_REFERENCES];
    MotusDirectSource direct; // B
    int skips_first;          // 1: MBs whose B_Skip is sure come first (motus_tries_skips_first)
    // CPU: searches MB i in reference k while it is decided. NULL: the fields have been filled.
    void (*search)(const void *context, int k, int i, MotusMbMotion *motion);
    const void *search_context;
    int cuts_slices; // 1: of a largest size, so that MBs are coded while slices are written
    // CUDA: `ref` in device memory, if list 0 has several; masks of the blocks to refine in further
    // references, [refs - 1][n_mb].
    const MotusReference *ref_list;
    uint64_t *far_blocks;
} MotusPictureJob;

#endif
