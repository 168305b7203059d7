// Rank 0 of an encode: its state, and handing out and collecting segments (master.c).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_MASTER_H
#define TOOLS_MPI_MASTER_H

#include <stdio.h>

#include "tools/cli/bytes.h"
#include "tools/cli/cmd.h"
#include "tools/mpi/scene_scan.h"
#include "tools/mpi/segments.h"
#include "tools/mpi/setup.h"
#include "yuv/io/reader.h"

// Frames that rank 0 reads and sends (feed.c).
typedef struct MotusFeed {
    MotusSegment *segment; // that frames belong to
    int64_t count;         // its frames so far
    MotusFrame *frame;     // read and not sent yet
    MotusTime time;        // of that frame
    MotusError error;      // of messages received while the input was silent
} MotusFeed;

// One pass over the input. All passes have the same options but for rate control.
typedef struct MotusMpiPass {
    const char *journal;       // suffix of its name
    int first;                 // writes a log and no output
    int another;               // pass follows
    MotusBytes log;            // of the pass before, or of this first pass; freed by the caller
    MotusEncoderConfig config; // completed from the input; pass_log is not valid
} MotusMpiPass;

// Messages received and the CPU time that rank 0's thread spent on them.
typedef struct MotusMessageStats {
    int64_t messages, bytes;
    double cpu_seconds;
} MotusMessageStats;

typedef struct MotusMaster {
    MotusMpiPass *pass;
    MotusLink *link;
    const MotusEncodeOptions *options;
    MotusMpiSetup setup;
    MotusReader *reader; // for the first frame's time, or for all frames if rank 0 reads
    MotusGops gops;
    MotusFeed feed;
    MotusSceneScan *scan;  // NULL: GOPs begin at known pictures, or rank 0 reads
    MotusJournal *journal; // NULL: none
    MotusSegments segments;
    int64_t next_first, next_gop; // first picture and GOP of the next segment
    int64_t limit;                // pictures at most
    int ended;                    // no segment follows the last one
    int ranks, workers;
    int window;      // segments that may be handed out before the oldest is written
    int *requested;  // per rank: wants another segment
    int *assigned;   // per rank: segments it has not finished
    int64_t *credit; // per rank: frames that may be sent
    MotusEncodeOutputs outputs;
    MotusEncodeReport report;
    MotusTotals totals;
    int64_t searched; // pictures with inter MBs that the table of external MVs lacks
    MotusProgress progress;
    double began;               // motus_seconds
    double first_request;       // motus_seconds; equal to `began` before it
    FILE *times;                // NULL: not wanted
    MotusMessageStats stats[2]; // of messages without pictures, with pictures
    int damaged;                // a warning about the input was printed
    int lost;                   // something of the input is not in the output
    MotusError truncated;       // status != MOTUS_OK: the input ended inside a frame
    char warned[512];           // the last warning
} MotusMaster;

// Runs one pass on rank 0 (pass.c); returns the exit status. A first pass keeps its journal until
// the whole job is done.
int motus_mpi_run_pass(MotusLink *link, const MotusEncodeOptions *options,
                       const MotusMpiOptions *own, MotusMpiPass *pass);

// Appends to the log of a first pass.
MotusStatus motus_mpi_log_add(MotusMpiPass *pass, const char *text, size_t size, MotusError *error);

// Hands segments to ranks that requested one. Does nothing if rank 0 reads (see feed.c).
MotusStatus motus_master_assign(MotusMaster *master, MotusError *error);

// Handles one message if there is one. *received: 0 = none, 1 = one, 2 = one with pictures.
MotusStatus motus_master_receive(MotusMaster *master, int *received, MotusError *error);

// Opens the next segment for a rank that requested one, or from the journal. NULL: not possible
// yet, or *error.
MotusSegment *motus_master_open_segment(MotusMaster *master, MotusError *error);
MotusStatus motus_master_end_segment(MotusMaster *master, MotusSegment *segment, int64_t count,
                                     int64_t gops, int at_end, MotusError *error);

// Reads the input's next frame and sends it, if its rank has credit. *fed: something was done.
MotusStatus motus_feed(MotusMaster *master, int *fed, MotusError *error);
int motus_feed_while_input_waits(void *master); // for MotusReaderOptions.idle

#endif
