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

static uint32_t centre_sad_c(const uint8_t cur[256], const uint8_t *ref, ptrdiff_t stride,
                             uint32_t limit) {
    uint32_t sad = 0;
    (void)limit;
    for (int y = 0; y < 16; y++)
        for (int x = 0; x < 16; x++)
            sad += (uint32_t)motus_abs(cur[16 * y + x] - ref[y * stride + x]);
    return sad;
}

static void centre_sads_c(const uint8_t cur[256], const uint8_t *ref, ptrdiff_t stride,
                          uint32_t sad[MOTUS_FINE_POINTS]) {
    for (int i = 0; i < MOTUS_FINE_POINTS; i++)
        sad[i] = centre_sad_c(cur, ref + i / 5 * stride + i % 5, stride, UINT32_MAX);
}

static const MotusCentreOps centre_ops_c = {search_c, scale_c, centre_sad_c, centre_sads_c};

const MotusCentreOps *motus_centre_ops(void) {
#if defined(__x86_64__)
    const unsigned flags = motus_cpu_flags();
    if (flags & MOTUS_CPU_AVX512) return &motus_centre_ops_avx512;
    if (flags & MOTUS_CPU_AVX2) return &motus_centre_ops_avx2;
#endif
    return &centre_ops_c;
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
    *downscaled = (MotusDownscaled){.ops = motus_centre_ops()};
    const MotusStatus status = alloc_level(&downscaled->mbs, 4 * mb_width, 4 * mb_height);
    return status ? status
                  : alloc_level(&downscaled->groups, 4 * motus_groups(mb_width),
                                4 * motus_groups(mb_height));
}

void motus_downscaled_free(MotusDownscaled *downscaled) {
    MotusScaleLevel *const levels[2] = {&downscaled->mbs, &downscaled->groups};
    for (int i = 0; i < 2; i++) {
        motus_free(levels[i]->memory);
        motus_free(levels[i]->mv);
    }
    memset(downscaled, 0, sizeof *downscaled);
}

// ---- Downscaling --------------------------------------------------------------------------------

// Writes row y of a downscaled picture with its border; the first and last row also outside.
static void scale_row(const MotusCentreOps *ops, const MotusPlane *dst, const MotusPlane *src,
                      int y) {
    enum { BORDER = MOTUS_DOWNSCALED_BORDER };
    size_t whole = (size_t)(dst->width + 2 * BORDER);
    uint8_t *to = dst->data + y * dst->stride;
    ops->scale(to, src->data + 4 * y * src->stride, src->stride, dst->width);
    motus_row_pad(to, dst->width, BORDER, BORDER);
    for (int i = 1; i <= BORDER; i++) {
        if (y == 0) memcpy(to - BORDER - i * dst->stride, to - BORDER, whole);
        if (y == dst->height - 1) memcpy(to - BORDER + i * dst->stride, to - BORDER, whole);
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
    *best = downscaled->ops->search(level->cur.data + at, window, stride, cost,
                                    motus_downscaled_points(reach), *best);
    level->mv[i] = mv_of(reach, *best / MOTUS_DOWNSCALED_COLUMNS, *best % MOTUS_DOWNSCALED_COLUMNS);
}

// Replaces an MB's MV by the first best of the 5x5 ones around those of groups if that costs less.
// cost: 65,535 but for these.
static void try_wide(const MotusDownscaled *downscaled, int mb, const MotusCentresPicture *p,
                     MotusDownscaledCosts cost) {
    enum { POINTS = MOTUS_WIDE_POINTS, MIDDLE = POINTS / 2 };
    const MotusScaleLevel *mbs = &downscaled->mbs;
    const MotusPlane *ref = &mbs->ref;
    const int mb_width = ref->width / 4, mb_height = ref->height / 4, mb_x = mb % mb_width,
              mb_y = mb / mb_width;
    const ptrdiff_t at = offset_of(mbs, mb);
    const uint8_t *cur = mbs->cur.data + at;
    uint32_t least = UINT32_MAX; // of the MB's own MV, measured if a group's is tried
    for (int k = 0; k < MOTUS_WIDE_GROUPS; k++) {
        const int number = motus_group_of(mb_width, mb_height, mb_x, mb_y, k);
        if (number < 0 || !motus_wide_is_outside(downscaled->groups.mv[number], p->reach)) continue;
        const MotusMv group = downscaled->groups.mv[number], own = mbs->mv[mb];
        if (least == UINT32_MAX)
            least =
                cost_of(p->lambda_q8, own) +
                sad_8x8(cur, ref->data + at + own.y / 16 * ref->stride + own.x / 16, ref->stride);
        const int left = 4 * mb_x - MOTUS_DOWNSCALED_MARGIN + group.x / 4 - MIDDLE,
                  top = 4 * mb_y - MOTUS_DOWNSCALED_MARGIN + group.y / 4 - MIDDLE;
        const uint8_t *window = ref->data +
                                motus_downscaled_place(ref->height, top, POINTS) * ref->stride +
                                motus_downscaled_place(ref->width, left, POINTS);
        for (int i = 0; i < MOTUS_WIDE_SQUARE; i++)
            cost[i / POINTS][i % POINTS] = cost_of(p->lambda_q8, motus_wide_mv(group, i));
        const int best = downscaled->ops->search(cur, window, ref->stride, cost, POINTS,
                                                 MIDDLE * (MOTUS_DOWNSCALED_COLUMNS + 1)),
                  row = best / MOTUS_DOWNSCALED_COLUMNS, column = best % MOTUS_DOWNSCALED_COLUMNS;
        const uint32_t j =
            cost[row][column] + sad_8x8(cur, window + row * ref->stride + column, ref->stride);
        if (j < least) least = j, mbs->mv[mb] = motus_wide_mv(group, row * POINTS + column);
    }
}

void motus_downscaled_run(MotusDownscaled *downscaled, const MotusPlane *cur, const MotusPlane *ref,
                          const MotusCentresPicture *p, int threads) {
    const MotusScaleLevel *mbs = &downscaled->mbs, *groups = &downscaled->groups;
    const int n_mb = mbs->cur.width * mbs->cur.height / 16,
              points = motus_downscaled_points(p->reach),
              n_group = p->wide ? groups->cur.width * groups->cur.height / 16 : 0;
    MotusDownscaledCosts cost;
    (void)threads;
    memset(cost, 0xFF, sizeof cost);
    for (int row = 0; row < points; row++)
        for (int column = 0; column < points; column++)
            cost[row][column] = cost_of(p->lambda_q8, mv_of(p->reach, row, column));
#pragma omp parallel num_threads(threads)
    {
        MotusDownscaledCosts around;
        int best = points / 2 * (MOTUS_DOWNSCALED_COLUMNS + 1);
        memset(around, 0xFF, sizeof around);
#pragma omp for schedule(dynamic, 8)
        for (int y = 0; y < mbs->cur.height; y++) {
            scale_row(downscaled->ops, &mbs->cur, cur, y);
            scale_row(downscaled->ops, &mbs->ref, ref, y);
        }
        // Groups at the right and bottom edge reach into the border of mbs->cur and ref.
#pragma omp for schedule(dynamic, 8)
        for (int y = 0; y < (p->wide ? groups->cur.height : 0); y++) {
            scale_row(downscaled->ops, &groups->cur, &mbs->cur, y);
            scale_row(downscaled->ops, &groups->ref, &mbs->ref, y);
        }
#pragma omp for schedule(dynamic, 8)
        for (int i = 0; i < n_group; i++) search(downscaled, groups, i, cost, p->reach, &best);
#pragma omp for schedule(dynamic, 32)
        for (int mb = 0; mb < n_mb; mb++) {
            search(downscaled, mbs, mb, cost, p->reach, &best);
            if (p->wide) try_wide(downscaled, mb, p, around);
        }
    }
}
