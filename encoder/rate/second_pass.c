// Second pass: QPs by the log of the first one.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>

#include "encoder/rate/rate_parts.h"

static MotusComplexity log_complexity(const MotusRate *r, int64_t number) {
    const MotusPassPicture *p = &r->settings.log->picture[number];
    return measured(r, type_of(p->idr, p->b), p->bits, p->qp_q8);
}

int motus_second_pass_qp_of_log(const MotusRate *r) {
    const MotusPassLog *log = r->settings.log;
    MotusComplexity all = {0};
    int64_t durations = 0;
    for (int64_t i = 0; i < log->n; i++) {
        motus_complexity_add(&all, log_complexity(r, i));
        durations += log->picture[i].duration;
    }
    const int64_t bits = bits_in(&r->settings, durations);
    return motus_complexity_qp(all, bits > 1 ? bits : 1);
}

static void begin_gop_of_log(MotusRate *r) {
    const MotusPassLog *log = r->settings.log;
    r->planned = r->taken = r->expected = r->recent = 0;
    if (!motus_rate_feeds_back(&r->settings))
        r->last_qp_q8 = -1, r->in_gop = -1; // GOPs do not depend on others
    r->rest = (MotusComplexity){0};
    for (int64_t i = r->plan.number; i < log->n && (i == r->plan.number || !log->picture[i].idr);
         i++)
        motus_complexity_add(&r->rest, log_complexity(r, i));
}

int motus_second_pass_qp(MotusRate *r) {
    if (r->plan.idr) begin_gop_of_log(r);
    MotusComplexity rest = r->rest;
    const int64_t left = motus_complexity_bits(rest, r->log_qp_q8) + r->planned - r->taken;
    if (r->recent > r->expected / 2 && r->recent / 2 < r->expected)
        rest = motus_complexity_scale(rest, r->recent, r->expected);
    const int qp = motus_clip(r->log_qp_q8 - 2 * END_STEP, r->log_qp_q8 + 2 * END_STEP,
                              motus_complexity_qp(rest, left > 1 ? left : 1));
    r->now = log_complexity(r, r->plan.number);
    r->planned += motus_complexity_bits(r->now, r->log_qp_q8);
    motus_complexity_subtract(&r->rest, r->now);
    return qp;
}

static int log2_ratio(int64_t a, int64_t b) {
    return (a > 1 ? motus_log2_q12((uint64_t)a) : 0) - (b > 1 ? motus_log2_q12((uint64_t)b) : 0);
}

// True if the rest of the GOP, at QPs of up to END_STEP from log_qp_q8, cannot make up for the
// current picture's size. An eighth of the GOP's bits does not matter.
static int misses_log(const MotusRate *r, int64_t bits) {
    const int64_t rest = motus_complexity_bits(r->rest, r->log_qp_q8),
                  over = r->taken + bits - r->planned, slack = r->planned / 8;
    return over > rest / 2 + slack || -over > rest + slack;
}

// Returns the QP at which the current picture should bring the GOP back to the log's plan: by the
// model, or between a coding with too many bits and one with too few.
static int qp_for_log_again(MotusRate *r, int64_t bits) {
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

int motus_second_pass_again(MotusRate *r, int64_t bits, int *qp_q8) {
    if (!r->settings.log || r->tries == MOTUS_RATE_LOG_TRIES || !misses_log(r, bits)) return 0;
    const int qp = qp_for_log_again(r, bits);
    if (abs(qp - r->qp_q8) < MOTUS_QP_UNIT / 4) return 0;
    r->tries++;
    r->coded_again++;
    *qp_q8 = r->qp_q8 = qp;
    return 1;
}
