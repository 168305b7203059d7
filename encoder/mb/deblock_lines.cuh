// Lines and columns of MBs for the kernels of deblock.cu: what a block reads, edges of a line in
// registers, and which thread has which plane.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_MB_DEBLOCK_LINES_CUH
#define ENCODER_MB_DEBLOCK_LINES_CUH

#include "encoder/mb/deblock_core.h"

namespace motus_deblock {

// MotusDeblockLimits, packed.
struct __align__(8) Limits {
    uint32_t alpha_beta; // alpha | beta << 16
    uint32_t tc0;        // a byte per bS
};

static __device__ Limits pack(const MotusDeblockLimits &l) {
    return {(uint32_t)l.alpha | (uint32_t)l.beta << 16,
            (uint32_t)l.tc0[1] << 8 | (uint32_t)l.tc0[2] << 16 | (uint32_t)l.tc0[3] << 24};
}

enum { LEFT, TOP, INSIDE }; // edges with limits of their own

// bS and limits of an MB's edges.
struct __align__(16) Edges {
    uint16_t strength[2][4]; // [direction][block along the edge], a nibble per edge
    Limits limits[2][3];     // [luma, chroma][LEFT, TOP, INSIDE]
};

// Last four columns of an MB after both directions, a word per line: input of the MB to the right.
struct __align__(64) Strip {
    uint32_t luma[16], chroma[2][8];
};

struct Picture {
    const uint8_t *from[3];
    uint8_t *to[3];
    ptrdiff_t stride[3];
    const MotusMb *mb;
    int mb_width, mb_height, copies, apart_row;
    Edges *edges;
    Strip *strip;
};

constexpr int RUN = 8; // MBs of a block: 128 bytes of a luma line

// Sizes of a plane's MB.
template <bool LUMA> struct Layout {
    static constexpr int SIZE = LUMA ? 16 : 8;
    static constexpr int WORDS = SIZE / 4;
    static constexpr int EDGES = LUMA ? 4 : 2;     // per direction, four samples apart
    static constexpr int HELD = LUMA ? 4 : 2;      // last lines, which the MB below changes too
    static constexpr int ABOVE = LUMA ? 10 : HELD; // lines of the MB above that those depend on
    static constexpr int LINES = ABOVE + SIZE;     // of a block
};

// Returns the nibbles of bS at sample `along` of the edges: four luma samples a block, two of
// chroma.
template <bool LUMA>
static __device__ uint32_t strengths_at(const Edges &edges, int direction, int along) {
    return edges.strength[direction][LUMA ? along >> 2 : along >> 1];
}

// Filters edge E of a line or column. v[0..3] lie outside the MB. Chroma's edges are luma's 0
// and 2.
template <bool LUMA, int E>
static __device__ void filter_edge(uint8_t (&v)[20], uint32_t strengths, const Limits &of) {
    const uint32_t strength = strengths >> (LUMA ? 4 : 8) * E & 15;
    if (!strength) return;
    const MotusDeblockLimits limits = {
        (int)(of.alpha_beta & 0xFFFF), (int)(of.alpha_beta >> 16), {}};
    if (E == 0 && strength == 4)
        motus_deblock_strong(v + 4, 1, !LUMA, &limits);
    else
        motus_deblock_normal(v + 4 + 4 * E, 1, !LUMA, (int)(of.tc0 >> 8 * strength & 255), &limits);
}

// Filters the edges that the MB's last four samples depend on: none where strengths >> 8 is 0.
template <bool LUMA>
static __device__ void filter_last(uint8_t (&v)[20], uint32_t strengths, const Limits &inside) {
    if (LUMA) filter_edge<LUMA, 2>(v, strengths, inside);
    filter_edge<LUMA, Layout<LUMA>::EDGES - 1>(v, strengths, inside);
}

template <bool LUMA>
static __device__ void filter_all(uint8_t (&v)[20], uint32_t strengths, const Limits &outer,
                                  const Limits &inside) {
    filter_edge<LUMA, 0>(v, strengths, outer);
    filter_edge<LUMA, 1>(v, strengths, inside);
    if (LUMA) filter_edge<LUMA, 2>(v, strengths, inside);
    if (LUMA) filter_edge<LUMA, 3>(v, strengths, inside);
}

static __device__ void unpack(uint8_t *v, uint32_t word) {
    for (int i = 0; i < 4; i++) v[i] = (uint8_t)(word >> 8 * i);
}

static __device__ uint32_t pack(const uint8_t *v) {
    return (uint32_t)v[0] | (uint32_t)v[1] << 8 | (uint32_t)v[2] << 16 | (uint32_t)v[3] << 24;
}

// Loads an MB's samples of a line.
template <bool LUMA> static __device__ void load_line(uint8_t *v, const uint8_t *at) {
    if (LUMA) {
        const uint4 all = __ldg(reinterpret_cast<const uint4 *>(at));
        unpack(v, all.x), unpack(v + 4, all.y), unpack(v + 8, all.z), unpack(v + 12, all.w);
    } else {
        const uint2 all = __ldg(reinterpret_cast<const uint2 *>(at));
        unpack(v, all.x), unpack(v + 4, all.y);
    }
}

static __device__ uint32_t load_word(const uint8_t *at) {
    return __ldg(reinterpret_cast<const uint32_t *>(at));
}

// Line of a thread block.
struct Line {
    int n, in_mb; // MB; line in it
    bool there;   // inside the picture
};

template <bool LUMA> static __device__ Line line_of(const Picture &p, int x, int y, int l) {
    const int line = l - Layout<LUMA>::ABOVE, above = line < 0;
    return {(y - above) * p.mb_width + x, line + above * Layout<LUMA>::SIZE,
            x < p.mb_width && y >= above};
}

template <bool LUMA>
static __device__ ptrdiff_t offset_of(const Picture &p, int plane, int x, int y, int line) {
    return (y * Layout<LUMA>::SIZE + line) * p.stride[plane] + x * Layout<LUMA>::SIZE;
}

template <bool LUMA> static __device__ uint32_t *strip_of(const Picture &p, int plane, int n) {
    return LUMA ? p.strip[n].luma : p.strip[n].chroma[plane - 1];
}

// Threads of strip_kernel and filter_kernel: luma's warps, then those of the chroma planes.
constexpr int LUMA_THREADS = 7 * 32, PLANE_THREADS = 5 * 16,
              THREADS = LUMA_THREADS + 2 * PLANE_THREADS;

// Thread t of the `threads` of a plane.
struct Task {
    int plane, t, threads;
};

static __device__ Task task_of(int thread) {
    const int t = thread - LUMA_THREADS;
    return t < 0               ? Task{0, thread, LUMA_THREADS}
           : t < PLANE_THREADS ? Task{1, t, PLANE_THREADS}
                               : Task{2, t - PLANE_THREADS, PLANE_THREADS};
}

} // namespace motus_deblock

#endif
