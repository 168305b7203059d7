// Suite filters: the 8x8 DCT, equalization, the wavelet, and the upload ring's order. Suite
// refusals: arguments that CUDA filters refuse, and equalizers that failed.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/faults.h"
#include "motus/filter_cuda.h"
#include "motus/upload.h"
#include "tests/gpu/gpu_test.h"

enum { ALIGN = 16 }; // filters may overwrite a row up to there

// ---- 8x8 DCT ------------------------------------------------------------------------------------

enum { FORWARD, INVERSE }; // row->variant

typedef struct Dct {
    GpuPlane samples, rows; // rows: bytes of levels
    uint16_t table[64];
    MotusDct8Kind kind;
} Dct;

static void open_dct(GpuCase *c) {
    Dct *d = c->state;
    const int n = c->number, inverse = c->row->variant == INVERSE, width = (c->width + 7) & ~7,
              height = (c->height + 7) & ~7;
    d->kind = (MotusDct8Kind)(n & 1);
    motus_dct8_quality(d->table, motus_jpeg_luma_table, motus_test_range(1, 100));
    for (int i = 0; i < 64 && n % 5 == 4; i++)
        d->table[i] = (uint16_t)(1 + (motus_test_random() >> motus_test_range(16, 31)));
    d->samples = gpu_plane(c, "samples", inverse ? GPU_OUTPUT : GPU_INPUT, c->width, c->height,
                           gpu_round16(c->width) + n % 3 * 16, ALIGN);
    d->rows = gpu_plane(c, "levels", inverse ? GPU_INPUT : GPU_OUTPUT, 2 * width, height,
                        gpu_round16(2 * width), ALIGN);
    snprintf(c->what, sizeof c->what, "kind %d", (int)d->kind);
}

static MotusStatus run_dct(GpuCase *c, int on) {
    const Dct *d = c->state;
    const MotusPlane *rows = &d->rows.at[on];
    MotusPlane p = d->samples.at[on];
    MotusCoefs levels = {(int16_t *)(void *)rows->data, rows->stride, rows->width / 2,
                         rows->height};
    if (c->row->variant == FORWARD)
        return on ? motus_cuda_dct8_forward(&levels, &p, d->table, d->kind, c->stream, &c->error)
                  : motus_dct8_forward(&levels, &p, d->table, d->kind, NULL);
    return on ? motus_cuda_dct8_inverse(&p, &levels, d->table, d->kind, c->stream, &c->error)
              : motus_dct8_inverse(&p, &levels, d->table, d->kind, NULL);
}

static const GpuKernel dct = {sizeof(Dct), open_dct, NULL, run_dct, NULL, NULL};

// ---- Equalization -------------------------------------------------------------------------------

typedef struct Equalize {
    GpuPlane src, dst;
    MotusEqualizer *cpu;
    MotusCudaEqualizer *cuda;
} Equalize;

static MotusEqualizeConfig equalize_config(GpuCase *c) {
    MotusEqualizeConfig config = MOTUS_EQUALIZE_PLANE;
    const int n = c->number;
    if (n % 3 == 2)
        config.tiles_x = motus_test_range(1, 12), config.tiles_y = motus_test_range(1, 12),
        config.clip_q8 = motus_test_range(0, 2000);
    if (n % 12 == 5)
        config.tiles_x = MOTUS_EQUALIZE_MAX_TILES,
        config.tiles_y = MOTUS_EQUALIZE_MAX_TILES - n % 9;
    if (n % 12 == 11) config.tiles_x = 1, config.clip_q8 = 512;
    if (n % 2) config.smooth_q8 = motus_test_range(1, 255), c->rounds = 5;
    snprintf(c->what, sizeof c->what, "tiles %dx%d, clip %d, smooth %d", config.tiles_x,
             config.tiles_y, config.clip_q8, config.smooth_q8);
    return config;
}

static void open_equalize(GpuCase *c) {
    Equalize *e = c->state;
    const MotusEqualizeConfig config = equalize_config(c);
    if (c->number % 12 == 11) // a row of a tile has more chunks than a block has threads
        c->width = motus_test_range(8200, 9900), c->height = motus_test_range(1, 300);
    const int stride = gpu_round16(c->width);
    if (c->number % 4 == 0) c->width = stride;
    CU_ASSERT_EQUAL_FATAL(motus_cuda_equalizer_open(&e->cuda, &config, c->width, c->height, NULL),
                          MOTUS_OK);
    CU_ASSERT_EQUAL_FATAL(motus_equalizer_open(&e->cpu, &config, c->width, c->height), MOTUS_OK);
    e->src = gpu_plane(c, "src", GPU_INPUT, c->width, c->height, stride, ALIGN);
    e->dst = gpu_plane(c, "dst", GPU_OUTPUT, c->width, c->height, stride, ALIGN);
}

// A scene that changes at the fourth picture.
static void fill_equalize(GpuCase *c) {
    const MotusPlane *src = &((Equalize *)c->state)->src.at[ON_CPU];
    const GpuContent content = (GpuContent)((c->number + c->round / 3) % GPU_CONTENTS);
    gpu_fill(src->data, (size_t)(src->stride * c->height), c->round == 3 ? GPU_EXTREMES : content);
}

static MotusStatus run_equalize(GpuCase *c, int on) {
    const Equalize *e = c->state;
    MotusPlane dst = e->dst.at[on];
    return on ? motus_cuda_equalizer_run(e->cuda, &dst, &e->src.at[on], c->stream, &c->error)
              : motus_equalizer_run(e->cpu, &dst, &e->src.at[on], NULL);
}

static void check_curves(GpuCase *c) {
    static uint8_t curves[64 * 64][256];
    Equalize *e = c->state;
    int tiles;
    const uint8_t(*want)[256] = motus_equalizer_curves(e->cpu, &tiles);
    CU_ASSERT_EQUAL(motus_cuda_equalizer_curves(e->cuda, curves, tiles, NULL, NULL), MOTUS_OK);
    gpu_expect(c, !memcmp(curves, want, (size_t)tiles * 256), "curves");
}

static void close_equalize(GpuCase *c) {
    Equalize *e = c->state;
    motus_cuda_equalizer_close(&e->cuda);
    motus_equalizer_close(&e->cpu);
}

static const GpuKernel equalize = {sizeof(Equalize), open_equalize, fill_equalize,
                                   run_equalize,     check_curves,  close_equalize};

// ---- Wavelet ------------------------------------------------------------------------------------

typedef struct Wavelet {
    MotusWaveletShape shape;
    GpuPlane src, dst;
    GpuBuffer *coefs, *levels;
    float step, threshold[MOTUS_WAVELET_MAX_LEVELS];
} Wavelet;

static void open_wavelet(GpuCase *c) {
    Wavelet *w = c->state;
    const MotusWaveletEdge edge = (MotusWaveletEdge)(c->number & 1);
    int levels = 0;
    while (c->width < 2 || c->height < 2)
        gpu_random_size(&c->width, &c->height, c->row->most.width, c->row->most.height);
    while (levels < 6 && !motus_wavelet_shape(&w->shape, c->width, c->height, levels + 1, edge))
        levels++;
    levels = motus_test_range(1, levels);
    motus_wavelet_shape(&w->shape, c->width, c->height, levels, edge);
    w->step = (float)motus_test_range(1, 64) / 8;
    for (int l = 0; l < levels; l++) w->threshold[l] = (float)motus_test_range(0, 40) / 4;
    w->src = gpu_plane(c, "src", GPU_INPUT, c->width, c->height, gpu_round16(c->width), ALIGN);
    w->dst = gpu_plane(c, "dst", GPU_OUTPUT, c->width, c->height, gpu_round16(c->width), ALIGN);
    w->coefs = gpu_buffer(c, "coefficients", GPU_RESULT, w->shape.size * sizeof(float));
    w->levels = gpu_buffer(c, "levels", GPU_OUTPUT, w->shape.size * sizeof(int16_t));
    snprintf(c->what, sizeof c->what, "%d levels, edge %d", levels, (int)edge);
}

// Forward, shrunk, quantized and back. The inverse overwrites the coefficients.
static void wavelet_on_cpu(const Wavelet *w, MotusPlane *dst, float *coefs, int16_t *levels) {
    motus_wavelet_forward(coefs, &w->src.at[ON_CPU], &w->shape, NULL);
    motus_wavelet_shrink(coefs, &w->shape, w->threshold, NULL);
    motus_wavelet_quantize(levels, coefs, &w->shape, w->step, NULL);
    motus_wavelet_dequantize(coefs, levels, &w->shape, w->step, NULL);
    motus_wavelet_inverse_plane(dst, coefs, &w->shape, NULL);
}

static MotusStatus run_wavelet(GpuCase *c, int on) {
    const Wavelet *w = c->state;
    const MotusWaveletShape *shape = &w->shape;
    float *coefs = w->coefs->at[on];
    int16_t *levels = w->levels->at[on];
    MotusPlane dst = w->dst.at[on];
    MotusError *error = &c->error;
    if (!on) return wavelet_on_cpu(w, &dst, coefs, levels), MOTUS_OK;
    MotusStatus s = motus_cuda_wavelet_forward(coefs, &w->src.at[on], shape, c->stream, error);
    if (!s) s = motus_cuda_wavelet_shrink(coefs, shape, w->threshold, c->stream, error);
    if (!s) s = motus_cuda_wavelet_quantize(levels, coefs, shape, w->step, c->stream, error);
    if (!s) s = motus_cuda_wavelet_dequantize(coefs, levels, shape, w->step, c->stream, error);
    return s ? s : motus_cuda_wavelet_inverse_plane(&dst, coefs, shape, c->stream, error);
}

static const GpuKernel wavelet = {sizeof(Wavelet), open_wavelet, NULL, run_wavelet, NULL, NULL};

// ---- The ring -----------------------------------------------------------------------------------

static MotusStatus ring_job(void *opaque, const void *d_in, void *d_out, void *stream,
                            MotusError *error) {
    const MotusPlane plane = {(uint8_t *)(uintptr_t)d_in, 64, 64, 8};
    const MotusCoefs coefs = {d_out, 128, 64, 8};
    return motus_cuda_dct8_forward(&coefs, &plane, opaque, MOTUS_DCT8_INTEGER, stream, error);
}

// Order of results, full and empty rings, and pictures that follow each other through the same
// buffers.
static void ring_order(void) {
    MotusCudaRing *ring = NULL;
    MotusError error;
    const void *output;
    void *input;
    uint16_t table[64];
    for (int i = 0; i < 64; i++) table[i] = 1;
    MOTUS_CHECK(motus_cuda_ring_open(&ring, 2, 3 << 20, 12 << 20, 0, &error) == MOTUS_OK, "%s",
                error.text);
    CU_ASSERT_EQUAL(motus_cuda_ring_take(ring, &output, NULL, NULL), MOTUS_END);
    for (int n = 0; n < 22; n++) {
        if (n >= 2) {
            CU_ASSERT_EQUAL(motus_cuda_ring_input(ring, &input, NULL), MOTUS_ERR_STATE);
            CU_ASSERT_EQUAL(motus_cuda_ring_take(ring, &output, NULL, NULL), MOTUS_OK);
            MOTUS_CHECK(*(const int16_t *)output == 8 * (n - 2 + 100 - 128), "picture %d: %d",
                        n - 2, *(const int16_t *)output);
        }
        CU_ASSERT_EQUAL(motus_cuda_ring_input(ring, &input, NULL), MOTUS_OK);
        memset(input, 100 + n, 64 * 8);
        CU_ASSERT_EQUAL(motus_cuda_ring_submit(ring, ring_job, table, NULL), MOTUS_OK);
    }
    motus_cuda_ring_close(&ring);
}

// ---- Rows ---------------------------------------------------------------------------------------

#define ROW(label, k, w, h, n)                                                                     \
    .name = label, .kernel = &k, .most = {w, h, 0}, .cases = n, .bench = {1920, 1080, 0}
static const GpuRow rows[] = {{ROW("dct_forward", dct, 1200, 900, 120), .variant = FORWARD},
                              {ROW("dct_inverse", dct, 1200, 900, 120), .variant = INVERSE},
                              {ROW("equalize", equalize, 1700, 1500, 60)},
                              {ROW("wavelet", wavelet, 1100, 1000, 100)},
                              GPU_TEST(ring_order),
                              {0}};
const GpuSuite gpu_filters = {"filters", rows};

// ---- Refusals -----------------------------------------------------------------------------------

enum { WIDTH = 64, HEIGHT = 48 };

// An equalizer whose run failed returns that error from then on.
static int attempt_equalizer(void *opaque, long n) {
    const MotusEqualizeConfig config = *(const MotusEqualizeConfig *)opaque;
    MotusCudaEqualizer *equalizer = NULL;
    MotusError error = {0}, again = {0};
    void *memory = NULL;
    CU_ASSERT_FATAL(!motus_cuda_alloc(&memory, WIDTH * HEIGHT, NULL));
    const MotusPlane plane = {memory, WIDTH, WIDTH, HEIGHT};
    CU_ASSERT_FATAL(!motus_cuda_equalizer_open(&equalizer, &config, WIDTH, HEIGHT, NULL));
    motus_device_fail_after(n);
    const MotusStatus status = motus_cuda_equalizer_run(equalizer, &plane, &plane, NULL, &error);
    motus_device_fail_after(-1);
    MOTUS_CHECK(!status || (status == MOTUS_ERR_CUDA && strstr(error.text, "unknown error")),
                "n=%ld: %d %s", n, status, error.text);
    const MotusStatus later = motus_cuda_equalizer_run(equalizer, &plane, &plane, NULL, &again);
    MOTUS_CHECK(later == error.status && !strcmp(error.text, again.text), "n=%ld: %d %s", n, later,
                again.text);
    motus_cuda_equalizer_close(&equalizer);
    motus_cuda_free(memory);
    return status != MOTUS_OK;
}

static void failed_equalizers_stay_so(void) {
    MotusEqualizeConfig config[] = {MOTUS_EQUALIZE_PLANE, MOTUS_EQUALIZE_CLAHE};
    for (int tiles = 0; tiles < 2; tiles++) {
        attempt_equalizer(&config[tiles], -1);                                  // loads kernels
        CU_ASSERT(gpu_fail_everywhere(attempt_equalizer, &config[tiles]) >= 2); // launches
    }
}

static void rings_too_large(void) {
    MotusError error = {0};
    MotusCudaRing *none = NULL;
    CU_ASSERT_EQUAL(motus_cuda_ring_open(&none, 2, (size_t)1 << 50, 1, 0, &error),
                    MOTUS_ERR_MEMORY);
    MOTUS_CHECK(!none && strstr(error.text, "memory"), "%s", error.text);
}

static const GpuRow refusals[] = {
    GPU_TEST(rings_too_large), GPU_TEST(failed_equalizers_stay_so), {0}};
const GpuSuite gpu_refusals = {"refusals", refusals};
