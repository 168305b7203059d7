// Scene scan: finds the scene cuts of a file before its pictures are coded. A picture's cost
// depends only on pictures since its GOP began, so several scanners start at different pictures,
// each as if a GOP began there. Once two scanners have a GOP begin at the same picture, all later
// ones are equal: the result is that of one scanner.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_SCENE_SCAN_H
#define TOOLS_MPI_SCENE_SCAN_H

#include "tools/mpi/gops.h"
#include "tools/mpi/setup.h"

typedef struct MotusSceneScan MotusSceneScan;

// Starts threads that scan from picture `first`, which begins a GOP; picture `limit` counts as the
// end of the input. `frames` is the stream's length if the input allows random access, else -1: one
// scanner then. The CPU scans until the device is open. Pointers stay valid until the close.
MotusStatus motus_scene_scan_open(MotusSceneScan **scan, const MotusMpiWorker *worker,
                                  MotusGops *gops, int ranks, int64_t first, int64_t limit,
                                  int64_t frames, MotusError *error); // MOTUS_ERR_MEMORY
void motus_scene_scan_close(MotusSceneScan **scan);                   // accepts NULL inside

typedef struct MotusScannedSegment {
    int64_t count, gops; // pictures and GOPs
    int at_end;          // the input ends with it
} MotusScannedSegment;

// Returns the length of the segment of `gops` GOPs that begins at picture `first`, the beginning of
// a GOP. Segments are asked for in order; scanners stay within a bounded distance of the last one.
// MOTUS_AGAIN: not known yet (motus_link_wake follows). MOTUS_END: there is no picture `first`.
// Errors of reading and of the lookahead.
MotusStatus motus_scene_scan_segment(MotusSceneScan *c, int64_t first, int64_t gops,
                                     MotusScannedSegment *segment, MotusError *error);

typedef struct MotusSceneScanStats {
    int scanners;
    int64_t stretch;  // pictures from one scanner's start to the next
    int64_t pictures; // scanned so far
    double seconds;   // of all threads together
    double began;     // motus_seconds
} MotusSceneScanStats;
MotusSceneScanStats motus_scene_scan_stats(MotusSceneScan *c);

#endif
