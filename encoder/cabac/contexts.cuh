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

// Returns the QP that mb_qp_delta of MB i refers to.
__device__ int qp_before(const Job &job, int i) {
    while (i > 0 && job.in.slice.mb[i - 1].type == MOTUS_MB_I_PCM) i--;
    return i ? job.in.slice.mb[i - 1].qp : job.in.slice.head->qp;
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

// An inter MB with its neighbours. many: of a slice with several references.
struct MvdMb {
    const MotusMb *mb;
    MotusNeighbours neighbours;
    bool many;
};

// Returns 4x4 block (x, y) of the MB, or of its neighbours where x or y is below 0 or x is 4, as
// MotusMvGrid has it once the partitions before `own` are coded.
__device__ MotusMvCell cell_at(const MvdMb &m, const Part &own, int x, int y) {
    const MotusNeighbours &n = m.neighbours;
    const MotusMb *outside = x < 0 ? (y < 0 ? n.d : n.a) : x > 3 ? (y < 0 ? n.c : NULL) : n.b;
    const bool is_own = x >= 0 && x < 4 && y >= 0;
    const MotusMb *mb = is_own ? m.mb : outside;
    if (!mb || (is_own && order_of(part_with(mb, x, y)) >= order_of(own)))
        return {{0, 0}, MOTUS_CELL_NONE};
    if (motus_mb_is_intra(mb)) return {{0, 0}, MOTUS_CELL_INTRA};
    const int blk = (y & 3) * 4 + (x & 3);
    return {mb->mv[blk], MOTUS_CELL_INTER + (m.many ? mb->ref[0][motus_8x8_of(blk)] : 0)};
}

// Equals motus_mb_mvp.
__device__ MotusMv predictor_of(const MvdMb &m, const Part &p, int ref) {
    const MotusMvCell a = cell_at(m, p, p.x - 1, p.y), b = cell_at(m, p, p.x, p.y - 1);
    MotusMvCell c = cell_at(m, p, p.x + p.width, p.y - 1);
    if (c.state == MOTUS_CELL_NONE) c = cell_at(m, p, p.x - 1, p.y - 1);
    const MotusMvCell side = p.mode == MOTUS_MODE_16x8   ? (p.y ? a : b)
                             : p.mode == MOTUS_MODE_8x16 ? (p.x ? c : a)
                                                         : MotusMvCell{{0, 0}, MOTUS_CELL_NONE};
    return side.state == MOTUS_CELL_INTER + ref ? side.mv : motus_mvp(a, b, c, MOTUS_MODE_16x16, 0, ref);
}

// Returns the mvd of block (x, y) of an inter MB.
__device__ MotusMv mvd_at(const Job &job, int i, int x, int y) {
    const MotusMb *mb = &job.in.slice.mb[i];
    const MvdMb m = {mb, neighbours_of(job, i), job.in.slice.refs > 1};
    const Part own = part_with(mb, x, y);
    const int blk = 4 * own.y + own.x;
    const MotusMv mv = mb->mv[blk],
                  predictor = predictor_of(m, own, m.many ? mb->ref[0][motus_8x8_of(blk)] : 0);
    return {(int16_t)(mv.x - predictor.x), (int16_t)(mv.y - predictor.y)};
}

// Returns the lanes of this lane's MB that have a level.
__device__ uint32_t lanes_with(int level) {
    return __ballot_sync(MOTUS_ALL_LANES, level != 0) >> (motus_lane() & 16) & 0xFFFF;
}

// Returns entry `at` of mvd_b of an MB of a B slice.
__device__ MotusMv b_mvd_at(const Job &job, int i, int at) {
    const MotusMb *mb = &job.in.slice.mb[i];
    const MotusNeighbours neighbours = neighbours_of(job, i);
    return motus_b_context_mvd(mb, &neighbours, motus_b_first(mb, at & 3), at >> 2);
}

// mvd of a P slice's MBs: each partition's is found once.
constexpr int CONTEXT_MBS = 16; // of a block
struct ContextRoom {
    MotusMv mvd[CONTEXT_MBS * 16]; // where their partitions begin
    uint16_t list[CONTEXT_MBS * 16];
    int n;
};

// Levels of an MB's DC blocks that a lane has.
struct DcLevels {
    bool luma, chroma;
};

// blk: of the lane. Lanes without an MB pass n_mb or more.
__device__ DcLevels dc_levels(const Job &job, int i, int blk) {
    const bool there = i < job.n_mb;
    const MotusMb *mb = &job.in.slice.mb[there ? i : 0];
    const MotusMbCoef *coef = &job.in.slice.coef[there ? i : 0];
    return {mb->type == MOTUS_MB_I_16x16 && coef->luma_dc[blk],
            mb->cbp >> 4 && blk < 8 && coef->chroma_dc[blk / 4 & 1][blk % 4]};
}

// Sets all of an MB's context but mvd: blk 0 does. Lanes without an MB pass n_mb or more.
__device__ void set_rest_of_context(const Job &job, int i, int blk, DcLevels levels) {
    const bool there = i < job.n_mb;
    const MotusMb *mb = &job.in.slice.mb[there ? i : 0];
    const uint32_t luma = lanes_with(levels.luma), chroma = lanes_with(levels.chroma);
    if (!there || blk) return;
    MotusMbContext *context = &job.in.context[i];
    context->qp_delta =
        (int16_t)(motus_mb_has_qp_delta(mb) ? motus_qp_delta(mb->qp, qp_before(job, i)) : 0);
    context->dc = (uint8_t)(mb->type == MOTUS_MB_I_PCM
                                ? 7
                                : (luma != 0) | ((chroma & 15) != 0) << 1 | (chroma > 15) << 2);
}

// Returns the first block of the partition that has block blk; -1: its mvd is zero.
__device__ int partition_begin(const Job &job, int i, int blk) {
    const MotusMb *mb = &job.in.slice.mb[min(i, job.n_mb - 1)];
    if (i >= job.n_mb || motus_mb_is_intra(mb) || mb->type == MOTUS_MB_P_SKIP) return -1;
    const Part own = part_with(mb, blk % 4, blk / 4);
    return 4 * own.y + own.x;
}

// Equals motus_mb_context_set, of the block's MBs from `first` on, a thread per 4x4 block.
__device__ void set_p_contexts(const Job &job, int first, ContextRoom &room) {
    const int slot = (int)threadIdx.x, i = first + slot / 16, blk = slot % 16;
    if (slot == 0) room.n = 0;
    const DcLevels levels = dc_levels(job, i, blk);
    const int begin = partition_begin(job, i, blk);
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

// Equals motus_b_context_set. blk: of the lane.
__device__ void set_b_context(const Job &job, int i, int blk) {
    set_rest_of_context(job, i, blk, dc_levels(job, i, blk));
    if (i < job.n_mb && blk < 8) job.in.context[i].mvd_b[blk >> 2][blk & 3] = b_mvd_at(job, i, blk);
}

} // namespace

#endif
