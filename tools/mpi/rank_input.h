// The input as a rank reads it by itself: frames by number, and those of a part read ahead.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_RANK_INPUT_H
#define TOOLS_MPI_RANK_INPUT_H

#include "tools/cli/read_ahead.h"
#include "tools/mpi/setup.h"

// A reader and the frame that it has handed out last, so that frames are found by number without
// going back for one.
typedef struct MotusRankInput {
    const MotusMpiWorker *of;
    int pinned, luma_only; // as MotusReaderOptions has them
    MotusReader *reader;   // NULL: it is not open
    int64_t next;          // frame of the input
    MotusFrame *last;
    MotusInput part;       // that is read ahead
    MotusReadAhead *ahead; // NULL: none is
} MotusRankInput;

// Hands out that frame's even-sized part; in a part that has begun, its next one. MOTUS_END: there
// is none; a cut input is told to rank 0 before.
MotusStatus motus_rank_input_frame(MotusRankInput *input, int64_t frame, MotusFrame **out,
                                   MotusError *error);

// Goes to `first`; from there `count` frames are read ahead, where that can be done, until the part
// is ended. Statuses as above.
MotusStatus motus_rank_input_begin(MotusRankInput *input, int64_t first, int64_t count,
                                   MotusBackend backend, MotusError *error);
void motus_rank_input_end(MotusRankInput *input); // accepts one that has not begun

void motus_rank_input_close(MotusRankInput *input); // accepts one that is not open

#endif
