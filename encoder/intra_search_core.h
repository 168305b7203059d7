// The best way to code an MB as intra, by rate and distortion.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_INTRA_SEARCH_CORE_H
#define ENCODER_INTRA_SEARCH_CORE_H

#include "encoder/intra_core.h"
#include "encoder/syntax_core.h"

// Samples of the picture being reconstructed: the first of the MB in each plane.
typedef struct MotusMbRecon {
    uint8_t *plane[3];
    ptrdiff_t stride[3];
} MotusMbRecon;

// An MB to be coded as intra. `rec` holds what surrounds it.
typedef struct MotusIntraMb {
    const MotusQp *qp;
    const MotusLevelChoice *levels;
    int i4_trials; // Intra4x4 modes that are evaluated for each block, best SATD first; 0 leaves Intra4x4 out
    int p_slice;
    MotusMbSource src;
    MotusMbRecon rec;
    MotusNeighbours neighbours;
    int has; // MOTUS_HAS_* of the MB
} MotusIntraMb;

#define MOTUS_I4_TRIALS 3      // at most
#define MOTUS_CANVAS_STRIDE 32 // Intra4x4 reconstructs on a canvas with one row above and one column to the left
#define MOTUS_CANVAS_ORIGIN (MOTUS_CANVAS_STRIDE + 8)

// Working memory of a search.
typedef struct MotusIntraScratch {
    MotusResidual residual;
    MotusIntraEdge edge[2];
    uint32_t cost[16];    // of modes
    uint8_t pred[4][256]; // of modes
    uint8_t canvas[18 * MOTUS_CANVAS_STRIDE];
    int16_t level[MOTUS_I4_TRIALS][16]; // of the modes evaluated for a 4x4 block
    uint8_t block[MOTUS_I4_TRIALS][16]; // their reconstructions, rows of 4
    uint32_t bits[MOTUS_I4_TRIALS], n[MOTUS_I4_TRIALS];
} MotusIntraScratch;

MOTUS_HD int motus_intra_has(const MotusNeighbours *n) {
    return (n->a ? MOTUS_HAS_LEFT : 0) | (n->b ? MOTUS_HAS_TOP : 0) | (n->d ? MOTUS_HAS_CORNER : 0) |
           (n->c ? MOTUS_HAS_TOP_RIGHT : 0);
}

MOTUS_HD uint32_t motus_satd_block(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b, ptrdiff_t b_stride, int w, int h) {
    uint32_t sum = 0;
#ifdef MOTUS_USE_AVX2
    if (w >= 8) {
        __m256i total = _mm256_setzero_si256();
        for (int y = 0; y < h; y += 4) {
            __m256i d[4];
            for (int i = 0; i < 4; i++, a += a_stride, b += b_stride) {
                __m128i p = w == 16 ? _mm_loadu_si128((const __m128i *)a) : _mm_loadl_epi64((const __m128i *)a);
                __m128i q = w == 16 ? _mm_loadu_si128((const __m128i *)b) : _mm_loadl_epi64((const __m128i *)b);
                d[i] = _mm256_sub_epi16(motus_pairs_avx2(p), motus_pairs_avx2(q));
            }
            total = _mm256_add_epi32(total, motus_satd_strip_avx2(d));
        }
        return motus_sum32_avx2(total);
    }
#endif
    for (int y = 0; y < h; y += 4)
        for (int x = 0; x < w; x += 4) sum += motus_satd4x4(a + y * a_stride + x, a_stride, b + y * b_stride + x, b_stride);
    return sum;
}

// Index of the least of n costs, the first of equals; UINT32_MAX stands for a mode that is not allowed.
MOTUS_HD int motus_least(const uint32_t *cost, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (cost[i] < cost[best]) best = i;
    return best;
}

// Chooses the chroma mode by SATD and codes chroma on top of it. Returns the residual's bits.
MOTUS_HD uint32_t motus_intra_chroma_search(const MotusIntraMb *in, MotusIntraScratch *s, MotusTrial *trial) {
    for (int c = motus_lane(); c < 2; c += MOTUS_LANES)
        motus_intra_edge(&s->edge[c], in->rec.plane[c + 1], in->rec.stride[c + 1], 8, in->has);
    motus_lanes_sync();
    for (int mode = motus_lane(); mode < MOTUS_IC_MODES; mode += MOTUS_LANES) {
        uint32_t satd = 0;
        s->cost[mode] = UINT32_MAX;
        if (!motus_intra_chroma_allowed(mode, in->has)) continue;
        for (int c = 0; c < 2; c++) {
            uint8_t *pred = s->pred[mode] + 64 * c;
            motus_intra_chroma(pred, MOTUS_CHROMA_STRIDE, &s->edge[c], mode);
            satd += motus_satd_block(in->src.plane[c + 1], in->src.stride[c + 1], pred, MOTUS_CHROMA_STRIDE, 8, 8);
        }
        s->cost[mode] = satd + motus_mode_cost(in->qp, (uint32_t)motus_ue_bits((uint32_t)mode));
    }
    motus_lanes_sync();
    int best = motus_least(s->cost, MOTUS_IC_MODES);
    for (int i = motus_lane(); i < 128; i += MOTUS_LANES) trial->chroma[i >> 6][i & 63] = s->pred[best][i];
    if (motus_lane() == 0) trial->mb.intra_chroma_pred_mode = (uint8_t)best;
    motus_lanes_sync();
    return motus_code_chroma(&s->residual, trial, &in->src, &in->neighbours, in->qp, in->levels);
}

// SATD + mode bits of the best Intra16x16 mode, whose prediction is left in s->pred[*mode].
MOTUS_HD uint32_t motus_intra16x16_estimate(const MotusIntraMb *in, MotusIntraScratch *s, int *mode) {
    if (motus_lane() == 0) motus_intra_edge(&s->edge[0], in->rec.plane[0], in->rec.stride[0], 16, in->has);
    motus_lanes_sync();
    for (int m = motus_lane(); m < MOTUS_I16_MODES; m += MOTUS_LANES) {
        s->cost[m] = UINT32_MAX;
        if (!motus_intra16x16_allowed(m, in->has)) continue;
        motus_intra16x16(s->pred[m], MOTUS_LUMA_STRIDE, &s->edge[0], m);
        s->cost[m] = motus_satd_block(in->src.plane[0], in->src.stride[0], s->pred[m], MOTUS_LUMA_STRIDE, 16, 16) +
                     motus_mode_cost(in->qp, (uint32_t)motus_ue_bits(1u + (uint32_t)m));
    }
    motus_lanes_sync();
    *mode = motus_least(s->cost, MOTUS_I16_MODES);
    uint32_t cost = s->cost[*mode];
    motus_lanes_sync();
    return cost;
}

// Luma as Intra16x16 on top of the trial's chroma.
MOTUS_HD void motus_code_intra16x16(const MotusIntraMb *in, MotusIntraScratch *s, MotusTrial *trial, uint32_t chroma_bits) {
    int mode;
    motus_intra16x16_estimate(in, s, &mode);
    for (int i = motus_lane(); i < 256; i += MOTUS_LANES) trial->luma[i] = s->pred[mode][i];
    if (motus_lane() == 0) {
        trial->mb.type = MOTUS_MB_I_16x16;
        trial->mb.intra16x16_pred_mode = (uint8_t)mode;
    }
    motus_lanes_sync();
    uint32_t bits = motus_code_intra16x16_luma(&s->residual, trial, &in->src, &in->neighbours, in->qp, in->levels);
    if (motus_lane() == 0) trial->bits = bits + chroma_bits + motus_intra_bits(&trial->mb, &in->neighbours, in->p_slice);
    motus_lanes_sync();
    motus_trial_judge(trial, &in->src, in->qp);
}

// Copies what Intra4x4 predicts from: the row above with its corner and four samples of the upper right MB, and the column to the left.
MOTUS_HD void motus_canvas_load(const MotusIntraMb *in, uint8_t *canvas) {
    const uint8_t *at = in->rec.plane[0];
    ptrdiff_t stride = in->rec.stride[0];
    for (int i = motus_lane(); i < 21; i += MOTUS_LANES) {
        int needed = i == 0 ? MOTUS_HAS_CORNER : i <= 16 ? MOTUS_HAS_TOP : MOTUS_HAS_TOP_RIGHT;
        if (in->has & needed) canvas[MOTUS_CANVAS_ORIGIN - MOTUS_CANVAS_STRIDE - 1 + i] = at[-stride - 1 + i];
    }
    for (int y = motus_lane(); y < 16; y += MOTUS_LANES)
        if (in->has & MOTUS_HAS_LEFT) canvas[MOTUS_CANVAS_ORIGIN + y * MOTUS_CANVAS_STRIDE - 1] = at[y * stride - 1];
    motus_lanes_sync();
}

// Codes luma block blk; returns its cost with the mode's bits. Writes mode, levels, count, canvas and trial->luma.
MOTUS_HD uint32_t motus_code_i4_block(const MotusIntraMb *in, MotusIntraScratch *s, MotusTrial *trial, int blk, uint32_t *bits) {
    int x = blk % 4 * 4, y = blk / 4 * 4, nc = motus_cavlc_nc_at(trial->mb.total_coeff, &in->neighbours, blk);
    const uint8_t *src = in->src.plane[0] + y * in->src.stride[0] + x;
    uint8_t *at = s->canvas + MOTUS_CANVAS_ORIGIN + y * MOTUS_CANVAS_STRIDE + x;
    int predicted = motus_intra4x4_predicted_mode(&trial->mb, &in->neighbours, blk), order[MOTUS_I4_TRIALS], n = 0;
    MotusIntraEdge edge;
    MotusIntraLine line;
    motus_intra_edge(&edge, at, MOTUS_CANVAS_STRIDE, 4, motus_intra4x4_has(blk, in->has));
    motus_intra_line(&line, &edge);
    for (int mode = motus_lane(); mode < MOTUS_I4_MODES; mode += MOTUS_LANES) {
        uint8_t *pred = s->pred[0] + 16 * mode;
        s->cost[mode] = UINT32_MAX;
        if (!motus_intra4x4_allowed(mode, edge.has)) continue;
        motus_intra4x4_of_line(pred, 4, &edge, &line, mode);
        s->cost[mode] = motus_satd4x4(src, in->src.stride[0], pred, 4) + motus_mode_cost(in->qp, mode == predicted ? 1 : 4);
    }
    motus_lanes_sync();
    for (uint32_t taken = 0; n < in->i4_trials; n++) {
        int best = -1;
        for (int mode = 0; mode < MOTUS_I4_MODES; mode++)
            if (!(taken >> mode & 1) && s->cost[mode] != UINT32_MAX && (best < 0 || s->cost[mode] < s->cost[best])) best = mode;
        if (best < 0) break;
        taken |= 1u << best;
        order[n] = best;
    }
    motus_lanes_sync();
    for (int i = motus_lane(); i < n; i += MOTUS_LANES) {
        int16_t coef[16];
        const uint8_t *pred = s->pred[0] + 16 * order[i];
        for (int k = 0; k < 16; k++) s->block[i][k] = pred[k];
        motus_forward_block(coef, src, in->src.stride[0], pred, 4);
        MotusLevels levels = motus_choose_levels(s->level[i], coef, motus_live_coefs(coef, &in->qp->luma), 0, nc, &in->qp->luma,
                                                 in->levels->method, in->levels->zero_runs);
        if (levels.n) motus_reconstruct_block(s->block[i], 4, s->level[i], levels.n, 0, 0, in->qp->luma.qp);
        uint32_t ssd = motus_ssd_block(src, in->src.stride[0], s->block[i], 4, 4, 4);
        s->cost[i] = motus_rd_cost(ssd, levels.bits + (order[i] == predicted ? 1 : 4), in->qp->lambda_ssd_q8);
        s->bits[i] = levels.bits;
        s->n[i] = (uint32_t)levels.n;
    }
    motus_lanes_sync();
    int best = motus_least(s->cost, n);
    uint32_t cost = s->cost[best];
    *bits = s->bits[best];
    for (int i = motus_lane(); i < 16; i += MOTUS_LANES) {
        at[(i >> 2) * MOTUS_CANVAS_STRIDE + (i & 3)] = s->block[best][i];
        trial->luma[(y + (i >> 2)) * MOTUS_LUMA_STRIDE + x + (i & 3)] = s->block[best][i];
        trial->coef.luma[blk][i] = s->level[best][i];
    }
    if (motus_lane() == 0) {
        trial->mb.intra4x4_pred_mode[blk] = (uint8_t)order[best];
        trial->mb.total_coeff[blk] = (uint8_t)s->n[best];
    }
    motus_lanes_sync();
    return cost;
}

// Luma as Intra4x4 on top of the trial's chroma. Gives up (cost UINT32_MAX) as soon as it is worse than `limit`.
MOTUS_HD void motus_code_intra4x4(const MotusIntraMb *in, MotusIntraScratch *s, MotusTrial *trial, uint32_t chroma_bits,
                                  uint32_t limit) {
    uint32_t bits = chroma_bits, cost = 0, cbp = 0;
    if (motus_lane() == 0) {
        trial->mb.type = MOTUS_MB_I_4x4;
        trial->cost = UINT32_MAX;
        memset(trial->mb.total_coeff, 0, 16);
    }
    motus_canvas_load(in, s->canvas);
    for (int q = 0; q < 4; q++) {
        uint32_t q_bits = 0, found = 0;
        for (int i = 4 * q; i < 4 * q + 4; i++) {
            uint32_t block_bits;
            cost += motus_code_i4_block(in, s, trial, motus_blk_at(i), &block_bits);
            q_bits += block_bits;
            found |= trial->mb.total_coeff[motus_blk_at(i)];
        }
        if (found) cbp |= 1u << q, bits += q_bits;
        if (cost > limit) return;
    }
    motus_lanes_sync();
    if (motus_lane() == 0) {
        trial->mb.cbp |= (uint8_t)cbp;
        trial->bits = bits + motus_intra_bits(&trial->mb, &in->neighbours, in->p_slice);
    }
    motus_lanes_sync();
    motus_trial_judge(trial, &in->src, in->qp);
}

// Evaluates Intra16x16 and Intra4x4 (and I_PCM as a last resort); returns which of the two trials holds the cheapest.
MOTUS_HD MotusTrial *motus_intra_search(const MotusIntraMb *in, MotusIntraScratch *s, MotusTrial *first, MotusTrial *second) {
    if (motus_lane() == 0) {
        memset(&first->mb, 0, sizeof first->mb);
        first->mb.type = MOTUS_MB_I_16x16;
        first->mb.qp = in->qp->luma.qp;
    }
    motus_lanes_sync();
    uint32_t chroma_bits = motus_intra_chroma_search(in, s, first);
    MotusTrial *best = first;
    if (in->i4_trials) {
        if (motus_lane() == 0) second->mb = first->mb;
        for (int i = motus_lane(); i < 128; i += MOTUS_LANES) {
            second->chroma[i >> 6][i & 63] = first->chroma[i >> 6][i & 63];
            second->coef.chroma_ac[i >> 6][i >> 4 & 3][i & 15] = first->coef.chroma_ac[i >> 6][i >> 4 & 3][i & 15];
            if (i < 8) second->coef.chroma_dc[i >> 2][i & 3] = first->coef.chroma_dc[i >> 2][i & 3];
        }
        motus_lanes_sync();
    }
    motus_code_intra16x16(in, s, first, chroma_bits);
    if (in->i4_trials) {
        motus_code_intra4x4(in, s, second, chroma_bits, first->cost);
        if (second->cost < first->cost) best = second;
    }
    if (best->bits > MOTUS_MB_BITS_LIMIT || best->cost > motus_rd_cost(0, MOTUS_PCM_BITS, in->qp->lambda_ssd_q8))
        motus_trial_pcm(best, &in->src, in->qp);
    return best;
}

#endif
