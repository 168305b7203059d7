// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/rate/size_model.h"

#include <stdlib.h>

#include "common/int_core.h"

// ---- Complexity ---------------------------------------------------------------------------------

typedef __int128 Wide; // products of complexities and times

// Returns the octaves of bits in QPs of which `halves` halve them.
static int octaves_of(int qp_q8, int halves) {
    return qp_q8 * (MOTUS_OCTAVE / MOTUS_QP_UNIT) / halves;
}

// Returns bits * 2^(octaves / MOTUS_OCTAVE), below 2^46.
static uint64_t shifted(uint64_t bits, int octaves) {
    if (!bits) return 0;
    return motus_exp2_q16(motus_min(motus_log2_q12(bits) + octaves, 46 * MOTUS_OCTAVE)) >> 16;
}

MotusComplexity motus_complexity_of(int idr, int64_t bits, int64_t fixed, int qp_q8) {
    const uint64_t at_0 =
        shifted((uint64_t)(bits - fixed), octaves_of(qp_q8, idr ? MOTUS_HALVES_I : MOTUS_HALVES_P));
    return (MotusComplexity){idr ? at_0 : 0, idr ? 0 : at_0, (uint64_t)fixed};
}

void motus_complexity_add(MotusComplexity *c, MotusComplexity more) {
    c->i += more.i, c->p += more.p, c->fixed += more.fixed;
}

MotusComplexity motus_complexity_scale(MotusComplexity c, int64_t n, int64_t of) {
    return (MotusComplexity){(uint64_t)((Wide)c.i * n / of), (uint64_t)((Wide)c.p * n / of),
                             (uint64_t)((Wide)c.fixed * n / of)};
}

int64_t motus_complexity_bits(MotusComplexity c, int qp_q8) {
    return (int64_t)(c.fixed + shifted(c.i, -octaves_of(qp_q8, MOTUS_HALVES_I)) +
                     shifted(c.p, -octaves_of(qp_q8, MOTUS_HALVES_P)));
}

int motus_complexity_qp(MotusComplexity c, int64_t bits) {
    int low = -20 * MOTUS_QP_UNIT, high = MOTUS_RATE_MAX_QP;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (motus_complexity_bits(c, middle) <= bits)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// ---- Size of a P picture by the last one's ------------------------------------------------------

enum { HALVES = 4 }; // QPs that halve a picture's bits where one picture follows another
enum { FIRST_REFRESH = MOTUS_OCTAVE / 2, FIRST_ERROR = MOTUS_OCTAVE / 8 };
enum { LEAST_MARGIN = MOTUS_OCTAVE / 40 }; // of predictions, beside a quarter of the mean error
// 1/256 QPs that double the bits of a picture that is finer than the last one.
enum { LEAST_DOUBLES = 192, FIRST_DOUBLES = 3 * MOTUS_QP_UNIT, MOST_DOUBLES = 4 * MOTUS_QP_UNIT };

static int log2_of(uint64_t v) { return v > 1 ? motus_log2_q12(v) : 0; }

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
                          .error = FIRST_ERROR,
                          .doubles = FIRST_DOUBLES};
}

int motus_size_rise(const MotusSizeModel *m, int octaves) {
    return octaves * m->doubles / MOTUS_OCTAVE;
}

int motus_size_qp(const MotusSizeModel *m, uint64_t cost, int refreshed, int64_t limit, int most) {
    const int over = predict(m, cost, refreshed) - log2_of(limit > 1 ? (uint64_t)limit : 1);
    const int octaves = over + LEAST_MARGIN + m->error / 4;
    return m->qp_q8 + (octaves > 0 ? octaves * HALVES / (MOTUS_OCTAVE / MOTUS_QP_UNIT)
                                   : motus_max(-most, motus_size_rise(m, octaves)));
}

void motus_size_skip(MotusSizeModel *m, int qp_q8) {
    m->level += octaves_of(m->qp_q8 - qp_q8, HALVES);
    m->qp_q8 = qp_q8;
}

// Corrects the level by half of the prediction's error. With a range of intra refresh, half of the
// error is the range's. Bits of a picture that is finer than its reference grow by `doubles`.
void motus_size_learn(MotusSizeModel *m, uint64_t cost, int refreshed, const MotusRateSample *finer,
                      int qp_q8, int64_t bits) {
    const int fell = finer ? log2_of((uint64_t)finer->bits) - log2_of((uint64_t)bits) : 0;
    if (fell > 0) {
        const int doubles = (qp_q8 - finer->qp_q8) * MOTUS_OCTAVE / fell;
        m->doubles += (motus_clip(LEAST_DOUBLES, MOST_DOUBLES, doubles) - m->doubles) / 4;
    }
    const int lower = m->qp_q8 - qp_q8,
              octaves = lower > 0 ? lower * MOTUS_OCTAVE / m->doubles : octaves_of(lower, HALVES),
              error = log2_of((uint64_t)bits) - predict(m, cost, refreshed) - octaves,
              refresh = refreshed ? error / 2 : 0;
    motus_size_skip(m, qp_q8);
    m->refresh += refresh;
    m->level += (error - refresh) / 2;
    m->error += (abs(error) - m->error) / 8;
}
