// The 8x8 transform by a warp: coding of up to four luma 8x8 blocks, eight lanes each (a lane a
// row, then a column, then every eighth position in coding order), and the choice of an inter MB's
// transform.
// Equals motus_code_block8 and motus_choose_transform (residual_cpu.h, trial_cpu.h): suite `lanes`,
// and `gpu_decide` on a device.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_TRANSFORM8_WARP_CUH
#define ENCODER_ANALYSE_TRANSFORM8_WARP_CUH

#include "dct/transform8_core.h"
#include "encoder/analyse/residual_warp.cuh"
#include "encoder/levels/levels_cabac_warp.cuh"

// ---- Blocks -------------------------------------------------------------------------------------

// Shared memory of four blocks.
typedef struct __attribute__((aligned(16))) MotusBlocks8 {
    int16_t level[4][64]; // in coding order
    int32_t v[4][72];     // rows of nine words: no bank conflicts, by rows or by columns
} MotusBlocks8;

// Result for the block of eight lanes.
typedef struct MotusCoded8 {
    int pays;      // 1: its levels are worth their bits; 0: it has none
    int n;         // levels other than 0; CAVLC: of the 4x4 block with the lane's number modulo 4
    uint32_t bits; // 1/256 ones
} MotusCoded8;

// Returns the index of a raster position in MotusBlocks8.v.
MOTUS_WARP int index8(int raster) { return raster + (raster >> 3); }

// Tables of a QP and of the picture's costs, of which a lane holds its part.
typedef struct MotusTables8 {
    const MotusMapCosts *map;     // of 8x8 blocks; NULL: CAVLC
    const MotusStateCosts *state; // of all states; NULL: levels are not chosen apart
    MotusStateCosts level;
    uint32_t position[8]; // of positions 8 j + (lane & 7) in coding order: index8 |
                          // dequantization << 8 | quantization << 16
    uint32_t rate;
    int shift, qp, lowers;
} MotusTables8;

MOTUS_WARP MotusTables8 motus_tables8(const MotusQuant8 *q, const MotusLevelChoice *choice,
                                      const MotusMapCosts *map) {
    MotusTables8 own;
    own.map = map, own.state = NULL;
    own.level = motus_state_costs(choice->costs, MOTUS_CATEGORY_8x8);
    own.rate = q->rate, own.shift = q->shift, own.qp = q->qp;
    own.lowers = choice->method == MOTUS_LEVELS_LOWERED;
    for (int j = 0; j < 8; j++) {
        const int i = 8 * j + (motus_lane() & 7), at = motus_zigzag8_at(i);
        own.position[j] = (uint32_t)index8(at) |
                          (uint32_t)motus_dequant8_scale(q->qp % 6, motus_coef8_class(at)) << 8 |
                          (uint32_t)q->scale[i] << 16;
    }
    return own;
}

// Returns the highest position in a mask that is not 0.
MOTUS_WARP int last_position(uint64_t mask) {
    const uint32_t high = (uint32_t)(mask >> 32);
    return (high ? 32 + motus_bit_length(high) : motus_bit_length((uint32_t)mask)) - 1;
}

// Loads eight samples as integers.
MOTUS_WARP void load_samples8(int to[8], const uint8_t *from) {
    for (int h = 0; h < 2; h++) {
        const uint32_t word = motus_word_get(from + 4 * h);
        for (int i = 0; i < 4; i++) to[4 * h + i] = motus_word_sample(word, i);
    }
}

// Transforms the residual into v (motus_forward8x8).
MOTUS_WARP void forward_rows8(int32_t v[72], const uint8_t *src, ptrdiff_t src_stride,
                              const uint8_t *pred, ptrdiff_t pred_stride) {
    const int k = motus_lane() & 7;
    int own[8], other[8];
    load_samples8(own, src + k * src_stride);
    load_samples8(other, pred + k * pred_stride);
    for (int x = 0; x < 8; x++) own[x] -= other[x];
    motus_forward8(own, 1);
    for (int x = 0; x < 8; x++) v[9 * k + x] = own[x];
    motus_lanes_sync(); // rows are written
    for (int y = 0; y < 8; y++) own[y] = v[9 * y + k];
    motus_forward8(own, 1);
    for (int y = 0; y < 8; y++) v[9 * y + k] = own[y];
    motus_lanes_sync(); // columns are written
}

// Chooses the levels of the positions in `left`, whose coefficients in 1/256 of a level are in v.
// Only the state of a block links a level to those behind it. So each lane chooses for its own
// state, and the choice in the block's state is taken: one exchange is all that a level waits for.
MOTUS_WARP MotusCoded8 walk_levels8(int16_t level[64], const int32_t v[72], uint64_t left,
                                    const MotusTables8 *tables) {
    const int lane = motus_lane(), k = lane & 7, group = lane & 24, last = k == 0; // its state
    const int after_one = motus_level_state_after(k, 1), after_more = motus_level_state_after(k, 2);
    const MotusMapCosts none = {0, 0, 0, {0, 0}, 0};
    MotusCoded8 coded = {0, 0, 0};
    int32_t ssd_drop = 0;
    int state = 0, i = left ? last_position(left) : 0;
    MotusMapCosts at = tables->map[i];
    while (motus_lanes_ballot(left != 0)) {
        const int has = left != 0, value = v[index8(i)], t = motus_abs(value);
        left &= ~(1ull << i);
        const int next = left ? last_position(left) : 0, m = motus_nearest_level(t);
        const MotusMapCosts below = left ? tables->map[next] : none;
        const uint32_t cost = motus_state_cost(&tables->level, m, 1),
                       cost_less = motus_state_cost(&tables->level, m - 1, 1),
                       between = at.zeros - below.zeros - below.zero,
                       flags = (uint32_t)at.one + at.last[last],
                       with = between + flags + (last ? below.last[0] : 0u),
                       without = last ? below.last[1] : between + at.zero;
        const int lower =
            tables->lowers &&
            motus_state_lowers(t, m, cost + with, m > 1 ? cost_less + with : without, tables->rate);
        const int chosen = m - lower, after = chosen > 1 ? after_more : chosen ? after_one : k;
        const uint32_t added =
            chosen ? (lower ? cost_less : cost) + flags + (last ? at.zeros : 0u - at.zero) : 0;
        const uint32_t taken =
            motus_lanes_shuffle(added << 4 | (uint32_t)lower << 3 | (uint32_t)after, group + state);
        const int magnitude = m - (int)(taken >> 3 & 1);
        if (has && magnitude) {
            coded.n++;
            coded.bits += (uint32_t)((int32_t)taken >> 4);
            ssd_drop = motus_min(ssd_drop + motus_level_ssd_drop(t, magnitude), MOTUS_SSD_DROP_MAX);
            state = (int)(taken & 7);
            if ((i & 7) == k) level[i] = (int16_t)(value < 0 ? -magnitude : magnitude);
        }
        i = next, at = below;
    }
    coded.pays = coded.n && ssd_drop > (int32_t)motus_rate_of(coded.bits, tables->rate);
    return coded;
}

// Returns the number of positions in a mask.
MOTUS_WARP int positions_in(uint64_t mask) {
    return motus_lanes_count((uint32_t)mask) + motus_lanes_count((uint32_t)(mask >> 32));
}

// Chooses them by MOTUS_LEVELS_APART, by sixteen lanes: those of the warp's lower half take
// positions 0 to 7, 16 to 23 and so on, those of the upper half the others. What a level depends on
// are counts of the coefficients before it. map: has an entry of zeros behind the last position.
MOTUS_WARP MotusCoded8 apart_levels8(int16_t level[64], const int32_t v[72], uint64_t left,
                                     const MotusTables8 *tables) {
    const int lane = motus_lane(), k = lane & 7, group = lane & 8;
    MotusCoded8 coded = {0, 0, 0};
    uint64_t large = 0, nonzero = 0; // coefficients that round to 2 and more; levels
    int32_t ssd_drop = 0;
    for (int j = 0; j < 8; j++)
        large |= (uint64_t)(motus_lanes_ballot(motus_abs(v[9 * j + k]) >= 384) >> group & 255)
                 << 8 * j;
    large &= left;
    MOTUS_ONE_BODY
    for (int j = 0; j < 4; j++) {
        const int row = 2 * j + (lane >> 4), i = 8 * row + k, value = v[9 * row + k],
                  t = motus_abs(value), live = (int)(left >> i & 1);
        if (!motus_lanes_ballot(live)) continue;
        const uint64_t behind = left & ((1ull << i) - 1);
        const MotusMapCosts at = tables->map[i],
                            below = tables->map[behind ? last_position(behind) : 64];
        int magnitude;
        const uint32_t bits = motus_apart_level(&magnitude, t, positions_in(left >> i >> 1),
                                                positions_in(large >> i >> 1), &at, &below,
                                                tables->state, tables->rate, 1);
        if (!live) magnitude = 0;
        const uint32_t all = motus_lanes_ballot(magnitude) >> group;
        nonzero |= (uint64_t)(all & 255) << 16 * j | (uint64_t)(all >> 16 & 255) << (16 * j + 8);
        if (!magnitude) continue;
        coded.bits += bits + motus_apart_map_bits(&at, 0);
        ssd_drop = motus_min(ssd_drop + motus_level_ssd_drop(t, magnitude), MOTUS_SSD_DROP_MAX);
        level[i] = (int16_t)(value < 0 ? -magnitude : magnitude);
    }
    coded.n = positions_in(nonzero);
    coded.bits = motus_lanes_group_sum(coded.bits, 8);
    ssd_drop = (int32_t)motus_lanes_group_sum((uint32_t)ssd_drop, 8); // below 2^30 of both halves
    coded.bits += motus_lanes_shuffle(coded.bits, lane ^ 16);
    ssd_drop = motus_min(ssd_drop + (int32_t)motus_lanes_shuffle((uint32_t)ssd_drop, lane ^ 16),
                         MOTUS_SSD_DROP_MAX);
    if (nonzero) { // the last level's flags
        const MotusMapCosts *at = &tables->map[last_position(nonzero)];
        coded.bits += motus_apart_map_bits(at, 1) - motus_apart_map_bits(at, 0);
    }
    coded.pays = coded.n && ssd_drop > (int32_t)motus_rate_of(coded.bits, tables->rate);
    return coded;
}

// Chooses them by MOTUS_LEVELS_GUESSED (choose8_guessed in levels.c), by sixteen lanes alike. Every
// position in `left` gets a level.
MOTUS_WARP MotusCoded8 guess_levels8(int16_t level[64], const int32_t v[72], uint64_t left,
                                     const MotusTables8 *tables, int cabac) {
    const int lane = motus_lane(), k = lane & 7, n = positions_in(left);
    int sum = 0;
    int32_t ssd_drop = 0;
    for (int j = 0; j < 4; j++) {
        const int row = 2 * j + (lane >> 4), i = 8 * row + k, value = v[9 * row + k],
                  t = motus_abs(value), magnitude = motus_guess_magnitude(t);
        if (!(left >> i & 1)) continue;
        sum += motus_guess_level(magnitude);
        ssd_drop = motus_min(ssd_drop + motus_level_ssd_drop(t, magnitude), MOTUS_SSD_DROP_MAX);
        level[i] = (int16_t)(value < 0 ? -magnitude : magnitude);
    }
    sum = (int)motus_lanes_group_sum((uint32_t)sum, 8);
    ssd_drop = (int32_t)motus_lanes_group_sum((uint32_t)ssd_drop, 8); // below 2^30 of both halves
    sum += (int)motus_lanes_shuffle((uint32_t)sum, lane ^ 16);
    ssd_drop += (int32_t)motus_lanes_shuffle((uint32_t)ssd_drop, lane ^ 16);
    MotusCoded8 coded = {0, n, 0};
    if (!cabac) coded.n = positions_in(left & 0x1111111111111111u << (k & 3));
    if (n) coded.bits = motus_guessed_bits8(sum, last_position(left) + 1 - n);
    coded.pays = n && motus_min(ssd_drop, MOTUS_SSD_DROP_MAX) >
                          (int32_t)motus_rate_of(coded.bits, tables->rate);
    return coded;
}

// Chooses them for CAVLC, one 4x4 block after another by all eight lanes
// (choose8_cavlc in levels.c). Gains that saturate in another order than there are still above the
// cost of any block's bits.
MOTUS_WARP MotusCoded8 cavlc_levels8(int16_t level[64], const int32_t v[72], uint64_t left,
                                     const MotusTables8 *tables, const MotusLevelChoice *choice) {
    const int k = motus_lane() & 7;
    const int token_class = motus_cavlc_token_class((positions_in(left) + 2) / 4);
    MotusCoded8 coded = {0, 0, 0};
    int16_t own_level[8];
    int32_t ssd_drop = 0;
    int n = 0;
    MOTUS_ONE_BODY
    for (int b = 0; b < 4; b++) {
        MotusPairLevels own;
        int live[2];
        for (int h = 0; h < 2; h++) {
            const int i = 4 * motus_pair_position(h) + b, value = v[index8(i)];
            own.t[h] = motus_abs(value), own.negative[h] = value < 0;
            live[h] = (int)(left >> i & 1);
        }
        const MotusLevels levels =
            motus_eight_choose(level + 16 * b, &own, live, 0, tables->rate, token_class, choice);
        if (b == (k & 3)) coded.n = levels.n;
        n += levels.n;
        coded.bits += levels.bits * MOTUS_BIT;
        ssd_drop += levels.ssd_drop;
    }
    coded.pays = n && ssd_drop > (int32_t)motus_rate_of(coded.bits, tables->rate);
    motus_lanes_sync(); // levels are written, block by block
    for (int j = 0; j < 8; j++) own_level[j] = level[16 * (k & 3) + 2 * j + (k >> 2)];
    motus_lanes_sync(); // all have read them
    for (int j = 0; j < 8; j++) level[8 * j + k] = own_level[j];
    return coded;
}

// Chooses levels from the coefficients in v, which it overwrites (choose8_cabac). apart:
// with CABAC by MOTUS_LEVELS_APART; constant, as one kernel needs one way.
MOTUS_WARP MotusCoded8 choose_levels8(int16_t level[64], int32_t v[72], const MotusTables8 *tables,
                                      const MotusLevelChoice *choice, int apart) {
    const int k = motus_lane() & 7;
    uint64_t left = 0;
    int own[8];
    for (int j = 0; j < 8; j++) own[j] = v[tables->position[j] & 255];
    motus_lanes_sync(); // all have read v
    for (int j = 0; j < 8; j++) {
        const int t =
            (int)((uint32_t)motus_abs(own[j]) * (tables->position[j] >> 16) >> tables->shift);
        const uint32_t live = motus_lanes_ballot(t >= MOTUS_LEVEL_FROM);
        left |= (uint64_t)(live >> (motus_lane() & 24) & 255) << 8 * j;
        v[9 * j + k] = own[j] < 0 ? -t : t;
        level[8 * j + k] = 0;
    }
    motus_lanes_sync(); // v is written
    const MotusCoded8 coded = apart && choice->method == MOTUS_LEVELS_GUESSED
                                  ? guess_levels8(level, v, left, tables, choice->costs != NULL)
                              : !choice->costs ? cavlc_levels8(level, v, left, tables, choice)
                              : apart          ? apart_levels8(level, v, left, tables)
                                               : walk_levels8(level, v, left, tables);
    motus_lanes_sync(); // levels are written, all have read v
    return coded;
}

// Adds the levels to the prediction in rec if `pays` is set. Overwrites v.
MOTUS_WARP void reconstruct8(uint8_t *rec, ptrdiff_t stride, const int16_t level[64], int32_t v[72],
                             int pays, const MotusTables8 *tables) {
    const int k = motus_lane() & 7;
    int own[8];
    for (int j = 0; j < 8; j++) {
        const int value = level[8 * j + k];
        v[tables->position[j] & 255] =
            motus_dequant8(value, (int)(tables->position[j] >> 8 & 255), tables->qp);
    }
    motus_lanes_sync(); // coefficients are written
    for (int x = 0; x < 8; x++) own[x] = v[9 * k + x];
    motus_inverse8(own, 1);
    for (int x = 0; x < 8; x++) v[9 * k + x] = own[x];
    motus_lanes_sync(); // rows are written
    for (int y = 0; y < 8; y++) own[y] = v[9 * y + k];
    motus_inverse8(own, 1);
    for (int y = 0; y < 8 && pays; y++)
        rec[y * stride + k] = motus_clip_u8(rec[y * stride + k] + ((own[y] + 32) >> 6));
    motus_lanes_sync(); // samples are written, all have read v
}

// Codes the blocks of the four times eight lanes. src, rec, pays: of a lane's block; samples begin
// at multiples of 4. rec: its prediction, then its reconstruction. Leaves the levels in s. apart
// (choose_levels8): the warp's upper half has the same blocks as the lower one, whose place in
// s their levels get.
MOTUS_WARP MotusCoded8 motus_code8_warp(MotusBlocks8 *s, const uint8_t *src, ptrdiff_t src_stride,
                                        uint8_t *rec, ptrdiff_t rec_stride,
                                        const MotusTables8 *tables, const MotusLevelChoice *choice,
                                        int apart) {
    const int group = motus_lane() >> 3;
    int16_t *level = s->level[apart ? group & 1 : group];
    forward_rows8(s->v[group], src, src_stride, rec, rec_stride);
    const MotusCoded8 coded = choose_levels8(level, s->v[group], tables, choice, apart);
    if (motus_lanes_ballot(coded.pays))
        reconstruct8(rec, rec_stride, level, s->v[group], coded.pays, tables);
    return coded;
}

// Stores the levels of the lane's 8x8 block q, which has some, in its 4x4 blocks
// (motus_store_block8).
MOTUS_WARP void motus_store8_warp(MotusMbCoef *coef, int q, const int16_t level[64]) {
    const int k = motus_lane() & 7, half = k & 1;
    int16_t *to = coef->luma[motus_blk_at(4 * q + (k >> 1))] + 8 * half;
    for (int i = 0; i < 8; i += 2) {
        const int from = 4 * (8 * half + i) + (k >> 1);
        motus_word_put(to + i,
                       (uint32_t)(uint16_t)level[from] | (uint32_t)(uint16_t)level[from + 4] << 16);
    }
}

// ---- Inter MBs ----------------------------------------------------------------------------------

// Shared memory of a warp.
typedef struct __attribute__((aligned(16))) MotusTransformShared {
    MotusMb mb;
    uint8_t luma[256];
    MotusBlocks8 blocks;
} MotusTransformShared;

// Returns the squared error of eight samples, a lane's of a luma MB: half a row.
MOTUS_WARP uint32_t lane_ssd8(const uint8_t *src, ptrdiff_t src_stride, const uint8_t *rec,
                              ptrdiff_t rec_stride) {
    const int y = motus_lane() >> 1, x = 8 * (motus_lane() & 1);
    uint32_t ssd = 0;
    for (int i = x; i < x + 8; i += 4)
        ssd = motus_words_ssd(motus_word_get(src + y * src_stride + i),
                              motus_word_get(rec + y * rec_stride + i), ssd);
    return ssd;
}

// Codes luma of the decided MB s->mb with the 8x8 transform, and takes it if it costs less. rec:
// luma of the MB's reconstruction. quant8: at the MB's QP. Updates s->mb, coef, rec and *cost and
// returns 1 if it is taken.
MOTUS_WARP int motus_choose_transform_warp(const MotusInterMb *in, const MotusLevelChoice *choice,
                                           const MotusQuant8 *quant8, MotusTransformShared *s,
                                           MotusMbCoef *coef, uint8_t *rec, ptrdiff_t rec_stride,
                                           uint32_t luma_bits, uint32_t *cost) {
    const int lane = motus_lane(), q = lane >> 3, k = lane & 7;
    const uint8_t *src = in->src.plane[0];
    const ptrdiff_t stride = in->src.stride[0];
    if (!motus_transform_is_open(&s->mb, in, *cost)) return 0;
    lane_predict_luma(s->luma, in, &s->mb);
    motus_lanes_sync(); // the prediction is written
    const int x = 8 * (q & 1), y = 8 * (q >> 1);
    const MotusTables8 tables =
        motus_tables8(quant8, choice, choice->costs ? choice->costs->map8 : NULL);
    const MotusCoded8 coded = motus_code8_warp(&s->blocks, src + y * stride + x, stride,
                                               s->luma + 16 * y + x, 16, &tables, choice, 0);
    const uint32_t pay = motus_lanes_ballot(coded.pays),
                   bits = motus_lanes_sum(coded.pays && !k ? coded.bits : 0);
    if (!pay) return 0;
    const uint32_t ssd4 = motus_lanes_sum(lane_ssd8(src, stride, rec, rec_stride)),
                   ssd8 = motus_lanes_sum(lane_ssd8(src, stride, s->luma, 16));
    if (!motus_transform_pays(&s->mb, in->qp, ssd4, luma_bits, ssd8, bits, cost)) return 0;
    motus_lanes_sync(); // all have read the MB
    if (k < 4)
        s->mb.total_coeff[motus_blk_at(4 * q + k)] =
            (uint8_t)(coded.pays ? motus_min(16, coded.n) : 0);
    if (lane == 0)
        motus_set_transform8(&s->mb,
                             (int)((pay & 1) | (pay >> 7 & 2) | (pay >> 14 & 4) | (pay >> 21 & 8)));
    if (coded.pays) motus_store8_warp(coef, q, s->blocks.level[q]);
    for (int i = 0; i < 8; i += 4) {
        const int at = 8 * (lane & 1) + i, row = lane >> 1;
        motus_word_put(rec + row * rec_stride + at, motus_word_get(s->luma + 16 * row + at));
    }
    motus_lanes_sync(); // the MB is complete
    return 1;
}

// Gives a complete trial the 8x8 transform if it has a choice and costs less with it. s NULL: the
// trial keeps its transform.
MOTUS_WARP void lane_trial_transform(const MotusInterMb *in, const MotusLevelChoice *choice,
                                     MotusTransformShared *s, MotusTrial *trial) {
    if (!s) return;
    motus_lanes_sync(); // the trial is written
    uint32_t cost = trial->cost;
    if (!in->quant8 || trial->bits > MOTUS_MB_BITS_LIMIT) return;
    lane_copy_mb(&s->mb, &trial->mb);
    if (!motus_choose_transform_warp(in, choice, in->quant8, s, &trial->coef, trial->luma,
                                     MOTUS_LUMA_STRIDE, trial->luma_bits, &cost))
        return;
    lane_copy_mb(&trial->mb, &s->mb);
    if (motus_lane() == 0) trial->cost = cost;
    motus_lanes_sync(); // the trial is written
}

// Evaluates a chosen MB. edge: MotusEdge's counts. s: as in lane_trial_transform.
MOTUS_WARP void lane_type(const MotusInterMb *in, uint32_t edge, const MotusLevelChoice *levels,
                          const MotusMb *mb, MotusMv skip, uint32_t mv_bits, MotusTrialCoefs *coefs,
                          MotusTransformShared *s, MotusTrial *trial) {
    lane_copy_mb(&trial->mb, mb);
    if (motus_lane() == 0) trial->mb.qp = in->qp->luma.qp;
    lane_trial(in, edge, levels, skip, mv_bits, coefs, trial);
    lane_trial_transform(in, levels, s, trial);
}

#endif
