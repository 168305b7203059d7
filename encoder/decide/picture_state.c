// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "common/alloc.h"
#include "common/cpu.h"
#include "encoder/decide/decide.h"

enum { ARRAYS = 13 };

static void list_arrays(const MotusPictureState *pic, void *arrays[ARRAYS]) {
    void *const all[ARRAYS] = {pic->mbs.mb,     pic->mb_intra,   pic->mb_inter,   pic->mbs.coef,
                               pic->candidates, pic->inter_cost, pic->intra_cost, pic->satd,
                               pic->luma_bits,  pic->changed_at, pic->seen_at,    pic->chain,
                               pic->zero_runs};
    memcpy(arrays, all, sizeof all);
}

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
    void *arrays[ARRAYS];
    list_arrays(pic, arrays);
    for (int i = 0; i < ARRAYS; i++) {
        if (arrays[i]) continue;
        motus_picture_state_free(pic);
        return MOTUS_ERR_MEMORY;
    }
    motus_cavlc_zero_runs(pic->zero_runs);
    return MOTUS_OK;
}

void motus_picture_state_free(MotusPictureState *pic) {
    void *arrays[ARRAYS];
    list_arrays(pic, arrays);
    for (int i = 0; i < ARRAYS; i++) motus_free(arrays[i]);
    *pic = (MotusPictureState){0};
}

const MotusDecideOps *motus_decide_ops(void) {
#if defined(__x86_64__)
    if (motus_cpu_flags() & MOTUS_CPU_AVX2) return &motus_decide_ops_avx2;
#endif
    return &motus_decide_ops_c;
}
