// Scene cuts of a file, found ahead of those who code its pictures. What a picture costs depends on
// those before it in its GOP and on nothing before them. So somebody may begin to look anywhere, as
// if a GOP began there: what he finds at first is not true, but once one of his GOPs begins where
// one begins in the stream, all that follow are the stream's too. Several look at stretches of the
// input at the same time, each until a GOP begins for him where one begins for somebody farther on:
// what is found is what one alone would find.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_CUTS_H
#define TOOLS_MPI_CUTS_H

#include "tools/mpi/gops.h"
#include "tools/mpi/setup.h"

typedef struct MotusCuts MotusCuts;

// Begins to look, on threads of its own, at `first` (of the stream), where a GOP begins; picture
// `limit` counts as the input's end. `frames`: of the stream, where it is known and pictures
// anywhere in the input are had at once; else -1, and one looks. Where the device takes long to
// open, the host looks meanwhile. What is pointed to stays until the close. MOTUS_ERR_MEMORY.
MotusStatus motus_cuts_open(MotusCuts **cuts, const MotusMpiWorker *of, MotusGops *gops, int ranks,
                            int64_t first, int64_t limit, int64_t frames, MotusError *error);
void motus_cuts_close(MotusCuts **cuts); // accepts NULL inside

// Where a part of so many GOPs ends that begins at `first`, where one begins: count and gops of it;
// at_end: the input ends there. Parts are asked for in their order; a bounded stretch behind the
// last one is looked at. MOTUS_AGAIN: it is not known yet (motus_link_wake tells when it may be).
// MOTUS_END: there is no picture `first`. Errors of reading and looking.
typedef struct MotusCutsPart {
    int64_t count, gops;
    int at_end;
} MotusCutsPart;
MotusStatus motus_cuts_part(MotusCuts *cuts, int64_t first, int64_t gops, MotusCutsPart *part,
                            MotusError *error);

// What has been done so far: how many look, each at so many pictures of a stretch and some beyond;
// the pictures that they looked at; the seconds that it took, all threads together; and when they
// began (motus_seconds).
typedef struct MotusCutsWork {
    int lookers;
    int64_t stretch, pictures;
    double seconds, began;
} MotusCutsWork;
MotusCutsWork motus_cuts_work(MotusCuts *cuts);

#endif
