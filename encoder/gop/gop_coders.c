// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/gop_coders.h"

#include <errno.h>
#include <time.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/int_core.h"
#include "encoder/gop/gop_coder.h"

// ---- Frames in ----------------------------------------------------------------------------------

// How many more frames there will be room for once all lanes are open.
static int room_left(const MotusGopCoders *l, const MotusExecutor *e) {
    return e->gop_coders * l->most_waiting - e->under_way;
}

// Who gets the GOP that begins: the one that has least to do. As many lanes of it as there are
// begin to open when a GOP comes for which there is none yet: they take some time, and lanes that
// are open go on meanwhile.
static MotusExecutor *find_executor(MotusGopCoders *l) {
    MotusExecutor *e = l->executor;
    for (int i = 1; i < l->n_executors; i++)
        if (room_left(l, &l->executor[i]) > room_left(l, e)) e = &l->executor[i];
    if (e->gops >= e->begun) motus_executor_open(l, e, e->begun);
    return e;
}

// On a device frames have slots. Nor do lanes get far ahead of a picture that takes long: what
// comes behind it cannot be handed out.
static int is_full(const MotusGopCoders *l, const MotusExecutor *e) {
    return (l->backend == MOTUS_BACKEND_CUDA ? !e->free : room_left(l, e) <= 0) ||
           l->since_oldest >= 2 * l->n * l->most_waiting;
}

// Waits until there is room for the job's frame, and takes it. The error of a picture before ends
// that.
static MotusStatus wait_for_room(MotusGopCoders *l, MotusPendingPicture *job, int late,
                                 MotusExecutor **executor, MotusError *error) {
    pthread_mutex_lock(&l->lock);
    MotusExecutor *e = *executor = late                   ? l->executor
                                   : job->order.place.idr ? find_executor(l)
                                                          : l->sending;
    while (!l->failure.status && !l->lost.status && is_full(l, e))
        pthread_cond_wait(&l->done, &l->lock);
    const MotusError *cause = l->failure.status ? &l->failure : &l->lost;
    MotusStatus status = cause->status;
    if (status) *error = *cause;
    if (!status && e->free) {
        job->slot = e->free;
        e->free = job->slot->next;
    }
    pthread_mutex_unlock(&l->lock);
    return status;
}

static void give_back(MotusGopCoders *l, MotusExecutor *e, MotusFrameSlot *slot) {
    pthread_mutex_lock(&l->lock);
    slot->next = e->free;
    e->free = slot;
    pthread_mutex_unlock(&l->lock);
}

// The frame on the host, where the lane or the receiver of the packet wants it.
static MotusStatus take_in(MotusGopCoders *l, MotusPendingPicture *job, const MotusFrame *frame,
                           int on_device, void *made_on, MotusError *error) {
    if (l->backend != MOTUS_BACKEND_CPU && l->stream->config.stream_only) return MOTUS_OK;
    return on_device
               ? motus_intake_device(&l->intake, frame, made_on, &job->whole, &job->source, error)
               : motus_intake_host(&l->intake, frame, &job->whole, &job->source);
}

// The first lane's work, where it has no thread. Under the lock.
static void work_here(MotusGopCoders *l) {
    MotusGopCoder *lane = &l->lane[0];
    while (!lane->has_thread && motus_gop_coder_finds_work(lane)) motus_gop_coder_step(lane);
}

// A job that has its type. Under the lock.
static void give(MotusGopCoders *l, MotusExecutor *e, MotusPendingPicture *job) {
    l->sending = e;
    e->gops += job->order.place.idr;
    motus_executor_give(l, e, job);
    work_here(l);
}

static void submit(MotusGopCoders *l, MotusExecutor *e, MotusPendingPicture *job, int late) {
    pthread_mutex_lock(&l->lock);
    if (l->last) l->last->next = job;
    l->last = job;
    if (!l->first) l->first = job;
    if (!l->oldest) l->oldest = job;
    l->since_oldest++;
    if (!l->unplanned && !job->order.planned->known) l->unplanned = job;
    if (!late)
        give(l, e, job);
    else if (!l->untyped)
        l->untyped = job;
    pthread_mutex_unlock(&l->lock);
}

// A frame in host memory is the caller's again when its upload, which the lane goes on behind, is
// done. If that fails, so does all that follows.
static MotusStatus wait_for_upload(MotusGopCoders *l, const MotusExecutor *e,
                                   const MotusFrameSlot *slot, MotusError *error) {
    MotusError cause = {0};
    const MotusStatus status = motus_frame_slots_taken(slot, &cause);
    if (!status) return MOTUS_OK;
    motus_name_device(l, e, &cause);
    pthread_mutex_lock(&l->lock);
    motus_gop_coders_fail(l, &cause);
    pthread_mutex_unlock(&l->lock);
    *error = cause;
    return status;
}

// Look-ahead, which is where the lanes are, tells the job's type.
static MotusStatus choose_type(MotusLookahead *look, MotusPendingPicture *job,
                               const MotusFrame *frame, int on_device, void *made_on,
                               MotusError *error) {
    MotusFrameSource source = {frame, on_device, made_on};
    if (on_device && motus_lookahead_device(look) == MOTUS_LOOKAHEAD_HOST)
        source = (MotusFrameSource){.frame = job->source};
    return motus_lookahead_put(look, &source, &job->order.place.idr, error);
}

// The frame is on its way into the slot.
static MotusStatus begin_look(const MotusGopCoders *l, const MotusPendingPicture *job,
                              MotusLookahead *look, MotusError *error) {
    const MotusEncoderConfig *c = &l->stream->config;
    const MotusPlane *whole = &job->slot->src[0];
    const MotusPlane luma = {whole->data, whole->stride, c->width, c->height};
    return motus_lookahead_begin(look, &luma, job->slot->filled, job->order.place.idr, error);
}

// Where types come late there is one executor: puts the frame there, where look-ahead begins with
// it. A lane begins later, so that the upload can be waited for before it knows of the job.
static MotusStatus send_late(MotusGopCoders *l, MotusPendingPicture *job, MotusLookahead *look,
                             const MotusFrame *frame, int on_device, void *made_on,
                             MotusError *error) {
    MotusExecutor *e;
    MotusError cause = {0};
    MotusStatus status = wait_for_room(l, job, 1, &e, error);
    if (status) return status;
    status = motus_frame_slots_take(job->slot, frame, on_device, made_on, &cause);
    if (!status) status = begin_look(l, job, look, &cause);
    motus_name_device(l, e, &cause);
    if (status) {
        give_back(l, e, job->slot);
        *error = cause;
        return status;
    }
    if (!on_device) status = wait_for_upload(l, e, job->slot, error);
    if (!status) submit(l, e, job, 1);
    return status;
}

// Finds the job's executor, once its type is known, and puts the frame there. *sent: the job is the
// executor's, whatever comes of the frame.
static MotusStatus send_job(MotusGopCoders *l, MotusPendingPicture *job, MotusLookahead *look,
                            const MotusFrame *frame, int on_device, void *made_on, int *sent,
                            MotusError *error) {
    MotusExecutor *e;
    MotusStatus status = wait_for_room(l, job, 0, &e, error);
    if (status) return status;
    MotusFrameSlot *slot = job->slot;
    MotusFrameSource uploaded;
    if (look && motus_lookahead_uploaded(look, e->device, &uploaded))
        frame = uploaded.frame, on_device = 1, made_on = uploaded.stream;
    if (slot) {
        MotusError cause = {0};
        status = motus_frame_slots_take(slot, frame, on_device, made_on, &cause);
        motus_name_device(l, e, &cause);
        if (status) *error = cause;
    }
    if (status) {
        give_back(l, e, slot);
        return status;
    }
    *sent = 1;
    submit(l, e, job, 0);
    return slot && !on_device ? wait_for_upload(l, e, slot, error) : MOTUS_OK;
}

MotusStatus motus_gop_coders_send(MotusGopCoders *l, MotusOrder *order, MotusLookahead *look,
                                  const MotusFrame *frame, int on_device, void *made_on,
                                  MotusError *error) {
    MotusPendingPicture *job = motus_alloc(1, sizeof *job);
    if (!job) {
        motus_free(order->planned);
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    }
    job->order = *order;
    int sent = 0;
    const int late = look && motus_gop_coders_type_late(l, look);
    MotusStatus status = take_in(l, job, frame, on_device, made_on, error);
    if (!status && late) {
        status = send_late(l, job, look, frame, on_device, made_on, error);
        if (!status) return MOTUS_OK;
    }
    if (!status && look) status = choose_type(look, job, frame, on_device, made_on, error);
    if (!status) {
        MotusPictureParams *place = &job->order.place;
        if (place->idr) place->since_idr = 0;
        *order = job->order;
        status = send_job(l, job, look, frame, on_device, made_on, &sent, error);
        if (!status) return MOTUS_OK;
        if (look) motus_lookahead_undo(look);
    }
    if (!sent) motus_pending_free(job);
    if (!error->status) motus_fail(error, status, "%s", motus_status_text(status));
    return status;
}

// ---- Types and plans ----------------------------------------------------------------------------

int motus_gop_coders_type_late(const MotusGopCoders *l, const MotusLookahead *look) {
    return l->n_executors == 1 && motus_lookahead_searches_at_once(look) == 2;
}

int motus_gop_coders_have_threads(const MotusGopCoders *l) { return l->lane[0].has_thread; }

void motus_gop_coders_type(MotusGopCoders *l, int idr, uint32_t since_idr, uint32_t idr_pic_id) {
    pthread_mutex_lock(&l->lock);
    MotusPendingPicture *job = l->untyped;
    l->untyped = job->next;
    job->order.place.idr = idr;
    job->order.place.since_idr = idr ? 0 : since_idr;
    job->order.place.idr_pic_id = idr_pic_id;
    give(l, idr ? find_executor(l) : l->sending, job);
    pthread_mutex_unlock(&l->lock);
}

void motus_gop_coders_expect(MotusGopCoders *l, int more) {
    pthread_mutex_lock(&l->lock);
    l->expected += more;
    if (!l->expected) pthread_cond_broadcast(&l->done);
    pthread_mutex_unlock(&l->lock);
}

MotusPicturePlan *motus_gop_coders_unplanned(MotusGopCoders *l) {
    pthread_mutex_lock(&l->lock);
    MotusPicturePlan *planned = l->unplanned ? l->unplanned->order.planned : NULL;
    pthread_mutex_unlock(&l->lock);
    return planned;
}

void motus_gop_coders_planned(MotusGopCoders *l) {
    pthread_mutex_lock(&l->lock);
    MotusPendingPicture *job = l->unplanned;
    job->order.planned->known = 1;
    l->unplanned = job->next;
    for (int k = 0; k < l->n; k++)
        if (l->lane[k].waiting == job) pthread_cond_signal(&l->lane[k].work);
    work_here(l);
    pthread_mutex_unlock(&l->lock);
}

// No lane comes to that picture, nor to those behind it: none of them has a plan.
void motus_gop_coders_lose(MotusGopCoders *l, const MotusError *error) {
    pthread_mutex_lock(&l->lock);
    MotusPendingPicture *job = l->unplanned;
    job->status = error->status;
    job->error = *error;
    job->done = 1;
    l->lost = *error;
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

MotusStatus motus_gop_coders_receive(MotusGopCoders *l, MotusPacket **packet, int timeout_ms,
                                     MotusError *error) {
    const struct timespec end = later(motus_max(timeout_ms, 0));
    MotusStatus status = MOTUS_AGAIN;
    pthread_mutex_lock(&l->lock);
    while (l->first && !l->first->done && timeout_ms) {
        const int needs_frames = !l->first->order.planned->known && !l->expected &&
                                 !l->failure.status; // that have not come
        if (timeout_ms < 0 && !needs_frames)
            pthread_cond_wait(&l->done, &l->lock);
        else if (timeout_ms < 0 || pthread_cond_timedwait(&l->done, &l->lock, &end) == ETIMEDOUT)
            break;
    }
    MotusPendingPicture *job = l->first;
    if (job && job->done && job->status) {
        status = job->status; // and so it stays
        *error = job->error;
        job = NULL;
    } else if (job && job->done) {
        l->first = job->next;
        if (!l->first) l->last = NULL;
        *packet = job->packet;
        job->packet = NULL;
        status = MOTUS_OK;
    } else {
        job = NULL;
    }
    pthread_mutex_unlock(&l->lock);
    if (job) motus_pending_free(job);
    return status;
}

int motus_gop_coders_empty(MotusGopCoders *l) {
    pthread_mutex_lock(&l->lock);
    int empty = !l->first;
    pthread_mutex_unlock(&l->lock);
    return empty;
}
