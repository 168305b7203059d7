// Trials of an intra MB on the CPU, as Intra16x16 and as Intra4x4: each mode is chosen by SATD,
// modes of 4x4 blocks then by RD cost. intra_trial_warp.cuh has the same for warps.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA_TRIAL_CPU_H
#define ENCODER_INTRA_INTRA_TRIAL_CPU_H

#include "encoder/analyse/predict_cpu.h"
#include "encoder/analyse/residual_cpu.h"
#include "encoder/intra/intra4x4_cpu.h"
#include "encoder/intra/intra_trial_core.h"

typedef struct __attribute__((aligned(16))) MotusIntraScratch {
    uint8_t pred[4][256]; // by mode; 4x4 modes in the first one
    uint8_t canvas[18 * MOTUS_CANVAS_STRIDE];
    MotusResidual residual;
    MotusIntraEdge edge[2];
    uint32_t cost[16];     // of modes
    uint32_t mode_cost[9]; // of bits of Intra4x4 modes, by rem_intra4x4_pred_mode; [8]: predicted
    int16_t level[MOTUS_I4_TRIALS][16]; // of a 4x4 block's trials
    uint8_t block[MOTUS_I4_TRIALS][16]; // their reconstructions, rows of 4
} MotusIntraScratch;

// ---- Intra16x16 and chroma ----------------------------------------------------------------------

// Returns the SATD of a w x h block, multiples of 4; of 8 if w is 8.
static inline uint32_t motus_satd_block(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                                        ptrdiff_t b_stride, int w, int h) {
    uint32_t sum = 0;
#ifdef MOTUS_USE_AVX2
    if (w >= 8) {
        __m256i total = _mm256_setzero_si256();
        for (int y = 0; y < h; y += 64 / w) { // w 8: rows y + i and y + 4 + i side by side
            __m256i d[4];
            for (int i = 0; i < 4; i++) {
                const uint8_t *p = a + (y + i) * a_stride, *q = b + (y + i) * b_stride;
                const __m128i from = w == 16 ? _mm_loadu_si128((const __m128i *)p)
                                             : motus_load_8x2_avx2(p, 4 * a_stride),
                              pred = w == 16 ? _mm_loadu_si128((const __m128i *)q)
                                             : motus_load_8x2_avx2(q, 4 * b_stride);
                d[i] = _mm256_sub_epi16(motus_pairs_avx2(from), motus_pairs_avx2(pred));
            }
            total = _mm256_add_epi32(total, motus_satd_strip_avx2(d));
        }
        return motus_sum32_avx2(total);
    }
#endif
    for (int y = 0; y < h; y += 4)
        for (int x = 0; x < w; x += 4)
            sum += motus_satd4x4(a + y * a_stride + x, a_stride, b + y * b_stride + x, b_stride);
    return sum;
}

// Returns the index of the smallest of n costs, the first of equals. UINT32_MAX stands for a mode
// that is not allowed.
static inline int motus_least(const uint32_t *cost, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (cost[i] < cost[best]) best = i;
    return best;
}

// Lists up to `most` modes of least cost, the least first, and sets their costs to UINT32_MAX.
// Returns their number.
static inline int motus_list_least(int *list, int most, uint32_t cost[MOTUS_I4_MODES]) {
    int n = 0;
    for (; n < most; n++) {
        const int best = motus_least(cost, MOTUS_I4_MODES);
        if (cost[best] == UINT32_MAX) break;
        cost[best] = UINT32_MAX;
        list[n] = best;
    }
    return n;
}

// Chooses the chroma mode by SATD and leaves its prediction in trial->chroma.
static inline void motus_intra_chroma_mode(const MotusIntraMb *in, MotusIntraScratch *s,
                                           MotusTrial *trial) {
    for (int c = 0; c < 2; c++)
        motus_intra_edge(&s->edge[c], in->rec.plane[c + 1], in->rec.stride[c + 1], 8, in->has);
    for (int mode = 0; mode < MOTUS_IC_MODES; mode++) {
        uint32_t satd = 0;
        s->cost[mode] = UINT32_MAX;
        if (!motus_intra_chroma_allowed(mode, in->has)) continue;
        for (int c = 0; c < 2; c++) {
            uint8_t *pred = s->pred[mode] + 64 * c;
            motus_intra_chroma(pred, MOTUS_CHROMA_STRIDE, &s->edge[c], mode);
            satd += motus_satd_block(in->src.plane[c + 1], in->src.stride[c + 1], pred,
                                     MOTUS_CHROMA_STRIDE, 8, 8);
        }
        s->cost[mode] = satd + motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)mode));
    }
    int best = motus_least(s->cost, MOTUS_IC_MODES);
    memcpy(trial->chroma, s->pred[best], 128);
    trial->mb.intra_chroma_pred_mode = (uint8_t)best;
}

// Returns SATD + lambda * bits of the best Intra16x16 mode, whose prediction is left in
// s->pred[*mode].
static inline uint32_t motus_intra16x16_estimate(const MotusIntraMb *in, MotusIntraScratch *s,
                                                 int *mode) {
    motus_intra_edge(&s->edge[0], in->rec.plane[0], in->rec.stride[0], 16, in->has);
    for (int m = 0; m < MOTUS_I16_MODES; m++) {
        s->cost[m] = UINT32_MAX;
        if (!motus_intra16x16_allowed(m, in->has)) continue;
        motus_intra16x16(s->pred[m], MOTUS_LUMA_STRIDE, &s->edge[0], m);
        s->cost[m] = motus_satd_block(in->src.plane[0], in->src.stride[0], s->pred[m],
                                      MOTUS_LUMA_STRIDE, 16, 16) +
                     motus_mode_cost(in->qp, (uint32_t)motus_ue_bits(1u + (uint32_t)m));
    }
    *mode = motus_least(s->cost, MOTUS_I16_MODES);
    return s->cost[*mode];
}

static inline MotusIntraPart motus_code_intra_chroma(const MotusIntraMb *in, MotusIntraScratch *s,
                                                     MotusTrial *trial) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    motus_intra_chroma_mode(in, s, trial);
    part.bits = motus_code_chroma(&s->residual, trial, &in->src, &in->neighbours, &in->qp->chroma,
                                  in->levels, MOTUS_DEADZONE_INTRA);
    part.ssd = motus_ssd_chroma(&in->src, trial->chroma);
    part.cbp = trial->mb.cbp & 0x30;
    return part;
}

// Codes luma as Intra16x16 from its prediction by a mode, trial->luma.
static inline MotusIntraPart motus_code_intra16x16_from(const MotusIntraMb *in,
                                                        MotusIntraScratch *s, int mode,
                                                        MotusTrial *trial) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    trial->mb.intra16x16_pred_mode = (uint8_t)mode;
    part.bits = motus_code_intra16x16_luma(&s->residual, trial, &in->src, &in->neighbours,
                                           &in->qp->luma, in->levels);
    part.ssd = motus_ssd_luma(&in->src, trial->luma);
    part.cbp = trial->mb.cbp & 0xF;
    return part;
}

// Codes luma as Intra16x16 by this mode.
static inline MotusIntraPart motus_code_intra16x16_as(const MotusIntraMb *in, MotusIntraScratch *s,
                                                      int mode, MotusTrial *trial) {
    motus_intra_edge(&s->edge[0], in->rec.plane[0], in->rec.stride[0], 16, in->has);
    motus_intra16x16(trial->luma, MOTUS_LUMA_STRIDE, &s->edge[0], mode);
    return motus_code_intra16x16_from(in, s, mode, trial);
}

// Codes luma as Intra16x16 by the mode that motus_intra16x16_estimate has just returned.
static inline MotusIntraPart motus_code_intra16x16_estimated(const MotusIntraMb *in,
                                                             MotusIntraScratch *s, int mode,
                                                             MotusTrial *trial) {
    memcpy(trial->luma, s->pred[mode], sizeof trial->luma);
    return motus_code_intra16x16_from(in, s, mode, trial);
}

static inline MotusIntraPart motus_code_intra16x16(const MotusIntraMb *in, MotusIntraScratch *s,
                                                   MotusTrial *trial) {
    int mode;
    motus_intra16x16_estimate(in, s, &mode);
    return motus_code_intra16x16_estimated(in, s, mode, trial);
}

// ---- Intra4x4 -----------------------------------------------------------------------------------

// Copies the samples that Intra4x4 predicts from: the row above with its corner and four samples of
// the upper right MB, and the column to the left.
static inline void motus_canvas_load(const MotusIntraMb *in, uint8_t *canvas) {
    const uint8_t *at = in->rec.plane[0];
    const ptrdiff_t stride = in->rec.stride[0];
    for (int i = 0; i < 21; i++) {
        int needed = i == 0 ? MOTUS_HAS_CORNER : i <= 16 ? MOTUS_HAS_TOP : MOTUS_HAS_TOP_RIGHT;
        if (in->has & needed)
            canvas[MOTUS_CANVAS_ORIGIN - MOTUS_CANVAS_STRIDE - 1 + i] = at[-stride - 1 + i];
    }
    for (int y = 0; y < 16; y++)
        if (in->has & MOTUS_HAS_LEFT)
            canvas[MOTUS_CANVAS_ORIGIN + y * MOTUS_CANVAS_STRIDE - 1] = at[y * stride - 1];
}

// Adds the SATDs of predictions pred + 16 * mode, rows of 4, to the costs of allowed modes.
static inline void motus_i4_add_satds(uint32_t cost[MOTUS_I4_MODES], const uint8_t *src,
                                      ptrdiff_t stride, const uint8_t *pred) {
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
static inline int motus_i4_list_modes(const MotusIntraMb *in, MotusIntraScratch *s, int blk,
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
    motus_i4_add_satds(s->cost, src, in->src.stride[0], s->pred[0]);
    return motus_list_least(list, in->i4_trials, s->cost);
}

// Codes luma block blk and adds to the part's cost, SSD and mode bits. Sets the block's mode,
// levels and count, and its samples on the canvas and in trial->luma. Returns the bits of its
// levels.
static inline uint32_t motus_code_i4_block(const MotusIntraMb *in, MotusIntraScratch *s,
                                           MotusTrial *trial, int blk, MotusIntraPart *part) {
    const int x = blk % 4 * 4, y = blk / 4 * 4,
              nc = motus_cavlc_nc_at(trial->mb.total_coeff, &in->neighbours, blk),
              flag_context = motus_flag_context_at(trial->mb.total_coeff, &in->neighbours, 1, blk),
              predicted = motus_intra4x4_predicted_mode(&trial->mb, &in->neighbours, blk);
    const uint8_t *src = in->src.plane[0] + y * in->src.stride[0] + x;
    const MotusQuant *q = &in->qp->luma;
    const MotusCabacCosts *costs = in->levels->costs;
    const MotusModeCosts mode_costs = motus_mode_costs(in->levels);
    uint8_t *at = s->canvas + MOTUS_CANVAS_ORIGIN + y * MOTUS_CANVAS_STRIDE + x;
    int list[MOTUS_I4_TRIALS];
    uint32_t ssd[MOTUS_I4_TRIALS] = {0};
    MotusLevels levels[MOTUS_I4_TRIALS] = {{0, 0, 0}};
    const int n = motus_i4_list_modes(in, s, blk, src, at, predicted, list);
    for (int i = 0; i < n; i++) {
        int16_t coef[16];
        const uint8_t *pred = s->pred[0] + 16 * list[i];
        memcpy(s->block[i], pred, 16);
        motus_forward_block(coef, src, in->src.stride[0], pred, 4);
        const uint32_t live = motus_live_coefs(coef, q);
        levels[i] = in->levels->method == MOTUS_LEVELS_GUESSED
                        ? motus_guess_block(s->level[i], coef, live, 0, q, in->levels)
                    : costs ? motus_choose_levels_cabac(s->level[i], coef, live, 2, flag_context, q,
                                                        costs, in->levels->method)
                            : motus_choose_levels(s->level[i], coef, live, 0, nc, q, in->levels);
        if (levels[i].n)
            motus_reconstruct_block(s->block[i], 4, s->level[i], levels[i].n, 0, 0, q->qp);
        ssd[i] = motus_ssd_square(src, in->src.stride[0], s->block[i], 4, 4);
        s->cost[i] =
            motus_rd_cost_in(motus_unit_of(in->levels), ssd[i],
                             levels[i].bits + motus_i4_mode_bits(list[i], predicted, &mode_costs),
                             in->qp->lambda_ssd_q8);
    }
    const int best = motus_least(s->cost, n);
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

// Fills s->mode_cost.
static inline void motus_i4_cost_modes(const MotusIntraMb *in, MotusIntraScratch *s) {
    const MotusModeCosts costs = motus_mode_costs(in->levels);
    for (int rest = 0; rest < 9; rest++)
        s->mode_cost[rest] = motus_mode_cost(in->qp, motus_i4_mode_bits(rest, 8, &costs)) /
                             motus_unit_of(in->levels);
}

// Codes luma as Intra4x4. Stops as soon as the cost exceeds `limit`, or that of the MB must reach
// `bound`; the cost is UINT32_MAX then.
static inline MotusIntraPart motus_code_intra4x4(const MotusIntraMb *in, MotusIntraScratch *s,
                                                 MotusTrial *trial, uint32_t limit,
                                                 uint32_t bound) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    motus_canvas_load(in, s->canvas);
    motus_i4_cost_modes(in, s);
    // SATDs of modes that are not allowed are computed beside others and not used.
    memset(s->pred[0], 0, sizeof s->pred[0]);
    for (int q = 0; q < 4; q++) {
        uint32_t q_bits = 0, found = 0;
        for (int i = 4 * q; i < 4 * q + 4; i++) {
            q_bits += motus_code_i4_block(in, s, trial, motus_blk_at(i), &part);
            found |= trial->mb.total_coeff[motus_blk_at(i)];
        }
        if (found) part.cbp |= 1 << q, part.bits += q_bits;
        // Bits are rounded to at most one less in all, which mb_type makes up for.
        const uint32_t least = motus_rd_cost_in(motus_unit_of(in->levels), part.ssd,
                                                part.bits + part.mode_bits, in->qp->lambda_ssd_q8);
        if (part.cost > limit || least >= bound) {
            part.cost = UINT32_MAX;
            return part;
        }
    }
    part.bits = motus_whole_bits(part.bits, in->levels);
    part.mode_bits = motus_whole_bits(part.mode_bits, in->levels);
    return part;
}

#endif
