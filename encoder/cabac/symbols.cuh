// Binarization of a slice's MBs (cabac_mb_core.h) by blocks: a warp per MB, a lane per unit.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_SYMBOLS_CUH
#define ENCODER_CABAC_SYMBOLS_CUH

#include "encoder/bitstream/cabac_mb_core.h"
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

__device__ void set_context(const Job &job, int i) {
    const MotusMb *mb = &job.in.slice.mb[i];
    const MotusNeighbours neighbours = neighbours_of(job, i);
    const int delta = motus_mb_has_qp_delta(mb) ? motus_qp_delta(mb->qp, qp_before(job, i)) : 0;
    motus_mb_context_set(&job.in.context[i], mb, &job.in.slice.coef[i], &neighbours, delta);
}

__device__ MotusCabacMb syntax_of(const Job &job, int i) {
    const MotusSliceCuda &slice = job.in.slice;
    MotusCabacMb m;
    m.mb = &slice.mb[i];
    m.coef = &slice.coef[i];
    m.own = &job.in.context[i];
    m.neighbours = neighbours_of(job, i);
    m.a = m.own - 1;
    m.b = m.own - slice.mb_width;
    m.qp_delta_before = i ? job.in.context[i - 1].qp_delta : 0;
    m.p_slice = slice.head->p_slice;
    m.transform_8x8 = slice.head->transform_8x8;
    return m;
}

// ---- Counting -----------------------------------------------------------------------------------

enum {
    TALLY_KINDS,
    TALLY_SUBS = MOTUS_MB_KINDS,
    TALLY_SAMPLES = TALLY_SUBS + 4, // MBs with I_PCM
    TALLIES
};

// Counts the symbols of an MB's units. end_of_slice_flag of the MB before is its first one.
__device__ void count_mb(const Job &job, int i, uint32_t *tally) {
    const MotusMb *mb = &job.in.slice.mb[i];
    const int unit = motus_lane();
    const uint32_t units = motus_mb_symbol_units(mb, job.in.slice.head->p_slice);
    MotusSymbols symbols = {};
    if (units >> unit & 1) {
        const MotusCabacMb m = syntax_of(job, i);
        motus_put_unit_symbols(&symbols, &m, unit);
    }
    const uint32_t all = motus_lanes_sum(symbols.n);
    job.count[i][unit] = (uint16_t)symbols.n;
    if (unit == 0) {
        job.mb_end[i] = all + (i > 0);
        job.restart[i] = 0;
        atomicAdd(&tally[TALLY_KINDS + mb->type], 1u);
        if (mb->type == MOTUS_MB_I_PCM) atomicAdd(&tally[TALLY_SAMPLES], 1u);
    }
    if (unit < 4 && mb->type == MOTUS_MB_P_8x8)
        atomicAdd(&tally[TALLY_SUBS + mb->sub_type[unit]], 1u);
}

__device__ void add_tally(MotusPictureStats *stats, const uint32_t *tally) {
    const int t = (int)threadIdx.x;
    if (t >= TALLIES || !tally[t]) return;
    if (t < TALLY_SUBS)
        atomicAdd(&stats->mb[t], tally[t]);
    else if (t < TALLY_SAMPLES)
        atomicAdd(&stats->sub[t - TALLY_SUBS], tally[t]);
    else {
        atomicAdd((unsigned long long *)&stats->bits_luma, 2048ull * tally[t]);
        atomicAdd((unsigned long long *)&stats->bits_chroma, 1024ull * tally[t]);
    }
}

// ---- Writing ------------------------------------------------------------------------------------

// Writes the symbols of an MB's units that lie in the piece, as far as SLACK outside of it.
__device__ void put_mb(const Job &job, const Piece &piece, int i) {
    const int unit = motus_lane();
    const uint32_t begin = i ? job.mb_end[i - 1] : 0, end = job.mb_end[i],
                   piece_end = piece.first + (uint32_t)piece.n;
    if (end <= piece.first || begin >= piece_end) return;
    const uint32_t own = job.count[i][unit], upto = scan_lanes(own, Sum()),
                   at = begin + (i > 0) + upto - own;
    uint16_t *to = job.symbol + (int64_t)begin - piece.first;
    if (unit == 0 && i > 0 && begin >= piece.first) *to = MOTUS_CTX_TERMINATE;
    if (!own || at + own <= piece.first || at >= piece_end) return;
    MotusSymbols symbols = {};
    symbols.symbol = to + (at - begin);
    symbols.mark = (uint32_t)motus_unit_kind(unit) << MOTUS_KIND_SHIFT;
    const MotusCabacMb m = syntax_of(job, i);
    motus_put_unit_symbols(&symbols, &m, unit);
}

template <int THREADS> __device__ void put_symbols(const Job &job, const Piece &piece) {
    const int t = (int)(blockIdx.x * THREADS + threadIdx.x), step = (int)gridDim.x * THREADS;
    const uint32_t last = symbols_of(job) - 1 - piece.first; // end_of_slice_flag
    if (t == 0 && last < (uint32_t)piece.n)
        job.symbol[last] = MOTUS_CTX_TERMINATE | MOTUS_SYMBOL_BIN;
    if (job.in.string)
        for (int i = t; i < piece.n; i += step) job.symbol[i] = job.in.string[piece.first + i];
    else
        for (int i = t / 32; i < job.n_mb; i += step / 32) put_mb(job, piece, i);
}

} // namespace

#endif
