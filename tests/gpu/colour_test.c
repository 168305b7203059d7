// The chroma key, colour conversions and the equalization of R, G and B.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter_cuda.h"
#include "tests/gpu/gpu_test.h"

// Filters may overwrite a row up to the next multiple of 16 bytes.
enum { ALIGN = 16 };

static GpuPlane rgb_plane(GpuCase *c, const char *name, GpuUse use) {
    return gpu_plane(c, name, use, 3 * c->width, c->height, gpu_round16(3 * c->width), ALIGN);
}

static GpuFrame frame(GpuCase *c, const char *name, GpuUse use) {
    return gpu_frame(c, name, use, c->width, c->height, ALIGN);
}

// ---- Chroma key ---------------------------------------------------------------------------------

typedef struct Key {
    GpuPlane fg, bg, dst;
    GpuFrame fg_frame, bg_frame, dst_frame;
    MotusKeyConfig config;
} Key;

static void draw_key(GpuCase *c, MotusKeyConfig *k, int n) {
    *k = motus_key_config((uint8_t)motus_test_random(), (uint8_t)motus_test_random(),
                          (uint8_t)motus_test_random());
    k->hue_range = motus_test_range(1, 1500), k->sat_range = motus_test_range(1, 1024),
    k->value_range = motus_test_range(1, 1024);
    k->plain_hue = n & 1, k->matrix_709 = n >> 1 & 1, k->full_range = n >> 2 & 1;
    if (n % 5 == 3) k->hue_range = motus_test_range(1, 5760);
    if (n % 3) k->soft_q8 = motus_test_range(0, 1024), k->spill_q8 = motus_test_range(0, 256);
    snprintf(c->what, sizeof c->what, "soft %d, spill %d", k->soft_q8, k->spill_q8);
}

static void open_key_rgb(GpuCase *c) {
    Key *k = c->state;
    draw_key(c, &k->config, c->number);
    k->fg = rgb_plane(c, "foreground", GPU_INPUT), k->bg = rgb_plane(c, "background", GPU_INPUT);
    k->dst = rgb_plane(c, "result", GPU_OUTPUT);
}

static void key_rgb_cpu(GpuCase *c) {
    Key *k = c->state;
    motus_key_rgb24(&k->dst.cpu, &k->fg.cpu, &k->bg.cpu, &k->config, NULL);
}

static MotusStatus key_rgb_cuda(GpuCase *c, cudaStream_t stream) {
    Key *k = c->state;
    return motus_cuda_key_rgb24(&k->dst.cuda, &k->fg.cuda, &k->bg.cuda, &k->config, stream,
                                &c->error);
}

static void open_key_frame(GpuCase *c) {
    Key *k = c->state;
    draw_key(c, &k->config, c->number);
    k->fg_frame = frame(c, "foreground", GPU_INPUT);
    k->bg_frame = frame(c, "background", GPU_INPUT);
    k->dst_frame = frame(c, "result", GPU_OUTPUT);
}

// Every pair of Cb and Cr, among luma of all kinds: 512x512 samples.
static void fill_every_chroma(GpuCase *c) {
    Key *k = c->state;
    draw_key(c, &k->config, c->round);
    if (c->round < 30)
        k->config.soft_q8 = motus_test_range(1, 1024),
        k->config.spill_q8 = motus_test_range(1, 256);
    for (int p = 0; p < 3; p++) {
        const MotusPlane *fg = &k->fg_frame.cpu.plane[p], *bg = &k->bg_frame.cpu.plane[p];
        motus_test_fill(fg->data, (size_t)(fg->stride * fg->height));
        motus_test_fill(bg->data, (size_t)(bg->stride * bg->height));
    }
    for (int i = 0; i < 256 * 256; i++) {
        k->fg_frame.cpu.plane[1].data[i] = (uint8_t)i;
        k->fg_frame.cpu.plane[2].data[i] = (uint8_t)(i >> 8);
    }
}

static void key_frame_cpu(GpuCase *c) {
    Key *k = c->state;
    motus_key_frame(&k->dst_frame.cpu, &k->fg_frame.cpu, &k->bg_frame.cpu, &k->config, NULL);
}

static MotusStatus key_frame_cuda(GpuCase *c, cudaStream_t stream) {
    Key *k = c->state;
    return motus_cuda_key_frame(&k->dst_frame.cuda, &k->fg_frame.cuda, &k->bg_frame.cuda,
                                &k->config, stream, &c->error);
}

static const GpuKernel key_rgb = {sizeof(Key),  open_key_rgb, NULL, key_rgb_cpu,
                                  key_rgb_cuda, NULL,         NULL};
static const GpuKernel key_frame = {sizeof(Key),    open_key_frame, NULL, key_frame_cpu,
                                    key_frame_cuda, NULL,           NULL};
static const GpuKernel every_chroma = {
    sizeof(Key), open_key_frame, fill_every_chroma, key_frame_cpu, key_frame_cuda, NULL, NULL};

// ---- Conversions --------------------------------------------------------------------------------

typedef struct Convert {
    GpuPlane rgb, channel[3];
    GpuFrame yuv;
    int matrix_709, full_range;
} Convert;

static void open_convert(GpuCase *c, GpuUse yuv, GpuUse rgb) {
    Convert *v = c->state;
    v->matrix_709 = c->number >> 1 & 1, v->full_range = c->number >> 2 & 1;
    v->yuv = frame(c, "frame", yuv), v->rgb = rgb_plane(c, "RGB", rgb);
}

static void open_to_rgb(GpuCase *c) { open_convert(c, GPU_INPUT, GPU_OUTPUT); }
static void open_to_yuv(GpuCase *c) { open_convert(c, GPU_OUTPUT, GPU_INPUT); }

static void to_rgb_cpu(GpuCase *c) {
    Convert *v = c->state;
    motus_frame_to_rgb24(&v->rgb.cpu, &v->yuv.cpu, v->matrix_709, v->full_range, NULL);
}

static MotusStatus to_rgb_cuda(GpuCase *c, cudaStream_t stream) {
    Convert *v = c->state;
    return motus_cuda_frame_to_rgb24(&v->rgb.cuda, &v->yuv.cuda, v->matrix_709, v->full_range,
                                     stream, &c->error);
}

static void to_yuv_cpu(GpuCase *c) {
    Convert *v = c->state;
    motus_rgb24_to_frame(&v->yuv.cpu, &v->rgb.cpu, v->matrix_709, v->full_range, NULL);
}

static MotusStatus to_yuv_cuda(GpuCase *c, cudaStream_t stream) {
    Convert *v = c->state;
    return motus_cuda_rgb24_to_frame(&v->yuv.cuda, &v->rgb.cuda, v->matrix_709, v->full_range,
                                     stream, &c->error);
}

static void open_channels(GpuCase *c, GpuUse rgb, GpuUse channels) {
    Convert *v = c->state;
    v->rgb = rgb_plane(c, "RGB", rgb);
    for (int k = 0; k < 3; k++)
        v->channel[k] =
            gpu_plane(c, "channel", channels, c->width, c->height, gpu_round16(c->width), ALIGN);
}

static void open_split(GpuCase *c) { open_channels(c, GPU_INPUT, GPU_OUTPUT); }
static void open_join(GpuCase *c) { open_channels(c, GPU_OUTPUT, GPU_INPUT); }

static void copy_channels(const Convert *v, int joins) {
    const MotusPlane *rgb = &v->rgb.cpu;
    for (int k = 0; k < 3; k++)
        for (int y = 0; y < rgb->height; y++)
            for (int x = 0; x < rgb->width / 3; x++) {
                uint8_t *one = &v->channel[k].cpu.data[y * v->channel[k].cpu.stride + x],
                        *three = &rgb->data[y * rgb->stride + 3 * x + k];
                *(joins ? three : one) = *(joins ? one : three);
            }
}

static void split_cpu(GpuCase *c) { copy_channels(c->state, 0); }
static void join_cpu(GpuCase *c) { copy_channels(c->state, 1); }

static MotusStatus split_cuda(GpuCase *c, cudaStream_t stream) {
    const Convert *v = c->state;
    const MotusPlane planes[3] = {v->channel[0].cuda, v->channel[1].cuda, v->channel[2].cuda};
    return motus_cuda_rgb24_split(planes, &v->rgb.cuda, stream, &c->error);
}

static MotusStatus join_cuda(GpuCase *c, cudaStream_t stream) {
    const Convert *v = c->state;
    const MotusPlane planes[3] = {v->channel[0].cuda, v->channel[1].cuda, v->channel[2].cuda};
    return motus_cuda_rgb24_join(&v->rgb.cuda, planes, stream, &c->error);
}

#define CONVERT(open, cpu, cuda)                                                                   \
    { sizeof(Convert), open, NULL, cpu, cuda, NULL, NULL }
static const GpuKernel to_rgb = CONVERT(open_to_rgb, to_rgb_cpu, to_rgb_cuda),
                       to_yuv = CONVERT(open_to_yuv, to_yuv_cpu, to_yuv_cuda),
                       split = CONVERT(open_split, split_cpu, split_cuda),
                       join = CONVERT(open_join, join_cpu, join_cuda);

// ---- Equalization -------------------------------------------------------------------------------

typedef struct EqualizeRgb {
    GpuFrame src, dst;
    MotusRgbEqualizer *cpu;
    MotusCudaRgbEqualizer *cuda;
} EqualizeRgb;

static void open_equalize(GpuCase *c) {
    EqualizeRgb *e = c->state;
    const int n = c->number, m709 = n & 1, full = n >> 1 & 1;
    MotusEqualizeConfig config =
        n % 3 ? motus_equalize_config_default() : motus_equalize_config_clahe();
    config.smooth_q8 = n % 4 ? 0 : 200;
    CU_ASSERT_EQUAL_FATAL(
        motus_rgb_equalizer_open(&e->cpu, &config, c->width, c->height, m709, full), MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(
        motus_cuda_rgb_equalizer_open(&e->cuda, &config, c->width, c->height, m709, full, NULL),
        MOTUS_OK);
    e->src = frame(c, "src", GPU_INPUT), e->dst = frame(c, "dst", GPU_OUTPUT);
}

static void equalize_cpu(GpuCase *c) {
    EqualizeRgb *e = c->state;
    motus_rgb_equalizer_run(e->cpu, &e->dst.cpu, &e->src.cpu, NULL);
}

static MotusStatus equalize_cuda(GpuCase *c, cudaStream_t stream) {
    EqualizeRgb *e = c->state;
    return motus_cuda_rgb_equalizer_run(e->cuda, &e->dst.cuda, &e->src.cuda, stream, &c->error);
}

static void close_equalize(GpuCase *c) {
    EqualizeRgb *e = c->state;
    motus_cuda_rgb_equalizer_close(&e->cuda);
    motus_rgb_equalizer_close(&e->cpu);
}

static const GpuKernel equalize = {sizeof(EqualizeRgb), open_equalize, NULL,          equalize_cpu,
                                   equalize_cuda,       NULL,          close_equalize};

// ---- Rows ---------------------------------------------------------------------------------------

static const GpuSize chroma_size[] = {{512, 512, 60}, {0, 0, 0}};

#define BENCH .bench = {1920, 1080, 0}
static const GpuRow rows[] = {
    {.name = "key_rgb24", .kernel = &key_rgb, .most = {1000, 400, 0}, .cases = 80, BENCH},
    {.name = "key_frame", .kernel = &key_frame, .most = {1100, 700, 0}, .cases = 80, BENCH},
    {.name = "every_chroma", .kernel = &every_chroma, .sizes = chroma_size},
    {.name = "frame_to_rgb24", .kernel = &to_rgb, .most = {900, 700, 0}, .cases = 24, BENCH},
    {.name = "rgb24_to_frame", .kernel = &to_yuv, .most = {900, 700, 0}, .cases = 24, BENCH},
    {.name = "rgb24_split", .kernel = &split, .most = {900, 700, 0}, .cases = 12, BENCH},
    {.name = "rgb24_join", .kernel = &join, .most = {900, 700, 0}, .cases = 12, BENCH},
    {.name = "equalize_rgb",
     .kernel = &equalize,
     .rounds = 3,
     .most = {900, 700, 0},
     .cases = 20,
     BENCH},
    {0}};

const GpuSuite gpu_colour = {"colour", rows, NULL};
