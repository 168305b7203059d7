// SPDX-License-Identifier: BSD-2-Clause
#include "common/device.h"

#include <stdio.h>

#include "common/cuda_call.cuh"

static cudaError_t count_devices(int *count) {
    if (!motus_device_pretended()) return cudaGetDeviceCount(count);
    *count = 1;
    return cudaSuccess;
}

// Gets the current device and the number of devices. MOTUS_ERR_NO_DEVICE: there is none.
static MotusStatus find_device(int *device, int *count, MotusError *error) {
    cudaError_t status = count_devices(count);
    *device = 0;
    if (status == cudaSuccess && *count > 0 && !motus_device_pretended())
        status = cudaGetDevice(device);
    if (status == cudaSuccess && *count > 0) return MOTUS_OK;
    cudaGetLastError(); // a missing device must not become an error of later calls
    if (status != cudaErrorInsufficientDriver)
        return motus_fail(error, MOTUS_ERR_NO_DEVICE, "CUDA: %s",
                          status == cudaSuccess ? "no device" : cudaGetErrorString(status));
    // A driver that is missing, which CUDA calls too old, or too old.
    int driver = 0; // 12040 is CUDA 12.4; 0: there is none
    if (cudaDriverGetVersion(&driver) != cudaSuccess) cudaGetLastError();
    if (!driver) return motus_fail(error, MOTUS_ERR_NO_DEVICE, "CUDA: there is no NVIDIA driver");
    return motus_fail(error, MOTUS_ERR_NO_DEVICE,
                      "CUDA: the NVIDIA driver is for CUDA %d.%d, this build for %d.%d",
                      driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000,
                      CUDART_VERSION % 1000 / 10);
}

// Returns MOTUS_OK if the device runs code of this build.
static MotusStatus check_code(int device, MotusError *error) {
    int capability = motus_device_pretended(); // 90 is 9.0
    if (!capability) { // attributes can be read without opening the device, which is slow
        int major = 0, minor = 0;
        cudaError_t status =
            cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
        if (status == cudaSuccess)
            status = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
        if (status != cudaSuccess) return motus_cuda_check(status, "device", error);
        capability = 10 * major + minor;
    }
    if (motus_device_code_runs(motus_device_code(), capability)) return MOTUS_OK;
    cudaDeviceProp p = {};
    if (cudaGetDeviceProperties(&p, device) != cudaSuccess) cudaGetLastError();
    return motus_fail(error, MOTUS_ERR_NO_DEVICE,
                      "CUDA: this build has no code for device %d, %s (sm_%d), only %s", device,
                      *p.name ? p.name : "no name", capability, motus_device_code());
}

MotusStatus motus_device_check(MotusError *error) {
    int device, count;
    MotusStatus status = find_device(&device, &count, error);
    return status ? status : check_code(device, error);
}

int motus_device_lacks_code(MotusError *error) {
    int device, count;
    return !find_device(&device, &count, NULL) && check_code(device, error);
}

MotusStatus motus_device_choose(int wanted, int *device, MotusError *error) {
    int count;
    MotusStatus status = find_device(device, &count, error);
    if (status) return status;
    if (wanted >= count)
        return motus_fail(error, MOTUS_ERR_NO_DEVICE, "there is no CUDA device %d, only %d", wanted,
                          count);
    if (wanted >= 0) *device = wanted;
    return check_code(*device, error);
}

void motus_device_use(int device) {
    if (cudaSetDevice(device) != cudaSuccess) cudaGetLastError(); // later calls report it
}

int motus_device_count(void) {
    int count = 0;
    if (count_devices(&count) == cudaSuccess) return count;
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
