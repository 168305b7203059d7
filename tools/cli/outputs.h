// Outputs of a command: what may be written, and where.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_CLI_OUTPUTS_H
#define TOOLS_CLI_OUTPUTS_H

#include "motus/status.h"

// Makes the folder unless there is one. Its parent must exist. MOTUS_ERR_IO.
MotusStatus motus_folder_make(const char *path, MotusError *error);

#endif
