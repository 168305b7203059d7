// Choice of a block's levels on the CPU with costs of CABAC, for 4x4 and 8x8 blocks.
// levels_cabac_warp.cuh has the same for warps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LEVELS_LEVELS_CABAC_CPU_H
#define ENCODER_LEVELS_LEVELS_CABAC_CPU_H

#include "dct/transform8_core.h"
#include "encoder/levels/levels_cabac_core.h"
#include "encoder/mb/qp_core.h"

// Levels of an 8x8 block in coding order.
typedef struct MotusBlockLevels {
    int16_t level[64];
    int t[64];        // coefficients in 1/256 of a level, at the positions of `live`
    uint64_t live;    // positions that may have a level
    int n;            // levels other than 0
    uint32_t bits;    // of the map and the levels, in 1/256 bit
    int32_t ssd_drop; // as in MotusLevels
    uint32_t rate;    // cost of a bit in 1/65536 of a squared step
} MotusBlockLevels;

// True if the levels are worth their bits.
static inline int motus_block_pays(const MotusBlockLevels *b) {
    return b->n && b->ssd_drop > (int64_t)((uint64_t)b->bits * b->rate / MOTUS_BIT);
}

// Returns magnitude with the sign of a coefficient, without a branch: signs are not predictable.
static inline int16_t motus_signed_level(int magnitude, int coef) {
    const int sign = coef >> 31;
    return (int16_t)((magnitude ^ sign) - sign);
}

// Returns the zigzag mask of a raster mask of a 4x4 block.
static inline uint32_t motus_zigzag_mask(uint32_t raster) {
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

// Chooses the levels of a 4x4 block of forward-transformed coefficients (raster order), of category
// 1, 2 or 4, from its live ones. flag_context: of coded_block_flag in its category. Writes
// level[16] in zigzag order, or anything if the result has no levels. Its bits are 1/256 ones.
static inline MotusLevels motus_choose_levels_cabac(int16_t level[16], const int16_t coef[16],
                                                    uint32_t live, int category, int flag_context,
                                                    const MotusQuant *q,
                                                    const MotusCabacCosts *costs, int method) {
    static const uint8_t class_at[16] = {0, 2, 0, 2, 2, 1, 2, 1, 0, 2, 0, 2, 2, 1, 2, 1};
    const int first = category != 2;
    const uint16_t *flag = motus_flag_costs(costs, category, flag_context);
    MotusLevelWalk walk = motus_level_walk(costs, category, q->rate, method);
    if (first) live &= ~1u;
    if (!live) return (MotusLevels){0, flag[0], 0};
    memset(level, 0, 16 * sizeof *level);
    for (uint32_t left = motus_zigzag_mask(live) >> first; left;) {
        const int i = motus_bit_length(left) - 1, at = motus_zigzag_at(i + first);
        left ^= 1u << i;
        const int t = (int)((uint32_t)motus_abs(coef[at]) * q->scale[class_at[at]] >> q->shift),
                  magnitude = motus_walk_level(&walk, i, left ? motus_bit_length(left) - 1 : -1, t);
        level[i + first] = motus_signed_level(magnitude, coef[at]);
    }
    return motus_walked_levels(&walk, flag);
}

// Chooses the levels of a chroma plane's DCs behind their 2x2 transform.
static inline MotusLevels motus_choose_dc_levels(int16_t level[4], const int dc[4],
                                                 const MotusQuant *q,
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

// Fills t (raster order) with coefficients in 1/256 of a level. Returns the mask of those that may
// have a level.
static inline uint64_t motus_live8(int t[64], const int coef[64], const MotusQuant8 *q) {
    uint64_t live = 0;
#ifdef __AVX2__
    const __m128i shift = _mm_cvtsi32_si128(q->shift);
    const __m256i below = _mm256_set1_epi32(MOTUS_LEVEL_FROM - 1);
    for (int i = 0; i < 64; i += 8) {
        const __m256i size = _mm256_abs_epi32(_mm256_loadu_si256((const __m256i *)(coef + i))),
                      scale = _mm256_cvtepu16_epi32(
                          _mm_loadu_si128((const __m128i *)(q->raster_scale + i))),
                      scaled = _mm256_srl_epi32(_mm256_mullo_epi32(size, scale), shift);
        _mm256_storeu_si256((__m256i *)(t + i), scaled);
        live |= (uint64_t)(uint32_t)_mm256_movemask_ps(
                    _mm256_castsi256_ps(_mm256_cmpgt_epi32(scaled, below)))
                << i;
    }
#else
    for (int i = 0; i < 64; i++) {
        t[i] = (int)((uint32_t)motus_abs(coef[i]) * q->raster_scale[i] >> q->shift);
        live |= (uint64_t)(t[i] >= MOTUS_LEVEL_FROM) << i;
    }
#endif
    return live;
}

// Sets live and t of forward-transformed coefficients (raster order), and levels to 0 if any is
// live. Returns b->live.
static inline uint64_t motus_find_live8(MotusBlockLevels *b, const int coef[64],
                                        const MotusQuant8 *q) {
    int t[64]; // products are below 36,000 * 20,972 < 2^30
    b->live = 0;
    for (uint64_t raster = motus_live8(t, coef, q); raster; raster &= raster - 1) {
        const int at = __builtin_ctzll(raster), i = motus_zigzag8_of(at);
        b->live |= 1ull << i;
        b->t[i] = t[at];
    }
    if (b->live) memset(b->level, 0, sizeof b->level);
    return b->live;
}

// Chooses the levels of an 8x8 block of forward-transformed coefficients (raster order).
static inline void motus_choose_levels8(MotusBlockLevels *b, const int coef[64],
                                        const MotusQuant8 *q, const MotusCabacCosts *costs,
                                        int method) {
    MotusLevelWalk walk = motus_level_walk(costs, MOTUS_CATEGORY_8x8, q->rate, method);
    for (uint64_t left = motus_find_live8(b, coef, q); left;) {
        const int i = 63 - __builtin_clzll(left);
        left ^= 1ull << i;
        const int magnitude =
            motus_walk_level(&walk, i, left ? 63 - __builtin_clzll(left) : -1, b->t[i]);
        b->level[i] = motus_signed_level(magnitude, coef[motus_zigzag8_at(i)]);
    }
    b->n = walk.n, b->bits = walk.bits, b->ssd_drop = walk.ssd_drop, b->rate = q->rate;
}

#endif
