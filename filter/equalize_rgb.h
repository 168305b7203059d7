// What both executors of the equalization of R, G and B share: where its pictures lie.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_EQUALIZE_RGB_H
#define FILTER_EQUALIZE_RGB_H

#include "motus/frame.h"

// An RGB24 picture and its three planes, one behind the other; strides are multiples of 16 bytes.
typedef struct MotusRgbPlanes {
    MotusPlane rgb, plane[3];
} MotusRgbPlanes;

// Cuts `memory` (NULL: to learn the size only) into them; returns the bytes that they take.
static inline size_t motus_rgb_planes_at(MotusRgbPlanes *p, void *memory, int width, int height) {
    MotusPlane *const planes[4] = {&p->rgb, &p->plane[0], &p->plane[1], &p->plane[2]};
    size_t size = 0;
    for (int k = 0; k < 4; k++) {
        int w = k ? width : 3 * width, stride = (w + 15) / 16 * 16;
        *planes[k] = (MotusPlane){memory ? (uint8_t *)memory + size : NULL, stride, w, height};
        size += (size_t)stride * (size_t)height;
    }
    return size;
}

#endif
