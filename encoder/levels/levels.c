// Plain C and, where it pays, AVX2. levels_avx2.c compiles this file a second time.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/levels/levels.h"

#include <string.h>

#include "dct/transform8_core.h"

// ---- 4x4 blocks with bits of CAVLC --------------------------------------------------------------

// A block whose levels are being chosen: levels and coefficients in zigzag order, coefficients in
// 1/256 of a level (below 2^20). Bit i of `shape` is position i.
typedef struct Block {
    int16_t *level;
    int *t; // [16]
    MotusCavlcShape shape;
    int first; // 1 for AC blocks
} Block;

// Sets zigzag position i to +-magnitude.
static void set_level(Block *b, int i, int magnitude, int negative) {
    const uint32_t bit = 1u << i;
    b->level[i] = (int16_t)(negative ? -magnitude : magnitude);
    b->shape.nonzero = magnitude ? b->shape.nonzero | bit : b->shape.nonzero & ~bit;
    b->shape.ones = magnitude == 1 ? b->shape.ones | bit : b->shape.ones & ~bit;
}

static uint32_t count_bits(const Block *b, int token_class, const uint8_t *zero_runs) {
    const MotusCavlcShape shape = {b->shape.nonzero >> b->first, b->shape.ones >> b->first};
    return (uint32_t)motus_cavlc_block_bits(shape, b->level + b->first, -1, 0, 16 - b->first,
                                            token_class, zero_runs);
}

// Lowers levels by one, from the highest frequency down, where that reduces the RD cost, if the
// method says so. Returns their number and bits.
static MotusLevels lower(Block *b, uint32_t rate, int token_class, const MotusLevelChoice *choice) {
    MotusLevels levels = {motus_cavlc_total_coeff(b->shape.nonzero),
                          count_bits(b, token_class, choice->zero_runs), 0};
    uint32_t left = choice->method == MOTUS_LEVELS_LOWERED ? b->shape.nonzero : 0;
    while (left) {
        const int i = motus_bit_length(left) - 1, negative = b->level[i] < 0,
                  magnitude = motus_abs(b->level[i]);
        left ^= 1u << i;
        const int loss = 512 * b->t[i] - 65536 * (2 * magnitude - 1); // of ssd_drop, below 2^30
        if (magnitude > 2 && loss > 0) continue; // large levels only lose what rounding up added
        set_level(b, i, magnitude - 1, negative);
        const uint32_t bits = count_bits(b, token_class, choice->zero_runs);
        if (loss + (int32_t)(bits * rate) < (int32_t)(levels.bits * rate)) {
            levels.bits = bits;
            levels.n -= magnitude == 1;
        } else {
            set_level(b, i, magnitude, negative);
        }
    }
    return levels;
}

static MotusLevels choose_cavlc(int16_t level[16], const int16_t coef[16], uint32_t live, int first,
                                int nc, const MotusQuant *q, const MotusLevelChoice *choice) {
    const int token_class = motus_cavlc_token_class(nc);
    const uint32_t zero_bits = (uint32_t)motus_cavlc_token(token_class, 0, 0).length;
    const MotusLevels none = {0, zero_bits, 0};
    if (!live) return none;
    int t[16];
    Block b = {level, t, {0, 0}, first};
    for (int i = 0; i < 16; i++) level[i] = 0;
    for (; live; live &= live - 1) {
        const int at = motus_bit_length(live & -live) - 1, i = motus_zigzag_of(at);
        t[i] = (int)((uint32_t)motus_abs(coef[at]) * q->scale[motus_coef_class(at)] >> q->shift);
        set_level(&b, i, motus_nearest_level(t[i]), coef[at] < 0);
    }
    MotusLevels levels = lower(&b, q->rate, token_class, choice);
    int32_t ssd_drop = 0;
    for (uint32_t left = b.shape.nonzero; left; left &= left - 1) {
        const int i = motus_bit_length(left & -left) - 1;
        ssd_drop += motus_level_ssd_drop(t[i], motus_abs(level[i]));
    }
    levels.ssd_drop = motus_min(ssd_drop, MOTUS_SSD_DROP_MAX);
    return levels.ssd_drop > (int32_t)((levels.bits - zero_bits) * q->rate) ? levels : none;
}

// ---- 4x4 blocks with guessed bits ---------------------------------------------------------------

static MotusLevels choose_guessed(int16_t level[16], const int16_t coef[16], uint32_t live,
                                  int first, const MotusQuant *q, const MotusLevelChoice *choice) {
    uint32_t near = 0, nonzero = 0; // zigzag masks
    int t[16], sum = 0;
    int32_t ssd_drop = 0;
    memset(level, 0, 16 * sizeof *level);
    for (uint32_t left = live; left; left &= left - 1) {
        const int at = motus_bit_length(left & -left) - 1, i = motus_zigzag_of(at);
        t[i] = (int)((uint32_t)motus_abs(coef[at]) * q->scale[motus_coef_class(at)] >> q->shift);
        near |= 1u << i;
    }
    for (uint32_t left = near; left; left &= left - 1) {
        const int i = motus_bit_length(left & -left) - 1, magnitude = motus_guess_magnitude(t[i]),
                  gap =
                      i - motus_max(first, motus_bit_length((near & ((1u << i) - 1)) << 1 | 1) - 1);
        if (magnitude == 1 && motus_guess_drops(t[i], !(near >> i >> 1), gap, q->rate)) continue;
        level[i] = (int16_t)(coef[motus_zigzag_at(i)] < 0 ? -magnitude : magnitude);
        nonzero |= 1u << i;
        sum += motus_guess_level(magnitude);
        ssd_drop += motus_level_ssd_drop(t[i], magnitude);
    }
    const int n = motus_cavlc_total_coeff(nonzero),
              zeros = nonzero ? motus_bit_length(nonzero) - first - n : 0;
    return motus_guessed_levels(n, sum, zeros, motus_min(ssd_drop, MOTUS_SSD_DROP_MAX), q->rate,
                                choice);
}

// ---- 4x4 blocks with costs of CABAC -------------------------------------------------------------

// Returns magnitude with the sign of a coefficient, without a branch: signs are not predictable.
static int16_t with_sign(int magnitude, int coef) {
    const int sign = coef >> 31;
    return (int16_t)((magnitude ^ sign) - sign);
}

// Returns the zigzag mask of a raster mask.
static uint32_t zigzag_mask(uint32_t raster) {
#ifdef __AVX2__
    const __m256i bit = _mm256_setr_epi16( // of the raster position at each zigzag one
        1 << 0, 1 << 1, 1 << 4, 1 << 8, 1 << 5, 1 << 2, 1 << 3, 1 << 6, 1 << 9, 1 << 12, 1 << 13,
        1 << 10, 1 << 7, 1 << 11, 1 << 14, (short)(1 << 15));
    const __m256i is_set =
        _mm256_cmpeq_epi16(_mm256_and_si256(_mm256_set1_epi16((short)raster), bit), bit);
    return _pext_u32((uint32_t)_mm256_movemask_epi8(is_set), 0x55555555);
#else
    uint32_t mask = 0;
    for (; raster; raster &= raster - 1)
        mask |= 1u << motus_zigzag_of(motus_bit_length(raster & -raster) - 1);
    return mask;
#endif
}

static MotusLevels choose_cabac(int16_t level[16], const int16_t coef[16], uint32_t live,
                                int category, int flag_context, const MotusQuant *q,
                                const MotusLevelChoice *choice) {
    static const uint8_t class_at[16] = {0, 2, 0, 2, 2, 1, 2, 1, 0, 2, 0, 2, 2, 1, 2, 1};
    const int first = category != 2;
    const uint16_t *flag = motus_flag_costs(choice->costs, category, flag_context);
    MotusLevelWalk walk = motus_level_walk(choice->costs, category, q->rate, choice->method);
    if (!live) return (MotusLevels){0, flag[0], 0};
    memset(level, 0, 16 * sizeof *level);
    for (uint32_t left = zigzag_mask(live) >> first; left;) {
        const int i = motus_bit_length(left) - 1, at = motus_zigzag_at(i + first);
        left ^= 1u << i;
        const int t = (int)((uint32_t)motus_abs(coef[at]) * q->scale[class_at[at]] >> q->shift),
                  magnitude = motus_walk_level(&walk, i, left ? motus_bit_length(left) - 1 : -1, t);
        level[i + first] = with_sign(magnitude, coef[at]);
    }
    return motus_walked_levels(&walk, flag);
}

static MotusLevels choose_block(int16_t level[16], const int16_t coef[16], uint32_t live,
                                int category, int context, const MotusQuant *q,
                                const MotusLevelChoice *choice) {
    const int first = category != 2;
    if (first) live &= ~1u;
    if (choice->method == MOTUS_LEVELS_GUESSED)
        return choose_guessed(level, coef, live, first, q, choice);
    return choice->costs ? choose_cabac(level, coef, live, category, context, q, choice)
                         : choose_cavlc(level, coef, live, first, context, q, choice);
}

// ---- Chroma's DCs -------------------------------------------------------------------------------

static MotusLevels choose_chroma_dc(int16_t level[4], const int dc[4], const MotusQuant *q,
                                    const MotusCabacCosts *costs) {
    MotusLevelWalk walk = motus_dc_walk(costs, q);
    uint32_t live = 0;
    for (int i = 0; i < 4; i++)
        live |= (uint32_t)(motus_dc_scaled(dc[i], q) >= MOTUS_LEVEL_FROM) << i;
    memset(level, 0, 4 * sizeof *level);
    while (live) {
        const int i = motus_bit_length(live) - 1;
        live ^= 1u << i;
        const int next = live ? motus_bit_length(live) - 1 : -1,
                  magnitude = motus_walk_level(&walk, i, next, motus_dc_scaled(dc[i], q));
        level[i] = (int16_t)(dc[i] < 0 ? -magnitude : magnitude);
    }
    const MotusLevels levels = motus_dc_levels(&walk, costs);
    if (!levels.n) memset(level, 0, 4 * sizeof *level);
    return levels;
}

// ---- 8x8 blocks ---------------------------------------------------------------------------------

// Sets `live` and t of coefficients, all else to 0.
static void load_block8(MotusBlockLevels *b, const int coef[64], const MotusQuant8 *q) {
    int t[64]; // products are below 36,000 * 20,972 < 2^30
    uint64_t raster = 0;
#ifdef __AVX2__
    const __m128i shift = _mm_cvtsi32_si128(q->shift);
    const __m256i below = _mm256_set1_epi32(MOTUS_LEVEL_FROM - 1);
    for (int i = 0; i < 64; i += 8) {
        const __m256i size = _mm256_abs_epi32(_mm256_loadu_si256((const __m256i *)(coef + i))),
                      scale = _mm256_cvtepu16_epi32(
                          _mm_loadu_si128((const __m128i *)(q->raster_scale + i))),
                      scaled = _mm256_srl_epi32(_mm256_mullo_epi32(size, scale), shift);
        _mm256_storeu_si256((__m256i *)(t + i), scaled);
        raster |= (uint64_t)(uint32_t)_mm256_movemask_ps(
                      _mm256_castsi256_ps(_mm256_cmpgt_epi32(scaled, below)))
                  << i;
    }
#else
    for (int i = 0; i < 64; i++) {
        t[i] = (int)((uint32_t)motus_abs(coef[i]) * q->raster_scale[i] >> q->shift);
        raster |= (uint64_t)(t[i] >= MOTUS_LEVEL_FROM) << i;
    }
#endif
    b->live = 0, b->n = 0, b->bits = 0, b->ssd_drop = 0;
    if (!raster) return;
    for (; raster; raster &= raster - 1) {
        const int at = __builtin_ctzll(raster), i = motus_zigzag8_of(at);
        b->live |= 1ull << i;
        b->t[i] = t[at];
    }
    memset(b->level, 0, sizeof b->level);
}

static void choose8_cavlc(MotusBlockLevels *b, const int coef[64], uint32_t rate,
                          const MotusLevelChoice *choice) {
    int16_t level[4][16] = {{0}};
    int t[4][16] = {{0}};
    Block block[4];
    const int token_class = motus_cavlc_token_class((__builtin_popcountll(b->live) + 2) / 4);
    for (int k = 0; k < 4; k++) block[k] = (Block){level[k], t[k], {0, 0}, 0};
    for (uint64_t left = b->live; left; left &= left - 1) {
        const int i = __builtin_ctzll(left);
        t[i & 3][i >> 2] = b->t[i];
        set_level(&block[i & 3], i >> 2, motus_nearest_level(b->t[i]),
                  coef[motus_zigzag8_at(i)] < 0);
    }
    for (int k = 0; k < 4; k++) {
        const MotusLevels levels = lower(&block[k], rate, token_class, choice);
        b->n += levels.n;
        b->bits += levels.bits * MOTUS_BIT;
    }
    for (uint64_t left = b->live; left; left &= left - 1) {
        const int i = __builtin_ctzll(left), magnitude = motus_abs(level[i & 3][i >> 2]);
        b->level[i] = level[i & 3][i >> 2];
        b->ssd_drop =
            motus_min(b->ssd_drop + motus_level_ssd_drop(b->t[i], magnitude), MOTUS_SSD_DROP_MAX);
    }
}

static void choose8_guessed(MotusBlockLevels *b, const int coef[64]) {
    int sum = 0;
    for (uint64_t left = b->live; left; left &= left - 1) {
        const int i = __builtin_ctzll(left), magnitude = motus_guess_magnitude(b->t[i]);
        b->level[i] = with_sign(magnitude, coef[motus_zigzag8_at(i)]);
        b->n++;
        sum += motus_guess_level(magnitude);
        b->ssd_drop =
            motus_min(b->ssd_drop + motus_level_ssd_drop(b->t[i], magnitude), MOTUS_SSD_DROP_MAX);
    }
    b->bits = motus_guessed_bits8(sum, 64 - __builtin_clzll(b->live) - b->n);
}

static void choose8_cabac(MotusBlockLevels *b, const int coef[64], uint32_t rate,
                          const MotusLevelChoice *choice) {
    MotusLevelWalk walk = motus_level_walk(choice->costs, MOTUS_CATEGORY_8x8, rate, choice->method);
    for (uint64_t left = b->live; left;) {
        const int i = 63 - __builtin_clzll(left);
        left ^= 1ull << i;
        const int magnitude =
            motus_walk_level(&walk, i, left ? 63 - __builtin_clzll(left) : -1, b->t[i]);
        b->level[i] = with_sign(magnitude, coef[motus_zigzag8_at(i)]);
    }
    b->n = walk.n, b->bits = walk.bits, b->ssd_drop = walk.ssd_drop;
}

static int choose_block8(MotusBlockLevels *b, const int coef[64], const MotusQuant8 *q,
                         const MotusLevelChoice *choice) {
    load_block8(b, coef, q);
    if (!b->live) return 0;
    if (choice->method == MOTUS_LEVELS_GUESSED)
        choose8_guessed(b, coef);
    else if (choice->costs)
        choose8_cabac(b, coef, q->rate, choice);
    else
        choose8_cavlc(b, coef, q->rate, choice);
    return b->n && b->ssd_drop > (int64_t)((uint64_t)b->bits * q->rate / MOTUS_BIT);
}

const MotusLevelsOps MOTUS_ISA(motus_levels) = {choose_block, choose_chroma_dc, choose_block8};
