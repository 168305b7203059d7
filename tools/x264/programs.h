// Other programs: running them, and a temporary folder for their files.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_X264_PROGRAMS_H
#define TOOLS_X264_PROGRAMS_H

#include "motus/frame.h"
#include "tools/cli/system.h"

// Runs a program (a path, or a name on the PATH) and waits for it. Its stdout and stderr go to the
// file `log` (NULL: nowhere). A signal that this program has caught is passed on to it. Returns its
// exit status: 127 if it could not be started, 126 if a signal ended it. *times (may be NULL): its
// own, with its start.
int motus_spawn(char *const argv[], const char *log, MotusTimes *times);

// A folder in $TMPDIR, else /tmp.
typedef struct MotusWorkFolder {
    char path[512];
    char clip[544];   // name for a .y4m
    char stream[544]; // name for a coded stream
    char log[544];    // name for a program's output
} MotusWorkFolder;

// Makes the folder, empty.
MotusStatus motus_work_folder_make(MotusWorkFolder *folder, MotusError *error);

// Makes the folder and writes n frames into its clip. On failure nothing is left behind.
MotusStatus motus_work_folder_make_clip(MotusWorkFolder *folder, MotusFrame *const *frames, int n,
                                        MotusRational fps, MotusError *error);

// Removes the folder with its three files; accepts a zeroed one.
void motus_work_folder_remove(MotusWorkFolder *folder);

// Measures ffmpeg's exhaustive search over n frames on one thread, in frames per second: filter
// mestimate, method esa (16x16 blocks, full samples, no MV cost, both directions).
// MOTUS_ERR_UNSUPPORTED: there is no such program or filter.
MotusStatus motus_ffmpeg_search(MotusFrame *const *frames, int n, int range, double *fps,
                                MotusError *error);

#endif
