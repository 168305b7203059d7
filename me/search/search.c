// SPDX-License-Identifier: BSD-2-Clause
#include "me/search/search.h"

#include "common/cpu.h"
#include "me/pixel/cost_core.h"
#include "me/pixel/pixel_core.h"

static void search_c(const MotusMbJob *job, MotusMbMotion *out, uint8_t *scratch) {
    const int points = 2 * job->range + 1, size = points + 15,
              x0 = job->x + job->centre.x / 4 - job->range,
              y0 = job->y + job->centre.y / 4 - job->range;
    for (int y = 0; y < size; y++) { // copies the window's samples
        const uint8_t *row = motus_ref_row(job->ref, y0 + y);
        for (int x = 0; x < size; x++)
            scratch[y * size + x] = row[motus_clip(0, job->ref->width - 1, x0 + x)];
    }
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (job->modes >> motus_blocks[b].mode & 1) out->cost[b] = UINT32_MAX;
    for (int i = 0; i < points * points; i++) {
        const int dx = i % points - job->range, dy = i / points - job->range;
        const MotusMv mv = {(int16_t)(job->centre.x + 4 * dx), (int16_t)(job->centre.y + 4 * dy)};
        const uint32_t mv_cost = motus_mv_cost(job->lambda_q8, mv, job->predictor);
        uint32_t sum[MOTUS_BLOCKS];
        for (int k = 0; k < 16; k++) {
            const int x = 4 * (k & 3), y = 4 * (k >> 2);
            sum[MOTUS_BLOCK_4x4 + k] =
                motus_sad4x4(job->cur + y * job->cur_stride + x, job->cur_stride,
                             scratch + (i / points + y) * size + i % points + x, size);
        }
        motus_merge_sums(sum);
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            if (!(job->modes >> motus_blocks[b].mode & 1) || sum[b] + mv_cost >= out->cost[b])
                continue;
            out->cost[b] = sum[b] + mv_cost;
            out->sad[b] = (uint16_t)sum[b];
            out->mv[b] = mv;
        }
    }
}

static size_t scratch_bytes_c(int range) { return (size_t)(2 * range + 16) * (2 * range + 16); }

const MotusSearchOps motus_search_ops_c = {search_c, scratch_bytes_c};

const MotusSearchOps *motus_search_ops(void) {
#if defined(__x86_64__)
    const unsigned flags = motus_cpu_flags();
    if (flags & MOTUS_CPU_AVX512) return &motus_search_ops_avx512;
    if (flags & MOTUS_CPU_AVX2) return &motus_search_ops_avx2;
#endif
    return &motus_search_ops_c;
}
