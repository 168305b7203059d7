// motus bench me: searches of all 41 blocks, beside ffmpeg's; --references: calls and requests.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "motus/me_request.h"
#include "motus/upload.h"
#include "tools/bench/bench.h"
#include "tools/cli/cmd.h"
#include "tools/cli/system.h"
#include "tools/x264/x264.h"

static MotusMeConfig config_of(const MotusBench *b, MotusSubpel subpel) {
    MotusMeConfig config = motus_me_config_default(b->clip.width, b->clip.height);
    config.range = b->range;
    config.threads = b->threads;
    config.subpel = subpel;
    config.backend = b->backend;
    return config;
}

// ---- Searches -----------------------------------------------------------------------------------

// Searches each frame in the one before, in turn. *median, *best: frames per second of the median
// time and of the shortest.
static MotusStatus time_search(const MotusBench *b, MotusSubpel subpel, double *median,
                               double *best, MotusError *error) {
    const MotusBenchClip *clip = &b->clip;
    const MotusMeConfig config = config_of(b, subpel);
    MotusMe *me = NULL;
    MotusField *field = NULL;
    double *seconds = motus_alloc((size_t)clip->n, sizeof *seconds);
    MotusStatus status = seconds ? motus_me_open(&me, &config) : MOTUS_ERR_MEMORY;
    if (!status) status = motus_field_alloc(&field, clip->width, clip->height);
    for (int i = 0; !status && i < clip->n; i++) { // 0 warms up, with the last two frames
        int cur = i ? i : clip->n - 1;
        double start = motus_seconds();
        status = motus_me_search(me, &clip->frame[cur]->plane[0], &clip->frame[cur - 1]->plane[0],
                                 NULL, field);
        if (i) seconds[i - 1] = motus_seconds() - start;
    }
    if (!status) *median = 1 / motus_median_of(seconds, clip->n - 1); // sorts
    if (!status) *best = 1 / seconds[0];
    motus_field_free(&field);
    motus_me_close(&me);
    motus_free(seconds);
    return status ? motus_fail(error, status, "search: %s", motus_status_text(status)) : MOTUS_OK;
}

MotusStatus motus_bench_me(const MotusBench *b, MotusError *error) {
    static const struct {
        const char *name, *rows;
        MotusSubpel subpel;
    } search[3] = {{"full", ".full", MOTUS_SUBPEL_FULL},
                   {"quarter", ".quarter", MOTUS_SUBPEL_QUARTER},
                   {"best", ".best", MOTUS_SUBPEL_BEST}};
    const int points = (2 * b->range + 1) * (2 * b->range + 1);
    const double mb_points = (double)motus_mbs(b->clip.width) * motus_mbs(b->clip.height) * points;
    double median[3] = {0}, best[3] = {0}, fps = 0;
    for (int i = 0; i < 3; i++) {
        MotusStatus status = time_search(b, search[i].subpel, &median[i], &best[i], error);
        if (status) return status;
    }
    for (int i = 0; i < 3; i++) {
        const MotusBenchField fields[] = {{NULL, "%-10s ", .text = search[i].name},
                                          {"fps_median", "%.1f frames/s", .value = median[i]},
                                          {"fps_best", " (best %.1f)", .value = best[i]},
                                          {"mb_points_per_second", ", %.1f M MB*points/s",
                                           .value = mb_points * median[i], .scale = 1e-6},
                                          {NULL, "; R=%.0f", .value = b->range},
                                          {NULL, ", %.0f points, 41 blocks", .value = points}};
        MOTUS_BENCH_ROW(b, search[i].rows, fields);
    }
    MotusError none = {0};
    if (b->peers &&
        motus_ffmpeg_search(b->clip.frame, motus_min(10, b->clip.n), b->range, &fps, &none)) {
        motus_warn("%s", none.text);
    } else if (b->peers) {
        const double ratio = fps > 0 ? median[0] / fps : 0;
        cJSON_AddNumberToObject(b->report, "mestimate_fps", fps);
        cJSON_AddNumberToObject(b->report, "ratio", ratio);
        if (!b->json && fps > 0)
            printf("%-10s %.2f frames/s of two directions each (mestimate=method=esa, 16x16 only, "
                   "1 thread)\n"
                   "ratio      %.1f frame for frame, %.1f field for field\n",
                   "ffmpeg", fps, ratio, ratio / 2);
    }
    return MOTUS_BENCH_HAS_CUDA && b->backend == MOTUS_BACKEND_CUDA ? motus_bench_me_cuda(b, error)
                                                                    : MOTUS_OK;
}

// ---- Requests -----------------------------------------------------------------------------------

enum { IN_FLIGHT = 2 };             // requests
static const double AT_LEAST = 0.4; // seconds of a measurement

// The results of a request: MVs and costs; SADs and SATD at the zero MV; MotusMbStats.
typedef struct RequestKind {
    int search, zero, stats;
    MotusMemory memory; // of pictures and results
} RequestKind;

typedef struct RequestBench {
    const MotusBench *b;
    MotusError *error;
    size_t size; // of a plane
    // The clip's luma, rows without gaps: in host memory, pinned if possible; with CUDA in device
    // memory, too.
    uint8_t *memory[2];
    MotusMe *me;
} RequestBench;

static MotusStatus failed(const RequestBench *r, MotusStatus status, const char *what) {
    const char *words = motus_me_error(r->me)->text;
    return status ? motus_fail(r->error, status, "%s: %s", what,
                               words[0] ? words : motus_status_text(status))
                  : MOTUS_OK;
}

static MotusPlane plane(const RequestBench *r, MotusMemory memory, int i) {
    const MotusBenchClip *clip = &r->b->clip;
    return (MotusPlane){r->memory[memory == MOTUS_MEMORY_DEVICE] + (size_t)(i % clip->n) * r->size,
                        clip->width, clip->width, clip->height};
}

static MotusStatus prepare(RequestBench *r) {
    const MotusBenchClip *clip = &r->b->clip;
    const MotusMeConfig config = config_of(r->b, motus_me_config_default(16, 16).subpel);
    void *device = NULL;
    r->size = (size_t)clip->width * (size_t)clip->height;
    const size_t bytes = r->size * (size_t)clip->n;
    if (!(r->memory[0] = motus_host_alloc(bytes))) return failed(r, MOTUS_ERR_MEMORY, "frames");
    for (int i = 0; i < clip->n; i++)
        for (int y = 0; y < clip->height; y++)
            memcpy(r->memory[0] + (size_t)i * r->size + (size_t)(y * clip->width),
                   clip->frame[i]->plane[0].data + y * clip->frame[i]->plane[0].stride,
                   (size_t)clip->width);
    MotusStatus status = motus_me_open(&r->me, &config);
    if (status || r->b->backend != MOTUS_BACKEND_CUDA) return failed(r, status, "search");
    if ((status = motus_cuda_alloc(&device, bytes, r->error))) return status;
    r->memory[1] = device;
    return motus_cuda_copy(device, r->memory[0], bytes, NULL, r->error);
}

// Times searches by a call for each reference of a picture.
static MotusStatus time_calls(RequestBench *r, int n, double *searches) {
    MotusField *field;
    double start = 0, now = 0;
    int pictures = -1; // the first warms up
    MotusStatus status = motus_field_alloc(&field, r->b->clip.width, r->b->clip.height);
    for (; !status && (pictures < 1 || now - start < AT_LEAST); pictures++) {
        if (!pictures) start = motus_seconds();
        const MotusPlane cur = plane(r, MOTUS_MEMORY_HOST, pictures + 1 + n);
        for (int k = 1; k <= n && !status; k++) {
            const MotusPlane ref = plane(r, MOTUS_MEMORY_HOST, pictures + 1 + n - k);
            status = motus_me_search(r->me, &cur, &ref, NULL, field);
        }
        now = motus_seconds();
    }
    motus_field_free(&field);
    *searches = n * pictures / (now - start);
    return failed(r, status, "search");
}

// The results of one request.
typedef struct TimedResults {
    MotusMeTarget target[MOTUS_ME_MAX_TARGETS];
    MotusMbStats *stats;
    void *memory; // holds them
} TimedResults;

// Allocates `bytes` of a block of which *end are in use; base NULL: only counts.
static void *take(uint8_t *base, size_t *end, size_t bytes) {
    void *p = base ? base + *end : NULL;
    *end += (bytes + 255) & ~(size_t)255;
    return p;
}

// Sets the pointers of all results. Returns their size in bytes.
static size_t lay_out(TimedResults *r, const MotusBenchClip *clip, int n, const RequestKind *w,
                      uint8_t *base) {
    const size_t per_mb = (size_t)motus_mbs(clip->width) * (size_t)motus_mbs(clip->height),
                 per_block = MOTUS_BLOCKS * per_mb;
    size_t end = 0;
    for (MotusMeTarget *t = r->target; t < r->target + n; t++) {
        if (w->search) t->mv = take(base, &end, per_block * sizeof *t->mv);
        if (w->search) t->cost = take(base, &end, per_block * sizeof *t->cost);
        if (w->zero) t->zero_sad = take(base, &end, per_mb * sizeof *t->zero_sad);
        if (w->zero) t->skip_satd = take(base, &end, per_mb * sizeof *t->skip_satd);
    }
    if (w->stats) r->stats = take(base, &end, per_mb * sizeof *r->stats);
    return end;
}

// Sends a request. One reference is filled per picture, as in an encoder; the newest n are
// searched.
static MotusStatus request(RequestBench *r, MotusMeReference **ring, int ring_size, int n,
                           int picture, const RequestKind *w, TimedResults *t) {
    MotusStatus status = MOTUS_OK;
    for (int k = picture ? 1 : n; k >= 1 && n && !status; k--) {
        const MotusPlane from = plane(r, w->memory, picture + n - k);
        status = motus_me_reference_fill(ring[(picture + n - k) % ring_size], r->me, &from,
                                         w->memory, NULL);
    }
    for (int k = 0; k < n; k++) t->target[k].reference = ring[(picture + n - 1 - k) % ring_size];
    const MotusPlane cur = plane(r, w->memory, picture + n);
    MotusMeRequest request = motus_me_request_default(&cur, t->target, n);
    request.stats = t->stats;
    request.memory = request.results_memory = w->memory;
    return status ? status : motus_me_request(r->me, &request);
}

static MotusStatus time_requests(RequestBench *r, int n, RequestKind w, double *requests) {
    MotusMeReference *ring[MOTUS_ME_MAX_TARGETS + IN_FLIGHT] = {NULL};
    TimedResults results[IN_FLIGHT] = {0};
    const int ring_size = n + IN_FLIGHT, on_device = w.memory == MOTUS_MEMORY_DEVICE;
    double start = 0, now = 0;
    int sent = 0, received = 0;
    MotusStatus status = MOTUS_OK;
    for (int k = 0; k < ring_size && n && !status; k++)
        status = motus_me_reference_alloc(&ring[k], r->me);
    for (int k = 0; k < IN_FLIGHT && !status; k++) {
        TimedResults *t = &results[k];
        const size_t bytes = lay_out(t, &r->b->clip, n, &w, NULL);
        if (on_device)
            status = motus_cuda_alloc(&t->memory, bytes, r->error);
        else if (!(t->memory = motus_host_alloc(bytes)))
            status = MOTUS_ERR_MEMORY;
        if (!status) lay_out(t, &r->b->clip, n, &w, t->memory);
    }
    while (!status && (received < IN_FLIGHT + 2 || now - start < AT_LEAST)) {
        if (sent - received < IN_FLIGHT) {
            status = request(r, ring, ring_size, n, sent, &w, &results[sent % IN_FLIGHT]);
            sent++;
            continue;
        }
        status = motus_me_wait(r->me, NULL, -1);
        now = motus_seconds();
        if (++received == IN_FLIGHT) start = now; // those before warm up
    }
    *requests = (received - IN_FLIGHT) / (now - start);
    while (!status && received++ < sent) status = motus_me_wait(r->me, NULL, -1);
    for (int k = 0; k < ring_size; k++) motus_me_reference_unref(&ring[k]);
    for (int k = 0; k < IN_FLIGHT; k++)
        (on_device ? motus_cuda_free : motus_host_free)(results[k].memory);
    return failed(r, status, "requests");
}

// Times one picture searched in 1, 2, 4, ... up to b->references references, by calls and by
// requests (quarter samples, all 41 blocks, MVs and costs).
static MotusStatus time_rows(RequestBench *r) {
    const MotusBench *b = r->b;
    const int on_device = b->backend == MOTUS_BACKEND_CUDA;
    MotusStatus status = MOTUS_OK;
    if (!b->json)
        printf("references searches/s: a call each   a request   %s\n",
               on_device ? "a request, all in device memory" : "");
    for (int n = 1; n <= b->references && !status; n *= 2) {
        double calls = 0, requests = 0, device = NAN;
        status = time_calls(r, n, &calls);
        if (!status) status = time_requests(r, n, (RequestKind){.search = 1}, &requests);
        if (!status && on_device)
            status = time_requests(r, n, (RequestKind){.search = 1, .memory = MOTUS_MEMORY_DEVICE},
                                   &device);
        if (status) break;
        const MotusBenchField fields[] = {
            {"references", "%10.0f", .value = n},
            {"calls", " %25.1f", .value = calls},
            {"requests", " %11.1f", .value = n * requests},
            {"requests_on_device", on_device ? " %21.1f" : NULL, .value = n * device}};
        MOTUS_BENCH_ROW(b, "references", fields);
    }
    return status;
}

MotusStatus motus_bench_requests(const MotusBench *b, MotusError *error) {
    RequestBench r = {.b = b, .error = error};
    const MotusMemory memory =
        b->backend == MOTUS_BACKEND_CUDA ? MOTUS_MEMORY_DEVICE : MOTUS_MEMORY_HOST;
    double stats = 0, zero = 0;
    MotusStatus status = prepare(&r);
    if (!status) status = time_rows(&r);
    if (!status) status = time_requests(&r, 0, (RequestKind){.stats = 1, .memory = memory}, &stats);
    if (!status) status = time_requests(&r, 1, (RequestKind){.zero = 1, .memory = memory}, &zero);
    const MotusBenchField fields[] = {
        {"statistics_fps", "statistics %.1f pictures/s without a search; ", .value = stats},
        {"measures_fps", "SAD and SATD at the zero vector, with the reference made ready, %.1f",
         .value = zero}};
    if (!status) MOTUS_BENCH_ROW(b, NULL, fields);
    motus_me_close(&r.me);
    motus_cuda_free(r.memory[1]);
    motus_host_free(r.memory[0]);
    return status;
}
