// The 41 blocks of an MB at some points of the window, by one lane: 4x4 SADs, the 25 larger blocks
// merged from them, and the least key of each block kept. A key is J << INDEX_BITS | index of the
// point, so the least key is the first of the best points.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_BLOCKS_CUH
#define ME_SEARCH_BLOCKS_CUH

#include "me/pixel/sad.cuh"
#include "motus/me.h"

namespace {

constexpr int INDEX_BITS = 15; // of a key, under J, which is below 2^17
constexpr uint32_t INDEX_MASK = (1u << INDEX_BITS) - 1;

__device__ uint32_t min3(uint32_t a, uint32_t b, uint32_t c) { return __vimin3_u32(a, b, c); }

// Merges sums on the multiply-add pipe, which VABSDIFF4 and minima leave idle. The multipliers are
// arguments: with constants the compiler would add on the busy pipe.
struct Merge {
    uint32_t scale, one; // 1 << INDEX_BITS and 1

    // In assembly: the compiler would share a product between two sums, and add on the busy pipe.
    static __device__ uint32_t multiply_add(uint32_t a, uint32_t b, uint32_t c) {
        uint32_t d;
        asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
        return d;
    }
    __device__ uint32_t key(uint32_t sum, uint32_t onto) const {
        return multiply_add(sum, scale, onto);
    }
    __device__ uint32_t add(uint32_t a, uint32_t b) const { return multiply_add(a, one, b); }
    __device__ uint32_t subtract(uint32_t a, uint32_t b) const {
        return multiply_add(b, 0u - one, a);
    }
};

struct Point {
    uint32_t word;   // added to each key: MV cost and index
    uint32_t all[4]; // keys of its 8x8 blocks
};

// Keys of the nine blocks of an 8x8 block from the 4x4 sums a b / e f. Larger blocks start from the
// key of a or f, so they contain the point's word exactly once.
struct Keys8x8 {
    uint32_t a, b, e, f, ab, ef, ae, bf, all;

    __device__ Keys8x8(const Merge &m, const uint32_t (&sum)[4], uint32_t word) {
        a = m.key(sum[0], word), f = m.key(sum[3], word);
        ab = m.key(sum[1], a), ef = m.key(sum[2], f);
        ae = m.key(sum[2], a), bf = m.key(sum[1], f);
        all = m.key(m.add(sum[2], sum[3]), ab);
        b = m.key(sum[1], word), e = m.key(sum[2], word);
    }
};

// Keys of the five largest blocks, from those of the 8x8 blocks.
struct Whole {
    uint32_t top, bottom, left, right, all;

    __device__ Whole(const Merge &m, const Point &p) {
        uint32_t q1 = m.subtract(p.all[1], p.word), q2 = m.subtract(p.all[2], p.word);
        top = m.add(p.all[0], q1), bottom = m.add(p.all[3], q2);
        left = m.add(p.all[0], q2), right = m.add(p.all[3], q1);
        all = m.add(m.subtract(bottom, p.word), top);
    }
};

// Addresses of 16 samples from byte `at` of a window row (fill_window), in two aligned halves.
struct Column {
    const uint8_t *left, *right;

    __device__ Column(const uint8_t *row, int at) {
        left = row + (at >> 4) * 128 + (at & 7) * 16 + (at & 8);
        right = left + (at & 8 ? 120 : 8);
    }
};

// The source words of 8x8 block (X, Y): eight rows of two.
template <int X, int Y> struct Source {
    uint32_t word[16];

    // Loaded again for each set of points: 64 words kept in registers would cost every third warp.
    __device__ explicit Source(const uint32_t *mb) {
        uint32_t at = (uint32_t)__cvta_generic_to_shared(mb + 32 * Y + 2 * X);
        asm volatile("" : "+r"(at)); // keeps the compiler from reusing them
#pragma unroll
        for (int i = 0; i < 8; i++)
            asm("ld.shared.v2.u32 {%0, %1}, [%2];"
                : "=r"(word[2 * i]), "=r"(word[2 * i + 1])
                : "r"(at + 16 * i));
    }
};

// Computes the four 4x4 sums of an 8x8 block at N points one below the other; LARGE: its whole sum
// as the first one. Line by line: N consecutive additions share a source word.
template <int N, int X, int Y, int PITCH, bool LARGE>
__device__ void sum_8x8(uint32_t (*sum)[4], const Source<X, Y> &source, const Column &column) {
    uint2 w[7 + N];
#pragma unroll
    for (int r = 0; r < 7 + N; r++)
        w[r] = *reinterpret_cast<const uint2 *>((X ? column.right : column.left) +
                                                (8 * Y + r) * PITCH);
#pragma unroll
    for (int line = 0; line < 8; line++) {
        const int s = LARGE ? 0 : 2 * (line / 4), right = LARGE ? 0 : s + 1;
        const bool goes_on = LARGE ? line : line % 4;
#pragma unroll
        for (int n = 0; n < N; n++)
            sum[n][s] = motus_sad4(w[line + n].x, source.word[2 * line], goes_on ? sum[n][s] : 0);
#pragma unroll
        for (int n = 0; n < N; n++)
            sum[n][right] = motus_sad4(w[line + n].y, source.word[2 * line + 1],
                                       LARGE || goes_on ? sum[n][right] : 0);
    }
}

// Updates the minima with 8x8 block (X, Y) of all points. LARGE: without smaller blocks.
template <int X, int Y, int N, int C, int PITCH, bool LARGE>
__device__ void take_blocks(uint32_t (&best)[MOTUS_BLOCKS], const Merge &m, const uint32_t *mb,
                            const Column (&column)[C], Point (&point)[N]) {
    Source<X, Y> source(mb);
    uint32_t sum[N][4];
#pragma unroll
    for (int c = 0; c < C; c++)
        sum_8x8<N / C, X, Y, PITCH, LARGE>(sum + c * (N / C), source, column[c]);
#pragma unroll
    for (int n = 0; n < N; n += 2) {
        if (LARGE) {
            uint32_t *key = &best[MOTUS_BLOCK_8x8 + 2 * Y + X];
            uint32_t &p = point[n].all[2 * Y + X], &q = point[n + 1].all[2 * Y + X];
            p = m.key(sum[n][0], point[n].word), q = m.key(sum[n + 1][0], point[n + 1].word);
            *key = min3(*key, p, q);
            continue;
        }
        Keys8x8 p(m, sum[n], point[n].word), q(m, sum[n + 1], point[n + 1].word);
        uint32_t *k44 = best + MOTUS_BLOCK_4x4 + 8 * Y + 2 * X,
                 *k48 = best + MOTUS_BLOCK_4x8 + 4 * Y + 2 * X;
        uint32_t *k84 = best + MOTUS_BLOCK_8x4 + 4 * Y + X,
                 *k88 = best + MOTUS_BLOCK_8x8 + 2 * Y + X;
        k44[0] = min3(k44[0], p.a, q.a), k44[1] = min3(k44[1], p.b, q.b);
        k44[4] = min3(k44[4], p.e, q.e), k44[5] = min3(k44[5], p.f, q.f);
        k84[0] = min3(k84[0], p.ab, q.ab), k84[2] = min3(k84[2], p.ef, q.ef);
        k48[0] = min3(k48[0], p.ae, q.ae), k48[1] = min3(k48[1], p.bf, q.bf);
        k88[0] = min3(k88[0], p.all, q.all);
        point[n].all[2 * Y + X] = p.all, point[n + 1].all[2 * Y + X] = q.all;
    }
}

// Updates the minima with an even number N of points: each of C columns has N / C, one below the
// other. mb: the 64 source words in shared memory. LARGE: only blocks from 8x8 up.
template <int PITCH, bool LARGE = false, int N, int C>
__device__ void take_points(uint32_t (&best)[MOTUS_BLOCKS], const Merge &m, const uint32_t *mb,
                            const Column (&column)[C], Point (&point)[N]) {
    take_blocks<0, 0, N, C, PITCH, LARGE>(best, m, mb, column, point);
    take_blocks<1, 0, N, C, PITCH, LARGE>(best, m, mb, column, point);
    take_blocks<0, 1, N, C, PITCH, LARGE>(best, m, mb, column, point);
    take_blocks<1, 1, N, C, PITCH, LARGE>(best, m, mb, column, point);
#pragma unroll
    for (int n = 0; n < N; n += 2) {
        const Whole p(m, point[n]), q(m, point[n + 1]);
        uint32_t *k = best;
        k[0] = min3(k[0], p.all, q.all);
        k[1] = min3(k[1], p.top, q.top), k[2] = min3(k[2], p.bottom, q.bottom);
        k[3] = min3(k[3], p.left, q.left), k[4] = min3(k[4], p.right, q.right);
    }
}

} // namespace

#endif
