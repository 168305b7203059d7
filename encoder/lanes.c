// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lanes.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "common/error.h"
#include "common/int_core.h"
#include "encoder/intake.h"
#include "encoder/lane_cpu.h"
#include "encoder/lane_cuda.h"
#include "encoder/slice.h"

#define FRAMES_OF_ONE_LANE 4 // that may wait or be under way where there are no other lanes
#define AUTO_LANES_CUDA 16   // more hardly add to the speed
#define AUTO_BYTES_CPU ((size_t)256 << 20)
#define AUTO_BYTES_CUDA ((size_t)4 << 30)

// A picture between its frame and its packet.
typedef struct Job {
    struct Job *next;   // in the stream
    struct Job *behind; // in the lane
    struct Lane *lane;
    MotusOrder order;
    int slot;                   // of the frame on a device
    MotusFrame *whole, *source; // on the host: whole MBs, and their visible part; NULL where only a device has the frame
    MotusFrame *rec;            // that a device writes to
    MotusPacket *packet;        // once it is done
    MotusStatus status;
    MotusError error;
    int done;
} Job;

typedef struct Lane {
    MotusLanes *lanes;
    pthread_t thread;
    int has_thread;
    MotusLaneCpu *cpu;
    MotusLaneCuda *cuda;
    MotusFramePool recs; // where reconstructions come down to
    MotusCodedMv *mvs;   // of a picture that came down
    MotusRate rate;
    // Under the lock.
    Job *first, *waiting, *last; // the oldest; the first that has not begun; the newest
    unsigned sent, finished;     // so far
    int begun;                   // that are on a device
    MotusStatus status;          // of the opening
    MotusError error;
    int opened; // the thread has tried
} Lane;

struct MotusLanes {
    const MotusStream *stream;
    MotusBackend backend;
    int device, threads;
    int n, most_waiting; // lanes; pictures of a lane that may wait or be under way
    int most_begun;      // that are on a device at the same time
    int gops;            // so far
    MotusIntake intake;
    pthread_mutex_t lock;
    pthread_cond_t work, done; // a lane has something to do; a picture or an opening is done
    Job *first, *last;         // in the order of the stream
    Job *unplanned;            // the first without a plan
    int active;                // lanes that have something to do
    int closing;
    MotusError failure; // of the first picture that could not be coded
    Lane lane[MOTUS_MAX_LANES];
};

// ---- A picture in its lane ----------------------------------------------------------------------------------------------------------------

static void free_job(Job *job) {
    motus_frame_unref(&job->whole);
    motus_frame_unref(&job->source);
    motus_frame_unref(&job->rec);
    motus_packet_unref(&job->packet);
    motus_free(job->order.planned);
    motus_free(job);
}

static MotusStatus open_lane(Lane *lane) {
    MotusLanes *l = lane->lanes;
    motus_rate_open(&lane->rate, &l->stream->control);
    if (l->backend == MOTUS_BACKEND_CPU) {
        MotusStatus status = motus_lane_cpu_open(&lane->cpu, l->stream, l->threads);
        return status ? motus_fail(&lane->error, status, "%s", motus_status_text(status)) : MOTUS_OK;
    }
    const MotusStream *s = l->stream;
    lane->recs = (MotusFramePool){.width = 16 * s->mb_width, .height = 16 * s->mb_height, .pinned = 1};
    lane->mvs = motus_alloc(s->config.stream_only ? 1 : 16 * (size_t)s->mb_width * (size_t)s->mb_height, sizeof *lane->mvs);
    if (!lane->mvs) return motus_fail(&lane->error, MOTUS_ERR_MEMORY, "out of memory");
    return motus_lane_cuda_open(&lane->cuda, s, l->device, l->most_waiting, &lane->error);
}

static void close_lane(Lane *lane) {
    motus_lane_cpu_close(&lane->cpu);
    motus_lane_cuda_close(&lane->cuda);
    motus_frame_pool_close(&lane->recs);
    motus_free(lane->mvs);
    lane->mvs = NULL;
}

static MotusStatus begin_on_device(Lane *lane, Job *job) {
    const MotusStream *s = lane->lanes->stream;
    MotusStatus status = s->config.stream_only ? MOTUS_OK : motus_frame_pool_take(&lane->recs, &job->rec);
    if (status) return status;
    motus_planned_begin(job->order.planned, &lane->rate, s, &job->order.place);
    return motus_lane_cuda_begin(lane->cuda, job->slot, &job->order.place, job->rec, &job->error);
}

// Waits for a picture; one that turns out too large is coded again.
static MotusStatus wait_for_device(Lane *lane, Job *job, MotusLanePicture *coded) {
    const MotusStream *s = lane->lanes->stream;
    MotusPlace *place = &job->order.place;
    for (;;) {
        MotusStatus status = motus_lane_cuda_finish(lane->cuda, coded, &job->error);
        if (status) return status;
        const size_t bytes = motus_packet_bytes(s, place, coded->size);
        if (!motus_planned_coded(job->order.planned, &lane->rate, s, place, bytes)) return MOTUS_OK;
        motus_lane_cuda_undo(lane->cuda);
        status = motus_lane_cuda_begin(lane->cuda, job->slot, place, job->rec, &job->error);
        if (status) return status;
    }
}

// The packet of what has come from the device.
static MotusStatus finish_on_device(Lane *lane, Job *job) {
    const MotusStream *s = lane->lanes->stream;
    MotusLanePicture coded;
    MotusFrame *visible = NULL;
    MotusStatus status = wait_for_device(lane, job, &coded);
    if (!status)
        status = motus_packet_make(&job->packet, s, &job->order.place, coded.nal, coded.size,
                                   (size_t)job->order.planned->filler_bytes, &coded.stats);
    if (status || !job->rec) return status;
    const MotusWork listed = {.mb_width = s->mb_width,
                              .mb_height = s->mb_height,
                              .n_mb = s->mb_width * s->mb_height,
                              .threads = 1,
                              .mb = (MotusMb *)coded.mb};
    status = motus_frame_crop(&visible, job->rec, s->config.width, s->config.height);
    if (!status) visible->number = job->order.place.number;
    if (!status) status = motus_packet_add(job->packet, visible, job->source, lane->mvs, motus_list_mvs(&listed, lane->mvs));
    motus_frame_unref(&visible);
    return status;
}

// ---- A lane's thread ----------------------------------------------------------------------------------------------------------------------

// What is known of a packet beside its picture. The first pass's log costs the packet if there is no memory for it.
static MotusStatus describe(const MotusLanes *l, Job *job) {
    const MotusPlanned *planned = job->order.planned;
    MotusPacket *packet = job->packet;
    packet->pts = job->order.pts;
    packet->duration = job->order.duration;
    packet->opaque = job->order.opaque;
    packet->mean_qp = planned->mean_q8 / 256.0;
    packet->again = planned->again;
    packet->vbv_fullness = planned->held;
    if (l->stream->config.pass != 1) return MOTUS_OK;
    packet->pass_log = motus_planned_log(planned, l->stream, packet->size);
    return packet->pass_log ? MOTUS_OK : MOTUS_ERR_MEMORY;
}

// The lane's oldest picture is done, or will never be. Under the lock.
static void retire(Lane *lane, MotusStatus status) {
    MotusLanes *l = lane->lanes;
    Job *job = lane->first;
    if (!status) status = describe(l, job);
    job->status = status;
    if (status && !job->error.status) motus_fail(&job->error, status, "%s", motus_status_text(status));
    if (status) motus_packet_unref(&job->packet);
    if (status && !l->failure.status) l->failure = job->error;
    motus_frame_unref(&job->whole);
    motus_frame_unref(&job->source);
    motus_frame_unref(&job->rec);
    lane->first = job->behind;
    lane->finished++;
    l->active -= !lane->first;
    job->done = 1;
    pthread_cond_broadcast(&l->done);
}

// The steps of a lane that has something to do, under the lock, which they let go of meanwhile. Once a picture has failed, those behind it are not coded.

static void step_on_cpu(Lane *lane) {
    MotusLanes *l = lane->lanes;
    Job *job = lane->first;
    MotusStatus status = l->failure.status;
    const int threads = motus_max(1, l->threads / l->active);
    lane->waiting = job->behind;
    if (!status) {
        pthread_mutex_unlock(&l->lock);
        status = motus_lane_cpu_code(lane->cpu, &job->order.place, job->order.planned, &lane->rate, job->whole, job->source,
                                     threads, &job->packet);
        pthread_mutex_lock(&l->lock);
    }
    retire(lane, status);
}

// Begins the next picture, or waits for the oldest one: the device always has one to go on with.
static void step_on_device(Lane *lane) {
    MotusLanes *l = lane->lanes;
    if (!l->failure.status && lane->waiting && lane->waiting->order.planned->known && lane->begun < l->most_begun) {
        Job *job = lane->waiting;
        lane->waiting = job->behind;
        lane->begun++;
        pthread_mutex_unlock(&l->lock);
        job->status = begin_on_device(lane, job);
        pthread_mutex_lock(&l->lock);
        if (job->status && !l->failure.status) {
            if (!job->error.status) motus_fail(&job->error, job->status, "%s", motus_status_text(job->status));
            l->failure = job->error;
        }
        return;
    }
    Job *job = lane->first;
    MotusStatus status = l->failure.status;
    if (!lane->begun) {
        lane->waiting = job->behind;
    } else {
        pthread_mutex_unlock(&l->lock);
        MotusStatus finished = job->status ? job->status : finish_on_device(lane, job);
        pthread_mutex_lock(&l->lock);
        lane->begun--;
        if (finished) status = finished;
    }
    retire(lane, status);
}

// Whether there is something to do: a picture whose plan is known, one on a device, or pictures that will never be coded.
static int is_ready(const Lane *lane) {
    if (!lane->first) return 0;
    return lane->lanes->failure.status || lane->begun || (lane->waiting && lane->waiting->order.planned->known);
}

static void step(Lane *lane) {
    if (lane->cuda)
        step_on_device(lane);
    else
        step_on_cpu(lane);
}

static void *run_lane(void *argument) {
    Lane *lane = argument;
    MotusLanes *l = lane->lanes;
    MotusStatus status = open_lane(lane);
    pthread_mutex_lock(&l->lock);
    lane->status = status;
    lane->opened = 1;
    pthread_cond_broadcast(&l->done);
    while (!status) {
        while (!is_ready(lane) && !l->closing) pthread_cond_wait(&l->work, &l->lock);
        if (l->closing) break;
        step(lane);
    }
    pthread_mutex_unlock(&l->lock);
    close_lane(lane);
    return NULL;
}

// ---- All lanes ----------------------------------------------------------------------------------------------------------------------------

// A lane without a thread does its work where frames are sent.
static MotusStatus start_lane(MotusLanes *l, int k, MotusError *error) {
    Lane *lane = &l->lane[k];
    lane->lanes = l;
    lane->has_thread = !pthread_create(&lane->thread, NULL, run_lane, lane);
    if (!lane->has_thread) {
        lane->status = k ? motus_fail(&lane->error, MOTUS_ERR_MEMORY, "no thread for another lane") : open_lane(lane);
        if (lane->status) close_lane(lane);
    } else {
        pthread_mutex_lock(&l->lock);
        while (!lane->opened) pthread_cond_wait(&l->done, &l->lock);
        pthread_mutex_unlock(&l->lock);
    }
    if (!lane->status) return MOTUS_OK;
    if (lane->has_thread) pthread_join(lane->thread, NULL);
    if (error) *error = lane->error;
    MotusStatus status = lane->status;
    *lane = (Lane){0};
    return status;
}

// Frames that wait for look-ahead to have seen enough.
static int unplanned_frames(const MotusStream *s) { return s->config.rate == MOTUS_RATE_QP ? 0 : s->config.lookahead + 1; }

// As many lanes as there are processors for them, or, on a device, as speed it up, and as whole GOPs fit into a bounded memory: while a lane codes its GOP, the
// frames of the others' must have come.
static int auto_lanes(const MotusLanes *l) {
    const MotusStream *s = l->stream;
    const int frames = s->config.keyint + unplanned_frames(s);
    const size_t gop = (size_t)frames * 384 * (size_t)s->mb_width * (size_t)s->mb_height;
    size_t fit, most;
    if (l->backend == MOTUS_BACKEND_CPU) {
        fit = 1 + AUTO_BYTES_CPU / gop;
        most = (size_t)l->threads;
    } else {
        const size_t free_bytes = motus_lane_cuda_free_bytes(l->device) / 4;
        fit = (free_bytes < AUTO_BYTES_CUDA ? free_bytes : AUTO_BYTES_CUDA) / motus_lane_cuda_bytes(s, frames);
        most = AUTO_LANES_CUDA;
    }
    if (most > MOTUS_MAX_LANES) most = MOTUS_MAX_LANES;
    return (int)(fit < 1 ? 1 : fit < most ? fit : most);
}

// Monotonic, so that nobody waits longer because a clock is set.
static int open_conditions(MotusLanes *l) {
    pthread_condattr_t monotonic;
    if (pthread_condattr_init(&monotonic)) return 0;
    int good = !pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) && !pthread_mutex_init(&l->lock, NULL) &&
               !pthread_cond_init(&l->work, NULL) && !pthread_cond_init(&l->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return good;
}

MotusStatus motus_lanes_open(MotusLanes **lanes, const MotusStream *stream, MotusBackend backend, MotusError *error) {
    const MotusEncoderConfig *c = &stream->config;
    *lanes = NULL;
    MotusLanes *l = motus_alloc(1, sizeof *l);
    if (!l) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    l->stream = stream;
    l->backend = backend;
    l->threads = motus_cpu_threads(c->threads);
    MotusStatus status = backend == MOTUS_BACKEND_CUDA ? motus_lane_cuda_device(c->device, &l->device, error) : MOTUS_OK;
    if (!status && !open_conditions(l)) status = motus_fail(error, MOTUS_ERR_MEMORY, "no memory for locks");
    if (status) {
        motus_free(l);
        return status;
    }
    const int looks = c->rate != MOTUS_RATE_QP;
    l->n = !c->keyint || (looks && motus_rate_feeds_back(&stream->control)) ? 1 : c->lanes ? c->lanes : auto_lanes(l);
    l->most_waiting = unplanned_frames(stream) + (l->n == 1 ? FRAMES_OF_ONE_LANE : motus_max(FRAMES_OF_ONE_LANE, c->keyint));
    l->most_begun = looks && motus_rate_wants_sizes(&stream->control) ? 1 : MOTUS_LANE_BEGUN;
    motus_intake_open(&l->intake, c->width, c->height, backend == MOTUS_BACKEND_CUDA);
    status = start_lane(l, 0, error);
    *lanes = l;
    if (status) motus_lanes_close(lanes);
    return status;
}

void motus_lanes_close(MotusLanes **lanes) {
    if (!lanes || !*lanes) return;
    MotusLanes *l = *lanes;
    pthread_mutex_lock(&l->lock);
    l->closing = 1;
    pthread_cond_broadcast(&l->work);
    pthread_mutex_unlock(&l->lock);
    for (int k = 0; k < MOTUS_MAX_LANES; k++) {
        if (l->lane[k].has_thread) pthread_join(l->lane[k].thread, NULL);
        if (l->lane[k].lanes && !l->lane[k].has_thread) close_lane(&l->lane[k]);
    }
    for (Job *job = l->first, *next; job; job = next) {
        next = job->next;
        free_job(job);
    }
    motus_intake_close(&l->intake);
    pthread_cond_destroy(&l->work);
    pthread_cond_destroy(&l->done);
    pthread_mutex_destroy(&l->lock);
    motus_free(l);
    *lanes = NULL;
}

int motus_lanes_count(const MotusLanes *l) { return l->n; }

size_t motus_lanes_bytes(const MotusLanes *l) {
    return l->backend == MOTUS_BACKEND_CPU ? motus_lane_cpu_bytes(l->stream) : motus_lane_cuda_bytes(l->stream, l->most_waiting);
}

// ---- Frames in ----------------------------------------------------------------------------------------------------------------------------

// The lane of the GOP that begins: the next one, opened if it is its first. Where that fails, the lanes there are have to do.
static Lane *lane_for(MotusLanes *l, int idr) {
    if (!idr) return &l->lane[(l->gops - 1) % l->n];
    int k = l->gops % l->n;
    if (!l->lane[k].lanes && start_lane(l, k, NULL)) {
        l->n = k;
        l->gops = 0;
        k = 0;
    }
    return &l->lane[k];
}

// Waits until the lane has room. The error of a picture before ends that.
static MotusStatus wait_for_room(MotusLanes *l, const Lane *lane, MotusError *error) {
    pthread_mutex_lock(&l->lock);
    while (!l->failure.status && lane->sent - lane->finished == (unsigned)l->most_waiting) pthread_cond_wait(&l->done, &l->lock);
    MotusStatus status = l->failure.status;
    if (status) *error = l->failure;
    pthread_mutex_unlock(&l->lock);
    return status;
}

// The frame on the host, where the lane, the receiver of the packet or look-ahead wants it.
static MotusStatus take_in(MotusLanes *l, Job *job, int looks, const MotusFrame *frame, int on_device, void *made_on,
                           MotusError *error) {
    if (l->backend != MOTUS_BACKEND_CPU && l->stream->config.stream_only && !(looks && on_device)) return MOTUS_OK;
    return on_device ? motus_intake_device(&l->intake, frame, made_on, &job->whole, &job->source, error)
                     : motus_intake_host(&l->intake, frame, &job->whole, &job->source);
}

// The job joins its lane and the stream.
static void submit(MotusLanes *l, Lane *lane, Job *job) {
    pthread_mutex_lock(&l->lock);
    l->gops += job->order.place.idr;
    if (l->last) l->last->next = job;
    l->last = job;
    if (!l->first) l->first = job;
    if (lane->first)
        lane->last->behind = job;
    else
        lane->first = job, l->active++;
    lane->last = job;
    if (!lane->waiting) lane->waiting = job;
    lane->sent++;
    if (!l->unplanned && !job->order.planned->known) l->unplanned = job;
    pthread_cond_broadcast(&l->work);
    while (!lane->has_thread && is_ready(lane)) step(lane);
    pthread_mutex_unlock(&l->lock);
}

// Finds the job's lane, once its type is known, and puts the frame there.
static MotusStatus send_job(MotusLanes *l, Job *job, const MotusFrame *frame, int on_device, void *made_on, MotusError *error) {
    Lane *lane = lane_for(l, job->order.place.idr);
    MotusStatus status = wait_for_room(l, lane, error);
    job->lane = lane;
    if (!status && lane->cuda) {
        job->slot = (int)(lane->sent % (unsigned)l->most_waiting);
        status = motus_lane_cuda_take(lane->cuda, job->slot, frame, on_device, made_on, error);
    }
    if (!status) submit(l, lane, job);
    return status;
}

MotusStatus motus_lanes_send(MotusLanes *l, MotusOrder *order, MotusLookahead *look, const MotusFrame *frame, int on_device,
                             void *made_on, MotusError *error) {
    Job *job = motus_alloc(1, sizeof *job);
    if (!job) {
        motus_free(order->planned);
        return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    }
    job->order = *order;
    MotusStatus status = take_in(l, job, look != NULL, frame, on_device, made_on, error);
    if (!status) {
        MotusPlace *place = &job->order.place;
        if (look) place->idr = motus_lookahead_put(look, on_device ? &job->source->plane[0] : &frame->plane[0], place->idr);
        if (place->idr) place->since_idr = 0;
        *order = job->order;
        status = send_job(l, job, frame, on_device, made_on, error);
        if (!status) return MOTUS_OK;
        if (look) motus_lookahead_undo(look);
    }
    free_job(job);
    if (!error->status) motus_fail(error, status, "%s", motus_status_text(status));
    return status;
}

MotusPlanned *motus_lanes_unplanned(MotusLanes *l) {
    pthread_mutex_lock(&l->lock);
    MotusPlanned *planned = l->unplanned ? l->unplanned->order.planned : NULL;
    pthread_mutex_unlock(&l->lock);
    return planned;
}

void motus_lanes_planned(MotusLanes *l) {
    pthread_mutex_lock(&l->lock);
    Job *job = l->unplanned;
    job->order.planned->known = 1;
    l->unplanned = job->next;
    pthread_cond_broadcast(&l->work);
    while (!job->lane->has_thread && is_ready(job->lane)) step(job->lane);
    pthread_mutex_unlock(&l->lock);
}

// ---- Packets out --------------------------------------------------------------------------------------------------------------------------

static struct timespec later(int milliseconds) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    int64_t ns = t.tv_nsec + (int64_t)(milliseconds % 1000) * 1000000;
    t.tv_sec += milliseconds / 1000 + ns / 1000000000;
    t.tv_nsec = ns % 1000000000;
    return t;
}

MotusStatus motus_lanes_receive(MotusLanes *l, MotusPacket **packet, int timeout_ms, MotusError *error) {
    const struct timespec end = later(motus_max(timeout_ms, 0));
    MotusStatus status = MOTUS_AGAIN;
    pthread_mutex_lock(&l->lock);
    while (l->first && !l->first->done && timeout_ms) {
        const int needs_frames = !l->first->order.planned->known && !l->failure.status; // that have not come
        if (timeout_ms < 0 && !needs_frames)
            pthread_cond_wait(&l->done, &l->lock);
        else if (timeout_ms < 0 || pthread_cond_timedwait(&l->done, &l->lock, &end) == ETIMEDOUT)
            break;
    }
    Job *job = l->first;
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
    if (job) free_job(job);
    return status;
}

int motus_lanes_empty(MotusLanes *l) {
    pthread_mutex_lock(&l->lock);
    int empty = !l->first;
    pthread_mutex_unlock(&l->lock);
    return empty;
}
