// SPDX-License-Identifier: BSD-2-Clause
#include "tests/gpu/gpu_ring.h"

#include <stdlib.h>
#include <string.h>

#include "motus/filter_cuda.h"
#include "tests/gpu/gpu.h"
#include "tests/support/harness.h"

MotusCudaRing *gpu_ring;
uint8_t *gpu_expected;

int gpu_begin(void) {
    MotusError error;
    if (!motus_test_has_gpu()) return 0;
    MotusStatus status = motus_cuda_ring_open(&gpu_ring, 2, GPU_IN_BYTES, GPU_OUT_BYTES, &error);
    MOTUS_CHECK(!status, "%s", error.text);
    gpu_expected = malloc(GPU_OUT_BYTES);
    return !status && gpu_expected;
}

void gpu_end(void) {
    motus_cuda_ring_close(&gpu_ring);
    free(gpu_expected);
}

uint8_t *gpu_fill_input(int kind) {
    static uint8_t pattern[65521];
    void *input = NULL;
    CU_ASSERT_EQUAL(motus_cuda_ring_input(gpu_ring, &input, NULL), MOTUS_OK);
    uint8_t *p = input, base = (uint8_t)motus_test_random();
    motus_test_fill(pattern, sizeof pattern);
    for (size_t i = 0; kind && i < sizeof pattern; i++) {
        uint8_t v = pattern[i];
        pattern[i] = kind == 1   ? (v & 1 ? 255 : 0)
                     : kind == 2 ? base
                     : kind == 3 ? (uint8_t)(i / 16 + v % 8)
                                 : (uint8_t)(base + v % 11);
    }
    for (size_t i = 0; i < GPU_IN_BYTES; i += sizeof pattern)
        memcpy(p + i, pattern,
               GPU_IN_BYTES - i < sizeof pattern ? GPU_IN_BYTES - i : sizeof pattern);
    return p;
}

const uint8_t *gpu_run(MotusCudaJob *job, void *opaque) {
    MotusError error = {0};
    const void *output = NULL;
    MotusStatus status = motus_cuda_ring_submit(gpu_ring, job, opaque, &error);
    if (!status) status = motus_cuda_ring_take(gpu_ring, &output, &error);
    MOTUS_CHECK(!status, "%s", error.text);
    return status ? NULL : output;
}

int gpu_same_rows(const uint8_t *a, const uint8_t *b, ptrdiff_t stride, size_t bytes, int rows) {
    for (int y = 0; y < rows; y++)
        if (memcmp(a + y * stride, b + y * stride, bytes)) return 0;
    return 1;
}

void gpu_random_size(int *width, int *height, int w, int h) {
    int shift = motus_test_range(0, 6);
    *width = 1 + motus_test_range(0, (w - 1) >> shift),
    *height = 1 + motus_test_range(0, (h - 1) >> shift);
}
