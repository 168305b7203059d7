// Random images for the suites of motus/image.h: any samples, any strides, edges without room
// beyond.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_IMAGE_CASE_H
#define TESTS_IMAGE_CASE_H

#include "motus/image.h"

// Lays an image of these samples into `bytes` bytes: interleaved or in planes, in any order of the
// components, with gaps, from the top or from the bottom. data[] are offsets from `base`. Returns
// the bytes in use; 0: it does not fit.
size_t motus_test_image(MotusImage *image, MotusSamples samples, int width, int height, void *base,
                        size_t bytes);

// n floats, most of them in 0..1 or near the edges of a byte's interval, some outside, infinite, or
// no numbers.
void motus_test_unit_floats(float *to, size_t n);

#endif
