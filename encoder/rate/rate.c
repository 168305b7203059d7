// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/rate.h"

#include <stdlib.h>

#include "common/log2_core.h"

// Bits at QP 0 per unit of weighted cost, until sizes are known.
enum {
    FIRST_COMPLEXITY_I = 4,
    FIRST_COMPLEXITY_P = 8,
    FIRST_COMPLEXITY_B = 4,
    FIRST_COMPLEXITY_B_REFERENCE = 6
};

#define END_STEP (6 * MOTUS_QP_UNIT)        // largest QP change to meet the rate at the end
#define LONGEST_GOP 250                     // assumed if keyint sets no limit
#define KEPT_WITHIN (3 * MOTUS_QP_UNIT / 2) // an MB keeps the QP of the MB before it
#define RESERVE 10                          // predictions leave 1 / RESERVE of the VBV unused

typedef __int128 Wide; // products of bits, rates and times; factors may be near 2^62

static int type_of(int idr, int b) {
    return idr                      ? MOTUS_RATE_I
           : b == MOTUS_B_REFERENCE ? MOTUS_RATE_B_REFERENCE
           : b                      ? MOTUS_RATE_B
                                    : MOTUS_RATE_P;
}

// Returns the QP of a type of pictures minus that of P pictures.
static int above_p(const MotusRateSettings *s, int type) {
    return type == MOTUS_RATE_I ? -s->ip_q8 : type == MOTUS_RATE_P ? 0 : s->pb_q8;
}

static int64_t bits_in(const MotusRateSettings *s, int64_t durations) {
    return (int64_t)((Wide)s->bitrate * s->fps.den * durations / s->fps.num);
}

// Returns log2(a / b), 1 / MOTUS_OCTAVE; numbers below 1 count as 1.
static int log2_ratio(int64_t a, int64_t b) {
    return (a > 1 ? motus_log2_q12((uint64_t)a) : 0) - (b > 1 ? motus_log2_q12((uint64_t)b) : 0);
}

// ---- Complexity: bits at QP 0 -------------------------------------------------------------------

// Returns the complexity of a picture that took `bits` at a QP. It counts at the QP that a P
// picture would have; bits of B pictures follow QP as those of P pictures do.
static MotusComplexity measured(const MotusRate *r, int type, int64_t bits, int qp_q8) {
    const int idr = type == MOTUS_RATE_I;
    const int64_t empty = r->settings.empty_bits[type], fixed = idr            ? 0
                                                                : bits < empty ? bits
                                                                               : empty;
    return motus_complexity_of(idr, bits, fixed, qp_q8 - above_p(&r->settings, type));
}

// Predicts the complexity of a picture from its weighted cost.
static MotusComplexity predict(const MotusRate *r, int type, uint64_t weighted) {
    const uint64_t at_0 = (uint64_t)((Wide)weighted * r->complexity[type] / r->cost[type]);
    if (type == MOTUS_RATE_I) return (MotusComplexity){.i = at_0};
    return (MotusComplexity){.p = at_0, .fixed = (uint64_t)r->settings.empty_bits[type]};
}

// Returns weighted cost / cost in 1/256, 1..256: the effect of the QP offsets on the picture's
// bits.
static uint32_t ratio_of(const MotusLookaheadPlan *plan) {
    if (!plan->cost || plan->weighted / plan->cost >= 256) return 256;
    return (uint32_t)motus_max(1, (int)(plan->weighted * 256 / plan->cost));
}

// Predicts the complexity of a future picture. Until a picture of its type has been coded, assumes
// the current picture's QP offsets.
static MotusComplexity predict_future(const MotusRate *r, const MotusFutureCosts *future, int i) {
    const int type = type_of(future->idr[i], future->b ? future->b[i] : 0);
    const uint32_t last = r->ratio_q8[type];
    return predict(r, type, future->cost[i] * (last ? last : ratio_of(&r->plan)) / 256);
}

// Updates the predictions by the coded picture: sums decay over about two I pictures and eight P or
// B pictures. Then the model of sizes, at a QP that MBs may have. A picture without a residual
// would have the same size at other QPs: it tells nothing.
static void learn(MotusRate *r, MotusComplexity c, int64_t bits) {
    const int t = r->type, qp = motus_min(r->qp_q8, r->settings.qp_max * MOTUS_QP_UNIT),
              is_empty = bits <= r->settings.empty_bits[t];
    const uint64_t weighted = r->plan.weighted;
    if (!is_empty) {
        r->complexity[t] += c.i + c.p - r->complexity[t] / (t ? 8 : 2);
        r->cost[t] += (weighted ? weighted : 1) - r->cost[t] / (t ? 8 : 2);
        if (!r->complexity[t]) r->complexity[t] = 1;
        r->ratio_q8[t] = ratio_of(&r->plan);
    }
    if (r->plan.b) return;
    if (is_empty)
        motus_size_skip(&r->size, qp);
    else if (r->plan.idr || !r->size.known)
        motus_size_begin(&r->size, weighted, qp, bits);
    else {
        const int is_twice = r->tries && !r->plan.refreshed && r->over.qp_q8 < qp;
        motus_size_learn(&r->size, weighted, r->plan.refreshed, is_twice ? &r->over : NULL, qp,
                         bits);
    }
}

// ---- QP for the VBV -----------------------------------------------------------------------------

// Removes the current picture and the future ones from the buffer. Returns the fewest bits after a
// removal; below 0: underflow. *full: times that the buffer is full.
static int64_t simulate(const MotusRate *r, MotusComplexity cur, const MotusFutureCosts *future,
                        int qp_q8, int *full) {
    MotusVbv v = r->vbv;
    int64_t least = INT64_MAX;
    *full = 0;
    for (int i = -1; i < future->n && least >= 0; i++) {
        const MotusComplexity c = i < 0 ? cur : predict_future(r, future, i);
        const int64_t held = motus_vbv_remove(&v, motus_complexity_bits(c, qp_q8), r->duration);
        if (held < least) least = held;
        *full += v.fullness == v.size;
    }
    return least;
}

static int is_constant(const MotusRateSettings *s) {
    return s->kind == MOTUS_RATE_BITRATE && s->vbv_rate <= s->bitrate;
}

// Raises the QP until the known pictures leave a reserve in the buffer. With a constant rate, first
// lowers it while the buffer stays full.
static int qp_for_vbv(const MotusRate *r, MotusComplexity cur, const MotusFutureCosts *future,
                      int qp_q8) {
    const int64_t size = r->settings.vbv_size;
    const int step = MOTUS_QP_UNIT / 4;
    int full;
    for (int i = 0; i < 40 && is_constant(&r->settings); i++) {
        const int64_t least = simulate(r, cur, future, qp_q8, &full);
        if (2 * full <= future->n + 1 || least < size / 2) break;
        qp_q8 -= step;
    }
    while (qp_q8 < MOTUS_RATE_MAX_QP && simulate(r, cur, future, qp_q8, &full) < size / RESERVE)
        qp_q8 += step;
    return qp_q8;
}

int motus_rate_holds_one(const MotusRate *r) {
    const MotusRateSettings *s = &r->settings;
    return s->vbv_rate &&
           (Wide)4 * s->vbv_size * s->fps.num <= (Wide)5 * s->vbv_rate * s->fps.den * r->duration;
}

// ---- Bitrate ------------------------------------------------------------------------------------

static int64_t square_root(int64_t v) {
    int64_t low = 0, high = 1 << 20;
    while (low < high) {
        const int64_t middle = (low + high + 1) / 2;
        if (middle * middle <= v)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// Returns the QP at which the known pictures and a stretch of average ones after them meet the
// rate. The stretch spreads a surplus or a lack; it grows with the square root of the time coded.
// window: complexity of the current and future pictures. known: time from the first picture to
// their end.
static int qp_for_average(const MotusRate *r, MotusComplexity window, int64_t known) {
    const MotusRateSettings *s = &r->settings;
    const int64_t second = motus_max(1, s->fps.num / s->fps.den),
                  stretch = second + square_root(second * r->elapsed);
    const int64_t gop =
        (s->keyint && s->keyint < LONGEST_GOP ? s->keyint : LONGEST_GOP) * r->duration;
    MotusComplexity sum = window;
    motus_complexity_add(&sum, r->past);
    sum = motus_complexity_scale(sum, stretch, known);
    // Until half a GOP is known, its one I picture counts as one per half GOP.
    if (known < gop / 2) sum.i = sum.i * (uint64_t)known / (uint64_t)(gop / 2);
    motus_complexity_add(&sum, window);
    const int64_t left = bits_in(s, known + stretch) - r->spent;
    return motus_complexity_qp(sum, left > 1 ? left : 1);
}

// Returns the QP at which the window ends with the bits of `durations`.
static int qp_within(const MotusRate *r, MotusComplexity window, int64_t durations) {
    const int64_t bits = bits_in(&r->settings, durations) - r->spent;
    return motus_complexity_qp(window, bits > 1 ? bits : 1);
}

// Keeps the rate within 0.5 % and a quarter of a second, wherever the stream ends. Once its end is
// known, meets the rate exactly if END_STEP allows.
static int qp_for_bitrate(const MotusRate *r, MotusComplexity window,
                          const MotusFutureCosts *future) {
    const MotusRateSettings *s = &r->settings;
    for (int i = 0; i < future->n; i++) motus_complexity_add(&window, predict_future(r, future, i));
    const int64_t known = r->elapsed + (1 + future->n) * r->duration;
    const int64_t most = known / 200 + motus_max(1, s->fps.num / s->fps.den / 4);
    const int qp = motus_clip(qp_within(r, window, known + most),
                              qp_within(r, window, known - most), qp_for_average(r, window, known));
    if (!future->ended) return qp;
    // The last few pictures cannot use up a surplus: coded finer than their references, they take
    // more bits than the model predicts.
    const int finer = motus_min(END_STEP, (1 + future->n) * MOTUS_QP_UNIT / 2);
    return motus_clip(qp - finer, qp + END_STEP, qp_within(r, window, known));
}

// True if a scene begins with the current picture, whose QP then need not be near the last one.
static int is_cut(const MotusRate *r) {
    return r->plan.idr && !r->plan.forced && r->in_gop != r->settings.keyint;
}

// ---- Second pass --------------------------------------------------------------------------------

static MotusComplexity log_complexity(const MotusRate *r, int64_t number) {
    const MotusPassPicture *p = &r->settings.log->picture[number];
    return measured(r, type_of(p->idr, p->b), p->bits, p->qp_q8);
}

// Gives a GOP the bits that it takes at log_qp_q8. Deviations of its pictures are made up for
// within the GOP. Returns the QP of the current picture.
static int qp_by_log(MotusRate *r) {
    const MotusPassLog *log = r->settings.log;
    const int64_t number = r->plan.number;
    if (r->plan.idr) {
        r->planned = r->taken = r->expected = r->recent = 0;
        if (!motus_rate_feeds_back(&r->settings))
            r->last_qp_q8 = -1, r->in_gop = -1; // GOPs do not depend on others
        r->rest = (MotusComplexity){0};
        for (int64_t i = number; i < log->n && (i == number || !log->picture[i].idr); i++)
            motus_complexity_add(&r->rest, log_complexity(r, i));
    }
    MotusComplexity rest = r->rest;
    const int64_t left = motus_complexity_bits(rest, r->log_qp_q8) + r->planned - r->taken;
    if (r->recent > r->expected / 2 && r->recent / 2 < r->expected)
        rest = motus_complexity_scale(rest, r->recent, r->expected);
    const int qp = motus_clip(r->log_qp_q8 - 2 * END_STEP, r->log_qp_q8 + 2 * END_STEP,
                              motus_complexity_qp(rest, left > 1 ? left : 1));
    r->now = log_complexity(r, number);
    r->planned += motus_complexity_bits(r->now, r->log_qp_q8);
    r->rest.i -= r->now.i, r->rest.p -= r->now.p, r->rest.fixed -= r->now.fixed;
    return qp;
}

// Returns the QP at which the current picture should bring the GOP back to the log's plan: by the
// model, or between a coding with too many bits and one with too few.
static int qp_by_log_again(MotusRate *r, int64_t bits) {
    const MotusRateSettings *s = &r->settings;
    const int64_t left = r->planned - r->taken, least = motus_complexity_bits(r->now, r->log_qp_q8);
    const int64_t wanted = left > least / 4 ? left : least / 4;
    const int halves = r->plan.idr ? MOTUS_HALVES_I : MOTUS_HALVES_P;
    MotusRateSample *over = &r->over, *under = &r->under;
    *(bits > wanted ? over : under) = (MotusRateSample){r->qp_q8, bits};
    int qp = r->qp_q8 + log2_ratio(bits, wanted) * halves / (MOTUS_OCTAVE / MOTUS_QP_UNIT);
    if (over->bits && under->bits) {
        const int span = under->qp_q8 - over->qp_q8, fell = log2_ratio(over->bits, under->bits);
        if (span < MOTUS_QP_UNIT / 2 || fell <= 0) return r->qp_q8;
        const int64_t part = (int64_t)span * log2_ratio(over->bits, wanted) / fell;
        qp = over->qp_q8 + motus_clip(span / 8, span - span / 8, (int)part);
    }
    return motus_clip(s->qp_min * MOTUS_QP_UNIT - r->plan.mean,
                      s->qp_max * MOTUS_QP_UNIT - r->plan.mean, qp);
}

// True if the current picture must be coded again, at *qp_q8: the rest of the GOP, at QPs of up to
// END_STEP from log_qp_q8, cannot make up for its size. An eighth of the GOP's bits does not
// matter.
static int misses_log(MotusRate *r, int64_t bits, int *qp_q8) {
    if (!r->settings.log || r->tries == MOTUS_RATE_LOG_TRIES) return 0;
    const int64_t rest = motus_complexity_bits(r->rest, r->log_qp_q8),
                  over = r->taken + bits - r->planned, slack = r->planned / 8;
    if (over <= rest / 2 + slack && -over <= rest + slack) return 0;
    const int qp = qp_by_log_again(r, bits);
    if (abs(qp - r->qp_q8) < MOTUS_QP_UNIT / 4) return 0;
    r->tries++;
    r->coded_again++;
    *qp_q8 = r->qp_q8 = qp;
    return 1;
}

// ---- A picture ----------------------------------------------------------------------------------

void motus_rate_open(MotusRate *r, const MotusRateSettings *settings) {
    *r = (MotusRate){.settings = *settings,
                     .complexity = {FIRST_COMPLEXITY_I, FIRST_COMPLEXITY_P, FIRST_COMPLEXITY_B,
                                    FIRST_COMPLEXITY_B_REFERENCE},
                     .cost = {1, 1, 1, 1},
                     .last_qp_q8 = -1};
    motus_vbv_open(&r->vbv, settings->vbv_rate, settings->vbv_size, settings->fps);
    if (settings->hrd) motus_vbv_round(&r->vbv);
    if (!settings->log) return;
    MotusComplexity all = {0};
    int64_t durations = 0;
    for (int64_t i = 0; i < settings->log->n; i++) {
        motus_complexity_add(&all, log_complexity(r, i));
        durations += settings->log->picture[i].duration;
    }
    const int64_t bits = bits_in(settings, durations);
    r->log_qp_q8 = motus_complexity_qp(all, bits > 1 ? bits : 1);
}

int motus_rate_wants_sizes(const MotusRateSettings *s) {
    return s->vbv_rate || s->kind == MOTUS_RATE_BITRATE;
}

int motus_rate_feeds_back(const MotusRateSettings *s) {
    return s->vbv_rate || (s->kind == MOTUS_RATE_BITRATE && !s->log);
}

int motus_rate_qp(MotusRate *r, const MotusLookaheadPlan *plan, const MotusFutureCosts *future,
                  int64_t duration) {
    const MotusRateSettings *s = &r->settings;
    const int step = s->qp_step * MOTUS_QP_UNIT;
    r->plan = *plan;
    r->type = type_of(plan->idr, plan->b);
    r->duration = duration;
    r->in_gop++;
    r->tries = 0;
    r->over = r->under = (MotusRateSample){0};
    if (plan->idr && s->hrd == MOTUS_HRD_VBR) motus_vbv_round(&r->vbv);
    const MotusComplexity cur = predict(r, r->type, plan->weighted);
    int qp = s->kind == MOTUS_RATE_CRF ? s->crf_q8
             : s->log                  ? qp_by_log(r)
                                       : qp_for_bitrate(r, cur, future);
    if (r->last_qp_q8 >= 0 && s->kind == MOTUS_RATE_BITRATE)
        qp = motus_clip(r->last_qp_q8 - step, is_cut(r) ? MOTUS_RATE_MAX_QP : r->last_qp_q8 + step,
                        qp);
    if (r->size.known && !plan->idr && !plan->b && motus_rate_holds_one(r)) { // fills the VBV
        const int fits = motus_size_qp(&r->size, plan->weighted, plan->refreshed,
                                       motus_vbv_limit(&r->vbv), step);
        qp = is_constant(s) ? fits : motus_max(fits, qp);
    } else if (s->vbv_rate)
        qp = qp_for_vbv(r, cur, future, qp);
    qp += above_p(s, r->type);
    r->since_idr = r->elapsed - r->idr_at;
    if (plan->idr) r->idr_at = r->elapsed;
    r->qp_q8 = motus_clip(s->qp_min * MOTUS_QP_UNIT - plan->mean,
                          s->qp_max * MOTUS_QP_UNIT - plan->mean, qp);
    return r->qp_q8;
}

// Returns the QP at which a picture that took `bits` should fit into `limit` bits;
// MOTUS_RATE_MAX_QP for the last try.
static int qp_again(const MotusRate *r, int64_t bits, int64_t limit) {
    const int octaves = log2_ratio(bits, limit), unit = MOTUS_OCTAVE / MOTUS_QP_UNIT,
              halves = r->plan.idr ? MOTUS_HALVES_I : MOTUS_HALVES_P;
    int rise = motus_max(MOTUS_QP_UNIT, octaves * halves / unit + MOTUS_QP_UNIT / 4);
    if (r->tries == MOTUS_RATE_TRIES) return MOTUS_RATE_MAX_QP;
    // The bits of one P picture fall faster, as little is left to code if its reference is finer.
    if (motus_rate_holds_one(r) && !r->plan.idr) {
        const int least = octaves * halves / (2 * unit),
                  learnt = motus_size_rise(&r->size, octaves),
                  qp = r->size.known && !r->plan.refreshed ? learnt : motus_max(least, learnt);
        rise = (qp + MOTUS_QP_UNIT / 4) * r->tries;
    }
    return motus_min(r->qp_q8 + rise, MOTUS_RATE_MAX_QP);
}

int motus_rate_coded(MotusRate *r, int64_t bits, int *qp_q8, int64_t *filler_bytes) {
    const int64_t limit = motus_vbv_limit(&r->vbv);
    const MotusComplexity c = measured(r, r->type, bits, r->qp_q8);
    if (bits > limit && r->tries < MOTUS_RATE_TRIES && r->qp_q8 < MOTUS_RATE_MAX_QP) {
        r->tries++;
        r->coded_again++;
        r->over = (MotusRateSample){r->qp_q8, bits};
        *qp_q8 = r->qp_q8 = qp_again(r, bits, limit);
        return 1;
    }
    if (!r->settings.vbv_rate && misses_log(r, bits, qp_q8)) return 1;
    learn(r, c, bits);
    motus_complexity_add(&r->past, c);
    *filler_bytes = 0;
    if (r->settings.hrd == MOTUS_HRD_CBR) {
        // A filler data NAL unit (7.3.2.7): start code, header and trailing bits take six bytes.
        const int64_t missing = motus_vbv_overflow(&r->vbv, bits, r->duration);
        if (missing > 0) *filler_bytes = missing > 48 ? (missing + 7) / 8 : 6;
    }
    bits += 8 * *filler_bytes;
    r->held = motus_vbv_remove(&r->vbv, bits, r->duration);
    r->spent += bits;
    r->taken += bits;
    const int qp = r->qp_q8 - above_p(&r->settings, r->type);
    r->expected += motus_complexity_bits(r->now, qp) - r->expected / 16;
    r->recent += bits - r->recent / 16;
    r->elapsed += r->duration;
    if (is_cut(r)) r->last_qp_q8 = r->qp_q8 + r->settings.ip_q8;
    if (c.p && !r->tries && !r->plan.b) r->last_qp_q8 = r->qp_q8;
    if (r->plan.idr) r->in_gop = 0;
    return 0;
}

void motus_rate_change(MotusRate *r, int64_t bitrate, int64_t vbv_rate, int64_t vbv_size,
                       MotusRational fps) {
    MotusRateSettings *s = &r->settings;
    s->bitrate = bitrate, s->vbv_rate = vbv_rate, s->vbv_size = vbv_size, s->fps = fps;
    MotusVbv *v = &r->vbv; // keeps what it holds, up to its new size
    const int had_one = v->unit != 0;
    const int64_t held = motus_vbv_limit(v);
    motus_vbv_open(v, vbv_rate, vbv_size, fps);
    if (had_one) v->fullness = held < vbv_size ? held * v->unit : v->size;
    // Earlier pictures met another target: they count as if they had met this one.
    r->spent = bits_in(s, r->elapsed);
}

int motus_rate_map(int8_t *map, int qp_q8, const int16_t *offset, const int8_t *extra, int n_mb,
                   int spread, int qp_min, int qp_max, int *mean_q8) {
    int64_t sum = 0;
    for (int i = 0, qp = 0, last = 0; i < n_mb; i++) {
        int base = qp_q8;
        if (spread) { // upper rows round down, lower ones up
            const int first = i / spread * spread;
            base += MOTUS_QP_UNIT * (2 * first + spread) / (2 * n_mb);
            base &= -MOTUS_QP_UNIT;
        }
        const int exact = base + (offset ? offset[i] : 0);
        if (!i || base != last || abs(exact - qp * MOTUS_QP_UNIT) >= KEPT_WITHIN)
            qp = (exact + MOTUS_QP_UNIT / 2) >> 8;
        last = base;
        map[i] = (int8_t)motus_clip(qp_min, qp_max, qp + (extra ? extra[i] : 0));
        sum += map[i];
    }
    *mean_q8 = (int)(sum * MOTUS_QP_UNIT / n_mb);
    const int slice = (*mean_q8 + MOTUS_QP_UNIT / 2) >> 8;
    for (int i = 0; i < n_mb; i++) map[i] = (int8_t)(map[i] - slice);
    return slice;
}
