// Deblocking of a picture on a CUDA device: the samples that motus_deblock_picture makes.
//
// prepare_kernel: a warp per MB finds the strengths and limits of its edges, which depend on no sample, and empties the handovers.
//
// filter_kernel: a warp walks a row of MBs. In an MB its lanes own first the lines across the vertical edges (lanes 0..15 luma, 16..23 Cb, 24..31 Cr), then,
// through a tile in shared memory, the columns across the horizontal ones. What is needed of the MB to the left stays in registers. The last lines of a row of MBs
// (four of luma, two of each chroma plane) are finished by the row below: they are not written but handed over, as words that carry their own mark of being
// there, so that no fence is needed. Each sample is thus loaded by one warp and stored by one; only handovers are shared. A word is handed over as soon as its
// row is through with it (the right-hand one once the next MB's left edge is filtered), which keeps the order of motus_wavefront.
//
// Rows are taken off a counter in order, and a warp waits for the row above only, which a running warp has taken before: the topmost unfinished row waits for nobody,
// and whatever number of blocks is resident, the picture is finished.
//
// Grid: a warp per MB in blocks of four, then a block of one warp per row of MBs. Shared memory: the tile. Read and written: the picture once, 320 bytes per MB besides.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/deblock_cuda.h"

#include "common/lanes.h"
#include "encoder/deblock_core.h"

namespace {

// MotusDeblockLimits in two words.
struct __align__(8) Limits {
    uint32_t alpha_beta; // alpha | beta << 16
    uint32_t tc0;        // a byte per bS
};

enum { LEFT, TOP, INSIDE }; // edges with limits of their own

// All that the filter has to know of an MB.
struct __align__(16) Edges {
    uint16_t strength[2][4]; // [direction][block along the edge], a nibble per edge
    Limits limits[2][3];     // [luma, chroma][LEFT, TOP, INSIDE]
};

// The last lines of an MB on their way to the row below, in words of four samples; bit 32 says that they are there.
struct __align__(64) Handover {
    uint64_t luma[4][4];      // [line - 12][word]
    uint64_t chroma[2][2][2]; // [plane - 1][line - 6][word]
};

constexpr uint64_t THERE = 1ull << 32;
constexpr int HANDED = sizeof(Handover) / sizeof(uint64_t);

struct Picture {
    uint8_t *plane[3];
    ptrdiff_t stride[3];
    const MotusMb *mb;
    int mb_width, mb_height;
    int *next_row;
    Edges *edges;
    Handover *handover; // of all rows but the last one
};

// ---- Strengths and limits -----------------------------------------------------------------------------------------------------------------

__device__ Limits pack(const MotusDeblockLimits &l) {
    return {(uint32_t)l.alpha | (uint32_t)l.beta << 16,
            (uint32_t)l.tc0[1] << 8 | (uint32_t)l.tc0[2] << 16 | (uint32_t)l.tc0[3] << 24};
}

constexpr int PREPARE_WARPS = 4;

__global__ void __launch_bounds__(32 * PREPARE_WARPS) prepare_kernel(Picture p) {
    const int n = (int)(blockIdx.x * PREPARE_WARPS + threadIdx.x / 32), lane = motus_lane();
    if (n == 0 && lane == 0) *p.next_row = 0;
    if (n >= p.mb_width * p.mb_height) return;
    const MotusMb *mb = p.mb + n;
    const MotusMb *left = n % p.mb_width ? mb - 1 : nullptr, *above = n >= p.mb_width ? mb - p.mb_width : nullptr;
    Edges &edges = p.edges[n];

    const int direction = lane >> 4, k = lane >> 2 & 3, edge = lane & 3; // a lane for each of 32 strengths
    const MotusMb *outside = direction == MOTUS_VERTICAL ? left : above;
    int strength = motus_deblock_strength_edge(mb, outside, edge);
    if (strength < 0) strength = motus_deblock_strength_block(mb, outside, direction, edge, k);
    uint32_t nibbles = (uint32_t)strength << 4 * edge;
    nibbles |= __shfl_xor_sync(MOTUS_ALL_LANES, nibbles, 1);
    nibbles |= __shfl_xor_sync(MOTUS_ALL_LANES, nibbles, 2);
    if (edge == 0) edges.strength[direction][k] = (uint16_t)nibbles;

    if (lane < 6) {
        const int chroma = lane >= 3, place = lane % 3;
        const MotusMb *other = place == LEFT ? left : place == TOP ? above : mb;
        edges.limits[chroma][place] = pack(motus_deblock_limits(motus_deblock_qp(other ? other : mb, mb, chroma)));
    }
    if (n < p.mb_width * (p.mb_height - 1) && lane < HANDED) (&p.handover[n].luma[0][0])[lane] = 0;
}

// ---- Filter -------------------------------------------------------------------------------------------------------------------------------

// What a lane does in a row of MBs, whatever the MB. Lines: those of the vertical edges.
struct Role {
    bool luma;
    int line, size;              // its line in the MB; samples of a line
    int column;                  // the line's first word in a row of the tile
    bool keeps;                  // the line is finished by this row, not handed over
    int handed;                  // else: the line's first word of a Handover
    uint8_t *at;                 // the line in the picture, at MB 0
    bool above;                  // takes over a word of the row above, of which:
    int above_size;              // samples of a line
    int above_row, above_column; // the word in the tile
    uint8_t *above_at;           // in the picture, at MB 0
};

__device__ Role role_of(const Picture &p, int y) {
    const int lane = motus_lane(), plane = lane < 16 ? 0 : 1 + (lane >> 3 & 1);
    Role r;
    r.luma = plane == 0;
    r.line = r.luma ? lane : lane & 7;
    r.size = r.luma ? 16 : 8;
    r.column = r.luma ? 0 : 2 + 2 * plane;
    r.at = p.plane[plane] + (y * r.size + r.line) * p.stride[plane];
    const int kept = r.luma ? 12 : 6;
    r.keeps = r.line < kept || y == p.mb_height - 1;
    r.handed = r.luma ? 4 * (r.line - kept) : 16 + 4 * (plane - 1) + 2 * (r.line - kept);
    r.above = y > 0 && lane < HANDED;
    const int word = lane & 15, above_plane = lane < 16 ? 0 : 1 + (word >> 2 & 1); // lanes in the order of a Handover's words
    const int row = above_plane ? 2 + (word >> 1 & 1) : word >> 2;                 // 0..3, of four lines above
    const int across = above_plane ? word & 1 : word & 3;
    r.above_size = above_plane ? 8 : 16;
    r.above_row = row;
    r.above_column = above_plane ? 2 + 2 * above_plane + across : across;
    r.above_at = p.plane[above_plane] + (y * r.above_size + row - 4) * p.stride[above_plane] + 4 * across;
    return r;
}

// What can be loaded before it is an MB's turn: own samples as no other warp changes them, and the edges, of which a lane needs one line's and one column's.
struct Ahead {
    uint4 samples;        // of the lane's line; chroma: two words
    uint32_t strength[2]; // a nibble per edge, [direction]
    Limits limits[3];
};

__device__ Ahead load_ahead(const Picture &p, const Role &r, int x, int y) {
    Ahead a;
    const uint8_t *at = r.at + x * r.size;
    if (r.luma) {
        a.samples = __ldcg(reinterpret_cast<const uint4 *>(at));
    } else {
        const uint2 half = __ldcg(reinterpret_cast<const uint2 *>(at));
        a.samples = make_uint4(half.x, half.y, 0, 0);
    }
    // The place of line and column along an edge is the same number; chroma has the luma edges 0 and 2, four samples apart.
    const Edges &edges = p.edges[y * p.mb_width + x];
    const int k = r.luma ? r.line >> 2 : r.line >> 1;
    for (int direction = 0; direction < 2; direction++) {
        const uint32_t strength = edges.strength[direction][k];
        a.strength[direction] = r.luma ? strength : (strength & 15) | (strength >> 8 & 15) << 4;
    }
    for (int i = 0; i < 3; i++) a.limits[i] = edges.limits[!r.luma][i];
    return a;
}

// Edge E of a line or column: v[0..3] lie outside the MB, edges are four samples apart.
template <int E> __device__ void filter_edge(uint8_t (&v)[20], uint32_t strengths, Limits packed, bool luma) {
    const uint32_t strength = strengths >> 4 * E & 15;
    if (!strength) return;
    const MotusDeblockLimits limits = {(int)(packed.alpha_beta & 0xFFFF), (int)(packed.alpha_beta >> 16), {}};
    if (E == 0 && strength == 4)
        motus_deblock_strong(v + 4, 1, !luma, &limits);
    else
        motus_deblock_normal(v + 4 + 4 * E, 1, !luma, (int)(packed.tc0 >> 8 * strength & 255), &limits);
}

__device__ void unpack(uint8_t *v, uint32_t word) {
    for (int i = 0; i < 4; i++) v[i] = (uint8_t)(word >> 8 * i);
}

__device__ uint32_t pack(const uint8_t *v) {
    return (uint32_t)v[0] | (uint32_t)v[1] << 8 | (uint32_t)v[2] << 16 | (uint32_t)v[3] << 24;
}

constexpr int PITCH = 9; // words; odd, so that lines start in different banks

// Lines 0..3: above the MB (chroma: 2..3); then the MB's own. Bytes 0..15 luma, 16..23 Cb, 24..31 Cr: byte i is lane i's column.
typedef uint32_t Tile[20][PITCH];

__device__ void put_line(Tile &tile, const Role &r, const uint8_t *v) {
    uint32_t *line = &tile[4 + r.line][r.column];
    line[0] = pack(v), line[1] = pack(v + 4);
    if (r.luma) line[2] = pack(v + 8), line[3] = pack(v + 12);
}

__device__ void filter_columns(Tile &tile, const Role &r, const Ahead &a) {
    uint8_t v[20], *column = reinterpret_cast<uint8_t *>(tile) + motus_lane();
#pragma unroll
    for (int i = 0; i < 20; i++) v[i] = column[i * 4 * PITCH];
    filter_edge<0>(v, a.strength[MOTUS_HORIZONTAL], a.limits[TOP], r.luma);
    filter_edge<1>(v, a.strength[MOTUS_HORIZONTAL], a.limits[INSIDE], r.luma);
    filter_edge<2>(v, a.strength[MOTUS_HORIZONTAL], a.limits[INSIDE], r.luma);
    filter_edge<3>(v, a.strength[MOTUS_HORIZONTAL], a.limits[INSIDE], r.luma);
#pragma unroll
    for (int i = 0; i < 20; i++) column[i * 4 * PITCH] = v[i];
}

// Word i of the lane's line in MB x is finished as far as this row goes.
__device__ void hand_over(const Picture &p, const Role &r, int x, int y, int i, uint32_t word) {
    volatile uint64_t *to = &p.handover[y * p.mb_width + x].luma[0][0] + r.handed + i;
    *to = word | THERE;
}

// The lane's line of MB x, after its horizontal edges. The last word still waits for the next MB's left edge; it is returned.
__device__ uint32_t finish_line(const Picture &p, const Role &r, int x, int y, const uint32_t *line) {
    uint8_t *at = r.at + x * r.size;
    const bool last = x == p.mb_width - 1;
    if (r.keeps && r.luma) *reinterpret_cast<uint4 *>(at) = make_uint4(line[0], line[1], line[2], line[3]);
    if (r.keeps && !r.luma) *reinterpret_cast<uint2 *>(at) = make_uint2(line[0], line[1]);
    const int words = r.size / 4;
    if (!r.keeps)
        for (int i = 0; i < words - !last; i++) hand_over(p, r, x, y, i, line[i]);
    return line[words - 1];
}

__device__ void filter_row(const Picture &p, int y, Tile &tile) {
    const Role r = role_of(p, y);
    Ahead next = load_ahead(p, r, 0, y);
    uint32_t left = 0; // the word to the left of the lane's line
    for (int x = 0; x < p.mb_width; x++) {
        const Ahead a = next;
        if (x + 1 < p.mb_width) next = load_ahead(p, r, x + 1, y);
        const volatile uint64_t *from = r.above ? &p.handover[(y - 1) * p.mb_width + x].luma[0][0] + motus_lane() : nullptr;
        uint64_t above = from ? *from : THERE;

        uint8_t v[20];
        unpack(v, left);
        unpack(v + 4, a.samples.x), unpack(v + 8, a.samples.y), unpack(v + 12, a.samples.z), unpack(v + 16, a.samples.w);
        filter_edge<0>(v, a.strength[MOTUS_VERTICAL], a.limits[LEFT], r.luma);
        if (x) { // the MB to the left is through
            if (r.keeps)
                *reinterpret_cast<uint32_t *>(r.at + x * r.size - 4) = pack(v);
            else
                hand_over(p, r, x - 1, y, r.size / 4 - 1, pack(v));
        }
        filter_edge<1>(v, a.strength[MOTUS_VERTICAL], a.limits[INSIDE], r.luma);
        filter_edge<2>(v, a.strength[MOTUS_VERTICAL], a.limits[INSIDE], r.luma);
        filter_edge<3>(v, a.strength[MOTUS_VERTICAL], a.limits[INSIDE], r.luma);
        put_line(tile, r, v + 4);

        while (!(above & THERE)) above = *from;
        if (from) tile[r.above_row][r.above_column] = (uint32_t)above;
        __syncwarp(); // lines are whole before columns are read
        filter_columns(tile, r, a);
        __syncwarp(); // and columns before lines are. From here on a lane touches only words of the tile that it will write itself in the next MB.
        if (from) *reinterpret_cast<uint32_t *>(r.above_at + x * r.above_size) = tile[r.above_row][r.above_column];
        left = finish_line(p, r, x, y, &tile[4 + r.line][r.column]);
    }
}

__global__ void __launch_bounds__(32) filter_kernel(const __grid_constant__ Picture p) {
    __shared__ Tile tile;
    for (int i = motus_lane(); i < 20 * PITCH; i += MOTUS_LANES)
        (&tile[0][0])[i] = 0; // chroma's columns end early, yet are read to the end
    __syncwarp();
    for (;;) {
        int y = 0;
        if (motus_lane() == 0) y = atomicAdd(p.next_row, 1);
        y = __shfl_sync(MOTUS_ALL_LANES, y, 0);
        if (y >= p.mb_height) return;
        filter_row(p, y, tile);
    }
}

constexpr size_t COUNTER_BYTES = 64; // so that what follows is aligned

} // namespace

extern "C" size_t motus_deblock_cuda_flags(int mb_width, int mb_height) {
    return (COUNTER_BYTES + (size_t)mb_width * (size_t)mb_height * (sizeof(Edges) + sizeof(Handover))) / sizeof(int);
}

extern "C" cudaError_t motus_deblock_cuda(uint8_t *const plane[3], const ptrdiff_t stride[3], const MotusMb *mb, int mb_width,
                                          int mb_height, int *flags, cudaStream_t stream) {
    static_assert(sizeof(Edges) == 64 && sizeof(Handover) == 192, "aligned one behind the other");
    const int n_mb = mb_width * mb_height;
    uint8_t *memory = reinterpret_cast<uint8_t *>(flags) + COUNTER_BYTES;
    Picture p = {{plane[0], plane[1], plane[2]},
                 {stride[0], stride[1], stride[2]},
                 mb,
                 mb_width,
                 mb_height,
                 flags,
                 reinterpret_cast<Edges *>(memory),
                 reinterpret_cast<Handover *>(memory + (size_t)n_mb * sizeof(Edges))};
    prepare_kernel<<<(n_mb + PREPARE_WARPS - 1) / PREPARE_WARPS, 32 * PREPARE_WARPS, 0, stream>>>(p);
    const cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) return status;
    filter_kernel<<<mb_height, 32, 0, stream>>>(p);
    return cudaGetLastError();
}
