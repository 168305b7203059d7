// Memory of a picture's passes, and which version of them runs.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"
#include "common/cpu.h"
#include "encoder/mb/deblock.h"
#include "encoder/analyse/decide.h"

MotusStatus motus_work_alloc(MotusWork *work, int mb_width, int mb_height, int threads) {
    size_t n = (size_t)mb_width * (size_t)mb_height;
    *work = (MotusWork){.mb_width = mb_width, .mb_height = mb_height, .n_mb = (int)n, .threads = threads};
    work->mb = motus_alloc(n, sizeof *work->mb);
    work->mb_intra = motus_alloc(n, sizeof *work->mb_intra);
    work->mb_inter = motus_alloc(n, sizeof *work->mb_inter);
    work->coef = motus_alloc(n, sizeof *work->coef);
    work->candidates = motus_alloc(n, sizeof *work->candidates);
    work->inter_cost = motus_alloc(n, sizeof *work->inter_cost);
    work->intra_cost = motus_alloc(n, sizeof *work->intra_cost);
    work->satd = motus_alloc(n, sizeof *work->satd);
    work->changed_at = motus_alloc(n, sizeof *work->changed_at);
    work->seen_at = motus_alloc(n, sizeof *work->seen_at);
    work->chain = motus_alloc(n, sizeof *work->chain);
    work->zero_runs = motus_alloc(MOTUS_ZERO_RUNS, sizeof *work->zero_runs);
    if (!work->mb || !work->mb_intra || !work->mb_inter || !work->coef || !work->candidates || !work->inter_cost ||
        !work->intra_cost || !work->satd || !work->changed_at || !work->seen_at || !work->chain || !work->zero_runs) {
        motus_work_free(work);
        return MOTUS_ERR_MEMORY;
    }
    for (uint32_t mask = 1; mask < MOTUS_ZERO_RUNS; mask++) work->zero_runs[mask] = (uint8_t)motus_cavlc_zero_run_bits(mask);
    return MOTUS_OK;
}

void motus_work_free(MotusWork *work) {
    motus_free(work->mb);
    motus_free(work->mb_intra);
    motus_free(work->mb_inter);
    motus_free(work->coef);
    motus_free(work->candidates);
    motus_free(work->inter_cost);
    motus_free(work->intra_cost);
    motus_free(work->satd);
    motus_free(work->changed_at);
    motus_free(work->seen_at);
    motus_free(work->chain);
    motus_free(work->zero_runs);
    *work = (MotusWork){0};
}

const MotusPasses *motus_passes(void) {
#if defined(__x86_64__)
    if (motus_cpu_flags() & MOTUS_CPU_AVX2) return &motus_passes_avx2;
#endif
    return &motus_passes_c;
}

void motus_deblock_picture(MotusFrame *rec, const MotusMb *mb, int mb_width, int mb_height, int threads) {
#if defined(__x86_64__)
    if (motus_cpu_flags() & MOTUS_CPU_AVX2) {
        motus_deblock_picture_avx2(rec, mb, mb_width, mb_height, threads);
        return;
    }
#endif
    motus_deblock_picture_c(rec, mb, mb_width, mb_height, threads);
}
