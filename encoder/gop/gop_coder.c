// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/gop_coders.h"

#include <string.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "common/int_core.h"
#include "encoder/gop/packet.h"

// ---- Opening ------------------------------------------------------------------------------------

void motus_name_device(const MotusGopCoders *coders, const MotusExecutor *executor,
                       MotusError *error) {
    if (coders->n_devices < 2 || !error->status) return;
    const MotusError plain = *error;
    motus_fail(error, plain.status, "CUDA device %d: %s", executor->device, plain.text);
}

// The first coder of a device opens what its coders share.
static void open_coder(MotusGopCoder *coder) {
    const MotusGopCoders *coders = coder->coders;
    const MotusExecutorOps *ops = coders->ops;
    MotusExecutor *e = coder->executor;
    const int index = (int)(coder - coders->coder) / coders->n_executors;
    motus_rate_open(&coder->rate, &coders->stream->rate);
    MotusStatus status = index || !ops->open_device
                             ? MOTUS_OK
                             : ops->open_device(&e->shared, e->device, &coder->error);
    if (!status)
        status = ops->open(&coder->coder, coders->stream, e->shared, index, coders->per_device,
                           coders->threads, &coder->error);
    if (!status &&
        !(coder->slot = motus_alloc((size_t)coders->slots_per_coder, sizeof *coder->slot)))
        status = motus_fail(&coder->error, MOTUS_ERR_MEMORY, "out of memory");
    if (!status && ops->open_slots)
        status = ops->open_slots(&coder->slots, coders->stream, e->shared, coder->slot,
                                 coders->slots_per_coder, &coder->error);
    if (!status && coders->stream->sequence.weighted_pred &&
        motus_weight_finder_open(&coder->weights, coders->stream->sequence.max_refs,
                                 coders->stream->mb_width, coders->stream->mb_height))
        motus_fail(&coder->error, MOTUS_ERR_MEMORY, "out of memory");
    motus_name_device(coders, e, &coder->error);
}

void motus_gop_coder_stop(MotusGopCoder *coder) {
    motus_weight_finder_close(&coder->weights);
    if (coder->coder) coder->coders->ops->close(&coder->coder);
}

static void free_slot(MotusExecutor *e, MotusFrameSlot *slot) {
    slot->next = e->free_slots;
    e->free_slots = slot;
}

static void note_opened(MotusGopCoder *coder) {
    MotusGopCoders *coders = coder->coders;
    MotusExecutor *e = coder->executor;
    coder->opened = 1;
    coders->opening--;
    if (coder->error.status) {
        if (!e->failed) e->max_coders = e->coders;
        e->failed = 1;
        e->max_coders--;
    } else {
        for (int i = 0; i < coders->slots_per_coder; i++) free_slot(e, &coder->slot[i]);
    }
    pthread_cond_broadcast(&coders->done);
}

// ---- Pictures of a coder ------------------------------------------------------------------------

// A coder's GOP is a run of pictures in stream order, so its pictures need no list of their own.
// The last picture of a GOP has the coder's next GOP behind it.
static MotusPendingPicture *follower(const MotusPendingPicture *p) {
    return p->next && !p->next->params.idr ? p->next : p->next_gop;
}

static void add(MotusGopCoder *coder, MotusPendingPicture *picture) {
    if (!coder->first) {
        coder->first = picture;
        coder->coders->active++;
    }
    if (!coder->next) coder->next = picture;
}

// Takes the executor's oldest GOP that no coder has, as far as it is queued. All of the coder's
// pictures have begun.
static void take_gop(MotusGopCoder *coder) {
    MotusExecutor *e = coder->executor;
    if (coder->first) coder->newest->next_gop = e->untaken;
    add(coder, e->untaken);
    do e->untaken = e->untaken->next;
    while (e->untaken && !(e->untaken->executor == e && e->untaken->params.idr));
    if (!e->untaken) e->newest = coder;
}

// Returns coder i of the executor.
static MotusGopCoder *coder_at(MotusGopCoders *coders, const MotusExecutor *e, int i) {
    return &coders->coder[e - coders->executor + i * coders->n_executors];
}

void motus_executor_add(MotusGopCoders *coders, MotusExecutor *e, MotusPendingPicture *picture) {
    MotusGopCoder *coder = e->newest;
    picture->executor = e;
    e->n_pictures++;
    if (picture->params.idr || e->untaken) {
        if (!e->untaken) e->untaken = picture;
        coder = NULL;
        for (int i = 0; i < e->coders && !coder; i++) {
            MotusGopCoder *idle = coder_at(coders, e, i);
            if (idle->opened && !idle->error.status && !idle->first) coder = idle;
        }
        if (coder) take_gop(coder);
    } else {
        add(coder, picture);
    }
    if (coder) motus_gop_coder_wake(coder);
}

void motus_gop_coder_wake(MotusGopCoder *coder) {
    if (coder->coders->helpers)
        pthread_cond_broadcast(&coder->coders->done);
    else
        pthread_cond_signal(&coder->wake);
}

static int can_begin(const MotusGopCoder *coder) {
    const MotusGopCoders *coders = coder->coders;
    return !coders->failure.status && coder->begun < coders->depth && coder->next &&
           coder->next->state == MOTUS_PENDING_READY;
}

int motus_gop_coder_has_work(MotusGopCoder *coder) {
    const MotusGopCoders *coders = coder->coders;
    if (coder->is_working) return 0;
    // A device codes a GOP's IDR picture beside the end of the GOP before it.
    if (coder->executor->untaken && !coder->next && (!coder->first || coder->begun < coders->depth))
        take_gop(coder);
    if (!coder->first) return 0;
    return coder->begun || can_begin(coder) || coders->failure.status;
}

// ---- Coding one picture -------------------------------------------------------------------------

// Returns what the executor needs to know of a picture.
static MotusPictureJob job_of(const MotusPendingPicture *p) {
    return (MotusPictureJob){.params = &p->params,
                             .whole = p->whole,
                             .visible = p->visible,
                             .slot = p->slot,
                             .threads = p->threads};
}

static MotusStatus begin_coding(MotusGopCoder *coder, MotusPendingPicture *p, MotusError *error) {
    const MotusPictureJob job = job_of(p);
    return coder->coders->ops->begin(coder->coder, &job, error);
}

// Makes the packet of a coded picture. A packet of the first pass is lost if there is no memory for
// its log.
static MotusStatus make_packet(MotusGopCoder *coder, MotusPendingPicture *p,
                               const MotusCodedPicture *coded, MotusError *error) {
    const MotusStream *stream = coder->coders->stream;
    const MotusPicturePlan *plan = p->plan;
    MotusStatus status =
        motus_packet_make(&p->packet, stream, &p->params, coded, (size_t)plan->filler_bytes);
    if (!status)
        status = motus_packet_add_results(p->packet, stream, &p->params, coded, p->visible);
    if (!status && !coded->nal)
        status = motus_packet_store(p->packet, stream, &p->params, coded, coder->coders->ops,
                                    coder->coder, error);
    if (status) return status;
    MotusPacket *packet = p->packet;
    packet->pts = p->pts;
    packet->dts = p->dts;
    packet->duration = p->duration;
    packet->opaque = p->opaque;
    packet->mean_qp = plan->mean_q8 / 256.0;
    packet->coded_again = plan->again;
    packet->vbv_fullness = plan->held;
    if (stream->config.pass != 1) return MOTUS_OK;
    packet->pass_log = motus_picture_plan_log(plan, stream, packet->size);
    return packet->pass_log ? MOTUS_OK : MOTUS_ERR_MEMORY;
}

// Blocks until the picture is coded, again if it turns out too large, and makes its packet.
static MotusStatus finish_coding(MotusGopCoder *coder, MotusPendingPicture *p, MotusError *error) {
    const MotusGopCoders *coders = coder->coders;
    uint8_t before[2 * MOTUS_HEADER_BYTES];
    size_t size;
    MotusStatus status = coders->ops->wait(coder->coder, &size, error);
    while (!status && motus_picture_plan_coded(
                          p->plan, &coder->rate, coders->stream, &p->params,
                          motus_access_unit_begin(coders->stream, &p->params, before) + size)) {
        motus_jobs_undo(coder->coder);
        status = begin_coding(coder, p, error);
        if (!status) status = coders->ops->wait(coder->coder, &size, error);
    }
    if (status) return status;
    MotusCodedPicture coded = {0};
    status = coders->ops->finish(coder->coder, &coded, error);
    if (!status) status = make_packet(coder, p, &coded, error);
    motus_frame_unref(&coded.recon);
    return status;
}

// ---- Steps, under the lock, which they release meanwhile ----------------------------------------

void motus_gop_coders_fail(MotusGopCoders *coders, const MotusError *error) {
    if (coders->failure.status) return;
    coders->failure = *error;
    for (int k = 0; k < coders->n; k++)
        if (coders->coder[k].coders) motus_gop_coder_wake(&coders->coder[k]); // it has begun
}

// Completes an error with the words of its status, and with the device.
static void explain(const MotusGopCoder *coder, MotusStatus status, MotusError *error) {
    if (!error->status) motus_fail(error, status, "%s", motus_status_text(status));
    motus_name_device(coder->coders, coder->executor, error);
}

// Finds the weights of a picture's references from source pictures.
static MotusStatus find_weights(MotusGopCoder *coder, MotusPendingPicture *p, MotusError *error) {
    const MotusExecutorOps *ops = coder->coders->ops;
    const MotusStream *stream = coder->coders->stream;
    MotusPictureParams *params = &p->params;
    const MotusPictureJob job = job_of(p);
    if (!coder->weights || !(params->type == MOTUS_SLICE_P || params->is_reference))
        return MOTUS_OK;
    MotusStatus status = ops->measure(&job, motus_weight_finder_stats(coder->weights), error);
    if (status) return status;
    if (params->type == MOTUS_SLICE_P) {
        const MotusRepeat repeat = motus_weights_find(
            coder->weights, params->refs, params->ref_shown,
            stream->config.weightp == 2 && !motus_has_external_field(params), &params->weights);
        params->copies = motus_weights_repeat(&params->weights, repeat, params->ref_shown,
                                              &params->refs, stream->p_refs);
    }
    if (params->is_reference)
        motus_weight_finder_keep(coder->weights, params->shown, params->slot, params->idr);
    return MOTUS_OK;
}

static void begin_picture(MotusGopCoder *coder) {
    MotusGopCoders *coders = coder->coders;
    MotusPendingPicture *p = coder->next;
    motus_pending_advance(&coders->pending, p, MOTUS_PENDING_CODING);
    coder->next = follower(p);
    coder->newest = p;
    coder->begun++;
    // An even share for each coder that has pictures, and one thread of the remainder if it is
    // still there.
    const int share = motus_max(1, coders->threads / coders->active);
    p->threads = share + (share * coders->active < coders->threads &&
                          share < coders->threads - coders->busy_threads);
    coders->busy_threads += p->threads;
    pthread_mutex_unlock(&coders->lock);
    motus_picture_plan_begin(p->plan, &coder->rate, coders->stream, &p->params);
    MotusStatus status = find_weights(coder, p, &p->error);
    if (!status) status = begin_coding(coder, p, &p->error);
    if (status) explain(coder, status, &p->error);
    pthread_mutex_lock(&coders->lock);
    if (status) motus_gop_coders_fail(coders, &p->error);
}

// Ends the pending state of the coder's first picture, and frees its source.
static void retire(MotusGopCoder *coder) {
    MotusGopCoders *coders = coder->coders;
    MotusPendingPicture *p = coder->first;
    if (p->error.status) {
        motus_packet_unref(&p->packet);
        motus_gop_coders_fail(coders, &p->error);
    }
    motus_frame_unref(&p->whole);
    motus_frame_unref(&p->visible);
    free_slot(coder->executor, p->slot);
    coder->executor->n_pictures--;
    coder->first = follower(p);
    coders->active -= !coder->first;
    if (p->state != MOTUS_PENDING_DONE)
        motus_pending_advance(&coders->pending, p, MOTUS_PENDING_DONE);
    pthread_cond_broadcast(&coders->done);
}

static void finish_picture(MotusGopCoder *coder) {
    MotusGopCoders *coders = coder->coders;
    MotusPendingPicture *p = coder->first;
    pthread_mutex_unlock(&coders->lock);
    MotusStatus status = p->error.status;
    if (!status && (status = finish_coding(coder, p, &p->error))) explain(coder, status, &p->error);
    pthread_mutex_lock(&coders->lock);
    coder->begun--;
    coders->busy_threads -= p->threads;
    retire(coder);
}

// A device has the next picture before the oldest one is waited for, so that it is never idle.
void motus_gop_coder_step(MotusGopCoder *coder) {
    coder->is_working = 1;
    if (can_begin(coder)) {
        begin_picture(coder);
    } else if (coder->begun) {
        finish_picture(coder);
    } else { // it will not be coded, since the stream has failed
        MotusPendingPicture *p = coder->first;
        coder->next = follower(p);
        if (!p->error.status) p->error = coder->coders->failure;
        retire(coder);
    }
    coder->is_working = 0;
    if (coder->coders->helpers) motus_gop_coder_wake(coder); // they waited for the step's end
}

// ---- Threads ------------------------------------------------------------------------------------

int motus_gop_coder_takes_help(const MotusGopCoder *coder) {
    const MotusGopCoders *coders = coder->coders;
    return coders->n == 1 && coders->ops->any_thread && coders->stream->config.stream_only &&
           coder->has_thread && !coder->error.status;
}

void motus_gop_coder_end_help(MotusGopCoder *coder) {
    coder->coders->helpers--;
    if (motus_gop_coder_has_work(coder)) motus_gop_coder_wake(coder);
}

static void *run_coder(void *argument) {
    MotusGopCoder *coder = argument;
    MotusGopCoders *coders = coder->coders;
    if (coder->executor->device >= 0)
        motus_device_use(coder->executor->device, coder->executor->context);
    open_coder(coder);
    pthread_mutex_lock(&coders->lock);
    note_opened(coder);
    while (!coder->error.status && !coders->closing)
        if (!coders->helpers && motus_gop_coder_has_work(coder))
            motus_gop_coder_step(coder);
        else
            pthread_cond_wait(&coder->wake, &coders->lock);
    pthread_mutex_unlock(&coders->lock);
    motus_gop_coder_stop(coder);
    return NULL;
}

void motus_executor_open_coders(MotusGopCoders *coders, MotusExecutor *e, int n) {
    for (; n > 0 && !e->failed && e->coders < e->max_coders; n--) {
        MotusGopCoder *coder = coder_at(coders, e, e->coders++);
        coder->coders = coders;
        coder->executor = e;
        coders->opening++;
        coder->has_thread = !pthread_create(&coder->thread, NULL, run_coder, coder);
        if (coder->has_thread) continue;
        if (coder == coders->coder)
            open_coder(coder);
        else
            motus_fail(&coder->error, MOTUS_ERR_MEMORY, "no thread for another GOP coder");
        if (coder->error.status) motus_gop_coder_stop(coder);
        note_opened(coder);
    }
}
