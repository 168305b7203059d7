// Daubechies D4 wavelet transform of planes on the CPU (Mallat): its shape in memory, the
// transform, whose levels take rows and columns in one pass over their input, operations on the
// bands (quantization, thresholds), and the denoiser.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/alloc.h"
#include "filter/wavelet/wavelet_tmpl.h"
#include "yuv/exec.h"
#include "yuv/usable.h"

const MotusWaveletOps motus_wavelet_ops_c = {split,     split_rows, merge,    merge_rows, to_float,
                                             to_sample, shrink,     quantize, dequantize};

// ---- The shape ----------------------------------------------------------------------------------

enum { ROW_UNIT = 16 }; // floats; rows begin at multiples of 64 bytes

// Appends a band to the array.
static MotusBand place_band(MotusWaveletShape *shape, int width, int height) {
    MotusBand band = {shape->size, width, height, (width + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT};
    shape->size += (size_t)band.stride * (size_t)height;
    return band;
}

MotusStatus motus_wavelet_shape(MotusWaveletShape *shape, int width, int height, int levels,
                                MotusWaveletEdge edge) {
    if (!shape || (unsigned)edge > MOTUS_WAVELET_SYMMETRIC || levels < 0 ||
        levels > MOTUS_WAVELET_MAX_LEVELS)
        return MOTUS_ERR_ARGUMENT;
    if (!motus_size_usable(width, height)) return MOTUS_ERR_ARGUMENT;
    if (!levels) levels = width > 4 && height > 4 ? 3 : width > 2 && height > 2 ? 2 : 1;
    // The last level's input has ceil(n / before_last) samples or a few more: at least two.
    const int before_last = 1 << (levels - 1);
    if (width <= before_last || height <= before_last) return MOTUS_ERR_ARGUMENT;
    *shape = (MotusWaveletShape){.width = width, .height = height, .levels = levels, .edge = edge};
    int unit = edge == MOTUS_WAVELET_PERIODIC ? 1 << levels : 1;
    int w = (width + unit - 1) / unit * unit, h = (height + unit - 1) / unit * unit;
    for (int l = 0; l < levels; l++) {
        shape->in_width[l] = w, shape->in_height[l] = h;
        w = edge == MOTUS_WAVELET_SYMMETRIC ? (w + 3) / 2 : w / 2;
        h = edge == MOTUS_WAVELET_SYMMETRIC ? (h + 3) / 2 : h / 2;
        for (int k = 0; k < 3; k++) shape->band[l][k] = place_band(shape, w, h);
        shape->low = place_band(shape, w, h);
        shape->low_offset[l] = shape->low.offset;
    }
    return MOTUS_OK;
}

static int same_band(const MotusBand *a, const MotusBand *b) {
    return a->offset == b->offset && a->width == b->width && a->height == b->height &&
           a->stride == b->stride;
}

int motus_wavelet_shape_ok(const MotusWaveletShape *s) {
    MotusWaveletShape own;
    if (!s || s->levels < 1 || motus_wavelet_shape(&own, s->width, s->height, s->levels, s->edge) ||
        own.size != s->size)
        return 0;
    int ok = same_band(&own.low, &s->low);
    for (int l = 0; l < own.levels; l++) {
        ok &= own.in_width[l] == s->in_width[l] && own.in_height[l] == s->in_height[l] &&
              own.low_offset[l] == s->low_offset[l];
        for (int k = 0; k < 3; k++) ok &= same_band(&own.band[l][k], &s->band[l][k]);
    }
    return ok;
}

// ---- The transform ------------------------------------------------------------------------------

// A level's input (forward) or output (inverse): a plane of samples, or floats.
typedef struct Side {
    const MotusPlane *plane;
    float *data;
    int stride; // floats
} Side;

enum { ROWS_PER_THREAD = 5 };

// A transform, and its level under way.
typedef struct Transform {
    const MotusWaveletShape *shape;
    const MotusWaveletOps *ops;
    float *coefs;
    float *memory; // ROWS_PER_THREAD row buffers for each thread
    int threads;
    int pitch;                  // floats of a row buffer: any level's input and a few more
    int l;                      // number of the level
    int existing_w, existing_h; // samples of its input; less than in_width if level 0 is rounded up
} Transform;

static MotusStatus transform_open(Transform *t, const MotusWaveletShape *shape, float *coefs,
                                  const MotusExec *exec) {
    *t = (Transform){.shape = shape,
                     .ops = MOTUS_VERSION(motus_wavelet_ops, exec),
                     .coefs = coefs,
                     .threads = motus_exec_threads(exec),
                     .pitch = (shape->in_width[0] + 64 + 15) / 16 * 16};
    t->memory = motus_alloc((size_t)t->pitch * ROWS_PER_THREAD, (size_t)t->threads * sizeof(float));
    return t->memory ? MOTUS_OK : MOTUS_ERR_MEMORY;
}

static void begin_level(Transform *t, int l) {
    t->l = l;
    t->existing_w = l ? t->shape->in_width[l] : t->shape->width;
    t->existing_h = l ? t->shape->in_height[l] : t->shape->height;
}

// Returns row buffer k of a thread.
static float *row_buffer(const Transform *t, int thread, int k) {
    return t->memory + (size_t)(thread * ROWS_PER_THREAD + k) * (size_t)t->pitch;
}

// Splits extended row y of the level's input: low-pass to out[0..w), high-pass to out[w..2w).
static void split_input_row(float *out, float *row, const Transform *t, const Side *in, int y) {
    const MotusWaveletShape *s = t->shape;
    int n = s->in_width[t->l], w = s->band[t->l][0].width,
        before = s->edge == MOTUS_WAVELET_SYMMETRIC ? 2 : 0;
    int from = d4_index(y - before, s->in_height[t->l], t->existing_h, s->edge);
    if (in->plane)
        t->ops->to_float(row + before, in->plane->data + from * in->plane->stride, t->existing_w);
    else
        memcpy(row + before, in->data + (size_t)from * (size_t)in->stride,
               (size_t)t->existing_w * sizeof *row);
    for (int x = 0; x < before; x++)
        row[x] = row[before + d4_index(x - before, n, t->existing_w, s->edge)];
    for (int x = before + t->existing_w; x < 2 * w + 2; x++)
        row[x] = row[before + d4_index(x - before, n, t->existing_w, s->edge)];
    t->ops->split(out, out + w, row, w);
}

// Computes output rows [from, to) of a level. The thread's buffers: four split rows and an extended
// row.
static void forward_rows(const Transform *t, const Side *in, int from, int to, int thread) {
    const MotusBand *band = t->shape->band[t->l];
    int w = band[0].width;
    float *row = row_buffer(t, thread, 4), *low = t->coefs + t->shape->low_offset[t->l];
    for (int y = 2 * from; y < 2 * from + 2; y++)
        split_input_row(row_buffer(t, thread, y & 3), row, t, in, y);
    for (int i = from; i < to; i++) {
        const float *left[4], *right[4];
        for (int y = 2 * i + 2; y < 2 * i + 4; y++)
            split_input_row(row_buffer(t, thread, y & 3), row, t, in, y);
        for (int k = 0; k < 4; k++)
            left[k] = row_buffer(t, thread, (2 * i + k) & 3), right[k] = left[k] + w;
        size_t at = (size_t)i * (size_t)band[0].stride;
        t->ops->split_rows(low + at, t->coefs + band[1].offset + at, left, w);
        t->ops->split_rows(t->coefs + band[0].offset + at, t->coefs + band[2].offset + at, right,
                           w);
    }
}

MotusStatus motus_wavelet_forward(float *coefs, const MotusPlane *src,
                                  const MotusWaveletShape *shape, const MotusExec *exec) {
    Transform t;
    if (!coefs || !motus_plane_usable(src) || !motus_wavelet_shape_ok(shape))
        return MOTUS_ERR_ARGUMENT;
    if (src->width != shape->width || src->height != shape->height) return MOTUS_ERR_ARGUMENT;
    if (transform_open(&t, shape, coefs, exec)) return MOTUS_ERR_MEMORY;
    for (int l = 0; l < shape->levels; l++) {
        begin_level(&t, l);
        Side in = {l ? NULL : src, l ? coefs + shape->low_offset[l - 1] : NULL,
                   l ? shape->band[l - 1][0].stride : 0};
        int h = shape->band[l][0].height;
#pragma omp parallel for num_threads(t.threads) schedule(static, 1)
        for (int k = 0; k < t.threads; k++)
            forward_rows(&t, &in, (int)((int64_t)h * k / t.threads),
                         (int)((int64_t)h * (k + 1) / t.threads), k);
    }
    motus_free(t.memory);
    return MOTUS_OK;
}

// Computes rows 2m and 2m + 1 of a level's input from its bands. The thread's buffers: even and odd
// rows of both halves, and a merged row.
static void inverse_rows(const Transform *t, const Side *out, int m, int thread) {
    const MotusWaveletShape *s = t->shape;
    const MotusBand *band = s->band[t->l];
    int w = band[0].width, periodic = s->edge == MOTUS_WAVELET_PERIODIC;
    size_t at = (size_t)(periodic ? m : m + 1),
           before = (size_t)(periodic ? (m ? m - 1 : band[0].height - 1) : m),
           pitch_in = (size_t)band[0].stride;
    const float *base[4] = {t->coefs + s->low_offset[t->l], t->coefs + band[1].offset,
                            t->coefs + band[0].offset, t->coefs + band[2].offset};
    float *half_row[2][2]; // [low, high along x][even, odd], after one more coefficient
    for (int k = 0; k < 2; k++) {
        const float *low[2] = {base[2 * k] + before * pitch_in, base[2 * k] + at * pitch_in};
        const float *high[2] = {base[2 * k + 1] + before * pitch_in,
                                base[2 * k + 1] + at * pitch_in};
        for (int r = 0; r < 2; r++) half_row[k][r] = row_buffer(t, thread, 2 * k + r);
        t->ops->merge_rows(half_row[k][0] + 1, half_row[k][1] + 1, low, high, w);
    }
    int n = (s->in_width[t->l] + 1) / 2;
    for (int r = 0; r < 2 && 2 * m + r < t->existing_h; r++) {
        float *merged = row_buffer(t, thread, 4);
        // From the coefficient before the first on: with periodic edges a copy of the last.
        for (int k = 0; k < 2 && periodic; k++) half_row[k][r][0] = half_row[k][r][w];
        t->ops->merge(merged, half_row[0][r] + !periodic, half_row[1][r] + !periodic, n);
        if (out->plane)
            t->ops->to_sample(out->plane->data + (2 * m + r) * out->plane->stride, merged,
                              t->existing_w);
        else
            memcpy(out->data + (size_t)(2 * m + r) * (size_t)out->stride, merged,
                   (size_t)t->existing_w * sizeof *merged);
    }
}

static MotusStatus inverse(const Side *last, float *coefs, const MotusWaveletShape *shape,
                           const MotusExec *exec) {
    Transform t;
    if (transform_open(&t, shape, coefs, exec)) return MOTUS_ERR_MEMORY;
    for (int l = shape->levels - 1; l >= 0; l--) {
        begin_level(&t, l);
        Side lower = {NULL, l ? coefs + shape->low_offset[l - 1] : NULL,
                      l ? shape->band[l - 1][0].stride : 0};
        int pairs = (t.existing_h + 1) / 2;
#pragma omp parallel for num_threads(t.threads) schedule(static, 1)
        for (int k = 0; k < t.threads; k++)
            for (int m = (int)((int64_t)pairs * k / t.threads);
                 m < (int)((int64_t)pairs * (k + 1) / t.threads); m++)
                inverse_rows(&t, l ? &lower : last, m, k);
    }
    motus_free(t.memory);
    return MOTUS_OK;
}

MotusStatus motus_wavelet_inverse_plane(MotusPlane *dst, float *coefs,
                                        const MotusWaveletShape *shape, const MotusExec *exec) {
    if (!coefs || !motus_plane_usable(dst) || !motus_wavelet_shape_ok(shape))
        return MOTUS_ERR_ARGUMENT;
    if (dst->width != shape->width || dst->height != shape->height) return MOTUS_ERR_ARGUMENT;
    Side last = {dst, NULL, 0};
    return inverse(&last, coefs, shape, exec);
}

MotusStatus motus_wavelet_inverse_float(float *dst, float *coefs, const MotusWaveletShape *shape,
                                        const MotusExec *exec) {
    if (!dst || !coefs || !motus_wavelet_shape_ok(shape)) return MOTUS_ERR_ARGUMENT;
    Side last = {NULL, dst, shape->width};
    return inverse(&last, coefs, shape, exec);
}

// ---- Bands --------------------------------------------------------------------------------------

// Returns a band by its number: the details of each level, then the low band.
static MotusBand nth_band(const MotusWaveletShape *shape, int i) {
    return i < 3 * shape->levels ? shape->band[i / 3][i % 3] : shape->low;
}

void motus_wavelet_quantize(int16_t *levels, const float *coefs, const MotusWaveletShape *shape,
                            float step, const MotusExec *exec) {
    if (!levels || !coefs || !motus_wavelet_shape_ok(shape)) return;
    const MotusWaveletOps *ops = MOTUS_VERSION(motus_wavelet_ops, exec);
    int threads = motus_exec_threads(exec);
    memset(levels, 0, shape->size * sizeof *levels);
    for (int i = 0; i <= 3 * shape->levels; i++) {
        MotusBand band = nth_band(shape, i);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int y = 0; y < band.height; y++) {
            size_t at = band.offset + (size_t)y * (size_t)band.stride;
            ops->quantize(levels + at, coefs + at, band.width, 1.0f / step);
        }
    }
}

void motus_wavelet_dequantize(float *coefs, const int16_t *levels, const MotusWaveletShape *shape,
                              float step, const MotusExec *exec) {
    if (!levels || !coefs || !motus_wavelet_shape_ok(shape)) return;
    const MotusWaveletOps *ops = MOTUS_VERSION(motus_wavelet_ops, exec);
    int threads = motus_exec_threads(exec);
    const size_t rows = shape->size / ROW_UNIT; // of the array, whatever they hold
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++) {
        const size_t from = rows * (size_t)t / (size_t)threads * ROW_UNIT,
                     to = rows * ((size_t)t + 1) / (size_t)threads * ROW_UNIT;
        ops->dequantize(coefs + from, levels + from, (int)(to - from), step);
    }
}

void motus_wavelet_shrink(float *coefs, const MotusWaveletShape *shape, const float *threshold,
                          const MotusExec *exec) {
    if (!coefs || !threshold || !motus_wavelet_shape_ok(shape)) return;
    const MotusWaveletOps *ops = MOTUS_VERSION(motus_wavelet_ops, exec);
    int threads = motus_exec_threads(exec);
    for (int i = 0; i < 3 * shape->levels; i++) {
        MotusBand band = nth_band(shape, i);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int y = 0; y < band.height; y++)
            ops->shrink(coefs + band.offset + (size_t)y * (size_t)band.stride, band.width,
                        threshold[i / 3]);
    }
}

MotusStatus motus_wavelet_denoise(MotusPlane *dst, const MotusPlane *src, int levels,
                                  float strength, const MotusExec *exec) {
    if (!motus_planes_usable(dst, src) || !(strength >= 0.0f && strength <= 255.0f) || levels < 0)
        return MOTUS_ERR_ARGUMENT;
    MotusWaveletShape shape;
    if (motus_wavelet_shape(&shape, src->width, src->height, levels, MOTUS_WAVELET_SYMMETRIC))
        return MOTUS_ERR_ARGUMENT;
    float threshold[MOTUS_WAVELET_MAX_LEVELS], *coefs = motus_alloc(shape.size, sizeof *coefs);
    if (!coefs) return MOTUS_ERR_MEMORY;
    for (int l = 0; l < shape.levels; l++) threshold[l] = strength / (float)(1 << l);
    MotusStatus status = motus_wavelet_forward(coefs, src, &shape, exec);
    if (!status) {
        motus_wavelet_shrink(coefs, &shape, threshold, exec);
        status = motus_wavelet_inverse_plane(dst, coefs, &shape, exec);
    }
    motus_free(coefs);
    return status;
}
