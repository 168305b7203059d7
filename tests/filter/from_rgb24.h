// RGB24 to frames, for the filters' suites.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_FILTER_FROM_RGB24_H
#define TESTS_FILTER_FROM_RGB24_H

#include "motus/image.h"
#include "tests/support/harness.h"

// Converts an RGB24 picture to a frame of its size.
static inline MotusStatus frame_from_rgb24(MotusFrame *frame, const MotusPlane *rgb, int matrix_709,
                                           int full_range) {
    MotusColour colour = MOTUS_COLOUR_BT709;
    MotusImage image;
    colour.matrix = matrix_709 ? 1 : 6, colour.full_range = full_range;
    REQUIRE_OK(motus_image_describe(&image, MOTUS_IMAGE_RGB24, frame->width, frame->height,
                                    (const void *const[3]){rgb->data},
                                    (const ptrdiff_t[3]){rgb->stride}));
    return motus_image_convert(frame, &image, &colour, NULL);
}

#endif
