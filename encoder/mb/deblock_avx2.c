// Edges of deblock.c with AVX2: 16 lines at once, of luma or eight each of Cb and Cr, in 16-bit
// SIMD lanes. Sums of weighted samples are at most 8 * 255 + 4, differences at least -5 * 255.
// SPDX-License-Identifier: BSD-2-Clause
#include <immintrin.h>
#include <string.h>

#include "encoder/mb/deblock.h"
#include "encoder/mb/deblock_core.h"

#define MOTUS_DEBLOCK_PICTURE motus_deblock_picture_avx2

// ---- Strengths ----------------------------------------------------------------------------------

typedef uint8_t Strengths[4][4];

static __m128i load(const void *p) { return _mm_loadu_si128(p); }

// Compares two rows of MVs with their neighbours: a 16-bit lane is 0 if that component differs by
// less than 4. Differences saturate, so any MVs are allowed.
static __m128i far_apart(__m128i a0, __m128i b0, __m128i a1, __m128i b1) {
    const __m128i three = _mm_set1_epi16(3);
    const __m128i d0 = _mm_max_epi16(_mm_subs_epi16(a0, b0), _mm_subs_epi16(b0, a0)),
                  d1 = _mm_max_epi16(_mm_subs_epi16(a1, b1), _mm_subs_epi16(b1, a1));
    return _mm_packs_epi16(_mm_cmpgt_epi16(d0, three), _mm_cmpgt_epi16(d1, three));
}

static uint32_t load_word(const uint8_t of[4]) {
    uint32_t word;
    memcpy(&word, of, sizeof word);
    return word;
}

// Spreads values of the 8x8 blocks, below 64, to their 4x4 blocks.
static __m128i spread_8x8(const uint8_t values[4]) {
    const __m128i of_blk = _mm_setr_epi8(0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3);
    return _mm_shuffle_epi8(_mm_cvtsi32_si128((int)load_word(values)), of_blk);
}

// Returns the values of the blocks before those of an MB.
static __m128i blocks_before(__m128i own, __m128i outside, int direction) {
    return direction == MOTUS_VERTICAL
               ? _mm_or_si128(_mm_slli_epi32(own, 8), _mm_srli_epi32(outside, 24))
               : _mm_alignr_epi8(own, outside, 12);
}

// Returns bytes of -1 for the blocks whose MVs are near those of the blocks before them.
static __m128i near_mvs(const __m128i row[4], const __m128i outside[4], int direction) {
    const __m128i zero = _mm_setzero_si128();
    __m128i before[4];
    for (int i = 0; i < 4; i++)
        before[i] = direction == MOTUS_VERTICAL ? _mm_alignr_epi8(row[i], outside[i], 12)
                    : i                         ? row[i - 1]
                                                : outside[3];
    return _mm_packs_epi16(_mm_cmpeq_epi16(far_apart(row[0], before[0], row[1], before[1]), zero),
                           _mm_cmpeq_epi16(far_apart(row[2], before[2], row[3], before[3]), zero));
}

// Returns bS of the 16 blocks of an inter MB in raster order. outside: an inter MB.
static __m128i inter_strengths(const MotusMb *mb, const MotusMb *outside, int direction, int refs,
                               int copies) {
    const __m128i of_cbp = _mm_setr_epi8(1, 1, 2, 2, 1, 1, 2, 2, 4, 4, 8, 8, 4, 4, 8, 8),
                  least = _mm_set1_epi8((char)copies);
    const MotusMb *const both[2] = {mb, outside};
    __m128i row[2][4], count[2], its_ref[2]; // count: not 0 where deblock_has_levels is true
    for (int k = 0; k < 2; k++) {
        const MotusMb *of = both[k];
        count[k] = of->transform_8x8 ? _mm_and_si128(_mm_set1_epi8((char)of->cbp), of_cbp)
                                     : load(of->total_coeff);
        for (int i = 0; i < 4; i++) row[k][i] = load(of->mv + 4 * i);
    }
    __m128i same = near_mvs(row[0], row[1], direction);
    for (int k = 0; k < 2 && refs != MOTUS_REFS_ONE; k++) {
        its_ref[k] = spread_8x8(both[k]->ref[0]);
        if (refs == MOTUS_REFS_LIST0) {
            its_ref[k] = _mm_max_epu8(its_ref[k], least);
            continue;
        }
        // List 1, and ref_idx_l0 beside the lists: below 16 and below 4.
        const __m128i mv = load(both[k]->mv1);
        its_ref[k] = _mm_or_si128(spread_8x8(both[k]->pred), _mm_slli_epi16(its_ref[k], 2));
        row[k][0] = row[k][1] = _mm_unpacklo_epi32(mv, mv);
        row[k][2] = row[k][3] = _mm_unpackhi_epi32(mv, mv);
    }
    if (refs != MOTUS_REFS_ONE)
        same = _mm_and_si128(
            same, _mm_cmpeq_epi8(its_ref[0], blocks_before(its_ref[0], its_ref[1], direction)));
    if (refs == MOTUS_REFS_B) same = _mm_and_si128(same, near_mvs(row[0], row[1], direction));
    const __m128i any = _mm_or_si128(count[0], blocks_before(count[0], count[1], direction));
    return _mm_blendv_epi8(_mm_set1_epi8(2), _mm_andnot_si128(same, _mm_set1_epi8(1)),
                           _mm_cmpeq_epi8(any, _mm_setzero_si128()));
}

static int find_strengths(Strengths strengths, const MotusMb *mb, const MotusMb *outside,
                          int direction, int refs, int copies) {
    const __m128i by_column = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m128i edge0 = _mm_setr_epi32(-1, 0, 0, 0);
    __m128i all;
    if (motus_mb_is_intra(mb)) {
        all = _mm_set1_epi8(3);
    } else {
        const MotusMb *inter = outside && !motus_mb_is_intra(outside) ? outside : mb;
        all = inter_strengths(mb, inter, direction, refs, copies);
        if (direction == MOTUS_VERTICAL) all = _mm_shuffle_epi8(all, by_column);
    }
    const int first = motus_deblock_strength_edge(mb, outside, 0, 0); // -1: keep
    if (mb->transform_8x8) all = _mm_and_si128(all, _mm_setr_epi32(-1, 0, -1, 0));
    if (first >= 0) all = _mm_blendv_epi8(all, _mm_set1_epi8((char)first), edge0);
    _mm_storeu_si128((__m128i *)strengths, all);
    return !_mm_testz_si128(all, all);
}

// ---- The filter across 16 lines -----------------------------------------------------------------

// A vector has 16 lines' samples at one distance from the edge: s[0..7] are p3..p0, q0..q3. Of
// chroma p1..q1 are read.

// Returns -1 where |a - b| < limit.
static __m256i is_near(__m256i a, __m256i b, int limit) {
    return _mm256_cmpgt_epi16(_mm256_set1_epi16((short)limit),
                              _mm256_abs_epi16(_mm256_sub_epi16(a, b)));
}
static __m256i add3(__m256i a, __m256i b, __m256i c) {
    return _mm256_add_epi16(_mm256_add_epi16(a, b), c);
}
static __m256i twice(__m256i a) { return _mm256_add_epi16(a, a); }
static __m256i clip(__m256i v, __m256i most) {
    return _mm256_min_epi16(most,
                            _mm256_max_epi16(_mm256_sub_epi16(_mm256_setzero_si256(), most), v));
}

// Equals deblock_side_strong in the lanes of `on`. a: this side's first sample, the others follow
// at distance `out`; b: the unfiltered other side.
static void side_strong(__m256i *a, int out, __m256i b0, __m256i b1, int chroma, __m256i on,
                        __m256i near, int beta) {
    const __m256i a0 = a[0], a1 = a[out], two = _mm256_set1_epi16(2), four = _mm256_set1_epi16(4);
    const __m256i weak = _mm256_srli_epi16(_mm256_add_epi16(add3(twice(a1), a0, b1), two), 2);
    if (chroma) {
        a[0] = _mm256_blendv_epi8(a0, weak, on);
        return;
    }
    const __m256i a2 = a[2 * out], a3 = a[3 * out],
                  flat = _mm256_and_si256(near, is_near(a2, a0, beta));
    const __m256i sum = add3(a1, a0, b0), smooth = _mm256_and_si256(on, flat);
    const __m256i new0 = _mm256_srli_epi16(_mm256_add_epi16(add3(a2, twice(sum), b1), four), 3),
                  new1 = _mm256_srli_epi16(add3(a2, sum, two), 2),
                  new2 = _mm256_srli_epi16(
                      _mm256_add_epi16(add3(twice(_mm256_add_epi16(a3, a2)), a2, sum), four), 3);
    a[0] = _mm256_blendv_epi8(a0, _mm256_blendv_epi8(weak, new0, flat), on);
    a[out] = _mm256_blendv_epi8(a1, new1, smooth);
    a[2 * out] = _mm256_blendv_epi8(a2, new2, smooth);
}

// Equals motus_deblock_normal and motus_deblock_strong. tc0: -1 if bS is 0, ignored if it is 4. p0
// and q0 may leave 0..255; stores saturate. Returns 0 if no line changes.
static int filter(__m256i s[8], int chroma, int strong, __m256i tc0,
                  const MotusDeblockLimits *limits) {
    const __m256i p1 = s[2], p0 = s[3], q0 = s[4], q1 = s[5];
    const int beta = limits->beta;
    __m256i on = _mm256_and_si256(is_near(p0, q0, limits->alpha),
                                  _mm256_and_si256(is_near(p1, p0, beta), is_near(q1, q0, beta)));
    if (!strong) on = _mm256_andnot_si256(_mm256_srai_epi16(tc0, 15), on);
    if (_mm256_testz_si256(on, on)) return 0;
    if (strong) {
        const __m256i near = is_near(p0, q0, (limits->alpha >> 2) + 2);
        side_strong(s + 3, -1, q0, q1, chroma, on, near, beta);
        side_strong(s + 4, 1, p0, p1, chroma, on, near, beta);
        return 1;
    }
    __m256i tc = _mm256_add_epi16(tc0, _mm256_set1_epi16(1));
    if (!chroma) {
        const __m256i p2 = s[1], q2 = s[6], mean = _mm256_avg_epu16(p0, q0);
        const __m256i ap = is_near(p2, p0, beta), aq = is_near(q2, q0, beta); // -1: yes
        const __m256i dp = _mm256_srai_epi16(
                          _mm256_sub_epi16(_mm256_add_epi16(p2, mean), twice(p1)), 1),
                      dq = _mm256_srai_epi16(
                          _mm256_sub_epi16(_mm256_add_epi16(q2, mean), twice(q1)), 1);
        s[2] = _mm256_add_epi16(p1, _mm256_and_si256(clip(dp, tc0), _mm256_and_si256(ap, on)));
        s[5] = _mm256_add_epi16(q1, _mm256_and_si256(clip(dq, tc0), _mm256_and_si256(aq, on)));
        tc = _mm256_sub_epi16(_mm256_sub_epi16(tc0, ap), aq);
    }
    const __m256i slope = add3(_mm256_slli_epi16(_mm256_sub_epi16(q0, p0), 2),
                               _mm256_sub_epi16(p1, q1), _mm256_set1_epi16(4));
    const __m256i delta = _mm256_and_si256(clip(_mm256_srai_epi16(slope, 3), tc), on);
    s[3] = _mm256_add_epi16(p0, delta);
    s[4] = _mm256_sub_epi16(q0, delta);
    return 1;
}

// ---- From memory and back -----------------------------------------------------------------------

// Interleaves the bytes of the first half of n vectors with those of the second half: the index of
// a byte, row * n + column, is rotated by a bit. Four calls turn 16 rows of n bytes into n columns,
// log2(n) more turn them back.
static void interleave(__m128i *v, int n) {
    __m128i to[8];
    for (int i = 0; i < n / 2; i++) {
        to[2 * i] = _mm_unpacklo_epi8(v[i], v[i + n / 2]);
        to[2 * i + 1] = _mm_unpackhi_epi8(v[i], v[i + n / 2]);
    }
    for (int i = 0; i < n; i++) v[i] = to[i];
}

static __m128i narrow(__m256i v) {
    return _mm_packus_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

// Stores the upper half of a vector.
static void store_high(uint8_t *to, __m128i v) {
    _mm_storel_epi64((__m128i *)to, _mm_unpackhi_epi64(v, v));
}

// Returns tc0 of a bS in the 16-bit lanes of `repeat`.
static int64_t tc0_lanes(int strength, const MotusDeblockLimits *limits, int64_t repeat) {
    return strength ? limits->tc0[strength & 3] * repeat : -1;
}

static void luma_edge(uint8_t *s, ptrdiff_t stride, int direction, const uint8_t strength[4],
                      const MotusDeblockLimits *limits) {
    const int64_t each = 0x0001000100010001;
    const __m256i tc0 = _mm256_setr_epi64x(
        tc0_lanes(strength[0], limits, each), tc0_lanes(strength[1], limits, each),
        tc0_lanes(strength[2], limits, each), tc0_lanes(strength[3], limits, each));
    __m128i v[8];
    uint8_t *at = direction == MOTUS_VERTICAL ? s - 4 : s - 4 * stride;
    if (direction == MOTUS_VERTICAL) {
        for (int i = 0; i < 8; i++)
            v[i] =
                _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(at + 2 * i * stride)),
                                   _mm_loadl_epi64((const __m128i *)(at + (2 * i + 1) * stride)));
        for (int i = 0; i < 4; i++) interleave(v, 8);
    } else {
        for (int i = 0; i < 8; i++) v[i] = load(at + i * stride);
    }
    __m256i lines[8];
    for (int i = 0; i < 8; i++) lines[i] = _mm256_cvtepu8_epi16(v[i]);
    if (!filter(lines, 0, strength[0] == 4, tc0, limits)) return;
    for (int i = 0; i < 8; i++) v[i] = narrow(lines[i]);
    if (direction == MOTUS_VERTICAL) {
        for (int i = 0; i < 3; i++) interleave(v, 8);
        for (int i = 0; i < 8; i++) {
            _mm_storel_epi64((__m128i *)(at + 2 * i * stride), v[i]);
            store_high(at + (2 * i + 1) * stride, v[i]);
        }
    } else {
        for (int i = 1; i < 7; i++) _mm_storeu_si128((__m128i *)(at + i * stride), v[i]);
    }
}

static void chroma_edge(uint8_t *cb, uint8_t *cr, ptrdiff_t stride, int direction,
                        const uint8_t strength[4], const MotusDeblockLimits *limits) {
    const int64_t each = 0x00010001;
    const __m128i half = _mm_setr_epi32(
        (int)tc0_lanes(strength[0], limits, each), (int)tc0_lanes(strength[1], limits, each),
        (int)tc0_lanes(strength[2], limits, each), (int)tc0_lanes(strength[3], limits, each));
    const ptrdiff_t back = direction == MOTUS_VERTICAL ? 2 : 2 * stride;
    uint8_t *const at[2] = {cb - back, cr - back};
    __m128i v[4];
    if (direction == MOTUS_VERTICAL) { // columns p1, p0, q0, q1 of 8 lines of both planes
        for (int i = 0; i < 4; i++) {
            const uint8_t *p = at[i >> 1] + 4 * (i & 1) * stride;
            v[i] = _mm_setr_epi32((int)load_word(p), (int)load_word(p + stride),
                                  (int)load_word(p + 2 * stride), (int)load_word(p + 3 * stride));
        }
        for (int i = 0; i < 4; i++) interleave(v, 4);
    } else {
        for (int i = 0; i < 4; i++)
            v[i] = _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(at[0] + i * stride)),
                                      _mm_loadl_epi64((const __m128i *)(at[1] + i * stride)));
    }
    __m256i lines[8];
    for (int i = 0; i < 4; i++) lines[2 + i] = _mm256_cvtepu8_epi16(v[i]);
    if (!filter(lines, 1, strength[0] == 4, _mm256_broadcastsi128_si256(half), limits)) return;
    for (int i = 0; i < 4; i++) v[i] = narrow(lines[2 + i]);
    if (direction == MOTUS_VERTICAL) {
        for (int i = 0; i < 2; i++) interleave(v, 4);
        for (int i = 0; i < 4; i++) {
            int line[4];
            _mm_storeu_si128((__m128i *)line, v[i]);
            for (int k = 0; k < 4; k++)
                memcpy(at[i >> 1] + (4 * (i & 1) + k) * stride, &line[k], 4);
        }
        return;
    }
    for (int i = 1; i < 3; i++) {
        _mm_storel_epi64((__m128i *)(at[0] + i * stride), v[i]);
        store_high(at[1] + i * stride, v[i]);
    }
}

#include "encoder/mb/deblock.c" // NOLINT(bugprone-suspicious-include)
