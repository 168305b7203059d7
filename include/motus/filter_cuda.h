// The filters and the 8x8 DCT on pictures in the memory of a CUDA device: same results as
// motus/filter.h and motus/dct8x8.h, bit for bit.
//
// Planes, coefficients and frames have the same types as on the host; their data are device
// pointers. Data (levels too) and strides are multiples of 16 bytes (MOTUS_ERR_ARGUMENT otherwise),
// and the bytes between a row's end and the next multiple of 16 may be overwritten. Calls return at
// once; the work is done in the order of `stream` (a cudaStream_t, NULL: the default stream) on the
// current device. `error` (may be NULL) gets CUDA's own words. motus/upload.h brings pictures up
// and down. A build without CUDA has these functions too; they return MOTUS_ERR_UNSUPPORTED.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_FILTER_CUDA_H
#define MOTUS_FILTER_CUDA_H

#include "motus/dct8x8.h"
#include "motus/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

// MOTUS_OK where a device can run these functions, else MOTUS_ERR_NO_DEVICE or
// MOTUS_ERR_UNSUPPORTED.
MOTUS_API MotusStatus motus_cuda_filters_usable(MotusError *error);

MOTUS_API MotusStatus motus_cuda_dct8_forward(const MotusCoefs *dst, const MotusPlane *src,
                                              const uint16_t table[64], MotusDct8Kind kind,
                                              void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_dct8_inverse(const MotusPlane *dst, const MotusCoefs *src,
                                              const uint16_t table[64], MotusDct8Kind kind,
                                              void *stream, MotusError *error);

// Equalizer with its curves in device memory. Runs of one equalizer must follow each other in
// stream order. One whose run met MOTUS_ERR_CUDA gives that error from then on: close it.
typedef struct MotusCudaEqualizer MotusCudaEqualizer;
MOTUS_API MotusStatus motus_cuda_equalizer_open(MotusCudaEqualizer **equalizer,
                                                const MotusEqualizeConfig *config, int width,
                                                int height, MotusError *error);
MOTUS_API MotusStatus motus_cuda_equalizer_run(MotusCudaEqualizer *equalizer, const MotusPlane *dst,
                                               const MotusPlane *src, void *stream,
                                               MotusError *error);
// Waits for `stream` and copies the curves in use to curves[tiles][256].
MOTUS_API MotusStatus motus_cuda_equalizer_curves(MotusCudaEqualizer *equalizer,
                                                  uint8_t (*curves)[256], int tiles, void *stream,
                                                  MotusError *error);
MOTUS_API void motus_cuda_equalizer_close(MotusCudaEqualizer **equalizer);

// R, G and B by themselves; as motus_rgb_equalizer_*. Runs of one must follow each other in stream
// order.
typedef struct MotusCudaRgbEqualizer MotusCudaRgbEqualizer;
MOTUS_API MotusStatus motus_cuda_rgb_equalizer_open(MotusCudaRgbEqualizer **equalizer,
                                                    const MotusEqualizeConfig *config, int width,
                                                    int height, int matrix_709, int full_range,
                                                    MotusError *error);
MOTUS_API MotusStatus motus_cuda_rgb_equalizer_run(MotusCudaRgbEqualizer *equalizer,
                                                   const MotusFrame *dst, const MotusFrame *src,
                                                   void *stream, MotusError *error);
MOTUS_API void motus_cuda_rgb_equalizer_close(MotusCudaRgbEqualizer **equalizer);

MOTUS_API MotusStatus motus_cuda_key_rgb24(const MotusPlane *dst, const MotusPlane *fg,
                                           const MotusPlane *bg, const MotusKeyConfig *config,
                                           void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_key_frame(const MotusFrame *dst, const MotusFrame *fg,
                                           const MotusFrame *bg, const MotusKeyConfig *config,
                                           void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_rgb24_to_frame(const MotusFrame *dst, const MotusPlane *src,
                                                int matrix_709, int full_range, void *stream,
                                                MotusError *error);
MOTUS_API MotusStatus motus_cuda_frame_to_rgb24(const MotusPlane *dst, const MotusFrame *src,
                                                int matrix_709, int full_range, void *stream,
                                                MotusError *error);

MOTUS_API MotusStatus motus_cuda_rgb24_split(const MotusPlane planes[3], const MotusPlane *rgb,
                                             void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_rgb24_join(const MotusPlane *rgb, const MotusPlane planes[3],
                                            void *stream, MotusError *error);

MOTUS_API MotusStatus motus_cuda_wavelet_forward(float *coefs, const MotusPlane *src,
                                                 const MotusWaveletShape *shape, void *stream,
                                                 MotusError *error);
MOTUS_API MotusStatus motus_cuda_wavelet_inverse_plane(const MotusPlane *dst, float *coefs,
                                                       const MotusWaveletShape *shape, void *stream,
                                                       MotusError *error);
MOTUS_API MotusStatus motus_cuda_wavelet_quantize(int16_t *levels, const float *coefs,
                                                  const MotusWaveletShape *shape, float step,
                                                  void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_wavelet_dequantize(float *coefs, const int16_t *levels,
                                                    const MotusWaveletShape *shape, float step,
                                                    void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_wavelet_shrink(float *coefs, const MotusWaveletShape *shape,
                                                const float *threshold, void *stream,
                                                MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
