// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/lookahead.h"

#include <assert.h>
#include <string.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "encoder/lookahead/b_order.h"
#include "encoder/lookahead/lookahead_ops.h"

// One walk over a window makes the offsets of depth / BATCH pictures final, so that mb-tree looks
// at least at 7/8 of `depth`.
#define BATCH 8
#define LONGEST_GOP 250 // assumed by the scene cut rule if keyint sets no limit

// A picture in the ring.
typedef struct Entry {
    MotusLookaheadPlan plan;
    int first_in_segment, force_idr;
    int since_idr; // pictures since the last IDR picture, this one included
    int64_t in_segment;
    int planned;           // its offsets are final
    MotusBCosts mini_gops; // that end with it
    uint64_t detail;       // as in MotusLookaheadSums
    MotusTreeLink link;    // its place in a mini-GOP; a guess if that is not decided
    int level;             // 0: no B picture; 1..MOTUS_B_LEVELS: a reference; above: no reference
} Entry;

struct MotusLookahead {
    MotusLookaheadSettings settings;
    const MotusLookaheadOps *ops;
    void *executor;
    int device, n_mb, n_slots;
    Entry *ring;          // n_slots entries: number % n_slots
    MotusTreeLink *links; // of a window
    int64_t first, end;   // [first, end): pictures that have a type and no plan yet
    int64_t decided;      // with b_span: first picture whose mini-GOP is not known
    int ended;
    // [end, begun): pending pictures, without a type. The members below belong to the thread that
    // begins pictures, those above to the thread that waits for types.
    int64_t begun;
    int64_t shift;        // added to numbers in the ring gives numbers in the stream
    int first_in_segment; // of the picture that begins next
};

static Entry *entry_of(const MotusLookahead *look, int64_t number) {
    return &look->ring[number % look->n_slots];
}

// ---- Opening ------------------------------------------------------------------------------------

// Returns how many pictures decide about the next mini-GOP.
static int window_of(int span) { return span ? 2 * motus_max(span, MOTUS_B_FLAT_SPAN) : 0; }

int motus_lookahead_delay(const MotusLookaheadSettings *s) {
    return motus_max(s->depth, window_of(s->b_span));
}

MotusStatus motus_lookahead_open(MotusLookahead **out, const MotusLookaheadSettings *settings,
                                 int device, MotusError *error) {
    const MotusLookaheadOps *ops = device == MOTUS_LOOKAHEAD_HOST ? &motus_lookahead_ops_cpu : NULL;
#ifdef MOTUS_HAVE_CUDA
    if (!ops) ops = &motus_lookahead_ops_cuda;
#endif
    *out = NULL;
    if (!ops) return motus_device_check(error);
    MotusLookahead *look = motus_alloc(1, sizeof *look);
    if (!look) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    *look = (MotusLookahead){.settings = *settings,
                             .ops = ops,
                             .device = device,
                             .n_mb = settings->mb_width * settings->mb_height,
                             .first = settings->first,
                             .end = settings->first,
                             .begun = settings->first,
                             .decided = settings->first,
                             .first_in_segment = 1};
    // Pictures that the plan depends on, the one to plan, and those before it: the MVs of one,
    // which the search begins from, the detail of all.
    look->n_slots = motus_lookahead_delay(settings) + 1 + MOTUS_SHARPNESS_BEFORE + ops->max_pending;
    look->ring = motus_alloc((size_t)look->n_slots, sizeof *look->ring);
    look->links = motus_alloc((size_t)look->n_slots, sizeof *look->links);
    MotusStatus status = look->ring && look->links
                             ? ops->open(&look->executor, settings, look->n_slots, device, error)
                             : motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    if (status)
        motus_lookahead_close(&look);
    else
        *out = look;
    return status;
}

void motus_lookahead_close(MotusLookahead **out) {
    if (!out || !*out) return;
    MotusLookahead *look = *out;
    look->ops->close(&look->executor);
    motus_free(look->links);
    motus_free(look->ring);
    motus_free(look);
    *out = NULL;
}

int motus_lookahead_device(const MotusLookahead *look) { return look->device; }

int motus_lookahead_is_asynchronous(const MotusLookahead *look) {
    return look->ops->max_pending > 0;
}

// ---- Pictures in --------------------------------------------------------------------------------

MotusStatus motus_lookahead_begin(MotusLookahead *look, const MotusPlane *luma, void *filled,
                                  int force_idr, MotusError *error) {
    const int is_first = look->first_in_segment;
    Entry *e = entry_of(look, look->begun);
    const Entry *before = is_first ? NULL : entry_of(look, look->begun - 1);
    *e = (Entry){.plan = {.number = look->begun + look->shift},
                 .first_in_segment = is_first,
                 .force_idr = force_idr,
                 .in_segment = is_first ? 1 : before->in_segment + 1};
    int span = 0;
    if (before) // earlier pictures of its GOP; if types are pending, of its segment
        span = motus_min(motus_lookahead_is_asynchronous(look) ? (int)before->in_segment
                                                               : before->since_idr,
                         look->settings.b_span);
    MotusStatus status = look->ops->begin(look->executor, look->begun, motus_max(span, !is_first),
                                          span, luma, filled, error);
    if (status) return status;
    look->begun++;
    look->first_in_segment = 0;
    return MOTUS_OK;
}

// True if prediction from the previous picture saves so little that a scene begins. The saving that
// prevents a cut grows with the distance from the last IDR picture. intra, inter: sums of MB costs.
static int is_cut(const MotusLookaheadSettings *s, int since_idr, uint64_t intra, uint64_t inter) {
    if (!s->scenecut || since_idr < motus_max(s->min_keyint, 1)) return 0;
    const int longest = s->keyint ? s->keyint : LONGEST_GOP,
              from = motus_min(s->min_keyint, longest - 1),
              way = motus_min(longest - from, since_idr - from);
    const int64_t bias =
        (int64_t)s->scenecut * 256 * (longest - from + 3 * way) / (400 * (longest - from)); // 1/256
    return (int64_t)inter * 256 >= (int64_t)intra * (256 - bias);
}

MotusStatus motus_lookahead_wait_type(MotusLookahead *look, int *idr, MotusError *error) {
    const MotusLookaheadSettings *s = &look->settings;
    MotusLookaheadSums sums;
    MotusStatus status =
        look->ops->wait(look->executor, (int)(look->end % look->n_slots), &sums, error);
    if (status) return status;
    Entry *e = entry_of(look, look->end);
    const int before = e->first_in_segment ? 0 : entry_of(look, look->end - 1)->since_idr;
    e->plan.idr = e->first_in_segment || e->force_idr || (s->keyint && before >= s->keyint) ||
                  is_cut(s, before, sums.intra, sums.inter);
    e->since_idr = e->plan.idr ? 1 : before + 1;
    e->plan.forced = e->force_idr && !e->first_in_segment;
    e->plan.intra = sums.intra;
    e->plan.cost = e->plan.idr ? sums.intra : sums.inter;
    e->mini_gops = sums.mini_gops;
    e->detail = sums.detail;
    look->end++;
    *idr = e->plan.idr;
    return MOTUS_OK;
}

MotusStatus motus_lookahead_put(MotusLookahead *look, const MotusFrameSource *source, int *idr,
                                MotusError *error) {
    MotusPlane luma = source->frame->plane[0];
    void *filled = NULL;
    MotusStatus status = MOTUS_OK;
    assert(look->ops->take || !source->on_device);
    if (look->ops->take) status = look->ops->take(look->executor, source, &luma, &filled, error);
    if (!status) status = motus_lookahead_begin(look, &luma, filled, *idr, error);
    if (status) return status;
    status = motus_lookahead_wait_type(look, idr, error);
    if (status) motus_lookahead_undo(look);
    return status;
}

int motus_lookahead_uploaded(const MotusLookahead *look, int device, MotusFrameSource *source) {
    return look->ops->uploaded && look->ops->uploaded(look->executor, device, source);
}

void motus_lookahead_undo(MotusLookahead *look) {
    if (look->end == look->begun) look->end--; // its type is known
    look->begun--;
    look->first_in_segment = entry_of(look, look->begun)->first_in_segment;
}

void motus_lookahead_end(MotusLookahead *look) { look->ended = 1; }

void motus_lookahead_next_segment(MotusLookahead *look, int64_t first) {
    look->shift = first - look->end;
    look->ended = 0;
    look->first_in_segment = 1;
}

// ---- Mini-GOPs ----------------------------------------------------------------------------------

// Chooses the length of the mini-GOP that begins with picture `from`, by the costs of pictures up
// to `end`, or to the end of the GOP. Returns 0 if the picture is an IDR picture: that is one for
// itself. *is_final: 1 if no later picture changes the length.
static int choose_length(const MotusLookahead *look, int64_t from, int64_t end, int *is_final) {
    enum { BEFORE = MOTUS_SHARPNESS_BEFORE };
    const int span = look->settings.b_span, most = window_of(span);
    MotusBCosts costs[MOTUS_B_WINDOW];
    uint64_t intra[BEFORE + MOTUS_B_WINDOW], detail[BEFORE + MOTUS_B_WINDOW];
    int sharp[MOTUS_B_WINDOW] = {0}, before = 0, n = 0, ends = 0;
    while (before < BEFORE && !entry_of(look, from - before)->plan.idr) {
        const Entry *e = entry_of(look, from - ++before);
        detail[BEFORE - before] = e->detail;
        intra[BEFORE - before] = e->plan.intra;
    }
    while (n < most && from + n < end && !ends) {
        const Entry *e = entry_of(look, from + n);
        ends = e->plan.idr;
        if (ends) break;
        costs[n] = e->mini_gops;
        detail[BEFORE + n] = e->detail;
        intra[BEFORE + n++] = e->plan.intra;
    }
    *is_final = ends || n == most;
    if (!n) return 0;
    motus_sharpness_signs(sharp, detail + BEFORE, intra + BEFORE, before, n, look->n_mb);
    return motus_b_length(costs, intra + BEFORE, sharp, n, span, look->settings.b_pyramid);
}

// Links the n pictures of a mini-GOP that begins with picture `from`.
static void link_mini_gop(MotusLookahead *look, int64_t from, int n) {
    MotusBPlace place[MOTUS_MAX_BFRAMES];
    Entry *p = entry_of(look, from + n - 1);
    p->link = (MotusTreeLink){.before = (uint8_t)n};
    p->level = 0;
    motus_b_order(place, n, look->settings.b_pyramid ? MOTUS_B_LEVELS : 0);
    for (int k = 0; k < n - 1; k++) {
        Entry *e = entry_of(look, from + place[k].at);
        e->link.before = (uint8_t)place[k].before, e->link.after = (uint8_t)place[k].after;
        e->level = place[k].is_reference ? place[k].level : MOTUS_B_LEVELS + 1;
    }
}

// Sets the types of all pictures that are known far enough.
static void decide(MotusLookahead *look) {
    while (look->settings.b_span && look->decided < look->end) {
        int is_final;
        const int length = choose_length(look, look->decided, look->end, &is_final);
        if (!is_final && !look->ended) return;
        if (length) link_mini_gop(look, look->decided, length);
        for (int k = 1; k < length; k++) entry_of(look, look->decided++)->plan.b = 1;
        look->decided++;
    }
}

// Lists the links of a window from look->first to `last`: B pictures, references among them by
// level, the last one first, then P pictures, the last one first. So a picture's amounts are
// complete when it passes them on. Pictures that have not been decided about are linked as if none
// followed. Returns the number of links.
static int list_links(MotusLookahead *look, int64_t last) {
    int n = 0, is_final;
    for (int64_t from = look->first > look->decided ? look->first : look->decided; from <= last;) {
        const int length = motus_max(1, choose_length(look, from, last + 1, &is_final));
        link_mini_gop(look, from, length);
        from += length;
    }
    for (int level = MOTUS_B_LEVELS + 1; level >= 0; level--)
        for (int64_t i = last; i >= look->first; i--) {
            const Entry *e = entry_of(look, i);
            const int64_t at = i - look->first;
            if (e->plan.idr || e->level != level || (!e->link.after && e->link.before > at))
                continue;
            look->links[n] = e->link;
            look->links[n++].at = (int16_t)at;
        }
    return n;
}

// ---- Plans out ----------------------------------------------------------------------------------

static int has_offsets(const MotusLookahead *look) {
    return look->settings.aq_mode || look->settings.mb_tree_q8;
}

// Plans the window that begins with the next picture and ends with its GOP or with the last picture
// known. Offsets become final up to picture `final`: in all of a window that no further picture can
// extend.
static MotusStatus plan_window(MotusLookahead *look, MotusError *error) {
    const MotusLookaheadSettings *s = &look->settings;
    const int64_t first = look->first;
    int64_t last = first, final = first + s->depth / BATCH;
    MotusStatus status = MOTUS_OK;
    while (last + 1 < look->end && !entry_of(look, last + 1)->plan.idr) last++;
    if (look->ended || last + 1 < look->end || !s->mb_tree_q8 || final > last) final = last;
    if (has_offsets(look))
        status =
            look->ops->plan(look->executor, (int)(first % look->n_slots), (int)(last - first + 1),
                            (int)(final - first + 1), entry_of(look, first)->plan.idr, look->links,
                            s->mb_tree_q8 ? list_links(look, last) : 0, error);
    for (int64_t n = first; n <= final; n++) entry_of(look, n)->planned = !status;
    return status;
}

// Copies a picture's offsets and completes its plan with their sums.
static void copy_offsets(const MotusLookahead *look, int64_t number, int aq,
                         MotusLookaheadPlan *plan, int16_t *offset) {
    MotusLookaheadSums sums;
    const int16_t *from =
        look->ops->offsets(look->executor, (int)(number % look->n_slots), aq, &sums);
    memcpy(offset, from, (size_t)look->n_mb * sizeof *offset);
    plan->mean = (int)((int64_t)sums.offsets / look->n_mb);
    plan->weighted = sums.weighted >> 16;
}

void motus_lookahead_aq(const MotusLookahead *look, MotusLookaheadPlan *plan, int16_t *offset) {
    copy_offsets(look, look->first - 1, 1, plan, offset);
}

MotusStatus motus_lookahead_get(MotusLookahead *look, MotusLookaheadPlan *plan, int16_t *offset,
                                MotusError *error) {
    if (look->first == look->end) return look->ended ? MOTUS_END : MOTUS_AGAIN;
    if (!look->ended && look->end - look->first <= look->settings.depth) return MOTUS_AGAIN;
    decide(look);
    if (look->settings.b_span && look->first == look->decided) return MOTUS_AGAIN;
    Entry *e = entry_of(look, look->first);
    MotusStatus status = e->planned ? MOTUS_OK : plan_window(look, error);
    if (status) return status;
    e->plan.has_offsets = has_offsets(look);
    if (e->plan.has_offsets)
        copy_offsets(look, look->first, 0, &e->plan, offset);
    else {
        if (offset) memset(offset, 0, (size_t)look->n_mb * sizeof *offset);
        e->plan.mean = 0;
        e->plan.weighted = e->plan.cost;
    }
    *plan = e->plan;
    look->first++;
    return MOTUS_OK;
}

int motus_lookahead_costs(const MotusLookahead *look, uint64_t *cost, uint8_t *flags, int n,
                          int *ended) {
    int found = 0;
    for (int64_t i = look->first; i < look->end && found < n; i++, found++) {
        const MotusLookaheadPlan *plan = &entry_of(look, i)->plan;
        const int is_p = look->settings.b_span && i < look->decided && !plan->b;
        cost[found] = plan->cost;
        flags[found] = plan->idr ? MOTUS_FUTURE_IDR : is_p ? MOTUS_FUTURE_P : 0;
    }
    *ended = look->ended;
    return found;
}
