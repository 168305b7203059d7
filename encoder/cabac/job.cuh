// A slice that cabac.cu codes, its scratch memory and its pieces. A step of the coder is a function
// of all blocks of a kernel, and of any number of them: cabac.cu launches one kernel each, or runs
// all steps in one block.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CABAC_JOB_CUH
#define ENCODER_CABAC_JOB_CUH

#include "encoder/bitstream/slice_scan.cuh"
#include "encoder/cabac/cabac_cuda.h"
#include "encoder/cabac/ranges_core.h"

namespace {

constexpr int THREADS = 256;                    // of a block, of most kernels
constexpr int CONTEXTS = 512;                   // MOTUS_CONTEXTS, to a power of two
constexpr int TILE = 2048;                      // symbols that a block takes at a time
constexpr int TILE_CHUNKS = TILE / MOTUS_CHUNK; // likewise
constexpr int GROUP = 16;                       // tiles
constexpr int COUNT_MBS = MOTUS_MB_GROUP;       // whose symbols a block counts
constexpr int SLACK = 2048;                     // symbols of a unit, at most 1400
constexpr int DIGITS = 8;                       // whose carries a thread propagates
static_assert(TILE_CHUNKS == 64, "a lane joins two ways");
static_assert(MOTUS_CONTEXTS <= CONTEXTS, "contexts");

// Coder between two pieces.
struct Between {
    uint32_t range, at;      // bit of the RBSP
    uint8_t place[CONTEXTS]; // of states
};

// Ways by the class at their beginning.
struct Ways {
    MotusWay way[4];
};

struct Job {
    MotusCabacSliceCuda in;
    int n_mb, n_tiles; // of MOTUS_NAL_TILE bytes
    uint8_t *is_kept;  // [n_mb]
    uint16_t *kept;    // [n_mb][most_kept] an MB's symbols; in the memory of `sorted`
    uint32_t most_kept;
    uint32_t *mb_end;           // [n_mb + 1] MotusLowDigits; the last: of the end of the slice
    uint32_t *group_begin;      // [mb_groups_of + 1] likewise; the last: of the slice
    uint32_t *finished;         // blocks that have put symbols
    uint32_t *restart;          // [n_mb + 1] MotusLowDigits; 0: none
    uint16_t *symbol;           // of the piece; SLACK before and behind
    uint32_t *sorted;           // by context, each from a whole segment on; until states are known
    uint32_t (*run)[MOTUS_RUN]; // MotusChunks; in the memory of `sorted`
    uint16_t (*of_tile)[CONTEXTS];  // [tiles] bins
    uint32_t (*of_group)[CONTEXTS]; // of each GROUP tiles
    uint32_t *total;                // [CONTEXTS] bins
    uint32_t *base;                 // [CONTEXTS + 1] first segments; the last: their number
    MotusPlaceTables *tables;
    MotusRangeRow *rows;   // [MOTUS_ROWS] motus_context_row
    Between *between;      // [2] before the piece, and behind it, in turn
    Ways *way;             // of chunks: from the tile's first one up to this one
    Ways *tile_way;        // of tiles
    uint64_t (*record)[4]; // MotusChunks
    uint32_t *origin, *end;
    uint32_t *digit; // of the RBSP
    uint8_t *rbsp;
    uint32_t *escapes, *bytes; // MotusNalCuda
};

// Symbols [first, first + n) of the slice. number: of the piece.
struct Piece {
    int number, n;
    uint32_t first;
};

__device__ int mb_groups_of(const Job &job) { return job.n_mb / COUNT_MBS + 1; }
__device__ uint32_t symbols_of(const Job &job) { return job.group_begin[mb_groups_of(job)]; }
__device__ int pieces_of(const Job &job) {
    return (int)((symbols_of(job) + job.in.piece - 1) / job.in.piece);
}
__device__ Piece piece_at(const Job &job, int number) {
    const uint32_t first = (uint32_t)number * job.in.piece;
    return {number, (int)min(job.in.piece, symbols_of(job) - first), first};
}
__device__ const Between &before_of(const Job &job, const Piece &piece) {
    return job.between[piece.number & 1];
}
__device__ Between &behind_of(const Job &job, const Piece &piece) {
    return job.between[~piece.number & 1];
}
// Returns how many pieces of `each` hold n things.
__host__ __device__ constexpr int count_of(int n, int each) { return (n + each - 1) / each; }
__device__ int chunk_tiles_of(const Piece &piece) {
    return count_of(motus_chunks_of(piece.n), TILE_CHUNKS);
}

__device__ uint32_t header_bytes(const MotusSliceHead *head) { return (head->header_bits + 7) / 8; }

__device__ bool is_context(uint32_t symbol) {
    return !(symbol & MOTUS_SYMBOL_BYPASS) &&
           (symbol & MOTUS_SYMBOL_CONTEXT) != MOTUS_CTX_TERMINATE;
}

} // namespace

#endif
