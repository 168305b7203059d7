// SPDX-License-Identifier: BSD-2-Clause
#include "tests/me/me_oracle.h"

#include <stdlib.h>

void oracle_block(int b, int *x, int *y, int *w, int *h) {
    static const int sizes[7][2] = {{16, 16}, {16, 8}, {8, 16}, {8, 8}, {8, 4}, {4, 8}, {4, 4}};
    for (int m = 0; m < 7; m++) {
        int columns = 16 / sizes[m][0], n = columns * (16 / sizes[m][1]);
        if (b < n) {
            *w = sizes[m][0], *h = sizes[m][1];
            *x = b % columns * *w, *y = b / columns * *h;
            return;
        }
        b -= n;
    }
}

// Returns the SAD of a block at a whole-sample MV, which are most of the work.
static uint32_t whole_sad(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int w, int h,
                          int dx, int dy) {
    uint32_t sum = 0;
    for (int i = y; i < y + h; i++) {
        const uint8_t *c = cur->data + plain_within(i, cur->height) * cur->stride;
        const uint8_t *r = ref->data + plain_within(i + dy, ref->height) * ref->stride;
        for (int k = x; k < x + w; k++)
            sum +=
                (uint32_t)abs(c[plain_within(k, cur->width)] - r[plain_within(k + dx, ref->width)]);
    }
    return sum;
}

uint32_t oracle_sad(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int w, int h,
                    MotusMv mv) {
    uint32_t sum = 0;
    if (mv.x % 4 == 0 && mv.y % 4 == 0) return whole_sad(cur, ref, x, y, w, h, mv.x / 4, mv.y / 4);
    for (int i = y; i < y + h; i++)
        for (int k = x; k < x + w; k++)
            sum += (uint32_t)abs(plain_sample(cur, k, i) -
                                 plain_luma(ref, 4 * k + mv.x, 4 * i + mv.y));
    return sum;
}

// |H D H| / 2 of a 4x4 difference, H written out.
static uint32_t hadamard(int d[4][4]) {
    static const int H[4][4] = {{1, 1, 1, 1}, {1, -1, 1, -1}, {1, 1, -1, -1}, {1, -1, -1, 1}};
    int sum = 0;
    for (int u = 0; u < 4; u++)
        for (int v = 0; v < 4; v++) {
            int c = 0;
            for (int i = 0; i < 4; i++)
                for (int k = 0; k < 4; k++) c += H[u][i] * H[v][k] * d[i][k];
            sum += abs(c);
        }
    return (uint32_t)(sum / 2);
}

uint32_t oracle_satd(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int w, int h,
                     MotusMv mv) {
    uint32_t total = 0;
    for (int by = y; by < y + h; by += 4)
        for (int bx = x; bx < x + w; bx += 4) {
            int d[4][4];
            for (int i = 0; i < 4; i++)
                for (int k = 0; k < 4; k++)
                    d[i][k] = plain_sample(cur, bx + k, by + i) -
                              plain_luma(ref, 4 * (bx + k) + mv.x, 4 * (by + i) + mv.y);
            total += hadamard(d);
        }
    return total;
}

// Length of the se(v) code, from the definition in 9.1 and 9.1.1.
static uint32_t se_length(int v) {
    uint32_t code = v > 0 ? 2u * (uint32_t)v - 1 : 2u * (uint32_t)-v, zeros = 0;
    while (code + 1 >= 2u << zeros) zeros++;
    return 2 * zeros + 1;
}

uint32_t oracle_vector_cost(uint32_t lambda_q8, MotusMv mv, MotusMv predictor) {
    return lambda_q8 * (se_length(mv.x - predictor.x) + se_length(mv.y - predictor.y)) >> 8;
}

static MotusMv moved(MotusMv mv, int dx, int dy) {
    return (MotusMv){(int16_t)(mv.x + dx), (int16_t)(mv.y + dy)};
}

OracleResult oracle_search(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int w, int h,
                           int range, MotusSubpel subpel, MotusMv centre, MotusMv predictor,
                           uint32_t lambda_q8) {
    OracleResult best = {{0, 0}, 0, UINT32_MAX};
    for (int dy = -range; dy <= range; dy++)
        for (int dx = -range; dx <= range; dx++) {
            MotusMv mv = moved(centre, 4 * dx, 4 * dy);
            uint32_t sad = oracle_sad(cur, ref, x, y, w, h, mv),
                     cost = sad + oracle_vector_cost(lambda_q8, mv, predictor);
            if (cost < best.cost) best = (OracleResult){mv, sad, cost};
        }
    if (subpel == MOTUS_SUBPEL_FULL) return best;
    for (int step = 2; step >= (subpel == MOTUS_SUBPEL_HALF ? 2 : 1); step--) {
        MotusMv middle = best.mv;
        best.cost = oracle_satd(cur, ref, x, y, w, h, middle) +
                    oracle_vector_cost(lambda_q8, middle, predictor);
        for (int dy = -step; dy <= step; dy += step)
            for (int dx = -step; dx <= step; dx += step) {
                MotusMv mv = moved(middle, dx, dy);
                uint32_t cost = oracle_satd(cur, ref, x, y, w, h, mv) +
                                oracle_vector_cost(lambda_q8, mv, predictor);
                if (cost < best.cost) best.mv = mv, best.cost = cost;
            }
    }
    best.sad = oracle_sad(cur, ref, x, y, w, h, best.mv);
    return best;
}

// ---- MOTUS_SUBPEL_BEST --------------------------------------------------------------------------

// An MB and the first least cost of each of its blocks.
typedef struct BestSearch {
    const MotusPlane *cur, *ref;
    int x, y, reach;
    MotusMv centre, predictor;
    uint32_t lambda_q8;
    struct {
        uint32_t cost;
        MotusMv mv;
    } best[MOTUS_BLOCKS];
} BestSearch;

// Offers a position to all blocks. Sums the SATDs of the 4x4 blocks inside each.
static void offer(BestSearch *s, MotusMv mv) {
    uint32_t cell[4][4];
    const uint32_t mv_cost = oracle_vector_cost(s->lambda_q8, mv, s->predictor);
    if (abs(mv.x - s->centre.x) > s->reach || abs(mv.y - s->centre.y) > s->reach) return;
    for (int i = 0; i < 16; i++)
        cell[i / 4][i % 4] =
            oracle_satd(s->cur, s->ref, s->x + i % 4 * 4, s->y + i / 4 * 4, 4, 4, mv);
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        uint32_t cost = mv_cost;
        int x, y, w, h;
        oracle_block(b, &x, &y, &w, &h);
        for (int i = y / 4; i < (y + h) / 4; i++)
            for (int k = x / 4; k < (x + w) / 4; k++) cost += cell[i][k];
        if (cost < s->best[b].cost) s->best[b].cost = cost, s->best[b].mv = mv;
    }
}

// Offers the eight positions around each of the first `most` different MVs of a list. Returns the
// number of rings.
static int offer_rings(BestSearch *s, const MotusMv *list, int n, int step, int most) {
    int rings = 0;
    for (int i = 0; i < n && rings < most; i++) {
        int earlier = 0;
        for (int k = 0; k < i; k++) earlier |= list[k].x == list[i].x && list[k].y == list[i].y;
        if (earlier) continue;
        rings++;
        for (int dy = -step; dy <= step; dy += step)
            for (int dx = -step; dx <= step; dx += step)
                if (dx || dy) offer(s, moved(list[i], dx, dy));
    }
    return rings;
}

// True if a block of this size has rings of its own: 4x4 blocks have none beside 8x4 or 4x8 ones.
static int has_rings(int mode, uint32_t modes) {
    const uint32_t halves = 1u << MOTUS_MODE_8x4 | 1u << MOTUS_MODE_4x8;
    return (modes >> mode & 1) && (mode != MOTUS_MODE_4x4 || !(modes & halves));
}

static void offer_rounds(BestSearch *s, uint32_t modes) {
    MotusMv before[MOTUS_BLOCKS] = {{0, 0}};
    int rings = 0;
    for (int round = 0; round < 3; round++) {
        MotusMv list[MOTUS_BLOCKS];
        int n = 0;
        for (int b = 0; b < MOTUS_BLOCKS; b++) {
            const int mode = motus_blocks[b].mode;
            const MotusMv mv = s->best[b].mv;
            const int still = mv.x == before[b].x && mv.y == before[b].y;
            before[b] = mv;
            if (!has_rings(mode, modes)) continue;
            if (round == 1 && (mode > MOTUS_MODE_8x8 || still)) continue;
            list[n++] = mv;
        }
        rings += offer_rings(s, list, n, round == 2 ? 1 : 2, round == 1 ? 8 - rings : 16);
    }
}

static void search_best(BestSearch *s, uint32_t modes, int range, OracleResult *result) {
    s->reach = 4 * range + 3;
    for (int b = 0; b < MOTUS_BLOCKS; b++) s->best[b].cost = UINT32_MAX;
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (modes >> motus_blocks[b].mode & 1) offer(s, result[b].mv);
    offer(s, (MotusMv){(int16_t)((s->predictor.x + 2) & ~3), (int16_t)((s->predictor.y + 2) & ~3)});
    offer_rounds(s, modes);
    offer(s, s->predictor);
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        int x, y, w, h;
        if (!(modes >> motus_blocks[b].mode & 1)) continue;
        oracle_block(b, &x, &y, &w, &h);
        result[b].mv = s->best[b].mv, result[b].cost = s->best[b].cost;
        result[b].sad = oracle_sad(s->cur, s->ref, s->x + x, s->y + y, w, h, result[b].mv);
    }
}

void oracle_search_mb(const MotusPlane *cur, const MotusPlane *ref, int x, int y, int range,
                      MotusSubpel subpel, uint32_t modes, MotusMv centre, MotusMv predictor,
                      uint32_t lambda_q8, OracleResult result[MOTUS_BLOCKS]) {
    const int best = subpel == MOTUS_SUBPEL_BEST;
    BestSearch s = {.cur = cur,
                    .ref = ref,
                    .x = x,
                    .y = y,
                    .centre = centre,
                    .predictor = predictor,
                    .lambda_q8 = lambda_q8};
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        int bx, by, w, h;
        if (!(modes >> motus_blocks[b].mode & 1)) continue;
        oracle_block(b, &bx, &by, &w, &h);
        result[b] = oracle_search(cur, ref, x + bx, y + by, w, h, range,
                                  best ? MOTUS_SUBPEL_FULL : subpel, centre, predictor, lambda_q8);
    }
    if (best) search_best(&s, modes, range, result);
}

// ---- Statistics ---------------------------------------------------------------------------------

// Sum of (sample - mean)^2 in exact fractions, rounded up; and the mean.
static uint32_t spread(const MotusPlane *cur, int x, int y, int size, uint8_t *mean) {
    int64_t sum = 0, n = (int64_t)size * size, deviations = 0;
    for (int i = 0; i < n; i++) sum += plain_sample(cur, x + i % size, y + i / size);
    for (int i = 0; i < n; i++) {
        int64_t d =
            n * plain_sample(cur, x + i % size, y + i / size) - sum; // n times the deviation
        deviations += d * d;
    }
    *mean = (uint8_t)((2 * sum + n) / (2 * n));
    return (uint32_t)((deviations + n * n - 1) / (n * n));
}

// Sample (u, v) of the prediction of the MB at (x, y) by a mode of 8.3.3.1 to 8.3.3.4.
static int intra_sample(const MotusPlane *p, int x, int y, int mode, int u, int v) {
    int sum = 0, H = 0, V = 0;
    if (mode == 0) return plain_sample(p, x + u, y - 1);
    if (mode == 1) return plain_sample(p, x - 1, y + v);
    if (mode == 2) {
        for (int i = 0; i < 16; i++)
            sum +=
                (y ? plain_sample(p, x + i, y - 1) : 0) + (x ? plain_sample(p, x - 1, y + i) : 0);
        return x && y ? (sum + 16) >> 5 : x || y ? (sum + 8) >> 4 : 128;
    }
    for (int i = 0; i < 8; i++) {
        H += (i + 1) * (plain_sample(p, x + 8 + i, y - 1) - plain_sample(p, x + 6 - i, y - 1));
        V += (i + 1) * (plain_sample(p, x - 1, y + 8 + i) - plain_sample(p, x - 1, y + 6 - i));
    }
    int a = 16 * (plain_sample(p, x - 1, y + 15) + plain_sample(p, x + 15, y - 1)),
        b = (5 * H + 32) >> 6, c = (5 * V + 32) >> 6;
    return plain_clip((a + b * (u - 7) + c * (v - 7) + 16) >> 5);
}

MotusMbStats oracle_stats(const MotusPlane *cur, int x, int y) {
    MotusMbStats s = {.intra_satd = UINT32_MAX};
    s.energy[0] = spread(cur, x, y, 16, &s.mean[0]);
    for (int q = 0; q < 4; q++)
        s.energy[1 + q] = spread(cur, x + q % 2 * 8, y + q / 2 * 8, 8, &s.mean[1 + q]);
    for (int mode = 0; mode < 4; mode++) {
        uint32_t sad = 0, satd = 0;
        if ((mode == 0 && !y) || (mode == 1 && !x) || (mode == 3 && !(x && y))) continue;
        for (int block = 0; block < 16; block++) {
            int d[4][4];
            for (int i = 0; i < 16; i++) {
                int u = block % 4 * 4 + i % 4, v = block / 4 * 4 + i / 4;
                d[i / 4][i % 4] =
                    plain_sample(cur, x + u, y + v) - intra_sample(cur, x, y, mode, u, v);
                sad += (uint32_t)abs(d[i / 4][i % 4]);
            }
            satd += hadamard(d);
        }
        if (satd < s.intra_satd)
            s.intra_mode = (uint8_t)mode, s.intra_sad = (uint16_t)sad, s.intra_satd = satd;
    }
    return s;
}
