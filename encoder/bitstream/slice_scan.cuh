// For slice.cu and encoder/cabac: emulation prevention; prefix sums of counts and of bit spans, by
// a warp, by a block, over an array; statistics. CUB's DeviceScan is not used: its host side throws
// exceptions and keeps state in the process.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_BITSTREAM_SLICE_SCAN_CUH
#define ENCODER_BITSTREAM_SLICE_SCAN_CUH

#include "common/cuda_call.cuh"
#include "common/lanes.h"
#include "encoder/bitstream/slice_cuda.h"
#include "encoder/bitstream/syntax_core.h"

namespace {

// ---- Bit spans ----------------------------------------------------------------------------------

// Bit count of neighbouring MBs. If they contain I_PCM, `before` and `after` - 1 count the bits on
// either side of its byte alignment; else `after` is 0. Bit positions in a slice are below 2^31.
struct Span {
    uint32_t before, after;
};

// Returns the end of a span that begins at bit `at`.
__device__ uint32_t span_end(Span span, uint32_t at) {
    at += span.before;
    return span.after ? motus_align8(at) + span.after - 1 : at;
}

// ---- NAL units ----------------------------------------------------------------------------------
//
// motus_nal_write counts zeros from the last insertion on. So emulation_prevention_three_byte
// precedes each byte of at most 3 with an even number of zeros, two or more, directly before it.
// The last byte of a slice is not zero (rbsp_stop_one_bit) and gets no byte after it; the NAL
// header is not zero, so no run begins before the RBSP.

constexpr int NAL_BYTES = 16; // per thread

// Returns the first byte of a NAL unit behind another one; the capacity if that one overflowed.
__device__ uint32_t nal_begin(const MotusSliceResult *before, uint32_t capacity) {
    return !before ? 0 : before->overflow ? capacity : before->size;
}

__device__ bool is_escaped(uint32_t zeros, uint32_t byte) {
    return zeros >= 2 && !(zeros & 1) && byte <= 3;
}

// Returns the zeros directly before byte `at`, from byte `from` on. At most little more than 384,
// in I_PCM; other syntax has no long runs of zeros.
__device__ uint32_t zeros_before(const uint8_t *rbsp, uint32_t from, uint32_t at) {
    uint32_t zeros = 0;
    while (at - zeros > from && !rbsp[at - 1 - zeros]) zeros++;
    return zeros;
}

// Returns the mask of those of the 16 bytes at `at` (fewer at the end) that need a byte before
// them, if no zeros precede byte `from`.
__device__ uint32_t escapes_at(const uint8_t *rbsp, uint32_t size, uint32_t from, uint32_t at) {
    if (at >= size) return 0;
    const uint4 own = *(const uint4 *)(rbsp + at);
    const uint32_t word[4] = {own.x, own.y, own.z, own.w}, n = size - at;
    uint32_t mask = 0, zeros = zeros_before(rbsp, from, at);
#pragma unroll
    for (uint32_t i = 0; i < NAL_BYTES; i++) {
        const uint32_t byte = word[i / 4] >> 8 * (i % 4) & 255;
        if (i < n && is_escaped(zeros, byte)) mask |= 1u << i;
        zeros = byte ? 0 : zeros + 1;
    }
    return mask;
}

// ---- Scans --------------------------------------------------------------------------------------

constexpr int SCAN_EACH = 8; // entries of a thread

// Operations of scans: associative; zeros change nothing.
struct Join {
    // Returns the span of `a` followed by `b`.
    __device__ Span operator()(Span a, Span b) const {
        Span both = a;
        if (!a.after) {
            both.before += b.before;
            both.after = b.after;
        } else {
            both.after += b.before;
            if (b.after) both.after = motus_align8(both.after - 1) + b.after;
        }
        return both;
    }
};

struct Sum {
    __device__ uint32_t operator()(uint32_t a, uint32_t b) const { return a + b; }
};

// Return v, which is of 32-bit words, of the lane `step` before this one, and of a given lane.
template <class T> __device__ T from_before(T v, int step) {
    uint32_t *word = (uint32_t *)&v;
#pragma unroll
    for (int i = 0; i < (int)(sizeof v / 4); i++)
        word[i] = __shfl_up_sync(MOTUS_ALL_LANES, word[i], step);
    return v;
}
template <class T> __device__ T from_lane(T v, int lane) {
    uint32_t *word = (uint32_t *)&v;
#pragma unroll
    for (int i = 0; i < (int)(sizeof v / 4); i++)
        word[i] = __shfl_sync(MOTUS_ALL_LANES, word[i], lane);
    return v;
}

// Returns the scan of v over the warp's lanes up to this one.
template <class T, class Op> __device__ T scan_lanes(T v, Op op) {
    for (int step = 1; step < 32; step *= 2) {
        const T other = from_before(v, step);
        if (motus_lane() >= step) v = op(other, v);
    }
    return v;
}

// Returns the scan of `mine`, the same in all lanes of a warp, over the warps before this one.
// *all: of all warps. The caller waits at a barrier before `room` is used again.
template <int N, class T, class Op>
__device__ T scan_warps(T mine, Op op, T (&room)[N / 32], T *all) {
    const int warp = (int)threadIdx.x / 32, lane = motus_lane();
    if (lane == 0) room[warp] = mine;
    __syncthreads(); // written before others read it
    if (warp == 0) {
        const T sum = scan_lanes(lane < N / 32 ? room[lane] : T{}, op);
        if (lane < N / 32) room[lane] = sum;
    }
    __syncthreads(); // likewise
    *all = room[N / 32 - 1];
    return warp ? room[warp - 1] : T{};
}

// Scans v in place with one block. A warp takes 32 * SCAN_EACH neighbouring entries, of which its
// lanes load and store neighbours at a time.
template <int THREADS, class T, class Op>
__device__ void scan_array(T *v, int n, Op op, T (&room)[THREADS / 32]) {
    const int warp = (int)threadIdx.x / 32, lane = motus_lane();
    T done = T{}; // of previous rounds
    for (int from = 0; from < n; from += THREADS * SCAN_EACH) {
        const int first = from + 32 * SCAN_EACH * warp + lane;
        T own[SCAN_EACH], upto = T{}, all;
#pragma unroll
        for (int i = 0; i < SCAN_EACH; i++) own[i] = first + 32 * i < n ? v[first + 32 * i] : T{};
#pragma unroll
        for (int i = 0; i < SCAN_EACH; i++) {
            own[i] = op(upto, scan_lanes(own[i], op));
            upto = from_lane(own[i], 31);
        }
        const T before = op(done, scan_warps<THREADS>(upto, op, room, &all));
#pragma unroll
        for (int i = 0; i < SCAN_EACH; i++)
            if (first + 32 * i < n) v[first + 32 * i] = op(before, own[i]);
        done = op(done, all);
        __syncthreads(); // `all` has been read
    }
}

// ---- Statistics ---------------------------------------------------------------------------------

// Counts of a block's MBs, which are added to MotusPictureStats once. Others follow from TALLIES
// on.
enum {
    TALLY_KINDS,
    TALLY_SUBS = MOTUS_MB_KINDS,
    TALLY_TRANSFORMS = TALLY_SUBS + 4,
    TALLY_DIRECT = TALLY_TRANSFORMS + 2,
    TALLIES
};

// Adds tally t, below TALLIES.
__device__ void add_tally(MotusPictureStats *stats, int t, uint32_t n) {
    if (t < TALLY_SUBS)
        atomicAdd(&stats->mb[t], n);
    else if (t < TALLY_TRANSFORMS)
        atomicAdd(&stats->sub[t - TALLY_SUBS], n);
    else if (t < TALLY_DIRECT)
        atomicAdd(&stats->transform_8x8[t - TALLY_TRANSFORMS], n);
    else
        atomicAdd((unsigned long long *)&stats->direct, (unsigned long long)n);
}

__device__ void add_bits(MotusPictureStats *stats, int kind, uint32_t bits) {
    uint64_t *to = kind == MOTUS_BITS_MODE   ? &stats->bits_mode
                   : kind == MOTUS_BITS_MV   ? &stats->bits_mv
                   : kind == MOTUS_BITS_LUMA ? &stats->bits_luma
                                             : &stats->bits_chroma;
    atomicAdd((unsigned long long *)to, (unsigned long long)bits);
}

} // namespace

#endif
