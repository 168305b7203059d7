// Journal of coded segments, OUTPUT.motus-journal (OUTPUT.motus-pass1 of a first pass): lets a job
// resume after a crash. A text header names input and settings; records follow in the order in
// which segments were finished, each with a checksum. An incomplete last record is dropped. A lock
// admits one job at a time.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_JOURNAL_H
#define TOOLS_MPI_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "motus/status.h"

typedef struct MotusJournal MotusJournal;

typedef struct MotusRecord {
    int64_t first, count, gops, size; // first picture, pictures, GOPs, bytes of data
    int32_t at_end, reserved;         // at_end: the input ends with it
    uint64_t checksum;                // of the members before and the data
} MotusRecord;

typedef enum MotusJournalUse {
    MOTUS_JOURNAL_NEW,     // fails if there is one
    MOTUS_JOURNAL_RESUME,  // continues the one there is, if any
    MOTUS_JOURNAL_DISCARD, // empties the one there is
} MotusJournalUse;

// Writes OUTPUT.motus-KIND into `name` of PATH_MAX bytes.
void motus_journal_name(char *name, const char *output, const char *kind);

// Opens a journal. `settings` and `input` are one line each, without its end. MOTUS_ERR_FORMAT: the
// journal has other ones. MOTUS_ERR_IO: also if another job has it open.
MotusStatus motus_journal_open(MotusJournal **out, const char *name, const char *settings,
                               const char *input, MotusJournalUse use, MotusError *error);

// Returns the record of the segment that begins with picture `first`, or NULL.
const MotusRecord *motus_journal_find(const MotusJournal *journal, int64_t first);
int64_t motus_journal_pictures(const MotusJournal *journal); // of all records

// Reads a record's data; the caller frees it with motus_free.
MotusStatus motus_journal_read(MotusJournal *journal, const MotusRecord *record, uint8_t **data,
                               MotusError *error);

// Appends a record with record.size bytes of data and fills in its checksum. A thread syncs the
// file about once a second; if that fails, the next call returns the error.
MotusStatus motus_journal_add(MotusJournal *journal, MotusRecord record, const uint8_t *data,
                              MotusError *error);

// Closes the journal and deletes the file if the job is `done`. Accepts NULL inside.
void motus_journal_close(MotusJournal **out, int done);

// Extends a checksum: FNV-1a with 64 bits on eight bytes at a time, so that splitting the data
// differently changes the result. Begins with MOTUS_CHECKSUM_START.
#define MOTUS_CHECKSUM_START 14695981039346656037u
uint64_t motus_checksum(uint64_t sum, const void *data, size_t size);

#endif
