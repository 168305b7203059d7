// SPDX-License-Identifier: BSD-2-Clause
#include "me/search/search.h"

#include "common/cpu.h"
#include "me/pixel/cost_core.h"
#include "me/pixel/pixel_core.h"

// Copies the reference samples of the window, size = 2R + 16 per row and column.
static void copy_window(const MotusMbJob *job, uint8_t *window, int size) {
    int x0 = job->x + job->centre.x / 4 - job->range, y0 = job->y + job->centre.y / 4 - job->range;
    for (int y = 0; y < size; y++, window += size) {
        const uint8_t *row = motus_ref_row(job->ref, y0 + y);
        for (int x = 0; x < size; x++) window[x] = row[motus_clip(0, job->ref->width - 1, x0 + x)];
    }
}

static void sums_at(const MotusMbJob *job, const uint8_t *ref, int stride,
                    uint32_t sum[MOTUS_BLOCKS]) {
    for (int i = 0; i < 16; i++) {
        int x = 4 * (i & 3), y = 4 * (i >> 2);
        sum[MOTUS_BLOCK_4x4 + i] = motus_sad4x4(job->cur + y * job->cur_stride + x, job->cur_stride,
                                                ref + y * stride + x, stride);
    }
    motus_merge_sums(sum);
}

static void search_c(const MotusMbJob *job, MotusMbMotion *out, uint8_t *scratch) {
    int points = 2 * job->range + 1, size = points + 15;
    copy_window(job, scratch, size);
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (job->modes >> motus_blocks[b].mode & 1) out->cost[b] = UINT32_MAX;
    for (int i = 0; i < points * points; i++) {
        int dx = i % points - job->range, dy = i / points - job->range;
        MotusMv mv = {(int16_t)(job->centre.x + 4 * dx), (int16_t)(job->centre.y + 4 * dy)};
        uint32_t mv_cost = motus_mv_cost(job->lambda_q8, mv, job->predictor), sum[MOTUS_BLOCKS];
        sums_at(job, scratch + (dy + job->range) * size + dx + job->range, size, sum);
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

const MotusSearchOps *motus_search_ops(unsigned cpu_flags) {
#if defined(__x86_64__)
    if (cpu_flags & MOTUS_CPU_AVX512) return &motus_search_ops_avx512;
    if (cpu_flags & MOTUS_CPU_AVX2) return &motus_search_ops_avx2;
#endif
    (void)cpu_flags;
    return &motus_search_ops_c;
}
