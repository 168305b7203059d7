// Residual of an MB as CABAC's symbols by a warp: all levels of up to 64 positions at once. Equals
// the units from MOTUS_UNIT_LUMA_DC on of motus_put_unit_symbols, in their order (suite
// cabac_residual).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_RESIDUAL_WARP_CUH
#define ENCODER_CABAC_RESIDUAL_WARP_CUH

#include "common/lanes.h"
#include "encoder/bitstream/cabac_mb_core.h"
#include "encoder/cabac/states_core.h"

// Groups of blocks that a warp puts at once: luma DC; each luma 8x8 block; both chroma DC blocks;
// chroma AC blocks of Cb and of Cr.
enum { MOTUS_GROUP_LUMA = 1, MOTUS_GROUP_CHROMA_DC = 5, MOTUS_GROUP_CHROMA = 6 };

// Returns the mask of an MB's groups.
MOTUS_WARP uint32_t motus_residual_groups(const MotusMb *mb) {
    const uint32_t luma = mb->cbp & 15, chroma = mb->cbp >> 4;
    if (mb->type == MOTUS_MB_I_PCM || mb->type == MOTUS_MB_P_SKIP) return 0;
    return (uint32_t)(mb->type == MOTUS_MB_I_16x16) | luma << MOTUS_GROUP_LUMA |
           (uint32_t)(chroma != 0) << MOTUS_GROUP_CHROMA_DC |
           (chroma == 2 ? 3u : 0) << MOTUS_GROUP_CHROMA;
}

// A lane's block of a group, 8 lanes each, or 32 for an 8x8 block. The lane has the positions
// `first` and first + lanes.
typedef struct MotusLaneBlock {
    const int16_t *level; // at `first`; the other one is 8 behind it
    int lanes, first;
    int n;                      // positions; 0: there is no such block, or it is known to be empty
    int has_flag, flag_context; // coded_block_flag
    int map;                    // first context of both significance flags
    int level_context, most_larger;
} MotusLaneBlock;

MOTUS_WARP MotusLaneBlock motus_lane_block8(const MotusCabacMb *m, int q) {
    const int lane = motus_lane();
    MotusLaneBlock b;
    b.level = &m->coef->luma[motus_blk_at(4 * q + (lane & 3))][lane >> 2];
    b.lanes = 32, b.first = lane, b.n = 64;
    b.has_flag = 0, b.flag_context = 0, b.map = 0;
    b.level_context = MOTUS_CTX_LEVEL_8x8, b.most_larger = 4;
    return b;
}

// Returns the lane's block of a group of 4x4 or DC blocks.
MOTUS_WARP MotusLaneBlock motus_lane_block4(const MotusCabacMb *m, int group) {
    const int k = motus_lane() / 8, is_luma = group < MOTUS_GROUP_CHROMA_DC;
    const int n = !group                           ? 1
                  : group == MOTUS_GROUP_CHROMA_DC ? 2
                                                   : 4, // blocks
        unit = !group    ? (int)MOTUS_UNIT_LUMA_DC
               : is_luma ? MOTUS_UNIT_LUMA + 4 * (group - MOTUS_GROUP_LUMA) + k
               : n == 2  ? MOTUS_UNIT_CHROMA_DC + (k & 1)
                         : MOTUS_UNIT_CHROMA + 4 * (group - MOTUS_GROUP_CHROMA) + k;
    const MotusCodedBlock block = motus_unit_block(m->mb, m->coef, unit);
    const MotusBlockContexts contexts = motus_block_contexts(block.category);
    MotusLaneBlock b;
    b.lanes = 8, b.first = motus_lane() & 7;
    b.level = block.level + b.first;
    b.has_flag = k < n;
    b.n = k < n && (n < 4 || m->mb->total_coeff[block.blk]) ? block.n : 0;
    b.flag_context = MOTUS_CTX_CODED_BLOCK + contexts.coded +
                     (n < 4 ? motus_dc_flag_context(m, group ? 1 + (k & 1) : 0)
                            : motus_ac_flag_context(m, block.blk));
    b.map = contexts.map;
    b.level_context = MOTUS_CTX_LEVEL + contexts.level, b.most_larger = contexts.most_larger;
    return b;
}

// Returns a level's symbols beyond the two that any has.
MOTUS_WARP uint32_t motus_more_of_level(int level) {
    const int rest = motus_abs(level) - 1;
    if (rest <= 0) return 0;
    if (rest < 14) return (uint32_t)motus_min(rest, 13);
    const int ones = motus_bit_length((uint32_t)rest - 13) - 1; // of the suffix
    return (uint32_t)(13 + (ones + 8) / 8 + (ones + 7) / 8);
}

// Returns the sum of v of all lanes behind this one, of `lanes` lanes that are one block's.
MOTUS_WARP uint32_t motus_sum_behind(uint32_t v, int lanes) {
    const int lane = motus_lane(), at = lane & (lanes - 1);
    uint32_t sum = v;
    MOTUS_ONE_BODY
    for (int step = 1; step < lanes; step *= 2) {
        const uint32_t other = motus_lanes_shuffle(sum, lane + step);
        sum += at + step < lanes ? other : 0;
    }
    return sum - v;
}

// Bits of a mask over a block's lanes: those of the first positions, and of the second ones.
typedef struct MotusHalves {
    uint32_t low, high;
} MotusHalves;

MOTUS_WARP MotusHalves motus_halves(int low, int high, int lanes) {
    const int shift = motus_lane() & (32 - lanes);
    const uint32_t mask = lanes == 32 ? ~0u : 255u;
    MotusHalves h;
    h.low = motus_lanes_ballot(low) >> shift & mask;
    h.high = motus_lanes_ballot(high) >> shift & mask;
    return h;
}

// Return the number of bits at positions before this lane's second or first one, or behind it.
MOTUS_WARP int motus_halves_before(MotusHalves h, int second, uint32_t before) {
    return motus_lanes_count((second ? h.high : h.low) & before) +
           (second ? motus_lanes_count(h.low) : 0);
}
MOTUS_WARP int motus_halves_behind(MotusHalves h, int second, uint32_t before) {
    return motus_lanes_count((second ? h.high : h.low) & ~(2 * before + 1)) +
           (second ? 0 : motus_lanes_count(h.high));
}

// Puts a block's flags of significance at one of the lane's positions, symbols of the map from `to`
// on. ends: the last position with a flag; before: levels before it.
MOTUS_WARP void motus_put_lane_map(uint16_t *to, const MotusLaneBlock *b, int position, int level,
                                   int before, int last, uint32_t mark) {
    const int wide = b->lanes == 32;
    MotusSymbols s = {to, (uint32_t)(position + before), mark, 0, 0, 0};
    motus_put_bin(
        &s, wide ? motus_map8_significant(position) : MOTUS_CTX_SIGNIFICANT + b->map + position,
        level);
    if (level)
        motus_put_bin(&s, wide ? motus_map8_last(position) : MOTUS_CTX_LAST + b->map + position,
                      position == last);
}

// Puts a group of blocks behind n symbols, unless they would pass `most`. Returns the symbols with
// them.
MOTUS_WARP uint32_t motus_put_group_warp(uint16_t *to, uint32_t n, uint32_t most,
                                         const MotusCabacMb *m, int group) {
    const int is_luma = group && group < MOTUS_GROUP_CHROMA_DC,
              wide = is_luma && m->mb->transform_8x8, lane = motus_lane();
    const MotusLaneBlock b =
        wide ? motus_lane_block8(m, group - MOTUS_GROUP_LUMA) : motus_lane_block4(m, group);
    const int first = b.first < b.n ? b.level[0] : 0,
              second = b.first + b.lanes < b.n ? b.level[8] : 0;
    const MotusHalves levels = motus_halves(first, second, b.lanes),
                      larger = motus_halves(motus_abs(first) > 1, motus_abs(second) > 1, b.lanes);
    const int last = levels.high  ? b.lanes + motus_bit_length(levels.high) - 1
                     : levels.low ? motus_bit_length(levels.low) - 1
                                  : -1,
              n_levels = motus_lanes_count(levels.low) + motus_lanes_count(levels.high),
              is_full = last == b.n - 1; // its last flags are not written
    const uint32_t map = last < 0 ? 0 : (uint32_t)(last + 1 + n_levels - 2 * is_full);
    // Symbols of levels beyond two each: of first ones below, of second ones above bit 16.
    uint32_t more = 0, behind = 0, all_more = 0;
    if (motus_lanes_ballot((larger.low | larger.high) != 0)) {
        more = motus_more_of_level(first) | motus_more_of_level(second) << 16;
        behind = motus_sum_behind(more, b.lanes);
        const uint32_t sums = motus_lanes_shuffle(more + behind, lane & (32 - b.lanes));
        all_more = (sums & 0xFFFF) + (sums >> 16);
        behind += sums >> 16; // second positions are behind all first ones
    }
    const uint32_t size = (uint32_t)b.has_flag + map + 2 * (uint32_t)n_levels + all_more;
    uint32_t at = n, end = n;
    for (int k = 0; k < 32; k += 8) {
        const uint32_t other = motus_lanes_shuffle(size, k);
        if (k && b.lanes == 32) break;
        at += k < (lane & (32 - b.lanes)) ? other : 0;
        end += other;
    }
    if (end > most) return end;
    const uint32_t mark = (is_luma || !group ? (uint32_t)MOTUS_BITS_LUMA : MOTUS_BITS_CHROMA)
                          << MOTUS_KIND_SHIFT;
    if (b.has_flag && b.first == 0)
        to[at] = (uint16_t)((uint32_t)b.flag_context | (n_levels ? MOTUS_SYMBOL_BIN : 0) | mark);
    at += (uint32_t)b.has_flag;
    const uint32_t before = (1u << b.first) - 1;
    MOTUS_ONE_BODY
    for (int k = 0; k < 2; k++) {
        const int level = k ? second : first, position = b.first + (k ? b.lanes : 0);
        if (position <= last && position < b.n - 1)
            motus_put_lane_map(to + at, &b, position, level, motus_halves_before(levels, k, before),
                               last, mark);
        if (!level) continue;
        const int n_behind = motus_halves_behind(levels, k, before);
        MotusLevelCounts counts;
        counts.larger = motus_halves_behind(larger, k, before);
        counts.ones = n_behind - counts.larger;
        MotusSymbols s = {to + at + map, 0, mark, 0, 0, 0};
        s.n = 2 * (uint32_t)n_behind + (k ? behind >> 16 : behind & 0xFFFF);
        motus_put_level_symbol(&s, level, b.level_context, b.most_larger, &counts);
    }
    return end;
}

// Puts the residual of an MB behind n symbols, as far as `most` of them. Returns all, which may be
// more than `most`; the rest is undefined then.
MOTUS_WARP uint32_t motus_put_residual_warp(uint16_t *to, uint32_t n, uint32_t most,
                                            const MotusCabacMb *m) {
    MOTUS_ONE_BODY
    for (uint32_t groups = motus_residual_groups(m->mb); groups; groups &= groups - 1)
        n = motus_put_group_warp(to, n, most, m, motus_bit_length(groups & (0u - groups)) - 1);
    return n;
}

#endif
