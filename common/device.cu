// SPDX-License-Identifier: BSD-2-Clause
#include "common/device.h"

#include <stdio.h>

#include "common/cuda_call.cuh"

// True if the kernels run on the device: compute capability 7.5 or newer.
static int usable(int device) {
    int major = 0, minor = 0;
    return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) ==
               cudaSuccess &&
           cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device) ==
               cudaSuccess &&
           10 * major + minor >= 75;
}

MotusStatus motus_device_check(MotusError *error) {
    int count = 0, device = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count > 0) status = cudaGetDevice(&device);
    if (status != cudaSuccess || count < 1) {
        cudaGetLastError(); // a missing device must not become an error of later calls
        return motus_fail(error, MOTUS_ERR_NO_DEVICE, "CUDA: %s",
                          count < 1 && status == cudaSuccess ? "no device"
                                                             : cudaGetErrorString(status));
    }
    if (!usable(device))
        return motus_fail(error, MOTUS_ERR_NO_DEVICE,
                          "CUDA: device %d is older than compute capability 7.5", device);
    return MOTUS_OK;
}

MotusStatus motus_device_choose(int wanted, int *device, MotusError *error) {
    MotusStatus status = motus_device_check(error);
    if (status) return status;
    int n = motus_device_count();
    if (wanted >= n)
        return motus_fail(error, MOTUS_ERR_NO_DEVICE, "there is no CUDA device %d, only %d", wanted,
                          n);
    *device = wanted;
    if (wanted < 0) return motus_cuda_check(cudaGetDevice(device), "device", error);
    // Attributes can be read without opening the device, which is slow.
    return usable(wanted)
               ? MOTUS_OK
               : motus_fail(error, MOTUS_ERR_NO_DEVICE,
                            "CUDA: device %d is older than compute capability 7.5", wanted);
}

void motus_device_use(int device) {
    if (cudaSetDevice(device) != cudaSuccess) cudaGetLastError(); // later calls report it
}

int motus_device_count(void) {
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
    cudaGetLastError();
    return 0;
}

void motus_device_describe(int i, char *text, size_t size) {
    cudaDeviceProp p;
    cudaError_t status = cudaGetDeviceProperties(&p, i);
    if (status == cudaSuccess)
        snprintf(text, size, "%s, compute capability %d.%d, %d processors, %.1f GiB", p.name,
                 p.major, p.minor, p.multiProcessorCount, (double)p.totalGlobalMem / (1 << 30));
    else
        snprintf(text, size, "%s", cudaGetErrorString(status));
}
