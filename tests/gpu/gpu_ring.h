// What the suites of CUDA filters share: a ring through which pictures travel, and what the CPU
// expects.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_GPU_RING_H
#define TESTS_GPU_RING_H

#include <stddef.h>
#include <stdint.h>

#include "motus/upload.h"

enum { GPU_IN_BYTES = 3 << 20, GPU_OUT_BYTES = 12 << 20 };

extern MotusCudaRing *gpu_ring;
extern uint8_t *gpu_expected; // GPU_OUT_BYTES, for the CPU's result

// Opens both; 0: skipped (or, required, failed) for want of a GPU.
int gpu_begin(void);
void gpu_end(void);

// The ring's next input, filled with content of one of five kinds; what is random repeats after a
// prime number of bytes.
uint8_t *gpu_fill_input(int kind);

// Runs the job and waits for its result.
const uint8_t *gpu_run(MotusCudaJob *job, void *opaque);

int gpu_same_rows(const uint8_t *a, const uint8_t *b, ptrdiff_t stride, size_t bytes, int rows);

// Widths and heights up to w and h, small ones often.
void gpu_random_size(int *width, int *height, int w, int h);

static inline int round16(int n) { return (n + 15) & ~15; }

#endif
