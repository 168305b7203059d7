// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/size_model.h"

#include <stdlib.h>

#include "common/int_core.h"
#include "common/log2_core.h"

enum { HALVES = 4 }; // QPs that halve a picture's bits where one picture follows another
enum { FIRST_REFRESH = MOTUS_OCTAVE / 2, FIRST_ERROR = MOTUS_OCTAVE / 8 };
enum { LEAST_MARGIN = MOTUS_OCTAVE / 40 }; // of predictions, beside a quarter of the mean error
enum { SETTLES = 32 }; // pictures, after which a QP falls by half of what seems to be possible

static int log2_of(uint64_t v) { return v > 1 ? motus_log2_q12(v) : 0; }

static int qps_of(int octaves) { return octaves * HALVES / (MOTUS_OCTAVE / MOTUS_QP_UNIT); }

static int octaves_of(int qps) { return qps * (MOTUS_OCTAVE / MOTUS_QP_UNIT) / HALVES; }

// Predicts log2 of a picture's bits at the last picture's QP.
static int predict(const MotusSizeModel *m, uint64_t cost, int refreshed) {
    return m->level + log2_of(cost) + (refreshed ? m->refresh : 0);
}

void motus_size_begin(MotusSizeModel *m, uint64_t cost, int qp_q8, int64_t bits) {
    if (m->known) return;
    *m = (MotusSizeModel){.known = 1,
                          .qp_q8 = qp_q8,
                          .level = log2_of((uint64_t)bits) - log2_of(cost),
                          .refresh = FIRST_REFRESH,
                          .error = FIRST_ERROR};
}

int motus_size_qp(const MotusSizeModel *m, uint64_t cost, int refreshed, int64_t limit, int most) {
    const int over = predict(m, cost, refreshed) - log2_of(limit > 1 ? (uint64_t)limit : 1);
    const int step = motus_max(-most, qps_of(over + LEAST_MARGIN + m->error / 4));
    // A picture that is finer than its reference takes more bits than the next one at its QP.
    return m->qp_q8 + (step > 0 ? step : step * (2 * SETTLES - m->known + 1) / (2 * SETTLES));
}

void motus_size_skip(MotusSizeModel *m, int qp_q8) {
    m->level += octaves_of(m->qp_q8 - qp_q8);
    m->qp_q8 = qp_q8;
}

// A picture counts half: the other half is its own. An error of a picture with a range of intra
// refresh is the range's by half.
void motus_size_learn(MotusSizeModel *m, uint64_t cost, int refreshed, int qp_q8, int64_t bits) {
    motus_size_skip(m, qp_q8);
    const int error = log2_of((uint64_t)bits) - predict(m, cost, refreshed),
              refresh = refreshed ? error / 2 : 0;
    m->refresh += refresh;
    m->level += (error - refresh) / 2;
    m->known = motus_min(m->known + 1, SETTLES);
    m->error += (abs(error) - m->error) / 8;
}
