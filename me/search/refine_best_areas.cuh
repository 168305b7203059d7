// Samples of the reference for refine_best_warp.cuh. A warp copies areas of the planes to shared
// memory, half a row of 32 bytes a lane, while it measures those before: a row of an area costs one
// access of the L1, where the lanes' own loads of it would cost four.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_SEARCH_REFINE_BEST_AREAS_CUH
#define ME_SEARCH_REFINE_BEST_AREAS_CUH

#include <stdalign.h>

#include "common/lanes.h"
#include "me/pixel/cost_core.h"
#include "me/pixel/ref_luma.h"
#include "me/pixel/words_warp.cuh"

enum {
    MOTUS_RINGS_MOST = 16,                        // MOTUS_MOST_RINGS
    MOTUS_RINGS_ENOUGH = 8,                       // MOTUS_ENOUGH_RINGS
    MOTUS_RINGS_AREA = 16 * 32 + 4 * 16 + 32,     // bytes: rows of an MB and one more
    MOTUS_RINGS_PREDICTOR = 8 * MOTUS_RINGS_MOST, // its number in the last round
    // A key is cost << CODE_BITS | code, so that the least key is the first of the best positions.
    // A code is 0 for the best one before the round, else 1 + the position's number in the round.
    // Costs have 18 bits.
    MOTUS_RINGS_CODE_BITS = 8
};

#define MOTUS_RINGS_OUTSIDE 0xC0000000u // added to keys of positions that do not count

// The MB of a warp.
typedef struct RingsMb {
    const MotusRefLuma *ref; // its planes are read
    int x, y;                // its corner
    MotusMv centre, predictor;
    uint32_t lambda_q8;
    int reach; // 4 * range + 3
} RingsMb;

// Memory that the lanes of a warp share.
typedef struct RingsShared {
    // Areas of the planes, four at a time, fetched in turn: rows of 32 samples. Behind every fourth
    // row are 16 bytes more, so that eight rows of 16 samples lie in different banks.
    alignas(16) uint8_t area[2][4][MOTUS_RINGS_AREA];
    uint32_t mv[MOTUS_BLOCKS + 1]; // a list; motus_mv_word
    // Places that the list's MVs read, found by a lane each: offsets from plane 0 of a round's
    // areas, four a ring, or of the two samples to average.
    int32_t at[2 * (MOTUS_BLOCKS + 3)];
    // Where in its areas the MB begins at each MV (bits 0 to 3), and 1/2 sample further to the left
    // (bits 4 to 7). Bit 8: both components are whole, or neither.
    uint16_t place[MOTUS_BLOCKS + 3];
    uint32_t key[MOTUS_BLOCKS];
    uint32_t found[MOTUS_BLOCKS]; // the search's MVs
    union {
        uint32_t position[MOTUS_RINGS_PREDICTOR + 1]; // MVs of a round's positions
        uint16_t sad[4][MOTUS_BLOCKS];                // at four MVs
    };
} RingsShared;

// A lane: its rows of the MB, and the least keys of the blocks of each mode that contain its 4x4
// blocks g and g + 8. 16x16 and 8x16 have one block for both.
typedef struct RingsLane {
    uint32_t cur[2];
    int at; // of its upper row in an area
    // For tensor cores: signs of samples in coefficients g and g + 8, and those coefficients of the
    // MB that the lane sums up, negated.
    uint32_t sign[2];
    int minus[2][4];
    uint32_t key[MOTUS_MODES][2];
} RingsLane;

// The lane's own blocks: numbers `lane` and 32 + lane.
typedef struct RingsOwn {
    int wanted[2];
    uint32_t mv[2]; // motus_mv_word; at first the search's
    uint32_t cost[2];
    int moved[2];    // wanted, and the MV is not the search's
    uint32_t sad[2]; // of those that moved; the others' is the search's
} RingsOwn;

// Returns the lane's upper 4x4 block, and its row there.
MOTUS_WARP int rings_cell(void) { return motus_lane() >> 2; }
MOTUS_WARP int rings_row(void) { return motus_lane() & 3; }

// Returns the block of a mode that contains the 4x4 block `cell`.
MOTUS_HD int rings_block(int mode, int cell) {
    const int x = cell & 3, y = cell >> 2;
    switch (mode) {
    case MOTUS_MODE_16x16:
        return MOTUS_BLOCK_16x16;
    case MOTUS_MODE_16x8:
        return MOTUS_BLOCK_16x8 + (y >> 1);
    case MOTUS_MODE_8x16:
        return MOTUS_BLOCK_8x16 + (x >> 1);
    case MOTUS_MODE_8x8:
        return MOTUS_BLOCK_8x8 + (y & 2) + (x >> 1);
    case MOTUS_MODE_8x4:
        return MOTUS_BLOCK_8x4 + 2 * y + (x >> 1);
    case MOTUS_MODE_4x8:
        return MOTUS_BLOCK_4x8 + 4 * (y >> 1) + x;
    default:
        return MOTUS_BLOCK_4x4 + cell;
    }
}

// True if the 4x4 block `cell` is the first one of its block of this mode.
MOTUS_HD int rings_is_first(int mode, int cell) {
    const int before = mode == MOTUS_MODE_16x16  ? 15
                       : mode == MOTUS_MODE_16x8 ? 7
                       : mode == MOTUS_MODE_8x16 ? 13
                       : mode == MOTUS_MODE_8x8  ? 5
                       : mode == MOTUS_MODE_8x4  ? 1
                       : mode == MOTUS_MODE_4x8  ? 4
                                                 : 0;
    return !(cell & before);
}

// Number of blocks of a mode that a lane knows.
MOTUS_HD int rings_halves(int mode) {
    return mode == MOTUS_MODE_16x16 || mode == MOTUS_MODE_8x16 ? 1 : 2;
}

MOTUS_WARP uint32_t rings_from(uint32_t v, int distance) {
    return motus_lanes_shuffle(v, motus_lane() ^ distance);
}

// Copies 16 bytes from memory of the device to shared memory; rings_measure waits for them.
MOTUS_WARP void rings_copy(uint8_t *to, const uint8_t *from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
#elif defined(__CUDA_ARCH__)
    *(uint4 *)to = *(const uint4 *)from;
#else
    memcpy(to, from, 16);
#endif
}

// Returns where a row of an area begins.
MOTUS_HD int rings_row_at(int row) { return 32 * row + 16 * (row >> 2); }

// Loads four samples of a row of an area, from bits / 8 bytes behind `at` on. next: those one byte
// further.
MOTUS_WARP void rings_words(const uint8_t *at, int bits, uint32_t *first, uint32_t *next) {
    const uint32_t low = *(const uint32_t *)at, high = *(const uint32_t *)(at + 4);
#ifdef __CUDA_ARCH__
    *first = __funnelshift_r(low, high, bits);
    *next = __funnelshift_rc(low, high, bits + 8);
#else
    const uint64_t both = low | (uint64_t)high << 32;
    *first = (uint32_t)(both >> bits), *next = (uint32_t)(both >> (bits + 8));
#endif
}

// Finds the MB's first samples to average at any MV, as offsets from plane 0.
MOTUS_WARP void rings_find_taps(const RingsMb *mb, MotusMv mv, int32_t at[2]) {
    const MotusRefLuma *ref = mb->ref;
    const int x = motus_ref_luma_clip(ref->width, mb->x + (mv.x >> 2)),
              y = motus_ref_luma_clip(ref->height, mb->y + (mv.y >> 2));
    const ptrdiff_t *tap = ref->tap[4 * (mv.y & 3) + (mv.x & 3)];
    for (int k = 0; k < 2; k++) at[k] = y * (int)ref->stride + x + (int)tap[k];
}

// Loads the lane's rows of the prediction from the planes; at: rings_find_taps.
MOTUS_WARP void rings_load(const RingsMb *mb, const int32_t at[2], uint32_t row[2]) {
    const int stride = (int)mb->ref->stride;
    const int cell = rings_cell(), y = 4 * (cell >> 2) + rings_row();
    const uint8_t *own = mb->ref->plane[0] + (y * stride + 4 * (cell & 3));
    uint32_t other, unused;
    for (int h = 0; h < 2; h++) {
        const uint8_t *from = own + 8 * h * stride;
        rings_words(from + (at[0] & ~3), 8 * (at[0] & 3), &row[h], &unused);
        rings_words(from + (at[1] & ~3), 8 * (at[1] & 3), &other, &unused);
        row[h] = motus_words_average(row[h], other);
    }
}

// Returns the position of the MB displaced by v quarter samples, in half samples.
MOTUS_HD int rings_position(int corner, int v, int size) {
    return motus_clip(-2 * 24, 2 * (size + 8), 2 * corner + (v >> 1)) | (v >> 1 & 1);
}

// Returns the lane's word of area 0 whose MB begins at column x, 0..15; its byte is x & 3.
MOTUS_WARP const uint8_t *rings_word(const RingsShared *s, const RingsLane *lane, int turn, int x) {
    return s->area[turn][0] + lane->at + (x & 12);
}

// Loads the lane's rows at four MVs of whole samples, once they are fetched; place: of each.
MOTUS_WARP void rings_load_four(const RingsShared *s, const RingsLane *lane, int turn,
                                const uint16_t place[4], uint32_t row[4][2]) {
    for (int i = 0; i < 4; i++) {
        const uint8_t *at = rings_word(s, lane, turn, place[i]) + i * MOTUS_RINGS_AREA;
        uint32_t unused;
        for (int h = 0; h < 2; h++)
            rings_words(at + h * rings_row_at(8), 8 * (place[i] & 3), &row[i][h], &unused);
    }
}

// Loads the lane's rows at the upper (below: the lower) four positions of a ring that is fetched,
// `step` quarter samples from its middle at `place`: three in a line, then the left (right) one.
// Its middle row and column are in the planes of the MV's parity, the others in those of the
// opposite parity: area 0 has the middle, 1 the sides, 2 the rows above and below, 3 the corners. A
// quarter-sample position in a straight direction averages the middle and its neighbour half a
// sample away; a diagonal one averages those two corners of its square that are half-sample in one
// direction only.
MOTUS_WARP void rings_load_half(const RingsShared *s, const RingsLane *lane, int turn,
                                uint32_t place, int step, int below, uint32_t row[4][2]) {
    const int x = (int)place & 15, side = (int)place >> 4 & 15, even = (int)place >> 8;
    const int down = below ? rings_row() == 3 ? 48 : 32 : 0,
              bits[2] = {8 * (x & 3), 8 * (side & 3)};
    const uint8_t *at[2] = {rings_word(s, lane, turn, x), rings_word(s, lane, turn, side)};
    const uint8_t *beyond[2] = {at[0] + down, at[1] + down};
    for (int h = 0; h < 2; h++) {
        const int r = h * rings_row_at(8);
        uint32_t middle, left, right, outer[3], unused;
        rings_words(at[0] + r, bits[0], &middle, &unused);
        rings_words(at[1] + r + MOTUS_RINGS_AREA, bits[1], &left, &right);
        rings_words(beyond[0] + r + 2 * MOTUS_RINGS_AREA, bits[0], &outer[1], &unused);
        rings_words(beyond[1] + r + 3 * MOTUS_RINGS_AREA, bits[1], &outer[0], &outer[2]);
        row[0][h] = outer[0], row[1][h] = outer[1], row[2][h] = outer[2];
        row[3][h] = below ? right : left;
        if (step == 2) continue;
        row[0][h] = motus_words_average(even ? left : middle, even ? outer[1] : outer[0]);
        row[1][h] = motus_words_average(middle, outer[1]);
        row[2][h] = motus_words_average(even ? right : middle, even ? outer[1] : outer[2]);
        row[3][h] = motus_words_average(middle, row[3][h]);
    }
}

#endif
