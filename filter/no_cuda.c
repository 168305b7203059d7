// SPDX-License-Identifier: BSD-2-Clause
#include "common/no_cuda.h"

#include "motus/filter_cuda.h"

typedef const MotusPlane *Plane; // parameters of the same types
typedef const MotusFrame *Frame;
typedef const MotusWaveletShape *Shape;

MotusStatus motus_cuda_filters_usable(MotusError *error) { return motus_device_check(error); }
void motus_cuda_equalizer_close(MotusCudaEqualizer **equalizer) {}

MOTUS_NO_CUDA_OPEN(motus_cuda_equalizer_open, MotusCudaEqualizer, const MotusEqualizeConfig *config,
                   int width, int height)
MOTUS_NO_CUDA(motus_cuda_equalizer_run, MotusCudaEqualizer *e, Plane dst, Plane src, void *stream)
MOTUS_NO_CUDA(motus_cuda_equalizer_curves, MotusCudaEqualizer *e, uint8_t (*curves)[256], int tiles,
              void *stream)
MOTUS_NO_CUDA(motus_cuda_key_rgb24, Plane dst, Plane fg, Plane bg, const MotusKeyConfig *config,
              void *stream)
MOTUS_NO_CUDA(motus_cuda_key_frame, Frame dst, Frame fg, Frame bg, const MotusKeyConfig *config,
              void *stream)
MOTUS_NO_CUDA(motus_cuda_frame_to_rgb24, Plane dst, Frame src, int m709, int full, void *stream)
MOTUS_NO_CUDA(motus_cuda_rgb24_split, const MotusPlane planes[3], Plane rgb, void *stream)
MOTUS_NO_CUDA(motus_cuda_rgb24_join, Plane rgb, const MotusPlane planes[3], void *stream)
MOTUS_NO_CUDA(motus_cuda_wavelet_forward, float *coefs, Plane src, Shape shape, void *stream)
MOTUS_NO_CUDA(motus_cuda_wavelet_inverse_plane, Plane dst, float *coefs, Shape shape, void *stream)
MOTUS_NO_CUDA(motus_cuda_wavelet_quantize, int16_t *levels, const float *coefs, Shape shape,
              float step, void *stream)
MOTUS_NO_CUDA(motus_cuda_wavelet_dequantize, float *coefs, const int16_t *levels, Shape shape,
              float step, void *stream)
MOTUS_NO_CUDA(motus_cuda_wavelet_shrink, float *coefs, Shape shape, const float *threshold,
              void *stream)
