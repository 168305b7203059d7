// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/gop/planner.h"

#include <pthread.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"

struct MotusPlanner {
    const MotusStream *stream;
    MotusGopCoders *coders;
    MotusLookahead *look;
    void *context;  // of the thread (motus_device_use)
    int type_later; // motus_gop_coders_type_later
    int has_thread; // 0: the sender does the jobs
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    // Under the lock: jobs, one for each picture and one for the end.
    int64_t sent, done;
    int ended; // the last job is the end
    int closing;
    MotusError lost; // of the thread that does the jobs: no more pictures can be planned
};

// ---- Jobs ---------------------------------------------------------------------------------------

// Fails if the picture is not the one that the first pass saw.
static MotusStatus check_log(const MotusPlanner *p, const MotusLookaheadPlan *plan,
                             MotusError *error) {
    const MotusPassLog *log = p->stream->rate.log;
    if (!log) return MOTUS_OK;
    const MotusPassPicture *picture = plan->number < log->n ? &log->picture[plan->number] : NULL;
    if (picture && picture->idr == plan->idr && picture->cost == plan->cost) return MOTUS_OK;
    return motus_fail(error, MOTUS_ERR_FORMAT,
                      "picture %lld is not the one that the pass log tells of",
                      (long long)plan->number);
}

// Does the job of a picture, or of the end. If it fails, the stream ends before the first picture
// without a plan.
static MotusStatus do_job(MotusPlanner *p, int is_end) {
    if (p->lost.status) return p->lost.status;
    MotusStatus status = MOTUS_OK;
    if (p->type_later && !is_end) { // of the oldest picture without one, once it is known
        int idr;
        status = motus_lookahead_wait_type(p->look, &idr, &p->lost);
        if (!status) motus_gop_coders_set_type(p->coders, idr);
    }
    if (is_end) motus_lookahead_end(p->look);
    if (is_end) motus_gop_coders_end(p->coders);
    // Hands out the plans that the lookahead can make now.
    MotusPicturePlan *plan = status ? NULL : motus_gop_coders_planned(p->coders, NULL);
    while (plan && !status) {
        status = motus_picture_plan_get(plan, p->look, &p->lost);
        if (!status) status = check_log(p, &plan->lookahead, &p->lost);
        if (!status) plan = motus_gop_coders_planned(p->coders, plan);
    }
    if (plan && status > 0) status = MOTUS_OK; // MOTUS_AGAIN: it needs more pictures
    if (status) motus_gop_coders_lose(p->coders, &p->lost);
    return status;
}

static void *run(void *argument) {
    MotusPlanner *p = argument;
    motus_device_use(motus_lookahead_device(p->look), p->context);
    pthread_mutex_lock(&p->lock);
    while (!p->closing) {
        if (p->done == p->sent) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        const int is_end = p->ended && p->done + 1 == p->sent;
        pthread_mutex_unlock(&p->lock);
        do_job(p, is_end);
        motus_gop_coders_expect(p->coders, -1);
        pthread_mutex_lock(&p->lock);
        p->done++;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

// ---- The sender's side --------------------------------------------------------------------------

MotusStatus motus_planner_open(MotusPlanner **planner, const MotusStream *stream,
                               MotusGopCoders *coders, MotusLookahead *look) {
    *planner = NULL;
    MotusPlanner *p = motus_alloc(1, sizeof *p);
    if (!p) return MOTUS_ERR_MEMORY;
    p->stream = stream, p->coders = coders, p->look = look;
    p->type_later = motus_gop_coders_type_later(coders, look);
    if (p->type_later) p->context = motus_device_context(motus_lookahead_device(look));
    const int has_lock = !pthread_mutex_init(&p->lock, NULL),
              good = has_lock && !pthread_cond_init(&p->changed, NULL);
    if (!good) {
        if (has_lock) pthread_mutex_destroy(&p->lock);
        motus_free(p);
        return MOTUS_ERR_MEMORY;
    }
    p->has_thread =
        p->type_later && coders->coder[0].has_thread && !pthread_create(&p->thread, NULL, run, p);
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

// Blocks until at most `max` jobs are pending.
static void wait_for_jobs(MotusPlanner *p, int64_t max) {
    pthread_mutex_lock(&p->lock);
    while (p->sent - p->done > max) pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void motus_planner_begin(MotusPlanner *p) {
    if (!p->has_thread) return;
    wait_for_jobs(p, MOTUS_LOOKAHEAD_MAX_PENDING - 1);
    motus_gop_coders_expect(p->coders, 1);
}

MotusStatus motus_planner_sent(MotusPlanner *p, MotusStatus sent, int is_end, MotusError *error) {
    if (!p->has_thread) {
        const MotusStatus status = sent ? sent : do_job(p, is_end);
        if (!sent && status) *error = p->lost;
        return status;
    }
    if (sent || is_end) motus_gop_coders_expect(p->coders, sent ? -1 : 1);
    if (sent) return sent;
    pthread_mutex_lock(&p->lock);
    p->sent++;
    p->ended = is_end;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    return MOTUS_OK;
}

MotusStatus motus_planner_next_segment(MotusPlanner *p, int64_t first_picture, MotusError *error) {
    if (p->has_thread) wait_for_jobs(p, 0);
    if (p->lost.status) *error = p->lost;
    if (p->lost.status) return p->lost.status;
    motus_lookahead_next_segment(p->look, first_picture);
    return MOTUS_OK;
}
