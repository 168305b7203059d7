// Reads and writes by which blocks hand data on to one another (scope: the device). A thread that
// has acquired a value sees all that was written before its release. A relaxed access goes past the
// L1 cache and is one access, but says nothing of other memory.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_HAND_ON_CUH
#define ENCODER_INTRA_HAND_ON_CUH

#include <stdint.h>

static __device__ uint32_t motus_acquire(const uint8_t *from) {
    uint32_t v;
    asm volatile("ld.acquire.gpu.u8 %0, [%1];" : "=r"(v) : "l"(from) : "memory");
    return v;
}
static __device__ uint32_t motus_acquire(const uint32_t *from) {
    uint32_t v;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(v) : "l"(from) : "memory");
    return v;
}
static __device__ uint64_t motus_acquire(const uint64_t *from) {
    uint64_t v;
    asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(v) : "l"(from) : "memory");
    return v;
}

static __device__ void motus_release(uint8_t *to, uint32_t v) {
    asm volatile("st.release.gpu.u8 [%0], %1;" : : "l"(to), "r"(v) : "memory");
}
static __device__ void motus_release(uint32_t *to, uint32_t v) {
    asm volatile("st.release.gpu.u32 [%0], %1;" : : "l"(to), "r"(v) : "memory");
}
static __device__ void motus_release(uint64_t *to, uint64_t v) {
    asm volatile("st.release.gpu.u64 [%0], %1;" : : "l"(to), "l"(v) : "memory");
}

static __device__ uint64_t motus_load_relaxed(const uint64_t *from) {
    uint64_t v;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(from) : "memory");
    return v;
}
static __device__ void motus_store_relaxed(uint64_t *to, uint64_t v) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(to), "l"(v) : "memory");
}

#endif
