// Choice of a block's levels by warps: by eight lanes of a warp, four blocks side by side, or by
// one lane a block, with bits of CAVLC. The longest chain of dependent steps is what counts here.
// Equals choose_cavlc and choose_guessed (levels.c): suite `lanes`, and `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LEVELS_LEVELS_WARP_CUH
#define ENCODER_LEVELS_LEVELS_WARP_CUH

#include <string.h>

#include "encoder/bitstream/cavlc_warp.cuh"
#include "encoder/levels/levels_core.h"
#include "me/pixel/words_warp.cuh"

// ---- Eight lanes a block ------------------------------------------------------------------------

// Coefficients of lane k of eight: zigzag positions 15 - k and 7 - k, bits k and 8 + k of
// MotusLevelPlanes. `at` is their raster position.
typedef struct MotusLevelPair {
    int at[2], threshold[2], dequant[2];
    uint32_t scale[2];
} MotusLevelPair;

MOTUS_WARP int motus_pair_position(int h) { return 15 - 8 * h - (motus_lane() & 7); }

MOTUS_WARP MotusLevelPair motus_level_pair(const MotusQuant *q) {
    MotusLevelPair pair;
    for (int h = 0; h < 2; h++) {
        int at = motus_zigzag_at(motus_pair_position(h)), c = motus_coef_class(at);
        pair.at[h] = at;
        pair.threshold[h] = q->threshold[c];
        pair.scale[h] = q->scale[c];
        pair.dequant[h] = motus_dequant_scale(q->qp % 6, c);
    }
    return pair;
}

// A lane's two coefficients: in 1/256 of a level, and the level's magnitude and sign.
typedef struct MotusPairLevels {
    int t[2], magnitude[2], negative[2];
} MotusPairLevels;

MOTUS_WARP int16_t motus_pair_level(const MotusPairLevels *own, int h) {
    return (int16_t)(own->negative[h] ? -own->magnitude[h] : own->magnitude[h]);
}

// Sets own->t and own->negative from coefficients coef[h] at this lane's positions, and live[h] to
// 1 if one may get a level other than 0.
MOTUS_WARP void motus_pair_load(MotusPairLevels *own, int live[2], const int coef[2],
                                const MotusLevelPair *pair, int active, int first,
                                const MotusQuant *q) {
    for (int h = 0; h < 2; h++) {
        const int size = motus_abs(coef[h]);
        live[h] = active && size >= pair->threshold[h] && motus_pair_position(h) >= first;
        own->t[h] = (int)((uint32_t)size * pair->scale[h] >> q->shift);
        own->negative[h] = coef[h] < 0;
    }
}

// Returns the eight lanes' bits of a ballot.
MOTUS_WARP uint32_t motus_eight(uint32_t ballot) { return ballot >> (motus_lane() & 24) & 255; }

// Returns the mask of the block's sixteen positions from two ballots.
MOTUS_WARP uint32_t motus_eight_mask(int first, int second) {
    const uint32_t a = motus_lanes_ballot(first), b = motus_lanes_ballot(second);
#ifdef __CUDA_ARCH__
    return __byte_perm(a, b, (uint32_t)(motus_lane() >> 3) * 17 + 0x40) & 0xFFFF;
#else
    return motus_eight(a) | motus_eight(b) << 8;
#endif
}

// Lowers the levels in `left` (lower in levels.c) and returns the block's bits. Each lane counts
// the bits with one of its levels lowered, the first that is still to be tried; a lane without one
// counts the block as it is. The first level that pays is lowered, and those after it are tried
// again; the answers before it are final. A lane's second level that was not tried yet blocks those
// after it. `level` is read, and kept up to date, only if there are large levels.
MOTUS_WARP uint32_t eight_lower(int16_t *level, MotusPairLevels *own, int left[2],
                                MotusLevelPlanes *planes, int first, uint32_t rate, int token_class,
                                const uint8_t *zero_runs) {
    const int lane = motus_lane(), k = lane & 7;
    const uint32_t large = motus_lanes_ballot(planes->large != 0);
    uint32_t bits = 0, known = 0, trying = motus_lanes_ballot(left[0] || left[1]);
    int crowded = motus_lanes_ballot(motus_eight(trying) == 255) != 0; // none counts it as it is
    do {
        const int h = !left[0], i = motus_pair_position(h),
                  tries = (left[0] || left[1]) && !crowded;
        const int negative = h ? own->negative[1] : own->negative[0], t = h ? own->t[1] : own->t[0];
        const int less = (h ? own->magnitude[1] : own->magnitude[0]) - tries,
                  loss = 512 * t - 65536 * (2 * less + 1);
        MotusLevelPlanes with = *planes;
        if (trying) motus_planes_set(&with, i, less);
        uint32_t own_bits = motus_planes_small_bits(&with, first, token_class, zero_runs);
        if (large && with.large)
            own_bits =
                motus_planes_large_bits(motus_planes_shape(&with), level, i,
                                        negative ? -less : less, first, token_class, zero_runs);
        if (!known) {
            const uint32_t idle = motus_eight(motus_lanes_ballot(!tries));
            bits = motus_lanes_shuffle(own_bits, (lane & 24) + motus_bit_length(idle) - 1);
            known = 1;
            if (crowded || !trying) { // none has tried
                crowded = 0;
                continue;
            }
        }
        const int pays = tries && loss + (int32_t)(own_bits * rate) < (int32_t)(bits * rate);
        if (!motus_lanes_ballot(pays) && !motus_lanes_ballot(left[0] && left[1]))
            break; // all have been tried, and stay
        const uint32_t unseen = motus_eight_mask(0, left[0] && left[1]),
                       seen = (unseen - 1) & ~unseen;
        const uint32_t votes = motus_eight_mask(pays && !h, pays && h) & seen,
                       winner = votes & (0u - votes);
        const uint32_t answered = seen & (winner | (winner - 1)); // all that were seen, if none won
        const int place = votes ? motus_bit_length(winner) - 1 : 0,
                  from = (lane & 24) + (place & 7);
        const uint32_t now = motus_lanes_shuffle(own_bits << 16 | (uint32_t)(less & 0xFFFF),
                                                 from); // both are below 2^16
        if (h)
            left[1] &= !(answered >> (8 + k) & 1);
        else
            left[0] &= !(answered >> k & 1);
        if (votes) {
            bits = now >> 16;
            motus_planes_set(planes, 15 - place, (int)(now & 0xFFFF));
        }
        const int lowers = votes && lane == from;
        own->magnitude[0] -= lowers && !h;
        own->magnitude[1] -= lowers && h;
        if (!large) continue;
        motus_lanes_sync(); // all have read the level
        if (lowers) level[i] = (int16_t)(negative ? -less : less);
        motus_lanes_sync(); // the level is written
    } while ((trying = motus_lanes_ballot(left[0] || left[1])) != 0);
    return bits;
}

// Chooses the levels of coefficients own->t and own->negative, 0 where live[h] is not set, and
// counts their bits. `level` (zigzag order) belongs to the eight lanes.
MOTUS_WARP MotusLevels motus_eight_choose(int16_t *level, MotusPairLevels *own, const int live[2],
                                          int first, uint32_t rate, int token_class,
                                          const MotusLevelChoice *choice) {
    MotusLevelPlanes planes;
    MotusLevels levels;
    int tried[2];
    int32_t ssd_drop = 0;
    for (int h = 0; h < 2; h++) {
        own->magnitude[h] = live[h] ? motus_nearest_level(own->t[h]) : 0;
        const int loss = 512 * own->t[h] - 65536 * (2 * own->magnitude[h] - 1);
        tried[h] = choice->method == MOTUS_LEVELS_LOWERED && own->magnitude[h] &&
                   (own->magnitude[h] <= 2 || loss <= 0);
    }
    const int *m = own->magnitude;
    planes.nonzero = motus_eight_mask(m[0], m[1]);
    planes.negative = motus_eight_mask(own->negative[0], own->negative[1]);
    planes.large = 0;
    for (int p = 0; p < 4; p++) planes.plane[p] = 0;
    if (motus_lanes_ballot(m[0] > 1 || m[1] > 1)) { // for all four blocks alike
        int less[2];
        for (int h = 0; h < 2; h++) less[h] = m[h] > 0 && m[h] <= MOTUS_PLANES_MAX ? m[h] - 1 : 0;
        for (int p = 0; p < 4; p++)
            planes.plane[p] = motus_eight_mask(less[0] >> p & 1, less[1] >> p & 1);
        planes.large = motus_eight_mask(m[0] > MOTUS_PLANES_MAX, m[1] > MOTUS_PLANES_MAX);
    }
    const uint32_t large = motus_lanes_ballot(planes.large != 0);
    if (large) {
        for (int h = 0; h < 2; h++) level[motus_pair_position(h)] = motus_pair_level(own, h);
        motus_lanes_sync(); // all levels are written
    }
    levels.bits =
        eight_lower(level, own, tried, &planes, first, rate, token_class, choice->zero_runs);
    if (large) motus_lanes_sync(); // all have read the levels
    for (int h = 0; h < 2; h++) {
        level[motus_pair_position(h)] = motus_pair_level(own, h);
        if (own->magnitude[h]) ssd_drop += motus_level_ssd_drop(own->t[h], own->magnitude[h]);
    }
    levels.n = motus_cavlc_total_coeff(planes.nonzero);
    levels.ssd_drop =
        motus_min((int32_t)motus_lanes_group_sum((uint32_t)ssd_drop, 8), MOTUS_SSD_DROP_MAX);
    return levels;
}

// Chooses the levels of coefficients coef[h] at this lane's positions. Lanes that are not `active`
// take part in exchanges only. `level` (zigzag order) belongs to the eight lanes. Its contents and
// *own are undefined if the result has no levels.
MOTUS_WARP MotusLevels motus_eight_levels_cavlc(int16_t *level, const int coef[2],
                                                const MotusLevelPair *pair, int active, int first,
                                                int nc, const MotusQuant *q,
                                                const MotusLevelChoice *choice,
                                                MotusPairLevels *own) {
    const int token_class = motus_cavlc_token_class(nc);
    const uint32_t zero_bits = (uint32_t)motus_cavlc_empty_length(token_class);
    int live[2];
    motus_pair_load(own, live, coef, pair, active, first, q);
    MotusLevels levels = motus_eight_choose(level, own, live, first, q->rate, token_class, choice);
    if (levels.ssd_drop <= (int32_t)((levels.bits - zero_bits) * q->rate)) levels.n = 0;
    if (!levels.n) levels.bits = zero_bits, levels.ssd_drop = 0;
    return levels;
}

// Chooses the levels by MOTUS_LEVELS_GUESSED, with either entropy coder.
MOTUS_WARP MotusLevels motus_eight_levels_guessed(int16_t *to, const int coef[2],
                                                  const MotusLevelPair *pair, int active, int first,
                                                  const MotusQuant *q,
                                                  const MotusLevelChoice *choice,
                                                  MotusPairLevels *own) {
    const int k = motus_lane() & 7;
    int live[2], sum = 0;
    int32_t ssd_drop = 0;
    motus_pair_load(own, live, coef, pair, active, first, q);
    const uint32_t near = motus_eight_mask(live[0], live[1]); // in coding order
    for (int h = 0; h < 2; h++) {
        const uint32_t bit = 1u << (8 * h + k), behind = near & ~(bit | (bit - 1));
        const int gap = motus_pair_position(h) - (behind ? motus_planes_first(behind) + 1 : first);
        const int magnitude = motus_guess_magnitude(own->t[h]);
        const int drops =
            magnitude == 1 && motus_guess_drops(own->t[h], !(near & (bit - 1)), gap, q->rate);
        own->magnitude[h] = live[h] && !drops ? magnitude : 0;
        to[motus_pair_position(h)] = motus_pair_level(own, h);
        if (!own->magnitude[h]) continue;
        sum += motus_guess_level(magnitude);
        ssd_drop += motus_level_ssd_drop(own->t[h], magnitude);
    }
    const uint32_t nonzero = motus_eight_mask(own->magnitude[0] > 0, own->magnitude[1] > 0);
    const int n = motus_cavlc_total_coeff(nonzero),
              zeros = nonzero ? motus_planes_first(nonzero) + 1 - first - n : 0;
    sum = (int)motus_lanes_group_sum((uint32_t)sum, 8);
    ssd_drop = motus_min((int32_t)motus_lanes_group_sum((uint32_t)ssd_drop, 8), MOTUS_SSD_DROP_MAX);
    return motus_guessed_levels(n, sum, zeros, ssd_drop, q->rate, choice);
}

// ---- A lane a block -----------------------------------------------------------------------------

// A lane's coefficients are packed by rows, two a word (dct_warp.cuh). Bit
// g = 8 (y & 1) + 4 (y >> 1) + x of a mask stands for coefficient (x, y). These return the bit of g
// in masks in coding order (15 - motus_zigzag_of), its coefficient class and its index.
MOTUS_WARP int motus_pairs_coded_at(int g) {
    const uint64_t coded = MOTUS_PACK16(4, 15, 14, 10, 9, 12, 7, 4, 2, 13, 11, 8, 3, 6, 5, 1, 0);
    return (int)(coded >> (4 * g)) & 15;
}
MOTUS_WARP int motus_pairs_class(int g) { return g & 1 ? (g & 8 ? 1 : 2) : (g & 8 ? 2 : 0); }
MOTUS_WARP int motus_pairs_at(int g) { return 2 * (g & 7) + (g >> 3); }

// Returns the index of raster position `at`.
MOTUS_WARP int motus_pairs_of_raster(int at) { return (at & 8) + 2 * (at & 3) + (at >> 2 & 1); }

// Chooses the levels of a lane's block from its live coefficients in 1/256 of a level: t, by zigzag
// position, and `shape`, whose magnitudes are the nearest levels. Bits are counted by planes, since
// the fullest block of an MB is what the other lanes wait for.
MOTUS_WARP MotusLevels lane_planes(int16_t *level, const int *t, MotusLevelPlanes *shape, int first,
                                   int token_class, const MotusQuant *q,
                                   const MotusLevelChoice *choice) {
    const uint32_t zero_bits = (uint32_t)motus_cavlc_token(token_class, 0, 0).length;
    MotusLevels levels = {
        motus_cavlc_total_coeff(shape->nonzero),
        motus_planes_block_bits(shape, level, -1, 0, first, token_class, choice->zero_runs), 0};
    for (uint32_t left = choice->method == MOTUS_LEVELS_LOWERED ? shape->nonzero : 0; left;) {
        const int i = motus_planes_first(left), negative = level[i] < 0,
                  magnitude = motus_abs(level[i]);
        left &= left - 1;
        const int loss = 512 * t[i] - 65536 * (2 * magnitude - 1); // below 2^30
        if (magnitude > 2 && loss > 0) continue;
        const int16_t less = (int16_t)(negative ? 1 - magnitude : magnitude - 1);
        MotusLevelPlanes with = *shape; // nothing to restore where the level stays
        motus_planes_set(&with, i, magnitude - 1);
        const uint32_t bits =
            motus_planes_block_bits(&with, level, i, less, first, token_class, choice->zero_runs);
        if (loss + (int32_t)(bits * q->rate) < (int32_t)(levels.bits * q->rate)) {
            levels.bits = bits;
            levels.n -= magnitude == 1;
            *shape = with;
            level[i] = less;
        }
    }
    int32_t ssd_drop = 0;
    for (uint32_t left = shape->nonzero; left; left &= left - 1) {
        const int i = motus_planes_first(left & -left);
        ssd_drop += motus_level_ssd_drop(t[i], motus_abs(level[i]));
    }
    levels.ssd_drop = motus_min(ssd_drop, MOTUS_SSD_DROP_MAX);
    if (levels.n && levels.ssd_drop <= (int32_t)((levels.bits - zero_bits) * q->rate)) {
        levels.n = 0;
        levels.ssd_drop = 0;
    }
    if (!levels.n) levels.bits = zero_bits;
    return levels;
}

// motus_planes_small_bits for a block whose levels are all ones.
MOTUS_WARP uint32_t ones_bits(uint32_t nonzero, uint32_t negative, int first, int token_class,
                              const uint8_t *zero_runs) {
    const int total_coeff = motus_cavlc_total_coeff(nonzero),
              trailing_ones = motus_min(total_coeff, 3);
    int bits = motus_cavlc_token_length(token_class, total_coeff, trailing_ones) + trailing_ones;
    if (total_coeff && total_coeff < 16 - first)
        bits += zero_runs[motus_planes_mirrored(nonzero) >> first];
    if (total_coeff > 3) { // the fourth has suffixLength 0, those after it 1
        uint32_t rest = nonzero;
        for (int k = 0; k < 3; k++) rest &= rest - 1;
        bits += 2 * total_coeff - 7 + (rest & (0u - rest) & negative ? 1 : 0);
    }
    return (uint32_t)bits;
}

// Completes motus_lane_levels_cavlc for a block whose levels are all ones. Masks are in coding
// order; level[] holds the coefficients in 1/256 of a level.
MOTUS_WARP MotusLevels lane_ones(int16_t *level, uint32_t nonzero, uint32_t negative,
                                 int32_t ssd_drop, int first, int token_class, const MotusQuant *q,
                                 const MotusLevelChoice *choice) {
    const uint32_t zero_bits = (uint32_t)motus_cavlc_token_length(token_class, 0, 0);
    uint32_t bits = ones_bits(nonzero, negative, first, token_class, choice->zero_runs);
    for (uint32_t left = choice->method == MOTUS_LEVELS_LOWERED ? nonzero : 0; left;
         left &= left - 1) {
        const uint32_t bit = left & (0u - left), with = nonzero ^ bit;
        const uint32_t less = ones_bits(with, negative, first, token_class, choice->zero_runs);
        const int32_t loss = motus_level_ssd_drop(level[motus_planes_first(bit)], 1);
        if (loss + (int32_t)(less * q->rate) >= (int32_t)(bits * q->rate)) continue;
        nonzero = with;
        bits = less;
        ssd_drop -= loss;
    }
    MotusLevels levels = {motus_cavlc_total_coeff(nonzero), bits, ssd_drop},
                none = {0, zero_bits, 0};
    if (ssd_drop <= (int32_t)((bits - zero_bits) * q->rate)) return none;
    for (int i = 0; i < 16; i += 2) motus_word_put(level + i, 0);
    for (uint32_t left = nonzero; left; left &= left - 1) {
        const uint32_t bit = left & (0u - left);
        level[motus_planes_first(bit)] = negative & bit ? -1 : 1;
    }
    return levels;
}

// Chooses the levels of all lanes' blocks. coef and live as above; a block without live
// coefficients takes part in exchanges only. level, aligned to 4 bytes, is overwritten even if the
// result has no levels.
MOTUS_WARP MotusLevels motus_lane_levels_cavlc(int16_t level[16], const int16_t coef[16],
                                               uint32_t live, int first, int nc,
                                               const MotusQuant *q,
                                               const MotusLevelChoice *choice) {
    const int token_class = motus_cavlc_token_class(nc);
    uint32_t nonzero = 0, negative = 0;
    int t16[16], larger = 0;
    int32_t ssd_drop = 0;
    for (uint32_t left = live; left; left &= left - 1) {
        const int g = motus_bit_length(left & (0u - left)) - 1, value = coef[motus_pairs_at(g)],
                  bit = motus_pairs_coded_at(g);
        const int t =
            (int)((uint32_t)motus_abs(value) * q->scale[motus_pairs_class(g)] >> q->shift);
        nonzero |= 1u << bit;
        negative |= (value < 0 ? 1u : 0u) << bit;
        larger |= t >= 384; // rounds to 2
        ssd_drop += motus_level_ssd_drop(t, 1);
        level[15 - bit] = (int16_t)t;
    }
    if (!motus_lanes_ballot(larger))
        return lane_ones(level, nonzero, negative, ssd_drop, first, token_class, q, choice);
    if (!live) {
        MotusLevels none = {0, (uint32_t)motus_cavlc_token_length(token_class, 0, 0), 0};
        return none;
    }
    MotusLevelPlanes shape; // in registers, unlike t16, whose index is not constant
    memset(&shape, 0, sizeof shape);
    for (int i = 0; i < 16; i += 2) motus_word_put(level + i, 0);
    for (uint32_t left = live; left; left &= left - 1) {
        const int g = motus_bit_length(left & (0u - left)) - 1, i = 15 - motus_pairs_coded_at(g),
                  value = coef[motus_pairs_at(g)];
        t16[i] = (int)((uint32_t)motus_abs(value) * q->scale[motus_pairs_class(g)] >> q->shift);
        const int magnitude = motus_nearest_level(t16[i]), is_negative = value < 0;
        level[i] = (int16_t)(is_negative ? -magnitude : magnitude);
        motus_planes_set(&shape, i, magnitude);
        shape.negative = motus_with_bit(shape.negative, motus_planes_bit(i), is_negative);
    }
    return lane_planes(level, t16, &shape, first, token_class, q, choice);
}

#endif
