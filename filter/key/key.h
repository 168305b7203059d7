// Row functions of the chroma key (plain C and AVX2), and its prepared configuration.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_KEY_KEY_H
#define FILTER_KEY_KEY_H

#include "filter/key/key_core.h"
#include "yuv/image.h"

enum { KEY_CHUNK = 128 }; // pixels per call, even; less than IMAGE_CHUNK

// Functions on n <= KEY_CHUNK pixels. Weights are 0..KEY_FULL, of the foreground.
typedef struct MotusKeyOps {
    void (*split)(MotusRgbRow *dst, const uint8_t *rgb, int n);
    void (*join)(uint8_t *rgb, const MotusRgbRow *src, int n);
    void (*weights)(uint16_t *weight, const MotusRgbRow *pixels, int n, const MotusKey *key);
    void (*weights_yuv)(uint16_t *weight, const uint8_t *y, const uint8_t *cb, const uint8_t *cr,
                        int n, const MotusKey *key);
    void (*unspill)(MotusRgbRow *pixels, int n, const MotusKey *key);
    // Computes the weights of chroma samples from those of n luma samples of two rows.
    void (*halve)(uint16_t *mean, const uint16_t *above, const uint16_t *below, int n);
    // Suppresses spill of n chroma samples in place.
    void (*unspill_chroma)(uint8_t *cb, uint8_t *cr, int n, const MotusKey *key);
    void (*mix)(uint8_t *dst, const uint8_t *fg, const uint8_t *bg, const uint16_t *weight, int n);
    void (*from_yuv)(MotusRgbRow *dst, const uint8_t *y, const uint8_t *cb, const uint8_t *cr,
                     int n, const MotusYuvMatrix *matrix);
} MotusKeyOps;

extern const MotusKeyOps motus_key_ops_c;
#if defined(__x86_64__)
extern const MotusKeyOps motus_key_ops_avx2;
#endif

// Prepares a configuration. MOTUS_ERR_ARGUMENT: a parameter is out of range.
MotusStatus motus_key_prepare(MotusKey *key, const MotusKeyConfig *config);

#endif
