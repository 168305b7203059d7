// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/rate.h"

#include "encoder/rate/log2_core.h"

// How many QPs halve a picture's bits, measured from QP 16 to 40 on real sequences: for I pictures
// six (then bits go as the quantizer's step does), for P pictures five, whose MBs are skipped more
// and more.
enum { HALVES_I = 6, HALVES_P = 5 };

// Bits at QP 0 a unit of weighted cost, until sizes are known.
enum { FIRST_DEMAND_I = 4, FIRST_DEMAND_P = 8 };

#define COARSEST (81 * MOTUS_QP_UNIT) // with any offsets, every MB has QP 51
// How far QP may go from what is right for all pictures so that the last ones meet the rate
// exactly.
#define END_STEP (6 * MOTUS_QP_UNIT)
#define LONGEST_GOP 250 // where keyint sets no limit
#define RESERVE 10      // one in so many bits of the VBV is left alone by predictions

typedef __int128 Wide; // of products of bits, rates and times

// ---- Model --------------------------------------------------------------------------------------

static int octaves(int qp_q8, int halves) {
    return qp_q8 * (MOTUS_OCTAVE / MOTUS_QP_UNIT) / halves;
}

// Bits at QP 0 of a picture that took `bits` at a QP, and back.
static uint64_t demand_of(uint64_t bits, int qp_q8, int halves) {
    return bits ? motus_exp2_q16(motus_min(motus_log2_q12(bits) + octaves(qp_q8, halves),
                                           46 * MOTUS_OCTAVE)) >>
                      16
                : 0;
}

static uint64_t bits_of(uint64_t demand, int qp_q8, int halves) {
    return demand ? motus_exp2_q16(motus_min(motus_log2_q12(demand) - octaves(qp_q8, halves),
                                             46 * MOTUS_OCTAVE)) >>
                        16
                  : 0;
}

static int64_t bits_at(MotusDemand d, int qp_q8) {
    return (int64_t)(bits_of(d.i, qp_q8, HALVES_I) + bits_of(d.p, qp_q8, HALVES_P));
}

// Least QP at which this takes no more than `bits`.
static int qp_for(MotusDemand d, int64_t bits) {
    int low = -20 * MOTUS_QP_UNIT, high = COARSEST;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (bits_at(d, middle) <= bits)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static MotusDemand demand_of_type(int idr, uint64_t demand) {
    return (MotusDemand){idr ? demand : 0, idr ? 0 : demand};
}

static void add_demand(MotusDemand *d, MotusDemand more) {
    d->i += more.i;
    d->p += more.p;
}

static MotusDemand times(MotusDemand d, int64_t n, int64_t of) {
    return (MotusDemand){(uint64_t)((Wide)d.i * n / of), (uint64_t)((Wide)d.p * n / of)};
}

// Demand of a picture with this weighted cost.
static MotusDemand predict(const MotusRate *r, int idr, uint64_t weighted) {
    return demand_of_type(idr, (uint64_t)((Wide)weighted * r->demand[!idr] / r->cost[!idr]));
}

// By how much the offsets of a picture's MBs (AQ, propagation) make it dearer or cheaper.
static uint32_t ratio_of(const MotusLookaheadPlan *plan) {
    if (!plan->cost || plan->weighted / plan->cost >= 256) return 256;
    return (uint32_t)motus_max(1, (int)(plan->weighted * 256 / plan->cost));
}

// Of a picture that lies ahead. Until one of its type has been coded, its offsets are taken to be
// like those of the picture that is planned.
static MotusDemand predict_ahead(const MotusRate *r, const MotusFutureCosts *ahead, int i) {
    const uint32_t last = r->ratio_q8[!ahead->idr[i]];
    return predict(r, ahead->idr[i], ahead->cost[i] * (last ? last : ratio_of(&r->plan)) / 256);
}

// QPs of I pictures are finer by ip; demands are those at the QP that P pictures would have.
static MotusDemand demand_at(const MotusRate *r, int idr, int64_t bits, int qp_q8) {
    return demand_of_type(idr, demand_of((uint64_t)bits, qp_q8 + (idr ? r->settings.ip_q8 : 0),
                                         idr ? HALVES_I : HALVES_P));
}

// What sizes say of predictions: those of the last two I pictures or so, of the last eight P
// pictures.
static void learn(MotusRate *r, MotusDemand demand) {
    const int t = !r->plan.idr;
    const uint64_t weighted = r->plan.weighted ? r->plan.weighted : 1;
    r->demand[t] += demand.i + demand.p - r->demand[t] / (t ? 8 : 2);
    r->cost[t] += weighted - r->cost[t] / (t ? 8 : 2);
    if (!r->demand[t]) r->demand[t] = 1;
    r->ratio_q8[t] = ratio_of(&r->plan);
}

// ---- VBV ----------------------------------------------------------------------------------------

typedef struct Outlook {
    int64_t least; // of what the buffer holds after any of the known pictures, bits; below 0: one
                   // of them comes too late
    int full;      // how often it is full
} Outlook;

static Outlook look_ahead(const MotusRate *r, MotusDemand demand, const MotusFutureCosts *ahead,
                          int qp_q8) {
    MotusVbv v = r->vbv;
    Outlook o = {INT64_MAX, 0};
    for (int i = -1; i < ahead->n && o.least >= 0; i++) {
        const MotusDemand d = i < 0 ? demand : predict_ahead(r, ahead, i);
        const int64_t held = motus_vbv_take(&v, bits_at(d, qp_q8), r->duration);
        if (held < o.least) o.least = held;
        o.full += v.fullness == v.size;
    }
    return o;
}

static int is_constant(const MotusRateSettings *s) {
    return s->kind == MOTUS_RATE_BITRATE && s->vbv_rate <= s->bitrate;
}

// Raises the QP until the known pictures leave a reserve in the buffer; where the rate is constant,
// lowers it before while the buffer stays full.
static int qp_for_vbv(const MotusRate *r, MotusDemand demand, const MotusFutureCosts *ahead,
                      int qp_q8) {
    const int64_t size = r->settings.vbv_size;
    const int step = MOTUS_QP_UNIT / 4;
    for (int i = 0; i < 40 && is_constant(&r->settings); i++) {
        const Outlook o = look_ahead(r, demand, ahead, qp_q8);
        if (2 * o.full <= ahead->n + 1 || o.least < size / 2) break;
        qp_q8 -= step;
    }
    while (qp_q8 < COARSEST && look_ahead(r, demand, ahead, qp_q8).least < size / RESERVE)
        qp_q8 += step;
    return qp_q8;
}

// ---- Bitrate ------------------------------------------------------------------------------------

static int64_t bits_in(const MotusRateSettings *s, int64_t durations) {
    return (int64_t)((Wide)s->bitrate * s->fps.den * durations / s->fps.num);
}

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

// One QP for all pictures that are known and, after them, a stretch of what pictures asked for on
// average, so that both together end where the rate says: what a surplus or a lack is spread over.
// It grows with the square root of what has been coded.
static int qp_for_average(const MotusRate *r, MotusDemand window, int64_t known) {
    const MotusRateSettings *s = &r->settings;
    const int64_t second = motus_max(1, s->fps.num / s->fps.den),
                  stretch = second + square_root(second * r->elapsed);
    const int64_t gop =
        (s->keyint && s->keyint < LONGEST_GOP ? s->keyint : LONGEST_GOP) * r->duration;
    MotusDemand sum = window;
    add_demand(&sum, r->past);
    sum = times(sum, stretch, known);
    if (known < gop / 2)
        sum.i = sum.i * (uint64_t)known /
                (uint64_t)(gop / 2); // one I picture so far, and no telling when the next comes
    add_demand(&sum, window);
    const int64_t left = bits_in(s, known + stretch) - r->spent;
    return qp_for(sum, left > 1 ? left : 1);
}

static int qp_within(const MotusRate *r, MotusDemand window, int64_t durations) {
    const int64_t bits = bits_in(&r->settings, durations) - r->spent;
    return qp_for(window, bits > 1 ? bits : 1);
}

// Wherever the sequence may end, the rate is met within half a hundredth and a quarter of a second;
// where the end is known, it is met exactly if QP need not jump.
static int qp_for_bitrate(const MotusRate *r, MotusDemand window, const MotusFutureCosts *ahead) {
    const MotusRateSettings *s = &r->settings;
    for (int i = 0; i < ahead->n; i++) add_demand(&window, predict_ahead(r, ahead, i));
    const int64_t known = r->elapsed + (1 + ahead->n) * r->duration;
    const int64_t most = known / 200 + motus_max(1, s->fps.num / s->fps.den / 4);
    const int qp = motus_clip(qp_within(r, window, known + most),
                              qp_within(r, window, known - most), qp_for_average(r, window, known));
    if (!ahead->ended) return qp;
    // The last few pictures cannot use up what is left: coded finer than their references, they
    // take more than any model says.
    const int finer = motus_min(END_STEP, (1 + ahead->n) * MOTUS_QP_UNIT / 2);
    return motus_clip(qp - finer, qp + END_STEP, qp_within(r, window, known));
}

// ---- Second pass --------------------------------------------------------------------------------

static MotusDemand demand_in_log(const MotusRate *r, int64_t number) {
    const MotusPassPicture *p = &r->settings.log->picture[number];
    return demand_at(r, p->idr, p->bits, p->qp_q8);
}

// The one QP at which the whole log fits the rate.
static int qp_of_log(const MotusRate *r) {
    const MotusPassLog *log = r->settings.log;
    MotusDemand all = {0, 0};
    int64_t durations = 0;
    for (int64_t i = 0; i < log->n; i++) {
        add_demand(&all, demand_in_log(r, i));
        durations += log->picture[i].duration;
    }
    const int64_t bits = bits_in(&r->settings, durations);
    return qp_for(all, bits > 1 ? bits : 1);
}

static void begin_gop_of_log(MotusRate *r) {
    const MotusPassLog *log = r->settings.log;
    r->planned = r->expected = r->taken = 0;
    if (!motus_rate_feeds_back(&r->settings)) r->last_qp_q8 = -1; // nothing of other GOPs
    r->rest = (MotusDemand){0, 0};
    for (int64_t i = r->plan.number; i < log->n && (i == r->plan.number || !log->picture[i].idr);
         i++)
        add_demand(&r->rest, demand_in_log(r, i));
}

// A GOP gets the bits that it takes at the one QP that fits everything; what its pictures take more
// or less than that is made up for within it.
static int qp_for_second_pass(MotusRate *r) {
    if (r->plan.idr) begin_gop_of_log(r);
    MotusDemand rest = r->rest;
    const int64_t left = bits_at(rest, r->log_qp_q8) + r->planned - r->taken;
    if (r->taken > r->expected / 2 && r->taken / 2 < r->expected)
        rest = times(rest, r->taken, r->expected);
    const int qp = motus_clip(r->log_qp_q8 - END_STEP, r->log_qp_q8 + END_STEP,
                              qp_for(rest, left > 1 ? left : 1));
    r->now = demand_in_log(r, r->plan.number);
    r->planned += bits_at(r->now, r->log_qp_q8);
    r->rest.i -= r->now.i;
    r->rest.p -= r->now.p;
    return qp;
}

// ---- A picture ----------------------------------------------------------------------------------

void motus_rate_open(MotusRate *r, const MotusRateSettings *settings) {
    *r = (MotusRate){.settings = *settings,
                     .demand = {FIRST_DEMAND_I, FIRST_DEMAND_P},
                     .cost = {1, 1},
                     .last_qp_q8 = -1};
    motus_vbv_open(&r->vbv, settings->vbv_rate, settings->vbv_size, settings->fps);
    if (settings->log) r->log_qp_q8 = qp_of_log(r);
}

int motus_rate_wants_sizes(const MotusRateSettings *s) {
    return s->vbv_rate || s->kind == MOTUS_RATE_BITRATE;
}

int motus_rate_feeds_back(const MotusRateSettings *s) {
    return s->vbv_rate || (s->kind == MOTUS_RATE_BITRATE && !s->log);
}

int motus_rate_qp(MotusRate *r, const MotusLookaheadPlan *plan, const MotusFutureCosts *ahead,
                  int64_t duration) {
    const MotusRateSettings *s = &r->settings;
    const int step = s->qp_step * MOTUS_QP_UNIT;
    r->plan = *plan;
    r->duration = duration;
    r->tries = 0;
    const MotusDemand demand = predict(r, plan->idr, plan->weighted);
    int qp = s->kind == MOTUS_RATE_CRF ? s->crf_q8
             : s->log                  ? qp_for_second_pass(r)
                                       : qp_for_bitrate(r, demand, ahead);
    if (r->last_qp_q8 >= 0 && s->kind == MOTUS_RATE_BITRATE)
        qp = motus_clip(r->last_qp_q8 - step, r->last_qp_q8 + step, qp);
    if (s->vbv_rate) qp = qp_for_vbv(r, demand, ahead, qp);
    if (plan->idr) qp -= s->ip_q8;
    r->since_idr = r->elapsed - r->idr_at;
    if (plan->idr) r->idr_at = r->elapsed;
    r->qp_q8 = motus_clip(s->qp_min * MOTUS_QP_UNIT - plan->mean,
                          s->qp_max * MOTUS_QP_UNIT - plan->mean, qp);
    return r->qp_q8;
}

// The size does not fit: a QP that should make it fit. The last try takes the coarsest there is.
static int again_at(const MotusRate *r, int64_t bits, int64_t room) {
    const int halves = r->plan.idr ? HALVES_I : HALVES_P;
    const int over =
        motus_log2_q12((uint64_t)bits) - (room > 1 ? motus_log2_q12((uint64_t)room) : 0);
    const int more = motus_max(MOTUS_QP_UNIT,
                               over * halves / (MOTUS_OCTAVE / MOTUS_QP_UNIT) + MOTUS_QP_UNIT / 2);
    return r->tries == MOTUS_RATE_TRIES ? COARSEST : motus_min(r->qp_q8 + more, COARSEST);
}

// Bytes of a filler data NAL unit that takes up so many bits at least: start code, header and
// trailing bits are six.
static int64_t filler_for(int64_t over) {
    return over > 0 ? (over + 7) / 8 < 6 ? 6 : (over + 7) / 8 : 0;
}

int motus_rate_coded(MotusRate *r, int64_t bits, int *qp_q8, int64_t *filler_bytes) {
    const int64_t room = motus_vbv_room(&r->vbv);
    const MotusDemand demand = demand_at(r, r->plan.idr, bits, r->qp_q8);
    if (bits > room && r->tries < MOTUS_RATE_TRIES && r->qp_q8 < COARSEST) {
        r->tries++;
        r->coded_again++;
        *qp_q8 = r->qp_q8 = again_at(r, bits, room);
        return 1;
    }
    learn(r, demand);
    add_demand(&r->past, demand);
    *filler_bytes = r->settings.filler ? filler_for(motus_vbv_over(&r->vbv, bits, r->duration)) : 0;
    bits += 8 * *filler_bytes;
    r->held = motus_vbv_take(&r->vbv, bits, r->duration);
    r->spent += bits;
    r->taken += bits;
    r->expected += bits_at(r->now, r->qp_q8 + (r->plan.idr ? r->settings.ip_q8 : 0));
    r->elapsed += r->duration;
    if (!r->plan.idr && !r->tries) r->last_qp_q8 = r->qp_q8;
    return 0;
}

void motus_rate_change(MotusRate *r, int64_t bitrate, int64_t vbv_rate, int64_t vbv_size,
                       MotusRational fps) {
    MotusRateSettings *s = &r->settings;
    s->bitrate = bitrate, s->vbv_rate = vbv_rate, s->vbv_size = vbv_size, s->fps = fps;
    motus_vbv_change(&r->vbv, vbv_rate, vbv_size, fps);
    // What went before met another aim: it counts as if it had met this one.
    r->spent = bits_in(s, r->elapsed);
}

int motus_rate_map(int8_t *map, int qp_q8, const int16_t *offset, const int8_t *extra, int n_mb,
                   int qp_min, int qp_max, int *mean_q8) {
    int64_t sum = 0;
    for (int i = 0; i < n_mb; i++) {
        const int qp = (qp_q8 + (offset ? offset[i] : 0) + MOTUS_QP_UNIT / 2) >> 8;
        map[i] = (int8_t)motus_clip(qp_min, qp_max, qp + (extra ? extra[i] : 0));
        sum += map[i];
    }
    *mean_q8 = (int)(sum * MOTUS_QP_UNIT / n_mb);
    const int slice = (*mean_q8 + MOTUS_QP_UNIT / 2) >> 8;
    for (int i = 0; i < n_mb; i++) map[i] = (int8_t)(map[i] - slice);
    return slice;
}
