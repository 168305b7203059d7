// Passes of the lookahead over a source picture: half-size planes, MB costs, AQ and mb-tree. They
// read no coded data, so results do not depend on what is coded or in which order.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_LOOKAHEAD_PASSES_H
#define ENCODER_LOOKAHEAD_LOOKAHEAD_PASSES_H

#include "motus/encoder.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Half-size picture --------------------------------------------------------------------------

enum { MOTUS_HALF_BORDER = 32 }; // repeated samples on each side of a plane

// A luma plane at half size, in whole MBs (8x8 samples here): four planes of means of 2x2 samples.
// plane[2 * (y & 1) + (x & 1)] begins at column x and row y of the full picture, so that MVs reach
// every full-size sample.
typedef struct MotusHalfPicture {
    uint8_t *memory, *plane[4];
    ptrdiff_t stride; // bytes, a multiple of 64
    int mb_width, mb_height;
} MotusHalfPicture;

// Returns the bytes of one picture's planes.
size_t motus_half_bytes(int mb_width, int mb_height);

// Points *half into `memory`, which holds motus_half_bytes() bytes.
void motus_half_layout(MotusHalfPicture *half, uint8_t *memory, int mb_width, int mb_height);

// Scales a luma plane down and returns its detail: the sum of |2 b - a - c| over all samples b of
// the MBs but those of the first column, a to its left and c to its right. The plane covers all MBs
// except for less than one MB on the right and at the bottom, which is filled with its edge
// samples.
uint64_t motus_half_build(MotusHalfPicture *half, const MotusPlane *luma, int threads);

// ---- Weights of references ----------------------------------------------------------------------

// Weight of the samples of a half-size reference, as a MotusWeight.
typedef struct MotusHalfWeight {
    int32_t inverse; // of the weight, 1/4096
    int16_t weight, offset, log2_denom;
    int16_t is_used; // 0: it changes nothing
} MotusHalfWeight;

// Statistics of a half-size picture.
typedef struct MotusHalfStats {
    uint64_t *sums; // [0] of its samples, [1] of their squares
    int16_t *small; // 2 mb_width x 2 mb_height sums of 4x4 samples
} MotusHalfStats;

// Fills in *stats. The result does not depend on `threads`.
void motus_half_measure(const MotusHalfStats *stats, const MotusHalfPicture *half, int threads);

// Returns the weight that a picture is predicted with from a reference.
MotusHalfWeight motus_half_find_weight(const MotusHalfStats *cur, const MotusHalfStats *ref,
                                       int mb_width, int mb_height);

// ---- Costs --------------------------------------------------------------------------------------

// Costs of a picture's MBs, one entry per MB: SATD at half size plus lambda * bits of mode and MV,
// at most 65,535.
typedef struct MotusMbCosts {
    uint16_t *intra;
    uint16_t *inter; // at most intra; equal to intra if there is no previous picture
    MotusMv *mv;     // whole samples of the full picture, into the previous picture
    MotusMv *first;  // scratch memory: MVs of the first pass
} MotusMbCosts;

// Fills *costs. `before` is the previous picture, NULL if there is none, and `weight` that of it,
// or NULL. Each MB is searched alone first; then it goes on from the MVs of its neighbours, if they
// are better. The result does not depend on `threads`.
void motus_mb_costs(const MotusMbCosts *costs, const MotusHalfPicture *cur,
                    const MotusHalfPicture *before, const MotusHalfWeight *weight, int threads);

// ---- AQ and mb-tree: QP offsets of MBs, 1/256 QP ------------------------------------------------

// Fills offset[mb_width * mb_height] from the variance of each MB's luma. strength_q8: 1/256. The
// plane covers the MBs as in motus_half_build.
void motus_aq_offsets(int16_t *offset, const MotusPlane *luma, int mb_width, int mb_height,
                      MotusAqMode mode, int strength_q8, int threads);

// A picture that is predicted from one reference, or from two.
typedef struct MotusTreePicture {
    const uint16_t *intra;   // costs of its MBs
    const uint16_t *cost[2]; // with one reference
    const MotusMv *mv[2];    // into it
    const uint16_t *both;    // cost of a B picture's MBs, at most cost[]; NULL: cost[0] alone
    const int16_t *aq;       // AQ offsets, or NULL
} MotusTreePicture;

// mb-tree: adds to references[][], of the picture's references, the cost that prediction from them
// saves the picture and those that depend on it. propagated[] holds the latter's. Each MB spreads
// its amount over the up to four MBs that an MV points at; half of it over each reference's if it
// uses both. references[k] NULL: that one gets nothing. Amounts count as at most UINT32_MAX.
void motus_mb_tree_propagate(uint64_t *const references[2], const uint64_t *propagated,
                             const MotusTreePicture *picture, int mb_width, int mb_height);

// mb-tree: lowers offset[] in place by strength * log2((cost + propagated) / cost). strength_q8:
// QPs per octave, 1/256.
void motus_mb_tree_offsets(int16_t *offset, const uint64_t *propagated, const MotusMbCosts *costs,
                           int n_mb, int strength_q8);

#ifdef __cplusplus
}
#endif
#endif
