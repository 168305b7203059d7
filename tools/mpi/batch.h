// motus-mpi batch: many files, each coded as by motus encode.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_BATCH_H
#define TOOLS_MPI_BATCH_H

#include "tools/mpi/setup.h"

typedef struct MotusBatch {
    MotusLink *link;
    const char *list, *folder, *suffix;
    const char *report; // NULL: none
    int resume;         // keeps outputs that are no older than their input
    int argc;           // options of motus encode for every file
    char **argv;
    MotusLocalRank local;
} MotusBatch;

// Runs the batch on rank 0, which codes too; returns the exit status.
int motus_batch(MotusBatch *batch);

// Codes files on any rank (batch: MotusBatch) until rank 0 says stop. Returns NULL.
void *motus_batch_worker(void *batch);

#endif
