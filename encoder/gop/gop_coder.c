// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/gop_coder.h"

#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "common/int_core.h"
#include "encoder/bitstream/slice.h"
#include "encoder/picture/external_mvs.h"

// ---- A picture in its lane ----------------------------------------------------------------------

void motus_pending_free(MotusPendingPicture *job) {
    motus_frame_unref(&job->whole);
    motus_frame_unref(&job->source);
    motus_frame_unref(&job->rec);
    motus_packet_unref(&job->packet);
    motus_field_free(&job->field);
    motus_free(job->order.planned);
    motus_free(job);
}

void motus_name_device(const MotusGopCoders *l, const MotusExecutor *executor, MotusError *error) {
    if (l->n_devices < 2 || !error->status) return;
    const MotusError plain = *error;
    motus_fail(error, plain.status, "CUDA device %d: %s", executor->device, plain.text);
}

static MotusStatus open_lane(MotusGopCoder *lane) {
    MotusGopCoders *l = lane->gop_coders;
    motus_rate_open(&lane->rate, &l->stream->control);
    if (l->backend == MOTUS_BACKEND_CPU) {
        MotusStatus status = motus_cpu_coder_open(&lane->cpu, l->stream, l->threads);
        return status ? motus_fail(&lane->error, status, "%s", motus_status_text(status))
                      : MOTUS_OK;
    }
    const MotusStream *s = l->stream;
    lane->recs =
        (MotusFramePool){.width = 16 * s->mb_width, .height = 16 * s->mb_height, .pinned = 1};
    lane->mvs =
        motus_alloc(s->config.stream_only ? 1 : 16 * (size_t)s->mb_width * (size_t)s->mb_height,
                    sizeof *lane->mvs);
    if (!lane->mvs) return motus_fail(&lane->error, MOTUS_ERR_MEMORY, "out of memory");
    MotusExecutor *e = lane->executor;
    MotusStatus status = e->transfer ? MOTUS_OK
                                     : motus_copy_streams_open(&e->transfer, e->device,
                                                               &lane->error); // the first lane
    if (!status)
        status = motus_cuda_coder_open(&lane->cuda, s, e->transfer,
                                       (int)(lane - l->lane) / l->n_executors, &lane->error);
    if (!status && s->config.packet_memory == MOTUS_MEMORY_DEVICE)
        status = motus_packet_pool_open(&lane->packets, e->device, &lane->error);
    if (!status)
        status = motus_frame_slots_open(&lane->room, s, e->transfer, l->most_waiting, &lane->slots,
                                        &lane->error);
    motus_name_device(l, e, &lane->error);
    return status;
}

void motus_gop_coder_stop(MotusGopCoder *lane) {
    motus_cpu_coder_close(&lane->cpu);
    motus_cuda_coder_close(&lane->cuda);
    motus_packet_pool_close(&lane->packets);
    motus_frame_pool_close(&lane->recs);
    motus_free(lane->mvs);
    lane->mvs = NULL;
}

// All lanes of a device are taken to be at work, whether they have pictures or not: going by those
// that have, racecheck did not end (docs/kernels.md, queues).
static MotusStatus begin_coding(MotusGopCoder *lane, MotusPendingPicture *job) {
    const MotusGopCoders *l = lane->gop_coders;
    const int at_work = (l->n + l->n_devices - 1) / l->n_devices;
    return motus_cuda_coder_begin(lane->cuda, job->slot, &job->order.place, at_work, job->rec,
                                  job->field, &job->error);
}

static MotusStatus begin_on_device(MotusGopCoder *lane, MotusPendingPicture *job) {
    const MotusStream *s = lane->gop_coders->stream;
    MotusStatus status =
        s->config.stream_only ? MOTUS_OK : motus_frame_pool_take(&lane->recs, &job->rec);
    if (!status && s->config.export_field && !job->order.place.idr)
        status = motus_field_alloc(&job->field, s->config.width, s->config.height);
    if (status) return status;
    motus_picture_plan_begin(job->order.planned, &lane->rate, s, &job->order.place);
    return begin_coding(lane, job);
}

// Waits for a picture; one that turns out too large is coded again.
static MotusStatus wait_for_device(MotusGopCoder *lane, MotusPendingPicture *job,
                                   MotusCodedPicture *coded) {
    const MotusStream *s = lane->gop_coders->stream;
    MotusPictureParams *place = &job->order.place;
    for (;;) {
        MotusStatus status = motus_cuda_coder_finish(lane->cuda, coded, &job->error);
        if (status) return status;
        const size_t bytes = motus_packet_bytes(s, place, coded->size);
        if (!motus_picture_plan_coded(job->order.planned, &lane->rate, s, place, bytes))
            return MOTUS_OK;
        motus_cuda_coder_undo(lane->cuda);
        status = begin_coding(lane, job);
        if (status) return status;
    }
}

// The packet of what has come from the device.
static MotusStatus finish_on_device(MotusGopCoder *lane, MotusPendingPicture *job) {
    const MotusStream *s = lane->gop_coders->stream;
    MotusCodedPicture coded;
    MotusFrame *visible = NULL;
    MotusStatus status = wait_for_device(lane, job, &coded);
    if (!status)
        status = motus_packet_make(&job->packet, s, &job->order.place, coded.nal, coded.size,
                                   (size_t)job->order.planned->filler_bytes, &coded.stats);
    if (!status && lane->packets)
        status = motus_packet_leave(job->packet, s, &job->order.place, lane->packets,
                                    coded.device_nal, coded.size, &job->error);
    if (!status) memcpy(job->packet->stage_us, coded.stage_us, sizeof coded.stage_us);
    if (!status && job->field)
        status = motus_packet_add_field(
            job->packet, s, job->field,
            motus_external_mvs_effort(s, &job->order.place.given).partitions);
    if (status || !job->rec) return status;
    const MotusCodedMbs listed = {.mb_width = s->mb_width,
                                  .mb_height = s->mb_height,
                                  .n_mb = s->mb_width * s->mb_height,
                                  .threads = 1,
                                  .mb = (MotusMb *)coded.mb};
    status = motus_frame_crop(&visible, job->rec, s->config.width, s->config.height);
    if (!status) visible->number = job->order.place.number;
    if (!status)
        status = motus_packet_add(job->packet, visible, job->source, lane->mvs,
                                  motus_list_mvs(&listed, lane->mvs));
    motus_frame_unref(&visible);
    return status;
}

// ---- A lane's thread ----------------------------------------------------------------------------

// What is known of a packet beside its picture. The first pass's log costs the packet if there is
// no memory for it.
static MotusStatus describe(const MotusGopCoders *l, MotusPendingPicture *job) {
    const MotusPicturePlan *planned = job->order.planned;
    MotusPacket *packet = job->packet;
    packet->pts = job->order.pts;
    packet->duration = job->order.duration;
    packet->opaque = job->order.opaque;
    packet->mean_qp = planned->mean_q8 / 256.0;
    packet->coded_again = planned->again;
    packet->vbv_fullness = planned->held;
    if (l->stream->config.pass != 1) return MOTUS_OK;
    packet->pass_log = motus_picture_plan_log(planned, l->stream, packet->size);
    return packet->pass_log ? MOTUS_OK : MOTUS_ERR_MEMORY;
}

// Room for frames. Under the lock.
static void free_slots(MotusExecutor *e, MotusFrameSlot *first, MotusFrameSlot *last) {
    last->next = e->free;
    e->free = first;
}

void motus_gop_coders_fail(MotusGopCoders *l, const MotusError *error) {
    if (l->failure.status) return;
    l->failure = *error;
    for (int k = 0; k < l->n; k++) pthread_cond_signal(&l->lane[k].work);
}

// The lane's oldest picture is done, or will never be. Under the lock.
static void retire(MotusGopCoder *lane, MotusStatus status) {
    MotusGopCoders *l = lane->gop_coders;
    MotusPendingPicture *job = lane->first;
    if (!status) status = describe(l, job);
    job->status = status;
    if (status && !job->error.status && l->failure.status)
        job->error = l->failure; // of a picture before, here or in another lane
    if (status && !job->error.status)
        motus_fail(&job->error, status, "%s", motus_status_text(status));
    if (status) motus_packet_unref(&job->packet);
    if (status) motus_gop_coders_fail(l, &job->error);
    motus_frame_unref(&job->whole);
    motus_frame_unref(&job->source);
    motus_frame_unref(&job->rec);
    if (job->slot) free_slots(lane->executor, job->slot, job->slot);
    lane->first = job->behind;
    lane->executor->under_way--;
    l->active -= !lane->first;
    job->done = 1;
    for (; l->oldest && l->oldest->done; l->oldest = l->oldest->next) l->since_oldest--;
    pthread_cond_broadcast(&l->done);
}

// The steps of a lane that has something to do, under the lock, which they let go of meanwhile.
// Once a picture has failed, those behind it are not coded.

// The lane's share of the threads while it codes a picture: as many as any other lane that has
// work, and one of the remainder if it has not been given away.
static int share_of_threads(const MotusGopCoders *l) {
    const int share = motus_max(1, l->threads / l->active);
    return share + (share * l->active < l->threads && share < l->threads - l->busy);
}

static void step_on_cpu(MotusGopCoder *lane) {
    MotusGopCoders *l = lane->gop_coders;
    MotusPendingPicture *job = lane->first;
    MotusStatus status = l->failure.status;
    lane->waiting = job->behind;
    if (!status) {
        const int threads = share_of_threads(l);
        l->busy += threads;
        pthread_mutex_unlock(&l->lock);
        status = motus_cpu_coder_code(lane->cpu, &job->order.place, job->order.planned, &lane->rate,
                                      job->whole, job->source, threads, &job->packet);
        pthread_mutex_lock(&l->lock);
        l->busy -= threads;
    }
    retire(lane, status);
}

// Begins the next picture, or waits for the oldest one: the device always has one to go on with.
static void step_on_device(MotusGopCoder *lane) {
    MotusGopCoders *l = lane->gop_coders;
    if (!l->failure.status && lane->waiting && lane->waiting->order.planned->known &&
        lane->begun < l->most_begun) {
        MotusPendingPicture *job = lane->waiting;
        lane->waiting = job->behind;
        lane->begun++;
        pthread_mutex_unlock(&l->lock);
        job->status = begin_on_device(lane, job);
        motus_name_device(l, lane->executor, &job->error);
        pthread_mutex_lock(&l->lock);
        if (job->status && !job->error.status)
            motus_fail(&job->error, job->status, "%s", motus_status_text(job->status));
        if (job->status) motus_gop_coders_fail(l, &job->error);
        return;
    }
    MotusPendingPicture *job = lane->first;
    MotusStatus status = l->failure.status;
    if (!lane->begun) {
        lane->waiting = job->behind;
    } else {
        pthread_mutex_unlock(&l->lock);
        MotusStatus finished = job->status;
        if (!finished) {
            finished = finish_on_device(lane, job);
            motus_name_device(l, lane->executor, &job->error);
        }
        pthread_mutex_lock(&l->lock);
        lane->begun--;
        if (finished) status = finished;
    }
    retire(lane, status);
}

static void give(MotusGopCoder *lane, MotusPendingPicture *job) {
    if (lane->first)
        lane->last->behind = job;
    else
        lane->first = job, lane->gop_coders->active++;
    lane->last = job;
    if (!lane->waiting) lane->waiting = job;
}

// The lane takes the oldest GOP that has none, as far as it has come.
static void take_gop(MotusGopCoder *lane) {
    MotusExecutor *e = lane->executor;
    e->taker = lane;
    do {
        MotusPendingPicture *job = e->untaken;
        e->untaken = job->behind;
        job->behind = NULL;
        give(lane, job);
    } while (e->untaken && !e->untaken->order.place.idr);
}

// Lane i of the executor.
static MotusGopCoder *lane_of(MotusGopCoders *l, const MotusExecutor *e, int i) {
    return &l->lane[e - l->executor + i * l->n_executors];
}

static MotusGopCoder *idle_lane(MotusGopCoders *l, const MotusExecutor *e) {
    for (int i = 0; i < e->begun; i++) {
        MotusGopCoder *lane = lane_of(l, e, i);
        if (lane->opened && !lane->status && !lane->first) return lane;
    }
    return NULL;
}

void motus_executor_give(MotusGopCoders *l, MotusExecutor *e, MotusPendingPicture *job) {
    MotusGopCoder *lane = e->taker;
    e->under_way++;
    if (job->order.place.idr || e->untaken) {
        if (e->untaken)
            e->last->behind = job;
        else
            e->untaken = job;
        e->last = job;
        lane = idle_lane(l, e);
        if (lane) take_gop(lane);
    } else {
        give(lane, job);
    }
    if (lane) pthread_cond_signal(&lane->work);
}

// Whether there is something to do: a picture whose plan is known, one on a device, or pictures
// that will never be coded.
int motus_gop_coder_finds_work(MotusGopCoder *lane) {
    if (!lane->first && lane->executor->untaken) take_gop(lane);
    if (!lane->first) return 0;
    return lane->gop_coders->failure.status || lane->begun ||
           (lane->waiting && lane->waiting->order.planned->known);
}

void motus_gop_coder_step(MotusGopCoder *lane) {
    if (lane->cuda)
        step_on_device(lane);
    else
        step_on_cpu(lane);
}

static void note_opened(MotusGopCoder *lane, MotusStatus status) {
    MotusGopCoders *l = lane->gop_coders;
    MotusExecutor *e = lane->executor;
    lane->status = status;
    lane->opened = 1;
    l->opening--;
    if (status) {
        if (!e->failed) e->gop_coders = e->begun;
        e->failed = 1;
        e->gop_coders--;
    } else if (lane->slots) {
        MotusFrameSlot *last = lane->slots;
        while (last->next) last = last->next;
        free_slots(e, lane->slots, last);
    }
    pthread_cond_broadcast(&l->done);
}

static void *run_lane(void *argument) {
    MotusGopCoder *lane = argument;
    MotusGopCoders *l = lane->gop_coders;
    if (l->backend == MOTUS_BACKEND_CUDA) motus_device_use(lane->executor->device);
#ifdef __linux__
    prctl(PR_SET_TIMERSLACK,
          5000ul); // ns, for sleeps of some 10 us (lane_cuda.cu); 50,000 by default
#endif
    MotusStatus status = open_lane(lane);
    pthread_mutex_lock(&l->lock);
    note_opened(lane, status);
    while (!status) {
        while (!motus_gop_coder_finds_work(lane) && !l->closing)
            pthread_cond_wait(&lane->work, &l->lock);
        if (l->closing) break;
        motus_gop_coder_step(lane);
    }
    pthread_mutex_unlock(&l->lock);
    motus_gop_coder_stop(lane);
    return NULL;
}

// Lane 0 without a thread does its work where frames are sent.
static void begin_lane(MotusGopCoders *l, MotusExecutor *e, MotusGopCoder *lane) {
    lane->gop_coders = l;
    lane->executor = e;
    l->opening++;
    lane->has_thread = !pthread_create(&lane->thread, NULL, run_lane, lane);
    if (lane->has_thread) return;
    MotusStatus status =
        lane != l->lane ? motus_fail(&lane->error, MOTUS_ERR_MEMORY, "no thread for another lane")
                        : open_lane(lane);
    if (status) motus_gop_coder_stop(lane);
    note_opened(lane, status);
}

void motus_executor_open(MotusGopCoders *l, MotusExecutor *e, int n) {
    for (; n > 0 && !e->failed && e->begun < e->gop_coders; n--)
        begin_lane(l, e, lane_of(l, e, e->begun++));
}
