// Costs of mini-GOPs; they equal those of b_costs.c.
//   b_fields    lanes 2c and 2c + 1: an MB in one other picture; no MB waits for another
//   b_sums      lanes 2c and 2c + 1: an MB of a B picture between two others, 4 rows each
//   p_sums      a thread: every so many MBs of a field
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cuda_call.cuh"
#include "encoder/lookahead/lookahead_passes_cuda.h"
#include "encoder/lookahead/lookahead_search.cuh"

namespace {

constexpr int MB = MOTUS_LOOKAHEAD_MB, BLOCK = 128;
constexpr int MBS = BLOCK / 2;                                         // of a block
constexpr int PAIRS = MOTUS_B_FLAT_SPAN * (MOTUS_B_FLAT_SPAN - 1) / 2; // measured, at most

static_assert(PAIRS >= MOTUS_B_SPAN - 1, "with a pyramid one for each length is measured");

struct Fields {
    MotusBSearch search[MOTUS_B_SPAN]; // [blockIdx.y]
};

__global__ void __launch_bounds__(BLOCK) b_fields(const __grid_constant__ Fields fields) {
    const MotusBSearch &p = fields.search[blockIdx.y];
    const int width = p.cur.mb_width, n = width * p.cur.mb_height,
              k = (int)(blockIdx.x * MBS + threadIdx.x / 2), i = min(k, n - 1);
    const int x = i % width, y = i / width;
    Search s;
    begin_search(&s, &p.cur, &p.ref, p.weight, x, y);
    s.predictor = motus_b_predictor(&p, x, y);
#pragma unroll 1
    for (int c = 0; c < MOTUS_B_STARTS; c++) {
        MotusMv mv = motus_lookahead_mv(0, 0);
        const int has_one = motus_b_start(&mv, c, &p, x, y);
        try_mv<false>(&s, mv, has_one);
    }
    try_around(&s, 1);
    refine(&s);
    if (motus_lane() & 1 || k >= n) return;
    p.field.mv[i] = s.best;
    p.field.cost[i] = motus_lookahead_cost(s.cost < p.intra[i] ? s.cost : p.intra[i]);
}

struct Betweens {
    MotusBetween picture[PAIRS]; // [blockIdx.y]
};

// Adds the warp's costs to a sum of the picture.
__device__ void add_up(uint64_t *sum, uint32_t cost) {
    const uint32_t all = motus_lanes_sum(cost);
    if (!motus_lane()) atomicAdd((unsigned long long *)sum, (unsigned long long)all);
}

// Returns the SATD of an MB, to both of its lanes.
__device__ uint32_t mb_satd(const uint32_t a[2][4], const uint32_t b[2][4]) {
    const uint32_t satd = motus_words_satd(a[0], b[0]) + motus_words_satd(a[1], b[1]);
    return satd + __shfl_xor_sync(MOTUS_ALL_LANES, satd, 1);
}

__global__ void __launch_bounds__(BLOCK)
    b_sums(const __grid_constant__ Betweens betweens, MotusBCosts *costs) {
    const MotusBetween &b = betweens.picture[blockIdx.y];
    const int n = b.cur.mb_width * b.cur.mb_height, lower = 4 * (motus_lane() & 1),
              k = (int)(blockIdx.x * MBS + threadIdx.x / 2), i = min(k, n - 1);
    const int x = MB * (i % b.cur.mb_width), y = MB * (i / b.cur.mb_width);
    uint32_t row[2][4], ref[2][2][4], earlier = b.field[0].cost[i], cost;
    load_blocks(row, b.cur.plane[0] + (y + lower) * b.cur.stride + x, b.cur.stride);
    for (int r = 0; r < 2; r++)
        load_blocks(ref[r],
                    motus_lookahead_at(&b.ref[r], x, y, b.field[r].mv[i]) + lower * b.cur.stride,
                    b.cur.stride);
    if (b.weight && b.weight->is_used) // as unweighted_cost
        earlier = min((uint32_t)b.intra[i],
                      mb_satd(row, ref[0]) +
                          motus_lookahead_mv_cost(b.field[0].mv[i], x ? b.field[0].mv[i - 1]
                                                                      : motus_lookahead_mv(0, 0)));
    for (int half = 0; half < 2; half++)
        for (int v = 0; v < 4; v++) // (a + b + 1) >> 1 of four samples
            ref[0][half][v] = __vavgu4(ref[0][half][v], ref[1][half][v]);
    cost = motus_b_cost(mb_satd(row, ref[0]), earlier, b.field[1].cost[i]);
    const int is_one = k < n && !lower;
    if (is_one && b.mb_cost) b.mb_cost[k] = (uint16_t)cost;
    add_up(&costs->b[b.length - 1], is_one ? cost : 0);
}

// Costs of the fields as P pictures: of 1..span.
struct Costs {
    const uint16_t *cost[MOTUS_B_SPAN]; // [blockIdx.y]
};

// A thread adds at most 8 costs.
__global__ void __launch_bounds__(BLOCK)
    p_sums(const __grid_constant__ Costs field, int n, MotusBCosts *costs) {
    const uint16_t *cost = field.cost[blockIdx.y];
    uint32_t sum = 0;
    for (int i = (int)(blockIdx.x * BLOCK + threadIdx.x); i < n; i += (int)gridDim.x * BLOCK)
        sum += cost[i];
    add_up(&costs->p[blockIdx.y], sum);
}

MotusStatus launch_fields(const Fields &fields, int n, cudaStream_t stream, MotusError *error) {
    const MotusHalfPicture &cur = fields.search[0].cur;
    if (n < 1) return MOTUS_OK;
    const dim3 grid((unsigned)((cur.mb_width * cur.mb_height + MBS - 1) / MBS), (unsigned)n);
    b_fields<<<grid, BLOCK, 0, stream>>>(fields);
    return motus_cuda_launched("lookahead: fields of B pictures", error);
}

MotusStatus sum_b(MotusBCosts *costs, const MotusBPicture *const *picture, int span, int pyramid,
                  int n_mb, cudaStream_t stream, MotusError *error) {
    Betweens betweens = {};
    int n = 0;
    for (int length = 2; length <= span; length++)
        for (int d = 1; d < length; d++) {
            if (motus_b_is_measured(length - d, d, pyramid))
                betweens.picture[n++] = motus_b_between(picture, length, d);
        }
    if (!n) return MOTUS_OK;
    const dim3 grid((unsigned)((n_mb + MBS - 1) / MBS), (unsigned)n);
    b_sums<<<grid, BLOCK, 0, stream>>>(betweens, costs);
    return motus_cuda_launched("lookahead: costs of B pictures", error);
}

MotusStatus sum_p(MotusBCosts *costs, const MotusBPicture *cur, int span, int n_mb,
                  cudaStream_t stream, MotusError *error) {
    Costs field = {};
    for (int d = 0; d < span; d++) field.cost[d] = cur->earlier[d].cost;
    const dim3 grid((unsigned)((n_mb + 8 * BLOCK - 1) / (8 * BLOCK)), (unsigned)span);
    p_sums<<<grid, BLOCK, 0, stream>>>(field, n_mb, costs);
    return motus_cuda_launched("lookahead: costs of P pictures", error);
}

} // namespace

MotusStatus motus_b_costs_cuda(MotusBCosts *costs, const MotusBPicture *const *picture, int span,
                               int pyramid, void *stream, MotusError *error) {
    const cudaStream_t on = (cudaStream_t)stream;
    const int n_mb = picture[0]->half.mb_width * picture[0]->half.mb_height,
              farthest = motus_b_farthest_later(span, pyramid);
    Fields earlier = {}, later = {};
    if (!span) return MOTUS_OK;
    for (int d = 2; d <= span; d++) earlier.search[d - 2] = motus_b_search_earlier(picture, d);
    for (int d = 1; d <= farthest; d++) later.search[d - 1] = motus_b_search_later(picture, d);
    MotusStatus status = launch_fields(earlier, span - 1, on, error);
    if (!status) status = launch_fields(later, farthest, on, error);
    if (!status) status = sum_p(costs, picture[0], span, n_mb, on, error);
    return status ? status : sum_b(costs, picture, span, pyramid, n_mb, on, error);
}
