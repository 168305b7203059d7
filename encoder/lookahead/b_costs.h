// Lengths of mini-GOPs (b_adapt), from source pictures at half size. A mini-GOP of n pictures is n
// - 1 B pictures and the P picture behind them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_B_COSTS_H
#define ENCODER_LOOKAHEAD_B_COSTS_H

#include "encoder/lookahead/b_costs_core.h"

#ifdef __cplusplus
extern "C" {
#endif

// A picture of the lookahead with its fields, by the distance of the other picture less 1.
typedef struct MotusBPicture {
    MotusHalfPicture half;
    const uint16_t *intra;
    const MotusHalfWeight *weight;       // of earlier pictures, by distance less 1; NULL: none
    MotusBField earlier[MOTUS_B_SPAN];   // into earlier pictures; [0] is the lookahead's own
    MotusBField later[MOTUS_B_SPAN - 1]; // into later pictures
    // MB costs of the picture as a B picture, by motus_b_pair; NULL: not kept.
    uint16_t *between[MOTUS_B_PAIRS];
} MotusBPicture;

// Returns the search of picture[0] in picture[d], d 2..span; picture[i] is i pictures earlier.
static inline MotusBSearch motus_b_search_earlier(const MotusBPicture *const *picture, int d) {
    const MotusBPicture *cur = picture[0];
    const MotusBSearch search = {cur->half,
                                 picture[d]->half,
                                 cur->intra,
                                 cur->earlier[d - 1],
                                 d,
                                 cur->earlier[0].mv,
                                 picture[1]->earlier[d - 2].mv,
                                 NULL,
                                 cur->weight ? &cur->weight[d - 1] : NULL};
    return search;
}

// Returns the search of picture[d] in picture[0], d 1..span - 1, once that of picture[0] in
// picture[d] is done.
static inline MotusBSearch motus_b_search_later(const MotusBPicture *const *picture, int d) {
    const MotusBPicture *cur = picture[d];
    const MotusBSearch search = {cur->half,  picture[0]->half,
                                 cur->intra, cur->later[d - 1],
                                 d,          d > 1 ? cur->later[0].mv : NULL,
                                 NULL,       picture[0]->earlier[d - 1].mv,
                                 NULL};
    return search;
}

// Returns picture[d] between picture[n] and picture[0].
static inline MotusBetween motus_b_between(const MotusBPicture *const *picture, int n, int d) {
    const MotusBPicture *cur = picture[d];
    const MotusBetween between = {cur->half,
                                  {picture[n]->half, picture[0]->half},
                                  {cur->earlier[n - d - 1], cur->later[d - 1]},
                                  cur->intra,
                                  cur->weight ? &cur->weight[n - d - 1] : NULL,
                                  cur->between[motus_b_pair(n - d, d)],
                                  n};
    return between;
}

// Costs of the mini-GOPs that end with a picture, by their lengths less 1: of the P picture, and
// the sum of the B pictures' between the P pictures, with a pyramid that of the middle one alone.
// 0: such a mini-GOP begins before the GOP's second picture.
typedef struct MotusBCosts {
    uint64_t p[MOTUS_B_SPAN], b[MOTUS_B_SPAN];
} MotusBCosts;

// Fills *costs for lengths 1..span. picture[d] is d pictures before the picture; all earlier[] of
// picture[1..span] and earlier[0] of picture[0] are filled in. Fills the rest of earlier[], and the
// other pictures' later[] and between[] as far as they are measured. pyramid: 1 if middle B
// pictures are references; else span is at most MOTUS_B_FLAT_SPAN. The result does not depend on
// `threads`.
void motus_b_costs(MotusBCosts *costs, const MotusBPicture *const *picture, int span, int pyramid,
                   int threads);

// ---- Choice -------------------------------------------------------------------------------------

// Pictures that are sharper than those beside them. Where the source was coded before, these are
// its P pictures: B pictures have coarser quantizer steps. Mini-GOPs that end with the same
// pictures cost fewer bits, since the source's B pictures are near copies of their references.
enum {
    MOTUS_SHARPNESS_SIDE = 2,  // pictures on either side that a picture is compared with
    MOTUS_SHARPNESS_RANGE = 3, // pictures so near to one of the source's P pictures follow it
    MOTUS_SHARPNESS_BEFORE = MOTUS_SHARPNESS_SIDE + MOTUS_SHARPNESS_RANGE,
    MOTUS_SHARPNESS_ONE = 256, // of a picture that is certainly a P picture of the source
};

// Fills sign[n] from the pictures' detail: above 0 for pictures that stand out, below 0 for those
// near them, at most MOTUS_SHARPNESS_ONE; 0 where pictures fade or flicker, as their costs as I
// pictures tell. detail and intra[-before..n - 1] are read, before: 0..MOTUS_SHARPNESS_BEFORE; n:
// at most MOTUS_B_WINDOW; n_mb: of a picture.
void motus_sharpness_signs(int *sign, const uint64_t *detail, const uint64_t *intra, int before,
                           int n, int n_mb);

// Returns the length of the mini-GOP that begins with the first of n pictures, 1..span: that of the
// cheapest way to divide them all. n: 1..MOTUS_B_WINDOW. intra: the pictures' costs as I pictures;
// sharp: by motus_sharpness_signs.
int motus_b_length(const MotusBCosts *costs, const uint64_t *intra, const int *sharp, int n,
                   int span, int pyramid);

#ifdef __cplusplus
}
#endif
#endif
