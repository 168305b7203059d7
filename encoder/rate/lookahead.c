// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/lookahead.h"

#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/threads.h"
#include "encoder/rate/aq_core.h"
#include "encoder/rate/lookahead_core.h"
#include "encoder/rate/lookahead_cuda.h"

#define BATCH                                                                                      \
    8 // pictures of a window whose offsets are found by one walk: a window may be this share of
      // `depth` shorter

// A picture that waits for its plan.
typedef struct Entry {
    MotusLookaheadPlan plan;
    int begins,
        force_idr; // it is the first of the stream or of a part; the caller wants an IDR picture
    int planned;   // offsets are final
    // On the host; a CUDA device has its own.
    MotusMbCosts costs;
    int16_t *offset; // AQ's own; then with propagation
    uint32_t *passed;
} Entry;

struct MotusLookahead {
    MotusLookaheadSettings settings;
    int n_mb, capacity;
    Entry *ring;        // capacity entries: number % capacity
    int64_t first, end; // of the pictures that wait, counted without gaps: [first, end)
    int ended;          // no more come
    int since_idr, since_idr_before; // pictures since the last IDR picture began, itself included;
                                     // the same before the last put
    // Whose types are not known yet: [end, begun). What follows belongs to who begins pictures,
    // what stands above to who settles them.
    int64_t begun;
    int64_t ahead; // by which numbers in the stream are larger, since a part began elsewhere
    int begins;    // the next picture is the first of the stream or of a part
    int began;     // before the last put
    MotusHalfPicture half[2]; // of the picture that came last, and of the one before: number & 1
    int device;
    MotusLookaheadCuda *cuda; // NULL: on the host
};

static Entry *entry_of(const MotusLookahead *look, int64_t number) {
    return &look->ring[number % look->capacity];
}

static int alloc_entry(Entry *e, size_t n) {
    e->costs.intra = motus_alloc(n, sizeof *e->costs.intra);
    e->costs.inter = motus_alloc(n, sizeof *e->costs.inter);
    e->costs.mv = motus_alloc(n, sizeof *e->costs.mv);
    e->offset = motus_alloc(n, sizeof *e->offset);
    e->passed = motus_alloc(n, sizeof *e->passed);
    return e->costs.intra && e->costs.inter && e->costs.mv && e->offset && e->passed;
}

static MotusStatus open_host(MotusLookahead *look) {
    int ok = 1;
    for (int i = 0; ok && i < look->capacity; i++)
        ok = alloc_entry(&look->ring[i], (size_t)look->n_mb);
    for (int i = 0; ok && i < 2; i++)
        ok = !motus_half_alloc(&look->half[i], look->settings.mb_width, look->settings.mb_height);
    return ok ? MOTUS_OK : MOTUS_ERR_MEMORY;
}

MotusStatus motus_lookahead_open(MotusLookahead **out, const MotusLookaheadSettings *settings,
                                 int device, MotusError *error) {
    MotusError cause = {0};
    *out = NULL;
    MotusLookahead *look = motus_alloc(1, sizeof *look);
    if (!look) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    look->settings = *settings;
    look->n_mb = settings->mb_width * settings->mb_height;
    look->first = look->end = look->begun = settings->first;
    look->begins = 1;
    look->device = device;
    look->capacity =
        settings->depth + 2; // the one handed out last keeps its vectors for the next one's search
    if (device != MOTUS_LOOKAHEAD_HOST) look->capacity += MOTUS_LOOKAHEAD_BEGUN;
    look->ring = motus_alloc((size_t)look->capacity, sizeof *look->ring);
    MotusStatus status = look->ring ? MOTUS_OK : MOTUS_ERR_MEMORY;
    if (!status)
        status =
            device == MOTUS_LOOKAHEAD_HOST
                ? open_host(look)
                : motus_lookahead_cuda_open(&look->cuda, settings, look->capacity, device, &cause);
    if (!status) {
        *out = look;
        return MOTUS_OK;
    }
    motus_lookahead_close(&look);
    return motus_fail(error, status, "%s", cause.status ? cause.text : "out of memory");
}

void motus_lookahead_close(MotusLookahead **out) {
    if (!out || !*out) return;
    MotusLookahead *look = *out;
    for (int i = 0; look->ring && i < look->capacity; i++) {
        Entry *e = &look->ring[i];
        motus_free(e->costs.intra);
        motus_free(e->costs.inter);
        motus_free(e->costs.mv);
        motus_free(e->offset);
        motus_free(e->passed);
    }
    for (int i = 0; i < 2; i++) motus_half_free(&look->half[i]);
    motus_lookahead_cuda_close(&look->cuda);
    motus_free(look->ring);
    motus_free(look);
    *out = NULL;
}

// ---- A picture comes in -------------------------------------------------------------------------

static void add_up(const MotusLookahead *look, Entry *e) {
    e->plan.intra = e->plan.cost = 0;
    for (int i = 0; i < look->n_mb; i++) {
        e->plan.intra += e->costs.intra[i];
        e->plan.cost += e->costs.inter[i];
    }
}

static void choose_type(MotusLookahead *look, Entry *e) {
    const MotusLookaheadSettings *s = &look->settings;
    const MotusLookaheadType type = {e->begins, e->force_idr, s->keyint, s->min_keyint,
                                     s->scenecut};
    look->since_idr_before = look->since_idr;
    look->since_idr =
        motus_lookahead_since_idr(&type, look->since_idr, e->plan.intra, e->plan.cost);
    e->plan.forced = e->force_idr && !e->begins;
    e->plan.idr = look->since_idr == 1;
    if (e->plan.idr) e->plan.cost = e->plan.intra;
}

static void analyse(MotusLookahead *look, Entry *e, int64_t number, const MotusPlane *luma) {
    const MotusLookaheadSettings *s = &look->settings;
    const int threads = motus_threads_ready(s->threads); // of whoever sends frames
    MotusHalfPicture *half = &look->half[number & 1];
    const Entry *before = look->begins ? NULL : entry_of(look, number - 1);
    // What comes before an IDR picture leaves no trace behind it: searches begin anew.
    const MotusMv *earlier = before && !before->plan.idr ? before->costs.mv : NULL;
    motus_half_build(half, luma, threads);
    motus_mb_costs(&e->costs, half, before ? &look->half[(number - 1) & 1] : NULL, earlier,
                   threads);
    if (s->aq_mode)
        motus_aq_variance(e->offset, luma, s->mb_width, s->mb_height, s->aq_mode, s->aq_strength_q8,
                          threads);
    else
        for (int i = 0; i < look->n_mb; i++) e->offset[i] = 0;
}

// The next picture's number and entry.
static int64_t begin(MotusLookahead *look, Entry **e, int force_idr) {
    const int64_t number = look->begun;
    *e = entry_of(look, number);
    (*e)->plan = (MotusLookaheadPlan){.number = number + look->ahead};
    (*e)->begins = look->begins;
    (*e)->force_idr = force_idr;
    (*e)->planned = 0;
    return number;
}

// It has begun.
static void note_begun(MotusLookahead *look) {
    look->begun++;
    look->began = look->begins;
    look->begins = 0;
}

// Its costs are known. Returns whether it is an IDR picture.
static int join(MotusLookahead *look, Entry *e) {
    look->end++;
    choose_type(look, e);
    return e->plan.idr;
}

int motus_lookahead_put(MotusLookahead *look, const MotusPlane *luma, int force_idr) {
    if (!luma) {
        look->ended = 1;
        return 0;
    }
    Entry *e;
    const int64_t number = begin(look, &e, force_idr);
    analyse(look, e, number, luma);
    add_up(look, e);
    note_begun(look);
    return join(look, e);
}

static MotusLookaheadEntry place_of(int64_t number, const Entry *e) {
    return (MotusLookaheadEntry){number, e->begins, e->force_idr};
}

static int join_sums(MotusLookahead *look, Entry *e, const MotusLookaheadSums *sums) {
    e->plan.intra = sums->intra, e->plan.cost = sums->inter;
    return join(look, e);
}

MotusStatus motus_lookahead_put_cuda(MotusLookahead *look, const MotusFrame *frame, int on_device,
                                     void *made_on, int *idr, MotusError *error) {
    Entry *e;
    MotusLookaheadSums sums;
    const int64_t number = begin(look, &e, *idr);
    const MotusLookaheadEntry place = place_of(number, e);
    MotusStatus status =
        motus_lookahead_cuda_analyse(look->cuda, &place, frame, on_device, made_on, &sums, error);
    if (status) return status;
    note_begun(look);
    *idr = join_sums(look, e, &sums);
    return MOTUS_OK;
}

MotusStatus motus_lookahead_begin_cuda(MotusLookahead *look, const MotusPlane *luma, void *filled,
                                       int force_idr, MotusError *error) {
    Entry *e;
    const int64_t number = begin(look, &e, force_idr);
    const MotusLookaheadEntry place = place_of(number, e);
    MotusStatus status = motus_lookahead_cuda_begin(look->cuda, &place, luma, filled, error);
    if (!status) note_begun(look);
    return status;
}

MotusStatus motus_lookahead_wait_type(MotusLookahead *look, int *idr, MotusError *error) {
    MotusLookaheadSums sums;
    MotusStatus status =
        motus_lookahead_cuda_wait(look->cuda, (int)(look->end % look->capacity), &sums, error);
    if (!status) *idr = join_sums(look, entry_of(look, look->end), &sums);
    return status;
}

int motus_lookahead_device(const MotusLookahead *look) { return look->device; }

const MotusFrame *motus_lookahead_frame(const MotusLookahead *look, int device, void **stream) {
    return look->cuda ? motus_lookahead_cuda_frame(look->cuda, device, stream) : NULL;
}

void motus_lookahead_undo(MotusLookahead *look) {
    look->end--, look->begun--;
    look->since_idr = look->since_idr_before;
    look->begins = look->began;
}

void motus_lookahead_next_segment(MotusLookahead *look, int64_t first) {
    look->ahead = first - look->end;
    look->ended = 0;
    look->begins = 1;
}

// ---- A plan goes out ----------------------------------------------------------------------------

// The last picture of a window (a GOP's, or of what is known) that begins with the next picture,
// and the last one whose offsets nothing that comes later changes. With propagation that is the
// first BATCH-th of the pictures asked for, or all where the window ends with a GOP or with
// everything.
static void find_window(const MotusLookahead *look, int64_t *last, int64_t *final) {
    const MotusLookaheadSettings *s = &look->settings;
    int64_t n = look->first;
    while (n + 1 < look->end && !entry_of(look, n + 1)->plan.idr) n++;
    const int whole = look->ended || n + 1 < look->end;
    *last = n;
    *final = look->first + s->depth / BATCH;
    if (whole || !s->propagation_q8 || *final > n) *final = n;
}

// From the end of the window back to its first picture.
static void propagate(MotusLookahead *look, int64_t last, int64_t final) {
    const MotusLookaheadSettings *s = &look->settings;
    for (int64_t n = look->first; n <= last; n++) {
        Entry *e = entry_of(look, n);
        for (int i = 0; i < look->n_mb; i++) e->passed[i] = 0;
    }
    for (int64_t n = last; n > look->first; n--) {
        const Entry *e = entry_of(look, n);
        motus_aq_pass_back(entry_of(look, n - 1)->passed, e->passed, &e->costs,
                           s->aq_mode ? e->offset : NULL, s->mb_width, s->mb_height);
    }
    for (int64_t n = look->first; n <= final; n++) {
        Entry *e = entry_of(look, n);
        motus_aq_propagated(e->offset, e->passed, &e->costs, look->n_mb, s->propagation_q8);
    }
}

static int has_offsets(const MotusLookahead *look) {
    return look->settings.aq_mode || look->settings.propagation_q8;
}

static MotusStatus plan_window(MotusLookahead *look, MotusError *error) {
    const MotusLookaheadSettings *s = &look->settings;
    int64_t last, final;
    MotusStatus status = MOTUS_OK;
    find_window(look, &last, &final);
    if (look->cuda && has_offsets(look))
        status = motus_lookahead_cuda_plan(
            look->cuda, (int)(look->first % look->capacity), (int)(last - look->first + 1),
            (int)(final - look->first + 1), entry_of(look, look->first)->plan.idr, error);
    else if (!look->cuda && s->propagation_q8)
        propagate(look, last, final);
    for (int64_t n = look->first; n <= final; n++) entry_of(look, n)->planned = !status;
    return status;
}

static void weigh(const MotusLookahead *look, const Entry *e, int64_t *sum, uint64_t *weighted) {
    const uint16_t *cost = e->plan.idr ? e->costs.intra : e->costs.inter;
    *sum = 0, *weighted = 0;
    for (int i = 0; i < look->n_mb; i++) {
        *sum += e->offset[i];
        *weighted += motus_aq_weighted(cost[i], e->offset[i]);
    }
}

// A planned picture's offsets, their sum, and the sum of its costs at the steps they make.
static void hand_out(const MotusLookahead *look, const Entry *e, int16_t *offset, int64_t *sum,
                     uint64_t *weighted) {
    const size_t bytes = (size_t)look->n_mb * sizeof *offset;
    if (!look->cuda) {
        weigh(look, e, sum, weighted);
        memcpy(offset, e->offset, bytes);
    } else if (has_offsets(look)) {
        MotusLookaheadSums sums;
        memcpy(offset,
               motus_lookahead_cuda_offsets(look->cuda, (int)(look->first % look->capacity), &sums),
               bytes);
        *sum = (int64_t)sums.offsets, *weighted = sums.weighted;
    } else {
        memset(offset, 0, bytes);
        *sum = 0, *weighted = e->plan.cost << 16;
    }
}

MotusStatus motus_lookahead_get(MotusLookahead *look, MotusLookaheadPlan *plan, int16_t *offset,
                                MotusError *error) {
    if (look->first == look->end) return look->ended ? MOTUS_END : MOTUS_AGAIN;
    if (!look->ended && look->end - look->first <= look->settings.depth) return MOTUS_AGAIN;
    Entry *e = entry_of(look, look->first);
    MotusStatus status = e->planned ? MOTUS_OK : plan_window(look, error);
    if (status) return status;
    int64_t sum;
    uint64_t weighted;
    hand_out(look, e, offset, &sum, &weighted);
    e->plan.mean = (int)(sum / look->n_mb);
    e->plan.weighted = weighted >> 16;
    e->plan.has_offsets = has_offsets(look);
    *plan = e->plan;
    look->first++;
    return MOTUS_OK;
}

int motus_lookahead_costs(const MotusLookahead *look, uint64_t *cost, uint8_t *idr, int n) {
    int found = 0;
    for (int64_t i = look->first; i < look->end && found < n; i++, found++) {
        cost[found] = entry_of(look, i)->plan.cost;
        idr[found] = (uint8_t)entry_of(look, i)->plan.idr;
    }
    return found;
}

int motus_lookahead_ended(const MotusLookahead *look) { return look->ended; }
