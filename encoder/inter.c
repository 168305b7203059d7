// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/inter.h"

#include <string.h>

#include "encoder/chroma_mc.h"
#include "encoder/residual.h"

void motus_inter_predict(const MotusInterMb *in, MotusTrial *trial) {
    MotusPart parts[16];
    int n = motus_mb_parts(&trial->mb, parts);
    for (int i = 0; i < n; i++) {
        const MotusPart *p = &parts[i];
        MotusMv mv = trial->mb.mv[4 * p->y + p->x];
        int x = 4 * p->x, y = 4 * p->y, width = 4 * p->width, height = 4 * p->height;
        uint8_t *dst = trial->luma + y * MOTUS_LUMA_STRIDE + x;
        ptrdiff_t stride = MOTUS_LUMA_STRIDE;
        const uint8_t *at =
            motus_ref_luma_block(in->inter->ref_luma, 16 * in->mb_x + x, 16 * in->mb_y + y, mv, width, height, dst, &stride);
        if (at != dst)
            for (int row = 0; row < height; row++) memcpy(dst + row * MOTUS_LUMA_STRIDE, at + row * stride, (size_t)width);
        for (int c = 0; c < 2; c++)
            motus_chroma_mc(trial->chroma[c] + y / 2 * MOTUS_CHROMA_STRIDE + x / 2, MOTUS_CHROMA_STRIDE,
                            &in->inter->ref->plane[c + 1], 8 * in->mb_x + x / 2, 8 * in->mb_y + y / 2, mv, width / 2, height / 2);
    }
}

void motus_inter_trial(const MotusInterMb *in, MotusTrial *trial) {
    const MotusCoding *coding = in->inter->coding;
    memset(&trial->coef, 0, sizeof trial->coef);
    trial->mb.cbp = 0;
    trial->mb.qp = (uint8_t)coding->qp;
    motus_inter_predict(in, trial);
    trial->bits = motus_code_inter_luma(coding, &in->around, &in->src, trial);
    trial->bits += motus_code_chroma(coding, &in->around, &in->src, trial);
    if (trial->mb.type == MOTUS_MB_P_16x16 && !trial->mb.cbp && motus_mv_equal(trial->mb.mv[0], motus_mb_skip_mv(&in->around)))
        trial->mb.type = MOTUS_MB_P_SKIP;
    trial->bits += motus_mb_mode_bits(&trial->mb, &in->around, 1);
    motus_trial_judge(trial, coding, &in->src);
}

void motus_skip_trial(const MotusInterMb *in, MotusTrial *trial) {
    MotusMv mv = motus_mb_skip_mv(&in->around);
    memset(&trial->coef, 0, sizeof trial->coef);
    memset(&trial->mb, 0, sizeof trial->mb);
    trial->mb.type = MOTUS_MB_P_SKIP;
    trial->mb.qp = (uint8_t)in->inter->coding->qp;
    for (int i = 0; i < 16; i++) trial->mb.mv[i] = mv;
    motus_inter_predict(in, trial);
    trial->bits = motus_mb_mode_bits(&trial->mb, &in->around, 1);
    motus_trial_judge(trial, in->inter->coding, &in->src);
}
