// Times the filter jobs on a CUDA device: kernels alone, and pictures from host memory and back.
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/bench/filter_jobs.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "common/cuda_call.cuh"
#include "motus/upload.h"

extern "C" {
#include "tools/cli/system.h"
}

namespace {

constexpr size_t ROTATION = (size_t)768 << 20; // bytes of pictures in turn; an L2 has up to 126 MiB
constexpr int ROUNDS = 9;                      // timed

MotusFilterTime time_of(double *seconds, int n) {
    std::sort(seconds, seconds + n);
    return MotusFilterTime{seconds[n / 2], seconds[0]};
}

// NVIDIA's image library, loaded at run time if it is installed. Of these jobs it does
// equalization, as a histogram and a look-up table; the curve between them is not counted.
struct NppSize {
    int width, height;
};

struct NppStream { // NppStreamContext
    cudaStream_t stream;
    int device, processors, threads_per_processor, threads_per_block;
    size_t shared_per_block;
    int major, minor;
    unsigned flags;
    int reserved;
};

struct Npp {
    int (*buffer_size)(NppSize, int, size_t *, NppStream);
    int (*histogram)(const uint8_t *, int, NppSize, int32_t *, int, int32_t, int32_t, uint8_t *,
                     NppStream);
    int (*look_up)(const uint8_t *, int, uint8_t *, int, NppSize, const int32_t *, const int32_t *,
                   int, NppStream);
    NppStream context;
    uint8_t *buffer;
    int32_t *counts, *levels, *values;
};

struct Device {
    uint8_t *in, *out, *scratch;
    Npp npp; // histogram NULL: our own kernels
    cudaEvent_t begin, end;
    MotusCudaEqualizer *equalizer;
    size_t in_pitch, out_pitch;
    int sets;
};

// True if the job needs an equalizer.
bool equalizes(const MotusFilterJob *s) { return s->kind == JOB_EQUALIZE || s->kind == JOB_CLAHE; }

MotusStatus check(cudaError_t status, MotusError *error) {
    return motus_cuda_check(status, "benchmark", error);
}

MotusStatus open_device(Device *d, const MotusFilterJob *s, const void *in, MotusError *error) {
    *d = Device{};
    d->in_pitch = (s->in_bytes + 255) / 256 * 256, d->out_pitch = (s->out_bytes + 255) / 256 * 256;
    d->sets = (int)std::min<size_t>(64, ROTATION / (d->in_pitch + d->out_pitch) + 1);
    MotusStatus status = check(cudaMalloc(&d->in, d->in_pitch * (size_t)d->sets), error);
    if (!status) status = check(cudaMalloc(&d->out, d->out_pitch * (size_t)d->sets), error);
    if (!status) status = check(cudaMalloc(&d->scratch, s->scratch_bytes + 256), error);
    for (int i = 0; !status && i < d->sets; i++)
        status = check(
            cudaMemcpy(d->in + (size_t)i * d->in_pitch, in, s->in_bytes, cudaMemcpyHostToDevice),
            error);
    if (!status) status = check(cudaEventCreate(&d->begin), error);
    if (!status) status = check(cudaEventCreate(&d->end), error);
    if (!status && equalizes(s))
        status = motus_cuda_equalizer_open(&d->equalizer, &s->equalize, s->width, s->height, error);
    return status;
}

MotusStatus launch_npp(Device *d, const MotusFilterJob *s, const uint8_t *in, uint8_t *out,
                       MotusError *error) {
    NppSize size = {s->width, s->height};
    int stride = (s->width + 15) / 16 * 16;
    int failed = d->npp.histogram(in, stride, size, d->npp.counts, 257, 0, 256, d->npp.buffer,
                                  d->npp.context);
    if (!failed)
        failed = d->npp.look_up(in, stride, out, stride, size, d->npp.values, d->npp.levels, 256,
                                d->npp.context);
    return failed ? motus_fail(error, MOTUS_ERR_CUDA, "NPP: status %d", failed) : MOTUS_OK;
}

MotusStatus open_npp(Npp *npp, const MotusFilterJob *s, MotusError *error) {
    void *statistics = dlopen("libnppist.so.13", RTLD_NOW),
         *tables = dlopen("libnppicc.so.13", RTLD_NOW);
    if (!statistics || !tables)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "NPP is not installed");
    npp->buffer_size =
        (decltype(npp->buffer_size))dlsym(statistics, "nppiHistogramEvenGetBufferSize_8u_C1R_Ctx");
    npp->histogram = (decltype(npp->histogram))dlsym(statistics, "nppiHistogramEven_8u_C1R_Ctx");
    npp->look_up = (decltype(npp->look_up))dlsym(tables, "nppiLUT_8u_C1R_Ctx");
    if (!npp->buffer_size || !npp->histogram || !npp->look_up)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "NPP has other functions here");
    size_t bytes = 0;
    int32_t ramp[256];
    for (int k = 0; k < 256; k++) ramp[k] = k;
    cudaDeviceProp properties;
    MotusStatus status = check(cudaGetDevice(&npp->context.device), error);
    if (!status) status = check(cudaGetDeviceProperties(&properties, npp->context.device), error);
    if (status) return status;
    npp->context.processors = properties.multiProcessorCount;
    npp->context.threads_per_block = properties.maxThreadsPerBlock;
    npp->context.threads_per_processor = properties.maxThreadsPerMultiProcessor;
    npp->context.shared_per_block = properties.sharedMemPerBlock;
    npp->context.major = properties.major, npp->context.minor = properties.minor;
    if (npp->buffer_size(NppSize{s->width, s->height}, 257, &bytes, npp->context))
        return motus_fail(error, MOTUS_ERR_CUDA, "NPP: no buffer size");
    status = check(cudaMalloc(&npp->buffer, bytes + 1), error);
    if (!status) status = check(cudaMalloc(&npp->counts, 3 * 1024), error);
    npp->levels = npp->counts + 256, npp->values = npp->counts + 512;
    for (int32_t *to : {npp->levels, npp->values})
        if (!status)
            status = check(cudaMemcpy(to, ramp, sizeof ramp, cudaMemcpyHostToDevice), error);
    return status;
}

// Times a round: every set once, at least 20 launches. *seconds: of one launch.
MotusStatus time_round(Device *d, const MotusFilterJob *s, double *seconds, MotusError *error) {
    int launches = std::max(d->sets, 20);
    float ms = 0;
    MotusStatus status = check(cudaEventRecord(d->begin, 0), error);
    for (int i = 0; !status && i < launches; i++) {
        size_t set = (size_t)(i % d->sets);
        const uint8_t *in = d->in + set * d->in_pitch;
        uint8_t *out = d->out + set * d->out_pitch;
        status = d->npp.histogram
                     ? launch_npp(d, s, in, out, error)
                     : motus_filter_job_launch(s, in, out, d->scratch, d->equalizer, NULL, error);
    }
    if (!status) status = check(cudaEventRecord(d->end, 0), error);
    if (!status) status = check(cudaEventSynchronize(d->end), error);
    if (!status) status = check(cudaEventElapsedTime(&ms, d->begin, d->end), error);
    *seconds = 1e-3 * ms / launches;
    return status;
}

// Times a copy, ROUNDS times after a warm-up. *rate: bytes per second of the median.
MotusStatus time_copy(void *dst, const void *src, size_t bytes, cudaMemcpyKind kind, double *rate,
                      MotusError *error) {
    cudaEvent_t begin = NULL, end = NULL;
    double seconds[ROUNDS];
    MotusStatus status = check(cudaEventCreate(&begin), error);
    if (!status) status = check(cudaEventCreate(&end), error);
    for (int i = -1; !status && i < ROUNDS; i++) {
        float ms = 0;
        cudaEventRecord(begin, 0);
        status = check(cudaMemcpyAsync(dst, src, bytes, kind, 0), error);
        cudaEventRecord(end, 0);
        if (!status) status = check(cudaEventSynchronize(end), error);
        if (!status) status = check(cudaEventElapsedTime(&ms, begin, end), error);
        if (i >= 0) seconds[i] = 1e-3 * ms;
    }
    if (!status) *rate = (double)bytes / time_of(seconds, ROUNDS).median;
    if (begin) cudaEventDestroy(begin);
    if (end) cudaEventDestroy(end);
    return status;
}

struct RingJob {
    const MotusFilterJob *job;
    void *scratch;
    MotusCudaEqualizer *equalizer;
};

MotusStatus launch_work(void *opaque, const void *d_in, void *d_out, void *stream,
                        MotusError *error) {
    RingJob *w = (RingJob *)opaque;
    return motus_filter_job_launch(w->job, d_in, d_out, w->scratch, w->equalizer, stream, error);
}

// Sends `pictures` through the ring with `depth` in flight. *seconds: of one picture.
MotusStatus stream_round(MotusCudaRing *ring, RingJob *work, int depth, int pictures,
                         const void **last, double *seconds, MotusError *error) {
    double start = motus_seconds();
    MotusStatus status = MOTUS_OK;
    for (int n = 0; !status && n < pictures + depth; n++) {
        if (n >= depth) status = motus_cuda_ring_take(ring, last, NULL, error);
        if (!status && n < pictures)
            status = motus_cuda_ring_submit(ring, launch_work, work, error);
    }
    *seconds = (motus_seconds() - start) / pictures;
    return status;
}

} // namespace

extern "C" MotusStatus motus_filter_time_kernel(const MotusFilterJob *job, const void *in, int npp,
                                                MotusFilterTime *time, MotusError *error) {
    Device d;
    double seconds[ROUNDS], warm;
    if (npp && job->kind != JOB_EQUALIZE)
        return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "NPP has no such function");
    MotusStatus status = open_device(&d, job, in, error);
    if (!status && npp) status = open_npp(&d.npp, job, error);
    if (!status) status = time_round(&d, job, &warm, error);
    for (int i = 0; !status && i < ROUNDS; i++) status = time_round(&d, job, &seconds[i], error);
    if (!status) *time = time_of(seconds, ROUNDS);
    motus_cuda_equalizer_close(&d.equalizer);
    if (d.begin) cudaEventDestroy(d.begin);
    if (d.end) cudaEventDestroy(d.end);
    cudaFree(d.in), cudaFree(d.out), cudaFree(d.scratch);
    cudaFree(d.npp.buffer), cudaFree(d.npp.counts);
    return status;
}

extern "C" MotusStatus motus_filter_time_copies(double *device, double *up, double *down,
                                                MotusError *error) {
    size_t bytes = (size_t)1 << 30;
    uint8_t *a = NULL, *b = NULL, *h = NULL;
    MotusStatus status = check(cudaMalloc(&a, bytes), error);
    if (!status) status = check(cudaMalloc(&b, bytes), error);
    if (!status) status = check(cudaMallocHost(&h, bytes / 4), error);
    if (!status) status = check(cudaMemset(a, 1, bytes), error);
    if (!status) status = time_copy(b, a, bytes, cudaMemcpyDeviceToDevice, device, error);
    if (!status) status = time_copy(a, h, bytes / 4, cudaMemcpyHostToDevice, up, error);
    if (!status) status = time_copy(h, a, bytes / 4, cudaMemcpyDeviceToHost, down, error);
    *device *= 2; // read and written
    cudaFree(a), cudaFree(b), cudaFreeHost(h);
    return status;
}

extern "C" MotusStatus motus_filter_time_stream(const MotusFilterJob *job, const void *in,
                                                void *out, int overlapped, MotusFilterTime *time,
                                                MotusError *error) {
    constexpr int slots = 4, pictures = 24;
    MotusCudaRing *ring = NULL;
    RingJob work = {job, NULL, NULL};
    double seconds[ROUNDS];
    const void *last = NULL;
    MotusStatus status =
        motus_cuda_ring_open(&ring, slots, job->in_bytes, job->out_bytes, 0, error);
    if (!status) status = check(cudaMalloc(&work.scratch, job->scratch_bytes + 256), error);
    if (!status && equalizes(job))
        status = motus_cuda_equalizer_open(&work.equalizer, &job->equalize, job->width, job->height,
                                           error);
    for (int i = 0; !status && i < slots; i++) { // every slot's input, which also warms up
        void *input;
        status = motus_cuda_ring_input(ring, &input, error);
        if (status) break;
        std::memcpy(input, in, job->in_bytes);
        status = stream_round(ring, &work, 1, 1, &last, &seconds[0], error);
    }
    for (int i = 0; !status && i < ROUNDS; i++)
        status =
            stream_round(ring, &work, overlapped ? slots : 1, pictures, &last, &seconds[i], error);
    if (!status) *time = time_of(seconds, ROUNDS);
    if (!status) std::memcpy(out, last, job->out_bytes);
    motus_cuda_ring_close(&ring);
    motus_cuda_equalizer_close(&work.equalizer);
    cudaFree(work.scratch);
    return status;
}
