// Half- and quarter-sample refinement of all 41 blocks by SATD + vector cost, as motus_refine_mb does it.
//
// A lane owns one 4x4 block of a block that is wanted. It loads the 3x3 half-sample positions around the block's vector; a block's SATD is the sum over its lanes,
// by shuffles. Every quarter position next to a half position is the average of two of those nine, so the second round loads nine again and averages.
// Grid: eight MBs a block of threads, which lists what is wanted of them, largest blocks first: so every block's lanes are neighbours in one warp, at a multiple
// of their number, and no lane but those of the last warp is without work. Read and written: vectors, SADs and costs in place; planes through the L1.
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

// Sum over `size` lanes, a power of 2, beginning at a multiple of it. most: the largest size in the warp.
__device__ uint32_t over_block(uint32_t v, int size, int most) {
#pragma unroll
    for (int step = 1; step < 16; step <<= 1) {
        if (step >= most) break;
        const uint32_t other = __shfl_xor_sync(~0u, v, step);
        if (step < size) v += other;
    }
    return v;
}

// ---- What is wanted ------------------------------------------------------------------------------------------------------------------------

constexpr int TILE = 8; // MBs of a block of threads
constexpr int THREADS = 256;
constexpr int CLASSES = 5; // of blocks, by their number of 4x4 blocks: 16, 8, 4, 2, 1

__device__ int size_of(int k) { return 16 >> k; }

// Blocks of class k begin with this one.
__device__ int first_of(int k) { return k == 0 ? 0 : k == 1 ? 1 : k == 2 ? 5 : k == 3 ? 9 : k == 4 ? 25 : MOTUS_BLOCKS; }

struct Wanted {
    uint64_t mask[TILE];
    uint16_t item[TILE * MOTUS_BLOCKS]; // MB of the tile << 8 | block, by classes
    int item_of[CLASSES];               // each class's first item
    int lane_of[CLASSES + 1];           // and its first lane
};

__device__ uint64_t blocks_of_class(int k) { return (1ull << first_of(k + 1)) - (1ull << first_of(k)); }

// All blocks of the modes.
__device__ uint64_t blocks_of_modes(uint32_t modes) {
    constexpr int first[MOTUS_MODES + 1] = {MOTUS_BLOCK_16x16, MOTUS_BLOCK_16x8, MOTUS_BLOCK_8x16, MOTUS_BLOCK_8x8,
                                            MOTUS_BLOCK_8x4,   MOTUS_BLOCK_4x8,  MOTUS_BLOCK_4x4,  MOTUS_BLOCKS};
    uint64_t blocks = 0;
#pragma unroll
    for (int m = 0; m < MOTUS_MODES; m++)
        if (modes >> m & 1) blocks |= (1ull << first[m + 1]) - (1ull << first[m]);
    return blocks;
}

// Lists what is wanted of the tile's MBs; returns the number of lanes.
__device__ int list_wanted(Wanted &w, const MotusWantedBlocks &wanted, uint32_t modes, int first_mb, int n_mb) {
    const int t = (int)threadIdx.x;
    if (t < TILE) {
        const uint64_t mask = wanted.mask && first_mb + t < n_mb ? wanted.mask[(size_t)(first_mb + t) * wanted.pitch] : ~0ull;
        w.mask[t] = first_mb + t < n_mb ? mask & blocks_of_modes(modes) : 0;
    }
    __syncthreads(); // masks are there
    if (t == 0) {
        int items = 0, lanes = 0;
        for (int k = 0; k < CLASSES; k++) {
            int n = 0;
            for (int mb = 0; mb < TILE; mb++) n += __popcll(w.mask[mb] & blocks_of_class(k));
            w.item_of[k] = items, w.lane_of[k] = lanes;
            items += n, lanes += n * size_of(k);
        }
        w.lane_of[CLASSES] = lanes;
    }
    __syncthreads(); // places are there
    for (int i = t; i < TILE * MOTUS_BLOCKS; i += THREADS) {
        const int mb = i / MOTUS_BLOCKS, block = i % MOTUS_BLOCKS;
        if (!(w.mask[mb] >> block & 1)) continue;
        const int k = block < 1 ? 0 : block < 5 ? 1 : block < 9 ? 2 : block < 25 ? 3 : 4;
        const uint64_t before = blocks_of_class(k) & ((1ull << block) - 1);
        int at = w.item_of[k] + __popcll(w.mask[mb] & before);
        for (int other = 0; other < mb; other++) at += __popcll(w.mask[other] & blocks_of_class(k));
        w.item[at] = (uint16_t)(mb << 8 | block);
    }
    __syncthreads(); // the list is there
    return w.lane_of[CLASSES];
}

// A lane's share: 4x4 block `number` of the `size` of a block, at (x, y) in the MB in units of 4x4.
struct Share {
    int mb, block, size, number, x, y;
};

__device__ Share share_of(const Wanted &w, int lane) {
    int k = 0;
    while (k + 1 < CLASSES && lane >= w.lane_of[k + 1]) k++;
    const int at = lane - w.lane_of[k], item = w.item[w.item_of[k] + (at >> (4 - k))];
    Share s = {item >> 8, item & 255, size_of(k), at & (size_of(k) - 1), 0, 0};
    const int n = s.block - first_of(k);
    if (k == 0)
        s.x = s.number & 3, s.y = s.number >> 2;
    else if (k == 1 && n < 2) // 16x8
        s.x = s.number & 3, s.y = 2 * n + (s.number >> 2);
    else if (k == 1) // 8x16
        s.x = 2 * (n - 2) + (s.number & 1), s.y = s.number >> 1;
    else if (k == 2)
        s.x = 2 * (n & 1) + (s.number & 1), s.y = (n & 2) + (s.number >> 1);
    else if (k == 3 && n < 8) // 8x4
        s.x = 2 * (n & 1) + s.number, s.y = n >> 1;
    else if (k == 3) // 4x8
        s.x = n & 3, s.y = 2 * (n - 8 >> 2) + s.number;
    else
        s.x = n & 3, s.y = n >> 2;
    return s;
}

// ---- Rounds --------------------------------------------------------------------------------------------------------------------------------

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
    int size, most; // lanes of the block; of the warp's largest one

    __device__ void offer(Best &best, MotusMv mv, const Block &samples) const {
        uint32_t cost = over_block(satd(cur, samples), size, most) + motus_mv_cost(lambda, mv, predictor);
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

struct Job {
    MotusSearchPicture picture;
    Planes planes;
    int mb_width, n_mb, subpel;
    uint32_t modes;
    MotusWantedBlocks wanted;
};

// Lanes that have nothing to do (not `mine`) go along for the others.
__device__ void refine(const Job &job, const Share &share, int mb, bool mine) {
    const MotusSearchPicture &p = job.picture;
    const Planes &planes = job.planes;
    const int left = mb % job.mb_width * 16 + 4 * share.x, top = mb / job.mb_width * 16 + 4 * share.y;
    const size_t at = (size_t)share.block * job.n_mb + mb;
    Judge judge{{},
                p.predictor ? p.predictor[mb] : MotusMv{0, 0},
                p.lambda ? p.lambda[mb] : p.lambda_q8,
                share.size,
                __shfl_sync(~0u, share.size, 0)};
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const uint8_t *row = p.cur + (ptrdiff_t)min(top + r, planes.height - 1) * p.cur_stride;
        judge.cur.row[r] = motus_edge_word(row, planes.width, left);
    }
    Best best{p.mv[at], ~0u, {}};
    const bool stays = (best.mv.x | best.mv.y) & 3; // a vector that did not come from the search
    __syncwarp();                                   // all lanes of a block have its vector before one of them writes
    Grid grid;
    int width = (planes.width + 15) & ~15, height = (planes.height + 15) & ~15;
    load_grid(grid, planes, place(left, best.mv.x, width), place(top, best.mv.y, height));
    half_round(judge, best, grid);
    if (job.subpel == MOTUS_SUBPEL_QUARTER) {
        load_grid(grid, planes, place(left, best.mv.x, width), place(top, best.mv.y, height));
        quarter_round(judge, best, grid);
    }
    const uint32_t difference = over_block(sad(judge.cur, best.samples), judge.size, judge.most);
    if (share.number || stays || !mine) return;
    p.mv[at] = best.mv;
    p.cost[at] = best.cost;
    p.sad[at] = (uint16_t)difference;
}

__global__ void __launch_bounds__(THREADS, 3) refine_kernel(const __grid_constant__ Job job) {
    __shared__ Wanted wanted;
    const int first_mb = (int)blockIdx.x * TILE, lanes = list_wanted(wanted, job.wanted, job.modes, first_mb, job.n_mb);
    for (int lane = (int)threadIdx.x; (lane & ~31) < lanes; lane += THREADS) { // whole warps
        const Share share = share_of(wanted, min(lane, lanes - 1));
        refine(job, share, first_mb + share.mb, lane < lanes);
    }
}

} // namespace

cudaError_t motus_refine_cuda(const MotusSearchPicture *picture, const MotusRefLuma *ref, int width, int height,
                              MotusSubpel subpel, uint32_t modes, MotusWantedBlocks wanted, cudaStream_t stream) {
    int n_mb = motus_mbs(width) * motus_mbs(height);
    Planes p{ref->plane[0], (int)ref->stride, (int)(ref->plane[1] - ref->plane[0]), width, height};
    const Job job = {*picture, p, motus_mbs(width), n_mb, subpel, modes, wanted};
    refine_kernel<<<(n_mb + TILE - 1) / TILE, THREADS, 0, stream>>>(job);
    return cudaGetLastError();
}
