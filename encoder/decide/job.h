// The job of a picture: all that its passes read beside its MBs and their scratch, on the CPU and
// on a device. picture/job.c fills it in; samples, MVs and tables lie in the executor's memory.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_JOB_H
#define ENCODER_DECIDE_JOB_H

#include "encoder/analyse/b_core.h"
#include "encoder/cabac/cabac_costs_core.h"
#include "encoder/mb/direct_core.h"
#include "me/search/search.h"
#include "motus/frame.h"

// Motion field of a reference, [MOTUS_BLOCKS][n_mb]: MVs of whole samples, or external ones. A
// device refines them in place.
typedef struct MotusMotion {
    MotusMv *mv;
    uint16_t *sad;
    uint32_t *cost;
    MotusMv *centre; // per MB: where the window lies; the predictor of the costs
} MotusMotion;

// References that are searched together, and what their search centres come from.
typedef struct MotusSearchGroup {
    int n, at[MOTUS_MAX_REFERENCES]; // their numbers
    int range;
    const MotusMv *near_mv; // per MB; NULL: none
    int32_t near_span;      // pictures from their reference to their picture
    int scales_near;        // 1: they are taken over the distance to each reference
} MotusSearchGroup;

// Further references of list 0 are far: they are searched around the first one's MVs.
enum { MOTUS_NEAR, MOTUS_FAR, MOTUS_GROUPS };

typedef struct MotusPictureJob {
    // The caller's: parameters, the source in host memory (whole MBs, and the visible part of the
    // same; NULL if only a device has it) or in a slot, CPU threads.
    const struct MotusPictureParams *params;
    const MotusFrame *whole, *visible;
    const struct MotusFrameSlot *slot;
    int threads;

    const struct MotusStream *stream;
    int64_t number;        // of the GOP coder's pictures, in coding order
    const MotusPlane *src; // where passes read it, whole MBs
    MotusFrame *recon;     // whole MBs, in host memory; NULL: not wanted
    const struct MotusSlices *slices;
    MotusSliceType type;
    int refs; // of list 0
    int qp;   // of the slices, and of every MB without an offset. Search and refinement use it
    MotusEffort effort;
    MotusInterLimits limits;
    MotusSubpel subpel;        // refinement of whole-sample MVs
    int lambda;                // MotusLambda
    const MotusQp *qp_table;   // [MOTUS_QPS], in host memory
    const MotusQuant8 *quant8; // likewise; NULL: no 8x8 transform
    int cuts_slices;           // 1: of a largest size, so that MBs are coded while they are written

    // Costs of CABAC's bins: for the decisions, and learnt from the picture. NULL: CAVLC, or none.
    const MotusCabacCosts *costs;
    MotusCabacCosts *next_costs;
    int sets_costs;  // 1: the picture is the first of its kind in the GOP, so none are learnt
    int64_t learner; // picture that they are learnt from; below 0: none

    // References: of list 0 by ref_idx, then, of B pictures, of list 1's only one.
    int n_refs;
    MotusReference ref[MOTUS_MAX_REFERENCES];
    const MotusRefLuma *luma[MOTUS_MAX_REFERENCES]; // with weights, if it has any
    MotusMotion motion[MOTUS_MAX_REFERENCES];
    int buffer[MOTUS_MAX_REFERENCES];      // where they lie
    int64_t picture[MOTUS_MAX_REFERENCES]; // their numbers
    int32_t span[MOTUS_MAX_REFERENCES];    // pictures from each to this one
    MotusSearchGroup group[MOTUS_GROUPS];
    int last_p; // buffer of the picture whose MVs near centres come from; below 0: none
    int64_t last_p_number;

    // B: where direct prediction comes from; temporal: of the collocated MBs by this map.
    MotusDirectSource direct;
    const MotusColMb *col; // NULL: direct prediction is not temporal
    MotusTemporalMap map;
    int skips_first; // 1: MBs whose B_Skip is sure come first (motus_tries_skips_first)

    // CPU: searches MB i in reference k while it is decided. NULL: the fields have been filled.
    void (*search)(const void *context, int k, int i, MotusMbMotion *motion);
    const void *search_context;
    // CUDA: `ref` in device memory, if list 0 has several; masks of the blocks to refine in further
    // references, [refs - 1][n_mb].
    const MotusReference *ref_list;
    uint64_t *far_blocks;
} MotusPictureJob;

#endif
