// SPDX-License-Identifier: BSD-2-Clause
#include "tools/view/view_colors.h"

#include <math.h>

#define HUES 55
#define PI 3.14159265358979323846

// How many steps the wheel takes between red, yellow, green, cyan, blue, magenta and red again: as
// many as people tell apart.
static const int steps[6] = {15, 6, 4, 11, 13, 6};

// Hue number 0..54 as parts of red, green, blue.
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
