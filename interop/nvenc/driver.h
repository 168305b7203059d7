// The functions of the CUDA driver that the NVENC library calls, loaded when the first session
// opens: the library itself loads where there is no driver.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef INTEROP_NVENC_DRIVER_H
#define INTEROP_NVENC_DRIVER_H

#include <ffnvcodec/dynlink_cuda.h>

typedef struct CudaDriver {
    int is_loaded; // 0: no driver, or one without a function below
    tcuCtxPushCurrent_v2 *push;
    tcuCtxPopCurrent_v2 *pop;
    tcuCtxGetDevice *device;
    tcuMemAlloc_v2 *alloc;
    tcuMemFree_v2 *free;
    tcuMemcpy2DAsync_v2 *copy_2d;
    tcuMemcpyHtoDAsync_v2 *upload;
    tcuMemcpyDtoDAsync_v2 *copy;
    tcuStreamCreate *stream_create;
    tcuStreamDestroy_v2 *stream_destroy;
    tcuStreamSynchronize *synchronize;
} CudaDriver;

// Returns the driver, loaded once for the process; never NULL.
const CudaDriver *motus_nvenc_cuda(void);

#endif
