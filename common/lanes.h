// Warp lanes that work on one macroblock together. Shared code (*_core.h) is loops of the form
//     for (int i = motus_lane(); i < n; i += MOTUS_LANES) ...
// with motus_lanes_sync() before other lanes read what a step wrote; on a CPU they are plain loops.
// Code for warps alone (*_warp.cuh, marked MOTUS_WARP) also exchanges values between lanes. All 32
// lanes of a warp call such functions together, with the same arguments unless said otherwise.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_LANES_H
#define COMMON_LANES_H

#include <stdint.h>

#include "common/int_core.h"

#define MOTUS_ALL_LANES 0xFFFFFFFFu

// Marks code for warps alone; the suites `lanes*` compile it as C for 32 emulated lanes.
#ifdef __CUDACC__
#define MOTUS_WARP static inline __device__
#else
#define MOTUS_WARP static inline
#endif

// Marks a function of a warp that is rarely called: not inlined.
#ifdef __CUDACC__
#define MOTUS_WARP_RARE static __device__ __noinline__ __attribute__((unused))
#else
#define MOTUS_WARP_RARE static inline
#endif

// Tells the compiler that a pointer is to shared memory. Where it does not find out by itself, each
// access costs 64-bit addresses and a test of the address space.
#ifdef __CUDA_ARCH__
#define MOTUS_SHARED(at) ((decltype(at))__cvta_shared_to_generic(__cvta_generic_to_shared(at)))
#else
#define MOTUS_SHARED(at) (at)
#endif

#ifdef MOTUS_EMULATED_LANES // tests/lanes/emulated_lanes.c runs 32 lanes one after another

#define MOTUS_LANES 32

int motus_emulated_lane(void);
void motus_emulated_sync(void);
void motus_emulated_team_sync(void);
// Returns the 32 lanes' values; `what` must be the same for all.
const uint32_t *motus_emulated_gather(uint32_t v, int what);

static inline int motus_lane(void) { return motus_emulated_lane(); }
static inline void motus_lanes_sync(void) { motus_emulated_sync(); }
static inline void motus_team_sync(void) { motus_emulated_team_sync(); }
static inline uint32_t motus_lanes_group_sum(uint32_t v, int n) {
    const uint32_t *all = motus_emulated_gather(v, 1);
    uint32_t sum = 0;
    for (int i = 0; i < n; i++) sum += all[(motus_lane() & ~(n - 1)) + i];
    return sum;
}
static inline uint32_t motus_lanes_group_min(uint32_t v, int n) {
    const uint32_t *all = motus_emulated_gather(v, 2);
    for (int i = 0; i < n; i++) {
        uint32_t other = all[(motus_lane() & ~(n - 1)) + i];
        v = other < v ? other : v;
    }
    return v;
}
static inline uint32_t motus_lanes_sum(uint32_t v) { return motus_lanes_group_sum(v, 32); }
static inline uint32_t motus_lanes_min(uint32_t v) { return motus_lanes_group_min(v, 32); }
static inline uint32_t motus_lanes_shuffle(uint32_t v, int from) {
    return motus_emulated_gather(v, 3)[from & 31];
}
static inline uint32_t motus_lanes_ballot(int v) {
    const uint32_t *all = motus_emulated_gather(v != 0, 4);
    uint32_t ballot = 0;
    for (int i = 0; i < 32; i++) ballot |= all[i] << i;
    return ballot;
}
static inline uint32_t motus_lanes_match(uint32_t v) {
    const uint32_t *all = motus_emulated_gather(v, 5);
    uint32_t same = 0;
    for (int i = 0; i < 32; i++) same |= (uint32_t)(all[i] == v) << i;
    return same;
}
static inline int motus_lanes_count(uint32_t ballot) { return __builtin_popcount(ballot); }

#else

#ifdef __CUDA_ARCH__
#define MOTUS_LANES 32
#else
#define MOTUS_LANES 1
#endif

MOTUS_HD int motus_lane(void) {
#ifdef __CUDA_ARCH__
    return (int)(threadIdx.x & 31);
#else
    return 0;
#endif
}

MOTUS_HD void motus_lanes_sync(void) {
#ifdef __CUDA_ARCH__
    __syncwarp();
#endif
}

// Returns the sum of all lanes' values, to each lane.
MOTUS_HD uint32_t motus_lanes_sum(uint32_t v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(MOTUS_ALL_LANES, v);
#elif defined(__CUDA_ARCH__)
    for (int step = 16; step; step >>= 1) v += __shfl_xor_sync(MOTUS_ALL_LANES, v, step);
    return v;
#else
    return v;
#endif
}

#endif

#ifdef __CUDACC__

// Waits for the other warps of the block, which work on the same macroblock.
MOTUS_WARP void motus_team_sync(void) { __syncthreads(); }

// Return the sum and the smallest of the values of each group of n lanes, n a power of two, to each
// lane of the group.
MOTUS_WARP uint32_t motus_lanes_group_sum(uint32_t v, int n) {
    for (int step = n / 2; step; step >>= 1) v += __shfl_xor_sync(MOTUS_ALL_LANES, v, step);
    return v;
}
MOTUS_WARP uint32_t motus_lanes_group_min(uint32_t v, int n) {
    for (int step = n / 2; step; step >>= 1) {
        uint32_t other = __shfl_xor_sync(MOTUS_ALL_LANES, v, step);
        v = other < v ? other : v;
    }
    return v;
}

// Return the smallest value and the bitwise or of all lanes, to each lane.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
MOTUS_WARP uint32_t motus_lanes_min(uint32_t v) { return __reduce_min_sync(MOTUS_ALL_LANES, v); }
MOTUS_WARP uint32_t motus_lanes_or(uint32_t v) { return __reduce_or_sync(MOTUS_ALL_LANES, v); }
#else
MOTUS_WARP uint32_t motus_lanes_min(uint32_t v) { return motus_lanes_group_min(v, 32); }
MOTUS_WARP uint32_t motus_lanes_or(uint32_t v) {
    for (int step = 16; step; step >>= 1) v |= __shfl_xor_sync(MOTUS_ALL_LANES, v, step);
    return v;
}
#endif

// Returns the value of lane `from`, which may differ from lane to lane.
MOTUS_WARP uint32_t motus_lanes_shuffle(uint32_t v, int from) {
    return __shfl_sync(MOTUS_ALL_LANES, v, from);
}

// Returns the mask of lanes whose value is not 0: bit i stands for lane i.
MOTUS_WARP uint32_t motus_lanes_ballot(int v) { return __ballot_sync(MOTUS_ALL_LANES, v); }
// Returns the mask of the lanes with the same value.
MOTUS_WARP uint32_t motus_lanes_match(uint32_t v) { return __match_any_sync(MOTUS_ALL_LANES, v); }
MOTUS_WARP int motus_lanes_count(uint32_t ballot) { return __popc(ballot); }

// Returns the sum over each group of n lanes, n a power of two, up to and including this lane.
MOTUS_WARP uint32_t motus_lanes_sum_up_to(uint32_t v, int n) {
    for (int step = 1; step < n; step *= 2) {
        const uint32_t before = __shfl_up_sync(MOTUS_ALL_LANES, v, step, n);
        if ((motus_lane() & (n - 1)) >= step) v += before;
    }
    return v;
}

#endif
#endif
