// SPDX-License-Identifier: BSD-2-Clause
#include "motus/backend.h"

#include "common/device.h"

const char *motus_backend_name(MotusBackend backend) {
    static const char *const names[] = {"auto", "cpu", "cuda"};
    return (unsigned)backend < sizeof names / sizeof *names ? names[backend] : "?";
}

MotusStatus motus_backend_choose(MotusBackend wanted, MotusBackend *chosen) {
    if (!chosen || (unsigned)wanted > MOTUS_BACKEND_CUDA) return MOTUS_ERR_ARGUMENT;
    MotusStatus status = wanted == MOTUS_BACKEND_CPU ? MOTUS_ERR_UNSUPPORTED : motus_device_check(NULL);
    if (wanted == MOTUS_BACKEND_CUDA && status != MOTUS_OK) return status;
    *chosen = status == MOTUS_OK ? MOTUS_BACKEND_CUDA : MOTUS_BACKEND_CPU;
    return MOTUS_OK;
}
