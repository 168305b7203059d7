// SPDX-License-Identifier: BSD-2-Clause
#include "tools/cli/read_ahead.h"

#include <pthread.h>
#include <string.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/int_core.h"

enum { DEPTH = 8, MOST_THREADS = 4 }; // frames that are being read or wait

// A frame on its way, or how the input ended.
typedef struct Place {
    MotusFrame *frame;
    MotusStatus status;
    MotusError cause;
    int done;
} Place;

struct MotusReadAhead {
    MotusInput *input;
    pthread_t thread[MOST_THREADS];
    int threads, device;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Place place[DEPTH]; // a ring, in the order of the frames
    unsigned put, taken;
    int ended; // no more are begun
};

// Finds the next frame, one thread at a time, and reads it beside the others.
static void read_frame(MotusReadAhead *a) {
    Place *p = &a->place[a->put++ % DEPTH];
    int64_t at;
    *p = (Place){0};
    p->status = motus_input_begin(a->input, &p->frame, &at, &p->cause);
    if (!p->status) {
        pthread_mutex_unlock(&a->lock);
        MotusStatus status = motus_reader_fill(a->input->reader, p->frame, at, &p->cause);
        pthread_mutex_lock(&a->lock);
        if (status) motus_frame_unref(&p->frame);
        p->status = status;
    }
    if (p->status) a->ended = 1;
    p->done = 1;
    pthread_cond_broadcast(&a->changed);
}

static void *read_ahead(void *argument) {
    MotusReadAhead *a = argument;
    if (a->device >= 0) motus_device_use(a->device);
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
    MotusReadAhead *a =
        motus_read_ahead_suits(motus_reader_info(input->reader)) ? motus_alloc(1, sizeof *a) : NULL;
    if (!a) return NULL;
    a->input = input;
    a->device = device;
    threads = motus_clip(1, MOST_THREADS, threads);
    int good = !pthread_mutex_init(&a->lock, NULL) && !pthread_cond_init(&a->changed, NULL);
    while (good && a->threads < threads &&
           !pthread_create(&a->thread[a->threads], NULL, read_ahead, a))
        a->threads++;
    if (!a->threads) motus_read_ahead_close(&a);
    return a;
}

MotusStatus motus_read_ahead_next(MotusReadAhead *a, MotusFrame **frame, MotusError *error) {
    pthread_mutex_lock(&a->lock);
    Place *p = &a->place[a->taken % DEPTH];
    while (a->put == a->taken || !p->done) pthread_cond_wait(&a->changed, &a->lock);
    MotusStatus status = motus_input_interrupted(a->input) ? MOTUS_END : p->status;
    if (!status) {
        *frame = p->frame;
        a->taken++;
        pthread_cond_broadcast(&a->changed);
    }
    status = motus_input_end(a->input, status, &p->cause, error);
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
    for (; a->taken != a->put; a->taken++) motus_frame_unref(&a->place[a->taken % DEPTH].frame);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    motus_free(a);
    *ahead = NULL;
}
