// An RGB picture to draw on: rectangles, smooth lines, discs and triangles, text; and colours for
// vectors and values.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_VIEW_CANVAS_H
#define TOOLS_VIEW_CANVAS_H

#include "motus/frame.h"

typedef struct MotusColor {
    uint8_t r, g, b;
} MotusColor;

// RGB24. Drawing is clipped to it.
typedef struct MotusCanvas {
    MotusPlane rgb; // width is 3 * pixels
    int width, height;
} MotusCanvas;

MotusStatus motus_canvas_alloc(MotusCanvas *canvas, int width, int height, MotusColor paper);
void motus_canvas_free(MotusCanvas *canvas);

// Mix the colour in: alpha 0 (nothing) .. 255 (all of it).
void motus_canvas_dot(const MotusCanvas *canvas, int x, int y, MotusColor color, int alpha);
void motus_canvas_rect(const MotusCanvas *canvas, int x, int y, int width, int height,
                       MotusColor color, int alpha);

// Draw a line between two points, or a disc, with smooth edges. Pixel centres have whole
// coordinates.
void motus_canvas_line(const MotusCanvas *canvas, double x0, double y0, double x1, double y1,
                       double thickness, MotusColor color);
void motus_canvas_disc(const MotusCanvas *canvas, double x, double y, double radius,
                       MotusColor color);

// Fills a triangle of three points (x, y) with smooth edges, larger by `grow` pixels all around.
void motus_canvas_triangle(const MotusCanvas *canvas, const double points[3][2], double grow,
                           MotusColor color);

// Pixels at scale 1: the gap to the next glyph included; two rows below the line included.
enum { MOTUS_GLYPH_WIDTH = 6, MOTUS_GLYPH_HEIGHT = 9 };

// Writes UTF-8 with the top left corner at (x, y); a box stands for each character beyond ASCII.
void motus_canvas_text(const MotusCanvas *canvas, int x, int y, int scale, const char *text,
                       MotusColor color);

// Returns the number of glyphs of a text.
int motus_canvas_letters(const char *text);

// Returns the colour of a movement (dx right, dy down) on the usual wheel of optical flow (Baker et
// al., "A Database and Evaluation Methodology for Optical Flow"). The hue is the direction: right
// red, down yellow, left cyan, up violet; the saturation the length up to `most`, beyond which
// colours get darker. most 0: the full hue.
MotusColor motus_flow_color(double dx, double dy, double most);

// Returns a colour from dark violet (0) to yellow (1 and above), with increasing lightness.
MotusColor motus_heat_color(double share);

#endif
