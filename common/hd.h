// MOTUS_HD marks the shared arithmetic of the *_core.h files: compiled by gcc for the CPU and by
// nvcc for both sides.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef COMMON_HD_H
#define COMMON_HD_H

#ifdef __CUDACC__
#define MOTUS_HD static inline __host__ __device__
#else
#define MOTUS_HD static inline
#endif

// Before a loop: its body is to stand in the program once, on a GPU.
#ifdef __CUDA_ARCH__
#define MOTUS_ONE_BODY _Pragma("unroll 1")
#else
#define MOTUS_ONE_BODY
#endif

// A function for what is rare: it stands in the program once, on a GPU, out of the way of what is
// not.
#ifdef __CUDACC__
#define MOTUS_HD_RARE static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define MOTUS_HD_RARE static inline
#endif

#endif
