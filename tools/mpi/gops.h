// Where closed GOPs begin: the one place that decides it for a stream that many encode.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_GOPS_H
#define TOOLS_MPI_GOPS_H

#include "encoder/rate/lookahead.h"
#include "encoder/settings/stream.h"

typedef struct MotusGops {
    MotusStream stream;
    int looks;            // GOPs begin at scene cuts as well, so that pictures have to be looked at
    int device;           // where: a CUDA device, or MOTUS_LOOKAHEAD_HOST
    int host_will_do;     // where the device cannot be used
    MotusLookahead *look; // for motus_gops_put
    int64_t since;        // pictures of the part so far
    int gops;             // and GOPs
} MotusGops;

MotusStatus motus_gops_open(MotusGops *gops, const MotusEncoderConfig *config, MotusError *error);
void motus_gops_close(MotusGops *gops); // accepts a zeroed one

// From now on pictures are looked at by a rank of that configuration: where it codes, and with its
// threads.
void motus_gops_place(MotusGops *gops, const MotusEncoderConfig *config);

// Pictures of `n` GOPs where that is known without looking; INT64_MAX: all there are. -1: it is
// not.
int64_t motus_gops_length(const MotusGops *gops, int64_t n);

// A part begins. MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA.
MotusStatus motus_gops_begin(MotusGops *gops, MotusError *error);

// Looks at the part's next picture (it is not read where length is known): *begins is 1 where a GOP
// begins, as with the first. MOTUS_ERR_CUDA.
MotusStatus motus_gops_put(MotusGops *gops, const MotusFrame *frame, int *begins,
                           MotusError *error);

// The same for whoever looks by himself, on the device of `gops`, if it has one, or on the host.
// Only luma is read. After motus_lookahead_next_segment the next picture is the first of a GOP.
MotusStatus motus_gops_look_open(MotusLookahead **look, const MotusGops *gops, int device,
                                 MotusError *error);
MotusStatus motus_gops_look(MotusLookahead *look, const MotusFrame *frame, int *begins,
                            MotusError *error);

#endif
