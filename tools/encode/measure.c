// SPDX-License-Identifier: BSD-2-Clause
#include "tools/encode/measure.h"

#include <pthread.h>

#include "common/alloc.h"
#include "motus/frame.h"

#define THREADS 8 // at most
#define DEPTH 16  // packets that are measured or wait to be taken

typedef struct Place {
    MotusPacket *packet;
    int width, height, done;
    double ssim;
} Place;

struct MotusSsimMeter {
    pthread_t thread[THREADS];
    int threads;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    Place place[DEPTH]; // a ring
    unsigned put, begun, taken;
    int closing;
};

static void *measure(void *argument) {
    MotusSsimMeter *m = argument;
    pthread_mutex_lock(&m->lock);
    while (!m->closing) {
        if (m->begun == m->put) {
            pthread_cond_wait(&m->work, &m->lock);
            continue;
        }
        Place *p = &m->place[m->begun++ % DEPTH];
        pthread_mutex_unlock(&m->lock);
        p->ssim = motus_plane_ssim(&p->packet->source->plane[0], &p->packet->recon->plane[0],
                                   p->width, p->height);
        pthread_mutex_lock(&m->lock);
        p->done = 1;
        pthread_cond_signal(&m->done); // only one thread takes
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

MotusSsimMeter *motus_ssim_meter_open(int threads) {
    MotusSsimMeter *m = motus_alloc(1, sizeof *m);
    if (!m) return NULL;
    if (pthread_mutex_init(&m->lock, NULL) || pthread_cond_init(&m->work, NULL) ||
        pthread_cond_init(&m->done, NULL)) {
        motus_free(m);
        return NULL;
    }
    while (m->threads < threads && m->threads < THREADS &&
           !pthread_create(&m->thread[m->threads], NULL, measure, m))
        m->threads++;
    if (!m->threads) motus_ssim_meter_close(&m);
    return m;
}

void motus_ssim_meter_put(MotusSsimMeter *m, MotusPacket *packet, int width, int height) {
    pthread_mutex_lock(&m->lock);
    m->place[m->put++ % DEPTH] = (Place){.packet = packet, .width = width, .height = height};
    pthread_cond_signal(&m->work);
    pthread_mutex_unlock(&m->lock);
}

int motus_ssim_meter_full(const MotusSsimMeter *m) { return m->put - m->taken == DEPTH; }

MotusPacket *motus_ssim_meter_take(MotusSsimMeter *m, int wait, double *ssim) {
    MotusPacket *packet = NULL;
    if (m->put == m->taken) return NULL;
    Place *oldest = &m->place[m->taken % DEPTH];
    pthread_mutex_lock(&m->lock);
    while (wait && !oldest->done) pthread_cond_wait(&m->done, &m->lock);
    if (oldest->done) {
        packet = oldest->packet;
        *ssim = oldest->ssim;
        m->taken++;
    }
    pthread_mutex_unlock(&m->lock);
    return packet;
}

void motus_ssim_meter_close(MotusSsimMeter **measure) {
    MotusSsimMeter *m = *measure;
    if (!m) return;
    pthread_mutex_lock(&m->lock);
    m->closing = 1;
    pthread_cond_broadcast(&m->work);
    pthread_mutex_unlock(&m->lock);
    for (int k = 0; k < m->threads; k++) pthread_join(m->thread[k], NULL);
    for (; m->taken != m->put; m->taken++) motus_packet_unref(&m->place[m->taken % DEPTH].packet);
    pthread_cond_destroy(&m->work);
    pthread_cond_destroy(&m->done);
    pthread_mutex_destroy(&m->lock);
    motus_free(m);
    *measure = NULL;
}
