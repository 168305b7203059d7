// motus bench filters: the speed of the filters and the 8x8 DCT on this machine, at the sizes of
// published comparisons and at 8K.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "common/error.h"
#include "tools/bench/bench.h"
#include "tools/bench/filter_jobs.h"
#include "tools/cli/cmd.h"
#include "tools/cli/system.h"

// The jobs. In brackets: published speed-ups of CUDA programs over one CPU thread.
static const struct {
    const char *title;
    MotusFilterJobKind kind;
    int width, height;
} cases[] = {
    {"DCT (published: 124.5 x)", JOB_DCT_ROUND, 2592, 2592},
    {NULL, JOB_DCT, 2592, 2592},
    {NULL, JOB_DCT_INTEGER, 2592, 2592},
    {"wavelet, 3 levels (published: up to 51.6 x)", JOB_WAVELET, 512, 512},
    {NULL, JOB_WAVELET, 1024, 1024},
    {NULL, JOB_WAVELET, 2048, 2048},
    {NULL, JOB_WAVELET, 4096, 4096},
    {NULL, JOB_WAVELET_LEVELS, 4096, 4096},
    {NULL, JOB_WAVELET_LEVELS, 8192, 8192},
    {"equalization (published: 61.58 x at 7646x7862)", JOB_EQUALIZE, 356, 687},
    {NULL, JOB_EQUALIZE, 2048, 2048},
    {NULL, JOB_EQUALIZE, 7646, 7862},
    {NULL, JOB_CLAHE, 7646, 7862},
    {"chroma key", JOB_KEY_RGB, 1920, 1080},
    {NULL, JOB_KEY_RGB_SOFT, 1920, 1080},
    {NULL, JOB_KEY_YUV, 1920, 1080},
    {NULL, JOB_KEY_YUV_SOFT, 1920, 1080},
    {"8K (kernels against the device copy)", JOB_DCT, 7680, 4320},
    {NULL, JOB_DCT_INTEGER, 7680, 4320},
    {NULL, JOB_IDCT, 7680, 4320},
    {NULL, JOB_EQUALIZE, 7680, 4320},
    {NULL, JOB_CLAHE, 7680, 4320},
    {NULL, JOB_KEY_RGB, 7680, 4320},
    {NULL, JOB_KEY_RGB_SOFT, 7680, 4320},
    {NULL, JOB_KEY_YUV, 7680, 4320},
    {NULL, JOB_KEY_YUV_SOFT, 7680, 4320},
    {NULL, JOB_WAVELET, 7680, 4320},
    {NULL, JOB_IWAVELET, 7680, 4320},
};

// A row; times in seconds, 0 = not measured.
typedef struct FilterRow {
    MotusFilterJob job;
    double scalar, simd, cores;
    MotusFilterTime stream, serial, kernel, npp;
    double opencv, opencv_cores, opencv_distance; // distance: mean difference of the results
    int same;                                     // CPU and CUDA
} FilterRow;

typedef struct FilterBuffers {
    uint8_t *in, *out, *other_out, *scratch;
} FilterBuffers;

#ifdef MOTUS_HAVE_OPENCV
enum { HAS_OPENCV = 1 };
#else
enum { HAS_OPENCV = 0 }; // its functions are not in this build and must not be called
#endif

enum Library { MOTUS, OPENCV };

// Times a job: the best of three runs, or of those that fit in a second; 0 if OpenCV has no such
// function.
static MotusStatus time_cpu(double *best, enum Library library, const MotusFilterJob *s,
                            const FilterBuffers *b, MotusExec exec, MotusError *error) {
    double begin = motus_seconds();
    *best = 0;
    for (int i = 0; i < 3 && (i < 1 || motus_seconds() - begin < 1); i++) {
        double start = motus_seconds();
        MotusStatus status =
            HAS_OPENCV && library == OPENCV
                ? motus_opencv_run(s, b->in, b->other_out, b->scratch, exec.threads)
                : motus_filter_job_run(s, b->in, b->out, b->scratch, &exec);
        if (library == OPENCV && status == MOTUS_ERR_UNSUPPORTED) return MOTUS_OK;
        if (status)
            return motus_fail(error, status, "%s%s: %s", library == OPENCV ? "OpenCV, " : "",
                              s->name, motus_status_text(status));
        double seconds = motus_seconds() - start;
        *best = i && *best < seconds ? *best : seconds;
    }
    return MOTUS_OK;
}

static MotusStatus measure_cpu(FilterRow *row, const FilterBuffers *b, int threads,
                               MotusError *error) {
    const MotusFilterJob *s = &row->job;
    MotusStatus status = time_cpu(&row->scalar, MOTUS, s, b, (MotusExec){1, 1}, error);
    if (!status) status = time_cpu(&row->simd, MOTUS, s, b, (MotusExec){1, 0}, error);
    if (!status) status = time_cpu(&row->cores, MOTUS, s, b, (MotusExec){threads, 0}, error);
    if (status || !HAS_OPENCV) return status;
    status = time_cpu(&row->opencv, OPENCV, s, b, (MotusExec){1, 0}, error);
    if (status || row->opencv <= 0) return status;
    row->opencv_distance = motus_filter_job_distance(s, b->out, b->other_out);
    return time_cpu(&row->opencv_cores, OPENCV, s, b, (MotusExec){motus_cpu_threads(threads), 0},
                    error);
}

static MotusStatus measure(FilterRow *row, int device, int threads, MotusError *error) {
    const MotusFilterJob *s = &row->job;
    FilterBuffers b = {motus_alloc(s->in_bytes, 1), motus_alloc(s->out_bytes, 1),
                       motus_alloc(s->out_bytes, 1), motus_alloc(s->scratch_bytes, 1)};
    MotusStatus status = MOTUS_OK;
    if (!b.in || !b.out || !b.other_out || !b.scratch)
        status = motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    if (!status) {
        motus_filter_job_fill(s, b.in);
        status = measure_cpu(row, &b, threads, error);
    }
    if (MOTUS_BENCH_HAS_CUDA && !status && device) {
        MotusError why = {0};
        status = motus_filter_time_stream(s, b.in, b.other_out, 0, &row->serial, error);
        if (!status)
            status = motus_filter_time_stream(s, b.in, b.other_out, 1, &row->stream, error);
        if (!status) status = motus_filter_time_kernel(s, b.in, 0, &row->kernel, error);
        if (!status) row->same = motus_filter_job_same(s, b.out, b.other_out);
        if (!status && s->kind == JOB_EQUALIZE &&
            motus_filter_time_kernel(s, b.in, 1, &row->npp, &why))
            motus_warn("%s", why.text);
    }
    motus_free(b.in);
    motus_free(b.out);
    motus_free(b.other_out);
    motus_free(b.scratch);
    return status;
}

// Prints and reports a row, in milliseconds. copy: bytes per second of a device's copy.
static void report_row(const MotusBench *b, const FilterRow *r, double copy) {
    char size[32];
    snprintf(size, sizeof size, "%dx%d", r->job.width, r->job.height);
    const double rate = r->job.moved_bytes / r->kernel.median;
    const MotusBenchField cpu[] = {{"job", "  %-20s", .text = r->job.name},
                                   {NULL, " %-10s", .text = size},
                                   {"width", .value = r->job.width},
                                   {"height", .value = r->job.height},
                                   {"scalar_ms", " %8.2f", .value = 1e3 * r->scalar},
                                   {"simd_ms", " %8.2f", .value = 1e3 * r->simd},
                                   {"cores_ms", " %8.2f", .value = 1e3 * r->cores}},
                          cuda[] = {{"stream_ms", " %8.3f", .value = 1e3 * r->stream.median},
                                    {NULL, " %6.1fx", .value = r->scalar / r->stream.median},
                                    {"serial_ms", " %8.3f", .value = 1e3 * r->serial.median},
                                    {"kernel_ms", " %8.4f", .value = 1e3 * r->kernel.median},
                                    {"kernel_best_ms", .value = 1e3 * r->kernel.best},
                                    {"moved_bytes", .value = r->job.moved_bytes},
                                    {NULL, " %6.0f", .value = 1e-9 * rate},
                                    {NULL, " %5.1f", .value = 100 * rate / copy},
                                    {"same", " %s", .value = r->same,
                                     .text = r->same ? "same" : "DIFFERENT", .is_bool = 1}},
                          npp[] = {{"npp_ms", "  NPP %.4f", .value = 1e3 * r->npp.median}},
                          opencv[] = {{"opencv_ms", "  OpenCV %.2f", .value = 1e3 * r->opencv},
                                      {"opencv_cores_ms", " %.2f", .value = 1e3 * r->opencv_cores},
                                      {"opencv_distance", .value = r->opencv_distance}};
    const struct {
        int measured, n;
        const MotusBenchField *fields;
    } parts[] = {{1, sizeof cpu / sizeof *cpu, cpu},
                 {r->kernel.median > 0, sizeof cuda / sizeof *cuda, cuda},
                 {r->npp.median > 0, 1, npp},
                 {r->opencv > 0, 3, opencv}};
    MotusBenchField all[24];
    int n = 0;
    for (int p = 0; p < 4; p++)
        for (int i = 0; parts[p].measured && i < parts[p].n; i++) all[n++] = parts[p].fields[i];
    motus_bench_row(b, "rows", all, n);
}

MotusStatus motus_bench_filters(const MotusBench *b, MotusError *error) {
    MotusError why = {0};
    double copy = 0, up = 0, down = 0;
    const int device = !motus_cuda_filters_usable(&why), threads = motus_cpu_threads(b->threads);
    MotusStatus status = MOTUS_OK;
    if (MOTUS_BENCH_HAS_CUDA && device) status = motus_filter_time_copies(&copy, &up, &down, error);
    char cpu[128];
    motus_cpu_name(cpu, sizeof cpu);
    const char *opencv = HAS_OPENCV ? motus_opencv_version() : NULL;
    const MotusBenchField machine[] = {{"cpu", "machine  %s", .text = cpu},
                                       {NULL, ", %s", .text = motus_cpu_instructions()},
                                       {"threads", ", %.0f threads", .value = threads}},
                          copies[] = {
                              {NULL,
                               device ? "copies   device %.0f GB/s (read + written)"
                                      : "device   none",
                               .value = 1e-9 * copy},
                              {"device_copy_gbps", .value = 1e-9 * copy},
                              {"upload_gbps", device ? ", up %.1f" : NULL, .value = 1e-9 * up},
                              {"download_gbps", device ? ", down %.1f GB/s, pinned" : NULL,
                               .value = 1e-9 * down}};
    MOTUS_BENCH_ROW(b, NULL, machine);
    MOTUS_BENCH_ROW(b, NULL, copies);
    cJSON_AddItemToObject(b->report, "opencv",
                          opencv ? cJSON_CreateString(opencv) : cJSON_CreateNull());
    if (!b->json) {
        printf("opencv   %s\n", opencv ? opencv : "not in this build");
        printf("  %-20s %-10s %8s %8s %8s %8s %7s %8s %8s %6s %5s\n", "job", "size", "scalar",
               "simd", "cores", "in+out", "x", "1 by 1", "kernel", "GB/s", "%");
    }
    for (unsigned i = 0; !status && i < sizeof cases / sizeof *cases; i++) {
        if (b->quick && cases[i].width > 2592) continue;
        FilterRow row = {.same = 0};
        if (cases[i].title && !b->json) printf("%s\n", cases[i].title);
        motus_filter_job_init(&row.job, cases[i].kind, cases[i].width, cases[i].height);
        status = measure(&row, device, b->threads, error);
        if (!status) report_row(b, &row, copy);
    }
    return status;
}
