// Entropy coding of a slice of finalized MBs (finalize.cu) on a CUDA device. Equals
// motus_write_slice_data and motus_nal_write. In the order of the launches, a warp per MB and a
// lane per unit of syntax: count_kernel counts every unit's bits and keeps up to 64 of them; a scan
// gives each MB's first bit; write_kernel ors the bits into the RBSP. Then, 16 bytes a thread:
// escapes_kernel counts, and nal_kernel inserts, emulation prevention. Grids depend on picture size
// and capacity only; memory: MBs are read twice, levels once, 328 bytes kept per coded MB.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/bitstream/slice_cuda.h"

#include "common/cuda_call.cuh"
#include "common/int_core.h"
#include "common/slots.h"
#include "encoder/bitstream/cavlc_mb_core.h"
#include "encoder/bitstream/slice_scan.cuh"

namespace {

constexpr int WARPS = 8;              // MBs per block
constexpr int THREADS = 256;          // per block of the kernels for bytes
constexpr int BYTES = NAL_BYTES;      // per thread
constexpr int TILE = THREADS * BYTES; // bytes per block
constexpr int NAL_BLOCKS = 264;       // most for bytes; few pictures need more
constexpr int CODE_BITS = 64;         // kept of a unit
constexpr int MAX_MBS = 139264;       // MaxFS of level 6.2
constexpr int SCAN_THREADS = 1024;
static_assert(TILE == MOTUS_NAL_TILE, "tiles of slice_cuda.h");

struct Job {
    MotusSliceCuda slice;
    int n_mb, n_tiles;
    Span *span;             // [n_mb + 1], scanned: MBs 0..i; the last entry adds the slice's end
    uint16_t (*length)[32]; // [n_mb], coded MBs: bits of each unit, without alignment
    uint64_t (*code)[32];   // [n_mb], coded MBs: the last 64 bits of each unit
    uint8_t *rbsp;          // words
    uint32_t *escapes;      // [n_tiles]
    uint32_t *bytes;        // of rbsp; 0: the NAL unit exceeds the capacity
};

// Lays out `work`. Returns its size.
size_t place(Job *job, uint8_t *work, uint32_t capacity) {
    size_t n = (size_t)job->n_mb, end = 0;
    job->n_tiles = motus_nal_tiles(capacity);
    job->span = (Span *)(work + motus_slot_reserve(&end, (n + 1) * sizeof *job->span));
    job->length = (uint16_t(*)[32])(work + motus_slot_reserve(&end, n * sizeof *job->length));
    job->code = (uint64_t(*)[32])(work + motus_slot_reserve(&end, n * sizeof *job->code));
    job->rbsp = work + motus_slot_reserve(&end, (size_t)job->n_tiles * TILE);
    job->escapes =
        (uint32_t *)(work + motus_slot_reserve(&end, (size_t)job->n_tiles * sizeof *job->escapes));
    job->bytes = (uint32_t *)(work + motus_slot_reserve(&end, sizeof *job->bytes));
    return end;
}

// ---- Bit positions ------------------------------------------------------------------------------

// Returns the first bit of MB i; i = n_mb: of the slice's end.
__device__ uint32_t first_bit(const Job &job, int i) {
    uint32_t header = job.slice.head->header_bits;
    return i ? span_end(job.span[i - 1], header) : header;
}

// Returns 1 + the last MB of the slice before MB i whose bit is set, 0 if there is none. Called by
// a whole warp, which walks back over the marks 1024 MBs a step.
__device__ int last_before(const Job &job, const uint32_t *bits, int i) {
    const int first = job.slice.first_mb, end = first + i; // in the picture, as bits are
    for (int word = end / 32; 32 * word + 31 >= first; word -= 32) {
        const int own = word - motus_lane();
        uint32_t set = own >= 0 && 32 * own < end ? bits[own] : 0;
        if (own == end / 32) set &= (1u << end % 32) - 1; // before the MB
        if (own < first / 32) set = 0;                    // of previous slices
        if (own == first / 32) set &= ~0u << first % 32;
        const uint32_t lanes = __ballot_sync(MOTUS_ALL_LANES, set != 0);
        if (!lanes) continue;
        const int lane = __ffs((int)lanes) - 1;
        return 32 * (word - lane) + 32 - __clz((int)__shfl_sync(MOTUS_ALL_LANES, set, lane)) -
               first;
    }
    return 0;
}

// Returns mb_skip_run before MB i. Called by a whole warp, as are its callers.
__device__ uint32_t skip_run(const Job &job, int i) {
    return (uint32_t)(i - last_before(job, job.slice.marks.coded, i));
}

__device__ MotusMbSyntax syntax_of(const Job &job, int i) {
    const MotusSliceCuda &slice = job.slice;
    int x = i % slice.mb_width, y = i / slice.mb_width;
    MotusMbSyntax s;
    s.mb = &slice.mb[i];
    s.coef = &slice.coef[i];
    s.neighbours = motus_neighbours(slice.mb, slice.mb_width, x, y, 0);
    for (int p = 0; p < 3; p++) {
        int size = p ? 8 : 16;
        s.src.stride[p] = slice.src_stride[p];
        s.src.plane[p] = slice.src[p] + y * size * slice.src_stride[p] + x * size;
    }
    s.slice_type = slice.head->slice_type;
    s.transform_8x8 = slice.head->transform_8x8;
    s.refs = slice.refs;
    s.skip_run = skip_run(job, i);
    s.qp_delta = 0;
    if (motus_mb_has_qp_delta(s.mb)) {
        const int k = last_before(job, slice.marks.with_qp, i);
        s.qp_delta = motus_qp_delta(s.mb->qp, k ? slice.mb[k - 1].qp : slice.head->qp);
    }
    return s;
}

// ---- Counting -----------------------------------------------------------------------------------

enum { TALLY_BITS = TALLIES, ALL_TALLIES = TALLY_BITS + MOTUS_BIT_KINDS };

// Counts an MB by a warp: lengths and bits of its units, its span, its statistics.
template <bool B> __device__ void count_mb(const Job &job, int i, uint32_t *tally) {
    const MotusMb *mb = &job.slice.mb[i];
    const int unit = motus_lane(), pcm = mb->type == MOTUS_MB_I_PCM;
    const uint32_t units = motus_mb_units(mb, job.slice.head->slice_type);
    if (!units) {
        if (unit == 0) job.span[i] = {0, 0}, atomicAdd(&tally[TALLY_KINDS + mb->type], 1u);
        return;
    }
    const int transform = unit ? -1 : motus_transform_8x8_kind(mb);
    if (transform >= 0) atomicAdd(&tally[TALLY_TRANSFORMS + transform], 1u);
    const MotusMbSyntax s = syntax_of(job, i);
    MotusBits bits;
    motus_bits_init(&bits, NULL, 0);
    if (units >> unit & 1) B ? motus_put_b_unit(&bits, &s, unit) : motus_put_unit(&bits, &s, unit);
    const uint32_t length = (uint32_t)motus_bits_count(&bits),
                   at = scan_lanes(length, Sum()) - length;
    const uint32_t all = __shfl_sync(MOTUS_ALL_LANES, at + length, 31);
    const uint32_t samples = pcm ? all - __shfl_sync(MOTUS_ALL_LANES, at, MOTUS_UNIT_LUMA) : 0;
    job.length[i][unit] = (uint16_t)length;
    job.code[i][unit] = bits.cache; // counting leaves written bits in the cache
    if (length) atomicAdd(&tally[TALLY_BITS + motus_unit_kind(unit)], length);
    if (unit == 0) {
        job.span[i] = {all - samples, pcm ? samples + 1 : 0};
        atomicAdd(&tally[TALLY_KINDS + mb->type], 1u);
        if (B && mb->type == MOTUS_MB_P_16x16 && motus_is_direct(mb))
            atomicAdd(&tally[TALLY_DIRECT], 1u);
    }
    if (unit < 4 && mb->type == MOTUS_MB_P_8x8)
        atomicAdd(&tally[TALLY_SUBS + mb->sub_type[unit]], 1u);
}

// Writes the slice's end: the last mb_skip_run and rbsp_stop_one_bit.
__device__ void put_end(MotusBits *bits, uint32_t run) {
    if (run) motus_bits_ue(bits, run);
    motus_bits_put(bits, 1, 1);
}

// Counts all MBs. Clears the whole RBSP, whose size is known only after the scan.
template <bool B> __global__ void __launch_bounds__(32 * WARPS) count_kernel(Job job) {
    __shared__ uint32_t tally[ALL_TALLIES];
    const int i = (int)(blockIdx.x * WARPS + threadIdx.x / 32), t = (int)threadIdx.x;
    motus_begin_early();
    for (uint32_t v = blockIdx.x * 32 * WARPS + t, n = (uint32_t)job.n_tiles * THREADS; v < n;
         v += gridDim.x * 32 * WARPS)
        ((uint4 *)job.rbsp)[v] = make_uint4(0, 0, 0, 0); // tiles are of 16 bytes a thread
    if (t < ALL_TALLIES) tally[t] = 0;
    __syncthreads(); // cleared before it is added to
    if (i < job.n_mb) {
        count_mb<B>(job, i, tally);
    } else if (i == job.n_mb) {
        const uint32_t run = skip_run(job, i);
        MotusBits bits;
        motus_bits_init(&bits, NULL, 0);
        put_end(&bits, run);
        const uint32_t length = (uint32_t)motus_bits_count(&bits);
        if (motus_lane() == 0) job.span[i] = {length, 0};
        if (motus_lane() == 0) atomicAdd(&tally[TALLY_BITS + MOTUS_BITS_MODE], length - 1);
    }
    __syncthreads(); // complete before it is read
    if (t < TALLIES && tally[t]) add_tally(job.slice.stats, t, tally[t]);
    if (t >= TALLY_BITS && t < ALL_TALLIES && tally[t])
        add_bits(job.slice.stats, t - TALLY_BITS, tally[t]);
}

__global__ void __launch_bounds__(SCAN_THREADS) scan_kernel(Span *v, int n) {
    __shared__ Span room[SCAN_THREADS / 32];
    motus_let_successor_start();
    motus_wait_for_predecessor();
    scan_array<SCAN_THREADS>(v, n, Join(), room);
}

// ---- Writing ------------------------------------------------------------------------------------

// Writes an MB by a warp. Units of more than CODE_BITS bits are coded again.
template <bool B> __device__ void write_mb(const Job &job, int i) {
    const int unit = motus_lane();
    const MotusMb *mb = &job.slice.mb[i];
    const uint32_t units = motus_mb_units(mb, job.slice.head->slice_type);
    if (!units) return;
    const int length = job.length[i][unit];
    uint32_t at = first_bit(job, i) + scan_lanes((uint32_t)length, Sum()) - (uint32_t)length;
    if (mb->type == MOTUS_MB_I_PCM) {
        uint32_t end = __shfl_sync(MOTUS_ALL_LANES, at, MOTUS_UNIT_LUMA),
                 aligned = motus_align8(end);
        if (unit >= MOTUS_UNIT_LUMA) at += aligned - end;
        if (unit == 0) add_bits(job.slice.stats, MOTUS_BITS_MODE, aligned - end);
    }
    MotusMbSyntax s = {};
    if (__any_sync(MOTUS_ALL_LANES, length > CODE_BITS)) s = syntax_of(job, i);
    if (!length) return;
    MotusBits bits;
    motus_bits_init_at(&bits, job.rbsp, at);
    if (length > CODE_BITS) {
        B ? motus_put_b_unit(&bits, &s, unit) : motus_put_unit(&bits, &s, unit);
    } else {
        const uint64_t code = job.code[i][unit];
        if (length > 32) motus_bits_put(&bits, length - 32, (uint32_t)(code >> 32));
        motus_bits_put(&bits, motus_min(length, 32), (uint32_t)code);
    }
    motus_bits_finish(&bits);
}

template <bool B> __global__ void __launch_bounds__(32 * WARPS) write_kernel(Job job) {
    const int i = (int)(blockIdx.x * WARPS + threadIdx.x / 32);
    motus_begin_early();
    // Bytes of the RBSP with its trailing bits, 0 if the NAL unit exceeds the capacity.
    const MotusSliceHead *head = job.slice.head;
    const uint32_t all = motus_align8(span_end(job.span[job.n_mb], head->header_bits)) / 8,
                   begin = nal_begin(job.slice.before, job.slice.capacity),
                   bytes = begin + all + MOTUS_NAL_START <= job.slice.capacity ? all : 0;
    if (i == 0 && motus_lane() == 0) *job.bytes = bytes;
    if (i > job.n_mb || !bytes) return;
    if (i < job.n_mb) {
        write_mb<B>(job, i);
        return;
    }
    const uint32_t run = skip_run(job, i);
    MotusBits bits;
    if (motus_lane() == 0) {
        motus_bits_init_at(&bits, job.rbsp, 0);
        for (uint32_t at = 0; at < head->header_bits; at += 8) {
            int n = (int)min(8u, head->header_bits - at);
            motus_bits_put(&bits, n, (uint32_t)head->header[at / 8] >> (8 - n));
        }
        motus_bits_finish(&bits);
    }
    if (motus_lane() != 1) return;
    motus_bits_init_at(&bits, job.rbsp, first_bit(job, i));
    put_end(&bits, run);
    motus_bits_finish(&bits);
}

// ---- NAL unit -----------------------------------------------------------------------------------

__global__ void __launch_bounds__(THREADS) escapes_kernel(MotusNalCuda nal) {
    __shared__ uint32_t sum;
    motus_begin_early();
    const uint32_t size = *nal.bytes;
    for (uint32_t tile = blockIdx.x; tile * TILE < size; tile += gridDim.x) {
        if (threadIdx.x == 0) sum = 0;
        __syncthreads(); // cleared before it is added to
        uint32_t mask = escapes_at(nal.rbsp, size, 0, tile * TILE + threadIdx.x * BYTES);
        if (mask) atomicAdd(&sum, (uint32_t)__popc(mask));
        __syncthreads();                               // complete before it is read
        if (threadIdx.x == 0) nal.escapes[tile] = sum; // and cleared by the same thread
    }
}

// Returns how many more bytes are inserted in the tile at byte `at` because zeros precede it.
__device__ uint32_t escapes_across(const uint8_t *rbsp, uint32_t size, uint32_t at) {
    const uint32_t before = zeros_before(rbsp, 0, at);
    uint32_t more = 0, byte = 0;
    for (uint32_t i = 0; before && !byte && i < TILE && at + i < size; i++) {
        byte = rbsp[at + i];
        more += (uint32_t)is_escaped(before + i, byte) - (uint32_t)is_escaped(i, byte);
    }
    return more;
}

// Returns the bytes inserted in previous tiles, to every thread of the block.
__device__ uint32_t escapes_before(const MotusNalCuda &nal, uint32_t size, uint32_t tile,
                                   uint32_t *sum) {
    uint32_t mine = 0;
    if (threadIdx.x == 0) *sum = 0;
    __syncthreads(); // cleared before it is added to
    for (uint32_t i = threadIdx.x; i < tile; i += THREADS)
        mine += nal.escapes[i] + (nal.counted ? escapes_across(nal.rbsp, size, i * TILE) : 0);
    if (mine) atomicAdd(sum, mine);
    __syncthreads(); // complete before it is read
    return *sum;
}

__device__ void put_tile(const MotusNalCuda &nal, uint32_t size, uint32_t tile) {
    __shared__ uint32_t room[THREADS / 32], sum;
    const uint32_t at = tile * TILE + threadIdx.x * BYTES;
    const uint32_t mask = escapes_at(nal.rbsp, size, 0, at), end = min(at + BYTES, size);
    const uint32_t begin = nal_begin(nal.before, nal.capacity);
    uint32_t to = begin + MOTUS_NAL_START + at + escapes_before(nal, size, tile, &sum), all;
    const uint32_t own = (uint32_t)__popc(mask), upto = scan_lanes(own, Sum());
    to += upto - own + scan_warps<THREADS>(from_lane(upto, 31), Sum(), room, &all);
    for (uint32_t i = at; i < end; i++, to++) {
        const bool escaped = mask >> (i - at) & 1;
        if (escaped && to < nal.capacity) nal.nal[to] = 3;
        to += escaped;
        if (to < nal.capacity) nal.nal[to] = nal.rbsp[i];
    }
    if (at < size && end == size) *nal.result = {to <= nal.capacity ? to : 0, to > nal.capacity};
    if (at == 0) {
        const uint8_t start[MOTUS_NAL_START] = {0, 0, 0, 1, nal.head->nal_header};
        for (int i = 0; i < MOTUS_NAL_START; i++) nal.nal[begin + i] = start[i];
    }
}

// Appends cabac_zero_words to a picture's last slice, by the block that has written its end.
__device__ void put_zero_words(const MotusNalCuda &nal) {
    __shared__ uint32_t room[THREADS / 32];
    const MotusBinCounts *bins = nal.bins;
    uint32_t own = 0;
    for (int k = (int)threadIdx.x; k < MOTUS_BIN_COUNTS; k += THREADS) own += bins->bin[k];
    own = motus_lanes_sum(own);
    if (motus_lane() == 0) room[threadIdx.x / 32] = own;
    __syncthreads(); // complete before they are read; `result` is written
    uint64_t sum = bins->others;
    for (int w = 0; w < THREADS / 32; w++) sum += room[w];
    const MotusSliceResult result = *nal.result;
    if (result.overflow) return;
    const size_t words =
                     motus_cabac_zero_words(sum, result.size - 4 * (size_t)nal.n_slices, nal.n_mb),
                 size = result.size + 3 * words;
    const bool fits = size <= nal.capacity;
    for (size_t k = threadIdx.x; k < 3 * words && fits; k += THREADS)
        nal.nal[result.size + k] = k % 3 == 2 ? 3 : 0;
    __syncthreads(); // `result` has been read
    if (threadIdx.x == 0 && words) *nal.result = {fits ? (uint32_t)size : 0, !fits};
}

__global__ void __launch_bounds__(THREADS) nal_kernel(MotusNalCuda nal) {
    motus_wait_for_predecessor();
    const uint32_t size = *nal.bytes;
    if (!size && blockIdx.x == 0 && threadIdx.x == 0) *nal.result = {0, 1};
    for (uint32_t tile = blockIdx.x; tile * TILE < size; tile += gridDim.x) {
        put_tile(nal, size, tile);
        if (nal.bins && (tile + 1) * TILE >= size) put_zero_words(nal);
        __syncthreads(); // shared memory has been read
    }
}

} // namespace

// ---- Launchers ----------------------------------------------------------------------------------

size_t motus_slice_cuda_bytes(int n_mb, uint32_t capacity) {
    Job job = {};
    job.n_mb = n_mb;
    return place(&job, nullptr, capacity);
}

cudaError_t motus_nal_cuda_write(const MotusNalCuda *nal, cudaStream_t stream) {
    const int tiles = motus_min(motus_nal_tiles(nal->capacity), NAL_BLOCKS);
    const cudaError_t status =
        nal->counted ? cudaSuccess
                     : motus_launch(nal->early, tiles, THREADS, 0, stream, escapes_kernel, *nal);
    return status == cudaSuccess
               ? motus_launch(nal->early, tiles, THREADS, 0, stream, nal_kernel, *nal)
               : status;
}

cudaError_t motus_slice_cuda_write(const MotusSliceCuda *slice, cudaStream_t stream) {
    Job job = {};
    job.slice = *slice;
    job.n_mb = slice->mb_width * slice->mb_height;
    if (job.n_mb <= 0 || job.n_mb > MAX_MBS || !slice->capacity) return cudaErrorInvalidValue;
    place(&job, (uint8_t *)slice->work, slice->capacity);
    const int blocks = job.n_mb / WARPS + 1; // one warp more than MBs
    const auto count = slice->is_b ? count_kernel<true> : count_kernel<false>,
               write = slice->is_b ? write_kernel<true> : write_kernel<false>;
    const int early = slice->early;
    cudaError_t status = motus_launch(early, blocks, 32 * WARPS, 0, stream, count, job);
    if (status == cudaSuccess)
        status =
            motus_launch(early, 1, SCAN_THREADS, 0, stream, scan_kernel, job.span, job.n_mb + 1);
    if (status == cudaSuccess)
        status = motus_launch(early, blocks, 32 * WARPS, 0, stream, write, job);
    const MotusNalCuda nal = {
        job.rbsp,      job.bytes,     job.escapes, 0,    slice->head, slice->nal, slice->capacity,
        slice->before, slice->result, early,       NULL, 0,           0};
    return status == cudaSuccess ? motus_nal_cuda_write(&nal, stream) : status;
}
