// Intra MBs of a picture on the CPU: an MB's type, coding and estimate, which passes visit.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_INTRA_PASS_CPU_H
#define ENCODER_DECIDE_INTRA_PASS_CPU_H

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

static inline const MotusQp *qp_of(const MotusPictureState *pic, const MotusPictureJob *job,
                                   int i) {
    return &job->qp_table[motus_mb_qp(job->qp, pic->qp_offset, i)];
}

// True if MB i is intra because of intra refresh.
static inline int is_refreshed(const MotusPictureState *pic, int i) {
    return motus_is_refreshed(&pic->refresh, i / pic->mbs.mb_width);
}

typedef struct IntraPass {
    MotusPictureState *pic;
    const MotusPictureJob *job;
    MotusLevelChoice levels;
    int typed;     // 1: MBs are coded as types that were chosen before
    int wants_pcm; // 1: one of those would rather be I_PCM
} IntraPass;

static inline IntraPass intra_pass(MotusPictureState *pic, const MotusPictureJob *job) {
    const int method = motus_intra_levels(job->effort.intra_levels, job->costs);
    return (IntraPass){.pic = pic,
                       .job = job,
                       .levels = {pic->zero_runs, method, job->costs},
                       .typed = job->effort.types_first};
}

// Returns the choice of levels for estimates.
static inline MotusLevelChoice estimated_levels(const MotusPictureState *pic,
                                                const MotusPictureJob *job) {
    const int method = motus_intra_levels(job->effort.estimate_levels, job->costs);
    return (MotusLevelChoice){pic->zero_runs, method, job->costs};
}

static inline MotusIntraMb intra_mb(const IntraPass *pass, int x, int y) {
    const MotusPictureState *pic = pass->pic;
    const int i = y * pic->mbs.mb_width + x;
    MotusNeighbours neighbours = motus_neighbours_at(&pic->mbs, i);
    return (MotusIntraMb){.qp = qp_of(pic, pass->job, i),
                          .levels = &pass->levels,
                          .i4_trials = pass->job->effort.i4_trials,
                          .slice_type = (int)pass->job->type,
                          .src = motus_mb_source(pic->mbs.src, x, y),
                          .rec = mb_recon(pic->rec, x, y),
                          .neighbours = neighbours,
                          .has = motus_intra_has(&neighbours)};
}

// Codes an MB as intra. qp -1: its own.
static inline void code_intra(const IntraPass *pass, int x, int y, int qp) {
    MotusPictureState *pic = pass->pic;
    int i = y * pic->mbs.mb_width + x;
    MotusIntraMb in = intra_mb(pass, x, y);
    if (qp >= 0) in.qp = &pass->job->qp_table[qp];
    const MotusQuant8 *quant8 = pass->job->quant8;
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

// Chooses the type of MB i before any is coded: the one of least cost with the source in place of
// the reconstruction around it, and neighbours without levels. So no MB waits for another, and on a
// device blocks then wait for blocks, not MBs for MBs.
static inline void choose_type(const IntraPass *pass, const MotusLevelChoice *levels, int i) {
    static const MotusMb neighbour = {.type = MOTUS_MB_I_16x16};
    MotusPictureState *pic = pass->pic;
    const MotusQuant8 *quant8 = pass->job->quant8;
    const int x = i % pic->mbs.mb_width, y = i / pic->mbs.mb_width;
    MotusIntraMb in = intra_mb(pass, x, y);
    MotusNeighbours *n = &in.neighbours;
    MotusIntraScratch scratch;
    MotusTrial trial;
    in.levels = levels;
    in.i4_trials = pass->job->effort.estimate_trials;
    in.rec = mb_recon((MotusFrame *)pic->mbs.src, x, y); // only read
    n->a = n->a ? &neighbour : NULL, n->b = n->b ? &neighbour : NULL;
    const MotusIntraType type =
        pass->job->effort.types_by_satd && !quant8
            ? motus_intra_type_by_satd(&in, &scratch)
            : motus_intra_type(&in, quant8 ? &quant8[in.qp->luma.qp] : NULL, &scratch, &trial);
    pic->mbs.mb[i].type = type.type;
    pic->mbs.mb[i].transform_8x8 = type.transform_8x8;
    pic->mbs.mb[i].intra16x16_pred_mode = type.mode;
}

// Codes an MB as its type. True if it would rather be I_PCM.
static inline int code_typed(const IntraPass *pass, int x, int y) {
    MotusPictureState *pic = pass->pic;
    const int i = y * pic->mbs.mb_width + x;
    MotusMb *mb = &pic->mbs.mb[i];
    if (mb->type == MOTUS_MB_I_PCM) return 1;
    const MotusLevelChoice levels = {pic->zero_runs, MOTUS_LEVELS_GUESSED, pass->job->costs};
    MotusIntraMb in = intra_mb(pass, x, y);
    in.levels = &levels;
    const MotusQuant8 *quant8 = pass->job->quant8;
    in.keeps_left = pass->job->effort.keeps_left && !quant8;
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

// Returns the length of the longest chain of intra MBs that MB i would end.
static inline int chain_length(const IntraPass *pass, int i) {
    const MotusPictureState *pic = pass->pic;
    const int typed = pass->job->effort.types_first; // also where all are searched again
    MotusNeighbours n = motus_neighbours_at(&pic->mbs, i);
    const MotusMb *around[4] = {n.a, n.b, n.c, n.d};
    int longest = 1;
    for (int k = 0; k < 4; k++) {
        const int before = around[k] ? pic->chain[around[k] - pic->mbs.mb] : 0;
        longest = motus_max(longest, motus_chain_up_to(before, k, typed));
    }
    return longest;
}

// Returns a cost from which on intra coding of MB i cannot be chosen: that of inter, unless it may
// rise in another round or I_PCM is cheaper.
static inline uint32_t intra_bound(const IntraPass *pass, const MotusIntraMb *in, int i) {
    const uint32_t inter = pass->pic->inter_cost[i],
                   pcm = motus_rd_cost(0, MOTUS_PCM_BITS, in->qp->lambda_ssd_q8);
    return pass->job->effort.rounds == 1 && inter <= pcm ? inter : UINT32_MAX;
}

#endif
