// What motus/filter_cuda.h asks of planes in device memory: they are there, data and stride are multiples of 16 bytes.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_DEVICE_PLANES_H
#define FILTER_DEVICE_PLANES_H

#include "motus/frame.h"

static inline int motus_plane_aligned(const MotusPlane *p) {
    return p->data && ((uintptr_t)p->data | (uintptr_t)p->stride) % 16 == 0;
}

static inline int motus_frame_aligned(const MotusFrame *f) {
    return motus_plane_aligned(&f->plane[0]) && motus_plane_aligned(&f->plane[1]) && motus_plane_aligned(&f->plane[2]);
}

#endif
