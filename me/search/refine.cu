// Half- and quarter-sample refinement of all 41 blocks by SATD + MV cost; equals
// motus_refine_blocks.
//
// Blocks with the same MV share the SATDs of their 4x4 blocks (an MB of preset medium has 14 blocks
// at two MVs). A round has three steps. A warp per MB lists its different MVs and the 4x4 blocks
// wanted at each: the items. A lane per item loads the 3x3 half-sample positions around its MV and
// measures nine positions; in the second round these are averages of two of them. A lane per block
// sums the SATDs and chooses. Grid: eight MBs per thread block, their items packed, so nearly all
// lanes are busy. Shared memory: 25 KiB, with SADs 43. MVs, SADs and costs are updated in place;
// planes are read through the L1.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/search/refine_cuda.h"

#include "common/cuda_call.cuh"
#include "common/lanes.h"
#include "me/pixel/cost_core.h"
#include "me/search/subpel.cuh"

namespace {

// ---- Lists of items and blocks ------------------------------------------------------------------

constexpr int TILE = 8; // MBs, and warps, of a thread block
constexpr int THREADS = 32 * TILE;
constexpr int ITEMS = 16 * MOTUS_MODES; // of an MB at most: each mode has sixteen 4x4 blocks
constexpr int POSITIONS = 9;            // an MV and its eight neighbours
constexpr int WORDS = 5; // for a value of each, two per word; odd, so items have no bank conflicts
constexpr int CLASSES = 5; // of blocks, by their number of 4x4 blocks: 16, 8, 4, 2, 1

struct Job {
    MotusSearchPicture picture;
    Planes planes;
    int mb_width, n_mb, subpel;
    uint32_t modes;
    MotusWantedBlocks wanted;
};

// Returns the first block of class k.
__device__ int first_of(int k) {
    return k == 0 ? 0 : k == 1 ? 1 : k == 2 ? 5 : k == 3 ? 9 : k == 4 ? 25 : MOTUS_BLOCKS;
}

__device__ uint64_t blocks_of_class(int k) {
    return (1ull << first_of(k + 1)) - (1ull << first_of(k));
}

// Returns the mask of the 4x4 blocks of a block, bits in raster order.
__device__ uint32_t cells_of(int block) {
    if (block < 1) return 0xFFFF;
    if (block < 3) return 0xFFu << (8 * (block - 1));                                // 16x8
    if (block < 5) return 0x3333u << (2 * (block - 3));                              // 8x16
    if (block < 9) return 0x33u << (8 * ((block - 5) >> 1) + 2 * ((block - 5) & 1)); // 8x8
    if (block < 17) return 0x3u << (2 * (block - 9));                                // 8x4
    if (block < 25) return 0x11u << (8 * ((block - 17) >> 2) + ((block - 17) & 3));  // 4x8
    return 1u << (block - 25);
}

// The items of a block's MV: they begin with `first` and are the 4x4 blocks `cells`.
struct Where {
    uint16_t first, cells;
};

template <bool SADS> struct Tile {
    uint64_t mask[TILE]; // blocks to refine
    int items[TILE];     // of each MB
    uint32_t lambda[TILE];
    MotusMv predictor[TILE];
    uint32_t mv[TILE * ITEMS]; // motus_mv_word of items; MB m's begin at m * ITEMS
    uint8_t cell[TILE * ITEMS];
    // Values of an item's positions, two per word.
    uint32_t satd[TILE * ITEMS][WORDS], sad[SADS ? TILE * ITEMS : 1][WORDS];
    Where where[TILE][MOTUS_BLOCKS];
    uint32_t best[TILE][MOTUS_BLOCKS];   // cost << 4 | position
    uint16_t entry[TILE * MOTUS_BLOCKS]; // MB << 8 | block, largest blocks first
    int n_entries;
};

// A lane's two blocks of its warp's MB, numbers `lane` and 32 + lane.
struct Own {
    bool wanted[2];
    uint32_t mv[2]; // motus_mv_word
};

__device__ int own_block(int h) { return motus_lane() + 32 * h; }

template <bool SADS> __device__ Own begin(Tile<SADS> &tile, const Job &job, int m, int mb) {
    const MotusSearchPicture &p = job.picture;
    constexpr int first[MOTUS_MODES + 1] = {MOTUS_BLOCK_16x16, MOTUS_BLOCK_16x8, MOTUS_BLOCK_8x16,
                                            MOTUS_BLOCK_8x8,   MOTUS_BLOCK_8x4,  MOTUS_BLOCK_4x8,
                                            MOTUS_BLOCK_4x4,   MOTUS_BLOCKS};
    uint64_t mask = 0;
    if (mb < job.n_mb) {
#pragma unroll
        for (int mode = 0; mode < MOTUS_MODES; mode++)
            if (job.modes >> mode & 1) mask |= (1ull << first[mode + 1]) - (1ull << first[mode]);
        mask &= job.wanted.mask ? job.wanted.mask[(size_t)mb * job.wanted.pitch] : ~0ull;
    }
    Own own;
    uint32_t which[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int block = own_block(h);
        own.wanted[h] = block < MOTUS_BLOCKS && mask >> block & 1;
        const MotusMv mv = own.wanted[h] ? p.mv[(size_t)block * job.n_mb + mb] : MotusMv{0, 0};
        own.wanted[h] &= motus_mv_is_whole(mv) != 0; // others did not come from the search
        own.mv[h] = motus_mv_word(mv);
        which[h] = __ballot_sync(~0u, own.wanted[h]);
    }
    if (motus_lane() == 0) {
        tile.mask[m] = which[0] | (uint64_t)which[1] << 32;
        tile.lambda[m] = mb < job.n_mb && p.lambda ? p.lambda[mb] : p.lambda_q8;
        tile.predictor[m] = mb < job.n_mb && p.predictor ? p.predictor[mb] : MotusMv{0, 0};
    }
    return own;
}

// Lists the items of the warp's MB: for each MV the 4x4 blocks that are wanted at it.
template <bool SADS> __device__ void list_items(Tile<SADS> &tile, const Own &own, int m) {
    const int lane = motus_lane();
    int n = 0;
    uint32_t left[2];
#pragma unroll
    for (int h = 0; h < 2; h++) left[h] = __ballot_sync(~0u, own.wanted[h]);
    while (left[0] | left[1]) {
        const int from = __ffs((int)(left[0] ? left[0] : left[1])) - 1;
        const uint32_t mv = __shfl_sync(~0u, left[0] ? own.mv[0] : own.mv[1], from);
        uint32_t cells = 0;
#pragma unroll
        for (int h = 0; h < 2; h++)
            if (own.wanted[h] && own.mv[h] == mv) cells |= cells_of(own_block(h));
        cells = motus_lanes_or(cells);
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const bool same = own.wanted[h] && own.mv[h] == mv;
            if (same)
                tile.where[m][own_block(h)] = Where{(uint16_t)(m * ITEMS + n), (uint16_t)cells};
            left[h] &= ~__ballot_sync(~0u, same);
        }
        if (lane < 16 && cells >> lane & 1) {
            const int at = m * ITEMS + n + __popc(cells & ((1u << lane) - 1));
            tile.mv[at] = mv;
            tile.cell[at] = (uint8_t)lane;
        }
        n += __popc(cells);
    }
    if (lane == 0) tile.items[m] = n;
}

// Lists the blocks of all MBs by class; each warp lists those of its MB. Counts of a class fit in a
// byte: there are at most 128 4x4 blocks.
template <bool SADS> __device__ void list_blocks(Tile<SADS> &tile, int m) {
    const uint64_t mask = tile.mask[motus_lane() & (TILE - 1)];
    uint32_t counts = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) counts |= (uint32_t)__popcll(mask & blocks_of_class(k)) << (8 * k);
    const uint32_t smallest = (uint32_t)__popcll(mask & blocks_of_class(4));
    const uint32_t up_to = motus_lanes_sum_up_to(counts, TILE),
                   up_to_4 = motus_lanes_sum_up_to(smallest, TILE);
    const uint32_t before = __shfl_sync(~0u, up_to - counts, m),
                   before_4 = __shfl_sync(~0u, up_to_4 - smallest, m);
    const uint32_t all = __shfl_sync(~0u, up_to, TILE - 1),
                   all_4 = __shfl_sync(~0u, up_to_4, TILE - 1);
    const uint64_t own = tile.mask[m];
    const int sizes[CLASSES] = {(int)(all & 255), (int)(all >> 8 & 255), (int)(all >> 16 & 255),
                                (int)(all >> 24), (int)all_4};
#pragma unroll
    for (int h = 0; h < 2; h++) {
        const int block = own_block(h);
        if (block >= MOTUS_BLOCKS || !(own >> block & 1)) continue;
        const int k = block < 1 ? 0 : block < 5 ? 1 : block < 9 ? 2 : block < 25 ? 3 : 4;
        int at = k < 4 ? (int)(before >> (8 * k) & 255) : (int)before_4;
#pragma unroll
        for (int c = 0; c < CLASSES - 1; c++)
            if (c < k) at += sizes[c];
        at += __popcll(own & blocks_of_class(k) & ((1ull << block) - 1));
        tile.entry[at] = (uint16_t)(m << 8 | block);
    }
    if (threadIdx.x == 0) tile.n_entries = sizes[0] + sizes[1] + sizes[2] + sizes[3] + sizes[4];
}

// ---- A round ------------------------------------------------------------------------------------

// Returns position k: 0 is the MV itself, 1..8 are its neighbours in raster order.
template <int STEP> __device__ MotusMv mv_at(MotusMv mv, int k) {
    if (!k) return mv;
    return MotusMv{(int16_t)(mv.x + STEP * motus_neighbour_dx(k - 1)),
                   (int16_t)(mv.y + STEP * motus_neighbour_dy(k - 1))};
}

// Measures an item: its 4x4 block at the MV and its neighbours, STEP quarter samples away.
template <int STEP, bool SADS>
__device__ void measure(Tile<SADS> &tile, const Job &job, int first_mb, int number, bool mine) {
    const MotusSearchPicture &p = job.picture;
    const Planes &planes = job.planes;
    int m = 0, k = number;
#pragma unroll
    for (int i = 0; i < TILE - 1; i++) // finds its MB
        if (m == i && k >= tile.items[i]) k -= tile.items[i], m++;
    const int item = m * ITEMS + k, cell = tile.cell[item], mb = first_mb + m;
    const MotusMv mv = motus_mv_of_word(tile.mv[item]);
    const int left = mb % job.mb_width * 16 + 4 * (cell & 3),
              top = mb / job.mb_width * 16 + 4 * (cell >> 2);
    const int width = (planes.width + 15) & ~15, height = (planes.height + 15) & ~15;
    Block cur;
#pragma unroll
    for (int r = 0; r < 4; r++) {
        const uint8_t *row = p.cur + (ptrdiff_t)min(top + r, planes.height - 1) * p.cur_stride;
        cur.row[r] = motus_edge_word(row, planes.width, left);
    }
    Grid grid;
    load_grid(grid, planes, position(left, mv.x, width), position(top, mv.y, height));
    const bool even = !((mv.x ^ mv.y) & 2);
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        uint32_t satds = 0, sads = 0;
#pragma unroll
        for (int i = 0; i < 2 && 2 * w + i < POSITIONS; i++) {
            const Block samples = STEP == 2 ? half_position(grid, 2 * w + i)
                                            : quarter_position(grid, 2 * w + i, even);
            // The second round knows the SATD of its MV.
            if (STEP == 2 || 2 * w + i) satds |= motus_words_satd(cur.row, samples.row) << (16 * i);
            if (SADS) sads |= sad(cur, samples) << (16 * i);
        }
        if (!mine) continue;
        tile.satd[item][w] = satds;
        if (SADS) tile.sad[item][w] = sads;
    }
}

// Sums a block's values. Those of eight 4x4 blocks fit in 16 bits (65,280), so two positions add up
// in a word; sixteen blocks are summed in two halves.
__device__ void sum_values(uint32_t half[2][WORDS], const uint32_t (*values)[WORDS], Where where,
                           uint32_t cells) {
#pragma unroll
    for (int i = 0; i < 2 * WORDS; i++) half[i / WORDS][i % WORDS] = 0;
#pragma unroll
    for (int h = 0; h < 2; h++)
        for (uint32_t left = cells & (h ? 0xFF00u : 0xFFu); left; left &= left - 1) {
            const uint32_t below = (left & (0u - left)) - 1;
            const uint32_t *word = values[where.first + __popc(where.cells & below)];
#pragma unroll
            for (int w = 0; w < WORDS; w++) half[h][w] += word[w];
        }
}

// Chooses the cheapest position of a block, the first of equals.
template <int STEP, bool SADS> __device__ void judge(Tile<SADS> &tile, int number) {
    const int entry = tile.entry[number], m = entry >> 8, block = entry & 255;
    const Where where = tile.where[m][block];
    uint32_t half[2][WORDS];
    sum_values(half, tile.satd, where, cells_of(block));
    const MotusMv mv = motus_mv_of_word(tile.mv[where.first]), predictor = tile.predictor[m];
    const uint32_t lambda = tile.lambda[m];
    int bits_x[3], bits_y[3];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        bits_x[i] = motus_se_bits(mv.x + STEP * (i - 1) - predictor.x);
        bits_y[i] = motus_se_bits(mv.y + STEP * (i - 1) - predictor.y);
    }
    uint32_t key = STEP == 2 ? ~0u : tile.best[m][block];
#pragma unroll
    for (int k = STEP == 2 ? 0 : 1; k < POSITIONS; k++) {
        const int dx = k ? motus_neighbour_dx(k - 1) : 0, dy = k ? motus_neighbour_dy(k - 1) : 0;
        const int shift = 16 * (k & 1);
        const uint32_t satd =
            (half[0][k / 2] >> shift & 0xFFFF) + (half[1][k / 2] >> shift & 0xFFFF);
        const uint32_t cost = satd + motus_bits_cost(lambda, bits_x[dx + 1] + bits_y[dy + 1]);
        key = min(key, cost << 4 | (uint32_t)k);
    }
    tile.best[m][block] = key;
}

// Moves all blocks to the best position around their MVs. Updates own.mv and best[].
template <int STEP, bool SADS>
__device__ void run_round(Tile<SADS> &tile, const Job &job, Own &own, int first_mb) {
    const int m = (int)threadIdx.x / 32;
    list_items(tile, own, m);
    __syncthreads(); // masks and items are complete
    if (STEP == 2) list_blocks(tile, m);
    int items = 0;
#pragma unroll
    for (int i = 0; i < TILE; i++) items += tile.items[i];
    for (int number = (int)threadIdx.x; (number & ~31) < items; number += THREADS) // whole warps
        measure<STEP>(tile, job, first_mb, min(number, items - 1), number < items);
    __syncthreads(); // values and the list of blocks are complete
    for (int number = (int)threadIdx.x; number < tile.n_entries; number += THREADS)
        judge<STEP>(tile, number);
    __syncthreads(); // best[] is complete
#pragma unroll
    for (int h = 0; h < 2; h++)
        if (own.wanted[h])
            own.mv[h] = motus_mv_word(
                mv_at<STEP>(motus_mv_of_word(own.mv[h]), (int)(tile.best[m][own_block(h)] & 15)));
}

template <bool SADS>
__global__ void __launch_bounds__(THREADS, 4) refine_kernel(const __grid_constant__ Job job) {
    __shared__ Tile<SADS> tile;
    const int first_mb = (int)blockIdx.x * TILE, m = (int)threadIdx.x / 32, mb = first_mb + m;
    motus_begin_early();
    Own own = begin(tile, job, m, mb);
    run_round<2>(tile, job, own, first_mb);
    if (job.subpel == MOTUS_SUBPEL_QUARTER) {
#pragma unroll
        for (int h = 0; h < 2; h++)
            if (own.wanted[h]) tile.best[m][own_block(h)] &= ~15u;
        run_round<1>(tile, job, own, first_mb);
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        if (!own.wanted[h]) continue;
        const int block = own_block(h);
        const size_t at = (size_t)block * job.n_mb + mb;
        const uint32_t key = tile.best[m][block], at_mv = key & 15;
        job.picture.mv[at] = motus_mv_of_word(own.mv[h]);
        if (!SADS) continue;
        uint32_t sad = 0;
        for (uint32_t left = cells_of(block); left; left &= left - 1) {
            const Where where = tile.where[m][block];
            const uint32_t below = (left & (0u - left)) - 1;
            sad += tile.sad[where.first + __popc(where.cells & below)][at_mv / 2] >>
                       (16 * (at_mv & 1)) &
                   0xFFFF;
        }
        job.picture.cost[at] = key >> 4;
        job.picture.sad[at] = (uint16_t)sad;
    }
}

} // namespace

cudaError_t motus_refine_cuda(const MotusSearchPicture *picture, const MotusRefLuma *ref, int width,
                              int height, MotusSubpel subpel, uint32_t modes,
                              MotusWantedBlocks wanted, cudaStream_t stream) {
    int n_mb = motus_mbs(width) * motus_mbs(height);
    Planes p{ref->plane[0], (int)ref->stride, (int)(ref->plane[1] - ref->plane[0]), width, height};
    const Job job = {*picture, p, motus_mbs(width), n_mb, subpel, modes, wanted};
    const int tiles = (n_mb + TILE - 1) / TILE;
    return motus_launch(picture->early, tiles, THREADS, 0, stream,
                        picture->sad ? refine_kernel<true> : refine_kernel<false>, job);
}
