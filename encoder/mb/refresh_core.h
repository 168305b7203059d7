// Intra refresh: a range of MB rows that are intra wanders over the pictures of a cycle, from the
// top down. A decoder that begins with the first one has right samples in all rows before the end
// of the range. A slice ends there: deblocking does not pass it, and MBs above the end predict from
// right samples alone.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_REFRESH_CORE_H
#define ENCODER_MB_REFRESH_CORE_H

#include "common/int_core.h"
#include "motus/me.h"

// Rows of MBs in a picture. All 0: no refresh.
typedef struct MotusRefresh {
    int mb_height;
    int first, end; // [first, end) are intra
    int ref_end;    // those of the reference before this one are right
} MotusRefresh;

enum { MOTUS_TAPS_BELOW = 3 };    // 8.4.2.2.1
enum { MOTUS_REFRESH_FINER = 3 }; // QPs, as those of an I picture: many pictures predict from it

// Returns how many pictures of a cycle of `period` pictures the range takes: about a third, but 8
// to 17. It has a row at least.
static inline int motus_refresh_pictures(int mb_height, int period) {
    const int part = motus_clip(8, 17, period / 3), step = (mb_height + part / 2) / part;
    return motus_min(step > 1 ? (mb_height + step - 1) / step : mb_height, period);
}

// Returns the rows of picture `at` of a cycle; without a range in those behind its end.
static inline MotusRefresh motus_refresh_at(int mb_height, int period, int at) {
    const int n = motus_refresh_pictures(mb_height, period);
    MotusRefresh r = {0, 0, 0, 0};
    if (at >= n) return r;
    r.mb_height = mb_height;
    r.first = (int)((int64_t)at * mb_height / n);
    r.end = (int)((int64_t)(at + 1) * mb_height / n);
    r.ref_end = at ? r.first : mb_height;
    return r;
}

// True if the MBs of row y are intra.
MOTUS_HD int motus_is_refreshed(const MotusRefresh *r, int y) {
    return y >= r->first && y < r->end;
}

// Returns the first row of the slice behind the range; 0: none begins there.
MOTUS_HD int motus_refresh_apart(const MotusRefresh *r) {
    return r->end < r->mb_height ? r->end : 0;
}

enum { MOTUS_MAX_MV_Y = 4096 }; // above all of table A-1, quarter samples

// Returns the largest y of MVs of whole MBs of row y, quarter samples: they read no wrong samples.
// Chroma reaches less far (8.4.2.2.2).
MOTUS_HD int motus_refresh_max_mv_y(const MotusRefresh *r, int y) {
    return y < r->first && r->ref_end < r->mb_height ? 64 * (r->ref_end - y - 1) : MOTUS_MAX_MV_Y;
}

// Returns y of an MV of a block that ends with row 0..3 of an MB's 4x4 blocks (3: the whole MB),
// lowered if need be so that no sample behind the largest one is read. Taps of the interpolation
// read further samples where y is no whole sample.
MOTUS_HD int motus_refresh_mv_y(int max_mv_y, int row, int y) {
    max_mv_y += 16 * (3 - row);
    return y < max_mv_y - 4 * (MOTUS_TAPS_BELOW - 1) ? y : motus_min(y, max_mv_y) & ~3;
}

// Returns y of an MV of block b of the 41, lowered as by motus_refresh_mv_y.
MOTUS_HD int motus_refresh_block_mv_y(int max_mv_y, int b, int y) {
    const int k = b >= MOTUS_BLOCK_4x4   ? (b - MOTUS_BLOCK_4x4) >> 2
                  : b >= MOTUS_BLOCK_4x8 ? (b - MOTUS_BLOCK_4x8) >> 2 << 1 | 1
                  : b >= MOTUS_BLOCK_8x4 ? (b - MOTUS_BLOCK_8x4) >> 1
                  : b >= MOTUS_BLOCK_8x8 ? (b - MOTUS_BLOCK_8x8) >> 1 << 1 | 1
                                         : (b == MOTUS_BLOCK_16x8 ? 1 : 3);
    return motus_refresh_mv_y(max_mv_y, k, y);
}

// SATD of a 4x4 block with an MV that its row does not allow: above all others, which are at most
// 8,160, so that blocks of that row have another MV. Eight make less than 2^16.
enum { MOTUS_REFRESH_SATD = 8191 };

#endif
