// Filters and 8x8 DCT in CUDA device memory, bit for bit as motus/filter.h and motus/dct8x8.h.
// motus/upload.h moves pictures between host and device.
//
// Data pointers are device memory; they and strides are multiples of 16 bytes. Bytes between a
// row's end and the next multiple of 16 may be overwritten. Calls return immediately and run in the
// order of `stream` (a cudaStream_t, NULL = the default stream) on the current device. `error` may
// be NULL. Errors, unless a function says otherwise: MOTUS_ERR_ARGUMENT as on the CPU or for
// alignment, MOTUS_ERR_CUDA, MOTUS_ERR_UNSUPPORTED in a build without CUDA.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_FILTER_CUDA_H
#define MOTUS_FILTER_CUDA_H

#include "motus/dct8x8.h"
#include "motus/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returns MOTUS_OK if the current device can run these functions, else MOTUS_ERR_NO_DEVICE or
// MOTUS_ERR_UNSUPPORTED.
MOTUS_API MotusStatus motus_cuda_filters_usable(MotusError *error);

// ---- 8x8 DCT ------------------------------------------------------------------------------------

MOTUS_API MotusStatus motus_cuda_dct8_forward(const MotusCoefs *dst, const MotusPlane *src,
                                              const uint16_t table[64], MotusDct8Kind kind,
                                              void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_dct8_inverse(const MotusPlane *dst, const MotusCoefs *src,
                                              const uint16_t table[64], MotusDct8Kind kind,
                                              void *stream, MotusError *error);

// ---- Histogram equalization ---------------------------------------------------------------------

// Equalizer with its curves in device memory. Runs of one equalizer must follow each other in
// stream order. After MOTUS_ERR_CUDA every run fails with it: close the equalizer.
typedef struct MotusCudaEqualizer MotusCudaEqualizer;
MOTUS_API MotusStatus motus_cuda_equalizer_open(MotusCudaEqualizer **equalizer,
                                                const MotusEqualizeConfig *config, int width,
                                                int height, MotusError *error);
MOTUS_API MotusStatus motus_cuda_equalizer_run(MotusCudaEqualizer *equalizer, const MotusPlane *dst,
                                               const MotusPlane *src, void *stream,
                                               MotusError *error);

// Blocks until `stream` is done and copies the current curves to curves[tiles][256], host memory.
MOTUS_API MotusStatus motus_cuda_equalizer_curves(MotusCudaEqualizer *equalizer,
                                                  uint8_t (*curves)[256], int tiles, void *stream,
                                                  MotusError *error);

// Closes and sets *equalizer to NULL; accepts NULL and *equalizer == NULL.
MOTUS_API void motus_cuda_equalizer_close(MotusCudaEqualizer **equalizer);

// Equalizer of R, G and B, as MotusRgbEqualizer. Runs of one must follow each other in stream
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

// ---- Chroma key and RGB -------------------------------------------------------------------------

MOTUS_API MotusStatus motus_cuda_key_rgb24(const MotusPlane *dst, const MotusPlane *fg,
                                           const MotusPlane *bg, const MotusKeyConfig *config,
                                           void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_key_frame(const MotusFrame *dst, const MotusFrame *fg,
                                           const MotusFrame *bg, const MotusKeyConfig *config,
                                           void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_frame_to_rgb24(const MotusPlane *dst, const MotusFrame *src,
                                                int matrix_709, int full_range, void *stream,
                                                MotusError *error);

MOTUS_API MotusStatus motus_cuda_rgb24_split(const MotusPlane planes[3], const MotusPlane *rgb,
                                             void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_rgb24_join(const MotusPlane *rgb, const MotusPlane planes[3],
                                            void *stream, MotusError *error);

// ---- Daubechies D4 wavelet ----------------------------------------------------------------------

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
