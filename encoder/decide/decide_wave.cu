// Intra MBs that have types (decide_types.cu, decide_estimate.cu) on a CUDA device (decide.c, suite
// gpu_decide). Luma and chroma are two waves beside one another. Four warps of a block take the
// next row of an I picture for luma, or each the next MBs of the list (intra_list.cu), for chroma
// and in P and B pictures. Blocks of an MB are coded as soon as those around them are done, which
// were taken earlier by running warps: the kernel ends with any number of resident blocks. Beside
// other GOP coders a block has four rows, which fill an SM: their code displaces that of other
// kernels from few instruction caches. finish_kernel joins luma and chroma, and finds out whether
// an MB would rather be I_PCM: then decide_intra.cu codes all of them again.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/decide/decide_pass.cuh"
#include "encoder/intra/intra_wave_warp.cuh"

using namespace motus_decide;
using namespace motus_wave;

namespace {

constexpr int MOST_ROWS = 4; // of a block; they take all registers of an SM
constexpr int ROW_THREADS = 32 * ROW_WARPS;

// Transforms of intra MBs: 4x4 alone, with keeps_left or without, or also 8x8.
enum Sizes { LEFT_4x4, ALL_4x4, BOTH_SIZES };

// Takes the next MB of the list for a warp, counted by `flag`. Returns its raster index, or -1.
__device__ int take(const MotusPictureStateCuda &w, int flag) {
    int at = 0;
    if (motus_lane() == 0) at = atomicAdd(&w.flags[flag], 1);
    at = __shfl_sync(MOTUS_ALL_LANES, at, 0);
    return at < w.flags[MOTUS_FLAG_LISTED] ? w.list[at] : -1;
}

// Returns the word of block k at the edge of an inter MB, `below` or to the right, of a plane.
__device__ uint64_t inter_word(const MotusPictureStateCuda &w, int i, int plane, int below, int k) {
    const MotusMbRecon rec = mb_recon(w, i % w.mb_width, i / w.mb_width);
    const int last = plane ? 7 : 15, own = 4 * k,
              blk = !plane ? (below ? 12 + k : 4 * k + 3)
                           : 12 + 4 * plane + (below ? 2 + k : 2 * k + 1);
    const uint8_t *at = rec.plane[plane];
    const ptrdiff_t stride = rec.stride[plane];
    uint32_t samples = 0;
    for (int j = 0; j < 4; j++)
        samples |= (uint32_t)at[below ? last * stride + own + j : (own + j) * stride + last]
                   << (8 * j);
    return word_of(samples, MOTUS_I4_DC, w.mb[i].total_coeff[blk]);
}

// Returns the block that this lane waits for. ROWS: luma to the left comes through shared memory,
// and all MBs are listed.
template <bool ROWS>
__device__ Wanted wanted_of(const MotusPictureStateCuda &w, int i, bool chroma) {
    const int lane = motus_lane(), corner = chroma ? (int)CHROMA_CORNER : (int)CORNER;
    const int from = lane < ABOVE ? 0 : lane < ABOVE_RIGHT ? 1 : lane < corner ? 2 : 3;
    const bool comes = lane < corner + 1 + chroma && (!ROWS || chroma || from);
    const int at = comes ? neighbour_of(w, i, from) : -1;
    if (at < 0) return Wanted{nullptr, 0};
    const int own = lane < ABOVE ? lane : lane - ABOVE,
              plane = !chroma     ? 0
                      : from == 3 ? 1 + lane - CHROMA_CORNER
                                  : 1 + (own >> 1),
              below = chroma && from != 3 ? from == 1 : from != 0,
              k = chroma      ? (from == 3 ? 1 : own & 1)
                  : from == 3 ? 3
                              : own & 3;
    const MotusHandedMb *mb = &w.handed[at];
    const uint64_t *word = plane ? (below ? mb->chroma_below : mb->chroma_right) + 2 * (plane - 1)
                                 : (below ? mb->below : mb->right);
    const bool waits = ROWS || w.listed[at] == LISTED;
    return Wanted{word + k, waits ? 0 : inter_word(w, at, plane, below, k)};
}

// Lets an MB's neighbours be those in shared memory.
__device__ void use_around(MotusIntraMb *in, const MotusMb around[2]) {
    in->neighbours.a = in->neighbours.a ? &around[0] : nullptr;
    in->neighbours.b = in->neighbours.b ? &around[1] : nullptr;
}

// Codes luma of MB (x, y). SIZES: of wave_kernel.
template <Sizes SIZES, bool ROWS>
__device__ void code_luma(const Pass &pass, const MotusLevelChoice *levels, Luma *s,
                          const Place &place, int x, int y) {
    const MotusPictureStateCuda &w = pass.pic;
    const int i = y * w.mb_width + x;
    MotusIntraMb in = intra_mb(pass, levels, x, y);
    const MotusMbRecon rec = in.rec;
    Wanted wanted = wanted_of<ROWS>(w, i, false);
    const int type = w.mb[i].type, transform8 = SIZES == BOTH_SIZES && w.mb[i].transform_8x8;
    for (int k = motus_lane(); k < 64; k += 32)
        copy4(s->source + 4 * k, in.src.plane[0] + (k >> 2) * in.src.stride[0] + 4 * (k & 3));
    in.src.plane[0] = s->source, in.src.stride[0] = MOTUS_LUMA_STRIDE;
    in.rec.plane[0] = s->scratch.canvas + MOTUS_CANVAS_ORIGIN;
    in.rec.stride[0] = MOTUS_CANVAS_STRIDE;
    in.keeps_left = SIZES == LEFT_4x4;
    use_around(&in, s->around);
    look(&wanted);
    motus_intra_begin_as(&in, &s->trial, type);
    MotusIntraPart part;
    if (type == MOTUS_MB_I_16x16)
        part = code_16x16(&in, w.mb[i].intra16x16_pred_mode, s, &place, &wanted, &w.handed[i]);
    else if (transform8)
        part = code_8x8(&in, &w.quant8[in.qp->luma.qp], s, &place, &wanted, &w.handed[i]);
    else // of I_PCM the result is dropped
        part = code_4x4(&in, s, &place, &wanted, &w.handed[i]);
    if (motus_lane() == 0) w.parts[i].luma = part;
    __syncwarp(); // the trial is complete
    store_luma(&s->trial, rec);
    copy(&w.mb[i], &s->trial.mb);
    uint4 *to = reinterpret_cast<uint4 *>(&w.coef[i]);
    const uint4 *from = reinterpret_cast<const uint4 *>(&s->trial.coef);
    to[motus_lane()] = from[motus_lane()];                                 // luma
    if (motus_lane() < 2) to[48 + motus_lane()] = from[48 + motus_lane()]; // its DCs
    __syncwarp(); // all have read the trial
}

template <bool ROWS>
__device__ void code_chroma_of(const Pass &pass, const MotusLevelChoice *levels, Chroma *s) {
    const MotusPictureStateCuda &w = pass.pic;
    for (int i; (i = take(w, MOTUS_FLAG_CHROMA_TAKEN)) >= 0;) {
        MotusIntraMb in = intra_mb(pass, levels, i % w.mb_width, i / w.mb_width);
        const MotusMbRecon rec = in.rec;
        Wanted wanted = wanted_of<ROWS>(w, i, true);
        const int lane = motus_lane(), c = lane >> 4, row = lane >> 1 & 7, x = 4 * (lane & 1);
        copy4(s->source[c] + 8 * row + x, (c ? in.src.plane[2] + row * in.src.stride[2]
                                             : in.src.plane[1] + row * in.src.stride[1]) +
                                              x);
        for (int p = 1; p < 3; p++) {
            in.src.plane[p] = s->source[p - 1], in.src.stride[p] = MOTUS_CHROMA_STRIDE;
            in.rec.plane[p] = s->canvas[p - 1] + CHROMA_CANVAS_ORIGIN;
            in.rec.stride[p] = CHROMA_CANVAS_STRIDE;
        }
        use_around(&in, s->around);
        look(&wanted);
        motus_intra_begin_as(&in, &s->trial, MOTUS_MB_I_16x16);
        const MotusIntraPart part = code_chroma(&in, s, &wanted, &w.handed[i]);
        if (lane == 0) w.parts[i].chroma = part;
        __syncwarp(); // the trial is complete
        store_chroma(&s->trial, rec);
        copy(&w.mb_intra[i], &s->trial.mb);
        uint4 *to = reinterpret_cast<uint4 *>(&w.coef[i]);
        const uint4 *from = reinterpret_cast<const uint4 *>(&s->trial.coef);
        if (lane < 16) to[32 + lane] = from[32 + lane];
        if (lane == 16) to[50] = from[50]; // DCs
        __syncwarp();                      // all have read the trial
    }
}

static_assert(offsetof(MotusMbCoef, chroma_ac) == 32 * 16 &&
                  offsetof(MotusMbCoef, luma_dc) == 48 * 16 &&
                  offsetof(MotusMbCoef, chroma_dc) == 50 * 16,
              "vectors of code_luma and code_chroma_of");

// Shared memory of a row's four warps.
struct WaveShared {
    union {
        Luma luma[ROW_WARPS];
        Chroma chroma[ROW_WARPS];
    };
    Row row;
    int y; // of the block's first row
};

// Grid: blocks for luma first, which have all rows of an I picture (ROWS), the others for chroma. A
// block has one of the waves, since its SM's instruction cache cannot hold both.
template <bool CABAC, Sizes SIZES, bool ROWS>
__global__ void __launch_bounds__(MOST_ROWS *ROW_THREADS, 1)
    wave_kernel(const __grid_constant__ Pass pass, int luma_blocks) {
    extern __shared__ uint4 memory[];
    WaveShared *shared = reinterpret_cast<WaveShared *>(memory);
    const MotusPictureStateCuda &w = pass.pic;
    const int rows = (int)blockDim.x / ROW_THREADS, own = (int)threadIdx.x / ROW_THREADS,
              t = (int)threadIdx.x % ROW_THREADS, warp = t / 32;
    WaveShared *s = shared + own;
    motus_wait_for_predecessor();
    const MotusLevelChoice levels = level_choice<CABAC>(pass, MOTUS_LEVELS_GUESSED);
    if ((int)blockIdx.x >= luma_blocks) {
        code_chroma_of<ROWS>(pass, &levels, &s->chroma[warp]);
        return;
    }
    const int width = w.mb_width;
    if (!ROWS) {
        const Place anywhere = {nullptr, -1, -1};
        for (int i; (i = take(w, MOTUS_FLAG_LUMA_TAKEN)) >= 0;)
            code_luma<SIZES, false>(pass, &levels, &s->luma[warp], anywhere, i % width, i / width);
        return;
    }
    if (threadIdx.x == 0) shared->y = atomicAdd(&w.flags[MOTUS_FLAG_LUMA_TAKEN], rows);
    if (t < 4 * ROW_WARPS) s->row.right[t / 4][t % 4] = 0;
    __syncthreads();               // the row is written, and its words are 0
    const int y = shared->y + own; // slices consist of whole rows
    for (int x = warp; x < width && y < w.mb_height; x += ROW_WARPS) {
        const Place place = {&s->row, x ? (warp + ROW_WARPS - 1) % ROW_WARPS : -1,
                             x + 1 < width ? warp : -1};
        code_luma<SIZES, true>(pass, &levels, &s->luma[warp], place, x, y);
    }
}

// A warp an MB, since levels that are counted take their time.
__global__ void __launch_bounds__(32 * WARPS) finish_kernel(const __grid_constant__ Pass pass) {
    const MotusPictureStateCuda &w = pass.pic;
    const int at = this_warp();
    motus_begin_early();
    if (at >= w.flags[MOTUS_FLAG_LISTED]) return;
    const int i = w.list[at];
    const MotusIntraParts parts = w.parts[i];
    MotusMb *mb = &w.mb[i];
    const MotusMb *chroma = &w.mb_intra[i];
    if (motus_lane() < 2)
        *reinterpret_cast<uint32_t *>(&mb->total_coeff[16 + 4 * motus_lane()]) =
            *reinterpret_cast<const uint32_t *>(&chroma->total_coeff[16 + 4 * motus_lane()]);
    if (motus_lane() == 0) mb->intra_chroma_pred_mode = chroma->intra_chroma_pred_mode;
    __syncwarp(); // the MB is joined
    const MotusQp *qp = &w.qp_table[motus_mb_qp(pass.qp, w.qp_offset, i)];
    const int wants_pcm = motus_intra_typed_wants_pcm(mb, &w.coef[i], &parts.luma, &parts.chroma,
                                                      pass.slice_type, qp, w.zero_runs);
    if (motus_lane() == 0 && (mb->type == MOTUS_MB_I_PCM || wants_pcm))
        w.flags[MOTUS_FLAG_WANTS_PCM] = 1;
}

using Kernel = void (*)(Pass, int);

// By Sizes, CABAC and rows.
const Kernel kernels[3][2][2] = {
    {{wave_kernel<false, LEFT_4x4, false>, wave_kernel<false, LEFT_4x4, true>},
     {wave_kernel<true, LEFT_4x4, false>, wave_kernel<true, LEFT_4x4, true>}},
    {{wave_kernel<false, ALL_4x4, false>, wave_kernel<false, ALL_4x4, true>},
     {wave_kernel<true, ALL_4x4, false>, wave_kernel<true, ALL_4x4, true>}},
    {{wave_kernel<false, BOTH_SIZES, false>, wave_kernel<false, BOTH_SIZES, true>},
     {wave_kernel<true, BOTH_SIZES, false>, wave_kernel<true, BOTH_SIZES, true>}}};

// Returns how many rows of a block fit in the current device's shared memory.
int most_rows() { return motus_clip(1, MOST_ROWS, motus_shared_bytes() / (int)sizeof(WaveShared)); }

} // namespace

// Launches as many blocks as have work at a time: more would only look for words that have not
// come. In an I picture a row of luma has some 2.5 MBs under way, others prepare theirs, and 1.5
// MBs a row are taken for chroma. A P picture has many chains. Blocks have more than half of an
// SM's shared memory if all can have an SM each: two would share an SM, on which they would be
// slower, where others are idle.
cudaError_t motus_decide::code_typed(const Pass &pass, cudaStream_t stream) {
    const MotusPictureStateCuda &w = pass.pic;
    const int rows = w.block_mbs == 1 ? 1 : most_rows(), warps = rows * ROW_WARPS,
              mbs = motus_min(w.block_mbs == 1 ? 256 : motus_clip(12, 160, w.n_mb / 300), w.n_mb),
              chroma_mbs =
                  pass.slice_type ? (mbs + 1) / 2 : motus_min(w.n_mb, w.mb_height * 3 / 2 + 1);
    const auto blocks_of = [](int n, int each) { return (n + each - 1) / each; };
    const int luma = pass.slice_type ? blocks_of(mbs, warps) : blocks_of(w.mb_height, rows),
              chroma = blocks_of(chroma_mbs, warps);
    const size_t own = rows * sizeof(WaveShared), most = most_rows() * sizeof(WaveShared),
                 half = motus_shared_bytes() * 9 / 16;
    const bool spreads =
        own <= half && luma + chroma <= motus_device_attribute(cudaDevAttrMultiProcessorCount);
    const size_t bytes = !spreads ? own : half < most ? half : most;
    const Sizes sizes = w.transform_8x8 ? BOTH_SIZES : pass.effort.keeps_left ? LEFT_4x4 : ALL_4x4;
    const Kernel kernel = kernels[sizes][w.costs != nullptr][!pass.slice_type];
    cudaError_t status =
        motus_launch(w.early, luma + chroma, rows * ROW_THREADS, bytes, stream, kernel, pass, luma);
    if (status == cudaSuccess)
        status =
            motus_launch(w.early, blocks_for(w.n_mb), 32 * WARPS, 0, stream, finish_kernel, pass);
    return status;
}

cudaError_t motus_decide::prepare_typed() {
    const int bytes = most_rows() * (int)sizeof(WaveShared);
    cudaError_t status = cudaSuccess;
    for (const auto &of_sizes : kernels)
        for (const auto &by_coder : of_sizes)
            for (const Kernel kernel : by_coder)
                if (status == cudaSuccess)
                    status = cudaFuncSetAttribute(
                        kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    return status == cudaSuccess ? motus_load_kernels(finish_kernel) : status;
}
