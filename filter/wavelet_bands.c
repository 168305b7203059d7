// Where a wavelet transform's coefficients lie, and what is done to them between the transforms:
// quantization, thresholds; and the denoiser made of these parts.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/alloc.h"
#include "common/threads.h"
#include "filter/wavelet.h"
#include "yuv/usable.h"

enum { ROW_UNIT = 16 }; // floats; rows begin at multiples of 64 bytes

static MotusBand place_band(MotusWaveletShape *shape, int width, int height) {
    MotusBand band = {shape->size, width, height, (width + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT};
    shape->size += (size_t)band.stride * (size_t)height;
    return band;
}

static int half(int n, MotusWaveletEdge edge) {
    return edge == MOTUS_WAVELET_SYMMETRIC ? (n + 3) / 2 : n / 2;
}

MotusStatus motus_wavelet_shape(MotusWaveletShape *shape, int width, int height, int levels,
                                MotusWaveletEdge edge) {
    if (!shape || (unsigned)edge > MOTUS_WAVELET_SYMMETRIC || levels < 1 ||
        levels > MOTUS_WAVELET_MAX_LEVELS)
        return MOTUS_ERR_ARGUMENT;
    if (width < 1 || height < 1 || width > MOTUS_MAX_SIZE || height > MOTUS_MAX_SIZE)
        return MOTUS_ERR_ARGUMENT;
    int before_last =
        1 << (levels -
              1); // the last level's input has ceil(n / before_last) samples, or a few more
    if (width <= before_last || height <= before_last) return MOTUS_ERR_ARGUMENT;
    *shape = (MotusWaveletShape){.width = width, .height = height, .levels = levels, .edge = edge};
    int unit = edge == MOTUS_WAVELET_PERIODIC ? 1 << levels : 1;
    int w = (width + unit - 1) / unit * unit, h = (height + unit - 1) / unit * unit;
    for (int l = 0; l < levels; l++) {
        shape->in_width[l] = w, shape->in_height[l] = h;
        w = half(w, edge), h = half(h, edge);
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
    if (!s || motus_wavelet_shape(&own, s->width, s->height, s->levels, s->edge) ||
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

static MotusBand nth_band(const MotusWaveletShape *shape, int i) {
    return i < 3 * shape->levels ? shape->band[i / 3][i % 3] : shape->low;
}

void motus_wavelet_quantize(int16_t *levels, const float *coefs, const MotusWaveletShape *shape,
                            float step, const MotusExec *exec) {
    if (!levels || !coefs || !motus_wavelet_shape_ok(shape)) return;
    const MotusWaveletOps *ops = motus_wavelet_ops(exec);
    int threads = motus_threads_ready(exec ? exec->threads : 0);
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
    int threads = motus_threads_ready(exec ? exec->threads : 0);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t i = 0; i < shape->size; i++) coefs[i] = (float)levels[i] * step;
}

void motus_wavelet_shrink(float *coefs, const MotusWaveletShape *shape, const float *threshold,
                          const MotusExec *exec) {
    if (!coefs || !threshold || !motus_wavelet_shape_ok(shape)) return;
    const MotusWaveletOps *ops = motus_wavelet_ops(exec);
    int threads = motus_threads_ready(exec ? exec->threads : 0);
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
    MotusStatus status = motus_wavelet_shape(&shape, src->width, src->height, levels ? levels : 3,
                                             MOTUS_WAVELET_SYMMETRIC);
    for (int l = 2; status && !levels && l; l--)
        status = motus_wavelet_shape(&shape, src->width, src->height, l, MOTUS_WAVELET_SYMMETRIC);
    if (status) return MOTUS_ERR_ARGUMENT;
    float threshold[MOTUS_WAVELET_MAX_LEVELS], *coefs = motus_alloc(shape.size, sizeof *coefs);
    if (!coefs) return MOTUS_ERR_MEMORY;
    for (int l = 0; l < shape.levels; l++) threshold[l] = strength / (float)(1 << l);
    status = motus_wavelet_forward(coefs, src, &shape, exec);
    if (!status) {
        motus_wavelet_shrink(coefs, &shape, threshold, exec);
        status = motus_wavelet_inverse_plane(dst, coefs, &shape, exec);
    }
    motus_free(coefs);
    return status;
}
