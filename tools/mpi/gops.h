// Starts of closed GOPs: by the key picture interval alone, or at scene cuts too.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_GOPS_H
#define TOOLS_MPI_GOPS_H

#include "encoder/lookahead/lookahead.h"
#include "encoder/settings/stream.h"

typedef struct MotusGops {
    MotusStream stream;
    int at_cuts;               // GOPs begin at scene cuts too: pictures have to be scanned
    int device;                // CUDA device that scans, or MOTUS_LOOKAHEAD_HOST
    int cpu_is_allowed;        // if the device cannot be used
    MotusLookahead *lookahead; // of motus_gops_add
    int64_t pictures;          // of the segment so far
    int gops;                  // of the segment so far
} MotusGops;

MotusStatus motus_gops_open(MotusGops *gops, const MotusEncoderConfig *config, MotusError *error);
void motus_gops_close(MotusGops *gops); // accepts a zeroed one

// Scans on the device and with the threads of that configuration from now on.
void motus_gops_use_device(MotusGops *gops, const MotusEncoderConfig *config);

// Returns the pictures of `n` GOPs, INT64_MAX if all pictures are one GOP, -1 if GOPs begin at
// cuts.
int64_t motus_gops_length(const MotusGops *gops, int64_t n);

// Begins a segment. MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA.
MotusStatus motus_gops_begin(MotusGops *gops, MotusError *error);

// Adds the segment's next picture; *begins is 1 if a GOP begins with it. The samples are read only
// if GOPs begin at cuts. MOTUS_ERR_CUDA.
MotusStatus motus_gops_add(MotusGops *gops, const MotusFrame *frame, int *begins,
                           MotusError *error);

// Open and use a lookahead of the caller's own in place of motus_gops_add, on `device` or on the
// CPU. Reads luma only. After motus_lookahead_next_segment the next picture begins a GOP.
MotusStatus motus_gops_lookahead_open(MotusLookahead **lookahead, const MotusGops *gops, int device,
                                      MotusError *error);
MotusStatus motus_gops_scan(MotusLookahead *lookahead, const MotusFrame *frame, int *begins,
                            MotusError *error);

#endif
