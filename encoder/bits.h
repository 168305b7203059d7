// Bit writer (7.2, 9.1). Bits are collected most significant first; the buffer never grows: the owner sizes it for the worst case.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITS_H
#define ENCODER_BITS_H

#include <stddef.h>
#include <stdint.h>

typedef struct MotusBits {
    uint8_t *data;
    size_t capacity, size; // bytes; `overflow` is set instead of writing past capacity
    uint64_t cache;
    int cached; // bits waiting in cache, < 32 between calls
    int overflow;
} MotusBits;

void motus_bits_init(MotusBits *bits, uint8_t *data, size_t capacity);
void motus_bits_put(MotusBits *bits, int n, uint32_t value); // n 0..32, value < 2^n
void motus_bits_ue(MotusBits *bits, uint32_t value);         // value < 2^32 - 1
void motus_bits_se(MotusBits *bits, int32_t value);
void motus_bits_trailing(MotusBits *bits);      // rbsp_trailing_bits: a one, then zeros up to the byte; flushes the cache
void motus_bits_align_zero(MotusBits *bits);    // pcm_alignment_zero_bit
size_t motus_bits_count(const MotusBits *bits); // bits written so far

#endif
