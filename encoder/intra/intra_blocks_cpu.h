// Trials of an MB as Intra4x4 and Intra8x8 on the CPU: a block's modes are listed by SATD, the best
// is chosen by RD cost.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA_BLOCKS_CPU_H
#define ENCODER_INTRA_INTRA_BLOCKS_CPU_H

#include "encoder/analyse/predict_cpu.h"
#include "encoder/analyse/residual_cpu.h"
#include "encoder/intra/intra.h"
#include "encoder/intra/intra_modes_cpu.h"

// Returns the index of the smallest of n costs, the first of equals. UINT32_MAX stands for a mode
// that is not allowed.
static inline int least(const uint32_t *cost, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (cost[i] < cost[best]) best = i;
    return best;
}

// Lists up to `most` modes of least cost, the least first, and sets their costs to UINT32_MAX.
// Returns their number.
static inline int list_least(int *list, int most, uint32_t cost[MOTUS_I4_MODES]) {
    int n = 0;
    for (; n < most; n++) {
        const int best = least(cost, MOTUS_I4_MODES);
        if (cost[best] == UINT32_MAX) break;
        cost[best] = UINT32_MAX;
        list[n] = best;
    }
    return n;
}

// ---- Intra4x4 -----------------------------------------------------------------------------------

// Copies the samples that blocks are predicted from: the row above with its corner and eight
// samples of the upper right MB, and the column to the left.
static inline void load_canvas(const MotusIntraMb *in, uint8_t *canvas) {
    const uint8_t *at = in->rec.plane[0];
    const ptrdiff_t stride = in->rec.stride[0];
    uint8_t *first = canvas + MOTUS_CANVAS_ORIGIN, *above = first - MOTUS_CANVAS_STRIDE;
    if (in->has & MOTUS_HAS_CORNER) above[-1] = at[-stride - 1];
    if (in->has & MOTUS_HAS_TOP) memcpy(above, at - stride, 16);
    if (in->has & MOTUS_HAS_TOP_RIGHT) memcpy(above + 16, at - stride + 16, 8);
    for (int y = 0; y < 16 && in->has & MOTUS_HAS_LEFT; y++)
        first[y * MOTUS_CANVAS_STRIDE - 1] = at[y * stride - 1];
}

// Adds the SATDs of predictions pred + 16 * mode, rows of 4, to the costs of allowed modes.
static inline void add_satds4(uint32_t cost[MOTUS_I4_MODES], const uint8_t *src, ptrdiff_t stride,
                              const uint8_t *pred) {
#ifdef MOTUS_USE_AVX2
    __m256i from[4];
    for (int y = 0; y < 4; y++) {
        int row;
        memcpy(&row, src + y * stride, 4);
        from[y] = motus_pairs_avx2(_mm_set1_epi32(row));
    }
    for (int mode = 0; mode < MOTUS_I4_MODES; mode += 4) {
        __m128i rows[4], pairs[4]; // four modes side by side
        __m256i d[4];
        for (int i = 0; i < 4; i++)
            rows[i] = _mm_loadu_si128((const __m128i *)(pred + 16 * (mode + i)));
        for (int i = 0; i < 2; i++) {
            pairs[2 * i] = _mm_unpacklo_epi32(rows[2 * i], rows[2 * i + 1]);
            pairs[2 * i + 1] = _mm_unpackhi_epi32(rows[2 * i], rows[2 * i + 1]);
        }
        for (int i = 0; i < 2; i++) {
            d[2 * i] = motus_pairs_avx2(_mm_unpacklo_epi64(pairs[i], pairs[i + 2]));
            d[2 * i + 1] = motus_pairs_avx2(_mm_unpackhi_epi64(pairs[i], pairs[i + 2]));
        }
        for (int y = 0; y < 4; y++) d[y] = _mm256_sub_epi16(from[y], d[y]);
        const __m256i sums = motus_satd_strip_avx2(d);
        uint32_t satd[4];
        _mm_storeu_si128((__m128i *)satd, _mm_add_epi32(_mm256_castsi256_si128(sums),
                                                        _mm256_extracti128_si256(sums, 1)));
        for (int i = 0; i < 4 && mode + i < MOTUS_I4_MODES; i++)
            if (cost[mode + i] != UINT32_MAX) cost[mode + i] += satd[i];
    }
#else
    for (int mode = 0; mode < MOTUS_I4_MODES; mode++)
        if (cost[mode] != UINT32_MAX) cost[mode] += motus_satd4x4(src, stride, pred + 16 * mode, 4);
#endif
}

// Predicts the block at `at` on the canvas by every allowed mode, into s->pred[0] + 16 * mode, and
// lists the best ones by SATD + lambda * bits, at most i4_trials. Returns their number.
static inline int list_modes4(const MotusIntraMb *in, MotusIntraScratch *s, int blk,
                              const uint8_t *src, const uint8_t *at, int predicted,
                              int list[MOTUS_I4_TRIALS]) {
    MotusIntraEdge edge;
    motus_intra_edge(&edge, at, MOTUS_CANVAS_STRIDE, 4, motus_intra4x4_has(blk, in->has));
    motus_intra4x4_modes(s->pred[0], &edge);
    for (int mode = 0; mode < MOTUS_I4_MODES; mode++) {
        const int may = motus_intra4x4_allowed(mode, edge.has) &&
                        !(in->keeps_left && motus_intra4x4_reads_right(mode));
        s->cost[mode] =
            may ? s->mode_cost[mode == predicted ? 8 : mode - (mode > predicted)] : UINT32_MAX;
    }
    add_satds4(s->cost, src, in->src.stride[0], s->pred[0]);
    return list_least(list, in->i4_trials, s->cost);
}

// Codes luma block blk and adds to the part's cost, SSD and mode bits. Sets the block's mode,
// levels and count, and its samples on the canvas and in trial->luma. Returns the bits of its
// levels.
static inline uint32_t code_block4(const MotusIntraMb *in, MotusIntraScratch *s, MotusTrial *trial,
                                   int blk, MotusIntraPart *part) {
    const int x = blk % 4 * 4, y = blk / 4 * 4,
              context =
                  motus_levels_context(trial->mb.total_coeff, &in->neighbours, 1, blk, in->levels),
              predicted = motus_intra4x4_predicted_mode(&trial->mb, &in->neighbours, blk);
    const uint8_t *src = in->src.plane[0] + y * in->src.stride[0] + x;
    const MotusQuant *q = &in->qp->luma;
    const MotusModeCosts mode_costs = motus_mode_costs(in->levels);
    uint8_t *at = s->canvas + MOTUS_CANVAS_ORIGIN + y * MOTUS_CANVAS_STRIDE + x;
    int list[MOTUS_I4_TRIALS];
    uint32_t ssd[MOTUS_I4_TRIALS] = {0};
    MotusLevels levels[MOTUS_I4_TRIALS] = {{0, 0, 0}};
    const int n = list_modes4(in, s, blk, src, at, predicted, list);
    for (int i = 0; i < n; i++) {
        int16_t coef[16];
        const uint8_t *pred = s->pred[0] + 16 * list[i];
        memcpy(s->block[i], pred, 16);
        motus_forward_block(coef, src, in->src.stride[0], pred, 4);
        levels[i] =
            MOTUS_ISA(motus_levels)
                .block(s->level[i], coef, motus_live_coefs(coef, q), 2, context, q, in->levels);
        if (levels[i].n)
            motus_reconstruct_block(s->block[i], 4, s->level[i], levels[i].n, 0, 0, q->qp);
        ssd[i] = motus_ssd_square(src, in->src.stride[0], s->block[i], 4, 4);
        s->cost[i] =
            motus_rd_cost_in(motus_unit_of(in->levels), ssd[i],
                             levels[i].bits + motus_i4_mode_bits(list[i], predicted, &mode_costs),
                             in->qp->lambda_ssd_q8);
    }
    const int best = least(s->cost, n);
    part->cost += s->cost[best];
    part->ssd += ssd[best];
    part->mode_bits += motus_i4_mode_bits(list[best], predicted, &mode_costs);
    for (int i = 0; i < 4; i++) {
        memcpy(at + i * MOTUS_CANVAS_STRIDE, s->block[best] + 4 * i, 4);
        memcpy(trial->luma + (y + i) * MOTUS_LUMA_STRIDE + x, s->block[best] + 4 * i, 4);
    }
    memcpy(trial->coef.luma[blk], s->level[best], sizeof s->level[best]);
    trial->mb.intra4x4_pred_mode[blk] = (uint8_t)list[best];
    trial->mb.total_coeff[blk] = (uint8_t)levels[best].n;
    return levels[best].bits;
}

// Codes luma as Intra4x4. Stops as soon as the cost exceeds `limit`, or that of the MB must reach
// `bound`; the cost is UINT32_MAX then.
static inline MotusIntraPart code_4x4(const MotusIntraMb *in, MotusIntraScratch *s,
                                      MotusTrial *trial, uint32_t limit, uint32_t bound) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    const MotusModeCosts costs = motus_mode_costs(in->levels);
    const uint32_t unit = motus_unit_of(in->levels);
    load_canvas(in, s->canvas);
    for (int rest = 0; rest < 9; rest++)
        s->mode_cost[rest] = motus_mode_cost(in->qp, motus_i4_mode_bits(rest, 8, &costs)) / unit;
    // SATDs of modes that are not allowed are computed beside others and not used.
    memset(s->pred[0], 0, sizeof s->pred[0]);
    for (int q = 0; q < 4; q++) {
        uint32_t q_bits = 0, found = 0;
        for (int i = 4 * q; i < 4 * q + 4; i++) {
            q_bits += code_block4(in, s, trial, motus_blk_at(i), &part);
            found |= trial->mb.total_coeff[motus_blk_at(i)];
        }
        if (found) part.cbp |= 1 << q, part.bits += q_bits;
        // Bits are rounded to at most one less in all, which mb_type makes up for.
        const uint32_t so_far =
            motus_rd_cost_in(unit, part.ssd, part.bits + part.mode_bits, in->qp->lambda_ssd_q8);
        if (part.cost > limit || so_far >= bound) {
            part.cost = UINT32_MAX;
            return part;
        }
    }
    part.bits = motus_whole_bits(part.bits, in->levels);
    part.mode_bits = motus_whole_bits(part.mode_bits, in->levels);
    return part;
}

// ---- Intra8x8 -----------------------------------------------------------------------------------

// Predicts a block by every allowed mode and lists the best ones by SATD + lambda * bits. Returns
// their number.
static inline int list_modes8(const MotusIntraMb *in, MotusIntraScratch *s, const uint8_t *src,
                              const MotusIntraLine8 *line, int predicted,
                              int list[MOTUS_I8_TRIALS]) {
    const MotusModeCosts costs = motus_i8_mode_costs(in->levels);
    for (int mode = 0; mode < MOTUS_I4_MODES; mode++) {
        s->cost[mode] = UINT32_MAX;
        if (!motus_intra4x4_allowed(mode, line->has)) continue;
        motus_intra8x8(s->pred8[mode], 8, line, mode);
        s->cost[mode] =
            motus_mode_cost(in->qp, motus_i4_mode_bits(mode, predicted, &costs)) / MOTUS_BIT;
    }
    const ptrdiff_t stride = in->src.stride[0];
#ifdef MOTUS_USE_AVX2
    __m256i from[4];
    for (int i = 0; i < 4; i++) // rows i and 4 + i side by side
        from[i] = motus_pairs_avx2(motus_load_8x2_avx2(src + i * stride, 4 * stride));
    for (int mode = 0; mode < MOTUS_I4_MODES; mode++) {
        __m256i d[4];
        if (s->cost[mode] == UINT32_MAX) continue;
        for (int i = 0; i < 4; i++)
            d[i] = _mm256_sub_epi16(
                from[i], motus_pairs_avx2(motus_load_8x2_avx2(s->pred8[mode] + 8 * i, 32)));
        s->cost[mode] += motus_sum32_avx2(motus_satd_strip_avx2(d));
    }
#else
    for (int mode = 0; mode < MOTUS_I4_MODES; mode++)
        if (s->cost[mode] != UINT32_MAX)
            s->cost[mode] += motus_satd_block(src, stride, s->pred8[mode], 8, 8, 8);
#endif
    return list_least(list, MOTUS_I8_TRIALS, s->cost);
}

// Codes luma block q and adds to the part's cost, SSD and bits. Sets the block's mode and levels,
// and its samples on the canvas and in trial->luma.
static inline void code_block8(const MotusIntraMb *in, MotusIntraScratch *s, MotusTrial *trial,
                               int q, MotusIntraPart *part) {
    const int x = 8 * (q & 1), y = 8 * (q >> 1), first = motus_blk_at(4 * q);
    const int predicted = motus_intra4x4_predicted_mode(&trial->mb, &in->neighbours, first);
    const uint8_t *src = in->src.plane[0] + y * in->src.stride[0] + x;
    uint8_t *at = s->canvas + MOTUS_CANVAS_ORIGIN + y * MOTUS_CANVAS_STRIDE + x;
    const MotusModeCosts costs = motus_i8_mode_costs(in->levels);
    MotusIntraLine8 line;
    int list[MOTUS_I8_TRIALS], coded[MOTUS_I8_TRIALS] = {0}, best = 0;
    uint32_t ssd[MOTUS_I8_TRIALS] = {0}, mode_bits[MOTUS_I8_TRIALS] = {0};
    motus_intra_line8(&line, at, MOTUS_CANVAS_STRIDE, motus_intra8x8_has(q, in->has));
    const int n = list_modes8(in, s, src, &line, predicted, list);
    for (int i = 0; i < n; i++) {
        memcpy(s->block8[i], s->pred8[list[i]], 64);
        coded[i] = motus_code_block8(&s->levels8[i], src, in->src.stride[0], s->block8[i], 8,
                                     in->quant8, in->levels);
        ssd[i] = motus_ssd_square(src, in->src.stride[0], s->block8[i], 8, 8);
        mode_bits[i] = motus_i4_mode_bits(list[i], predicted, &costs);
        s->cost[i] =
            motus_rd_cost_in(MOTUS_BIT, ssd[i], (coded[i] ? s->levels8[i].bits : 0) + mode_bits[i],
                             in->qp->lambda_ssd_q8);
        if (s->cost[i] < s->cost[best]) best = i;
    }
    part->cost += s->cost[best];
    part->ssd += ssd[best];
    part->mode_bits += mode_bits[best];
    part->cbp |= coded[best] << q;
    part->bits += coded[best] ? s->levels8[best].bits : 0;
    for (int i = 0; i < 8; i++) {
        memcpy(at + i * MOTUS_CANVAS_STRIDE, s->block8[best] + 8 * i, 8);
        memcpy(trial->luma + (y + i) * MOTUS_LUMA_STRIDE + x, s->block8[best] + 8 * i, 8);
    }
    for (int k = 0; k < 4; k++)
        trial->mb.intra4x4_pred_mode[motus_blk_at(4 * q + k)] = (uint8_t)list[best];
    motus_store_block8(&trial->mb, &trial->coef, q, coded[best] ? &s->levels8[best] : NULL,
                       in->levels);
}

// Codes luma as Intra8x8. Stops as soon as the cost exceeds `limit`.
static inline MotusIntraPart code_8x8(const MotusIntraMb *in, MotusIntraScratch *s,
                                      MotusTrial *trial, uint32_t limit) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    trial->mb.transform_8x8 = 1;
    load_canvas(in, s->canvas);
    for (int q = 0; q < 4 && part.cost <= limit; q++) code_block8(in, s, trial, q, &part);
    part.bits = (part.bits + MOTUS_BIT / 2) / MOTUS_BIT;
    part.mode_bits = (part.mode_bits + MOTUS_BIT / 2) / MOTUS_BIT;
    return part;
}

#endif
