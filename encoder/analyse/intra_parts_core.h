// The parts of an intra MB, luma as Intra4x4 or as Intra16x16 and chroma, which do not depend on
// one another: each by its best mode, by rate and distortion.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_ANALYSE_INTRA_PARTS_CORE_H
#define ENCODER_ANALYSE_INTRA_PARTS_CORE_H

#include "encoder/analyse/choose_core.h"
#include "encoder/analyse/intra_lanes_core.h"
#include "encoder/analyse/residual_core.h"
#include "encoder/bitstream/syntax_core.h"

// Samples of the picture being reconstructed: the first of the MB in each plane.
typedef struct MotusMbRecon {
    uint8_t *plane[3];
    ptrdiff_t stride[3];
} MotusMbRecon;

// An MB to be coded as intra. `rec` holds what surrounds it.
typedef struct MotusIntraMb {
    const MotusQp *qp;
    const MotusLevelChoice *levels;
    int i4_trials; // Intra4x4 modes that are evaluated for each block, best SATD first; 0 leaves
                   // Intra4x4 out
    int p_slice;
    MotusMbSource src;
    MotusMbRecon rec;
    MotusNeighbours neighbours;
    int has; // MOTUS_HAS_* of the MB
} MotusIntraMb;

// Working memory of a search.
typedef struct __attribute__((aligned(16))) MotusIntraScratch {
    union {
        uint8_t pred[4][256]; // of modes
        __attribute__((aligned(16)))
        int32_t i4_minus[16][16]; // of Intra4x4, where a warp's lanes do it: MotusI4Mb
    };
    uint8_t canvas[18 * MOTUS_CANVAS_STRIDE];
    MotusI4Lanes i4;
    MotusIntraSides sides;
    MotusResidual residual;
    MotusIntraEdge edge[2];
    uint32_t cost[16];                  // of modes
    int16_t level[MOTUS_I4_TRIALS][16]; // of the modes evaluated for a 4x4 block
    uint8_t block[MOTUS_I4_TRIALS][16]; // their reconstructions, rows of 4
    uint32_t bits[MOTUS_I4_TRIALS], n[MOTUS_I4_TRIALS];
} MotusIntraScratch;

// What one of the three parts of an intra MB came to: Intra4x4, Intra16x16 or chroma. They don't
// depend on one another.
typedef struct MotusIntraPart {
    uint32_t cost; // of Intra4x4's blocks: if it passes the cost of the MB as Intra16x16, Intra4x4
                   // is not taken
    uint32_t bits, ssd, mode_bits; // bits of the residual; of Intra4x4's modes
    int cbp;                       // its bits of coded_block_pattern
} MotusIntraPart;

MOTUS_HD int motus_intra_has(const MotusNeighbours *n) {
    return (n->a ? MOTUS_HAS_LEFT : 0) | (n->b ? MOTUS_HAS_TOP : 0) |
           (n->d ? MOTUS_HAS_CORNER : 0) | (n->c ? MOTUS_HAS_TOP_RIGHT : 0);
}

MOTUS_HD uint32_t motus_satd_block(const uint8_t *a, ptrdiff_t a_stride, const uint8_t *b,
                                   ptrdiff_t b_stride, int w, int h) {
    uint32_t sum = 0;
#ifdef MOTUS_USE_AVX2
    if (w >= 8) {
        __m256i total = _mm256_setzero_si256();
        for (int y = 0; y < h; y += 4) {
            __m256i d[4];
            for (int i = 0; i < 4; i++, a += a_stride, b += b_stride) {
                __m128i p = w == 16 ? _mm_loadu_si128((const __m128i *)a)
                                    : _mm_loadl_epi64((const __m128i *)a);
                __m128i q = w == 16 ? _mm_loadu_si128((const __m128i *)b)
                                    : _mm_loadl_epi64((const __m128i *)b);
                d[i] = _mm256_sub_epi16(motus_pairs_avx2(p), motus_pairs_avx2(q));
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

// Index of the least of n costs, the first of equals; UINT32_MAX stands for a mode that is not
// allowed.
MOTUS_HD int motus_least(const uint32_t *cost, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (cost[i] < cost[best]) best = i;
    return best;
}

#if MOTUS_LANES > 1

MOTUS_HD void motus_intra_chroma_mode(const MotusIntraMb *in, MotusIntraScratch *s,
                                      MotusTrial *trial) {
    int mode = motus_chroma_mode_lanes(&s->sides, in->rec.plane + 1, in->rec.stride + 1, &in->src,
                                       in->qp, in->has, trial->chroma);
    if (motus_lane() == 0) trial->mb.intra_chroma_pred_mode = (uint8_t)mode;
    motus_lanes_sync();
}

// SATD + mode bits of the best Intra16x16 mode, whose prediction is left in s->pred[*mode].
MOTUS_HD uint32_t motus_intra16x16_estimate(const MotusIntraMb *in, MotusIntraScratch *s,
                                            int *mode) {
    return motus_intra16x16_lanes(&s->sides, in->rec.plane[0], in->rec.stride[0], &in->src, in->qp,
                                  in->has, s->pred, mode);
}

#else

// Chooses the chroma mode by SATD and leaves its prediction in trial->chroma.
MOTUS_HD void motus_intra_chroma_mode(const MotusIntraMb *in, MotusIntraScratch *s,
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

// SATD + mode bits of the best Intra16x16 mode, whose prediction is left in s->pred[*mode].
MOTUS_HD uint32_t motus_intra16x16_estimate(const MotusIntraMb *in, MotusIntraScratch *s,
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

#endif

#if MOTUS_LANES > 1

// Codes chroma, or luma as Intra16x16: trial's samples, levels, counts and mode. What the two have
// in common, most of it, is the same instructions: they have to be fetched, and an SM's cache for
// them is small.
MOTUS_HD MotusIntraPart motus_code_intra_whole(const MotusIntraMb *in, MotusIntraScratch *s,
                                               MotusTrial *trial, int chroma) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    MotusResidual *r = &s->residual;
    const MotusQuant *q = chroma ? &in->qp->chroma : &in->qp->luma;
    const int lane = motus_lane(), from = chroma ? 16 : 0, n = chroma ? 8 : 16;
    uint32_t ac_bits, found = 0;
    if (chroma) {
        motus_intra_chroma_mode(in, s, trial);
        motus_residual_chroma_forward(r, &in->src, trial, q);
        if (lane < 2) motus_code_chroma_dc(r, trial, lane, MOTUS_DEADZONE_INTRA, q->qp);
    } else {
        int mode;
        motus_intra16x16_estimate(in, s, &mode);
        if (lane < 16) memcpy(trial->luma + 16 * lane, s->pred[mode] + 16 * lane, 16);
        if (lane == 0) trial->mb.intra16x16_pred_mode = (uint8_t)mode;
        motus_lanes_sync();
        motus_residual_luma_forward(r, &in->src, trial, q);
    }
    motus_residual_intra_levels(r, trial, from, from + n, 1, &in->neighbours, q, in->levels);
    const int ac = motus_levels_pay_lanes(r->levels + from, n, q, &ac_bits);
    if (chroma) {
        found = motus_lanes_which(lane < 8 && trial->coef.chroma_dc[lane >> 2 & 1][lane & 3]);
        const uint32_t dc_bits =
            lane < 2 ? (uint32_t)motus_cavlc_chroma_dc_bits(trial->coef.chroma_dc[lane]) : 0;
        part.bits = motus_lanes_sum(ac || found ? dc_bits : 0);
        part.cbp = ac ? 32 : found ? 16 : 0;
    } else {
        part.bits =
            motus_intra16x16_dc_lanes(r, trial, &in->neighbours, q->qp, in->levels->zero_runs);
        part.cbp = ac ? 15 : 0;
    }
    if (ac)
        part.bits += ac_bits;
    else if (lane < n)
        trial->mb.total_coeff[from + lane] = 0;
    motus_lanes_sync(); // counts and DCs are there
    motus_residual_add(r, trial, from, from + n, 1, q->qp);
    part.ssd =
        chroma ? motus_ssd_chroma(&in->src, trial->chroma) : motus_ssd_luma(&in->src, trial->luma);
    return part;
}

#else

// Codes chroma by its best mode: trial->chroma, its levels, counts, mode, and chroma's bits of cbp.
MOTUS_HD MotusIntraPart motus_code_intra_chroma(const MotusIntraMb *in, MotusIntraScratch *s,
                                                MotusTrial *trial) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    motus_intra_chroma_mode(in, s, trial);
    part.bits =
        motus_code_chroma(&s->residual, trial, &in->src, &in->neighbours, in->qp, in->levels, 1);
    part.ssd = motus_ssd_chroma(&in->src, trial->chroma);
    part.cbp = trial->mb.cbp;
    return part;
}

// Luma as Intra16x16: trial->luma, its levels, counts and mode.
MOTUS_HD MotusIntraPart motus_code_intra16x16(const MotusIntraMb *in, MotusIntraScratch *s,
                                              MotusTrial *trial) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    int mode;
    motus_intra16x16_estimate(in, s, &mode);
    for (int i = motus_lane(); i < 16; i += MOTUS_LANES)
        memcpy(trial->luma + 16 * i, s->pred[mode] + 16 * i, 16);
    if (motus_lane() == 0) trial->mb.intra16x16_pred_mode = (uint8_t)mode;
    motus_lanes_sync();
    part.bits = motus_code_intra16x16_luma(&s->residual, trial, &in->src, &in->neighbours, in->qp,
                                           in->levels);
    part.ssd = motus_ssd_luma(&in->src, trial->luma);
    part.cbp = s->residual.luma_cbp;
    return part;
}

MOTUS_HD MotusIntraPart motus_code_intra_whole(const MotusIntraMb *in, MotusIntraScratch *s,
                                               MotusTrial *trial, int chroma) {
    return chroma ? motus_code_intra_chroma(in, s, trial) : motus_code_intra16x16(in, s, trial);
}

#endif

#if MOTUS_LANES > 1

// What of Intra4x4 can be done before the neighbours are: in s, and in what every block needs.
MOTUS_HD MotusI4Mb motus_i4_prepare(const MotusIntraMb *in, MotusIntraScratch *s) {
    const int lane = motus_lane();
    MotusI4Mb mb;
    mb.qp = *in->qp;
    mb.levels = *in->levels;
    mb.rows = motus_i4_rows(motus_min(lane & 15, MOTUS_I4_MODES - 1));
    mb.edge = motus_i4_edge();
    mb.pair = motus_level_pair(&in->qp->luma);
    mb.basis = motus_i4_basis(&mb.pair);
    motus_i4_transform_source(s->residual.coef, s->i4.samples, s->i4_minus, in->src.plane[0],
                              in->src.stride[0], &mb.basis);
    if (lane < 16) s->i4.has[lane] = (uint8_t)motus_intra4x4_has(lane, in->has);
    motus_lanes_sync();
    return mb;
}

// Luma as Intra4x4, prepared: trial->luma, its levels, counts and modes. Gives up as soon as the
// cost passes `limit`; UINT32_MAX: never, and costs are not asked for on the way.
MOTUS_HD MotusIntraPart motus_code_intra4x4_of(const MotusI4Mb *mb, const MotusIntraMb *in,
                                               MotusIntraScratch *s, MotusTrial *trial,
                                               uint32_t limit) {
    const int lane = motus_lane(), blk_of = lane & 15;
    MotusIntraPart part = {0, 0, 0, 0, 0};
    s = MOTUS_SHARED(s), trial = MOTUS_SHARED(trial);
    const MotusI4Memory m = {&s->i4, trial, s->canvas, s->i4_minus, s->residual.coef};
    MotusI4Block block = motus_i4_block_of(mb, &m, 0);
    motus_i4_surroundings(&s->i4, s->canvas, &in->neighbours, in->rec.plane[0], in->rec.stride[0],
                          in->has);
    MOTUS_ONE_BODY
    for (int step = 0; step < 10; step++) {
        const MotusI4Block now = block;
        block = motus_i4_block_of(mb, &m,
                                  motus_min(step + 1, 9)); // nothing of this step waits for that
        const uint32_t cost = motus_i4_block(mb, &m, &now, in->i4_trials, limit != UINT32_MAX);
        if (limit == UINT32_MAX) continue;
        part.cost += motus_lanes_get(cost, 0) + motus_lanes_get(now.kept ? cost : 0, 16);
        if (part.cost > limit) return part;
    }
    for (int i = lane; i < 64; i += MOTUS_LANES)
        motus_word_put(trial->luma + 4 * i,
                       motus_word_get(s->canvas + MOTUS_CANVAS_ORIGIN +
                                      (i >> 2) * MOTUS_CANVAS_STRIDE + 4 * (i & 3)));
    const int n = s->i4.count[1 + blk_of / 4][1 + blk_of % 4];
    if (lane < 16) {
        trial->mb.total_coeff[lane] = (uint8_t)n;
        trial->mb.intra4x4_pred_mode[lane] = (uint8_t)s->i4.mode[1 + lane / 4][1 + lane % 4];
    }
    uint32_t coded = motus_lanes_which(lane < 16 && n);
    for (int q = 0; q < 4; q++) part.cbp |= (coded >> (q / 2 * 8 + q % 2 * 2) & 0x33 ? 1 : 0) << q;
    int counts = lane < 16 && (part.cbp >> (blk_of / 8 * 2 + blk_of % 4 / 2) & 1);
    const uint32_t bits = s->i4.bits[blk_of], mode_bits = s->i4.mode_bits[blk_of];
    uint32_t ssd = 0;
    for (int k = 0; k < 4; k++) ssd += s->i4.error[blk_of][(lane >> 4) * 4 + k];
    ssd += motus_lanes_get(ssd, lane ^ 16);
    part.bits = motus_lanes_sum(counts ? bits : 0);
    part.ssd = motus_lanes_sum(lane < 16 ? ssd : 0);
    part.mode_bits = motus_lanes_sum(lane < 16 ? mode_bits : 0);
    part.cost =
        motus_lanes_sum(lane < 16 ? motus_rd_cost(ssd, bits + mode_bits, mb->qp.lambda_ssd_q8) : 0);
    motus_lanes_sync(); // samples, counts and modes are there
    return part;
}

MOTUS_HD MotusIntraPart motus_code_intra4x4(const MotusIntraMb *in, MotusIntraScratch *s,
                                            MotusTrial *trial, uint32_t limit) {
    const MotusI4Mb mb = motus_i4_prepare(in, s);
    return motus_code_intra4x4_of(&mb, in, s, trial, limit);
}

#else

// Copies what Intra4x4 predicts from: the row above with its corner and four samples of the upper
// right MB, and the column to the left.
MOTUS_HD void motus_canvas_load(const MotusIntraMb *in, uint8_t *canvas) {
    const uint8_t *at = in->rec.plane[0];
    ptrdiff_t stride = in->rec.stride[0];
    for (int i = 0; i < 21; i++) {
        int needed = i == 0 ? MOTUS_HAS_CORNER : i <= 16 ? MOTUS_HAS_TOP : MOTUS_HAS_TOP_RIGHT;
        if (in->has & needed)
            canvas[MOTUS_CANVAS_ORIGIN - MOTUS_CANVAS_STRIDE - 1 + i] = at[-stride - 1 + i];
    }
    for (int y = 0; y < 16; y++)
        if (in->has & MOTUS_HAS_LEFT)
            canvas[MOTUS_CANVAS_ORIGIN + y * MOTUS_CANVAS_STRIDE - 1] = at[y * stride - 1];
}

// Codes luma block blk and adds to the part's cost, SSD and modes' bits. Writes mode, levels,
// count, canvas and trial->luma. Returns the levels' bits.
MOTUS_HD uint32_t motus_code_i4_block(const MotusIntraMb *in, MotusIntraScratch *s,
                                      MotusTrial *trial, int blk, MotusIntraPart *part) {
    int x = blk % 4 * 4, y = blk / 4 * 4,
        nc = motus_cavlc_nc_at(trial->mb.total_coeff, &in->neighbours, blk);
    const uint8_t *src = in->src.plane[0] + y * in->src.stride[0] + x;
    uint8_t *at = s->canvas + MOTUS_CANVAS_ORIGIN + y * MOTUS_CANVAS_STRIDE + x;
    int predicted = motus_intra4x4_predicted_mode(&trial->mb, &in->neighbours, blk),
        order[MOTUS_I4_TRIALS], n = 0;
    uint32_t ssd[MOTUS_I4_TRIALS];
    MotusIntraEdge edge;
    MotusIntraLine line;
    motus_intra_edge(&edge, at, MOTUS_CANVAS_STRIDE, 4, motus_intra4x4_has(blk, in->has));
    motus_intra_line(&line, &edge);
    for (int mode = 0; mode < MOTUS_I4_MODES; mode++) {
        uint8_t *pred = s->pred[0] + 16 * mode;
        s->cost[mode] = UINT32_MAX;
        if (!motus_intra4x4_allowed(mode, edge.has)) continue;
        motus_intra4x4(pred, 4, &edge, &line, mode);
        s->cost[mode] = motus_satd4x4(src, in->src.stride[0], pred, 4) +
                        motus_mode_cost(in->qp, mode == predicted ? 1 : 4);
    }
    for (uint32_t taken = 0; n < in->i4_trials; n++) {
        int best = -1;
        for (int mode = 0; mode < MOTUS_I4_MODES; mode++)
            if (!(taken >> mode & 1) && s->cost[mode] != UINT32_MAX &&
                (best < 0 || s->cost[mode] < s->cost[best]))
                best = mode;
        if (best < 0) break;
        taken |= 1u << best;
        order[n] = best;
    }
    for (int i = 0; i < n; i++) {
        int16_t coef[16];
        const uint8_t *pred = s->pred[0] + 16 * order[i];
        memcpy(s->block[i], pred, 16);
        motus_forward_block(coef, src, in->src.stride[0], pred, 4);
        MotusLevels levels =
            motus_choose_levels(s->level[i], coef, motus_live_coefs(coef, &in->qp->luma), 0, nc,
                                &in->qp->luma, in->levels->method, in->levels->zero_runs);
        if (levels.n)
            motus_reconstruct_block(s->block[i], 4, s->level[i], levels.n, 0, 0, in->qp->luma.qp);
        ssd[i] = motus_ssd_block(src, in->src.stride[0], s->block[i], 4, 4, 4);
        s->cost[i] = motus_rd_cost(ssd[i], levels.bits + (order[i] == predicted ? 1 : 4),
                                   in->qp->lambda_ssd_q8);
        s->bits[i] = levels.bits;
        s->n[i] = (uint32_t)levels.n;
    }
    int best = motus_least(s->cost, n);
    part->cost += s->cost[best];
    part->ssd += ssd[best];
    part->mode_bits += order[best] == predicted ? 1 : 4;
    for (int i = 0; i < 4; i++) {
        memcpy(at + i * MOTUS_CANVAS_STRIDE, s->block[best] + 4 * i, 4);
        memcpy(trial->luma + (y + i) * MOTUS_LUMA_STRIDE + x, s->block[best] + 4 * i, 4);
    }
    memcpy(trial->coef.luma[blk], s->level[best], sizeof s->level[best]);
    trial->mb.intra4x4_pred_mode[blk] = (uint8_t)order[best];
    trial->mb.total_coeff[blk] = (uint8_t)s->n[best];
    return s->bits[best];
}

// Luma as Intra4x4: trial->luma, its levels, counts and modes. Gives up as soon as the cost passes
// `limit`.
MOTUS_HD MotusIntraPart motus_code_intra4x4(const MotusIntraMb *in, MotusIntraScratch *s,
                                            MotusTrial *trial, uint32_t limit) {
    MotusIntraPart part = {0, 0, 0, 0, 0};
    motus_canvas_load(in, s->canvas);
    for (int q = 0; q < 4; q++) {
        uint32_t q_bits = 0, found = 0;
        for (int i = 4 * q; i < 4 * q + 4; i++) {
            q_bits += motus_code_i4_block(in, s, trial, motus_blk_at(i), &part);
            found |= trial->mb.total_coeff[motus_blk_at(i)];
        }
        if (found) part.cbp |= 1 << q, part.bits += q_bits;
        if (part.cost > limit) return part;
    }
    return part;
}

#endif

#endif
