// Decisions of pictures on the CPU. decide_avx2.c compiles this file a second time.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/decide/decide.h"

#include "common/threads.h"
#include "encoder/analyse/b.h"
#include "encoder/analyse/inter.h"
#include "encoder/analyse/trial_cpu.h"
#include "encoder/decide/candidates_cpu.h"

// ---- Intra --------------------------------------------------------------------------------------

static void visit_intra(void *context, int x, int y) {
    Pass *pass = context;
    if (!pass->typed) {
        code_intra(pass, x, y, -1);
    } else if (code_typed(pass, x, y)) {
#pragma omp atomic write
        pass->wants_pcm = 1;
    }
}

// Chooses the types of all MBs, or of those that intra refresh wants.
static void choose_types_of(const Pass *pass) {
    const MotusPictureState *pic = pass->pic;
    const MotusPictureJob *job = pass->job;
    const int method =
        motus_type_levels(job->effort.estimate_levels, job->costs, job->quant8 != NULL);
    const MotusLevelChoice levels = {pic->zero_runs, method, job->costs};
#pragma omp parallel for num_threads(pic->mbs.threads) schedule(dynamic, 16)
    for (int i = 0; i < pic->mbs.n_mb; i++)
        if (pass->job->type == MOTUS_SLICE_I || is_refreshed(pic, i)) choose_type(pass, &levels, i);
}

// Codes an I picture's MBs in a wavefront. Returns 0 if one of those that have types would rather
// be I_PCM.
static int run_wave_of_i(Pass *pass) {
    const MotusPictureState *pic = pass->pic;
    const MotusWave wave = {visit_intra, row_above_is_of_slice, pass, pic->row_order};
    if (pass->typed) choose_types_of(pass);
    motus_wavefront(pic->mbs.mb_width, pic->mbs.mb_height, pic->mbs.threads, &wave);
    return !pass->wants_pcm;
}

static int waits_for_intra(void *context, int x, int y) {
    const MotusPictureState *pic = ((const Pass *)context)->pic;
    return motus_mb_is_intra(&pic->mbs.mb[y * pic->mbs.mb_width + x]) &&
           row_above_is_of_slice(context, x, y);
}

// Codes an MB of a P picture that was decided to be intra. It becomes inter if it would end a chain
// of intra MBs that is too long: waiting for other MBs is what intra coding costs where MBs are
// coded in parallel.
static void visit_decided_intra(void *context, int x, int y) {
    const Pass *pass = context;
    MotusPictureState *pic = pass->pic;
    const int i = y * pic->mbs.mb_width + x,
              typed = pass->job->effort.types_first; // also where all are searched again
    int length = 0;
    pic->chain[i] = 0;
    if (!motus_mb_is_intra(&pic->mbs.mb[i])) return;
    if (!is_refreshed(pic, i)) {
        const MotusNeighbours n = motus_neighbours_at(&pic->mbs, i);
        const MotusMb *around[4] = {n.a, n.b, n.c, n.d};
        length = 1;
        for (int k = 0; k < 4; k++) {
            const int before = around[k] ? pic->chain[around[k] - pic->mbs.mb] : 0;
            length = motus_max(length, motus_chain_up_to(before, k, typed));
        }
        if (length > pic->longest_chain) {
            pic->mbs.mb[i] = pic->mb_inter[i];
            return;
        }
    }
    pic->chain[i] = (uint8_t)motus_min(length, UINT8_MAX);
    visit_intra(context, x, y);
}

// Evaluates intra coding where it comes close, from the reconstruction of the last round. Without
// types beforehand Intra8x8 is left for the MBs that are coded as intra.
static void estimate_intra(const Pass *pass) {
    MotusPictureState *pic = pass->pic;
    const MotusPictureJob *job = pass->job;
    const MotusEffort *effort = &job->effort;
    const int method = motus_intra_levels(effort->estimate_levels, job->costs);
    const MotusLevelChoice levels = {pic->zero_runs, method, job->costs};
#pragma omp parallel for num_threads(pic->mbs.threads) schedule(dynamic, 16)
    for (int i = 0; i < pic->mbs.n_mb; i++) {
        pic->intra_cost[i] = UINT32_MAX;
        if (pic->mbs.mb[i].type == MOTUS_MB_P_SKIP || is_refreshed(pic, i)) continue;
        MotusIntraMb in = intra_mb(pass, i % pic->mbs.mb_width, i / pic->mbs.mb_width, -1);
        in.levels = &levels;
        in.i4_trials = effort->estimate_trials;
        if (!pass->typed) in.quant8 = NULL;
        MotusIntraScratch scratch;
        int mode;
        const uint32_t satd = MOTUS_ISA(motus_intra).estimate16x16(&in, &scratch, &mode),
                       inter = pic->inter_cost[i],
                       pcm = motus_rd_cost(0, MOTUS_PCM_BITS, in.qp->lambda_ssd_q8);
        if (!motus_intra_is_close(satd, pic->satd[i], inter, in.qp, effort)) continue;
        // Intra is not chosen from this cost on, unless that of inter may rise in another round or
        // I_PCM is cheaper.
        const uint32_t bound = effort->rounds == 1 && inter <= pcm ? inter : UINT32_MAX;
        MotusTrial trials[3];
        const MotusTrial *best =
            MOTUS_ISA(motus_intra).estimate(&in, &scratch, mode, bound, inter, trials);
        if (!best) continue;
        pic->intra_cost[i] = best->cost;
        pic->mb_intra[i] = best->mb;
    }
}

// ---- Inter --------------------------------------------------------------------------------------

// Takes the cheaper coding of MB i, inter or intra.
static void note_decision(const Pass *pass, int i, int now) {
    MotusPictureState *pic = pass->pic;
    if (is_refreshed(pic, i)) return;
    const MotusMb *mb =
        pic->intra_cost[i] < pic->inter_cost[i] ? &pic->mb_intra[i] : &pic->mb_inter[i];
    motus_note_decision(&pic->mbs.mb[i], mb, &pic->changed_at[i], now,
                        1 + (pass->job->refs > 1 || pass->job->type == MOTUS_SLICE_B));
}

static MotusInterMb inter_mb(const Pass *pass, int i) {
    const MotusPictureState *pic = pass->pic;
    const int x = i % pic->mbs.mb_width, y = i / pic->mbs.mb_width;
    const MotusQp *qp = qp_of(pic, pass->job, i);
    const int has_choice = pass->job->effort.transforms && pass->job->costs;
    return (MotusInterMb){
        .ref = pass->job->ref,
        .limits = &pass->job->limits,
        .qp = qp,
        .src = motus_mb_source(pic->mbs.src, x, y),
        .x = x,
        .y = y,
        .lists = 1 + (pass->job->type == MOTUS_SLICE_B),
        .refs = pass->job->refs,
        .costs = pass->job->costs,
        .max_mv_y = motus_refresh_max_mv_y(&pic->refresh, y),
        .quant8 = has_choice && pass->job->quant8 ? &pass->job->quant8[qp->luma.qp] : NULL};
}

// Takes the best inter coding of MB i.
static void keep_inter(const Pass *pass, const MotusTrial *best, int i) {
    MotusPictureState *pic = pass->pic;
    pic->inter_cost[i] = best->cost;
    pic->luma_bits[i] = best->luma_bits;
    if (best->mb.cbp) pic->mbs.coef[i] = best->coef;
    store_samples(best, pic->rec, i % pic->mbs.mb_width, i / pic->mbs.mb_width);
    pic->mb_inter[i] = best->mb;
}

// Makes neighbours see B MB i as skipped if it certainly will be. Returns 0 otherwise.
static int guess_b_skip(const Pass *pass, int i) {
    const MotusPictureJob *job = pass->job;
    if (!job->skips_first) return 0;
    const MotusInterMb in = inter_mb(pass, i);
    MotusTrial trial;
    if (!MOTUS_ISA(motus_b).skip_is_sure(&in, &job->direct.fixed[i], &job->effort, &pass->levels,
                                         &trial))
        return 0;
    pass->pic->mbs.mb[i] = trial.mb;
    return 1;
}

// Refines the MVs of MB i, which has been decided in pass `now`, by RD cost.
static void refine_mvs(const Pass *pass, const MotusInterMb *in, int i, int now) {
    MotusPictureState *pic = pass->pic;
    const int most = pass->job->effort.rd_mvs;
    MotusResidual residual;
    MotusTrial trial;
    if (!most || !MOTUS_ISA(motus_inter)
                      .refine(in, &pass->levels, most, &pic->mb_inter[i], pic->inter_cost[i],
                              &residual, &trial))
        return;
    keep_inter(pass, &trial, i);
    note_decision(pass, i, now);
}

// Decides MB (x, y) in pass `now`, if its neighbours have changed. Without candidates it is
// searched here, unless P_Skip or B_Skip is taken at once.
static void visit_inter(const Pass *pass, int x, int y, int now) {
    MotusPictureState *pic = pass->pic;
    const MotusPictureJob *job = pass->job;
    const MotusEffort *effort = &job->effort;
    const int i = y * pic->mbs.mb_width + x, first = motus_slice_first(pic->mbs.slice_first, i);
    if (is_refreshed(pic, i)) return;
    if (!motus_neighbours_changed(pic->changed_at, pic->seen_at, i, x, pic->mbs.mb_width, first))
        return;
    MotusInterMb in = inter_mb(pass, i);
    MotusMbCandidates *found = &pic->candidates[i];
    union {
        MotusDecideScratch p;
        MotusBDecideScratch b;
    } scratch;
    const MotusTrial *best;
    const int is_searched = has_first_guess(pass, x, y);
    in.neighbours = motus_neighbours(pic->mbs.mb, pic->mbs.mb_width, x, y, first);
    pic->satd[i] = 0;
    if (in.lists == 2) {
        best = &scratch.b.trial[0];
        if (!MOTUS_ISA(motus_b).skip(&in, &job->direct, i, effort, &pass->levels, pass->refine,
                                     &scratch.b)) {
            if (!is_searched) find_b_candidates(pass, i, found->b);
            best = MOTUS_ISA(motus_b).types(&in, found->b, effort, &pass->levels, pass->refine,
                                            &scratch.b, &pic->satd[i]);
        }
    } else {
        best = &scratch.p.trial[0];
        if (!MOTUS_ISA(motus_inter).skip(&in, effort, &pass->levels, &scratch.p)) {
            if (!is_searched) find_p_candidates(pass, i, &found->p);
            best = MOTUS_ISA(motus_inter)
                       .types(&in, &found->p, effort, &pass->levels, &scratch.p, &pic->satd[i]);
        }
    }
    keep_inter(pass, best, i);
    pic->seen_at[i] = (uint16_t)now;
    note_decision(pass, i, now);
    refine_mvs(pass, &in, i, now);
}

#define PIECES 4 // of a row: the 68 rows of 1080p do not divide evenly among 16 threads

// Runs a round of decisions: `phases` passes, one after another. Phase k has the MBs with
// (x + 2y) % phases == k. MBs with equal x + 2y are one diagonal; the neighbours A, B, C and D lie
// on the three diagonals before it. So no MB reads what another decides in the same pass, and most
// MBs see their neighbours' newest decisions. `now` numbers a picture's passes, from 1.
static void run_round(const Pass *pass, int *now) {
    const MotusPictureState *pic = pass->pic;
    const int phases = pass->job->effort.phases, width = pic->mbs.mb_width,
              height = pic->mbs.mb_height;
    if (pic->mbs.threads == 1) {
        // From the last band of `phases` diagonals to the first. A band reads of the next one only
        // what was there before the round, as it does in phases, but its MBs stay in the cache.
        for (int band = (width - 1 + 2 * (height - 1)) / phases; band >= 0; band--)
            for (int y = 0; y < height; y++) {
                const int first = band * phases - 2 * y, end = motus_min(first + phases, width);
                for (int x = motus_max(first, 0); x < end; x++)
                    visit_inter(pass, x, y, *now + 1 + x - first);
            }
        *now += phases;
        return;
    }
    for (int k = 0; k < phases; k++) {
        ++*now;
#pragma omp parallel for num_threads(pic->mbs.threads) schedule(dynamic, 1)
        for (int i = 0; i < PIECES * height; i++) {
            const int y = i / PIECES, piece = i % PIECES, first = width * piece / PIECES,
                      end = width * (piece + 1) / PIECES,
                      skip = (k - first - 2 * y) % phases; // to the first MB of the phase
            for (int x = first + (skip < 0 ? skip + phases : skip); x < end; x += phases)
                visit_inter(pass, x, y, *now);
        }
    }
}

// Tries the 8x8 transform for the MBs that were decided after pass `since`.
static void choose_transforms(const Pass *pass, int since, int now) {
    MotusPictureState *pic = pass->pic;
#pragma omp parallel for num_threads(pic->mbs.threads) schedule(dynamic, 16)
    for (int i = 0; i < pic->mbs.n_mb; i++) {
        const int x = i % pic->mbs.mb_width, y = i / pic->mbs.mb_width;
        const MotusInterMb in = inter_mb(pass, i);
        const MotusMbRecon rec = mb_recon(pic->rec, x, y);
        if (pic->seen_at[i] > since &&
            !motus_was_skipped_at_once(&pic->mb_inter[i], pic->inter_cost[i], in.qp,
                                       &pass->job->effort) &&
            motus_choose_transform(&in, &pass->levels, &pass->job->quant8[in.qp->luma.qp],
                                   &pic->mb_inter[i], &pic->mbs.coef[i], rec.plane[0],
                                   rec.stride[0], pic->luma_bits[i], &pic->inter_cost[i]))
            note_decision(pass, i, now);
    }
}

// Decides an inter picture's MBs, all but the wavefront of intra MBs.
static void decide_mbs(const Pass *pass) {
    MotusPictureState *pic = pass->pic;
    const MotusPictureJob *job = pass->job;
    int now = 0;
#pragma omp parallel for num_threads(pic->mbs.threads) schedule(dynamic, 16)
    for (int i = 0; i < pic->mbs.n_mb; i++) {
        if (has_first_guess(pass, i % pic->mbs.mb_width, i / pic->mbs.mb_width) &&
            !guess_b_skip(pass, i))
            find_candidates(pass, i);
        pic->intra_cost[i] = UINT32_MAX;
        pic->changed_at[i] = pic->seen_at[i] = 0;
    }
    motus_stage_ended(pic->clock, MOTUS_STAGE_CANDIDATES);
    for (int round = 0; round < job->effort.rounds; round++) {
        const int since = now;
        run_round(pass, &now);
        if (job->quant8) choose_transforms(pass, since, ++now);
        if (round) continue;
        estimate_intra(pass);
        ++now;
#pragma omp parallel for num_threads(pic->mbs.threads) schedule(static)
        for (int i = 0; i < pic->mbs.n_mb; i++) note_decision(pass, i, now);
    }
    if (pass->typed && pic->refresh.end) choose_types_of(pass);
    int intra = 0;
    for (int i = 0; i < pic->mbs.n_mb; i++) intra += motus_mb_is_intra(&pic->mbs.mb[i]);
    pic->longest_chain = motus_longest_chain(intra, pic->mbs.n_mb, &job->effort);
    motus_stage_ended(pic->clock, MOTUS_STAGE_DECIDE);
}

static void decide(MotusPictureState *pic, const MotusPictureJob *job) {
    Pass pass = begin_pass(pic, job);
    if (job->type != MOTUS_SLICE_I)
        decide_mbs(&pass);
    else if (job->cuts_slices && !(pass.typed && run_wave_of_i(&pass))) // code_mb searches them
        for (int i = 0; i < pic->mbs.n_mb; i++) pic->mbs.mb[i].type = MOTUS_MB_I_PCM;
}

static void code_intra_mbs(MotusPictureState *pic, const MotusPictureJob *job) {
    Pass pass = begin_pass(pic, job);
    const MotusWave wave = {visit_decided_intra, waits_for_intra, &pass, pic->row_order};
    for (;;) {
        if (job->type == MOTUS_SLICE_I)
            run_wave_of_i(&pass);
        else
            motus_wavefront(pic->mbs.mb_width, pic->mbs.mb_height, pic->mbs.threads, &wave);
        if (!pass.wants_pcm) return;
        pass.typed = pass.wants_pcm = 0; // all are searched again
    }
}

static void code_mb(MotusPictureState *pic, const MotusPictureJob *job, int i, int qp) {
    Pass pass = begin_pass(pic, job);
    const int x = i % pic->mbs.mb_width, y = i / pic->mbs.mb_width,
              is_inter = job->type != MOTUS_SLICE_I,
              typed = !is_inter && qp < 0 && pic->mbs.mb[i].type != MOTUS_MB_I_PCM;
    if (is_inter && qp < 0) {
        visit_decided_intra(&pass, x, y);
        if (pass.wants_pcm) code_intra(&pass, x, y, -1);
    } else if (!typed || code_typed(&pass, x, y)) {
        code_intra(&pass, x, y, qp);
    }
    if (qp >= 0) pic->chain[i] = 1;
}

const MotusDecideOps MOTUS_ISA(motus_decide_ops) = {decide, code_intra_mbs, code_mb};
