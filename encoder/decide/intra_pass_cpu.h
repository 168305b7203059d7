// Parameters of the passes on the CPU, and intra MBs: type and coding of one, which passes visit.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_INTRA_PASS_CPU_H
#define ENCODER_DECIDE_INTRA_PASS_CPU_H

#include "encoder/decide/decide.h"
#include "encoder/decide/decide_core.h"
#include "encoder/intra/intra.h"
#include "me/search/refine.h"

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

// Parameters of a picture's passes.
typedef struct Pass {
    MotusPictureState *pic;
    const MotusPictureJob *job;
    MotusLevelChoice levels, intra_levels; // of inter MBs; of intra MBs as they are coded
    const MotusRefineOps *refine;
    uint32_t lambda_q8; // of search and refinement
    int typed;          // 1: intra MBs are coded as types that were chosen before
    int wants_pcm;      // 1: one of those would rather be I_PCM
} Pass;

static inline Pass begin_pass(MotusPictureState *pic, const MotusPictureJob *job) {
    const MotusEffort *effort = &job->effort;
    const int intra_method = motus_intra_levels(effort->intra_levels, job->costs);
    return (Pass){.pic = pic,
                  .job = job,
                  .levels = {pic->zero_runs, effort->levels, job->costs},
                  .intra_levels = {pic->zero_runs, intra_method, job->costs},
                  .refine = motus_refine_ops(),
                  .lambda_q8 = job->qp_table[job->qp].lambda_q8,
                  .typed = effort->types_first};
}

// Returns MB (x, y) to be coded as intra, at its own QP with qp -1.
static inline MotusIntraMb intra_mb(const Pass *pass, int x, int y, int qp) {
    const MotusPictureState *pic = pass->pic;
    const MotusPictureJob *job = pass->job;
    const int i = y * pic->mbs.mb_width + x;
    const MotusNeighbours neighbours = motus_neighbours_at(&pic->mbs, i);
    MotusIntraMb in = {.qp = qp >= 0 ? &job->qp_table[qp] : qp_of(pic, job, i),
                       .levels = &pass->intra_levels,
                       .i4_trials = job->effort.i4_trials,
                       .slice_type = (int)pass->job->type,
                       .src = motus_mb_source(pic->mbs.src, x, y),
                       .rec = mb_recon(pic->rec, x, y),
                       .neighbours = neighbours,
                       .has = motus_intra_has(&neighbours)};
    in.quant8 = job->quant8 ? &job->quant8[in.qp->luma.qp] : NULL;
    return in;
}

// Codes an MB as intra. qp -1: its own.
static inline void code_intra(const Pass *pass, int x, int y, int qp) {
    MotusPictureState *pic = pass->pic;
    const int i = y * pic->mbs.mb_width + x;
    const MotusIntraMb in = intra_mb(pass, x, y, qp);
    MotusTrial trials[3];
    MotusIntraScratch scratch;
    const MotusTrial *best = MOTUS_ISA(motus_intra).search(&in, &scratch, trials);
    pic->mbs.mb[i] = best->mb;
    pic->mbs.coef[i] = best->coef;
    store_samples(best, pic->rec, x, y);
}

// True if the slice has an MB of the row above that is a neighbour.
static inline int row_above_is_of_slice(void *context, int x, int y) {
    const MotusPictureState *pic = ((const Pass *)context)->pic;
    const int i = y * pic->mbs.mb_width + x, above = i - pic->mbs.mb_width,
              first = motus_slice_first(pic->mbs.slice_first, i);
    return above >= first || (x + 1 < pic->mbs.mb_width && above + 1 >= first);
}

// Chooses the type of MB i before any is coded: the one of least cost with the source in place of
// the reconstruction around it, and neighbours without levels. So no MB waits for another, and on a
// device blocks then wait for blocks, not MBs for MBs.
static inline void choose_type(const Pass *pass, const MotusLevelChoice *levels, int i) {
    static const MotusMb neighbour = {.type = MOTUS_MB_I_16x16};
    MotusPictureState *pic = pass->pic;
    const int x = i % pic->mbs.mb_width, y = i / pic->mbs.mb_width;
    MotusIntraMb in = intra_mb(pass, x, y, -1);
    MotusNeighbours *n = &in.neighbours;
    MotusIntraScratch scratch;
    MotusTrial trial;
    in.levels = levels;
    in.i4_trials = pass->job->effort.estimate_trials;
    in.rec = mb_recon((MotusFrame *)pic->mbs.src, x, y); // only read
    n->a = n->a ? &neighbour : NULL, n->b = n->b ? &neighbour : NULL;
    const MotusIntraType type = pass->job->effort.types_by_satd && !in.quant8
                                    ? MOTUS_ISA(motus_intra).type_by_satd(&in, &scratch)
                                    : MOTUS_ISA(motus_intra).type(&in, &scratch, &trial);
    pic->mbs.mb[i].type = type.type;
    pic->mbs.mb[i].transform_8x8 = type.transform_8x8;
    pic->mbs.mb[i].intra16x16_pred_mode = type.mode;
}

// Codes an MB as its type. True if it would rather be I_PCM.
static inline int code_typed(const Pass *pass, int x, int y) {
    MotusPictureState *pic = pass->pic;
    const int i = y * pic->mbs.mb_width + x;
    MotusMb *mb = &pic->mbs.mb[i];
    if (mb->type == MOTUS_MB_I_PCM) return 1;
    const MotusLevelChoice levels = {pic->zero_runs, MOTUS_LEVELS_GUESSED, pass->job->costs};
    MotusIntraMb in = intra_mb(pass, x, y, -1);
    in.levels = &levels;
    in.keeps_left = pass->job->effort.keeps_left && !in.quant8;
    const MotusIntraType type = {mb->type, mb->transform_8x8, mb->intra16x16_pred_mode};
    MotusTrial trial;
    MotusIntraScratch scratch;
    const int wants_pcm = MOTUS_ISA(motus_intra).code_as(&in, type, &scratch, &trial);
    *mb = trial.mb;
    pic->mbs.coef[i] = trial.coef;
    store_samples(&trial, pic->rec, x, y);
    return wants_pcm;
}

#endif
