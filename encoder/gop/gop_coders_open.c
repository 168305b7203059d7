// Opens and closes the GOP coders of a stream, and chooses how many there are.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"
#include "common/cpu.h"
#include "common/device.h"
#include "common/error.h"
#include "common/int_core.h"
#include "common/threads.h"
#include "encoder/gop/gop_coder.h"

#define MIN_SLOTS 4 // pictures that may be pending for a coder beside those without a plan

// Returns how many pictures wait for the lookahead to have seen enough.
static int unplanned_pictures(const MotusStream *s) {
    return s->config.rate == MOTUS_RATE_QP ? 0 : s->config.lookahead + 1;
}

// Rate control that feeds sizes back needs the GOPs one after another. Otherwise a coder pays if
// the frames of the other coders' GOPs fit into memory while it codes its own.
static int count_coders(const MotusGopCoders *l, const int *device) {
    const MotusEncoderConfig *c = &l->stream->config;
    if (!c->keyint || (c->rate != MOTUS_RATE_QP && motus_rate_feeds_back(&l->stream->rate.control)))
        return 1;
    if (c->gop_coders) return c->gop_coders;
    const int best = l->ops->best_coders(l->stream, device, l->n_devices, l->threads,
                                         c->keyint + unplanned_pictures(l->stream));
    return motus_clip(1, MOTUS_MAX_GOP_CODERS, best);
}

static void await_opening(MotusGopCoders *l) {
    while (l->opening) pthread_cond_wait(&l->done, &l->lock);
}

static int open_conditions(MotusGopCoders *l) {
    int good = !pthread_mutex_init(&l->lock, NULL) && !motus_cond_open(&l->done);
    for (int k = 0; k < MOTUS_MAX_GOP_CODERS; k++)
        good = good && !pthread_cond_init(&l->coder[k].wake, NULL);
    return good;
}

// Divides the coders among the executors, and opens the first one of each: a device takes longer to
// open than a coder.
static MotusStatus open_executors(MotusGopCoders *l, const int *device, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    l->n_executors = motus_min(l->n, l->n_devices);
    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < l->n_executors; i++) {
        l->executor[i].device = device[i];
        l->executor[i].max_coders = (l->n - i + l->n_executors - 1) / l->n_executors;
        motus_executor_open_coders(l, &l->executor[i], 1);
    }
    await_opening(l);
    for (int i = 0; i < l->n_executors && !status; i++)
        if ((status = l->coder[i].error.status)) *error = l->coder[i].error;
    pthread_mutex_unlock(&l->lock);
    return status;
}

// NULL: this build lacks the backend.
static const MotusExecutorOps *find_ops(MotusBackend backend) {
    if (backend == MOTUS_BACKEND_CPU) return &motus_executor_ops_cpu;
#ifdef MOTUS_HAVE_CUDA
    return &motus_executor_ops_cuda;
#else
    return NULL;
#endif
}

MotusStatus motus_gop_coders_open(MotusGopCoders **coders, const MotusStream *stream,
                                  MotusBackend backend, MotusError *error) {
    const MotusEncoderConfig *c = &stream->config;
    int device[MOTUS_MAX_GOP_CODERS];
    *coders = NULL;
    MotusGopCoders *l = motus_alloc(1, sizeof *l);
    if (!l) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    l->stream = stream;
    l->threads = motus_cpu_threads(c->threads);
    l->begins = 1;
    l->idr_pic_id = (uint32_t)c->first_gop;
    l->ops = find_ops(backend);
    MotusStatus status = l->ops ? MOTUS_OK : motus_device_check(error);
    if (!status) status = l->ops->find_devices(c, device, &l->n_devices, error);
    if (!status && !open_conditions(l))
        status = motus_fail(error, MOTUS_ERR_MEMORY, "no memory for locks");
    if (status) {
        motus_free(l);
        return status;
    }
    const int looks_ahead = c->rate != MOTUS_RATE_QP;
    l->n = count_coders(l, device);
    l->slots_per_coder =
        unplanned_pictures(stream) + (l->n == 1 ? MIN_SLOTS : motus_max(MIN_SLOTS, c->keyint));
    l->depth = looks_ahead && motus_rate_wants_sizes(&stream->rate.control) ? 1 : l->ops->depth;
    motus_intake_open(&l->intake, c->width, c->height, !l->ops->codes_from_host);
    status = open_executors(l, device, error);
    *coders = l;
    if (status) motus_gop_coders_close(coders);
    return status;
}

static void end_threads(MotusGopCoders *l) {
    pthread_mutex_lock(&l->lock);
    l->closing = 1;
    for (int k = 0; k < l->n; k++) pthread_cond_signal(&l->coder[k].wake);
    pthread_mutex_unlock(&l->lock);
    for (int k = 0; k < l->n; k++) {
        if (l->coder[k].has_thread) pthread_join(l->coder[k].thread, NULL);
        if (l->coder[k].coders && !l->coder[k].has_thread) motus_gop_coder_stop(&l->coder[k]);
    }
}

// Slots go after all coders, which may read any of their executor's.
void motus_gop_coders_close(MotusGopCoders **coders) {
    if (!coders || !*coders) return;
    MotusGopCoders *l = *coders;
    end_threads(l);
    for (int k = 0; k < MOTUS_MAX_GOP_CODERS; k++) {
        if (l->coder[k].slots) l->ops->close_slots(&l->coder[k].slots);
        pthread_cond_destroy(&l->coder[k].wake);
    }
    for (int i = 0; i < l->n_executors; i++) l->ops->close_device(&l->executor[i].shared);
    for (MotusPendingPicture *p = l->pending.first, *next; p; p = next) {
        next = p->next;
        motus_pending_free(p);
    }
    motus_intake_close(&l->intake);
    pthread_cond_destroy(&l->done);
    pthread_mutex_destroy(&l->lock);
    motus_free(l);
    *coders = NULL;
}

int motus_gop_coders_count(MotusGopCoders *l) {
    int n = 0;
    pthread_mutex_lock(&l->lock);
    await_opening(l);
    for (int i = 0; i < l->n_executors; i++) n += l->executor[i].max_coders;
    pthread_mutex_unlock(&l->lock);
    return n;
}

int motus_gop_coders_device(const MotusGopCoders *l) { return l->executor[0].device; }

size_t motus_gop_coders_bytes(const MotusGopCoders *l) {
    return l->ops->coder_bytes(l->stream, l->slots_per_coder);
}

int motus_gop_coders_store_packets(const MotusGopCoders *l) { return l->ops->store != NULL; }
