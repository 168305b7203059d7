// motus bench me on a CUDA device: kernels of a search beside the limit by VABSDIFF4, copies, a
// search from host memory and back, ways to upload.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <initializer_list>

#include "common/cuda_call.cuh"
#include "common/int_core.h"
#include "me/pixel/ref_luma_cuda.h"
#include "me/pixel/sad.cuh"
#include "me/search/refine_cuda.h"
#include "me/search/search_cuda.h"
#include "motus/me_request.h"
#include "tools/bench/bench.h"

extern "C" {
#include "common/alloc.h"
#include "tools/cli/system.h"
}

namespace {

constexpr int REPEATS = 30, WARM_UP = 3, CHAINS = 8, LIMIT_ROUNDS = 400, IN_FLIGHT = 16;
constexpr int STREAMS = 4;
constexpr uint32_t LAMBDA_Q8 = 1024;  // QP 24
constexpr size_t ROTATE = 128u << 20; // bytes of pictures in turn: more than twice the L2

struct MeBench {
    const MotusBench *b;
    MotusError *error;
    cudaStream_t stream, second;
    cudaEvent_t begin, end, handover;
    int width, height, stride, n_mb, n; // n pictures on the device
    size_t plane;                       // bytes
    uint8_t *pictures, *planes;
    uint8_t *pinned; // as many planes as the clip has frames, rows `width` apart; a field
    MotusMv *mv;     // of MOTUS_SEARCH_BATCH fields
    uint16_t *sad;
    uint32_t *cost;
    size_t frame_bytes, field_bytes; // field: MVs, SADs and costs of 16x16 to 8x8, nine blocks
};

MotusStatus check(MeBench *b, cudaError_t status, const char *what) {
    return motus_cuda_check(status, what, b->error);
}

// Adds a figure of the report, and prints it with its text.
void line(const MeBench *b, const char *name, double value, const char *format, const char *text) {
    const MotusBenchField fields[] = {{NULL, "%-26s ", 0, name, 0, 0},
                                      {name, format, value, NULL, 0, 0},
                                      {NULL, "%s", 0, text, 0, 0}};
    motus_bench_row(b->b, NULL, fields, 3);
}

// ---- What is timed: run number i on b->stream ---------------------------------------------------

// Chains of VABSDIFF4 with accumulation, and nothing else.
__global__ void limit_kernel(uint32_t *out, uint32_t seed) {
    uint32_t a[CHAINS], sum[CHAINS];
    for (int i = 0; i < CHAINS; i++) a[i] = seed * (threadIdx.x + i * 77), sum[i] = 0;
    for (int k = 0; k < LIMIT_ROUNDS; k++) {
#pragma unroll
        for (int u = 0; u < 16; u++)
#pragma unroll
            for (int i = 0; i < CHAINS; i++)
                asm volatile("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;"
                             : "+r"(sum[i])
                             : "r"(a[i]), "r"(a[(i + u) % CHAINS]));
    }
    uint32_t all = 0;
    for (int i = 0; i < CHAINS; i++) all ^= sum[i];
    if (all == 0x12345678) *out = all; // keeps the sums alive
}

cudaError_t run_limit(MeBench *b, int, int blocks) {
    limit_kernel<<<blocks, 256, 0, b->stream>>>(b->cost, 7);
    return cudaGetLastError();
}

MotusSearchPicture picture(const MeBench *b, int number, int field) {
    MotusSearchPicture p = {};
    size_t entries = (size_t)field * MOTUS_BLOCKS * b->n_mb;
    p.cur = b->pictures + (size_t)(1 + number % (b->n - 1)) * b->plane;
    p.ref = p.cur - b->plane;
    p.cur_stride = p.ref_stride = b->stride;
    p.lambda_q8 = LAMBDA_Q8;
    p.mv = b->mv + entries, p.sad = b->sad + entries, p.cost = b->cost + entries;
    return p;
}

cudaError_t search(MeBench *b, const MotusSearchPicture *p, int n, cudaStream_t stream) {
    return motus_search_cuda(p, n, b->width, b->height, b->b->range, MOTUS_MODES_ALL, stream);
}

cudaError_t run_search(MeBench *b, int i, int batch) {
    MotusSearchPicture p[MOTUS_SEARCH_BATCH];
    for (int k = 0; k < batch; k++) p[k] = picture(b, i * batch + k, k);
    return search(b, p, batch, b->stream);
}

// Searches pictures with a launch each, on two streams in turn, as a context with several in flight
// does: the end of one overlaps the beginning of the next.
cudaError_t run_in_flight(MeBench *b, int i, int pictures) {
    cudaEventRecord(b->handover, b->stream), cudaStreamWaitEvent(b->second, b->handover, 0);
    cudaError_t error = cudaSuccess;
    for (int k = 0; k < pictures && error == cudaSuccess; k++) {
        MotusSearchPicture p = picture(b, i * pictures + k, k % MOTUS_SEARCH_BATCH);
        error = search(b, &p, 1, k % 2 ? b->second : b->stream);
    }
    cudaEventRecord(b->handover, b->second), cudaStreamWaitEvent(b->stream, b->handover, 0);
    return error;
}

// Searches a picture, makes its reference and refines all blocks to a MotusSubpel. Refinement alone
// cannot be repeated: it begins with whole samples.
cudaError_t run_level(MeBench *b, int i, int subpel) {
    MotusSearchPicture p = picture(b, i, 0);
    MotusRefLuma ref;
    motus_ref_luma_layout(&ref, b->planes, b->width, b->height);
    const MotusPlane luma = {const_cast<uint8_t *>(p.ref), p.ref_stride, b->width, b->height};
    cudaError_t error = search(b, &p, 1, b->stream);
    if (error == cudaSuccess) error = motus_ref_luma_cuda_build(&ref, &luma, b->stream);
    if (error != cudaSuccess) return error;
    return subpel == MOTUS_SUBPEL_BEST
               ? motus_refine_best_cuda(&p, &ref, b->width, b->height, b->b->range, MOTUS_MODES_ALL,
                                        {}, b->stream)
               : motus_refine_cuda(&p, &ref, b->width, b->height, (MotusSubpel)subpel,
                                   MOTUS_MODES_ALL, {}, b->stream);
}

cudaError_t run_copy(MeBench *b, int i, int kind) {
    const uint8_t *frame = b->pinned + i % b->b->clip.n * b->frame_bytes;
    uint8_t *field = b->pinned + b->frame_bytes * b->b->clip.n;
    return kind == cudaMemcpyDeviceToDevice
               ? cudaMemcpyAsync(b->pictures, b->pictures + ROTATE / 2, ROTATE / 2,
                                 cudaMemcpyDeviceToDevice, b->stream)
           : kind == cudaMemcpyHostToDevice
               ? cudaMemcpyAsync(b->pictures, frame, b->frame_bytes, cudaMemcpyHostToDevice,
                                 b->stream)
               : cudaMemcpyAsync(field, b->mv, b->field_bytes, cudaMemcpyDeviceToHost, b->stream);
}

// ---- Kernels and copies -------------------------------------------------------------------------

// A measurement: what it runs, its limit and unit.
struct Row {
    const char *name; // NULL: not reported
    cudaError_t (*run)(MeBench *b, int i, int parameter);
    int parameter;
    int pictures = 0; // of a run, if a search is compared with the limit
    double bytes = 0; // of a run, if its rate is reported
    const char *format = NULL, *text = NULL;
};

// Times a row. *best: seconds of the shortest of REPEATS runs; limit: of a picture.
MotusStatus time_row(MeBench *b, const Row &row, double limit, double *best) {
    double seconds[REPEATS], median;
    char text[120], key[64];
    MotusStatus status = MOTUS_OK;
    for (int i = -WARM_UP; i < REPEATS && !status; i++) {
        float ms = 0;
        cudaEventRecord(b->begin, b->stream);
        status = check(b, row.run(b, i + WARM_UP, row.parameter), "benchmark");
        cudaEventRecord(b->end, b->stream);
        if (!status) status = check(b, cudaEventSynchronize(b->end), "benchmark");
        if (!status) status = check(b, cudaEventElapsedTime(&ms, b->begin, b->end), "benchmark");
        if (i >= 0) seconds[i] = 1e-3 * ms;
    }
    if (status) return status;
    median = motus_median_of(seconds, REPEATS), *best = seconds[0];
    if (!row.name) return MOTUS_OK;
    if (row.pictures) {
        const double share = limit * row.pictures / *best;
        snprintf(text, sizeof text,
                 " us per picture (median %.1f) = %.0f frames/s, %.1f %% of the limit",
                 1e6 * median / row.pictures, row.pictures / *best, 100 * share);
        line(b, row.name, 1e6 * *best / row.pictures, "%.1f", text);
        snprintf(key, sizeof key, "%s_fraction", row.name);
        cJSON_AddNumberToObject(b->b->report, key, share);
    } else {
        line(b, row.name, row.bytes > 0 ? 1e-9 * row.bytes / *best : 1e6 * *best, row.format,
             row.text);
    }
    return MOTUS_OK;
}

// Times kernels and copies. *slowest: seconds per picture of the slowest of a search with several
// in flight, upload and download.
MotusStatus measure(MeBench *b, double *slowest) {
    const int batch = b->n_mb < 2000 ? MOTUS_SEARCH_BATCH : 8;
    const double points = 2.0 * b->b->range + 1;
    int processors = 0;
    double best, flight = 0;
    MotusStatus status =
        check(b, cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "device");
    const Row none = {NULL, run_limit, 8 * processors};
    if (!status) status = time_row(b, none, 0, &best);
    if (status) return status;
    // The time that VABSDIFF4 alone takes for a picture's MBs: 64 per MB and point.
    const double vabsdiff4 = 8.0 * processors * 256 * LIMIT_ROUNDS * 16 * CHAINS / best,
                 limit = b->n_mb * points * points * 64 / vabsdiff4;
    char name[40];
    snprintf(name, sizeof name, "search_batch_of_%d_us", batch);
    const char *level = " us per picture: search, reference and refinement of all blocks";
    line(b, "vabsdiff4_limit", 1e-12 * vabsdiff4, "%.2f", " T/s");
    line(b, "limit_us", 1e6 * limit, "%.1f", " us per picture");
    const Row rows[] = {{"search_us", run_search, 1, 1},
                        {"search_in_flight_us", run_in_flight, IN_FLIGHT, IN_FLIGHT},
                        {name, run_search, batch, batch},
                        {"quarter_us", run_level, MOTUS_SUBPEL_QUARTER, 0, 0, "%.1f", level},
                        {"best_us", run_level, MOTUS_SUBPEL_BEST, 0, 0, "%.1f", level},
                        {"device_copy_gbs", run_copy, cudaMemcpyDeviceToDevice, 0, (double)ROTATE,
                         "%.0f", " GB/s (read and written)"},
                        {"upload_gbs", run_copy, cudaMemcpyHostToDevice, 0, (double)b->frame_bytes,
                         "%.1f", " GB/s, a luma plane from pinned memory"},
                        {"download_gbs", run_copy, cudaMemcpyDeviceToHost, 0,
                         (double)b->field_bytes, "%.1f", " GB/s, the field of 16x16 to 8x8"}};
    for (const Row &row : rows) {
        if (!status) status = time_row(b, row, limit, &best);
        if (row.run == run_in_flight) flight = best / IN_FLIGHT;
        if (row.run == run_copy && row.parameter != cudaMemcpyDeviceToDevice)
            flight = std::max(flight, best);
    }
    *slowest = flight;
    return status;
}

// ---- End to end ---------------------------------------------------------------------------------

// Searches `pictures` pictures from host memory and back, each in the one before, which the request
// before keeps, MOTUS_ME_IN_FLIGHT at a time. *seconds: all of them; *first: the first one.
// reference: one more than may be pending, as the oldest request searches one more.
MotusStatus stream_pictures(MeBench *b, MotusMe *me, MotusField *const field[MOTUS_ME_IN_FLIGHT],
                            MotusMeReference *const reference[MOTUS_ME_IN_FLIGHT + 1], int pictures,
                            double *seconds, double *first) {
    const MotusMeHints hints = {NULL, NULL, NULL, LAMBDA_Q8};
    MotusStatus status = MOTUS_OK;
    double start = motus_seconds();
    auto plane_of = [&](int i) {
        return MotusPlane{b->pinned + i % b->b->clip.n * b->frame_bytes, b->width, b->width,
                          b->height};
    };
    const MotusPlane before = plane_of(0);
    status = motus_me_reference_fill(reference[MOTUS_ME_IN_FLIGHT], me, &before, MOTUS_MEMORY_HOST,
                                     NULL);
    for (int i = 0, received = 0; received < pictures && !status;) {
        if (i < pictures && i - received < MOTUS_ME_IN_FLIGHT && (received || !i)) {
            const MotusPlane cur = plane_of(i);
            MotusField *f = field[i % MOTUS_ME_IN_FLIGHT];
            MotusMeTarget target = {};
            target.reference = reference[(i + MOTUS_ME_IN_FLIGHT) % (MOTUS_ME_IN_FLIGHT + 1)];
            target.hints = &hints;
            target.mv = f->mv[0], target.sad = f->sad[0], target.cost = f->cost[0];
            MotusMeRequest request = motus_me_request_default(&cur, &target, 1);
            request.keep = reference[i++ % (MOTUS_ME_IN_FLIGHT + 1)];
            status = motus_me_request(me, &request);
            continue;
        }
        status = motus_me_wait(me, NULL, -1);
        if (!received++) *first = motus_seconds() - start;
    }
    *seconds = motus_seconds() - start;
    return status;
}

// Seconds from host memory and back: to open a context, to the first field, for each picture.
struct EndToEnd {
    double open, first, picture;
};

MotusStatus time_end_to_end(MeBench *b, MotusSubpel subpel, uint32_t modes, EndToEnd *time) {
    MotusMeConfig config = motus_me_config_default(b->width, b->height);
    config.range = b->b->range, config.subpel = subpel, config.modes = modes,
    config.backend = MOTUS_BACKEND_CUDA;
    MotusMe *me = NULL;
    MotusField *field[MOTUS_ME_IN_FLIGHT] = {};
    MotusMeReference *reference[MOTUS_ME_IN_FLIGHT + 1] = {};
    int pictures = b->n_mb < 2000 ? 4000 : 1000;
    double start = motus_seconds(), seconds = 0, unused;
    MotusStatus status = motus_me_open(&me, &config);
    time->open = motus_seconds() - start;
    for (int i = 0; i < MOTUS_ME_IN_FLIGHT && !status; i++)
        status = motus_field_alloc(&field[i], b->width, b->height);
    for (int i = 0; i < MOTUS_ME_IN_FLIGHT + 1 && !status; i++)
        status = motus_me_reference_alloc(&reference[i], me);
    if (!status) status = stream_pictures(b, me, field, reference, 10, &seconds, &time->first);
    if (!status) status = stream_pictures(b, me, field, reference, pictures, &seconds, &unused);
    time->picture = seconds / pictures;
    for (int i = 0; i < MOTUS_ME_IN_FLIGHT; i++) motus_field_free(&field[i]);
    for (int i = 0; i < MOTUS_ME_IN_FLIGHT + 1; i++) motus_me_reference_unref(&reference[i]);
    motus_me_close(&me);
    return status ? motus_fail(b->error, status, "end to end: %s", motus_status_text(status))
                  : MOTUS_OK;
}

MotusStatus measure_end_to_end(MeBench *b, double slowest) {
    EndToEnd time = {};
    MotusStatus status = time_end_to_end(b, MOTUS_SUBPEL_FULL, 0x0F, &time);
    if (status) return status;
    char text[100];
    snprintf(text, sizeof text, " frames/s, %.0f %% of the slowest stage alone (%.1f us)",
             100 * slowest / time.picture, 1e6 * slowest);
    line(b, "open_ms", 1e3 * time.open, "%.1f", " ms to open a context");
    line(b, "first_picture_ms", 1e3 * time.first, "%.2f", " ms to the first field");
    line(b, "end_to_end_fps", 1 / time.picture, "%.0f", text);
    cJSON_AddNumberToObject(b->b->report, "end_to_end_fraction", slowest / time.picture);
    for (int level = MOTUS_SUBPEL_QUARTER; level <= MOTUS_SUBPEL_BEST && !status; level++)
        if (!(status = time_end_to_end(b, (MotusSubpel)level, MOTUS_MODES_ALL, &time)))
            line(b, level == MOTUS_SUBPEL_BEST ? "best_end_to_end_fps" : "quarter_end_to_end_fps",
                 1 / time.picture, "%.0f", " frames/s, all 41 blocks, MVs, SADs and costs");
    return status;
}

// ---- Uploads ------------------------------------------------------------------------------------

// Uploads a 4:2:0 picture in `parts` copies on as many streams. Returns seconds by the host's
// clock.
double upload_split(MeBench *b, cudaStream_t *streams, int parts, const uint8_t *from,
                    size_t bytes) {
    double best = 1;
    for (int run = 0; run < REPEATS; run++) {
        double start = motus_seconds();
        for (int i = 0; i < parts; i++) {
            size_t at = bytes * i / parts, end = bytes * (i + 1) / parts;
            cudaMemcpyAsync(b->pictures + at, from + at, end - at, cudaMemcpyHostToDevice,
                            streams[i]);
        }
        for (int i = 0; i < parts; i++) cudaStreamSynchronize(streams[i]);
        best = std::min(best, motus_seconds() - start);
    }
    return best;
}

// Uploads and searches pictures on `in_turn` streams in turn. Returns seconds per picture.
double upload_and_work(MeBench *b, cudaStream_t *streams, int in_turn, const uint8_t *from,
                       size_t bytes) {
    cudaStream_t kept = b->stream;
    int pictures = 60;
    cudaDeviceSynchronize();
    double start = motus_seconds();
    for (int i = 0; i < pictures; i++) {
        b->stream = streams[i % in_turn];
        cudaMemcpyAsync(b->pictures + (size_t)(i % 2) * bytes, from, bytes, cudaMemcpyHostToDevice,
                        b->stream);
        run_search(b, i + 2, 1);
    }
    cudaDeviceSynchronize();
    b->stream = kept;
    return (motus_seconds() - start) / pictures;
}

MotusStatus measure_uploads(MeBench *b) {
    size_t bytes = b->frame_bytes * 3 / 2;
    uint8_t *pageable = (uint8_t *)motus_alloc(bytes, 1), *pinned = NULL;
    cudaStream_t streams[STREAMS] = {};
    MotusStatus status = pageable
                             ? check(b, cudaMallocHost((void **)&pinned, bytes), "pinned memory")
                             : MOTUS_ERR_MEMORY;
    for (cudaStream_t &s : streams)
        if (!status)
            status = check(b, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "stream");
    if (!status) {
        memcpy(pageable, b->pinned, b->frame_bytes), memset(pinned, 1, bytes);
        const struct {
            const char *name;
            double seconds;
            const char *text;
        } rows[] = {{"upload_pageable_us", upload_split(b, streams, 1, pageable, bytes),
                     " us per 4:2:0 picture, pageable memory"},
                    {"upload_pinned_us", upload_split(b, streams, 1, pinned, bytes), " us, pinned"},
                    {"upload_2_streams_us", upload_split(b, streams, 2, pinned, bytes),
                     " us, split over 2 streams"},
                    {"upload_4_streams_us", upload_split(b, streams, 4, pinned, bytes),
                     " us, split over 4 streams"},
                    {"upload_then_search_us", upload_and_work(b, streams, 1, pinned, bytes),
                     " us, upload and search on one stream"},
                    {"upload_beside_search_us", upload_and_work(b, streams, 3, pinned, bytes),
                     " us, pictures on 3 streams in turn: they overlap"}};
        for (const auto &row : rows) line(b, row.name, 1e6 * row.seconds, "%.1f", row.text);
        status = check(b, cudaDeviceSynchronize(), "uploads");
    }
    for (cudaStream_t s : streams)
        if (s) cudaStreamDestroy(s);
    cudaFreeHost(pinned);
    motus_free(pageable);
    return status;
}

MotusStatus prepare(MeBench *b) {
    const MotusBenchClip *clip = &b->b->clip;
    b->width = clip->width, b->height = clip->height;
    b->stride = (b->width + 15) & ~15;
    b->n_mb = motus_mbs(b->width) * motus_mbs(b->height);
    b->frame_bytes = (size_t)b->width * b->height;
    b->field_bytes = 10 * (size_t)MOTUS_BLOCK_8x4 * b->n_mb;
    b->plane = ((size_t)b->stride * b->height + 255) & ~(size_t)255;
    b->n = (int)(ROTATE / b->plane) + 2;
    size_t entries = (size_t)MOTUS_BLOCKS * b->n_mb * MOTUS_SEARCH_BATCH;
    const struct {
        void **memory;
        size_t bytes;
    } blocks[] = {{(void **)&b->pictures, b->plane * b->n + ROTATE / 2},
                  {(void **)&b->planes, motus_ref_luma_bytes(b->width, b->height)},
                  {(void **)&b->mv, entries * sizeof *b->mv},
                  {(void **)&b->sad, entries * sizeof *b->sad},
                  {(void **)&b->cost, entries * sizeof *b->cost}};
    MotusStatus status = check(b, motus_search_cuda_prepare(), "kernels");
    for (cudaStream_t *s : {&b->stream, &b->second})
        if (!status)
            status = check(b, cudaStreamCreateWithFlags(s, cudaStreamNonBlocking), "stream");
    for (cudaEvent_t *e : {&b->begin, &b->end})
        if (!status) status = check(b, cudaEventCreate(e), "event");
    if (!status)
        status = check(b, cudaEventCreateWithFlags(&b->handover, cudaEventDisableTiming), "event");
    for (const auto &block : blocks)
        if (!status) status = check(b, cudaMalloc(block.memory, block.bytes), "device memory");
    const size_t pinned = b->frame_bytes * clip->n + b->field_bytes;
    if (!status) status = check(b, cudaMallocHost((void **)&b->pinned, pinned), "pinned memory");
    for (int i = 0; i < b->n && !status; i++) {
        const MotusPlane *luma = &clip->frame[i % clip->n]->plane[0];
        for (int y = 0; i < clip->n && y < b->height; y++)
            memcpy(b->pinned + i * b->frame_bytes + (size_t)y * b->width,
                   luma->data + y * luma->stride, (size_t)b->width);
        status = check(b,
                       cudaMemcpy2D(b->pictures + i * b->plane, (size_t)b->stride, luma->data,
                                    (size_t)luma->stride, (size_t)b->width, (size_t)b->height,
                                    cudaMemcpyHostToDevice),
                       "upload");
    }
    return status;
}

} // namespace

MotusStatus motus_bench_me_cuda(const MotusBench *bench, MotusError *error) {
    MeBench b = {};
    double slowest = 0;
    b.b = bench, b.error = error;
    MotusStatus status = prepare(&b);
    if (!status) status = measure(&b, &slowest);
    if (!status) status = measure_end_to_end(&b, slowest);
    if (!status && bench->upload) status = measure_uploads(&b);
    for (void *memory :
         {(void *)b.pictures, (void *)b.planes, (void *)b.mv, (void *)b.sad, (void *)b.cost})
        cudaFree(memory);
    cudaFreeHost(b.pinned);
    for (cudaEvent_t e : {b.begin, b.end, b.handover})
        if (e) cudaEventDestroy(e);
    for (cudaStream_t s : {b.stream, b.second})
        if (s) cudaStreamDestroy(s);
    return status;
}
