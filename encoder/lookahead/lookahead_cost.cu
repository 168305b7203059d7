// Half-size planes and MB costs; the results equal those of lookahead_cost.c.
//   half_planes        a thread: four samples of each of the four planes, with their borders, and
//                      the detail of the 8x2 samples below them
//   intra_costs        lanes 2c and 2c + 1: an MB, 4 rows each; sums for weights
//   first_pass         two lanes: an MB's search from zero on
//   inter_costs        two lanes: an MB's search from the MVs that its neighbours have found
//   find               a block: weights of a picture for one reference
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead/lookahead_passes_cuda.h"

#include "common/cuda_call.cuh"
#include "encoder/lookahead/lookahead_search.cuh"
#include "me/pixel/cost_core.h"
#include "me/pixel/pixel_core.h"

namespace {

constexpr int MB = MOTUS_LOOKAHEAD_MB, BORDER = MOTUS_HALF_BORDER;
constexpr int THREADS = MOTUS_PAIRS_BLOCK;

// ---- Scaling ------------------------------------------------------------------------------------

__device__ int sample(const MotusPlane &luma, int x, int y) {
    return luma.data[(ptrdiff_t)min(y, luma.height - 1) * luma.stride + min(x, luma.width - 1)];
}

// Two samples of 16 bits each.
struct Pairs {
    uint32_t even, odd; // of a word's samples
};

// Returns the detail of eight samples of a row, from its second one on. A half of `sums` is at
// most 4 * 510.
__device__ uint32_t detail_of(const Pairs row[3]) {
    uint32_t sums = 0;
    for (int i = 0; i < 2; i++) {
        const uint32_t even = __funnelshift_r(row[i].even, row[i + 1].even, 16),
                       odd = __funnelshift_r(row[i].odd, row[i + 1].odd, 16);
        sums += __vabsdiffu2(2 * row[i].odd, row[i].even + even) +
                __vabsdiffu2(2 * even, row[i].odd + odd);
    }
    return (sums & 0xFFFF) + (sums >> 16);
}

// Fills in the words of the planes at column 2 x of the picture, a multiple of 8, from whole words.
// Returns the detail of two rows of eight samples.
__device__ uint32_t scale_words(uint32_t word[4], const MotusPlane &luma, int x, int y) {
    Pairs row[3][3];
    for (int k = 0; k < 3; k++) { // 12 samples, of which the last two are not used
        const uint8_t *from =
            luma.data + (ptrdiff_t)min(y + k, luma.height - 1) * luma.stride + 2 * x;
        for (int i = 0; i < 3; i++) {
            const uint32_t w = motus_word_get(from + 4 * i);
            row[k][i] = {w & 0x00FF00FFu, w >> 8 & 0x00FF00FFu};
        }
    }
    for (int k = 0; k < 2; k++) {
        Pairs sum[3];
        for (int i = 0; i < 3; i++)
            sum[i] = {row[k][i].even + row[k + 1][i].even, row[k][i].odd + row[k + 1][i].odd};
        for (int odd = 0; odd < 2; odd++) { // means of 2x2 that begin at even or at odd columns
            uint32_t pair[2];
            for (int i = 0; i < 2; i++) {
                const uint32_t next = __funnelshift_r(sum[i].even, sum[i + 1].even, 16);
                pair[i] = (sum[i].odd + (odd ? next : sum[i].even) + 0x00020002u) >> 2;
            }
            word[2 * k + odd] = __byte_perm(pair[0], pair[1], 0x6420);
        }
    }
    return detail_of(row[0]) + detail_of(row[1]);
}

// Fills in the words of the planes as scale_words, from single samples, edge samples repeated.
__device__ uint32_t scale_samples(uint32_t word[4], const MotusPlane &luma, int x0, int y,
                                  int columns) {
    uint32_t detail = 0;
    for (int i = 0; i < 4; i++) {
        const int x = 2 * motus_clip(0, columns - 1, x0 + i);
        int s[2][3]; // sums of two rows: [row parity of the plane][column]
        for (int k = 0; k < 3; k++) {
            const int a = sample(luma, x + k, y), b = sample(luma, x + k, y + 1),
                      c = sample(luma, x + k, y + 2);
            s[0][k] = a + b, s[1][k] = b + c;
        }
        for (int k = 0; k < 4; k++) {
            const int at = x + (k & 1), row = y + (k >> 1);
            detail += abs(2 * sample(luma, at + 1, row) - sample(luma, at, row) -
                          sample(luma, at + 2, row));
        }
        for (int p = 0; p < 4; p++)
            word[p] |= (uint32_t)motus_half_mean(s[p >> 1][p & 1], s[p >> 1][(p & 1) + 1])
                       << (8 * i);
    }
    return detail;
}

__global__ void half_planes(MotusHalfPicture half, MotusPlane luma, uint64_t *detail) {
    const int x0 = 4 * (int)(blockIdx.x * blockDim.x + threadIdx.x) - BORDER,
              y0 = (int)blockIdx.y - BORDER;
    const int columns = MB * half.mb_width, rows = MB * half.mb_height;
    const int y = 2 * motus_clip(0, rows - 1, y0),
              aligned = !(((uintptr_t)luma.data | (uintptr_t)luma.stride) & 3);
    uint32_t word[4] = {}, amount = 0;
    if (x0 < columns + BORDER) {
        amount = aligned && x0 >= 0 && 2 * x0 + 12 <= luma.width
                     ? scale_words(word, luma, x0, y)
                     : scale_samples(word, luma, x0, y, columns);
        for (int p = 0; p < 4; p++) motus_word_put(half.plane[p] + y0 * half.stride + x0, word[p]);
    }
    if (!detail || y0 < 0 || y0 >= rows) return; // all threads of a block
    __shared__ uint32_t all;
    if (!threadIdx.x) all = 0;
    __syncthreads(); // it is cleared before the warps add
    const uint32_t warp = motus_lanes_sum(x0 >= 0 && x0 < columns ? amount : 0);
    if (!motus_lane()) atomicAdd(&all, warp);
    __syncthreads(); // every warp has added
    if (!threadIdx.x) atomicAdd((unsigned long long *)detail, (unsigned long long)all);
}

// ---- Intra --------------------------------------------------------------------------------------

// Fills in the lane's rows as a mode predicts them: as motus_intra_chroma.
__device__ __forceinline__ void predict(uint32_t row[2][4], const MotusIntraEdge &edge,
                                        const MotusIntraPlane &plane, int mode) {
    const int lower = motus_lane() & 1;
    for (int k = 0; k < 2; k++) {
        const uint8_t *top = edge.top + 4 * k;
        const int dc =
            lower ? motus_intra_chroma_dc(&edge, k, 1) : motus_intra_chroma_dc(&edge, k, 0);
        for (int r = 0; r < 4; r++) {
            const uint32_t left = lower ? edge.left[4 + r] : edge.left[r];
            row[k][r] = mode == MOTUS_IC_VERTICAL
                            ? top[0] | top[1] << 8 | top[2] << 16 | (uint32_t)top[3] << 24
                        : mode == MOTUS_IC_HORIZONTAL ? left * 0x01010101u
                                                      : (uint32_t)dc * 0x01010101u;
            if (mode != MOTUS_IC_PLANE) continue;
            row[k][r] = 0;
            for (int i = 0; i < 4; i++)
                row[k][r] |=
                    (uint32_t)motus_clip_u8(
                        (plane.base + plane.b * (4 * k + i) + plane.c * (4 * lower + r)) >> 5)
                    << (8 * i);
        }
    }
}

// Stores the sums of the lane's two 4x4 blocks, and adds them to the picture's. A warp's are below
// 2^26.
__device__ void measure(const MotusHalfStats &stats, const uint32_t row[2][4], int mb_width,
                        const Place &at) {
    uint32_t sum[2] = {}, squares = 0;
    for (int k = 0; k < 8; k++) {
        const uint32_t word = row[k >> 2][k & 3];
        sum[k >> 2] = __dp4a(word, 0x01010101u, sum[k >> 2]);
        squares = __dp4a(word, word, squares);
    }
    const int y = 2 * at.y + (motus_lane() & 1);
    if (at.is_there) *(uint32_t *)&stats.small[2 * (y * mb_width + at.x)] = sum[0] | sum[1] << 16;
    add_up(&stats.sums[0], at.is_there ? sum[0] + sum[1] : 0);
    add_up(&stats.sums[1], at.is_there ? squares : 0);
}

__global__ void __launch_bounds__(THREADS)
    intra_costs(uint16_t *intra, MotusHalfStats stats, MotusHalfPicture cur) {
    const Place at = find_place(cur);
    const int has = motus_lookahead_has(at.x, at.y);
    uint32_t row[2][4], least = UINT32_MAX;
    MotusIntraEdge edge;
    motus_intra_edge(&edge, cur.plane[0] + MB * (at.y * cur.stride + at.x), cur.stride, MB, has);
    const MotusIntraPlane plane = motus_intra_plane(&edge, MB);
    load_blocks(row, lane_rows(cur, at), cur.stride);
    if (stats.sums) measure(stats, row, cur.mb_width, at);
#pragma unroll
    for (int mode = 0; mode < MOTUS_IC_MODES; mode++) {
        uint32_t predicted[2][4];
        predict(predicted, edge, plane, mode);
        const uint32_t satd = pair_satd(row, predicted);
        if (motus_intra_chroma_allowed(mode, has)) least = min(least, satd);
    }
    if (at.is_one)
        intra[at.i] =
            motus_lookahead_cost(least + MOTUS_LOOKAHEAD_LAMBDA * MOTUS_LOOKAHEAD_INTRA_BITS);
}

// ---- Inter --------------------------------------------------------------------------------------

__global__ void __launch_bounds__(THREADS)
    first_pass(const __grid_constant__ MotusLookaheadSearch p) {
    const Place at = find_place(p.cur);
    Search s;
    begin_search(&s, p.cur, p.before, p.weight, at);
    s.predictor = motus_lookahead_mv(0, 0);
    try_mv<false>(&s, motus_lookahead_mv(0, 0), 1);
    descend(&s, 1);
    if (at.is_one) p.costs.first[at.i] = s.best;
}

__global__ void __launch_bounds__(THREADS)
    inter_costs(const __grid_constant__ MotusLookaheadSearch p) {
    const Place at = find_place(p.cur);
    int found = 0; // 1: another MB's MV is better
    Search s;
    begin_search(&s, p.cur, p.before, p.weight, at);
    s.predictor = motus_lookahead_predictor(p.costs.first, p.cur.mb_width, at.x, at.y);
#pragma unroll
    for (int i = 0; i < MOTUS_LOOKAHEAD_STARTS; i++) {
        MotusMv mv;
        const int is_there = motus_lookahead_start(&mv, i, p.costs.first, &p.cur, at.x, at.y);
        found = try_mv<false>(&s, mv, is_there) ? i > 0 : found;
    }
    descend(&s, found);
    refine(&s);
    const uint32_t intra = p.costs.intra[at.i],
                   inter = motus_lookahead_cost(s.cost < intra ? s.cost : intra);
    if (at.is_one) {
        p.costs.mv[at.i] = s.best;
        p.costs.inter[at.i] = (uint16_t)inter;
    }
    const uint32_t own_intra = at.is_one ? intra : 0, own_inter = at.is_one ? inter : 0;
    add_up(&p.sums->intra, own_intra);
    add_up(&p.sums->inter, own_inter);
}

// Inter costs of a picture without a previous one: its intra costs.
__global__ void __launch_bounds__(32)
    no_inter_costs(MotusMbCosts costs, int width, MotusLookaheadSums *sums) {
    uint32_t all = 0;
    for (int x = motus_lane(); x < width; x += MOTUS_LANES) {
        const int i = (int)blockIdx.x * width + x;
        costs.mv[i] = motus_lookahead_mv(0, 0);
        costs.inter[i] = costs.intra[i];
        all += costs.intra[i];
    }
    add_up(&sums->intra, all);
    add_up(&sums->inter, all);
}

// ---- Weights ------------------------------------------------------------------------------------

constexpr int FINDERS = 512;

// A picture's references.
struct References {
    MotusHalfStats stats[MOTUS_B_SPAN]; // [blockIdx.x]
};

__device__ void add_up(uint32_t *to, uint32_t amount) {
    const uint32_t all = motus_lanes_sum(amount);
    if (!motus_lane()) atomicAdd(to, all);
}

// A block: a picture and a reference; a thread: every so many MBs. Sums of pictures come from
// intra_costs.
__global__ void __launch_bounds__(FINDERS)
    find(MotusHalfWeight *weight, const __grid_constant__ References references, MotusHalfStats cur,
         int mb_width, int mb_height) {
    __shared__ MotusHalfWeight suggestion[MOTUS_HALF_SUGGESTIONS];
    __shared__ MotusHalfTrial sums;
    __shared__ int any;
    const MotusHalfStats &ref = references.stats[blockIdx.x];
    const int n_mb = mb_width * mb_height, step = motus_half_row_step(n_mb),
              searched = (mb_height + step - 1) / step * mb_width;
    MotusHalfTrial trial = {};
    if (!threadIdx.x) {
        any = motus_half_suggest(suggestion, cur.sums, ref.sums, 64 * (uint64_t)n_mb);
        sums = trial;
    }
    __syncthreads(); // any, suggestion[] and sums are set
    for (int i = (int)threadIdx.x; i < searched && any; i += FINDERS)
        motus_half_try(&trial, cur.small, ref.small, mb_width, mb_height, i % mb_width,
                       i / mb_width * step, suggestion);
    for (int k = 0; k <= MOTUS_HALF_SUGGESTIONS && any; k++) add_up(&sums.cost[k], trial.cost[k]);
    for (int k = 0; k < MOTUS_HALF_SUGGESTIONS && any; k++)
        add_up(&sums.helped[k], trial.helped[k]), add_up(&sums.harmed[k], trial.harmed[k]);
    __syncthreads(); // sums are complete
    if (!threadIdx.x)
        weight[blockIdx.x] = any ? motus_half_choose(&sums, suggestion) : motus_half_no_weight();
}

} // namespace

// ---- Launchers ----------------------------------------------------------------------------------

MotusStatus motus_half_build_cuda(const MotusHalfPicture *half, const MotusPlane *luma,
                                  uint64_t *detail, void *stream, MotusError *error) {
    const int words = (MB * half->mb_width + 2 * BORDER) / 4;
    const dim3 grid((words + THREADS - 1) / THREADS, MB * half->mb_height + 2 * BORDER);
    half_planes<<<grid, THREADS, 0, (cudaStream_t)stream>>>(*half, *luma, detail);
    return motus_cuda_launched("lookahead: scaling", error);
}

MotusStatus motus_intra_costs_cuda(const MotusMbCosts *costs, const MotusHalfStats *stats,
                                   const MotusHalfPicture *cur, void *stream, MotusError *error) {
    intra_costs<<<blocks_of(*cur), THREADS, 0, (cudaStream_t)stream>>>(
        costs->intra, stats ? *stats : MotusHalfStats{}, *cur);
    return motus_cuda_launched("lookahead: intra costs", error);
}

MotusStatus motus_lookahead_search_cuda(const MotusLookaheadSearch *search, void *stream,
                                        MotusError *error) {
    const MotusHalfPicture *cur = &search->cur;
    const unsigned blocks = blocks_of(*cur);
    const cudaStream_t on = (cudaStream_t)stream;
    if (search->before.memory) {
        first_pass<<<blocks, THREADS, 0, on>>>(*search);
        inter_costs<<<blocks, THREADS, 0, on>>>(*search);
    } else
        no_inter_costs<<<cur->mb_height, 32, 0, on>>>(search->costs, cur->mb_width, search->sums);
    return motus_cuda_launched("lookahead: inter costs", error);
}

MotusStatus motus_half_find_weights_cuda(MotusHalfWeight *weight, const MotusHalfStats *cur,
                                         const MotusHalfStats *ref, int n, int mb_width,
                                         int mb_height, void *stream, MotusError *error) {
    References references = {};
    if (!n) return MOTUS_OK;
    for (int i = 0; i < n; i++) references.stats[i] = ref[i];
    find<<<(unsigned)n, FINDERS, 0, (cudaStream_t)stream>>>(weight, references, *cur, mb_width,
                                                            mb_height);
    return motus_cuda_launched("lookahead: weights", error);
}
