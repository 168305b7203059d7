// Random images for the suites of motus/image.h: all sample types, any strides, no space beyond the
// edges.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_IMAGE_CASE_H
#define TESTS_IMAGE_CASE_H

#include "motus/image.h"

// Lays out an image in `bytes` bytes: interleaved or planar, components in any order, with gaps,
// top-down or bottom-up. data[] are offsets from `base`. Returns the bytes used, 0 if it does not
// fit.
size_t motus_test_image(MotusImage *image, MotusSamples samples, int width, int height, void *base,
                        size_t bytes);

// Fills n floats: most in 0..1 or near the edges of a byte's interval, some outside, infinite or
// NaN.
void motus_test_unit_floats(float *to, size_t n);

#endif
