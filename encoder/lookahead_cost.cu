// What an MB costs before it is coded, as lookahead_cost.c finds it. Reads the picture once and writes four planes of a quarter of its size (half_planes); then
// reads those, and the four of the picture before around each MB's vectors.
//   half_planes  a thread: four samples of each of the four planes, borders included; grid over the half picture with its border
//   intra_costs  a thread: an MB and a mode
//   inter_costs  a warp: a row of MBs, one after another, since each begins from its left neighbour's vector; rows do not look at one another
// A search's candidates are tried eight at a time: lanes 4 c + k have candidate c, of whose 8x8 samples each takes the 4x4 block k.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/lookahead_cuda.h"

#include "common/cuda_call.h"
#include "common/lanes.h"
#include "encoder/lookahead_core.h"
#include "me/pixel_core.h"
#include "me/sad_cuda.h"
#include "me/words_core.h"

namespace {

constexpr int MB = MOTUS_LOOK_MB, BORDER = MOTUS_HALF_BORDER;
constexpr int THREADS = 128;

// ---- Scaling --------------------------------------------------------------------------------------------------------------------------------

__device__ int sample(const MotusPlane &luma, int x, int y) {
    return luma.data[(ptrdiff_t)min(y, luma.height - 1) * luma.stride + min(x, luma.width - 1)];
}

__global__ void half_planes(MotusHalf half, MotusPlane luma) {
    const int x0 = 4 * (int)(blockIdx.x * blockDim.x + threadIdx.x) - BORDER, y0 = (int)blockIdx.y - BORDER;
    const int columns = MB * half.mb_width, rows = MB * half.mb_height;
    if (x0 >= columns + BORDER) return;
    const int y = 2 * motus_clip(0, rows - 1, y0);
    uint32_t word[4] = {};
    for (int i = 0; i < 4; i++) {
        const int x = 2 * motus_clip(0, columns - 1, x0 + i);
        int s[3][3]; // sums of two rows: [odd plane's or not][column]
        for (int k = 0; k < 3; k++) {
            const int a = sample(luma, x + k, y), b = sample(luma, x + k, y + 1), c = sample(luma, x + k, y + 2);
            s[0][k] = a + b, s[1][k] = b + c;
        }
        for (int p = 0; p < 4; p++) word[p] |= (uint32_t)motus_half_mean(s[p >> 1][p & 1], s[p >> 1][(p & 1) + 1]) << (8 * i);
    }
    for (int p = 0; p < 4; p++) motus_word_put(half.plane[p] + y0 * half.stride + x0, word[p]);
}

// ---- Intra ----------------------------------------------------------------------------------------------------------------------------------

__device__ uint32_t satd8x8(const uint8_t *a, ptrdiff_t stride, const uint8_t *pred) {
    uint32_t sum = 0;
    for (int k = 0; k < 4; k++) {
        const int x = 4 * (k & 1), y = 4 * (k >> 1);
        sum += motus_satd4x4(a + y * stride + x, stride, pred + y * MB + x, MB);
    }
    return sum;
}

__global__ void intra_costs(uint16_t *intra, MotusHalf cur) {
    const int t = (int)(blockIdx.x * blockDim.x + threadIdx.x), n = cur.mb_width * cur.mb_height;
    const int i = min(t >> 2, n - 1), mode = t & 3, x = i % cur.mb_width, y = i / cur.mb_width; // all lanes come along to the end
    const uint8_t *at = cur.plane[0] + MB * (y * cur.stride + x);
    const int has = motus_look_has(x, y);
    uint32_t cost = UINT32_MAX;
    if (motus_intra_chroma_allowed(mode, has)) {
        uint8_t pred[MB * MB];
        MotusIntraEdge edge;
        motus_intra_edge(&edge, at, cur.stride, MB, has);
        motus_intra_chroma(pred, MB, &edge, mode);
        cost = satd8x8(at, cur.stride, pred);
    }
    for (int step = 1; step < 4; step *= 2) cost = min(cost, __shfl_xor_sync(MOTUS_ALL_LANES, cost, step));
    if (!mode && t >> 2 < n) intra[i] = motus_look_cost(cost + MOTUS_LOOK_LAMBDA * MOTUS_LOOK_INTRA_BITS);
}

// ---- Inter ----------------------------------------------------------------------------------------------------------------------------------

// A lane's part of the search of an MB; all but `row` is every lane's alike.
struct Search {
    const MotusHalf *before;
    int x, y;        // of the MB, samples of the half picture
    uint32_t row[4]; // of the lane's block
    MotusMv predicted, best;
    uint32_t cost;
};

__device__ uint32_t sad4x4(const uint32_t a[4], const uint32_t b[4]) {
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++) sum = motus_sad4(a[i], b[i], sum);
    return sum;
}

__device__ MotusMv mv_of(uint32_t word) { return motus_look_mv((int16_t)(word & 0xFFFF), (int16_t)(word >> 16)); }
__device__ uint32_t word_of(MotusMv mv) { return (uint16_t)mv.x | (uint32_t)(uint16_t)mv.y << 16; }

// Tries the lanes' candidates, those with has_one: the least of them is the best one if it beats the one before. Cost and candidate make a key, below 2^20.
template <bool SATD> __device__ int try_vectors(Search *s, MotusMv mv, int has_one) {
    const MotusHalf *half = s->before;
    const int block = motus_lane() & 3, candidate = motus_lane() >> 2;
    has_one = has_one && motus_look_inside(half, s->x, s->y, mv);
    if (!has_one) mv = motus_look_mv(0, 0); // which can always be read
    uint32_t ref[4];
    motus_words_load(ref, 4, motus_look_at(half, s->x, s->y, mv) + 4 * (block >> 1) * half->stride + 4 * (block & 1),
                     half->stride, 4);
    uint32_t cost = SATD ? motus_words_satd(s->row, ref) : sad4x4(s->row, ref);
    for (int step = 1; step < 4; step *= 2) cost += __shfl_xor_sync(MOTUS_ALL_LANES, cost, step);
    cost += motus_look_vector_cost(mv, s->predicted);
    const uint32_t least = motus_lanes_min(has_one ? cost << 3 | (uint32_t)candidate : UINT32_MAX);
    if (least >> 3 >= s->cost) return 0;
    s->cost = least >> 3;
    s->best = mv_of(__shfl_sync(MOTUS_ALL_LANES, word_of(mv), 4 * (int)(least & 7)));
    return 1;
}

__device__ void search(Search *s, const MotusMv *earlier, int mb_x, int mb_y) {
    const int c = motus_lane() >> 2;
    MotusMv mv;
    s->cost = UINT32_MAX;
    const int has_one = motus_look_start(&mv, c, s->predicted, earlier, s->before, mb_x, mb_y);
    try_vectors<false>(s, mv, has_one);
    for (int step = 0, found = 1; found && step < MOTUS_LOOK_STEPS; step++)
        found = try_vectors<false>(s, motus_look_hexagon(s->best, c), c < 6);
    try_vectors<false>(s, motus_look_around(s->best, c), 1);
    const MotusMv from = s->best;
    s->cost = UINT32_MAX;
    try_vectors<true>(s, motus_look_next_to(from, c), 1);
    try_vectors<true>(s, c ? motus_look_mv(0, 0) : motus_look_next_to(from, 8), c < 2);
}

// The sums of a row: lane by lane, then all.
__device__ void add_up(MotusLookSums *sums, uint32_t intra, uint32_t inter) {
    const uint32_t all_intra = motus_lanes_sum(intra), all_inter = motus_lanes_sum(inter); // a row has at most 2^9 MBs
    if (motus_lane()) return;
    atomicAdd((unsigned long long *)&sums->intra, (unsigned long long)all_intra);
    atomicAdd((unsigned long long *)&sums->inter, (unsigned long long)all_inter);
}

__global__ void __launch_bounds__(32)
    inter_costs(MotusMbCosts costs, MotusHalf cur, MotusHalf before, const MotusMv *earlier, MotusLookSums *sums) {
    const int y = (int)blockIdx.x, width = cur.mb_width, block = motus_lane() & 3;
    const uint8_t *at = cur.plane[0] + (MB * y + 4 * (block >> 1)) * cur.stride + 4 * (block & 1);
    Search s;
    s.before = &before;
    s.y = MB * y;
    s.best = motus_look_mv(0, 0); // left of the first MB
    uint32_t all_intra = 0, all_inter = 0;
    for (int x = 0; x < width; x++) {
        const int i = y * width + x;
        const uint32_t intra = costs.intra[i];
        s.x = MB * x;
        s.predicted = s.best;
        for (int k = 0; k < 4; k++) s.row[k] = motus_word_get(at + MB * x + k * cur.stride);
        search(&s, earlier, x, y);
        if (motus_lane()) continue;
        const uint32_t inter = motus_look_cost(s.cost < intra ? s.cost : intra);
        costs.mv[i] = s.best;
        costs.inter[i] = (uint16_t)inter;
        all_intra += intra, all_inter += inter;
    }
    add_up(sums, all_intra, all_inter);
}

// Of a picture that has none before it.
__global__ void __launch_bounds__(32) no_inter_costs(MotusMbCosts costs, int width, MotusLookSums *sums) {
    uint32_t all = 0;
    for (int x = motus_lane(); x < width; x += MOTUS_LANES) {
        const int i = (int)blockIdx.x * width + x;
        costs.mv[i] = motus_look_mv(0, 0);
        costs.inter[i] = costs.intra[i];
        all += costs.intra[i];
    }
    add_up(sums, all, all);
}

} // namespace

// ---- Launchers ------------------------------------------------------------------------------------------------------------------------------

MotusStatus motus_half_build_cuda(const MotusHalf *half, const MotusPlane *luma, void *stream, MotusError *error) {
    const int words = (MB * half->mb_width + 2 * BORDER) / 4;
    const dim3 grid((words + THREADS - 1) / THREADS, MB * half->mb_height + 2 * BORDER);
    half_planes<<<grid, THREADS, 0, (cudaStream_t)stream>>>(*half, *luma);
    return motus_cuda_launched("look-ahead: scaling", error);
}

MotusStatus motus_mb_costs_cuda(const MotusMbCosts *costs, const MotusHalf *cur, const MotusHalf *before, const MotusMv *earlier,
                                MotusLookSums *sums, void *stream, MotusError *error) {
    const int threads = 4 * cur->mb_width * cur->mb_height;
    intra_costs<<<(threads + THREADS - 1) / THREADS, THREADS, 0, (cudaStream_t)stream>>>(costs->intra, *cur);
    MotusStatus status = motus_cuda_launched("look-ahead: intra costs", error);
    if (status) return status;
    if (before)
        inter_costs<<<cur->mb_height, 32, 0, (cudaStream_t)stream>>>(*costs, *cur, *before, earlier, sums);
    else
        no_inter_costs<<<cur->mb_height, 32, 0, (cudaStream_t)stream>>>(*costs, cur->mb_width, sums);
    return motus_cuda_launched("look-ahead: inter costs", error);
}
