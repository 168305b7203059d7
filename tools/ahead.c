// SPDX-License-Identifier: BSD-2-Clause
#include "tools/ahead.h"

#include <pthread.h>

#include "common/alloc.h"
#include "tools/signals.h"

#define DEPTH 4 // frames that wait

struct MotusAhead {
    MotusInput *input;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    MotusFrame *frame[DEPTH]; // a ring
    unsigned put, taken;
    MotusStatus status; // how it ended
    MotusError error;
    int closing;
};

static void *read_ahead(void *argument) {
    MotusAhead *a = argument;
    MotusFrame *frame;
    MotusError error = {0};
    pthread_mutex_lock(&a->lock);
    while (!a->status && !a->closing) {
        if (a->put - a->taken == DEPTH) {
            pthread_cond_wait(&a->changed, &a->lock);
            continue;
        }
        pthread_mutex_unlock(&a->lock);
        const MotusStatus status = motus_input_next(a->input, &frame, &error);
        pthread_mutex_lock(&a->lock);
        if (!status) a->frame[a->put++ % DEPTH] = frame;
        a->status = status;
        a->error = error;
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

MotusAhead *motus_ahead_open(MotusInput *input) {
    MotusAhead *a = motus_alloc(1, sizeof *a);
    if (!a) return NULL;
    a->input = input;
    int good = !pthread_mutex_init(&a->lock, NULL) && !pthread_cond_init(&a->changed, NULL);
    if (good && !pthread_create(&a->thread, NULL, read_ahead, a)) return a;
    motus_free(a);
    return NULL;
}

MotusStatus motus_ahead_next(MotusAhead *a, MotusFrame **frame, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    pthread_mutex_lock(&a->lock);
    while (a->put == a->taken && !a->status) pthread_cond_wait(&a->changed, &a->lock);
    if (motus_signal_caught()) {
        status = MOTUS_END;
    } else if (a->put != a->taken) {
        *frame = a->frame[a->taken++ % DEPTH];
        pthread_cond_broadcast(&a->changed);
    } else {
        status = a->status;
        if (error && status < 0) *error = a->error;
    }
    pthread_mutex_unlock(&a->lock);
    return status;
}

void motus_ahead_close(MotusAhead **ahead) {
    MotusAhead *a = *ahead;
    if (!a) return;
    pthread_mutex_lock(&a->lock);
    a->closing = 1;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    for (; a->taken != a->put; a->taken++) motus_frame_unref(&a->frame[a->taken % DEPTH]);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    motus_free(a);
    *ahead = NULL;
}
