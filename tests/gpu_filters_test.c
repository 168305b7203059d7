// CUDA == CPU, bit for bit, for the filters and the 8x8 DCT. Pictures travel through the ring, whose device buffers the jobs cut into planes.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter_cuda.h"
#include "motus/upload.h"
#include "tests/harness.h"

#include <stdlib.h>
#include <string.h>

enum { IN_BYTES = 3 << 20, OUT_BYTES = 12 << 20 };

static MotusCudaRing *ring;
static uint8_t *expected; // OUT_BYTES

// The ring, or a skipped (required: failed) test.
static int begin(void) {
    MotusError error;
    MotusStatus status = motus_cuda_filters_usable(&error);
    const char *required = getenv("MOTUS_REQUIRE_GPU");
    if (status && required && !strcmp(required, "1")) MOTUS_CHECK(0, "MOTUS_REQUIRE_GPU=1, but %s", error.text);
    if (status && !(required && !strcmp(required, "1"))) motus_test_skip(error.text);
    if (status) return 0;
    status = motus_cuda_ring_open(&ring, 2, IN_BYTES, OUT_BYTES, &error);
    MOTUS_CHECK(!status, "%s", error.text);
    expected = malloc(OUT_BYTES);
    return !status && expected;
}

static void end(void) {
    motus_cuda_ring_close(&ring);
    free(expected);
}

// Content of several kinds over the whole input; what is random repeats after a prime number of bytes.
static uint8_t *fill_input(int kind) {
    static uint8_t pattern[65521];
    void *input = NULL;
    CU_ASSERT_EQUAL(motus_cuda_ring_input(ring, &input, NULL), MOTUS_OK);
    uint8_t *p = input, base = (uint8_t)motus_test_random();
    motus_test_fill(pattern, sizeof pattern);
    for (size_t i = 0; kind && i < sizeof pattern; i++) {
        uint8_t v = pattern[i];
        pattern[i] = kind == 1   ? (v & 1 ? 255 : 0)
                     : kind == 2 ? base
                     : kind == 3 ? (uint8_t)(i / 16 + v % 8)
                                 : (uint8_t)(base + v % 11);
    }
    for (size_t i = 0; i < IN_BYTES; i += sizeof pattern)
        memcpy(p + i, pattern, IN_BYTES - i < sizeof pattern ? IN_BYTES - i : sizeof pattern);
    return p;
}

// Runs the job and waits for its result.
static const uint8_t *run_job(MotusCudaJob *job, void *opaque) {
    MotusError error = {0};
    const void *output = NULL;
    MotusStatus status = motus_cuda_ring_submit(ring, job, opaque, &error);
    if (!status) status = motus_cuda_ring_take(ring, &output, &error);
    MOTUS_CHECK(!status, "%s", error.text);
    return status ? NULL : output;
}

static int same_rows(const uint8_t *a, const uint8_t *b, ptrdiff_t stride, size_t bytes, int rows) {
    for (int y = 0; y < rows; y++)
        if (memcmp(a + y * stride, b + y * stride, bytes)) return 0;
    return 1;
}

static int round16(int n) { return (n + 15) & ~15; }

// Widths and heights up to w and h, small ones often.
static void random_size(int *width, int *height, int w, int h) {
    int shift = motus_test_range(0, 6);
    *width = 1 + motus_test_range(0, (w - 1) >> shift), *height = 1 + motus_test_range(0, (h - 1) >> shift);
}

typedef struct DctJob {
    MotusPlane plane;
    MotusCoefs coefs;
    uint16_t table[64];
    MotusDct8Kind kind;
} DctJob;

static MotusStatus dct_forward(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error) {
    DctJob j = *(DctJob *)opaque;
    j.plane.data = (uint8_t *)(uintptr_t)d_in, j.coefs.data = d_out;
    return motus_cuda_dct8_forward(&j.coefs, &j.plane, j.table, j.kind, stream, error);
}

static MotusStatus dct_inverse(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error) {
    DctJob j = *(DctJob *)opaque;
    j.plane.data = d_out, j.coefs.data = (int16_t *)(uintptr_t)d_in;
    return motus_cuda_dct8_inverse(&j.plane, &j.coefs, j.table, j.kind, stream, error);
}

static void dct(void) {
    if (!begin()) return;
    for (int n = 0; n < 120; n++) {
        DctJob j = {.kind = (MotusDct8Kind)(n & 1)};
        random_size(&j.plane.width, &j.plane.height, 1200, 900);
        j.plane.stride = round16(j.plane.width) + n % 3 * 16;
        j.coefs.width = (j.plane.width + 7) & ~7, j.coefs.height = (j.plane.height + 7) & ~7,
        j.coefs.stride = round16(2 * j.coefs.width);
        motus_dct8_quality(j.table, motus_jpeg_luma_table, motus_test_range(1, 100));
        if (n % 5 == 4)
            for (int i = 0; i < 64; i++) j.table[i] = (uint16_t)(1 + (motus_test_random() >> motus_test_range(16, 31)));
        MotusCoefs want = j.coefs;
        want.data = (int16_t *)(void *)expected;
        j.plane.data = fill_input(n % 5);
        motus_dct8_forward(&want, &j.plane, j.table, j.kind, NULL);
        const uint8_t *got = run_job(dct_forward, &j);
        MOTUS_CHECK(got && same_rows(got, expected, want.stride, 2 * (size_t)want.width, want.height), "forward %dx%d kind %d",
                    j.plane.width, j.plane.height, (int)j.kind);
        want.data = (int16_t *)(void *)fill_input(n % 3); // any levels at all
        j.plane.data = expected;
        motus_dct8_inverse(&j.plane, &want, j.table, j.kind, NULL);
        got = run_job(dct_inverse, &j);
        MOTUS_CHECK(got && same_rows(got, expected, j.plane.stride, (size_t)j.plane.width, j.plane.height),
                    "inverse %dx%d kind %d", j.plane.width, j.plane.height, (int)j.kind);
    }
    end();
}

typedef struct EqualizeJob {
    MotusPlane plane;
    MotusCudaEqualizer *equalizer;
} EqualizeJob;

static MotusStatus equalize_job(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error) {
    EqualizeJob *j = opaque;
    MotusPlane src = j->plane, dst = j->plane;
    src.data = (uint8_t *)(uintptr_t)d_in, dst.data = d_out;
    return motus_cuda_equalizer_run(j->equalizer, &dst, &src, stream, error);
}

static void equalize(void) {
    if (!begin()) return;
    static uint8_t curves[64 * 64][256];
    for (int n = 0; n < 60; n++) {
        EqualizeJob j = {{0}, NULL};
        MotusEqualizer *cpu;
        MotusEqualizeConfig config = motus_equalize_config_default();
        int tiles, pictures = n % 2 ? 5 : 1;
        random_size(&j.plane.width, &j.plane.height, 1700, 1500);
        if (n % 12 == 11) // a row of a tile has more chunks than a block has threads
            j.plane.width = motus_test_range(8200, 9900), j.plane.height = motus_test_range(1, 300);
        j.plane.stride = round16(j.plane.width);
        if (n % 4 == 0) j.plane.width = (int)j.plane.stride;
        if (n % 3 == 2)
            config.tiles_x = motus_test_range(1, 12), config.tiles_y = motus_test_range(1, 12),
            config.clip_q8 = motus_test_range(0, 2000);
        if (n % 12 == 5) config.tiles_x = MOTUS_EQUALIZE_MAX_TILES, config.tiles_y = MOTUS_EQUALIZE_MAX_TILES - n % 9;
        if (n % 12 == 11) config.tiles_x = 1, config.clip_q8 = 512;
        if (pictures > 1) config.smooth_q8 = motus_test_range(1, 255);
        CU_ASSERT_EQUAL_FATAL(motus_cuda_equalizer_open(&j.equalizer, &config, j.plane.width, j.plane.height, NULL), MOTUS_OK);
        CU_ASSERT_EQUAL_FATAL(motus_equalizer_open(&cpu, &config, j.plane.width, j.plane.height), MOTUS_OK);
        for (int picture = 0; picture < pictures; picture++) {
            MotusPlane src = j.plane, dst = j.plane;
            src.data = fill_input(picture == 3 ? 1 : (n + picture / 3) % 5), dst.data = expected;
            motus_equalizer_run(cpu, &dst, &src, NULL);
            const uint8_t *got = run_job(equalize_job, &j);
            MOTUS_CHECK(got && same_rows(got, expected, dst.stride, (size_t)dst.width, dst.height),
                        "%dx%d tiles %dx%d clip %d smooth %d picture %d", dst.width, dst.height, config.tiles_x, config.tiles_y,
                        config.clip_q8, config.smooth_q8, picture);
        }
        const uint8_t(*want)[256] = motus_equalizer_curves(cpu, &tiles);
        CU_ASSERT_EQUAL(motus_cuda_equalizer_curves(j.equalizer, curves, tiles, NULL, NULL), MOTUS_OK);
        CU_ASSERT(!memcmp(curves, want, (size_t)tiles * 256));
        motus_cuda_equalizer_close(&j.equalizer);
        motus_equalizer_close(&cpu);
    }
    end();
}

static MotusKeyConfig random_key(int n) {
    MotusKeyConfig k = motus_key_config((uint8_t)motus_test_random(), (uint8_t)motus_test_random(), (uint8_t)motus_test_random());
    k.hue_range = motus_test_range(1, 1500), k.sat_range = motus_test_range(1, 1024), k.value_range = motus_test_range(1, 1024);
    k.plain_hue = n & 1, k.matrix_709 = n >> 1 & 1, k.full_range = n >> 2 & 1;
    if (n % 5 == 3) k.hue_range = motus_test_range(1, 5760);
    if (n % 3) k.soft_q8 = motus_test_range(0, 1024), k.spill_q8 = motus_test_range(0, 256);
    return k;
}

typedef struct KeyJob {
    MotusPlane rgb;   // of one picture; the second follows
    MotusFrame frame; // likewise
    size_t size;
    MotusKeyConfig key;
} KeyJob;

static MotusStatus key_rgb_job(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error) {
    KeyJob *j = opaque;
    MotusPlane fg = j->rgb, bg = j->rgb, dst = j->rgb;
    fg.data = (uint8_t *)(uintptr_t)d_in, bg.data = fg.data + j->size, dst.data = d_out;
    return motus_cuda_key_rgb24(&dst, &fg, &bg, &j->key, stream, error);
}

// A frame whose planes follow each other from `data` on.
static MotusFrame frame_at(const MotusFrame *shape, const uint8_t *data) {
    MotusFrame f = *shape;
    uint8_t *p = (uint8_t *)(uintptr_t)data;
    for (int k = 0; k < 3; k++) f.plane[k].data = p, p += f.plane[k].stride * f.plane[k].height;
    return f;
}

static MotusStatus key_frame_job(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error) {
    KeyJob *j = opaque;
    MotusFrame fg = frame_at(&j->frame, d_in), bg = frame_at(&j->frame, (const uint8_t *)d_in + j->size),
               dst = frame_at(&j->frame, d_out);
    return motus_cuda_key_frame(&dst, &fg, &bg, &j->key, stream, error);
}

static void key_rgb24(void) {
    if (!begin()) return;
    for (int n = 0; n < 80; n++) {
        KeyJob j = {.key = random_key(n)};
        random_size(&j.rgb.width, &j.rgb.height, 1000, 400);
        j.rgb.width *= 3, j.rgb.stride = round16(j.rgb.width), j.size = (size_t)(j.rgb.stride * j.rgb.height);
        MotusPlane fg = j.rgb, bg = j.rgb, dst = j.rgb;
        fg.data = fill_input(n % 5 == 2 ? 0 : n % 5), bg.data = fg.data + j.size, dst.data = expected;
        motus_key_rgb24(&dst, &fg, &bg, &j.key, NULL);
        const uint8_t *got = run_job(key_rgb_job, &j);
        MOTUS_CHECK(got && same_rows(got, expected, dst.stride, (size_t)dst.width, dst.height), "%dx%d soft %d spill %d",
                    dst.width / 3, dst.height, j.key.soft_q8, j.key.spill_q8);
    }
    end();
}

static MotusFrame random_frame(int w, int h) {
    MotusFrame f = {0};
    random_size(&f.width, &f.height, w, h);
    for (int p = 0; p < 3; p++) {
        f.plane[p].width = p ? (f.width + 1) / 2 : f.width, f.plane[p].height = p ? (f.height + 1) / 2 : f.height;
        f.plane[p].stride = round16(f.plane[p].width);
    }
    return f;
}

static size_t frame_size(const MotusFrame *f) {
    size_t size = 0;
    for (int p = 0; p < 3; p++) size += (size_t)(f->plane[p].stride * f->plane[p].height);
    return size;
}

static int same_frames(const uint8_t *a, const uint8_t *b, const MotusFrame *shape) {
    MotusFrame f = frame_at(shape, a), g = frame_at(shape, b);
    for (int p = 0; p < 3; p++)
        if (!same_rows(f.plane[p].data, g.plane[p].data, f.plane[p].stride, (size_t)f.plane[p].width, f.plane[p].height))
            return 0;
    return 1;
}

static void key_frames(void) {
    if (!begin()) return;
    for (int n = 0; n < 80; n++) {
        KeyJob j = {.frame = random_frame(1100, 700), .key = random_key(n)};
        j.size = frame_size(&j.frame);
        const uint8_t *input = fill_input(n % 5 == 2 ? 0 : n % 5);
        MotusFrame fg = frame_at(&j.frame, input), bg = frame_at(&j.frame, input + j.size), dst = frame_at(&j.frame, expected);
        motus_key_frame(&dst, &fg, &bg, &j.key, NULL);
        const uint8_t *got = run_job(key_frame_job, &j);
        MOTUS_CHECK(got && same_frames(got, expected, &j.frame), "%dx%d soft %d spill %d", dst.width, dst.height, j.key.soft_q8,
                    j.key.spill_q8);
    }
    end();
}

static MotusStatus to_rgb_job(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error) {
    KeyJob *j = opaque;
    MotusFrame frame = frame_at(&j->frame, d_in);
    MotusPlane rgb = j->rgb;
    rgb.data = d_out;
    return motus_cuda_frame_to_rgb24(&rgb, &frame, j->key.matrix_709, j->key.full_range, stream, error);
}

static MotusStatus to_yuv_job(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error) {
    KeyJob *j = opaque;
    MotusFrame frame = frame_at(&j->frame, d_out);
    MotusPlane rgb = j->rgb;
    rgb.data = (uint8_t *)(uintptr_t)d_in;
    return motus_cuda_rgb24_to_frame(&frame, &rgb, j->key.matrix_709, j->key.full_range, stream, error);
}

static void conversions(void) {
    if (!begin()) return;
    for (int n = 0; n < 24; n++) {
        KeyJob j = {.frame = random_frame(900, 700), .key = random_key(n)};
        j.rgb = (MotusPlane){expected, round16(3 * j.frame.width), 3 * j.frame.width, j.frame.height};
        MotusFrame frame = frame_at(&j.frame, fill_input(n % 2));
        motus_frame_to_rgb24(&j.rgb, &frame, j.key.matrix_709, j.key.full_range, NULL);
        const uint8_t *got = run_job(to_rgb_job, &j);
        MOTUS_CHECK(got && same_rows(got, expected, j.rgb.stride, (size_t)j.rgb.width, j.rgb.height), "to RGB %dx%d", frame.width,
                    frame.height);
        j.rgb.data = fill_input(n % 2);
        frame = frame_at(&j.frame, expected);
        motus_rgb24_to_frame(&frame, &j.rgb, j.key.matrix_709, j.key.full_range, NULL);
        got = run_job(to_yuv_job, &j);
        MOTUS_CHECK(got && same_frames(got, expected, &j.frame), "to YUV %dx%d", frame.width, frame.height);
    }
    end();
}

typedef struct RgbJob {
    MotusFrame frame;
    MotusCudaRgbEqualizer *equalizer;
} RgbJob;

static MotusStatus equalize_rgb_job(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error) {
    RgbJob *j = opaque;
    MotusFrame src = frame_at(&j->frame, d_in), dst = frame_at(&j->frame, d_out);
    return motus_cuda_rgb_equalizer_run(j->equalizer, &dst, &src, stream, error);
}

static void equalize_rgb(void) {
    if (!begin()) return;
    for (int n = 0; n < 20; n++) {
        RgbJob j = {random_frame(900, 700), NULL};
        int m709 = n & 1, full = n >> 1 & 1;
        MotusEqualizeConfig config = n % 3 ? motus_equalize_config_default() : motus_equalize_config_clahe();
        config.smooth_q8 = n % 4 ? 0 : 200;
        MotusRgbEqualizer *cpu;
        CU_ASSERT_EQUAL_FATAL(motus_rgb_equalizer_open(&cpu, &config, j.frame.width, j.frame.height, m709, full), MOTUS_OK);
        CU_ASSERT_EQUAL_FATAL(
            motus_cuda_rgb_equalizer_open(&j.equalizer, &config, j.frame.width, j.frame.height, m709, full, NULL), MOTUS_OK);
        for (int picture = 0; picture < 3; picture++) {
            MotusFrame src = frame_at(&j.frame, fill_input(n % 5)), want = frame_at(&j.frame, expected);
            motus_rgb_equalizer_run(cpu, &want, &src, NULL);
            const uint8_t *got = run_job(equalize_rgb_job, &j);
            MOTUS_CHECK(got && same_frames(got, expected, &j.frame), "%dx%d case %d picture %d", src.width, src.height, n,
                        picture);
        }
        motus_cuda_rgb_equalizer_close(&j.equalizer);
        motus_rgb_equalizer_close(&cpu);
    }
    end();
}

// Input: RGB24; output: it again, joined from the planes behind it.
static MotusStatus channels_job(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error) {
    KeyJob *j = opaque;
    MotusPlane rgb = j->rgb, planes[3];
    rgb.data = (uint8_t *)(uintptr_t)d_in;
    for (int k = 0; k < 3; k++) {
        planes[k] = j->frame.plane[k];
        planes[k].data = (uint8_t *)d_out + j->size + (size_t)(k * planes[k].stride * planes[k].height);
    }
    MotusStatus status = motus_cuda_rgb24_split(planes, &rgb, stream, error);
    rgb.data = d_out;
    return status ? status : motus_cuda_rgb24_join(&rgb, planes, stream, error);
}

static void channels(void) {
    if (!begin()) return;
    for (int n = 0; n < 12; n++) {
        KeyJob j = {.size = 0};
        int w, h;
        random_size(&w, &h, 900, 700);
        j.rgb = (MotusPlane){NULL, round16(3 * w), 3 * w, h}, j.size = (size_t)(j.rgb.stride * h);
        for (int k = 0; k < 3; k++) j.frame.plane[k] = (MotusPlane){NULL, round16(w), w, h};
        const uint8_t *input = fill_input(0), *got = run_job(channels_job, &j);
        MOTUS_CHECK(got && same_rows(got, input, j.rgb.stride, (size_t)j.rgb.width, h), "%dx%d", w, h);
        for (int k = 0; got && k < 3; k++)
            for (int i = 0; i < w * h; i++)
                if (got[j.size + (size_t)(k * round16(w) * h + i / w * round16(w) + i % w)] !=
                    input[i / w * j.rgb.stride + 3 * (i % w) + k]) {
                    MOTUS_CHECK(0, "plane %d of %dx%d", k, w, h);
                    break;
                }
    }
    end();
}

typedef struct WaveletJob {
    MotusWaveletShape shape;
    MotusPlane plane;
    float step, threshold[MOTUS_WAVELET_MAX_LEVELS];
    size_t coefs_at, levels_at; // in the output
} WaveletJob;

// Output: the reconstructed plane, the coefficients as the inverse leaves them, the levels.
static MotusStatus wavelet_job(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error) {
    WaveletJob *j = opaque;
    MotusPlane src = j->plane, dst = j->plane;
    float *coefs = (float *)(void *)((uint8_t *)d_out + j->coefs_at);
    int16_t *levels = (int16_t *)(void *)((uint8_t *)d_out + j->levels_at);
    src.data = (uint8_t *)(uintptr_t)d_in, dst.data = d_out;
    MotusStatus status = motus_cuda_wavelet_forward(coefs, &src, &j->shape, stream, error);
    if (!status) status = motus_cuda_wavelet_shrink(coefs, &j->shape, j->threshold, stream, error);
    if (!status) status = motus_cuda_wavelet_quantize(levels, coefs, &j->shape, j->step, stream, error);
    if (!status) status = motus_cuda_wavelet_dequantize(coefs, levels, &j->shape, j->step, stream, error);
    if (!status) status = motus_cuda_wavelet_inverse_plane(&dst, coefs, &j->shape, stream, error);
    return status;
}

static void wavelet(void) {
    if (!begin()) return;
    for (int n = 0; n < 100; n++) {
        WaveletJob j = {.plane = {0}};
        int levels = 0;
        MotusWaveletEdge edge = (MotusWaveletEdge)(n & 1);
        do random_size(&j.plane.width, &j.plane.height, 1100, 1000);
        while (j.plane.width < 2 || j.plane.height < 2);
        while (levels < 6 && !motus_wavelet_shape(&j.shape, j.plane.width, j.plane.height, levels + 1, edge)) levels++;
        levels = motus_test_range(1, levels);
        motus_wavelet_shape(&j.shape, j.plane.width, j.plane.height, levels, edge);
        j.plane.stride = round16(j.plane.width);
        j.step = (float)motus_test_range(1, 64) / 8;
        for (int l = 0; l < levels; l++) j.threshold[l] = (float)motus_test_range(0, 40) / 4;
        j.coefs_at = (size_t)(j.plane.stride * j.plane.height + 63) / 64 * 64, j.levels_at = j.coefs_at + 4 * j.shape.size;
        CU_ASSERT_FATAL(j.levels_at + 2 * j.shape.size <= OUT_BYTES);
        MotusPlane src = j.plane, dst = j.plane;
        float *coefs = (float *)(void *)(expected + j.coefs_at);
        int16_t *quantized = (int16_t *)(void *)(expected + j.levels_at);
        src.data = fill_input(n % 5), dst.data = expected;
        motus_wavelet_forward(coefs, &src, &j.shape, NULL);
        motus_wavelet_shrink(coefs, &j.shape, j.threshold, NULL);
        motus_wavelet_quantize(quantized, coefs, &j.shape, j.step, NULL);
        motus_wavelet_dequantize(coefs, quantized, &j.shape, j.step, NULL);
        motus_wavelet_inverse_plane(&dst, coefs, &j.shape, NULL);
        const uint8_t *got = run_job(wavelet_job, &j);
        MOTUS_CHECK(got && !memcmp(got + j.levels_at, quantized, 2 * j.shape.size), "levels, %dx%d, %d levels, edge %d",
                    src.width, src.height, levels, (int)edge);
        MOTUS_CHECK(got && same_rows(got, expected, dst.stride, (size_t)dst.width, dst.height),
                    "samples, %dx%d, %d levels, edge %d", src.width, src.height, levels, (int)edge);
    }
    end();
}

static MotusStatus copy_job(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error) {
    DctJob *j = opaque;
    MotusPlane plane = j->plane;
    MotusCoefs coefs = j->coefs;
    plane.data = (uint8_t *)(uintptr_t)d_in, coefs.data = d_out;
    return motus_cuda_dct8_forward(&coefs, &plane, j->table, MOTUS_DCT8_INTEGER, stream, error);
}

// Order of results, full and empty rings, and pictures that follow each other through the same buffers.
static void ring_order(void) {
    if (!begin()) return;
    const void *output;
    void *input;
    DctJob j = {.plane = {NULL, 64, 64, 8}, .coefs = {NULL, 128, 64, 8}};
    for (int i = 0; i < 64; i++) j.table[i] = 1;
    CU_ASSERT_EQUAL(motus_cuda_ring_take(ring, &output, NULL), MOTUS_END);
    for (int n = 0; n < 22; n++) {
        if (n >= 2) {
            CU_ASSERT_EQUAL(motus_cuda_ring_input(ring, &input, NULL), n < 22 ? MOTUS_ERR_STATE : MOTUS_OK);
            CU_ASSERT_EQUAL(motus_cuda_ring_take(ring, &output, NULL), MOTUS_OK);
            MOTUS_CHECK(*(const int16_t *)output == 8 * (n - 2 + 100 - 128), "picture %d: %d", n - 2, *(const int16_t *)output);
        }
        CU_ASSERT_EQUAL(motus_cuda_ring_input(ring, &input, NULL), MOTUS_OK);
        memset(input, 100 + n, 64 * 8);
        CU_ASSERT_EQUAL(motus_cuda_ring_submit(ring, copy_job, &j, NULL), MOTUS_OK);
    }
    end();
}

static void bad_arguments(void) {
    if (!begin()) return;
    MotusError error = {0};
    MotusCudaRing *none = NULL;
    MotusCudaEqualizer *equalizer = NULL;
    MotusEqualizeConfig config = motus_equalize_config_default();
    CU_ASSERT_EQUAL(motus_cuda_ring_open(&none, 1, 1, 1, &error), MOTUS_ERR_ARGUMENT);
    CU_ASSERT_EQUAL(motus_cuda_ring_open(&none, 2, (size_t)1 << 50, 1, &error), MOTUS_ERR_CUDA);
    MOTUS_CHECK(strstr(error.text, "memory") != NULL, "%s", error.text);
    CU_ASSERT_PTR_NULL(none);
    CU_ASSERT_EQUAL(motus_cuda_equalizer_open(&equalizer, &config, 0, 5, &error), MOTUS_ERR_ARGUMENT);
    MotusPlane odd = {(uint8_t *)16, 17, 16, 16};
    CU_ASSERT_EQUAL(motus_cuda_equalizer_open(&equalizer, &config, 16, 16, &error), MOTUS_OK);
    CU_ASSERT_EQUAL(motus_cuda_equalizer_run(equalizer, &odd, &odd, NULL, &error), MOTUS_ERR_ARGUMENT);
    motus_cuda_equalizer_close(&equalizer);
    end();
}

static const MotusTest tests[] = {{"dct", dct},
                                  {"equalize", equalize},
                                  {"key_rgb24", key_rgb24},
                                  {"key_frames", key_frames},
                                  {"conversions", conversions},
                                  {"channels", channels},
                                  {"equalize_rgb", equalize_rgb},
                                  {"wavelet", wavelet},
                                  {"ring_order", ring_order},
                                  {"bad_arguments", bad_arguments},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_filters", tests, argc, argv); }
