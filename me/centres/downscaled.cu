// The downscaled search, the wide one and the median of the previous MVs; equals
// motus_downscaled_run and motus_mv_median.
//
// scale_kernel downscales all pictures 4:1, with a border of repeated samples. A thread computes
// four samples of a row, those of one MB.
//
// downscaled_kernel searches the downscaled pictures exhaustively, a warp per MB, or per two MBs in
// a small window. A lane walks down a column of points: a row of eight samples is compared with the
// eight rows of the block at once, for the eight points that it belongs to, so samples are loaded
// once. The last of 33 columns, or of 17, is spread over the lanes. A key is J, row and column, so
// the least key is the first of the best points. Block: 8 or 16 MBs of a row. Shared memory: their
// windows, up to 40 rows of 72 bytes. Block 0 finds the median instead, by counting high and then
// low bytes of the components.
//
// wide_kernel does the same to groups of 4x4 MBs; their windows are downscaled as they are loaded.
// downscaled_kernel then tries points around MVs of groups that lie outside its windows, one a
// lane.
//
// Read: the pictures, then 1/16 of them; written: 1/16 of each picture, 4 bytes per MB and
// reference.
// SPDX-License-Identifier: BSD-2-Clause
#include <cassert>

#include "common/cuda_call.cuh"
#include "common/lanes.h"
#include "common/slots.h"
#include "me/centres/centres_cuda.h"
#include "me/pixel/sad.cuh"

namespace {

constexpr int WARPS = 8; // of a thread block

constexpr int LISTS = MOTUS_CENTRES_LISTS;

// The downscaled pictures, with a border of MOTUS_DOWNSCALED_BORDER samples.
struct Scaled {
    uint8_t *plane[1 + LISTS]; // sample (0, 0) of the current one and of the references
    int stride, mb_width, mb_height;
};

struct Memory {
    Scaled scaled;
    MotusMv *found[LISTS], *wide[LISTS], *median[LISTS]; // wide: per group
};

// ---- Downscaling --------------------------------------------------------------------------------

// Returns four downscaled samples of row y from column 4 * x on, rounded means of 4x4 samples.
// Outside the `words` * `rows` words of the downscaled picture its edge samples repeat.
__device__ uint32_t means_at(const uint8_t *from, ptrdiff_t stride, int words, int rows, int x,
                             int y) {
    const int column = motus_clip(0, words - 1, x), row = motus_clip(0, rows - 1, y);
    uint32_t sum[4] = {8, 8, 8, 8};
    from += 4 * row * stride + 16 * column;
#pragma unroll
    for (int r = 0; r < 4; r++) {
        uint4 v = *reinterpret_cast<const uint4 *>(from + r * stride);
        sum[0] = motus_sad4(v.x, 0, sum[0]), sum[1] = motus_sad4(v.y, 0, sum[1]);
        sum[2] = motus_sad4(v.z, 0, sum[2]), sum[3] = motus_sad4(v.w, 0, sum[3]);
    }
    const uint32_t means = sum[0] >> 4 | sum[1] >> 4 << 8 | sum[2] >> 4 << 16 | sum[3] >> 4 << 24;
    return x == column ? means : __byte_perm(means, 0, x < 0 ? 0x0000 : 0x3333);
}

// Pictures of full size: [blockIdx.z], as Scaled.plane.
struct Planes {
    const uint8_t *data[1 + LISTS];
    ptrdiff_t stride[1 + LISTS];
};

__global__ void scale_kernel(const __grid_constant__ Scaled to,
                             const __grid_constant__ Planes from) {
    motus_begin_early();
    // x: words of the downscaled row, MBs of the source.
    int x = blockIdx.x * blockDim.x + threadIdx.x - MOTUS_DOWNSCALED_BORDER / 4;
    int y = blockIdx.y * blockDim.y + threadIdx.y - MOTUS_DOWNSCALED_BORDER;
    if (x >= to.mb_width + MOTUS_DOWNSCALED_BORDER / 4 ||
        y >= 4 * to.mb_height + MOTUS_DOWNSCALED_BORDER)
        return;
    const uint32_t means = means_at(from.data[blockIdx.z], from.stride[blockIdx.z], to.mb_width,
                                    4 * to.mb_height, x, y);
    *reinterpret_cast<uint32_t *>(to.plane[blockIdx.z] + (ptrdiff_t)y * to.stride + 4 * x) = means;
}

// ---- Median -------------------------------------------------------------------------------------

// Finds the bin of 256 counts that contains the element of the given rank, and its rank in the bin.
// Called by a whole warp.
__device__ void find_bin(const uint32_t *count, uint32_t rank, uint32_t *bin,
                         uint32_t *rank_in_bin) {
    int lane = motus_lane();
    uint32_t own = 0;
    for (int i = 0; i < 8; i++) own += count[8 * lane + i];
    const uint32_t end = motus_lanes_sum_up_to(own, 32);
    if (rank < end - own || rank >= end) return; // one lane continues
    rank -= end - own;
    int i = 8 * lane;
    while (rank >= count[i]) rank -= count[i++];
    *bin = i;
    *rank_in_bin = rank;
}

// Finds the component-wise median (number n / 2 in ascending order) of n MVs; a block of 32 * WARPS
// threads. Components are counted with their sign bit flipped: unsigned order is then theirs.
__device__ void find_median(const MotusMv *mv, int n, MotusMv *median) {
    // Each of x and y. bin[0]: high bytes, bin[1]: low bytes; rank: before each pass.
    __shared__ uint32_t count[2][256], bin[2][2], rank[3][2];
    const uint32_t *word = reinterpret_cast<const uint32_t *>(mv);
    if (threadIdx.x < 2) rank[0][threadIdx.x] = n / 2;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = threadIdx.x; i < 512; i += 32 * WARPS) count[i >> 8][i & 255] = 0;
        __syncthreads(); // counts are zero, and the previous pass's bins are complete
        uint32_t high_x = pass ? bin[0][0] : 0, high_y = pass ? bin[0][1] : 0;
        for (int i = threadIdx.x; i < n; i += 32 * WARPS) {
            uint32_t both = word[i] ^ 0x80008000u, x = both & 0xFFFF, y = both >> 16;
            if (pass == 0) {
                atomicAdd(&count[0][x >> 8], 1u);
                atomicAdd(&count[1][y >> 8], 1u);
            } else {
                if (x >> 8 == high_x) atomicAdd(&count[0][x & 255], 1u);
                if (y >> 8 == high_y) atomicAdd(&count[1][y & 255], 1u);
            }
        }
        __syncthreads(); // counts are complete
        int c = threadIdx.x >> 5;
        if (c < 2) find_bin(count[c], rank[pass][c], &bin[pass][c], &rank[pass + 1][c]);
        __syncthreads(); // bins are complete, and the counts may be cleared
    }
    if (threadIdx.x) return;
    median->x = (int16_t)((bin[0][0] << 8 | bin[1][0]) ^ 0x8000);
    median->y = (int16_t)((bin[0][1] << 8 | bin[1][1]) ^ 0x8000);
}

// ---- Downscaled search --------------------------------------------------------------------------

// The window of a block whose warps have MBS MBs each.
template <int MBS> struct Window {
    static constexpr int LANES = 32 / MBS;       // of an MB
    static constexpr int MAX_POINTS = LANES + 1; // in a row or column
    static constexpr int ROWS = MAX_POINTS - 1 + MOTUS_DOWNSCALED_BLOCK;
    // At any alignment: 4 samples for each further MB, the points, 8 samples and the word behind
    // them.
    static constexpr int WORDS = (3 + 4 * (WARPS * MBS - 1) + LANES) / 4 + 3;
    static constexpr int PITCH =
        WORDS | 1; // odd, so lanes in different rows have no bank conflicts
};

static_assert(Window<1>::MAX_POINTS == 2 * (MOTUS_ME_MAX_REACH / 4) + 1, "the widest reach");

// A lane's view of its MB's window.
template <int MBS> struct Searched {
    const uint32_t (*window)[Window<MBS>::PITCH];
    const uint8_t *row_bits;
    uint32_t block[MOTUS_DOWNSCALED_BLOCK][2]; // the MB's samples
    uint32_t lambda_q8;
    int first; // byte of the window's row at which the MB's first point is
    int points, reach;

    __device__ void samples(uint32_t s[2], int row, int column) const {
        int at = first + column, shift = 8 * (at & 3);
        const uint32_t *word = &window[row][at >> 2];
        s[0] = __funnelshift_r(word[0], word[1], shift);
        s[1] = __funnelshift_r(word[1], word[2], shift);
    }
    // J is below 2^15, row and column are below 2^6.
    __device__ uint32_t key(uint32_t sad, int row, int column, int column_bits) const {
        return (sad + motus_downscaled_cost(lambda_q8, column_bits + row_bits[row])) << 12 |
               row << 6 | column;
    }
    __device__ int bits(int i) const { return motus_se_bits(motus_downscaled_component(reach, i)); }
};

// Searches all points of a column.
template <int MBS> __device__ uint32_t search_column(const Searched<MBS> &c, int column) {
    uint32_t best = ~0u, sum[8] = {}; // of point y & 7
    int rows = c.points + MOTUS_DOWNSCALED_BLOCK - 1, column_bits = c.bits(column);
#pragma unroll 1
    for (int y0 = 0; y0 < rows; y0 += 8) {
#pragma unroll
        for (int k = 0; k < 8; k++) {
            int y = y0 + k;
            if (y >= rows) break;
            uint32_t s[2];
            c.samples(s, y, column);
#pragma unroll
            for (int t = 0; t < 8; t++) { // as row t of the block at point y - t
                uint32_t &of_point = sum[(k - t) & 7];
                of_point = motus_sad4(s[0], c.block[t][0], of_point);
                of_point = motus_sad4(s[1], c.block[t][1], of_point);
            }
            uint32_t &complete = sum[(k - 7) & 7];
            if (y >= 7) best = min(best, c.key(complete, y - 7, column, column_bits));
            complete = 0;
        }
    }
    return best;
}

// Loads 8x8 samples, whose rows begin two bytes behind `word`. pitch: words from row to row.
__device__ void load_block(uint32_t block[8][2], const uint32_t *word, int pitch) {
#pragma unroll
    for (int y = 0; y < 8; y++, word += pitch) {
        block[y][0] = __funnelshift_r(word[0], word[1], 16);
        block[y][1] = __funnelshift_r(word[1], word[2], 16);
    }
}

struct Previous {
    const MotusMv *mv[LISTS]; // [blockIdx.y]
};

// Writes motus_se_bits of the components of a row or column of points.
__device__ void fill_bits(uint8_t *bits, int reach) {
    for (int i = threadIdx.x; i < motus_downscaled_points(reach); i += 32 * WARPS)
        bits[i] = (uint8_t)motus_se_bits(motus_downscaled_component(reach, i));
}

// Returns the least key of the MB's lanes.
template <int MBS> __device__ uint32_t least_of(uint32_t key) {
    if constexpr (MBS > 1) {
#pragma unroll
        for (int step = Window<MBS>::LANES / 2; step; step /= 2)
            key = min(key, __shfl_xor_sync(MOTUS_ALL_LANES, key, step));
        return key;
    } else {
        return motus_lanes_min(key);
    }
}

// Returns the least key of the MB's window. The points of a column more than there are lanes are
// spread over them.
template <int MBS> __device__ uint32_t search_window(const Searched<MBS> &c) {
    constexpr int LANES = Window<MBS>::LANES;
    uint32_t key = search_column(c, min(motus_lane() % LANES, c.points - 1));
    if (c.points > LANES) {
        const int column = c.points - 1;
        uint32_t best = ~0u;
        int column_bits = c.bits(column);
        for (int row = motus_lane() % LANES; row < c.points; row += LANES) {
            uint32_t sum = 0;
#pragma unroll
            for (int t = 0; t < 8; t++) {
                uint32_t s[2];
                c.samples(s, row + t, column);
                sum = motus_sad4(s[0], c.block[t][0], sum);
                sum = motus_sad4(s[1], c.block[t][1], sum);
            }
            best = min(best, c.key(sum, row, column, column_bits));
        }
        key = min(key, best);
    }
    return least_of<MBS>(key);
}

__device__ MotusMv mv_of_key(uint32_t key, int reach) {
    MotusMv mv;
    mv.x = (int16_t)motus_downscaled_component(reach, key & 63);
    mv.y = (int16_t)motus_downscaled_component(reach, key >> 6 & 63);
    return mv;
}

// ---- Wide search --------------------------------------------------------------------------------

// As downscaled_kernel, with groups in place of MBs.
template <int MBS>
__global__ void __launch_bounds__(32 * WARPS)
    wide_kernel(const __grid_constant__ Memory w, uint32_t lambda_q8, int reach) {
    using W = Window<MBS>;
    constexpr int OF_BLOCK = WARPS * MBS, WORDS = OF_BLOCK + 2;
    __shared__ uint32_t window[W::ROWS][W::PITCH], block[MOTUS_DOWNSCALED_BLOCK][WORDS];
    __shared__ uint8_t row_bits[W::MAX_POINTS];
    const Scaled &p = w.scaled;
    const int width = motus_groups(p.mb_width), rows = 4 * motus_groups(p.mb_height),
              list = (int)blockIdx.y, points = motus_downscaled_points(reach);
    const int blocks = (width + OF_BLOCK - 1) / OF_BLOCK,
              first = (int)blockIdx.x % blocks * OF_BLOCK, y = (int)blockIdx.x / blocks,
              own = (int)threadIdx.x / W::LANES;
    const int x0 = 4 * first - MOTUS_DOWNSCALED_MARGIN - reach / 4,
              y0 = 4 * y - MOTUS_DOWNSCALED_MARGIN - reach / 4;
    motus_begin_early();
    for (int i = threadIdx.x; i < (points + 7) * W::WORDS; i += 32 * WARPS)
        window[i / W::WORDS][i % W::WORDS] = means_at(p.plane[1 + list], p.stride, width, rows,
                                                      (x0 >> 2) + i % W::WORDS, y0 + i / W::WORDS);
    for (int i = threadIdx.x; i < MOTUS_DOWNSCALED_BLOCK * WORDS; i += 32 * WARPS)
        block[i / WORDS][i % WORDS] =
            means_at(p.plane[0], p.stride, width, rows, first - 1 + i % WORDS,
                     4 * y - MOTUS_DOWNSCALED_MARGIN + i / WORDS);
    fill_bits(row_bits, reach);
    __syncthreads(); // window, blocks and costs are complete
    Searched<MBS> c{window, row_bits, {}, lambda_q8, (x0 & 3) + 4 * own, points, reach};
    load_block(c.block, &block[0][own], WORDS);
    const uint32_t key = search_window(c);
    if (motus_lane() % W::LANES == 0 && first + own < width)
        w.wide[list][y * width + first + own] = mv_of_key(key, reach);
}

// Returns the SAD of the block and the one at sample (x, y).
__device__ uint32_t sad_at(const uint32_t block[8][2], const uint8_t *plane, int stride, int x,
                           int y) {
    const uint8_t *from = plane + (ptrdiff_t)y * stride + x;
    const int offset = (int)((uintptr_t)from & 3), shift = 8 * offset;
    const uint32_t *word = reinterpret_cast<const uint32_t *>(from - offset);
    uint32_t sad = 0;
#pragma unroll
    for (int t = 0; t < 8; t++, word += stride / 4) {
        const uint32_t middle = word[1];
        sad = motus_sad4(__funnelshift_r(word[0], middle, shift), block[t][0], sad);
        sad = motus_sad4(__funnelshift_r(middle, word[2], shift), block[t][1], sad);
    }
    return sad;
}

// Replaces *mv, an MB's of J `least`, by the first best one around MVs of groups that costs less.
template <int MBS>
__device__ void try_wide(const Memory &w, int list, const Searched<MBS> &c, int mb_x, int mb_y,
                         uint32_t least, MotusMv *mv) {
    constexpr int LANES = Window<MBS>::LANES;
    const Scaled &p = w.scaled;
    static_assert(64 * 255 + (MOTUS_MAX_LAMBDA_Q8 / 4 * MOTUS_WIDE_BITS >> 8) < 1 << 25, "J");
    uint32_t best = ~0u; // J << 7 | 25 * k + point
#pragma unroll 1
    for (int k = 0; k < MOTUS_WIDE_GROUPS; k++) {
        const int group = motus_group_of(p.mb_width, p.mb_height, mb_x, mb_y, k);
        const MotusMv its = w.wide[list][max(group, 0)];
        if (group < 0 || !motus_wide_is_outside(its, c.reach)) continue;
        for (int i = motus_lane() % LANES; i < MOTUS_WIDE_SQUARE; i += LANES) {
            const MotusMv at = motus_wide_mv(its, i);
            const int x = 4 * mb_x - MOTUS_DOWNSCALED_MARGIN + at.x / 16,
                      y = 4 * mb_y - MOTUS_DOWNSCALED_MARGIN + at.y / 16;
            const uint32_t sad = sad_at(c.block, p.plane[1 + list], p.stride,
                                        motus_downscaled_place(4 * p.mb_width, x, 1),
                                        motus_downscaled_place(4 * p.mb_height, y, 1));
            const uint32_t j =
                sad + motus_downscaled_cost(c.lambda_q8, motus_se_bits(at.x) + motus_se_bits(at.y));
            best = min(best, j << 7 | (uint32_t)(MOTUS_WIDE_SQUARE * k + i));
        }
    }
    __syncwarp();
    best = least_of<MBS>(best);
    if (best >> 7 >= least) return;
    const int k = (int)(best & 127) / MOTUS_WIDE_SQUARE;
    *mv = motus_wide_mv(w.wide[list][motus_group_of(p.mb_width, p.mb_height, mb_x, mb_y, k)],
                        (int)(best & 127) % MOTUS_WIDE_SQUARE);
}

// ---- Downscaled search of MBs -------------------------------------------------------------------

template <int MBS, bool WIDE>
__global__ void __launch_bounds__(32 * WARPS)
    downscaled_kernel(const __grid_constant__ Memory w, const __grid_constant__ Previous previous,
                      uint32_t lambda_q8, int reach, const uint64_t *wanted, size_t wanted_pitch) {
    using W = Window<MBS>;
    __shared__ uint32_t window[W::ROWS][W::PITCH];
    __shared__ uint8_t row_bits[W::MAX_POINTS];
    const Scaled &p = w.scaled;
    const int list = (int)blockIdx.y;
    motus_begin_early();
    if (blockIdx.x == 0) {
        if (previous.mv[list])
            find_median(previous.mv[list], p.mb_width * p.mb_height, w.median[list]);
        else if (threadIdx.x == 0)
            *w.median[list] = MotusMv{0, 0};
        return;
    }
    constexpr int MBS_OF_BLOCK = WARPS * MBS;
    int groups = (p.mb_width + MBS_OF_BLOCK - 1) / MBS_OF_BLOCK, group = blockIdx.x - 1,
        points = motus_downscaled_points(reach);
    int mb_y = group / groups, first_mb = group % groups * MBS_OF_BLOCK,
        own = (int)threadIdx.x / W::LANES, mb_x = first_mb + own;
    int x0 = 4 * first_mb - MOTUS_DOWNSCALED_MARGIN - reach / 4,
        y0 = 4 * mb_y - MOTUS_DOWNSCALED_MARGIN - reach / 4;
    int last_word = 4 * p.mb_width + MOTUS_DOWNSCALED_BORDER - 4; // no MB needs words beyond it
    for (int i = threadIdx.x; i < (points + 7) * W::WORDS; i += 32 * WARPS) {
        int row = i / W::WORDS, word = i % W::WORDS, x = min((x0 & ~3) + 4 * word, last_word);
        window[row][word] = *reinterpret_cast<const uint32_t *>(
            p.plane[1 + list] + (ptrdiff_t)(y0 + row) * p.stride + x);
    }
    fill_bits(row_bits, reach);
    __syncthreads(); // window and costs are complete
    const bool there = mb_x < p.mb_width;
    if (!motus_lanes_ballot(there)) return;
    if (!there) mb_x--, own--; // the warp's second MB repeats its first one
    if (wanted) { // an MB of the warp, or one around it, which reads its MV, needs a centre
        const int k = min(motus_lane() % W::LANES, 8), x = mb_x + k % 3 - 1, y = mb_y + k / 3 - 1;
        const bool inside = x >= 0 && x < p.mb_width && y >= 0 && y < p.mb_height;
        if (!motus_lanes_ballot(inside && wanted[(size_t)(y * p.mb_width + x) * wanted_pitch]))
            return;
    }
    Searched<MBS> c{window, row_bits, {}, lambda_q8, (x0 & 3) + 4 * own, points, reach};
    const uint8_t *block =
        p.plane[0] + (ptrdiff_t)(4 * mb_y - MOTUS_DOWNSCALED_MARGIN) * p.stride + 4 * mb_x - 4;
    load_block(c.block, reinterpret_cast<const uint32_t *>(block), p.stride / 4);
    const uint32_t key = search_window(c);
    MotusMv mv = mv_of_key(key, reach);
    if constexpr (WIDE) { // tries groups' MVs if one of the warp's is outside the window
        const int near = motus_group_of(p.mb_width, p.mb_height, mb_x, mb_y, motus_lane() & 3);
        if (motus_lanes_ballot(near >= 0 &&
                               motus_wide_is_outside(w.wide[list][max(near, 0)], reach)))
            try_wide(w, list, c, mb_x, mb_y, key >> 12, &mv);
    }
    if (motus_lane() % W::LANES == 0 && there) w.found[list][mb_y * p.mb_width + mb_x] = mv;
}

// ---- Launchers ----------------------------------------------------------------------------------

// Lays out the memory in *w, unless it is NULL; returns its size.
size_t lay_out(Memory *w, uint8_t *memory, int mb_width, int mb_height) {
    const int border = MOTUS_DOWNSCALED_BORDER;
    size_t n = (size_t)mb_width * mb_height,
           stride = ((size_t)4 * mb_width + 2 * border + 63) / 64 * 64, end = 0;
    size_t plane = stride * ((size_t)4 * mb_height + 2 * border), origin = border * stride + border;
    const size_t groups = (size_t)motus_groups(mb_width) * motus_groups(mb_height);
    Memory all = {{{}, (int)stride, mb_width, mb_height}, {}, {}, {}};
    for (uint8_t *&its : all.scaled.plane) its = memory + motus_slot_reserve(&end, plane) + origin;
    for (int k = 0; k < LISTS; k++) {
        all.found[k] =
            reinterpret_cast<MotusMv *>(memory + motus_slot_reserve(&end, n * sizeof(MotusMv)));
        all.wide[k] = reinterpret_cast<MotusMv *>(
            memory + motus_slot_reserve(&end, groups * sizeof(MotusMv)));
        all.median[k] =
            reinterpret_cast<MotusMv *>(memory + motus_slot_reserve(&end, sizeof(MotusMv)));
    }
    if (w) *w = all;
    return end;
}

} // namespace

size_t motus_centres_cuda_bytes(int width, int height) {
    return lay_out(nullptr, nullptr, motus_mbs(width), motus_mbs(height));
}

cudaError_t motus_downscaled_cuda(const MotusCentresPicture *p, int n, void *memory,
                                  const MotusMv *found[LISTS], const MotusMv *median[LISTS],
                                  cudaStream_t stream) {
    const MotusRefLuma *ref = p->ref;
    int mb_width = ref->width / 16, mb_height = ref->height / 16;
    assert(!(((uintptr_t)p->cur | (uintptr_t)p->cur_stride) & 15) &&
           p->lambda_q8 <= MOTUS_MAX_LAMBDA_Q8);
    // The window in shared memory holds no more.
    assert(p->reach >= 4 && p->reach <= MOTUS_ME_MAX_REACH && p->reach % 4 == 0);
    assert(n > 0 && n <= LISTS);
    Memory w;
    Planes planes = {{p->cur}, {p->cur_stride}};
    Previous previous = {};
    lay_out(&w, static_cast<uint8_t *>(memory), mb_width, mb_height);
    for (int k = 0; k < n; k++) {
        found[k] = w.found[k], median[k] = w.median[k];
        planes.data[1 + k] = p[k].ref->plane[0], planes.stride[1 + k] = p[k].ref->stride;
        previous.mv[k] = p[k].previous;
    }
    dim3 tile(32, 8),
        tiles((mb_width + MOTUS_DOWNSCALED_BORDER / 2 + 31) / 32,
              (4 * mb_height + 2 * MOTUS_DOWNSCALED_BORDER + 7) / 8, (unsigned)(1 + n));
    cudaError_t error =
        motus_launch(p->early, tiles, tile, 0, stream, scale_kernel, w.scaled, planes);
    if (error != cudaSuccess) return error;
    const int mbs = motus_downscaled_points(p->reach) <= Window<2>::MAX_POINTS ? 2 : 1;
    if (p->wide) {
        const int width = motus_groups(mb_width), height = motus_groups(mb_height);
        const dim3 blocks((unsigned)((width + WARPS * mbs - 1) / (WARPS * mbs) * height),
                          (unsigned)n);
        error = motus_launch(p->early, blocks, 32 * WARPS, 0, stream,
                             mbs == 2 ? wide_kernel<2> : wide_kernel<1>, w, p->lambda_q8, p->reach);
    }
    if (error != cudaSuccess) return error;
    const dim3 groups((unsigned)(1 + (mb_width + WARPS * mbs - 1) / (WARPS * mbs) * mb_height),
                      (unsigned)n);
    const auto kernel = mbs == 2
                            ? (p->wide ? downscaled_kernel<2, true> : downscaled_kernel<2, false>)
                            : (p->wide ? downscaled_kernel<1, true> : downscaled_kernel<1, false>);
    return motus_launch(p->early, groups, 32 * WARPS, 0, stream, kernel, w, previous, p->lambda_q8,
                        p->reach, p->wanted, p->wanted_pitch);
}
