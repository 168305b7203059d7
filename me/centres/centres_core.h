// Predicted search centres: the candidates of an MB in their order, and the geometry of the
// downscaled search (centres.h).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_CENTRES_CENTRES_CORE_H
#define ME_CENTRES_CENTRES_CORE_H

#include "me/pixel/cost_core.h"
#include "me/pixel/ref_luma.h"
#include "motus/me_request.h"

#define MOTUS_DOWNSCALED_BLOCK 8  // downscaled samples: the MB's 4x4, and
#define MOTUS_DOWNSCALED_MARGIN 2 // on each side of them
// Border of a downscaled picture: margin, up to 16 samples of reach, reads of SIMD code.
#define MOTUS_DOWNSCALED_BORDER 32

// A picture to predict centres for. In device memory, the struct and *ref still are host memory.
typedef struct MotusCentresPicture {
    const uint8_t *cur; // luma plane of ref's size; on a device data and stride multiples of 16
    ptrdiff_t cur_stride;
    const MotusRefLuma *ref; // only plane 0 is read
    const MotusMv *previous; // MVs of the previous picture, one per MB; NULL: none
    uint32_t lambda_q8;      // 0..MOTUS_MAX_LAMBDA_Q8
    int reach;               // samples, a multiple of 4, 4..MOTUS_ME_MAX_REACH
    int wide;                // 1: MVs up to four times `reach` are searched, too
    int limit_x, limit_y;    // largest |component| of a centre, quarter samples, 0 or more
    MotusMv *centre;         // result per MB, multiples of 4; not `previous`
    int early;               // CUDA: launches may begin early (cuda_call.cuh)
    // CUDA: MB i needs no centre if wanted[i * wanted_pitch] is 0; NULL: all do.
    const uint64_t *wanted;
    size_t wanted_pitch;
} MotusCentresPicture;

// Returns the points in a row or column of the downscaled search's window, at most 33.
MOTUS_HD int motus_downscaled_points(int reach) { return reach / 2 + 1; }

// Returns the MV component of the i-th point of a row or column.
MOTUS_HD int motus_downscaled_component(int reach, int i) { return 16 * i - 4 * reach; }

// Returns the MV's part of J in the downscaled search, from motus_se_bits of both components. They
// have at most 19 bits each: (16,383 * 38) >> 8 = 2,431.
MOTUS_HD uint32_t motus_downscaled_cost(uint32_t lambda_q8, int bits) {
    return motus_bits_cost(lambda_q8 / 4, bits);
}

// The wide search: pictures downscaled 16:1 are searched as those downscaled 4:1 are, so that 4x4
// MBs, a group, are what an MB is there. Its MVs are quarter samples of the 4:1 pictures. Where
// they lie outside the window of an MB, the 4:1 search tries 5x5 points around each.
enum {
    MOTUS_GROUP = 4,         // MBs of its side
    MOTUS_WIDE_GROUPS = 4,   // groups whose MVs an MB tries
    MOTUS_WIDE_POINTS = 5,   // in a row or column around such an MV
    MOTUS_WIDE_SQUARE = 25,  // points
    MOTUS_WIDE_BITS = 23 * 2 // of an MV: components are 4 * MOTUS_ME_MAX_REACH + 8 at most
};

MOTUS_HD int motus_groups(int mbs) { return (mbs + MOTUS_GROUP - 1) / MOTUS_GROUP; }

// Returns the number of group k of those that MB (mb_x, mb_y) tries: its own, then the nearest ones
// to the left or right, above or below, and diagonally. -1: there is none.
MOTUS_HD int motus_group_of(int mb_width, int mb_height, int mb_x, int mb_y, int k) {
    const int x = mb_x / MOTUS_GROUP + (k & 1 ? (mb_x & 2) - 1 : 0),
              y = mb_y / MOTUS_GROUP + (k & 2 ? (mb_y & 2) - 1 : 0), width = motus_groups(mb_width);
    return x < 0 || x >= width || y < 0 || y >= motus_groups(mb_height) ? -1 : y * width + x;
}

// True if a group's MV lies outside the window of the 4:1 search.
MOTUS_HD int motus_wide_is_outside(MotusMv mv, int reach) {
    return motus_abs(mv.x) > reach || motus_abs(mv.y) > reach;
}

// Returns the MV of point i (0..24) of the 5x5 around a group's.
MOTUS_HD MotusMv motus_wide_mv(MotusMv mv, int i) {
    MotusMv at;
    at.x = (int16_t)(4 * mv.x + 16 * (i % MOTUS_WIDE_POINTS - MOTUS_WIDE_POINTS / 2));
    at.y = (int16_t)(4 * mv.y + 16 * (i / MOTUS_WIDE_POINTS - MOTUS_WIDE_POINTS / 2));
    return at;
}

// Returns a place near the downscaled picture at which `points` neighbouring blocks have the
// samples of those from column or row `at` on: edges are repeated without end. size: of the
// picture.
MOTUS_HD int motus_downscaled_place(int size, int at, int points) {
    return motus_clip(1 - MOTUS_DOWNSCALED_BLOCK - points, size, at);
}

// Returns the largest centre component within a limit: full samples, a multiple of 4.
MOTUS_HD int motus_centre_limit(int limit) { return motus_min(limit, MOTUS_MAX_CENTRE) & ~3; }

// Returns an MV over `to` pictures of a motion that is mv over `from` pictures, from > 0.
MOTUS_HD MotusMv motus_mv_over(MotusMv mv, int to, int from) {
    const int x = 2 * mv.x * to, y = 2 * mv.y * to;
    MotusMv scaled;
    scaled.x = (int16_t)motus_clip(-32767, 32767, (x + (x < 0 ? -from : from)) / (2 * from));
    scaled.y = (int16_t)motus_clip(-32767, 32767, (y + (y < 0 ? -from : from)) / (2 * from));
    return scaled;
}

// The MVs that candidates are made from.
typedef struct MotusCentreSource {
    const MotusMv *previous, *downscaled; // one per MB; previous may be NULL
    MotusMv median;                       // of previous; MV costs are relative to it
    int limit_x, limit_y;                 // from motus_centre_limit
    int mb_width, mb_height;
} MotusCentreSource;

// Candidates by number; the first of equals wins. Zero; `previous` of the 3x3 MBs around, in raster
// order; the median; `downscaled` of the 3x3 MBs; the 5x5 full-sample MVs around the MB's own
// MV, which is a multiple of four samples.
enum {
    MOTUS_CENTRE_ZERO = 0,
    MOTUS_CENTRE_PREVIOUS = 1,
    MOTUS_CENTRE_MEDIAN = 10,
    MOTUS_CENTRE_DOWNSCALED = 11,
    MOTUS_CENTRE_FINE = 20,
    MOTUS_FINE_POINTS = 25,
    MOTUS_CENTRES = MOTUS_CENTRE_FINE + MOTUS_FINE_POINTS
};

// Gets the k-th MV of the 3x3 MBs around MB (mb_x, mb_y). Returns 0 outside the picture.
MOTUS_HD int motus_centre_around(const MotusCentreSource *s, const MotusMv *field, int mb_x,
                                 int mb_y, int k, MotusMv *mv) {
    int x = mb_x + k % 3 - 1, y = mb_y + k / 3 - 1;
    if (!field || x < 0 || x >= s->mb_width || y < 0 || y >= s->mb_height) return 0;
    *mv = field[y * s->mb_width + x];
    return 1;
}

// Gets candidate i of an MB, not rounded. Returns 0 if there is none.
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
        return motus_centre_around(s, s->downscaled, mb_x, mb_y, i - MOTUS_CENTRE_DOWNSCALED, mv);
    MotusMv own = s->downscaled[mb_y * s->mb_width + mb_x];
    i -= MOTUS_CENTRE_FINE;
    mv->x = (int16_t)(own.x + 4 * (i % 5 - 2));
    mv->y = (int16_t)(own.y + 4 * (i / 5 - 2));
    return 1;
}

// Returns an MV rounded to full samples within the limits.
MOTUS_HD MotusMv motus_centre_rounded(const MotusCentreSource *s, MotusMv mv) {
    mv.x = (int16_t)motus_clip(-s->limit_x, s->limit_x, (mv.x + 2) & ~3);
    mv.y = (int16_t)motus_clip(-s->limit_y, s->limit_y, (mv.y + 2) & ~3);
    return mv;
}

// Gets candidate i, rounded. Returns 0 if there is none.
MOTUS_HD int motus_centre_candidate(const MotusCentreSource *s, int mb_x, int mb_y, int i,
                                    MotusMv *mv) {
    const int found = motus_centre_source(s, mb_x, mb_y, i, mv);
    *mv = motus_centre_rounded(s, *mv);
    return found;
}

#endif
