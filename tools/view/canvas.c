// SPDX-License-Identifier: BSD-2-Clause
#include "tools/view/canvas.h"

#include <ctype.h>
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

// ---- Text ---------------------------------------------------------------------------------------

// Seven rows of five pixels; the leftmost is bit 4.
typedef struct Glyph {
    char letter;
    uint8_t rows[MOTUS_GLYPH_HEIGHT];
} Glyph;

// The last one stands for unknown characters.
static const Glyph glyphs[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}},
    {'1', {4, 12, 4, 4, 4, 4, 14}},
    {'2', {14, 17, 1, 2, 4, 8, 31}},
    {'3', {30, 1, 1, 14, 1, 1, 30}},
    {'4', {2, 6, 10, 18, 31, 2, 2}},
    {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},
    {'7', {31, 1, 2, 4, 8, 8, 8}},
    {'8', {14, 17, 17, 14, 17, 17, 14}},
    {'9', {14, 17, 17, 15, 1, 2, 12}},
    {'A', {14, 17, 17, 31, 17, 17, 17}},
    {'B', {30, 17, 17, 30, 17, 17, 30}},
    {'C', {14, 17, 16, 16, 16, 17, 14}},
    {'D', {30, 17, 17, 17, 17, 17, 30}},
    {'E', {31, 16, 16, 30, 16, 16, 31}},
    {'F', {31, 16, 16, 30, 16, 16, 16}},
    {'G', {14, 17, 16, 23, 17, 17, 15}},
    {'H', {17, 17, 17, 31, 17, 17, 17}},
    {'I', {14, 4, 4, 4, 4, 4, 14}},
    {'J', {7, 2, 2, 2, 2, 18, 12}},
    {'K', {17, 18, 20, 24, 20, 18, 17}},
    {'L', {16, 16, 16, 16, 16, 16, 31}},
    {'M', {17, 27, 21, 21, 17, 17, 17}},
    {'N', {17, 25, 21, 19, 17, 17, 17}},
    {'O', {14, 17, 17, 17, 17, 17, 14}},
    {'P', {30, 17, 17, 30, 16, 16, 16}},
    {'Q', {14, 17, 17, 17, 21, 18, 13}},
    {'R', {30, 17, 17, 30, 20, 18, 17}},
    {'S', {15, 16, 16, 14, 1, 1, 30}},
    {'T', {31, 4, 4, 4, 4, 4, 4}},
    {'U', {17, 17, 17, 17, 17, 17, 14}},
    {'V', {17, 17, 17, 17, 17, 10, 4}},
    {'W', {17, 17, 17, 21, 21, 27, 17}},
    {'X', {17, 17, 10, 4, 10, 17, 17}},
    {'Y', {17, 17, 10, 4, 4, 4, 4}},
    {'Z', {31, 1, 2, 4, 8, 16, 31}},
    {'.', {0, 0, 0, 0, 0, 12, 12}},
    {',', {0, 0, 0, 0, 12, 4, 8}},
    {':', {0, 12, 12, 0, 12, 12, 0}},
    {'-', {0, 0, 0, 31, 0, 0, 0}},
    {'_', {0, 0, 0, 0, 0, 0, 31}},
    {'/', {1, 1, 2, 4, 8, 16, 16}},
    {'%', {25, 25, 2, 4, 8, 19, 19}},
    {'(', {2, 4, 8, 8, 8, 4, 2}},
    {')', {8, 4, 2, 2, 2, 4, 8}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},
    {'=', {0, 0, 31, 0, 31, 0, 0}},
    {'>', {8, 4, 2, 1, 2, 4, 8}},
    {' ', {0}},
    {'?', {14, 17, 1, 2, 4, 0, 4}},
};

static const Glyph *glyph_of(char letter) {
    const Glyph *last = glyphs + sizeof glyphs / sizeof *glyphs - 1, *g = glyphs;
    int capital = toupper((unsigned char)letter);
    while (g < last && g->letter != capital) g++;
    return g;
}

void motus_canvas_text(const MotusCanvas *c, int x, int y, int scale, const char *text, int limit,
                       MotusColor color) {
    for (int i = 0; i < limit && text[i]; i++, x += MOTUS_GLYPH_WIDTH * scale) {
        const Glyph *g = glyph_of(text[i]);
        for (int row = 0; row < MOTUS_GLYPH_HEIGHT; row++)
            for (int column = 0; column < 5; column++)
                if (g->rows[row] >> (4 - column) & 1)
                    motus_canvas_rect(c, x + column * scale, y + row * scale, scale, scale, color,
                                      255);
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
