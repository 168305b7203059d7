// Outputs of a command: what may be written, and where.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_OUTPUTS_H
#define TOOLS_CLI_OUTPUTS_H

#include <stddef.h>

#include "motus/status.h"

// Returns -1 if `path` may be a sequence of ours, else the exit status after one line: a file must
// end in .y4m or .yuv, since players believe the ending. `option` is what named it.
int motus_check_sequence_name(const char *command, const char *option, const char *path);

// Treatment of files that are there already. ASK: a question on a terminal, else they are
// replaced.
typedef enum MotusOverwrite {
    MOTUS_OVERWRITE_ASK,
    MOTUS_OVERWRITE_YES,
    MOTUS_OVERWRITE_NO
} MotusOverwrite;

// Two rows of options; *value is a MotusOverwrite.
#define MOTUS_OPTIONS_OVERWRITE(value)                                                             \
    {"yes", 'y', value, NULL, MOTUS_OVERWRITE_YES, 0, NULL, "replace outputs without asking"}, {   \
        "no-overwrite", 0, value, NULL, MOTUS_OVERWRITE_NO, 0, NULL, "fail if an output exists"    \
    }

// Returns -1 if the outputs may be written, else the exit status after one line. Devices and pipes
// always may. NULL names are skipped.
int motus_may_overwrite(MotusOverwrite overwrite, const char *const *outputs, int n);

// Writes the name of an output that lies beside the input, with `ending`: film.y4m gives film.mp4,
// film.mp4 gives film.h264.mp4. Returns 0 if the input is no file, or the name too long.
int motus_output_beside(const char *input, const char *ending, char *name, size_t size);

// Makes the folder unless there is one. Its parent must exist. MOTUS_ERR_IO.
MotusStatus motus_folder_make(const char *path, MotusError *error);

#endif
