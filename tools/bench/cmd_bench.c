// motus bench: the speed of search, encoder and filters on this machine.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "common/device.h"
#include "common/error.h"
#include "encoder/settings/config.h"
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

static const char about_latency[] =
    "Times pictures as world models, games and cameras send them: one at a time, at a fixed rate\n"
    "or back to back (--rate 0), to one encoder or to several at once, one for each user. A row\n"
    "for each memory of the frames, rate and number of encoders: milliseconds from a picture's\n"
    "call to its packet in host memory (median, 99 %, worst), I pictures alone, and the share of\n"
    "pictures that were not done when the next one was due. Twenty pictures before them are not\n"
    "counted.\n"
    "\n"
    "Examples:\n"
    "  motus bench latency --input street.y4m --backend cuda --preset fast\n"
    "  motus bench latency --rate 60 --encoders 1,2,4,8 --pictures 10000 --json\n"
    "  motus bench latency --input street.y4m --keyint 30 --rate 120\n"
    "  motus bench latency --encoders 1 --beside 'python3 matmul.py'    beside a busy GPU\n"
    "\n"
    "Settings are those of --tune zerolatency: no lookahead, no B pictures, fixed QP. --beside\n"
    "starts a command of the shell, waits --settle seconds, and ends it after the last row.\n";

static const char about_filters[] =
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

// ---- Options ------------------------------------------------------------------------------------

#define INPUT(b, usual)                                                                            \
    MOTUS_TEXT("input", 'i', &(b)->input, "FILE", "sequence (a synthetic one)"), {                 \
        "size", 's', (b)->size, motus_option_size, 0, 0, "WxH",                                    \
            "size of the synthetic one (" usual ")"                                                \
    }

static int parse_encodes(MotusBench *b, int argc, char **argv) {
    MotusEncoderConfig *c = &b->config;
    const MotusOption options[] = {
        INPUT(b, "352x288"),
        MOTUS_INT("frames", 'n', &b->frames, 2, 100000,
                  "frames to use, held in memory (me 30, encode 60)"),
        MOTUS_INT(
            "range", 0, &b->range, 1, MOTUS_MAX_RANGE,
            "search +-N samples (16; with --presets, --gop-coders and --devices the preset's)"),
        MOTUS_OPTION_THREADS(&b->threads, "threads, 0 = all cores (me 1, encode 2)"),
        MOTUS_OPTION_BACKEND(&b->backend),
        MOTUS_INT("qp", 'q', &b->qp, 0, 51, "encode: QP (28)"),
        MOTUS_INT("runs", 0, &b->runs, 1, MOTUS_BENCH_RUNS, "encode: runs (3)"),
        MOTUS_INT("gop-coders", 0, &b->gop_coders, 1, MOTUS_MAX_GOP_CODERS,
                  "encode: a table of 1, 2, 4, ... N GOP coders; with --devices N on each (8)"),
        MOTUS_INT("gops", 0, &b->gops, 1, 1000,
                  "encode --gop-coders: GOPs per GOP coder in a run (2)"),
        {"devices", 0, &b->devices, motus_option_devices, 0, 0, "LIST",
         "encode: a table of GPUs: all, or as in 0,2,3"},
        MOTUS_INT("pictures", 0, &b->pictures, 2, 1000000,
                  "encode: with --devices pictures in a row of the table (4000), with --gop-coders "
                  "one at a time (a GPU 1000, the CPU 100)"),
        {"preset", 0, &b->presets, motus_option_presets, 0, 0, "LIST",
         "encode: these presets only; implies --gop-coders, 8 on a GPU, 1 on the CPU"},
        {"profile", 0, &c->profile, motus_option_profile, 0, 0, "NAME",
         "encode: baseline, main or high (baseline)"},
        {"no-cabac", 0, &c->cabac, NULL, 0, 0, NULL, "encode: CAVLC also above Baseline"},
        {"no-8x8dct", 0, &c->transform_8x8, NULL, 0, 0, NULL,
         "encode: only 4x4 transforms in High, too"},
        MOTUS_INT("bframes", 0, &c->bframes, 0, MOTUS_MAX_BFRAMES,
                  "encode: most B pictures in a row (0)"),
        MOTUS_INT("b-adapt", 0, &c->b_adapt, 0, 2,
                  "encode: choose their number; 0: always --bframes (1)"),
        MOTUS_INT("ref", 0, &c->references, 1, MOTUS_MAX_REFERENCES,
                  "encode: reference pictures that P pictures may use (1)"),
        MOTUS_INT("weightp", 0, &c->weightp, 0, 2,
                  "encode: weight references of P pictures in fades (2)"),
        MOTUS_WORD("b-pyramid", &c->b_pyramid, "NAME",
                   "encode: none, or normal: the middle B picture is a reference (normal)",
                   "none\0normal\0"),
        MOTUS_FLAG("presets", &b->all_presets, "encode: a table of all presets"),
        MOTUS_FLAG("peers", &b->peers,
                   "me: also ffmpeg's exhaustive search on one thread; encode --presets, "
                   "--gop-coders: x264 (see above)"),
        MOTUS_TEXT("libx264", 0, &b->libx264, "FILE",
                   "encode --gop-coders --peers: this library (the loader's)"),
        MOTUS_INT("references", 0, &b->references, 1, MOTUS_ME_MAX_TARGETS,
                  "me: a table of requests with 1, 2, 4, ... N references instead"),
        MOTUS_FLAG("upload", &b->upload, "me: also ways to upload to the GPU"),
        MOTUS_FLAG("json", &b->json, "print JSON"),
        {0},
    };
    const MotusCommand command = {
        "bench", "me|encode|latency|filters [options]", about, options, &b->what, 1};
    return motus_options_parse(&command, argc, argv);
}

static int parse_list(const MotusOption *option, const char *text, char *cause, size_t size) {
    MotusBenchList *list = option->value;
    for (list->n = 0; list->n < MOTUS_BENCH_VALUES; text++) {
        char *end = NULL;
        const long v = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;
        if (!end || v < list->least || v > list->most || (*end && *end != ',')) break;
        list->value[list->n++] = (int)v;
        if (!*end) return 1;
        text = end;
    }
    snprintf(cause, size, "must be at most %d numbers %d..%d with commas between",
             MOTUS_BENCH_VALUES, list->least, list->most);
    return 0;
}

static int parse_latency(MotusBench *b, int argc, char **argv) {
    const char *none = NULL;
    MotusEncoderConfig *c = &b->config;
    const MotusOption options[] = {
        INPUT(b, "1920x1080"),
        MOTUS_INT("frames", 'n', &b->frames, 2, 100000, "frames of it, to and fro (60)"),
        {"rate", 0, &b->rates, parse_list, 0, 0, "LIST", "pictures/s; 0: back to back (30,60,120)"},
        {"encoders", 0, &b->encoders, parse_list, 0, 0, "LIST", "encoders at once (1,2,4,8)"},
        MOTUS_INT("pictures", 0, &b->pictures, 1, 10000000, "of each encoder in a row (600)"),
        {"preset", 0, &c->preset, motus_option_preset, 0, 0, "NAME", "(fast)"},
        {"profile", 0, &c->profile, motus_option_profile, 0, 0, "NAME",
         "baseline, main or high (baseline)"},
        MOTUS_INT("qp", 'q', &b->qp, 0, 51, "QP (28)"),
        MOTUS_INT("keyint", 'g', &c->keyint, 0, 1000000,
                  "pictures from an I picture to the next; 0: one alone, which is not timed (0)"),
        MOTUS_INT("ref", 0, &c->references, 1, MOTUS_MAX_REFERENCES, "reference pictures (1)"),
        MOTUS_OPTION_THREADS(&b->threads, "of an encoder on the CPU, 0 = all (all / encoders)"),
        MOTUS_OPTION_BACKEND(&b->backend),
        MOTUS_TEXT("beside", 0, &b->beside, "COMMAND", "runs beside the measurement"),
        MOTUS_INT("settle", 0, &b->settle, 0, 600, "seconds from its start to the first row (5)"),
        MOTUS_FLAG("json", &b->json, "print JSON"),
        {0},
    };
    const MotusCommand command = {"bench latency", "[options]", about_latency, options, &none, 0};
    b->size[0] = 1920, b->size[1] = 1080;
    b->frames = 60, b->qp = 28, b->pictures = 600, b->settle = 5;
    b->rates = (MotusBenchList){3, {30, 60, 120}, 0, 10000};
    b->encoders = (MotusBenchList){4, {1, 2, 4, 8}, 1, 64};
    c->preset = MOTUS_PRESET_FAST;
    c->gop_coders = 1;
    c->lookahead = c->weightp = 0;
    c->stream_only = 1;
    return motus_options_parse(&command, argc, argv);
}

static int parse_filters(MotusBench *b, int argc, char **argv) {
    const char *none = NULL;
    const MotusOption options[] = {
        MOTUS_OPTION_THREADS(&b->threads, "of the column cores, 0 = all (0)"),
        MOTUS_FLAG("quick", &b->quick, "leave out the large pictures"),
        MOTUS_FLAG("json", &b->json, "print JSON"),
        {0},
    };
    const MotusCommand command = {"bench filters", "[options]", about_filters, options, &none, 0};
    b->threads = 0;
    return motus_options_parse(&command, argc, argv);
}

// Returns 0, or the exit status if options do not go together. Sets what is not given.
static int settle(MotusBench *b) {
    const int encode = b->what && !strcmp(b->what, "encode"), devices = b->devices.n != 0;
    MotusBackend backend = MOTUS_BACKEND_CPU;
    if (!encode && (!b->what || strcmp(b->what, "me")))
        return motus_usage_error("bench", "what to measure must be me, encode, latency or filters");
    if (encode && b->presets && !b->all_presets && !b->gop_coders && !devices) {
        motus_backend_choose(b->backend, &backend);
        b->gop_coders = backend == MOTUS_BACKEND_CUDA ? 8 : 1;
    }
    const struct {
        int wrong;
        const char *text;
    } rules[] = {
        {b->all_presets && !encode, "--presets: goes with encode"},
        {b->qp >= 0 && !encode, "--qp: goes with encode"},
        {b->runs && (!encode || devices), "--runs: goes with encode, without --devices"},
        {b->peers && ((encode && !b->all_presets && !b->gop_coders) || devices),
         "--peers: goes with me, or with encode --presets or --gop-coders, without --devices"},
        {b->libx264 && (!b->peers || !b->gop_coders),
         "--libx264: goes with encode --gop-coders --peers"},
        {b->upload && encode, "--upload: goes with me"},
        {b->references && (encode || b->peers || b->upload),
         "--references: goes with me, without --peers and --upload"},
        {b->gop_coders && (!encode || b->all_presets),
         "--gop-coders: goes with encode, without --presets"},
        {devices && (!encode || b->all_presets), "--devices: goes with encode, without --presets"},
        {b->gops && (!b->gop_coders || devices),
         "--gops: goes with encode --gop-coders, without --devices"},
        {b->pictures && !devices && !b->gop_coders,
         "--pictures: goes with encode --gop-coders or --devices"},
        {b->presets && (!encode || b->all_presets),
         "--preset: goes with encode, without --presets"},
        {devices && b->backend == MOTUS_BACKEND_CPU, "--devices: with --backend cpu none is used"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].wrong) return motus_usage_error("bench", "%s", rules[i].text);
    if (devices) b->backend = MOTUS_BACKEND_CUDA;
    if (!b->range && !b->all_presets && !b->gop_coders && !devices) b->range = 16;
    if (!b->frames) b->frames = encode ? 60 : 30;
    if (b->threads < 0) b->threads = encode ? 2 : 1;
    if (b->qp < 0) b->qp = 28;
    if (!b->runs) b->runs = 3;
    if (!b->gops) b->gops = 2;
    if (!b->presets) b->presets = (1 << MOTUS_PRESETS) - 1;
    return 0;
}

// ---- Measurements -------------------------------------------------------------------------------

// Every measurement of motus bench: what asks for it, what runs it. The first row that fits counts.
// Each runs these, beside these peers, with this limit, in this unit:
//   me           search of all 41 blocks: ffmpeg's exhaustive search; VABSDIFF4 alone; frames/s
//   references   requests beside calls; searches/s
//   encode       whole clips; frames/s, kb/s
//   presets      all presets: the program x264; frames/s, kb/s, dB, BD-rate
//   gop-coders   GOP coders, a picture alone, its stages: libx264; one thread; frames/s, ms, us
//   devices      one encoder on all GPUs, one on each: linear; frames/s
//   latency      pictures at a fixed rate: until the next is due; ms
//   filters      filters and 8x8 DCT: plain C, NPP, OpenCV; a device's copy; ms, GB/s
static const struct {
    const char *what;
    size_t option; // an int of MotusBench that is not 0; 0: none
    MotusMeasure *run;
} measures[] = {
    {"me", offsetof(MotusBench, references), motus_bench_requests},
    {"me", 0, motus_bench_me},
    {"encode", offsetof(MotusBench, devices.n), motus_bench_devices},
    {"encode", offsetof(MotusBench, all_presets), motus_bench_presets},
    {"encode", offsetof(MotusBench, gop_coders), motus_bench_gop_coders},
    {"encode", 0, motus_bench_encode},
    {"latency", 0, motus_bench_latency},
    {"filters", 0, motus_bench_filters},
};

// Fills in the settings of encodes.
static void set_config(MotusBench *b) {
    const MotusEncoderConfig given = b->config;
    MotusEncoderConfig *c = &b->config;
    *c = motus_encoder_config_default(b->clip.width, b->clip.height, b->clip.fps);
    c->profile = given.profile, c->cabac = given.cabac, c->transform_8x8 = given.transform_8x8;
    c->bframes = given.bframes, c->b_adapt = given.b_adapt, c->b_pyramid = given.b_pyramid;
    c->references = given.references, c->weightp = given.weightp;
    c->qp = b->qp, c->range = b->range, c->backend = b->backend;
    if (!strcmp(b->what, "latency")) {
        c->preset = given.preset, c->keyint = given.keyint, c->gop_coders = given.gop_coders;
        c->lookahead = given.lookahead, c->stream_only = given.stream_only;
        return;
    }
    c->threads = b->all_presets || (b->gop_coders && !b->devices.n) ? motus_cpu_threads(b->threads)
                                                                    : b->threads;
    if (b->all_presets) c->keyint = 0; // as x264's rows
    if (!b->pictures)
        b->pictures = b->devices.n ? 4000 : b->backend == MOTUS_BACKEND_CUDA ? 1000 : 100;
}

// Begins the report with the machine and the input.
static void begin_report(const MotusBench *b) {
    const MotusEncoderConfig *c = &b->config;
    const MotusBenchClip *clip = &b->clip;
    const int latency = !strcmp(b->what, "latency"), encode = !strcmp(b->what, "encode"),
              threads = motus_cpu_threads(b->threads);
    char cpu[128];
    motus_cpu_name(cpu, sizeof cpu);
    const MotusBenchField machine[] = {
        {"motus", .text = motus_version()},
        {"bench", .text = b->what},
        {"cpu", "machine    %s", .text = cpu},
        {latency ? NULL : "instructions", latency ? NULL : ", %s",
         .text = motus_cpu_instructions()},
        {latency ? NULL : "threads", latency ? NULL : ", %.0f thread(s)", .value = threads},
        {"backend", ", backend %s", .text = motus_backend_name(b->backend)}};
    const MotusBenchField input[] = {
        {"input", "input      %s", .text = clip->name},
        {"width", ", %.0f", .value = clip->width},
        {"height", "x%.0f", .value = clip->height},
        {latency ? NULL : "frames", latency ? NULL : ", %.0f frames", .value = clip->n},
        {b->range ? "range" : NULL, .value = b->range},
        {latency ? "profile" : NULL, latency ? "; %s" : NULL,
         .text = motus_profile_name(c->profile)},
        {latency ? "preset" : NULL, latency ? ", preset %s" : NULL,
         .text = motus_preset_name(c->preset)},
        {encode || latency ? "qp" : NULL, latency ? ", QP %.0f" : NULL, .value = b->qp},
        {latency ? "keyint" : NULL, .value = c->keyint}};
    const MotusBenchField beside[] = {{"beside", "beside     %s", .text = b->beside}};
    MOTUS_BENCH_ROW(b, NULL, machine);
    MOTUS_BENCH_ROW(b, NULL, input);
    if (b->beside) MOTUS_BENCH_ROW(b, NULL, beside);
}

static MotusStatus run(MotusBench *b, MotusError *error) {
    const int filters = !strcmp(b->what, "filters");
    MotusStatus status = filters ? MOTUS_OK : motus_backend_check(b->backend, error);
    if (!status && !filters) status = motus_bench_clip(b, error);
    if (status) return status;
    if (!filters) {
        if (b->backend == MOTUS_BACKEND_AUTO && strcmp(b->what, "latency") &&
            motus_device_lacks_code(error))
            motus_warn("the CUDA device cannot be used (%s); timing the CPU", error->text);
        motus_backend_choose(b->backend, &b->backend); // no longer AUTO
        // A temporary folder has to be removed, a command beside ended.
        if (b->all_presets || !strcmp(b->what, "latency")) motus_signals_catch();
        set_config(b);
        MotusEncoderConfig checked;
        if (strcmp(b->what, "me")) status = motus_config_read(&checked, &b->config, error);
        if (status) return status;
        b->report = cJSON_CreateObject();
        begin_report(b);
    } else {
        b->report = cJSON_CreateObject();
    }
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
        const int *option = (const int *)(const void *)((const char *)b + measures[i].option);
        if (strcmp(b->what, measures[i].what) || (measures[i].option && !*option)) continue;
        status = measures[i].run(b, error);
        break;
    }
    char *text = b->json && !status ? cJSON_Print(b->report) : NULL;
    if (text) printf("%s\n", text);
    cJSON_free(text);
    cJSON_Delete(b->report);
    return status;
}

int motus_cmd_bench(int argc, char **argv) {
    MotusBench b = {.size = {352, 288},
                    .threads = -1,
                    .qp = -1,
                    .config = {.cabac = 1,
                               .transform_8x8 = 1,
                               .b_adapt = 1,
                               .b_pyramid = MOTUS_B_PYRAMID_NORMAL,
                               .references = 1,
                               .weightp = 2}};
    MotusError error = {0};
    int done;
    if (argc > 2 && !strcmp(argv[1], "--")) argc--, argv++; // ends options
    if (argc > 1 && (!strcmp(argv[1], "latency") || !strcmp(argv[1], "filters"))) {
        b.what = argv[1];
        done = (*b.what == 'l' ? parse_latency : parse_filters)(&b, argc - 1, argv + 1);
    } else {
        done = parse_encodes(&b, argc, argv);
        if (done < 0 && (done = settle(&b)) == 0) done = -1;
    }
    if (done >= 0) return done;
    const MotusStatus status = run(&b, &error);
    motus_bench_frames_free(&b.clip.frame, b.clip.n);
    return status ? motus_exit_status(status, &error, motus_signal_caught()) : motus_flush_stdout();
}
