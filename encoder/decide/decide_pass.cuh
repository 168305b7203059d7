// Common parts of the kernels that decide and code MBs: parameters of a pass, samples of MBs,
// copies by a warp.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_DECIDE_PASS_CUH
#define ENCODER_DECIDE_DECIDE_PASS_CUH

#include <type_traits>

#include "common/cuda_call.cuh"
#include "encoder/decide/decide_core.h"
#include "encoder/decide/decide_cuda.h"

namespace motus_decide {

constexpr int WARPS = 4; // of a block with an MB a warp

struct Pass {
    MotusPictureStateCuda pic;
    MotusEffort effort;
    int qp, slice_type;
    int typed; // 1: MBs are coded as types that were chosen before
};

inline Pass pass_of(const MotusPictureStateCuda *pic, const MotusPictureJob *job) {
    Pass pass = {*pic, job->effort, job->qp, job->type, job->effort.types_first};
    pass.pic.qp_table += pic->lambda * MOTUS_QPS, pass.pic.quant8 += pic->lambda * MOTUS_QPS;
    return pass;
}

static __device__ MotusMbSource mb_source(const MotusPictureStateCuda &w, int x, int y) {
    MotusMbSource src;
    for (int p = 0; p < 3; p++) {
        int size = p ? 8 : 16;
        src.stride[p] = w.src_stride[p];
        src.plane[p] = w.src[p] + y * size * src.stride[p] + x * size;
    }
    return src;
}

static __device__ MotusMbRecon mb_recon(const MotusPictureStateCuda &w, int x, int y) {
    MotusMbRecon rec;
    for (int p = 0; p < 3; p++) {
        int size = p ? 8 : 16;
        rec.stride[p] = w.rec_stride[p];
        rec.plane[p] = w.rec[p] + y * size * rec.stride[p] + x * size;
    }
    return rec;
}

// Returns the settings of a choice of levels. Kernels are compiled for CAVLC and for CABAC apart.
template <bool CABAC>
static __device__ MotusLevelChoice level_choice(const Pass &pass, int method) {
    const MotusCabacCosts *costs = CABAC ? pass.pic.costs : nullptr;
    if (CABAC) __builtin_assume(costs != nullptr);
    return MotusLevelChoice{pass.pic.zero_runs, method, costs};
}

// Returns the settings for intra MBs. cavlc: as of motus_intra_levels.
template <bool CABAC> static __device__ MotusLevelChoice intra_choice(const Pass &pass, int cavlc) {
    MotusLevelChoice choice = level_choice<CABAC>(pass, cavlc);
    choice.method = motus_intra_levels(cavlc, choice.costs);
    __builtin_assume(choice.method != MOTUS_LEVELS_GUESSED);
    return choice;
}

// Returns the MB to be coded as intra. `levels` must outlive it.
static __device__ MotusIntraMb intra_mb(const Pass &pass, const MotusLevelChoice *levels, int x,
                                        int y) {
    const int i = y * pass.pic.mb_width + x;
    MotusIntraMb in;
    in.qp = &pass.pic.qp_table[motus_mb_qp(pass.qp, pass.pic.qp_offset, i)];
    in.levels = levels;
    in.i4_trials = pass.effort.i4_trials;
    in.keeps_left = 0;
    in.slice_type = pass.slice_type;
    in.src = mb_source(pass.pic, x, y);
    in.rec = mb_recon(pass.pic, x, y);
    in.neighbours = motus_neighbours(pass.pic.mb, pass.pic.mb_width, x, y,
                                     motus_slice_first(pass.pic.slice_first, i));
    in.has = motus_intra_has(&in.neighbours);
    return in;
}

// True if MB i is intra because of intra refresh.
static __device__ bool is_refreshed(const MotusPictureStateCuda &w, int i) {
    return motus_is_refreshed(&w.refresh, i / w.mb_width);
}

static __device__ void copy4(uint8_t *to, const uint8_t *from) {
    *reinterpret_cast<uint32_t *>(to) = *reinterpret_cast<const uint32_t *>(from);
}

// Copies a structure of 16-byte vectors by a warp.
template <class T> static __device__ void copy(T *to, const T *from) {
    static_assert(sizeof(T) % 16 == 0, "whole vectors");
    uint4 *d = reinterpret_cast<uint4 *>(to);
    const uint4 *s = reinterpret_cast<const uint4 *>(from);
    for (int i = motus_lane(); i < (int)(sizeof(T) / 16); i += MOTUS_LANES) d[i] = s[i];
}

static __device__ void store_luma(const MotusTrial *trial, const MotusMbRecon &rec) {
    for (int i = motus_lane(); i < 64; i += MOTUS_LANES)
        *reinterpret_cast<uint32_t *>(rec.plane[0] + (i >> 2) * rec.stride[0] + 4 * (i & 3)) =
            *reinterpret_cast<const uint32_t *>(trial->luma + 4 * i);
}

static __device__ void store_chroma(const MotusTrial *trial, const MotusMbRecon &rec) {
    for (int i = motus_lane(); i < 32; i += MOTUS_LANES) {
        const int c = i >> 4, row = i >> 1 & 7;
        uint8_t *to = c ? rec.plane[2] + row * rec.stride[2] : rec.plane[1] + row * rec.stride[1];
        *reinterpret_cast<uint32_t *>(to + 4 * (i & 1)) =
            *reinterpret_cast<const uint32_t *>(trial->chroma[c] + 8 * row + 4 * (i & 1));
    }
}

static __device__ void store_samples(const MotusTrial *trial, const MotusPictureStateCuda &w, int x,
                                     int y) {
    const MotusMbRecon rec = mb_recon(w, x, y);
    store_luma(trial, rec);
    store_chroma(trial, rec);
}

static __device__ int this_warp() { return (int)(blockIdx.x * WARPS + threadIdx.x / 32); }

// Blocks of a phase, whose MBs have (x + 2y) % phases == phase: rows of MBs by blockIdx.y.
inline dim3 blocks_of_phase(const Pass &pass) {
    const int phases = pass.effort.phases;
    return dim3((unsigned)((pass.pic.mb_width + phases - 1) / phases),
                (unsigned)pass.pic.mb_height);
}

// Returns the MB column of a block of a phase. It may be outside the picture.
static __device__ int mb_column(int phases, int phase) {
    const uint32_t n = (uint32_t)phases;
    return (int)(((uint32_t)phase + (n - 1) * 2 * blockIdx.y) % n + blockIdx.x * n);
}

inline int blocks_for(int warps) { return (warps + WARPS - 1) / WARPS; }

// Kinds of inter pictures: P and B, with one reference in list 0 or several.
enum Kind { P_ONE, P_MANY, B_ONE, B_MANY };

template <Kind KIND> constexpr bool IS_B = KIND == B_ONE || KIND == B_MANY;
template <Kind KIND> constexpr bool HAS_MANY = KIND == P_MANY || KIND == B_MANY;

// References and limits of inter MBs.
struct FewReferences {
    MotusReference ref[2]; // P: the first one counts
    MotusInterLimits limits;
    static constexpr int refs = 1;
};
struct ManyReferences {
    const MotusReference *ref; // in device memory
    MotusInterLimits limits;
    int refs; // of list 0
};
template <Kind KIND>
using InterOf = std::conditional_t<HAS_MANY<KIND>, ManyReferences, FewReferences>;

template <Kind KIND> InterOf<KIND> inter_of(const MotusPictureJob *job) {
    if constexpr (HAS_MANY<KIND>)
        return {job->ref_list, job->limits, job->refs};
    else
        return {{job->ref[0], IS_B<KIND> ? job->ref[1] : MotusReference{}}, job->limits};
}

// Motion fields of a P picture, by value in kernels' parameters.
struct PFields {
    int refs;
    MotusReference ref;         // the first one
    const MotusReference *list; // all, in device memory; unused if there is one
    const MotusMv *mv[MOTUS_MAX_REFERENCES];
    const uint32_t *cost[MOTUS_MAX_REFERENCES];
    uint64_t *far_blocks;
    MotusInterLimits limits;
};
// Fields of a B picture: for references of list 0, then list 1's.
struct BFields {
    int refs;                   // of list 0
    MotusReference ref[2];      // if it has one
    const MotusReference *list; // all, in device memory; unused if it has one
    const MotusMv *mv[MOTUS_MAX_REFERENCES], *centre[MOTUS_MAX_REFERENCES];
    const uint32_t *cost[MOTUS_MAX_REFERENCES];
    uint64_t *far_blocks;
    MotusDirectSource direct;
    MotusInterLimits limits;
    int skips_first;
};

// Returns the inter MB (x, y); its neighbours are not set.
template <Kind KIND>
static __device__ MotusInterMb inter_mb(const Pass &pass, const InterOf<KIND> &inter, int x,
                                        int y) {
    const int i = y * pass.pic.mb_width + x;
    MotusInterMb in;
    in.ref = inter.ref;
    in.lists = IS_B<KIND> ? 2 : 1;
    in.refs = inter.refs;
    in.limits = &inter.limits;
    in.qp = &pass.pic.qp_table[motus_mb_qp(pass.qp, pass.pic.qp_offset, i)];
    in.src = mb_source(pass.pic, x, y);
    in.x = x, in.y = y;
    in.max_mv_y = motus_refresh_max_mv_y(&pass.pic.refresh, y);
    in.quant8 = nullptr;
    return in;
}

// True if trials of inter MBs have both transforms.
static inline bool has_both_transforms(const Pass &pass) {
    return pass.effort.transforms && pass.pic.transform_8x8 && pass.pic.costs;
}

// Tries the 8x8 transform for the inter MBs that were decided after pass `since`.
template <Kind KIND>
cudaError_t choose_transforms(const Pass &pass, const InterOf<KIND> &inter, int since, int now,
                              cudaStream_t stream);
cudaError_t prepare_transforms(); // loads its kernels
cudaError_t prepare_b();          // loads those of B pictures

// Mark and decide the MBs of a B picture.
cudaError_t mark_b(const Pass &pass, const MotusPictureJob *job, cudaStream_t stream);
cudaError_t decide_b(const Pass &pass, const MotusPictureJob *job, cudaStream_t stream);

// Refines the MVs of the MBs of a phase that were decided in pass `now`, if the preset does.
template <Kind KIND>
cudaError_t refine_mvs(const Pass &pass, const InterOf<KIND> &inter, int phase, int now,
                       cudaStream_t stream);
cudaError_t prepare_refinement();

// Evaluates intra coding of an inter picture's MBs, from the present reconstruction.
cudaError_t estimate_intra(const Pass &pass, cudaStream_t stream);
cudaError_t prepare_estimates(); // grants its kernels' shared memory

// Notes intra coding where it is cheaper after the first round; inter is noted already. all: MBs
// differ by more than their first list's MVs (motus_note_decision).
cudaError_t note_intra(const Pass &pass, bool all, int now, cudaStream_t stream);

// Decides an inter picture's MBs, whose candidates have been launched, in rounds of phases. Each
// decision is launch_pass(pass, inter, round, phase, now, stream); `now` numbers the passes from 1.
template <Kind KIND, class LaunchPass>
cudaError_t run_rounds(const Pass &pass, const InterOf<KIND> &inter, LaunchPass launch_pass,
                       cudaStream_t stream) {
    int now = 0;
    cudaError_t status = motus_stage_ended_cuda(&pass.pic, MOTUS_STAGE_CANDIDATES, stream);
    for (int round = 0; round < pass.effort.rounds && status == cudaSuccess; round++) {
        const int since = now;
        for (int k = 0; k < pass.effort.phases && status == cudaSuccess; k++) {
            status = launch_pass(pass, inter, round, k, ++now, stream);
            if (status == cudaSuccess) status = refine_mvs<KIND>(pass, inter, k, now, stream);
        }
        if (pass.pic.transform_8x8 && status == cudaSuccess)
            status = choose_transforms<KIND>(pass, inter, since, ++now, stream);
        if (!round && status == cudaSuccess) status = estimate_intra(pass, stream);
        if (!round && status == cudaSuccess)
            status = note_intra(pass, KIND != P_ONE, ++now, stream);
    }
    return status == cudaSuccess ? motus_stage_ended_cuda(&pass.pic, MOTUS_STAGE_DECIDE, stream)
                                 : status;
}

// States of an MB in the intra wavefront (MotusPictureStateCuda.listed).
enum { NOT_LISTED, LISTED, DONE };

// Returns the raster index of neighbour k of MB i: A, B, C, D. -1: it is outside the slice.
static __device__ int neighbour_of(const MotusPictureStateCuda &w, int i, int k) {
    const int x = i % w.mb_width, at = k == 0 ? i - 1 : i - w.mb_width + (k == 2) - (k == 3);
    const bool there = k == 0 || k == 3 ? x > 0 : k == 1 || x + 1 < w.mb_width;
    return there && at >= motus_slice_first(w.slice_first, i) ? at : -1;
}

// Lists the MBs that are coded as intra, each after those it depends on: all of an I picture.
cudaError_t list_intra(const Pass &pass, cudaStream_t stream);

cudaError_t
prepare_listed(int *block_mbs); // loads its kernels. *block_mbs: as in the picture state

// Chooses the types of an I picture's MBs, or of those that intra refresh wants.
cudaError_t choose_types(const Pass &pass, cudaStream_t stream);
cudaError_t prepare_types(); // loads its kernels

// Codes the listed MBs as their types. Sets MOTUS_FLAG_WANTS_PCM.
cudaError_t code_typed(const Pass &pass, cudaStream_t stream);
cudaError_t prepare_typed(); // loads its kernels

} // namespace motus_decide

#endif
