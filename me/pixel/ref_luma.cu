// The four planes of a MotusRefLuma, border included; equals motus_ref_luma_build.
//
// A thread filters four columns of four rows: it loads nine rows of twelve samples, and neither
// shared memory nor barriers are needed. Block: eight warps of 128 columns, one below the other.
// Two samples or sums share a word (2 x 16 bits). Read: the reference from the L2, then the L1;
// written: four planes.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/pixel/ref_luma_cuda.h"

#include "common/cuda_call.cuh"
#include "me/pixel/sad.cuh"

namespace {

constexpr int ROWS = 4, WARPS = 8; // rows of a thread, warps of a block
constexpr int BORDER_THREADS = 256;
constexpr int TAPS = 6;

// Added to six-tap sums of samples, so that none is below 0.
constexpr int BIAS = 2560;

constexpr __host__ __device__ uint32_t both(int v) { return 0x10001u * (uint16_t)v; }

// The planes to write.
struct Target {
    uint8_t *full; // sample (0, 0) of plane 0
    size_t plane;  // bytes from a plane to the next
    ptrdiff_t stride;
    int columns, rows; // both borders included
};

// Four columns of a row, in two words: the first and the third, the second and the fourth.
struct Row {
    uint32_t word;    // samples as they are
    uint32_t full[2]; // samples
    uint32_t half[2]; // b before rounding, + BIAS
};

__device__ uint32_t even(uint32_t word) { return word & 0x00FF00FF; }
__device__ uint32_t odd(uint32_t word) { return word >> 8 & 0x00FF00FF; }

// Returns six-tap sums of samples, + BIAS. Halves do not borrow, since the results fit.
__device__ uint32_t six_tap(uint32_t e, uint32_t f, uint32_t g, uint32_t h, uint32_t i,
                            uint32_t j) {
    return 20 * (g + h) + (e + j + both(BIAS)) - 5 * (f + i);
}

// Returns four bytes: those of 2 x 16 bits each from bit SHIFT on, the rest above being 0.
template <int SHIFT> __device__ uint32_t join(uint32_t evens, uint32_t odds) {
    return (evens >> SHIFT & 0x00FF00FF) | (odds << (8 - SHIFT) & 0xFF00FF00);
}

// Returns four samples of six-tap sums.
__device__ uint32_t round_once(const uint32_t sum[2]) {
    uint32_t v[2];
    for (int k = 0; k < 2; k++)
        v[k] = __viaddmin_s16x2_relu(sum[k], both(16 - BIAS), both(255 << 5 | 31));
    return join<5>(v[0], v[1]);
}

// Filters the samples across that lie at the middle one of three words.
__device__ Row across(uint32_t left, uint32_t middle, uint32_t right) {
    const uint32_t before = __funnelshift_r(left, middle, 16),
                   behind = __funnelshift_r(middle, right, 16);
    const uint32_t s[7] = {even(before), odd(before), even(middle), odd(middle),
                           even(behind), odd(behind), even(right)}; // from two columns before on
    Row row = {middle, {s[2], s[3]}, {0, 0}};
    for (int k = 0; k < 2; k++)
        row.half[k] = six_tap(s[k], s[k + 1], s[k + 2], s[k + 3], s[k + 4], s[k + 5]);
    return row;
}

// Returns the sums b of a column in two rows.
__device__ int two_rows(const Row *r, int column) {
    const int word = column & 1;
    return (int)__byte_perm(r[0].half[word], r[1].half[word], column < 2 ? 0x5410 : 0x7632);
}

// Returns j of six rows. Taps are bytes, two an instruction.
__device__ uint32_t down_twice(const Row r[TAPS]) {
    int sum[4]; // before rounding, + 512: -213,688..475,832
    for (int k = 0; k < 4; k++) {
        sum[k] = __dp2a_lo(two_rows(r, k), 0xFB01, 512 - 32 * BIAS); // taps 1, -5
        sum[k] = __dp2a_lo(two_rows(r + 2, k), 0x1414, sum[k]);      // 20, 20
        sum[k] = __dp2a_lo(two_rows(r + 4, k), 0x01FB, sum[k]);      // -5, 1
    }
    uint32_t v[2]; // sums / 256, clipped
    for (int k = 0; k < 2; k++)
        v[k] = __vimin_s16x2_relu(__byte_perm((uint32_t)sum[k], (uint32_t)sum[k + 2], 0x6521),
                                  both(255 << 2 | 3));
    return join<2>(v[0], v[1]);
}

__global__ void __launch_bounds__(32 * WARPS)
    planes_kernel(Target to, const uint8_t *ref, int stride, int width, int height) {
    const int column = ((int)blockIdx.x * 32 + (int)threadIdx.x) * 4,
              first = ((int)blockIdx.y * WARPS + (int)threadIdx.y) * ROWS;
    motus_let_successor_start();
    if (column >= to.columns || first >= to.rows) return; // columns are whole words, rows ROWS
    const int x = column - MOTUS_REF_PAD, y = first - MOTUS_REF_PAD;
    const MotusEdgeWord left = motus_edge_find(width, x - 4), middle = motus_edge_find(width, x),
                        right = motus_edge_find(width, x + 4);
    Row row[ROWS + TAPS - 1];
#pragma unroll
    for (int i = 0; i < ROWS + TAPS - 1; i++) {
        const uint8_t *at = ref + (ptrdiff_t)min(max(y + i - 2, 0), height - 1) * stride;
        row[i] = across(motus_edge_load(at, left), motus_edge_load(at, middle),
                        motus_edge_load(at, right));
    }
    uint8_t *out = to.full + y * to.stride + x;
#pragma unroll
    for (int i = 0; i < ROWS; i++, out += to.stride) {
        *reinterpret_cast<uint32_t *>(out) = row[i + 2].word;
        *reinterpret_cast<uint32_t *>(out + to.plane) = round_once(row[i + 2].half);
        uint32_t down[2]; // sums h
        for (int k = 0; k < 2; k++)
            down[k] = six_tap(row[i].full[k], row[i + 1].full[k], row[i + 2].full[k],
                              row[i + 3].full[k], row[i + 4].full[k], row[i + 5].full[k]);
        *reinterpret_cast<uint32_t *>(out + 2 * to.plane) = round_once(down);
        *reinterpret_cast<uint32_t *>(out + 3 * to.plane) = down_twice(row + i);
    }
}

// Repeats the edge samples of plane 0 around it, a word a thread: rows above and below, then the
// columns at both sides. A word that has the last samples of a row is written again.
__global__ void __launch_bounds__(BORDER_THREADS) border_kernel(Target to, int width, int height) {
    const int i = blockIdx.x * BORDER_THREADS + threadIdx.x, words = to.columns / 4,
              beyond = (to.rows - height) * words, side = words - width / 4; // side: of a row
    if (i >= beyond + side * height) return;
    int row = i / words, word = i % words;
    if (i < beyond) {
        if (row >= MOTUS_REF_PAD) row += height;
    } else {
        row = MOTUS_REF_PAD + (i - beyond) / side, word = (i - beyond) % side;
        if (word >= MOTUS_REF_PAD / 4) word += width / 4;
    }
    const int x = 4 * word - MOTUS_REF_PAD, y = row - MOTUS_REF_PAD;
    *reinterpret_cast<uint32_t *>(to.full + y * to.stride + x) =
        motus_edge_word(to.full + min(max(y, 0), height - 1) * to.stride, width, x);
}

Target target_of(const MotusRefLuma *ref) {
    return {ref->plane[0], (size_t)(ref->plane[1] - ref->plane[0]), ref->stride,
            ref->width + 2 * MOTUS_REF_PAD,
            ref->height + 2 * MOTUS_REF_PAD}; // both multiples of 16
}

} // namespace

cudaError_t motus_ref_luma_cuda_border(const MotusRefLuma *ref, int width, int height,
                                       cudaStream_t stream) {
    const Target to = target_of(ref);
    const int words = (to.columns / 4 - width / 4) * height + to.columns / 4 * (to.rows - height);
    return motus_launch(0, dim3((words + BORDER_THREADS - 1) / BORDER_THREADS), BORDER_THREADS, 0,
                        stream, border_kernel, to, width, height);
}

cudaError_t motus_ref_luma_cuda_build(const MotusRefLuma *ref, const MotusPlane *luma,
                                      cudaStream_t stream) {
    const Target to = target_of(ref);
    static_assert(16 % ROWS == 0, "a thread's rows are all there or none");
    const dim3 blocks((to.columns + 127) / 128, (to.rows + WARPS * ROWS - 1) / (WARPS * ROWS));
    return motus_launch(0, blocks, dim3(32, WARPS), 0, stream, planes_kernel, to, luma->data,
                        (int)luma->stride, luma->width, luma->height);
}
