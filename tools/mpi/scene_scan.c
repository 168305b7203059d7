// SPDX-License-Identifier: BSD-2-Clause
#include "tools/mpi/scene_scan.h"

#include <pthread.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "common/int_core.h"
#include "tools/cli/system.h"
#include "tools/mpi/rank_input.h"

// On a GPU a scanner waits for the reader and for small kernels, so there are several a rank. On
// the CPU a picture keeps only a few threads busy.
enum { MAX_SCANNERS = 16, SCANNERS_PER_RANK = 4, THREADS_PER_SCANNER = 4, MIN_STRETCH = 240 };

typedef struct Scanner {
    MotusSceneScan *scan;
    pthread_t thread;
    int on_cpu; // until the device is open
    int again;  // the picture before the next one begins a GOP and is scanned once more
    MotusLookahead *lookahead;
    MotusRankInput input;
} Scanner;

// GOPs that one scanner finds from some picture on.
typedef struct Stretch {
    struct Stretch *next;    // in order of `from`
    int64_t from, at;        // first picture, and the one to be scanned next
    int64_t *begin;          // pictures that begin GOPs
    int64_t n, capacity;     // of begin
    struct Stretch *follows; // continues after the last of `begin`; NULL: none yet
    int at_end;              // the input ends at `at`
    int started, in_use;     // a scanner has taken it; and still has it
    int dropped;             // not needed any more
} Stretch;

struct MotusSceneScan {
    const MotusMpiWorker *worker;
    const MotusGops *gops;
    int64_t first, end; // scanned pictures are in first..end - 1
    int64_t frames;     // of the stream; -1: unknown
    // Pictures from one stretch's start to the next: a multiple of the longest GOP, so that without
    // cuts a stretch meets the next one.
    int64_t stretch;
    Scanner scanner[MAX_SCANNERS];
    int scanners;
    pthread_mutex_t lock; // guards the members below
    pthread_cond_t changed;
    Stretch *stretches; // the first one begins where a GOP of the stream begins
    int64_t asked;      // first picture of the segment asked for last
    int device_open;
    int closing;
    MotusError failure;
    int64_t pictures; // scanned
    double seconds, began;
};

// ---- Stretches (with the lock held) -------------------------------------------------------------

static void free_stretch(Stretch *s) {
    motus_free(s->begin);
    motus_free(s);
}

// Unlinks the stretch at *link. If a scanner has it, the scanner frees it.
static void drop(Stretch **link) {
    Stretch *s = *link;
    *link = s->next;
    s->dropped = 1;
    if (!s->in_use) free_stretch(s);
}

// Returns the first picture that neither the stretch nor those that follow it have scanned.
static int64_t reach(const Stretch *s) {
    while (s->follows) s = s->follows;
    return s->at;
}

// Drops stretches whose GOPs have all been asked for, and those that the first one has overtaken
// without meeting them. The others do not refer to these, since a stretch reaches as far as the one
// that follows it.
static void drop_unneeded(MotusSceneScan *c) {
    for (Stretch *to;
         (to = c->stretches->follows) && c->stretches->begin[c->stretches->n - 1] <= c->asked;)
        while (c->stretches != to) drop(&c->stretches);
    const int64_t at = reach(c->stretches);
    for (Stretch **link = &c->stretches->next; *link;)
        if (reach(*link) < at)
            drop(link);
        else
            link = &(*link)->next;
    pthread_cond_broadcast(&c->changed);
}

// True if the stretch's GOPs are known to be those of the stream.
static int is_confirmed(const MotusSceneScan *c, const Stretch *stretch) {
    const Stretch *s = c->stretches;
    while (s && s != stretch) s = s->follows;
    return s != NULL;
}

static int gop_begins(const Stretch *s, int64_t picture) {
    int64_t i = s->n;
    while (i > 0 && s->begin[i - 1] > picture) i--;
    return i > 0 && s->begin[i - 1] == picture;
}

// Records that picture s->at begins a GOP, and links a later stretch in which it does too. Returns
// 0 without memory.
static int add_gop(Stretch *s) {
    if (s->n == s->capacity) {
        const int64_t capacity = 2 * s->capacity + 16;
        int64_t *more = motus_alloc((size_t)capacity, sizeof *more);
        if (!more) return 0;
        for (int64_t i = 0; i < s->n; i++) more[i] = s->begin[i];
        motus_free(s->begin);
        s->begin = more;
        s->capacity = capacity;
    }
    s->begin[s->n++] = s->at;
    for (Stretch *later = s->next; later && !s->follows; later = later->next)
        if (gop_begins(later, s->at)) s->follows = later;
    return 1;
}

// True if the stretch is far enough ahead of the segments asked for, or is unconfirmed and has
// scanned a whole stretch of the next one.
static int may_wait(const MotusSceneScan *c, const Stretch *s) {
    if (s->n && s->begin[s->n - 1] > c->asked && s->at - c->asked >= (c->scanners + 1) * c->stretch)
        return 1;
    return s->next && s->at - s->next->from >= c->stretch && !is_confirmed(c, s);
}

static Stretch *add_stretch(MotusSceneScan *c, int64_t from) {
    Stretch *s = motus_alloc(1, sizeof *s), **link = &c->stretches;
    if (!s) motus_fail(&c->failure, MOTUS_ERR_MEMORY, "out of memory");
    if (!s) return NULL;
    s->from = s->at = from;
    while (*link) link = &(*link)->next;
    *link = s;
    return s;
}

// Returns the stretch that a free scanner takes: the first one, or a new one beyond all others.
// NULL: none for now.
static Stretch *next_stretch(MotusSceneScan *c) {
    if (!c->stretches->started) return c->stretches;
    int64_t farthest = c->first;
    for (const Stretch *s = c->stretches; s; s = s->next)
        if (farthest < s->at) farthest = s->at;
    const int64_t from = c->first + ((farthest - c->first) / c->stretch + 1) * c->stretch;
    return from < c->frames && from < c->end && from - c->asked <= c->scanners * c->stretch
               ? add_stretch(c, from)
               : NULL;
}

// ---- Scanners -----------------------------------------------------------------------------------

static MotusStatus open_scanner(Scanner *w, MotusError *error) {
    const MotusGops *g = w->scan->gops;
    const int device = w->on_cpu ? MOTUS_LOOKAHEAD_HOST : g->device;
    if (device != MOTUS_LOOKAHEAD_HOST) motus_device_use(device, NULL); // for pinned memory
    w->input = (MotusRankInput){
        .worker = w->scan->worker, .pinned = device != MOTUS_LOOKAHEAD_HOST, .luma_only = 1};
    return motus_gops_lookahead_open(&w->lookahead, g, device, error);
}

static void close_scanner(Scanner *w) {
    motus_lookahead_close(&w->lookahead);
    motus_rank_input_close(&w->input);
}

static MotusStatus scan_picture(Scanner *w, int64_t picture, int *begins, MotusError *error) {
    MotusFrame *frame = NULL;
    const int64_t number = w->scan->worker->options->seek + picture;
    MotusStatus status = motus_rank_input_frame(&w->input, number, &frame, error);
    if (!status) status = motus_gops_scan(w->lookahead, frame, begins, error);
    motus_frame_unref(&frame);
    return status;
}

static void fail_scan(MotusSceneScan *c, const MotusError *error) {
    if (!c->failure.status) c->failure = *error;
}

// Scans the stretch's next picture. Called with the lock held; releases it meanwhile.
static void advance(Scanner *w, Stretch *s) {
    MotusSceneScan *c = w->scan;
    MotusError error = {0};
    const int again = w->again;
    const int64_t at = s->at - again;
    const int exists = at < c->end;
    int begins = 0;
    pthread_mutex_unlock(&c->lock);
    const double began = motus_seconds();
    MotusStatus status = exists ? scan_picture(w, at, &begins, &error) : MOTUS_END;
    const double took = motus_seconds() - began;
    pthread_mutex_lock(&c->lock);
    c->seconds += took;
    if (!c->pictures) c->began = began;
    c->pictures += !status;
    w->again = 0;
    if (s->dropped || (again && !status)) return;
    if (!status && begins && !add_gop(s))
        status = motus_fail(&error, MOTUS_ERR_MEMORY, "out of memory");
    if (!status) s->at++;
    if (status == MOTUS_END) s->at_end = 1;
    if (status == MOTUS_END && at < c->end) c->end = at;
    if (status < 0) fail_scan(c, &error);
    if (!status && !begins) return;
    drop_unneeded(c);
    motus_link_wake(c->worker->link);
}

// Moves a scanner from the CPU to the device where a GOP begins. Called with the lock held.
static void move_to_device(Scanner *w, const Stretch *s) {
    MotusSceneScan *c = w->scan;
    MotusError error = {0};
    pthread_mutex_unlock(&c->lock);
    close_scanner(w);
    w->on_cpu = 0;
    MotusStatus status = open_scanner(w, &error);
    pthread_mutex_lock(&c->lock);
    if (status) fail_scan(c, &error);
    w->again = s->n > 0;
}

// Scans a stretch until another one continues it. Called with the lock held.
static void scan_stretch(Scanner *w, Stretch *s) {
    MotusSceneScan *c = w->scan;
    s->started = s->in_use = 1;
    w->again = 0;
    for (int begins = 1;
         !c->closing && !c->failure.status && !s->dropped && !s->follows && !s->at_end;) {
        const int moves = begins && w->on_cpu && c->device_open;
        if (moves) move_to_device(w, s);
        if (moves || !s->n) motus_lookahead_next_segment(w->lookahead, s->at);
        if (c->failure.status) break;
        if (may_wait(c, s))
            pthread_cond_wait(&c->changed, &c->lock);
        else
            advance(w, s);
        begins = s->n && s->begin[s->n - 1] == s->at - 1;
    }
    s->in_use = 0;
    if (s->dropped) free_stretch(s);
}

static void *run_scanner(void *scanner) {
    Scanner *w = scanner;
    MotusSceneScan *c = w->scan;
    MotusError error = {0};
    MotusStatus status = open_scanner(w, &error);
    pthread_mutex_lock(&c->lock);
    if (status) fail_scan(c, &error);
    c->device_open |= !status && motus_lookahead_device(w->lookahead) != MOTUS_LOOKAHEAD_HOST;
    while (!c->closing && !c->failure.status) {
        Stretch *s = next_stretch(c);
        if (s)
            scan_stretch(w, s);
        else if (!c->failure.status)
            pthread_cond_wait(&c->changed, &c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    motus_link_wake(c->worker->link);
    close_scanner(w);
    return NULL;
}

// ---- Rank 0 -------------------------------------------------------------------------------------

// Returns the number of scanners and sets *on_cpu to those that begin on the CPU: one until the
// device is open, or all, which then share the threads.
static int count_scanners(MotusGops *gops, int ranks, int64_t frames, int *on_cpu) {
    int *threads = &gops->stream.lookahead.threads;
    const int on_device = gops->device != MOTUS_LOOKAHEAD_HOST;
    *on_cpu = !on_device;
    if (frames < 0) return 1;
    if (on_device) {
        *on_cpu = 1;
        *threads = motus_min(*threads, THREADS_PER_SCANNER);
        return SCANNERS_PER_RANK * motus_min(ranks, MAX_SCANNERS / SCANNERS_PER_RANK);
    }
    *on_cpu = motus_clip(1, MAX_SCANNERS, *threads / THREADS_PER_SCANNER);
    *threads /= *on_cpu;
    return *on_cpu;
}

static int start_scanner(MotusSceneScan *c, int on_cpu) {
    Scanner *w = &c->scanner[c->scanners];
    w->scan = c;
    w->on_cpu = on_cpu;
    return !pthread_create(&w->thread, NULL, run_scanner, w);
}

MotusStatus motus_scene_scan_open(MotusSceneScan **scan, const MotusMpiWorker *worker,
                                  MotusGops *gops, int ranks, int64_t first, int64_t limit,
                                  int64_t frames, MotusError *error) {
    *scan = NULL;
    MotusSceneScan *c = motus_alloc(1, sizeof *c);
    if (!c) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    const int64_t gop = gops->stream.config.keyint ? gops->stream.config.keyint : MIN_STRETCH;
    c->worker = worker, c->gops = gops;
    c->first = c->asked = first;
    c->end = limit;
    c->frames = frames;
    c->stretch = (MIN_STRETCH + gop - 1) / gop * gop;
    int good = add_stretch(c, first) && !pthread_mutex_init(&c->lock, NULL) &&
               !pthread_cond_init(&c->changed, NULL);
    int on_cpu;
    const int wanted = count_scanners(gops, ranks, frames, &on_cpu);
    if (good) pthread_mutex_lock(&c->lock);
    while (good && c->scanners < wanted && start_scanner(c, c->scanners < on_cpu)) c->scanners++;
    if (good) pthread_mutex_unlock(&c->lock);
    *scan = c;
    if (c->scanners) return MOTUS_OK;
    motus_scene_scan_close(scan);
    return motus_fail(error, MOTUS_ERR_MEMORY, "no thread for look-ahead");
}

void motus_scene_scan_close(MotusSceneScan **scan) {
    MotusSceneScan *c = *scan;
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    c->closing = 1;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->scanners; i++) pthread_join(c->scanner[i].thread, NULL);
    for (Stretch *s = c->stretches, *next; s; s = next) {
        next = s->next;
        free_stretch(s);
    }
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    motus_free(c);
    *scan = NULL;
}

// Sets the segment from the GOPs known so far.
static MotusStatus find_segment(const MotusSceneScan *c, int64_t first, int64_t gops,
                                MotusScannedSegment *segment) {
    int64_t last = first; // first picture of the last GOP found
    *segment = (MotusScannedSegment){.gops = 1};
    for (const Stretch *s = c->stretches; s; s = s->follows) {
        for (int64_t i = 0; i < s->n; i++) {
            if (s->begin[i] <= last) continue;
            last = s->begin[i];
            segment->count = last - first;
            if (segment->gops == gops) return MOTUS_OK;
            segment->gops++;
        }
        if (!s->at_end) continue;
        segment->count = s->at - first;
        segment->at_end = 1;
        return segment->count > 0 ? MOTUS_OK : MOTUS_END;
    }
    return MOTUS_AGAIN;
}

MotusStatus motus_scene_scan_segment(MotusSceneScan *c, int64_t first, int64_t gops,
                                     MotusScannedSegment *segment, MotusError *error) {
    pthread_mutex_lock(&c->lock);
    if (c->asked < first) {
        c->asked = first;
        drop_unneeded(c);
    }
    MotusStatus status = find_segment(c, first, gops, segment);
    if (status == MOTUS_AGAIN && c->failure.status) {
        *error = c->failure;
        status = error->status;
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

MotusSceneScanStats motus_scene_scan_stats(MotusSceneScan *c) {
    pthread_mutex_lock(&c->lock);
    const MotusSceneScanStats stats = {c->scanners, c->stretch, c->pictures, c->seconds, c->began};
    pthread_mutex_unlock(&c->lock);
    return stats;
}
