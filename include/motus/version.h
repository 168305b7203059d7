// Version of the headers and of the library.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_VERSION_H
#define MOTUS_VERSION_H

#include "motus/status.h"

#define MOTUS_VERSION_MAJOR 0
#define MOTUS_VERSION_MINOR 2
#define MOTUS_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

// Returns the version of the library that runs, e.g. "0.2.0"; it may differ from the macros above.
// Static storage.
MOTUS_API const char *motus_version(void);

#ifdef __cplusplus
}
#endif
#endif
