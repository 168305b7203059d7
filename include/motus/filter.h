// Frame filters before encoding: histogram equalization, chroma key, Daubechies D4 wavelet. Integer
// arithmetic, or single precision in a fixed order (the wavelet; the key's soft edge, and its spill
// suppression in 4:2:0), so that every executor gives the same bits. The CUDA twins, on device
// planes, are in motus/filter_cuda.h.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_FILTER_H
#define MOTUS_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "motus/exec.h"
#include "motus/frame.h"
#include "motus/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Histogram equalization ---------------------------------------------------------------------

// counts[k] = number of samples of value k.
MOTUS_API void motus_histogram(uint32_t counts[256], const MotusPlane *plane,
                               const MotusExec *exec);

// The equalizing curve s_k = int(255 * cdf_k + 0.5), in exact integer arithmetic. No samples at
// all: the identity.
MOTUS_API void motus_equalize_curve(uint8_t curve[256], const uint32_t counts[256]);

// dst = curve[src]; the same plane may be both.
MOTUS_API void motus_plane_map(MotusPlane *dst, const MotusPlane *src, const uint8_t curve[256],
                               const MotusExec *exec);

#define MOTUS_EQUALIZE_MAX_TILES 64 // in each direction

typedef struct MotusEqualizeConfig {
    int tiles_x, tiles_y; // 1 x 1: one curve for the whole plane. More: one per tile, interpolated
                          // bilinearly (CLAHE)
    int clip_q8;   // clip limit in 1/256 of a bin's mean count (512 = twice the mean); 0: no limit
    int smooth_q8; // share of the previous picture's curve in this one's, 0..255 / 256; 0: each
                   // picture by itself
} MotusEqualizeConfig;

MOTUS_API MotusEqualizeConfig
motus_equalize_config_default(void); // one curve, no limit, no smoothing
MOTUS_API MotusEqualizeConfig
motus_equalize_config_clahe(void); // 8 x 8 tiles, clip limit 2, no smoothing

typedef struct MotusEqualizer
    MotusEqualizer; // the curves of the previous picture; one per plane of a sequence

// MOTUS_ERR_ARGUMENT: a parameter out of range. MOTUS_ERR_MEMORY.
MOTUS_API MotusStatus motus_equalizer_open(MotusEqualizer **equalizer,
                                           const MotusEqualizeConfig *config, int width,
                                           int height);

// Equalizes the next picture, of the size that the equalizer was opened for (MOTUS_ERR_ARGUMENT
// otherwise); dst and src may be the same plane. With smoothing, a cut (half of all samples changed
// their bin) starts anew.
MOTUS_API MotusStatus motus_equalizer_run(MotusEqualizer *equalizer, MotusPlane *dst,
                                          const MotusPlane *src, const MotusExec *exec);

// The curves in use, tile by tile in raster order; *tiles (may be NULL) gets their number. Valid
// until the next run.
MOTUS_API const uint8_t (*motus_equalizer_curves(const MotusEqualizer *equalizer, int *tiles))[256];

// Closes and sets *equalizer to NULL; accepts NULL and *equalizer == NULL.
MOTUS_API void motus_equalizer_close(MotusEqualizer **equalizer);

// R, G and B of 4:2:0 frames, each equalized by itself, in place of their luma: to RGB24 and back
// by motus_frame_to_rgb24 and motus_rgb24_to_frame, with this matrix and range. Colours of single
// pixels are means of 2x2 afterwards, as 4:2:0 has it.
typedef struct MotusRgbEqualizer MotusRgbEqualizer;

// config: of each channel's equalizer. matrix_709 and full_range: of the frames, as in
// MotusKeyConfig. Close with motus_rgb_equalizer_close. MOTUS_ERR_ARGUMENT: a parameter out of
// range. MOTUS_ERR_MEMORY. *equalizer is NULL after an error.
MOTUS_API MotusStatus motus_rgb_equalizer_open(MotusRgbEqualizer **equalizer,
                                               const MotusEqualizeConfig *config, int width,
                                               int height, int matrix_709, int full_range);
// The next frame, of the size that the equalizer was opened for (MOTUS_ERR_ARGUMENT otherwise); dst
// and src may be the same.
MOTUS_API MotusStatus motus_rgb_equalizer_run(MotusRgbEqualizer *equalizer, MotusFrame *dst,
                                              const MotusFrame *src, const MotusExec *exec);
// Closes and sets *equalizer to NULL; accepts NULL and *equalizer == NULL.
MOTUS_API void motus_rgb_equalizer_close(MotusRgbEqualizer **equalizer);

// ---- Chroma key ---------------------------------------------------------------------------------

// Colour as HSV with H in 1/16 degree (0..5759), S and V in 1/1024 (0..1024). A pixel is background
// where all three distances to the key are below their thresholds; the distances are compared as
// exact fractions.
typedef struct MotusKeyConfig {
    int hue, saturation, value;            // of the key
    int hue_range, sat_range, value_range; // thresholds, > 0 (hue up to 5760, others up to 2048)
    int plain_hue; // nonzero: |H - Hkey| as it stands; 0: the shorter way round the circle
    int soft_q8;   // width of the soft edge beyond the thresholds, in 1/256 of them; 0..1024
    int spill_q8;  // spill suppression on foreground pixels, 0..256 / 256
    int matrix_709,
        full_range; // of YUV pictures: BT.709 (else BT.601) and full range (else 16..235)
} MotusKeyConfig;

// Key colour from RGB with thresholds of 30 degrees, 0.5 and 0.6, hard edge.
MOTUS_API MotusKeyConfig motus_key_config(uint8_t r, uint8_t g, uint8_t b);

// RGB24 pictures are planes of 3 * pixels bytes a row, in the order R, G, B. All three of the same
// size (MOTUS_ERR_ARGUMENT otherwise); dst may be fg or bg.
MOTUS_API MotusStatus motus_key_rgb24(MotusPlane *dst, const MotusPlane *fg, const MotusPlane *bg,
                                      const MotusKeyConfig *config, const MotusExec *exec);

// 4:2:0 pictures: each luma sample is judged with its chroma sample; chroma is mixed by the mean of
// its (up to four) luma samples' weights. Saturation and value are those of the pixel that the
// conversion to RGB gives. Hue is the chroma sample's own, before R, G and B are rounded and
// clipped, so that luma does not change it.
MOTUS_API MotusStatus motus_key_frame(MotusFrame *dst, const MotusFrame *fg, const MotusFrame *bg,
                                      const MotusKeyConfig *config, const MotusExec *exec);

// Conversions of RGB24 and 4:2:0 with the matrix and range of a key configuration; chroma is the
// mean of its pixels / repeated.
MOTUS_API MotusStatus motus_rgb24_to_frame(MotusFrame *dst, const MotusPlane *src, int matrix_709,
                                           int full_range, const MotusExec *exec);
MOTUS_API MotusStatus motus_frame_to_rgb24(MotusPlane *dst, const MotusFrame *src, int matrix_709,
                                           int full_range, const MotusExec *exec);

// RGB24 <-> three planes of the same height and a third of the width; to equalize R, G and B each
// by itself, for one.
MOTUS_API MotusStatus motus_rgb24_split(MotusPlane planes[3], const MotusPlane *rgb,
                                        const MotusExec *exec);
MOTUS_API MotusStatus motus_rgb24_join(MotusPlane *rgb, const MotusPlane planes[3],
                                       const MotusExec *exec);

// ---- Daubechies D4 wavelet ----------------------------------------------------------------------

#define MOTUS_WAVELET_MAX_LEVELS 10

typedef enum MotusWaveletEdge {
    // Indices modulo the size; the plane is first rounded up to multiples of 2^levels by repeating
    // its edge.
    MOTUS_WAVELET_PERIODIC = 0,
    MOTUS_WAVELET_SYMMETRIC = 1, // half-sample reflection; bands of (n + 3) / 2 coefficients
} MotusWaveletEdge;

// One band of single-precision coefficients, without gaps between rows: at coefs + offset, rows of
// `stride` floats.
typedef struct MotusBand {
    size_t offset;
    int width, height, stride;
} MotusBand;

// Where the coefficients of a transform lie in one array of `size` floats. band[level][0..2]:
// details along x (high-pass in x), along y, along both.
typedef struct MotusWaveletShape {
    int width, height, levels;
    MotusWaveletEdge edge;
    MotusBand band[MOTUS_WAVELET_MAX_LEVELS][3], low;
    int in_width[MOTUS_WAVELET_MAX_LEVELS],
        in_height[MOTUS_WAVELET_MAX_LEVELS];     // size of each level's input
    size_t low_offset[MOTUS_WAVELET_MAX_LEVELS]; // its low-pass output (scratch but for the last)
    size_t size;
} MotusWaveletShape;

// MOTUS_ERR_ARGUMENT: levels out of 1..MOTUS_WAVELET_MAX_LEVELS, or so many that a level would
// begin with a single row or column.
MOTUS_API MotusStatus motus_wavelet_shape(MotusWaveletShape *shape, int width, int height,
                                          int levels, MotusWaveletEdge edge);

// Forward transform of samples into coefs[shape->size]; orthonormal, so a constant plane c gives c
// * 2^levels in the low band.
MOTUS_API MotusStatus motus_wavelet_forward(float *coefs, const MotusPlane *src,
                                            const MotusWaveletShape *shape, const MotusExec *exec);

// Inverse transform, rounded to nearest and clipped to 0..255 (_plane), or as it is (_float; rows
// of `width` floats). Overwrites the low-pass parts of coefs that belong to no band.
MOTUS_API MotusStatus motus_wavelet_inverse_plane(MotusPlane *dst, float *coefs,
                                                  const MotusWaveletShape *shape,
                                                  const MotusExec *exec);
MOTUS_API MotusStatus motus_wavelet_inverse_float(float *dst, float *coefs,
                                                  const MotusWaveletShape *shape,
                                                  const MotusExec *exec);

// Levels = coefficient / step rounded to nearest (ties to even), clipped to int16, for every
// coefficient of the bands; the others are 0.
MOTUS_API void motus_wavelet_quantize(int16_t *levels, const float *coefs,
                                      const MotusWaveletShape *shape, float step,
                                      const MotusExec *exec);
MOTUS_API void motus_wavelet_dequantize(float *coefs, const int16_t *levels,
                                        const MotusWaveletShape *shape, float step,
                                        const MotusExec *exec);

// Soft threshold: moves the details of each level towards 0 by threshold[level].
MOTUS_API void motus_wavelet_shrink(float *coefs, const MotusWaveletShape *shape,
                                    const float *threshold, const MotusExec *exec);

// Denoises a plane: forward (symmetric), soft thresholds strength, strength / 2, strength / 4, ...,
// inverse. strength in sample values, 0..255. levels may be 0: 3, or as many as the size allows.
// MOTUS_ERR_MEMORY. dst may be src.
MOTUS_API MotusStatus motus_wavelet_denoise(MotusPlane *dst, const MotusPlane *src, int levels,
                                            float strength, const MotusExec *exec);

#ifdef __cplusplus
}
#endif
#endif
