// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/lookahead.h"

#include <string.h>

#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "encoder/lookahead/b_order.h"
#include "encoder/lookahead/lookahead_core.h"
#include "encoder/lookahead/lookahead_ops.h"

// One walk over a window makes the offsets of depth / BATCH pictures final, so that mb-tree looks
// at least at 7/8 of `depth`.
#define BATCH 8

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

static const MotusLookaheadOps *ops_for(int device) {
    if (device == MOTUS_LOOKAHEAD_HOST) return &motus_lookahead_ops_cpu;
#ifdef MOTUS_HAVE_CUDA
    return &motus_lookahead_ops_cuda;
#else
    return NULL;
#endif
}

int motus_lookahead_delay(const MotusLookaheadSettings *s) {
    return motus_max(s->depth, s->b_span ? motus_b_window(s->b_span) : 0);
}

static MotusStatus open_ring(MotusLookahead *look, MotusError *error) {
    const MotusLookaheadSettings *s = &look->settings;
    // Pictures that the plan depends on, the one to plan, and those before it: the MVs of one,
    // which the search begins from, the detail of all.
    look->n_slots = motus_lookahead_delay(s) + 1 + MOTUS_SHARPNESS_BEFORE + look->ops->max_pending;
    look->ring = motus_alloc((size_t)look->n_slots, sizeof *look->ring);
    look->links = motus_alloc((size_t)look->n_slots, sizeof *look->links);
    if (!look->ring || !look->links) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    return look->ops->open(&look->executor, s, look->n_slots, look->device, error);
}

MotusStatus motus_lookahead_open(MotusLookahead **out, const MotusLookaheadSettings *settings,
                                 int device, MotusError *error) {
    *out = NULL;
    const MotusLookaheadOps *ops = ops_for(device);
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
    MotusStatus status = open_ring(look, error);
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

// Returns how many earlier pictures of its GOP the next one can refer to, at most b_span. If
// pictures are pending, their types are not known.
static int span_of(const MotusLookahead *look) {
    if (look->first_in_segment || !look->settings.b_span) return 0;
    const Entry *before = entry_of(look, look->begun - 1);
    return motus_min(motus_lookahead_is_asynchronous(look) ? before->in_segment : before->since_idr,
                     look->settings.b_span);
}

MotusStatus motus_lookahead_begin(MotusLookahead *look, const MotusPlane *luma, void *filled,
                                  int force_idr, MotusError *error) {
    Entry *e = entry_of(look, look->begun);
    *e = (Entry){.plan = {.number = look->begun + look->shift},
                 .first_in_segment = look->first_in_segment,
                 .force_idr = force_idr,
                 .in_segment =
                     look->first_in_segment ? 1 : entry_of(look, look->begun - 1)->in_segment + 1};
    const MotusLookaheadPicture picture = {
        .number = look->begun, .first_in_segment = e->first_in_segment, .span = span_of(look)};
    MotusStatus status = look->ops->begin(look->executor, &picture, luma, filled, error);
    if (status) return status;
    look->begun++;
    look->first_in_segment = 0;
    return MOTUS_OK;
}

// Sets the type of the oldest pending picture from its costs.
static void set_type(MotusLookahead *look, Entry *e, uint64_t intra, uint64_t inter) {
    const MotusLookaheadSettings *s = &look->settings;
    const MotusLookaheadRules rules = {e->first_in_segment, e->force_idr, s->keyint, s->min_keyint,
                                       s->scenecut};
    const int before = e->first_in_segment ? 0 : entry_of(look, look->end - 1)->since_idr;
    e->since_idr = motus_lookahead_since_idr(&rules, before, intra, inter);
    e->plan.idr = e->since_idr == 1;
    e->plan.forced = e->force_idr && !e->first_in_segment;
    e->plan.intra = intra;
    e->plan.cost = e->plan.idr ? intra : inter;
}

MotusStatus motus_lookahead_wait_type(MotusLookahead *look, int *idr, MotusError *error) {
    MotusLookaheadSums sums;
    MotusStatus status =
        look->ops->wait(look->executor, (int)(look->end % look->n_slots), &sums, error);
    if (status) return status;
    Entry *e = entry_of(look, look->end);
    set_type(look, e, sums.intra, sums.inter);
    e->mini_gops = sums.mini_gops;
    e->detail = sums.detail;
    look->end++;
    *idr = e->plan.idr;
    return MOTUS_OK;
}

// Takes back the picture that began last.
static void unbegin(MotusLookahead *look) {
    look->begun--;
    look->first_in_segment = entry_of(look, look->begun)->first_in_segment;
}

MotusStatus motus_lookahead_put(MotusLookahead *look, const MotusFrameSource *source, int *idr,
                                MotusError *error) {
    MotusPlane luma;
    void *filled = NULL;
    MotusStatus status = look->ops->take(look->executor, source, &luma, &filled, error);
    if (!status) status = motus_lookahead_begin(look, &luma, filled, *idr, error);
    if (status) return status;
    status = motus_lookahead_wait_type(look, idr, error);
    if (status) unbegin(look);
    return status;
}

int motus_lookahead_uploaded(const MotusLookahead *look, int device, MotusFrameSource *source) {
    return look->ops->uploaded && look->ops->uploaded(look->executor, device, source);
}

void motus_lookahead_undo(MotusLookahead *look) {
    look->end--;
    unbegin(look);
}

void motus_lookahead_end(MotusLookahead *look) { look->ended = 1; }

void motus_lookahead_next_segment(MotusLookahead *look, int64_t first) {
    look->shift = first - look->end;
    look->ended = 0;
    look->first_in_segment = 1;
}

// ---- Mini-GOPs ----------------------------------------------------------------------------------

// Costs of pictures from one on, which decide about its mini-GOP.
typedef struct MiniGopCosts {
    MotusBCosts costs[MOTUS_B_WINDOW];
    // Earlier pictures of the GOP first, `before` of them.
    uint64_t intra[MOTUS_SHARPNESS_BEFORE + MOTUS_B_WINDOW];
    uint64_t detail[MOTUS_SHARPNESS_BEFORE + MOTUS_B_WINDOW];
    int before;
    int n;
} MiniGopCosts;

// Finds the costs of pictures from `from` on, up to picture `end` or the end of the GOP, as many as
// count for a mini-GOP: none of an IDR picture. Returns 1 if no later picture changes them.
static int find_costs(const MotusLookahead *look, int64_t from, int64_t end, MiniGopCosts *c) {
    const int span = look->settings.b_span, most = span ? motus_b_window(span) : 0;
    c->n = c->before = 0;
    while (c->before < MOTUS_SHARPNESS_BEFORE && !entry_of(look, from - c->before)->plan.idr) {
        const Entry *e = entry_of(look, from - ++c->before);
        c->detail[MOTUS_SHARPNESS_BEFORE - c->before] = e->detail;
        c->intra[MOTUS_SHARPNESS_BEFORE - c->before] = e->plan.intra;
    }
    for (; c->n < most && from + c->n < end; c->n++) {
        const Entry *e = entry_of(look, from + c->n);
        if (e->plan.idr) return 1;
        c->costs[c->n] = e->mini_gops;
        c->detail[MOTUS_SHARPNESS_BEFORE + c->n] = e->detail;
        c->intra[MOTUS_SHARPNESS_BEFORE + c->n] = e->plan.intra;
    }
    return c->n == most;
}

static int length_by(const MotusLookahead *look, const MiniGopCosts *c) {
    const uint64_t *intra = c->intra + MOTUS_SHARPNESS_BEFORE;
    int sharp[MOTUS_B_WINDOW] = {0};
    if (!c->n) return 1;
    if (look->settings.sharpness)
        motus_sharpness_signs(sharp, c->detail + MOTUS_SHARPNESS_BEFORE, intra, c->before, c->n,
                              look->n_mb);
    return motus_b_length(c->costs, intra, sharp, c->n, look->settings.b_span,
                          look->settings.b_pyramid);
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
        MiniGopCosts costs;
        if (!find_costs(look, look->decided, look->end, &costs) && !look->ended) return;
        const int length = length_by(look, &costs);
        if (costs.n) link_mini_gop(look, look->decided, length);
        const int64_t last = look->decided + length - 1;
        while (look->decided < last) entry_of(look, look->decided++)->plan.b = 1;
        look->decided++;
    }
}

// Links pictures up to `last` that have not been decided about, as if none followed.
static void guess_links(MotusLookahead *look, int64_t last) {
    for (int64_t from = look->first > look->decided ? look->first : look->decided; from <= last;) {
        MiniGopCosts costs;
        find_costs(look, from, last + 1, &costs);
        const int length = length_by(look, &costs);
        link_mini_gop(look, from, length);
        from += length;
    }
}

// Lists the links of a window from look->first to `last`: B pictures, references among them by
// level, the last one first, then P pictures, the last one first. So a picture's amounts are
// complete when it passes them on. Returns their number.
static int list_links(MotusLookahead *look, int64_t last) {
    int n = 0;
    guess_links(look, last);
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

// Finds the window that begins with the next picture and ends with its GOP or with the last picture
// known. *final: the last picture whose offsets are final, which are all of a window that no
// further picture can extend.
static void find_window(const MotusLookahead *look, int64_t *last, int64_t *final) {
    const MotusLookaheadSettings *s = &look->settings;
    int64_t n = look->first;
    while (n + 1 < look->end && !entry_of(look, n + 1)->plan.idr) n++;
    const int complete = look->ended || n + 1 < look->end;
    *last = n;
    *final = look->first + s->depth / BATCH;
    if (complete || !s->mb_tree_q8 || *final > n) *final = n;
}

static MotusStatus plan_window(MotusLookahead *look, MotusError *error) {
    int64_t last, final;
    find_window(look, &last, &final);
    MotusStatus status = MOTUS_OK;
    if (has_offsets(look))
        status = look->ops->plan(look->executor, (int)(look->first % look->n_slots),
                                 (int)(last - look->first + 1), (int)(final - look->first + 1),
                                 entry_of(look, look->first)->plan.idr, look->links,
                                 look->settings.mb_tree_q8 ? list_links(look, last) : 0, error);
    for (int64_t n = look->first; n <= final; n++) entry_of(look, n)->planned = !status;
    return status;
}

// Copies offsets and completes a plan with their sums.
static void copy_offsets(const MotusLookahead *look, const int16_t *from,
                         const MotusLookaheadSums *sums, MotusLookaheadPlan *plan,
                         int16_t *offset) {
    memcpy(offset, from, (size_t)look->n_mb * sizeof *offset);
    plan->mean = (int)((int64_t)sums->offsets / look->n_mb);
    plan->weighted = sums->weighted >> 16;
}

// Copies the next picture's offsets and completes its plan.
static void finish_plan(const MotusLookahead *look, MotusLookaheadPlan *plan, int16_t *offset) {
    plan->has_offsets = has_offsets(look);
    if (!plan->has_offsets) {
        if (offset) memset(offset, 0, (size_t)look->n_mb * sizeof *offset);
        plan->mean = 0;
        plan->weighted = plan->cost;
        return;
    }
    MotusLookaheadSums sums;
    const int16_t *from =
        look->ops->offsets(look->executor, (int)(look->first % look->n_slots), &sums);
    copy_offsets(look, from, &sums, plan, offset);
}

void motus_lookahead_aq(const MotusLookahead *look, MotusLookaheadPlan *plan, int16_t *offset) {
    MotusLookaheadSums sums;
    const int slot = (int)((look->first - 1) % look->n_slots);
    copy_offsets(look, look->ops->aq_offsets(look->executor, slot, &sums), &sums, plan, offset);
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
    finish_plan(look, &e->plan, offset);
    *plan = e->plan;
    look->first++;
    return MOTUS_OK;
}

static uint8_t flags_of(const MotusLookahead *look, int64_t number) {
    const MotusLookaheadPlan *plan = &entry_of(look, number)->plan;
    if (plan->idr) return MOTUS_FUTURE_IDR;
    return look->settings.b_span && number < look->decided && !plan->b ? MOTUS_FUTURE_P : 0;
}

int motus_lookahead_costs(const MotusLookahead *look, uint64_t *cost, uint8_t *flags, int n) {
    int found = 0;
    for (int64_t i = look->first; i < look->end && found < n; i++, found++) {
        cost[found] = entry_of(look, i)->plan.cost;
        flags[found] = flags_of(look, i);
    }
    return found;
}

int motus_lookahead_ended(const MotusLookahead *look) { return look->ended; }
