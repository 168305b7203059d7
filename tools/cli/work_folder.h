// A temporary folder ($TMPDIR, else /tmp) with a clip for other programs to read, and room for what
// they leave.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_WORK_FOLDER_H
#define TOOLS_CLI_WORK_FOLDER_H

#include "common/error.h"

typedef struct MotusWorkFolder {
    char path[512];
    char clip[544];   // name for its .y4m
    char stream[544]; // name for a coded stream
    char log[544];    // name for what a program prints
} MotusWorkFolder;

// Makes the folder; nothing is in it yet.
MotusStatus motus_work_folder_make(MotusWorkFolder *folder, MotusError *error);

// Removes it with its three files; accepts one that was never made, all zero.
void motus_work_folder_remove(MotusWorkFolder *folder);

#endif
