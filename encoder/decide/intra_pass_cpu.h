// Intra MBs of a picture on the CPU: types beforehand, estimates, chains, visits of the wavefront.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_INTRA_PASS_CPU_H
#define ENCODER_DECIDE_INTRA_PASS_CPU_H

#include "common/wavefront.h"
#include "encoder/decide/decide.h"
#include "encoder/decide/decide_core.h"
#include "encoder/intra/intra_search_cpu.h"

static inline MotusMbRecon mb_recon(MotusFrame *frame, int x, int y) {
    MotusMbRecon rec;
    for (int p = 0; p < 3; p++) {
        int size = p ? 8 : 16;
        rec.stride[p] = frame->plane[p].stride;
        rec.plane[p] = frame->plane[p].data + y * size * rec.stride[p] + x * size;
    }
    return rec;
}

// Copies the trial's samples to the reconstruction.
static inline void store_samples(const MotusTrial *trial, MotusFrame *frame, int x, int y) {
    MotusMbRecon rec = mb_recon(frame, x, y);
    for (int row = 0; row < 16; row++)
        memcpy(rec.plane[0] + row * rec.stride[0], trial->luma + row * MOTUS_LUMA_STRIDE, 16);
    for (int c = 0; c < 2; c++)
        for (int row = 0; row < 8; row++)
            memcpy(rec.plane[c + 1] + row * rec.stride[c + 1],
                   trial->chroma[c] + row * MOTUS_CHROMA_STRIDE, 8);
}

static inline const MotusQp *qp_of(const MotusPictureState *pic, const MotusCoding *coding, int i) {
    return &coding->qp_table[motus_mb_qp(coding->qp, pic->qp_offset, i)];
}

// True if MB i is intra because of intra refresh.
static inline int is_refreshed(const MotusPictureState *pic, int i) {
    return motus_is_refreshed(&pic->refresh, i % pic->mbs.mb_width);
}

typedef struct IntraPass {
    MotusPictureState *pic;
    const MotusCoding *coding;
    MotusLevelChoice levels;
    int slice_type;
    int typed;     // 1: MBs are coded as types that were chosen before
    int wants_pcm; // 1: one of those would rather be I_PCM
} IntraPass;

static inline IntraPass intra_pass(MotusPictureState *pic, const MotusCoding *coding,
                                   int slice_type) {
    const int method = motus_intra_levels(coding->effort.intra_levels, coding->costs);
    return (IntraPass){.pic = pic,
                       .coding = coding,
                       .levels = {pic->zero_runs, method, coding->costs},
                       .slice_type = slice_type,
                       .typed = coding->effort.types_first};
}

// Returns the choice of levels for estimates.
static inline MotusLevelChoice estimated_levels(const MotusPictureState *pic,
                                                const MotusCoding *coding) {
    const int method = motus_intra_levels(coding->effort.estimate_levels, coding->costs);
    return (MotusLevelChoice){pic->zero_runs, method, coding->costs};
}

static inline MotusIntraMb intra_mb(const IntraPass *pass, int x, int y) {
    const MotusPictureState *pic = pass->pic;
    const int i = y * pic->mbs.mb_width + x;
    MotusNeighbours neighbours = motus_neighbours_at(&pic->mbs, i);
    return (MotusIntraMb){.qp = qp_of(pic, pass->coding, i),
                          .levels = &pass->levels,
                          .i4_trials = pass->coding->effort.i4_trials,
                          .slice_type = pass->slice_type,
                          .src = motus_mb_source(pic->mbs.src, x, y),
                          .rec = mb_recon(pic->rec, x, y),
                          .neighbours = neighbours,
                          .has = motus_intra_has(&neighbours) |
                                 motus_refresh_spoils(&pic->refresh, x)};
}

// Codes an MB as intra. qp -1: its own.
static inline void code_intra(const IntraPass *pass, int x, int y, int qp) {
    MotusPictureState *pic = pass->pic;
    int i = y * pic->mbs.mb_width + x;
    MotusIntraMb in = intra_mb(pass, x, y);
    if (qp >= 0) in.qp = &pass->coding->qp_table[qp];
    const MotusQuant8 *quant8 = pass->coding->quant8;
    MotusTrial trials[3];
    MotusIntraScratch scratch;
    const MotusTrial *best =
        motus_intra_search(&in, quant8 ? &quant8[in.qp->luma.qp] : NULL, &scratch, trials);
    pic->mbs.mb[i] = best->mb;
    pic->mbs.coef[i] = best->coef;
    store_samples(best, pic->rec, x, y);
}

// True if the slice has an MB of the row above that is a neighbour.
static inline int row_above_is_of_slice(const MotusPictureState *pic, int x, int y) {
    const int i = y * pic->mbs.mb_width + x, above = i - pic->mbs.mb_width,
              first = motus_slice_first(pic->mbs.slice_first, i);
    return above >= first || (x + 1 < pic->mbs.mb_width && above + 1 >= first);
}

static inline void visit_i(void *context, int x, int y) { code_intra(context, x, y, -1); }

static inline int waits_in_i(void *context, int x, int y) {
    return row_above_is_of_slice(((const IntraPass *)context)->pic, x, y);
}

// Chooses the type of MB i before any is coded: the one of least cost with the source in place of
// the reconstruction around it, and neighbours without levels. So no MB waits for another, and on a
// device blocks then wait for blocks, not MBs for MBs.
static inline void choose_type(const IntraPass *pass, const MotusLevelChoice *levels, int i) {
    static const MotusMb neighbour = {.type = MOTUS_MB_I_16x16};
    MotusPictureState *pic = pass->pic;
    const MotusQuant8 *quant8 = pass->coding->quant8;
    const int x = i % pic->mbs.mb_width, y = i / pic->mbs.mb_width;
    MotusIntraMb in = intra_mb(pass, x, y);
    MotusNeighbours *n = &in.neighbours;
    MotusIntraScratch scratch;
    MotusTrial trial;
    in.levels = levels;
    in.i4_trials = pass->coding->effort.estimate_trials;
    in.rec = mb_recon((MotusFrame *)pic->mbs.src, x, y); // only read
    n->a = n->a ? &neighbour : NULL, n->b = n->b ? &neighbour : NULL;
    const MotusIntraType type =
        motus_intra_type(&in, quant8 ? &quant8[in.qp->luma.qp] : NULL, &scratch, &trial);
    pic->mbs.mb[i].type = type.type;
    pic->mbs.mb[i].transform_8x8 = type.transform_8x8;
    pic->mbs.mb[i].intra16x16_pred_mode = type.mode;
}

// Chooses the types of all MBs, or of those that intra refresh wants.
static inline void choose_types_of(const IntraPass *pass) {
    const MotusPictureState *pic = pass->pic;
    const MotusCoding *coding = pass->coding;
    const int method =
        motus_type_levels(coding->effort.estimate_levels, coding->costs, coding->quant8 != NULL);
    const MotusLevelChoice levels = {pic->zero_runs, method, coding->costs};
#pragma omp parallel for num_threads(pic->mbs.threads) schedule(dynamic, 16)
    for (int i = 0; i < pic->mbs.n_mb; i++)
        if (!pass->slice_type || is_refreshed(pic, i)) choose_type(pass, &levels, i);
}

// Codes an MB as its type. True if it would rather be I_PCM.
static inline int code_typed(const IntraPass *pass, int x, int y) {
    MotusPictureState *pic = pass->pic;
    const int i = y * pic->mbs.mb_width + x;
    MotusMb *mb = &pic->mbs.mb[i];
    if (mb->type == MOTUS_MB_I_PCM) return 1;
    const MotusLevelChoice levels = {pic->zero_runs, MOTUS_LEVELS_GUESSED, pass->coding->costs};
    MotusIntraMb in = intra_mb(pass, x, y);
    in.levels = &levels;
    const MotusQuant8 *quant8 = pass->coding->quant8;
    const MotusIntraType type = {mb->type, mb->transform_8x8, mb->intra16x16_pred_mode};
    MotusTrial trial;
    MotusIntraScratch scratch;
    const int wants_pcm =
        motus_intra_code_as(&in, quant8 ? &quant8[in.qp->luma.qp] : NULL, type, &scratch, &trial);
    *mb = trial.mb;
    pic->mbs.coef[i] = trial.coef;
    store_samples(&trial, pic->rec, x, y);
    return wants_pcm;
}

static inline void visit_typed(void *context, int x, int y) {
    IntraPass *pass = context;
    if (!code_typed(pass, x, y)) return;
#pragma omp atomic write
    pass->wants_pcm = 1;
}

// Codes an I picture, each MB as a type chosen before. Returns 0 if an MB would rather be I_PCM.
static inline int code_as_types(MotusPictureState *pic, const MotusCoding *coding) {
    IntraPass pass = intra_pass(pic, coding, 0);
    const MotusWave wave = {visit_typed, waits_in_i, &pass, pic->row_order};
    choose_types_of(&pass);
    motus_wavefront(pic->mbs.mb_width, pic->mbs.mb_height, pic->mbs.threads, &wave);
    return !pass.wants_pcm;
}

static inline void code_i_picture(MotusPictureState *pic, const MotusCoding *coding) {
    IntraPass pass = intra_pass(pic, coding, 0);
    const MotusWave wave = {visit_i, waits_in_i, &pass, pic->row_order};
    if (coding->effort.types_first && code_as_types(pic, coding)) return;
    motus_wavefront(pic->mbs.mb_width, pic->mbs.mb_height, pic->mbs.threads, &wave);
}

// Leaves the MBs' types for code_mb; I_PCM: to be searched.
static inline void choose_types(MotusPictureState *pic, const MotusCoding *coding) {
    if (coding->effort.types_first && code_as_types(pic, coding)) return;
    for (int i = 0; i < pic->mbs.n_mb; i++) pic->mbs.mb[i].type = MOTUS_MB_I_PCM;
}

// Returns the length of the longest chain of intra MBs that MB i would end.
static inline int chain_length(const IntraPass *pass, int i) {
    const MotusPictureState *pic = pass->pic;
    const int typed = pass->coding->effort.types_first; // also where all are searched again
    MotusNeighbours n = motus_neighbours_at(&pic->mbs, i);
    const MotusMb *around[4] = {n.a, n.b, n.c, n.d};
    int longest = 1;
    for (int k = 0; k < 4; k++) {
        const int before = around[k] ? pic->chain[around[k] - pic->mbs.mb] : 0;
        longest = motus_max(longest, motus_chain_up_to(before, k, typed));
    }
    return longest;
}

static inline int waits_for_intra(void *context, int x, int y) {
    const MotusPictureState *pic = ((const IntraPass *)context)->pic;
    return motus_mb_is_intra(&pic->mbs.mb[y * pic->mbs.mb_width + x]) &&
           row_above_is_of_slice(pic, x, y);
}

// Codes an MB of a P picture that was decided to be intra. It becomes inter if its chain is too
// long: waiting for other MBs is what intra coding costs where MBs are coded in parallel.
static inline void visit_decided_intra(void *context, int x, int y) {
    IntraPass *pass = context;
    MotusPictureState *pic = pass->pic;
    int i = y * pic->mbs.mb_width + x, length = 0;
    pic->chain[i] = 0;
    if (!motus_mb_is_intra(&pic->mbs.mb[i])) return;
    if (!is_refreshed(pic, i) && (length = chain_length(pass, i)) > pic->longest_chain) {
        pic->mbs.mb[i] = pic->mb_inter[i];
        return;
    }
    pic->chain[i] = (uint8_t)motus_min(length, UINT8_MAX);
    if (pass->typed)
        visit_typed(pass, x, y);
    else
        code_intra(pass, x, y, -1);
}

// Returns a cost from which on intra coding of MB i cannot be chosen: that of inter, unless it may
// rise in another round or I_PCM is cheaper.
static inline uint32_t intra_bound(const IntraPass *pass, const MotusIntraMb *in, int i) {
    const uint32_t inter = pass->pic->inter_cost[i],
                   pcm = motus_rd_cost(0, MOTUS_PCM_BITS, in->qp->lambda_ssd_q8);
    return pass->coding->effort.rounds == 1 && inter <= pcm ? inter : UINT32_MAX;
}

// Evaluates intra coding where it comes close, from the reconstruction of the last round. Without
// types beforehand Intra8x8 is left for the MBs that are coded as intra.
static inline void estimate_intra(const IntraPass *pass) {
    MotusPictureState *pic = pass->pic;
    const MotusEffort *effort = &pass->coding->effort;
    const MotusLevelChoice levels = estimated_levels(pic, pass->coding);
#pragma omp parallel for num_threads(pic->mbs.threads) schedule(dynamic, 16)
    for (int i = 0; i < pic->mbs.n_mb; i++) {
        pic->intra_cost[i] = UINT32_MAX;
        if (pic->mbs.mb[i].type == MOTUS_MB_P_SKIP || is_refreshed(pic, i)) continue;
        MotusIntraMb in = intra_mb(pass, i % pic->mbs.mb_width, i / pic->mbs.mb_width);
        in.levels = &levels;
        in.i4_trials = effort->estimate_trials;
        in.has &= ~motus_refresh_uncoded(&pic->refresh, i % pic->mbs.mb_width);
        MotusIntraScratch scratch;
        int mode;
        uint32_t satd = motus_intra16x16_estimate(&in, &scratch, &mode);
        if (!motus_intra_is_close(satd, pic->satd[i], pic->inter_cost[i], in.qp, effort)) continue;
        const MotusQuant8 *quant8 = pass->typed ? pass->coding->quant8 : NULL;
        MotusTrial trials[3];
        const MotusTrial *best =
            motus_intra_estimate(&in, quant8 ? &quant8[in.qp->luma.qp] : NULL, &scratch, mode,
                                 intra_bound(pass, &in, i), pic->inter_cost[i], trials);
        if (!best) continue;
        pic->intra_cost[i] = best->cost;
        pic->mb_intra[i] = best->mb;
    }
}

#endif
