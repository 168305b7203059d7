// Where a wavelet transform's coefficients lie.
// SPDX-License-Identifier: BSD-2-Clause
#include "filter/wavelet.h"

enum { ROW_UNIT = 16 }; // floats; rows begin at multiples of 64 bytes

static MotusBand place_band(MotusWaveletShape *shape, int width, int height) {
    MotusBand band = {shape->size, width, height, (width + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT};
    shape->size += (size_t)band.stride * (size_t)height;
    return band;
}

static int half(int n, MotusWaveletEdge edge) { return edge == MOTUS_WAVELET_SYMMETRIC ? (n + 3) / 2 : n / 2; }

MotusStatus motus_wavelet_shape(MotusWaveletShape *shape, int width, int height, int levels, MotusWaveletEdge edge) {
    if (!shape || (unsigned)edge > MOTUS_WAVELET_SYMMETRIC || levels < 1 || levels > MOTUS_WAVELET_MAX_LEVELS)
        return MOTUS_ERR_ARGUMENT;
    if (width < 1 || height < 1 || width > MOTUS_MAX_SIZE || height > MOTUS_MAX_SIZE) return MOTUS_ERR_ARGUMENT;
    int before_last = 1 << (levels - 1); // the last level's input has ceil(n / before_last) samples, or a few more
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
