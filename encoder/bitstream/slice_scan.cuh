// Prefix scans of entropy coding on a CUDA device (slice.cu): by a warp, by a block, over an array;
// of counts and of MotusSpan.
//
// Not CUB's DeviceScan: its host side throws exceptions and keeps state of its own in the process.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_SLICE_SCAN_CUH
#define ENCODER_BITSTREAM_SLICE_SCAN_CUH

#include "common/lanes.h"
#include "encoder/bitstream/slice_core.h"

namespace {

constexpr int SCAN_THREADS = 1024;
constexpr int SCAN_EACH = 8; // entries of a thread

struct Join {
    static __device__ MotusSpan none() { return {0, -1}; }
    __device__ MotusSpan operator()(MotusSpan a, MotusSpan b) const {
        return motus_span_join(a, b);
    }
};

struct Sum {
    static __device__ uint32_t none() { return 0; }
    __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};

__device__ uint32_t from_before(uint32_t v, int step) {
    return __shfl_up_sync(MOTUS_ALL_LANES, v, step);
}

__device__ MotusSpan from_before(MotusSpan v, int step) {
    return {from_before(v.before, step), (int32_t)from_before((uint32_t)v.after, step)};
}

__device__ uint32_t from_lane(uint32_t v, int lane) {
    return __shfl_sync(MOTUS_ALL_LANES, v, lane);
}

__device__ MotusSpan from_lane(MotusSpan v, int lane) {
    return {from_lane(v.before, lane), (int32_t)from_lane((uint32_t)v.after, lane)};
}

// What the warp's lanes up to and with this one have, together.
template <class T, class Op> __device__ T scan_lanes(T v, Op op) {
    for (int step = 1; step < 32; step *= 2) {
        const T other = from_before(v, step);
        if (motus_lane() >= step) v = op(other, v);
    }
    return v;
}

// What the block's warps before this one have, together, where each has `mine` (the same in all
// lanes); *all: what all of them have. A barrier comes before `room` is used again.
template <int N, class T, class Op>
__device__ T scan_warps(T mine, Op op, T (&room)[N / 32], T *all) {
    const int warp = (int)threadIdx.x / 32, lane = motus_lane();
    if (lane == 0) room[warp] = mine;
    __syncthreads(); // written before others read it
    if (warp == 0) {
        const T sum = scan_lanes(lane < N / 32 ? room[lane] : Op::none(), op);
        if (lane < N / 32) room[lane] = sum;
    }
    __syncthreads(); // likewise
    *all = room[N / 32 - 1];
    return warp ? room[warp - 1] : Op::none();
}

// v[i] becomes what v[0..i] are together. One block; a warp has 32 * SCAN_EACH neighbouring
// entries, of which its lanes load and store neighbours at a time.
template <class T, class Op>
__global__ void __launch_bounds__(SCAN_THREADS) scan_kernel(T *v, int n, Op op) {
    __shared__ T room[SCAN_THREADS / 32];
    const int warp = (int)threadIdx.x / 32, lane = motus_lane();
    T done = Op::none(); // what comes before this round
    for (int from = 0; from < n; from += SCAN_THREADS * SCAN_EACH) {
        const int first = from + 32 * SCAN_EACH * warp + lane;
        T own[SCAN_EACH], upto = Op::none(), all;
#pragma unroll
        for (int i = 0; i < SCAN_EACH; i++)
            own[i] = first + 32 * i < n ? v[first + 32 * i] : Op::none();
#pragma unroll
        for (int i = 0; i < SCAN_EACH; i++) {
            own[i] = op(upto, scan_lanes(own[i], op));
            upto = from_lane(own[i], 31);
        }
        const T before = op(done, scan_warps<SCAN_THREADS>(upto, op, room, &all));
#pragma unroll
        for (int i = 0; i < SCAN_EACH; i++)
            if (first + 32 * i < n) v[first + 32 * i] = op(before, own[i]);
        done = op(done, all);
        __syncthreads(); // `all` has been read
    }
}

} // namespace

#endif
