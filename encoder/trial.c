// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/trial.h"

#include <string.h>

#include "encoder/rd_core.h"

MotusCoding motus_coding(int qp, int p_slice, int plain_c) {
    return (MotusCoding){.dct = motus_dct_ops(plain_c),
                         .pixel = motus_pixel_ops(plain_c),
                         .qp = qp,
                         .chroma_qp = motus_chroma_qp(qp, 0),
                         .lambda_q8 = motus_lambda_q8(qp),
                         .lambda_ssd_q8 = motus_lambda_ssd_q8(qp),
                         .p_slice = p_slice};
}

MotusMbSource motus_mb_source(const MotusFrame *frame, int mb_x, int mb_y) {
    MotusMbSource src;
    for (int p = 0; p < 3; p++) {
        int size = p ? 8 : 16;
        src.stride[p] = frame->plane[p].stride;
        src.plane[p] = frame->plane[p].data + mb_y * size * src.stride[p] + mb_x * size;
    }
    return src;
}

MotusMbAround motus_mb_around(const MotusMb *mb, int mb_width, int x, int y) {
    const MotusMb *here = mb + (ptrdiff_t)y * mb_width + x;
    return (MotusMbAround){.a = x ? here - 1 : NULL,
                           .b = y ? here - mb_width : NULL,
                           .c = y && x + 1 < mb_width ? here - mb_width + 1 : NULL,
                           .d = x && y ? here - mb_width - 1 : NULL};
}

void motus_trial_store(const MotusTrial *trial, MotusFrame *frame, int mb_x, int mb_y) {
    MotusPlane *plane = frame->plane;
    for (int y = 0; y < 16; y++)
        memcpy(plane[0].data + (mb_y * 16 + y) * plane[0].stride + mb_x * 16, trial->luma + y * MOTUS_LUMA_STRIDE, 16);
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < 8; y++)
            memcpy(plane[c + 1].data + (mb_y * 8 + y) * plane[c + 1].stride + mb_x * 8,
                   trial->chroma[c] + y * MOTUS_CHROMA_STRIDE, 8);
}

void motus_trial_judge(MotusTrial *trial, const MotusCoding *coding, const MotusMbSource *src) {
    MotusPixelCompare ssd = coding->pixel->ssd;
    trial->ssd = ssd(src->plane[0], src->stride[0], trial->luma, MOTUS_LUMA_STRIDE, 16, 16);
    for (int c = 0; c < 2; c++)
        trial->ssd += ssd(src->plane[c + 1], src->stride[c + 1], trial->chroma[c], MOTUS_CHROMA_STRIDE, 8, 8);
    trial->cost = motus_rd_cost(trial->ssd, trial->bits, coding->lambda_ssd_q8);
}

void motus_trial_pcm(MotusTrial *trial, const MotusCoding *coding, const MotusMbSource *src) {
    memset(&trial->mb, 0, sizeof trial->mb);
    memset(&trial->coef, 0, sizeof trial->coef);
    trial->mb.type = MOTUS_MB_I_PCM;
    memset(trial->mb.total_coeff, 16, sizeof trial->mb.total_coeff);
    for (int y = 0; y < 16; y++) memcpy(trial->luma + y * MOTUS_LUMA_STRIDE, src->plane[0] + y * src->stride[0], 16);
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < 8; y++)
            memcpy(trial->chroma[c] + y * MOTUS_CHROMA_STRIDE, src->plane[c + 1] + y * src->stride[c + 1], 8);
    trial->bits = MOTUS_PCM_BITS;
    trial->ssd = 0;
    trial->cost = motus_rd_cost(0, trial->bits, coding->lambda_ssd_q8);
}
