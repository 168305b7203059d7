// The shape of a wavelet transform: its bands in memory.
// SPDX-License-Identifier: BSD-2-Clause
#include "filter/wavelet/wavelet_core.h"
#include "yuv/usable.h"

enum { ROW_UNIT = 16 }; // floats; rows begin at multiples of 64 bytes

static MotusBand place_band(MotusWaveletShape *shape, int width, int height) {
    MotusBand band = {shape->size, width, height, (width + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT};
    shape->size += (size_t)band.stride * (size_t)height;
    return band;
}

static int half(int n, MotusWaveletEdge edge) {
    return edge == MOTUS_WAVELET_SYMMETRIC ? (n + 3) / 2 : n / 2;
}

MotusStatus motus_wavelet_shape(MotusWaveletShape *shape, int width, int height, int levels,
                                MotusWaveletEdge edge) {
    if (!shape || (unsigned)edge > MOTUS_WAVELET_SYMMETRIC || levels < 1 ||
        levels > MOTUS_WAVELET_MAX_LEVELS)
        return MOTUS_ERR_ARGUMENT;
    if (!motus_size_usable(width, height)) return MOTUS_ERR_ARGUMENT;
    // The last level's input has ceil(n / before_last) samples or a few more: at least two.
    const int before_last = 1 << (levels - 1);
    if (width <= before_last || height <= before_last) return MOTUS_ERR_ARGUMENT;
    *shape = (MotusWaveletShape){.width = width, .height = height, .levels = levels, .edge = edge};
    int unit = edge == MOTUS_WAVELET_PERIODIC ? 1 << levels : 1;
    int w = (width + unit - 1) / unit * unit, h = (height + unit - 1) / unit * unit;
    for (int l = 0; l < levels; l++) {
        shape->in_width[l] = w, shape->in_height[l] = h;
        w = half(w, edge), h = half(h, edge);
        for (int k = 0; k < 3; k++) shape->band[l][k] = place_band(shape, w, h);
        shape->low = place_band(shape, w, h);
        shape->low_offset[l] = shape->low.offset;
    }
    return MOTUS_OK;
}

static int same_band(const MotusBand *a, const MotusBand *b) {
    return a->offset == b->offset && a->width == b->width && a->height == b->height &&
           a->stride == b->stride;
}

int motus_wavelet_shape_ok(const MotusWaveletShape *s) {
    MotusWaveletShape own;
    if (!s || motus_wavelet_shape(&own, s->width, s->height, s->levels, s->edge) ||
        own.size != s->size)
        return 0;
    int ok = same_band(&own.low, &s->low);
    for (int l = 0; l < own.levels; l++) {
        ok &= own.in_width[l] == s->in_width[l] && own.in_height[l] == s->in_height[l] &&
              own.low_offset[l] == s->low_offset[l];
        for (int k = 0; k < 3; k++) ok &= same_band(&own.band[l][k], &s->band[l][k]);
    }
    return ok;
}
