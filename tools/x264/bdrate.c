// SPDX-License-Identifier: BSD-2-Clause
#include "tools/x264/x264.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// PSNR (x, rising), log10 of the rate (y, rising) and the cubic's slope dy/dx at each point.
typedef struct RdCurve {
    int n;
    double x[MOTUS_RD_POINTS], y[MOTUS_RD_POINTS], slope[MOTUS_RD_POINTS];
} RdCurve;

static int by_psnr(const void *a, const void *b) {
    const MotusRdPoint *p = a, *q = b;
    return (p->psnr > q->psnr) - (p->psnr < q->psnr);
}

// Returns the slope at an end, from the widths and gradients (> 0) of the two pieces next to it: of
// the parabola through three points, at least 0 to stay monotone (it is always below 2 d0).
static double end_slope(double h0, double h1, double d0, double d1) {
    return fmax(0, ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1));
}

// Sets the slopes: inside the weighted harmonic mean of the gradients on both sides.
static void find_slopes(RdCurve *c) {
    double h[MOTUS_RD_POINTS] = {0}, d[MOTUS_RD_POINTS] = {0}; // widths and gradients of the pieces
    int last = c->n - 1;
    for (int i = 0; i < last; i++) {
        h[i] = c->x[i + 1] - c->x[i];
        d[i] = (c->y[i + 1] - c->y[i]) / h[i];
    }
    for (int i = 1; i < last; i++)
        c->slope[i] = 3 * (h[i - 1] + h[i]) /
                      ((2 * h[i] + h[i - 1]) / d[i - 1] + (h[i] + 2 * h[i - 1]) / d[i]);
    c->slope[0] = end_slope(h[0], h[1], d[0], d[1]);
    c->slope[last] = end_slope(h[last - 1], h[last - 2], d[last - 1], d[last - 2]);
}

// Returns 0 if the points are no curve.
static int make_curve(RdCurve *c, const MotusRdPoint *points, int n) {
    if (n < 4 || n > MOTUS_RD_POINTS) return 0;
    MotusRdPoint sorted[MOTUS_RD_POINTS];
    memcpy(sorted, points, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_psnr);
    c->n = n;
    for (int i = 0; i < n; i++) {
        if (!(sorted[i].kbps > 0) || !isfinite(sorted[i].kbps) || !isfinite(sorted[i].psnr))
            return 0;
        c->x[i] = sorted[i].psnr;
        c->y[i] = log10(sorted[i].kbps);
        if (i && (c->x[i] <= c->x[i - 1] || c->y[i] <= c->y[i - 1])) return 0;
    }
    find_slopes(c);
    return 1;
}

// Integrates piece i from its left end to t beyond it.
static double primitive(const RdCurve *c, int i, double t) {
    double h = c->x[i + 1] - c->x[i], m = c->slope[i], n = c->slope[i + 1];
    double d = (c->y[i + 1] - c->y[i]) / h;
    double square = (3 * d - 2 * m - n) / h, cube = (m + n - 2 * d) / (h * h);
    return t * (c->y[i] + t * (m / 2 + t * (square / 3 + t * cube / 4)));
}

static double integral(const RdCurve *c, double lo, double hi) {
    double total = 0;
    for (int i = 0; i + 1 < c->n; i++) {
        double from = fmax(lo, c->x[i]), to = fmin(hi, c->x[i + 1]);
        if (from < to) total += primitive(c, i, to - c->x[i]) - primitive(c, i, from - c->x[i]);
    }
    return total;
}

MotusStatus motus_bd_rate(const MotusRdPoint *anchor, int n_anchor, const MotusRdPoint *test,
                          int n_test, double *percent) {
    RdCurve a, b;
    if (!make_curve(&a, anchor, n_anchor) || !make_curve(&b, test, n_test))
        return MOTUS_ERR_ARGUMENT;
    double lo = fmax(a.x[0], b.x[0]), hi = fmin(a.x[a.n - 1], b.x[b.n - 1]);
    if (hi <= lo) return MOTUS_ERR_ARGUMENT;
    *percent = 100 * (pow(10, (integral(&b, lo, hi) - integral(&a, lo, hi)) / (hi - lo)) - 1);
    return MOTUS_OK;
}
