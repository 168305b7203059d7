// Frame filters before encoding: histogram equalization, chroma key, Daubechies D4 wavelet. They
// use integers, or single precision in a fixed order (wavelet, soft edge, spill suppression in
// 4:2:0), so all backends give the same bits. motus/filter_cuda.h has them for device memory.
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

// Sets counts[k] to the number of samples of value k.
MOTUS_API void motus_histogram(uint32_t counts[256], const MotusPlane *plane,
                               const MotusExec *exec);

// Computes the equalizing curve s_k = int(255 * cdf_k + 0.5) in exact integer arithmetic; the
// identity if all counts are 0.
MOTUS_API void motus_equalize_curve(uint8_t curve[256], const uint32_t counts[256]);

// Sets dst = curve[src]; dst may be src.
MOTUS_API void motus_plane_map(MotusPlane *dst, const MotusPlane *src, const uint8_t curve[256],
                               const MotusExec *exec);

#define MOTUS_EQUALIZE_MAX_TILES 64 // in each direction

typedef struct MotusEqualizeConfig {
    // Tiles, 1..MOTUS_EQUALIZE_MAX_TILES. 1 x 1 = one curve for the plane; more = a curve per tile,
    // interpolated bilinearly (CLAHE).
    int tiles_x, tiles_y;
    int clip_q8;   // clip limit in 1/256 of a bin's mean count (512 = twice the mean); 0 = no limit
    int smooth_q8; // share of the previous picture's curve in 1/256, 0..255; 0 = no smoothing
} MotusEqualizeConfig;

// One tile, no clip limit; 8 x 8 tiles, clip limit 2 (CLAHE). No smoothing.
#define MOTUS_EQUALIZE_PLANE                                                                       \
    { 1, 1, 0, 0 }
#define MOTUS_EQUALIZE_CLAHE                                                                       \
    { 8, 8, 512, 0 }

// Equalizer of one plane of a sequence; it keeps the previous picture's curves.
typedef struct MotusEqualizer MotusEqualizer;

// Opens an equalizer for planes of width x height samples. MOTUS_ERR_ARGUMENT: a parameter out of
// range. MOTUS_ERR_MEMORY.
MOTUS_API MotusStatus motus_equalizer_open(MotusEqualizer **equalizer,
                                           const MotusEqualizeConfig *config, int width,
                                           int height);

// Equalizes the next picture; dst may be src. Smoothing restarts at a cut, where half of all
// samples changed their bin. MOTUS_ERR_ARGUMENT: another size than at the opening.
MOTUS_API MotusStatus motus_equalizer_run(MotusEqualizer *equalizer, MotusPlane *dst,
                                          const MotusPlane *src, const MotusExec *exec);

// Returns the current curves, tile by tile in raster order, and their number in *tiles (may be
// NULL). Valid until the next run.
MOTUS_API const uint8_t (*motus_equalizer_curves(const MotusEqualizer *equalizer, int *tiles))[256];

// Closes and sets *equalizer to NULL; accepts NULL and *equalizer == NULL.
MOTUS_API void motus_equalizer_close(MotusEqualizer **equalizer);

// Equalizer of the R, G and B channels of 4:2:0 frames, each by itself. Frames are converted to
// RGB24 and back (motus_frame_to_rgb24, motus_image_convert).
typedef struct MotusRgbEqualizer MotusRgbEqualizer;

// Opens an RGB equalizer. config applies to each channel; matrix_709 and full_range describe the
// frames, as in MotusKeyConfig. Errors of motus_equalizer_open; *equalizer is NULL after an error.
MOTUS_API MotusStatus motus_rgb_equalizer_open(MotusRgbEqualizer **equalizer,
                                               const MotusEqualizeConfig *config, int width,
                                               int height, int matrix_709, int full_range);

// Equalizes the next frame; dst may be src. MOTUS_ERR_ARGUMENT: another size than at the opening.
MOTUS_API MotusStatus motus_rgb_equalizer_run(MotusRgbEqualizer *equalizer, MotusFrame *dst,
                                              const MotusFrame *src, const MotusExec *exec);

// Closes and sets *equalizer to NULL; accepts NULL and *equalizer == NULL.
MOTUS_API void motus_rgb_equalizer_close(MotusRgbEqualizer **equalizer);

// ---- Chroma key ---------------------------------------------------------------------------------

// Key colour and thresholds in HSV: H in 1/16 degree (0..5759), S and V in 1/1024 (0..1024). A
// pixel is background if all three distances to the key are below their thresholds. Distances are
// compared as exact fractions.
typedef struct MotusKeyConfig {
    int hue, saturation, value;            // key colour
    int hue_range, sat_range, value_range; // thresholds, > 0; hue up to 5760, others up to 2048
    int plain_hue;  // 1 = hue distance |H - Hkey|; 0 = the shorter way round the circle
    int soft_q8;    // width of the soft edge beyond the thresholds, in 1/256 of them, 0..1024
    int spill_q8;   // spill suppression on foreground pixels, in 1/256, 0..256
    int matrix_709; // YUV pictures: 1 = BT.709, 0 = BT.601
    int full_range; // YUV pictures: 1 = full range, 0 = 16..235
} MotusKeyConfig;

// Returns a key of this RGB colour with thresholds of 30 degrees, 0.5 and 0.6 and a hard edge.
MOTUS_API MotusKeyConfig motus_key_config(uint8_t r, uint8_t g, uint8_t b);

// Composes RGB24 pictures: dst = fg, or bg where fg has the key colour. A row of a plane has 3
// bytes per pixel: R, G, B. dst may be fg or bg. MOTUS_ERR_ARGUMENT: sizes differ, or a parameter
// is out of range.
MOTUS_API MotusStatus motus_key_rgb24(MotusPlane *dst, const MotusPlane *fg, const MotusPlane *bg,
                                      const MotusKeyConfig *config, const MotusExec *exec);

// Composes 4:2:0 pictures. Each luma sample is keyed with its chroma sample; chroma is mixed by the
// mean weight of its luma samples. Saturation and value are those of the RGB pixel. Hue is the
// chroma sample's own, before R, G and B are rounded and clipped, so luma does not change it.
// Errors of motus_key_rgb24.
MOTUS_API MotusStatus motus_key_frame(MotusFrame *dst, const MotusFrame *fg, const MotusFrame *bg,
                                      const MotusKeyConfig *config, const MotusExec *exec);

// Converts a frame to RGB24 of its size, matrix_709 and full_range as in MotusKeyConfig. Chroma is
// repeated. motus_image_convert (motus/image.h) goes back. MOTUS_ERR_ARGUMENT: sizes differ.
MOTUS_API MotusStatus motus_frame_to_rgb24(MotusPlane *dst, const MotusFrame *src, int matrix_709,
                                           int full_range, const MotusExec *exec);

// Splits RGB24 into planes R, G and B of a third of its width, or joins them. MOTUS_ERR_ARGUMENT:
// sizes do not fit.
MOTUS_API MotusStatus motus_rgb24_split(MotusPlane planes[3], const MotusPlane *rgb,
                                        const MotusExec *exec);
MOTUS_API MotusStatus motus_rgb24_join(MotusPlane *rgb, const MotusPlane planes[3],
                                       const MotusExec *exec);

// ---- Daubechies D4 wavelet ----------------------------------------------------------------------

#define MOTUS_WAVELET_MAX_LEVELS 10

// Extension of a plane beyond its edges.
typedef enum MotusWaveletEdge {
    // Periodic; the plane is first rounded up to multiples of 2^levels by repeating its edge.
    MOTUS_WAVELET_PERIODIC = 0,
    MOTUS_WAVELET_SYMMETRIC = 1, // half-sample reflection; bands of (n + 3) / 2 coefficients
} MotusWaveletEdge;

// Band of single-precision coefficients in the coefficient array. Sizes in coefficients.
typedef struct MotusBand {
    size_t offset;             // of the first coefficient
    int width, height, stride; // stride: from one row to the next
} MotusBand;

// Layout of a transform's coefficients in one array. Sizes in coefficients.
typedef struct MotusWaveletShape {
    int width, height, levels; // of the plane
    MotusWaveletEdge edge;
    // Details of each level: [0] high-pass in x, [1] in y, [2] in both; and the low band.
    MotusBand band[MOTUS_WAVELET_MAX_LEVELS][3], low;
    // Size of each level's input.
    int in_width[MOTUS_WAVELET_MAX_LEVELS], in_height[MOTUS_WAVELET_MAX_LEVELS];
    size_t low_offset[MOTUS_WAVELET_MAX_LEVELS]; // low-pass output; scratch except for the last
    size_t size;                                 // floats of the whole array
} MotusWaveletShape;

// Computes the layout for a plane. levels 0: three, or as many as the size allows.
// MOTUS_ERR_ARGUMENT: levels outside 0..MOTUS_WAVELET_MAX_LEVELS, or a level's input would have a
// single row or column.
MOTUS_API MotusStatus motus_wavelet_shape(MotusWaveletShape *shape, int width, int height,
                                          int levels, MotusWaveletEdge edge);

// Transforms samples into coefs[shape->size]. The transform is orthonormal: a constant plane c
// gives c * 2^levels in the low band. MOTUS_ERR_ARGUMENT (sizes), MOTUS_ERR_MEMORY.
MOTUS_API MotusStatus motus_wavelet_forward(float *coefs, const MotusPlane *src,
                                            const MotusWaveletShape *shape, const MotusExec *exec);

// Transforms back: _plane rounds to nearest and clips to 0..255; _float writes rows of `width`
// floats. Both overwrite the scratch of coefs. Errors of motus_wavelet_forward.
MOTUS_API MotusStatus motus_wavelet_inverse_plane(MotusPlane *dst, float *coefs,
                                                  const MotusWaveletShape *shape,
                                                  const MotusExec *exec);
MOTUS_API MotusStatus motus_wavelet_inverse_float(float *dst, float *coefs,
                                                  const MotusWaveletShape *shape,
                                                  const MotusExec *exec);

// Quantizes, or dequantizes: level = coefficient / step rounded to nearest (ties to even) and
// clipped to int16. Levels of scratch are 0.
MOTUS_API void motus_wavelet_quantize(int16_t *levels, const float *coefs,
                                      const MotusWaveletShape *shape, float step,
                                      const MotusExec *exec);
MOTUS_API void motus_wavelet_dequantize(float *coefs, const int16_t *levels,
                                        const MotusWaveletShape *shape, float step,
                                        const MotusExec *exec);

// Soft-thresholds: moves the details of each level towards 0 by threshold[level].
MOTUS_API void motus_wavelet_shrink(float *coefs, const MotusWaveletShape *shape,
                                    const float *threshold, const MotusExec *exec);

// Denoises a plane by symmetric transform and soft thresholds strength, strength / 2, strength / 4,
// ... strength: sample values, 0..255. levels as in motus_wavelet_shape. dst may be src.
// MOTUS_ERR_ARGUMENT, MOTUS_ERR_MEMORY.
MOTUS_API MotusStatus motus_wavelet_denoise(MotusPlane *dst, const MotusPlane *src, int levels,
                                            float strength, const MotusExec *exec);

#ifdef __cplusplus
}
#endif
#endif
