// motus-mpi batch: many files, each of them as motus encode would do it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_BATCH_H
#define TOOLS_MPI_BATCH_H

#include "tools/mpi/setup.h"

typedef struct MotusBatch {
    const char *list, *folder, *suffix, *report; // report: NULL: none
    int resume; // outputs that are there and not older than their input stay
    int argc;   // options of motus encode, the same for every file
    char **argv;
    MotusMpiPlace here;
} MotusBatch;

// Rank 0; returns the exit status.
int motus_batch(MotusLink *link, const MotusBatch *batch);

// Everybody who works.
void motus_batch_work(MotusLink *link, const MotusBatch *batch);

#endif
