// Levels of intra MBs whose types are known (MOTUS_LEVELS_GUESSED): no level waits for another, and
// bits are guessed from counts, alike for CAVLC and CABAC. The CPU and warps share these steps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LEVELS_LEVELS_GUESS_CORE_H
#define ENCODER_LEVELS_LEVELS_GUESS_CORE_H

#include "encoder/levels/levels_core.h"

// Guessed bits of an MB's levels up to which its true bits are taken to be below
// MOTUS_MB_BITS_LIMIT, 3.25 times as many: few blocks take three times their guess. Above, they are
// counted.
#define MOTUS_GUESS_TRUSTED 800

// Guesses, in 1/4 of a bit, of a block without levels and of one with some; of each zero below the
// last level.
enum {
    MOTUS_GUESS_NONE = 16,
    MOTUS_GUESS_SOME = 22,
    MOTUS_GUESS_ZERO = 3,
    MOTUS_GUESS_SOME8 = 8, // of an 8x8 block; 0 without levels
    MOTUS_GUESS_ZERO8 = 2,
};

// Returns the nearest level to a coefficient of t / 256 levels that may have one, with a dead zone.
MOTUS_HD int motus_guess_magnitude(int t) { return motus_clip(1, MOTUS_MAX_LEVEL, (t + 115) >> 8); }

// Returns the guess for a level, in 1/4 of a bit.
MOTUS_HD int motus_guess_level(int magnitude) {
    return 6 + 6 * motus_min(magnitude, 16) + 4 * (motus_bit_length((uint32_t)magnitude | 15) - 4);
}

// True if a level of 1 of a 4x4 block lowers SSD by less than its bits cost. gap: zeros between it
// and the next coefficient below that may have a level.
MOTUS_HD int motus_guess_drops(int t, int is_last, int gap, uint32_t rate) {
    return motus_level_ssd_drop(t, 1) <= (int32_t)(rate * (uint32_t)(is_last ? 19 + gap : 12) / 4);
}

// Returns a number of 1/4 bits in parts of a bit of motus_unit_of.
MOTUS_HD uint32_t motus_guess_in(int quarters, const MotusLevelChoice *choice) {
    return (uint32_t)quarters * motus_unit_of(choice) / 4;
}

// Returns the result for a 4x4 block. n, sum, ssd_drop: number, guesses and drop of SSD of its
// levels; zeros: below the last one.
MOTUS_HD MotusLevels motus_guessed_levels(int n, int sum, int zeros, int32_t ssd_drop,
                                          uint32_t rate, const MotusLevelChoice *choice) {
    const uint32_t none = motus_guess_in(MOTUS_GUESS_NONE, choice),
                   some = motus_guess_in(MOTUS_GUESS_SOME + sum + MOTUS_GUESS_ZERO * zeros, choice);
    const int pays = n && motus_ssd_drop_pays(ssd_drop, some - none, rate, choice);
    const MotusLevels levels = {pays ? n : 0, pays ? some : none, pays ? ssd_drop : 0};
    return levels;
}

// Returns the guess for an 8x8 block, in 1/256 bit.
MOTUS_HD uint32_t motus_guessed_bits8(int sum, int zeros) {
    return (uint32_t)(MOTUS_GUESS_SOME8 + sum + MOTUS_GUESS_ZERO8 * zeros) * MOTUS_BIT / 4;
}

#endif
