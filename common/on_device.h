// Calls for a device that need not be the current one.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_ON_DEVICE_H
#define COMMON_ON_DEVICE_H

#include <cuda_runtime.h>

// Makes a device the current one for as long as it lives.
struct MotusOnDevice {
    int before;
    explicit MotusOnDevice(int device) : before(-1) {
        int now;
        if (cudaGetDevice(&now) == cudaSuccess && now != device &&
            cudaSetDevice(device) == cudaSuccess)
            before = now;
    }
    ~MotusOnDevice() {
        if (before >= 0) cudaSetDevice(before);
    }
    MotusOnDevice(const MotusOnDevice &) = delete;
    MotusOnDevice &operator=(const MotusOnDevice &) = delete;
};

#endif
