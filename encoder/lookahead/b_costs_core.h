// Costs of mini-GOPs: each picture is searched in the pictures up to MOTUS_B_SPAN before it and in
// those up to MOTUS_B_SPAN - 1 behind it. No MB waits for another MB of the same search. The CPU
// runs this in b_costs.c, a device in b_costs.cu.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_B_COSTS_CORE_H
#define ENCODER_LOOKAHEAD_B_COSTS_CORE_H

#include "encoder/lookahead/half_weights_core.h"
#include "encoder/lookahead/lookahead_core.h"

enum {
    MOTUS_B_SPAN = 8,      // pictures of the longest mini-GOP that is measured
    MOTUS_B_FLAT_SPAN = 6, // of the longest one without a pyramid
    MOTUS_B_PAIRS = MOTUS_B_SPAN * (MOTUS_B_SPAN - 1) / 2, // of references around a B picture
    MOTUS_B_WINDOW = 2 * MOTUS_B_SPAN, // pictures that decide about the next mini-GOP, at most
    MOTUS_B_STARTS = 5,                // candidates that a search begins with
    MOTUS_B_LONGEST_MV = 16383,        // most of a component of a start candidate
    MOTUS_B_BITS = 4,                  // bits of an MB beside its residual if both predict it
};

// Returns the index of the references `before` pictures earlier and `after` pictures later, at most
// MOTUS_B_SPAN in all.
MOTUS_HD int motus_b_pair(int before, int after) {
    const int between = before + after - 2;
    return between * (between + 1) / 2 + after - 1;
}

// True if B pictures with these distances to their references are measured. In a pyramid they are
// the middle ones of mini-GOPs or of their parts (motus_b_order).
MOTUS_HD int motus_b_is_measured(int before, int after, int pyramid) {
    return !pyramid || after == before || after == before + 1;
}

// Returns the distance of the farthest later reference that is measured.
MOTUS_HD int motus_b_farthest_later(int span, int pyramid) {
    return pyramid ? (span + 1) / 2 : span - 1;
}

// MVs of a picture's MBs into another picture, and MB costs with them, at most intra.
typedef struct MotusBField {
    MotusMv *mv; // whole samples of the full picture
    uint16_t *cost;
} MotusBField;

// Search of picture `cur` in picture `ref`, d pictures away.
typedef struct MotusBSearch {
    MotusHalfPicture cur, ref;
    const uint16_t *intra; // costs of cur
    MotusBField field;     // the result
    int d;
    const MotusMv *first; // MVs of cur into the next picture on the way to ref; NULL: none
    // Expected MVs: along `first` and then `rest`, that picture's MVs into ref; or, if not NULL,
    // against `back`, the MVs of ref into cur.
    const MotusMv *rest, *back;
    const MotusHalfWeight *weight; // of ref; NULL: none
} MotusBSearch;

// A B picture between two others. It has no weights: where field[0] was found with one, what its
// reference alone predicts is measured again.
typedef struct MotusBetween {
    MotusHalfPicture cur, ref[2];
    MotusBField field[2];
    const uint16_t *intra;         // costs of cur
    const MotusHalfWeight *weight; // of field[0]; NULL: none
    uint16_t *mb_cost;             // NULL: not kept
    int length;                    // of its mini-GOP
} MotusBetween;

MOTUS_HD MotusMv motus_b_mv(int x, int y) {
    return motus_lookahead_mv(motus_clip(-MOTUS_B_LONGEST_MV, MOTUS_B_LONGEST_MV, x),
                              motus_clip(-MOTUS_B_LONGEST_MV, MOTUS_B_LONGEST_MV, y));
}

// Returns the MV that MB (x, y) is expected to have.
MOTUS_HD MotusMv motus_b_expected(const MotusBSearch *s, int x, int y) {
    const int width = s->cur.mb_width, i = y * width + x;
    if (s->back) return motus_b_mv(-s->back[i].x, -s->back[i].y);
    const MotusMv a = s->first[i];
    const int u = motus_clip(0, width - 1, (16 * x + a.x + 8) >> 4),
              v = motus_clip(0, s->cur.mb_height - 1, (16 * y + a.y + 8) >> 4);
    const MotusMv b = s->rest[v * width + u];
    return motus_b_mv(a.x + b.x, a.y + b.y);
}

// Returns the predictor of MB (x, y): the MV that the left MB is expected to have.
MOTUS_HD MotusMv motus_b_predictor(const MotusBSearch *s, int x, int y) {
    return x ? motus_b_expected(s, x - 1, y) : motus_lookahead_mv(0, 0);
}

// Sets *mv to start candidate i: 0 zero, 1 the predictor, 2 and 3 the MVs that this MB and the one
// below are expected to have, 4 d times `first`. Returns 0 if there is none.
MOTUS_HD int motus_b_start(MotusMv *mv, int i, const MotusBSearch *s, int x, int y) {
    MotusMv from = motus_lookahead_mv(0, 0);
    if (i >= MOTUS_B_STARTS) return 0;
    if (i == 1) from = motus_b_predictor(s, x, y);
    if (i == 2) from = motus_b_expected(s, x, y);
    if (i == 3 && y + 1 < s->cur.mb_height) from = motus_b_expected(s, x, y + 1);
    if (i == 4 && s->first) {
        from = s->first[y * s->cur.mb_width + x];
        from = motus_b_mv(s->d * from.x, s->d * from.y);
    }
    *mv = motus_lookahead_mv(from.x & ~1, from.y & ~1);
    return 1;
}

// Returns the cost of an MB of a B picture. satd: of the mean of both predictions.
MOTUS_HD uint32_t motus_b_cost(uint32_t satd, uint32_t earlier, uint32_t later) {
    const uint32_t both = satd + MOTUS_LOOKAHEAD_LAMBDA * MOTUS_B_BITS,
                   one = earlier < later ? earlier : later;
    return both < one ? both : one;
}

#endif
