// libcuda.so.1 for machines without a GPU: device memory is host memory, and work is done when it
// is asked for. Serves the loaders of FFmpeg and GStreamer, and libnvidia-encode.so.1 of motus with
// MOTUS_NVENC_BACKEND=cpu. Functions that nothing here calls answer CUDA_ERROR_NOT_SUPPORTED.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t Device;
enum { INVALID_CONTEXT = 201, NOT_SUPPORTED = 801, MAX_DEPTH = 64, ALIGNMENT = 512 };

static _Thread_local void *stack[MAX_DEPTH];
static _Thread_local int depth;
static int context[MAX_DEPTH], n_contexts, primary;

static void *at(Device address) { return (void *)(uintptr_t)address; }

// ---- Devices and contexts -----------------------------------------------------------------------

int cuInit(unsigned flags) { return (void)flags, 0; }
int cuDriverGetVersion(int *version) { return *version = 13000, 0; }
int cuDeviceGetCount(int *n) { return *n = 1, 0; }
int cuDeviceGet(int *device, int i) { return *device = i, i ? 101 : 0; }
int cuDeviceGetName(char *name, int n, int device) {
    return (void)device, snprintf(name, (size_t)n, "fake device"), 0;
}
int cuDeviceGetUuid(void *uuid, int device) { return (void)device, memset(uuid, 7, 16), 0; }
int cuDeviceComputeCapability(int *major, int *minor, int device) {
    return (void)device, *major = 9, *minor = 0, 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    switch (attribute) {
    case 14: // alignment of textures
    case 51:
        *value = ALIGNMENT;
        break;
    case 75:
        *value = 9;
        break; // compute capability
    case 76:
        *value = 0;
        break;
    default:
        *value = 1;
    }
    return 0;
}
int cuCtxPushCurrent_v2(void *c) {
    if (!c || depth == MAX_DEPTH) return INVALID_CONTEXT;
    stack[depth++] = c;
    return 0;
}
int cuCtxPopCurrent_v2(void **c) {
    if (!depth) return INVALID_CONTEXT;
    depth--;
    if (c) *c = stack[depth];
    return 0;
}
int cuCtxCreate_v2(void **c, unsigned flags, int device) {
    (void)flags, (void)device;
    *c = &context[n_contexts++ % MAX_DEPTH];
    return cuCtxPushCurrent_v2(*c);
}
int cuCtxDestroy_v2(void *c) { return (void)c, 0; }
int cuCtxGetCurrent(void **c) { return *c = depth ? stack[depth - 1] : NULL, 0; }
int cuCtxSetCurrent(void *c) {
    if (!depth) depth = 1;
    stack[depth - 1] = c;
    return 0;
}
int cuCtxGetDevice(int *device) { return *device = 0, depth ? 0 : INVALID_CONTEXT; }
int cuCtxSynchronize(void) { return 0; }
int cuCtxSetLimit(int limit, size_t value) { return (void)limit, (void)value, 0; }
int cuDevicePrimaryCtxRetain(void **c, int device) { return (void)device, *c = &primary, 0; }
int cuDevicePrimaryCtxRelease(int device) { return (void)device, 0; }
int cuDevicePrimaryCtxReset(int device) { return (void)device, 0; }
int cuDevicePrimaryCtxSetFlags(int device, unsigned flags) { return (void)device, (void)flags, 0; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *is_active) {
    return (void)device, *flags = 0, *is_active = 0, 0;
}
int cuGetErrorName(int error, const char **name) {
    return *name = error ? "CUDA_ERROR_FAKE" : "CUDA_SUCCESS", 0;
}
int cuGetErrorString(int error, const char **text) {
    return *text = error ? "an error of the fake driver" : "no error", 0;
}

// ---- Memory -------------------------------------------------------------------------------------

int cuMemAlloc_v2(Device *p, size_t n) {
    *p = (Device)(uintptr_t)aligned_alloc(ALIGNMENT, (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return *p ? 0 : 2;
}
int cuMemAllocPitch_v2(Device *p, size_t *pitch, size_t width, size_t height, unsigned size) {
    (void)size;
    *pitch = (width + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return cuMemAlloc_v2(p, *pitch * height);
}
int cuMemAllocManaged(Device *p, size_t n, unsigned flags) {
    return (void)flags, cuMemAlloc_v2(p, n);
}
int cuMemFree_v2(Device p) { return free(at(p)), 0; }
int cuMemAllocHost_v2(void **p, size_t n) { return *p = malloc(n), *p ? 0 : 2; }
int cuMemFreeHost(void *p) { return free(p), 0; }
int cuMemHostRegister_v2(void *p, size_t n, unsigned flags) {
    return (void)p, (void)n, (void)flags, 0;
}
int cuMemHostRegister(void *p, size_t n, unsigned flags) {
    return cuMemHostRegister_v2(p, n, flags);
}
int cuMemHostUnregister(void *p) { return (void)p, 0; }
int cuMemsetD8Async(Device p, unsigned char value, size_t n, void *stream) {
    return (void)stream, memset(at(p), value, n), 0;
}
int cuMemcpy(Device to, Device from, size_t n) { return memmove(at(to), at(from), n), 0; }
int cuMemcpyAsync(Device to, Device from, size_t n, void *s) {
    return (void)s, cuMemcpy(to, from, n);
}
int cuMemcpyHtoD_v2(Device to, const void *from, size_t n) { return memcpy(at(to), from, n), 0; }
int cuMemcpyHtoDAsync_v2(Device to, const void *from, size_t n, void *s) {
    return (void)s, cuMemcpyHtoD_v2(to, from, n);
}
int cuMemcpyDtoH_v2(void *to, Device from, size_t n) { return memcpy(to, at(from), n), 0; }
int cuMemcpyDtoHAsync_v2(void *to, Device from, size_t n, void *s) {
    return (void)s, cuMemcpyDtoH_v2(to, from, n);
}
int cuMemcpyDtoD_v2(Device to, Device from, size_t n) { return cuMemcpy(to, from, n); }
int cuMemcpyDtoDAsync_v2(Device to, Device from, size_t n, void *s) {
    return (void)s, cuMemcpy(to, from, n);
}
int cuMemcpyPeerAsync(Device to, void *to_context, Device from, void *from_context, size_t n,
                      void *s) {
    return (void)to_context, (void)from_context, (void)s, cuMemcpy(to, from, n);
}

typedef struct Copy2d { // CUDA_MEMCPY2D
    size_t from_x, from_y;
    int from_type;
    const void *from_host;
    Device from_device;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    int to_type;
    void *to_host;
    Device to_device;
    void *to_array;
    size_t to_pitch, width, height;
} Copy2d;

int cuMemcpy2D_v2(const Copy2d *c) {
    const char *from = c->from_type == 1 ? c->from_host : at(c->from_device);
    char *to = c->to_type == 1 ? c->to_host : at(c->to_device);
    for (size_t y = 0; y < c->height; y++)
        memcpy(to + (y + c->to_y) * c->to_pitch + c->to_x,
               from + (y + c->from_y) * c->from_pitch + c->from_x, c->width);
    return 0;
}
int cuMemcpy2DAsync_v2(const Copy2d *c, void *s) { return (void)s, cuMemcpy2D_v2(c); }

// ---- Streams and events -------------------------------------------------------------------------

int cuStreamCreate(void **stream, unsigned flags) {
    return (void)flags, *stream = malloc(1), *stream ? 0 : 2;
}
int cuStreamDestroy_v2(void *stream) { return free(stream), 0; }
int cuStreamDestroy(void *stream) { return free(stream), 0; } // GStreamer's name
int cuStreamQuery(void *stream) { return (void)stream, 0; }
int cuStreamSynchronize(void *stream) { return (void)stream, 0; }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
    return (void)stream, (void)event, (void)flags, 0;
}
int cuEventCreate(void **event, unsigned flags) { return cuStreamCreate(event, flags); }
int cuEventDestroy_v2(void *event) { return free(event), 0; }
int cuEventRecord(void *event, void *stream) { return (void)event, (void)stream, 0; }
int cuEventQuery(void *event) { return (void)event, 0; }
int cuEventSynchronize(void *event) { return (void)event, 0; }

// ---- What loaders look for ----------------------------------------------------------------------

#define NONE(name)                                                                                 \
    int name(void) { return NOT_SUPPORTED; }
NONE(cuArray3DCreate_v2)
NONE(cuArrayDestroy)
NONE(cuCtxDisablePeerAccess)
NONE(cuCtxEnablePeerAccess)
NONE(cuD3D11GetDevice)
NONE(cuD3D11GetDevices)
NONE(cuDestroyExternalMemory)
NONE(cuDestroyExternalSemaphore)
NONE(cuDeviceCanAccessPeer)
NONE(cuEGLStreamConsumerDisconnect)
NONE(cuEGLStreamProducerConnect)
NONE(cuEGLStreamProducerDisconnect)
NONE(cuEGLStreamProducerPresentFrame)
NONE(cuEGLStreamProducerReturnFrame)
NONE(cuExternalMemoryGetMappedBuffer)
NONE(cuExternalMemoryGetMappedMipmappedArray)
NONE(cuGLGetDevices_v2)
NONE(cuGraphicsD3D11RegisterResource)
NONE(cuGraphicsGLRegisterBuffer)
NONE(cuGraphicsGLRegisterImage)
NONE(cuGraphicsMapResources)
NONE(cuGraphicsResourceGetMappedPointer_v2)
NONE(cuGraphicsResourceSetMapFlags_v2)
NONE(cuGraphicsSubResourceGetMappedArray)
NONE(cuGraphicsUnmapResources)
NONE(cuGraphicsUnregisterResource)
NONE(cuImportExternalMemory)
NONE(cuImportExternalSemaphore)
NONE(cuLaunchKernel)
NONE(cuLinkAddData)
NONE(cuLinkComplete)
NONE(cuLinkCreate)
NONE(cuLinkDestroy)
NONE(cuMemHostAlloc)
NONE(cuMipmappedArrayDestroy)
NONE(cuMipmappedArrayGetLevel)
NONE(cuModuleGetFunction)
NONE(cuModuleGetGlobal)
NONE(cuModuleLoadData)
NONE(cuModuleUnload)
NONE(cuPointerGetAttribute)
NONE(cuSignalExternalSemaphoresAsync)
NONE(cuStreamAddCallback)
NONE(cuTexObjectCreate)
NONE(cuTexObjectDestroy)
NONE(cuWaitExternalSemaphoresAsync)
