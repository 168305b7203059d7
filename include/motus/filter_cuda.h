// The filters and the 8x8 DCT on pictures in the memory of a CUDA device: same results as motus/filter.h and motus/dct8x8.h, bit for bit.
//
// Planes, coefficients and frames have the same types as on the host; their data are device pointers. Data (levels too) and strides are multiples
// of 16 bytes (MOTUS_ERR_ARGUMENT otherwise), and the bytes between a row's end and the next multiple of 16 may be overwritten.
// Calls return at once; the work is done in the order of `stream` (a cudaStream_t, NULL: the default stream) on the current device.
// `error` (may be NULL) gets CUDA's own words. A build without CUDA has these functions too; they return MOTUS_ERR_UNSUPPORTED.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_FILTER_CUDA_H
#define MOTUS_FILTER_CUDA_H

#include "motus/dct8x8.h"
#include "motus/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

// MOTUS_OK where a device can run these functions, else MOTUS_ERR_NO_DEVICE or MOTUS_ERR_UNSUPPORTED.
MOTUS_API MotusStatus motus_cuda_filters_usable(MotusError *error);

// Device memory for callers who use no CUDA themselves, and a copy inside it.
MOTUS_API MotusStatus motus_cuda_alloc(void **memory, size_t bytes, MotusError *error);
MOTUS_API void motus_cuda_free(void *memory); // accepts NULL
MOTUS_API MotusStatus motus_cuda_copy(void *dst, const void *src, size_t bytes, void *stream, MotusError *error);

MOTUS_API MotusStatus motus_cuda_dct8_forward(const MotusCoefs *dst, const MotusPlane *src, const uint16_t table[64],
                                              MotusDct8Kind kind, void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_dct8_inverse(const MotusPlane *dst, const MotusCoefs *src, const uint16_t table[64],
                                              MotusDct8Kind kind, void *stream, MotusError *error);

// Equalizer with its curves in device memory. Runs of one equalizer must follow each other in stream order.
typedef struct MotusCudaEqualizer MotusCudaEqualizer;
MOTUS_API MotusStatus motus_cuda_equalizer_open(MotusCudaEqualizer **equalizer, const MotusEqualizeConfig *config, int width,
                                                int height, MotusError *error);
MOTUS_API MotusStatus motus_cuda_equalizer_run(MotusCudaEqualizer *equalizer, const MotusPlane *dst, const MotusPlane *src,
                                               void *stream, MotusError *error);
// Waits for `stream` and copies the curves in use to curves[tiles][256].
MOTUS_API MotusStatus motus_cuda_equalizer_curves(MotusCudaEqualizer *equalizer, uint8_t (*curves)[256], int tiles, void *stream,
                                                  MotusError *error);
MOTUS_API void motus_cuda_equalizer_close(MotusCudaEqualizer **equalizer);

MOTUS_API MotusStatus motus_cuda_key_rgb24(const MotusPlane *dst, const MotusPlane *fg, const MotusPlane *bg,
                                           const MotusKeyConfig *config, void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_key_frame(const MotusFrame *dst, const MotusFrame *fg, const MotusFrame *bg,
                                           const MotusKeyConfig *config, void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_rgb24_to_frame(const MotusFrame *dst, const MotusPlane *src, int matrix_709, int full_range,
                                                void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_frame_to_rgb24(const MotusPlane *dst, const MotusFrame *src, int matrix_709, int full_range,
                                                void *stream, MotusError *error);

MOTUS_API MotusStatus motus_cuda_rgb24_split(const MotusPlane planes[3], const MotusPlane *rgb, void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_rgb24_join(const MotusPlane *rgb, const MotusPlane planes[3], void *stream, MotusError *error);

MOTUS_API MotusStatus motus_cuda_wavelet_forward(float *coefs, const MotusPlane *src, const MotusWaveletShape *shape,
                                                 void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_wavelet_inverse_plane(const MotusPlane *dst, float *coefs, const MotusWaveletShape *shape,
                                                       void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_wavelet_quantize(int16_t *levels, const float *coefs, const MotusWaveletShape *shape, float step,
                                                  void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_wavelet_dequantize(float *coefs, const int16_t *levels, const MotusWaveletShape *shape,
                                                    float step, void *stream, MotusError *error);
MOTUS_API MotusStatus motus_cuda_wavelet_shrink(float *coefs, const MotusWaveletShape *shape, const float *threshold,
                                                void *stream, MotusError *error);

// ---- From host memory and back ------------------------------------------------------------------------------------------------------------

// A ring of slots, each a pinned and a device buffer for a picture's input and output. Uploads, jobs and downloads run on three streams, so that
// the upload of one picture, the job of the one before and the download of the one before that overlap.
//
//     for (n = 0; n < pictures + slots; n++) {
//         if (n >= slots) motus_cuda_ring_take(ring, &result, error), use(result);
//         if (n < pictures) motus_cuda_ring_input(ring, &input, error), fill(input), motus_cuda_ring_submit(ring, job, opaque, error);
//     }
typedef struct MotusCudaRing MotusCudaRing;

// Launches one picture's work on `stream`: d_in holds the picture, d_out takes the result.
typedef MotusStatus MotusCudaJob(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error);

// slots 2..16; in_bytes and out_bytes of one picture, > 0.
MOTUS_API MotusStatus motus_cuda_ring_open(MotusCudaRing **ring, int slots, size_t in_bytes, size_t out_bytes, MotusError *error);
// Pinned memory for the next picture. MOTUS_ERR_STATE: every slot is taken; take a result first.
MOTUS_API MotusStatus motus_cuda_ring_input(MotusCudaRing *ring, void **input, MotusError *error);
// Sends it on its way. The job is called before the function returns.
MOTUS_API MotusStatus motus_cuda_ring_submit(MotusCudaRing *ring, MotusCudaJob *job, void *opaque, MotusError *error);
// Waits for the oldest picture; its pinned output is valid until the slot's next submit. MOTUS_END: none is under way.
MOTUS_API MotusStatus motus_cuda_ring_take(MotusCudaRing *ring, const void **output, MotusError *error);
// Waits for what is under way.
MOTUS_API void motus_cuda_ring_close(MotusCudaRing **ring);

#ifdef __cplusplus
}
#endif
#endif
