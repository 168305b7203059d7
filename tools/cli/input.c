// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/input.h"

#include <pthread.h>
#include <string.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/int_core.h"
#include "tools/cli/signals.h"

static int is_interrupted(const MotusInput *in) {
    return !in->ignores_signals && motus_signal_caught();
}

// True if the frame is shown after the duration.
static int is_late(MotusInput *in, const MotusFrame *frame) {
    const int64_t at = motus_reader_time(in->reader, frame->number).at;
    if (!in->begun) in->first = at;
    return in->begun && in->duration &&
           at - in->first >= motus_reader_ticks(in->reader, in->duration);
}

// Begins the next frame as motus_reader_begin does.
static MotusStatus begin(MotusInput *in, MotusFrame **frame, int64_t *at, MotusError *cause) {
    if (is_interrupted(in)) return MOTUS_END;
    in->shortened |= in->limit && in->begun >= in->limit;
    MotusStatus status =
        in->shortened ? MOTUS_END : motus_reader_begin(in->reader, frame, at, cause);
    if (!status && is_late(in, *frame)) {
        in->shortened = 1;
        motus_frame_unref(frame);
        return MOTUS_END;
    }
    in->begun += !status;
    return status;
}

// Counts a frame that was read with `status`, in the order of the frames. Returns the status that
// the caller gets.
static MotusStatus end(MotusInput *in, MotusStatus status, const MotusError *cause,
                       MotusError *error) {
    in->read += !status;
    if (status >= 0) return status;
    if (is_interrupted(in)) return MOTUS_END;
    if (status == MOTUS_ERR_TRUNCATED && in->read) {
        in->cut = 1, in->warning = *cause;
        return MOTUS_END;
    }
    if (error) *error = *cause;
    return status;
}

MotusStatus motus_input_next(MotusInput *in, MotusFrame **frame, MotusError *error) {
    MotusError cause = {0};
    int64_t at;
    MotusStatus status = begin(in, frame, &at, &cause);
    if (!status && (status = motus_reader_fill(in->reader, *frame, at, &cause)))
        motus_frame_unref(frame);
    return end(in, status, &cause, error);
}

// ---- Reading ahead ------------------------------------------------------------------------------

enum { DEPTH = 8, MOST_THREADS = 4 };

// A frame that is being read or waits for motus_read_ahead_next.
typedef struct AheadFrame {
    MotusFrame *frame;
    MotusStatus status;
    MotusError cause;
    int done;
} AheadFrame;

struct MotusReadAhead {
    MotusInput *input;
    pthread_t thread[MOST_THREADS];
    int threads, device;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    AheadFrame ring[DEPTH]; // in the order of the frames
    unsigned put, taken;
    int ended; // no more frames are begun
};

// Begins the next frame under the lock, then reads its samples without it.
static void read_frame(MotusReadAhead *a) {
    AheadFrame *f = &a->ring[a->put++ % DEPTH];
    int64_t at;
    *f = (AheadFrame){0};
    f->status = begin(a->input, &f->frame, &at, &f->cause);
    if (!f->status) {
        pthread_mutex_unlock(&a->lock);
        MotusStatus status = motus_reader_fill(a->input->reader, f->frame, at, &f->cause);
        pthread_mutex_lock(&a->lock);
        if (status) motus_frame_unref(&f->frame);
        f->status = status;
    }
    if (f->status) a->ended = 1;
    f->done = 1;
    pthread_cond_broadcast(&a->changed);
}

static void *read_frames(void *argument) {
    MotusReadAhead *a = argument;
    if (a->device >= 0) motus_device_use(a->device, NULL);
    pthread_mutex_lock(&a->lock);
    while (!a->ended)
        if (a->put - a->taken == DEPTH)
            pthread_cond_wait(&a->changed, &a->lock);
        else
            read_frame(a);
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

int motus_read_ahead_suits(const MotusSequenceInfo *info) {
    return info->frames >= 0 && (!strcmp(info->format, "y4m") || !strcmp(info->format, "yuv"));
}

MotusReadAhead *motus_read_ahead_open(MotusInput *input, int threads, int device) {
    if (!motus_read_ahead_suits(motus_reader_info(input->reader))) return NULL;
    MotusReadAhead *a = motus_alloc(1, sizeof *a);
    if (!a) return NULL;
    a->input = input;
    a->device = device;
    threads = motus_clip(1, MOST_THREADS, threads);
    int good = !pthread_mutex_init(&a->lock, NULL) && !pthread_cond_init(&a->changed, NULL);
    while (good && a->threads < threads &&
           !pthread_create(&a->thread[a->threads], NULL, read_frames, a))
        a->threads++;
    if (!a->threads) motus_read_ahead_close(&a);
    return a;
}

MotusStatus motus_read_ahead_next(MotusReadAhead *a, MotusFrame **frame, MotusError *error) {
    pthread_mutex_lock(&a->lock);
    AheadFrame *f = &a->ring[a->taken % DEPTH];
    while (a->put == a->taken || !f->done) pthread_cond_wait(&a->changed, &a->lock);
    MotusStatus status = is_interrupted(a->input) ? MOTUS_END : f->status;
    if (!status) {
        *frame = f->frame;
        a->taken++;
        pthread_cond_broadcast(&a->changed);
    }
    status = end(a->input, status, &f->cause, error);
    pthread_mutex_unlock(&a->lock);
    return status;
}

void motus_read_ahead_close(MotusReadAhead **ahead) {
    MotusReadAhead *a = *ahead;
    if (!a) return;
    pthread_mutex_lock(&a->lock);
    a->ended = 1;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    for (int i = 0; i < a->threads; i++) pthread_join(a->thread[i], NULL);
    for (; a->taken != a->put; a->taken++) motus_frame_unref(&a->ring[a->taken % DEPTH].frame);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    motus_free(a);
    *ahead = NULL;
}
