// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/weights.h"

#include <assert.h>

#include "common/alloc.h"
#include "encoder/lookahead/lookahead_passes.h"

enum {
    SCALE_ONE = 128,           // scales are in 1/128
    MAX_SCALE = 8 * SCALE_ONE, // larger ones are none
    LEAST_VARIANCE = 4,        // of a plane whose scale is measured
    GAIN = 252,                // weights are taken if they leave at most so much of the cost, /256
    LOG2_DENOM = 6,            // at most, so that 1 can be coded
};

// Mean and variance of a plane, 1/256.
typedef struct Moments {
    int64_t mean, variance;
} Moments;

typedef struct Source {
    MotusFrame *frame; // NULL: no picture
    int32_t shown;
    Moments moments[3];
} Source;

struct MotusWeightFinder {
    Source source[MOTUS_MAX_REFERENCES];
    int n, oldest;
    MotusHalfPicture cur, ref;
    MotusMbCosts costs;
    int n_mb;
};

MotusStatus motus_weight_finder_open(MotusWeightFinder **out, int n, int mb_width, int mb_height) {
    MotusWeightFinder *f = *out = motus_alloc(1, sizeof *f);
    if (!f) return MOTUS_ERR_MEMORY;
    f->n = n;
    f->n_mb = mb_width * mb_height;
    f->costs.mv = motus_alloc((size_t)f->n_mb, sizeof *f->costs.mv);
    f->costs.intra = motus_alloc((size_t)f->n_mb, sizeof *f->costs.intra);
    f->costs.inter = motus_alloc((size_t)f->n_mb, sizeof *f->costs.inter);
    if (f->costs.mv && f->costs.intra && f->costs.inter &&
        !motus_half_alloc(&f->cur, mb_width, mb_height) &&
        !motus_half_alloc(&f->ref, mb_width, mb_height))
        return MOTUS_OK;
    motus_weight_finder_close(out);
    return MOTUS_ERR_MEMORY;
}

void motus_weight_finder_close(MotusWeightFinder **out) {
    MotusWeightFinder *f = *out;
    if (!f) return;
    for (int i = 0; i < f->n; i++) motus_frame_unref(&f->source[i].frame);
    motus_half_free(&f->cur);
    motus_half_free(&f->ref);
    motus_free(f->costs.mv);
    motus_free(f->costs.intra);
    motus_free(f->costs.inter);
    motus_free(f);
    *out = NULL;
}

// ---- Moments ------------------------------------------------------------------------------------

static Moments moments_of(const MotusPlane *plane) {
    const uint64_t n = (uint64_t)plane->width * (uint64_t)plane->height;
    uint64_t sum = 0, squares = 0;
    for (int y = 0; y < plane->height; y++) {
        const uint8_t *row = plane->data + y * plane->stride;
        uint32_t row_sum = 0, row_squares = 0; // a row has at most 2^16 samples
        for (int x = 0; x < plane->width; x++) {
            row_sum += row[x];
            row_squares += (uint32_t)(row[x] * row[x]);
        }
        sum += row_sum, squares += row_squares;
    }
    const uint64_t mean = (256 * sum + n / 2) / n; // below 2^16
    return (Moments){(int64_t)mean, (int64_t)(256 * squares / n) - (int64_t)(mean * mean >> 8)};
}

static void measure(const MotusFrame *frame, Moments moments[3]) {
    for (int p = 0; p < 3; p++) moments[p] = moments_of(&frame->plane[p]);
}

void motus_weight_finder_add(MotusWeightFinder *f, const MotusFrame *frame, int32_t shown,
                             int is_idr) {
    for (int i = 0; i < f->n && is_idr; i++) motus_frame_unref(&f->source[i].frame);
    Source *s = &f->source[f->oldest];
    f->oldest = (f->oldest + 1) % f->n;
    motus_frame_unref(&s->frame);
    s->frame = motus_frame_ref(frame);
    s->shown = shown;
    measure(frame, s->moments);
}

static const Source *find_source(const MotusWeightFinder *f, int32_t shown) {
    for (int i = 0; i < f->n; i++)
        if (f->source[i].frame && f->source[i].shown == shown) return &f->source[i];
    assert(0);
    return NULL;
}

// ---- Suggestions --------------------------------------------------------------------------------

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

static int is_none(MotusWeight w, int log2_denom) {
    return w.weight == 1 << log2_denom && !w.offset;
}

// ---- Costs --------------------------------------------------------------------------------------

static uint64_t inter_cost(MotusWeightFinder *f, int threads) {
    uint64_t sum = 0;
    motus_mb_costs(&f->costs, &f->cur, &f->ref, NULL, threads);
    for (int i = 0; i < f->n_mb; i++) sum += f->costs.inter[i];
    return sum;
}

static uint64_t weighted_cost(MotusWeightFinder *f, const Source *ref, MotusWeight w,
                              int log2_denom, int threads) {
    uint8_t weighted[256];
    motus_weight_table(weighted, w, log2_denom);
    motus_half_build(&f->ref, &ref->frame->plane[0], threads);
    const size_t bytes = motus_half_bytes(f->ref.mb_width, f->ref.mb_height);
    for (size_t i = 0; i < bytes; i++) f->ref.memory[i] = weighted[f->ref.memory[i]];
    return inter_cost(f, threads);
}

// Returns the SAD of two planes in place, one of them weighted.
static uint64_t plane_sad(const MotusPlane *cur, const MotusPlane *ref, MotusWeight w,
                          int log2_denom) {
    uint64_t sum = 0;
    uint8_t weighted[256];
    motus_weight_table(weighted, w, log2_denom);
    for (int y = 0; y < cur->height; y++)
        for (int x = 0; x < cur->width; x++)
            sum += (uint64_t)motus_abs(cur->data[y * cur->stride + x] -
                                       weighted[ref->data[y * ref->stride + x]]);
    return sum;
}

// ---- References ---------------------------------------------------------------------------------

static void find_chroma(const MotusFrame *cur, const Moments moments[3], const Source *ref, int k,
                        MotusWeights *weights) {
    const MotusWeight none = {(int16_t)(1 << weights->log2_denom), 0};
    for (int p = 1; p < 3; p++) {
        const MotusWeight w = weight_at(scale_of(&moments[p], &ref->moments[p]), &moments[p],
                                        &ref->moments[p], weights->log2_denom);
        const MotusPlane *a = &cur->plane[p], *b = &ref->frame->plane[p];
        const int helps = plane_sad(a, b, w, weights->log2_denom) * 256 <
                          plane_sad(a, b, none, weights->log2_denom) * GAIN;
        weights->ref[k].plane[p] = helps ? w : none;
        weights->ref[k].has_chroma |= (uint8_t)helps;
    }
}

static void find_luma(MotusWeightFinder *f, const Moments *cur, const Source *ref, int k,
                      int threads, MotusWeights *weights) {
    const int log2_denom = weights->log2_denom;
    const int scales[2] = {scale_of(cur, &ref->moments[0]), SCALE_ONE};
    MotusWeight tried = {(int16_t)(1 << log2_denom), 0};
    uint64_t least = 0;
    for (int i = 0; i < 2; i++) {
        const MotusWeight w = weight_at(scales[i], cur, &ref->moments[0], log2_denom);
        if (is_none(w, log2_denom) || (w.weight == tried.weight && w.offset == tried.offset))
            continue;
        if (!least) { // of no weights
            motus_half_build(&f->ref, &ref->frame->plane[0], threads);
            least = inter_cost(f, threads) * GAIN / 256;
        }
        const uint64_t cost = weighted_cost(f, ref, w, log2_denom, threads);
        tried = w;
        if (cost >= least) continue;
        least = cost;
        weights->ref[k].plane[0] = w;
        weights->ref[k].has_luma = 1;
    }
}

void motus_weights_find(MotusWeightFinder *f, const MotusFrame *source, int refs,
                        const int32_t *ref_shown, int threads, MotusWeights *weights) {
    Moments moments[3];
    int most = SCALE_ONE;
    *weights = (MotusWeights){.log2_denom = LOG2_DENOM};
    measure(source, moments);
    for (int k = 0; k < refs; k++)
        for (int p = 0; p < 3; p++)
            most =
                motus_max(most, scale_of(&moments[p], &find_source(f, ref_shown[k])->moments[p]));
    while ((most << weights->log2_denom) > 127 * SCALE_ONE) weights->log2_denom--;
    motus_half_build(&f->cur, &source->plane[0], threads);
    for (int k = 0; k < refs; k++) {
        const Source *ref = find_source(f, ref_shown[k]);
        find_luma(f, &moments[0], ref, k, threads, weights);
        if (weights->ref[k].has_luma) find_chroma(source, moments, ref, k, weights);
    }
}
