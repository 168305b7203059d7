// What rank 0 keeps of an encode.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_MASTER_H
#define TOOLS_MPI_MASTER_H

#include <stdio.h>
#include <time.h>

#include "tools/cli/progress.h"
#include "tools/mpi/cuts.h"
#include "tools/mpi/parts.h"
#include "tools/mpi/setup.h"
#include "yuv/io/reader.h"

typedef struct MotusFeed { // where frames go from rank 0
    MotusStreamPart *part; // the one that frames belong to
    int64_t count;         // its frames so far
    MotusFrame *frame;     // read and not yet sent
    MotusTime time;        // of it
    int64_t number;        // of the input's next frame
    MotusError error;      // of what was done while the input was silent
} MotusFeed;

// One of the passes over the input, which are one after another of the same options but for rate
// control.
typedef struct MotusMpiPass {
    const char *journal; // its name ends so
    int first;           // leaves a log, and no output
    int more;            // another one follows
    char *log; // with a NUL: of the pass before, or what a first pass has left; to be freed
    size_t log_size, log_room; // without it
    MotusEncoderConfig config; // with what the input says; pass_log does not hold
} MotusMpiPass;

// Messages that came, and what they took on rank 0's thread.
typedef struct MotusHeard {
    int64_t messages, bytes;
    double seconds; // of the processor, without the time between messages
} MotusHeard;

typedef struct MotusMaster {
    MotusMpiPass *pass;
    MotusLink *link;
    const MotusEncodeOptions *options;
    MotusMpiSetup setup;
    MotusReader *reader; // for the first frame's time, and for all frames where they are fed
    MotusGops gops;
    MotusFeed feed;
    MotusCuts *cuts;       // where parts of a file end that ranks read; NULL: that is known without
                           // looking, or frames are fed
    MotusJournal *journal; // NULL: none
    MotusParts parts;
    int64_t next_first, next_gop; // where the part after the last one begins
    int64_t limit;                // pictures at most
    int ended;                    // no part comes after the last one
    int ranks, workers,
        window;      // window: parts that may be handed out before the first of them is written
    int *asks;       // by rank: takes another part
    int *has;        // by rank: parts that it has not finished
    int64_t *credit; // by rank: frames that may be sent
    MotusEncodeOutputs outputs;
    MotusEncodeReport job;
    MotusTotals totals;
    MotusProgress progress;
    double began, asked; // motus_seconds: of the run; when the first rank had opened its encoder
                         // and asked for work
    FILE *times;         // NULL: nobody wants to know
    MotusHeard heard[2]; // messages without pictures and with them
    int damaged;
    MotusError cut; // the input ended inside a frame
    char warned[512];
} MotusMaster;

// Rank 0's part in one pass; returns the exit status. A first pass leaves its journal, for the
// whole job to be resumed.
int motus_mpi_run_pass(MotusLink *link, const MotusEncodeOptions *options,
                       const MotusMpiOptions *own, MotusMpiPass *pass);

// The same for a bitrate (two_passes.c).
int motus_mpi_two_passes(MotusLink *link, const MotusEncodeOptions *options,
                         const MotusMpiOptions *own);

// OUTPUT.motus-KIND, in PATH_MAX bytes.
void motus_mpi_beside(char *name, const char *output, const char *kind);

// Adds to the log of a first pass.
MotusStatus motus_mpi_log_add(MotusMpiPass *pass, const char *text, size_t size, MotusError *error);

// Until everything is in the output; the output is not committed.
MotusStatus motus_master_run(MotusMaster *master, MotusError *error);

// Deals with what somebody says, if anything. *heard: 0 nothing, 1 something, 2 something with
// pictures.
MotusStatus motus_master_hear(MotusMaster *master, int *heard, MotusError *error);

// For feeding: the next part, for somebody who asks or of the journal; NULL: not now, or an error.
// And its end.
MotusStreamPart *motus_master_open_part(MotusMaster *master, MotusError *error);
MotusStatus motus_master_end_part(MotusMaster *master, MotusStreamPart *part, int64_t count,
                                  int64_t gops, int at_end, MotusError *error);

// Reads the next frame of the input and sends it on, if somebody takes it.
MotusStatus motus_feed(MotusMaster *master, int *fed, MotusError *error);
int motus_feed_idle(void *master); // for MotusReaderOptions.idle

#endif
