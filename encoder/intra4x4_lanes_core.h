// Intra4x4 of an MB by the 32 lanes of a warp: the same result as motus_code_intra4x4 for one lane, another order. What counts here is the longest chain of
// steps that wait for one another, since MBs wait for MBs.
//
// The sixteen blocks of an MB depend on those to the left, above, and above on both sides, so those with the same x + 2y are independent of one another: ten
// steps, six of them of two blocks. Each half of the lanes has a block: a lane a sample of its edge, then a lane a mode; then eight lanes evaluate a mode, two
// coefficients each. Where a step has one block, both halves do the same, and the second half's result is dropped.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA4X4_LANES_CORE_H
#define ENCODER_INTRA4X4_LANES_CORE_H

#include "encoder/intra_core.h"
#include "encoder/syntax_core.h"

#define MOTUS_I4_TRIALS 3      // modes that are evaluated for a block, at most
#define MOTUS_CANVAS_STRIDE 32 // Intra4x4 reconstructs on a canvas with one row above and one column to the left
#define MOTUS_CANVAS_ORIGIN (MOTUS_CANVAS_STRIDE + 8)

// A mode of a block, evaluated. Rows of samples are words, first sample lowest.
typedef struct MotusI4Trial {
    uint32_t pred[4], rec[4];
    int16_t coef[16];                              // raster; transformed in place, and scaled levels later
    __attribute__((aligned(4))) int16_t level[16]; // zigzag
    int t[16];                                     // zigzag; as in MotusLevelBlock
    uint32_t cost, ssd, bits, mode_bits;           // motus_rd_cost with both kinds of bits
    int n, mode;                                   // nonzero levels
} MotusI4Trial;

// A block on its way. `runs`: see motus_i4_line. Eight lanes without a mode to evaluate use one of the last two trials.
typedef struct MotusI4Block {
    uint32_t runs[24];
    MotusI4Trial trial[MOTUS_I4_TRIALS + 2];
} MotusI4Block;

// Working memory of an MB.
typedef struct MotusI4Lanes {
    MotusI4Block block[2];
    int8_t count[5][5],
        mode[5]
            [5]; // of the MB's blocks (rows and columns 1..4) and what surrounds them: total_coeff and Intra4x4 mode, -1 outside the slice
    uint32_t cost[16], ssd[16], bits[16], mode_bits[16]; // of the modes chosen
} MotusI4Lanes;

#if MOTUS_LANES > 1

// Four samples whose address is a multiple of 4.
MOTUS_HD uint32_t motus_load4(const uint8_t *at) {
    uint32_t v;
    memcpy(&v, __builtin_assume_aligned(at, 4), 4);
    return v;
}
MOTUS_HD void motus_store4(uint8_t *at, uint32_t v) { memcpy(__builtin_assume_aligned(at, 4), &v, 4); }

MOTUS_HD int motus_sample_of(uint32_t word, int i) { return (int)(word >> (8 * i) & 255); }
MOTUS_HD int motus_sum_of_samples(uint32_t word) {
    return motus_sample_of(word, 0) + motus_sample_of(word, 1) + motus_sample_of(word, 2) + motus_sample_of(word, 3);
}

// motus_satd4x4 of rows in words.
MOTUS_HD uint32_t motus_satd_rows(const uint32_t a[4], const uint32_t b[4]) {
    int v[16], sum = 0;
    for (int i = 0; i < 16; i++) v[i] = motus_sample_of(a[i >> 2], i & 3) - motus_sample_of(b[i >> 2], i & 3);
    for (int i = 0; i < 4; i++) motus_hadamard4(v + 4 * i, 1);
    for (int i = 0; i < 4; i++) motus_hadamard4(v + i, 4);
    for (int i = 0; i < 16; i++) sum += motus_abs(v[i]);
    return (uint32_t)sum >> 1;
}

// ---- Prediction ---------------------------------------------------------------------------------------------------------------------------

// Every row of every mode but DC is four neighbouring bytes of `runs`: of the line around the corner, its half and smooth means (MotusIntraLine) and what the
// directions between them interleave. Places of the four rows, by mode, lowest first.
enum {
    MOTUS_RUN_LINE = 0,
    MOTUS_RUN_HALF = 16,
    MOTUS_RUN_SMOOTH = 32,
    MOTUS_RUN_LEFT = 48
}; // left: each sample four times, top one first
enum {
    MOTUS_RUN_VR2 = 64,
    MOTUS_RUN_VR3 = 68,
    MOTUS_RUN_HD = 72,
    MOTUS_RUN_HU = 82
}; // rows 2 and 3 of vertical right; the runs of 8.3.1.2.6 and 8

MOTUS_HD uint32_t motus_i4_rows(int mode) {
    switch (mode) {
    case MOTUS_I4_VERTICAL:
        return 0x05050505;
    case MOTUS_I4_HORIZONTAL:
        return 0x3C383430;
    case MOTUS_I4_DOWN_LEFT:
        return 0x29282726;
    case MOTUS_I4_DOWN_RIGHT:
        return 0x21222324;
    case MOTUS_I4_VERTICAL_RIGHT:
        return 0x44402414;
    case MOTUS_I4_HORIZONTAL_DOWN:
        return 0x484A4C4E;
    case MOTUS_I4_VERTICAL_LEFT:
        return 0x27162615;
    case MOTUS_I4_HORIZONTAL_UP:
        return 0x58565452;
    default:
        return 0;
    }
}

// Fills `runs`, lane j of 16 dealing with sample j of the line. `at` is the block's first sample on the canvas.
MOTUS_HD void motus_i4_line(uint32_t runs[24], const uint8_t *at, int has) {
    const int lane = motus_lane(), j = lane & 15;
    const int right = motus_min(j - MOTUS_LINE_TOP, has & MOTUS_HAS_TOP_RIGHT ? 7 : 3);
    const int needed = j < 4 ? MOTUS_HAS_LEFT : j == 4 ? MOTUS_HAS_CORNER : MOTUS_HAS_TOP;
    const int offset = j < 4    ? (3 - j) * MOTUS_CANVAS_STRIDE - 1
                       : j == 4 ? -MOTUS_CANVAS_STRIDE - 1
                                : right - MOTUS_CANVAS_STRIDE;
    uint32_t e = j < 14 && (has & needed) ? at[offset] : 0;
    uint32_t next = motus_lanes_get(e, lane + 1), before = motus_lanes_get(e, lane - 1);
    if (j == 0) before = e;
    uint8_t *to = (uint8_t *)runs, half = (uint8_t)((e + next + 1) >> 1), smooth = (uint8_t)((before + 2 * e + next + 2) >> 2);
    to[MOTUS_RUN_LINE + j] = (uint8_t)e;
    to[MOTUS_RUN_HALF + j] = half;
    to[MOTUS_RUN_SMOOTH + j] = smooth;
    if (j < 4) runs[MOTUS_RUN_LEFT / 4 + 3 - j] = e * 0x01010101u;
    if (j == 3) to[MOTUS_RUN_VR2] = smooth;
    if (j == 2) to[MOTUS_RUN_VR3] = smooth;
    if (j >= 4 && j <= 6) {
        to[MOTUS_RUN_VR2 + j - 3] = half;
        to[MOTUS_RUN_VR3 + j - 3] = smooth;
    }
    if (j < 4) to[MOTUS_RUN_HD + 2 * j] = half;
    if (j >= 1 && j <= 4) to[MOTUS_RUN_HD + 2 * j - 1] = smooth;
    if (j >= 5 && j <= 6) to[MOTUS_RUN_HD + 3 + j] = smooth;
    if (j < 3) {
        to[MOTUS_RUN_HU + 4 - 2 * j] = half;
        to[MOTUS_RUN_HU + 5 - 2 * j] = smooth;
    }
    if (j == 0) runs[(MOTUS_RUN_HU + 6) / 4] = e * 0x01010101u;
}

// Four bytes of `runs` from byte `at` <= 88 on.
MOTUS_HD uint32_t motus_i4_row(const uint32_t runs[24], int at) {
    uint64_t both = runs[at >> 2] | (uint64_t)runs[(at >> 2) + 1] << 32;
    return (uint32_t)(both >> (8 * (at & 3)));
}

MOTUS_HD int motus_i4_dc(const uint32_t runs[24], int has) {
    int left = motus_sum_of_samples(runs[0]), top = motus_sum_of_samples(motus_i4_row(runs, MOTUS_LINE_TOP));
    int both = MOTUS_HAS_LEFT | MOTUS_HAS_TOP;
    if ((has & both) == both) return (left + top + 4) >> 3;
    return has & MOTUS_HAS_LEFT ? (left + 2) >> 2 : has & MOTUS_HAS_TOP ? (top + 2) >> 2 : 128;
}

// Predicts by all allowed modes, a lane each, and leaves the predictions of the `most` cheapest by SATD, best first, in b->trial. Returns how many there are.
MOTUS_HD int motus_i4_modes(MotusI4Block *b, const uint32_t src[4], const MotusQp *qp, int has, int predicted, uint32_t rows,
                            int most) {
    const int lane = motus_lane(), mode = motus_min(lane & 15, MOTUS_I4_MODES - 1);
    const int allowed = (lane & 15) < MOTUS_I4_MODES && motus_intra4x4_allowed(mode, has);
    const uint32_t dc = (uint32_t)motus_i4_dc(b->runs, has) * 0x01010101u;
    uint32_t pred[4], mode_bits = mode == predicted ? 1 : 4, rank = 0;
    for (int y = 0; y < 4; y++) pred[y] = mode == MOTUS_I4_DC ? dc : motus_i4_row(b->runs, (int)(rows >> (8 * y) & 255));
    uint32_t cost = motus_satd_rows(src, pred) + motus_mode_cost(qp, mode_bits); // below 2^14
    uint32_t key = allowed ? cost << 4 | (uint32_t)mode : UINT32_MAX;
    for (int k = 0; k < MOTUS_I4_MODES; k++) rank += motus_lanes_get(key, (lane & 16) + k) < key;
    if (allowed && rank < (uint32_t)most) {
        MotusI4Trial *trial = &b->trial[rank];
        for (int y = 0; y < 4; y++) trial->pred[y] = pred[y];
        trial->mode = mode;
        trial->mode_bits = mode_bits;
    }
    uint32_t n = (uint32_t)motus_cavlc_total_coeff(motus_lanes_which(allowed) >> (lane & 16) & 0xFFFF);
    motus_lanes_sync();
    return motus_min((int)n, most);
}

// ---- Levels, by eight lanes ---------------------------------------------------------------------------------------------------------------

// Lane k of eight has zigzag positions k and k + 8: where they are in raster order, and their quantizer.
typedef struct MotusI4Pair {
    int at[2], threshold[2], dequant[2];
    uint32_t scale[2];
} MotusI4Pair;

MOTUS_HD MotusI4Pair motus_i4_pair(const MotusQuant *q) {
    MotusI4Pair pair;
    for (int h = 0; h < 2; h++) {
        int at = motus_zigzag_at((motus_lane() & 7) + 8 * h), c = motus_coef_class(at);
        pair.at[h] = at;
        pair.threshold[h] = q->threshold[c];
        pair.scale[h] = q->scale[c];
        pair.dequant[h] = motus_dequant_scale(q->qp % 6, c);
    }
    return pair;
}

// What each eight lanes have brought to motus_lanes_which, in their low bits.
MOTUS_HD uint32_t motus_eight(uint32_t which) { return which >> (motus_lane() & 24) & 255; }

// motus_lower_levels: each lane has one of the highest levels that are left to be tried and counts the block's bits with it lowered. The first of them that pays
// is lowered, and those after it are tried again: what came before it has been answered for good.
MOTUS_HD void motus_i4_lower(MotusI4Trial *trial, MotusLevelPlanes *planes, uint32_t left, uint32_t *bits, const MotusQuant *q,
                             int token_class, const uint8_t *zero_runs) {
    const int lane = motus_lane();
    while (motus_lanes_which(left != 0)) {
        uint32_t rest = left, own_bits = 0;
        int i = 0, magnitude = 0, pays = 0;
        for (int k = 0; k < (lane & 7) && rest; k++) rest ^= 1u << (motus_bit_length(rest) - 1);
        if (rest) {
            i = motus_bit_length(rest) - 1;
            magnitude = motus_abs(trial->level[i]);
            MotusLevelPlanes with = *planes;
            motus_planes_set(&with, i, magnitude - 1);
            int lowered = trial->level[i] < 0 ? 1 - magnitude : magnitude - 1;
            own_bits = motus_planes_block_bits(&with, trial->level, i, lowered, 0, token_class, zero_runs);
            int loss = 512 * trial->t[i] - 65536 * (2 * magnitude - 1);
            pays = loss + (int32_t)(own_bits * q->rate) < (int32_t)(*bits * q->rate);
        }
        uint32_t votes = motus_eight(motus_lanes_which(pays));
        int winner = (lane & 24) + (votes ? motus_bit_length(votes & (0u - votes)) - 1 : 7);
        int at = (int)motus_lanes_get((uint32_t)i, winner), lowered = (int)motus_lanes_get((uint32_t)magnitude, winner) - 1;
        uint32_t now = motus_lanes_get(own_bits, winner);
        left &= (1u << at) - 1; // without a winner: lane 7 of eight has tried the lowest one, or had none and at is 0
        motus_lanes_sync();     // the level has been read by all
        if (votes) {
            *bits = now;
            motus_planes_set(planes, at, lowered);
            if (lane == winner) trial->level[at] = (int16_t)(trial->level[at] < 0 ? -lowered : lowered);
        }
        motus_lanes_sync(); // the level is written
    }
}

// motus_choose_levels of trial->coef for `active` lanes; the others only come along. n = 0 leaves levels that are not to be used.
MOTUS_HD MotusLevels motus_i4_levels(MotusI4Trial *trial, const MotusI4Pair *pair, int active, int nc, const MotusQuant *q,
                                     const MotusLevelChoice *choice) {
    const int token_class = motus_cavlc_token_class(nc), k = motus_lane() & 7;
    const uint32_t zero_bits = (uint32_t)motus_cavlc_token(token_class, 0, 0).length;
    MotusLevelPlanes planes = {0, 0, 0, {0, 0, 0, 0}};
    MotusLevels levels;
    uint32_t tried = 0, bits;
    int t[2];
    for (int h = 0; h < 2; h++) {
        int coef = trial->coef[pair->at[h]], live = active && motus_abs(coef) >= pair->threshold[h];
        t[h] = (int)((uint32_t)motus_abs(coef) * pair->scale[h] >> q->shift);
        int magnitude = live ? motus_clip(1, MOTUS_MAX_LEVEL, (t[h] + 128) >> 8) : 0;
        int loss = 512 * t[h] - 65536 * (2 * magnitude - 1);
        trial->t[k + 8 * h] = t[h];
        trial->level[k + 8 * h] = (int16_t)(coef < 0 ? -magnitude : magnitude);
        planes.nonzero |= motus_eight(motus_lanes_which(magnitude)) << (8 * h);
        planes.negative |= motus_eight(motus_lanes_which(coef < 0)) << (8 * h);
        planes.large |= motus_eight(motus_lanes_which(magnitude > MOTUS_PLANES_MAX)) << (8 * h);
        for (int p = 0; p < 4; p++) {
            int bit = magnitude && magnitude <= MOTUS_PLANES_MAX ? (magnitude - 1) >> p & 1 : 0;
            planes.plane[p] |= motus_eight(motus_lanes_which(bit)) << (8 * h);
        }
        tried |= motus_eight(motus_lanes_which(magnitude && (magnitude <= 2 || loss <= 0))) << (8 * h);
    }
    motus_lanes_sync();
    bits = motus_planes_block_bits(&planes, trial->level, -1, 0, 0, token_class, choice->zero_runs);
    if (choice->method == MOTUS_LEVELS_LOWERED) motus_i4_lower(trial, &planes, tried, &bits, q, token_class, choice->zero_runs);
    int32_t gain = 0;
    for (int h = 0; h < 2; h++)
        if (planes.nonzero >> (k + 8 * h) & 1) gain += motus_level_gain(t[h], motus_abs(trial->level[k + 8 * h]));
    gain = motus_min((int32_t)motus_lanes_sum_of((uint32_t)gain, 8), MOTUS_GAIN_MAX);
    levels.n = motus_cavlc_total_coeff(planes.nonzero);
    if (gain <= (int32_t)((bits - zero_bits) * q->rate)) levels.n = 0;
    levels.bits = levels.n ? bits : zero_bits;
    levels.gain = levels.n ? gain : 0;
    return levels;
}

// ---- A mode, by eight lanes ---------------------------------------------------------------------------------------------------------------

// A row, then a column of the forward transform; lanes 0..3 of eight.
MOTUS_HD void motus_i4_forward(MotusI4Trial *trial, const uint32_t src[4]) {
    const int k = motus_lane() & 7;
    int16_t v[4];
    if (k < 4) {
        uint32_t s = k < 2 ? (k ? src[1] : src[0]) : k == 2 ? src[2] : src[3], p = trial->pred[k];
        for (int x = 0; x < 4; x++) v[x] = (int16_t)(motus_sample_of(s, x) - motus_sample_of(p, x));
        motus_forward4(v, 1);
        for (int x = 0; x < 4; x++) trial->coef[4 * k + x] = v[x];
    }
    motus_lanes_sync();
    if (k < 4) {
        for (int y = 0; y < 4; y++) v[y] = trial->coef[4 * y + k];
        motus_forward4(v, 1);
        for (int y = 0; y < 4; y++) trial->coef[4 * y + k] = v[y];
    }
    motus_lanes_sync();
}

// Reconstruction from n levels; returns the squared error.
MOTUS_HD uint32_t motus_i4_reconstruct(MotusI4Trial *trial, const MotusI4Pair *pair, int n, const uint32_t src[4], int qp) {
    const int k = motus_lane() & 7;
    uint8_t *rec = (uint8_t *)trial->rec;
    uint32_t ssd = 0;
    int16_t v[4];
    for (int h = 0; h < 2; h++)
        trial->coef[pair->at[h]] = (int16_t)(n ? motus_dequant(trial->level[k + 8 * h], pair->dequant[h], qp / 6) : 0);
    motus_lanes_sync();
    if (k < 4) {
        for (int x = 0; x < 4; x++) v[x] = trial->coef[4 * k + x];
        motus_inverse4(v, 1);
        for (int x = 0; x < 4; x++) trial->coef[4 * k + x] = v[x];
    }
    motus_lanes_sync();
    if (k < 4) {
        for (int y = 0; y < 4; y++) v[y] = trial->coef[4 * y + k];
        motus_inverse4(v, 1);
        for (int y = 0; y < 4; y++) {
            int sample = motus_clip_u8(motus_sample_of(trial->pred[y], k) + ((int16_t)(v[y] + 32) >> 6));
            int d = motus_sample_of(src[y], k) - sample;
            rec[4 * y + k] = (uint8_t)sample;
            ssd += (uint32_t)(d * d);
        }
    }
    return motus_lanes_sum_of(ssd, 8);
}

// Evaluates the n modes that motus_i4_modes has left, two at a time; returns the best.
MOTUS_HD const MotusI4Trial *motus_i4_evaluate(MotusI4Block *b, const MotusI4Pair *pair, int n, int most, const uint32_t src[4],
                                               int nc, const MotusQp *qp, const MotusLevelChoice *choice) {
    for (int first = 0; first < most; first += 2) {
        int i = first + (motus_lane() >> 3 & 1), active = i < n;
        MotusI4Trial *trial = &b->trial[active ? i : MOTUS_I4_TRIALS + (i & 1)];
        motus_i4_forward(trial, src);
        MotusLevels levels = motus_i4_levels(trial, pair, active, nc, &qp->luma, choice);
        uint32_t ssd = motus_i4_reconstruct(trial, pair, levels.n, src, qp->luma.qp);
        if (active && !(motus_lane() & 7)) {
            trial->ssd = ssd;
            trial->bits = levels.bits;
            trial->n = levels.n;
            trial->cost = motus_rd_cost(ssd, levels.bits + trial->mode_bits, qp->lambda_ssd_q8);
        }
        motus_lanes_sync();
    }
    const MotusI4Trial *best = &b->trial[0];
    for (int i = 1; i < n; i++)
        if (b->trial[i].cost < best->cost) best = &b->trial[i];
    return best;
}

// ---- The MB -------------------------------------------------------------------------------------------------------------------------------

// What surrounds the MB. All of it is -1 where there is no neighbour.
MOTUS_HD void motus_i4_surroundings(MotusI4Lanes *s, const MotusNeighbours *neighbours) {
    const int lane = motus_lane(), i = lane & 3;
    const MotusMb *from = lane < 4 ? neighbours->a : neighbours->b;
    if (lane < 8) {
        int row = lane < 4 ? i + 1 : 0, column = lane < 4 ? 0 : i + 1, blk = lane < 4 ? 4 * i + 3 : 12 + i;
        s->count[row][column] = (int8_t)(from ? from->total_coeff[blk] : -1);
        s->mode[row][column] = (int8_t)(from ? motus_intra4x4_mode_of(from, blk) : -1);
    }
}

// Puts block blk's best mode where it belongs, 16 lanes.
MOTUS_HD void motus_i4_keep(MotusI4Lanes *s, MotusTrial *to, uint8_t *at, int blk, const MotusI4Trial *best) {
    const int j = motus_lane() & 15, x = blk & 3, y = blk >> 2;
    if (j < 4) {
        motus_store4(at + j * MOTUS_CANVAS_STRIDE, best->rec[j]);
        motus_store4(to->luma + (4 * y + j) * MOTUS_LUMA_STRIDE + 4 * x, best->rec[j]);
    } else if (j < 12) {
        motus_store4((uint8_t *)to->coef.luma[blk] + 4 * (j - 4), motus_load4((const uint8_t *)best->level + 4 * (j - 4)));
    } else if (j == 12) {
        to->mb.intra4x4_pred_mode[blk] = (uint8_t)best->mode;
        to->mb.total_coeff[blk] = (uint8_t)best->n;
        s->mode[y + 1][x + 1] = (int8_t)best->mode;
        s->count[y + 1][x + 1] = (int8_t)best->n;
    } else if (j == 13) {
        s->cost[blk] = best->cost;
        s->ssd[blk] = best->ssd;
        s->bits[blk] = best->bits;
        s->mode_bits[blk] = best->mode_bits;
    }
}

#endif
#endif
