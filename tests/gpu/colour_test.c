// The chroma key, colour conversions and the equalization of R, G and B.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter_cuda.h"
#include "tests/gpu/gpu_test.h"

enum { ALIGN = 16 }; // filters may overwrite a row up to there

static GpuPlane rgb_plane(GpuCase *c, const char *name, GpuUse use) {
    return gpu_plane(c, name, use, 3 * c->width, c->height, gpu_round16(3 * c->width), ALIGN);
}

static GpuFrame frame(GpuCase *c, const char *name, GpuUse use) {
    return gpu_frame(c, name, use, c->width, c->height, ALIGN);
}

// ---- Chroma key ---------------------------------------------------------------------------------

typedef struct Key {
    GpuPlane fg_rgb, bg_rgb, dst_rgb;
    GpuFrame fg, bg, dst;
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
    k->fg_rgb = rgb_plane(c, "foreground", GPU_INPUT);
    k->bg_rgb = rgb_plane(c, "background", GPU_INPUT);
    k->dst_rgb = rgb_plane(c, "result", GPU_OUTPUT);
}

static MotusStatus run_key_rgb(GpuCase *c, int on) {
    const Key *k = c->state;
    const MotusPlane *fg = &k->fg_rgb.at[on], *bg = &k->bg_rgb.at[on];
    MotusPlane dst = k->dst_rgb.at[on];
    return on ? motus_cuda_key_rgb24(&dst, fg, bg, &k->config, c->stream, &c->error)
              : motus_key_rgb24(&dst, fg, bg, &k->config, NULL);
}

static void open_key_frame(GpuCase *c) {
    Key *k = c->state;
    draw_key(c, &k->config, c->number);
    k->fg = frame(c, "foreground", GPU_INPUT), k->bg = frame(c, "background", GPU_INPUT);
    k->dst = frame(c, "result", GPU_OUTPUT);
}

// Every pair of Cb and Cr, among luma of all kinds: 512x512 samples.
static void fill_every_chroma(GpuCase *c) {
    Key *k = c->state;
    const MotusPlane *fg = k->fg.at[ON_CPU].plane, *bg = k->bg.at[ON_CPU].plane;
    draw_key(c, &k->config, c->round);
    if (c->round < 30)
        k->config.soft_q8 = motus_test_range(1, 1024),
        k->config.spill_q8 = motus_test_range(1, 256);
    for (int p = 0; p < 3; p++) {
        motus_test_fill(fg[p].data, (size_t)(fg[p].stride * fg[p].height));
        motus_test_fill(bg[p].data, (size_t)(bg[p].stride * bg[p].height));
    }
    for (int i = 0; i < 256 * 256; i++)
        fg[1].data[i] = (uint8_t)i, fg[2].data[i] = (uint8_t)(i >> 8);
}

static MotusStatus run_key_frame(GpuCase *c, int on) {
    const Key *k = c->state;
    const MotusFrame *fg = &k->fg.at[on], *bg = &k->bg.at[on];
    MotusFrame dst = k->dst.at[on];
    return on ? motus_cuda_key_frame(&dst, fg, bg, &k->config, c->stream, &c->error)
              : motus_key_frame(&dst, fg, bg, &k->config, NULL);
}

static const GpuKernel key_rgb = {sizeof(Key), open_key_rgb, NULL, run_key_rgb, NULL, NULL};
static const GpuKernel key_frame = {sizeof(Key), open_key_frame, NULL, run_key_frame, NULL, NULL};
static const GpuKernel every_chroma = {sizeof(Key),   open_key_frame, fill_every_chroma,
                                       run_key_frame, NULL,           NULL};

// ---- Conversions --------------------------------------------------------------------------------

enum { TO_RGB, SPLIT, JOIN }; // row->variant

typedef struct Convert {
    GpuPlane rgb, channel[3];
    GpuFrame yuv;
} Convert;

static void open_convert(GpuCase *c) {
    Convert *v = c->state;
    const int to_rgb = c->row->variant == TO_RGB || c->row->variant == JOIN;
    const GpuUse other = to_rgb ? GPU_INPUT : GPU_OUTPUT;
    v->rgb = rgb_plane(c, "RGB", to_rgb ? GPU_OUTPUT : GPU_INPUT);
    if (c->row->variant == TO_RGB) v->yuv = frame(c, "frame", other);
    for (int k = 0; k < 3 && c->row->variant >= SPLIT; k++)
        v->channel[k] =
            gpu_plane(c, "channel", other, c->width, c->height, gpu_round16(c->width), ALIGN);
}

static MotusStatus run_convert(GpuCase *c, int on) {
    const Convert *v = c->state;
    const int m709 = c->number >> 1 & 1, full = c->number >> 2 & 1;
    MotusPlane rgb = v->rgb.at[on];
    const MotusFrame yuv = v->yuv.at[on];
    return on ? motus_cuda_frame_to_rgb24(&rgb, &yuv, m709, full, c->stream, &c->error)
              : motus_frame_to_rgb24(&rgb, &yuv, m709, full, NULL);
}

static MotusStatus run_channels(GpuCase *c, int on) {
    const Convert *v = c->state;
    const MotusPlane planes[3] = {v->channel[0].at[on], v->channel[1].at[on], v->channel[2].at[on]};
    const MotusPlane *rgb = &v->rgb.at[on];
    const int joins = c->row->variant == JOIN;
    if (on && joins) return motus_cuda_rgb24_join(rgb, planes, c->stream, &c->error);
    if (on) return motus_cuda_rgb24_split(planes, rgb, c->stream, &c->error);
    for (int i = 0; i < 3 * c->width * c->height; i++) {
        const int k = i % 3, x = i / 3 % c->width, y = i / 3 / c->width;
        uint8_t *one = &planes[k].data[y * planes[k].stride + x],
                *three = &rgb->data[y * rgb->stride + 3 * x + k];
        *(joins ? three : one) = *(joins ? one : three);
    }
    return MOTUS_OK;
}

static const GpuKernel convert = {sizeof(Convert), open_convert, NULL, run_convert, NULL, NULL};
static const GpuKernel channels = {sizeof(Convert), open_convert, NULL, run_channels, NULL, NULL};

// ---- Equalization -------------------------------------------------------------------------------

typedef struct EqualizeRgb {
    GpuFrame src, dst;
    MotusRgbEqualizer *cpu;
    MotusCudaRgbEqualizer *cuda;
} EqualizeRgb;

static void open_equalize(GpuCase *c) {
    EqualizeRgb *e = c->state;
    const int n = c->number, w = c->width, h = c->height, m709 = n & 1, full = n >> 1 & 1;
    MotusEqualizeConfig config = n % 3 ? (MotusEqualizeConfig)MOTUS_EQUALIZE_PLANE
                                       : (MotusEqualizeConfig)MOTUS_EQUALIZE_CLAHE;
    config.smooth_q8 = n % 4 ? 0 : 200;
    CU_ASSERT_FATAL(!motus_rgb_equalizer_open(&e->cpu, &config, w, h, m709, full));
    CU_ASSERT_FATAL(!motus_cuda_rgb_equalizer_open(&e->cuda, &config, w, h, m709, full, NULL));
    e->src = frame(c, "src", GPU_INPUT), e->dst = frame(c, "dst", GPU_OUTPUT);
}

static MotusStatus run_equalize(GpuCase *c, int on) {
    const EqualizeRgb *e = c->state;
    const MotusFrame *src = &e->src.at[on];
    MotusFrame dst = e->dst.at[on];
    return on ? motus_cuda_rgb_equalizer_run(e->cuda, &dst, src, c->stream, &c->error)
              : motus_rgb_equalizer_run(e->cpu, &dst, src, NULL);
}

static void close_equalize(GpuCase *c) {
    EqualizeRgb *e = c->state;
    motus_cuda_rgb_equalizer_close(&e->cuda);
    motus_rgb_equalizer_close(&e->cpu);
}

static const GpuKernel equalize = {sizeof(EqualizeRgb), open_equalize, NULL,
                                   run_equalize,        NULL,          close_equalize};

// ---- Rows ---------------------------------------------------------------------------------------

static const GpuSize chroma_size[] = {{512, 512, 60}, {0, 0, 0}};

#define ROW(label, k, w, h, n)                                                                     \
    .name = label, .kernel = &k, .most = {w, h, 0}, .cases = n, .bench = {1920, 1080, 0}
static const GpuRow rows[] = {
    {ROW("key_rgb24", key_rgb, 1000, 400, 80)},
    {ROW("key_frame", key_frame, 1100, 700, 80)},
    {.name = "every_chroma", .kernel = &every_chroma, .sizes = chroma_size},
    {ROW("frame_to_rgb24", convert, 900, 700, 24), .variant = TO_RGB},
    {ROW("rgb24_split", channels, 900, 700, 12), .variant = SPLIT},
    {ROW("rgb24_join", channels, 900, 700, 12), .variant = JOIN},
    {ROW("equalize_rgb", equalize, 900, 700, 20), .rounds = 3},
    {0}};

const GpuSuite gpu_colour = {"colour", rows};
