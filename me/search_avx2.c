// Exhaustive search, 16 points at a time: the low 128-bit half of a vector is eight neighbouring dx of an even row of the window, the high half
// the same dx of the row below. A window is kept as strips, 16 bytes wide and 8 apart, so that one load is two rows of a strip, and mpsadbw
// gives the eight 4x1 SADs of each. Only whether some J is below its block's bound is asked at every point; the few that are go through
// `improve`, which keeps the exact order.
// SPDX-License-Identifier: BSD-2-Clause
#include <immintrin.h>
#include <string.h>

#include "me/cost_core.h"
#include "me/search.h"

#define MAX_CHUNKS ((2 * MOTUS_MAX_RANGE + 1 + 7) / 8) // of eight dx
#define INLINE static inline __attribute__((always_inline))

// Even and odd rows are two searches, each in raster order; the two results are merged at the end.
typedef struct Parity {
    uint16_t limit; // only J below it is of interest; 0 for blocks not asked for
    uint16_t cost;  // best J found, valid with place >= 0
    int32_t place;  // row * 512 + column of the window, -1 = nothing found
} Parity;

typedef struct Scan {
    __m256i cur[16];           // rows of the MB, in both halves
    __m256i bound[41];         // limit - 1 (0 if the limit is 0) of the two parities, minus 32768 for signed comparison
    __m256i codes[MAX_CHUNKS]; // per dx, in the low bytes: (bits of the horizontal code - 1) / 2, 0..15; high bytes 0x80
    __m256i tail[2];           // [1]: all ones where dx > R in the last chunk; [0]: zero
    Parity best[41][2];
    uint8_t cost_low[32], cost_high[32]; // bytes of the cost of a vector of 2k + 2 bits; at most 15,871
    uint8_t row_code[2 * MOTUS_MAX_RANGE + 2];
    const uint8_t *strips;
    int chunks, rows; // 2R + 1 rows and columns in `chunks` times eight columns
    ptrdiff_t strip_size;
} Scan;

// Blocks whose sums a quadrant of the MB gives: four 4x4, two 8x4, two 4x8, 8x8. The last row: what is made of the four 8x8.
static const uint8_t blocks_of[5][9] = {{25, 26, 29, 30, 9, 11, 17, 18, 5},
                                        {27, 28, 31, 32, 10, 12, 19, 20, 6},
                                        {33, 34, 37, 38, 13, 15, 21, 22, 7},
                                        {35, 36, 39, 40, 14, 16, 23, 24, 8},
                                        {1, 2, 3, 4, 0}};

static short signed_bound(uint16_t limit) { return (short)((limit ? limit - 1 : 0) ^ 0x8000); }

static __m256i bounds(const Parity best[2]) {
    return _mm256_set_m128i(_mm_set1_epi16(signed_bound(best[1].limit)), _mm_set1_epi16(signed_bound(best[0].limit)));
}

INLINE int all(__m256i v) { return _mm256_testc_si256(v, _mm256_set1_epi16(-1)); }

// Notes what the points of one vector improve. sum + cost saturates at 65,535, which no limit exceeds.
static __attribute__((noinline)) void improve(Scan *s, const uint8_t *blocks, int n, const __m256i *sum, const __m256i *cost,
                                              int row, int chunk) {
    for (int i = 0; i < n; i++) {
        Parity *best = s->best[blocks[i]];
        __m256i j = _mm256_adds_epu16(sum[i], *cost);
        if (all(_mm256_cmpgt_epi16(_mm256_xor_si256(j, _mm256_set1_epi16(-32768)), s->bound[blocks[i]]))) continue;
        __m128i half[2] = {_mm256_castsi256_si128(j), _mm256_extracti128_si256(j, 1)};
        for (int odd = 0; odd < 2; odd++) {
            __m128i least = _mm_minpos_epu16(half[odd]); // value and first place
            uint16_t value = (uint16_t)_mm_extract_epi16(least, 0);
            if (value >= best[odd].limit) continue;
            best[odd] = (Parity){value, value, (row + odd) * 512 + chunk * 8 + _mm_extract_epi16(least, 1)};
            if (best[!odd].limit > value + 1) best[!odd].limit = (uint16_t)(value + 1); // a tie may come first in raster order
            s->bound[blocks[i]] = bounds(best);
        }
    }
}

// Adds the SADs of four rows of two neighbouring 4x4 blocks, left or right half of the MB: at most 4 * 1020 = 4080 each.
INLINE void two_4x4(const uint8_t *strip, const __m256i *cur, int right, __m256i sad[2]) {
    sad[0] = sad[1] = _mm256_setzero_si256();
    for (int y = 0; y < 4; y++) {
        __m256i ref = _mm256_loadu_si256((const __m256i *)(strip + 16 * y));
        __m256i a = right ? _mm256_mpsadbw_epu8(ref, cur[y], 18) : _mm256_mpsadbw_epu8(ref, cur[y], 0);
        __m256i b = right ? _mm256_mpsadbw_epu8(ref, cur[y], 63) : _mm256_mpsadbw_epu8(ref, cur[y], 45);
        sad[0] = _mm256_add_epi16(sad[0], a);
        sad[1] = _mm256_add_epi16(sad[1], b);
    }
}

// Sums of the nine blocks of quadrant q, in the order of blocks_of. Returns zero lanes where one may be below its limit.
// Sums are at most 16,320 and cost_small, offset by -32768, at most 32,767 before the offset: as unsigned numbers below 49,088, no overflow.
INLINE __m256i quadrant(const Scan *s, const uint8_t *strip, int q, __m256i cost_small, __m256i sum[9]) {
    const __m256i *cur = s->cur + 8 * (q >> 1);
    strip += 128 * (q >> 1);
    two_4x4(strip, cur, q & 1, sum);
    two_4x4(strip + 64, cur + 4, q & 1, sum + 2);
    sum[4] = _mm256_add_epi16(sum[0], sum[1]);
    sum[5] = _mm256_add_epi16(sum[2], sum[3]);
    sum[6] = _mm256_add_epi16(sum[0], sum[2]);
    sum[7] = _mm256_add_epi16(sum[1], sum[3]);
    sum[8] = _mm256_add_epi16(sum[4], sum[5]);
    __m256i above = _mm256_set1_epi16(-1);
    for (int i = 0; i < 9; i++)
        above = _mm256_and_si256(above, _mm256_cmpgt_epi16(_mm256_add_epi16(sum[i], cost_small), s->bound[blocks_of[q][i]]));
    return above;
}

// The five largest blocks from the four 8x8: at most 65,280, which fits 16 bits; J may not, and saturates.
INLINE __m256i large_blocks(const Scan *s, const __m256i s88[4], __m256i cost, __m256i sum[5]) {
    sum[0] = _mm256_add_epi16(s88[0], s88[1]);
    sum[1] = _mm256_add_epi16(s88[2], s88[3]);
    sum[2] = _mm256_add_epi16(s88[0], s88[2]);
    sum[3] = _mm256_add_epi16(s88[1], s88[3]);
    sum[4] = _mm256_add_epi16(sum[0], sum[1]);
    __m256i above = _mm256_set1_epi16(-1), offset = _mm256_set1_epi16(-32768);
    for (int i = 0; i < 5; i++) {
        __m256i j = _mm256_xor_si256(_mm256_adds_epu16(sum[i], cost), offset);
        above = _mm256_and_si256(above, _mm256_cmpgt_epi16(j, s->bound[blocks_of[4][i]]));
    }
    return above;
}

// Quadrant q of the MB at 16 points; returns the sum of its 8x8 block. q is a constant wherever this is inlined.
INLINE __m256i scan_quadrant(Scan *s, int q, int row, int chunk, __m256i cost_small, __m256i cost) {
    __m256i sum[9];
    __m256i above = quadrant(s, s->strips + (chunk + (q & 1)) * s->strip_size + 16 * row, q, cost_small, sum);
    if (__builtin_expect(!all(above), 0)) {
        __m256i kept[9]; // a copy, so that `sum` can live in registers
        for (int i = 0; i < 9; i++) kept[i] = sum[i];
        improve(s, blocks_of[q], 9, kept, &cost, row, chunk);
    }
    return sum[8];
}

// All blocks at 16 points: columns 8 * chunk .. + 7 of rows `row` and row + 1.
INLINE void scan_points(Scan *s, int row, int chunk, __m256i cost) {
    __m256i cost_small = _mm256_xor_si256(_mm256_min_epu16(cost, _mm256_set1_epi16(32767)), _mm256_set1_epi16(-32768));
    __m256i s88[4], sum[5];
    s88[0] = scan_quadrant(s, 0, row, chunk, cost_small, cost);
    s88[1] = scan_quadrant(s, 1, row, chunk, cost_small, cost);
    s88[2] = scan_quadrant(s, 2, row, chunk, cost_small, cost);
    s88[3] = scan_quadrant(s, 3, row, chunk, cost_small, cost);
    __m256i above = large_blocks(s, s88, cost, sum);
    if (__builtin_expect(!all(above), 0)) {
        __m256i kept[5];
        for (int i = 0; i < 5; i++) kept[i] = sum[i];
        improve(s, blocks_of[4], 5, kept, &cost, row, chunk);
    }
}

// Rows first .. last - 1 in pairs; the row after the last one of the window costs 65,535 everywhere.
static void scan_rows(Scan *s, int first, int last) {
    for (int row = first; row < last; row += 2) {
        const uint8_t *code = s->row_code + row;
        __m128i low0 = _mm_loadu_si128((const __m128i *)(s->cost_low + code[0]));
        __m128i low1 = _mm_loadu_si128((const __m128i *)(s->cost_low + code[1]));
        __m128i high0 = _mm_loadu_si128((const __m128i *)(s->cost_high + code[0]));
        __m128i high1 = _mm_loadu_si128((const __m128i *)(s->cost_high + code[1]));
        __m256i low = _mm256_set_m128i(low1, low0), high = _mm256_set_m128i(high1, high0);
        __m256i outside = _mm256_set_m128i(_mm_set1_epi16(row + 1 < s->rows ? 0 : -1), _mm_setzero_si128());
        for (int chunk = 0; chunk < s->chunks; chunk++) {
            __m256i index = s->codes[chunk]; // the shift brings the code into the high byte and zeroes the low one's lookup bit
            __m256i index_high = _mm256_or_si256(_mm256_slli_epi16(index, 8), _mm256_set1_epi16(0x80));
            __m256i cost = _mm256_or_si256(_mm256_shuffle_epi8(low, index), _mm256_shuffle_epi8(high, index_high));
            cost = _mm256_or_si256(cost, _mm256_or_si256(outside, s->tail[chunk == s->chunks - 1]));
            scan_points(s, row, chunk, cost);
        }
    }
}

static int half_code(int difference) { return (motus_se_bits(difference) - 1) / 2; }

static void set_up_costs(Scan *s, const MotusMbJob *job) {
    for (int k = 0; k < 31; k++) {
        uint32_t cost = motus_bits_cost(job->lambda_q8, 2 * k + 2);
        s->cost_low[k] = (uint8_t)cost;
        s->cost_high[k] = (uint8_t)(cost >> 8);
    }
    s->cost_low[31] = s->cost_high[31] = 0;
    int dx = job->centre.x - 4 * job->range - job->predictor.x, dy = job->centre.y - 4 * job->range - job->predictor.y;
    memset(s->row_code, 0, sizeof s->row_code); // one more than rows is read
    for (int i = 0; i < s->rows; i++) s->row_code[i] = (uint8_t)half_code(dy + 4 * i);
    for (int chunk = 0; chunk < s->chunks; chunk++) {
        uint16_t code[8];
        for (int i = 0; i < 8; i++) code[i] = (uint16_t)(0x8000 | half_code(dx + 4 * (8 * chunk + i)));
        s->codes[chunk] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)code));
    }
    uint16_t tail[8];
    for (int i = 0; i < 8; i++) tail[i] = 8 * (s->chunks - 1) + i < s->rows ? 0 : 0xFFFF;
    s->tail[0] = _mm256_setzero_si256();
    s->tail[1] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)tail));
}

// One row of the window into all strips; `row` is readable for 8 * (strips - 1) + 16 bytes.
static void scatter(uint8_t *to, ptrdiff_t strip_size, const uint8_t *row, int strips) {
    for (int i = 0; i < strips; i++)
        _mm_store_si128((__m128i *)(to + i * strip_size), _mm_loadu_si128((const __m128i *)(row + 8 * i)));
}

// The window's 2R + 17 rows (the last is read but never counts) in chunks + 1 strips.
static void fill_strips(Scan *s, const MotusMbJob *job, uint8_t *strips) {
    const MotusRefLuma *ref = job->ref;
    int x0 = job->x + job->centre.x / 4 - job->range, y0 = job->y + job->centre.y / 4 - job->range;
    int width = 8 * s->chunks + 16;
    int inside = x0 >= -MOTUS_REF_PAD && x0 + width <= ref->width + MOTUS_REF_PAD;
    uint8_t line[8 * MAX_CHUNKS + 16];
    for (int y = 0; y < s->rows + 16; y++) {
        const uint8_t *row = motus_ref_row(ref, y0 + y);
        if (!inside)
            for (int x = 0; x < width; x++) line[x] = row[motus_clip(0, ref->width - 1, x0 + x)];
        scatter(strips + 16 * y, s->strip_size, inside ? row + x0 : line, s->chunks + 1);
    }
    s->strips = strips;
}

static void set_limits(Scan *s, uint32_t modes, int seeded) {
    for (int b = 0; b < MOTUS_BLOCKS; b++) {
        uint16_t limit = modes >> motus_blocks[b].mode & 1 ? 65535 : 0;
        for (int odd = 0; odd < 2 && seeded; odd++)
            if (s->best[b][odd].place >= 0 && s->best[b][odd].cost < limit) limit = (uint16_t)(s->best[b][odd].cost + 1);
        s->best[b][0] = s->best[b][1] = (Parity){limit, 0, -1};
        s->bound[b] = bounds(s->best[b]);
    }
}

// The better of the two parities of block b, the first in raster order if they tie. 0: none, because every J is 65,535 or more.
static int finish(const Scan *s, const MotusMbJob *job, int b, MotusMbMotion *out) {
    const Parity *even = &s->best[b][0], *odd = &s->best[b][1], *best = even;
    if (even->place < 0 || (odd->place >= 0 && (odd->cost < even->cost || (odd->cost == even->cost && odd->place < even->place))))
        best = odd;
    if (best->place < 0) return 0;
    int dx = best->place % 512 - job->range, dy = best->place / 512 - job->range;
    out->mv[b] = (MotusMv){(int16_t)(job->centre.x + 4 * dx), (int16_t)(job->centre.y + 4 * dy)};
    out->cost[b] = best->cost;
    out->sad[b] = (uint16_t)(best->cost - motus_mv_cost(job->lambda_q8, out->mv[b], job->predictor));
    return 1;
}

void motus_search_mb_avx2(const MotusMbJob *job, MotusMbMotion *out, uint8_t *scratch) {
    Scan s;
    s.rows = 2 * job->range + 1;
    s.chunks = (s.rows + 7) / 8;
    s.strip_size = 16 * (s.rows + 16);
    for (int y = 0; y < 16; y++)
        s.cur[y] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(job->cur + y * job->cur_stride)));
    set_up_costs(&s, job);
    fill_strips(&s, job, scratch);
    // A first look at the middle gives limits that few points are below.
    int middle = job->range & ~1;
    set_limits(&s, job->modes, 0);
    scan_rows(&s, middle, middle + 2);
    set_limits(&s, job->modes, 1);
    scan_rows(&s, 0, s.rows);
    int complete = 1;
    for (int b = 0; b < MOTUS_BLOCKS; b++)
        if (job->modes >> motus_blocks[b].mode & 1) complete &= finish(&s, job, b, out);
    if (!complete) motus_search_mb_c(job, out, scratch); // J of 65,535 and more: only the plain version counts so far
}
