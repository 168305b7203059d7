// motus bench: the speed of search and encoder on this machine.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "common/cpu.h"
#include "common/device.h"
#include "common/error.h"
#include "motus/me_request.h"
#include "motus/version.h"
#include "tools/bench/bench.h"
#include "tools/cli/cmd.h"
#include "tools/cli/signals.h"
#include "tools/cli/system.h"

static const char about[] =
    "Measures on this machine, in memory, without reading or writing files.\n"
    "  motus bench me       exhaustive search of all 41 blocks, at full and at quarter samples\n"
    "  motus bench encode   the whole encoder\n"
    "  motus bench latency  pictures sent at a fixed rate (see its --help)\n"
    "  motus bench filters  8x8 DCT, wavelet, equalization, chroma key (see its --help)\n"
    "\n"
    "Examples:\n"
    "  motus bench me --input foreman.y4m --peers       beside ffmpeg's exhaustive search\n"
    "  motus bench me --size 1920x1080 --range 32 --threads 0\n"
    "  motus bench me --size 1920x1080 --backend cuda --upload\n"
    "  motus bench me --input street.y4m --references 8 --backend cuda\n"
    "  motus bench encode --input foreman.y4m --qp 28 --runs 5\n"
    "  taskset -c 0 motus bench encode --input foreman.y4m --qp 28 --threads 1 --presets --peers\n"
    "  motus bench encode --input street.y4m --preset medium,fast\n"
    "  motus bench encode --input street.y4m --gop-coders 16 --backend cuda --peers\n"
    "  motus bench encode --input street.y4m --gop-coders 8 --preset slow,slower,placebo \\\n"
    "    --profile high --bframes 7 --ref 3 --backend cuda --peers    beside x264 as it ships\n"
    "  motus bench encode --input street.y4m --frames 20 --devices all --preset medium\n"
    "  taskset -c 0 motus bench me                      on one core\n"
    "\n"
    "A search is timed for each pair of frames, an encode for each run over all frames; median\n"
    "and best are printed.\n"
    "\n"
    "me --references N: searches per second (a picture in one reference, quarter samples,\n"
    "vectors and costs of all 41 blocks), by a call for each reference and by requests, two in\n"
    "flight, of 1, 2, 4, ... N references each.\n"
    "\n"
    "encode --gop-coders N: frames/s with 1, 2, 4, ... N GOP coders; the clip is encoded again\n"
    "and again, as a closed GOP each time, from frames in (pinned) host memory and, on a GPU, in\n"
    "device memory. PSNR is not measured, as x264 does not without --psnr. On a CPU the first row\n"
    "has one thread, and the others say how many times its frames/s all of --threads give. Then\n"
    "processors of the host in use; memory of a GOP coder; the latency of --pictures, one at a\n"
    "time, from sending one to its packet (median, 99 %, worst; without B pictures; twenty before\n"
    "them are not counted); and the stages of each type with one GOP coder (on a GPU by the\n"
    "device's clock). A run is --gops GOPs per GOP coder, from the first frame sent to the last\n"
    "packet. With --peers then libx264 with all processors over the same frames: frames/s, and\n"
    "bits beside motus's at equal PSNR. Its preset medium with P pictures only, in Baseline, and\n"
    "as it ships (medium+); ultrafast to fast with P pictures if --preset has medium or a faster\n"
    "one; slow to placebo as they ship if it has a slower one. libx264 is loaded from where it is\n"
    "installed, or from --libx264.\n"
    "\n"
    "encode --devices LIST: frames/s of the first GPU, of the first two, four, ..., of all: as\n"
    "one encoder, and as an encoder for each in one process; --pictures of them, the clip again\n"
    "and again as a closed GOP each time, from pinned memory. Every stream is compared with the\n"
    "first.\n"
    "\n"
    "encode --presets --peers: frames/s (median and best of the runs, all rows taking turns),\n"
    "kb/s and luma PSNR at --qp; BD-rate against x264 preset medium over QP 22, 27, 32, 37;\n"
    "speed as a multiple of that x264's. x264 is the program on the PATH: baseline profile, tune\n"
    "psnr, one reference, no B pictures, one IDR picture, as many threads. Its rows medium+ to\n"
    "placebo+ have what these presets ship with: High profile, B pictures, references, weights.\n"
    "Its time is the encode time that it prints, its PSNR that of its decoded stream, and SEI is\n"
    "not counted.\n";

typedef struct BenchOptions {
    const char *what, *input, *libx264;
    int size[2], frames, range, threads, qp, runs;
    MotusBackend backend;
    int json, peers, upload, all_presets, gop_coders, gops, references;
    int presets; // mask of 1 << MotusPreset
    MotusProfile profile;
    int cabac, transform_8x8, bframes, b_adapt, refs, weightp;
    MotusBPyramid b_pyramid;
    MotusDeviceList devices;
    int pictures;
} BenchOptions;

static int parse(BenchOptions *o, int argc, char **argv) {
    const MotusOption options[] = {
        MOTUS_TEXT("input", 'i', &o->input, "FILE", "sequence (a synthetic one)"),
        {"size", 's', o->size, motus_option_size, 0, 0, "WxH",
         "size of the synthetic one (352x288)"},
        MOTUS_INT("frames", 'n', &o->frames, 2, 100000,
                  "frames to use, held in memory (me 30, encode 60)"),
        MOTUS_INT(
            "range", 0, &o->range, 1, MOTUS_MAX_RANGE,
            "search +-N samples (16; with --presets, --gop-coders and --devices the preset's)"),
        MOTUS_OPTION_THREADS(&o->threads, "threads, 0 = all cores (me 1, encode 2)"),
        MOTUS_OPTION_BACKEND(&o->backend),
        MOTUS_INT("qp", 'q', &o->qp, 0, 51, "encode: QP (28)"),
        MOTUS_INT("runs", 0, &o->runs, 1, MOTUS_BENCH_RUNS, "encode: runs (3)"),
        MOTUS_INT("gop-coders", 0, &o->gop_coders, 1, MOTUS_MAX_GOP_CODERS,
                  "encode: a table of 1, 2, 4, ... N GOP coders; with --devices N on each (8)"),
        MOTUS_INT("gops", 0, &o->gops, 1, 1000,
                  "encode --gop-coders: GOPs per GOP coder in a run (2)"),
        {"devices", 0, &o->devices, motus_option_devices, 0, 0, "LIST",
         "encode: a table of GPUs: all, or as in 0,2,3"},
        MOTUS_INT("pictures", 0, &o->pictures, 2, 1000000,
                  "encode: with --devices pictures in a row of the table (4000), with --gop-coders "
                  "one at a time (a GPU 1000, the CPU 100)"),
        {"preset", 0, &o->presets, motus_option_presets, 0, 0, "LIST",
         "encode: these presets only; implies --gop-coders, 8 on a GPU, 1 on the CPU"},
        {"profile", 0, &o->profile, motus_option_profile, 0, 0, "NAME",
         "encode: baseline, main or high (baseline)"},
        {"no-cabac", 0, &o->cabac, NULL, 0, 0, NULL, "encode: CAVLC also above Baseline"},
        {"no-8x8dct", 0, &o->transform_8x8, NULL, 0, 0, NULL,
         "encode: only 4x4 transforms in High, too"},
        MOTUS_INT("bframes", 0, &o->bframes, 0, MOTUS_MAX_BFRAMES,
                  "encode: most B pictures in a row (0)"),
        MOTUS_INT("b-adapt", 0, &o->b_adapt, 0, 2,
                  "encode: choose their number; 0: always --bframes (1)"),
        MOTUS_INT("ref", 0, &o->refs, 1, MOTUS_MAX_REFERENCES,
                  "encode: reference pictures that P pictures may use (1)"),
        MOTUS_INT("weightp", 0, &o->weightp, 0, 2,
                  "encode: weight references of P pictures in fades (2)"),
        {"b-pyramid", 0, &o->b_pyramid, motus_option_b_pyramid, 0, 0, "NAME",
         "encode: none, or normal: the middle B picture is a reference (normal)"},
        MOTUS_FLAG("presets", &o->all_presets, "encode: a table of all presets"),
        MOTUS_FLAG("peers", &o->peers,
                   "me: also ffmpeg's exhaustive search on one thread; encode --presets, "
                   "--gop-coders: x264 (see above)"),
        MOTUS_TEXT("libx264", 0, &o->libx264, "FILE",
                   "encode --gop-coders --peers: this library (the loader's)"),
        MOTUS_INT("references", 0, &o->references, 1, MOTUS_ME_MAX_TARGETS,
                  "me: a table of requests with 1, 2, 4, ... N references instead"),
        MOTUS_FLAG("upload", &o->upload, "me: also ways to upload to the GPU"),
        MOTUS_FLAG("json", &o->json, "print JSON"),
        {0},
    };
    const MotusCommand command = {
        "bench", "me|encode|latency|filters [options]", about, options, &o->what, 1};
    return motus_options_parse(&command, argc, argv);
}

// Sets the GOP coders of a table that --preset alone asks for.
static void set_gop_coders(BenchOptions *o) {
    MotusBackend backend = MOTUS_BACKEND_CPU;
    if (!o->what || strcmp(o->what, "encode") || !o->presets) return;
    if (o->all_presets || o->gop_coders || o->devices.n) return;
    motus_backend_choose(o->backend, &backend);
    o->gop_coders = backend == MOTUS_BACKEND_CUDA ? 8 : 1;
}

// Returns 0, or the exit status if options do not go together.
static int check(const BenchOptions *o) {
    if (!o->what || (strcmp(o->what, "me") && strcmp(o->what, "encode")))
        return motus_usage_error("bench", "what to measure must be me, encode, latency or filters");
    const int encode = !strcmp(o->what, "encode"), devices = o->devices.n != 0;
    const struct {
        int wrong;
        const char *text;
    } rules[] = {
        {o->all_presets && !encode, "--presets: goes with encode"},
        {o->qp >= 0 && !encode, "--qp: goes with encode"},
        {o->runs && (!encode || devices), "--runs: goes with encode, without --devices"},
        {o->peers && ((encode && !o->all_presets && !o->gop_coders) || devices),
         "--peers: goes with me, or with encode --presets or --gop-coders, without --devices"},
        {o->libx264 && (!o->peers || !o->gop_coders),
         "--libx264: goes with encode --gop-coders --peers"},
        {o->upload && encode, "--upload: goes with me"},
        {o->references && (encode || o->peers || o->upload),
         "--references: goes with me, without --peers and --upload"},
        {o->gop_coders && (!encode || o->all_presets),
         "--gop-coders: goes with encode, without --presets"},
        {devices && (!encode || o->all_presets), "--devices: goes with encode, without --presets"},
        {o->gops && (!o->gop_coders || devices),
         "--gops: goes with encode --gop-coders, without --devices"},
        {o->pictures && !devices && !o->gop_coders,
         "--pictures: goes with encode --gop-coders or --devices"},
        {o->presets && (!encode || o->all_presets),
         "--preset: goes with encode, without --presets"},
        {devices && o->backend == MOTUS_BACKEND_CPU, "--devices: with --backend cpu none is used"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong) return motus_usage_error("bench", "%s", rules[i].text);
    return 0;
}

static void set_defaults(BenchOptions *o) {
    const int encode = !strcmp(o->what, "encode");
    if (o->devices.n) o->backend = MOTUS_BACKEND_CUDA;
    if (!o->range && !o->all_presets && !o->gop_coders && !o->devices.n) o->range = 16;
    if (!o->frames) o->frames = encode ? 60 : 30;
    if (o->threads < 0) o->threads = encode ? 2 : 1;
    if (o->qp < 0) o->qp = 28;
    if (!o->runs) o->runs = 3;
    if (!o->gops) o->gops = 2;
    if (!o->presets) o->presets = (1 << MOTUS_PRESETS) - 1;
}

// Begins the report with the machine and the input.
static void begin_report(const BenchOptions *o, const MotusBench *b) {
    char cpu[128];
    motus_cpu_name(cpu, sizeof cpu);
    cJSON *report = b->report;
    cJSON_AddStringToObject(report, "motus", motus_version());
    cJSON_AddStringToObject(report, "bench", o->what);
    cJSON_AddStringToObject(report, "cpu", cpu);
    cJSON_AddStringToObject(report, "instructions", motus_cpu_instructions());
    cJSON_AddNumberToObject(report, "threads", motus_cpu_threads(o->threads));
    cJSON_AddStringToObject(report, "backend", motus_backend_name(o->backend));
    cJSON_AddStringToObject(report, "input", b->clip->name);
    cJSON_AddNumberToObject(report, "width", b->clip->width);
    cJSON_AddNumberToObject(report, "height", b->clip->height);
    cJSON_AddNumberToObject(report, "frames", b->clip->n);
    if (o->range) cJSON_AddNumberToObject(report, "range", o->range);
    if (!strcmp(o->what, "encode")) cJSON_AddNumberToObject(report, "qp", o->qp);
    if (!b->print) return;
    printf("machine    %s, %s, %d thread(s), backend %s\n", cpu, motus_cpu_instructions(),
           motus_cpu_threads(o->threads), motus_backend_name(o->backend));
    printf("input      %s, %dx%d, %d frames\n", b->clip->name, b->clip->width, b->clip->height,
           b->clip->n);
    fflush(stdout);
}

static int pictures(const BenchOptions *o) {
    if (o->pictures) return o->pictures;
    return o->devices.n ? 4000 : o->backend == MOTUS_BACKEND_CUDA ? 1000 : 100;
}

static MotusStatus bench_encode(const BenchOptions *o, MotusBench *b, MotusError *error) {
    double fps[MOTUS_PRESETS] = {0};
    b->config = motus_encoder_config_default(b->clip->width, b->clip->height, b->clip->fps);
    b->config.qp = o->qp;
    b->config.range = o->range;
    b->config.threads = o->threads;
    b->config.backend = o->backend;
    b->config.profile = o->profile;
    b->config.cabac = o->cabac;
    b->config.transform_8x8 = o->transform_8x8;
    b->config.bframes = o->bframes;
    b->config.references = o->refs;
    b->config.weightp = o->weightp;
    b->config.b_adapt = o->b_adapt;
    b->config.b_pyramid = o->b_pyramid;
    if (o->devices.n) {
        const MotusBenchDevices devices = {&o->devices, o->gop_coders ? o->gop_coders : 8,
                                           pictures(o)};
        return motus_bench_devices(b, &devices, error);
    }
    if (!o->all_presets && !o->gop_coders) return motus_bench_encode(b, o->runs, error);
    b->config.threads = motus_cpu_threads(o->threads);
    if (o->all_presets) {
        motus_signals_catch(); // a temporary folder has to be removed
        b->config.keyint = 0;  // as x264's rows
        return motus_bench_presets(b, o->runs, o->peers, error);
    }
    const MotusBenchGopCoders coders = {o->gop_coders, o->runs, o->gops, pictures(o)};
    MotusStatus status = motus_bench_gop_coders(b, &coders, fps, error);
    return !status && o->peers ? motus_bench_x264(b, fps, o->libx264, error) : status;
}

static MotusStatus run(const BenchOptions *o, const MotusBenchClip *clip, MotusError *error) {
    MotusBench b = {.clip = clip,
                    .backend = o->backend,
                    .range = o->range,
                    .threads = o->threads,
                    .presets = o->presets,
                    .print = !o->json,
                    .report = cJSON_CreateObject()};
    begin_report(o, &b);
    MotusStatus status = !strcmp(o->what, "encode") ? bench_encode(o, &b, error)
                         : o->references            ? motus_bench_requests(&b, o->references, error)
                                         : motus_bench_me(&b, o->peers, o->upload, error);
    char *text = o->json && !status ? cJSON_Print(b.report) : NULL;
    if (text) printf("%s\n", text);
    cJSON_free(text);
    cJSON_Delete(b.report);
    return status;
}

int motus_cmd_bench(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "filters")) return motus_cmd_bench_filters(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "latency")) return motus_cmd_bench_latency(argc - 1, argv + 1);
    BenchOptions o = {.size = {352, 288},
                      .threads = -1,
                      .qp = -1,
                      .cabac = 1,
                      .transform_8x8 = 1,
                      .b_adapt = 1,
                      .b_pyramid = MOTUS_B_PYRAMID_NORMAL,
                      .refs = 1,
                      .weightp = 2};
    int done = parse(&o, argc, argv);
    if (done >= 0) return done;
    set_gop_coders(&o);
    if ((done = check(&o))) return done;
    set_defaults(&o);
    MotusBenchClip clip;
    MotusError error = {0};
    if (motus_backend_check(o.backend, &error) ||
        motus_clip_load(&clip, o.input, o.size, o.frames, &error))
        return motus_failure(&error);
    if (o.backend == MOTUS_BACKEND_AUTO && motus_device_lacks_code(&error))
        motus_warn("the CUDA device cannot be used (%s); timing the CPU", error.text);
    motus_backend_choose(o.backend, &o.backend); // no longer AUTO
    MotusStatus status = run(&o, &clip, &error);
    motus_clip_free(&clip);
    return status ? motus_exit_status(status, &error, motus_signal_caught()) : motus_flush_stdout();
}
