// The parts of the stream in order: coming, under way, done; and what leaves them for the output.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_PARTS_H
#define TOOLS_MPI_PARTS_H

#include "tools/mpi/journal.h"
#include "tools/mpi/link.h"

// A part is a few closed GOPs that follow one another.
typedef struct MotusStreamPart {
    struct MotusStreamPart *next;
    int64_t first, gop, gops; // gops: how many, once known is set
    int64_t count;            // pictures; -1: not known yet, INT64_MAX: all there are
    int known, at_end,
        done; // count is known; nothing comes after it; all pictures are here or in the journal
    int rank; // who codes it; -1: the journal has it
    MotusMessage *pictures, *last, *unwritten;
    int64_t came, bytes;
} MotusStreamPart;

typedef struct MotusParts {
    MotusStreamPart *head, *tail;
    int under_way; // that are not from the journal
} MotusParts;

// A new last part. NULL where there is no memory.
MotusStreamPart *motus_parts_add(MotusParts *parts, int64_t first, int64_t gop, int rank);

// The part that begins with that picture, if a rank codes it; NULL: it does not.
MotusStreamPart *motus_parts_of(const MotusParts *parts, int rank, int64_t first);

// Pictures have come, in a message that is taken over. 0: they are not whole.
int motus_part_take(MotusStreamPart *part, MotusMessage *pictures);

// Writes a part that is done into the journal.
MotusStatus motus_part_keep(const MotusStreamPart *part, MotusJournal *journal, MotusError *error);

// Drops the first part.
void motus_parts_drop(MotusParts *parts);
void motus_parts_close(MotusParts *parts);

#endif
