// Costs of mini-GOPs; they equal those of b_costs.c.
//   b_fields    lanes 2c and 2c + 1: an MB in one other picture; no MB waits for another
//   b_sums      lanes 2c and 2c + 1: an MB of a B picture between two others, 4 rows each
// SPDX-License-Identifier: BSD-2-Clause
#include "common/cuda_call.cuh"
#include "encoder/lookahead/lookahead_passes_cuda.h"
#include "encoder/lookahead/lookahead_search.cuh"

namespace {

constexpr int MB = MOTUS_LOOKAHEAD_MB, BLOCK = MOTUS_PAIRS_BLOCK;
constexpr int PAIRS = MOTUS_B_FLAT_SPAN * (MOTUS_B_FLAT_SPAN - 1) / 2; // measured, at most

static_assert(PAIRS >= MOTUS_B_SPAN - 1, "with a pyramid one for each length is measured");

struct Fields {
    MotusBSearch search[MOTUS_B_SPAN]; // [blockIdx.y]
    uint64_t *sums;                    // their costs are added to; NULL: nowhere
};

__global__ void __launch_bounds__(BLOCK) b_fields(const __grid_constant__ Fields fields) {
    const MotusBSearch &p = fields.search[blockIdx.y];
    const Place at = find_place(p.cur);
    Search s;
    begin_search(&s, p.cur, p.ref, p.weight, at);
    s.predictor = motus_b_predictor(&p, at.x, at.y);
#pragma unroll
    for (int c = 0; c < MOTUS_B_STARTS; c++) {
        MotusMv mv = motus_lookahead_mv(0, 0);
        const int has_one = motus_b_start(&mv, c, &p, at.x, at.y);
        try_mv<false>(&s, mv, has_one);
    }
    try_around(&s, 1);
    refine(&s);
    const uint16_t cost = motus_lookahead_cost(s.cost < p.intra[at.i] ? s.cost : p.intra[at.i]);
    if (fields.sums) add_up(&fields.sums[blockIdx.y], at.is_one ? cost : 0);
    if (!at.is_one) return;
    p.field.mv[at.i] = s.best;
    p.field.cost[at.i] = cost;
}

struct Betweens {
    MotusBetween picture[PAIRS]; // [blockIdx.y]
};

__global__ void __launch_bounds__(BLOCK)
    b_sums(const __grid_constant__ Betweens betweens, MotusBCosts *costs) {
    const MotusBetween &b = betweens.picture[blockIdx.y];
    const Place at = find_place(b.cur);
    const int x = MB * at.x, y = MB * at.y, lower = 4 * (motus_lane() & 1);
    const MotusMv *mv = b.field[0].mv + at.i;
    uint32_t row[2][4], ref[2][2][4], earlier = b.field[0].cost[at.i];
    load_blocks(row, lane_rows(b.cur, at), b.cur.stride);
    for (int r = 0; r < 2; r++)
        load_blocks(ref[r],
                    motus_lookahead_at(&b.ref[r], x, y, b.field[r].mv[at.i]) + lower * b.cur.stride,
                    b.cur.stride);
    if (b.weight && b.weight->is_used) // as unweighted_cost
        earlier = min((uint32_t)b.intra[at.i],
                      pair_satd(row, ref[0]) +
                          motus_lookahead_mv_cost(*mv, x ? mv[-1] : motus_lookahead_mv(0, 0)));
    for (int half = 0; half < 2; half++)
        for (int v = 0; v < 4; v++) // (a + b + 1) >> 1 of four samples
            ref[0][half][v] = __vavgu4(ref[0][half][v], ref[1][half][v]);
    const uint32_t cost = motus_b_cost(pair_satd(row, ref[0]), earlier, b.field[1].cost[at.i]);
    if (at.is_one && b.mb_cost) b.mb_cost[at.i] = (uint16_t)cost;
    add_up(&costs->b[b.length - 1], at.is_one ? cost : 0);
}

MotusStatus launch_fields(const Fields &fields, int n, cudaStream_t stream, MotusError *error) {
    const MotusHalfPicture &cur = fields.search[0].cur;
    if (n < 1) return MOTUS_OK;
    const dim3 grid(blocks_of(cur), (unsigned)n);
    b_fields<<<grid, BLOCK, 0, stream>>>(fields);
    return motus_cuda_launched("lookahead: fields of B pictures", error);
}

} // namespace

MotusStatus motus_b_costs_cuda(MotusBCosts *costs, const MotusBPicture *const *picture, int span,
                               int pyramid, void *stream, MotusError *error) {
    const cudaStream_t on = (cudaStream_t)stream;
    const int farthest = motus_b_farthest_later(span, pyramid);
    Fields earlier = {}, later = {};
    Betweens betweens = {};
    int n = 0;
    if (!span) return MOTUS_OK;
    earlier.sums = &costs->p[1];
    for (int d = 2; d <= span; d++) earlier.search[d - 2] = motus_b_search_earlier(picture, d);
    for (int d = 1; d <= farthest; d++) later.search[d - 1] = motus_b_search_later(picture, d);
    for (int length = 2; length <= span; length++)
        for (int d = 1; d < length; d++)
            if (motus_b_is_measured(length - d, d, pyramid))
                betweens.picture[n++] = motus_b_between(picture, length, d);
    MotusStatus status = launch_fields(earlier, span - 1, on, error);
    if (!status) status = launch_fields(later, farthest, on, error);
    if (status || !n) return status;
    const dim3 grid(blocks_of(picture[0]->half), (unsigned)n);
    b_sums<<<grid, BLOCK, 0, on>>>(betweens, costs);
    return motus_cuda_launched("lookahead: costs of B pictures", error);
}
