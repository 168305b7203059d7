// Intra4x4 of an MB by a warp. Blocks with the same x + 2y are independent of one another: ten
// steps, six of them of two blocks. Each half of the warp has a block: a lane a sample of its edge,
// then a lane a mode, then eight lanes a trial, two coefficients each. In a step of one block the
// second half computes the same, and its result is dropped. If no mode reads samples above right
// (keeps_left), those with the same x + y are: seven steps of up to four blocks, eight lanes each.
// Equals code_4x4 (intra.c): suite `lanes`, and `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA4X4_WARP_CUH
#define ENCODER_INTRA_INTRA4X4_WARP_CUH

#include "encoder/intra/intra4x4_modes_warp.cuh"
#include "encoder/levels/levels_cabac_warp.cuh"

// Shared memory of an MB.
typedef struct MotusI4Lanes {
    uint32_t runs[4][40];                             // of up to four blocks: motus_i4_line
    __attribute__((aligned(16))) int16_t coef[4][16]; // of four trials: scaled, raster order
    int16_t level[4][16];                             // of four trials: zigzag order
    uint8_t has[16];                                  // of the MB's blocks: motus_intra4x4_has
    uint8_t samples[16][16]; // of the source's blocks, two for each of eight lanes
    // total_coeff and Intra4x4 mode of the MB's blocks (rows and columns 1..4) and those around
    // them, -1 outside the slice.
    int8_t count[5][5], mode[5][5];
    __attribute__((aligned(16))) uint32_t error[16][8]; // of the chosen modes, two samples each
    uint32_t bits[16], mode_bits[16];                   // of the chosen modes
} MotusI4Lanes;

// ---- A trial by eight lanes ---------------------------------------------------------------------

// Factors of a lane's two coefficients in the forward transform: of the four row sums, and
// of a row's four samples, as bytes.
typedef struct MotusI4Basis {
    int row[2][4];
    uint32_t column[2];
} MotusI4Basis;

MOTUS_WARP MotusI4Basis motus_i4_basis(const MotusLevelPair *pair) {
    MotusI4Basis basis;
    for (int h = 0; h < 2; h++)
        for (int way = 0; way < 2; way++) {
            const int k = way ? pair->at[h] & 3 : pair->at[h] >> 2;
            const uint32_t bytes = k == 0   ? MOTUS_BYTES(1, 1, 1, 1)
                                   : k == 1 ? MOTUS_BYTES(2, 1, -1, -2)
                                   : k == 2 ? MOTUS_BYTES(1, -1, -1, 1)
                                            : MOTUS_BYTES(1, -2, 2, -1);
            if (way) basis.column[h] = bytes;
            for (int y = 0; y < 4 && !way; y++) basis.row[h][y] = (int8_t)(bytes >> (8 * y));
        }
    return basis;
}

// Transforms four rows of samples (not residuals) into a lane's two coefficients of
// motus_forward4x4.
MOTUS_WARP void i4_forward(int coef[2], const uint32_t rows[4], const MotusI4Basis *basis) {
    for (int h = 0; h < 2; h++) {
        coef[h] = 0;
        for (int y = 0; y < 4; y++)
            coef[h] += basis->row[h][y] * motus_dot4(rows[y], basis->column[h], 0);
    }
}

// Computes two outputs of motus_inverse4, 0 and 3 (outer) or 1 and 2: they are even + odd and even
// - odd.
MOTUS_WARP void i4_inverse_pair(int *even, int *odd, int v0, int v1, int v2, int v3, int outer) {
    const int a = outer ? v1 : v1 >> 1, b = outer ? v3 >> 1 : v3;
    *even = outer ? v0 + v2 : v0 - v2;
    *odd = outer ? a + b : a - b;
}

// Reconstructs a lane's two samples from scaled coefficients: lane k of eight has column k & 3,
// rows k >> 2 and 3 - (k >> 2).
MOTUS_WARP void i4_samples(int sample[2], const int16_t coef[16], const uint32_t pred[4]) {
    const int x = motus_lane() & 3, row = motus_lane() >> 2 & 1, outer = x == 0 || x == 3;
    int v[4], even, odd;
    uint32_t words[8];
    memcpy(words, __builtin_assume_aligned(coef, 16), 32);
    for (int y = 0; y < 4; y++) {
        i4_inverse_pair(&even, &odd, (int16_t)words[2 * y], (int16_t)(words[2 * y] >> 16),
                        (int16_t)words[2 * y + 1], (int16_t)(words[2 * y + 1] >> 16), outer);
        v[y] = (int16_t)(x < 2 ? even + odd : even - odd);
    }
    i4_inverse_pair(&even, &odd, v[0], v[1], v[2], v[3], !row);
    const uint32_t above = row ? pred[1] : pred[0], below = row ? pred[2] : pred[3];
    sample[0] = motus_clip_u8(motus_word_sample(above, x) + ((int16_t)(even + odd + 32) >> 6));
    sample[1] = motus_clip_u8(motus_word_sample(below, x) + ((int16_t)(even - odd + 32) >> 6));
}

// ---- The MB -------------------------------------------------------------------------------------

// Loads the surroundings of the MB: counts and modes, -1 without a neighbour; the row above with
// its corner and four samples of the upper right MB; the column to the left. All loads come before
// the first store, so that they overlap. rec: the MB's first sample.
MOTUS_WARP void motus_i4_surroundings(MotusI4Lanes *s, uint8_t *canvas,
                                      const MotusNeighbours *neighbours, const uint8_t *rec,
                                      ptrdiff_t stride, int has) {
    const int lane = motus_lane(), i = lane & 3, is_left = lane < 4;
    const int needed = lane == 0    ? MOTUS_HAS_CORNER
                       : lane <= 16 ? MOTUS_HAS_TOP
                                    : MOTUS_HAS_TOP_RIGHT;
    const MotusMb *from = is_left ? neighbours->a : neighbours->b;
    int count = -1, mode = -1, type = MOTUS_MB_I_4x4, above = 0, left = 0;
    if (lane < 8 && from) {
        const int blk = is_left ? 4 * i + 3 : 12 + i;
        count = from->total_coeff[blk];
        mode = from->intra4x4_pred_mode[blk];
        type = from->type;
    }
    if (lane < 21 && (has & needed)) above = rec[-stride - 1 + lane];
    if (lane < 16 && (has & MOTUS_HAS_LEFT)) left = rec[lane * stride - 1];
    if (lane < 8) {
        const int row = is_left ? i + 1 : 0, column = is_left ? 0 : i + 1;
        s->count[row][column] = (int8_t)count;
        s->mode[row][column] =
            (int8_t)(type == MOTUS_MB_I_4x4 ? mode : (int)MOTUS_I4_DC); // motus_intra4x4_mode_of
    }
    if (lane < 21) canvas[MOTUS_CANVAS_ORIGIN - MOTUS_CANVAS_STRIDE - 1 + lane] = (uint8_t)above;
    if (lane < 16) canvas[MOTUS_CANVAS_ORIGIN + lane * MOTUS_CANVAS_STRIDE - 1] = (uint8_t)left;
    motus_lanes_sync();
}

// Parameters of an MB's blocks that do not depend on its neighbours.
typedef struct MotusI4Mb {
    MotusQp qp; // copies stay in registers: no store can alias them
    MotusLevelChoice levels;
    int keeps_left;
    int mode;      // this lane's; MOTUS_I4_MODES or more: none
    uint32_t rows; // its motus_i4_rows
    MotusI4Edge edge;
    MotusI4Basis basis;
    MotusLevelPair pair;
    MotusModeCosts modes;
    const MotusApartCosts *costs; // with CABAC
} MotusI4Mb;

// Shared memory of its blocks.
typedef struct MotusI4Memory {
    MotusI4Lanes *s;
    MotusTrial *to;
    uint8_t *canvas;
    const int32_t (*minus)[16];  // of the source (motus_satd_with)
    const int16_t (*source)[16]; // transformed source blocks, two coefficients a lane of eight
} MotusI4Memory;

// Fills `source`, `samples` and `minus` of the MB whose luma begins at src; eight lanes a block.
MOTUS_WARP void motus_i4_transform_source(int16_t source[16][16], uint8_t samples[16][16],
                                          int32_t minus[16][16], const uint8_t *src,
                                          ptrdiff_t stride, const MotusI4Basis *basis) {
    const int lane = motus_lane(), row = lane >> 1 & 3, k = lane & 7;
    MOTUS_ONE_BODY
    for (int blk = lane >> 3; blk < 16; blk += 4) {
        const uint8_t *from = src + 4 * (blk >> 2) * stride + 4 * (blk & 3);
        const uint32_t own = motus_word_get(from + row * stride);
        uint32_t rows[4];
        int coef[2];
        for (int y = 0; y < 4; y++) rows[y] = motus_word_get(from + y * stride);
        i4_forward(coef, rows, basis);
        for (int h = 0; h < 2; h++) {
            source[blk][2 * k + h] = (int16_t)coef[h];
            samples[blk][2 * k + h] = from[(h ? 3 - (k >> 2) : k >> 2) * stride + (k & 3)];
        }
        for (int i = 2 * (lane & 1); i < 2 * (lane & 1) + 2; i++)
            minus[blk][4 * row + i] = -motus_dot4(own, motus_hadamard_bytes(i), 0);
    }
}

// The block of half a warp, or of eight lanes, in a step, independent of the blocks before it.
typedef struct MotusI4Block {
    int blk, at;   // at: its first sample on the canvas
    int has, kept; // kept 0: the result is dropped
    int from[3];   // motus_i4_line
    int source[2]; // this lane's two coefficients of the source
    int src[2];    // this lane's two samples of the source (i4_samples)
} MotusI4Block;

// Returns these lanes' block of those with x + 2y == step, or x + y; the last one is also that of
// lanes without.
MOTUS_WARP MotusI4Block motus_i4_block_of(const MotusI4Mb *mb, const MotusI4Memory *m, int step) {
    const int lane = motus_lane(), k = lane & 7,
              first = motus_max(0, mb->keeps_left ? step - 3 : (step - 2) >> 1),
              last = motus_min(3, mb->keeps_left ? step : step >> 1),
              own = first + (mb->keeps_left ? lane >> 3 : lane >> 4), y = motus_min(own, last),
              x = mb->keeps_left ? step - y : step - 2 * y;
    MotusI4Block b;
    b.blk = 4 * y + x;
    b.at = MOTUS_CANVAS_ORIGIN + 4 * y * MOTUS_CANVAS_STRIDE + 4 * x;
    b.has = m->s->has[b.blk];
    b.kept = own == y;
    for (int i = 0; i < 3; i++)
        b.from[i] =
            b.at + (b.has & MOTUS_HAS_TOP_RIGHT ? mb->edge.from[1][i] : mb->edge.from[0][i]);
    for (int h = 0; h < 2; h++)
        b.source[h] = m->source[b.blk][2 * k + h], b.src[h] = m->s->samples[b.blk][2 * k + h];
    return b;
}

// A trial of eight lanes: what each has of it.
typedef struct MotusI4Trial {
    int mode;
    uint32_t mode_bits;
    MotusLevels levels;
    MotusPairLevels own;
    int sample[2];
    uint32_t error; // of these samples
} MotusI4Trial;

// Stores the trial of the eight lanes whose mode is the best so far.
MOTUS_WARP void i4_keep(const MotusI4Memory *m, const MotusI4Block *b, const MotusI4Trial *t) {
    const int k = motus_lane() & 7, x = b->blk & 3, y = b->blk >> 2, row = k >> 2;
    uint8_t *at = m->canvas + b->at + (k & 3);
    MotusI4Lanes *s = m->s;
    at[row * MOTUS_CANVAS_STRIDE] = (uint8_t)t->sample[0];
    at[(3 - row) * MOTUS_CANVAS_STRIDE] = (uint8_t)t->sample[1];
    for (int h = 0; h < 2; h++)
        m->to->coef.luma[b->blk][motus_pair_position(h)] = motus_pair_level(&t->own, h);
    s->error[b->blk][k] = t->error;
    if (k) return;
    s->mode[y + 1][x + 1] = (int8_t)t->mode;
    s->count[y + 1][x + 1] = (int8_t)t->levels.n;
    s->bits[b->blk] = t->levels.bits;
    s->mode_bits[b->blk] = t->mode_bits;
}

// Returns the predicted mode of a block, and the context of its levels.
MOTUS_WARP int i4_predicted(const MotusI4Mb *mb, const MotusI4Lanes *s, const MotusI4Block *b,
                            int *context) {
    const int x = b->blk & 3, y = b->blk >> 2, left = s->mode[y + 1][x], above = s->mode[y][x + 1];
    *context = motus_count_context(s->count[y + 1][x], s->count[y][x + 1], 1, &mb->levels);
    return left < 0 || above < 0 ? (int)MOTUS_I4_DC : motus_min(left, above);
}

// Codes a block by a mode, by eight lanes. from: the lane that has predicted it, own_pred.
MOTUS_WARP MotusI4Trial i4_try(const MotusI4Mb *mb, const MotusI4Memory *m, const MotusI4Block *b,
                               int predicted, int context, int active, int mode,
                               const uint32_t own_pred[4], int from) {
    const int group = motus_lane() >> 3;
    MotusI4Lanes *s = m->s;
    MotusI4Trial t;
    uint32_t pred[4];
    int coef[2];
    t.mode = mode;
    t.mode_bits = motus_i4_mode_bits(mode, predicted, &mb->modes);
    for (int i = 0; i < 4; i++) pred[i] = motus_lanes_shuffle(own_pred[i], from);
    i4_forward(coef, pred, &mb->basis);
    for (int h = 0; h < 2; h++) coef[h] = b->source[h] - coef[h];
    t.levels = motus_eight_levels_intra(s->level[group], coef, &mb->pair, active, 2, context,
                                        &mb->qp.luma, &mb->levels, mb->costs, &t.own);
    for (int h = 0; h < 2; h++)
        s->coef[group][mb->pair.at[h]] =
            (int16_t)(motus_dequant(motus_pair_level(&t.own, h), mb->pair.dequant[h],
                                    mb->qp.luma.qp / 6) &
                      -(t.levels.n != 0)); // no branch
    motus_lanes_sync();                    // coefficients are written
    i4_samples(t.sample, s->coef[group], pred);
    const int above = b->src[0] - t.sample[0], below = b->src[1] - t.sample[1];
    t.error = (uint32_t)(above * above + below * below);
    return t;
}

// Returns the RD cost of a trial, UINT32_MAX if it is not active.
MOTUS_WARP uint32_t i4_cost(const MotusI4Mb *mb, const MotusI4Trial *t, int active) {
    const uint32_t ssd = motus_lanes_group_sum(t->error, 8), bits = t->levels.bits + t->mode_bits;
    return active ? motus_rd_cost_in(motus_unit_of(&mb->levels), ssd, bits, mb->qp.lambda_ssd_q8)
                  : UINT32_MAX;
}

// Codes a block by the best of the `most` modes that are cheapest by SATD, two trials at a time.
// Returns its cost, if `asked` is set or there is a choice.
MOTUS_WARP uint32_t i4_block_of_half(const MotusI4Mb *mb, const MotusI4Memory *m,
                                     const MotusI4Block *b, int most, int asked) {
    const int lane = motus_lane(), slot = lane >> 3 & 1;
    uint32_t *runs = m->s->runs[lane >> 4], best = UINT32_MAX, least_key = 0, own_pred[4];
    int context;
    const int predicted = i4_predicted(mb, m->s, b, &context);
    motus_i4_line(runs, m->canvas, b->from, &mb->edge, lane & 15);
    motus_lanes_sync(); // the line is written
    uint32_t key = motus_i4_mode(own_pred, runs, m->minus[b->blk], &mb->qp, &mb->modes,
                                 motus_unit_of(&mb->levels), b->has, predicted, mb->rows, mb->mode);
    MOTUS_ONE_BODY
    for (int first = 0; first < most; first += 2) {
        uint32_t two[2]; // the least of half a warp
        motus_two_least(two, key > least_key ? key : UINT32_MAX, 8, 1);
        least_key = two[1];
        const uint32_t chosen = slot ? two[1] : two[0];
        const int active = chosen != UINT32_MAX && first + slot < most,
                  mode = active ? (int)(chosen & 15) : (int)MOTUS_I4_DC;
        const MotusI4Trial t =
            i4_try(mb, m, b, predicted, context, active, mode, own_pred, (lane & 16) + mode);
        int wins = !slot;
        if (most > 1 || asked) {
            const uint32_t cost = i4_cost(mb, &t, active),
                           other = motus_lanes_shuffle(cost, lane ^ 8),
                           least = other < cost ? other : cost;
            wins = cost < best && (slot ? cost < other : cost <= other);
            best = least < best ? least : best;
        }
        if (b->kept && wins) i4_keep(m, b, &t);
        motus_lanes_sync(); // the trial is stored; all have read the coefficients
    }
    return best;
}

// Codes a block by eight lanes, one trial at a time, where no mode reads samples above right.
// Returns its cost as i4_block_of_half does.
MOTUS_WARP uint32_t i4_block_of_eight(const MotusI4Mb *mb, const MotusI4Memory *m,
                                      const MotusI4Block *b, int most, int asked) {
    const int lane = motus_lane();
    uint32_t *runs = m->s->runs[lane >> 3], best = UINT32_MAX, least_key = 0, own_pred[4];
    int context;
    const int predicted = i4_predicted(mb, m->s, b, &context);
    motus_i4_line_of_eight(runs, m->canvas, b->at, &mb->edge);
    motus_lanes_sync(); // the line is written
    const uint32_t key =
        motus_i4_mode(own_pred, runs, m->minus[b->blk], &mb->qp, &mb->modes,
                      motus_unit_of(&mb->levels), b->has, predicted, mb->rows, mb->mode);
    MOTUS_ONE_BODY
    for (int i = 0; i < most; i++) {
        least_key = motus_least_of_eight(key > least_key ? key : UINT32_MAX);
        const int active = least_key != UINT32_MAX,
                  mode = active ? (int)(least_key & 15) : (int)MOTUS_I4_DC;
        // The lane of eight that has the mode (motus_i4_mode_of_eight).
        const int from = mode - (mode > MOTUS_I4_DOWN_LEFT) - (mode > MOTUS_I4_VERTICAL_LEFT);
        const MotusI4Trial t =
            i4_try(mb, m, b, predicted, context, active, mode, own_pred, (lane & 24) + from);
        int wins = 1;
        if (most > 1 || asked) {
            const uint32_t cost = i4_cost(mb, &t, active);
            wins = cost < best;
            best = wins ? cost : best;
        }
        if (b->kept && wins) i4_keep(m, b, &t);
        motus_lanes_sync(); // the trial is stored; all have read the coefficients
    }
    return best;
}

// Codes the blocks of a step.
MOTUS_WARP uint32_t motus_i4_block(const MotusI4Mb *mb, const MotusI4Memory *m,
                                   const MotusI4Block *b, int most, int asked) {
    return mb->keeps_left ? i4_block_of_eight(mb, m, b, most, asked)
                          : i4_block_of_half(mb, m, b, most, asked);
}

#endif
