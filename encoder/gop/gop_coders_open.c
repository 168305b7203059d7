// How lanes are opened and closed, and how many there are.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/gop_coders.h"

#include "common/alloc.h"
#include "common/cpu.h"
#include "common/device.h"
#include "common/error.h"
#include "common/int_core.h"
#include "common/threads.h"
#include "encoder/gop/gop_coder.h"

#define FRAMES_OF_ONE_LANE 4 // that may wait or be under way where there are no other lanes
#define AUTO_LANES_CUDA 16   // more hardly add to the speed
#define AUTO_BYTES_CPU ((size_t)256 << 20)
#define AUTO_BYTES_CUDA ((size_t)4 << 30)

// Frames that wait for look-ahead to have seen enough.
static int unplanned_frames(const MotusStream *s) {
    return s->config.rate == MOTUS_RATE_QP ? 0 : s->config.lookahead + 1;
}

// As many lanes as there are processors for them, or, on each device, as speed it up, and as whole
// GOPs fit into a bounded memory: while a lane codes its GOP, the frames of the others' must have
// come.
static int auto_lanes(const MotusGopCoders *l) {
    const MotusStream *s = l->stream;
    const int frames = s->config.keyint + unplanned_frames(s);
    const size_t gop = (size_t)frames * 384 * (size_t)s->mb_width * (size_t)s->mb_height;
    size_t fit, most;
    if (l->backend == MOTUS_BACKEND_CPU) {
        fit = 1 + AUTO_BYTES_CPU / gop;
        most = (size_t)motus_max(
            1, l->threads / 2); // two threads share a picture well; more lanes cost memory
    } else {
        size_t bytes = AUTO_BYTES_CUDA; // of the device that has least
        for (int i = 0; i < l->n_devices; i++) {
            const size_t free_bytes = motus_cuda_coder_free_bytes(l->executor[i].device) / 4;
            if (bytes > free_bytes) bytes = free_bytes;
        }
        fit = bytes / motus_cuda_coder_bytes(s, frames);
        fit = (fit < 1 ? 1 : fit) * (size_t)l->n_devices;
        most = AUTO_LANES_CUDA * (size_t)l->n_devices;
    }
    if (most > MOTUS_MAX_GOP_CODERS) most = MOTUS_MAX_GOP_CODERS;
    return (int)(fit < 1 ? 1 : fit < most ? fit : most);
}

static void await_opening(MotusGopCoders *l) {
    while (l->opening) pthread_cond_wait(&l->done, &l->lock);
}

// Every device has to be there and usable, not only those whose lanes get a GOP.
static MotusStatus find_devices(MotusGopCoders *l, MotusError *error) {
    const MotusEncoderConfig *c = &l->stream->config;
    MotusStatus status = MOTUS_OK;
    int n = c->n_devices == MOTUS_ALL_DEVICES
                ? motus_min(motus_device_count(), MOTUS_MAX_GOP_CODERS)
                : c->n_devices;
    l->n_devices = motus_max(n, 1);
    for (int i = 0; i < l->n_devices && !status; i++) {
        const int wanted = !c->n_devices ? c->device : c->n_devices > 0 ? c->devices[i] : i;
        status = motus_device_choose(wanted, &l->executor[i].device, error);
    }
    return status;
}

static int open_conditions(MotusGopCoders *l) {
    int good = !pthread_mutex_init(&l->lock, NULL) && !motus_cond_open(&l->done);
    for (int k = 0; k < MOTUS_MAX_GOP_CODERS; k++)
        good = good && !pthread_cond_init(&l->lane[k].work, NULL);
    return good;
}

// Shares the lanes out, and opens the first of each executor: devices take longer to open than
// lanes.
static MotusStatus open_executors(MotusGopCoders *l, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    l->n_executors = motus_min(l->n, l->n_devices);
    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < l->n_executors; i++) {
        l->executor[i].gop_coders = (l->n - i + l->n_executors - 1) / l->n_executors;
        motus_executor_open(l, &l->executor[i], 1);
    }
    await_opening(l);
    for (int i = 0; i < l->n_executors && !status; i++)
        if ((status = l->lane[i].status)) *error = l->lane[i].error;
    pthread_mutex_unlock(&l->lock);
    return status;
}

MotusStatus motus_gop_coders_open(MotusGopCoders **gop_coders, const MotusStream *stream,
                                  MotusBackend backend, MotusError *error) {
    const MotusEncoderConfig *c = &stream->config;
    *gop_coders = NULL;
    MotusGopCoders *l = motus_alloc(1, sizeof *l);
    if (!l) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    l->stream = stream;
    l->backend = backend;
    l->threads = motus_cpu_threads(c->threads);
    l->n_devices = 1;
    MotusStatus status = backend == MOTUS_BACKEND_CUDA ? find_devices(l, error) : MOTUS_OK;
    if (!status && !open_conditions(l))
        status = motus_fail(error, MOTUS_ERR_MEMORY, "no memory for locks");
    if (status) {
        motus_free(l);
        return status;
    }
    const int looks = c->rate != MOTUS_RATE_QP;
    l->n = !c->keyint || (looks && motus_rate_feeds_back(&stream->control)) ? 1
           : c->gop_coders                                                  ? c->gop_coders
                                                                            : auto_lanes(l);
    l->most_waiting = unplanned_frames(stream) +
                      (l->n == 1 ? FRAMES_OF_ONE_LANE : motus_max(FRAMES_OF_ONE_LANE, c->keyint));
    l->most_begun = looks && motus_rate_wants_sizes(&stream->control) ? 1 : MOTUS_CODER_DEPTH;
    motus_intake_open(&l->intake, c->width, c->height, backend == MOTUS_BACKEND_CUDA);
    status = open_executors(l, error);
    *gop_coders = l;
    if (status) motus_gop_coders_close(gop_coders);
    return status;
}

void motus_gop_coders_close(MotusGopCoders **gop_coders) {
    if (!gop_coders || !*gop_coders) return;
    MotusGopCoders *l = *gop_coders;
    pthread_mutex_lock(&l->lock);
    l->closing = 1;
    for (int k = 0; k < l->n; k++) pthread_cond_signal(&l->lane[k].work);
    pthread_mutex_unlock(&l->lock);
    for (int k = 0; k < l->n; k++) {
        if (l->lane[k].has_thread) pthread_join(l->lane[k].thread, NULL);
        if (l->lane[k].gop_coders && !l->lane[k].has_thread) motus_gop_coder_stop(&l->lane[k]);
    }
    for (int k = 0; k < MOTUS_MAX_GOP_CODERS; k++) { // once no lane works on what waits there
        motus_frame_slots_close(&l->lane[k].room);
        pthread_cond_destroy(&l->lane[k].work);
    }
    for (int i = 0; i < l->n_executors; i++) motus_copy_streams_close(&l->executor[i].transfer);
    for (MotusPendingPicture *job = l->first, *next; job; job = next) {
        next = job->next;
        motus_pending_free(job);
    }
    motus_intake_close(&l->intake);
    pthread_cond_destroy(&l->done);
    pthread_mutex_destroy(&l->lock);
    motus_free(l);
    *gop_coders = NULL;
}

int motus_gop_coders_count(MotusGopCoders *l) {
    int n = 0;
    pthread_mutex_lock(&l->lock);
    await_opening(l);
    for (int i = 0; i < l->n_executors; i++) n += l->executor[i].gop_coders;
    pthread_mutex_unlock(&l->lock);
    return n;
}

int motus_gop_coders_device(const MotusGopCoders *l) {
    return l->backend == MOTUS_BACKEND_CUDA ? l->executor[0].device : MOTUS_LOOKAHEAD_HOST;
}

size_t motus_gop_coders_bytes(const MotusGopCoders *l) {
    return l->backend == MOTUS_BACKEND_CPU ? motus_cpu_coder_bytes(l->stream)
                                           : motus_cuda_coder_bytes(l->stream, l->most_waiting);
}
