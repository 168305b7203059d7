// A picture in RGB to draw on: rectangles, smooth lines and discs, text in capitals.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_VIEW_CANVAS_H
#define TOOLS_VIEW_CANVAS_H

#include "motus/frame.h"

typedef struct MotusColor {
    uint8_t r, g, b;
} MotusColor;

// RGB24; what lies outside is not drawn.
typedef struct MotusCanvas {
    MotusPlane rgb; // width is 3 * pixels
    int width, height;
} MotusCanvas;

MotusStatus motus_canvas_alloc(MotusCanvas *canvas, int width, int height, MotusColor paper);
void motus_canvas_free(MotusCanvas *canvas);

// Mixes the colour in: alpha 0 (nothing) .. 255 (all of it).
void motus_canvas_dot(const MotusCanvas *canvas, int x, int y, MotusColor color, int alpha);
void motus_canvas_rect(const MotusCanvas *canvas, int x, int y, int width, int height,
                       MotusColor color, int alpha);

// A line between two points (pixel centres have whole coordinates) and a disc, with smooth edges.
void motus_canvas_line(const MotusCanvas *canvas, double x0, double y0, double x1, double y1,
                       double thickness, MotusColor color);
void motus_canvas_disc(const MotusCanvas *canvas, double x, double y, double radius,
                       MotusColor color);

enum {
    MOTUS_GLYPH_WIDTH = 6,
    MOTUS_GLYPH_HEIGHT = 7
}; // pixels at scale 1, the gap to the next one included

// Writes `text` with its top left corner at (x, y), letters as capitals, `limit` characters at
// most.
void motus_canvas_text(const MotusCanvas *canvas, int x, int y, int scale, const char *text,
                       int limit, MotusColor color);

#endif
