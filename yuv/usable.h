// Checks of planes and frames, before a function touches them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef YUV_USABLE_H
#define YUV_USABLE_H

#include "motus/frame.h"

static inline int motus_size_usable(int width, int height) {
    return width >= 1 && width <= MOTUS_MAX_SIZE && height >= 1 && height <= MOTUS_MAX_SIZE;
}

// True if a picture lasts at most a day: containers count longer ones in too few bits.
static inline int motus_rate_usable(MotusRational fps) {
    return fps.num > 0 && fps.den > 0 && fps.den / 86400.0 <= fps.num;
}

// True if the plane has samples and a valid size; RGB24 has three samples per pixel.
static inline int motus_plane_usable(const MotusPlane *p) {
    return p && p->data && p->width >= 1 && p->width <= 3 * MOTUS_MAX_SIZE && p->height >= 1 &&
           p->height <= MOTUS_MAX_SIZE && p->stride >= p->width;
}

// True if both planes are usable and have one size.
static inline int motus_planes_usable(const MotusPlane *a, const MotusPlane *b) {
    return motus_plane_usable(a) && motus_plane_usable(b) && a->width == b->width &&
           a->height == b->height;
}

// True if the frame's planes are usable and their sizes are those of 4:2:0.
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

// True if both frames are usable and have one size.
static inline int motus_frames_usable(const MotusFrame *a, const MotusFrame *b) {
    return motus_frame_usable(a) && motus_frame_usable(b) && a->width == b->width &&
           a->height == b->height;
}

// True if an RGB24 picture and its three planes are usable and have one size.
static inline int motus_rgb24_usable(const MotusPlane *rgb, const MotusPlane planes[3]) {
    if (!planes || !motus_plane_usable(rgb) || rgb->width % 3) return 0;
    for (int k = 0; k < 3; k++)
        if (!motus_plane_usable(&planes[k]) || planes[k].width != rgb->width / 3 ||
            planes[k].height != rgb->height)
            return 0;
    return 1;
}

// True if data and stride are multiples of 16 bytes, as motus/filter_cuda.h requires.
static inline int motus_plane_aligned(const MotusPlane *p) {
    return p->data && ((uintptr_t)p->data | (uintptr_t)p->stride) % 16 == 0;
}
static inline int motus_frame_aligned(const MotusFrame *f) {
    return motus_plane_aligned(&f->plane[0]) && motus_plane_aligned(&f->plane[1]) &&
           motus_plane_aligned(&f->plane[2]);
}

#endif
