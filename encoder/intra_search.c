// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/intra_search.h"

#include <string.h>

#include "encoder/cavlc.h"
#include "encoder/intra.h"
#include "encoder/parts.h"
#include "encoder/rd_core.h"
#include "encoder/residual.h"

#define I4_TRIALS 3      // Intra4x4 modes that are worked out, best SATD first
#define CANVAS_STRIDE 32 // Intra4x4 reconstructs on a canvas with one row above and one column to the left
#define CANVAS_ORIGIN (CANVAS_STRIDE + 8)

typedef struct IntraInput {
    const MotusCoding *coding;
    const MotusMbAround *around;
    const MotusMbSource *src;
    const MotusFrame *rec;
    int mb_x, mb_y, has;
} IntraInput;

static uint32_t mode_cost(const MotusCoding *coding, uint32_t satd, uint32_t bits) {
    return satd + ((coding->lambda_q8 * bits) >> 8);
}

static const uint8_t *plane_at(const IntraInput *in, int p) {
    int size = p ? 8 : 16;
    return in->rec->plane[p].data + in->mb_y * size * in->rec->plane[p].stride + in->mb_x * size;
}

static void code_chroma(const IntraInput *in, MotusTrial *trial, uint32_t *bits) {
    uint8_t pred[2][64];
    uint32_t best = UINT32_MAX;
    MotusIntraEdge edge[2];
    for (int c = 0; c < 2; c++) motus_intra_edge(&edge[c], plane_at(in, c + 1), in->rec->plane[c + 1].stride, 8, in->has);
    for (int mode = 0; mode < MOTUS_IC_MODES; mode++) {
        if (!motus_intra_chroma_allowed(mode, in->has)) continue;
        uint32_t satd = 0;
        for (int c = 0; c < 2; c++) {
            motus_intra_chroma(pred[c], MOTUS_CHROMA_STRIDE, &edge[c], mode);
            satd += in->coding->pixel->satd(in->src->plane[c + 1], in->src->stride[c + 1], pred[c], MOTUS_CHROMA_STRIDE, 8, 8);
        }
        uint32_t cost = mode_cost(in->coding, satd, (uint32_t)motus_ue_bits((uint32_t)mode));
        if (cost >= best) continue;
        best = cost;
        trial->mb.intra_chroma_pred_mode = (uint8_t)mode;
        memcpy(trial->chroma, pred, sizeof pred);
    }
    *bits = motus_code_chroma(in->coding, in->around, in->src, trial);
}

// Luma as Intra16x16 on top of the trial's chroma.
static void code_intra16x16(const IntraInput *in, MotusTrial *trial, uint32_t chroma_bits) {
    uint8_t pred[256];
    uint32_t best = UINT32_MAX;
    MotusIntraEdge edge;
    trial->mb.type = MOTUS_MB_I_16x16;
    motus_intra_edge(&edge, plane_at(in, 0), in->rec->plane[0].stride, 16, in->has);
    for (int mode = 0; mode < MOTUS_I16_MODES; mode++) {
        if (!motus_intra16x16_allowed(mode, in->has)) continue;
        motus_intra16x16(pred, MOTUS_LUMA_STRIDE, &edge, mode);
        uint32_t satd = in->coding->pixel->satd(in->src->plane[0], in->src->stride[0], pred, MOTUS_LUMA_STRIDE, 16, 16);
        uint32_t cost = mode_cost(in->coding, satd, (uint32_t)motus_ue_bits(1u + (uint32_t)mode));
        if (cost >= best) continue;
        best = cost;
        trial->mb.intra16x16_pred_mode = (uint8_t)mode;
        memcpy(trial->luma, pred, sizeof pred);
    }
    uint32_t bits = chroma_bits + motus_code_intra16x16_luma(in->coding, in->around, in->src, trial);
    trial->bits = bits + motus_mb_mode_bits(&trial->mb, in->around, in->coding->p_slice);
    motus_trial_judge(trial, in->coding, in->src);
}

// Copies what Intra4x4 predicts from: the row above with its corner and four samples of the upper right MB, and the column to the left.
static void canvas_load(const IntraInput *in, uint8_t *canvas) {
    const MotusPlane *plane = &in->rec->plane[0];
    const uint8_t *at = plane_at(in, 0);
    if (in->has & MOTUS_HAS_TOP) memcpy(canvas + CANVAS_ORIGIN - CANVAS_STRIDE, at - plane->stride, 16);
    if (in->has & MOTUS_HAS_TOP_RIGHT) memcpy(canvas + CANVAS_ORIGIN - CANVAS_STRIDE + 16, at - plane->stride + 16, 4);
    if (in->has & MOTUS_HAS_CORNER) canvas[CANVAS_ORIGIN - CANVAS_STRIDE - 1] = at[-plane->stride - 1];
    if (in->has & MOTUS_HAS_LEFT)
        for (int y = 0; y < 16; y++) canvas[CANVAS_ORIGIN + y * CANVAS_STRIDE - 1] = at[y * plane->stride - 1];
}

typedef struct I4Candidate {
    uint32_t cost;
    int mode;
    uint8_t pred[4 * MOTUS_LUMA_STRIDE];
} I4Candidate;

// The I4_TRIALS allowed modes of least SATD + mode bits, best first; returns how many there are.
static int i4_candidates(const IntraInput *in, const uint8_t *src, const uint8_t *at, int blk, int predicted,
                         I4Candidate list[]) {
    MotusIntraEdge edge;
    int n = 0;
    motus_intra_edge(&edge, at, CANVAS_STRIDE, 4, motus_intra4x4_has(blk, in->has));
    for (int mode = 0; mode < MOTUS_I4_MODES; mode++) {
        if (!motus_intra4x4_allowed(mode, edge.has)) continue;
        I4Candidate candidate = {.mode = mode};
        motus_intra4x4(candidate.pred, MOTUS_LUMA_STRIDE, &edge, mode);
        uint32_t satd = in->coding->pixel->satd(src, in->src->stride[0], candidate.pred, MOTUS_LUMA_STRIDE, 4, 4);
        candidate.cost = mode_cost(in->coding, satd, mode == predicted ? 1 : 4);
        int place = n < I4_TRIALS ? n++ : I4_TRIALS;
        while (place > 0 && candidate.cost < list[place - 1].cost) {
            if (place < I4_TRIALS) list[place] = list[place - 1];
            place--;
        }
        if (place < I4_TRIALS) list[place] = candidate;
    }
    return n;
}

// Codes block blk; returns its cost with the mode's bits. Writes mode, levels, count, canvas and trial->luma.
static uint64_t code_i4_block(const IntraInput *in, MotusTrial *trial, uint8_t *canvas, int blk, uint32_t *bits) {
    I4Candidate list[I4_TRIALS + 1];
    int x = blk % 4 * 4, y = blk / 4 * 4, nc = motus_cavlc_nc_at(&trial->mb, in->around, blk);
    const uint8_t *src = in->src->plane[0] + y * in->src->stride[0] + x;
    uint8_t *at = canvas + CANVAS_ORIGIN + y * CANVAS_STRIDE + x, *luma = trial->luma + y * MOTUS_LUMA_STRIDE + x;
    int predicted = motus_intra4x4_predicted_mode(&trial->mb, in->around, blk);
    int n = i4_candidates(in, src, at, blk, predicted, list);
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < n; i++) {
        int16_t level[16];
        int found;
        uint32_t block_bits = motus_code_intra4x4_block(in->coding, src, in->src->stride[0], list[i].pred, level, nc, &found);
        uint32_t ssd = in->coding->pixel->ssd(src, in->src->stride[0], list[i].pred, MOTUS_LUMA_STRIDE, 4, 4);
        uint64_t cost = motus_rd_cost(ssd, block_bits + (list[i].mode == predicted ? 1 : 4), in->coding->lambda_ssd_q8);
        if (cost >= best) continue;
        best = cost;
        *bits = block_bits;
        trial->mb.intra4x4_pred_mode[blk] = (uint8_t)list[i].mode;
        trial->mb.total_coeff[blk] = (uint8_t)found;
        memcpy(trial->coef.luma[blk], level, sizeof level);
        for (int row = 0; row < 4; row++) {
            memcpy(at + row * CANVAS_STRIDE, list[i].pred + row * MOTUS_LUMA_STRIDE, 4);
            memcpy(luma + row * MOTUS_LUMA_STRIDE, list[i].pred + row * MOTUS_LUMA_STRIDE, 4);
        }
    }
    return best;
}

// Luma as Intra4x4 on top of the trial's chroma. Gives up (cost UINT64_MAX) as soon as it is worse than `limit`.
static void code_intra4x4(const IntraInput *in, MotusTrial *trial, uint32_t chroma_bits, uint64_t limit) {
    uint8_t canvas[18 * CANVAS_STRIDE];
    uint32_t bits = chroma_bits;
    uint64_t cost = 0;
    trial->mb.type = MOTUS_MB_I_4x4;
    trial->cost = UINT64_MAX;
    memset(trial->mb.total_coeff, 0, 16);
    canvas_load(in, canvas);
    for (int q = 0; q < 4; q++) {
        uint32_t quarter_bits = 0;
        int found = 0;
        for (int i = 4 * q; i < 4 * q + 4; i++) {
            uint32_t block_bits = 0;
            cost += code_i4_block(in, trial, canvas, motus_blk_order[i], &block_bits);
            quarter_bits += block_bits;
            found |= trial->mb.total_coeff[motus_blk_order[i]];
        }
        if (found) trial->mb.cbp |= (uint8_t)(1 << q), bits += quarter_bits;
        if (cost > limit) return;
    }
    trial->bits = bits + motus_mb_mode_bits(&trial->mb, in->around, in->coding->p_slice);
    motus_trial_judge(trial, in->coding, in->src);
}

void motus_intra_search(const MotusCoding *coding, const MotusMbAround *around, const MotusMbSource *src, const MotusFrame *rec,
                        int mb_x, int mb_y, MotusTrial *best, MotusTrial *other) {
    int has = (around->a ? MOTUS_HAS_LEFT : 0) | (around->b ? MOTUS_HAS_TOP : 0) | (around->d ? MOTUS_HAS_CORNER : 0) |
              (around->c ? MOTUS_HAS_TOP_RIGHT : 0);
    IntraInput in = {coding, around, src, rec, mb_x, mb_y, has};
    uint32_t chroma_bits;
    memset(&best->mb, 0, sizeof best->mb);
    memset(&best->coef, 0, sizeof best->coef);
    best->mb.type = MOTUS_MB_I_16x16;
    best->mb.qp = (uint8_t)coding->qp;
    code_chroma(&in, best, &chroma_bits);
    *other = *best;
    code_intra16x16(&in, best, chroma_bits);
    code_intra4x4(&in, other, chroma_bits, best->cost);
    if (other->cost < best->cost) *best = *other;
    if (best->bits > MOTUS_MB_BITS_LIMIT || best->cost > motus_rd_cost(0, MOTUS_PCM_BITS, coding->lambda_ssd_q8))
        motus_trial_pcm(best, coding, src);
}
