// Residual of an MB as CABAC's symbols by a warp: all levels of up to 64 positions at once. Equals
// the units from MOTUS_UNIT_LUMA_DC on of motus_put_unit_symbols, in their order (suite
// cabac_residual).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_RESIDUAL_WARP_CUH
#define ENCODER_CABAC_RESIDUAL_WARP_CUH

#include "common/lanes.h"
#include "encoder/bitstream/cabac_mb_core.h"
#include "encoder/cabac/states_core.h"

// True for a luma unit that is an 8x8 block: it has no coded_block_flag.
MOTUS_WARP int motus_unit_is_8x8(const MotusMb *mb, int unit) {
    return mb->transform_8x8 && unit >= MOTUS_UNIT_LUMA && unit < MOTUS_UNIT_CHROMA_DC;
}

// Returns the coded_block_flag of a unit that has one. *context: its context.
MOTUS_WARP int motus_unit_flag(const MotusCabacMb *m, int unit, int *context) {
    const MotusCodedBlock block = motus_unit_block(m->mb, m->coef, unit);
    const int component = unit == MOTUS_UNIT_LUMA_DC ? 0 : 1 + unit - MOTUS_UNIT_CHROMA_DC,
              is_dc = block.category == 0 || block.category == 3;
    *context = MOTUS_CTX_CODED_BLOCK + motus_block_contexts(block.category).coded +
               (is_dc ? motus_dc_flag_context(m, component) : motus_ac_flag_context(m, block.blk));
    return is_dc ? m->own->dc >> component & 1 : m->mb->total_coeff[block.blk] != 0;
}

// A lane's block: 8 lanes have one, or all 32 an 8x8 block. The lane has the positions `first` and
// first + lanes.
typedef struct MotusLaneBlock {
    const int16_t *level; // at `first`; the other one is 8 behind it
    int lanes, first;
    int n;   // positions; 0: there is no block
    int map; // first context of both significance flags
    int level_context, most_larger;
    uint32_t mark; // MotusSymbols
} MotusLaneBlock;

MOTUS_WARP MotusLaneBlock motus_lane_block8(const MotusCabacMb *m, int q) {
    const int lane = motus_lane();
    MotusLaneBlock b;
    b.level = &m->coef->luma[motus_blk_at(4 * q + (lane & 3))][lane >> 2];
    b.lanes = 32, b.first = lane, b.n = 64;
    b.map = 0, b.level_context = MOTUS_CTX_LEVEL_8x8, b.most_larger = 4;
    b.mark = (uint32_t)MOTUS_BITS_LUMA << MOTUS_KIND_SHIFT;
    return b;
}

// unit: of the lane; below 0: it has none.
MOTUS_WARP MotusLaneBlock motus_lane_block4(const MotusCabacMb *m, int unit) {
    const int there = unit >= 0;
    const MotusCodedBlock block =
        motus_unit_block(m->mb, m->coef, there ? unit : (int)MOTUS_UNIT_LUMA_DC);
    const MotusBlockContexts contexts = motus_block_contexts(block.category);
    MotusLaneBlock b;
    b.lanes = 8, b.first = motus_lane() & 7;
    b.level = block.level + b.first;
    b.n = there ? block.n : 0;
    b.map = contexts.map;
    b.level_context = MOTUS_CTX_LEVEL + contexts.level, b.most_larger = contexts.most_larger;
    b.mark = (uint32_t)motus_unit_kind(unit) << MOTUS_KIND_SHIFT;
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

// Puts a block's flags of significance at one of the lane's positions; its map begins at `to`.
// before: levels before the position; last: position of the last one.
MOTUS_WARP void motus_put_lane_map(uint16_t *to, const MotusLaneBlock *b, int position, int level,
                                   int before, int last) {
    const int wide = b->lanes == 32;
    MotusSymbols s = {to, (uint32_t)(position + before), b->mark, 0, 0, 0};
    motus_put_bin(
        &s, wide ? motus_map8_significant(position) : MOTUS_CTX_SIGNIFICANT + b->map + position,
        level);
    if (level)
        motus_put_bin(&s, wide ? motus_map8_last(position) : MOTUS_CTX_LAST + b->map + position,
                      position == last);
}

// Blocks that a warp puts at once, the lanes' levels and what they need.
typedef struct MotusLaneLevels {
    int level[2];
    MotusHalves levels, larger; // |level| above 0, above 1
    int last, n;                // position of the last level; levels
    uint32_t map;               // symbols of the map
    uint32_t behind[2];         // symbols of levels behind each beyond two each
    uint32_t size;              // symbols of the block behind its coded_block_flag
} MotusLaneLevels;

MOTUS_WARP MotusLaneLevels motus_lane_levels(const MotusLaneBlock *b) {
    MotusLaneLevels l;
    const int first = b->first < b->n ? b->level[0] : 0,
              second = b->first + b->lanes < b->n ? b->level[8] : 0;
    l.level[0] = first, l.level[1] = second;
    l.levels = motus_halves(first, second, b->lanes);
    l.larger = motus_halves(motus_abs(first) > 1, motus_abs(second) > 1, b->lanes);
    l.last = l.levels.high  ? b->lanes + motus_bit_length(l.levels.high) - 1
             : l.levels.low ? motus_bit_length(l.levels.low) - 1
                            : -1;
    l.n = motus_lanes_count(l.levels.low) + motus_lanes_count(l.levels.high);
    // The flags of the last position are not written.
    l.map = l.n ? (uint32_t)(l.last + 1 + l.n - 2 * (l.last == b->n - 1)) : 0;
    l.size = l.map + 2 * (uint32_t)l.n, l.behind[0] = l.behind[1] = 0;
    if (!motus_lanes_ballot((l.larger.low | l.larger.high) != 0)) return l;
    // First ones in the lower half of a word, second ones, which are behind all of them, above.
    const uint32_t more = motus_more_of_level(first) | motus_more_of_level(second) << 16,
                   behind = motus_sum_behind(more, b->lanes),
                   all = motus_lanes_shuffle(more + behind, motus_lane() & (32 - b->lanes));
    l.behind[0] = (behind & 0xFFFF) + (all >> 16), l.behind[1] = behind >> 16;
    l.size += (all & 0xFFFF) + (all >> 16);
    return l;
}

// Puts the lane's part of its block behind coded_block_flag.
MOTUS_WARP void motus_put_lane_block(uint16_t *to, const MotusLaneBlock *b,
                                     const MotusLaneLevels *l) {
    const uint32_t before = (1u << b->first) - 1;
    const int halves = motus_lanes_ballot(l->levels.high != 0) ? 2 : 1;
    MOTUS_ONE_BODY
    for (int k = 0; k < halves; k++) {
        const int level = k ? l->level[1] : l->level[0], position = b->first + (k ? b->lanes : 0);
        if (position <= l->last && position < b->n - 1)
            motus_put_lane_map(to, b, position, level, motus_halves_before(l->levels, k, before),
                               l->last);
        if (!level) continue;
        const int behind = motus_halves_behind(l->levels, k, before);
        MotusLevelCounts counts;
        counts.larger = motus_halves_behind(l->larger, k, before);
        counts.ones = behind - counts.larger;
        MotusSymbols s = {to + l->map, 2 * (uint32_t)behind + (k ? l->behind[1] : l->behind[0]),
                          b->mark,     0,
                          0,           0};
        motus_put_level_symbol(&s, level, b->level_context, b->most_larger, &counts);
    }
}

// Units of an MB's residual as masks, bit i standing for unit i, and what a lane knows of the unit
// with its number.
typedef struct MotusResidualUnits {
    uint32_t flagged, nonzero; // with coded_block_flag; with levels
    int flag, flag_context;
    uint32_t size; // symbols behind the flag, once they are put
} MotusResidualUnits;

MOTUS_WARP MotusResidualUnits motus_residual_units(const MotusCabacMb *m) {
    const int unit = motus_lane();
    const int has = unit >= MOTUS_UNIT_LUMA_DC &&
                    motus_mb_symbol_units(m->mb, m->slice_type) >> unit & 1,
              is_8x8 = motus_unit_is_8x8(m->mb, unit);
    MotusResidualUnits u = {0, 0, 0, 0, 0};
    if (has && !is_8x8) u.flag = motus_unit_flag(m, unit, &u.flag_context);
    u.flagged = motus_lanes_ballot(has && !is_8x8);
    u.nonzero = motus_lanes_ballot(has && (is_8x8 || u.flag));
    return u;
}

// Puts the first units of `left`, at most four or an 8x8 block. n: symbols with the units before,
// but without their flags. Returns the rest of `left`.
MOTUS_WARP uint32_t motus_put_units(uint16_t *to, uint32_t *n, uint32_t most, const MotusCabacMb *m,
                                    uint32_t left, MotusResidualUnits *u) {
    const int next = motus_bit_length(left & (0u - left)) - 1, lane = motus_lane(),
              wide = motus_unit_is_8x8(m->mb, next);
    int unit = -1, own = -1; // of the lane's block; block of the lane's unit
    for (int k = 0; k < (wide ? 1 : 4); k++) {
        const int now = left ? motus_bit_length(left & (0u - left)) - 1 : -1;
        if (now >= 0 && motus_unit_is_8x8(m->mb, now) != wide) break;
        unit = wide || k == lane / 8 ? now : unit;
        own = now == lane ? k : own;
        left &= left - 1;
    }
    const MotusLaneBlock b =
        wide ? motus_lane_block8(m, (next - MOTUS_UNIT_LUMA) / 4) : motus_lane_block4(m, unit);
    const MotusLaneLevels l = motus_lane_levels(&b);
    uint32_t at = *n, end = 0;
    for (int k = 0; k < (wide ? 1 : 4); k++) {
        const uint32_t size = motus_lanes_shuffle(l.size, 8 * k);
        at += k < lane / 8 && !wide ? size : 0;
        u->size = own == k ? size : u->size;
        *n += size;
    }
    if (unit >= 0) at += (uint32_t)motus_lanes_count(u->flagged & ((2u << unit) - 1));
    end = unit >= 0 ? at + l.size : 0;
    if (!motus_lanes_ballot(end > most)) motus_put_lane_block(to + at, &b, &l);
    return left;
}

// Puts the residual of an MB behind n symbols, as far as `most` of them. Returns all, which may be
// more than `most`; the rest is undefined then.
MOTUS_WARP uint32_t motus_put_residual_warp(uint16_t *to, uint32_t n, uint32_t most,
                                            const MotusCabacMb *m) {
    MotusResidualUnits u = motus_residual_units(m);
    const uint32_t flags_before = u.flagged & ((1u << motus_lane()) - 1);
    uint32_t end = n;
    MOTUS_ONE_BODY
    for (uint32_t left = u.nonzero; left;) left = motus_put_units(to, &end, most, m, left, &u);
    const uint32_t at =
        end + (uint32_t)motus_lanes_count(flags_before) - u.size - motus_sum_behind(u.size, 32);
    end += (uint32_t)motus_lanes_count(u.flagged);
    if (end <= most && u.flagged >> motus_lane() & 1)
        to[at] = (uint16_t)((uint32_t)u.flag_context | (u.flag ? MOTUS_SYMBOL_BIN : 0) |
                            (uint32_t)motus_unit_kind(motus_lane()) << MOTUS_KIND_SHIFT);
    return end;
}

#endif
