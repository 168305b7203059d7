// motus bench filters: the speed of the filters and the 8x8 DCT on this machine, at the sizes of
// published comparisons and at 8K.
// SPDX-License-Identifier: BSD-2-Clause
#include <cjson/cJSON.h>
#include <stdio.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "common/error.h"
#include "tools/bench/filter_jobs.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/system.h"

static const char about[] =
    "Times the 8x8 DCT, wavelet, equalization and chroma key (docs/filters.md) against\n"
    "single-thread scalar C, at 8K and at the sizes of published CUDA programs, whose speed-up\n"
    "is in brackets. Columns, in milliseconds per picture:\n"
    "  scalar      plain C, one thread: the base of the speed-ups (x)\n"
    "  simd        one thread with the fastest instructions\n"
    "  cores       all cores with them\n"
    "  in+out      CUDA from pinned memory and back, pictures overlapped\n"
    "  one by one  the same without overlap\n"
    "  kernel      CUDA alone, data in device memory\n"
    "  GB/s, %     bytes that the job must move over the kernel's time; share of a device copy\n"
    "  same        the results of CPU and CUDA are equal, byte for byte\n"
    "NPP's histogram and look-up table are timed beside equalization if they are installed.\n"
    "OpenCV's functions, on one thread and on all cores, end the rows of a build with\n"
    "-DMOTUS_OPENCV=ON (docs/bench.md).\n";

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

typedef struct BenchFiltersOptions {
    int json, quick, threads;
    const char *none;
} BenchFiltersOptions;

// A row; times in seconds, 0 = not measured.
typedef struct FilterRow {
    MotusFilterJob job;
    double scalar, simd, cores;
    MotusFilterTime stream, serial, kernel, npp;
    double opencv, opencv_cores, opencv_distance; // distance: mean difference of the results
    int same;                                     // CPU and CUDA; -1: not compared
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

static MotusStatus run_once(enum Library library, const MotusFilterJob *s, const FilterBuffers *b,
                            const MotusExec *exec) {
    if (HAS_OPENCV && library == OPENCV)
        return motus_opencv_run(s, b->in, b->other_out, b->scratch, exec->threads);
    return motus_filter_job_run(s, b->in, b->out, b->scratch, exec);
}

// Times a job: the best of three runs, or of those that fit in a second; 0 if OpenCV has no such
// function.
static MotusStatus time_cpu(double *best, enum Library library, const MotusFilterJob *s,
                            const FilterBuffers *b, MotusExec exec, MotusError *error) {
    double begin = motus_seconds();
    *best = 0;
    for (int i = 0; i < 3 && (i < 1 || motus_seconds() - begin < 1); i++) {
        double start = motus_seconds();
        MotusStatus status = run_once(library, s, b, &exec);
        if (library == OPENCV && status == MOTUS_ERR_UNSUPPORTED) return MOTUS_OK;
        if (status)
            return motus_fail(error, status, "%s%s: %s", library == OPENCV ? "OpenCV, " : "",
                              motus_filter_job_name(s->kind), motus_status_text(status));
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

static void free_buffers(FilterBuffers *b) {
    motus_free(b->in);
    motus_free(b->out);
    motus_free(b->other_out);
    motus_free(b->scratch);
}

static MotusStatus measure(FilterRow *row, int device, int threads, MotusError *error) {
    const MotusFilterJob *s = &row->job;
    FilterBuffers b = {motus_alloc(s->in_bytes, 1), motus_alloc(s->out_bytes, 1),
                       motus_alloc(s->out_bytes, 1), motus_alloc(s->scratch_bytes, 1)};
    if (!b.in || !b.out || !b.other_out || !b.scratch) {
        free_buffers(&b);
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    }
    motus_filter_job_fill(s, b.in);
    MotusStatus status = measure_cpu(row, &b, threads, error);
    row->same = -1;
    if (MOTUS_BENCH_HAS_CUDA && !status && device) {
        status = motus_filter_time_stream(s, b.in, b.other_out, 0, &row->serial, error);
        if (!status)
            status = motus_filter_time_stream(s, b.in, b.other_out, 1, &row->stream, error);
        if (!status) status = motus_filter_time_kernel(s, b.in, &row->kernel, error);
        if (!status) row->same = motus_filter_job_same(s, b.out, b.other_out);
        MotusError why = {0};
        if (!status && s->kind == JOB_EQUALIZE && motus_filter_time_npp(s, b.in, &row->npp, &why))
            motus_warn("%s", why.text);
    }
    free_buffers(&b);
    return status;
}

static void print_row(const FilterRow *r, double copy) {
    char size[32];
    snprintf(size, sizeof size, "%dx%d", r->job.width, r->job.height);
    printf("  %-20s %-10s %8.2f %8.2f %8.2f", motus_filter_job_name(r->job.kind), size,
           1e3 * r->scalar, 1e3 * r->simd, 1e3 * r->cores);
    if (r->kernel.median > 0) {
        double rate = r->job.moved_bytes / r->kernel.median;
        printf(" %8.3f %6.1fx %8.3f %8.4f %6.0f %5.1f %s", 1e3 * r->stream.median,
               r->scalar / r->stream.median, 1e3 * r->serial.median, 1e3 * r->kernel.median,
               1e-9 * rate, 100 * rate / copy, r->same ? "same" : "DIFFERENT");
        if (r->npp.median > 0) printf("  NPP %.4f", 1e3 * r->npp.median);
    }
    if (r->opencv > 0) printf("  OpenCV %.2f %.2f", 1e3 * r->opencv, 1e3 * r->opencv_cores);
    printf("\n");
    fflush(stdout);
}

static void add_row(cJSON *rows, const FilterRow *r) {
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "job", motus_filter_job_name(r->job.kind));
    cJSON_AddNumberToObject(o, "width", r->job.width);
    cJSON_AddNumberToObject(o, "height", r->job.height);
    cJSON_AddNumberToObject(o, "scalar_ms", 1e3 * r->scalar);
    cJSON_AddNumberToObject(o, "simd_ms", 1e3 * r->simd);
    cJSON_AddNumberToObject(o, "cores_ms", 1e3 * r->cores);
    if (r->kernel.median > 0) {
        cJSON_AddNumberToObject(o, "stream_ms", 1e3 * r->stream.median);
        cJSON_AddNumberToObject(o, "serial_ms", 1e3 * r->serial.median);
        cJSON_AddNumberToObject(o, "kernel_ms", 1e3 * r->kernel.median);
        cJSON_AddNumberToObject(o, "kernel_best_ms", 1e3 * r->kernel.best);
        cJSON_AddNumberToObject(o, "moved_bytes", r->job.moved_bytes);
        cJSON_AddBoolToObject(o, "same", r->same > 0);
    }
    if (r->npp.median > 0) cJSON_AddNumberToObject(o, "npp_ms", 1e3 * r->npp.median);
    if (r->opencv > 0) {
        cJSON_AddNumberToObject(o, "opencv_ms", 1e3 * r->opencv);
        cJSON_AddNumberToObject(o, "opencv_cores_ms", 1e3 * r->opencv_cores);
        cJSON_AddNumberToObject(o, "opencv_distance", r->opencv_distance);
    }
    cJSON_AddItemToArray(rows, o);
}

static MotusStatus run(const BenchFiltersOptions *o, cJSON *report, MotusError *error) {
    MotusError why = {0};
    double copy = 0, up = 0, down = 0;
    int device = !motus_cuda_filters_usable(&why);
    MotusStatus status = MOTUS_OK;
    if (MOTUS_BENCH_HAS_CUDA && device) status = motus_filter_time_copies(&copy, &up, &down, error);
    char cpu[128];
    motus_cpu_name(cpu, sizeof cpu);
    cJSON_AddStringToObject(report, "cpu", cpu);
    cJSON_AddNumberToObject(report, "threads", motus_cpu_threads(o->threads));
    cJSON_AddNumberToObject(report, "device_copy_gbps", 1e-9 * copy);
    cJSON_AddNumberToObject(report, "upload_gbps", 1e-9 * up);
    cJSON_AddNumberToObject(report, "download_gbps", 1e-9 * down);
    const char *opencv = HAS_OPENCV ? motus_opencv_version() : NULL;
    cJSON_AddItemToObject(report, "opencv",
                          opencv ? cJSON_CreateString(opencv) : cJSON_CreateNull());
    cJSON *rows = cJSON_AddArrayToObject(report, "rows");
    if (!o->json) {
        printf("machine  %s, %s, %d threads\n", cpu, motus_cpu_instructions(),
               motus_cpu_threads(o->threads));
        printf(device
                   ? "copies   device %.0f GB/s (read + written), up %.1f, down %.1f GB/s, pinned\n"
                   : "device   none\n",
               1e-9 * copy, 1e-9 * up, 1e-9 * down);
        printf("opencv   %s\n", opencv ? opencv : "not in this build");
        printf("  %-20s %-10s %8s %8s %8s %8s %7s %8s %8s %6s %5s\n", "job", "size", "scalar",
               "simd", "cores", "in+out", "x", "1 by 1", "kernel", "GB/s", "%");
    }
    for (unsigned i = 0; !status && i < sizeof cases / sizeof *cases; i++) {
        if (o->quick && cases[i].width > 2592) continue;
        FilterRow row = {.same = -1};
        if (cases[i].title && !o->json) printf("%s\n", cases[i].title);
        motus_filter_job_init(&row.job, cases[i].kind, cases[i].width, cases[i].height);
        status = measure(&row, device, o->threads, error);
        if (!status && !o->json) print_row(&row, copy);
        if (!status) add_row(rows, &row);
    }
    return status;
}

int motus_cmd_bench_filters(int argc, char **argv) {
    BenchFiltersOptions o = {0};
    const MotusOption options[] = {
        MOTUS_OPTION_THREADS(&o.threads, "of the column cores, 0 = all (0)"),
        MOTUS_FLAG("quick", &o.quick, "leave out the large pictures"),
        MOTUS_FLAG("json", &o.json, "print JSON"),
        {0},
    };
    const MotusCommand command = {"bench filters", "[options]", about, options, &o.none, 0};
    int done = motus_options_parse(&command, argc, argv);
    if (done >= 0) return done;
    MotusError error = {0};
    cJSON *report = cJSON_CreateObject();
    MotusStatus status = run(&o, report, &error);
    char *text = o.json && !status ? cJSON_Print(report) : NULL;
    if (text) printf("%s\n", text);
    cJSON_free(text);
    cJSON_Delete(report);
    return status ? motus_failure(&error) : motus_flush_stdout();
}
