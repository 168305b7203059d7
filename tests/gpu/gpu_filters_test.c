// CUDA == CPU, bit for bit, for the 8x8 DCT, equalization and the wavelet. Pictures travel through
// the ring, whose device buffers the jobs cut into planes.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter_cuda.h"
#include "tests/gpu/gpu_ring.h"
#include "tests/support/harness.h"

#include <string.h>

typedef struct DctJob {
    MotusPlane plane;
    MotusCoefs coefs;
    uint16_t table[64];
    MotusDct8Kind kind;
} DctJob;

static MotusStatus dct_forward(void *opaque, const void *d_in, void *d_out, void *stream,
                               MotusError *error) {
    DctJob j = *(DctJob *)opaque;
    j.plane.data = (uint8_t *)(uintptr_t)d_in, j.coefs.data = d_out;
    return motus_cuda_dct8_forward(&j.coefs, &j.plane, j.table, j.kind, stream, error);
}

static MotusStatus dct_inverse(void *opaque, const void *d_in, void *d_out, void *stream,
                               MotusError *error) {
    DctJob j = *(DctJob *)opaque;
    j.plane.data = d_out, j.coefs.data = (int16_t *)(uintptr_t)d_in;
    return motus_cuda_dct8_inverse(&j.plane, &j.coefs, j.table, j.kind, stream, error);
}

static void dct(void) {
    if (!gpu_begin()) return;
    for (int n = 0; n < 120; n++) {
        DctJob j = {.kind = (MotusDct8Kind)(n & 1)};
        gpu_random_size(&j.plane.width, &j.plane.height, 1200, 900);
        j.plane.stride = round16(j.plane.width) + n % 3 * 16;
        j.coefs.width = (j.plane.width + 7) & ~7, j.coefs.height = (j.plane.height + 7) & ~7,
        j.coefs.stride = round16(2 * j.coefs.width);
        motus_dct8_quality(j.table, motus_jpeg_luma_table, motus_test_range(1, 100));
        if (n % 5 == 4)
            for (int i = 0; i < 64; i++)
                j.table[i] = (uint16_t)(1 + (motus_test_random() >> motus_test_range(16, 31)));
        MotusCoefs want = j.coefs;
        want.data = (int16_t *)(void *)gpu_expected;
        j.plane.data = gpu_fill_input(n % 5);
        motus_dct8_forward(&want, &j.plane, j.table, j.kind, NULL);
        const uint8_t *got = gpu_run(dct_forward, &j);
        MOTUS_CHECK(got && gpu_same_rows(got, gpu_expected, want.stride, 2 * (size_t)want.width,
                                         want.height),
                    "forward %dx%d kind %d", j.plane.width, j.plane.height, (int)j.kind);
        want.data = (int16_t *)(void *)gpu_fill_input(n % 3); // any levels at all
        j.plane.data = gpu_expected;
        motus_dct8_inverse(&j.plane, &want, j.table, j.kind, NULL);
        got = gpu_run(dct_inverse, &j);
        MOTUS_CHECK(got && gpu_same_rows(got, gpu_expected, j.plane.stride, (size_t)j.plane.width,
                                         j.plane.height),
                    "inverse %dx%d kind %d", j.plane.width, j.plane.height, (int)j.kind);
    }
    gpu_end();
}

typedef struct EqualizeJob {
    MotusPlane plane;
    MotusCudaEqualizer *equalizer;
} EqualizeJob;

static MotusStatus equalize_job(void *opaque, const void *d_in, void *d_out, void *stream,
                                MotusError *error) {
    EqualizeJob *j = opaque;
    MotusPlane src = j->plane, dst = j->plane;
    src.data = (uint8_t *)(uintptr_t)d_in, dst.data = d_out;
    return motus_cuda_equalizer_run(j->equalizer, &dst, &src, stream, error);
}

static void equalize(void) {
    if (!gpu_begin()) return;
    static uint8_t curves[64 * 64][256];
    for (int n = 0; n < 60; n++) {
        EqualizeJob j = {{0}, NULL};
        MotusEqualizer *cpu;
        MotusEqualizeConfig config = motus_equalize_config_default();
        int tiles, pictures = n % 2 ? 5 : 1;
        gpu_random_size(&j.plane.width, &j.plane.height, 1700, 1500);
        if (n % 12 == 11) // a row of a tile has more chunks than a block has threads
            j.plane.width = motus_test_range(8200, 9900), j.plane.height = motus_test_range(1, 300);
        j.plane.stride = round16(j.plane.width);
        if (n % 4 == 0) j.plane.width = (int)j.plane.stride;
        if (n % 3 == 2)
            config.tiles_x = motus_test_range(1, 12), config.tiles_y = motus_test_range(1, 12),
            config.clip_q8 = motus_test_range(0, 2000);
        if (n % 12 == 5)
            config.tiles_x = MOTUS_EQUALIZE_MAX_TILES,
            config.tiles_y = MOTUS_EQUALIZE_MAX_TILES - n % 9;
        if (n % 12 == 11) config.tiles_x = 1, config.clip_q8 = 512;
        if (pictures > 1) config.smooth_q8 = motus_test_range(1, 255);
        CU_ASSERT_EQUAL_FATAL(
            motus_cuda_equalizer_open(&j.equalizer, &config, j.plane.width, j.plane.height, NULL),
            MOTUS_OK);
        CU_ASSERT_EQUAL_FATAL(motus_equalizer_open(&cpu, &config, j.plane.width, j.plane.height),
                              MOTUS_OK);
        for (int picture = 0; picture < pictures; picture++) {
            MotusPlane src = j.plane, dst = j.plane;
            src.data = gpu_fill_input(picture == 3 ? 1 : (n + picture / 3) % 5),
            dst.data = gpu_expected;
            motus_equalizer_run(cpu, &dst, &src, NULL);
            const uint8_t *got = gpu_run(equalize_job, &j);
            MOTUS_CHECK(
                got && gpu_same_rows(got, gpu_expected, dst.stride, (size_t)dst.width, dst.height),
                "%dx%d tiles %dx%d clip %d smooth %d picture %d", dst.width, dst.height,
                config.tiles_x, config.tiles_y, config.clip_q8, config.smooth_q8, picture);
        }
        const uint8_t(*want)[256] = motus_equalizer_curves(cpu, &tiles);
        CU_ASSERT_EQUAL(motus_cuda_equalizer_curves(j.equalizer, curves, tiles, NULL, NULL),
                        MOTUS_OK);
        CU_ASSERT(!memcmp(curves, want, (size_t)tiles * 256));
        motus_cuda_equalizer_close(&j.equalizer);
        motus_equalizer_close(&cpu);
    }
    gpu_end();
}

typedef struct WaveletJob {
    MotusWaveletShape shape;
    MotusPlane plane;
    float step, threshold[MOTUS_WAVELET_MAX_LEVELS];
    size_t coefs_at, levels_at; // in the output
} WaveletJob;

// Output: the reconstructed plane, the coefficients as the inverse leaves them, the levels.
static MotusStatus wavelet_job(void *opaque, const void *d_in, void *d_out, void *stream,
                               MotusError *error) {
    WaveletJob *j = opaque;
    MotusPlane src = j->plane, dst = j->plane;
    float *coefs = (float *)(void *)((uint8_t *)d_out + j->coefs_at);
    int16_t *levels = (int16_t *)(void *)((uint8_t *)d_out + j->levels_at);
    src.data = (uint8_t *)(uintptr_t)d_in, dst.data = d_out;
    MotusStatus status = motus_cuda_wavelet_forward(coefs, &src, &j->shape, stream, error);
    if (!status) status = motus_cuda_wavelet_shrink(coefs, &j->shape, j->threshold, stream, error);
    if (!status)
        status = motus_cuda_wavelet_quantize(levels, coefs, &j->shape, j->step, stream, error);
    if (!status)
        status = motus_cuda_wavelet_dequantize(coefs, levels, &j->shape, j->step, stream, error);
    if (!status) status = motus_cuda_wavelet_inverse_plane(&dst, coefs, &j->shape, stream, error);
    return status;
}

static void wavelet(void) {
    if (!gpu_begin()) return;
    for (int n = 0; n < 100; n++) {
        WaveletJob j = {.plane = {0}};
        int levels = 0;
        MotusWaveletEdge edge = (MotusWaveletEdge)(n & 1);
        do gpu_random_size(&j.plane.width, &j.plane.height, 1100, 1000);
        while (j.plane.width < 2 || j.plane.height < 2);
        while (levels < 6 &&
               !motus_wavelet_shape(&j.shape, j.plane.width, j.plane.height, levels + 1, edge))
            levels++;
        levels = motus_test_range(1, levels);
        motus_wavelet_shape(&j.shape, j.plane.width, j.plane.height, levels, edge);
        j.plane.stride = round16(j.plane.width);
        j.step = (float)motus_test_range(1, 64) / 8;
        for (int l = 0; l < levels; l++) j.threshold[l] = (float)motus_test_range(0, 40) / 4;
        j.coefs_at = (size_t)(j.plane.stride * j.plane.height + 63) / 64 * 64,
        j.levels_at = j.coefs_at + 4 * j.shape.size;
        CU_ASSERT_FATAL(j.levels_at + 2 * j.shape.size <= GPU_OUT_BYTES);
        MotusPlane src = j.plane, dst = j.plane;
        float *coefs = (float *)(void *)(gpu_expected + j.coefs_at);
        int16_t *quantized = (int16_t *)(void *)(gpu_expected + j.levels_at);
        src.data = gpu_fill_input(n % 5), dst.data = gpu_expected;
        motus_wavelet_forward(coefs, &src, &j.shape, NULL);
        motus_wavelet_shrink(coefs, &j.shape, j.threshold, NULL);
        motus_wavelet_quantize(quantized, coefs, &j.shape, j.step, NULL);
        motus_wavelet_dequantize(coefs, quantized, &j.shape, j.step, NULL);
        motus_wavelet_inverse_plane(&dst, coefs, &j.shape, NULL);
        const uint8_t *got = gpu_run(wavelet_job, &j);
        MOTUS_CHECK(got && !memcmp(got + j.levels_at, quantized, 2 * j.shape.size),
                    "levels, %dx%d, %d levels, edge %d", src.width, src.height, levels, (int)edge);
        MOTUS_CHECK(got &&
                        gpu_same_rows(got, gpu_expected, dst.stride, (size_t)dst.width, dst.height),
                    "samples, %dx%d, %d levels, edge %d", src.width, src.height, levels, (int)edge);
    }
    gpu_end();
}

static MotusStatus copy_job(void *opaque, const void *d_in, void *d_out, void *stream,
                            MotusError *error) {
    DctJob *j = opaque;
    MotusPlane plane = j->plane;
    MotusCoefs coefs = j->coefs;
    plane.data = (uint8_t *)(uintptr_t)d_in, coefs.data = d_out;
    return motus_cuda_dct8_forward(&coefs, &plane, j->table, MOTUS_DCT8_INTEGER, stream, error);
}

// Order of results, full and empty rings, and pictures that follow each other through the same
// buffers.
static void ring_order(void) {
    if (!gpu_begin()) return;
    const void *output;
    void *input;
    DctJob j = {.plane = {NULL, 64, 64, 8}, .coefs = {NULL, 128, 64, 8}};
    for (int i = 0; i < 64; i++) j.table[i] = 1;
    CU_ASSERT_EQUAL(motus_cuda_ring_take(gpu_ring, &output, NULL), MOTUS_END);
    for (int n = 0; n < 22; n++) {
        if (n >= 2) {
            CU_ASSERT_EQUAL(motus_cuda_ring_input(gpu_ring, &input, NULL),
                            n < 22 ? MOTUS_ERR_STATE : MOTUS_OK);
            CU_ASSERT_EQUAL(motus_cuda_ring_take(gpu_ring, &output, NULL), MOTUS_OK);
            MOTUS_CHECK(*(const int16_t *)output == 8 * (n - 2 + 100 - 128), "picture %d: %d",
                        n - 2, *(const int16_t *)output);
        }
        CU_ASSERT_EQUAL(motus_cuda_ring_input(gpu_ring, &input, NULL), MOTUS_OK);
        memset(input, 100 + n, 64 * 8);
        CU_ASSERT_EQUAL(motus_cuda_ring_submit(gpu_ring, copy_job, &j, NULL), MOTUS_OK);
    }
    gpu_end();
}

static void bad_arguments(void) {
    if (!gpu_begin()) return;
    MotusError error = {0};
    MotusCudaRing *none = NULL;
    MotusCudaEqualizer *equalizer = NULL;
    MotusEqualizeConfig config = motus_equalize_config_default();
    CU_ASSERT_EQUAL(motus_cuda_ring_open(&none, 1, 1, 1, &error), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_cuda_ring_open(&none, 2, (size_t)1 << 50, 1, &error), MOTUS_ERR_MEMORY);
    MOTUS_CHECK(strstr(error.text, "memory") != NULL, "%s", error.text);
    CU_ASSERT_PTR_NULL(none);
    CU_ASSERT_EQUAL(motus_cuda_equalizer_open(&equalizer, &config, 0, 5, &error),
                    MOTUS_ERR_ARGUMENT);
    MotusPlane odd = {(uint8_t *)16, 17, 16, 16};
    CU_ASSERT_EQUAL(motus_cuda_equalizer_open(&equalizer, &config, 16, 16, &error), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_cuda_equalizer_run(equalizer, &odd, &odd, NULL, &error),
                    MOTUS_ERR_ARGUMENT);
    motus_cuda_equalizer_close(&equalizer);
    gpu_end();
}

static const MotusTest tests[] = {{"dct", dct},
                                  {"equalize", equalize},
                                  {"wavelet", wavelet},
                                  {"ring_order", ring_order},
                                  {"bad_arguments", bad_arguments},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_filters", tests, argc, argv); }
