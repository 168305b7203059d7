// SPDX-License-Identifier: BSD-2-Clause
#include "tools/bench/bench_latency.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "common/alloc.h"
#include "common/error.h"
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
    double *ms;   // of each picture
    uint8_t *is_idr;
    MotusStatus status;
    MotusError error;
} Session;

// Returns the frame of picture i: the clip to and fro, which has no cuts.
static const MotusFrame *frame_of(const MotusBenchSessions *o, int i) {
    const int period = 2 * o->n_frames - 2, at = i % period;
    return o->frame[at < o->n_frames ? at : period - at];
}

// Sends picture i and takes its packet.
static MotusStatus code(Session *s, int i, int *is_idr) {
    const MotusBenchSessions *o = s->settings;
    const MotusFrame *frame = frame_of(o, i + FRAMES_APART * s->index);
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

static void sleep_until(double seconds) {
    struct timespec at = {.tv_sec = (time_t)seconds};
    at.tv_nsec = (long)(1e9 * (seconds - (double)at.tv_sec));
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL)) continue;
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
            sleep_until(due);
            from = motus_seconds();
        }
        s->status = code(s, WARM_UP + i, &is_idr);
        s->ms[i] = 1e3 * (motus_seconds() - from);
        s->is_idr[i] = (uint8_t)is_idr;
    }
    return NULL;
}

static MotusStatus open_session(Session *s) {
    const MotusBenchSessions *o = s->settings;
    const size_t n = (size_t)o->pictures;
    int is_idr;
    s->ms = motus_alloc(n, sizeof *s->ms);
    s->is_idr = motus_alloc(n, 1);
    if (!s->ms || !s->is_idr) return motus_fail(&s->error, MOTUS_ERR_MEMORY, "out of memory");
    MotusStatus status = motus_encoder_open(&s->encoder, o->config, &s->error);
    for (int i = 0; i < WARM_UP && !status; i++) status = code(s, i, &is_idr);
    return status;
}

static void run_sessions(Session *session, int n) {
    const double began = motus_seconds() + 0.01;
    for (int k = 0; k < n; k++) {
        Session *s = &session[k];
        s->began = began;
        s->has_thread = !pthread_create(&s->thread, NULL, run_session, s);
        if (!s->has_thread)
            s->status = motus_fail(&s->error, MOTUS_ERR_MEMORY, "a thread cannot be started");
    }
    for (int k = 0; k < n; k++)
        if (session[k].has_thread) pthread_join(session[k].thread, NULL);
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Sorts the times.
static MotusLatency latency_of(double *ms, size_t n) {
    if (!n) return (MotusLatency){0};
    qsort(ms, n, sizeof *ms, by_size);
    return (MotusLatency){ms[(n - 1) / 2], ms[(n - 1) * 99 / 100], ms[n - 1]};
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
            const double ms = session[k].ms[i];
            const int is_idr = session[k].is_idr[i];
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

MotusStatus motus_bench_sessions(const MotusBenchSessions *sessions, MotusLatencies *out,
                                 MotusError *error) {
    Session *session = motus_alloc((size_t)sessions->n, sizeof *session);
    if (!session) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    MotusStatus status = MOTUS_OK;
    for (int k = 0; k < sessions->n && !status; k++) {
        session[k].settings = sessions, session[k].index = k;
        status = session[k].status = open_session(&session[k]);
    }
    if (!status) run_sessions(session, sessions->n);
    for (int k = sessions->n - 1; k >= 0; k--) // the first failure counts
        if (session[k].status) status = session[k].status, *error = session[k].error;
    if (!status) status = sum_up(sessions, session, out, error);
    for (int k = 0; k < sessions->n; k++) {
        motus_encoder_close(&session[k].encoder);
        motus_free(session[k].ms);
        motus_free(session[k].is_idr);
    }
    motus_free(session);
    return status;
}
