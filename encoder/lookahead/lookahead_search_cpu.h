// Search of an MB in another half-size picture, on the CPU: descent by SAD, then refinement by
// SATD.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_LOOKAHEAD_SEARCH_CPU_H
#define ENCODER_LOOKAHEAD_LOOKAHEAD_SEARCH_CPU_H

#include "encoder/lookahead/half_weights_core.h"
#include "encoder/lookahead/lookahead_core.h"
#include "me/pixel/pixel.h"

#define MB MOTUS_LOOKAHEAD_MB

// Search of one MB.
typedef struct Search {
    const MotusPixelOps *ops;
    const uint8_t *at; // the MB's samples
    ptrdiff_t stride;  // between their rows
    const MotusHalfPicture *before;
    const MotusHalfWeight *weight; // of `before`; NULL: none
    uint8_t unweighed[MB * MB];
    int x, y; // the MB's first sample at half size
    MotusMv predictor, best;
    uint32_t cost;
} Search;

// Begins the search of MB (x, y) of `cur`.
static inline void begin_search(Search *s, const MotusHalfPicture *cur, int x, int y,
                                const MotusHalfWeight *weight) {
    s->x = MB * x, s->y = MB * y;
    s->at = cur->plane[0] + s->y * cur->stride + s->x, s->stride = cur->stride;
    s->cost = UINT32_MAX;
    s->weight = weight && weight->is_used ? weight : NULL;
    if (!s->weight) return;
    for (int i = 0; i < MB * MB; i++)
        s->unweighed[i] =
            (uint8_t)motus_half_unweigh(s->at[i / MB * s->stride + i % MB], s->weight, 1);
    s->at = s->unweighed, s->stride = MB;
}

// Returns 1 if mv becomes the best one.
static inline int try_mv(Search *s, MotusMv mv, MotusPixelCompare compare) {
    const MotusHalfPicture *half = s->before;
    if (!motus_lookahead_inside(half, s->x, s->y, mv)) return 0;
    uint32_t cost =
        compare(s->at, s->stride, motus_lookahead_at(half, s->x, s->y, mv), half->stride, MB, MB);
    if (s->weight) cost = motus_half_weigh_error(cost, s->weight);
    cost += motus_lookahead_mv_cost(mv, s->predictor);
    if (cost >= s->cost) return 0;
    s->cost = cost;
    s->best = mv;
    return 1;
}

// Tries the eight even neighbours of the best MV.
static inline void try_around(Search *s) {
    const MotusMv from = s->best;
    for (int i = 0; i < 8; i++) try_mv(s, motus_lookahead_around(from, i), s->ops->sad);
}

// Descends by SAD: hexagon steps while the best MV moves, then its neighbours. A hexagon behind the
// first one has three new points.
static inline void descend(Search *s) {
    int moved = -1; // to this point of the hexagon before; -1: there is none
    for (int step = 0; step < MOTUS_LOOKAHEAD_STEPS; step++) {
        const MotusMv from = s->best;
        int best = -1;
        for (int k = 0; k < (step ? 3 : 6); k++) {
            const int i = step ? motus_lookahead_new_point(moved, k) : k;
            if (try_mv(s, motus_lookahead_hexagon(from, i), s->ops->sad)) best = i;
        }
        moved = best;
        if (moved < 0) break;
    }
    try_around(s);
}

// Refines to whole samples by SAD, and measures the best of them by SATD.
static inline void refine(Search *s) {
    const MotusMv from = s->best;
    for (int i = 0; i < 9; i++) try_mv(s, motus_lookahead_next_to(from, i), s->ops->sad);
    s->cost = UINT32_MAX;
    try_mv(s, s->best, s->ops->satd);
}

#endif
