// Between frames and lanes, where QP is not fixed: pictures get their types and plans from
// look-ahead as it becomes able to tell them. Where look-ahead and lanes are on one CUDA device, a
// thread waits for that, so that whoever sends frames does not.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_PLANNER_H
#define ENCODER_GOP_PLANNER_H

#include "encoder/gop/gop_coders.h"

typedef struct MotusPlanner MotusPlanner;

// All three are only referred to. The first picture has that number of an IDR picture.
// MOTUS_ERR_MEMORY.
MotusStatus motus_planner_open(MotusPlanner **planner, const MotusStream *stream,
                               MotusGopCoders *gop_coders, MotusLookahead *look, int64_t first_gop);
void motus_planner_close(MotusPlanner **planner); // drops what is under way; accepts NULL inside

// Around motus_gop_coders_send (_begin waits while look-ahead has as many pictures under way as it
// may), and where there are no more frames. What could not be planned ends the stream: that is the
// error of a call, where the planner works in it, and what lanes say from then on.
void motus_planner_begin(MotusPlanner *planner);
MotusStatus motus_planner_sent(MotusPlanner *planner, MotusStatus sent,
                               MotusError *error); // with what motus_gop_coders_send said
MotusStatus motus_planner_end(MotusPlanner *planner, MotusError *error);

// After the end: goes on with another part of the stream.
MotusStatus motus_planner_next_segment(MotusPlanner *planner, int64_t first_picture,
                                       int64_t first_gop, MotusError *error);

#endif
