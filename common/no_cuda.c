// Stands in for every .cu file outside encoder/ (which has a file of its own) in a build without
// the CUDA backend: nothing here works, and says so. The only file of common/ that knows what lies
// above it, and only its headers.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"
#include "common/device.h"
#include "common/error.h"
#include "me/me_cuda.h"
#include "me/request_cuda.h"
#include "motus/filter_cuda.h"
#include "motus/image.h"
#include "motus/upload.h"

static MotusStatus refuse(MotusError *error) {
    return motus_fail(error, MOTUS_ERR_UNSUPPORTED, "this build has no CUDA backend");
}

// ---- common -------------------------------------------------------------------------------------

MotusStatus motus_device_check(MotusError *error) { return refuse(error); }

MotusStatus motus_device_choose(int wanted, int *device, MotusError *error) {
    (void)wanted, (void)device;
    return refuse(error);
}

void motus_device_use(int device) { (void)device; }

int motus_device_count(void) { return 0; }

void motus_device_describe(int i, char *text, size_t size) {
    (void)i;
    if (size) text[0] = 0;
}

// ---- yuv ----------------------------------------------------------------------------------------

void *motus_host_alloc(size_t size) { return motus_alloc(size, 1); }

void motus_host_free(void *memory) { motus_free(memory); }

MotusStatus motus_cuda_alloc(void **memory, size_t bytes, MotusError *error) {
    (void)bytes;
    if (memory) *memory = NULL;
    return refuse(error);
}

void motus_cuda_free(void *memory) { (void)memory; }

MotusStatus motus_cuda_copy(void *dst, const void *src, size_t bytes, void *stream,
                            MotusError *error) {
    (void)dst, (void)src, (void)bytes, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_image_convert(const MotusFrame *dst, const MotusImage *src,
                                     const MotusColour *colour, void *stream, MotusError *error) {
    (void)dst, (void)src, (void)colour, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_ring_open(MotusCudaRing **ring, int slots, size_t in_bytes, size_t out_bytes,
                                 MotusError *error) {
    (void)slots, (void)in_bytes, (void)out_bytes;
    if (ring) *ring = NULL;
    return refuse(error);
}

MotusStatus motus_cuda_ring_open_device(MotusCudaRing **ring, int slots, size_t in_bytes,
                                        size_t out_bytes, MotusError *error) {
    return motus_cuda_ring_open(ring, slots, in_bytes, out_bytes, error);
}

MotusStatus motus_cuda_ring_input(MotusCudaRing *ring, void **input, MotusError *error) {
    (void)ring, (void)input;
    return refuse(error);
}

MotusStatus motus_cuda_ring_submit(MotusCudaRing *ring, MotusCudaJob *job, void *opaque,
                                   MotusError *error) {
    (void)ring, (void)job, (void)opaque;
    return refuse(error);
}

MotusStatus motus_cuda_ring_take(MotusCudaRing *ring, const void **output, MotusError *error) {
    (void)ring, (void)output;
    return refuse(error);
}

MotusStatus motus_cuda_ring_take_device(MotusCudaRing *ring, const void **d_output, void **stream,
                                        MotusError *error) {
    (void)ring, (void)d_output, (void)stream;
    return refuse(error);
}

void motus_cuda_ring_close(MotusCudaRing **ring) { (void)ring; }

// ---- me -----------------------------------------------------------------------------------------

MotusStatus motus_me_cuda_open(MotusMeCuda **cuda, const MotusMeConfig *config, int device,
                               MotusError *error) {
    (void)config, (void)device;
    *cuda = NULL;
    return refuse(error);
}

void motus_me_cuda_close(MotusMeCuda **cuda) { (void)cuda; }

MotusStatus motus_me_cuda_submit(MotusMeCuda *cuda, const MotusMeJob *job, MotusMemory ref_memory,
                                 MotusError *error) {
    (void)cuda, (void)job, (void)ref_memory;
    return refuse(error);
}

MotusStatus motus_me_cuda_receive(MotusMeCuda *cuda, MotusField **field, int timeout_ms,
                                  MotusError *error) {
    (void)cuda, (void)field, (void)timeout_ms;
    return refuse(error);
}

MotusStatus motus_reference_cuda_open(MotusReferenceCuda **reference, int device, int width,
                                      int height, int has_half, MotusError *error) {
    (void)reference, (void)device, (void)width, (void)height, (void)has_half;
    return refuse(error);
}

void motus_reference_cuda_close(MotusReferenceCuda **reference) { (void)reference; }

int motus_reference_cuda_device(const MotusReferenceCuda *reference) {
    (void)reference;
    return -1;
}

MotusStatus motus_reference_cuda_fill(MotusReferenceCuda *reference, const MotusPlane *luma,
                                      MotusMemory memory, void *stream, MotusError *error) {
    (void)reference, (void)luma, (void)memory, (void)stream;
    return refuse(error);
}

MotusStatus motus_request_cuda_open(MotusRequestCuda **requests, const MotusMeConfig *config,
                                    int device, MotusError *error) {
    (void)requests, (void)config, (void)device;
    return refuse(error);
}

void motus_request_cuda_close(MotusRequestCuda **requests) { (void)requests; }

MotusStatus motus_request_cuda_submit(MotusRequestCuda *requests, const MotusMeRequest *request,
                                      const MotusReferenceCuda *const *reference,
                                      MotusError *error) {
    (void)requests, (void)request, (void)reference;
    return refuse(error);
}

MotusStatus motus_request_cuda_take(MotusRequestCuda *requests, const MotusMeRequest *request,
                                    int timeout_ms, MotusError *error) {
    (void)requests, (void)request, (void)timeout_ms;
    return refuse(error);
}

MotusStatus motus_predict_cuda_open(MotusPredictCuda **predict, const MotusMeConfig *config,
                                    int device, MotusError *error) {
    (void)predict, (void)config, (void)device;
    return refuse(error);
}

void motus_predict_cuda_close(MotusPredictCuda **predict) { (void)predict; }

MotusStatus motus_predict_cuda(MotusPredictCuda *predict, const MotusMeCentres *asked,
                               const MotusReferenceCuda *reference, MotusError *error) {
    (void)predict, (void)asked, (void)reference;
    return refuse(error);
}

// ---- dct and filter -----------------------------------------------------------------------------

MotusStatus motus_cuda_filters_usable(MotusError *error) { return refuse(error); }

MotusStatus motus_cuda_dct8_forward(const MotusCoefs *dst, const MotusPlane *src,
                                    const uint16_t table[64], MotusDct8Kind kind, void *stream,
                                    MotusError *error) {
    (void)dst, (void)src, (void)table, (void)kind, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_dct8_inverse(const MotusPlane *dst, const MotusCoefs *src,
                                    const uint16_t table[64], MotusDct8Kind kind, void *stream,
                                    MotusError *error) {
    (void)dst, (void)src, (void)table, (void)kind, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_equalizer_open(MotusCudaEqualizer **equalizer,
                                      const MotusEqualizeConfig *config, int width, int height,
                                      MotusError *error) {
    (void)config, (void)width, (void)height;
    if (equalizer) *equalizer = NULL;
    return refuse(error);
}

MotusStatus motus_cuda_equalizer_run(MotusCudaEqualizer *equalizer, const MotusPlane *dst,
                                     const MotusPlane *src, void *stream, MotusError *error) {
    (void)equalizer, (void)dst, (void)src, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_equalizer_curves(MotusCudaEqualizer *equalizer, uint8_t (*curves)[256],
                                        int tiles, void *stream, MotusError *error) {
    (void)equalizer, (void)curves, (void)tiles, (void)stream;
    return refuse(error);
}

void motus_cuda_equalizer_close(MotusCudaEqualizer **equalizer) { (void)equalizer; }

MotusStatus motus_cuda_key_rgb24(const MotusPlane *dst, const MotusPlane *fg, const MotusPlane *bg,
                                 const MotusKeyConfig *config, void *stream, MotusError *error) {
    (void)dst, (void)fg, (void)bg, (void)config, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_key_frame(const MotusFrame *dst, const MotusFrame *fg, const MotusFrame *bg,
                                 const MotusKeyConfig *config, void *stream, MotusError *error) {
    (void)dst, (void)fg, (void)bg, (void)config, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_rgb24_to_frame(const MotusFrame *dst, const MotusPlane *src, int matrix_709,
                                      int full_range, void *stream, MotusError *error) {
    (void)dst, (void)src, (void)matrix_709, (void)full_range, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_frame_to_rgb24(const MotusPlane *dst, const MotusFrame *src, int matrix_709,
                                      int full_range, void *stream, MotusError *error) {
    (void)dst, (void)src, (void)matrix_709, (void)full_range, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_rgb24_split(const MotusPlane planes[3], const MotusPlane *rgb, void *stream,
                                   MotusError *error) {
    (void)planes, (void)rgb, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_rgb24_join(const MotusPlane *rgb, const MotusPlane planes[3], void *stream,
                                  MotusError *error) {
    (void)rgb, (void)planes, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_wavelet_forward(float *coefs, const MotusPlane *src,
                                       const MotusWaveletShape *shape, void *stream,
                                       MotusError *error) {
    (void)coefs, (void)src, (void)shape, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_wavelet_inverse_plane(const MotusPlane *dst, float *coefs,
                                             const MotusWaveletShape *shape, void *stream,
                                             MotusError *error) {
    (void)dst, (void)coefs, (void)shape, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_wavelet_quantize(int16_t *levels, const float *coefs,
                                        const MotusWaveletShape *shape, float step, void *stream,
                                        MotusError *error) {
    (void)levels, (void)coefs, (void)shape, (void)step, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_wavelet_dequantize(float *coefs, const int16_t *levels,
                                          const MotusWaveletShape *shape, float step, void *stream,
                                          MotusError *error) {
    (void)coefs, (void)levels, (void)shape, (void)step, (void)stream;
    return refuse(error);
}

MotusStatus motus_cuda_wavelet_shrink(float *coefs, const MotusWaveletShape *shape,
                                      const float *threshold, void *stream, MotusError *error) {
    (void)coefs, (void)shape, (void)threshold, (void)stream;
    return refuse(error);
}
