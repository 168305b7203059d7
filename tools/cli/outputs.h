// Outputs of a command: what may be written, and where.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_OUTPUTS_H
#define TOOLS_CLI_OUTPUTS_H

#include "motus/status.h"

// Returns -1 if `path` may be a sequence of ours, else the exit status after one line: a file must
// end in .y4m or .yuv, since players believe the ending. `option` is what named it.
int motus_check_sequence_name(const char *command, const char *option, const char *path);

// Makes the folder unless there is one. Its parent must exist. MOTUS_ERR_IO.
MotusStatus motus_folder_make(const char *path, MotusError *error);

#endif
