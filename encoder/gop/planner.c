// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/planner.h"

#include <pthread.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "encoder/rate/lookahead.h"

struct MotusPlanner {
    const MotusStream *stream;
    MotusGopCoders *gop_coders;
    MotusLookahead *look;
    int late;       // types are not known when frames are sent
    int has_thread; // else the steps are done by who sends frames
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    // Under the lock: steps, one for each picture that has been sent, and one for the end.
    int64_t sent, done;
    int ended; // the last one is the end
    int closing;
    // Of whoever does the steps.
    uint32_t since_idr, idr_pic_id; // of the next picture, unless it is an IDR picture
    MotusError lost;                // why no more pictures can be planned
};

// ---- A step -------------------------------------------------------------------------------------

// Whether this is the picture that the first pass saw.
static MotusStatus check_log(const MotusPlanner *p, const MotusLookaheadPlan *plan,
                             MotusError *error) {
    const MotusPassLog *log = p->stream->control.log;
    if (!log) return MOTUS_OK;
    const MotusPassPicture *picture = plan->number < log->n ? &log->picture[plan->number] : NULL;
    if (picture && picture->idr == plan->idr && picture->cost == plan->cost) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_FORMAT,
                      "picture %lld is not the one that the pass log tells of",
                      (long long)plan->number);
}

// Hands out the plans that look-ahead has become able to make.
static MotusStatus plan(MotusPlanner *p) {
    MotusPicturePlan *planned;
    MotusStatus status = MOTUS_OK;
    while (!status && (planned = motus_gop_coders_unplanned(p->gop_coders))) {
        status = motus_picture_plan_get(planned, p->look, &p->lost);
        if (!status) status = check_log(p, &planned->plan, &p->lost);
        if (!status) motus_gop_coders_planned(p->gop_coders);
    }
    return status < 0 ? status : MOTUS_OK;
}

// Tells lanes the type of the oldest picture that has none.
static MotusStatus choose_type(MotusPlanner *p) {
    int idr;
    MotusStatus status = motus_lookahead_wait_type(p->look, &idr, &p->lost);
    if (status) return status;
    motus_gop_coders_type(p->gop_coders, idr, p->since_idr, p->idr_pic_id);
    p->since_idr = idr ? 1 : p->since_idr + 1;
    p->idr_pic_id += (uint32_t)idr;
    return MOTUS_OK;
}

// Where it fails, the stream ends before the picture that has no plan.
static MotusStatus step(MotusPlanner *p, int is_end) {
    if (p->lost.status) return p->lost.status;
    MotusStatus status = p->late && !is_end ? choose_type(p) : MOTUS_OK;
    if (is_end) motus_lookahead_end(p->look);
    if (!status) status = plan(p);
    if (status) motus_gop_coders_lose(p->gop_coders, &p->lost);
    return status;
}

static void *run(void *argument) {
    MotusPlanner *p = argument;
    motus_device_use(motus_lookahead_device(p->look));
    pthread_mutex_lock(&p->lock);
    while (!p->closing) {
        if (p->done == p->sent) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        const int is_end = p->ended && p->done + 1 == p->sent;
        pthread_mutex_unlock(&p->lock);
        step(p, is_end);
        motus_gop_coders_expect(p->gop_coders, -1);
        pthread_mutex_lock(&p->lock);
        p->done++;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

// ---- For who sends frames -----------------------------------------------------------------------

MotusStatus motus_planner_open(MotusPlanner **planner, const MotusStream *stream,
                               MotusGopCoders *gop_coders, MotusLookahead *look,
                               int64_t first_gop) {
    *planner = NULL;
    MotusPlanner *p = motus_alloc(1, sizeof *p);
    if (!p) return MOTUS_ERR_MEMORY;
    p->stream = stream, p->gop_coders = gop_coders, p->look = look;
    p->idr_pic_id = (uint32_t)first_gop;
    p->late = motus_gop_coders_type_late(gop_coders, look);
    const int has_lock = !pthread_mutex_init(&p->lock, NULL),
              good = has_lock && !pthread_cond_init(&p->changed, NULL);
    if (!good) {
        if (has_lock) pthread_mutex_destroy(&p->lock);
        motus_free(p);
        return MOTUS_ERR_MEMORY;
    }
    p->has_thread = p->late && motus_gop_coders_have_threads(gop_coders) &&
                    !pthread_create(&p->thread, NULL, run, p);
    *planner = p;
    return MOTUS_OK;
}

void motus_planner_close(MotusPlanner **planner) {
    if (!planner || !*planner) return;
    MotusPlanner *p = *planner;
    pthread_mutex_lock(&p->lock);
    p->closing = 1;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (p->has_thread) pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    motus_free(p);
    *planner = NULL;
}

static void wait_for_steps(MotusPlanner *p, int64_t most) {
    pthread_mutex_lock(&p->lock);
    while (p->sent - p->done > most) pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void motus_planner_begin(MotusPlanner *p) {
    if (!p->has_thread) return;
    wait_for_steps(p, MOTUS_LOOKAHEAD_MAX_PENDING - 1);
    motus_gop_coders_expect(p->gop_coders, 1);
}

// Leaves a step to the thread.
static void leave(MotusPlanner *p, int is_end) {
    pthread_mutex_lock(&p->lock);
    p->sent++;
    p->ended = is_end;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static MotusStatus step_here(MotusPlanner *p, int is_end, MotusError *error) {
    const MotusStatus status = step(p, is_end);
    if (status) *error = p->lost;
    return status;
}

MotusStatus motus_planner_sent(MotusPlanner *p, MotusStatus sent, MotusError *error) {
    if (!p->has_thread) return sent ? sent : step_here(p, 0, error);
    if (sent)
        motus_gop_coders_expect(p->gop_coders, -1);
    else
        leave(p, 0);
    return sent;
}

MotusStatus motus_planner_end(MotusPlanner *p, MotusError *error) {
    if (!p->has_thread) return step_here(p, 1, error);
    motus_gop_coders_expect(p->gop_coders, 1);
    leave(p, 1);
    return MOTUS_OK;
}

MotusStatus motus_planner_next_segment(MotusPlanner *p, int64_t first_picture, int64_t first_gop,
                                       MotusError *error) {
    if (p->has_thread) wait_for_steps(p, 0);
    if (p->lost.status) *error = p->lost;
    if (p->lost.status) return p->lost.status;
    p->idr_pic_id = (uint32_t)first_gop;
    motus_lookahead_next_segment(p->look, first_picture);
    return MOTUS_OK;
}
