// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/cuts.h"

#include <pthread.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "common/int_core.h"
#include "tools/cli/system.h"
#include "tools/mpi/rank_input.h"

// On a GPU each waits for frames to be read, and for one small kernel after the other; on
// processors a picture is not much work for many threads.
enum { MOST_LOOKERS = 16, FOR_ONE_RANK = 4, THREADS_OF_ONE = 4, LEAST_STRETCH = 240 };

typedef struct Looker {
    MotusCuts *cuts;
    pthread_t thread;
    int on_host; // as long as the device is being opened
    int again;   // the picture before the next one is looked at once more: a GOP begins there, and
                 // nothing before it counts
    MotusLookahead *look;
    MotusRankInput input;
} Looker;

// What one finds who begins to look somewhere.
typedef struct Run {
    struct Run *next;    // that begins after it
    int64_t from, at;    // where it began, and the picture that comes next
    int64_t *begin;      // where GOPs begin
    int64_t n, room;     // of them, and room for so many
    struct Run *follows; // has what follows the last of `begin`; NULL: nobody yet
    int ends;            // the input, at `at`
    int begun, taken;    // somebody has begun to look; and does so
    int dropped;         // nobody needs it
} Run;

struct MotusCuts {
    const MotusMpiWorker *of;
    const MotusGops *gops;
    int64_t first, end; // what is looked at; no picture is at `end`, or behind
    int64_t frames;     // of the stream, as far as the input tells; -1: it does not
    int64_t stretch; // from where a run begins to the next: a multiple of the longest GOP, as runs
                     // then meet without cuts
    Looker looker[MOST_LOOKERS];
    int lookers;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Run *runs;       // in the order of their beginnings; the first one is true
    int64_t asked;   // the part that was asked for last begins here
    int device_open; // somebody looks there
    int closing;
    MotusError lost;  // why nobody looks any more
    int64_t pictures; // that have been looked at
    double seconds, began;
};

// ---- Runs, under the lock -----------------------------------------------------------------------

static void free_run(Run *r) {
    motus_free(r->begin);
    motus_free(r);
}

// Takes the run at *place out; who looks there frees it.
static void drop(Run **place) {
    Run *r = *place;
    *place = r->next;
    r->dropped = 1;
    if (!r->taken) free_run(r);
}

// How far a run leads.
static int64_t reach(const Run *r) {
    while (r->follows) r = r->follows;
    return r->at;
}

// Drops what the stream has passed: runs before the first one that is still to be handed out, and
// others that did not meet it and lead less far. Nobody who stays refers to them, since a run leads
// as far as the one that follows it.
static void tidy(MotusCuts *c) {
    for (Run *to; (to = c->runs->follows) && c->runs->begin[c->runs->n - 1] <= c->asked;)
        while (c->runs != to) drop(&c->runs);
    const int64_t at = reach(c->runs);
    for (Run **place = &c->runs->next; *place;)
        if (reach(*place) < at)
            drop(place);
        else
            place = &(*place)->next;
    pthread_cond_broadcast(&c->changed);
}

static int is_true(const MotusCuts *c, const Run *run) {
    const Run *r = c->runs;
    while (r && r != run) r = r->follows;
    return r != NULL;
}

static int gop_begins(const Run *r, int64_t picture) {
    int64_t i = r->n;
    while (i > 0 && r->begin[i - 1] > picture) i--;
    return i > 0 && r->begin[i - 1] == picture;
}

// Picture r->at begins a GOP. If it does so for a later run, too, that has the rest. 0: no memory.
static int note_gop(Run *r) {
    if (r->n == r->room) {
        const int64_t room = 2 * r->room + 16;
        int64_t *more = motus_alloc((size_t)room, sizeof *more);
        if (!more) return 0;
        for (int64_t i = 0; i < r->n; i++) more[i] = r->begin[i];
        motus_free(r->begin);
        r->begin = more;
        r->room = room;
    }
    r->begin[r->n++] = r->at;
    for (Run *later = r->next; later && !r->follows; later = later->next)
        if (gop_begins(later, r->at)) r->follows = later;
    return 1;
}

// Whether what comes next is not wanted yet; nor does one who may be wrong go on for long beside
// the next one.
static int may_wait(const MotusCuts *c, const Run *r) {
    if (r->n && r->begin[r->n - 1] > c->asked && r->at - c->asked >= (c->lookers + 1) * c->stretch)
        return 1;
    return r->next && r->at - r->next->from >= c->stretch && !is_true(c, r);
}

static Run *add_run(MotusCuts *c, int64_t from) {
    Run *r = motus_alloc(1, sizeof *r), **place = &c->runs;
    if (!r) motus_fail(&c->lost, MOTUS_ERR_MEMORY, "out of memory");
    if (!r) return NULL;
    r->from = r->at = from;
    while (*place) place = &(*place)->next;
    *place = r;
    return r;
}

// The run that is to be looked at next: the first one, or a new one ahead of all others. NULL: none
// for now.
static Run *next_run(MotusCuts *c) {
    if (!c->runs->begun) return c->runs;
    int64_t far = c->first;
    for (const Run *r = c->runs; r; r = r->next)
        if (far < r->at) far = r->at;
    const int64_t from = c->first + ((far - c->first) / c->stretch + 1) * c->stretch;
    return from < c->frames && from < c->end && from - c->asked <= c->lookers * c->stretch
               ? add_run(c, from)
               : NULL;
}

// ---- Who looks ----------------------------------------------------------------------------------

static MotusStatus open_look(Looker *w, MotusError *error) {
    const MotusGops *g = w->cuts->gops;
    const int device = w->on_host ? MOTUS_LOOKAHEAD_HOST : g->device;
    if (device != MOTUS_LOOKAHEAD_HOST) motus_device_use(device); // pinned memory is for it
    w->input = (MotusRankInput){
        .of = w->cuts->of, .pinned = device != MOTUS_LOOKAHEAD_HOST, .luma_only = 1};
    return motus_gops_look_open(&w->look, g, device, error);
}

static void close_look(Looker *w) {
    motus_lookahead_close(&w->look);
    motus_rank_input_close(&w->input);
}

static MotusStatus look_at(Looker *w, int64_t picture, int *begins, MotusError *error) {
    MotusFrame *frame = NULL;
    MotusStatus status =
        motus_rank_input_frame(&w->input, w->cuts->of->options->seek + picture, &frame, error);
    if (!status) status = motus_gops_look(w->look, frame, begins, error);
    motus_frame_unref(&frame);
    return status;
}

static void lose(MotusCuts *c, const MotusError *error) {
    if (!c->lost.status) c->lost = *error;
}

// The run's next picture, under the lock, which is let go of meanwhile.
static void step(Looker *w, Run *r) {
    MotusCuts *c = w->cuts;
    MotusError error = {0};
    const int again = w->again;
    const int64_t at = r->at - again;
    const int there = at < c->end;
    int begins = 0;
    pthread_mutex_unlock(&c->lock);
    const double began = motus_seconds();
    MotusStatus status = there ? look_at(w, at, &begins, &error) : MOTUS_END;
    const double took = motus_seconds() - began;
    pthread_mutex_lock(&c->lock);
    c->seconds += took;
    if (!c->pictures) c->began = began;
    c->pictures += !status;
    w->again = 0;
    if (r->dropped || (again && !status)) return;
    if (!status && begins && !note_gop(r))
        status = motus_fail(&error, MOTUS_ERR_MEMORY, "out of memory");
    if (!status) r->at++;
    if (status == MOTUS_END) r->ends = 1;
    if (status == MOTUS_END && at < c->end) c->end = at;
    if (status < 0) lose(c, &error);
    if (!status && !begins) return;
    tidy(c);
    motus_link_wake(c->of->link);
}

// Who looks on the host goes on where the device is, from where a GOP begins.
static void change_over(Looker *w, const Run *r) {
    MotusCuts *c = w->cuts;
    MotusError error = {0};
    pthread_mutex_unlock(&c->lock);
    close_look(w);
    w->on_host = 0;
    MotusStatus status = open_look(w, &error);
    pthread_mutex_lock(&c->lock);
    if (status) lose(c, &error);
    w->again = r->n > 0;
}

static void follow(Looker *w, Run *r) {
    MotusCuts *c = w->cuts;
    r->begun = r->taken = 1;
    w->again = 0;
    for (int begins = 1;
         !c->closing && !c->lost.status && !r->dropped && !r->follows && !r->ends;) {
        const int changes = begins && w->on_host && c->device_open;
        if (changes) change_over(w, r);
        if (changes || !r->n) motus_lookahead_next_segment(w->look, r->at);
        if (c->lost.status) break;
        if (may_wait(c, r))
            pthread_cond_wait(&c->changed, &c->lock);
        else
            step(w, r);
        begins = r->n && r->begin[r->n - 1] == r->at - 1;
    }
    r->taken = 0;
    if (r->dropped) free_run(r);
}

static void *look(void *looker) {
    Looker *w = looker;
    MotusCuts *c = w->cuts;
    MotusError error = {0};
    MotusStatus status = open_look(w, &error);
    pthread_mutex_lock(&c->lock);
    if (status) lose(c, &error);
    c->device_open |= !status && motus_lookahead_device(w->look) != MOTUS_LOOKAHEAD_HOST;
    while (!c->closing && !c->lost.status) {
        Run *r = next_run(c);
        if (r)
            follow(w, r);
        else if (!c->lost.status)
            pthread_cond_wait(&c->changed, &c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    motus_link_wake(c->of->link);
    close_look(w);
    return NULL;
}

// ---- Rank 0 -------------------------------------------------------------------------------------

// How many look, and how many of them on the host: one while the device is being opened, or all,
// who share the threads.
static int lookers_of(MotusGops *gops, int ranks, int64_t frames, int *on_host) {
    int *threads = &gops->stream.look.threads;
    const int on_device = gops->device != MOTUS_LOOKAHEAD_HOST;
    *on_host = !on_device;
    if (frames < 0) return 1;
    if (on_device) {
        *on_host = 1;
        *threads = motus_min(*threads, THREADS_OF_ONE);
        return FOR_ONE_RANK * motus_min(ranks, MOST_LOOKERS / FOR_ONE_RANK);
    }
    *on_host = motus_clip(1, MOST_LOOKERS, *threads / THREADS_OF_ONE);
    *threads /= *on_host;
    return *on_host;
}

static int begin_looker(MotusCuts *c, int on_host) {
    Looker *w = &c->looker[c->lookers];
    w->cuts = c;
    w->on_host = on_host;
    return !pthread_create(&w->thread, NULL, look, w);
}

MotusStatus motus_cuts_open(MotusCuts **cuts, const MotusMpiWorker *of, MotusGops *gops, int ranks,
                            int64_t first, int64_t limit, int64_t frames, MotusError *error) {
    *cuts = NULL;
    MotusCuts *c = motus_alloc(1, sizeof *c);
    if (!c) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    const int64_t gop = gops->stream.config.keyint ? gops->stream.config.keyint : LEAST_STRETCH;
    c->of = of, c->gops = gops;
    c->first = c->asked = first;
    c->end = limit;
    c->frames = frames;
    c->stretch = (LEAST_STRETCH + gop - 1) / gop * gop;
    int good = add_run(c, first) && !pthread_mutex_init(&c->lock, NULL) &&
               !pthread_cond_init(&c->changed, NULL);
    int on_host;
    const int wanted = lookers_of(gops, ranks, frames, &on_host);
    if (good) pthread_mutex_lock(&c->lock);
    while (good && c->lookers < wanted && begin_looker(c, c->lookers < on_host)) c->lookers++;
    if (good) pthread_mutex_unlock(&c->lock);
    *cuts = c;
    if (c->lookers) return MOTUS_OK;
    motus_cuts_close(cuts);
    return motus_fail(error, MOTUS_ERR_MEMORY, "no thread for look-ahead");
}

void motus_cuts_close(MotusCuts **cuts) {
    MotusCuts *c = *cuts;
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    c->closing = 1;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->lookers; i++) pthread_join(c->looker[i].thread, NULL);
    for (Run *r = c->runs, *next; r; r = next) {
        next = r->next;
        free_run(r);
    }
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    motus_free(c);
    *cuts = NULL;
}

// The GOPs of a part that begins at `first`, as far as they are known.
static MotusStatus find_part(const MotusCuts *c, int64_t first, int64_t gops, MotusCutsPart *part) {
    int64_t last = first; // where the last GOP that was found begins
    *part = (MotusCutsPart){.gops = 1};
    for (const Run *r = c->runs; r; r = r->follows) {
        for (int64_t i = 0; i < r->n; i++) {
            if (r->begin[i] <= last) continue;
            last = r->begin[i];
            part->count = last - first;
            if (part->gops == gops) return MOTUS_OK;
            part->gops++;
        }
        if (!r->ends) continue;
        part->count = r->at - first;
        part->at_end = 1;
        return part->count > 0 ? MOTUS_OK : MOTUS_END;
    }
    return MOTUS_AGAIN;
}

MotusStatus motus_cuts_part(MotusCuts *c, int64_t first, int64_t gops, MotusCutsPart *part,
                            MotusError *error) {
    pthread_mutex_lock(&c->lock);
    if (c->asked < first) {
        c->asked = first;
        tidy(c);
    }
    MotusStatus status = find_part(c, first, gops, part);
    if (status == MOTUS_AGAIN && c->lost.status) {
        *error = c->lost;
        status = error->status;
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

MotusCutsWork motus_cuts_work(MotusCuts *c) {
    pthread_mutex_lock(&c->lock);
    const MotusCutsWork work = {c->lookers, c->stretch, c->pictures, c->seconds, c->began};
    pthread_mutex_unlock(&c->lock);
    return work;
}
