// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/weights/weights.h"

#include <assert.h>

#include "common/alloc.h"
#include "common/int_core.h"

enum {
    SCALE_ONE = 128,           // scales are in 1/128
    MAX_SCALE = 8 * SCALE_ONE, // larger ones are none
    LEAST_VARIANCE = 4,        // of a plane whose scale is measured
    LOG2_DENOM = 6,            // at most, so that 1 can be coded
    REACH = 2,                 // of the search, in downscaled samples
    MOST_MBS = 2048,           // or little more are searched
};

// Weights are taken if they leave at most `cost` of the cost, 1/256, and help at least `majority`
// as many MBs as they harm, 1/4: more is asked of the first picture of a fade than of the next
// ones. What comes into the picture changes means, too, but harms the MBs that were there.
typedef struct Gate {
    int cost, majority;
} Gate;
static const Gate gates[2] = {{228, 6}, {250, 5}};

// Mean and variance of a plane, 1/256.
typedef struct Moments {
    int64_t mean, variance;
} Moments;

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
                         Moments moments[3]) {
    for (int p = 0; p < 3; p++) {
        const uint64_t n = (uint64_t)f->n_mb * (p ? 64 : 256),
                       mean = (256 * stats->sum[p] + n / 2) / n; // below 2^16
        moments[p].mean = (int64_t)mean;
        moments[p].variance = (int64_t)(256 * stats->squares[p] / n) - (int64_t)(mean * mean >> 8);
    }
}

static int64_t square_root(int64_t v) {
    int64_t root = 0;
    for (int64_t bit = (int64_t)1 << 20; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= v) root += bit;
    return root;
}

// Returns the ratio of two planes' deviations.
static int scale_of(const Moments *cur, const Moments *ref) {
    if (ref->variance < 256 * LEAST_VARIANCE || cur->variance < 0) return SCALE_ONE;
    const int64_t scale = square_root(((cur->variance << 16) / ref->variance)); // 1/256
    return scale >= 2 * MAX_SCALE ? SCALE_ONE : (int)(scale + 1) / 2;
}

// Returns the weight nearest to a scale, and the offset that makes the means equal.
static MotusWeight weight_at(int scale, const Moments *cur, const Moments *ref, int log2_denom) {
    const int weight = motus_min(127, (scale * (1 << log2_denom) + SCALE_ONE / 2) / SCALE_ONE);
    const int64_t offset = (cur->mean - ref->mean * weight / (1 << log2_denom) + 128) >> 8;
    return (MotusWeight){(int16_t)weight, (int16_t)motus_clip(-128, 127, (int)offset)};
}

static MotusWeight none(int log2_denom) { return (MotusWeight){(int16_t)(1 << log2_denom), 0}; }

static int are_equal(MotusWeight a, MotusWeight b) {
    return a.weight == b.weight && a.offset == b.offset;
}

// ---- Costs --------------------------------------------------------------------------------------

static int16_t weigh(int sample, MotusWeight w, int log2_denom) {
    const int scaled = (sample * w.weight + (1 << (log2_denom - 1))) >> log2_denom;
    return (int16_t)motus_clip(0, MOTUS_SMALL_MAX, scaled + MOTUS_SMALL_ONE * w.offset);
}

// Fills in f->ref.
static void weigh_reference(MotusWeightFinder *f, const int16_t *small, MotusWeight w,
                            int log2_denom) {
    const int width = 2 * f->mb_width, height = 2 * f->mb_height;
    int16_t *to = f->ref + REACH;
    for (int y = -REACH; y < height + REACH; y++, to += width + 2 * REACH) {
        const int16_t *from = small + motus_clip(0, height - 1, y) * width;
        for (int x = 0; x < width; x++) to[x] = weigh(from[x], w, log2_denom);
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

// True if weights help enough MBs.
static int help_most(const MotusWeightFinder *f, const Gate *gate) {
    int helped = 0, harmed = 0;
    for (int i = 0; i < f->n_searched; i++) {
        helped += f->weighted[i] < f->plain[i];
        harmed += f->weighted[i] > f->plain[i];
    }
    return 4 * (int64_t)helped >= gate->majority * (int64_t)harmed;
}

// ---- References ---------------------------------------------------------------------------------

// Follows luma: what fades without colour leaves means and variances of chroma as they are.
static void find_chroma(const Moments cur[3], const Moments ref[3], int k, MotusWeights *weights) {
    const int log2_denom = weights->log2_denom;
    for (int p = 1; p < 3; p++) {
        weights->ref[k].plane[p] =
            weight_at(scale_of(&cur[p], &ref[p]), &cur[p], &ref[p], log2_denom);
        weights->ref[k].has_chroma |= !are_equal(weights->ref[k].plane[p], none(log2_denom));
    }
}

static void find_luma(MotusWeightFinder *f, const Moments *cur, const Moments *ref,
                      const int16_t *small, int k, MotusWeights *weights) {
    const Gate *gate = &gates[f->has_weights];
    const int log2_denom = weights->log2_denom, scales[2] = {scale_of(cur, ref), SCALE_ONE};
    MotusWeight tried = none(log2_denom);
    uint64_t least = 0;
    for (int i = 0; i < 2; i++) {
        const MotusWeight w = weight_at(scales[i], cur, ref, log2_denom);
        if (are_equal(w, none(log2_denom)) || are_equal(w, tried)) continue;
        if (!least) {
            weigh_reference(f, small, none(log2_denom), log2_denom);
            least = search(f, f->plain) * (uint64_t)gate->cost / 256;
        }
        weigh_reference(f, small, w, log2_denom);
        const uint64_t cost = search(f, f->weighted);
        tried = w;
        if (cost >= least || !help_most(f, gate)) continue;
        least = cost;
        weights->ref[k].plane[0] = w;
        weights->ref[k].has_luma = 1;
    }
}

// Returns the largest denominator that all scales allow.
static int choose_denom(const MotusWeightFinder *f, const Moments cur[3], int refs,
                        const int32_t *ref_shown) {
    int most = SCALE_ONE, log2_denom = LOG2_DENOM;
    for (int k = 0; k < refs; k++) {
        Moments ref[3];
        read_moments(f, find_source(f, ref_shown[k]), ref);
        for (int p = 0; p < 3; p++) most = motus_max(most, scale_of(&cur[p], &ref[p]));
    }
    while ((most << log2_denom) > 127 * SCALE_ONE) log2_denom--;
    return log2_denom;
}

void motus_weights_find(MotusWeightFinder *f, int refs, const int32_t *ref_shown,
                        MotusWeights *weights) {
    Moments cur[3], ref[3];
    int has_weights = 0;
    read_moments(f, f->current, cur);
    *weights = (MotusWeights){.log2_denom = choose_denom(f, cur, refs, ref_shown)};
    for (int k = 0; k < refs; k++) {
        const MotusSourceStats *from = find_source(f, ref_shown[k]);
        read_moments(f, from, ref);
        find_luma(f, &cur[0], &ref[0], from->small, k, weights);
        if (weights->ref[k].has_luma) find_chroma(cur, ref, k, weights);
        has_weights |= weights->ref[k].has_luma;
    }
    if (!has_weights) weights->log2_denom = 0; // takes the fewest bits
    f->has_weights = has_weights;
}
