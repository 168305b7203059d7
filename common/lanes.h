// The lanes that work on one macroblock together: one on a CPU, the 32 threads of a warp on a GPU.
// Code for an MB is written once, as loops over blocks or candidates of the form
//     for (int i = motus_lane(); i < n; i += MOTUS_LANES) ...
// with motus_lanes_sync() between a step that writes memory and the step in which other lanes read
// it. All lanes of a group call such a function together, with the same arguments; what it writes
// lies in memory that all of them see (the stack on a CPU, shared or global memory on a GPU).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_LANES_H
#define COMMON_LANES_H

#include <stdint.h>

#include "common/int_core.h"

#define MOTUS_ALL_LANES 0xFFFFFFFFu

// Of a pointer at shared memory, on a GPU: the compiler is told so. Where it does not find out by
// itself, each access costs 64-bit addresses and a look at which memory is meant.
#ifdef __CUDA_ARCH__
#define MOTUS_SHARED(at) ((decltype(at))__cvta_shared_to_generic(__cvta_generic_to_shared(at)))
#else
#define MOTUS_SHARED(at) (at)
#endif

#ifdef __CUDA_ARCH__

#define MOTUS_LANES 32
MOTUS_HD int motus_lane(void) { return (int)(threadIdx.x & 31); }
MOTUS_HD void motus_lanes_sync(void) { __syncwarp(); }
MOTUS_HD void motus_team_sync(void) {
    __syncthreads();
} // of the warps of a block that work on one macroblock together

// Sum, least value and bitwise or of every lane's `v`; each lane gets it. All lanes come here
// together, as to each function below.
#if __CUDA_ARCH__ >= 800
MOTUS_HD uint32_t motus_lanes_sum(uint32_t v) { return __reduce_add_sync(MOTUS_ALL_LANES, v); }
MOTUS_HD uint32_t motus_lanes_min(uint32_t v) { return __reduce_min_sync(MOTUS_ALL_LANES, v); }
MOTUS_HD uint32_t motus_lanes_or(uint32_t v) { return __reduce_or_sync(MOTUS_ALL_LANES, v); }
#else
MOTUS_HD uint32_t motus_lanes_sum(uint32_t v) {
    for (int step = 16; step; step >>= 1) v += __shfl_xor_sync(MOTUS_ALL_LANES, v, step);
    return v;
}
MOTUS_HD uint32_t motus_lanes_min(uint32_t v) {
    for (int step = 16; step; step >>= 1) {
        uint32_t other = __shfl_xor_sync(MOTUS_ALL_LANES, v, step);
        v = other < v ? other : v;
    }
    return v;
}
MOTUS_HD uint32_t motus_lanes_or(uint32_t v) {
    for (int step = 16; step; step >>= 1) v |= __shfl_xor_sync(MOTUS_ALL_LANES, v, step);
    return v;
}
#endif

// For code that has a formulation of its own for 32 lanes. The sum and the least value over each
// group of n lanes, n a power of two; lane `from`'s value; and which lanes' `v` is not 0, bit i
// standing for lane i.
MOTUS_HD uint32_t motus_lanes_sum_of(uint32_t v, int n) {
    for (int step = n / 2; step; step >>= 1) v += __shfl_xor_sync(MOTUS_ALL_LANES, v, step);
    return v;
}
MOTUS_HD uint32_t motus_lanes_min_of(uint32_t v, int n) {
    for (int step = n / 2; step; step >>= 1) {
        uint32_t other = __shfl_xor_sync(MOTUS_ALL_LANES, v, step);
        v = other < v ? other : v;
    }
    return v;
}
MOTUS_HD uint32_t motus_lanes_get(uint32_t v, int from) {
    return __shfl_sync(MOTUS_ALL_LANES, v, from);
}
MOTUS_HD uint32_t motus_lanes_which(int v) { return __ballot_sync(MOTUS_ALL_LANES, v); }
MOTUS_HD int motus_lanes_count(uint32_t which) { return __popc(which); } // how many lanes that are

#elif defined(MOTUS_EMULATED_LANES) // tests/lanes/emulated_lanes.c runs 32 lanes on a CPU,
                                    // one after another

#define MOTUS_LANES 32

int motus_emulated_lane(void);
void motus_emulated_sync(void);
void motus_emulated_team_sync(void);
// What each of the 32 lanes has brought; `what` must be the same for all.
const uint32_t *motus_emulated_gather(uint32_t v, int what);

static inline int motus_lane(void) { return motus_emulated_lane(); }
static inline void motus_lanes_sync(void) { motus_emulated_sync(); }
static inline void motus_team_sync(void) { motus_emulated_team_sync(); }
static inline uint32_t motus_lanes_sum(uint32_t v) {
    const uint32_t *all = motus_emulated_gather(v, 1);
    uint32_t sum = 0;
    for (int i = 0; i < 32; i++) sum += all[i];
    return sum;
}
static inline uint32_t motus_lanes_min(uint32_t v) {
    const uint32_t *all = motus_emulated_gather(v, 2);
    for (int i = 0; i < 32; i++) v = all[i] < v ? all[i] : v;
    return v;
}
static inline uint32_t motus_lanes_or(uint32_t v) {
    const uint32_t *all = motus_emulated_gather(v, 3);
    for (int i = 0; i < 32; i++) v |= all[i];
    return v;
}
static inline uint32_t motus_lanes_sum_of(uint32_t v, int n) {
    const uint32_t *all = motus_emulated_gather(v, 4);
    uint32_t sum = 0;
    for (int i = 0; i < n; i++) sum += all[(motus_lane() & ~(n - 1)) + i];
    return sum;
}
static inline uint32_t motus_lanes_min_of(uint32_t v, int n) {
    const uint32_t *all = motus_emulated_gather(v, 7);
    for (int i = 0; i < n; i++) {
        uint32_t other = all[(motus_lane() & ~(n - 1)) + i];
        v = other < v ? other : v;
    }
    return v;
}
static inline uint32_t motus_lanes_get(uint32_t v, int from) {
    return motus_emulated_gather(v, 5)[from & 31];
}
static inline uint32_t motus_lanes_which(int v) {
    const uint32_t *all = motus_emulated_gather(v != 0, 6);
    uint32_t which = 0;
    for (int i = 0; i < 32; i++) which |= all[i] << i;
    return which;
}
static inline int motus_lanes_count(uint32_t which) {
    int n = 0;
    for (; which; which &= which - 1) n++;
    return n;
}

#else

#define MOTUS_LANES 1

MOTUS_HD int motus_lane(void) { return 0; }
MOTUS_HD void motus_lanes_sync(void) {}
MOTUS_HD uint32_t motus_lanes_sum(uint32_t v) { return v; }
MOTUS_HD uint32_t motus_lanes_min(uint32_t v) { return v; }
MOTUS_HD uint32_t motus_lanes_or(uint32_t v) { return v; }

#endif

#ifdef __CUDACC__
// For kernels: the sum over the lanes of each group of n up to this one, n a power of two.
static inline __device__ uint32_t motus_lanes_sum_up_to(uint32_t v, int n) {
    for (int step = 1; step < n; step *= 2) {
        const uint32_t before = __shfl_up_sync(MOTUS_ALL_LANES, v, step, n);
        if ((motus_lane() & (n - 1)) >= step) v += before;
    }
    return v;
}
#endif
#endif
