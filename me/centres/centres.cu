// Search centres of a picture from the MVs of downscaled.cu; equals motus_centres. One kernel, a
// warp per MB.
//
// Lanes hold a candidate each. The warp computes the SADs of two candidates at a time, half a row
// per lane; equal candidates once. The 5x5 around the MB's own MV of the downscaled search share
// their loads. Loads are the bound: a row costs 128 bytes of the L1, however little of it is
// wanted. A key is J and the candidate's number. Read: candidates' blocks through the L1; written:
// 4 bytes per MB.
// SPDX-License-Identifier: BSD-2-Clause
#include "me/centres/centres_cuda.h"

#include "common/cuda_call.cuh"
#include "common/lanes.h"
#include "me/pixel/sad.cuh"

namespace {

constexpr int WARPS = 8; // MBs of a thread block

struct Centres {
    const uint8_t *cur, *ref; // full samples
    ptrdiff_t cur_stride, ref_stride;
    int width, height;
    uint32_t lambda_q8;
    MotusCentreSource source; // its median is set from:
    const MotusMv *median;
    MotusMv *centre;
    const uint64_t *wanted; // MotusCentresPicture
    size_t wanted_pitch;
};

struct Lists {
    Centres of[MOTUS_CENTRES_LISTS]; // [blockIdx.y]
};

// The MB at sample (x, y). A lane compares half a row, and holds the whole row.
struct Mb {
    int x, y, row, half;
    uint32_t cur[4];
};

// Returns the lane's part of the SAD of the MB displaced by a full-sample MV (motus_mv_word). A row
// of the reference begins at any byte and lies in two chunks of 16 bytes. A lane loads one of them
// and compares it with the samples of the MB's row that lie there: loads word by word cost three
// times as much.
__device__ uint32_t sad_of_lane(const Centres &c, const Mb &mb, uint32_t mv) {
    const int x = motus_ref_luma_clip(c.width, mb.x + ((int16_t)(mv & 0xFFFF) >> 2));
    const int y = motus_ref_luma_clip(c.height, mb.y + ((int16_t)(mv >> 16) >> 2));
    const uint8_t *from = c.ref + (ptrdiff_t)(y + mb.row) * c.ref_stride + x;
    const int offset = (int)((uintptr_t)from & 15), words = offset >> 2,
              bits = 8 * (offset & 3); // the same in all rows
    const uint4 chunk = *(reinterpret_cast<const uint4 *>(from - offset) + mb.half);
    const uint32_t ref[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
    uint32_t two[6], one[5], sum = 0;
#pragma unroll
    for (int k = 0; k < 6; k++) { // the row behind four zeros, or before them, by two words
        const int high = k + 2 - 4, low = k - 4;
        const uint32_t first_high = high >= 0 ? mb.cur[high & 3] : 0,
                       first_low = low >= 0 ? mb.cur[low & 3] : 0;
        const uint32_t second_high = high < 0 ? mb.cur[high & 3] : 0,
                       second_low = low < 0 ? mb.cur[low & 3] : 0;
        two[k] =
            words & 2 ? (mb.half ? second_low : first_low) : (mb.half ? second_high : first_high);
    }
#pragma unroll
    for (int k = 0; k < 5; k++) one[k] = words & 1 ? two[k] : two[k + 1];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        // Bytes of the first chunk.
        const uint32_t from_offset = __funnelshift_lc(0, ~0u, max(8 * (offset - 4 * k), 0));
        const uint32_t mask = mb.half ? ~from_offset : from_offset;
        sum = motus_sad4(ref[k] & mask, __funnelshift_l(one[k], one[k + 1], bits), sum);
    }
    return sum;
}

// J is below 2^17, the number below 2^6.
__device__ uint32_t key_of(const Centres &c, const MotusCentreSource &source, MotusMv mv,
                           uint32_t sad, int number) {
    return (sad + motus_mv_cost(c.lambda_q8, mv, source.median)) << 6 | number;
}

// Returns the least key of candidates [from, end), up to 32; *mv_word: the lane's candidate. Two
// SADs at a time hide the latency of memory.
__device__ uint32_t best_of(const Centres &c, const MotusCentreSource &source, const Mb &mb,
                            int from, int end, uint32_t *mv_word) {
    int lane = motus_lane(), number = min(from + lane, end - 1);
    MotusMv mv;
    bool valid =
        motus_centre_candidate(&source, mb.x / 16, mb.y / 16, number, &mv) && from + lane < end;
    __syncwarp();
    uint32_t sad = 0;
    *mv_word = motus_mv_word(mv);
    uint32_t same =
        __match_any_sync(MOTUS_ALL_LANES, *mv_word) & __ballot_sync(MOTUS_ALL_LANES, valid);
    bool first = valid && __ffs((int)same) - 1 == lane; // of equal candidates
    for (uint32_t left = __ballot_sync(MOTUS_ALL_LANES, first); left;) {
        int i[2];
        uint32_t sum[2];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            i[k] = left ? __ffs((int)left) - 1 : i[0]; // an odd one is paired with itself
            left &= left - 1;
        }
#pragma unroll
        for (int k = 0; k < 2; k++)
            sum[k] = sad_of_lane(c, mb, __shfl_sync(MOTUS_ALL_LANES, *mv_word, i[k]));
#pragma unroll
        for (int k = 0; k < 2; k++) sum[k] = motus_lanes_sum(sum[k]);
#pragma unroll
        for (int k = 0; k < 2; k++)
            if (lane == i[k]) sad = sum[k];
    }
    return motus_lanes_min(first ? key_of(c, source, mv, sad, number) : ~0u);
}

// Returns the least key of the 5x5 MVs around `own`, none of which is clipped, nor any of their
// blocks' positions. Lane i has the i-th SAD. A SAD is at most 65,280, so two sums share a word.
// Each of the twenty rows is loaded once, the last four by the first lanes, and then shuffled.
__device__ uint32_t best_of_fine(const Centres &c, const MotusCentreSource &source, const Mb &mb,
                                 MotusMv own) {
    int lane = motus_lane();
    uint32_t sad = 0, raw[4], more[4] = {};
    // Two samples to the left of a multiple of four: the middle of a word.
    const uint8_t *from = c.ref + (ptrdiff_t)(mb.y + own.y / 4 - 2 + mb.row) * c.ref_stride + mb.x +
                          own.x / 4 - 4 + 8 * mb.half;
    const uint32_t *word = reinterpret_cast<const uint32_t *>(from);
#pragma unroll
    for (int k = 0; k < 4; k++) raw[k] = word[k];
    word = reinterpret_cast<const uint32_t *>(from + 16 * c.ref_stride);
#pragma unroll
    for (int k = 0; k < 4; k++)
        if (mb.row < 4) more[k] = word[k];
    const uint32_t cur[2] = {mb.half ? mb.cur[2] : mb.cur[0], mb.half ? mb.cur[3] : mb.cur[1]};
#pragma unroll
    for (int dy = 0; dy < 5; dy++) {
        uint32_t at[4], s[3], part[5];
#pragma unroll
        for (int k = 0; k < 4; k++)
            at[k] = dy ? __shfl_sync(MOTUS_ALL_LANES, mb.row < dy ? more[k] : raw[k],
                                     (lane + 2 * dy) & 31)
                       : raw[k];
#pragma unroll
        for (int k = 0; k < 3; k++) s[k] = __funnelshift_r(at[k], at[k + 1], 16);
#pragma unroll
        for (int dx = 0; dx < 5; dx++) {
            uint32_t left = dx == 4 ? s[1] : __funnelshift_r(s[0], s[1], 8 * dx);
            uint32_t right = dx == 4 ? s[2] : __funnelshift_r(s[1], s[2], 8 * dx);
            part[dx] = motus_sad4(left, cur[0], motus_sad4(right, cur[1], 0));
        }
        uint32_t a = motus_lanes_sum(part[0] | part[1] << 16),
                 b = motus_lanes_sum(part[2] | part[3] << 16);
        uint32_t last = motus_lanes_sum(part[4]);
        int i = lane - 5 * dy;
        if (i >= 0 && i < 5) sad = i == 4 ? last : (i & 2 ? b : a) >> (16 * (i & 1)) & 0xFFFF;
    }
    if (lane >= MOTUS_CENTRES - MOTUS_CENTRE_FINE)
        lane = 0, sad = 65280 * 2; // lanes without a candidate
    MotusMv mv = {(int16_t)(own.x + 4 * (lane % 5 - 2)), (int16_t)(own.y + 4 * (lane / 5 - 2))};
    return motus_lanes_min(key_of(c, source, mv, sad, MOTUS_CENTRE_FINE + lane));
}

// True if the MVs v - 8 .. v + 8 are within the limit, and motus_ref_luma_clip changes no position.
__device__ bool inside(int at, int size, int v, int limit) {
    return at + v / 4 - 2 >= -24 && at + v / 4 + 2 <= size + 8 && motus_abs(v) + 8 <= limit;
}

__global__ void __launch_bounds__(32 * WARPS) centre_kernel(const __grid_constant__ Lists lists) {
    const Centres &c = lists.of[blockIdx.y];
    int number = blockIdx.x * WARPS + (threadIdx.x >> 5), lane = motus_lane();
    MotusCentreSource source = c.source;
    motus_begin_early();
    if (number >= source.mb_width * source.mb_height) return;
    if (c.wanted && !c.wanted[number * c.wanted_pitch]) return;
    int mb_x = number % source.mb_width, mb_y = number / source.mb_width;
    source.median = *c.median;
    Mb mb{16 * mb_x, 16 * mb_y, lane >> 1, lane & 1, {}};
    uint4 samples = *reinterpret_cast<const uint4 *>(c.cur + (mb.y + mb.row) * c.cur_stride + mb.x);
    mb.cur[0] = samples.x, mb.cur[1] = samples.y, mb.cur[2] = samples.z, mb.cur[3] = samples.w;
    MotusMv own = source.downscaled[number];
    uint32_t mv_word, unused, key = best_of(c, source, mb, 0, MOTUS_CENTRE_FINE, &mv_word), fine;
    if (inside(mb.x, c.width, own.x, source.limit_x) &&
        inside(mb.y, c.height, own.y, source.limit_y))
        fine = best_of_fine(c, source, mb, own);
    else
        fine = best_of(c, source, mb, MOTUS_CENTRE_FINE, MOTUS_CENTRES, &unused);
    key = min(key, fine);
    mv_word = __shfl_sync(MOTUS_ALL_LANES, mv_word, (int)(key & 31)); // one of the first twenty
    if (lane) return;
    MotusMv mv = motus_mv_of_word(mv_word);
    if ((key & 63) >= MOTUS_CENTRE_FINE) motus_centre_candidate(&source, mb_x, mb_y, key & 63, &mv);
    c.centre[number] = mv;
}

constexpr int OVER_THREADS = 256;

struct Spans {
    int of[MOTUS_CENTRES_SPANS]; // [blockIdx.y]
};

__global__ void __launch_bounds__(OVER_THREADS)
    over_kernel(const MotusMv *mv, MotusMv *scaled, int n, const __grid_constant__ Spans to,
                int from) {
    const int i = (int)(blockIdx.x * OVER_THREADS + threadIdx.x), list = (int)blockIdx.y;
    if (i < n) scaled[list * n + i] = motus_mv_over(mv[i], to.of[list], from);
}

} // namespace

cudaError_t motus_centres_cuda(const MotusCentresPicture *p, int n, void *memory,
                               cudaStream_t stream) {
    const int n_mb = p->ref->width / 16 * (p->ref->height / 16);
    const MotusMv *downscaled[MOTUS_CENTRES_LISTS], *median[MOTUS_CENTRES_LISTS];
    Lists lists = {};
    cudaError_t error = motus_downscaled_cuda(p, n, memory, downscaled, median, stream);
    if (error != cudaSuccess) return error;
    for (int k = 0; k < n; k++) {
        const MotusRefLuma *ref = p[k].ref;
        const MotusCentreSource source = {p[k].previous,
                                          downscaled[k],
                                          MotusMv{0, 0},
                                          motus_centre_limit(p[k].limit_x),
                                          motus_centre_limit(p[k].limit_y),
                                          ref->width / 16,
                                          ref->height / 16};
        lists.of[k] = {p[k].cur,   ref->plane[0], p[k].cur_stride, ref->stride,
                       ref->width, ref->height,   p[k].lambda_q8,  source,
                       median[k],  p[k].centre,   p[k].wanted,     p[k].wanted_pitch};
    }
    const dim3 blocks((unsigned)(n_mb + WARPS - 1) / WARPS, (unsigned)n);
    return motus_launch(p->early, blocks, 32 * WARPS, 0, stream, centre_kernel, lists);
}

cudaError_t motus_mvs_over_cuda(const MotusMv *mv, MotusMv *scaled, int n, const int *to, int lists,
                                int from, cudaStream_t stream) {
    const dim3 blocks((unsigned)(n + OVER_THREADS - 1) / OVER_THREADS, (unsigned)lists);
    Spans spans = {};
    for (int k = 0; k < lists; k++) spans.of[k] = to[k];
    return motus_launch(0, blocks, OVER_THREADS, 0, stream, over_kernel, mv, scaled, n, spans,
                        from);
}
