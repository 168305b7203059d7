// motus bench latency: how long pictures take that are sent at a fixed rate, beside others.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "common/error.h"
#include "tools/bench/bench.h"
#include "tools/cli/signals.h"
#include "tools/cli/system.h"

enum { WARM_UP = 20, FRAMES_APART = 7 }; // FRAMES_APART: from where a session begins to the next

typedef struct Session {
    const MotusBenchSessions *settings;
    int index;
    MotusEncoder *encoder;
    pthread_t thread;
    int has_thread;
    double began; // when the first picture of session 0 is due
    double *ms;   // of each picture; negative: of an IDR picture
    MotusStatus status;
    MotusError error;
} Session;

// Sends picture i of the clip, to and fro, which has no cuts, and takes its packet.
static MotusStatus code(Session *s, int i, int *is_idr) {
    const MotusBenchSessions *o = s->settings;
    const int period = 2 * o->n_frames - 2, at = (i + FRAMES_APART * s->index) % period;
    const MotusFrame *frame = o->frame[at < o->n_frames ? at : period - at];
    MotusPacket *packet;
    MotusStatus status = o->on_device ? motus_encoder_send_device(s->encoder, frame, NULL, NULL)
                                      : motus_encoder_send(s->encoder, frame, NULL);
    if (!status) status = motus_encoder_receive(s->encoder, &packet, -1);
    if (status)
        return motus_fail(&s->error, status, "encoder: %s", motus_encoder_error(s->encoder)->text);
    *is_idr = packet->is_idr;
    motus_packet_unref(&packet);
    return MOTUS_OK;
}

static void *run_session(void *argument) {
    Session *s = argument;
    const MotusBenchSessions *o = s->settings;
    const double turn = (double)s->index / o->n;
    for (int i = 0; i < o->pictures && !s->status; i++) {
        const double due = o->rate ? s->began + (i + turn) / o->rate : motus_seconds();
        double from = due;
        int is_idr = 0;
        if (motus_signal_caught()) s->status = motus_fail(&s->error, MOTUS_END, "interrupted");
        if (s->status) break;
        if (motus_seconds() < due) {
            struct timespec until = {.tv_sec = (time_t)due};
            until.tv_nsec = (long)(1e9 * (due - (double)until.tv_sec));
            while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)) continue;
            from = motus_seconds();
        }
        s->status = code(s, WARM_UP + i, &is_idr);
        s->ms[i] = 1e3 * (motus_seconds() - from) * (is_idr ? -1 : 1);
    }
    return NULL;
}

// Sorts the times.
static MotusLatency latency_of(double *ms, size_t n) {
    if (!n) return (MotusLatency){0};
    const double median = motus_median_of(ms, (int)n);
    return (MotusLatency){median, ms[(n - 1) * 99 / 100], ms[n - 1]};
}

// Sums up all sessions.
static MotusStatus sum_up(const MotusBenchSessions *o, const Session *session, MotusLatencies *out,
                          MotusError *error) {
    const size_t n = (size_t)o->n * (size_t)o->pictures;
    double *all = motus_alloc(3 * n, sizeof *all);
    size_t n_all = 0, n_type[2] = {0}, late = 0;
    if (!all) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    double *of_type[2] = {all + n, all + 2 * n};
    for (int k = 0; k < o->n; k++)
        for (int i = 0; i < o->pictures; i++) {
            const double ms = fabs(session[k].ms[i]);
            const int is_idr = session[k].ms[i] < 0;
            all[n_all++] = ms;
            of_type[is_idr][n_type[is_idr]++] = ms;
            late += ms * o->rate > 1e3;
        }
    *out = (MotusLatencies){.all = latency_of(all, n_all),
                            .p = latency_of(of_type[0], n_type[0]),
                            .i = latency_of(of_type[1], n_type[1]),
                            .late = (double)late / (double)n_all};
    motus_free(all);
    return MOTUS_OK;
}

MotusStatus motus_bench_sessions(const MotusBenchSessions *o, MotusLatencies *out,
                                 MotusError *error) {
    Session *session = motus_alloc((size_t)o->n, sizeof *session);
    if (!session) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    MotusStatus status = MOTUS_OK;
    for (int k = 0; k < o->n && !status; k++) {
        Session *s = &session[k];
        int is_idr;
        s->settings = o, s->index = k;
        s->ms = motus_alloc((size_t)o->pictures, sizeof *s->ms);
        status = s->ms ? motus_encoder_open(&s->encoder, o->config, &s->error)
                       : motus_fail(&s->error, MOTUS_ERR_MEMORY, "out of memory");
        for (int i = 0; i < WARM_UP && !status; i++) status = code(s, i, &is_idr);
        s->status = status;
    }
    const double began = motus_seconds() + 0.01;
    for (int k = 0; k < o->n && !status; k++) {
        Session *s = &session[k];
        s->began = began;
        s->has_thread = !pthread_create(&s->thread, NULL, run_session, s);
        if (!s->has_thread)
            s->status = motus_fail(&s->error, MOTUS_ERR_MEMORY, "a thread cannot be started");
    }
    for (int k = 0; k < o->n; k++)
        if (session[k].has_thread) pthread_join(session[k].thread, NULL);
    for (int k = o->n - 1; k >= 0; k--) // the first failure counts
        if (session[k].status) status = session[k].status, *error = session[k].error;
    if (!status) status = sum_up(o, session, out, error);
    for (int k = 0; k < o->n; k++) {
        motus_encoder_close(&session[k].encoder);
        motus_free(session[k].ms);
    }
    motus_free(session);
    return status;
}

// ---- The command beside -------------------------------------------------------------------------

static MotusStatus start_beside(const MotusBench *b, pid_t *pid, MotusError *error) {
    extern char **environ;
    const size_t size = strlen(b->beside) + sizeof "exec ";
    char *text = malloc(size), *argv[] = {"sh", "-c", text, NULL};
    if (!text) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    snprintf(text, size, "exec %s", b->beside);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO); // stdout is the report
    const int failed = posix_spawnp(pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    free(text);
    if (failed) return motus_fail(error, MOTUS_ERR_IO, "--beside: %s", strerror(failed));
    const struct timespec pause = {.tv_nsec = 20000000};
    const double until = motus_seconds() + b->settle;
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

// Times the rows of frames in one memory.
static MotusStatus time_rows(const MotusBench *b, int on_device, MotusError *error) {
    MotusEncoderConfig config = b->config;
    MotusFrame **frame = NULL;
    MotusStatus status = motus_bench_frames(&frame, &b->clip, on_device, error);
    for (int r = 0; r < b->rates.n && !status; r++)
        for (int e = 0; e < b->encoders.n && !status; e++) {
            const MotusBenchSessions s = {
                &config,           frame,      b->clip.n, on_device, b->encoders.value[e],
                b->rates.value[r], b->pictures};
            const int threads = motus_cpu_threads(0) / s.n;
            MotusLatencies l = {0};
            config.threads = b->threads >= 0 ? b->threads : threads ? threads : 1;
            if ((status = motus_bench_sessions(&s, &l, error))) break;
            const MotusBenchField fields[] = {
                {"frames", "%-6s", .text = on_device ? "device" : "host"},
                {"rate", " %6.0f", .value = s.rate},
                {"encoders", " %8.0f", .value = s.n},
                {"pictures", .value = s.n * s.pictures},
                {"median_ms", " %8.2f", .value = l.all.median},
                {"p99_ms", " %8.2f", .value = l.all.p99},
                {"worst_ms", " %8.2f", .value = l.all.worst},
                {"i_median_ms", " %8.2f", .value = l.i.median > 0 ? l.i.median : NAN},
                {"late", " %6.2f %%", .value = l.late, .scale = 100}};
            MOTUS_BENCH_ROW(b, "rows", fields);
        }
    motus_bench_frames_free(&frame, b->clip.n);
    return status;
}

MotusStatus motus_bench_latency(const MotusBench *b, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    pid_t beside = 0;
    if (!b->json)
        printf("%-6s %6s %8s %8s %8s %8s %8s %8s\n", "frames", "rate", "encoders", "median", "99 %",
               "worst", "I", "late");
    fflush(stdout);
    if (b->beside) status = start_beside(b, &beside, error);
    if (!status) status = time_rows(b, 0, error);
    if (!status && b->backend == MOTUS_BACKEND_CUDA) status = time_rows(b, 1, error);
    if (beside) {
        MotusError ended = {0};
        const MotusStatus there = end_beside(beside, &ended);
        if (there && !status) status = there, *error = ended;
    }
    return status;
}
