// What motus/filter_cuda.h offers in a build without CUDA.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/error.h"
#include "motus/filter_cuda.h"

static MotusStatus refuse(MotusError *error) {
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

MotusStatus motus_cuda_dct8_forward(const MotusCoefs *dst, const MotusPlane *src, const uint16_t table[64], MotusDct8Kind kind,
                                    void *stream, MotusError *error) {
    (void)dst, (void)src, (void)table, (void)kind, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_dct8_inverse(const MotusPlane *dst, const MotusCoefs *src, const uint16_t table[64], MotusDct8Kind kind,
                                    void *stream, MotusError *error) {
    (void)dst, (void)src, (void)table, (void)kind, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_equalizer_open(MotusCudaEqualizer **equalizer, const MotusEqualizeConfig *config, int width, int height,
                                      MotusError *error) {
    (void)config, (void)width, (void)height;
    if (equalizer) *equalizer = NULL;
    return refuse(error);
}

MotusStatus motus_cuda_equalizer_run(MotusCudaEqualizer *equalizer, const MotusPlane *dst, const MotusPlane *src, void *stream,
                                     MotusError *error) {
    (void)equalizer, (void)dst, (void)src, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_equalizer_curves(MotusCudaEqualizer *equalizer, uint8_t (*curves)[256], int tiles, void *stream,
                                        MotusError *error) {
    (void)equalizer, (void)curves, (void)tiles, (void)stream;
    return refuse(error);
}

void motus_cuda_equalizer_close(MotusCudaEqualizer **equalizer) { (void)equalizer; }

MotusStatus motus_cuda_key_rgb24(const MotusPlane *dst, const MotusPlane *fg, const MotusPlane *bg, const MotusKeyConfig *config,
                                 void *stream, MotusError *error) {
    (void)dst, (void)fg, (void)bg, (void)config, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_key_frame(const MotusFrame *dst, const MotusFrame *fg, const MotusFrame *bg, const MotusKeyConfig *config,
                                 void *stream, MotusError *error) {
    (void)dst, (void)fg, (void)bg, (void)config, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_rgb24_to_frame(const MotusFrame *dst, const MotusPlane *src, int matrix_709, int full_range, void *stream,
                                      MotusError *error) {
    (void)dst, (void)src, (void)matrix_709, (void)full_range, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_frame_to_rgb24(const MotusPlane *dst, const MotusFrame *src, int matrix_709, int full_range, void *stream,
                                      MotusError *error) {
    (void)dst, (void)src, (void)matrix_709, (void)full_range, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_rgb24_split(const MotusPlane planes[3], const MotusPlane *rgb, void *stream, MotusError *error) {
    (void)planes, (void)rgb, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_rgb24_join(const MotusPlane *rgb, const MotusPlane planes[3], void *stream, MotusError *error) {
    (void)rgb, (void)planes, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_wavelet_forward(float *coefs, const MotusPlane *src, const MotusWaveletShape *shape, void *stream,
                                       MotusError *error) {
    (void)coefs, (void)src, (void)shape, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_wavelet_inverse_plane(const MotusPlane *dst, float *coefs, const MotusWaveletShape *shape, void *stream,
                                             MotusError *error) {
    (void)dst, (void)coefs, (void)shape, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_wavelet_quantize(int16_t *levels, const float *coefs, const MotusWaveletShape *shape, float step,
                                        void *stream, MotusError *error) {
    (void)levels, (void)coefs, (void)shape, (void)step, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_wavelet_dequantize(float *coefs, const int16_t *levels, const MotusWaveletShape *shape, float step,
                                          void *stream, MotusError *error) {
    (void)coefs, (void)levels, (void)shape, (void)step, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_wavelet_shrink(float *coefs, const MotusWaveletShape *shape, const float *threshold, void *stream,
                                      MotusError *error) {
    (void)coefs, (void)shape, (void)threshold, (void)stream;
    return refuse(error);
}
