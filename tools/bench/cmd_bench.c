// motus bench: how fast search and encoder are here.
// SPDX-License-Identifier: BSD-2-Clause
#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "common/error.h"
#include "motus/encoder.h"
#include "motus/version.h"
#include "tools/bench/bench_devices.h"
#include "tools/bench/bench_gop_coders.h"
#include "tools/bench/bench_input.h"
#include "tools/bench/bench_me_cuda.h"
#include "tools/bench/bench_presets.h"
#include "tools/bench/bench_requests.h"
#include "tools/bench/bench_x264.h"
#include "tools/cli/cmd.h"
#include "tools/cli/options.h"
#include "tools/cli/signals.h"
#include "tools/cli/system.h"
#include "tools/peers/peers.h"

static const char about[] =
    "Measures on this machine, in memory, without reading or writing files.\n"
    "  motus bench me      exhaustive search of all 41 blocks, whole samples and quarter samples\n"
    "  motus bench encode  the whole encoder\n"
    "  motus bench filters 8x8 DCT, wavelet, equalization, chroma key (motus bench filters "
    "--help)\n"
    "\n"
    "Examples:\n"
    "  motus bench me --input foreman.y4m --peers       beside ffmpeg's exhaustive search\n"
    "  motus bench me --size 1920x1080 --range 32 --threads 0\n"
    "  motus bench me --size 1920x1080 --backend cuda --upload\n"
    "  motus bench me --input street.y4m --references 8 --backend cuda\n"
    "  motus bench encode --input foreman.y4m --qp 28 --runs 5\n"
    "  taskset -c 0 motus bench encode --input foreman.y4m --qp 28 --threads 1 --presets --peers\n"
    "  motus bench encode --input street.y4m --gop-coders 16 --backend cuda --peers\n"
    "  motus bench encode --input street.y4m --frames 20 --devices all --preset medium\n"
    "  taskset -c 0 motus bench me                      on one core (motus binds its threads to "
    "none)\n"
    "\n"
    "A search is timed for each pair of frames, an encode for each run over all frames; median and "
    "best\n"
    "are printed.\n"
    "\n"
    "me --references N: searches a second (a picture in one reference, quarter samples, vectors "
    "and costs of all 41 blocks),\n"
    "by a call for each reference and by requests, two under way, which search 1, 2, 4, ... N at "
    "once.\n"
    "\n"
    "encode --gop-coders N: frames/s with 1, 2, 4, ... N lanes, the clip again and again as a "
    "closed GOP each time, from frames\n"
    "in (pinned) host memory and, on a GPU, in device memory; on a CPU one thread first, and how "
    "many times its frames/s\n"
    "all of --threads give; processors of the host in use; memory of a lane; then how long a "
    "picture takes alone, from its\n"
    "sending to its packet, and how long each stage of P and I pictures takes with one lane (on a "
    "GPU by the device's\n"
    "clock). A run is --gops GOPs for each lane, from the first frame sent to the last packet. "
    "With --peers then libx264's\n"
    "presets with all processors over the same frames, P pictures only: frames/s, and bits beside "
    "ours at equal PSNR.\n"
    "libx264 is loaded where it is installed, or from --libx264.\n"
    "\n"
    "encode --devices LIST: frames/s of the first GPU, of the first two, four, ..., of all: as one "
    "encoder, and as an encoder\n"
    "for each in one process; --pictures of them, the clip again and again as a closed GOP each "
    "time, from pinned memory.\n"
    "Every stream is compared with the first.\n"
    "\n"
    "encode --presets --peers: frames/s (median and best of the runs, all rows taking turns), kb/s "
    "and luma PSNR at\n"
    "--qp; BD-rate against x264 preset medium over QP 22, 27, 32, 37; speed as a multiple of that "
    "x264's. x264 is the\n"
    "program on the PATH: baseline profile, tune psnr, one reference, no B pictures, one IDR "
    "picture, as many threads;\n"
    "its time is the encode time that it prints, its PSNR that of its decoded stream, and SEI is "
    "not counted.\n";

enum { ALL_PRESETS = (1 << MOTUS_PRESETS) - 1 };

typedef struct BenchOptions {
    const char *what, *input, *libx264;
    int size[2], frames, range, threads, qp, runs;
    MotusBackend backend;
    int json, peers, upload, presets, gop_coders, gops, references;
    int preset; // mask of 1 << MotusPreset
    MotusDeviceList devices;
    int pictures;
} BenchOptions;

// Frames per second: of the median time, of the shortest.
typedef struct Rate {
    double median, best;
} Rate;

static Rate rate_of(double *seconds, int n, double frames) {
    double middle = motus_median_of(seconds, n); // sorts
    return (Rate){frames / middle, frames / seconds[0]};
}

// Searches each frame in the one before, in turn.
static MotusStatus time_search(const BenchOptions *o, const MotusBenchClip *clip,
                               MotusSubpel subpel, Rate *rate, MotusError *error) {
    MotusMeConfig config = motus_me_config_default(clip->width, clip->height);
    config.range = o->range;
    config.threads = o->threads;
    config.subpel = subpel;
    config.backend = o->backend;
    MotusMe *me = NULL;
    MotusField *field = NULL;
    double *seconds = motus_alloc((size_t)clip->n, sizeof *seconds);
    MotusStatus status = seconds ? motus_me_open(&me, &config) : MOTUS_ERR_MEMORY;
    if (!status) status = motus_field_alloc(&field, clip->width, clip->height);
    for (int i = 0; !status && i < clip->n;
         i++) { // the first pair warms up, with the last two frames
        int cur = i ? i : clip->n - 1;
        double start = motus_seconds();
        status = motus_me_search(me, &clip->frame[cur]->plane[0], &clip->frame[cur - 1]->plane[0],
                                 NULL, field);
        if (i) seconds[i - 1] = motus_seconds() - start;
    }
    if (!status) *rate = rate_of(seconds, clip->n - 1, 1);
    motus_field_free(&field);
    motus_me_close(&me);
    motus_free(seconds);
    return status ? motus_fail(error, status, "search: %s", motus_status_text(status)) : MOTUS_OK;
}

static void add_rate(cJSON *report, const char *name, Rate rate) {
    cJSON *object = cJSON_AddObjectToObject(report, name);
    cJSON_AddNumberToObject(object, "fps_median", rate.median);
    cJSON_AddNumberToObject(object, "fps_best", rate.best);
}

static cJSON *begin_report(const BenchOptions *o, const MotusBenchClip *clip) {
    char cpu[128];
    motus_cpu_name(cpu, sizeof cpu);
    cJSON *report = cJSON_CreateObject();
    cJSON_AddStringToObject(report, "motus", motus_version());
    cJSON_AddStringToObject(report, "bench", o->what);
    cJSON_AddStringToObject(report, "cpu", cpu);
    cJSON_AddStringToObject(report, "instructions", motus_cpu_instructions());
    cJSON_AddNumberToObject(report, "threads", motus_cpu_threads(o->threads));
    cJSON_AddStringToObject(report, "backend", motus_backend_name(o->backend));
    cJSON_AddStringToObject(report, "input", clip->name);
    cJSON_AddNumberToObject(report, "width", clip->width);
    cJSON_AddNumberToObject(report, "height", clip->height);
    cJSON_AddNumberToObject(report, "frames", clip->n);
    if (o->range) cJSON_AddNumberToObject(report, "range", o->range);
    if (!o->json)
        printf("machine    %s, %s, %d thread(s), backend %s\ninput      %s, %dx%d, %d frames\n",
               cpu, motus_cpu_instructions(), motus_cpu_threads(o->threads),
               motus_backend_name(o->backend), clip->name, clip->width, clip->height, clip->n);
    return report;
}

// Prints the report unless the measurement failed, whose status this hands on.
static MotusStatus end_report(const BenchOptions *o, cJSON *report, MotusStatus status) {
    char *text = o->json && !status ? cJSON_Print(report) : NULL;
    if (text) printf("%s\n", text);
    cJSON_free(text);
    cJSON_Delete(report);
    return status;
}

static void report_search(const BenchOptions *o, const MotusBenchClip *clip, const char *name,
                          Rate rate, cJSON *report) {
    double points = (double)((clip->width + 15) / 16) * ((clip->height + 15) / 16) *
                    (2 * o->range + 1) * (2 * o->range + 1);
    add_rate(report, name, rate);
    cJSON_AddNumberToObject(cJSON_GetObjectItem(report, name), "mb_points_per_second",
                            rate.median * points);
    if (!o->json)
        printf("%-10s %.1f frames/s (best %.1f), %.1f M MB*points/s; R=%d, %d points, 41 blocks\n",
               name, rate.median, rate.best, 1e-6 * rate.median * points, o->range,
               (2 * o->range + 1) * (2 * o->range + 1));
}

static void report_peer(const BenchOptions *o, const MotusBenchClip *clip, Rate full,
                        cJSON *report) {
    double fps = 0;
    MotusError error = {0};
    if (motus_peer_mestimate(clip, 10, o->range, &fps, &error)) {
        motus_warn("%s", error.text);
        return;
    }
    cJSON_AddNumberToObject(report, "mestimate_fps", fps);
    cJSON_AddNumberToObject(report, "ratio", fps > 0 ? full.median / fps : 0);
    if (!o->json && fps > 0)
        printf("%-10s %.2f frames/s of two directions each (mestimate=method=esa, 16x16 only, 1 "
               "thread)\n"
               "ratio      %.1f frame for frame, %.1f field for field\n",
               "ffmpeg", fps, full.median / fps, full.median / fps / 2);
}

static MotusStatus bench_requests(const BenchOptions *o, const MotusBenchClip *clip,
                                  MotusError *error) {
    cJSON *report = begin_report(o, clip);
    fflush(stdout);
    const MotusBenchRequests requests = {.clip = clip,
                                         .range = o->range,
                                         .threads = o->threads,
                                         .most = o->references,
                                         .backend = o->backend,
                                         .print = !o->json,
                                         .report = report};
    return end_report(o, report, motus_bench_requests(&requests, error));
}

static MotusStatus bench_me(const BenchOptions *o, const MotusBenchClip *clip, MotusError *error) {
    if (o->references) return bench_requests(o, clip, error);
    Rate full = {0}, quarter = {0};
    MotusStatus status = time_search(o, clip, MOTUS_SUBPEL_FULL, &full, error);
    if (!status) status = time_search(o, clip, MOTUS_SUBPEL_QUARTER, &quarter, error);
    if (status) return status;
    cJSON *report = begin_report(o, clip);
    report_search(o, clip, "full", full, report);
    report_search(o, clip, "quarter", quarter, report);
    fflush(stdout);
    if (o->peers) report_peer(o, clip, full, report);
    if (o->backend == MOTUS_BACKEND_CUDA) {
        MotusBenchMeCuda cuda = {clip, o->range, o->upload, !o->json, report};
        status = motus_bench_me_cuda(&cuda, error);
    }
    return end_report(o, report, status);
}

static MotusEncoderConfig encoder_config(const BenchOptions *o, const MotusBenchClip *clip) {
    MotusEncoderConfig config = motus_encoder_config_default(clip->width, clip->height, clip->fps);
    config.qp = o->qp;
    config.range = o->range;
    config.threads = o->threads;
    config.backend = o->backend;
    return config;
}

static MotusStatus bench_presets(const BenchOptions *o, const MotusBenchClip *clip,
                                 MotusError *error) {
    cJSON *report = begin_report(o, clip);
    cJSON_AddNumberToObject(report, "qp", o->qp);
    cJSON_AddNumberToObject(report, "runs", o->runs);
    fflush(stdout);
    MotusBenchPresets presets = {clip,  encoder_config(o, clip), o->runs, o->peers, !o->json,
                                 report};
    presets.config.keyint = 0; // as x264's rows
    presets.config.threads = motus_cpu_threads(o->threads);
    motus_signals_catch(); // a temporary folder is to be removed
    return end_report(o, report, motus_bench_presets(&presets, error));
}

static MotusStatus bench_devices(const BenchOptions *o, const MotusBenchClip *clip,
                                 MotusError *error) {
    cJSON *report = begin_report(o, clip);
    cJSON_AddNumberToObject(report, "qp", o->qp);
    fflush(stdout);
    const MotusBenchDevices devices = {.clip = clip,
                                       .config = encoder_config(o, clip),
                                       .devices = &o->devices,
                                       .presets = o->preset,
                                       .gop_coders = o->gop_coders ? o->gop_coders : 8,
                                       .pictures = o->pictures,
                                       .print = !o->json,
                                       .report = report};
    return end_report(o, report, motus_bench_devices(&devices, error));
}

static MotusStatus bench_lanes(const BenchOptions *o, const MotusBenchClip *clip,
                               MotusError *error) {
    cJSON *report = begin_report(o, clip);
    cJSON_AddNumberToObject(report, "qp", o->qp);
    fflush(stdout);
    double fps[MOTUS_PRESETS] = {0};
    MotusEncoderConfig config = encoder_config(o, clip);
    config.threads = motus_cpu_threads(o->threads);
    const MotusBenchGopCoders gop_coders = {.clip = clip,
                                            .config = config,
                                            .presets = o->preset,
                                            .most = o->gop_coders,
                                            .runs = o->runs,
                                            .gops = o->gops,
                                            .print = !o->json,
                                            .report = report,
                                            .fps = fps};
    MotusStatus status = motus_bench_gop_coders(&gop_coders, error);
    if (!status && o->peers) {
        MotusBenchX264 beside = {.clip = clip,
                                 .config = gop_coders.config,
                                 .presets = gop_coders.presets,
                                 .libx264 = o->libx264,
                                 .print = !o->json,
                                 .report = report};
        memcpy(beside.fps, fps, sizeof fps);
        fflush(stdout);
        status = motus_bench_x264(&beside, error);
    }
    return end_report(o, report, status);
}

static MotusStatus bench_encode(const BenchOptions *o, const MotusBenchClip *clip,
                                MotusError *error) {
    if (o->presets) return bench_presets(o, clip, error);
    if (o->devices.n) return bench_devices(o, clip, error);
    if (o->gop_coders) return bench_lanes(o, clip, error);
    const MotusEncoderConfig config = encoder_config(o, clip);
    double seconds[MOTUS_BENCH_RUNS];
    MotusEncodeRun run = {0};
    for (int i = 0; i < o->runs; i++) {
        MotusStatus status = motus_bench_encode_once(&config, clip, &run, error);
        if (status) return status;
        seconds[i] = run.seconds;
    }
    Rate rate = rate_of(seconds, o->runs, clip->n);
    double kbps = 8e-3 * (double)run.bytes / clip->n * clip->fps.num / clip->fps.den;
    cJSON *report = begin_report(o, clip);
    cJSON_AddNumberToObject(report, "qp", o->qp);
    cJSON_AddNumberToObject(report, "runs", o->runs);
    cJSON_AddNumberToObject(report, "kbps", kbps);
    add_rate(report, "encode", rate);
    if (!o->json)
        printf("encode     %.1f frames/s (best %.1f) of %d runs; QP %d, R=%d, %.1f kb/s\n",
               rate.median, rate.best, o->runs, o->qp, o->range, kbps);
    return end_report(o, report, MOTUS_OK);
}

static int parse(BenchOptions *o, int argc, char **argv) {
    const MotusOption options[] = {
        {"input", 'i', &o->input, motus_option_text, 0, 0, "FILE",
         "sequence to work on (a synthetic one)"},
        {"size", 's', o->size, motus_option_size, 0, 0, "WxH",
         "size of the synthetic sequence (352x288)"},
        {"frames", 'n', &o->frames, motus_option_int, 2, 100000, "N",
         "frames to use, held in memory (me 30, encode 60)"},
        {"range", 0, &o->range, motus_option_int, 1, MOTUS_MAX_RANGE, "N",
         "search +-N samples (16; with --presets, --gop-coders and --devices the preset's)"},
        {"threads", 't', &o->threads, motus_option_int, 0, 256, "N",
         "threads, 0 = all cores (me 1, encode 2)"},
        {"backend", 0, &o->backend, motus_option_backend, 0, 0, "NAME", "auto, cpu or cuda (auto)"},
        {"qp", 'q', &o->qp, motus_option_int, 0, 51, "N", "encode: quantizer (28)"},
        {"runs", 0, &o->runs, motus_option_int, 1, MOTUS_BENCH_RUNS, "N", "encode: how often (3)"},
        {"gop-coders", 0, &o->gop_coders, motus_option_int, 1, MOTUS_MAX_GOP_CODERS, "N",
         "encode: a table of 1, 2, 4, ... N lanes; with --devices so many on each (8)"},
        {"gops", 0, &o->gops, motus_option_int, 1, 1000, "N",
         "encode --gop-coders: GOPs of each lane in a run (2)"},
        {"devices", 0, &o->devices, motus_option_devices, 0, 0, "LIST",
         "encode: a table of GPUs: all, or as in 0,2,3"},
        {"pictures", 0, &o->pictures, motus_option_int, 2, 1000000, "N",
         "encode --devices: pictures in a row of the table (4000)"},
        {"preset", 0, &o->preset, motus_option_presets, 0, 0, "LIST",
         "encode --gop-coders, --devices: these presets only"},
        {"presets", 0, &o->presets, NULL, 1, 0, NULL,
         "encode: a table of all presets, one IDR picture each"},
        {"peers", 0, &o->peers, NULL, 1, 0, NULL,
         "me: also time ffmpeg's exhaustive search on one thread; encode --presets, --gop-coders: "
         "x264 (see above)"},
        {"libx264", 0, &o->libx264, motus_option_text, 0, 0, "FILE",
         "encode --gop-coders --peers: this library (the loader's)"},
        {"references", 0, &o->references, motus_option_int, 1, MOTUS_ME_MAX_TARGETS, "N",
         "me: a table of requests with 1, 2, 4, ... N references instead"},
        {"upload", 0, &o->upload, NULL, 1, 0, NULL, "me: also time ways to upload to the GPU"},
        {"json", 0, &o->json, NULL, 1, 0, NULL, "print JSON"},
        {0},
    };
    const MotusCommand command = {"bench", "me|encode|filters [options]", about, options, &o->what,
                                  1};
    return motus_options_parse(&command, argc, argv);
}

// Options that do not go together: says so. 0: all is well.
static int check(const BenchOptions *o) {
    if (!o->what || (strcmp(o->what, "me") && strcmp(o->what, "encode")))
        return motus_usage_error("bench", "what to measure must be me, encode or filters");
    const int encode = !strcmp(o->what, "encode"), devices = o->devices.n != 0;
    const struct {
        int wrong;
        const char *text;
    } rules[] = {
        {o->presets && !encode, "--presets: goes with encode"},
        {o->qp >= 0 && !encode, "--qp: goes with encode"},
        {o->runs && (!encode || devices), "--runs: goes with encode, without --devices"},
        {o->peers && ((encode && !o->presets && !o->gop_coders) || devices),
         "--peers: goes with me, or with encode --presets or --gop-coders, without --devices"},
        {o->libx264 && (!o->peers || !o->gop_coders),
         "--libx264: goes with encode --gop-coders --peers"},
        {o->upload && encode, "--upload: goes with me"},
        {o->references && (encode || o->peers || o->upload),
         "--references: goes with me, without --peers and --upload"},
        {o->gop_coders && (!encode || o->presets),
         "--gop-coders: goes with encode, without --presets"},
        {devices && (!encode || o->presets), "--devices: goes with encode, without --presets"},
        {o->gops && (!o->gop_coders || devices),
         "--gops: goes with encode --gop-coders, without --devices"},
        {o->pictures && !devices, "--pictures: goes with encode --devices"},
        {o->preset && !o->gop_coders && !devices,
         "--preset: goes with encode --gop-coders or --devices"},
        {devices && o->backend == MOTUS_BACKEND_CPU, "--devices: with --backend cpu none is used"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong) return motus_usage_error("bench", "%s", rules[i].text);
    return 0;
}

static void fill_in(BenchOptions *o) {
    const int encode = !strcmp(o->what, "encode");
    if (o->devices.n) o->backend = MOTUS_BACKEND_CUDA;
    if (!o->range && !o->presets && !o->gop_coders && !o->devices.n) o->range = 16;
    if (!o->frames) o->frames = encode ? 60 : 30;
    if (o->threads < 0) o->threads = encode ? 2 : 1;
    if (o->qp < 0) o->qp = 28;
    if (!o->runs) o->runs = 3;
    if (!o->gops) o->gops = 2;
    if (!o->pictures) o->pictures = 4000;
    if (!o->preset) o->preset = ALL_PRESETS;
}

int motus_cmd_bench(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "filters")) return motus_cmd_bench_filters(argc - 1, argv + 1);
    BenchOptions o = {.size = {352, 288}, .threads = -1, .qp = -1};
    int status = parse(&o, argc, argv);
    if (status >= 0) return status;
    if ((status = check(&o))) return status;
    fill_in(&o);
    const int encode = !strcmp(o.what, "encode");
    MotusBenchClip clip;
    MotusError error = {0};
    if (motus_backend_check(o.backend, &error) ||
        motus_clip_load(&clip, o.input, o.size, o.frames, &error))
        return motus_failure(&error);
    motus_backend_choose(o.backend, &o.backend); // the one that runs is reported
    MotusStatus done = encode ? bench_encode(&o, &clip, &error) : bench_me(&o, &clip, &error);
    motus_clip_free(&clip);
    if (!done) return motus_flush_stdout();
    int failed = motus_failure(&error);
    return motus_signal_caught() ? MOTUS_EXIT_SIGNAL + motus_signal_caught() : failed;
}
