// What has been coded, kept beside the output until that is whole, so that nothing is done twice
// after a crash: OUTPUT.motus-journal, and OUTPUT.motus-pass1 of a first pass. A header of text
// says of which input and settings it is; then come parts of the stream in the order in which they
// were done, each with a checksum. A last record that was cut off is dropped. One job at a time has
// it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_JOURNAL_H
#define TOOLS_MPI_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "motus/status.h"

typedef struct MotusJournal MotusJournal;

typedef struct MotusRecord {
    int64_t first, count, gops, size; // pictures from `first` on; size of the pictures' data, bytes
    int32_t at_end, reserved;         // at_end: nothing comes after them
    uint64_t checksum;                // of the members before it and the data
} MotusRecord;

typedef enum MotusJournalUse {
    MOTUS_JOURNAL_NEW,
    MOTUS_JOURNAL_RESUME,
    MOTUS_JOURNAL_DISCARD
} MotusJournalUse;

// NEW: there must not be one. RESUME: goes on with the one there is, or begins where there is none.
// DISCARD: begins anew. `settings` and `input`: one line each without its end; a journal that has
// others is refused (MOTUS_ERR_FORMAT), and so is one that another job has (MOTUS_ERR_IO).
MotusStatus motus_journal_open(MotusJournal **out, const char *name, const char *settings,
                               const char *input, MotusJournalUse use, MotusError *error);

// What is known of the part that begins with that picture; NULL: nothing.
const MotusRecord *motus_journal_find(const MotusJournal *journal, int64_t first);
int64_t motus_journal_pictures(const MotusJournal *journal); // in all of it

// The data of such a record, to be freed with motus_free.
MotusStatus motus_journal_read(MotusJournal *journal, const MotusRecord *record, uint8_t **data,
                               MotusError *error);

// Adds a part with its record.size bytes of data: record's checksum is filled in here. It is on the
// disk within a second or so, for which nobody waits; where that fails, the next part that is added
// says so.
MotusStatus motus_journal_add(MotusJournal *journal, MotusRecord record, const uint8_t *data,
                              MotusError *error);

// done: it has served its purpose and goes. Accepts NULL inside.
void motus_journal_close(MotusJournal **out, int done);

// After FNV-1a, 64 bits, but eight bytes at a time: going on from `sum`; MOTUS_SUM_BEGIN at first.
// Of pieces of data it is not the sum of the whole.
#define MOTUS_SUM_BEGIN 14695981039346656037u
uint64_t motus_sum(uint64_t sum, const void *data, size_t size);

#endif
