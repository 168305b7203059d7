// Trials as Intra16x16, Intra4x4 and Intra8x8: each mode is chosen by SATD, modes of blocks then by
// RD cost. Plain C and, where it pays, AVX2; intra_avx2.c compiles this file a second time.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/intra/intra.h"

#include "encoder/intra/intra_blocks_cpu.h"

// ---- Intra16x16 and chroma ----------------------------------------------------------------------

// Codes chroma by the mode of least SATD.
static MotusIntraPart code_chroma(const MotusIntraMb *in, MotusIntraScratch *s, MotusTrial *trial) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
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
    const int best = least(s->cost, MOTUS_IC_MODES);
    memcpy(trial->chroma, s->pred[best], 128);
    trial->mb.intra_chroma_pred_mode = (uint8_t)best;
    part.bits = motus_code_chroma(&s->residual, trial, &in->src, &in->neighbours, &in->qp->chroma,
                                  in->levels, MOTUS_DEADZONE_INTRA);
    part.ssd = motus_ssd_chroma(&in->src, trial->chroma);
    part.cbp = trial->mb.cbp & 0x30;
    return part;
}

static uint32_t estimate16x16(const MotusIntraMb *in, MotusIntraScratch *s, int *mode) {
    motus_intra_edge(&s->edge[0], in->rec.plane[0], in->rec.stride[0], 16, in->has);
    for (int m = 0; m < MOTUS_I16_MODES; m++) {
        s->cost[m] = UINT32_MAX;
        if (!motus_intra16x16_allowed(m, in->has)) continue;
        motus_intra16x16(s->pred[m], MOTUS_LUMA_STRIDE, &s->edge[0], m);
        s->cost[m] = motus_satd_block(in->src.plane[0], in->src.stride[0], s->pred[m],
                                      MOTUS_LUMA_STRIDE, 16, 16) +
                     motus_mode_cost(in->qp, (uint32_t)motus_ue_bits(1u + (uint32_t)m));
    }
    *mode = least(s->cost, MOTUS_I16_MODES);
    return s->cost[*mode];
}

// Codes luma as Intra16x16 from s->pred[mode].
static MotusIntraPart code_16x16(const MotusIntraMb *in, MotusIntraScratch *s, int mode,
                                 MotusTrial *trial) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    memcpy(trial->luma, s->pred[mode], sizeof trial->luma);
    trial->mb.intra16x16_pred_mode = (uint8_t)mode;
    part.bits = motus_code_intra16x16_luma(&s->residual, trial, &in->src, &in->neighbours,
                                           &in->qp->luma, in->levels);
    part.ssd = motus_ssd_luma(&in->src, trial->luma);
    part.cbp = trial->mb.cbp & 0xF;
    return part;
}

// Codes luma as Intra16x16 by the mode of least SATD.
static MotusIntraPart search_16x16(const MotusIntraMb *in, MotusIntraScratch *s,
                                   MotusTrial *trial) {
    int mode;
    estimate16x16(in, s, &mode);
    return code_16x16(in, s, mode, trial);
}

// ---- The MB -------------------------------------------------------------------------------------

// Completes a trial of Intra4x4 or Intra8x8 with the chroma that was coded for Intra16x16.
static void complete(const MotusIntraMb *in, MotusTrial *trial, const MotusTrial *first,
                     const MotusIntraPart *luma, const MotusIntraPart *chroma) {
    motus_intra_copy_chroma(trial, first);
    motus_intra_add_up(in, trial, luma, chroma);
}

static MotusTrial *search(const MotusIntraMb *in, MotusIntraScratch *s, MotusTrial trial[3]) {
    MotusTrial *first = &trial[0], *second = &trial[1];
    motus_intra_begin_as(in, first, MOTUS_MB_I_16x16);
    motus_intra_begin_as(in, second, MOTUS_MB_I_4x4);
    const MotusIntraPart chroma = code_chroma(in, s, first), i16 = search_16x16(in, s, first);
    motus_intra_add_up(in, first, &i16, &chroma);
    int small = 0; // 1: `second` is complete
    if (in->i4_trials) {
        const MotusIntraPart luma = code_4x4(in, s, second, first->cost, UINT32_MAX);
        if ((small = luma.cost <= first->cost)) complete(in, second, first, &luma, &chroma);
    }
    if (in->quant8 && motus_tries_intra8x8(in)) {
        MotusTrial *third = &trial[2];
        const uint32_t limit = small && second->cost < first->cost ? second->cost : first->cost;
        motus_intra_begin_as(in, third, MOTUS_MB_I_4x4);
        const MotusIntraPart luma = code_8x8(in, s, third, limit);
        if (luma.cost <= limit) {
            complete(in, third, first, &luma, &chroma);
            if (!small || third->cost < second->cost) second = third;
            small = 1;
        }
    }
    return motus_intra_cheaper(in, first, second, small);
}

static MotusTrial *estimate(const MotusIntraMb *in, MotusIntraScratch *s, int mode, uint32_t bound,
                            uint32_t inter, MotusTrial trial[3]) {
    MotusTrial *first = &trial[0], *second = &trial[1], *third = &trial[2];
    MotusIntraPart luma = {UINT32_MAX, 0, 0, 0, 0}, chroma = luma;
    motus_intra_begin_as(in, first, MOTUS_MB_I_16x16);
    motus_intra_begin_as(in, second, MOTUS_MB_I_4x4);
    const MotusIntraPart i16 = code_16x16(in, s, mode, first);
    const int is_open = motus_rd_cost(i16.ssd, i16.bits, in->qp->lambda_ssd_q8) < bound;
    if (is_open) {
        chroma = code_chroma(in, s, first);
        motus_intra_add_up(in, first, &i16, &chroma);
    }
    if (in->i4_trials) luma = code_4x4(in, s, second, is_open ? first->cost : UINT32_MAX, bound);
    if (!is_open) {
        if (luma.cost == UINT32_MAX) return NULL;
        chroma = code_chroma(in, s, first);
        motus_intra_add_up(in, first, &i16, &chroma);
    }
    const int small = luma.cost != UINT32_MAX && luma.cost <= first->cost;
    if (small) complete(in, second, first, &luma, &chroma);
    MotusTrial *best = motus_intra_cheaper(in, first, second, small);
    if (!in->quant8 || best->cost >= inter || best->mb.type == MOTUS_MB_I_PCM ||
        !motus_tries_intra8x8(in))
        return best;
    motus_intra_begin_as(in, third, MOTUS_MB_I_4x4);
    luma = code_8x8(in, s, third, best->cost);
    if (luma.cost > best->cost) return best;
    complete(in, third, first, &luma, &chroma);
    return third->cost < best->cost && third->bits <= MOTUS_MB_BITS_LIMIT ? third : best;
}

// ---- Types before samples -----------------------------------------------------------------------

// Adds up SATDs of 4x4 blocks of the source, each predicted by its best mode from the source around
// it. Modes that read the samples above right are left out.
static MotusIntraType type_by_satd(const MotusIntraMb *in, MotusIntraScratch *s) {
    const uint8_t *src = in->src.plane[0];
    const ptrdiff_t stride = in->src.stride[0];
    int mode16;
    const uint32_t whole = estimate16x16(in, s, &mode16);
    uint32_t small = 0;
    memset(s->pred[0], 0, sizeof s->pred[0]); // as in code_4x4
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
        add_satds4(s->cost, at, stride, s->pred[0]);
        small += s->cost[least(s->cost, MOTUS_I4_MODES)];
    }
    const int is_4x4 = motus_is_intra4x4_by_satd(small, whole, in->qp);
    return (MotusIntraType){(uint8_t)(is_4x4 ? MOTUS_MB_I_4x4 : MOTUS_MB_I_16x16), 0,
                            (uint8_t)mode16};
}

static MotusIntraType type_by_cost(const MotusIntraMb *in, MotusIntraScratch *s,
                                   MotusTrial *trial) {
    const MotusIntraPart none = {0, 0, 0, 0, 0};
    MotusIntraType type = {MOTUS_MB_I_16x16, 0, 0};
    motus_intra_begin_as(in, trial, MOTUS_MB_I_16x16);
    const MotusIntraPart i16 = search_16x16(in, s, trial);
    motus_intra_add_up(in, trial, &i16, &none);
    type.mode = trial->mb.intra16x16_pred_mode;
    uint32_t lowest = trial->cost;
    motus_intra_begin_as(in, trial, MOTUS_MB_I_4x4);
    const MotusIntraPart i4 = code_4x4(in, s, trial, lowest, UINT32_MAX);
    if (i4.cost <= lowest) {
        motus_intra_add_up(in, trial, &i4, &none);
        if (trial->cost < lowest) lowest = trial->cost, type.type = MOTUS_MB_I_4x4;
    }
    if (!in->quant8 || !motus_tries_intra8x8(in)) return type;
    motus_intra_begin_as(in, trial, MOTUS_MB_I_4x4);
    const MotusIntraPart i8 = code_8x8(in, s, trial, lowest);
    if (i8.cost <= lowest) {
        motus_intra_add_up(in, trial, &i8, &none);
        if (trial->cost < lowest) type.type = MOTUS_MB_I_4x4, type.transform_8x8 = 1;
    }
    return type;
}

static int code_as(const MotusIntraMb *in, MotusIntraType type, MotusIntraScratch *s,
                   MotusTrial *trial) {
    MotusIntraPart luma;
    motus_intra_begin_as(in, trial, type.type);
    const MotusIntraPart chroma = code_chroma(in, s, trial);
    if (type.type != MOTUS_MB_I_16x16) {
        luma = type.transform_8x8 ? code_8x8(in, s, trial, UINT32_MAX)
                                  : code_4x4(in, s, trial, UINT32_MAX, UINT32_MAX);
    } else if (motus_intra16x16_allowed(type.mode, in->has)) {
        motus_intra_edge(&s->edge[0], in->rec.plane[0], in->rec.stride[0], 16, in->has);
        motus_intra16x16(s->pred[type.mode], MOTUS_LUMA_STRIDE, &s->edge[0], type.mode);
        luma = code_16x16(in, s, type.mode, trial);
    } else { // a slice has begun since
        luma = search_16x16(in, s, trial);
    }
    return motus_intra_typed_wants_pcm(&trial->mb, &trial->coef, &luma, &chroma, in->slice_type,
                                       in->qp, in->levels->zero_runs);
}

const MotusIntraOps MOTUS_ISA(motus_intra) = {search,       estimate16x16, estimate,
                                              type_by_cost, type_by_satd,  code_as};
