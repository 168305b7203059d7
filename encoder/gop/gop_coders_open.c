// Opens and closes the GOP coders of a stream, and chooses how many there are.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"
#include "common/cpu.h"
#include "common/device.h"
#include "common/error.h"
#include "common/int_core.h"
#include "common/threads.h"
#include "encoder/gop/gop_coders.h"

#define MIN_SLOTS 2 // pictures that are pending for a coder beside those being coded and unplanned

// Returns how many pictures wait for the lookahead to have seen enough.
static int unplanned_pictures(const MotusStream *s) {
    const int delay = motus_lookahead_delay(&s->lookahead);
    return s->config.rate == MOTUS_RATE_QP ? delay : delay + 1;
}

// Rate control that feeds sizes back needs the GOPs one after another. Otherwise a coder pays if
// the frames of the other coders' GOPs fit into memory while it codes its own.
static int count_coders(const MotusGopCoders *coders, const int *device) {
    const MotusEncoderConfig *c = &coders->stream->config;
    if (!c->keyint || (c->rate != MOTUS_RATE_QP && motus_rate_feeds_back(&coders->stream->rate)))
        return 1;
    if (c->gop_coders) return c->gop_coders;
    const int best =
        coders->ops->best_coders(coders->stream, device, coders->n_devices, coders->threads,
                                 c->keyint + unplanned_pictures(coders->stream) + c->bframes);
    return motus_clip(1, MOTUS_MAX_GOP_CODERS, best);
}

static void await_opening(MotusGopCoders *coders) {
    while (coders->opening) pthread_cond_wait(&coders->done, &coders->lock);
}

// Divides the coders among the executors, and opens the first one of each: a device takes longer to
// open than a coder.
static MotusStatus open_executors(MotusGopCoders *coders, const int *device, MotusError *error) {
    MotusStatus status = MOTUS_OK;
    coders->n_executors = motus_min(coders->n, coders->n_devices);
    pthread_mutex_lock(&coders->lock);
    for (int i = 0; i < coders->n_executors; i++) {
        coders->executor[i].device = device[i];
        if (device[i] >= 0) coders->executor[i].context = motus_device_context(device[i]);
        coders->executor[i].max_coders =
            (coders->n - i + coders->n_executors - 1) / coders->n_executors;
        motus_executor_open_coders(coders, &coders->executor[i], 1);
    }
    await_opening(coders);
    for (int i = 0; i < coders->n_executors && !status; i++)
        if ((status = coders->coder[i].error.status)) *error = coders->coder[i].error;
    pthread_mutex_unlock(&coders->lock);
    return status;
}

MotusStatus motus_gop_coders_open(MotusGopCoders **out, const MotusStream *stream,
                                  MotusBackend backend, MotusError *error) {
    const MotusEncoderConfig *c = &stream->config;
    int device[MOTUS_MAX_GOP_CODERS];
    *out = NULL;
    MotusGopCoders *coders = motus_alloc(1, sizeof *coders);
    if (!coders) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    coders->stream = stream;
    coders->threads = motus_cpu_threads(c->threads);
    coders->begins = 1;
    motus_mini_gop_open(&coders->mini_gop, stream);
    coders->idr_pic_id = (uint32_t)c->first_gop;
    coders->ops = &motus_executor_ops_cpu;
    MotusStatus status = MOTUS_OK;
#ifdef MOTUS_HAVE_CUDA
    if (backend == MOTUS_BACKEND_CUDA) coders->ops = &motus_executor_ops_cuda;
#else
    if (backend == MOTUS_BACKEND_CUDA) status = motus_device_check(error); // says why there is none
#endif
    device[0] = -1, coders->n_devices = 1; // the CPU
    if (!status && coders->ops->find_devices)
        status = coders->ops->find_devices(c, device, &coders->n_devices, error);
    int good = !pthread_mutex_init(&coders->lock, NULL) && !motus_cond_open(&coders->done);
    for (int k = 0; k < MOTUS_MAX_GOP_CODERS; k++)
        good = good && !pthread_cond_init(&coders->coder[k].wake, NULL);
    if (!status && !good) status = motus_fail(error, MOTUS_ERR_MEMORY, "no memory for locks");
    if (status) {
        motus_free(coders);
        return status;
    }
    const int looks_ahead = c->rate != MOTUS_RATE_QP;
    coders->n = count_coders(coders, device);
    coders->per_device = (coders->n + coders->n_devices - 1) / coders->n_devices;
    const int waits = looks_ahead && motus_rate_wants_sizes(&stream->rate);
    coders->depth =
        waits || !coders->ops->depth ? 1 : coders->ops->depth(stream, coders->per_device);
    const int fewest = MIN_SLOTS + motus_max(2, coders->depth);
    coders->slots_per_coder = unplanned_pictures(stream) + c->bframes +
                              (coders->n == 1 ? fewest : motus_max(fewest, c->keyint));
    coders->intake = (MotusIntake){.width = c->width,
                                   .height = c->height,
                                   .pool = {.width = 16 * stream->mb_width,
                                            .height = 16 * stream->mb_height,
                                            .pinned = !coders->ops->codes_from_host}};
    status = open_executors(coders, device, error);
    *out = coders;
    if (status) motus_gop_coders_close(out);
    return status;
}

static void free_pictures(MotusPendingPicture *p) {
    while (p) {
        MotusPendingPicture *next = p->next;
        motus_pending_free(p);
        p = next;
    }
}

// Slots go after all coders, which may read any of their executor's.
void motus_gop_coders_close(MotusGopCoders **out) {
    if (!out || !*out) return;
    MotusGopCoders *coders = *out;
    pthread_mutex_lock(&coders->lock);
    coders->closing = 1;
    for (int k = 0; k < coders->n; k++) pthread_cond_signal(&coders->coder[k].wake);
    pthread_mutex_unlock(&coders->lock);
    for (int k = 0; k < coders->n; k++) {
        if (coders->coder[k].has_thread) pthread_join(coders->coder[k].thread, NULL);
        if (coders->coder[k].coders && !coders->coder[k].has_thread)
            motus_gop_coder_stop(&coders->coder[k]);
    }
    for (int k = 0; k < MOTUS_MAX_GOP_CODERS; k++) {
        if (coders->coder[k].slots) coders->ops->close_slots(&coders->coder[k].slots);
        motus_free(coders->coder[k].slot);
        pthread_cond_destroy(&coders->coder[k].wake);
    }
    for (int i = 0; i < coders->n_executors; i++)
        if (coders->executor[i].shared) coders->ops->close_device(&coders->executor[i].shared);
    free_pictures(coders->pending.first);
    free_pictures(coders->mini_gop.first);
    motus_intake_cuda_close(&coders->intake.cuda);
    motus_frame_pool_close(&coders->intake.pool);
    pthread_cond_destroy(&coders->done);
    pthread_mutex_destroy(&coders->lock);
    motus_free(coders);
    *out = NULL;
}

int motus_gop_coders_count(MotusGopCoders *coders) {
    int n = 0;
    pthread_mutex_lock(&coders->lock);
    await_opening(coders);
    for (int i = 0; i < coders->n_executors; i++) n += coders->executor[i].max_coders;
    pthread_mutex_unlock(&coders->lock);
    return n;
}
