// Types and plans of pending pictures, if QP is not fixed: the lookahead makes them as frames come.
// If the lookahead runs ahead of the sender on a device, a thread waits for it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_PLANNER_H
#define ENCODER_GOP_PLANNER_H

#include "encoder/gop/gop_coders.h"

typedef struct MotusPlanner MotusPlanner;

// The three must outlive it. MOTUS_ERR_MEMORY.
MotusStatus motus_planner_open(MotusPlanner **planner, const MotusStream *stream,
                               MotusGopCoders *coders, MotusLookahead *look);
void motus_planner_close(MotusPlanner **planner); // drops pending jobs; accepts NULL inside

// Called before motus_gop_coders_send. Blocks while the lookahead has as many jobs as it can have.
void motus_planner_begin(MotusPlanner *planner);

// Called after motus_gop_coders_send, with its status, and at the end of the stream (is_end). A
// picture that cannot be planned ends the stream: with the error of this call if the planner has no
// thread, else of later calls of motus_gop_coders_*.
MotusStatus motus_planner_sent(MotusPlanner *planner, MotusStatus sent, int is_end,
                               MotusError *error);

// Goes on with another segment of the stream after the end of one.
MotusStatus motus_planner_next_segment(MotusPlanner *planner, int64_t first_picture,
                                       MotusError *error);

#endif
