// Arithmetic of a warp's lanes on words of four neighbouring samples, the first one lowest. The C
// versions are for the test suites `lanes` and `lanes_search`, which compare results made with them
// with the CPU's (pixel_core.h).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_PIXEL_WORDS_WARP_CUH
#define ME_PIXEL_WORDS_WARP_CUH

#include <stddef.h>
#include <string.h>

#include "common/int_core.h"

// Loads `bytes` (3 or 4) samples of each of n rows from any address; rows are a multiple of 4 bytes
// apart. Reads only words that hold one of the samples. The fourth byte of 3 is undefined.
MOTUS_HD void motus_words_load(uint32_t *row, int n, const uint8_t *from, ptrdiff_t stride,
                               int bytes) {
#ifdef __CUDA_ARCH__
    const int byte = (int)((uintptr_t)from & 3);
    const uint8_t *low = from - byte, *high = low + (byte + bytes > 4 ? 4 : 0);
#pragma unroll
    for (int i = 0; i < n; i++)
        row[i] = __funnelshift_r(*(const uint32_t *)(low + i * stride),
                                 *(const uint32_t *)(high + i * stride), 8 * byte);
#else
    for (int i = 0; i < n; i++) {
        row[i] = 0;
        memcpy(&row[i], from + i * stride, (size_t)bytes);
    }
#endif
}

// A word at a multiple of 4.
MOTUS_HD uint32_t motus_word_get(const void *from) {
    uint32_t v;
    memcpy(&v, __builtin_assume_aligned(from, 4), 4);
    return v;
}
MOTUS_HD void motus_word_put(void *to, uint32_t v) {
    memcpy(__builtin_assume_aligned(to, 4), &v, 4);
}

MOTUS_HD int motus_word_sample(uint32_t word, int i) { return (int)(word >> (8 * i) & 255); }

// Returns (a + b + 1) >> 1 of each pair of samples: a + b = 2 (a | b) - (a ^ b).
MOTUS_HD uint32_t motus_words_average(uint32_t a, uint32_t b) {
    return (a | b) - (((a ^ b) & 0xFEFEFEFEu) >> 1);
}

// Returns sum + the products of a's and b's bytes.
MOTUS_HD uint32_t motus_words_dot(uint32_t a, uint32_t b, uint32_t sum) {
#ifdef __CUDA_ARCH__
    return __dp4a(a, b, sum);
#else
    for (int i = 0; i < 4; i++)
        sum += (uint32_t)(motus_word_sample(a, i) * motus_word_sample(b, i));
    return sum;
#endif
}

// Returns sum + the squared differences of the samples.
MOTUS_HD uint32_t motus_words_ssd(uint32_t a, uint32_t b, uint32_t sum) {
#ifdef __CUDA_ARCH__
    const uint32_t d = __vabsdiffu4(a, b);
#else
    uint32_t d = 0;
    for (int i = 0; i < 4; i++)
        d |= (uint32_t)motus_abs(motus_word_sample(a, i) - motus_word_sample(b, i)) << 8 * i;
#endif
    return motus_words_dot(d, d, sum);
}

// Samples 0 and 1, or 2 and 3, of a word as the halves of a word.
MOTUS_HD uint32_t motus_words_low_pair(uint32_t word) {
#ifdef __CUDA_ARCH__
    return __byte_perm(word, 0, 0x4140);
#else
    return (word & 0xFF) | (word & 0xFF00) << 8;
#endif
}
MOTUS_HD uint32_t motus_words_high_pair(uint32_t word) {
#ifdef __CUDA_ARCH__
    return __byte_perm(word, 0, 0x4342);
#else
    return motus_words_low_pair(word >> 16);
#endif
}

// Equals motus_satd4x4, of rows. The last step of the transform gives a + b and a - b of two
// coefficients, and |a + b| + |a - b| is twice the larger of |a| and |b|.
MOTUS_HD uint32_t motus_words_satd(const uint32_t a[4], const uint32_t b[4]) {
    uint32_t d[4][2], sum = 0;
#ifdef __CUDA_ARCH__
    // An offset keeps halves of words from becoming negative: 256, doubled by each of three steps
    // as the largest magnitude is: 255, ..., 2040.
    for (int r = 0; r < 4; r++) {
        d[r][0] = motus_words_low_pair(a[r]) + 0x01000100u - motus_words_low_pair(b[r]);
        d[r][1] = motus_words_high_pair(a[r]) + 0x01000100u - motus_words_high_pair(b[r]);
    }
    for (int i = 0; i < 2; i++) {
        const uint32_t s = d[0][i] + d[2][i], t = d[1][i] + d[3][i];
        const uint32_t u = d[0][i] - d[2][i] + 0x02000200u, v = d[1][i] - d[3][i] + 0x02000200u;
        d[0][i] = s + t, d[1][i] = s - t + 0x04000400u;
        d[2][i] = u + v, d[3][i] = u - v + 0x04000400u;
    }
    for (int r = 0; r < 4; r++) {
        const uint32_t both = d[r][0] + d[r][1], between = d[r][0] - d[r][1] + 0x08000800u;
        const uint32_t low = __byte_perm(both, between, 0x5410),
                       high = __byte_perm(both, between, 0x7632);
        // 2048 + the larger magnitude.
        sum += __vimax3_u16x2(low, high, 0x10001000u - __vminu2(low, high));
    }
    return (sum & 0xFFFF) + (sum >> 16) - 8 * 2048;
#else
    // A word is high * 65536 + low, both signed and within +-2040 up to the last step: words add
    // without care for the carry.
    for (int r = 0; r < 4; r++) {
        d[r][0] = motus_words_low_pair(a[r]) - motus_words_low_pair(b[r]);
        d[r][1] = motus_words_high_pair(a[r]) - motus_words_high_pair(b[r]);
    }
    for (int i = 0; i < 2; i++) {
        uint32_t s = d[0][i] + d[2][i], t = d[1][i] + d[3][i], u = d[0][i] - d[2][i],
                 v = d[1][i] - d[3][i];
        d[0][i] = s + t, d[1][i] = s - t, d[2][i] = u + v, d[3][i] = u - v;
    }
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < 2; i++) {
            uint32_t word = i ? d[r][0] - d[r][1] : d[r][0] + d[r][1];
            int high = (int)(word + 0x8000) >> 16, low = (int)word - high * 65536;
            sum += (uint32_t)motus_max(motus_abs(low), motus_abs(high));
        }
    return sum;
#endif
}

#endif
