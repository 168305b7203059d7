// Planes and frames as the chroma key's and the conversions' kernels take them.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef FILTER_KEY_CUDA_H
#define FILTER_KEY_CUDA_H

#include "motus/filter_cuda.h"

namespace {

struct View {
    uint8_t *data;
    int stride, width, height;
};

struct Picture {
    View plane[3];
};

inline View view(const MotusPlane &p) { return View{p.data, (int)p.stride, p.width, p.height}; }

inline Picture picture(const MotusFrame *f) { return Picture{{view(f->plane[0]), view(f->plane[1]), view(f->plane[2])}}; }

// Of `size` to cover n.
inline unsigned groups(int n, int size) { return (unsigned)((n + size - 1) / size); }

} // namespace

#endif
