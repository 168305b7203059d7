// Chroma key of RGB24 on a CUDA device; equals motus_key_rgb24 bit for bit.
//
// A warp loads 512 pixels of a row, 1536 bytes of each picture, in consecutive 16-byte accesses,
// and transposes them in shared memory: a thread holds 16 whole pixels, 48 bytes, a distance
// without bank conflicts. The result is stored the same way. Foreground and background are read
// once, the result is written once. Bytes between a row's end and the next multiple of 16 are
// processed like the row's.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter_cuda.h"

#include "common/cuda_call.cuh"

extern "C" {
#include "filter/key/key.h"
}

#include "filter/key/key.cuh"
#include "yuv/usable.h"

namespace {

constexpr int WARPS = 8;      // of a block
constexpr int CHUNKS = 96;    // of 16 bytes, that a warp takes of a row
constexpr int PER_THREAD = 3; // chunks

// Moves the key's channel towards the larger of the others; equals unspill of key_tmpl.h.
// most: the largest of the three. The 2^-17 in `spill` rounds ties down.
__device__ __forceinline__ int unspill(int value, int other1, int other2, int most, float spill) {
    float above = as_float(most) - as_float(max(other1, other2));
    return __float_as_int(__fmaf_rn(above, -spill, as_float(value)));
}

// Mixes four pixels, 12 bytes in three words, in place of `front`. CHANNEL: the one to remove spill
// from, or -1.
template <bool SOFT, int CHANNEL>
__device__ __forceinline__ void key_pixels(uint32_t front[3], const uint32_t back[3],
                                           const MotusKey &key, float spill) {
    int signs[4];
    uint32_t out[12];
#pragma unroll
    for (int p = 0; p < 4; p++) {
        int c[3] = {sample(front, 3 * p), sample(front, 3 * p + 1), sample(front, 3 * p + 2)};
        int high = __vimax3_s32(c[0], c[1], c[2]), low = __vimin3_s32(c[0], c[1], c[2]);
        const float r = as_float(c[0]), g = as_float(c[1]), b = as_float(c[2]), top = unmagic(high),
                    d = as_float(high) - as_float(low);
        uint32_t weight = 0;
        if (SOFT) {
            const float hue = key_hue_distance(r, g, b, as_float(high), as_float(low), 1, &key);
            const float sat = key_sat_distance(d, key_sat_factor(top, &key), &key);
            weight = (uint32_t)key_weight(
                motus_key_steps(fmaxf(fmaxf(hue, sat), key_value_distance(top, &key))), &key);
        } else { // negative: foreground
            const float hue = key_hue_margin(g - r, g - b, &key.rgb);
            signs[p] = __float_as_int(motus_float_max(hue, key.grey - d)) |
                       __float_as_int(key_sat_margin(top, d, &key)) |
                       __float_as_int(key_value_margin(top, &key));
            if (CHANNEL < 0) continue;
            weight = (uint32_t)(signs[p] >> 31) & KEY_FULL;
        }
        const uint32_t pair = pair_of(weight);
#pragma unroll
        for (int i = 0; i < 3; i++) {
            int k = 3 * p + i, at = k & 3;
            uint32_t from = front[k / 4];
            if (i == CHANNEL)
                from = (uint32_t)unspill(c[i], c[(i + 1) % 3], c[(i + 2) % 3], high, spill), at = 0;
            out[k] =
                mix_low(pair, __byte_perm(from, back[k / 4], (unsigned)((4 + (k & 3)) << 4 | at)));
        }
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        if (!SOFT && CHANNEL < 0) { // word i has bytes of pixels i and i + 1
            uint32_t mask = permute((uint32_t)signs[i], (uint32_t)signs[i + 1],
                                    i == 0   ? 0xfbbb
                                    : i == 1 ? 0xffbb
                                             : 0xfffb);
            front[i] = (front[i] & mask) | (back[i] & ~mask);
        } else {
            front[i] = pack4(out + 4 * i);
        }
    }
}

__device__ __forceinline__ void load_chunks(uint4 *shared, const uint8_t *row, int chunk,
                                            int chunks) {
    int lane = threadIdx.x;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        int at = chunk + 32 * k + lane;
        if (at < chunks) shared[32 * k + lane] = __ldcs(reinterpret_cast<const uint4 *>(row) + at);
    }
}

// Grid: x = pieces of a row of 96 chunks, y = groups of WARPS rows.
template <bool SOFT, int CHANNEL>
__global__ void __launch_bounds__(32 * WARPS)
    key_rgb24(View dst, View fg, View bg, const __grid_constant__ MotusKey key) {
    const float spill = (float)key.spill / 256 + (1.0f / 131072);
    __shared__ uint4 staged[WARPS][2][CHUNKS];
    int y = blockIdx.y * WARPS + threadIdx.y, chunk = blockIdx.x * CHUNKS,
        chunks = (fg.width + 15) / 16, lane = threadIdx.x;
    if (y >= fg.height) return;
    uint4(*mine)[CHUNKS] = staged[threadIdx.y];
    load_chunks(mine[0], fg.data + (size_t)y * (size_t)fg.stride, chunk, chunks);
    load_chunks(mine[1], bg.data + (size_t)y * (size_t)bg.stride, chunk, chunks);
    __syncwarp(); // the warp's bytes are complete
    uint32_t front[12], back[12];
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        uint4 f = mine[0][PER_THREAD * lane + k], b = mine[1][PER_THREAD * lane + k];
        front[4 * k] = f.x, front[4 * k + 1] = f.y, front[4 * k + 2] = f.z, front[4 * k + 3] = f.w;
        back[4 * k] = b.x, back[4 * k + 1] = b.y, back[4 * k + 2] = b.z, back[4 * k + 3] = b.w;
    }
#pragma unroll
    for (int q = 0; q < 4; q++) key_pixels<SOFT, CHANNEL>(front + 3 * q, back + 3 * q, key, spill);
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++)
        mine[0][PER_THREAD * lane + k] =
            make_uint4(front[4 * k], front[4 * k + 1], front[4 * k + 2], front[4 * k + 3]);
    __syncwarp(); // the warp's results are complete
    uint4 *out = reinterpret_cast<uint4 *>(dst.data + (size_t)y * (size_t)dst.stride);
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++)
        if (chunk + 32 * k + lane < chunks)
            __stcs(out + chunk + 32 * k + lane, mine[0][32 * k + lane]);
}

template <bool SOFT>
void launch_rgb24(const View &dst, const View &fg, const View &bg, const MotusKey &key,
                  cudaStream_t stream) {
    using Kernel = void(View, View, View, MotusKey);
    static Kernel *const kernels[4] = {key_rgb24<SOFT, -1>, key_rgb24<SOFT, 0>, key_rgb24<SOFT, 1>,
                                       key_rgb24<SOFT, 2>};
    dim3 grid(groups(fg.width, 16 * CHUNKS), groups(fg.height, WARPS)), block(32, WARPS);
    kernels[key.spill ? 1 + key.channel : 0]<<<grid, block, 0, stream>>>(dst, fg, bg, key);
}

} // namespace

extern "C" MotusStatus motus_cuda_key_rgb24(const MotusPlane *dst, const MotusPlane *fg,
                                            const MotusPlane *bg, const MotusKeyConfig *config,
                                            void *stream, MotusError *error) {
    MotusKey key;
    if (!motus_planes_usable(dst, fg) || !motus_planes_usable(fg, bg) || fg->width % 3 ||
        motus_key_prepare(&key, config))
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "chroma key: sizes differ, or a parameter is out of range");
    if (!motus_plane_aligned(dst) || !motus_plane_aligned(fg) || !motus_plane_aligned(bg))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "chroma key: planes not aligned to 16 bytes");
    auto launch = key.soft ? launch_rgb24<true> : launch_rgb24<false>;
    launch(view(*dst), view(*fg), view(*bg), key, (cudaStream_t)stream);
    return motus_cuda_launched("chroma key", error);
}
