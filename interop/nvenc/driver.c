// SPDX-License-Identifier: BSD-2-Clause
#include "interop/nvenc/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static CudaDriver driver;

static void load(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return;
    static const struct {
        const char *name;
        size_t at;
    } function[] = {{"cuCtxPushCurrent_v2", offsetof(CudaDriver, push)},
                    {"cuCtxPopCurrent_v2", offsetof(CudaDriver, pop)},
                    {"cuCtxGetDevice", offsetof(CudaDriver, device)},
                    {"cuMemAlloc_v2", offsetof(CudaDriver, alloc)},
                    {"cuMemFree_v2", offsetof(CudaDriver, free)},
                    {"cuMemcpy2DAsync_v2", offsetof(CudaDriver, copy_2d)},
                    {"cuMemcpyHtoDAsync_v2", offsetof(CudaDriver, upload)},
                    {"cuMemcpyDtoDAsync_v2", offsetof(CudaDriver, copy)},
                    {"cuStreamCreate", offsetof(CudaDriver, stream_create)},
                    {"cuStreamDestroy_v2", offsetof(CudaDriver, stream_destroy)},
                    {"cuStreamSynchronize", offsetof(CudaDriver, synchronize)}};
    driver.is_loaded = 1;
    for (size_t i = 0; i < sizeof function / sizeof *function; i++) {
        void *found = dlsym(library, function[i].name);
        memcpy((char *)&driver + function[i].at, &found, sizeof found);
        if (!found) driver.is_loaded = 0;
    }
}

const CudaDriver *motus_nvenc_cuda(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return &driver;
}
