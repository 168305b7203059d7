// What every function asks of its planes and frames before it touches them: that they are there, of
// a size, and fit each other.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_USABLE_H
#define YUV_USABLE_H

#include "motus/frame.h"

static inline int motus_size_usable(int width, int height) {
    return width >= 1 && width <= MOTUS_MAX_SIZE && height >= 1 && height <= MOTUS_MAX_SIZE;
}

// RGB24 has three samples a pixel.
static inline int motus_plane_usable(const MotusPlane *p) {
    return p && p->data && p->width >= 1 && p->width <= 3 * MOTUS_MAX_SIZE && p->height >= 1 &&
           p->height <= MOTUS_MAX_SIZE && p->stride >= p->width;
}

static inline int motus_frame_usable(const MotusFrame *f) {
    if (!f || !motus_size_usable(f->width, f->height)) return 0;
    for (int i = 0; i < 3; i++) {
        int width = i ? (f->width + 1) / 2 : f->width, height = i ? (f->height + 1) / 2 : f->height;
        if (!motus_plane_usable(&f->plane[i]) || f->plane[i].width != width ||
            f->plane[i].height != height)
            return 0;
    }
    return 1;
}

// Both usable and of one size.
static inline int motus_planes_usable(const MotusPlane *a, const MotusPlane *b) {
    return motus_plane_usable(a) && motus_plane_usable(b) && a->width == b->width &&
           a->height == b->height;
}

#endif
