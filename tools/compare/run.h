// Compares one sequence at one QP: two streams picture by picture, and motus's search on x264's
// pictures.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_RUN_H
#define TOOLS_COMPARE_RUN_H

#include "tools/compare/decode.h"
#include "tools/compare/figures.h"
#include "tools/compare/ours.h"
#include "tools/compare/truth.h"
#include "tools/x264/x264.h"
#include "yuv/io/writer.h"

enum { MOTUS_X264_TYPES = 8, MOTUS_OWN_TYPES = 4 };

// Inputs of a run.
typedef struct MotusRunSetup {
    const MotusCompareClip *clip;
    const char *name;    // of the sequence
    const uint8_t *x264; // stream
    size_t x264_size;
    const MotusOurStream *ours; // motus's stream
    int qp, range, threads;     // range 0: x264's own
    int subpel;                 // MotusSubpel; -1: as x264's --subme
    int bound;                  // pictures whose bound is found; none of whole samples
    int feed_x264;              // takes x264's MVs for motus's, as a test: all differences are zero
    const MotusTruth *truth;    // NULL: unknown
    MotusOutput *csv;           // NULL: not wanted
    size_t viewer_bytes;        // limit for MB records in the report
    MotusOurProgress *progress; // may be NULL
    void *opaque;
} MotusRunSetup;

typedef struct MotusRun {
    int range;
    MotusSubpel subpel;
    uint32_t modes; // that x264 could choose from
    uint32_t lambda_q8;
    int profile_idc[MOTUS_SIDES];
    int frames, p_frames, left_out; // compared, P pictures among them, those without MB records
    MotusFigures figures, by_size[MOTUS_MODES], own, own_by_size[MOTUS_MODES];
    uint64_t confusion[MOTUS_X264_TYPES][MOTUS_OWN_TYPES], sub_confusion[4][4];
    MotusBoundFigures bound;
    MotusExtraction extraction;
    MotusBitSums bits[MOTUS_SIDES]; // of the pictures compared
    MotusQuality quality;           // of x264's stream
    cJSON *frame_list;              // "frames" of docs/compare.md; owned by the caller
} MotusRun;

// Fills *run in every case. MOTUS_END: a signal came; *run has what was done.
// MOTUS_ERR_UNSUPPORTED: x264's stream has several references. MOTUS_ERR_FORMAT.
MotusStatus motus_run(const MotusRunSetup *setup, MotusRun *run, MotusError *error);

cJSON *motus_run_json(const MotusRun *run, int qp, int has_truth); // takes frame_list over
cJSON *motus_bits_json(const MotusBitSums *bits);

#define MOTUS_COMPARE_CSV_HEADER                                                                   \
    "sequence,qp,frame,mb,x,y,w,h,skip,x264_mv_x,x264_mv_y,mv_x,mv_y,x264_sad,sad,x264_satd,satd," \
    "x264_bits,bits,x264_j,j,inside\n"

#endif
