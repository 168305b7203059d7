// Runs rows: draws a case, runs both versions, compares their memory, checks guard bands and
// inputs. With --bench: times both versions.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "tests/gpu/gpu_test.h"

enum {
    GUARD = 16384, // bytes on either side of what is written: two rows at least
    MOST_TOGETHER = 8
};

static int on_host;      // device memory is host memory (gpu_row_failures)
static int failed_there; // failed expectations meanwhile

// ---- Messages -----------------------------------------------------------------------------------

static const char *suite_of_row = "";

void gpu_expect(GpuCase *c, int ok, const char *format, ...) {
    char text[300] = "";
    if (on_host) {
        failed_there += !ok;
        return;
    }
    if (!ok) {
        va_list args;
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
    }
    motus_test_check(ok, c->row->name, __FILE__, __LINE__,
                     "case %d of %dx%d, round %d%s%s: %s (gpu_test --seed %u %s.%s)", c->number,
                     c->width, c->height, c->round, *c->what ? ", " : "", c->what, text, gpu_seed,
                     suite_of_row, c->row->name);
}

// Notes the first call of a step that failed.
static int cuda_ok(GpuCase *c, cudaError_t status, const char *call) {
    if (status != cudaSuccess && !c->failed_call) c->failed_call = call, c->failed = status;
    return status == cudaSuccess;
}

#define OK(call) cuda_ok(c, call, #call)

// Checks that no call of the step failed.
static void end_step(GpuCase *c, const char *step) {
    gpu_expect(c, !c->failed_call, "%s: %s: %s", step, c->failed_call ? c->failed_call : "",
               cudaGetErrorString(c->failed));
    c->failed_call = NULL;
}

MotusStatus gpu_launched(GpuCase *c, cudaError_t status) {
    if (status == cudaSuccess) return MOTUS_OK;
    snprintf(c->error.text, sizeof c->error.text, "%s", cudaGetErrorString(status));
    return c->error.status = MOTUS_ERR_CUDA;
}

// ---- Memory -------------------------------------------------------------------------------------

static size_t guard_of(const GpuBuffer *b) { return b->use & GPU_WRITTEN ? GUARD : 0; }

static uint8_t *host_alloc(size_t bytes) {
    uint8_t *memory = aligned_alloc(64, (bytes + 2 * GUARD + 63) / 64 * 64);
    if (!memory) abort();
    memset(memory, GPU_POISON, bytes + 2 * GUARD);
    return memory + GUARD;
}

static void host_free(void *memory) {
    if (memory) free((uint8_t *)memory - GUARD);
}

static void copy(GpuCase *c, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    if (on_host)
        memcpy(to, from, bytes);
    else
        OK(cudaMemcpyAsync(to, from, bytes, kind, c->stream));
}

static void set(GpuCase *c, void *to, int value, size_t bytes) {
    if (on_host)
        memset(to, value, bytes);
    else
        OK(cudaMemsetAsync(to, value, bytes, c->stream));
}

static void wait(GpuCase *c) {
    if (!on_host) OK(cudaStreamSynchronize(c->stream));
}

void gpu_download(GpuCase *c, void *to, const void *from, size_t bytes) {
    copy(c, to, from, bytes, cudaMemcpyDeviceToHost);
    wait(c);
}

GpuBuffer *gpu_buffer(GpuCase *c, const char *name, GpuUse use, size_t bytes) {
    void *memory = NULL;
    if (c->n_buffers == GPU_MAX_BUFFERS) abort();
    GpuBuffer *b = &c->buffer[c->n_buffers++];
    *b = (GpuBuffer){.name = name, .use = use, .bytes = bytes, .height = 1, .align = 1};
    b->width = (int)bytes, b->stride = (ptrdiff_t)bytes;
    if (!(use & GPU_DEVICE_ONLY)) b->at[ON_CPU] = host_alloc(bytes), b->got = host_alloc(bytes);
    if (on_host)
        memory = host_alloc(bytes + 2 * guard_of(b));
    else if (!OK(cudaMalloc(&memory, bytes + 2 * guard_of(b))))
        abort();
    b->at[ON_CUDA] = (uint8_t *)memory + guard_of(b);
    if (use & GPU_LEFT) set(c, b->at[ON_CUDA], GPU_POISON, bytes), wait(c);
    return b;
}

GpuPlane gpu_plane(GpuCase *c, const char *name, GpuUse use, int width, int height,
                   ptrdiff_t stride, int align) {
    GpuBuffer *b = gpu_buffer(c, name, use, (size_t)(stride * height));
    b->width = width, b->height = height, b->stride = stride, b->align = align;
    return (GpuPlane){
        {{b->at[ON_CPU], stride, width, height}, {b->at[ON_CUDA], stride, width, height}}};
}

GpuFrame gpu_frame(GpuCase *c, const char *name, GpuUse use, int width, int height, int align) {
    GpuFrame f = {{{.width = width, .height = height}, {.width = width, .height = height}}};
    for (int p = 0; p < 3; p++) {
        const int w = p ? (width + 1) / 2 : width, h = p ? (height + 1) / 2 : height;
        const GpuPlane plane = gpu_plane(c, name, use, w, h, gpu_round16(w), align);
        for (int on = 0; on < 2; on++) f.at[on].plane[p] = plane.at[on];
    }
    return f;
}

static void free_buffer(GpuCase *c, GpuBuffer *b) {
    uint8_t *memory = (uint8_t *)b->at[ON_CUDA] - guard_of(b);
    if (on_host)
        host_free(memory);
    else
        OK(cudaFree(memory));
    host_free(b->at[ON_CPU]);
    host_free(b->got);
}

// ---- Content ------------------------------------------------------------------------------------

// Poisons what the CPU version writes, and lets the row fill the rest.
static void fill(GpuCase *c, int round) {
    c->round = round;
    c->content = (GpuContent)((c->number + round) % GPU_CONTENTS);
    motus_test_seed(gpu_seed_of(suite_of_row, c->row->name, 1024 * c->number + round + 1));
    for (int i = 0; i < c->n_buffers; i++) {
        GpuBuffer *b = &c->buffer[i];
        if (!(b->use & (GPU_FILLED | GPU_DEVICE_ONLY))) memset(b->at[ON_CPU], GPU_POISON, b->bytes);
        if (b->use & GPU_FILLED && !c->row->kernel->fill)
            gpu_fill(b->at[ON_CPU], b->bytes, c->content);
    }
    if (c->row->kernel->fill) c->row->kernel->fill(c);
}

static void upload(GpuCase *c) {
    for (int i = 0; i < c->n_buffers; i++) {
        const GpuBuffer *b = &c->buffer[i];
        if (guard_of(b)) {
            set(c, (uint8_t *)b->at[ON_CUDA] - GUARD, GPU_POISON, GUARD);
            set(c, (uint8_t *)b->at[ON_CUDA] + b->bytes, GPU_POISON, GUARD);
        }
        if (b->use & GPU_FILLED)
            copy(c, b->at[ON_CUDA], b->at[ON_CPU], b->bytes, cudaMemcpyHostToDevice);
        else if (!(b->use & GPU_LEFT))
            set(c, b->at[ON_CUDA], b->use & GPU_DEVICE_ONLY && c->round % 2 ? 0xFF : GPU_POISON,
                b->bytes);
    }
    wait(c);
    end_step(c, "upload");
}

// ---- Comparison ---------------------------------------------------------------------------------

static int is_poison(const uint8_t *data, size_t bytes) {
    return !bytes || (data[0] == GPU_POISON && !memcmp(data, data + 1, bytes - 1));
}

// Compares rows with the CPU version's, and checks the bytes behind them. All bytes of an input are
// compared.
static void compare_buffer(GpuCase *c, const GpuBuffer *b) {
    const size_t stride = (size_t)b->stride, align = (size_t)b->align,
                 width = b->use & GPU_WRITTEN ? (size_t)b->width : stride,
                 end = (width + align - 1) / align * align;
    int y = 0, beyond = 0;
    const uint8_t *got = b->got, *want = b->at[ON_CPU];
    while (y < b->height - 1 && !memcmp(got, want, width)) y++, got += stride, want += stride;
    size_t x = 0;
    while (x < width - 1 && got[x] == want[x]) x++;
    gpu_expect(c, got[x] == want[x], "%s: byte %zu of row %d is %d, not %d", b->name, x, y, got[x],
               want[x]);
    got = b->got;
    while (beyond < b->height && (end >= stride || is_poison(got + end, stride - end)))
        beyond++, got += stride;
    gpu_expect(c, beyond == b->height, "%s: row %d is written beyond its end", b->name, beyond);
}

// True if the guard bands of b are untouched, on the device and on the host.
static int bands_are_whole(GpuCase *c, const GpuBuffer *b) {
    static uint8_t band[2 * GUARD];
    copy(c, band, (uint8_t *)b->at[ON_CUDA] - GUARD, GUARD, cudaMemcpyDeviceToHost);
    copy(c, band + GUARD, (uint8_t *)b->at[ON_CUDA] + b->bytes, GUARD, cudaMemcpyDeviceToHost);
    wait(c);
    return is_poison(band, sizeof band) &&
           (!b->at[ON_CPU] || (is_poison((uint8_t *)b->at[ON_CPU] - GUARD, GUARD) &&
                               is_poison((uint8_t *)b->at[ON_CPU] + b->bytes, GUARD)));
}

static void compare(GpuCase *c) {
    for (int i = 0; i < c->n_buffers; i++) {
        GpuBuffer *b = &c->buffer[i];
        if (b->got) copy(c, b->got, b->at[ON_CUDA], b->bytes, cudaMemcpyDeviceToHost);
        if (guard_of(b))
            gpu_expect(c, bands_are_whole(c, b), "%s: bytes beside it are written", b->name);
    }
    wait(c);
    end_step(c, "download");
    for (int i = 0; i < c->n_buffers; i++) {
        const GpuBuffer *b = &c->buffer[i];
        if (!(b->use & GPU_WRITTEN) || b->use & GPU_COMPARED) compare_buffer(c, b);
    }
    if (c->row->kernel->check) c->row->kernel->check(c);
}

// ---- Cases --------------------------------------------------------------------------------------

// A listed size has no more rounds than MOTUS_CASES.
static void open_case(GpuCase *c, const GpuRow *row, const GpuSize *size, int number) {
    const int rounds = size->rounds  ? size->rounds
                       : row->rounds ? row->rounds
                                     : 1,
              cases = motus_test_cases(rounds);
    *c = (GpuCase){.row = row,
                   .number = number,
                   .rounds = row->most.width || rounds < cases ? rounds : cases,
                   .width = size->width,
                   .height = size->height};
    motus_test_seed(gpu_seed_of(suite_of_row, row->name, 1024 * number));
    if (!size->width) gpu_random_size(&c->width, &c->height, row->most.width, row->most.height);
    if (!on_host) OK(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    c->state = calloc(1, row->kernel->state + 1);
    if (!c->state) abort();
    row->kernel->open(c);
    end_step(c, "open");
}

static void close_case(GpuCase *c) {
    if (c->row->kernel->close) c->row->kernel->close(c);
    for (int i = 0; i < c->n_buffers; i++) free_buffer(c, &c->buffer[i]);
    if (c->graph) OK(cudaGraphExecDestroy(c->graph));
    if (!on_host) OK(cudaStreamDestroy(c->stream));
    free(c->state);
    end_step(c, "close");
}

// Runs a version.
static void run(GpuCase *c, int on) {
    c->error = (MotusError){0};
    const MotusStatus status = c->row->kernel->run(c, on);
    gpu_expect(c, status == MOTUS_OK, "%s: %s %s", on ? "launch" : "CPU", motus_status_name(status),
               c->error.text);
}

static void capture(GpuCase *c) {
    cudaGraph_t graph = NULL;
    OK(cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal));
    run(c, ON_CUDA);
    OK(cudaStreamEndCapture(c->stream, &graph));
    OK(cudaGraphInstantiateWithFlags(&c->graph, graph, 0));
    OK(cudaGraphDestroy(graph));
}

// Runs n cases side by side: each round fills all, launches all, then compares all.
static void run_cases(const GpuRow *row, const GpuSize *size, int n, int number) {
    static GpuCase cases[MOST_TOGETHER];
    const int launches = row->launches ? row->launches : 1;
    for (int i = 0; i < n; i++) open_case(&cases[i], row, &size[i], number + i);
    for (int round = 0; round < cases[0].rounds; round++) {
        for (int i = 0; i < n; i++) {
            GpuCase *c = &cases[i];
            fill(c, round);
            upload(c);
            run(c, ON_CPU);
            if (row->graph && !round) capture(c);
        }
        for (int k = 0; k < launches * n; k++) {
            GpuCase *c = &cases[k / launches];
            if (c->graph)
                OK(cudaGraphLaunch(c->graph, c->stream));
            else
                run(c, ON_CUDA);
        }
        for (int i = 0; i < n; i++) {
            wait(&cases[i]);
            end_step(&cases[i], "run");
            compare(&cases[i]);
        }
    }
    for (int i = 0; i < n; i++) close_case(&cases[i]);
}

void gpu_row_run(const char *suite, const GpuRow *row) {
    static const GpuSize any = {0, 0, 0};
    int n = 0;
    suite_of_row = suite;
    if (row->most.width)
        for (int i = 0; i < motus_test_cases(row->cases); i++) run_cases(row, &any, 1, i);
    for (; row->sizes && row->sizes[n].width; n++)
        if (!row->together) run_cases(row, &row->sizes[n], 1, n);
    if (row->together && n <= MOST_TOGETHER) run_cases(row, row->sizes, n, 0);
}

int gpu_row_failures(const GpuRow *row) {
    on_host = 1, failed_there = 0;
    gpu_row_run("driver", row);
    on_host = 0;
    return failed_there;
}

// ---- Times --------------------------------------------------------------------------------------

static int by_value(const void *a, const void *b) {
    const double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

// Returns the microseconds of a launch, measured over several unless the kernel works in place.
static double cuda_us(GpuCase *c) {
    enum { TIMES = 15, IN_A_ROW = 8 };
    double us[TIMES];
    cudaEvent_t event[2];
    int in_place = 0;
    for (int i = 0; i < c->n_buffers; i++) in_place |= (c->buffer[i].use & GPU_STATE) == GPU_STATE;
    const int launches = in_place ? 1 : IN_A_ROW;
    for (int k = 0; k < 2; k++) OK(cudaEventCreate(&event[k]));
    for (int i = -2; i < TIMES; i++) { // the first two load kernels and fill caches
        float ms = 0;
        if (in_place) upload(c);
        OK(cudaEventRecord(event[0], c->stream));
        for (int k = 0; k < launches; k++) run(c, ON_CUDA);
        OK(cudaEventRecord(event[1], c->stream));
        wait(c);
        OK(cudaEventElapsedTime(&ms, event[0], event[1]));
        if (i >= 0) us[i] = 1e3 * (double)ms / launches;
    }
    for (int k = 0; k < 2; k++) OK(cudaEventDestroy(event[k]));
    qsort(us, TIMES, sizeof *us, by_value);
    return us[TIMES / 2];
}

static double cpu_us(GpuCase *c) {
    struct timespec began, ended;
    for (int i = 0; i < 2; i++) { // the first one fills caches
        fill(c, 0);
        clock_gettime(CLOCK_MONOTONIC, &began);
        run(c, ON_CPU);
        clock_gettime(CLOCK_MONOTONIC, &ended);
    }
    return (double)(ended.tv_sec - began.tv_sec) * 1e6 +
           (double)(ended.tv_nsec - began.tv_nsec) / 1e3;
}

void gpu_row_bench(const char *suite, const GpuRow *row) {
    GpuCase c;
    char name[64], size[24];
    double bytes = 0;
    suite_of_row = suite;
    open_case(&c, row, &row->bench, 0);
    const double cpu = cpu_us(&c);
    fill(&c, 0);
    upload(&c);
    const double cuda = cuda_us(&c);
    for (int i = 0; i < c.n_buffers; i++) {
        const GpuBuffer *b = &c.buffer[i];
        if (b->use & GPU_DEVICE_ONLY) continue;
        bytes += (double)b->bytes * (double)(!!(b->use & GPU_FILLED) + !!(b->use & GPU_WRITTEN));
    }
    snprintf(name, sizeof name, "%s.%s", suite, row->name);
    snprintf(size, sizeof size, "%dx%d", c.width, c.height);
    printf("%-34s %10s %10.1f %8.1f %12.1f\n", name, size, cuda, bytes / cuda / 1e3, cpu);
    fflush(stdout);
    end_step(&c, "bench");
    close_case(&c);
}
