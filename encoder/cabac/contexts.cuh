// Contexts of a slice's MBs (MotusMbContext) by blocks: a lane per 4x4 block, two MBs a warp; mvd
// of P slices by a lane per partition.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_CONTEXTS_CUH
#define ENCODER_CABAC_CONTEXTS_CUH

#include "encoder/cabac/cabac_mb_core.h"
#include "encoder/cabac/job.cuh"

namespace {

__device__ MotusNeighbours neighbours_of(const Job &job, int i) {
    const MotusSliceCuda &slice = job.in.slice;
    return motus_neighbours(slice.mb, slice.mb_width, i % slice.mb_width, i / slice.mb_width, 0);
}

// Partition of an inter MB, in units of 4 samples.
struct Part {
    int mode, x, y, width;
};

// Returns the one that has block (x, y).
__device__ Part part_with(const MotusMb *mb, int x, int y) {
    // By mode (MotusMode): the bits of x and y that tell partitions apart, two each.
    constexpr uint32_t X = (uint32_t)MOTUS_PACK8(2, 0, 0, 2, 2, 2, 3, 3, 0),
                       Y = (uint32_t)MOTUS_PACK8(2, 0, 2, 0, 2, 3, 2, 3, 0);
    const int type = mb->type,
              mode = type <= MOTUS_MB_P_16x16  ? (int)MOTUS_MODE_16x16
                     : type == MOTUS_MB_P_16x8 ? (int)MOTUS_MODE_16x8
                     : type == MOTUS_MB_P_8x16 ? (int)MOTUS_MODE_8x16
                                               : MOTUS_MODE_8x8 + mb->sub_type[y / 2 * 2 + x / 2],
              in_x = X >> 2 * mode & 3, in_y = Y >> 2 * mode & 3;
    return {mode, x & in_x, y & in_y, 4 - in_x};
}

// Returns a number of a partition that grows in coding order.
__device__ int order_of(const Part &p) {
    return (p.y & 2) * 4 + (p.x & 2) * 2 + (p.y & 1) * 2 + (p.x & 1);
}

// Returns 4x4 block (x, y) of an MB with neighbours n, or of these where x or y is below 0 or x is
// 4, as MotusMvGrid has it once the partitions before `own` are coded. many: the slice has several
// references.
__device__ MotusMvCell cell_at(const MotusMb *inside, const MotusNeighbours &n, bool many,
                               const Part &own, int x, int y) {
    const MotusMb *outside = x < 0 ? (y < 0 ? n.d : n.a) : x > 3 ? (y < 0 ? n.c : NULL) : n.b;
    const bool is_own = x >= 0 && x < 4 && y >= 0;
    const MotusMb *mb = is_own ? inside : outside;
    if (!mb || (is_own && order_of(part_with(mb, x, y)) >= order_of(own)))
        return {{0, 0}, MOTUS_CELL_NONE};
    if (motus_mb_is_intra(mb)) return {{0, 0}, MOTUS_CELL_INTRA};
    const int blk = (y & 3) * 4 + (x & 3);
    return {mb->mv[blk], MOTUS_CELL_INTER + (many ? mb->ref[0][motus_8x8_of(blk)] : 0)};
}

// Returns the mvd of block (x, y) of an inter MB, whose predictor equals motus_mb_mvp.
__device__ MotusMv mvd_at(const Job &job, int i, int x, int y) {
    const MotusMb *mb = &job.in.slice.mb[i];
    const MotusNeighbours n = neighbours_of(job, i);
    const bool many = job.in.slice.refs > 1;
    const Part p = part_with(mb, x, y);
    const int blk = 4 * p.y + p.x, ref = many ? mb->ref[0][motus_8x8_of(blk)] : 0;
    const MotusMvCell a = cell_at(mb, n, many, p, p.x - 1, p.y),
                      b = cell_at(mb, n, many, p, p.x, p.y - 1);
    MotusMvCell c = cell_at(mb, n, many, p, p.x + p.width, p.y - 1);
    if (c.state == MOTUS_CELL_NONE) c = cell_at(mb, n, many, p, p.x - 1, p.y - 1);
    const MotusMvCell side = p.mode == MOTUS_MODE_16x8   ? (p.y ? a : b)
                             : p.mode == MOTUS_MODE_8x16 ? (p.x ? c : a)
                                                         : MotusMvCell{{0, 0}, MOTUS_CELL_NONE};
    const MotusMv mv = mb->mv[blk], predictor = side.state == MOTUS_CELL_INTER + ref
                                                    ? side.mv
                                                    : motus_mvp(a, b, c, MOTUS_MODE_16x16, 0, ref);
    return {(int16_t)(mv.x - predictor.x), (int16_t)(mv.y - predictor.y)};
}

// mvd of a P slice's MBs: each partition's is found once.
constexpr int CONTEXT_MBS = 16; // of a block
struct ContextRoom {
    MotusMv mvd[CONTEXT_MBS * 16]; // where their partitions begin
    uint16_t list[CONTEXT_MBS * 16];
    int n;
};

// Returns which of an MB's DC blocks have a level that is lane blk's: luma's in bit 0, chroma's in
// bit 1. Lanes without an MB pass n_mb or more.
__device__ int dc_levels(const Job &job, int i, int blk) {
    const bool there = i < job.n_mb;
    const MotusMb *mb = &job.in.slice.mb[there ? i : 0];
    const MotusMbCoef *coef = &job.in.slice.coef[there ? i : 0];
    const bool luma = mb->type == MOTUS_MB_I_16x16 && coef->luma_dc[blk],
               chroma = mb->cbp >> 4 && blk < 8 && coef->chroma_dc[blk / 4 & 1][blk % 4];
    return luma | chroma << 1;
}

// Sets all of an MB's context but mvd: blk 0 does. Lanes without an MB pass n_mb or more.
__device__ void set_rest_of_context(const Job &job, int i, int blk, int levels) {
    const bool there = i < job.n_mb;
    const MotusMb *mb = &job.in.slice.mb[there ? i : 0];
    const int first = motus_lane() & 16; // lane of the MB
    const uint32_t luma = __ballot_sync(MOTUS_ALL_LANES, levels & 1) >> first & 0xFFFF,
                   chroma = __ballot_sync(MOTUS_ALL_LANES, levels & 2) >> first & 0xFFFF;
    if (!there || blk) return;
    MotusMbContext *context = &job.in.context[i];
    int delta = 0;
    if (motus_mb_has_qp_delta(mb)) { // to the QP of the MB before that is not I_PCM
        int k = i;
        while (k > 0 && job.in.slice.mb[k - 1].type == MOTUS_MB_I_PCM) k--;
        delta = motus_qp_delta(mb->qp, k ? job.in.slice.mb[k - 1].qp : job.in.slice.head->qp);
    }
    context->qp_delta = (int16_t)delta;
    context->dc = (uint8_t)(mb->type == MOTUS_MB_I_PCM
                                ? 7
                                : (luma != 0) | ((chroma & 15) != 0) << 1 | (chroma > 15) << 2);
}

// Equals motus_mb_context_set in P slices, of the block's MBs from `first` on, a thread per 4x4
// block.
__device__ void set_p_contexts(const Job &job, int first, ContextRoom &room) {
    const int slot = (int)threadIdx.x, i = first + slot / 16, blk = slot % 16;
    if (slot == 0) room.n = 0;
    const int levels = dc_levels(job, i, blk);
    const MotusMb *mb = &job.in.slice.mb[min(i, job.n_mb - 1)];
    int begin = -1; // first block of the partition that has blk; -1: its mvd is zero
    if (i < job.n_mb && !motus_mb_is_intra(mb) && mb->type != MOTUS_MB_P_SKIP) {
        const Part own = part_with(mb, blk % 4, blk / 4);
        begin = 4 * own.y + own.x;
    }
    __syncthreads(); // cleared before it is added to
    set_rest_of_context(job, i, blk, levels);
    if (begin == blk) room.list[atomicAdd(&room.n, 1)] = (uint16_t)slot;
    __syncthreads(); // all partitions are listed
    if (slot < room.n) {
        const int own = room.list[slot];
        room.mvd[own] = mvd_at(job, first + own / 16, own % 4, own / 4 % 4);
    }
    __syncthreads(); // their mvd is there
    if (i < job.n_mb)
        job.in.context[i].mvd[blk] = begin < 0 ? MotusMv{0, 0} : room.mvd[slot - blk + begin];
}

// Equals motus_mb_context_set. blk: of the lane.
__device__ void set_b_context(const Job &job, int i, int blk) {
    set_rest_of_context(job, i, blk, dc_levels(job, i, blk));
    if (i >= job.n_mb || blk >= 8) return;
    const MotusMb *mb = &job.in.slice.mb[i];
    const MotusNeighbours neighbours = neighbours_of(job, i);
    const int list = blk >> 2, q = blk & 3;
    job.in.context[i].mvd_b[list][q] =
        motus_b_context_mvd(mb, &neighbours, motus_b_first(mb, q), list);
}

} // namespace

#endif
