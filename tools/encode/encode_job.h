// One encode from input to finished files.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_ENCODE_ENCODE_JOB_H
#define TOOLS_ENCODE_ENCODE_JOB_H

#include "tools/encode/encode_options.h"

// Encodes. Prints errors, warnings, the live line and the summary on stderr. Returns the exit
// status.
int motus_encode_job(const MotusEncodeOptions *options);

#endif
