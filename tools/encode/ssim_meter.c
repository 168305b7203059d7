// SPDX-License-Identifier: BSD-2-Clause
#include "tools/encode/encode.h"

#include <pthread.h>

#include "common/alloc.h"
#include "motus/frame.h"

enum { MOST_THREADS = 8, DEPTH = 16 };

// A packet that is measured, or waits for it or to be taken.
typedef struct MeterSlot {
    MotusPacket *packet;
    int width, height, done;
    double ssim;
} MeterSlot;

struct MotusSsimMeter {
    pthread_t thread[MOST_THREADS];
    int threads;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    MeterSlot ring[DEPTH];
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
        MeterSlot *p = &m->ring[m->begun++ % DEPTH];
        pthread_mutex_unlock(&m->lock);
        p->ssim = motus_plane_ssim(&p->packet->source->plane[0], &p->packet->recon->plane[0],
                                   p->width, p->height);
        pthread_mutex_lock(&m->lock);
        p->done = 1;
        pthread_cond_signal(&m->done);
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
    while (m->threads < threads && m->threads < MOST_THREADS &&
           !pthread_create(&m->thread[m->threads], NULL, measure, m))
        m->threads++;
    if (!m->threads) motus_ssim_meter_close(&m);
    return m;
}

void motus_ssim_meter_put(MotusSsimMeter *m, MotusPacket *packet, int width, int height) {
    pthread_mutex_lock(&m->lock);
    m->ring[m->put++ % DEPTH] = (MeterSlot){.packet = packet, .width = width, .height = height};
    pthread_cond_signal(&m->work);
    pthread_mutex_unlock(&m->lock);
}

int motus_ssim_meter_full(const MotusSsimMeter *m) { return m->put - m->taken == DEPTH; }

MotusPacket *motus_ssim_meter_take(MotusSsimMeter *m, int wait, double *ssim) {
    MotusPacket *packet = NULL;
    if (m->put == m->taken) return NULL;
    MeterSlot *oldest = &m->ring[m->taken % DEPTH];
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

void motus_ssim_meter_close(MotusSsimMeter **meter) {
    MotusSsimMeter *m = *meter;
    if (!m) return;
    pthread_mutex_lock(&m->lock);
    m->closing = 1;
    pthread_cond_broadcast(&m->work);
    pthread_mutex_unlock(&m->lock);
    for (int k = 0; k < m->threads; k++) pthread_join(m->thread[k], NULL);
    for (; m->taken != m->put; m->taken++) motus_packet_unref(&m->ring[m->taken % DEPTH].packet);
    pthread_cond_destroy(&m->work);
    pthread_cond_destroy(&m->done);
    pthread_mutex_destroy(&m->lock);
    motus_free(m);
    *meter = NULL;
}
