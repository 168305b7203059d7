// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bits.h"

#include <assert.h>

#include "common/int_core.h"

void motus_bits_init(MotusBits *bits, uint8_t *data, size_t capacity) {
    *bits = (MotusBits){.capacity = capacity};
    bits->data = data;
}

// Moves the whole bytes among the oldest `n` bits of the cache to the buffer.
static void flush_bytes(MotusBits *bits, int n) {
    for (; n >= 8; n -= 8) {
        bits->cached -= 8;
        if (bits->size < bits->capacity)
            bits->data[bits->size++] = (uint8_t)(bits->cache >> bits->cached);
        else
            bits->overflow = 1;
    }
}

void motus_bits_put(MotusBits *bits, int n, uint32_t value) {
    assert(n >= 0 && n <= 32 && (n == 32 || value >> n == 0));
    bits->cache = bits->cache << n | value; // at most 31 + 32 bits
    bits->cached += n;
    if (bits->cached >= 32) flush_bytes(bits, 32);
}

void motus_bits_ue(MotusBits *bits, uint32_t value) {
    int length = motus_bit_length(value + 1);
    motus_bits_put(bits, length - 1, 0);
    motus_bits_put(bits, length, value + 1);
}

void motus_bits_se(MotusBits *bits, int32_t value) {
    motus_bits_ue(bits, value > 0 ? 2u * (uint32_t)value - 1 : 2u * (0u - (uint32_t)value));
}

void motus_bits_align_zero(MotusBits *bits) {
    motus_bits_put(bits, -bits->cached & 7, 0);
    flush_bytes(bits, bits->cached);
}

void motus_bits_trailing(MotusBits *bits) {
    motus_bits_put(bits, 1, 1);
    motus_bits_align_zero(bits);
}

size_t motus_bits_count(const MotusBits *bits) { return bits->size * 8 + (size_t)bits->cached; }
