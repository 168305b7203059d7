// Shared by the kernels of the chroma key: views of planes, samples as floats, signs as masks,
// mixtures. Integer instructions are the bound, so most arithmetic is in floats, on the
// multiply-add pipe. A pixel is inside by the sign bits of three margins; mixtures are dot products
// of bytes.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_KEY_KEY_CUH
#define FILTER_KEY_KEY_CUH

#include "filter/key/key_core.h"
#include "motus/filter_cuda.h"

namespace {

// ---- Planes and frames (also for filter/colour.cu) ----------------------------------------------

struct View {
    uint8_t *data;
    int stride, width, height;
};

struct Picture {
    View plane[3];
};

inline View view(const MotusPlane &p) { return View{p.data, (int)p.stride, p.width, p.height}; }

inline Picture picture(const MotusFrame *f) {
    return Picture{{view(f->plane[0]), view(f->plane[1]), view(f->plane[2])}};
}

// Returns the number of groups of `size` that cover n.
inline unsigned groups(int n, int size) { return (unsigned)((n + size - 1) / size); }

// ---- Samples ------------------------------------------------------------------------------------

__device__ __forceinline__ float as_float(int bits) { return __int_as_float(bits); }

// Returns c from the bits of 2^23 + c. A permute makes the bits from a byte, a subtraction makes c,
// and the bits compare as c does.
__device__ __forceinline__ float unmagic(int bits) {
    return __fadd_rn(__int_as_float(bits), -8388608.0f);
}

// Returns byte i of w as the bits of 2^23 + c.
__device__ __forceinline__ int sample(const uint32_t *w, int i) {
    uint32_t magic; // hidden from the compiler, or it keeps the selectors in registers
    asm("mov.u32 %0, 0x4b000000;" : "=r"(magic));
    return (int)__byte_perm(w[i / 4], magic, 0x7440u + (unsigned)(i & 3));
}

// __byte_perm with signs: selector 8 + k is eight copies of byte k's sign.
__device__ __forceinline__ uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors) {
    uint32_t out;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(selectors));
    return out;
}

// Returns the pair (weight, 256 - weight).
__device__ __forceinline__ uint32_t pair_of(uint32_t weight) {
    uint32_t pair; // in assembly: the compiler would use shifts and subtractions
    asm("mad.lo.u32 %0, %1, %2, %3;"
        : "=r"(pair)
        : "r"(weight), "r"(1u - 65536u), "r"((uint32_t)KEY_FULL << 16));
    return pair;
}

// Return a sample's mixture, 8 fraction bits, of bytes 0 and 1, or 2 and 3.
__device__ __forceinline__ uint32_t mix_low(uint32_t pair, uint32_t bytes) {
    return __dp2a_lo(pair, bytes, 128u);
}
__device__ __forceinline__ uint32_t mix_high(uint32_t pair, uint32_t bytes) {
    return __dp2a_hi(pair, bytes, 128u);
}

// Packs bytes 1 of four mixtures.
__device__ __forceinline__ uint32_t pack4(const uint32_t *v) {
    return __byte_perm(__byte_perm(v[0], v[1], 0x0051), __byte_perm(v[2], v[3], 0x0051), 0x5410);
}

} // namespace

#endif
