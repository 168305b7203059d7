// One sequence at one QP: two streams side by side, picture by picture, and our search on x264's
// problem.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_COMPARE_RUN_H
#define TOOLS_COMPARE_RUN_H

#include "tools/compare/extraction.h"
#include "tools/compare/figures.h"
#include "tools/compare/ours.h"
#include "tools/compare/truth.h"
#include "tools/peers/x264.h"
#include "yuv/io/writer.h"

enum { MOTUS_X264_TYPES = 8, MOTUS_OWN_TYPES = 4 };

// What a run is about.
typedef struct MotusRunSetup {
    const MotusCompareClip *clip;
    const char *name;    // of the sequence
    const uint8_t *x264; // its stream
    size_t x264_size;
    const MotusOurStream *ours; // the stream of our encoder
    int qp, range, threads;     // range 0: the one that x264 says it used
    int subpel;                 // MotusSubpel; -1: as x264's --subme says
    int feed_x264;              // x264's vectors in place of ours: every difference has to be zero
    const MotusTruth *truth;    // NULL: not known
    MotusOutput *csv;           // NULL: none
    size_t viewer_bytes;        // of MB records in the report, at most
    MotusOurProgress *progress; // may be NULL
    void *opaque;
} MotusRunSetup;

typedef struct MotusRun {
    int range;
    MotusSubpel subpel;
    uint32_t modes; // that x264 could choose from
    uint32_t lambda_q8;
    int frames, p_frames, left_out; // compared; P pictures among them; without MB records
    MotusFigures figures, by_size[MOTUS_MODES], own, own_by_size[MOTUS_MODES];
    uint64_t confusion[MOTUS_X264_TYPES][MOTUS_OWN_TYPES], sub_confusion[4][4];
    MotusExtraction extraction;
    MotusBitSums bits[MOTUS_SIDES]; // of the streams, as far as they were compared
    MotusQuality quality;           // of x264's stream
    cJSON *frame_list;              // "frames" of docs/compare.md; the caller's
} MotusRun;

// Fills *run, in every case; a signal ends it early with MOTUS_END and what was done.
// MOTUS_ERR_UNSUPPORTED: x264's stream is no problem that can be compared (several references);
// MOTUS_ERR_FORMAT.
MotusStatus motus_run(const MotusRunSetup *setup, MotusRun *run, MotusError *error);

cJSON *motus_run_json(const MotusRun *run, int qp, int has_truth); // takes frame_list
cJSON *motus_bits_json(const MotusBitSums *bits);

#define MOTUS_COMPARE_CSV_HEADER                                                                   \
    "sequence,qp,frame,mb,x,y,w,h,skip,x264_mv_x,x264_mv_y,mv_x,mv_y,x264_sad,sad,x264_satd,satd," \
    "x264_bits,bits,x264_j,j,"                                                                     \
    "inside\n"

#endif
