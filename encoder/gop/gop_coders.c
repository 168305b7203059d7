// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/gop_coders.h"

#include <assert.h>
#include <errno.h>
#include <time.h>

#include "common/error.h"
#include "common/int_core.h"

// ---- Dealing GOPs to executors, under the lock --------------------------------------------------

// Returns the executor that gets the next GOP: the one with most capacity left. Begins to open all
// its coders if it has a GOP for each open one; those that are open work meanwhile.
static MotusExecutor *find_executor(MotusGopCoders *coders) {
    MotusExecutor *e = NULL;
    int most_left = 0; // pictures that it can still queue once all its coders are open
    for (int i = 0; i < coders->n_executors; i++) {
        MotusExecutor *other = &coders->executor[i];
        const int left = other->max_coders * coders->slots_per_coder - other->n_pictures;
        if (!e || left > most_left) e = other, most_left = left;
    }
    assert(e);
    if (e->n_gops >= e->coders) motus_executor_open_coders(coders, e, e->coders);
    return e;
}

// Codes the pictures of coder 0 here if it has no thread.
static void work_here(MotusGopCoders *coders) {
    MotusGopCoder *coder = &coders->coder[0];
    while (!coder->has_thread && motus_gop_coder_has_work(coder)) motus_gop_coder_step(coder);
}

// Chooses the executor of a frame whose type is known now.
static void assign(MotusGopCoders *coders, MotusExecutor *e, MotusPendingPicture *p) {
    p->executor = coders->current = e;
    e->n_gops += p->params.idr;
}

// Queues the frames whose place is known now, and gives them to their executors.
static void deal(MotusGopCoders *coders) {
    MotusPendingPicture *p;
    while ((p = motus_mini_gop_take(&coders->mini_gop))) {
        p->params.idr_pic_id = coders->idr_pic_id;
        coders->idr_pic_id += (uint32_t)p->params.idr;
        motus_pending_append(&coders->pending, p);
        motus_executor_add(coders, p->executor, p);
        work_here(coders);
    }
}

// ---- Frames in ----------------------------------------------------------------------------------

// Chooses the picture's type now: by keyint, or by the lookahead.
static MotusStatus choose_type(MotusGopCoders *coders, MotusPendingPicture *p, MotusLookahead *look,
                               const MotusFrameSource *source, MotusError *error) {
    const int keyint = coders->stream->config.keyint;
    int *idr = &p->params.idr;
    *idr = p->force_idr;
    if (!look) {
        *idr |= coders->begins || (keyint && coders->since_idr == (uint32_t)keyint);
        return MOTUS_OK;
    }
    const MotusFrameSource copy = {.frame = p->visible};
    const int on_host = motus_lookahead_device(look) == MOTUS_LOOKAHEAD_HOST;
    return motus_lookahead_put(look, on_host && source->on_device ? &copy : source, idr, error);
}

// Returns why the stream ends early; status MOTUS_OK: it does not.
static const MotusError *cause_of_loss(const MotusGopCoders *coders) {
    return coders->failure.status ? &coders->failure : &coders->lost;
}

// Chooses the picture's executor, and blocks until it has a slot for the frame, and while a picture
// takes long: packets of pictures behind that one could not be handed out.
static MotusStatus take_slot(MotusGopCoders *coders, MotusPendingPicture *p,
                             MotusExecutor **executor, MotusError *error) {
    pthread_mutex_lock(&coders->lock);
    MotusExecutor *e = coders->executor;
    if (p->state != MOTUS_PENDING_TYPE) e = p->params.idr ? find_executor(coders) : coders->current;
    *executor = e;
    for (;;) {
        const MotusPendingPicture *oldest = coders->pending.oldest[MOTUS_PENDING_DONE - 1];
        const int64_t unfinished = oldest ? coders->pending.n_queued - oldest->index : 0;
        const int is_full = !e->free_slots || unfinished >= 2 * coders->n * coders->slots_per_coder;
        if (!is_full || cause_of_loss(coders)->status) break;
        pthread_cond_wait(&coders->done, &coders->lock);
    }
    const MotusError *cause = cause_of_loss(coders);
    if (cause->status) {
        *error = *cause;
    } else {
        p->slot = e->free_slots;
        e->free_slots = p->slot->next;
    }
    pthread_mutex_unlock(&coders->lock);
    return cause->status;
}

// Puts the frame into the picture's slot. A lookahead that sets types later begins with it there.
static MotusStatus fill_slot(const MotusGopCoders *coders, const MotusExecutor *e,
                             const MotusPendingPicture *p, MotusLookahead *look,
                             MotusFrameSource source, MotusError *error) {
    const MotusEncoderConfig *c = &coders->stream->config;
    MotusError cause = {0};
    if (p->state == MOTUS_PENDING_PLAN) motus_lookahead_uploaded(look, e->device, &source);
    MotusStatus status = coders->ops->fill_slot ? coders->ops->fill_slot(p->slot, &source, &cause)
                                                : MOTUS_OK; // the CPU reads p->whole
    if (!status && p->state == MOTUS_PENDING_TYPE) {
        const MotusPlane *whole = &p->slot->plane[0];
        const MotusPlane luma = {whole->data, whole->stride, c->width, c->height};
        status = motus_lookahead_begin(look, &luma, p->slot->filled, p->force_idr, &cause);
    }
    motus_name_device(coders, e, &cause);
    if (status) *error = cause;
    return status;
}

// Blocks until a frame in host memory has been read. Its picture may be under way meanwhile: if
// the upload fails, so does the stream.
static MotusStatus wait_filled(MotusGopCoders *coders, const MotusExecutor *e,
                               const MotusFrameSlot *slot, MotusError *error) {
    MotusError cause = {0};
    if (!coders->ops->wait_filled) return MOTUS_OK;
    const MotusStatus status = coders->ops->wait_filled(slot, &cause);
    if (!status) return MOTUS_OK;
    motus_name_device(coders, e, &cause);
    pthread_mutex_lock(&coders->lock);
    motus_gop_coders_fail(coders, &cause);
    pthread_mutex_unlock(&coders->lock);
    *error = cause;
    return status;
}

static void hold(MotusGopCoders *coders, MotusExecutor *e, MotusPendingPicture *p) {
    pthread_mutex_lock(&coders->lock);
    if (p->state < MOTUS_PENDING_READY) {
        if (coders->unplanned)
            coders->last_unplanned->next_plan = p;
        else
            coders->unplanned = p;
        coders->last_unplanned = p;
    }
    if (p->state != MOTUS_PENDING_TYPE) assign(coders, e, p);
    motus_mini_gop_put(&coders->mini_gop, p);
    MotusGopCoder *coder = &coders->coder[0];
    const int helps = motus_gop_coder_takes_help(coder) && !coder->begun;
    coders->helpers += helps;
    deal(coders);
    if (helps && motus_gop_coder_has_work(coder)) motus_gop_coder_step(coder);
    if (helps) motus_gop_coder_end_help(coder);
    pthread_mutex_unlock(&coders->lock);
}

// Takes a frame in. *held tells whether it was.
static MotusStatus send(MotusGopCoders *coders, MotusPendingPicture *p, MotusLookahead *look,
                        const MotusFrameSource *source, int *held, MotusError *error) {
    MotusExecutor *e;
    MotusStatus status = take_slot(coders, p, &e, error);
    if (status) return status;
    MotusFrameSlot *slot = p->slot;
    const int uploads = !source->on_device, has_type = p->state != MOTUS_PENDING_TYPE;
    status = fill_slot(coders, e, p, look, *source, error);
    if (status) {
        pthread_mutex_lock(&coders->lock);
        slot->next = e->free_slots;
        e->free_slots = slot;
        pthread_mutex_unlock(&coders->lock);
        return status;
    }
    // A coder may begin with a picture during its upload. One without a type is held after its
    // upload, so that it leaves no trace if that fails.
    if (uploads && !has_type) status = wait_filled(coders, e, slot, error);
    if (status) return status;
    *held = 1;
    coders->begins = 0;
    coders->since_idr = p->params.idr ? 1 : coders->since_idr + 1;
    hold(coders, e, p);
    return uploads && has_type ? wait_filled(coders, e, slot, error) : MOTUS_OK;
}

MotusStatus motus_gop_coders_send(MotusGopCoders *coders, MotusPendingPicture *p,
                                  MotusLookahead *look, const MotusFrameSource *source,
                                  MotusError *error) {
    int held = 0;
    p->state = !look                                       ? MOTUS_PENDING_READY
               : motus_gop_coders_type_later(coders, look) ? MOTUS_PENDING_TYPE
                                                           : MOTUS_PENDING_PLAN;
    const int typed_by_look = p->state == MOTUS_PENDING_PLAN;
    // Its coder or the receiver of its packet reads it in host memory.
    MotusStatus status =
        coders->ops->codes_from_host || !coders->stream->config.stream_only
            ? motus_intake_take(&coders->intake, source, &p->whole, &p->visible, error)
            : MOTUS_OK;
    if (!status && p->state != MOTUS_PENDING_TYPE)
        status = choose_type(coders, p, look, source, error);
    if (!status) {
        status = send(coders, p, look, source, &held, error);
        if (status && typed_by_look) motus_lookahead_undo(look);
    }
    if (!held) motus_pending_free(p);
    if (status && !error->status) motus_fail(error, status, "%s", motus_status_text(status));
    return status;
}

void motus_gop_coders_end(MotusGopCoders *coders) {
    pthread_mutex_lock(&coders->lock);
    coders->mini_gop.ended = 1;
    deal(coders);
    pthread_mutex_unlock(&coders->lock);
}

// ---- Types and plans ----------------------------------------------------------------------------

int motus_gop_coders_type_later(const MotusGopCoders *coders, const MotusLookahead *look) {
    return coders->n_executors == 1 && motus_lookahead_is_asynchronous(look);
}

void motus_gop_coders_set_type(MotusGopCoders *coders, int idr) {
    pthread_mutex_lock(&coders->lock);
    MotusPendingPicture *p = motus_mini_gop_set_type(&coders->mini_gop, idr);
    assign(coders, idr ? find_executor(coders) : coders->current, p);
    deal(coders);
    pthread_mutex_unlock(&coders->lock);
}

void motus_gop_coders_expect(MotusGopCoders *coders, int more) {
    pthread_mutex_lock(&coders->lock);
    coders->lookahead_jobs += more;
    if (!coders->lookahead_jobs) pthread_cond_broadcast(&coders->done);
    pthread_mutex_unlock(&coders->lock);
}

MotusPicturePlan *motus_gop_coders_planned(MotusGopCoders *coders, const MotusPicturePlan *plan) {
    pthread_mutex_lock(&coders->lock);
    MotusPendingPicture *p = coders->unplanned;
    if (plan) {
        assert(p && p->plan == plan);
        coders->unplanned = p->next_plan;
    }
    if (plan && p->held) {
        p->state = MOTUS_PENDING_READY;
        p->ends_mini_gop = !plan->lookahead.b;
        deal(coders);
    } else if (plan && p->state == MOTUS_PENDING_PLAN) {
        motus_pending_advance(&coders->pending, p, MOTUS_PENDING_READY);
        for (int k = 0; k < coders->n; k++)
            if (coders->coder[k].next == p) motus_gop_coder_wake(&coders->coder[k]);
        work_here(coders);
    }
    p = coders->unplanned;
    pthread_mutex_unlock(&coders->lock);
    return p ? p->plan : NULL;
}

// No coder comes to this picture, nor to those behind it. If there is none in the queue yet,
// receive() reports the error once the queue is empty.
void motus_gop_coders_lose(MotusGopCoders *coders, const MotusError *error) {
    pthread_mutex_lock(&coders->lock);
    MotusPendingPicture *p = coders->pending.oldest[MOTUS_PENDING_PLAN];
    coders->lost = *error;
    if (p) {
        p->error = *error;
        motus_pending_advance(&coders->pending, p, MOTUS_PENDING_DONE);
    }
    pthread_cond_broadcast(&coders->done);
    pthread_mutex_unlock(&coders->lock);
}

// ---- Packets out --------------------------------------------------------------------------------

// Blocks until the first picture is done, the time is over, or the picture needs frames that have
// not been sent. helped: a coder, or NULL.
static void wait_for_first(MotusGopCoders *coders, MotusGopCoder *helped, int timeout_ms) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const int64_t ns = end.tv_nsec + (int64_t)(motus_max(timeout_ms, 0) % 1000) * 1000000;
    end.tv_sec += motus_max(timeout_ms, 0) / 1000 + ns / 1000000000;
    end.tv_nsec = ns % 1000000000;
    for (;;) {
        const MotusPendingPicture *p = coders->pending.first;
        if (!timeout_ms || (p && p->state == MOTUS_PENDING_DONE)) break;
        if (!p && (!coders->mini_gop.first || cause_of_loss(coders)->status)) break;
        const int needs_frames = (!p || p->state < MOTUS_PENDING_READY) &&
                                 !coders->lookahead_jobs && !coders->failure.status;
        if (helped && motus_gop_coder_has_work(helped))
            motus_gop_coder_step(helped);
        else if (timeout_ms < 0 && !needs_frames)
            pthread_cond_wait(&coders->done, &coders->lock);
        else if (timeout_ms < 0 ||
                 pthread_cond_timedwait(&coders->done, &coders->lock, &end) == ETIMEDOUT)
            break;
    }
}

MotusStatus motus_gop_coders_receive(MotusGopCoders *coders, int at_end, MotusPacket **packet,
                                     int timeout_ms, MotusError *error) {
    MotusPendingPicture *taken = NULL;
    MotusStatus status = MOTUS_AGAIN;
    pthread_mutex_lock(&coders->lock);
    MotusGopCoder *helped = &coders->coder[0];
    if (timeout_ms >= 0 || !motus_gop_coder_takes_help(helped)) helped = NULL;
    coders->helpers += helped != NULL;
    wait_for_first(coders, helped, timeout_ms);
    if (helped) motus_gop_coder_end_help(helped);
    MotusPendingPicture *p = coders->pending.first;
    if (p && p->state == MOTUS_PENDING_DONE) {
        status = p->error.status;
        if (status) {
            *error = p->error; // the picture stays, and so does its error
        } else {
            taken = p;
            coders->pending.first = p->next;
            if (!p->next) coders->pending.last = NULL;
        }
    } else if (!p && coders->mini_gop.first && cause_of_loss(coders)->status) {
        *error = *cause_of_loss(coders);
        status = error->status;
    } else if (!p && !coders->mini_gop.first && at_end) {
        status = MOTUS_END;
    }
    pthread_mutex_unlock(&coders->lock);
    if (!taken) return status;
    *packet = taken->packet;
    taken->packet = NULL;
    motus_pending_free(taken);
    return MOTUS_OK;
}
