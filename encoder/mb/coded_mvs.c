// The list of a coded picture's MVs.
// SPDX-License-Identifier: BSD-2-Clause
#include <assert.h>

#include "encoder/mb/coded_mbs.h"
#include "encoder/mb/direct_core.h"

#define MAX_ROWS (MOTUS_MAX_SIZE / 16)

// Lists the partitions of an MB. Direct MBs have one per 8x8 block if their MVs differ.
static int list_partitions(const MotusMb *mb, int slice_type, MotusPartition parts[16]) {
    if (slice_type != MOTUS_SLICE_B || !motus_is_direct(mb)) return motus_mb_partitions(mb, parts);
    int same = 1;
    for (int q = 0; q < 4; q++) {
        parts[q] = motus_partition_at(MOTUS_MODE_8x8, 0, 2 * (q & 1), q & 2);
        same &= motus_mv_equal(mb->mv[4 * parts[q].y + parts[q].x], mb->mv[0]) &&
                motus_mv_equal(mb->mv1[q], mb->mv1[0]);
    }
    return same ? motus_mb_partitions(mb, parts) : 4;
}

// Lists the MVs of a partition of MB (x, y), one per list. Returns their number.
static int list_partition(const MotusCodedMbs *mbs, const MotusRefDistances *distances, int x,
                          int y, const MotusPartition *p, MotusCodedMv *mvs) {
    const MotusMb *mb = mbs->mb + (ptrdiff_t)y * mbs->mb_width + x;
    const int blk = 4 * p->y + p->x, q = motus_8x8_of(blk), is_b = mbs->slice_type == MOTUS_SLICE_B,
              ref = mbs->refs > 1 ? mb->ref[0][q] : 0;
    int n = 0;
    for (int list = 0; list <= is_b; list++) {
        if (is_b && !motus_pred_uses(mb->pred[q], list)) continue;
        mvs[n++] = (MotusCodedMv){.x = (uint16_t)(16 * x + 4 * p->x),
                                  .y = (uint16_t)(16 * y + 4 * p->y),
                                  .width = (uint8_t)(4 * p->width),
                                  .height = (uint8_t)(4 * p->height),
                                  .skip = mb->type == MOTUS_MB_P_SKIP,
                                  .list = (uint8_t)list,
                                  .mv = list ? mb->mv1[q] : mb->mv[blk],
                                  .distance = distances->to[list][list ? 0 : ref]};
    }
    return n;
}

// Lists the MVs of MB (x, y). Returns their number.
static int list_mb(const MotusCodedMbs *mbs, const MotusRefDistances *distances, int x, int y,
                   MotusCodedMv mvs[16]) {
    const MotusMb *mb = mbs->mb + (ptrdiff_t)y * mbs->mb_width + x;
    MotusPartition parts[16];
    const int n_parts = list_partitions(mb, mbs->slice_type, parts);
    int n = 0;
    for (int k = 0; k < n_parts; k++) n += list_partition(mbs, distances, x, y, &parts[k], mvs + n);
    return n;
}

size_t motus_list_mvs(const MotusCodedMbs *mbs, const MotusRefDistances *distances,
                      MotusCodedMv *mvs) {
    size_t first[MAX_ROWS], total = 0;
    assert(mbs->mb_height <= MAX_ROWS);
#pragma omp parallel num_threads(mbs->threads)
    {
#pragma omp for schedule(static)
        for (int y = 0; y < mbs->mb_height; y++) {
            MotusCodedMv any[16];
            first[y] = 0;
            for (int x = 0; x < mbs->mb_width; x++)
                first[y] += (size_t)list_mb(mbs, distances, x, y, any);
        }
#pragma omp single
        for (int y = 0; y < mbs->mb_height; y++) {
            size_t n = first[y];
            first[y] = total;
            total += n;
        }
#pragma omp for schedule(static)
        for (int y = 0; y < mbs->mb_height; y++) {
            MotusCodedMv *at = mvs + first[y];
            for (int x = 0; x < mbs->mb_width; x++) at += list_mb(mbs, distances, x, y, at);
        }
    }
    return total;
}
