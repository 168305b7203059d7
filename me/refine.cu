// Half- and quarter-sample refinement of all 41 blocks by SATD + vector cost, as motus_refine_mb does it.
//
// Half a warp owns an MB and a mode, a lane one 4x4 block of it. A lane loads the 3x3 half-sample positions around its block's
// vector; a block's SATD is the sum over its lanes, by shuffles. Every quarter position next to a half position is the average of two of those
// nine, so the second round loads nine again and averages. A warp with no block that is wanted ends at once.
// Grid: pairs of MBs; block: a warp per mode. Read and written: vectors, SADs and costs in place; planes through the L1.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/refine_cuda.h"

#include "me/cost_core.h"
#include "me/sad_cuda.h"

namespace {

constexpr int PAD = MOTUS_REF_PAD;

// Of a MotusRefLuma: sample (0, 0) of plane k is at base + k * size.
struct Planes {
    const uint8_t *base;
    int stride, size;  // bytes of a row, of a plane
    int width, height; // of the picture, not filled up
};

// Sixteen samples of a 4x4 block, a row per word.
struct Block {
    uint32_t row[4];
};

// The 4x4 blocks at the 3x3 half-sample positions around a place.
struct Grid {
    Block at[3][3]; // [dy + 1][dx + 1]
};

// Five bytes from `from` on: four of them from the first and from the second byte on.
__device__ void load_five(uint32_t &first, uint32_t &second, const uint8_t *from) {
    const uint32_t *word = reinterpret_cast<const uint32_t *>((uintptr_t)from & ~(uintptr_t)3);
    uint32_t low = word[0], high = word[1], shift = 8 * ((uintptr_t)from & 3);
    first = __funnelshift_r(low, high, shift);
    second = __funnelshift_rc(low, high, shift + 8);
}

// (x, y) is the place in half samples. Positions of the same parity as (x, y) come from one plane, the four others come in pairs.
__device__ void load_grid(Grid &grid, const Planes &p, int x, int y) {
    int px = x & 1, py = y & 1;
    const uint8_t *same = p.base + (2 * py) * (size_t)p.size + (y >> 1) * p.stride;              // rows of y's parity
    const uint8_t *other = p.base + (2 * (py ^ 1)) * (size_t)p.size + ((y - 1) >> 1) * p.stride; // the rows above and below
    size_t at = (size_t)px * p.size + (x >> 1), beside = (size_t)(px ^ 1) * p.size + ((x - 1) >> 1);
    uint32_t unused;
#pragma unroll
    for (int r = 0; r < 4; r++) {
        load_five(grid.at[1][1].row[r], unused, same + at + r * p.stride);
        load_five(grid.at[1][0].row[r], grid.at[1][2].row[r], same + beside + r * p.stride);
    }
#pragma unroll
    for (int r = 0; r < 5; r++) {
        uint32_t middle, left, right;
        load_five(middle, unused, other + at + r * p.stride);
        load_five(left, right, other + beside + r * p.stride);
        if (r < 4) grid.at[0][0].row[r] = left, grid.at[0][1].row[r] = middle, grid.at[0][2].row[r] = right;
        if (r > 0) grid.at[2][0].row[r - 1] = left, grid.at[2][1].row[r - 1] = middle, grid.at[2][2].row[r - 1] = right;
    }
}

// Samples 0, 1 and 2, 3 of a row as the halves of two words.
__device__ uint32_t left_pair(uint32_t row) { return __byte_perm(row, 0, 0x4140); }
__device__ uint32_t right_pair(uint32_t row) { return __byte_perm(row, 0, 0x4342); }

// Sum of the absolute 4x4 Hadamard coefficients of a difference, halved. Words are high * 65536 + low, both signed: sums of such words need
// no care, as each half stays within +-2040 up to the last step, whose |low + high| + |low - high| are taken apart.
__device__ uint32_t satd(const Block &a, const Block &b) {
    uint32_t d[4][2], sum = 0;
#pragma unroll
    for (int r = 0; r < 4; r++) {
        d[r][0] = left_pair(a.row[r]) - left_pair(b.row[r]);
        d[r][1] = right_pair(a.row[r]) - right_pair(b.row[r]);
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        uint32_t s = d[0][i] + d[2][i], t = d[1][i] + d[3][i], u = d[0][i] - d[2][i], v = d[1][i] - d[3][i];
        d[0][i] = s + t, d[1][i] = s - t, d[2][i] = u + v, d[3][i] = u - v;
    }
#pragma unroll
    for (int r = 0; r < 4; r++) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            uint32_t word = i ? d[r][0] - d[r][1] : d[r][0] + d[r][1];
            int high = (int)(word + 0x8000) >> 16, low = (int)word - high * 65536;
            sum = __sad(low, high, sum);
            sum = __sad(low, -high, sum);
        }
    }
    return sum >> 1;
}

__device__ uint32_t sad(const Block &a, const Block &b) {
    uint32_t sum = 0;
#pragma unroll
    for (int r = 0; r < 4; r++) sum = motus_sad4(a.row[r], b.row[r], sum);
    return sum;
}

__device__ Block average(const Block &a, const Block &b) {
    Block c;
#pragma unroll
    for (int r = 0; r < 4; r++) c.row[r] = __vavgu4(a.row[r], b.row[r]);
    return c;
}

__device__ Block choose(bool first, const Block &a, const Block &b) {
    Block c;
#pragma unroll
    for (int r = 0; r < 4; r++) c.row[r] = first ? a.row[r] : b.row[r];
    return c;
}

// Bits of the lane's number over which a block of mode m stretches: lanes are the 4x4 blocks in raster order.
__device__ int lanes_of(int mode) {
    return mode == 0 ? 15 : mode == 1 ? 7 : mode == 2 ? 13 : mode == 3 ? 5 : mode == 4 ? 1 : mode == 5 ? 4 : 0;
}

// Sum over the lanes of a block.
__device__ uint32_t over_block(uint32_t v, int lanes) {
#pragma unroll
    for (int bit = 1; bit < 16; bit <<= 1)
        if (lanes & bit) v += __shfl_xor_sync(~0u, v, bit);
    return v;
}

// Number of the block of `mode` that 4x4 block (x, y) belongs to.
__device__ int block_of(int mode, int x, int y) {
    switch (mode) {
    case MOTUS_MODE_16x16:
        return MOTUS_BLOCK_16x16;
    case MOTUS_MODE_16x8:
        return MOTUS_BLOCK_16x8 + y / 2;
    case MOTUS_MODE_8x16:
        return MOTUS_BLOCK_8x16 + x / 2;
    case MOTUS_MODE_8x8:
        return MOTUS_BLOCK_8x8 + y / 2 * 2 + x / 2;
    case MOTUS_MODE_8x4:
        return MOTUS_BLOCK_8x4 + 2 * y + x / 2;
    case MOTUS_MODE_4x8:
        return MOTUS_BLOCK_4x8 + y / 2 * 4 + x;
    default:
        return MOTUS_BLOCK_4x4 + 4 * y + x;
    }
}

// The best so far.
struct Best {
    MotusMv mv;
    uint32_t cost;
    Block samples;
};

// What a lane needs to judge a candidate.
struct Judge {
    Block cur;
    MotusMv predictor;
    uint32_t lambda;
    int lanes;

    __device__ void offer(Best &best, MotusMv mv, const Block &samples) const {
        uint32_t cost = over_block(satd(cur, samples), lanes) + motus_mv_cost(lambda, mv, predictor);
        if (cost >= best.cost) return;
        best = Best{mv, cost, samples};
    }
};

__device__ MotusMv moved(MotusMv mv, int dx, int dy) { return MotusMv{(int16_t)(mv.x + dx), (int16_t)(mv.y + dy)}; }

// The half-sample neighbours of an integer vector, in raster order.
__device__ void half_round(const Judge &judge, Best &best, const Grid &grid) {
    MotusMv centre = best.mv;
    judge.offer(best, centre, grid.at[1][1]);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int dx = motus_neighbour_dx(k), dy = motus_neighbour_dy(k);
        judge.offer(best, moved(centre, 2 * dx, 2 * dy), grid.at[dy + 1][dx + 1]);
    }
}

// The quarter-sample neighbours of a half-sample vector. Straight ones lie between it and its neighbour; of the square around a diagonal one,
// those two positions are averaged that are half in one direction only.
__device__ void quarter_round(const Judge &judge, Best &best, const Grid &grid) {
    MotusMv centre = best.mv;
    bool even = !((centre.x ^ centre.y) & 2);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int dx = motus_neighbour_dx(k), dy = motus_neighbour_dy(k);
        const Block &middle = grid.at[1][1], &corner = grid.at[dy + 1][dx + 1];
        Block samples = average(dx && dy ? choose(even, grid.at[1][dx + 1], middle) : middle,
                                dx && dy ? choose(even, grid.at[dy + 1][1], corner) : corner);
        judge.offer(best, moved(centre, dx, dy), samples);
    }
}

// Place of a block displaced by v quarter samples, in half samples; clipped to where samples only repeat.
__device__ int place(int corner, int v, int size) {
    return min(max(2 * corner + (v >> 1), 2 * (8 - PAD)), 2 * (size + PAD - 12)) | (v >> 1 & 1);
}

__global__ void __launch_bounds__(224, 3) refine_kernel(MotusSearchPicture p, Planes planes, int mb_width, int n_mb, int subpel,
                                                        uint32_t modes, MotusWantedBlocks wanted) {
    int lane = threadIdx.x & 31, mode = threadIdx.x >> 5, x = lane & 3, y = lane >> 2 & 3;
    int mb = min((int)(blockIdx.x * 2 + (lane >> 4)), n_mb - 1), block = block_of(mode, x, y);
    if (!(modes >> mode & 1)) return;
    bool mine = !wanted.mask || (wanted.mask[(size_t)mb * wanted.pitch] >> block & 1); // lanes of a warp may differ
    if (!__any_sync(~0u, mine)) return;
    int left = mb % mb_width * 16 + 4 * x, top = mb / mb_width * 16 + 4 * y;
    size_t at = (size_t)block * n_mb + mb;
    Judge judge{{}, p.predictor ? p.predictor[mb] : MotusMv{0, 0}, p.lambda ? p.lambda[mb] : p.lambda_q8, lanes_of(mode)};
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const uint8_t *row = p.cur + (ptrdiff_t)min(top + r, planes.height - 1) * p.cur_stride;
        judge.cur.row[r] = motus_edge_word(row, planes.width, left);
    }
    Best best{p.mv[at], ~0u, {}};
    const bool stays =
        (best.mv.x | best.mv.y) & 3; // a vector that did not come from the search; its lanes go along for the others
    __syncwarp();                    // all lanes of a block have its vector before one of them writes
    Grid grid;
    int width = (planes.width + 15) & ~15, height = (planes.height + 15) & ~15;
    load_grid(grid, planes, place(left, best.mv.x, width), place(top, best.mv.y, height));
    half_round(judge, best, grid);
    if (subpel == MOTUS_SUBPEL_QUARTER) {
        load_grid(grid, planes, place(left, best.mv.x, width), place(top, best.mv.y, height));
        quarter_round(judge, best, grid);
    }
    uint32_t difference = over_block(sad(judge.cur, best.samples), judge.lanes);
    bool first = !(lane & judge.lanes); // the block's first lane
    if (!first || stays || !mine) return;
    p.mv[at] = best.mv;
    p.cost[at] = best.cost;
    p.sad[at] = (uint16_t)difference;
}

} // namespace

cudaError_t motus_refine_cuda(const MotusSearchPicture *picture, const MotusRefLuma *ref, int width, int height,
                              MotusSubpel subpel, uint32_t modes, MotusWantedBlocks wanted, cudaStream_t stream) {
    int n_mb = motus_mbs(width) * motus_mbs(height);
    Planes p{ref->plane[0], (int)ref->stride, (int)(ref->plane[1] - ref->plane[0]), width, height};
    refine_kernel<<<(n_mb + 1) / 2, 32 * MOTUS_MODES, 0, stream>>>(*picture, p, motus_mbs(width), n_mb, subpel, modes, wanted);
    return cudaGetLastError();
}
