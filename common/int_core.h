// The base of every x_core.h: marks of functions that gcc and nvcc both compile, and small integer
// functions.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_INT_CORE_H
#define COMMON_INT_CORE_H

#include <assert.h>
#include <stdint.h>

#ifdef __CUDACC__
#define MOTUS_HD static inline __host__ __device__
#else
#define MOTUS_HD static inline
#endif

// Stands before a loop that a kernel must not unroll.
#ifdef __CUDA_ARCH__
#define MOTUS_ONE_BODY _Pragma("unroll 1")
#else
#define MOTUS_ONE_BODY
#endif

MOTUS_HD int motus_min(int a, int b) { return a < b ? a : b; }
MOTUS_HD int motus_max(int a, int b) { return a > b ? a : b; }
MOTUS_HD int motus_clip(int lo, int hi, int v) { return v < lo ? lo : v > hi ? hi : v; }
MOTUS_HD int motus_abs(int v) { return v < 0 ? -v : v; }
MOTUS_HD uint8_t motus_clip_u8(int v) { return (uint8_t)(v & ~255 ? (-v) >> 31 : v); }

MOTUS_HD int motus_median(int a, int b, int c) {
    return motus_max(motus_min(a, b), motus_min(motus_max(a, b), c));
}

// Returns the number of significant bits of v > 0: 1 for 1, 2 for 2..3, ...
MOTUS_HD int motus_bit_length(uint32_t v) {
#ifdef __CUDA_ARCH__
    return 32 - __clz((int)v);
#else
    assert(v); // __builtin_clz(0) is undefined
    return 32 - __builtin_clz(v);
#endif
}

// Length in bits of a ue(v) and an se(v) code (9.1, 9.1.1).
MOTUS_HD int motus_ue_bits(uint32_t v) { return 2 * motus_bit_length(v + 1) - 1; }
MOTUS_HD int motus_se_bits(int v) {
    return motus_ue_bits(v > 0 ? 2u * (uint32_t)v - 1 : 2u * (uint32_t)-v);
}

// A table of 8 or 16 small numbers as a 64-bit constant: `n` bits each, the first one lowest.
#define MOTUS_PACK8(n, a, b, c, d, e, f, g, h)                                                     \
    ((uint64_t)(a) | (uint64_t)(b) << (n) | (uint64_t)(c) << 2 * (n) | (uint64_t)(d) << 3 * (n) |  \
     (uint64_t)(e) << 4 * (n) | (uint64_t)(f) << 5 * (n) | (uint64_t)(g) << 6 * (n) |              \
     (uint64_t)(h) << 7 * (n))
#define MOTUS_PACK16(n, a, b, c, d, e, f, g, h, ...)                                               \
    (MOTUS_PACK8(n, a, b, c, d, e, f, g, h) | MOTUS_PACK8(n, __VA_ARGS__) << 8 * (n))

// Returns the number of whole MBs that cover n samples.
MOTUS_HD int motus_mbs(int n) { return (n + 15) >> 4; }

#endif
