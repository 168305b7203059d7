// motus bench latency: how long pictures take that are sent at a fixed rate, beside others.
// SPDX-License-Identifier: BSD-2-Clause
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/cpu.h"
#include "common/device.h"
#include "common/error.h"
#include "motus/version.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_latency.h"
#include "tools/cli/cmd.h"
#include "tools/cli/signals.h"
#include "tools/cli/system.h"

static const char about[] =
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

enum { MOST_VALUES = 8 };

typedef struct IntList {
    int n, value[MOST_VALUES], least, most;
} IntList;

typedef struct LatencyOptions {
    const char *none, *input, *beside;
    int size[2], frames, threads, qp, keyint, pictures, settle, refs, json;
    IntList rates, encoders;
    MotusBackend backend;
    MotusPreset preset;
    MotusProfile profile;
} LatencyOptions;

static int parse_list(const MotusOption *option, const char *text, char *cause, size_t size) {
    IntList *list = option->value;
    for (list->n = 0; list->n < MOST_VALUES; text++) {
        char *end = NULL;
        const long v = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;
        if (!end || v < list->least || v > list->most || (*end && *end != ',')) break;
        list->value[list->n++] = (int)v;
        if (!*end) return 1;
        text = end;
    }
    snprintf(cause, size, "must be at most %d numbers %d..%d with commas between", MOST_VALUES,
             list->least, list->most);
    return 0;
}

static int parse(LatencyOptions *o, int argc, char **argv) {
    const MotusOption options[] = {
        MOTUS_TEXT("input", 'i', &o->input, "FILE", "sequence (a synthetic one)"),
        {"size", 's', o->size, motus_option_size, 0, 0, "WxH",
         "size of the synthetic one (1920x1080)"},
        MOTUS_INT("frames", 'n', &o->frames, 2, 100000, "frames of it, to and fro (60)"),
        {"rate", 0, &o->rates, parse_list, 0, 0, "LIST", "pictures/s; 0: back to back (30,60,120)"},
        {"encoders", 0, &o->encoders, parse_list, 0, 0, "LIST", "encoders at once (1,2,4,8)"},
        MOTUS_INT("pictures", 0, &o->pictures, 1, 10000000, "of each encoder in a row (600)"),
        {"preset", 0, &o->preset, motus_option_preset, 0, 0, "NAME", "(fast)"},
        {"profile", 0, &o->profile, motus_option_profile, 0, 0, "NAME",
         "baseline, main or high (baseline)"},
        MOTUS_INT("qp", 'q', &o->qp, 0, 51, "QP (28)"),
        MOTUS_INT("keyint", 'g', &o->keyint, 0, 1000000,
                  "pictures from an I picture to the next; 0: one alone, which is not timed (0)"),
        MOTUS_INT("ref", 0, &o->refs, 1, MOTUS_MAX_REFERENCES, "reference pictures (1)"),
        MOTUS_OPTION_THREADS(&o->threads, "of an encoder on the CPU, 0 = all (all / encoders)"),
        MOTUS_OPTION_BACKEND(&o->backend),
        MOTUS_TEXT("beside", 0, &o->beside, "COMMAND", "runs beside the measurement"),
        MOTUS_INT("settle", 0, &o->settle, 0, 600, "seconds from its start to the first row (5)"),
        MOTUS_FLAG("json", &o->json, "print JSON"),
        {0},
    };
    const MotusCommand command = {"bench latency", "[options]", about, options, &o->none, 0};
    return motus_options_parse(&command, argc, argv);
}

// ---- The command beside -------------------------------------------------------------------------

static MotusStatus start_beside(const LatencyOptions *o, pid_t *pid, MotusError *error) {
    extern char **environ;
    const size_t size = strlen(o->beside) + sizeof "exec ";
    char *text = malloc(size), *argv[] = {"sh", "-c", text, NULL};
    if (!text) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    snprintf(text, size, "exec %s", o->beside);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO); // stdout is the report
    const int failed = posix_spawnp(pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    free(text);
    if (failed) return motus_fail(error, MOTUS_ERR_IO, "--beside: %s", strerror(failed));
    const struct timespec pause = {.tv_nsec = 20000000};
    const double until = motus_seconds() + o->settle;
    while (motus_seconds() < until && !motus_signal_caught()) nanosleep(&pause, NULL);
    return MOTUS_OK;
}

// Ends the command. A failure: it was not there any more.
static MotusStatus end_beside(pid_t pid, MotusError *error) {
    int status;
    const int is_there = waitpid(pid, &status, WNOHANG) == 0;
    if (!is_there) return motus_fail(error, MOTUS_ERR_STATE, "--beside: the command ended early");
    kill(pid, SIGTERM);
    waitpid(pid, &status, 0);
    return MOTUS_OK;
}

// ---- Rows ---------------------------------------------------------------------------------------

static void report_row(const LatencyOptions *o, const MotusBenchSessions *s,
                       const MotusLatencies *l, cJSON *rows) {
    const char *memory = s->on_device ? "device" : "host";
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "frames", memory);
    cJSON_AddNumberToObject(row, "rate", s->rate);
    cJSON_AddNumberToObject(row, "encoders", s->n);
    cJSON_AddNumberToObject(row, "pictures", s->n * s->pictures);
    cJSON_AddNumberToObject(row, "median_ms", l->all.median);
    cJSON_AddNumberToObject(row, "p99_ms", l->all.p99);
    cJSON_AddNumberToObject(row, "worst_ms", l->all.worst);
    if (l->i.median > 0) cJSON_AddNumberToObject(row, "i_median_ms", l->i.median);
    cJSON_AddNumberToObject(row, "late", l->late);
    cJSON_AddItemToArray(rows, row);
    if (o->json) return;
    printf("%-6s %6d %8d %8.2f %8.2f %8.2f", memory, s->rate, s->n, l->all.median, l->all.p99,
           l->all.worst);
    if (l->i.median > 0)
        printf(" %8.2f", l->i.median);
    else
        printf(" %8s", "-");
    printf(" %6.2f %%\n", 100 * l->late);
    fflush(stdout);
}

static MotusEncoderConfig config_of(const LatencyOptions *o, const MotusBenchClip *clip) {
    MotusEncoderConfig c = motus_encoder_config_default(clip->width, clip->height, clip->fps);
    c.preset = o->preset;
    c.profile = o->profile;
    c.qp = o->qp;
    c.keyint = o->keyint;
    c.references = o->refs;
    c.backend = o->backend;
    c.gop_coders = 1;
    c.lookahead = c.bframes = c.weightp = 0;
    c.stream_only = 1;
    return c;
}

// Times the rows of frames in one memory.
static MotusStatus time_rows(const LatencyOptions *o, const MotusBenchClip *clip, int on_device,
                             cJSON *rows, MotusError *error) {
    MotusEncoderConfig config = config_of(o, clip);
    MotusFrame **frame = NULL;
    MotusStatus status = motus_bench_frames(&frame, clip, on_device, error);
    for (int r = 0; r < o->rates.n && !status; r++)
        for (int e = 0; e < o->encoders.n && !status; e++) {
            const MotusBenchSessions s = {
                &config,           frame,      clip->n, on_device, o->encoders.value[e],
                o->rates.value[r], o->pictures};
            const int threads = motus_cpu_threads(0) / s.n;
            MotusLatencies latencies;
            config.threads = o->threads >= 0 ? o->threads : threads ? threads : 1;
            status = motus_bench_sessions(&s, &latencies, error);
            if (!status) report_row(o, &s, &latencies, rows);
        }
    motus_bench_frames_free(&frame, clip->n);
    return status;
}

static void begin_report(const LatencyOptions *o, const MotusBenchClip *clip, cJSON *report) {
    char cpu[128];
    motus_cpu_name(cpu, sizeof cpu);
    cJSON_AddStringToObject(report, "motus", motus_version());
    cJSON_AddStringToObject(report, "bench", "latency");
    cJSON_AddStringToObject(report, "cpu", cpu);
    cJSON_AddStringToObject(report, "backend", motus_backend_name(o->backend));
    cJSON_AddStringToObject(report, "input", clip->name);
    cJSON_AddNumberToObject(report, "width", clip->width);
    cJSON_AddNumberToObject(report, "height", clip->height);
    cJSON_AddStringToObject(report, "preset", motus_preset_name(o->preset));
    cJSON_AddStringToObject(report, "profile", motus_profile_name(o->profile));
    cJSON_AddNumberToObject(report, "qp", o->qp);
    cJSON_AddNumberToObject(report, "keyint", o->keyint);
    if (o->beside) cJSON_AddStringToObject(report, "beside", o->beside);
    if (o->json) return;
    printf("machine    %s, backend %s\n", cpu, motus_backend_name(o->backend));
    printf("input      %s, %dx%d; %s, preset %s, QP %d\n", clip->name, clip->width, clip->height,
           motus_profile_name(o->profile), motus_preset_name(o->preset), o->qp);
    if (o->beside) printf("beside     %s\n", o->beside);
    printf("%-6s %6s %8s %8s %8s %8s %8s %8s\n", "frames", "rate", "encoders", "median", "99 %",
           "worst", "I", "late");
    fflush(stdout);
}

static MotusStatus run(const LatencyOptions *o, const MotusBenchClip *clip, MotusError *error) {
    cJSON *report = cJSON_CreateObject();
    MotusStatus status = MOTUS_OK;
    pid_t beside = 0;
    begin_report(o, clip, report);
    cJSON *rows = cJSON_AddArrayToObject(report, "rows");
    if (o->beside) status = start_beside(o, &beside, error);
    if (!status) status = time_rows(o, clip, 0, rows, error);
    if (!status && o->backend == MOTUS_BACKEND_CUDA) status = time_rows(o, clip, 1, rows, error);
    if (beside) {
        MotusError ended = {0};
        const MotusStatus there = end_beside(beside, &ended);
        if (there && !status) status = there, *error = ended;
    }
    char *text = o->json && !status ? cJSON_Print(report) : NULL;
    if (text) printf("%s\n", text);
    cJSON_free(text);
    cJSON_Delete(report);
    return status;
}

int motus_cmd_bench_latency(int argc, char **argv) {
    LatencyOptions o = {.size = {1920, 1080},
                        .frames = 60,
                        .threads = -1,
                        .qp = 28,
                        .pictures = 600,
                        .settle = 5,
                        .refs = 1,
                        .preset = MOTUS_PRESET_FAST,
                        .rates = {3, {30, 60, 120}, 0, 10000},
                        .encoders = {4, {1, 2, 4, 8}, 1, 64}};
    const int done = parse(&o, argc, argv);
    if (done >= 0) return done;
    MotusBenchClip clip;
    MotusError error = {0};
    if (motus_backend_check(o.backend, &error) ||
        motus_clip_load(&clip, o.input, o.size, o.frames, &error))
        return motus_failure(&error);
    motus_backend_choose(o.backend, &o.backend); // no longer AUTO
    motus_signals_catch();                       // the command beside has to be ended
    const MotusStatus status = run(&o, &clip, &error);
    motus_clip_free(&clip);
    return status ? motus_exit_status(status, &error, motus_signal_caught()) : motus_flush_stdout();
}
