// Bit writer and counter (7.2, 9.1); NAL units (7.3.1, Annex B). Bits are collected most
// significant first. The buffer never grows: its owner sizes it for the worst case.
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

// Returns the next whole byte's first bit.
MOTUS_HD uint32_t motus_align8(uint32_t bits) { return (bits + 7) & ~7u; }

// Returns the number of bits written so far.
MOTUS_HD size_t motus_bits_count(const MotusBits *bits) {
    return bits->size * 8 + (size_t)bits->cached;
}

// ---- Device: threads write into one buffer ------------------------------------------------------

#ifdef __CUDACC__

// Begins at bit `at` of a zeroed buffer of 32-bit words. Threads share the words at which their
// bits meet, so words are joined by or. Nothing checks the capacity: the bits were counted before.
static inline __device__ void motus_bits_init_at(MotusBits *bits, uint8_t *data, uint32_t at) {
    motus_bits_init(bits, data, 0);
    bits->size = at >> 5 << 2;
    bits->cached = (int)(at & 31); // zeros, which keep what others write there
}

static inline __device__ void motus_bits_word(MotusBits *bits, uint32_t word) {
    if (bits->data)
        atomicOr((unsigned int *)(bits->data + bits->size), __byte_perm(word, 0, 0x0123));
    bits->size += 4;
}

// Writes the rest of the cache; ends the writer.
static inline __device__ void motus_bits_finish(MotusBits *bits) {
    if (bits->cached) motus_bits_word(bits, (uint32_t)(bits->cache << (32 - bits->cached)));
}

#endif

enum { MOTUS_BIN_COUNTS = 1024 }; // contexts (cabac_core.h), zeros then ones

// Bins that CABAC coded, by context: [c] zeros, [c + MOTUS_BIN_COUNTS / 2] ones; and those without
// a context.
typedef struct MotusBinCounts {
    uint32_t bin[MOTUS_BIN_COUNTS];
    uint32_t others;
} MotusBinCounts;

// ---- Host ---------------------------------------------------------------------------------------

#ifdef __cplusplus
extern "C" {
#endif

// Moves the whole bytes among the oldest `n` bits of the cache to the buffer.
void motus_bits_flush(MotusBits *bits, int n);

// Writes pcm_alignment_zero_bit up to a whole byte; flushes the cache.
void motus_bits_align_zero(MotusBits *bits);

// Writes rbsp_trailing_bits: a one, then zeros up to a whole byte; flushes the cache.
void motus_bits_trailing(MotusBits *bits);

// Appends the first `n` bits at `from`, whose last byte is read whole. `from` may lie in the
// writer's own buffer, at or after the place that the bits go to: words are read before they are
// written.
void motus_bits_append(MotusBits *bits, const uint8_t *from, size_t n);

enum {
    MOTUS_NAL_SLICE = 1,
    MOTUS_NAL_IDR = 5,
    MOTUS_NAL_SEI = 6,
    MOTUS_NAL_SPS = 7,
    MOTUS_NAL_PPS = 8,
    MOTUS_NAL_AUD = 9,
    MOTUS_NAL_FILLER = 12,
};

// Writes an RBSP as a NAL unit with a four-byte start code and emulation prevention. Returns the
// bytes written to dst, at most motus_nal_bound(size).
size_t motus_nal_write(uint8_t *dst, int nal_ref_idc, int nal_unit_type, const uint8_t *rbsp,
                       size_t size);
size_t motus_nal_bound(size_t size);

// Appends cabac_zero_words behind a picture's last slice, each with its emulation prevention byte.
// bytes, n_mb: of motus_cabac_zero_words. Returns the bytes written.
size_t motus_write_zero_words(uint8_t *dst, const MotusBinCounts *counts, size_t bytes, int n_mb);

#ifdef __cplusplus
}
#endif

// ---- Both ---------------------------------------------------------------------------------------

// Writes the low n bits of value; n 0..32, value < 2^n.
MOTUS_HD void motus_bits_put(MotusBits *bits, int n, uint32_t value) {
    assert(n >= 0 && n <= 32 && (n == 32 || value >> n == 0));
    bits->cache = bits->cache << n | value; // at most 31 + 32 bits
    bits->cached += n;
    if (bits->cached < 32) return;
#ifdef __CUDA_ARCH__
    bits->cached -= 32;
    motus_bits_word(bits, (uint32_t)(bits->cache >> bits->cached));
#else
    if (!bits->data || bits->capacity - bits->size < 4) {
        motus_bits_flush(bits, 32);
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

// Writes ue(v); value < 2^32 - 1.
MOTUS_HD void motus_bits_ue(MotusBits *bits, uint32_t value) {
    int length = motus_bit_length(value + 1);
    motus_bits_put(bits, length - 1, 0);
    motus_bits_put(bits, length, value + 1);
}

// Writes se(v).
MOTUS_HD void motus_bits_se(MotusBits *bits, int32_t value) {
    motus_bits_ue(bits, value > 0 ? 2u * (uint32_t)value - 1 : 2u * (0u - (uint32_t)value));
}

// ---- cabac_zero_words ---------------------------------------------------------------------------

// Returns the number of cabac_zero_words that a picture needs (7.4.2.10): its bins, the bytes of
// its slices' NAL units, its MBs.
MOTUS_HD size_t motus_cabac_zero_words(uint64_t bins, size_t bytes, int n_mb) {
    const uint64_t raw_mb_bits = 3072, free_bins = raw_mb_bits * (uint64_t)n_mb / 32;
    const uint64_t needed = bins > free_bins ? ((bins - free_bins) * 3 + 31) / 32 : 0; // bytes
    return needed > bytes ? (size_t)((needed - bytes + 2) / 3) : 0;
}

#endif
