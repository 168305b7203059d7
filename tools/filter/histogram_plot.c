// SPDX-License-Identifier: BSD-2-Clause
#include "tools/filter/histogram_plot.h"

#include <string.h>

#include "common/error.h"
#include "tools/filter/one_frame.h"
#include "tools/media/png.h"

enum { BAR = 3, HEIGHT = 200, MARGIN = 8, PAPER = 255, INK = 90, LINE = 0 };

static void draw(const MotusPlane *p, int top, const uint32_t counts[256]) {
    uint64_t most = 1, total = 0, sum = 0;
    for (int k = 0; k < 256; k++) total += counts[k], most = counts[k] > most ? counts[k] : most;
    for (int k = 0; k < 256; k++) {
        int height = (int)(counts[k] * (uint64_t)HEIGHT / most), x = MARGIN + BAR * k;
        for (int y = 0; y < height; y++)
            memset(p->data + (top + HEIGHT - 1 - y) * p->stride + x, INK, BAR - 1);
        sum += counts[k];
        memset(p->data +
                   (top + HEIGHT - 1 - (int)(total ? sum * (HEIGHT - 1) / total : 0)) * p->stride +
                   x,
               LINE, BAR);
    }
    memset(p->data + (top + HEIGHT) * p->stride + MARGIN, LINE, BAR * 256);
}

MotusStatus motus_histogram_plot(const char *path, const uint32_t before[256],
                                 const uint32_t after[256], MotusError *error) {
    MotusPlane p = motus_plane_new(256 * BAR + 2 * MARGIN, 2 * HEIGHT + 3 * MARGIN);
    if (!p.data) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    memset(p.data, PAPER, (size_t)p.width * (size_t)p.height);
    draw(&p, MARGIN, before);
    draw(&p, HEIGHT + 2 * MARGIN, after);
    MotusStatus status = motus_png_write(path, &p, 1, error);
    motus_plane_free(&p);
    return status;
}
