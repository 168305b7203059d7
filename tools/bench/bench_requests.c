// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "motus/me_request.h"
#include "motus/upload.h"
#include "tools/bench/bench.h"
#include "tools/cli/system.h"

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
    int n_mb, n_planes;
    MotusPlane *host, *device; // the clip's luma, pinned if possible; device: with CUDA
    uint8_t *host_memory;
    void *device_memory;
    MotusMe *me;
} RequestBench;

static MotusStatus failed(const RequestBench *b, MotusStatus status, const char *what) {
    const char *words = motus_me_error(b->me)->text;
    return status ? motus_fail(b->error, status, "%s: %s", what,
                               words[0] ? words : motus_status_text(status))
                  : MOTUS_OK;
}

static const MotusPlane *plane(const RequestBench *b, MotusMemory memory, int i) {
    return &(memory == MOTUS_MEMORY_DEVICE ? b->device : b->host)[i % b->n_planes];
}

static MotusStatus prepare(RequestBench *b) {
    const MotusBenchClip *clip = b->b->clip;
    const size_t size = (size_t)clip->width * (size_t)clip->height,
                 step = (size_t)(clip->n ? clip->n : 1);
    MotusMeConfig config = motus_me_config_default(clip->width, clip->height);
    config.range = b->b->range, config.threads = b->b->threads, config.backend = b->b->backend;
    b->n_planes = clip->n;
    b->n_mb = motus_mbs(clip->width) * motus_mbs(clip->height);
    b->host = motus_alloc(step, sizeof *b->host), b->device = motus_alloc(step, sizeof *b->device);
    b->host_memory = motus_host_alloc(size * step);
    if (!b->host || !b->device || !b->host_memory) return failed(b, MOTUS_ERR_MEMORY, "frames");
    MotusStatus status = motus_me_open(&b->me, &config);
    if (status) return failed(b, status, "search");
    if (b->b->backend == MOTUS_BACKEND_CUDA &&
        (status = motus_cuda_alloc(&b->device_memory, size * step, b->error)))
        return status;
    for (int i = 0; i < clip->n; i++) {
        const MotusPlane *from = &clip->frame[i]->plane[0];
        b->host[i] =
            (MotusPlane){b->host_memory + (size_t)i * size, clip->width, clip->width, clip->height};
        b->device[i] = b->host[i];
        b->device[i].data = (uint8_t *)b->device_memory + (size_t)i * size;
        for (int y = 0; y < clip->height; y++)
            memcpy(b->host[i].data + y * clip->width, from->data + y * from->stride,
                   (size_t)clip->width);
    }
    return b->device_memory
               ? motus_cuda_copy(b->device_memory, b->host_memory, size * step, NULL, b->error)
               : MOTUS_OK;
}

static void release(RequestBench *b) {
    motus_me_close(&b->me);
    motus_cuda_free(b->device_memory);
    motus_host_free(b->host_memory);
    motus_free(b->device);
    motus_free(b->host);
}

// Times searches by a call for each reference of a picture.
static MotusStatus time_calls(RequestBench *b, int n, double *searches) {
    MotusField *field;
    double start = 0, now = 0;
    int pictures = -1; // the first warms up
    MotusStatus status = motus_field_alloc(&field, b->b->clip->width, b->b->clip->height);
    for (; !status && (pictures < 1 || now - start < AT_LEAST); pictures++) {
        if (!pictures) start = motus_seconds();
        for (int k = 1; k <= n && !status; k++)
            status =
                motus_me_search(b->me, plane(b, MOTUS_MEMORY_HOST, pictures + 1 + n),
                                plane(b, MOTUS_MEMORY_HOST, pictures + 1 + n - k), NULL, field);
        now = motus_seconds();
    }
    motus_field_free(&field);
    *searches = n * pictures / (now - start);
    return failed(b, status, "search");
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
static size_t lay_out(TimedResults *r, const RequestBench *b, int n, const RequestKind *w,
                      uint8_t *base) {
    const size_t per_mb = (size_t)b->n_mb, per_block = MOTUS_BLOCKS * per_mb;
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

static MotusStatus open_results(TimedResults *r, const RequestBench *b, int n,
                                const RequestKind *w) {
    const size_t bytes = lay_out(r, b, n, w, NULL);
    MotusStatus status = MOTUS_OK;
    if (w->memory == MOTUS_MEMORY_DEVICE)
        status = motus_cuda_alloc(&r->memory, bytes, b->error);
    else if (!(r->memory = motus_host_alloc(bytes)))
        status = failed(b, MOTUS_ERR_MEMORY, "results");
    if (!status) lay_out(r, b, n, w, r->memory);
    return status;
}

static void close_results(TimedResults *r, MotusMemory memory) {
    if (memory == MOTUS_MEMORY_DEVICE)
        motus_cuda_free(r->memory);
    else
        motus_host_free(r->memory);
}

// Sends a request. One reference is filled per picture, as in an encoder; the newest n are
// searched.
static MotusStatus request(RequestBench *b, MotusMeReference **ring, int ring_size, int n,
                           int picture, const RequestKind *w, TimedResults *r) {
    MotusStatus status = MOTUS_OK;
    for (int k = picture ? 1 : n; k >= 1 && n && !status; k--)
        status = motus_me_reference_fill(ring[(picture + n - k) % ring_size], b->me,
                                         plane(b, w->memory, picture + n - k), w->memory, NULL);
    for (int k = 0; k < n; k++) r->target[k].reference = ring[(picture + n - 1 - k) % ring_size];
    MotusMeRequest request =
        motus_me_request_default(plane(b, w->memory, picture + n), r->target, n);
    request.stats = r->stats;
    request.memory = request.results_memory = w->memory;
    return status ? status : motus_me_request(b->me, &request);
}

static MotusStatus time_requests(RequestBench *b, int n, const RequestKind *w, double *requests) {
    MotusMeReference *ring[MOTUS_ME_MAX_TARGETS + IN_FLIGHT] = {NULL};
    TimedResults results[IN_FLIGHT] = {0};
    const int ring_size = n + IN_FLIGHT;
    double start = 0, now = 0;
    int sent = 0, received = 0;
    MotusStatus status = MOTUS_OK;
    for (int k = 0; k < ring_size && n && !status; k++)
        status = motus_me_reference_alloc(&ring[k], b->me);
    for (int k = 0; k < IN_FLIGHT && !status; k++) status = open_results(&results[k], b, n, w);
    while (!status && (received < IN_FLIGHT + 2 || now - start < AT_LEAST)) {
        if (sent - received < IN_FLIGHT) {
            status = request(b, ring, ring_size, n, sent, w, &results[sent % IN_FLIGHT]);
            sent++;
            continue;
        }
        status = motus_me_wait(b->me, NULL, -1);
        now = motus_seconds();
        if (++received == IN_FLIGHT) start = now; // those before warm up
    }
    *requests = (received - IN_FLIGHT) / (now - start);
    while (!status && received++ < sent) status = motus_me_wait(b->me, NULL, -1);
    for (int k = 0; k < ring_size; k++) motus_me_reference_unref(&ring[k]);
    for (int k = 0; k < IN_FLIGHT; k++) close_results(&results[k], w->memory);
    return failed(b, status, "requests");
}

static MotusStatus time_rows(RequestBench *b, int most, cJSON *rows) {
    const int on_device = b->b->backend == MOTUS_BACKEND_CUDA;
    MotusStatus status = MOTUS_OK;
    if (b->b->print)
        printf("references searches/s: a call each   a request   %s\n",
               on_device ? "a request, all in device memory" : "");
    for (int n = 1; n <= most && !status; n *= 2) {
        const RequestKind here = {.search = 1},
                          there = {.search = 1, .memory = MOTUS_MEMORY_DEVICE};
        double calls = 0, requests = 0, device = 0;
        status = time_calls(b, n, &calls);
        if (!status) status = time_requests(b, n, &here, &requests);
        if (!status && on_device) status = time_requests(b, n, &there, &device);
        if (status) break;
        cJSON *row = cJSON_CreateObject();
        cJSON_AddItemToArray(rows, row);
        cJSON_AddNumberToObject(row, "references", n);
        cJSON_AddNumberToObject(row, "calls", calls);
        cJSON_AddNumberToObject(row, "requests", n * requests);
        if (on_device) cJSON_AddNumberToObject(row, "requests_on_device", n * device);
        if (b->b->print) printf("%10d %25.1f %11.1f", n, calls, n * requests);
        if (b->b->print) printf(on_device ? " %21.1f\n" : "\n", n * device);
        fflush(stdout);
    }
    return status;
}

MotusStatus motus_bench_requests(const MotusBench *bench, int most, MotusError *error) {
    RequestBench b = {.b = bench, .error = error};
    const MotusMemory memory =
        bench->backend == MOTUS_BACKEND_CUDA ? MOTUS_MEMORY_DEVICE : MOTUS_MEMORY_HOST;
    const RequestKind stats = {.stats = 1, .memory = memory}, zero = {.zero = 1, .memory = memory};
    double rate[2] = {0};
    MotusStatus status = prepare(&b);
    if (!status) status = time_rows(&b, most, cJSON_AddArrayToObject(bench->report, "references"));
    if (!status) status = time_requests(&b, 0, &stats, &rate[0]);
    if (!status) status = time_requests(&b, 1, &zero, &rate[1]);
    if (!status) {
        cJSON_AddNumberToObject(bench->report, "statistics_fps", rate[0]);
        cJSON_AddNumberToObject(bench->report, "measures_fps", rate[1]);
        if (bench->print)
            printf("statistics %.1f pictures/s without a search; SAD and SATD at the zero vector, "
                   "with the reference made ready, %.1f\n",
                   rate[0], rate[1]);
    }
    release(&b);
    return status;
}
