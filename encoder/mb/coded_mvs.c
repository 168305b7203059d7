// The list of a coded picture's MVs.
// SPDX-License-Identifier: BSD-2-Clause
#include <assert.h>

#include "encoder/mb/coded_mbs.h"
#include "encoder/mb/direct_core.h"

#define MAX_ROWS (MOTUS_MAX_SIZE / 16)

// Lists the MVs of MB (x, y): of each partition one per list. Direct MBs have a partition per 8x8
// block if their MVs differ. Returns their number.
static int list_mb(const MotusCodedMbs *mbs, const MotusRefDistances *distances, int x, int y,
                   MotusCodedMv mvs[16]) {
    const MotusMb *mb = mbs->mb + (ptrdiff_t)y * mbs->mb_width + x;
    const int is_b = mbs->slice_type == MOTUS_SLICE_B;
    MotusPartition parts[16];
    int n_parts = motus_mb_partitions(mb, parts), n = 0, differ = 0;
    for (int q = 1; q < 4; q++)
        differ |= !motus_mv_equal(mb->mv[motus_corner_of(q)], mb->mv[0]) ||
                  !motus_mv_equal(mb->mv1[q], mb->mv1[0]);
    if (is_b && motus_is_direct(mb) && differ)
        for (n_parts = 0; n_parts < 4; n_parts++)
            parts[n_parts] = motus_partition_at(MOTUS_MODE_8x8, 0, 2 * (n_parts & 1), n_parts & 2);
    for (int k = 0; k < n_parts; k++) {
        const MotusPartition *p = &parts[k];
        const int blk = 4 * p->y + p->x, q = motus_8x8_of(blk),
                  ref = mbs->refs > 1 ? mb->ref[0][q] : 0;
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
    }
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
