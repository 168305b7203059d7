// CABAC of a slice of finalized MBs on a CUDA device. In the order of the launches: contexts of
// MBs (contexts.cuh); counts of symbols and their sums, symbols (symbols.cuh); bins sorted by
// context, states (states.cuh); ranges, low (ranges.cuh); carries, I_PCM samples (carries.cuh); the
// NAL unit (slice.cu). Grids depend on picture size, piece and capacity only.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/cabac/cabac_cuda.h"

#include "common/cuda_call.cuh"
#include "common/slots.h"
#include "encoder/cabac/cabac_costs_core.h"
#include "encoder/cabac/carries.cuh"
#include "encoder/cabac/ranges.cuh"
#include "encoder/cabac/states.cuh"
#include "encoder/cabac/symbols.cuh"

namespace {

constexpr int MB_THREADS = 128, CONTEXT_THREADS = 16 * CONTEXT_MBS, LOW_THREADS = 128,
              LEARN_THREADS = 512;
constexpr int BEGIN_BLOCKS = 8;   // before those that count symbols; they begin a slice
constexpr int MOST_BLOCKS = 264;  // of a step that takes any number; few pictures need more
constexpr int DIGITS_BEHIND = 64; // zeros behind the last digit
static_assert(THREADS * DIGITS * 2 == MOTUS_NAL_TILE, "a tile of digits is one of bytes");

// Threads that an SM holds, at least.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
constexpr int SM_THREADS = 2048;
#else
constexpr int SM_THREADS = __CUDA_ARCH__ < 800 ? 1024 : 1536;
#endif
constexpr int COUNT_BLOCKS = SM_THREADS < 1536 ? 4 : 6; // that share an SM
constexpr int PUT_BLOCKS = SM_THREADS / THREADS;        // too: few symbols are made again

// Lays out `work`. Returns its size.
size_t place(Job *job, uint8_t *work, uint32_t capacity) {
    const size_t n = (size_t)job->n_mb, piece = job->in.piece, tiles = piece / TILE + 2,
                 chunks = (size_t)motus_chunks_of((int)piece);
    size_t end = 0;
    job->n_tiles = motus_nal_tiles(capacity);
    auto reserve = [&](auto **at, size_t count) {
        *at = (decltype(*at + 0))(work + motus_slot_reserve(&end, count * sizeof **at));
    };
    reserve(&job->is_kept, n);
    reserve(&job->mb_end, n + 1);
    reserve(&job->restart, n + 1);
    reserve(&job->group_begin, n / COUNT_MBS + 2);
    reserve(&job->finished, 1);
    reserve(&job->symbol, piece + 2 * SLACK);
    job->symbol += SLACK;
    reserve(&job->sorted, piece + (size_t)CONTEXTS * MOTUS_SEGMENT);
    job->run = (uint32_t(*)[MOTUS_RUN])job->sorted;
    job->kept = (uint16_t *)job->sorted;
    job->most_kept = (uint32_t)motus_min(KEPT, (int)(2 * piece / n));
    reserve(&job->of_tile, tiles);
    reserve(&job->of_group, tiles / GROUP + 1);
    reserve(&job->total, CONTEXTS);
    reserve(&job->base, CONTEXTS + 1);
    reserve(&job->tables, 1);
    reserve(&job->rows, MOTUS_ROWS);
    reserve(&job->between, 2);
    reserve(&job->way, chunks);
    reserve(&job->tile_way, tiles);
    reserve(&job->record, chunks);
    reserve(&job->origin, chunks);
    reserve(&job->end, 5);
    reserve(&job->digit, (size_t)job->n_tiles * (MOTUS_NAL_TILE / 2) + DIGITS_BEHIND);
    reserve(&job->rbsp, (size_t)job->n_tiles * MOTUS_NAL_TILE);
    reserve(&job->escapes, (size_t)job->n_tiles);
    reserve(&job->bytes, 1);
    return end;
}

// ---- Kernels: symbols ---------------------------------------------------------------------------

__global__ void __launch_bounds__(CONTEXT_THREADS) p_context_kernel(Job job) {
    __shared__ ContextRoom room;
    set_p_contexts(job, (int)blockIdx.x * CONTEXT_MBS, room);
}

__global__ void __launch_bounds__(MB_THREADS) b_context_kernel(Job job) {
    const int k = (int)(blockIdx.x * MB_THREADS + threadIdx.x);
    set_b_context(job, k / 16, k % 16);
}

// Sets the coder's state before the first piece, its tables, and counts to be added to, in equal
// parts by the first blocks.
__device__ void begin_slice(const Job &job) {
    const MotusSliceHead *head = job.in.slice.head;
    const int step = BEGIN_BLOCKS * THREADS, t = (int)(blockIdx.x * THREADS + threadIdx.x);
    for (int c = t; c < CONTEXTS; c += step)
        if (c < MOTUS_CTX_TERMINATE || (c >= MOTUS_CTX_TRANSFORM_8x8 && c < MOTUS_CONTEXTS))
            job.between[0].place[c] =
                (uint8_t)motus_place_of(motus_cabac_first_state(head->cabac_table, c, head->qp));
    for (int k = t; k < 16 * MOTUS_PLACES; k += step)
        job.tables->four[k] = motus_next_of_four(k / 16, k % 16);
    for (int k = t; k < 2 * MOTUS_PLACES; k += step)
        job.tables->one[k] = (uint8_t)motus_next_place(k / 2, k % 2);
    for (int k = t; k < MOTUS_ROWS; k += step) job.rows[k] = motus_context_row((uint32_t)k);
    clear_groups(job, (int)(job.in.piece / TILE) + 2, t, step);
    for (int k = t; k < (int)(sizeof *job.in.bins / 4) && !job.in.slice.before; k += step)
        ((uint32_t *)job.in.bins)[k] = 0;
    if (t == 0) {
        *job.finished = job.group_begin[0] = 0;
        job.between[0].range = MOTUS_FIRST_RANGE, job.between[0].at = 8 * header_bytes(head);
        job.restart[job.n_mb] = 0;
    }
}

template <bool B> __global__ void __launch_bounds__(THREADS, COUNT_BLOCKS) count_kernel(Job job) {
    __shared__ UnitRoom room;
    const int t = (int)threadIdx.x, block = (int)blockIdx.x - BEGIN_BLOCKS;
    if (block < 0) begin_slice(job);
    if (job.in.string) { // its symbols, in place of MBs
        const int step = (int)gridDim.x * THREADS, n = mb_groups_of(job),
                  first = (int)blockIdx.x * THREADS + t;
        for (int k = first; k <= job.n_mb; k += step)
            job.mb_end[k] = job.in.string_end[k], job.restart[k] = 0;
        for (int k = first + 1; k <= n; k += step)
            job.group_begin[k] = k == n ? job.in.string_end[job.n_mb] : 0;
    }
    if (job.in.string || block < 0) return;
    if (t < ALL_TALLIES) room.tally[t] = 0;
    if (t < UNIT_KINDS) room.kinds[t] = 0;
    if (t == 0) room.n_late = 0;
    __syncthreads(); // cleared before they are added to
    count_mbs<B>(job, block * COUNT_MBS, room);
    // Tallies are complete since its barriers.
    MotusPictureStats *stats = job.in.slice.stats;
    if (t < TALLIES && room.tally[t]) add_tally(stats, t, room.tally[t]);
    if (t != TALLY_SAMPLES || !room.tally[t]) return;
    add_bits(stats, MOTUS_BITS_LUMA, 2048 * room.tally[t]);
    add_bits(stats, MOTUS_BITS_CHROMA, 1024 * room.tally[t]);
}

// Returns the only piece; n 0: there are several, which sum_kernel codes.
__device__ Piece only_piece(const Job &job) {
    Piece piece = piece_at(job, 0);
    if (pieces_of(job) > 1) piece.n = 0;
    return piece;
}

// Clears the digits that the slice may have, and those that carry_kernel reads behind them.
__device__ void clear_digits(const Job &job) {
    // A symbol has at most 8 bits. I_PCM samples follow one more, with two stop bits and alignment.
    const uint64_t samples =
                       job.in.string ? (uint64_t)job.n_mb : job.in.slice.stats->mb[MOTUS_MB_I_PCM],
                   bytes = header_bytes(job.in.slice.head) + symbols_of(job) +
                           (samples + 1) * (MOTUS_SAMPLE_BITS / 8 + 2);
    const uint64_t tiles = bytes / MOTUS_NAL_TILE + 1;
    const size_t n = (min(tiles, (uint64_t)job.n_tiles) * (MOTUS_NAL_TILE / 2) + DIGITS_BEHIND) / 4;
    for (size_t k = blockIdx.x * THREADS + threadIdx.x; k < n; k += (size_t)gridDim.x * THREADS)
        ((uint4 *)job.digit)[k] = make_uint4(0, 0, 0, 0);
}

struct TileRoom {
    PutRoom put;
    CountRoom count;
};
template <bool B>
__device__ void put_tiles(const Job &job, const Piece &piece, bool keeps, TileRoom &room) {
    const int n_tiles = count_of(piece.n, TILE);
    for (int tile = (int)blockIdx.x; tile < n_tiles; tile += (int)gridDim.x) {
        put_tile<B>(job, piece, tile, keeps, room.put);
        __syncthreads(); // its symbols are written
        count_tile(job, piece, tile, room.count);
    }
}

// Costs of both bins of each context.
using LearnRoom = uint16_t[MOTUS_CONTEXTS][2];

// Equals motus_cabac_costs_learn, by a block.
template <int N>
__device__ void learn(const MotusBinCounts *bins, const MotusCabacCosts *costs,
                      MotusCabacCosts *next, LearnRoom &learnt) {
    for (int c = (int)threadIdx.x; c < MOTUS_CONTEXTS; c += N) {
        const uint32_t n[2] = {__ldcg(&bins->bin[c]), __ldcg(&bins->bin[c + MOTUS_SYMBOL_BIN])};
        for (int bin = 0; bin < 2; bin++)
            next->bin[c][bin] = learnt[c][bin] =
                motus_cabac_cost_learnt(costs->bin[c][bin], n[bin], n[0] + n[1]);
    }
    __syncthreads(); // complete before they are read
    for (int k = (int)threadIdx.x; k < MOTUS_DERIVED_COSTS; k += N)
        motus_cabac_cost_derive(next, learnt, k);
}

template <bool B> __global__ void __launch_bounds__(THREADS, PUT_BLOCKS) put_kernel(Job job) {
    __shared__ union {
        TileRoom tile;
        LearnRoom learnt;
    } room;
    const Piece piece = only_piece(job);
    if (piece.n) {
        clear_digits(job);
        put_tiles<B>(job, piece, true, room.tile);
    }
    if (!job.in.next) return;
    __shared__ bool is_last; // of the blocks that have put symbols
    __syncthreads();         // the block's bins are added
    if (threadIdx.x == 0) {
        __threadfence(); // they are visible before the block is counted
        is_last = atomicAdd(job.finished, 1u) == gridDim.x - 1;
        __threadfence(); // those of other blocks are read after it
    }
    __syncthreads(); // is_last is set
    if (is_last) learn<THREADS>(job.in.bins, job.in.costs, job.in.next, room.learnt);
}

// ---- Kernels: the coder -------------------------------------------------------------------------

// Runs a step of the only piece.
template <auto STEP, class Room, int N> __global__ void __launch_bounds__(N) step_kernel(Job job) {
    __shared__ Room room;
    const Piece piece = only_piece(job);
    if (piece.n) STEP(job, piece, room);
}

// Sums symbols up, and codes a slice of several pieces, by one block. Barriers let it read what its
// threads wrote.
template <bool B> __global__ void __launch_bounds__(THREADS) sum_kernel(Job job) {
    __shared__ union {
        uint32_t sum[THREADS / 32];
        TileRoom tile;
        SortRoom sort;
        StateRoom state;
        RunRoom run;
        WayRoom way;
        LowRoom<THREADS> low;
    } room;
    scan_array<THREADS>(job.group_begin + 1, mb_groups_of(job), Sum(), room.sum);
    const int n = pieces_of(job);
    if (n == 1) return;
    clear_digits(job);
    for (int number = 0; number < n; number++) {
        const Piece piece = piece_at(job, number);
        clear_groups(job, count_of(piece.n, TILE), (int)threadIdx.x, THREADS);
        __syncthreads();
        put_tiles<B>(job, piece, false, room.tile);
        __syncthreads();
        sort_tiles(job, piece, room.sort);
        __syncthreads();
        find_states(job, piece, room.state);
        __syncthreads();
        make_runs(job, piece, room.run);
        __syncthreads();
        find_ways(job, piece, room.way);
        __syncthreads();
        add_low<THREADS>(job, piece, room.low);
        __syncthreads();
    }
}

// ---- Kernels: the NAL unit ----------------------------------------------------------------------

__global__ void __launch_bounds__(THREADS) carry_kernel(Job job) {
    const Piece last = piece_at(job, pieces_of(job) - 1);
    const uint32_t size = bytes_upto(job, last, behind_of(job, last).at),
                   capacity = job.in.slice.capacity;
    const bool fits = nal_begin(job.in.slice.before, capacity) + size + MOTUS_NAL_START <= capacity;
    const uint32_t bytes = fits ? size : 0;
    if (blockIdx.x == 0 && threadIdx.x == 0) *job.bytes = bytes;
    for (uint32_t tile = blockIdx.x; tile * MOTUS_NAL_TILE < bytes; tile += gridDim.x) {
        write_tile(job, tile);
        __syncthreads(); // its bytes are written, and shared memory has been read
        put_restarts(job, tile);
        count_escapes(job, tile, bytes);
    }
}

// ---- Costs --------------------------------------------------------------------------------------

__global__ void __launch_bounds__(LEARN_THREADS)
    learn_kernel(const MotusBinCounts *bins, const MotusCabacCosts *costs, MotusCabacCosts *next) {
    __shared__ LearnRoom learnt;
    learn<LEARN_THREADS>(bins, costs, next, learnt);
}

cudaError_t job_of(Job *job, const MotusCabacSliceCuda *in) {
    *job = {};
    job->in = *in;
    job->n_mb = in->slice.mb_width * in->slice.mb_height;
    if (job->n_mb <= 0 || !in->slice.capacity || !in->piece || in->piece > MOTUS_MOST_SYMBOLS)
        return cudaErrorInvalidValue;
    place(job, (uint8_t *)in->slice.work, in->slice.capacity);
    return cudaSuccess;
}

int blocks_for(size_t n, size_t each) {
    const size_t blocks = (n + each - 1) / each;
    return (int)(blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS);
}

// Launches a job's kernels in their order, up to the first failure.
struct Launches {
    const Job &job;
    cudaStream_t stream;
    cudaError_t status = cudaSuccess;
    void add(void (*kernel)(Job), int blocks, int threads) {
        if (status == cudaSuccess)
            status = motus_launch(0, blocks, threads, 0, stream, kernel, job);
    }
};

} // namespace

// ---- Launchers ----------------------------------------------------------------------------------

uint32_t motus_cabac_cuda_piece(int n_mb) {
    const size_t least = 65536, usual = (size_t)n_mb * 512, most = MOTUS_MOST_SYMBOLS;
    return (uint32_t)(usual < least ? least : usual < most ? usual : most);
}

size_t motus_cabac_cuda_bytes(int n_mb, uint32_t capacity, uint32_t piece) {
    Job job = {};
    job.n_mb = n_mb, job.in.piece = piece;
    return place(&job, nullptr, capacity);
}

cudaError_t motus_cabac_slice_cuda_begin(const MotusCabacSliceCuda *in, cudaStream_t stream) {
    Job job;
    const cudaError_t status = job_of(&job, in);
    if (status != cudaSuccess) return status;
    const bool is_b = in->slice.is_b;
    Launches launches = {job, stream};
    if (!in->string && is_b)
        launches.add(b_context_kernel, count_of(16 * job.n_mb, MB_THREADS), MB_THREADS);
    else if (!in->string)
        launches.add(p_context_kernel, count_of(job.n_mb, CONTEXT_MBS), CONTEXT_THREADS);
    launches.add(is_b ? count_kernel<true> : count_kernel<false>,
                 BEGIN_BLOCKS + job.n_mb / COUNT_MBS + 1, THREADS);
    launches.add(is_b ? sum_kernel<true> : sum_kernel<false>, 1, THREADS);
    launches.add(is_b ? put_kernel<true> : put_kernel<false>, blocks_for(in->piece, TILE), THREADS);
    return launches.status;
}

cudaError_t motus_cabac_slice_cuda_end(const MotusCabacSliceCuda *in, cudaStream_t stream) {
    Job job;
    const cudaError_t status = job_of(&job, in);
    if (status != cudaSuccess) return status;
    const size_t piece = in->piece;
    const int tiles = blocks_for(piece, TILE),
              chunk_tiles = blocks_for(piece + 2 * MOTUS_CHUNK, TILE);
    Launches launches = {job, stream};
    launches.add(step_kernel<sort_tiles, SortRoom, THREADS>, tiles, THREADS);
    launches.add(step_kernel<find_states, StateRoom, THREADS>,
                 blocks_for(piece + CONTEXTS * MOTUS_SEGMENT, SEGMENTS * MOTUS_SEGMENT), THREADS);
    launches.add(step_kernel<make_runs, RunRoom, THREADS>,
                 blocks_for(piece, MOTUS_RUN * (THREADS / 32)), THREADS);
    launches.add(step_kernel<find_ways, WayRoom, THREADS>, chunk_tiles, THREADS);
    launches.add(step_kernel<add_low<LOW_THREADS>, LowRoom<LOW_THREADS>, LOW_THREADS>, chunk_tiles,
                 LOW_THREADS);
    launches.add(carry_kernel, motus_min(job.n_tiles, MOST_BLOCKS), THREADS);
    if (launches.status != cudaSuccess) return launches.status;
    const MotusSliceCuda &slice = in->slice;
    const MotusNalCuda nal = {job.rbsp,
                              job.bytes,
                              job.escapes,
                              1,
                              slice.head,
                              slice.nal,
                              slice.capacity,
                              slice.before,
                              slice.result,
                              slice.early,
                              in->n_slices ? in->bins : NULL,
                              in->n_mb,
                              in->n_slices};
    return motus_nal_cuda_write(&nal, stream);
}

cudaError_t motus_cabac_costs_cuda_learn(const MotusBinCounts *bins, const MotusCabacCosts *costs,
                                         MotusCabacCosts *next, cudaStream_t stream) {
    return motus_launch(0, 1, LEARN_THREADS, 0, stream, learn_kernel, bins, costs, next);
}
