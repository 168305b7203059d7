// The temporary file that an output is built in: FOLDER/NAME.motus-XXXXXXXXXXXX.part, made for this
// job alone, beside the final name, which it takes by a rename once everything is on the disk. It
// is removed on every exit that can be caught. A live part is for what is of use while it is being
// written: it has the final name from the beginning, if nothing else has, and stays whatever
// happens as soon as there is a byte in it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_TEMP_OUTPUT_H
#define YUV_IO_TEMP_OUTPUT_H

#include "motus/status.h"

typedef struct MotusTempOutput {
    int fd;       // -1: none
    int folder;   // for its fsync; -1: a folder that may be written to but not read
    char *target; // final name, symbolic links followed
    char *name;   // of the part; NULL once it has been renamed or removed
    int live;     // it has the final name
    int slot;     // in the table of parts to remove, -1: none
} MotusTempOutput;

// Makes the part for `path`, which need not exist, with the permissions of the file that it will
// replace; `live` where it can be. Refused (MOTUS_ERR_IO) where another job is building a file for
// the same name: the kernel's lock on that job's part tells, so that parts of dead jobs do not
// matter.
MotusStatus motus_temp_output_open(MotusTempOutput *part, const char *path, int live,
                                   MotusError *error);

// Makes the data durable, then the name: fsync of the file, rename, fsync of the folder. Returns 0
// or the errno of what failed; then the part is gone.
int motus_temp_output_commit(MotusTempOutput *part);

// Whether closing leaves a live part with something in it.
int motus_temp_output_stays(const MotusTempOutput *part);

// Removes what there is; a part that was committed is only closed, and so is a live one that stays.
void motus_temp_output_close(MotusTempOutput *part);

// Removes the parts of this process, for signal handlers (async-signal-safe) and for exit, where it
// is called by itself.
void motus_temp_outputs_remove(void);

#endif
