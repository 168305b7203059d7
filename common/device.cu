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

// ---- Contexts
// ------------------------------------------------------------------------------------

// Returns a function of the driver, which the library does not link; NULL: there is none.
template <typename Function> static Function *driver_function(const char *name) {
    void *function = NULL;
    cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
    cudaError_t status =
        cudaGetDriverEntryPointByVersion(name, &function, 12000, cudaEnableDefault, &found);
#else
    cudaError_t status = cudaGetDriverEntryPoint(name, &function, cudaEnableDefault, &found);
#endif
    if (status == cudaSuccess && found == cudaDriverEntryPointSuccess) return (Function *)function;
    (void)cudaGetLastError();
    return NULL;
}

void *motus_device_context(int device) {
    auto current = driver_function<int(void **)>("cuCtxGetCurrent");
    auto device_of = driver_function<int(int *)>("cuCtxGetDevice");
    auto state = driver_function<int(int, unsigned *, int *)>("cuDevicePrimaryCtxGetState");
    auto retain = driver_function<int(void **, int)>("cuDevicePrimaryCtxRetain");
    auto release = driver_function<int(int)>("cuDevicePrimaryCtxRelease");
    void *context = NULL, *primary = NULL;
    int its_device, is_active;
    unsigned flags;
    if (!current || !device_of || !state || !retain || !release) return NULL;
    if (current(&context) || !context || device_of(&its_device) || its_device != device)
        return NULL;
    if (state(device, &flags, &is_active) || !is_active) return context;
    if (retain(&primary, device)) return NULL;
    release(device);
    return context == primary ? NULL : context;
}

void motus_device_use(int device, void *context) {
    auto set = context ? driver_function<int(void *)>("cuCtxSetCurrent") : NULL;
    if (set && !set(context)) return;
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
