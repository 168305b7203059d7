// Predicted search centres, and the downscaled search that they are predicted from: one MV per MB,
// from an exhaustive search of both pictures downscaled 4:1.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_CENTRES_CENTRES_H
#define ME_CENTRES_CENTRES_H

#include "me/centres/centres_core.h"

#define MOTUS_DOWNSCALED_POINTS 33  // at most, in a row or column of the window
#define MOTUS_DOWNSCALED_COLUMNS 40 // a row of points, rounded up to a multiple of 8

// MV cost of each point of the window (motus_downscaled_cost); 65,535 to the right of it and below.
typedef uint16_t MotusDownscaledCosts[MOTUS_DOWNSCALED_POINTS + 3][MOTUS_DOWNSCALED_COLUMNS];

// Inner loops of the downscaled search and of the choice of centres.
typedef struct MotusCentreOps {
    // Returns row * MOTUS_DOWNSCALED_COLUMNS + column of the least SAD + cost, the first in raster
    // order. cur: an 8x8 block; ref: the block at the window's first point, readable for 43 rows of
    // 48 samples. The window is points x points, an odd number. likely: any point of it, in the
    // same form; the search is faster if it costs little.
    int (*search)(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride,
                  const MotusDownscaledCosts cost, int points, int likely);
    // Writes a row of `width` (a multiple of 4) rounded means of 4x4 samples.
    void (*scale)(uint8_t *to, const uint8_t *from, ptrdiff_t stride, int width);
    // Returns the SAD of 16x16 samples, or anything from `limit` on if the SAD is no less. cur:
    // rows without gaps, aligned to 32 bytes.
    uint32_t (*sad)(const uint8_t cur[256], const uint8_t *ref, ptrdiff_t stride, uint32_t limit);
    // Writes the SADs of 16x16 samples at the 5x5 positions from ref on, in raster order.
    void (*sads)(const uint8_t cur[256], const uint8_t *ref, ptrdiff_t stride,
                 uint32_t sad[MOTUS_FINE_POINTS]);
} MotusCentreOps;

// Returns the fastest table that this CPU runs (motus_cpu_flags).
const MotusCentreOps *motus_centre_ops(void);
extern const MotusCentreOps motus_centre_ops_avx2, motus_centre_ops_avx512;

// Pictures downscaled 4:1, and what their search finds.
typedef struct MotusScaleLevel {
    MotusPlane cur, ref; // with a border of repeated samples; same stride
    MotusMv *mv;         // per 4x4 samples: quarter samples before scaling, multiples of 16
    uint8_t *memory;
} MotusScaleLevel;

typedef struct MotusDownscaled {
    MotusScaleLevel mbs, groups; // groups: scaled down from mbs, for the wide search
    const MotusCentreOps *ops;
} MotusDownscaled;

MotusStatus motus_downscaled_alloc(MotusDownscaled *downscaled, int mb_width, int mb_height);
void motus_downscaled_free(MotusDownscaled *downscaled); // accepts a zeroed one

// Downscales two planes of whole MBs and fills downscaled->mbs.mv: per MB the displacement of least
// J over the 8x8 downscaled samples around it; half an MB more on each side steadies the result. J
// = SAD + MV cost against zero with a quarter of lambda, since an 8x8 SAD of means is about a
// quarter of the MB's SAD. Reads picture->lambda_q8, reach and wide.
void motus_downscaled_run(MotusDownscaled *downscaled, const MotusPlane *cur, const MotusPlane *ref,
                          const MotusCentresPicture *picture, int threads);

// Predicts a search centre per MB: the candidate (centres_core.h) of least J = 16x16 SAD + MV cost
// against the median of picture->previous. cur and ref are in whole MBs. No MB depends on another
// one of the same picture.
void motus_centres(const MotusCentresPicture *picture, MotusDownscaled *downscaled, int threads);

// Search centres MB by MB, in any order. begin() runs the downscaled search; what `picture` points
// to is read until the last MB.
typedef struct MotusCentres {
    MotusCentresPicture picture;
    const MotusCentreOps *ops;
    MotusCentreSource source;
} MotusCentres;

void motus_centres_begin(MotusCentres *c, const MotusCentresPicture *picture,
                         MotusDownscaled *downscaled, int threads);
MotusMv motus_centre_of(const MotusCentres *c, int mb_number);

// Component-wise median of n MVs (the one with n / 2 others before it), zero if mv is NULL.
MotusMv motus_mv_median(const MotusMv *mv, int n);

#endif
