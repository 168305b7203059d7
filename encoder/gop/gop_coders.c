// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/gop_coders.h"

#include <errno.h>
#include <time.h>

#include "common/error.h"
#include "common/int_core.h"
#include "encoder/gop/gop_coder.h"

// ---- Dealing GOPs to executors, under the lock --------------------------------------------------

// Returns how many more pictures the executor can queue once all its coders are open.
static int capacity_left(const MotusGopCoders *l, const MotusExecutor *e) {
    return e->max_coders * l->slots_per_coder - e->n_pictures;
}

// Returns the executor that gets the next GOP: the one with most capacity left. Begins to open all
// its coders if it has a GOP for each open one; those that are open work meanwhile.
static MotusExecutor *find_executor(MotusGopCoders *l) {
    MotusExecutor *e = l->executor;
    for (int i = 1; i < l->n_executors; i++)
        if (capacity_left(l, &l->executor[i]) > capacity_left(l, e)) e = &l->executor[i];
    if (e->n_gops >= e->coders) motus_executor_open_coders(l, e, e->coders);
    return e;
}

// Codes the pictures of coder 0 here if it has no thread.
static void work_here(MotusGopCoders *l) {
    MotusGopCoder *coder = &l->coder[0];
    while (!coder->has_thread && motus_gop_coder_has_work(coder)) motus_gop_coder_step(coder);
}

// Numbers a picture whose type is known now, and gives it to the executor.
static void deal(MotusGopCoders *l, MotusExecutor *e, MotusPendingPicture *p) {
    MotusPictureParams *params = &p->params;
    params->since_idr = params->idr ? 0 : l->since_idr;
    params->idr_pic_id = l->idr_pic_id;
    l->since_idr = params->since_idr + 1;
    l->idr_pic_id += (uint32_t)params->idr;
    l->current = e;
    e->n_gops += params->idr;
    motus_executor_add(l, e, p);
    work_here(l);
}

// ---- Frames in ----------------------------------------------------------------------------------

// Copies the frame to host memory if its coder or the receiver of its packet reads it there.
static MotusStatus copy_to_host(MotusGopCoders *l, MotusPendingPicture *p,
                                const MotusFrameSource *source, MotusError *error) {
    if (!l->ops->codes_from_host && l->stream->config.stream_only) return MOTUS_OK;
    return motus_intake_take(&l->intake, source, &p->whole, &p->visible, error);
}

// Chooses the picture's type now: by keyint, or by the lookahead.
static MotusStatus choose_type(MotusGopCoders *l, MotusPendingPicture *p, MotusLookahead *look,
                               const MotusFrameSource *source, MotusError *error) {
    const int keyint = l->stream->config.keyint;
    int *idr = &p->params.idr;
    *idr = p->force_idr;
    if (!look) {
        *idr |= l->begins || (keyint && l->since_idr == (uint32_t)keyint);
        return MOTUS_OK;
    }
    const MotusFrameSource copy = {.frame = p->visible};
    const int on_host = motus_lookahead_device(look) == MOTUS_LOOKAHEAD_HOST;
    return motus_lookahead_put(look, on_host && source->on_device ? &copy : source, idr, error);
}

// True while the next picture has to wait: for a slot, or for a picture that takes long. Packets of
// pictures behind that one could not be handed out.
static int is_full(const MotusGopCoders *l, const MotusExecutor *e) {
    return !e->free_slots || motus_pending_unfinished(&l->pending) >= 2 * l->n * l->slots_per_coder;
}

// Chooses the picture's executor, and blocks until it has a slot for the frame.
static MotusStatus take_slot(MotusGopCoders *l, MotusPendingPicture *p, int type_later,
                             MotusExecutor **executor, MotusError *error) {
    pthread_mutex_lock(&l->lock);
    MotusExecutor *e = *executor = type_later      ? l->executor
                                   : p->params.idr ? find_executor(l)
                                                   : l->current;
    while (!l->failure.status && !l->lost.status && is_full(l, e))
        pthread_cond_wait(&l->done, &l->lock);
    const MotusError *cause = l->failure.status ? &l->failure : &l->lost;
    if (cause->status) {
        *error = *cause;
    } else {
        p->slot = e->free_slots;
        e->free_slots = p->slot->next;
    }
    pthread_mutex_unlock(&l->lock);
    return cause->status;
}

static void give_slot_back(MotusGopCoders *l, MotusExecutor *e, MotusFrameSlot *slot) {
    pthread_mutex_lock(&l->lock);
    slot->next = e->free_slots;
    e->free_slots = slot;
    pthread_mutex_unlock(&l->lock);
}

// Puts the frame into the picture's slot. A lookahead that sets types later begins with it there.
static MotusStatus fill_slot(const MotusGopCoders *l, const MotusExecutor *e,
                             const MotusPendingPicture *p, MotusLookahead *look, int type_later,
                             MotusFrameSource source, MotusError *error) {
    const MotusEncoderConfig *c = &l->stream->config;
    MotusError cause = {0};
    if (look && !type_later) motus_lookahead_uploaded(look, e->device, &source);
    MotusStatus status = l->ops->fill_slot(p->slot, &source, &cause);
    if (!status && type_later) {
        const MotusPlane *whole = &p->slot->plane[0];
        const MotusPlane luma = {whole->data, whole->stride, c->width, c->height};
        status = motus_lookahead_begin(look, &luma, p->slot->filled, p->force_idr, &cause);
    }
    motus_name_device(l, e, &cause);
    if (status) *error = cause;
    return status;
}

// Blocks until a frame in host memory has been read. Its picture may be under way meanwhile: if
// the upload fails, so does the stream.
static MotusStatus wait_filled(MotusGopCoders *l, const MotusExecutor *e,
                               const MotusFrameSlot *slot, MotusError *error) {
    MotusError cause = {0};
    const MotusStatus status = l->ops->wait_filled(slot, &cause);
    if (!status) return MOTUS_OK;
    motus_name_device(l, e, &cause);
    pthread_mutex_lock(&l->lock);
    motus_gop_coders_fail(l, &cause);
    pthread_mutex_unlock(&l->lock);
    *error = cause;
    return status;
}

static void queue(MotusGopCoders *l, MotusExecutor *e, MotusPendingPicture *p, int looked_ahead,
                  int type_later) {
    pthread_mutex_lock(&l->lock);
    motus_pending_append(&l->pending, p,
                         type_later     ? MOTUS_PENDING_TYPE
                         : looked_ahead ? MOTUS_PENDING_PLAN
                                        : MOTUS_PENDING_READY);
    if (!type_later) deal(l, e, p);
    pthread_mutex_unlock(&l->lock);
}

// Brings a picture into the queue. *queued is set before anything can fail that comes after.
static MotusStatus send(MotusGopCoders *l, MotusPendingPicture *p, MotusLookahead *look,
                        int type_later, const MotusFrameSource *source, int *queued,
                        MotusError *error) {
    MotusExecutor *e;
    MotusStatus status = take_slot(l, p, type_later, &e, error);
    if (status) return status;
    MotusFrameSlot *slot = p->slot;
    const int uploads = !source->on_device;
    status = fill_slot(l, e, p, look, type_later, *source, error);
    if (status) {
        give_slot_back(l, e, slot);
        return status;
    }
    // A coder begins with the picture during its upload. One without a type is nobody's yet, and
    // leaves no trace if the upload fails.
    if (type_later && uploads) status = wait_filled(l, e, slot, error);
    if (status) return status;
    *queued = 1;
    queue(l, e, p, look != NULL, type_later);
    return !type_later && uploads ? wait_filled(l, e, slot, error) : MOTUS_OK;
}

MotusStatus motus_gop_coders_send(MotusGopCoders *l, MotusPendingPicture *p, MotusLookahead *look,
                                  const MotusFrameSource *source, MotusError *error) {
    const int type_later = look && motus_gop_coders_type_later(l, look);
    int queued = 0;
    MotusStatus status = copy_to_host(l, p, source, error);
    if (!status && !type_later) status = choose_type(l, p, look, source, error);
    if (!status) {
        status = send(l, p, look, type_later, source, &queued, error);
        if (status && look && !type_later) motus_lookahead_undo(look);
    }
    if (queued) l->begins = 0;
    if (!queued) motus_pending_free(p);
    if (status && !error->status) motus_fail(error, status, "%s", motus_status_text(status));
    return status;
}

void motus_gop_coders_next_segment(MotusGopCoders *l, int64_t first_gop) {
    pthread_mutex_lock(&l->lock);
    l->idr_pic_id = (uint32_t)first_gop;
    pthread_mutex_unlock(&l->lock);
    l->begins = 1;
}

// ---- Types and plans ----------------------------------------------------------------------------

int motus_gop_coders_type_later(const MotusGopCoders *l, const MotusLookahead *look) {
    return l->n_executors == 1 && motus_lookahead_searches_at_once(look) == 2;
}

int motus_gop_coders_have_threads(const MotusGopCoders *l) { return l->coder[0].has_thread; }

void motus_gop_coders_set_type(MotusGopCoders *l, int idr) {
    pthread_mutex_lock(&l->lock);
    MotusPendingPicture *p = l->pending.oldest[MOTUS_PENDING_TYPE];
    p->params.idr = idr;
    motus_pending_advance(&l->pending, p, MOTUS_PENDING_PLAN);
    deal(l, idr ? find_executor(l) : l->current, p);
    pthread_mutex_unlock(&l->lock);
}

void motus_gop_coders_expect(MotusGopCoders *l, int more) {
    pthread_mutex_lock(&l->lock);
    l->lookahead_jobs += more;
    if (!l->lookahead_jobs) pthread_cond_broadcast(&l->done);
    pthread_mutex_unlock(&l->lock);
}

MotusPicturePlan *motus_gop_coders_unplanned(MotusGopCoders *l) {
    pthread_mutex_lock(&l->lock);
    MotusPendingPicture *p = l->pending.oldest[MOTUS_PENDING_PLAN];
    pthread_mutex_unlock(&l->lock);
    return p ? p->plan : NULL;
}

void motus_gop_coders_planned(MotusGopCoders *l) {
    pthread_mutex_lock(&l->lock);
    MotusPendingPicture *p = l->pending.oldest[MOTUS_PENDING_PLAN];
    motus_pending_advance(&l->pending, p, MOTUS_PENDING_READY);
    for (int k = 0; k < l->n; k++)
        if (l->coder[k].next == p) pthread_cond_signal(&l->coder[k].wake);
    work_here(l);
    pthread_mutex_unlock(&l->lock);
}

// No coder comes to this picture, nor to those behind it: none of them has a plan.
void motus_gop_coders_lose(MotusGopCoders *l, const MotusError *error) {
    pthread_mutex_lock(&l->lock);
    MotusPendingPicture *p = l->pending.oldest[MOTUS_PENDING_PLAN];
    l->lost = *error;
    if (p) {
        p->error = *error;
        motus_pending_advance(&l->pending, p, MOTUS_PENDING_DONE);
    }
    pthread_cond_broadcast(&l->done);
    pthread_mutex_unlock(&l->lock);
}

// ---- Packets out --------------------------------------------------------------------------------

static struct timespec later(int milliseconds) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t ns = t.tv_nsec + (int64_t)(milliseconds % 1000) * 1000000;
    t.tv_sec += milliseconds / 1000 + ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    return t;
}

// Blocks until the first picture is done, the time is over, or the picture needs frames that have
// not been sent.
static void wait_for_first(MotusGopCoders *l, int timeout_ms) {
    const struct timespec end = later(motus_max(timeout_ms, 0));
    const MotusPendingPicture *p;
    while ((p = l->pending.first) && p->state != MOTUS_PENDING_DONE && timeout_ms) {
        const int needs_frames =
            p->state < MOTUS_PENDING_READY && !l->lookahead_jobs && !l->failure.status;
        if (timeout_ms < 0 && !needs_frames)
            pthread_cond_wait(&l->done, &l->lock);
        else if (timeout_ms < 0 || pthread_cond_timedwait(&l->done, &l->lock, &end) == ETIMEDOUT)
            break;
    }
}

MotusStatus motus_gop_coders_receive(MotusGopCoders *l, MotusPacket **packet, int timeout_ms,
                                     MotusError *error) {
    MotusPendingPicture *taken = NULL;
    MotusStatus status = MOTUS_AGAIN;
    pthread_mutex_lock(&l->lock);
    wait_for_first(l, timeout_ms);
    const MotusPendingPicture *p = l->pending.first;
    if (p && p->state == MOTUS_PENDING_DONE) {
        status = p->error.status;
        if (status)
            *error = p->error; // the picture stays, and so does its error
        else
            taken = motus_pending_take(&l->pending);
    }
    pthread_mutex_unlock(&l->lock);
    if (!taken) return status;
    *packet = taken->packet;
    taken->packet = NULL;
    motus_pending_free(taken);
    return MOTUS_OK;
}

int motus_gop_coders_empty(MotusGopCoders *l) {
    pthread_mutex_lock(&l->lock);
    int empty = !l->pending.first;
    pthread_mutex_unlock(&l->lock);
    return empty;
}
