// Luma sample interpolation, 8.4.2.2.1: the 6-tap filter, and where each quarter position comes
// from.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SAMPLES_LUMA_CORE_H
#define ME_SAMPLES_LUMA_CORE_H

#include <stdint.h>

#include "common/int_core.h"

// The filter (1, -5, 20, 20, -5, 1). Over samples: -2550..10710, which fits int16. Over such sums
// again: -214,200..475,320.
MOTUS_HD int motus_six_tap(int e, int f, int g, int h, int i, int j) {
    return (e + j) - 5 * (f + i) + 20 * (g + h);
}

MOTUS_HD uint8_t motus_round_once(int sum) { return motus_clip_u8((sum + 16) >> 5); }    // b, h
MOTUS_HD uint8_t motus_round_twice(int sum) { return motus_clip_u8((sum + 512) >> 10); } // j

// A quarter position is a sample of one half plane (numbered as in MotusRefLuma: 0 G, 1 b, 2 h, 3
// j), or the rounded-up average of two; x and y say whether the sample to the right or below is
// meant.
typedef struct MotusQuarterTap {
    uint8_t plane, x, y;
} MotusQuarterTap;

// First and second tap of position (mv.x & 3, mv.y & 3); equal where nothing is averaged. Letters
// as in figure 8-4.
MOTUS_HD void motus_quarter_taps(int fx, int fy, MotusQuarterTap tap[2]) {
    // The sample nearest in the row direction (G, b or, from 3 on, the next G) and in the column
    // direction meet in the middle.
    MotusQuarterTap first = {(uint8_t)(fx != 0), 0, (uint8_t)(fy == 3)}; // G or b of the nearer row
    MotusQuarterTap second = {(uint8_t)(fy ? 2 : 0), (uint8_t)(fx == 3),
                              0}; // G or h of the nearer column
    if (fx == 2 && fy == 2)
        first = second = (MotusQuarterTap){3, 0, 0}; // j
    else if (fx == 2 && fy)
        second = (MotusQuarterTap){3, 0, 0}; // f, q
    else if (fy == 2 && fx)
        first = (MotusQuarterTap){3, 0, 0}; // i, k
    else if (fx == 2)
        second = first; // b
    else if (fy == 2)
        first = second; // h
    tap[0] = first;
    tap[1] = second;
}

#endif
