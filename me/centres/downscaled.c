// The downscaled search, in pictures downscaled 4:1, and the wide one, in those downscaled once
// more.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "me/centres/centres.h"
#include "yuv/pad.h"

static uint32_t sad_8x8(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride) {
    int sad = 0;
    for (int y = 0; y < MOTUS_DOWNSCALED_BLOCK; y++)
        for (int x = 0; x < MOTUS_DOWNSCALED_BLOCK; x++)
            sad += motus_abs(cur[y * stride + x] - ref[y * stride + x]);
    return (uint32_t)sad;
}

static int search_c(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride,
                    const MotusDownscaledCosts cost, int points, int likely) {
    int best = 0;
    uint32_t least = 65535;
    (void)likely;
    for (int i = 0; i < points * points; i++) {
        const int row = i / points, column = i % points;
        const uint32_t j = cost[row][column] + sad_8x8(cur, ref + row * stride + column, stride);
        if (j < least) least = j, best = row * MOTUS_DOWNSCALED_COLUMNS + column;
    }
    return best;
}

static void scale_c(uint8_t *to, const uint8_t *from, ptrdiff_t stride, int width) {
    for (int x = 0; x < width; x++, from += 4) {
        int sum = 8;
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 4; k++) sum += from[i * stride + k];
        to[x] = (uint8_t)(sum >> 4);
    }
}

// ---- Memory -------------------------------------------------------------------------------------

// width, height: of the downscaled pictures, multiples of 4.
static MotusStatus alloc_level(MotusScaleLevel *level, int width, int height) {
    const int stride = (width + 2 * MOTUS_DOWNSCALED_BORDER + 63) / 64 * 64;
    const size_t plane_size = (size_t)stride * (size_t)(height + 2 * MOTUS_DOWNSCALED_BORDER),
                 n_mv = (size_t)width * (size_t)height / 16;
    level->memory = motus_alloc(2, plane_size);
    level->mv = motus_alloc(n_mv, sizeof *level->mv);
    if (!level->memory || !level->mv) return MOTUS_ERR_MEMORY;
    uint8_t *origin = level->memory + MOTUS_DOWNSCALED_BORDER * stride + MOTUS_DOWNSCALED_BORDER;
    level->cur = (MotusPlane){origin, stride, width, height};
    level->ref = (MotusPlane){origin + plane_size, stride, width, height};
    return MOTUS_OK;
}

MotusStatus motus_downscaled_alloc(MotusDownscaled *downscaled, int mb_width, int mb_height) {
    *downscaled = (MotusDownscaled){.search = search_c,
                                    .scale = scale_c,
                                    .sad = motus_centre_sad_c,
                                    .sads = motus_centre_sads_c};
#if defined(__x86_64__)
    unsigned flags = motus_cpu_flags();
    if (flags & MOTUS_CPU_AVX2) {
        downscaled->search = motus_downscaled_search_avx2;
        downscaled->scale = motus_downscaled_scale_avx2;
        downscaled->sad = motus_centre_sad_avx2;
        downscaled->sads = motus_centre_sads_avx2;
    }
    if (flags & MOTUS_CPU_AVX512) downscaled->search = motus_downscaled_search_avx512;
#endif
    const MotusStatus status = alloc_level(&downscaled->mbs, 4 * mb_width, 4 * mb_height);
    return status ? status
                  : alloc_level(&downscaled->groups, 4 * motus_groups(mb_width),
                                4 * motus_groups(mb_height));
}

static void free_level(MotusScaleLevel *level) {
    motus_free(level->memory);
    motus_free(level->mv);
}

void motus_downscaled_free(MotusDownscaled *downscaled) {
    free_level(&downscaled->mbs);
    free_level(&downscaled->groups);
    memset(downscaled, 0, sizeof *downscaled);
}

// ---- Downscaling --------------------------------------------------------------------------------

// Writes row y of the downscaled picture with its border; the first and last row also outside.
static void scale_row(MotusDownscaledScale scale, const MotusPlane *dst, const MotusPlane *src,
                      int y) {
    size_t whole = (size_t)(dst->width + 2 * MOTUS_DOWNSCALED_BORDER);
    uint8_t *to = dst->data + y * dst->stride;
    scale(to, src->data + 4 * y * src->stride, src->stride, dst->width);
    motus_row_pad(to, dst->width, MOTUS_DOWNSCALED_BORDER, MOTUS_DOWNSCALED_BORDER);
    for (int i = 1; i <= MOTUS_DOWNSCALED_BORDER; i++) {
        if (y == 0)
            memcpy(to - MOTUS_DOWNSCALED_BORDER - i * dst->stride, to - MOTUS_DOWNSCALED_BORDER,
                   whole);
        if (y == dst->height - 1)
            memcpy(to - MOTUS_DOWNSCALED_BORDER + i * dst->stride, to - MOTUS_DOWNSCALED_BORDER,
                   whole);
    }
}

// Called by all threads of a team. Groups at the right and bottom edge reach into the border of
// `cur` and `ref`.
static void scale_level(MotusDownscaledScale scale, const MotusScaleLevel *level,
                        const MotusPlane *cur, const MotusPlane *ref) {
#pragma omp for schedule(dynamic, 8)
    for (int y = 0; y < level->cur.height; y++) {
        scale_row(scale, &level->cur, cur, y);
        scale_row(scale, &level->ref, ref, y);
    }
}

// ---- Search -------------------------------------------------------------------------------------

static MotusMv mv_of(int reach, int row, int column) {
    return (MotusMv){(int16_t)motus_downscaled_component(reach, column),
                     (int16_t)motus_downscaled_component(reach, row)};
}

static uint16_t cost_of(uint32_t lambda_q8, MotusMv mv) {
    return (uint16_t)motus_downscaled_cost(lambda_q8, motus_se_bits(mv.x) + motus_se_bits(mv.y));
}

static void fill_costs(MotusDownscaledCosts cost, uint32_t lambda_q8, int reach) {
    memset(cost, 0xFF, sizeof(MotusDownscaledCosts));
    for (int row = 0; row < motus_downscaled_points(reach); row++)
        for (int column = 0; column < motus_downscaled_points(reach); column++)
            cost[row][column] = cost_of(lambda_q8, mv_of(reach, row, column));
}

// Returns the offset of the 8x8 block around 4x4 samples.
static ptrdiff_t offset_of(const MotusScaleLevel *level, int i) {
    const int width = level->cur.width / 4;
    return (4 * (i / width) - MOTUS_DOWNSCALED_MARGIN) * level->cur.stride + 4 * (i % width) -
           MOTUS_DOWNSCALED_MARGIN;
}

// Searches around 4x4 samples; *best: what MotusDownscaledSearch returned last.
static void search(const MotusDownscaled *downscaled, const MotusScaleLevel *level, int i,
                   const MotusDownscaledCosts cost, int reach, int *best) {
    const ptrdiff_t stride = level->cur.stride, at = offset_of(level, i);
    const uint8_t *window = level->ref.data + at - reach / 4 * (stride + 1);
    *best = downscaled->search(level->cur.data + at, window, stride, cost,
                               motus_downscaled_points(reach), *best);
    level->mv[i] = mv_of(reach, *best / MOTUS_DOWNSCALED_COLUMNS, *best % MOTUS_DOWNSCALED_COLUMNS);
}

// Finds the first best of the 5x5 MVs around a group's. Returns its J. cost: 65,535 but for these.
static uint32_t search_around(const MotusDownscaled *downscaled, int mb_x, int mb_y, MotusMv group,
                              uint32_t lambda_q8, MotusDownscaledCosts cost, MotusMv *mv) {
    enum { POINTS = MOTUS_WIDE_POINTS, MIDDLE = POINTS / 2 };
    const MotusPlane *ref = &downscaled->mbs.ref;
    const int x = motus_downscaled_place(
                  ref->width, 4 * mb_x - MOTUS_DOWNSCALED_MARGIN + group.x / 4 - MIDDLE, POINTS),
              y = motus_downscaled_place(
                  ref->height, 4 * mb_y - MOTUS_DOWNSCALED_MARGIN + group.y / 4 - MIDDLE, POINTS);
    const uint8_t *cur = downscaled->mbs.cur.data +
                         offset_of(&downscaled->mbs, mb_y * (ref->width / 4) + mb_x),
                  *window = ref->data + y * ref->stride + x;
    for (int i = 0; i < MOTUS_WIDE_SQUARE; i++)
        cost[i / POINTS][i % POINTS] = cost_of(lambda_q8, motus_wide_mv(group, i));
    const int best = downscaled->search(cur, window, ref->stride, cost, POINTS,
                                        MIDDLE * (MOTUS_DOWNSCALED_COLUMNS + 1)),
              row = best / MOTUS_DOWNSCALED_COLUMNS, column = best % MOTUS_DOWNSCALED_COLUMNS;
    *mv = motus_wide_mv(group, row * POINTS + column);
    return cost[row][column] + sad_8x8(cur, window + row * ref->stride + column, ref->stride);
}

// Replaces an MB's MV by one near those of groups if that costs less.
static void try_wide(const MotusDownscaled *downscaled, int mb, const MotusCentresPicture *p,
                     MotusDownscaledCosts cost) {
    const MotusScaleLevel *mbs = &downscaled->mbs;
    const int mb_width = mbs->cur.width / 4, mb_height = mbs->cur.height / 4, x = mb % mb_width,
              y = mb / mb_width;
    uint32_t least = UINT32_MAX;
    for (int k = 0; k < MOTUS_WIDE_GROUPS; k++) {
        const int group = motus_group_of(mb_width, mb_height, x, y, k);
        if (group < 0 || !motus_wide_is_outside(downscaled->groups.mv[group], p->reach)) continue;
        if (least == UINT32_MAX) {
            const MotusMv own = mbs->mv[mb];
            const ptrdiff_t at = offset_of(mbs, mb);
            least = cost_of(p->lambda_q8, own) +
                    sad_8x8(mbs->cur.data + at,
                            mbs->ref.data + at + own.y / 16 * mbs->ref.stride + own.x / 16,
                            mbs->cur.stride);
        }
        MotusMv mv;
        const uint32_t j =
            search_around(downscaled, x, y, downscaled->groups.mv[group], p->lambda_q8, cost, &mv);
        if (j < least) least = j, mbs->mv[mb] = mv;
    }
}

void motus_downscaled_run(MotusDownscaled *downscaled, const MotusPlane *cur, const MotusPlane *ref,
                          const MotusCentresPicture *p, int threads) {
    const MotusScaleLevel *mbs = &downscaled->mbs, *groups = &downscaled->groups;
    const int n_mb = mbs->cur.width * mbs->cur.height / 16,
              n_group = p->wide ? groups->cur.width * groups->cur.height / 16 : 0;
    MotusDownscaledCosts cost;
    (void)threads;
    fill_costs(cost, p->lambda_q8, p->reach);
#pragma omp parallel num_threads(threads)
    {
        MotusDownscaledCosts around;
        int best = motus_downscaled_points(p->reach) / 2 * (MOTUS_DOWNSCALED_COLUMNS + 1);
        memset(around, 0xFF, sizeof around);
        scale_level(downscaled->scale, mbs, cur, ref);
        if (p->wide) scale_level(downscaled->scale, groups, &mbs->cur, &mbs->ref);
#pragma omp for schedule(dynamic, 8)
        for (int i = 0; i < n_group; i++) search(downscaled, groups, i, cost, p->reach, &best);
#pragma omp for schedule(dynamic, 32)
        for (int mb = 0; mb < n_mb; mb++) {
            search(downscaled, mbs, mb, cost, p->reach, &best);
            if (p->wide) try_wide(downscaled, mb, p, around);
        }
    }
}
