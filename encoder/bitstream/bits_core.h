// Bit writer (7.2, 9.1), and counter. Bits are collected most significant first; the buffer never
// grows: the owner sizes it for the worst case.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_BITS_CORE_H
#define ENCODER_BITSTREAM_BITS_CORE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "common/int_core.h"

typedef struct MotusBits {
    uint8_t *data;         // NULL: bits are counted, not kept
    size_t capacity, size; // bytes; `overflow` is set instead of writing past capacity
    uint64_t cache;
    int cached; // bits waiting in cache, < 32 between calls
    int overflow;
} MotusBits;

MOTUS_HD void motus_bits_init(MotusBits *bits, uint8_t *data, size_t capacity) {
    bits->data = data;
    bits->capacity = capacity;
    bits->size = 0;
    bits->cache = 0;
    bits->cached = bits->overflow = 0;
}

// Bits written so far.
MOTUS_HD size_t motus_bits_count(const MotusBits *bits) {
    return bits->size * 8 + (size_t)bits->cached;
}

#ifdef __CUDACC__

// On a device many threads write into one buffer of zeroed words, each from a bit of its own on:
// they share the words at which they meet, so words are joined by or. `data` begins at a multiple
// of 4, and nobody looks at the capacity: who has the bits counted knows that they fit.
static inline __device__ void motus_bits_init_at(MotusBits *bits, uint8_t *data, uint32_t at) {
    motus_bits_init(bits, data, 0);
    bits->size = at >> 5 << 2;
    bits->cached = (int)(at & 31); // zeros, which leave what others write there
}

static inline __device__ void motus_bits_word(MotusBits *bits, uint32_t word) {
    if (bits->data)
        atomicOr((unsigned int *)(bits->data + bits->size), __byte_perm(word, 0, 0x0123));
    bits->size += 4;
}

// Gives away what is still in the cache; nothing can be written after that.
static inline __device__ void motus_bits_finish(MotusBits *bits) {
    if (bits->cached) motus_bits_word(bits, (uint32_t)(bits->cache << (32 - bits->cached)));
}

#endif
#ifndef __CUDA_ARCH__

// Moves the whole bytes among the oldest `n` bits of the cache to the buffer. Rarely called, and so
// kept out of the way.
static __attribute__((noinline, unused)) void motus_bits_bytes(MotusBits *bits, int n) {
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

#endif

MOTUS_HD void motus_bits_put(MotusBits *bits, int n, uint32_t value) { // n 0..32, value < 2^n
    assert(n >= 0 && n <= 32 && (n == 32 || value >> n == 0));
    bits->cache = bits->cache << n | value; // at most 31 + 32 bits
    bits->cached += n;
    if (bits->cached < 32) return;
#ifdef __CUDA_ARCH__
    bits->cached -= 32;
    motus_bits_word(bits, (uint32_t)(bits->cache >> bits->cached));
#else
    if (!bits->data || bits->capacity - bits->size < 4) {
        motus_bits_bytes(bits, 32);
        return;
    }
    bits->cached -= 32;
    uint32_t word = (uint32_t)(bits->cache >> bits->cached);
    uint8_t *at = bits->data + bits->size;
    at[0] = (uint8_t)(word >> 24), at[1] = (uint8_t)(word >> 16), at[2] = (uint8_t)(word >> 8),
    at[3] = (uint8_t)word;
    bits->size += 4;
#endif
}

MOTUS_HD void motus_bits_ue(MotusBits *bits, uint32_t value) { // value < 2^32 - 1
    int length = motus_bit_length(value + 1);
    motus_bits_put(bits, length - 1, 0);
    motus_bits_put(bits, length, value + 1);
}

MOTUS_HD void motus_bits_se(MotusBits *bits, int32_t value) {
    motus_bits_ue(bits, value > 0 ? 2u * (uint32_t)value - 1 : 2u * (0u - (uint32_t)value));
}

#ifndef __CUDA_ARCH__

// pcm_alignment_zero_bit; flushes the cache.
static inline void motus_bits_align_zero(MotusBits *bits) {
    motus_bits_put(bits, -bits->cached & 7, 0);
    motus_bits_bytes(bits, bits->cached);
}

// Appends the first `n` bits at `from`, whole bytes of which can be read. `from` may lie in the
// writer's own buffer, at or after the place that these bits go to: a word is read before its place
// is written.
static inline void motus_bits_append(MotusBits *bits, const uint8_t *from, size_t n) {
    for (; n >= 32; n -= 32, from += 4)
        motus_bits_put(bits, 32,
                       (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 |
                           from[3]);
    for (; n >= 8; n -= 8) motus_bits_put(bits, 8, *from++);
    if (n) motus_bits_put(bits, (int)n, (uint32_t)*from >> (8 - n));
}

// rbsp_trailing_bits: a one, then zeros up to the byte; flushes the cache.
static inline void motus_bits_trailing(MotusBits *bits) {
    motus_bits_put(bits, 1, 1);
    motus_bits_align_zero(bits);
}

#endif
#endif
