// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"
#include "common/cpu.h"
#include "encoder/decide/decide.h"

MotusStatus motus_picture_state_alloc(MotusPictureState *pic, int mb_width, int mb_height,
                                      int threads) {
    size_t n = (size_t)mb_width * (size_t)mb_height;
    *pic = (MotusPictureState){
        .mbs = {.mb_width = mb_width, .mb_height = mb_height, .n_mb = (int)n, .threads = threads}};
    pic->mbs.mb = motus_alloc(n, sizeof *pic->mbs.mb);
    pic->mb_intra = motus_alloc(n, sizeof *pic->mb_intra);
    pic->mb_inter = motus_alloc(n, sizeof *pic->mb_inter);
    pic->mbs.coef = motus_alloc(n, sizeof *pic->mbs.coef);
    pic->candidates = motus_alloc(n, sizeof *pic->candidates);
    pic->inter_cost = motus_alloc(n, sizeof *pic->inter_cost);
    pic->intra_cost = motus_alloc(n, sizeof *pic->intra_cost);
    pic->satd = motus_alloc(n, sizeof *pic->satd);
    pic->luma_bits = motus_alloc(n, sizeof *pic->luma_bits);
    pic->changed_at = motus_alloc(n, sizeof *pic->changed_at);
    pic->seen_at = motus_alloc(n, sizeof *pic->seen_at);
    pic->chain = motus_alloc(n, sizeof *pic->chain);
    pic->zero_runs = motus_alloc(MOTUS_ZERO_RUNS, sizeof *pic->zero_runs);
    if (!pic->mbs.mb || !pic->mb_intra || !pic->mb_inter || !pic->mbs.coef || !pic->candidates ||
        !pic->inter_cost || !pic->intra_cost || !pic->satd || !pic->luma_bits || !pic->changed_at ||
        !pic->seen_at || !pic->chain || !pic->zero_runs) {
        motus_picture_state_free(pic);
        return MOTUS_ERR_MEMORY;
    }
    motus_cavlc_zero_runs(pic->zero_runs);
    return MOTUS_OK;
}

void motus_picture_state_free(MotusPictureState *pic) {
    motus_free(pic->mbs.mb);
    motus_free(pic->mb_intra);
    motus_free(pic->mb_inter);
    motus_free(pic->mbs.coef);
    motus_free(pic->candidates);
    motus_free(pic->inter_cost);
    motus_free(pic->intra_cost);
    motus_free(pic->satd);
    motus_free(pic->luma_bits);
    motus_free(pic->changed_at);
    motus_free(pic->seen_at);
    motus_free(pic->chain);
    motus_free(pic->zero_runs);
    *pic = (MotusPictureState){0};
}

const MotusDecideOps *motus_decide_ops(void) {
#if defined(__x86_64__)
    if (motus_cpu_flags() & MOTUS_CPU_AVX2) return &motus_decide_ops_avx2;
#endif
    return &motus_decide_ops_c;
}
