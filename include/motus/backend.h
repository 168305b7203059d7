// Backends: the CPU or a CUDA device. All give the same bits.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_BACKEND_H
#define MOTUS_BACKEND_H

#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MotusBackend {
    MOTUS_BACKEND_AUTO = 0, // CUDA if a device can be opened, else the CPU; chosen at the opening
    MOTUS_BACKEND_CPU = 1,
    MOTUS_BACKEND_CUDA = 2,
} MotusBackend;

// Returns "auto", "cpu" or "cuda". Static storage.
MOTUS_API const char *motus_backend_name(MotusBackend backend);

// Resolves AUTO and checks the others. MOTUS_ERR_ARGUMENT: unknown value. MOTUS_ERR_NO_DEVICE: CUDA
// is wanted and no device is usable. MOTUS_ERR_UNSUPPORTED: this build has no CUDA backend.
MOTUS_API MotusStatus motus_backend_choose(MotusBackend wanted, MotusBackend *chosen);

#ifdef __cplusplus
}
#endif
#endif
