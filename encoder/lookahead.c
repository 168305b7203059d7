// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead.h"

#include "common/alloc.h"
#include "common/threads.h"
#include "encoder/log2_core.h"

#define BATCH 8 // pictures of a window whose offsets are found by one walk: a window may be this share of `depth` shorter

// A picture that waits for its plan.
typedef struct Entry {
    MotusPlan plan;
    MotusMbCosts costs;
    int16_t *offset; // AQ's own; then with propagation
    uint32_t *passed;
    int planned; // offsets are final
} Entry;

struct MotusLookahead {
    MotusLookaheadSettings settings;
    int n_mb, capacity;
    Entry *ring;                     // capacity entries: number % capacity
    int64_t first, end;              // of the pictures that wait, counted without gaps: [first, end)
    int64_t ahead;                   // by which numbers in the stream are larger, since a part began elsewhere
    int ended, begins;               // no more come; the next picture is the first of the stream or of a part
    int began;                       // before the last put
    int since_idr, since_idr_before; // pictures since the last IDR picture began, itself included; the same before the last put
    MotusHalf half[2];               // of the picture that came last, and of the one before: number & 1
};

static Entry *entry_of(const MotusLookahead *look, int64_t number) { return &look->ring[number % look->capacity]; }

static int alloc_entry(Entry *e, size_t n) {
    e->costs.intra = motus_alloc(n, sizeof *e->costs.intra);
    e->costs.inter = motus_alloc(n, sizeof *e->costs.inter);
    e->costs.mv = motus_alloc(n, sizeof *e->costs.mv);
    e->offset = motus_alloc(n, sizeof *e->offset);
    e->passed = motus_alloc(n, sizeof *e->passed);
    return e->costs.intra && e->costs.inter && e->costs.mv && e->offset && e->passed;
}

MotusStatus motus_lookahead_open(MotusLookahead **out, const MotusLookaheadSettings *settings) {
    *out = NULL;
    MotusLookahead *look = motus_alloc(1, sizeof *look);
    if (!look) return MOTUS_ERR_MEMORY;
    look->settings = *settings;
    look->n_mb = settings->mb_width * settings->mb_height;
    look->first = look->end = settings->first;
    look->begins = 1;
    look->capacity = settings->depth + 2; // the one handed out last keeps its vectors for the next one's search
    look->ring = motus_alloc((size_t)look->capacity, sizeof *look->ring);
    int ok = look->ring != NULL;
    for (int i = 0; ok && i < look->capacity; i++) ok = alloc_entry(&look->ring[i], (size_t)look->n_mb);
    for (int i = 0; ok && i < 2; i++) ok = !motus_half_alloc(&look->half[i], settings->mb_width, settings->mb_height);
    if (ok) {
        *out = look;
        return MOTUS_OK;
    }
    motus_lookahead_close(&look);
    return MOTUS_ERR_MEMORY;
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
    motus_free(look->ring);
    motus_free(look);
    *out = NULL;
}

// ---- A picture comes in ---------------------------------------------------------------------------------------------------------------------

static void add_up(const MotusLookahead *look, Entry *e) {
    e->plan.intra = e->plan.cost = 0;
    for (int i = 0; i < look->n_mb; i++) {
        e->plan.intra += e->costs.intra[i];
        e->plan.cost += e->costs.inter[i];
    }
}

// A cut is seen where the picture before saves little; how little is enough grows with the distance from the last IDR picture.
static int is_cut(const MotusLookahead *look, const Entry *e) {
    const MotusLookaheadSettings *s = &look->settings;
    if (!s->scenecut || look->since_idr < motus_max(s->min_keyint, 1)) return 0;
    const int longest = s->keyint ? s->keyint : 250, from = motus_min(s->min_keyint, longest - 1);
    const int way = motus_min(longest - from, look->since_idr - from);
    const int64_t bias = (int64_t)s->scenecut * 256 * (longest - from + 3 * way) / (400 * (longest - from)); // 1/256
    return (int64_t)e->plan.cost * 256 >= (int64_t)e->plan.intra * (256 - bias);
}

static void choose_type(MotusLookahead *look, Entry *e, int force_idr) {
    const int first = look->begins, full = look->settings.keyint && look->since_idr >= look->settings.keyint;
    e->plan.forced = force_idr && !first;
    e->plan.idr = first || full || force_idr || is_cut(look, e);
    if (e->plan.idr) e->plan.cost = e->plan.intra;
    look->since_idr = e->plan.idr ? 1 : look->since_idr + 1;
}

static void analyse(MotusLookahead *look, Entry *e, int64_t number, const MotusPlane *luma) {
    const MotusLookaheadSettings *s = &look->settings;
    const int threads = motus_threads_ready(s->threads); // of whoever sends frames
    MotusHalf *half = &look->half[number & 1];
    const Entry *before = look->begins ? NULL : entry_of(look, number - 1);
    // What comes before an IDR picture leaves no trace behind it: searches begin anew.
    const MotusMv *earlier = before && !before->plan.idr ? before->costs.mv : NULL;
    motus_half_build(half, luma, threads);
    motus_mb_costs(&e->costs, half, before ? &look->half[(number - 1) & 1] : NULL, earlier, threads);
    if (s->aq_mode)
        motus_aq_variance(e->offset, luma, s->mb_width, s->mb_height, s->aq_mode, s->aq_strength_q8, threads);
    else
        for (int i = 0; i < look->n_mb; i++) e->offset[i] = 0;
}

int motus_lookahead_put(MotusLookahead *look, const MotusPlane *luma, int force_idr) {
    if (!luma) {
        look->ended = 1;
        return 0;
    }
    const int64_t number = look->end++;
    Entry *e = entry_of(look, number);
    e->plan = (MotusPlan){.number = number + look->ahead};
    e->planned = 0;
    analyse(look, e, number, luma);
    add_up(look, e);
    look->since_idr_before = look->since_idr;
    choose_type(look, e, force_idr);
    look->began = look->begins;
    look->begins = 0;
    return e->plan.idr;
}

void motus_lookahead_undo(MotusLookahead *look) {
    look->end--;
    look->since_idr = look->since_idr_before;
    look->begins = look->began;
}

void motus_lookahead_next_part(MotusLookahead *look, int64_t first) {
    look->ahead = first - look->end;
    look->ended = 0;
    look->begins = 1;
}

// ---- A plan goes out ------------------------------------------------------------------------------------------------------------------------

// From the end of a window (a GOP's, or of what is known) back to its first picture; the first BATCH-th of the pictures asked for are final then.
static void propagate(MotusLookahead *look) {
    const MotusLookaheadSettings *s = &look->settings;
    int64_t last = look->first;
    while (last + 1 < look->end && !entry_of(look, last + 1)->plan.idr) last++;
    for (int64_t n = look->first; n <= last; n++) {
        Entry *e = entry_of(look, n);
        for (int i = 0; i < look->n_mb; i++) e->passed[i] = 0;
    }
    for (int64_t n = last; n > look->first; n--) {
        const Entry *e = entry_of(look, n);
        motus_aq_pass_back(entry_of(look, n - 1)->passed, e->passed, &e->costs, s->aq_mode ? e->offset : NULL, s->mb_width,
                           s->mb_height);
    }
    // Where the window ends with a GOP or with everything, nothing that comes later changes it.
    const int whole = look->ended || last + 1 < look->end;
    int64_t final = look->first + s->depth / BATCH;
    if (whole || final > last) final = last;
    for (int64_t n = look->first; n <= final; n++) {
        Entry *e = entry_of(look, n);
        motus_aq_propagated(e->offset, e->passed, &e->costs, look->n_mb, s->propagation_q8);
        e->planned = 1;
    }
}

static void weigh(const MotusLookahead *look, Entry *e) {
    const uint16_t *cost = e->plan.idr ? e->costs.intra : e->costs.inter;
    int64_t sum = 0;
    uint64_t weighted = 0;
    for (int i = 0; i < look->n_mb; i++) {
        sum += e->offset[i];
        weighted += cost[i] * motus_exp2_q16(-motus_qp_octaves(e->offset[i]));
    }
    e->plan.mean = (int)(sum / look->n_mb);
    e->plan.weighted = weighted >> 16;
    e->plan.has_offsets = look->settings.aq_mode || look->settings.propagation_q8;
}

MotusStatus motus_lookahead_get(MotusLookahead *look, MotusPlan *plan, int16_t *offset) {
    if (look->first == look->end) return look->ended ? MOTUS_END : MOTUS_AGAIN;
    if (!look->ended && look->end - look->first <= look->settings.depth) return MOTUS_AGAIN;
    Entry *e = entry_of(look, look->first);
    if (look->settings.propagation_q8 && !e->planned) propagate(look);
    weigh(look, e);
    *plan = e->plan;
    for (int i = 0; i < look->n_mb; i++) offset[i] = e->offset[i];
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
