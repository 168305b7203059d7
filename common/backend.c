// SPDX-License-Identifier: BSD-2-Clause
#include "motus/backend.h"

const char *motus_backend_name(MotusBackend backend) {
    static const char *const names[] = {"auto", "cpu", "cuda"};
    return (unsigned)backend < sizeof names / sizeof *names ? names[backend] : "?";
}

// The CUDA backend has no passes yet: AUTO is the CPU, and asking for CUDA is refused.
MotusStatus motus_backend_choose(MotusBackend wanted, MotusBackend *chosen) {
    if (!chosen || (unsigned)wanted > MOTUS_BACKEND_CUDA) return MOTUS_ERR_ARGUMENT;
    if (wanted == MOTUS_BACKEND_CUDA) return MOTUS_ERR_UNSUPPORTED;
    *chosen = MOTUS_BACKEND_CPU;
    return MOTUS_OK;
}
