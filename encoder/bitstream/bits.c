// Bit writer on the CPU: bytes, alignment, joining, NAL units (bits_core.h).
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bitstream/bits_core.h"

#include <string.h>

void motus_bits_flush(MotusBits *bits, int n) {
    for (; n >= 8; n -= 8) {
        bits->cached -= 8;
        if (bits->data && bits->size == bits->capacity)
            bits->overflow = 1;
        else if (bits->data)
            bits->data[bits->size++] = (uint8_t)(bits->cache >> bits->cached);
        else
            bits->size++;
    }
}

void motus_bits_align_zero(MotusBits *bits) {
    motus_bits_put(bits, -bits->cached & 7, 0);
    motus_bits_flush(bits, bits->cached);
}

void motus_bits_trailing(MotusBits *bits) {
    motus_bits_put(bits, 1, 1);
    motus_bits_align_zero(bits);
}

void motus_bits_append(MotusBits *bits, const uint8_t *from, size_t n) {
    for (; n >= 32; n -= 32, from += 4)
        motus_bits_put(bits, 32,
                       (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 |
                           from[3]);
    for (; n >= 8; n -= 8) motus_bits_put(bits, 8, *from++);
    if (n) motus_bits_put(bits, (int)n, (uint32_t)*from >> (8 - n));
}

size_t motus_write_zero_words(uint8_t *dst, const MotusBinCounts *counts, size_t bytes, int n_mb) {
    static const uint8_t zero_word[3] = {0, 0, 3};
    uint64_t bins = counts->others;
    for (int i = 0; i < MOTUS_BIN_COUNTS; i++) bins += counts->bin[i];
    const size_t n = motus_cabac_zero_words(bins, bytes, n_mb);
    for (size_t i = 0; i < n; i++) memcpy(dst + 3 * i, zero_word, sizeof zero_word);
    return 3 * n;
}

// ---- NAL units in the byte stream format (7.3.1, 7.4.1.1, Annex B) ------------------------------

size_t motus_nal_bound(size_t size) { return 4 + 1 + size + size / 2 + 1; }

// Returns the first zero byte from `at` on that a zero byte follows, else `size`.
static size_t next_pair(const uint8_t *rbsp, size_t at, size_t size) {
    while (at + 1 < size) {
        const uint8_t *zero = memchr(rbsp + at, 0, size - 1 - at);
        if (!zero) break;
        if (!zero[1]) return (size_t)(zero - rbsp);
        at = (size_t)(zero - rbsp) + 2;
    }
    return size;
}

static uint8_t *put(uint8_t *p, const uint8_t *from, size_t n) {
    memcpy(p, from, n);
    return p + n;
}

size_t motus_nal_write(uint8_t *dst, int nal_ref_idc, int nal_unit_type, const uint8_t *rbsp,
                       size_t size) {
    const uint8_t start[5] = {0, 0, 0, 1, (uint8_t)(nal_ref_idc << 5 | nal_unit_type)};
    uint8_t *p = put(dst, start, sizeof start);
    size_t done = 0, at = 0; // bytes copied; bytes searched for pairs of zeros
    while ((at = next_pair(rbsp, at, size) + 2) < size) {
        if (rbsp[at] > 3) continue;
        p = put(p, rbsp + done, at - done);
        *p++ = 3; // emulation_prevention_three_byte
        done = at;
    }
    p = put(p, rbsp + done, size - done);
    if (size && !rbsp[size - 1]) *p++ = 3; // a NAL unit never ends with a zero byte
    return (size_t)(p - dst);
}
