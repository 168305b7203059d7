// The temporary file of an output: FOLDER/NAME.motus-XXXXXXXXXXXX.part beside the final name, which
// it gets by a rename once everything is on the disk. It is removed on every exit that can be
// caught. A live file, which is useful while it grows, has its final name from the start if that is
// free, and stays once it has a byte.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_IO_TEMP_OUTPUT_H
#define YUV_IO_TEMP_OUTPUT_H

#include "motus/status.h"

typedef struct MotusTempOutput {
    int fd;       // -1: none
    int folder;   // for its fsync; -1: a folder that may be written to but not read
    char *target; // final name, symbolic links followed
    char *name;   // of the temporary file; NULL once it has been renamed or removed
    int live;     // it has the final name
    int slot;     // in the table of files to remove, -1: none
} MotusTempOutput;

// Creates the temporary file for `path`, with the permissions of the file that it will replace.
// live: under the final name if possible. MOTUS_ERR_IO: also if another job is building a file for
// this name, as that job's lock (flock) tells; files of dead jobs do not matter.
MotusStatus motus_temp_output_open(MotusTempOutput *temp, const char *path, int live,
                                   MotusError *error);

// Makes the data durable, then the name: fsync of the file, rename, fsync of the folder. Returns 0
// or errno. The temporary file is gone in both cases.
int motus_temp_output_commit(MotusTempOutput *temp);

// True if closing leaves a live file that is not empty.
int motus_temp_output_stays(const MotusTempOutput *temp);

// Removes the temporary file unless it was committed or stays; closes and frees.
void motus_temp_output_close(MotusTempOutput *temp);

// Removes the temporary files of this process. For signal handlers (async-signal-safe); exit calls
// it by itself.
void motus_temp_outputs_remove(void);

#endif
