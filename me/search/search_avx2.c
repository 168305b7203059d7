// Exhaustive search, 16 points at a time (search_tmpl.h). mpsadbw computes the 4x1 SADs of eight
// points.
// SPDX-License-Identifier: BSD-2-Clause
#define PARTS 2
#include "me/pixel/vector_tmpl.h"

// Shuffles low bytes of the table's entries, then high bytes. An index byte with its top bit set
// gives 0, which keeps the other byte of the lane empty.
INLINE V mv_cost(const uint16_t table[32], V code) {
    V even = _mm256_or_si256(code, _mm256_set1_epi16((short)0x8000)),
      odd = _mm256_or_si256(_mm256_slli_epi16(code, 8), _mm256_set1_epi16(0x80)), half[2];
    for (int i = 0; i < 2; i++) {
        __m128i a = _mm_loadu_si128((const __m128i *)(table + 16 * i)),
                b = _mm_loadu_si128((const __m128i *)(table + 16 * i + 8));
        __m128i low = _mm_packus_epi16(_mm_and_si128(a, _mm_set1_epi16(255)),
                                       _mm_and_si128(b, _mm_set1_epi16(255)));
        __m128i high = _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8));
        half[i] = _mm256_or_si256(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(low), even),
                                  _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(high), odd));
    }
    return _mm256_blendv_epi8(half[0], half[1], _mm256_cmpgt_epi16(code, _mm256_set1_epi16(15)));
}

INLINE void offer(V *least, V *at, V j, V now, int any) {
    const V before = *least, after = _mm256_min_epu16(before, j), ones = _mm256_set1_epi16(-1),
            kept = _mm256_cmpeq_epi16(before, after);
    *least = after;
    if (any)
        *at = _mm256_min_epu16(
            _mm256_or_si256(*at, _mm256_xor_si256(kept, ones)),
            _mm256_or_si256(now, _mm256_xor_si256(_mm256_cmpeq_epi16(j, after), ones)));
    else
        *at = _mm256_max_epu16(*at, _mm256_andnot_si256(kept, now));
}

// Transposes the 8x8 lanes of each half.
INLINE void transpose(V v[8]) {
    V a[8], b[8];
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm256_unpacklo_epi16(v[2 * i], v[2 * i + 1]);
        a[2 * i + 1] = _mm256_unpackhi_epi16(v[2 * i], v[2 * i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; k++) {
            b[i + 2 * k] = _mm256_unpacklo_epi32(a[i + k], a[i + 2 + k]);
            b[i + 2 * k + 1] = _mm256_unpackhi_epi32(a[i + k], a[i + 2 + k]);
        }
    for (int k = 0; k < 4; k++) {
        v[2 * k] = _mm256_unpacklo_epi64(b[k], b[4 + k]);
        v[2 * k + 1] = _mm256_unpackhi_epi64(b[k], b[4 + k]);
    }
}

// Returns the SADs of pairs of samples of four rows, and of those eight below, at most 4 * 510.
INLINE V pair_sads(const uint8_t *const *row, int x, const V cur[4]) {
    V sum = _mm256_setzero_si256();
    for (int y = 0; y < 4; y++) {
        V v = _mm256_loadu2_m128i((const __m128i *)(row[y + 8] + x), (const __m128i *)(row[y] + x));
        V difference = _mm256_or_si256(_mm256_subs_epu8(v, cur[y]), _mm256_subs_epu8(cur[y], v));
        sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(difference, _mm256_set1_epi8(1)));
    }
    return sum;
}

INLINE void column_sads(V sad[16], const uint8_t *const *row, int x, const uint8_t cur[16][16]) {
    V half[2][8], rows[8]; // rows: y and y + 8 of the MB
    for (int y = 0; y < 8; y++)
        rows[y] = _mm256_loadu2_m128i((const __m128i *)cur[y + 8], (const __m128i *)cur[y]);
    for (int i = 0; i < 16; i++)
        half[i >> 3][i & 7] =
            _mm256_hadd_epi16(pair_sads(row + i, x, rows), pair_sads(row + i + 4, x, rows + 4));
    transpose(half[0]);
    transpose(half[1]);
    for (int i = 0; i < 8; i++) {
        sad[i] = _mm256_permute2x128_si256(half[0][i], half[1][i], 0x20);
        sad[8 + i] = _mm256_permute2x128_si256(half[0][i], half[1][i], 0x31);
    }
}

// Halves the words of each vector until there is one, and packs those of eight vectors.
INLINE void least_keys(uint32_t key[8], const V *least, const V *at) {
    V two[4]; // part p: of vector 2i + p
    for (int i = 0; i < 4; i++) {
        V v[2];
        for (int p = 0; p < 2; p++) {
            const V l = least[2 * i + p], a = at[2 * i + p];
            v[p] = _mm256_min_epu32(_mm256_unpacklo_epi16(a, l), _mm256_unpackhi_epi16(a, l));
        }
        two[i] = _mm256_min_epu32(_mm256_permute2x128_si256(v[0], v[1], 0x20),
                                  _mm256_permute2x128_si256(v[0], v[1], 0x31));
    }
    for (int i = 0; i < 4; i += 2)
        two[i / 2] = _mm256_min_epu32(_mm256_unpacklo_epi64(two[i], two[i + 1]),
                                      _mm256_unpackhi_epi64(two[i], two[i + 1]));
    const __m256 a = _mm256_castsi256_ps(two[0]), b = _mm256_castsi256_ps(two[1]);
    const V all = _mm256_min_epu32(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)),
                                   _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xDD)));
    const V order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    _mm256_storeu_si256((__m256i *)key, _mm256_permutevar8x32_epi32(all, order));
}

#include "me/search/search_tmpl.h"

const MotusSearchOps motus_search_ops_avx2 = {search_mb, scratch_bytes};
