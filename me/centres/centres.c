// Search centres from the previous picture's MVs and from a coarse search in downscaled pictures.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/centres/centres.h"

#include <string.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "yuv/pad.h"

static int search_c(const uint8_t *cur, const uint8_t *ref, ptrdiff_t stride,
                    const MotusCoarseCosts cost, int points, int likely) {
    int best = 0, best_cost = 65535;
    (void)likely;
    for (int i = 0; i < points * points; i++) {
        int row = i / points, column = i % points, j = cost[row][column];
        for (int y = 0; y < MOTUS_COARSE_BLOCK; y++)
            for (int x = 0; x < MOTUS_COARSE_BLOCK; x++)
                j += motus_abs(cur[y * stride + x] - ref[(row + y) * stride + column + x]);
        if (j < best_cost) best_cost = j, best = row * MOTUS_COARSE_COLUMNS + column;
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

static uint32_t sad_c(const uint8_t cur[256], const uint8_t *ref, ptrdiff_t stride,
                      uint32_t limit) {
    uint32_t sad = 0;
    (void)limit;
    for (int y = 0; y < 16; y++)
        for (int x = 0; x < 16; x++)
            sad += (uint32_t)motus_abs(cur[16 * y + x] - ref[y * stride + x]);
    return sad;
}

static void sads_c(const uint8_t cur[256], const uint8_t *ref, ptrdiff_t stride,
                   uint32_t sad[MOTUS_FINE_POINTS]) {
    for (int i = 0; i < MOTUS_FINE_POINTS; i++)
        sad[i] = sad_c(cur, ref + i / 5 * stride + i % 5, stride, UINT32_MAX);
}

MotusStatus motus_coarse_alloc(MotusCoarse *coarse, int mb_width, int mb_height) {
    int width = 4 * mb_width, height = 4 * mb_height,
        stride = (width + 2 * MOTUS_COARSE_BORDER + 63) / 64 * 64;
    size_t plane_size = (size_t)stride * (size_t)(height + 2 * MOTUS_COARSE_BORDER),
           n_mb = (size_t)mb_width * (size_t)mb_height;
    coarse->memory = motus_alloc(2, plane_size);
    coarse->mv = motus_alloc(n_mb, sizeof *coarse->mv);
    coarse->search = search_c;
    coarse->scale = scale_c;
    coarse->sad = sad_c;
    coarse->sads = sads_c;
#if defined(__x86_64__)
    unsigned flags = motus_cpu_flags();
    if (flags & MOTUS_CPU_AVX2) {
        coarse->search = motus_coarse_search_avx2;
        coarse->scale = motus_coarse_scale_avx2;
        coarse->sad = motus_centre_sad_avx2;
        coarse->sads = motus_centre_sads_avx2;
    }
    if (flags & MOTUS_CPU_AVX512) coarse->search = motus_coarse_search_avx512;
#endif
    if (!coarse->memory || !coarse->mv) return MOTUS_ERR_MEMORY;
    uint8_t *origin = coarse->memory + MOTUS_COARSE_BORDER * stride + MOTUS_COARSE_BORDER;
    coarse->cur = (MotusPlane){origin, stride, width, height};
    coarse->ref = (MotusPlane){origin + plane_size, stride, width, height};
    return MOTUS_OK;
}

void motus_coarse_free(MotusCoarse *coarse) {
    motus_free(coarse->memory);
    motus_free(coarse->mv);
    memset(coarse, 0, sizeof *coarse);
}

// Writes row y of the downscaled picture with its border; the first and last row also outside.
static void scale_row(const MotusCoarse *coarse, const MotusPlane *dst, const MotusPlane *src,
                      int y) {
    size_t whole = (size_t)(dst->width + 2 * MOTUS_COARSE_BORDER);
    uint8_t *to = dst->data + y * dst->stride;
    coarse->scale(to, src->data + 4 * y * src->stride, src->stride, dst->width);
    motus_row_pad(to, dst->width, MOTUS_COARSE_BORDER, MOTUS_COARSE_BORDER);
    for (int i = 1; i <= MOTUS_COARSE_BORDER; i++) {
        if (y == 0)
            memcpy(to - MOTUS_COARSE_BORDER - i * dst->stride, to - MOTUS_COARSE_BORDER, whole);
        if (y == dst->height - 1)
            memcpy(to - MOTUS_COARSE_BORDER + i * dst->stride, to - MOTUS_COARSE_BORDER, whole);
    }
}

static MotusMv mv_of(int reach, int row, int column) {
    return (MotusMv){(int16_t)motus_coarse_component(reach, column),
                     (int16_t)motus_coarse_component(reach, row)};
}

static void fill_costs(MotusCoarseCosts cost, uint32_t lambda_q8, int reach) {
    memset(cost, 0xFF, sizeof(MotusCoarseCosts));
    for (int row = 0; row < motus_coarse_points(reach); row++)
        for (int column = 0; column < motus_coarse_points(reach); column++) {
            MotusMv mv = mv_of(reach, row, column);
            cost[row][column] =
                (uint16_t)motus_coarse_cost(lambda_q8, motus_se_bits(mv.x) + motus_se_bits(mv.y));
        }
}

void motus_coarse_run(MotusCoarse *coarse, const MotusPlane *cur, const MotusPlane *ref,
                      uint32_t lambda_q8, int reach, int threads) {
    MotusCoarseCosts cost;
    int mb_width = coarse->cur.width / 4, mb_height = coarse->cur.height / 4;
    ptrdiff_t stride = coarse->cur.stride;
    (void)threads;
    fill_costs(cost, lambda_q8, reach);
#pragma omp parallel num_threads(threads)
    {
        const int points = motus_coarse_points(reach);
        int best = points / 2 * (MOTUS_COARSE_COLUMNS + 1); // of this thread's last MB
#pragma omp for schedule(dynamic, 8)
        for (int y = 0; y < coarse->cur.height; y++) {
            scale_row(coarse, &coarse->cur, cur, y);
            scale_row(coarse, &coarse->ref, ref, y);
        }
#pragma omp for schedule(dynamic, 32)
        for (int mb = 0; mb < mb_width * mb_height; mb++) {
            ptrdiff_t at = (4 * (mb / mb_width) - MOTUS_COARSE_MARGIN) * stride +
                           4 * (mb % mb_width) - MOTUS_COARSE_MARGIN;
            const uint8_t *window = coarse->ref.data + at - reach / 4 * (stride + 1);
            best = coarse->search(coarse->cur.data + at, window, stride, cost, points, best);
            coarse->mv[mb] = mv_of(reach, best / MOTUS_COARSE_COLUMNS, best % MOTUS_COARSE_COLUMNS);
        }
    }
}

// Finds the bucket that contains the element of the given rank; returns its rank in the bucket.
static int find_bucket(const int count[256], int rank, int *bucket) {
    for (*bucket = 0; rank >= count[*bucket]; ++*bucket) rank -= count[*bucket];
    return rank;
}

static int16_t component(MotusMv mv, int vertical) { return vertical ? mv.y : mv.x; }

// Returns component number n / 2 in ascending order: counts high bytes, then low bytes of those in
// the middle bucket.
static int16_t median_of(const MotusMv *mv, int n, int vertical) {
    int high[256] = {0}, low[256] = {0}, top, bottom;
    for (int i = 0; i < n; i++) high[(component(mv[i], vertical) + 32768) >> 8]++;
    int rank = find_bucket(high, n / 2, &top);
    for (int i = 0; i < n; i++)
        low[component(mv[i], vertical) & 255] += (component(mv[i], vertical) + 32768) >> 8 == top;
    find_bucket(low, rank, &bottom);
    return (int16_t)(256 * top + bottom - 32768);
}

MotusMv motus_mv_median(const MotusMv *mv, int n) {
    if (!mv) return (MotusMv){0, 0};
    return (MotusMv){median_of(mv, n, 0), median_of(mv, n, 1)};
}

enum {
    TRIED = 32,  // places of a table of MVs
    LISTED = 20, // zero, the median, two times 3x3 MVs
};

// An MB, its candidates and the best one so far.
typedef struct CentreMb {
    _Alignas(32) uint8_t cur[256];
    int x, y; // of its first sample
    uint32_t least;
    MotusMv best;
    uint32_t tried[TRIED]; // most MVs that were listed, each at a place of its own
    MotusMv listed[LISTED + 1];
    int n;
} CentreMb;

// Returns the samples at an MV.
static const uint8_t *samples_at(const MotusCentres *c, const CentreMb *mb, MotusMv mv) {
    const MotusRefLuma *ref = c->picture.ref;
    const int x = motus_ref_luma_clip(ref->width, mb->x + mv.x / 4),
              y = motus_ref_luma_clip(ref->height, mb->y + mv.y / 4);
    return ref->plane[0] + y * ref->stride + x;
}

// Lists a candidate, unless it is known to be listed: it would cost the same. Without a branch,
// which would be mispredicted.
static void list(const MotusCentres *c, CentreMb *mb, MotusMv mv) {
    mv = motus_centre_rounded(&c->source, mv);
    const uint32_t word = motus_mv_word(mv);
    uint32_t *tried = &mb->tried[word * 0x9E3779B1u / (UINT32_MAX / TRIED + 1)];
    mb->listed[mb->n] = mv;
    mb->n += *tried != word;
    *tried = word;
}

// Lists the MVs of the 3x3 MBs around.
static void list_around(const MotusCentres *c, CentreMb *mb, const MotusMv *field) {
    const int width = c->source.mb_width, x = mb->x / 16, y = mb->y / 16,
              left = motus_max(0, x - 1), right = motus_min(x + 1, width - 1),
              bottom = motus_min(y + 1, c->source.mb_height - 1);
    for (int row = motus_max(0, y - 1); row <= bottom; row++)
        for (int i = left; i <= right; i++) list(c, mb, field[row * width + i]);
}

// Takes the best of the listed MVs.
static void try_listed(const MotusCentres *c, CentreMb *mb) {
    for (int i = 0; i < mb->n; i++) {
        const MotusMv mv = mb->listed[i];
        uint32_t cost = motus_mv_cost(c->picture.lambda_q8, mv, c->source.median);
        if (cost >= mb->least) continue;
        cost += c->sad(mb->cur, samples_at(c, mb, mv), c->picture.ref->stride, mb->least - cost);
        if (cost < mb->least) mb->least = cost, mb->best = mv;
    }
}

// Returns the i-th MV around the MB's own coarse one.
static MotusMv fine_mv(const MotusCentres *c, const CentreMb *mb, int i) {
    MotusMv mv;
    motus_centre_candidate(&c->source, mb->x / 16, mb->y / 16, MOTUS_CENTRE_FINE + i, &mv);
    return mv;
}

// Tries the MVs around the MB's own coarse one, all measured at once unless a limit moves some.
static void try_fine(const MotusCentres *c, CentreMb *mb) {
    const MotusMv median = c->source.median;
    const ptrdiff_t stride = c->picture.ref->stride;
    const MotusMv first = fine_mv(c, mb, 0), last = fine_mv(c, mb, MOTUS_FINE_POINTS - 1);
    const uint8_t *at = samples_at(c, mb, first);
    uint32_t sad[MOTUS_FINE_POINTS], least = UINT32_MAX; // cost << 5 | i: costs are below 2^18
    int bits_x[5], bits_y[5];
    for (int i = 0; i < 5; i++) {
        bits_x[i] = motus_se_bits(fine_mv(c, mb, i).x - median.x);
        bits_y[i] = motus_se_bits(fine_mv(c, mb, 5 * i).y - median.y);
    }
    if (last.x - first.x == 16 && last.y - first.y == 16 &&
        samples_at(c, mb, last) == at + 4 * stride + 4)
        c->sads(mb->cur, at, stride, sad);
    else
        for (int i = 0; i < MOTUS_FINE_POINTS; i++)
            sad[i] = c->sad(mb->cur, samples_at(c, mb, fine_mv(c, mb, i)), stride, UINT32_MAX);
    for (int i = 0; i < MOTUS_FINE_POINTS; i++) {
        const uint32_t cost =
            sad[i] + motus_bits_cost(c->picture.lambda_q8, bits_x[i % 5] + bits_y[i / 5]);
        const uint32_t key = cost << 5 | (uint32_t)i;
        least = key < least ? key : least;
    }
    if (least >> 5 < mb->least)
        mb->least = least >> 5, mb->best = fine_mv(c, mb, (int)(least & 31));
}

MotusMv motus_centre_of(const MotusCentres *c, int mb_number) {
    const MotusCentresPicture *p = &c->picture;
    const int mb_x = mb_number % c->source.mb_width, mb_y = mb_number / c->source.mb_width;
    const MotusMv zero = {0, 0};
    CentreMb mb;
    mb.x = 16 * mb_x, mb.y = 16 * mb_y;
    mb.least = UINT32_MAX;
    mb.n = 0;
    memset(mb.tried, 0xFF, sizeof mb.tried); // no MV's
    for (int y = 0; y < 16; y++)
        memcpy(mb.cur + 16 * y, p->cur + (mb.y + y) * p->cur_stride + mb.x, 16);
    list(c, &mb, zero);
    if (c->source.previous) list_around(c, &mb, c->source.previous);
    list(c, &mb, c->source.median);
    list_around(c, &mb, c->source.coarse);
    try_listed(c, &mb);
    try_fine(c, &mb);
    return mb.best;
}

void motus_centres_begin(MotusCentres *c, const MotusCentresPicture *p, MotusCoarse *coarse,
                         int threads) {
    const MotusRefLuma *ref = p->ref;
    const MotusPlane cur = {(uint8_t *)p->cur, p->cur_stride, ref->width, ref->height},
                     full = {ref->plane[0], ref->stride, ref->width, ref->height};
    const int mb_width = ref->width / 16, mb_height = ref->height / 16;
    *c = (MotusCentres){.picture = *p,
                        .sad = coarse->sad,
                        .sads = coarse->sads,
                        .source = {.previous = p->previous,
                                   .coarse = coarse->mv,
                                   .median = motus_mv_median(p->previous, mb_width * mb_height),
                                   .limit_x = motus_centre_limit(p->limit_x),
                                   .limit_y = motus_centre_limit(p->limit_y),
                                   .mb_width = mb_width,
                                   .mb_height = mb_height}};
    motus_coarse_run(coarse, &cur, &full, p->lambda_q8, p->reach, threads);
}

void motus_centres(const MotusCentresPicture *p, MotusCoarse *coarse, int threads) {
    MotusCentres c;
    motus_centres_begin(&c, p, coarse, threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
    for (int mb = 0; mb < c.source.mb_width * c.source.mb_height; mb++)
        p->centre[mb] = motus_centre_of(&c, mb);
}
