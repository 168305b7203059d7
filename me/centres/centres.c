// Search centres from the previous picture's MVs and from the downscaled search (downscaled.c).
// SPDX-License-Identifier: BSD-2-Clause
#include "me/centres/centres.h"

#include <string.h>

MotusMv motus_mv_median(const MotusMv *mv, int n) {
    int16_t median[2] = {0, 0};
    for (int d = 0; mv && d < 2; d++) {
        // Counts high bytes, then low bytes of those in the middle bucket.
        int top = -1, rank = n / 2;
        for (int low = 0; low < 2; low++) {
            int count[256] = {0}, bucket = 0;
            for (int i = 0; i < n; i++) {
                const int v = (d ? mv[i].y : mv[i].x) + 32768;
                if (!low) count[v >> 8]++;
                if (low) count[v & 255] += v >> 8 == top;
            }
            while (rank >= count[bucket]) rank -= count[bucket++];
            if (low) median[d] = (int16_t)(256 * top + bucket - 32768);
            top = bucket;
        }
    }
    return (MotusMv){median[0], median[1]};
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

// Returns the i-th MV around the MB's own one (downscaled search).
static MotusMv fine_mv(const MotusCentres *c, const CentreMb *mb, int i) {
    MotusMv mv;
    motus_centre_candidate(&c->source, mb->x / 16, mb->y / 16, MOTUS_CENTRE_FINE + i, &mv);
    return mv;
}

// Tries the MVs around the MB's own one (downscaled search), all measured at once unless a limit
// moves some.
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
        c->ops->sads(mb->cur, at, stride, sad);
    else
        for (int i = 0; i < MOTUS_FINE_POINTS; i++)
            sad[i] = c->ops->sad(mb->cur, samples_at(c, mb, fine_mv(c, mb, i)), stride, UINT32_MAX);
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
    list_around(c, &mb, c->source.downscaled);
    for (int i = 0; i < mb.n; i++) {
        const MotusMv mv = mb.listed[i];
        uint32_t cost = motus_mv_cost(p->lambda_q8, mv, c->source.median);
        if (cost >= mb.least) continue;
        cost += c->ops->sad(mb.cur, samples_at(c, &mb, mv), p->ref->stride, mb.least - cost);
        if (cost < mb.least) mb.least = cost, mb.best = mv;
    }
    try_fine(c, &mb);
    return mb.best;
}

void motus_centres_begin(MotusCentres *c, const MotusCentresPicture *p, MotusDownscaled *downscaled,
                         int threads) {
    const MotusRefLuma *ref = p->ref;
    const MotusPlane cur = {(uint8_t *)p->cur, p->cur_stride, ref->width, ref->height},
                     full = {ref->plane[0], ref->stride, ref->width, ref->height};
    const int mb_width = ref->width / 16, mb_height = ref->height / 16;
    *c = (MotusCentres){.picture = *p,
                        .ops = downscaled->ops,
                        .source = {.previous = p->previous,
                                   .downscaled = downscaled->mbs.mv,
                                   .median = motus_mv_median(p->previous, mb_width * mb_height),
                                   .limit_x = motus_centre_limit(p->limit_x),
                                   .limit_y = motus_centre_limit(p->limit_y),
                                   .mb_width = mb_width,
                                   .mb_height = mb_height}};
    motus_downscaled_run(downscaled, &cur, &full, p, threads);
}

void motus_centres(const MotusCentresPicture *p, MotusDownscaled *downscaled, int threads) {
    MotusCentres c;
    motus_centres_begin(&c, p, downscaled, threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
    for (int mb = 0; mb < c.source.mb_width * c.source.mb_height; mb++)
        p->centre[mb] = motus_centre_of(&c, mb);
}
