// What filters ask of their pictures: that they are there and fit each other, and
// (motus/filter_cuda.h) how planes in device memory lie.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_PLANES_H
#define FILTER_PLANES_H

#include "yuv/usable.h"

static inline int motus_frames_match(const MotusFrame *a, const MotusFrame *b) {
    return motus_frame_usable(a) && motus_frame_usable(b) && a->width == b->width &&
           a->height == b->height;
}

// An RGB24 picture and its three planes.
static inline int motus_rgb24_matches(const MotusPlane *rgb, const MotusPlane planes[3]) {
    if (!planes || !motus_plane_usable(rgb) || rgb->width % 3) return 0;
    for (int k = 0; k < 3; k++)
        if (!motus_plane_usable(&planes[k]) || planes[k].width != rgb->width / 3 ||
            planes[k].height != rgb->height)
            return 0;
    return 1;
}

// Data is there and, as the stride, a multiple of 16 bytes.
static inline int motus_plane_aligned(const MotusPlane *p) {
    return p->data && ((uintptr_t)p->data | (uintptr_t)p->stride) % 16 == 0;
}

static inline int motus_frame_aligned(const MotusFrame *f) {
    return motus_plane_aligned(&f->plane[0]) && motus_plane_aligned(&f->plane[1]) &&
           motus_plane_aligned(&f->plane[2]);
}

#endif
