// What CPU and GPU share of predicting centres: the scaled search's vectors, and the candidates of
// an MB in their order.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_CENTRES_CENTRES_CORE_H
#define ME_CENTRES_CENTRES_CORE_H

#include "me/pixel/cost_core.h"
#include "me/pixel/ref_luma.h"

#define MOTUS_MAX_COARSE_REACH                                                                     \
    64                        // samples of the full picture; a reach is a multiple of 4 from 4 on
#define MOTUS_COARSE_BLOCK 8  // scaled samples: the MB's 4x4 and
#define MOTUS_COARSE_MARGIN 2 // on each side of them
// Around a scaled picture: the margin and up to 16 samples of range, and what vector code may read
// beyond.
#define MOTUS_COARSE_BORDER 32

// A picture to predict centres for, in host memory, or in device memory apart from the struct and
// *ref.
typedef struct MotusCentresPicture {
    const uint8_t *cur; // luma plane of ref's size; on a device data and stride multiples of 16
    ptrdiff_t cur_stride;
    const MotusRefLuma *ref; // only plane 0 is read
    const MotusMv *previous; // MVs of the previous picture, one per MB; NULL: none
    uint32_t lambda_q8;      // 0..MOTUS_MAX_LAMBDA_Q8
    int reach;               // samples, a multiple of 4, 4..MOTUS_MAX_COARSE_REACH
    int limit_x, limit_y;    // largest |component| of a centre, quarter samples, 0 or more
    MotusMv *centre;         // result per MB, multiples of 4; not `previous`
    int early;               // CUDA: launches may begin early (cuda_call.cuh)
} MotusCentresPicture;

// Points in a row or column of the scaled search's window, at most 33.
MOTUS_HD int motus_coarse_points(int reach) { return reach / 2 + 1; }

// Quarter samples of point number i of a row or column.
MOTUS_HD int motus_coarse_component(int reach, int i) { return 16 * i - 4 * reach; }

// The vector part of J in the scaled search, from motus_se_bits of both components: 19 bits at most
// each, so (16,383 * 38) >> 8 = 2,431.
MOTUS_HD uint32_t motus_coarse_cost(uint32_t lambda_q8, int bits) {
    return motus_bits_cost(lambda_q8 / 4, bits);
}

// Centres are whole samples within the limit of a direction, that is a multiple of 4 quarter
// samples.
MOTUS_HD int motus_centre_limit(int limit) { return motus_min(limit, MOTUS_MAX_CENTRE) & ~3; }

// What the candidates of a picture's MBs are made from.
typedef struct MotusCentreSource {
    const MotusMv *previous, *coarse; // one per MB; previous may be NULL
    MotusMv median;                   // of previous, and what vectors cost relative to
    int limit_x, limit_y;             // as motus_centre_limit has them
    int mb_width, mb_height;
} MotusCentreSource;

// Candidates by number; of equally good ones the first is taken: zero, previous at the MB and
// around it (in raster order), the median, coarse at the MB and around it, and the 5x5 whole-sample
// vectors around the MB's coarse one, which is a multiple of four samples.
enum {
    MOTUS_CENTRE_ZERO = 0,
    MOTUS_CENTRE_PREVIOUS = 1,
    MOTUS_CENTRE_MEDIAN = 10,
    MOTUS_CENTRE_COARSE = 11,
    MOTUS_CENTRE_FINE = 20,
    MOTUS_CENTRES = 45
};

// The k-th vector of the 3x3 around MB (mb_x, mb_y); 0: it lies outside the picture.
MOTUS_HD int motus_centre_around(const MotusCentreSource *s, const MotusMv *field, int mb_x,
                                 int mb_y, int k, MotusMv *mv) {
    int x = mb_x + k % 3 - 1, y = mb_y + k / 3 - 1;
    if (!field || x < 0 || x >= s->mb_width || y < 0 || y >= s->mb_height) return 0;
    *mv = field[y * s->mb_width + x];
    return 1;
}

// Candidate i of an MB, not rounded; 0: there is none.
MOTUS_HD int motus_centre_source(const MotusCentreSource *s, int mb_x, int mb_y, int i,
                                 MotusMv *mv) {
    mv->x = mv->y = 0;
    if (i == MOTUS_CENTRE_ZERO) return 1;
    if (i < MOTUS_CENTRE_MEDIAN)
        return motus_centre_around(s, s->previous, mb_x, mb_y, i - MOTUS_CENTRE_PREVIOUS, mv);
    if (i == MOTUS_CENTRE_MEDIAN) {
        *mv = s->median;
        return 1;
    }
    if (i < MOTUS_CENTRE_FINE)
        return motus_centre_around(s, s->coarse, mb_x, mb_y, i - MOTUS_CENTRE_COARSE, mv);
    MotusMv own = s->coarse[mb_y * s->mb_width + mb_x];
    i -= MOTUS_CENTRE_FINE;
    mv->x = (int16_t)(own.x + 4 * (i % 5 - 2));
    mv->y = (int16_t)(own.y + 4 * (i / 5 - 2));
    return 1;
}

// The same, rounded to whole samples within the limits.
MOTUS_HD int motus_centre_candidate(const MotusCentreSource *s, int mb_x, int mb_y, int i,
                                    MotusMv *mv) {
    int found = motus_centre_source(s, mb_x, mb_y, i, mv);
    mv->x = (int16_t)motus_clip(-s->limit_x, s->limit_x, (mv->x + 2) & ~3);
    mv->y = (int16_t)motus_clip(-s->limit_y, s->limit_y, (mv->y + 2) & ~3);
    return found;
}

#endif
