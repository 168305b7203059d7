// The input as each rank reads it: frames by number, or a segment read ahead.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_RANK_INPUT_H
#define TOOLS_MPI_RANK_INPUT_H

#include "tools/cli/input.h"
#include "tools/mpi/setup.h"

typedef struct MotusRankInput {
    const MotusMpiWorker *worker;
    int pinned, luma_only; // as in MotusReaderOptions
    MotusReader *reader;   // NULL: not open
    int64_t next;          // number of the reader's next frame
    MotusFrame *last;      // kept so that it can be asked for again
    MotusInput segment;    // that is read ahead
    MotusReadAhead *ahead; // NULL: nothing is read ahead
} MotusRankInput;

// Returns a frame cropped to the coded size: frame number `frame`, or the next one of a segment
// that has begun. MOTUS_END: there is none; if the input is truncated, rank 0 is warned before.
MotusStatus motus_rank_input_frame(MotusRankInput *input, int64_t frame, MotusFrame **out,
                                   MotusError *error);

// Begins a segment: goes to `first` and reads `count` frames ahead. Statuses as above.
MotusStatus motus_rank_input_begin(MotusRankInput *input, int64_t first, int64_t count,
                                   MotusBackend backend, MotusError *error);
void motus_rank_input_end(MotusRankInput *input); // accepts one without a segment

void motus_rank_input_close(MotusRankInput *input); // accepts one that is not open

#endif
