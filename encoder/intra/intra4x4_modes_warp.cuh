// Prediction and SATD of an Intra4x4 mode by one lane of a warp, in words of four samples; part of
// intra4x4_warp.cuh.
// Equals motus_intra4x4 (encoder/mb/intra_core.h) and motus_satd4x4: suite `lanes`.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA4X4_MODES_WARP_CUH
#define ENCODER_INTRA_INTRA4X4_MODES_WARP_CUH

#include <string.h>

#include "common/lanes.h"
#include "encoder/intra/intra_trial_core.h"
#include "encoder/mb/intra_core.h"
#include "me/pixel/words_warp.cuh"

// ---- Words --------------------------------------------------------------------------------------

// A word of four signed bytes, the first one lowest. A macro, so that it is a constant.
#define MOTUS_BYTES(a, b, c, d)                                                                    \
    ((uint32_t)((a)&255) | (uint32_t)((b)&255) << 8 | (uint32_t)((c)&255) << 16 |                  \
     (uint32_t)((d)&255) << 24)

// Returns sum + the products of four samples and four signed bytes.
MOTUS_WARP int motus_dot4(uint32_t samples, uint32_t factors, int sum) {
#ifdef __CUDA_ARCH__
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(sum) : "r"(samples), "r"(factors), "r"(sum));
#else
    for (int i = 0; i < 4; i++) sum += motus_word_sample(samples, i) * (int8_t)(factors >> (8 * i));
#endif
    return sum;
}

MOTUS_WARP int motus_sum_of_samples(uint32_t word) { return motus_dot4(word, 0x01010101, 0); }

// Returns motus_satd4x4 of rows in words. Differences of two samples are packed as low + (high <<
// 16) modulo 2^32, which sums and differences preserve; a coefficient is within +-4080. The last
// step of the transform: |a + b| + |a - b| is twice the larger of |a| and |b|.
MOTUS_WARP uint32_t motus_satd_rows(const uint32_t a[4], const uint32_t b[4]) {
    uint32_t v[4][2];
    int sum = 0;
    for (int y = 0; y < 4; y++)
        for (int i = 0; i < 2; i++) {
            uint32_t s = a[y] >> (16 * i), p = b[y] >> (16 * i);
            v[y][i] = ((s & 255) | (s & 0xFF00) << 8) - ((p & 255) | (p & 0xFF00) << 8);
        }
    for (int i = 0; i < 2; i++) {
        uint32_t s0 = v[0][i] + v[1][i], d0 = v[0][i] - v[1][i], s1 = v[2][i] + v[3][i],
                 d1 = v[2][i] - v[3][i];
        v[0][i] = s0 + s1, v[1][i] = d0 + d1, v[2][i] = s0 - s1, v[3][i] = d0 - d1;
    }
    for (int y = 0; y < 4; y++)
        for (int i = 0; i < 2; i++) {
            uint32_t both = i ? v[y][0] - v[y][1] : v[y][0] + v[y][1];
            sum += motus_max(motus_abs((int16_t)both), motus_abs((int32_t)(both + 0x8000) >> 16));
        }
    return (uint32_t)sum;
}

// Returns row k of the 4x4 Hadamard transform.
MOTUS_WARP uint32_t motus_hadamard_bytes(int k) {
    return k == 0   ? MOTUS_BYTES(1, 1, 1, 1)
           : k == 1 ? MOTUS_BYTES(1, 1, -1, -1)
           : k == 2 ? MOTUS_BYTES(1, -1, -1, 1)
                    : MOTUS_BYTES(1, -1, 1, -1);
}

// Returns motus_satd4x4 of a prediction. minus[4 * y + k]: the negated transforms of the source's
// rows. The last step is that of motus_satd_rows.
MOTUS_WARP uint32_t motus_satd_with(const int32_t minus[16], const uint32_t pred[4]) {
    int v[4][4], sum = 0;
    for (int y = 0; y < 4; y++) {
        int32_t own[4];
        memcpy(own, __builtin_assume_aligned(minus + 4 * y, 16), 16);
        for (int k = 0; k < 4; k++) v[y][k] = motus_dot4(pred[y], motus_hadamard_bytes(k), own[k]);
    }
    for (int k = 0; k < 4; k++) {
        sum += motus_max(motus_abs(v[0][k] + v[2][k]), motus_abs(v[1][k] + v[3][k]));
        sum += motus_max(motus_abs(v[0][k] - v[2][k]), motus_abs(v[1][k] - v[3][k]));
    }
    return (uint32_t)sum;
}

// ---- Prediction ---------------------------------------------------------------------------------

// Bytes of `runs`. Every row of every mode but DC is four consecutive ones.
enum {
    MOTUS_RUN_LINE = 0,     // MotusIntraLine: e
    MOTUS_RUN_HALF = 16,    // half
    MOTUS_RUN_SMOOTH = 32,  // smooth
    MOTUS_RUN_LEFT = 48,    // each sample to the left four times, top one first
    MOTUS_RUN_VR2 = 64,     // rows 2 and 3 of vertical right (8.3.1.2.5)
    MOTUS_RUN_VR3 = 68,     //
    MOTUS_RUN_HD = 72,      // interleaved half and smooth of horizontal down (8.3.1.2.6)
    MOTUS_RUN_HU = 82,      // and of horizontal up (8.3.1.2.8)
    MOTUS_RUN_NOWHERE = 96, // a word for each of 16 lanes to write what is not needed
};

// Returns the first bytes in `runs` of a mode's four rows, packed, top row lowest.
MOTUS_WARP uint32_t motus_i4_rows(int mode) {
    enum {
        TOP = MOTUS_RUN_LINE + MOTUS_LINE_TOP,
        LEFT = MOTUS_RUN_LEFT,
        HALF = MOTUS_RUN_HALF,
        SMOOTH = MOTUS_RUN_SMOOTH
    };
    switch (mode) {
    case MOTUS_I4_VERTICAL:
        return MOTUS_BYTES(TOP, TOP, TOP, TOP);
    case MOTUS_I4_HORIZONTAL:
        return MOTUS_BYTES(LEFT, LEFT + 4, LEFT + 8, LEFT + 12);
    case MOTUS_I4_DOWN_LEFT:
        return MOTUS_BYTES(SMOOTH + 6, SMOOTH + 7, SMOOTH + 8, SMOOTH + 9);
    case MOTUS_I4_DOWN_RIGHT:
        return MOTUS_BYTES(SMOOTH + 4, SMOOTH + 3, SMOOTH + 2, SMOOTH + 1);
    case MOTUS_I4_VERTICAL_RIGHT:
        return MOTUS_BYTES(HALF + 4, SMOOTH + 4, MOTUS_RUN_VR2, MOTUS_RUN_VR3);
    case MOTUS_I4_HORIZONTAL_DOWN:
        return MOTUS_BYTES(MOTUS_RUN_HD + 6, MOTUS_RUN_HD + 4, MOTUS_RUN_HD + 2, MOTUS_RUN_HD);
    case MOTUS_I4_VERTICAL_LEFT:
        return MOTUS_BYTES(HALF + 5, SMOOTH + 6, HALF + 6, SMOOTH + 7);
    case MOTUS_I4_HORIZONTAL_UP:
        return MOTUS_BYTES(MOTUS_RUN_HU, MOTUS_RUN_HU + 2, MOTUS_RUN_HU + 4, MOTUS_RUN_HU + 6);
    default:
        return 0;
    }
}

// Addresses of the lane that handles sample j of the line, of 16 lanes or of 8: those read no
// samples above right. The same for every block.
typedef struct MotusI4Edge {
    // Samples j - 1, j and j + 1 on the canvas, relative to the block, without ([0]) and with ([1])
    // an upper right block.
    int16_t from[2][3];
    uint8_t half_at[2], smooth_at[3], left_at, last_at; // further copies in `runs`
} MotusI4Edge;

MOTUS_WARP MotusI4Edge motus_i4_edge(int j) {
    const int nowhere = MOTUS_RUN_NOWHERE + 4 * j;
    MotusI4Edge edge;
    for (int right = 0; right < 2; right++)
        for (int i = 0; i < 3; i++) {
            // Before the line its first sample repeats, behind it the last one.
            const int at = j - 1 + i, last = right ? 7 : 3;
            edge.from[right][i] =
                (int16_t)(at < MOTUS_LINE_CORNER
                              ? (3 - motus_max(at, 0)) * MOTUS_CANVAS_STRIDE - 1
                              : motus_min(at - MOTUS_LINE_TOP, last) - MOTUS_CANVAS_STRIDE);
        }
    edge.half_at[0] = (uint8_t)(j < 4    ? MOTUS_RUN_HD + 2 * j
                                : j <= 6 ? MOTUS_RUN_VR2 + j - 3
                                         : nowhere);
    edge.half_at[1] = (uint8_t)(j < 3 ? MOTUS_RUN_HU + 4 - 2 * j : nowhere);
    edge.smooth_at[0] = (uint8_t)(j < 1    ? nowhere
                                  : j <= 4 ? MOTUS_RUN_HD + 2 * j - 1
                                  : j <= 6 ? MOTUS_RUN_HD + 3 + j
                                           : nowhere);
    edge.smooth_at[1] = (uint8_t)(j < 3    ? MOTUS_RUN_HU + 5 - 2 * j
                                  : j == 3 ? MOTUS_RUN_VR2
                                           : nowhere);
    edge.smooth_at[2] = (uint8_t)(j == 2             ? MOTUS_RUN_VR3
                                  : j >= 4 && j <= 6 ? MOTUS_RUN_VR3 + j - 3
                                                     : nowhere);
    edge.left_at = (uint8_t)(j < 4 ? MOTUS_RUN_LEFT + 12 - 4 * j : nowhere);
    edge.last_at = (uint8_t)(j == 0 ? MOTUS_RUN_HU + 6 : nowhere);
    return edge;
}

// Fills `runs`, a lane from sample j of the line. `from`: samples j - 1, j and j + 1 on the canvas.
// Samples that do not exist may have any value: modes that need them are not allowed.
MOTUS_WARP void motus_i4_line(uint32_t runs[40], const uint8_t *canvas, const int from[3],
                              const MotusI4Edge *edge, int j) {
    const uint32_t before = canvas[from[0]], e = canvas[from[1]], next = canvas[from[2]];
    const uint8_t half = (uint8_t)((e + next + 1) >> 1),
                  smooth = (uint8_t)((before + 2 * e + next + 2) >> 2);
    uint8_t *to = (uint8_t *)runs;
    to[MOTUS_RUN_LINE + j] = (uint8_t)e;
    to[MOTUS_RUN_HALF + j] = half;
    to[MOTUS_RUN_SMOOTH + j] = smooth;
    for (int i = 0; i < 2; i++) to[edge->half_at[i]] = half;
    for (int i = 0; i < 3; i++) to[edge->smooth_at[i]] = smooth;
    motus_word_put(to + edge->left_at, e * 0x01010101u);
    motus_word_put(to + edge->last_at, e * 0x01010101u);
}

// Fills `runs` by eight lanes, from the samples to the left, the corner and those above. at: the
// block on the canvas.
MOTUS_WARP void motus_i4_line_of_eight(uint32_t runs[40], const uint8_t *canvas, int at,
                                       const MotusI4Edge *edge) {
    const int j = motus_lane() & 7;
    int from[3];
    for (int i = 0; i < 3; i++) from[i] = at + edge->from[0][i];
    ((uint8_t *)runs)[MOTUS_RUN_LINE + 15 - j] = canvas[from[2]]; // the ninth sample of lane 7
    motus_i4_line(runs, canvas, from, edge, j);
}

// Returns the mode of this lane of eight, one that does not read the samples above right, or
// MOTUS_I4_MODES, of the last one.
MOTUS_WARP int motus_i4_mode_of_eight(void) {
    const int j = motus_lane() & 7;
    return j + (j >= MOTUS_I4_DOWN_LEFT) + (j >= MOTUS_I4_VERTICAL_LEFT - 1);
}

// Returns the least key of eight lanes.
MOTUS_WARP uint32_t motus_least_of_eight(uint32_t key) {
    for (int bit = 4; bit; bit >>= 1) {
        const uint32_t other = motus_lanes_shuffle(key, motus_lane() ^ bit);
        key = other < key ? other : key;
    }
    return key;
}

// Returns four bytes of `runs` from byte `at` on, also of Intra8x8.
MOTUS_WARP uint32_t motus_run_word(const uint32_t *runs, int at) {
    const uint64_t both = runs[at >> 2] | (uint64_t)runs[(at >> 2) + 1] << 32;
    return (uint32_t)(both >> (8 * (at & 3)));
}

// Predicts a block by a lane's mode. Returns (SATD + lambda * bits + 1) << 4 | mode, never 0, or
// UINT32_MAX if the mode is not allowed, or not below MOTUS_I4_MODES.
MOTUS_WARP uint32_t motus_i4_mode(uint32_t pred[4], const uint32_t runs[40],
                                  const int32_t minus[16], const MotusQp *qp,
                                  const MotusModeCosts *costs, uint32_t unit, int has,
                                  int predicted, uint32_t rows, int mode) {
    const int allowed = mode < MOTUS_I4_MODES && motus_intra4x4_allowed(mode, has);
    const int left = motus_sum_of_samples(runs[0]),
              top = motus_sum_of_samples(motus_run_word(runs, MOTUS_LINE_TOP));
    const int both = (has & MOTUS_HAS_LEFT ? left : 512) + (has & MOTUS_HAS_TOP ? top : 512);
    const int one = (has & MOTUS_HAS_LEFT ? left : 0) + (has & MOTUS_HAS_TOP ? top : 0);
    const int sides = has & (MOTUS_HAS_LEFT | MOTUS_HAS_TOP);
    const int mean = sides && sides != (MOTUS_HAS_LEFT | MOTUS_HAS_TOP)
                         ? (one + 2) >> 2
                         : (both + 4) >> 3; // 128 if neither exists
    const uint32_t dc = (uint32_t)mean * 0x01010101u, flat = mode == MOTUS_I4_DC ? UINT32_MAX : 0;
    for (int y = 0; y < 4; y++) { // no branch: the loads of all rows overlap
        const uint32_t row = motus_run_word(runs, (int)(rows >> (8 * y) & 255));
        pred[y] = row ^ ((row ^ dc) & flat);
    }
    const uint32_t cost =
        motus_satd_with(minus, pred) +
        motus_mode_cost(qp, motus_i4_mode_bits(mode, predicted, costs)) / unit; // below 2^17
    return allowed ? (cost + 1) << 4 | (uint32_t)mode : UINT32_MAX;
}

// Finds the two smallest keys of the lanes whose numbers differ in bits `low` to `high` only. Keys
// differ unless they are UINT32_MAX.
MOTUS_WARP void motus_two_least(uint32_t least[2], uint32_t key, int high, int low) {
    least[0] = key, least[1] = UINT32_MAX;
    for (int bit = high; bit >= low; bit >>= 1) {
        const uint32_t first = motus_lanes_shuffle(least[0], motus_lane() ^ bit),
                       second = motus_lanes_shuffle(least[1], motus_lane() ^ bit);
        const uint32_t larger = first > least[0] ? first : least[0];
        least[0] = first < least[0] ? first : least[0];
        least[1] = second < least[1] ? second : least[1];
        least[1] = larger < least[1] ? larger : least[1];
    }
}

#endif
