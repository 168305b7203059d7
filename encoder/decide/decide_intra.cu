// The wavefront of intra MBs on a CUDA device, one launch (decide.c, suite gpu_decide). A team of
// three warps, one each for Intra4x4, Intra16x16 and chroma, with 17 KiB of shared memory, takes
// the next MB of the list (intra_list.cu), waits for its neighbours on the list and codes it. Those
// were taken earlier by running teams, so the first MB that is not done never waits, and the kernel
// ends with any number of resident blocks. A picture alone on the device has a team a block. Beside
// other GOP coders five teams fill an SM: its instruction cache cannot hold two kernels. With the
// 8x8 transform a team has a fourth warp, for Intra8x8, and 23 KiB, and an SM four teams.
// SPDX-License-Identifier: BSD-2-Clause
#include "encoder/decide/decide_pass.cuh"
#include "encoder/intra/intra8x8_warp.cuh"

using namespace motus_decide;

namespace {

constexpr int MOST_BLOCK_MBS = 5; // of a block; they take all registers of an SM

// Threads of a team. INTRA8: it evaluates Intra8x8.
__host__ __device__ constexpr int team_threads(bool intra8) {
    return 32 * (intra8 ? (int)MOTUS_INTRA8_ROLES : (int)MOTUS_INTRA_ROLES);
}

// Returns the MBs of a block of such teams, in the place of `mbs` without Intra8x8.
__host__ __device__ constexpr int block_mbs_of(int mbs, bool intra8) {
    return intra8 && mbs > 1
               ? mbs * MOTUS_INTRA_ROLES / MOTUS_INTRA8_ROLES + (mbs == MOST_BLOCK_MBS)
               : mbs;
}

// Shared memory of a team.
template <bool INTRA8> struct IntraTeam {
    std::conditional_t<INTRA8, MotusIntra8Team, MotusIntraTeam> team;
    alignas(16) uint8_t luma[256], chroma[2][64]; // the source
    MotusQp qp;
    int at; // in the list
};

// Copies the MB's source and quantizers to shared memory, before its neighbours are done. t: thread
// of the team.
template <bool INTRA8> __device__ void fetch_source(IntraTeam<INTRA8> *s, MotusIntraMb *in, int t) {
    const MotusMbSource from = in->src;
    const int c = t >> 4 & 1, row = t >> 1 & 7;
    const uint8_t *chroma =
        c ? from.plane[2] + row * from.stride[2] : from.plane[1] + row * from.stride[1];
    if (t < 64)
        copy4(s->luma + 4 * t, from.plane[0] + (t >> 2) * from.stride[0] + 4 * (t & 3));
    else if (!INTRA8 || t < 96)
        copy4(s->chroma[c] + 8 * row + 4 * (t & 1), chroma + 4 * (t & 1));
    static_assert(sizeof(MotusQp) % 4 == 0, "whole words");
    if (t < (int)(sizeof(MotusQp) / 4))
        reinterpret_cast<uint32_t *>(&s->qp)[t] = reinterpret_cast<const uint32_t *>(in->qp)[t];
    in->qp = &s->qp;
    in->src.plane[0] = s->luma, in->src.plane[1] = s->chroma[0], in->src.plane[2] = s->chroma[1];
    in->src.stride[0] = MOTUS_LUMA_STRIDE,
    in->src.stride[1] = in->src.stride[2] = MOTUS_CHROMA_STRIDE;
}

// Hand an MB on (scope: the device). A thread that has acquired a state sees all that was written
// before its release.
__device__ uint32_t acquire(const uint8_t *from) {
    uint32_t v;
    asm volatile("ld.acquire.gpu.u8 %0, [%1];" : "=r"(v) : "l"(from) : "memory");
    return v;
}
__device__ void release(uint8_t *to, uint32_t v) {
    asm volatile("st.release.gpu.u8 [%0], %1;" : : "l"(to), "r"(v) : "memory");
}

// Blocks a warp until MB i's neighbours on the list are done, a lane each. Acquiring empties the
// SM's L1 cache: beside other teams only the last read does it; a team alone acquires with every
// read.
template <int BLOCK_MBS>
__device__ void wait_for_neighbours(const MotusPictureStateCuda &w, int i) {
    const int at = motus_lane() < 4 ? neighbour_of(w, i, motus_lane()) : -1;
    volatile const uint8_t *state = w.listed + at;
    if (BLOCK_MBS == 1 && at >= 0)
        while (acquire(w.listed + at) == LISTED) __nanosleep(20);
    if (BLOCK_MBS > 1 && at >= 0 && *state != NOT_LISTED)
        while (*state != DONE || acquire(w.listed + at) != DONE) __nanosleep(20);
    __syncwarp();
}

// Waits for the team's other warps, at one and the same instruction.
template <bool INTRA8> __device__ void meet(int team) {
    asm volatile("bar.sync %0, %1;" : : "r"(team + 1), "n"(team_threads(INTRA8)) : "memory");
}

// Waits for them where each role has its own instruction.
template <bool INTRA8> __device__ void meet_from_roles(int team) {
    asm volatile("barrier.sync %0, %1;" : : "r"(team + 1), "n"(team_threads(INTRA8)) : "memory");
}

// Codes one warp's part of MB i, after its neighbours are done. Each role has its branch, so that
// no warp holds what another one has prepared. BLOCK_MBS, INTRA8: of intra_kernel.
template <int BLOCK_MBS, bool INTRA8>
__device__ void code_role(const MotusIntraMb *in, const MotusPictureStateCuda &w,
                          decltype(IntraTeam<INTRA8>::team) *s, MotusIntraTeam *base, int i,
                          int team, int warp) {
    if (warp == MOTUS_ROLE_INTRA4X4) {
        motus_intra_begin_as(in, &base->trial[0], MOTUS_MB_I_16x16);
        motus_intra_begin_as(in, &base->trial[1], MOTUS_MB_I_4x4);
        const MotusI4Mb i4 = motus_i4_prepare(in, &base->scratch[0]);
        wait_for_neighbours<BLOCK_MBS>(w, i);
        meet_from_roles<INTRA8>(team); // source and trials are written, the neighbours are done
        motus_intra_role4x4(in, base, &i4);
        return;
    }
    if constexpr (INTRA8) {
        if (warp == MOTUS_ROLE_INTRA8X8) {
            const MotusI8Mb i8 = motus_intra8_begin(in, &w.quant8[in->qp->luma.qp], s);
            meet_from_roles<INTRA8>(team); // as above
            motus_intra_role8x8(in, s, &i8);
            return;
        }
    }
    meet_from_roles<INTRA8>(team); // as above
    motus_intra_role_whole(in, base, warp);
    if (warp != MOTUS_ROLE_CHROMA) return;
    if constexpr (INTRA8) motus_intra_copy_chroma(&s->trial, &base->trial[0]);
    store_chroma(&base->trial[0], in->rec);
}

// Codes the MBs of the list. BLOCK_MBS: of a block, without Intra8x8 (block_mbs_of); one alone may
// have more registers. CABAC: of level_choice. INTRA8: Intra8x8 is evaluated.
template <int BLOCK_MBS, bool CABAC, bool INTRA8>
__global__ void __launch_bounds__(block_mbs_of(BLOCK_MBS, INTRA8) * team_threads(INTRA8),
                                  BLOCK_MBS > 1 ? 1
                                  : INTRA8      ? 3
                                           : 4) intra_kernel(const __grid_constant__ Pass pass) {
    extern __shared__ uint4 memory[];
    const MotusPictureStateCuda &w = pass.pic;
    constexpr int THREADS = team_threads(INTRA8);
    const int team = (int)threadIdx.x / THREADS, t = (int)threadIdx.x % THREADS, warp = t / 32;
    IntraTeam<INTRA8> *s = reinterpret_cast<IntraTeam<INTRA8> *>(memory) + team;
    MotusIntraTeam *base;
    if constexpr (INTRA8)
        base = &s->team.team;
    else
        base = &s->team;
    motus_wait_for_predecessor();
    if (pass.typed && !w.flags[MOTUS_FLAG_WANTS_PCM]) return;
    for (;;) {
        if (t == 0) s->at = atomicAdd(&w.flags[MOTUS_FLAG_TAKEN], 1);
        meet<INTRA8>(team); // `at` is written; all have read the last MB's shared memory
        if (s->at >= w.flags[MOTUS_FLAG_LISTED]) return;
        const int i = w.list[s->at];
        const MotusLevelChoice levels = intra_choice<CABAC>(pass, pass.effort.intra_levels);
        MotusIntraMb in = intra_mb(pass, &levels, i % w.mb_width, i / w.mb_width);
        fetch_source(s, &in, t);
        meet<INTRA8>(team); // quantizers are written
        code_role<BLOCK_MBS, INTRA8>(&in, w, &s->team, base, i, team, warp);
        meet<INTRA8>(team); // all parts are written
        if (warp) continue;
        const MotusTrial *best;
        if constexpr (INTRA8)
            best = motus_intra_join(&in, base, &s->team);
        else
            best = motus_intra_join(&in, base, nullptr);
        __syncwarp();
        copy(&w.mb[i], &best->mb);
        store_luma(best, in.rec);
        if (best->mb.type == MOTUS_MB_I_PCM)
            store_chroma(best, in.rec); // replaces what was stored above
        __syncwarp();                   // all that the neighbours read is written before the state
        if (motus_lane() == 0) release(w.listed + i, DONE);
        copy(&w.coef[i], &best->coef); // no MB of the wavefront reads them
    }
}

using Kernel = void (*)(Pass);

// By CABAC, Intra8x8, and whether a picture is alone.
const Kernel kernels[2][2][2] = {
    {{intra_kernel<MOST_BLOCK_MBS, false, false>, intra_kernel<1, false, false>},
     {intra_kernel<MOST_BLOCK_MBS, false, true>, intra_kernel<1, false, true>}},
    {{intra_kernel<MOST_BLOCK_MBS, true, false>, intra_kernel<1, true, false>},
     {intra_kernel<MOST_BLOCK_MBS, true, true>, intra_kernel<1, true, true>}}};

// Codes the MBs of the list; if they were coded as typed, only if one would rather be I_PCM. Takes
// no more MBs of the wavefront at once than are worth it: others would only wait. An I picture's
// wave has at most half as many MBs as the picture is wide, and as it is high; slices have waves of
// their own. Where nothing runs beside it, three times as many prepare their MBs meanwhile. A P
// picture has many chains.
cudaError_t code_listed(const Pass &pass, cudaStream_t stream) {
    const MotusPictureStateCuda &w = pass.pic;
    const bool intra8 = w.transform_8x8, alone = w.block_mbs == 1;
    const int taken = pass.slice_type ? (alone ? 256 : motus_clip(12, 160, w.n_mb / 300))
                      : alone         ? 3 * motus_min(w.mb_height, 85)
                      : w.slice_first ? motus_min(w.mb_height, 256)
                                      : motus_min(w.mb_height, (w.mb_width + 1) / 2) + 4;
    // Typed MBs are coded again only for I_PCM: then small blocks, which rarely have work.
    const int mbs = pass.typed ? 1 : block_mbs_of(w.block_mbs, intra8),
              blocks = (motus_min(taken, w.n_mb) + mbs - 1) / mbs;
    const size_t bytes = intra8 ? sizeof(IntraTeam<true>) : sizeof(IntraTeam<false>);
    return motus_launch(w.early, blocks, mbs * team_threads(intra8), mbs * bytes, stream,
                        kernels[w.costs != nullptr][intra8][alone], pass);
}

} // namespace

extern "C" cudaError_t motus_code_intra_cuda(const MotusPictureStateCuda *pic,
                                             const MotusPictureJob *job, cudaStream_t stream) {
    const Pass pass = pass_of(pic, job);
    const bool chooses = pass.typed && (!pass.slice_type || pass.pic.refresh.end);
    cudaError_t status = list_intra(pass, stream);
    if (chooses && status == cudaSuccess) status = choose_types(pass, stream);
    if (pass.typed && status == cudaSuccess) status = code_typed(pass, stream);
    return status == cudaSuccess ? code_listed(pass, stream) : status;
}

cudaError_t motus_decide::prepare_listed(int *block_mbs) {
    int device = 0, bytes = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    *block_mbs = motus_clip(1, MOST_BLOCK_MBS, bytes / (int)sizeof(IntraTeam<false>));
    while (*block_mbs > 1 && block_mbs_of(*block_mbs, true) * (int)sizeof(IntraTeam<true>) > bytes)
        --*block_mbs;
    cudaFuncAttributes unused;
    for (const bool intra8 : {false, true})
        for (const auto &by_coder : kernels) {
            const Kernel *kernel = by_coder[intra8];
            const int most = block_mbs_of(*block_mbs, intra8) *
                             (int)(intra8 ? sizeof(IntraTeam<true>) : sizeof(IntraTeam<false>));
            if (status == cudaSuccess) status = cudaFuncGetAttributes(&unused, kernel[1]);
            if (status == cudaSuccess)
                status = cudaFuncSetAttribute(kernel[0],
                                              cudaFuncAttributeMaxDynamicSharedMemorySize, most);
        }
    return status;
}
