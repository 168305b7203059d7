// Where closed GOPs begin: the one place that decides it for a stream that many encode.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_GOPS_H
#define TOOLS_MPI_GOPS_H

#include "encoder/lookahead.h"
#include "encoder/stream.h"

typedef struct MotusGops {
    MotusStream stream;
    int looks; // GOPs begin at scene cuts as well, so that pictures have to be looked at
    MotusLookahead *look;
    int64_t since; // pictures of the part so far
    int gops;      // and GOPs
} MotusGops;

MotusStatus motus_gops_open(MotusGops *gops, const MotusEncoderConfig *config, MotusError *error);
void motus_gops_close(MotusGops *gops); // accepts a zeroed one

// Pictures of `n` GOPs where that is known without looking; INT64_MAX: all there are. -1: it is not.
int64_t motus_gops_length(const MotusGops *gops, int64_t n);

// A part begins. MOTUS_ERR_MEMORY.
MotusStatus motus_gops_begin(MotusGops *gops);

// Looks at the part's next picture (its luma is not read where length is known): 1 where a GOP begins, as with the first.
int motus_gops_put(MotusGops *gops, const MotusPlane *luma);

#endif
