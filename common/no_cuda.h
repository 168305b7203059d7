// Definitions of CUDA functions in a build without CUDA, for the no_cuda.c of each folder.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_NO_CUDA_H
#define COMMON_NO_CUDA_H

#include "common/device.h"

// Defines a function of these parameters and MotusError *error. It returns MOTUS_ERR_UNSUPPORTED.
#define MOTUS_NO_CUDA(name, ...)                                                                   \
    MotusStatus name(__VA_ARGS__, MotusError *error) { return motus_device_check(error); }

// The same for a function that opens or allocates: its first parameter is Type **out, set to NULL.
#define MOTUS_NO_CUDA_OPEN(name, Type, ...)                                                        \
    MotusStatus name(Type **out, __VA_ARGS__, MotusError *error) {                                 \
        if (out) *out = NULL;                                                                      \
        return motus_device_check(error);                                                          \
    }

#endif
