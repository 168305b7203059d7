// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/weights/weights.h"

#include <assert.h>
#include <string.h>

#include "common/alloc.h"
#include "encoder/weights/moments_core.h"

enum {
    REACH = 2,       // of the search, in downscaled samples
    MOST_MBS = 2048, // or little more are searched
    MIXED = 8,       // a picture is, if weights harm one of so many MBs that they help
    FEW_COST = 205,  // as MOTUS_WEIGHT_COST, of weights that harm more MBs than they help
    // As MOTUS_WEIGHT_COST and MAJORITY, behind a picture with weights: less is asked than of the
    // first picture of a fade.
    NEXT_COST = 250,
    NEXT_MAJORITY = 5,
};

typedef struct Source {
    MotusSourceStats *stats;
    int32_t shown;
    int is_there;
} Source;

struct MotusWeightFinder {
    Source source[MOTUS_MAX_REFERENCES];
    MotusSourceStats *current;
    int n;
    int has_weights; // of the last P picture
    int mb_width, mb_height, n_mb;
    int row_step, n_searched;  // each row_step-th row of MBs is searched
    int16_t *ref;              // a downscaled reference with weights and a border of REACH
    int16_t *plain, *weighted; // costs of MBs
    int16_t *column;           // scratch memory of a row of MBs
};

MotusStatus motus_weight_finder_open(MotusWeightFinder **out, int n, int mb_width, int mb_height) {
    MotusWeightFinder *f = *out = motus_alloc(1, sizeof *f);
    if (!f) return MOTUS_ERR_MEMORY;
    const size_t bytes = motus_source_stats_bytes(mb_width, mb_height);
    f->n = n;
    f->mb_width = mb_width, f->mb_height = mb_height, f->n_mb = mb_width * mb_height;
    f->row_step = motus_max(1, f->n_mb / MOST_MBS);
    f->n_searched = (mb_height + f->row_step - 1) / f->row_step * mb_width;
    f->current = motus_alloc(bytes, 1);
    f->ref = motus_alloc((size_t)(2 * mb_width + 2 * REACH) * (size_t)(2 * mb_height + 2 * REACH),
                         sizeof *f->ref);
    f->plain = motus_alloc((size_t)f->n_searched, sizeof *f->plain);
    f->weighted = motus_alloc((size_t)f->n_searched, sizeof *f->weighted);
    f->column = motus_alloc((size_t)mb_width, 2 * sizeof *f->column);
    int is_open = f->current && f->ref && f->plain && f->weighted && f->column;
    for (int i = 0; i < n && is_open; i++)
        is_open = (f->source[i].stats = motus_alloc(bytes, 1)) != NULL;
    if (is_open) return MOTUS_OK;
    motus_weight_finder_close(out);
    return MOTUS_ERR_MEMORY;
}

void motus_weight_finder_close(MotusWeightFinder **out) {
    MotusWeightFinder *f = *out;
    if (!f) return;
    for (int i = 0; i < f->n; i++) motus_free(f->source[i].stats);
    motus_free(f->current);
    motus_free(f->ref);
    motus_free(f->plain);
    motus_free(f->weighted);
    motus_free(f->column);
    motus_free(f);
    *out = NULL;
}

MotusSourceStats *motus_weight_finder_stats(MotusWeightFinder *f) { return f->current; }

void motus_weight_finder_keep(MotusWeightFinder *f, int32_t shown, int slot, int is_idr) {
    for (int i = 0; i < f->n && is_idr; i++) f->source[i].is_there = 0;
    if (is_idr) f->has_weights = 0;
    Source *s = &f->source[slot];
    MotusSourceStats *unused = s->stats;
    s->stats = f->current, f->current = unused;
    s->shown = shown, s->is_there = 1;
}

static const MotusSourceStats *find_source(const MotusWeightFinder *f, int32_t shown) {
    for (int i = 0; i < f->n; i++)
        if (f->source[i].is_there && f->source[i].shown == shown) return f->source[i].stats;
    assert(0);
    return NULL;
}

// ---- Suggestions --------------------------------------------------------------------------------

static void read_moments(const MotusWeightFinder *f, const MotusSourceStats *stats,
                         MotusMoments moments[3]) {
    for (int p = 0; p < 3; p++) {
        const uint64_t n = (uint64_t)f->n_mb * (p ? 64 : 256);
        moments[p] = motus_moments(stats->sum[p], stats->squares[p], n);
    }
}

// ---- Costs --------------------------------------------------------------------------------------

// Fills in f->ref.
static void weigh_reference(MotusWeightFinder *f, const int16_t *small, MotusWeight w,
                            int log2_denom) {
    const int width = 2 * f->mb_width, height = 2 * f->mb_height;
    int16_t *to = f->ref + REACH;
    for (int y = -REACH; y < height + REACH; y++, to += width + 2 * REACH) {
        const int16_t *from = small + motus_clip(0, height - 1, y) * width;
        for (int x = 0; x < width; x++) {
            const int scaled = (from[x] * w.weight + (1 << (log2_denom - 1))) >> log2_denom;
            to[x] = (int16_t)motus_clip(0, MOTUS_SMALL_MAX, scaled + MOTUS_SMALL_ONE * w.offset);
        }
        for (int x = 1; x <= REACH; x++) to[-x] = to[0], to[width - 1 + x] = to[width - 1];
    }
}

// Returns |a - b| in 16-bit signed arithmetic, which compilers vectorize.
static int16_t difference(int16_t a, int16_t b) {
    const int16_t d = (int16_t)(a - b), negative = (int16_t)(b - a);
    return d > negative ? d : negative;
}

// Lowers the costs of a row of n MBs to SADs of 2x2 samples at one displacement. They are at most
// 4 * MOTUS_SMALL_MAX = 16,320. column: scratch memory, 2 n sums.
static void lower_costs(int16_t *restrict cost, int16_t *restrict column, int n,
                        const int16_t *restrict cur, ptrdiff_t cur_stride,
                        const int16_t *restrict ref, ptrdiff_t ref_stride) {
    for (int x = 0; x < 2 * n; x++)
        column[x] = (int16_t)(difference(cur[x], ref[x]) +
                              difference(cur[x + cur_stride], ref[x + ref_stride]));
    for (int i = 0; i < n; i++) {
        const int16_t sad = (int16_t)(column[2 * i] + column[2 * i + 1]);
        cost[i] = cost[i] < sad ? cost[i] : sad;
    }
}

// Fills in the MBs' least SADs in f->ref; returns their sum.
static uint64_t search(const MotusWeightFinder *f, int16_t *cost) {
    const ptrdiff_t width = 2 * f->mb_width, stride = width + 2 * REACH;
    uint64_t sum = 0;
    for (int i = 0; i < f->n_searched; i++) cost[i] = INT16_MAX;
    for (int y = 0; y < f->mb_height; y += f->row_step)
        for (int dy = 0; dy <= 2 * REACH; dy++)
            for (int dx = 0; dx <= 2 * REACH; dx++)
                lower_costs(cost + y / f->row_step * f->mb_width, f->column, f->mb_width,
                            f->current->small + 2 * y * width, width,
                            f->ref + (2 * y + dy) * stride + dx, stride);
    for (int i = 0; i < f->n_searched; i++) sum += (uint64_t)cost[i];
    return sum;
}

// Judges the weight of f->weighted. plain, *cost: costs without and with it; repeats: of a mixed
// picture MBs choose between the reference with and without, so that no majority is asked for.
// P_Skip has the first of them. Returns 1 if it is taken, with its cost and place.
static int judge(const MotusWeightFinder *f, uint64_t plain, int repeats, uint64_t *cost,
                 MotusRepeat *repeat) {
    const int gate = f->has_weights ? NEXT_COST : MOTUS_WEIGHT_COST,
              majority = f->has_weights ? NEXT_MAJORITY : MOTUS_WEIGHT_MAJORITY;
    int64_t helped = 0, harmed = 0;
    uint64_t lesser = 0;
    for (int i = 0; i < f->n_searched; i++) {
        helped += f->weighted[i] < f->plain[i];
        harmed += f->weighted[i] > f->plain[i];
        lesser += (uint64_t)motus_min(f->plain[i], f->weighted[i]);
    }
    *repeat = !repeats || MIXED * harmed < helped ? MOTUS_REPEAT_NONE
              : harmed > helped                   ? MOTUS_REPEAT_FIRST
                                                  : MOTUS_REPEAT_SECOND;
    if (*repeat == MOTUS_REPEAT_NONE)
        return *cost < plain * (uint64_t)gate / 256 && 4 * helped >= majority * harmed;
    *cost = lesser;
    return lesser < plain * (*repeat == MOTUS_REPEAT_FIRST ? FEW_COST : MOTUS_WEIGHT_COST) / 256;
}

// ---- References ---------------------------------------------------------------------------------

// Returns the place of reference k without its weights. repeats: it may have one.
static MotusRepeat find_luma(MotusWeightFinder *f, const MotusMoments *cur, const MotusMoments *ref,
                             int32_t ref_shown, int k, int repeats, MotusWeights *weights) {
    const int log2_denom = weights->log2_denom,
              scales[2] = {motus_scale_of(cur, ref), MOTUS_SCALE_ONE};
    const int16_t *small = find_source(f, ref_shown)->small;
    const MotusWeight none = {(int16_t)(1 << log2_denom), 0};
    MotusWeight tried = none;
    uint64_t plain = 0, least = UINT64_MAX;
    MotusRepeat repeat = MOTUS_REPEAT_NONE;
    for (int i = 0; i < 2; i++) {
        const MotusWeight w = motus_weight_at(scales[i], cur, ref, log2_denom);
        if (motus_is_no_weight(w, log2_denom) ||
            (w.weight == tried.weight && w.offset == tried.offset))
            continue;
        if (!plain) {
            weigh_reference(f, small, none, log2_denom);
            plain = search(f, f->plain);
        }
        weigh_reference(f, small, w, log2_denom);
        MotusRepeat place;
        uint64_t cost = search(f, f->weighted);
        tried = w;
        if (!judge(f, plain, repeats, &cost, &place) || cost >= least) continue;
        least = cost;
        repeat = place;
        weights->ref[k].plane[0] = w;
        weights->ref[k].has_luma = 1;
    }
    return repeat;
}

MotusRepeat motus_weights_find(MotusWeightFinder *f, int refs, const int32_t *ref_shown,
                               int repeats, MotusWeights *weights) {
    MotusMoments cur[3], ref[MOTUS_MAX_REFERENCES][3];
    MotusRepeat repeat = MOTUS_REPEAT_NONE;
    int largest_scale = MOTUS_SCALE_ONE, has_weights = 0;
    read_moments(f, f->current, cur);
    for (int k = 0; k < refs; k++) {
        read_moments(f, find_source(f, ref_shown[k]), ref[k]);
        for (int p = 0; p < 3; p++)
            largest_scale = motus_max(largest_scale, motus_scale_of(&cur[p], &ref[k][p]));
    }
    const int log2_denom = motus_log2_denom_of(largest_scale);
    *weights = (MotusWeights){.log2_denom = log2_denom};
    for (int k = 0; k < refs; k++) {
        const MotusRepeat found =
            find_luma(f, &cur[0], &ref[k][0], ref_shown[k], k, repeats && !k, weights);
        if (!k) repeat = found;
        if (!weights->ref[k].has_luma) continue;
        has_weights = 1;
        // Chroma follows luma: what fades without colour leaves its means and variances.
        for (int p = 1; p < 3; p++) {
            const int scale = motus_scale_of(&cur[p], &ref[k][p]);
            weights->ref[k].plane[p] = motus_weight_at(scale, &cur[p], &ref[k][p], log2_denom);
            weights->ref[k].has_chroma |= !motus_is_no_weight(weights->ref[k].plane[p], log2_denom);
        }
    }
    if (!has_weights) weights->log2_denom = 0; // takes the fewest bits
    f->has_weights = has_weights;
    return repeat;
}

int motus_weights_repeat(MotusWeights *weights, MotusRepeat repeat, int32_t *ref_shown, int *refs,
                         int most) {
    if (repeat == MOTUS_REPEAT_NONE || most < 2) return 0;
    *refs = motus_min(*refs + 1, most);
    const size_t n = (size_t)*refs - 1;
    memmove(ref_shown + 1, ref_shown, n * sizeof *ref_shown);
    memmove(&weights->ref[1], &weights->ref[0], n * sizeof weights->ref[0]);
    const int plain = repeat == MOTUS_REPEAT_FIRST ? 0 : 1;
    weights->ref[plain].has_luma = weights->ref[plain].has_chroma = 0;
    return 1;
}
