// Operations on the bands of a wavelet transform (quantization, thresholds), and the denoiser.
// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/alloc.h"
#include "common/threads.h"
#include "filter/wavelet/wavelet.h"
#include "yuv/usable.h"

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
