// CUDA == CPU, bit for bit, for the chroma key, colour conversion and the equalization of R, G and
// B. Pictures travel through the ring, whose device buffers the jobs cut into planes.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter_cuda.h"
#include "tests/gpu/gpu_ring.h"
#include "tests/support/harness.h"

static MotusKeyConfig random_key(int n) {
    MotusKeyConfig k = motus_key_config((uint8_t)motus_test_random(), (uint8_t)motus_test_random(),
                                        (uint8_t)motus_test_random());
    k.hue_range = motus_test_range(1, 1500), k.sat_range = motus_test_range(1, 1024),
    k.value_range = motus_test_range(1, 1024);
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

static MotusStatus key_rgb_job(void *opaque, const void *d_in, void *d_out, void *stream,
                               MotusError *error) {
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

static MotusStatus key_frame_job(void *opaque, const void *d_in, void *d_out, void *stream,
                                 MotusError *error) {
    KeyJob *j = opaque;
    MotusFrame fg = frame_at(&j->frame, d_in),
               bg = frame_at(&j->frame, (const uint8_t *)d_in + j->size),
               dst = frame_at(&j->frame, d_out);
    return motus_cuda_key_frame(&dst, &fg, &bg, &j->key, stream, error);
}

static void key_rgb24(void) {
    if (!gpu_begin()) return;
    for (int n = 0; n < 80; n++) {
        KeyJob j = {.key = random_key(n)};
        gpu_random_size(&j.rgb.width, &j.rgb.height, 1000, 400);
        j.rgb.width *= 3, j.rgb.stride = round16(j.rgb.width),
                          j.size = (size_t)(j.rgb.stride * j.rgb.height);
        MotusPlane fg = j.rgb, bg = j.rgb, dst = j.rgb;
        fg.data = gpu_fill_input(n % 5 == 2 ? 0 : n % 5), bg.data = fg.data + j.size,
        dst.data = gpu_expected;
        motus_key_rgb24(&dst, &fg, &bg, &j.key, NULL);
        const uint8_t *got = gpu_run(key_rgb_job, &j);
        MOTUS_CHECK(
            got && gpu_same_rows(got, gpu_expected, dst.stride, (size_t)dst.width, dst.height),
            "%dx%d soft %d spill %d", dst.width / 3, dst.height, j.key.soft_q8, j.key.spill_q8);
    }
    gpu_end();
}

static MotusFrame frame_of(int width, int height) {
    MotusFrame f = {.width = width, .height = height};
    for (int p = 0; p < 3; p++) {
        f.plane[p].width = p ? (width + 1) / 2 : width,
        f.plane[p].height = p ? (height + 1) / 2 : height;
        f.plane[p].stride = round16(f.plane[p].width);
    }
    return f;
}

static MotusFrame random_frame(int w, int h) {
    int width, height;
    gpu_random_size(&width, &height, w, h);
    return frame_of(width, height);
}

static size_t frame_size(const MotusFrame *f) {
    size_t size = 0;
    for (int p = 0; p < 3; p++) size += (size_t)(f->plane[p].stride * f->plane[p].height);
    return size;
}

static int same_frames(const uint8_t *a, const uint8_t *b, const MotusFrame *shape) {
    MotusFrame f = frame_at(shape, a), g = frame_at(shape, b);
    for (int p = 0; p < 3; p++)
        if (!gpu_same_rows(f.plane[p].data, g.plane[p].data, f.plane[p].stride,
                           (size_t)f.plane[p].width, f.plane[p].height))
            return 0;
    return 1;
}

static void key_frames(void) {
    if (!gpu_begin()) return;
    for (int n = 0; n < 80; n++) {
        KeyJob j = {.frame = random_frame(1100, 700), .key = random_key(n)};
        j.size = frame_size(&j.frame);
        const uint8_t *input = gpu_fill_input(n % 5 == 2 ? 0 : n % 5);
        MotusFrame fg = frame_at(&j.frame, input), bg = frame_at(&j.frame, input + j.size),
                   dst = frame_at(&j.frame, gpu_expected);
        motus_key_frame(&dst, &fg, &bg, &j.key, NULL);
        const uint8_t *got = gpu_run(key_frame_job, &j);
        MOTUS_CHECK(got && same_frames(got, gpu_expected, &j.frame), "%dx%d soft %d spill %d",
                    dst.width, dst.height, j.key.soft_q8, j.key.spill_q8);
    }
    gpu_end();
}

// Every pair of chroma samples, among luma of all kinds: 512x512 samples.
static void every_chroma(void) {
    if (!gpu_begin()) return;
    for (int n = 0; n < 60; n++) {
        KeyJob j = {.frame = frame_of(512, 512), .key = random_key(n)};
        if (n < 30)
            j.key.soft_q8 = motus_test_range(1, 1024), j.key.spill_q8 = motus_test_range(1, 256);
        j.size = frame_size(&j.frame);
        uint8_t *input = gpu_fill_input(0);
        MotusFrame fg = frame_at(&j.frame, input), bg = frame_at(&j.frame, input + j.size),
                   dst = frame_at(&j.frame, gpu_expected);
        for (int i = 0; i < 256 * 256; i++)
            fg.plane[1].data[i] = (uint8_t)i, fg.plane[2].data[i] = (uint8_t)(i >> 8);
        motus_key_frame(&dst, &fg, &bg, &j.key, NULL);
        const uint8_t *got = gpu_run(key_frame_job, &j);
        MOTUS_CHECK(got && same_frames(got, gpu_expected, &j.frame), "case %d soft %d spill %d", n,
                    j.key.soft_q8, j.key.spill_q8);
    }
    gpu_end();
}

static MotusStatus to_rgb_job(void *opaque, const void *d_in, void *d_out, void *stream,
                              MotusError *error) {
    KeyJob *j = opaque;
    MotusFrame frame = frame_at(&j->frame, d_in);
    MotusPlane rgb = j->rgb;
    rgb.data = d_out;
    return motus_cuda_frame_to_rgb24(&rgb, &frame, j->key.matrix_709, j->key.full_range, stream,
                                     error);
}

static MotusStatus to_yuv_job(void *opaque, const void *d_in, void *d_out, void *stream,
                              MotusError *error) {
    KeyJob *j = opaque;
    MotusFrame frame = frame_at(&j->frame, d_out);
    MotusPlane rgb = j->rgb;
    rgb.data = (uint8_t *)(uintptr_t)d_in;
    return motus_cuda_rgb24_to_frame(&frame, &rgb, j->key.matrix_709, j->key.full_range, stream,
                                     error);
}

static void conversions(void) {
    if (!gpu_begin()) return;
    for (int n = 0; n < 24; n++) {
        KeyJob j = {.frame = random_frame(900, 700), .key = random_key(n)};
        j.rgb = (MotusPlane){gpu_expected, round16(3 * j.frame.width), 3 * j.frame.width,
                             j.frame.height};
        MotusFrame frame = frame_at(&j.frame, gpu_fill_input(n % 2));
        motus_frame_to_rgb24(&j.rgb, &frame, j.key.matrix_709, j.key.full_range, NULL);
        const uint8_t *got = gpu_run(to_rgb_job, &j);
        MOTUS_CHECK(got && gpu_same_rows(got, gpu_expected, j.rgb.stride, (size_t)j.rgb.width,
                                         j.rgb.height),
                    "to RGB %dx%d", frame.width, frame.height);
        j.rgb.data = gpu_fill_input(n % 2);
        frame = frame_at(&j.frame, gpu_expected);
        motus_rgb24_to_frame(&frame, &j.rgb, j.key.matrix_709, j.key.full_range, NULL);
        got = gpu_run(to_yuv_job, &j);
        MOTUS_CHECK(got && same_frames(got, gpu_expected, &j.frame), "to YUV %dx%d", frame.width,
                    frame.height);
    }
    gpu_end();
}

typedef struct RgbJob {
    MotusFrame frame;
    MotusCudaRgbEqualizer *equalizer;
} RgbJob;

static MotusStatus equalize_rgb_job(void *opaque, const void *d_in, void *d_out, void *stream,
                                    MotusError *error) {
    RgbJob *j = opaque;
    MotusFrame src = frame_at(&j->frame, d_in), dst = frame_at(&j->frame, d_out);
    return motus_cuda_rgb_equalizer_run(j->equalizer, &dst, &src, stream, error);
}

static void equalize_rgb(void) {
    if (!gpu_begin()) return;
    for (int n = 0; n < 20; n++) {
        RgbJob j = {random_frame(900, 700), NULL};
        int m709 = n & 1, full = n >> 1 & 1;
        MotusEqualizeConfig config =
            n % 3 ? motus_equalize_config_default() : motus_equalize_config_clahe();
        config.smooth_q8 = n % 4 ? 0 : 200;
        MotusRgbEqualizer *cpu;
        CU_ASSERT_EQUAL_FATAL(
            motus_rgb_equalizer_open(&cpu, &config, j.frame.width, j.frame.height, m709, full),
            MOTUS_OK);
        CU_ASSERT_EQUAL_FATAL(motus_cuda_rgb_equalizer_open(&j.equalizer, &config, j.frame.width,
                                                            j.frame.height, m709, full, NULL),
                              MOTUS_OK);
        for (int picture = 0; picture < 3; picture++) {
            MotusFrame src = frame_at(&j.frame, gpu_fill_input(n % 5)),
                       want = frame_at(&j.frame, gpu_expected);
            motus_rgb_equalizer_run(cpu, &want, &src, NULL);
            const uint8_t *got = gpu_run(equalize_rgb_job, &j);
            MOTUS_CHECK(got && same_frames(got, gpu_expected, &j.frame), "%dx%d case %d picture %d",
                        src.width, src.height, n, picture);
        }
        motus_cuda_rgb_equalizer_close(&j.equalizer);
        motus_rgb_equalizer_close(&cpu);
    }
    gpu_end();
}

// Input: RGB24; output: it again, joined from the planes behind it.
static MotusStatus channels_job(void *opaque, const void *d_in, void *d_out, void *stream,
                                MotusError *error) {
    KeyJob *j = opaque;
    MotusPlane rgb = j->rgb, planes[3];
    rgb.data = (uint8_t *)(uintptr_t)d_in;
    for (int k = 0; k < 3; k++) {
        planes[k] = j->frame.plane[k];
        planes[k].data =
            (uint8_t *)d_out + j->size + (size_t)(k * planes[k].stride * planes[k].height);
    }
    MotusStatus status = motus_cuda_rgb24_split(planes, &rgb, stream, error);
    rgb.data = d_out;
    return status ? status : motus_cuda_rgb24_join(&rgb, planes, stream, error);
}

static void channels(void) {
    if (!gpu_begin()) return;
    for (int n = 0; n < 12; n++) {
        KeyJob j = {.size = 0};
        int w, h;
        gpu_random_size(&w, &h, 900, 700);
        j.rgb = (MotusPlane){NULL, round16(3 * w), 3 * w, h}, j.size = (size_t)(j.rgb.stride * h);
        for (int k = 0; k < 3; k++) j.frame.plane[k] = (MotusPlane){NULL, round16(w), w, h};
        const uint8_t *input = gpu_fill_input(0), *got = gpu_run(channels_job, &j);
        MOTUS_CHECK(got && gpu_same_rows(got, input, j.rgb.stride, (size_t)j.rgb.width, h), "%dx%d",
                    w, h);
        for (int k = 0; got && k < 3; k++)
            for (int i = 0; i < w * h; i++)
                if (got[j.size + (size_t)(k * round16(w) * h + i / w * round16(w) + i % w)] !=
                    input[i / w * j.rgb.stride + 3 * (i % w) + k]) {
                    MOTUS_CHECK(0, "plane %d of %dx%d", k, w, h);
                    break;
                }
    }
    gpu_end();
}

static const MotusTest tests[] = {{"key_rgb24", key_rgb24},
                                  {"key_frames", key_frames},
                                  {"every_chroma", every_chroma},
                                  {"conversions", conversions},
                                  {"channels", channels},
                                  {"equalize_rgb", equalize_rgb},
                                  {0}};

int main(int argc, char **argv) { return motus_test_main("gpu_colour", tests, argc, argv); }
