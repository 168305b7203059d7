// Filling a frame up to whole MBs on the device, and its one way down.
//
// Kernel: same samples as motus_frame_copy_padded. Grid x: 128 columns a block, four a thread; grid y: 8 rows; grid z: the plane (of the chroma
// planes three quarters of the blocks have nothing to do). Reads the frame once, byte by byte, since the caller's rows begin anywhere; writes words.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/intake_cuda.h"

#include "common/cuda_call.h"
#include "common/device.h"

extern "C" {
#include "common/alloc.h"
}

struct MotusIntakeCuda {
    cudaStream_t stream; // of the download
    cudaEvent_t filled;
    uint8_t *memory;
    MotusPlane plane[3]; // in `memory`, whole MBs, rows without gaps
};

namespace {

constexpr int COLUMNS = 32, ROWS = 8; // threads of a block
constexpr size_t TAIL = 32;           // the search reads whole words, beyond the last sample as well

struct FillUp {
    MotusPlane dst[3], src[3];
};

__global__ void fill_up(FillUp f) {
    const MotusPlane &dst = f.dst[blockIdx.z], &src = f.src[blockIdx.z];
    int x = 4 * (blockIdx.x * COLUMNS + threadIdx.x), y = blockIdx.y * ROWS + threadIdx.y;
    if (x >= dst.width || y >= dst.height) return;
    const uint8_t *row = src.data + min(y, src.height - 1) * src.stride;
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) word |= (uint32_t)row[min(x + i, src.width - 1)] << 8 * i;
    *(uint32_t *)(dst.data + y * dst.stride + x) = word;
}

// A plane in ordinary host memory would end every CUDA context of the process; it is found here.
MotusStatus check_memory(const MotusFrame *frame, MotusError *error) {
    for (int p = 0; p < 3; p++) {
        cudaPointerAttributes attributes = {};
        MotusStatus status = motus_cuda_check(cudaPointerGetAttributes(&attributes, frame->plane[p].data), "frame", error);
        if (status) return status;
        if (attributes.type == cudaMemoryTypeUnregistered)
            return motus_fail(error, MOTUS_ERR_ARGUMENT, "frame: plane %d is not in device memory", p);
    }
    return MOTUS_OK;
}

MotusStatus fill(const MotusIntakeCuda *in, const MotusFrame *frame, cudaStream_t stream, MotusError *error) {
    FillUp f;
    for (int p = 0; p < 3; p++) f.dst[p] = in->plane[p], f.src[p] = frame->plane[p];
    dim3 grid((in->plane[0].width + 4 * COLUMNS - 1) / (4 * COLUMNS), (in->plane[0].height + ROWS - 1) / ROWS, 3);
    fill_up<<<grid, dim3(COLUMNS, ROWS), 0, stream>>>(f);
    return motus_cuda_launched("filling up to macroblocks", error);
}

MotusStatus download(const MotusIntakeCuda *in, const MotusFrame *whole, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    for (int p = 0; p < 3 && !status; p++) {
        const MotusPlane *from = &in->plane[p], *to = &whole->plane[p];
        status =
            motus_cuda_check(cudaMemcpy2DAsync(to->data, (size_t)to->stride, from->data, (size_t)from->stride,
                                               (size_t)from->width, (size_t)from->height, cudaMemcpyDeviceToHost, in->stream),
                             "download of the frame", error);
    }
    return status;
}

} // namespace

MotusStatus motus_intake_cuda_open(MotusIntakeCuda **intake, int width, int height, MotusError *error) {
    *intake = NULL;
    MotusStatus status = motus_device_check(error);
    if (status) return status;
    MotusIntakeCuda *in = (MotusIntakeCuda *)motus_alloc(1, sizeof *in);
    if (!in) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    size_t luma = (size_t)width * height, size = luma + luma / 2 + TAIL;
    status = motus_cuda_check(cudaStreamCreateWithFlags(&in->stream, cudaStreamNonBlocking), "stream", error);
    if (!status) status = motus_cuda_check(cudaEventCreateWithFlags(&in->filled, cudaEventDisableTiming), "event", error);
    if (!status) status = motus_cuda_check(cudaMalloc((void **)&in->memory, size), "device memory", error);
    if (!status) status = motus_cuda_check(cudaMemsetAsync(in->memory, 0, size, in->stream), "device memory", error);
    if (!status) status = motus_cuda_check(cudaStreamSynchronize(in->stream), "device memory", error);
    in->plane[0] = {in->memory, width, width, height};
    in->plane[1] = {in->memory + luma, width / 2, width / 2, height / 2};
    in->plane[2] = {in->memory + luma + luma / 4, width / 2, width / 2, height / 2};
    *intake = in;
    if (status) motus_intake_cuda_close(intake);
    return status;
}

MotusStatus motus_intake_cuda_take(MotusIntakeCuda *in, const MotusFrame *frame, void *stream, MotusFrame *whole,
                                   MotusPlane *luma, MotusError *error) {
    MotusStatus status = check_memory(frame, error);
    if (!status) status = fill(in, frame, (cudaStream_t)stream, error);
    if (!status) status = motus_cuda_check(cudaEventRecord(in->filled, (cudaStream_t)stream), "record", error);
    if (!status) status = motus_cuda_check(cudaStreamWaitEvent(in->stream, in->filled, 0), "wait", error);
    if (!status) status = download(in, whole, error);
    // Even after a failure nothing may write to `whole` behind the caller's back.
    MotusStatus waited = motus_cuda_check(cudaStreamSynchronize(in->stream), "download of the frame", status ? NULL : error);
    if (!status) status = waited;
    if (!status) *luma = in->plane[0];
    return status;
}

void motus_intake_cuda_close(MotusIntakeCuda **intake) {
    if (!intake || !*intake) return;
    MotusIntakeCuda *in = *intake;
    if (in->stream) cudaStreamSynchronize(in->stream);
    cudaFree(in->memory);
    if (in->filled) cudaEventDestroy(in->filled);
    if (in->stream) cudaStreamDestroy(in->stream);
    cudaGetLastError(); // what went wrong has been told
    motus_free(in);
    *intake = NULL;
}
