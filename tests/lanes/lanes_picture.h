// A picture that the suite `lanes` codes: its source, drawn or made from its references, and random
// references with weights.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_LANES_LANES_PICTURE_H
#define TESTS_LANES_LANES_PICTURE_H

#include "encoder/analyse/inter_core.h"
#include "encoder/decide/decide.h"
#include "encoder/preset/preset.h"

enum { LANES_REFERENCES = 3 }; // most of a picture

// A picture coded MB by MB in raster order.
typedef struct LanesPicture {
    int mb_width, mb_height;
    MotusPictureState pic;
    MotusFrame *src, *rec, *ref;
    MotusRefLuma ref_luma, weighted_luma;
    MotusReference reference[LANES_REFERENCES];
    int refs;
    MotusQp qp;
    MotusEffort effort;
    MotusInterLimits limits;
    MotusCabacCosts table;
    const MotusCabacCosts *costs; // NULL: CAVLC
    const char *name;
    int number;    // of the case
    int at_once;   // MBs that were taken as P_Skip at once
    int moved;     // MBs whose MVs were refined by RD cost
    int taken8[2]; // inter MBs that took the 8x8 transform, with CAVLC and with CABAC
    int intra8[2]; // Intra8x8 MBs
} LanesPicture;

void lanes_picture_open(LanesPicture *p, int mb_width, int mb_height);
void lanes_picture_close(LanesPicture *p);

// Draws blocks that are flat, noise, two values, or slopes, so that every mode and size of level
// occurs.
void lanes_draw_plane(const MotusPlane *plane, int strength);

// Makes the picture its own reference, with random weights; further ones are other fractions of it.
void lanes_picture_refer(LanesPicture *p);

// Draws an MB's MVs: a few that its blocks move by (lanes_move_blocks), then others around them.
void lanes_draw_candidates(MotusCandidates *found, int refs);

// Makes the MB's source from the reference: its blocks, of random sizes, move by its first MVs.
void lanes_move_blocks(LanesPicture *p, int x, int y, const MotusCandidates *found);

#endif
