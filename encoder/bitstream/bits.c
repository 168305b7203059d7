// Bit writer on the CPU: bytes, alignment, joining (bits_core.h).
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bitstream/bits_core.h"

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
