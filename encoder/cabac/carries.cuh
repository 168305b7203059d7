// Bytes of slice data from low's digits, by blocks: carries, the slice header, stop bits and I_PCM
// samples.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_SETTLE_CUH
#define ENCODER_CABAC_SETTLE_CUH

#include "encoder/cabac/job.cuh"

namespace {

// ---- Carries ------------------------------------------------------------------------------------

// A carry through digits, from the last one to the first. Bit 0: out of them in any case; bit 1:
// they stop one that comes in.
struct Carry {
    // `a` is of the digits behind those of `b`.
    __device__ uint32_t operator()(uint32_t a, uint32_t b) const {
        return (b & 1) | (~b >> 1 & a & 1) | ((a | b) & 2);
    }
};

// Returns the thread's digits, from `first` on, with their carries. Threads count from the tile's
// end.
__device__ void propagate_carries(const uint32_t *digit, uint32_t first,
                                  uint16_t (&digits)[DIGITS]) {
    __shared__ uint32_t room[THREADS / 32], behind_tile;
    uint32_t sum[DIGITS], own = 0, all;
#pragma unroll
    for (int k = DIGITS - 1; k >= 0; k--) {
        sum[k] = motus_digit_sum(digit[first + k], digit[first + k + 1]);
        own = Carry()(own, sum[k] >> 16 | (sum[k] == 0xFFFF ? 0 : 2));
    }
    // The carry into the tile's last digit is that of the first digit behind it that passes none.
    for (uint32_t at = from_lane(first, 0) + DIGITS; threadIdx.x < 32; at += 32) {
        const uint32_t i = at + threadIdx.x, behind = motus_digit_sum(digit[i], digit[i + 1]),
                       stops = __ballot_sync(MOTUS_ALL_LANES, behind != 0xFFFF);
        if (!stops) continue;
        const uint32_t carry = from_lane(behind, __ffs((int)stops) - 1) >> 16;
        if (threadIdx.x == 0) behind_tile = carry;
        break;
    }
    const uint32_t upto = scan_lanes(own, Carry());
    const uint32_t warps = scan_warps<THREADS>(from_lane(upto, 31), Carry(), room, &all);
    uint32_t before = from_before(upto, 1);
    if (motus_lane() == 0) before = 0;
    before = Carry()(warps, before);
    uint32_t carry = (before & 1) | (~before >> 1 & behind_tile); // scan_warps has barriers
#pragma unroll
    for (int k = DIGITS - 1; k >= 0; k--) {
        const uint32_t value = sum[k] + carry;
        digits[k] = (uint16_t)value;
        carry = value >> 16;
    }
}

// ---- Bytes --------------------------------------------------------------------------------------

// Propagates the carries of a tile, and writes its bytes with those of the slice header, which ends
// with cabac_alignment_one_bits.
__device__ void write_tile(const Job &job, uint32_t tile) {
    const uint32_t first = tile * THREADS * DIGITS + (THREADS - 1 - threadIdx.x) * DIGITS;
    uint16_t digits[DIGITS];
    propagate_carries(job.digit, first, digits);
    const MotusSliceHead *head = job.in.slice.head;
    const uint32_t header = header_bytes(head), bits = head->header_bits,
                   ones = (1u << (8 * header - bits)) - 1;
    uint32_t word[DIGITS / 2];
#pragma unroll
    for (int k = 0; k < DIGITS; k++) {
        uint32_t pair = __byte_perm(digits[k], 0, 0x4401); // big endian
        for (uint32_t b = 0, i = 2 * (first + k); b < 2; b++, i++)
            if (i < header) pair |= (head->header[i] | (i == bits / 8 ? ones : 0)) << 8 * b;
        word[k / 2] = k % 2 ? word[k / 2] | pair << 16 : pair;
    }
    ((uint4 *)job.rbsp)[first / DIGITS] = make_uint4(word[0], word[1], word[2], word[3]);
}

// Writes those samples of an MB with I_PCM behind the bit `end` that lie in a tile, by a warp.
__device__ void put_samples(const Job &job, uint32_t tile, int i, uint32_t end) {
    const MotusSliceCuda &slice = job.in.slice;
    const int x = i % slice.mb_width, y = i / slice.mb_width;
    const uint32_t first = motus_align8(end) / 8;
    for (uint32_t k = (uint32_t)motus_lane(); k < MOTUS_SAMPLE_BITS / 8; k += 32) {
        const int p = k < 256 ? 0 : k < 320 ? 1 : 2, size = p ? 8 : 16, at = p ? (k - 256) % 64 : k;
        if ((first + k) / MOTUS_NAL_TILE == tile)
            job.rbsp[first + k] =
                slice.src[p][(y * size + at / size) * slice.src_stride[p] + x * size + at % size];
    }
}

// Counts the tile's bytes that need another one before them, as if no zeros preceded it.
__device__ void count_escapes(const Job &job, uint32_t tile, uint32_t bytes) {
    static_assert(THREADS * NAL_BYTES == MOTUS_NAL_TILE, "bytes of a thread");
    __shared__ uint32_t sum;
    const uint32_t first = tile * MOTUS_NAL_TILE;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads(); // the tile's bytes are complete, the sum is cleared
    const uint32_t mask = escapes_at(job.rbsp, bytes, first, first + threadIdx.x * NAL_BYTES);
    if (mask) atomicAdd(&sum, (uint32_t)__popc(mask));
    __syncthreads(); // complete before it is read
    if (threadIdx.x == 0) job.escapes[tile] = sum;
}

// Sets the stop bits of a written tile, and writes its I_PCM samples. A lane per MB, and one for
// the slice's end; samples by all lanes of a warp.
__device__ void put_restarts(const Job &job, uint32_t tile) {
    const bool has_samples = job.in.string || job.in.slice.stats->mb[MOTUS_MB_I_PCM];
    for (int i = (has_samples ? 0 : job.n_mb) + (int)threadIdx.x; i - motus_lane() <= job.n_mb;
         i += THREADS) {
        const uint32_t end = i <= job.n_mb ? job.restart[i] : 0, byte = (end - 1) / 8;
        if (end && byte / MOTUS_NAL_TILE == tile) job.rbsp[byte] |= (uint8_t)(128 >> (end - 1) % 8);
        const bool samples = end && i < job.n_mb && !job.in.string &&
                             motus_align8(end) / 8 / MOTUS_NAL_TILE <= tile &&
                             (motus_align8(end) + MOTUS_SAMPLE_BITS) / 8 > tile * MOTUS_NAL_TILE;
        uint32_t left = __ballot_sync(MOTUS_ALL_LANES, samples);
        for (; left; left &= left - 1) {
            const int lane = __ffs((int)left) - 1;
            put_samples(job, tile, i - motus_lane() + lane, from_lane(end, lane));
        }
    }
}

} // namespace

#endif
