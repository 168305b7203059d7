// SPDX-License-Identifier: BSD-2-Clause
#include "tools/view/canvas.h"

#include <math.h>
#include <stddef.h>

#include "common/alloc.h"
#include "common/int_core.h"

MotusStatus motus_canvas_alloc(MotusCanvas *canvas, int width, int height, MotusColor paper) {
    uint8_t *data = motus_alloc((size_t)width * 3, (size_t)height);
    *canvas = (MotusCanvas){{data, 3 * (ptrdiff_t)width, 3 * width, height}, width, height};
    if (!data) return MOTUS_ERR_MEMORY;
    motus_canvas_rect(canvas, 0, 0, width, height, paper, 255);
    return MOTUS_OK;
}

void motus_canvas_free(MotusCanvas *canvas) {
    motus_free(canvas->rgb.data);
    canvas->rgb.data = NULL;
}

static uint8_t mixed(uint8_t under, uint8_t over, int alpha) {
    return (uint8_t)((under * (255 - alpha) + over * alpha + 127) / 255);
}

void motus_canvas_dot(const MotusCanvas *c, int x, int y, MotusColor color, int alpha) {
    if (x < 0 || y < 0 || x >= c->width || y >= c->height) return;
    uint8_t *p = c->rgb.data + y * c->rgb.stride + 3 * x;
    p[0] = mixed(p[0], color.r, alpha);
    p[1] = mixed(p[1], color.g, alpha);
    p[2] = mixed(p[2], color.b, alpha);
}

void motus_canvas_rect(const MotusCanvas *c, int x, int y, int width, int height, MotusColor color,
                       int alpha) {
    int right = motus_min(x + width, c->width), bottom = motus_min(y + height, c->height);
    for (int v = motus_max(y, 0); v < bottom; v++)
        for (int u = motus_max(x, 0); u < right; u++) motus_canvas_dot(c, u, v, color, alpha);
}

// Returns the alpha of a pixel whose centre lies `outside` pixels beyond an edge, in quarters: few
// colours make small files.
static int coverage(double outside) {
    return (int)lround(4 * fmin(fmax(0.5 - outside, 0), 1)) * 255 / 4;
}

void motus_canvas_line(const MotusCanvas *c, double x0, double y0, double x1, double y1,
                       double thickness, MotusColor color) {
    double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy, reach = thickness / 2 + 1;
    int left = motus_max((int)floor(fmin(x0, x1) - reach), 0),
        right = motus_min((int)ceil(fmax(x0, x1) + reach), c->width - 1);
    int top = motus_max((int)floor(fmin(y0, y1) - reach), 0),
        bottom = motus_min((int)ceil(fmax(y0, y1) + reach), c->height - 1);
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            double along =
                length2 > 0 ? fmin(fmax(((x - x0) * dx + (y - y0) * dy) / length2, 0), 1) : 0;
            int alpha = coverage(hypot(x - x0 - along * dx, y - y0 - along * dy) - thickness / 2);
            if (alpha) motus_canvas_dot(c, x, y, color, alpha);
        }
}

void motus_canvas_disc(const MotusCanvas *c, double x, double y, double radius, MotusColor color) {
    motus_canvas_line(c, x, y, x, y, 2 * radius, color);
}

// Returns how far (x, y) lies on the outer side of the line from a to b; `side` is 1 or -1.
static double beyond(const double a[2], const double b[2], double x, double y, int side) {
    double dx = b[0] - a[0], dy = b[1] - a[1], length = hypot(dx, dy);
    return length > 0 ? side * ((x - a[0]) * dy - (y - a[1]) * dx) / length : 0;
}

void motus_canvas_triangle(const MotusCanvas *c, const double p[3][2], double grow,
                           MotusColor color) {
    double left = fmin(fmin(p[0][0], p[1][0]), p[2][0]) - grow - 1,
           right = fmax(fmax(p[0][0], p[1][0]), p[2][0]) + grow + 1,
           top = fmin(fmin(p[0][1], p[1][1]), p[2][1]) - grow - 1,
           bottom = fmax(fmax(p[0][1], p[1][1]), p[2][1]) + grow + 1;
    int side = beyond(p[0], p[1], p[2][0], p[2][1], 1) > 0 ? -1 : 1;
    for (int y = motus_max((int)floor(top), 0); y <= motus_min((int)bottom, c->height - 1); y++)
        for (int x = motus_max((int)floor(left), 0); x <= motus_min((int)right, c->width - 1);
             x++) {
            double outside = beyond(p[0], p[1], x, y, side);
            outside = fmax(outside, beyond(p[1], p[2], x, y, side));
            outside = fmax(outside, beyond(p[2], p[0], x, y, side));
            int alpha = coverage(outside - grow);
            if (alpha) motus_canvas_dot(c, x, y, color, alpha);
        }
}

// ---- Text ---------------------------------------------------------------------------------------

// Pixel rows of the printable characters of ASCII, from ' ' on: five pixels, the leftmost is bit 4;
// the last two rows lie below the line.
static const uint8_t glyphs[][MOTUS_GLYPH_HEIGHT] = {
    {0},                                // space
    {4, 4, 4, 4, 4, 0, 4},              // !
    {10, 10, 10},                       // "
    {10, 10, 31, 10, 31, 10, 10},       // #
    {4, 15, 20, 14, 5, 30, 4},          // $
    {25, 25, 2, 4, 8, 19, 19},          // %
    {12, 18, 20, 8, 21, 18, 13},        // &
    {4, 4, 4},                          // '
    {2, 4, 8, 8, 8, 4, 2},              // (
    {8, 4, 2, 2, 2, 4, 8},              // )
    {0, 4, 21, 14, 21, 4},              // *
    {0, 4, 4, 31, 4, 4},                // +
    {0, 0, 0, 0, 0, 12, 12, 4, 8},      // ,
    {0, 0, 0, 31},                      // -
    {0, 0, 0, 0, 0, 12, 12},            // .
    {1, 1, 2, 4, 8, 16, 16},            // /
    {14, 17, 19, 21, 25, 17, 14},       // 0
    {4, 12, 4, 4, 4, 4, 14},            // 1
    {14, 17, 1, 2, 4, 8, 31},           // 2
    {30, 1, 1, 14, 1, 1, 30},           // 3
    {2, 6, 10, 18, 31, 2, 2},           // 4
    {31, 16, 30, 1, 1, 17, 14},         // 5
    {6, 8, 16, 30, 17, 17, 14},         // 6
    {31, 1, 2, 4, 8, 8, 8},             // 7
    {14, 17, 17, 14, 17, 17, 14},       // 8
    {14, 17, 17, 15, 1, 2, 12},         // 9
    {0, 12, 12, 0, 12, 12},             // :
    {0, 12, 12, 0, 0, 12, 12, 4, 8},    // ;
    {2, 4, 8, 16, 8, 4, 2},             // <
    {0, 0, 31, 0, 31},                  // =
    {8, 4, 2, 1, 2, 4, 8},              // >
    {14, 17, 1, 2, 4, 0, 4},            // ?
    {14, 17, 1, 13, 21, 21, 14},        // @
    {14, 17, 17, 31, 17, 17, 17},       // A
    {30, 17, 17, 30, 17, 17, 30},       // B
    {14, 17, 16, 16, 16, 17, 14},       // C
    {30, 17, 17, 17, 17, 17, 30},       // D
    {31, 16, 16, 30, 16, 16, 31},       // E
    {31, 16, 16, 30, 16, 16, 16},       // F
    {14, 17, 16, 23, 17, 17, 15},       // G
    {17, 17, 17, 31, 17, 17, 17},       // H
    {14, 4, 4, 4, 4, 4, 14},            // I
    {7, 2, 2, 2, 2, 18, 12},            // J
    {17, 18, 20, 24, 20, 18, 17},       // K
    {16, 16, 16, 16, 16, 16, 31},       // L
    {17, 27, 21, 21, 17, 17, 17},       // M
    {17, 25, 21, 19, 17, 17, 17},       // N
    {14, 17, 17, 17, 17, 17, 14},       // O
    {30, 17, 17, 30, 16, 16, 16},       // P
    {14, 17, 17, 17, 21, 18, 13},       // Q
    {30, 17, 17, 30, 20, 18, 17},       // R
    {15, 16, 16, 14, 1, 1, 30},         // S
    {31, 4, 4, 4, 4, 4, 4},             // T
    {17, 17, 17, 17, 17, 17, 14},       // U
    {17, 17, 17, 17, 17, 10, 4},        // V
    {17, 17, 17, 21, 21, 27, 17},       // W
    {17, 17, 10, 4, 10, 17, 17},        // X
    {17, 17, 10, 4, 4, 4, 4},           // Y
    {31, 1, 2, 4, 8, 16, 31},           // Z
    {14, 8, 8, 8, 8, 8, 14},            // [
    {16, 16, 8, 4, 2, 1, 1},            // backslash
    {14, 2, 2, 2, 2, 2, 14},            // ]
    {4, 10, 17},                        // ^
    {0, 0, 0, 0, 0, 0, 0, 31},          // _
    {8, 4, 2},                          // `
    {0, 0, 14, 1, 15, 17, 15},          // a
    {16, 16, 22, 25, 17, 17, 30},       // b
    {0, 0, 14, 16, 16, 17, 14},         // c
    {1, 1, 13, 19, 17, 17, 15},         // d
    {0, 0, 14, 17, 31, 16, 14},         // e
    {6, 9, 8, 28, 8, 8, 8},             // f
    {0, 0, 15, 17, 17, 17, 15, 1, 14},  // g
    {16, 16, 22, 25, 17, 17, 17},       // h
    {4, 0, 12, 4, 4, 4, 14},            // i
    {2, 0, 6, 2, 2, 2, 2, 18, 12},      // j
    {16, 16, 18, 20, 24, 20, 18},       // k
    {12, 4, 4, 4, 4, 4, 14},            // l
    {0, 0, 26, 21, 21, 17, 17},         // m
    {0, 0, 22, 25, 17, 17, 17},         // n
    {0, 0, 14, 17, 17, 17, 14},         // o
    {0, 0, 30, 17, 17, 17, 30, 16, 16}, // p
    {0, 0, 15, 17, 17, 17, 15, 1, 1},   // q
    {0, 0, 22, 25, 16, 16, 16},         // r
    {0, 0, 15, 16, 14, 1, 30},          // s
    {8, 8, 28, 8, 8, 9, 6},             // t
    {0, 0, 17, 17, 17, 19, 13},         // u
    {0, 0, 17, 17, 17, 10, 4},          // v
    {0, 0, 17, 17, 21, 21, 10},         // w
    {0, 0, 17, 10, 4, 10, 17},          // x
    {0, 0, 17, 17, 17, 17, 15, 1, 14},  // y
    {0, 0, 31, 2, 4, 8, 31},            // z
    {2, 4, 4, 8, 4, 4, 2},              // {
    {4, 4, 4, 4, 4, 4, 4, 4, 4},        // |
    {8, 4, 4, 2, 4, 4, 8},              // }
    {0, 0, 8, 21, 2},                   // ~
};

// Stands for all other characters.
static const uint8_t unknown[MOTUS_GLYPH_HEIGHT] = {31, 17, 17, 17, 17, 17, 31};

int motus_canvas_letters(const char *text) {
    int n = 0;
    for (; *text; text++) n += (*text & 0xC0) != 0x80; // bytes of UTF-8 that begin a character
    return n;
}

static void draw_glyph(const MotusCanvas *c, int x, int y, int scale, const uint8_t *rows,
                       MotusColor color) {
    for (int row = 0; row < MOTUS_GLYPH_HEIGHT; row++)
        for (int column = 0; column < 5; column++)
            if (rows[row] >> (4 - column) & 1)
                motus_canvas_rect(c, x + column * scale, y + row * scale, scale, scale, color, 255);
}

void motus_canvas_text(const MotusCanvas *c, int x, int y, int scale, const char *text,
                       MotusColor color) {
    for (; *text; text++) {
        if ((*text & 0xC0) == 0x80) continue;
        draw_glyph(c, x, y, scale, *text >= ' ' && *text <= '~' ? glyphs[*text - ' '] : unknown,
                   color);
        x += MOTUS_GLYPH_WIDTH * scale;
    }
}

// ---- Colours ------------------------------------------------------------------------------------

#define HUES 55
#define PI 3.14159265358979323846

// Steps of the wheel between red, yellow, green, cyan, blue, magenta and red, as perceived.
static const int steps[6] = {15, 6, 4, 11, 13, 6};

// Converts hue number 0..54 to shares of red, green, blue.
static void hue(int number, double rgb[3]) {
    static const int corners[7][3] = {{1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 1, 1},
                                      {0, 0, 1}, {1, 0, 1}, {1, 0, 0}};
    int sector = 0;
    while (number >= steps[sector]) number -= steps[sector++];
    double share = (double)number / steps[sector];
    for (int i = 0; i < 3; i++)
        rgb[i] = corners[sector][i] + share * (corners[sector + 1][i] - corners[sector][i]);
}

static uint8_t level(double v) { return (uint8_t)lround(255 * fmin(fmax(v, 0), 1)); }

MotusColor motus_flow_color(double dx, double dy, double most) {
    double at = (atan2(-dy, -dx) / PI + 1) / 2 * HUES, share = at - floor(at),
           length = most > 0 ? hypot(dx, dy) / most : 1;
    double first[3], second[3], rgb[3];
    hue((int)at % HUES, first);
    hue(((int)at + 1) % HUES, second);
    for (int i = 0; i < 3; i++) {
        double full = first[i] + share * (second[i] - first[i]);
        rgb[i] = length <= 1 ? 1 - length * (1 - full) : 0.75 * full;
    }
    return (MotusColor){level(rgb[0]), level(rgb[1]), level(rgb[2])};
}

MotusColor motus_heat_color(double share) {
    static const uint8_t stops[6][3] = {{68, 1, 84},    {65, 68, 135},  {42, 120, 142},
                                        {34, 168, 132}, {122, 209, 81}, {253, 231, 37}};
    double at = 5 * fmin(fmax(share, 0), 1);
    int i = at >= 5 ? 4 : (int)at;
    uint8_t rgb[3];
    for (int c = 0; c < 3; c++)
        rgb[c] = level((stops[i][c] + (at - i) * (stops[i + 1][c] - stops[i][c])) / 255);
    return (MotusColor){rgb[0], rgb[1], rgb[2]};
}
