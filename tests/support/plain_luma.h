// Luma interpolation of 8.4.2.2.1 sample by sample, as the clause has it, for tests.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_SUPPORT_PLAIN_LUMA_H
#define TESTS_SUPPORT_PLAIN_LUMA_H

#include "motus/frame.h"

static const int plain_taps[6] = {1, -5, 20, 20, -5, 1};

static inline int plain_within(int v, int size) { return v < 0 ? 0 : v >= size ? size - 1 : v; }

static inline int plain_sample(const MotusPlane *p, int x, int y) {
    return p->data[plain_within(y, p->height) * p->stride + plain_within(x, p->width)];
}

static inline int plain_clip(int v) { return v < 0 ? 0 : v > 255 ? 255 : v; }

static inline int plain_b1(const MotusPlane *p, int x, int y) {
    int sum = 0;
    for (int i = 0; i < 6; i++) sum += plain_taps[i] * plain_sample(p, x + i - 2, y);
    return sum;
}

static inline int plain_h1(const MotusPlane *p, int x, int y) {
    int sum = 0;
    for (int i = 0; i < 6; i++) sum += plain_taps[i] * plain_sample(p, x, y + i - 2);
    return sum;
}

static inline int plain_b(const MotusPlane *p, int x, int y) {
    return plain_clip((plain_b1(p, x, y) + 16) >> 5);
}
static inline int plain_h(const MotusPlane *p, int x, int y) {
    return plain_clip((plain_h1(p, x, y) + 16) >> 5);
}
static inline int plain_j(const MotusPlane *p, int x, int y) {
    int sum = 0;
    for (int i = 0; i < 6; i++) sum += plain_taps[i] * plain_b1(p, x, y + i - 2);
    return plain_clip((sum + 512) >> 10);
}

static inline int plain_mean(int a, int b) { return (a + b + 1) >> 1; }

// Returns the sample at (qx, qy) in quarter samples, by the letters of figure 8-4.
static inline int plain_luma(const MotusPlane *p, int qx, int qy) {
    int fx = qx & 3, fy = qy & 3, x = (qx - fx) / 4, y = (qy - fy) / 4;
    int G = plain_sample(p, x, y);
    if (!fx && !fy) return G;
    int H = plain_sample(p, x + 1, y), M = plain_sample(p, x, y + 1);
    int b = plain_b(p, x, y), h = plain_h(p, x, y), s = plain_b(p, x, y + 1),
        m = plain_h(p, x + 1, y);
    int j = fx == 2 || fy == 2 ? plain_j(p, x, y) : 0;
    switch (4 * fy + fx) {
    case 1:
        return plain_mean(G, b);
    case 2:
        return b;
    case 3:
        return plain_mean(H, b);
    case 4:
        return plain_mean(G, h);
    case 5:
        return plain_mean(b, h);
    case 6:
        return plain_mean(b, j);
    case 7:
        return plain_mean(b, m);
    case 8:
        return h;
    case 9:
        return plain_mean(h, j);
    case 10:
        return j;
    case 11:
        return plain_mean(j, m);
    case 12:
        return plain_mean(h, M);
    case 13:
        return plain_mean(h, s);
    case 14:
        return plain_mean(j, s);
    default:
        return plain_mean(s, m);
    }
}

#endif
