// Intra refresh: a range of MB columns that are intra wanders over the pictures of a cycle, left to
// right. A decoder that begins with the first one has right samples in all columns before the end
// of the range, but for those that deblocking mixes with wrong ones on its right. MBs left of the
// range predict from such samples alone.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_REFRESH_CORE_H
#define ENCODER_MB_REFRESH_CORE_H

#include "common/int_core.h"
#include "me/intra16_core.h"
#include "motus/me.h"

// Columns of MBs in a picture. All 0: no refresh.
typedef struct MotusRefresh {
    int mb_width;
    int first, end; // [first, end) are intra
    int ref_end;    // those of the reference before this one are right
    int spoilt;     // luma samples left of it that deblocking may spoil
} MotusRefresh;

enum { MOTUS_DEBLOCK_REACH = 3, MOTUS_TAPS_RIGHT = 3 }; // 8.7.2.3; 8.4.2.2.1
enum { MOTUS_REFRESH_PART = 8 };
enum { MOTUS_REFRESH_FINER = 2, MOTUS_REFRESH_COARSER = 3 }; // QPs

// Returns how many pictures of a cycle of `period` pictures the range takes. Its last column is
// intra again in the next picture, so each picture costs a column: the range has 1 /
// MOTUS_REFRESH_PART of the columns, and moves by one at least.
static inline int motus_refresh_pictures(int mb_width, int period) {
    const int part = MOTUS_REFRESH_PART, step = motus_max(1, (mb_width + part / 2) / part - 1);
    return motus_min((mb_width + step - 1) / step, period);
}

// Returns the end of the range in picture `at` of n.
static inline int motus_refresh_end(int mb_width, int n, int at) {
    return motus_min(mb_width, (int)((int64_t)(at + 1) * mb_width / n) + 1);
}

// Returns the columns of picture `at` of a cycle; without a range in those behind its end. Each
// range begins in the last column of the one before, so that zero MVs stay possible left of it.
static inline MotusRefresh motus_refresh_at(int mb_width, int period, int at, int deblock) {
    const int n = motus_refresh_pictures(mb_width, period);
    MotusRefresh r = {0, 0, 0, 0, 0};
    if (at >= n) return r;
    r.mb_width = mb_width;
    r.first = (int)((int64_t)at * mb_width / n);
    r.end = motus_refresh_end(mb_width, n, at);
    r.ref_end = at ? motus_refresh_end(mb_width, n, at - 1) : mb_width;
    r.spoilt = deblock ? MOTUS_DEBLOCK_REACH : 0;
    return r;
}

// True if the MBs of column x are intra.
MOTUS_HD int motus_is_refreshed(const MotusRefresh *r, int x) {
    return x >= r->first && x < r->end;
}

// Returns the QP offset of MBs of column x: many pictures predict from the range, but one alone
// from its last column.
static inline int motus_refresh_qp(const MotusRefresh *r, int x) {
    return !motus_is_refreshed(r, x)                 ? 0
           : x + 1 == r->end && r->end < r->mb_width ? MOTUS_REFRESH_COARSER
                                                     : -MOTUS_REFRESH_FINER;
}

// Returns MOTUS_SPOILT_RIGHT if samples above right of MBs of column x (6.4.9: C) may be wrong.
MOTUS_HD int motus_refresh_spoils(const MotusRefresh *r, int x) {
    return x + 1 == r->end && r->end < r->mb_width ? MOTUS_SPOILT_RIGHT : 0;
}

// Returns the mask MOTUS_HAS_* of the neighbours of MBs of column x that are coded only after
// intra coding of other MBs has been estimated: those in the range.
MOTUS_HD int motus_refresh_uncoded(const MotusRefresh *r, int x) {
    return r->end == 0         ? 0
           : x == r->end       ? MOTUS_HAS_LEFT | MOTUS_HAS_CORNER
           : x + 1 == r->first ? MOTUS_HAS_TOP_RIGHT
                               : 0;
}

enum { MOTUS_MAX_MV_X = 8191 }; // quarter samples (table A-1)

// Returns the largest x of MVs of column x, quarter samples: blocks read no wrong samples, taps of
// the interpolation included. Chroma reaches less far (8.4.2.2.2).
MOTUS_HD int motus_refresh_max_mv_x(const MotusRefresh *r, int x) {
    return x < r->first && r->ref_end < r->mb_width
               ? 4 * (16 * (r->ref_end - x - 1) - r->spoilt - MOTUS_TAPS_RIGHT)
               : MOTUS_MAX_MV_X;
}

#endif
