// Intra search on the CPU: the cheapest coding of an MB as Intra16x16, Intra4x4 or Intra8x8; and
// Intra8x8, luma in four 8x8 blocks, each mode chosen by SATD, then by RD cost.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_INTRA_SEARCH_CPU_H
#define ENCODER_INTRA_INTRA_SEARCH_CPU_H

#include "encoder/analyse/transform8_cpu.h"
#include "encoder/intra/intra8x8_cpu.h"
#include "encoder/intra/intra_trial_cpu.h"

// ---- Intra8x8 -----------------------------------------------------------------------------------

#define MOTUS_I8_TRIALS 2 // modes per block that get a trial

typedef struct MotusIntra8Scratch {
    uint8_t pred[MOTUS_I4_MODES][64];
    uint32_t cost[MOTUS_I4_MODES];
    uint8_t rec[MOTUS_I8_TRIALS][64];
    MotusBlockLevels levels[MOTUS_I8_TRIALS];
} MotusIntra8Scratch;

// Completes the canvas of Intra4x4 with the samples that 8x8 blocks need further to the right.
static inline void motus_canvas_load8(const MotusIntraMb *in, uint8_t *canvas) {
    const uint8_t *above = in->rec.plane[0] - in->rec.stride[0];
    if (in->has & MOTUS_HAS_TOP_RIGHT)
        memcpy(canvas + MOTUS_CANVAS_ORIGIN - MOTUS_CANVAS_STRIDE + 16, above + 16, 8);
}

// Adds the SATDs of the predictions to the costs of allowed modes.
static inline void motus_i8_add_satds(MotusIntra8Scratch *s, const uint8_t *src, ptrdiff_t stride) {
#ifdef MOTUS_USE_AVX2
    __m256i from[4];
    for (int i = 0; i < 4; i++) // rows i and 4 + i side by side
        from[i] = motus_pairs_avx2(motus_load_8x2_avx2(src + i * stride, 4 * stride));
    for (int mode = 0; mode < MOTUS_I4_MODES; mode++) {
        __m256i d[4];
        if (s->cost[mode] == UINT32_MAX) continue;
        for (int i = 0; i < 4; i++)
            d[i] = _mm256_sub_epi16(
                from[i], motus_pairs_avx2(motus_load_8x2_avx2(s->pred[mode] + 8 * i, 32)));
        s->cost[mode] += motus_sum32_avx2(motus_satd_strip_avx2(d));
    }
#else
    for (int mode = 0; mode < MOTUS_I4_MODES; mode++)
        if (s->cost[mode] != UINT32_MAX)
            s->cost[mode] += motus_satd_block(src, stride, s->pred[mode], 8, 8, 8);
#endif
}

// Predicts a block by every allowed mode and lists the best ones by SATD + lambda * bits. Returns
// their number.
static inline int motus_i8_list_modes(const MotusIntraMb *in, MotusIntra8Scratch *s,
                                      const uint8_t *src, const MotusIntraLine8 *line,
                                      int predicted, int list[MOTUS_I8_TRIALS]) {
    const MotusModeCosts costs = motus_i8_mode_costs(in->levels);
    for (int mode = 0; mode < MOTUS_I4_MODES; mode++) {
        s->cost[mode] = UINT32_MAX;
        if (!motus_intra4x4_allowed(mode, line->has)) continue;
        motus_intra8x8(s->pred[mode], 8, line, mode);
        s->cost[mode] =
            motus_mode_cost(in->qp, motus_i4_mode_bits(mode, predicted, &costs)) / MOTUS_BIT;
    }
    motus_i8_add_satds(s, src, in->src.stride[0]);
    return motus_list_least(list, MOTUS_I8_TRIALS, s->cost);
}

// Codes luma block q and adds to the part's cost, SSD and bits. Sets the block's mode and levels,
// and its samples on the canvas and in trial->luma.
static inline void motus_code_i8_block(const MotusIntraMb *in, const MotusQuant8 *quant,
                                       uint8_t *canvas, MotusIntra8Scratch *s, MotusTrial *trial,
                                       int q, MotusIntraPart *part) {
    const int x = 8 * (q & 1), y = 8 * (q >> 1), first = motus_blk_at(4 * q);
    const int predicted = motus_intra4x4_predicted_mode(&trial->mb, &in->neighbours, first);
    const uint8_t *src = in->src.plane[0] + y * in->src.stride[0] + x;
    uint8_t *at = canvas + MOTUS_CANVAS_ORIGIN + y * MOTUS_CANVAS_STRIDE + x;
    const MotusModeCosts costs = motus_i8_mode_costs(in->levels);
    MotusIntraLine8 line;
    int list[MOTUS_I8_TRIALS], coded[MOTUS_I8_TRIALS] = {0}, best = 0;
    uint32_t ssd[MOTUS_I8_TRIALS] = {0}, mode_bits[MOTUS_I8_TRIALS] = {0};
    motus_intra_line8(&line, at, MOTUS_CANVAS_STRIDE, motus_intra8x8_has(q, in->has));
    const int n = motus_i8_list_modes(in, s, src, &line, predicted, list);
    for (int i = 0; i < n; i++) {
        memcpy(s->rec[i], s->pred[list[i]], 64);
        coded[i] = motus_code_block8(&s->levels[i], src, in->src.stride[0], s->rec[i], 8, quant,
                                     in->levels);
        ssd[i] = motus_ssd_square(src, in->src.stride[0], s->rec[i], 8, 8);
        mode_bits[i] = motus_i4_mode_bits(list[i], predicted, &costs);
        s->cost[i] =
            motus_rd_cost_in(MOTUS_BIT, ssd[i], (coded[i] ? s->levels[i].bits : 0) + mode_bits[i],
                             in->qp->lambda_ssd_q8);
        if (s->cost[i] < s->cost[best]) best = i;
    }
    part->cost += s->cost[best];
    part->ssd += ssd[best];
    part->mode_bits += mode_bits[best];
    part->cbp |= coded[best] << q;
    part->bits += coded[best] ? s->levels[best].bits : 0;
    for (int i = 0; i < 8; i++) {
        memcpy(at + i * MOTUS_CANVAS_STRIDE, s->rec[best] + 8 * i, 8);
        memcpy(trial->luma + (y + i) * MOTUS_LUMA_STRIDE + x, s->rec[best] + 8 * i, 8);
    }
    for (int k = 0; k < 4; k++)
        trial->mb.intra4x4_pred_mode[motus_blk_at(4 * q + k)] = (uint8_t)list[best];
    motus_store_block8(&trial->mb, &trial->coef, q, coded[best] ? &s->levels[best] : NULL,
                       in->levels);
}

// Codes luma as Intra8x8. Stops as soon as the cost exceeds `limit`.
static inline MotusIntraPart motus_code_intra8x8(const MotusIntraMb *in, const MotusQuant8 *quant,
                                                 uint8_t *canvas, MotusTrial *trial,
                                                 uint32_t limit) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    MotusIntra8Scratch s;
    trial->mb.transform_8x8 = 1;
    motus_canvas_load8(in, canvas);
    for (int q = 0; q < 4 && part.cost <= limit; q++)
        motus_code_i8_block(in, quant, canvas, &s, trial, q, &part);
    part.bits = (part.bits + MOTUS_BIT / 2) / MOTUS_BIT;
    part.mode_bits = (part.mode_bits + MOTUS_BIT / 2) / MOTUS_BIT;
    return part;
}

// ---- The MB -------------------------------------------------------------------------------------

// Completes a trial of Intra4x4 or Intra8x8 with the chroma that was coded for Intra16x16.
static inline void motus_intra_complete(const MotusIntraMb *in, MotusTrial *trial,
                                        const MotusTrial *first, const MotusIntraPart *luma,
                                        const MotusIntraPart *chroma) {
    motus_intra_copy_chroma(trial, first);
    motus_intra_add_up(in, trial, luma, chroma);
}

// Returns the cheapest intra coding of the MB, one of the three trials. quant8: at its QP; NULL:
// without Intra8x8.
static inline MotusTrial *motus_intra_search(const MotusIntraMb *in, const MotusQuant8 *quant8,
                                             MotusIntraScratch *s, MotusTrial trial[3]) {
    MotusTrial *first = &trial[0], *second = &trial[1];
    motus_intra_begin(in, first, second);
    const MotusIntraPart chroma = motus_code_intra_chroma(in, s, first),
                         i16 = motus_code_intra16x16(in, s, first);
    motus_intra_add_up(in, first, &i16, &chroma);
    int small = 0; // 1: `second` is complete
    if (in->i4_trials) {
        const MotusIntraPart luma = motus_code_intra4x4(in, s, second, first->cost, UINT32_MAX);
        if ((small = luma.cost <= first->cost))
            motus_intra_complete(in, second, first, &luma, &chroma);
    }
    if (quant8 && motus_tries_intra8x8(in)) {
        MotusTrial *third = &trial[2];
        const uint32_t limit = small && second->cost < first->cost ? second->cost : first->cost;
        motus_intra_begin_as(in, third, MOTUS_MB_I_4x4);
        const MotusIntraPart luma = motus_code_intra8x8(in, quant8, s->canvas, third, limit);
        if (luma.cost <= limit) {
            motus_intra_complete(in, third, first, &luma, &chroma);
            if (!small || third->cost < second->cost) second = third;
            small = 1;
        }
    }
    return motus_intra_cheaper(in, first, second, small);
}

// Codes chroma and completes the trial of Intra16x16.
static inline MotusIntraPart motus_intra16x16_complete(const MotusIntraMb *in, MotusIntraScratch *s,
                                                       MotusTrial *trial,
                                                       const MotusIntraPart *luma) {
    const MotusIntraPart chroma = motus_code_intra_chroma(in, s, trial);
    motus_intra_add_up(in, trial, luma, &chroma);
    return chroma;
}

// Returns motus_intra_search, or NULL if that costs `bound` or more. bound: at most the cost of
// I_PCM, or UINT32_MAX. quant8: as above; Intra8x8 is tried if another type costs less than
// `inter`. mode: what motus_intra16x16_estimate has just returned.
static inline MotusTrial *motus_intra_estimate(const MotusIntraMb *in, const MotusQuant8 *quant8,
                                               MotusIntraScratch *s, int mode, uint32_t bound,
                                               uint32_t inter, MotusTrial trial[3]) {
    MotusTrial *first = &trial[0], *second = &trial[1];
    MotusIntraPart luma = {UINT32_MAX, 0, 0, 0, 0}, chroma = luma;
    motus_intra_begin(in, first, second);
    const MotusIntraPart i16 = motus_code_intra16x16_estimated(in, s, mode, first);
    const int is_open = motus_rd_cost(i16.ssd, i16.bits, in->qp->lambda_ssd_q8) < bound;
    if (is_open) chroma = motus_intra16x16_complete(in, s, first, &i16);
    if (in->i4_trials)
        luma = motus_code_intra4x4(in, s, second, is_open ? first->cost : UINT32_MAX, bound);
    if (!is_open && luma.cost == UINT32_MAX) return NULL;
    if (!is_open) chroma = motus_intra16x16_complete(in, s, first, &i16);
    const int small = luma.cost != UINT32_MAX && luma.cost <= first->cost;
    if (small) motus_intra_complete(in, second, first, &luma, &chroma);
    MotusTrial *best = motus_intra_cheaper(in, first, second, small), *third = &trial[2];
    if (!quant8 || best->cost >= inter || best->mb.type == MOTUS_MB_I_PCM ||
        !motus_tries_intra8x8(in))
        return best;
    motus_intra_begin_as(in, third, MOTUS_MB_I_4x4);
    luma = motus_code_intra8x8(in, quant8, s->canvas, third, best->cost);
    if (luma.cost > best->cost) return best;
    motus_intra_complete(in, third, first, &luma, &chroma);
    return third->cost < best->cost && third->bits <= MOTUS_MB_BITS_LIMIT ? third : best;
}

// ---- Types before samples -----------------------------------------------------------------------

// Returns the sum of SATDs of 4x4 blocks of the source, each predicted by its best mode from the
// source around it. Modes that read the samples above right are left out.
static inline uint32_t motus_intra4x4_satd(const MotusIntraMb *in, MotusIntraScratch *s) {
    const uint8_t *src = in->src.plane[0];
    const ptrdiff_t stride = in->src.stride[0];
    uint32_t sum = 0;
    memset(s->pred[0], 0, sizeof s->pred[0]); // as in motus_code_intra4x4
    for (int blk = 0; blk < 16; blk++) {
        const uint8_t *at = src + 4 * (blk >> 2) * stride + 4 * (blk & 3);
        MotusIntraEdge edge;
        motus_intra_edge(&edge, at, stride, 4, motus_intra4x4_has(blk, in->has));
        motus_intra4x4_modes(s->pred[0], &edge);
        for (int mode = 0; mode < MOTUS_I4_MODES; mode++) {
            const int may =
                motus_intra4x4_allowed(mode, edge.has) && !motus_intra4x4_reads_right(mode);
            s->cost[mode] = may ? 0 : UINT32_MAX;
        }
        motus_i4_add_satds(s->cost, at, stride, s->pred[0]);
        sum += s->cost[motus_least(s->cost, MOTUS_I4_MODES)];
    }
    return sum;
}

// Returns the type of least SATD, with its Intra16x16 mode. in->rec: the source.
static inline MotusIntraType motus_intra_type_by_satd(const MotusIntraMb *in,
                                                      MotusIntraScratch *s) {
    int mode;
    const uint32_t whole = motus_intra16x16_estimate(in, s, &mode);
    const int is_4x4 = motus_is_intra4x4_by_satd(motus_intra4x4_satd(in, s), whole, in->qp);
    const MotusIntraType type = {(uint8_t)(is_4x4 ? MOTUS_MB_I_4x4 : MOTUS_MB_I_16x16), 0,
                                 (uint8_t)mode};
    return type;
}

// Returns the type of least cost, by luma alone, with its Intra16x16 mode. quant8: as above.
static inline MotusIntraType motus_intra_type(const MotusIntraMb *in, const MotusQuant8 *quant8,
                                              MotusIntraScratch *s, MotusTrial *trial) {
    const MotusIntraPart none = {0, 0, 0, 0, 0};
    MotusIntraType type = {MOTUS_MB_I_16x16, 0, 0};
    motus_intra_begin_as(in, trial, MOTUS_MB_I_16x16);
    const MotusIntraPart i16 = motus_code_intra16x16(in, s, trial);
    motus_intra_add_up(in, trial, &i16, &none);
    type.mode = trial->mb.intra16x16_pred_mode;
    uint32_t least = trial->cost;
    motus_intra_begin_as(in, trial, MOTUS_MB_I_4x4);
    const MotusIntraPart i4 = motus_code_intra4x4(in, s, trial, least, UINT32_MAX);
    if (i4.cost <= least) {
        motus_intra_add_up(in, trial, &i4, &none);
        if (trial->cost < least) least = trial->cost, type.type = MOTUS_MB_I_4x4;
    }
    if (!quant8 || !motus_tries_intra8x8(in)) return type;
    motus_intra_begin_as(in, trial, MOTUS_MB_I_4x4);
    const MotusIntraPart i8 = motus_code_intra8x8(in, quant8, s->canvas, trial, least);
    if (i8.cost <= least) {
        motus_intra_add_up(in, trial, &i8, &none);
        if (trial->cost < least) type.type = MOTUS_MB_I_4x4, type.transform_8x8 = 1;
    }
    return type;
}

// Codes the MB as a type that was chosen before, its levels by MOTUS_LEVELS_GUESSED. True if it
// would rather be I_PCM.
static inline int motus_intra_code_as(const MotusIntraMb *in, const MotusQuant8 *quant8,
                                      MotusIntraType type, MotusIntraScratch *s,
                                      MotusTrial *trial) {
    MotusIntraPart luma;
    motus_intra_begin_as(in, trial, type.type);
    const MotusIntraPart chroma = motus_code_intra_chroma(in, s, trial);
    if (type.type == MOTUS_MB_I_16x16) {
        luma = motus_intra16x16_allowed(type.mode, in->has) // a slice may have begun since
                   ? motus_code_intra16x16_as(in, s, type.mode, trial)
                   : motus_code_intra16x16(in, s, trial);
    } else {
        motus_canvas_load(in, s->canvas);
        luma = type.transform_8x8 ? motus_code_intra8x8(in, quant8, s->canvas, trial, UINT32_MAX)
                                  : motus_code_intra4x4(in, s, trial, UINT32_MAX, UINT32_MAX);
    }
    return motus_intra_typed_wants_pcm(&trial->mb, &trial->coef, &luma, &chroma, in->slice_type,
                                       in->qp, in->levels->zero_runs);
}

#endif
