// Chroma key of 4:2:0 pictures on a CUDA device; equals motus_key_frame bit for bit.
//
// A thread takes ROUNDS pieces of 16 x 2 luma samples and their 8 x 1 chroma samples, which shares
// the set-up. While it computes one, the next loads into the thread's own slot of shared memory,
// which costs no registers. Foreground and background are read once, the result is written once.
// Bytes between a row's end and the next multiple of 16 are processed like the row's.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter_cuda.h"

#include <cuda_pipeline.h>

#include "common/cuda_call.cuh"

extern "C" {
#include "filter/key/key.h"
}

#include "filter/key/key.cuh"
#include "yuv/usable.h"

namespace {

constexpr int WARPS = 4;  // of a block
constexpr int ROUNDS = 4; // pieces of a thread
constexpr int WORDS = 4;  // of a luma row, in each of two rows: a piece

// ---- One chroma sample and its four luma samples ------------------------------------------------

// The bits of 2^15 and 2^23, to which permutes add bytes. They are in registers that the compiler
// does not see through (a block is one thread deep): with constants it would keep the permutes'
// selectors in registers instead.
struct Magic {
    uint32_t chroma, luma;

    __device__ Magic() : chroma(0x47000000u * blockDim.z), luma(0x4b000000u * blockDim.z) {}
};

// Returns a chroma sample as 2^15 + c.
__device__ __forceinline__ float chroma_sample(uint32_t w, int i, const Magic &magic) {
    return as_float((int)__byte_perm(w, magic.chroma, 0x7504u | (unsigned)i << 4));
}

constexpr float GREY = 32768.0f + 128;

// Shared by the luma samples of a chroma sample.
struct Chroma {
    float top, bottom; // scaled contributions to the largest and smallest channel
    int hue;           // the margin's bits, or the distance's steps
};

constexpr float SCALE = 1.0f / (1 << 21); // 13 fraction bits, and 256 is 1
constexpr float ABOVE = 4194304; // added to contributions: their bits then compare as they do

template <bool SOFT, bool AROUND>
__device__ __forceinline__ Chroma chroma_of(float cb, float cr, const MotusKey &key) {
    float u = cb - GREY, r, g, b;
    key_chroma(&r, &g, &b, u, cr, GREY, ABOVE, &key);
    float high = as_float(__vimax3_s32(__float_as_int(r), __float_as_int(g), __float_as_int(b)));
    float low = as_float(__vimin3_s32(__float_as_int(r), __float_as_int(g), __float_as_int(b)));
    // With a hard edge channels are rounded: by a half, and half a unit more that avoids ties.
    float black =
        ((SOFT ? 0.0f : 4096.5f) - (float)(key.matrix.cy * key.matrix.y_low) - ABOVE) * SCALE;
    int hue = SOFT ? motus_key_steps(key_hue_distance(r, g, b, high, low, AROUND, &key))
                   : __float_as_int(key_hue_margin(u, cr - GREY, &key.chroma));
    return Chroma{__fmaf_rn(high, SCALE, black), __fmaf_rn(low, SCALE, black), hue};
}

// Returns byte i of a word of luma. The conversion pipe is slow but idle: it takes the two of four
// bytes that it can address.
__device__ __forceinline__ float luma_sample(uint32_t w, int i, const Magic &magic) {
    if (i == 0) return (float)(w & 255);
    if (i == 3) return (float)(w >> 24);
    return unmagic((int)__byte_perm(w, magic.luma, 0x7440u + (unsigned)i));
}

// Indexed by the largest channel.
struct SoftTable {
    float sat_factor; // for d / 256
    int value_steps;
};

// Returns the weight of a luma sample with a soft edge.
__device__ __forceinline__ uint32_t soft_weight(float luma, float cy, const Chroma &c,
                                                uint32_t table, const MotusKey &key) {
    float high = __saturatef(__fmaf_rn(luma, cy, c.top)),
          low = __saturatef(__fmaf_rn(luma, cy, c.bottom));
    // table[i] for the bits of 2^65 + i * 2^42: eight times the bits is eight times i. One
    // instruction for the address, one for the load.
    const uint32_t bits = (uint32_t)__float_as_int(__fmaf_rn(high, 0x1p50f, 0x1p65f));
    SoftTable t;
    asm("ld.shared.v2.b32 {%0, %1}, [%2];"
        : "=f"(t.sat_factor), "=r"(t.value_steps)
        : "r"(table + 8 * bits));
    int sat = motus_key_steps(key_sat_distance(high - low, t.sat_factor, &key));
    return (uint32_t)key_weight(__vimax3_s32(c.hue, sat, t.value_steps), &key);
}

// Returns the channel's sample, clipped to 0..255, + 2^23. The sum is exact, saturation clips to
// 0..256, and rounding down makes 256 a 255.
__device__ __forceinline__ float channel_of(float luma, float cy, float part) {
    return __fmaf_rd(__saturatef(__fmaf_rn(luma, cy, part)), 256 * 0x1.fffffep-1f, 8388608.0f);
}

// ---- Pieces -------------------------------------------------------------------------------------

// 4 WORDS x 2 luma samples and their chroma, of one picture.
struct Piece {
    uint32_t luma[2][WORDS], chroma[2][WORDS / 2];
};

// Mix 4 x 2 luma samples, a word per row, into `front`. mean: weights of the two chroma samples.
__device__ __forceinline__ void mix_hard(uint32_t front[2], const uint32_t back[2],
                                         uint32_t mean[2], const Chroma c[2], float cy,
                                         const Magic &magic, const MotusKey &key) {
    uint32_t masks[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int signs[4];
#pragma unroll
        for (int i = 0; i < 4; i++) { // negative: foreground
            const float luma = luma_sample(front[r], i, magic),
                        top = channel_of(luma, cy, c[i / 2].top),
                        d = top - channel_of(luma, cy, c[i / 2].bottom), high = top - 8388608.0f;
            signs[i] = c[i / 2].hue | __float_as_int(key_sat_margin(high, d, &key)) |
                       __float_as_int(key_value_margin(high, &key));
        }
        masks[r] = __byte_perm(permute((uint32_t)signs[0], (uint32_t)signs[1], 0x00fb),
                               permute((uint32_t)signs[2], (uint32_t)signs[3], 0x00fb), 0x5410);
        front[r] = (front[r] & masks[r]) | (back[r] & ~masks[r]);
    }
    // 64 for each foreground sample: the masks' bytes are -1 or 0, times -64.
    mean[0] = (uint32_t)__dp4a((int)masks[0], 0x0000c0c0, __dp4a((int)masks[1], 0x0000c0c0, 0));
    mean[1] =
        (uint32_t)__dp4a((int)masks[0], (int)0xc0c00000, __dp4a((int)masks[1], (int)0xc0c00000, 0));
}

__device__ __forceinline__ void mix_soft(uint32_t front[2], const uint32_t back[2],
                                         uint32_t mean[2], const Chroma c[2], float cy,
                                         const Magic &magic, uint32_t table, const MotusKey &key) {
    uint32_t sum[2] = {2, 2};
#pragma unroll
    for (int r = 0; r < 2; r++) {
        uint32_t low = __byte_perm(front[r], back[r], 0x5140),
                 high = __byte_perm(front[r], back[r], 0x7362), weights[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            weights[i] = soft_weight(luma_sample(front[r], i, magic), cy, c[i / 2], table, key);
        sum[0] += weights[0] + weights[1], sum[1] += weights[2] + weights[3];
        uint32_t v[4] = {mix_low(pair_of(weights[0]), low), mix_high(pair_of(weights[1]), low),
                         mix_low(pair_of(weights[2]), high), mix_high(pair_of(weights[3]), high)};
        front[r] = pack4(v);
    }
    mean[0] = sum[0] >> 2, mean[1] = sum[1] >> 2;
}

template <bool SOFT, bool SPILL, bool AROUND>
__device__ __forceinline__ void mix_piece(Piece *f, const Piece &b, const Magic &magic,
                                          uint32_t table, const MotusKey &key) {
    const float cy = (float)key.matrix.cy * SCALE;
    uint32_t mixed[2][4];
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        Chroma c[2];
        float cb[2], cr[2];
        uint32_t front[2] = {f->luma[0][w], f->luma[1][w]}, back[2] = {b.luma[0][w], b.luma[1][w]},
                 mean[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int at = 2 * (w & 1) + i;
            cb[i] = chroma_sample(f->chroma[0][w / 2], at, magic),
            cr[i] = chroma_sample(f->chroma[1][w / 2], at, magic);
            c[i] = chroma_of<SOFT, AROUND>(cb[i], cr[i], key);
        }
        if (SOFT)
            mix_soft(front, back, mean, c, cy, magic, table, key);
        else
            mix_hard(front, back, mean, c, cy, magic, key);
        f->luma[0][w] = front[0], f->luma[1][w] = front[1];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int at = 2 * (w & 1) + i;
            uint32_t pair = pair_of(mean[i]), from[2] = {f->chroma[0][w / 2], f->chroma[1][w / 2]};
            if (SPILL) {
                float inside = key_cone(cb[i] - GREY, cr[i], GREY, &key);
                from[0] = (uint32_t)key_unspill_chroma(cb[i], inside, key.cb_move);
                from[1] = (uint32_t)key_unspill_chroma(cr[i], inside, key.cr_move);
            }
#pragma unroll
            for (int p = 0; p < 2; p++)
                mixed[p][at] =
                    mix_low(pair, __byte_perm(from[p], b.chroma[p][w / 2],
                                              (unsigned)((4 + at) << 4 | (SPILL ? 1 : at))));
        }
        if (w & 1) f->chroma[0][w / 2] = pack4(mixed[0]), f->chroma[1][w / 2] = pack4(mixed[1]);
    }
}

// ---- Loads and stores ---------------------------------------------------------------------------

// A slot for each thread's next piece. First index: foreground, background.
struct Slots {
    uint4 luma[2][2][32 * WARPS];
    uint2 chroma[2][2][32 * WARPS];
};

__device__ __forceinline__ uint8_t *address_of(const View &p, int y, int x) {
    long long offset; // in assembly: the compiler would need four instructions
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(offset) : "r"(y), "r"(p.stride), "l"((long long)x));
    return p.data + offset;
}

// Returns the second luma row; a last single row counts twice.
__device__ __forceinline__ int second_row(const Picture &p, int y) {
    return min(2 * y + 1, p.plane[0].height - 1);
}

__device__ __forceinline__ void fetch_piece(Slots &slots, int slot, const Picture &fg,
                                            const Picture &bg, int x, int y) {
#pragma unroll
    for (int k = 0; k < 2; k++) {
        const Picture &p = k ? bg : fg;
#pragma unroll
        for (int c = 0; c < 2; c++) {
            __pipeline_memcpy_async(&slots.chroma[k][c][slot], address_of(p.plane[1 + c], y, x / 2),
                                    8);
            __pipeline_memcpy_async(&slots.luma[k][c][slot],
                                    address_of(p.plane[0], c ? second_row(p, y) : 2 * y, x), 16);
        }
    }
}

__device__ __forceinline__ Piece take_piece(const Slots &slots, int slot, int picture) {
    Piece v;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        uint4 luma = slots.luma[picture][r][slot];
        uint2 chroma = slots.chroma[picture][r][slot];
        v.luma[r][0] = luma.x, v.luma[r][1] = luma.y, v.luma[r][2] = luma.z, v.luma[r][3] = luma.w;
        v.chroma[r][0] = chroma.x, v.chroma[r][1] = chroma.y;
    }
    return v;
}

__device__ __forceinline__ void store_piece(const Picture &p, int x, int y, const Piece &v) {
#pragma unroll
    for (int r = 0; r < 2; r++) {
        uint4 *luma =
            reinterpret_cast<uint4 *>(address_of(p.plane[0], r ? second_row(p, y) : 2 * y, x));
        __stcs(luma, make_uint4(v.luma[r][0], v.luma[r][1], v.luma[r][2], v.luma[r][3]));
        __stcs(reinterpret_cast<uint2 *>(address_of(p.plane[1 + r], y, x / 2)),
               make_uint2(v.chroma[r][0], v.chroma[r][1]));
    }
}

// Copies a row's last sample to the unused byte behind it if it has no right neighbour. left:
// samples from the piece's first to the row's end.
__device__ __forceinline__ void repeat_last(Piece *v, int left) {
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        int samples = left - 4 * w;
        uint32_t selectors = samples == 1 ? 0x3200 : samples == 3 ? 0x2210 : 0x3210;
        v->luma[0][w] = permute(v->luma[0][w], 0, selectors),
        v->luma[1][w] = permute(v->luma[1][w], 0, selectors);
    }
}

// Grid: x = groups of 32 threads along the row, y = groups of WARPS * ROUNDS row pairs, of which
// each warp takes every WARPS-th.
template <bool SOFT, bool SPILL, bool AROUND>
__global__ void __launch_bounds__(32 * WARPS, SOFT ? 6 : 0)
    key_yuv(Picture dst, Picture fg, Picture bg, const __grid_constant__ MotusKey key) {
    __shared__ SoftTable table[SOFT ? 257 : 1]; // largest channel: 0..256
    __shared__ Slots slots;
    motus_let_successor_start();
    int x = 4 * WORDS * (blockIdx.x * 32 + threadIdx.x % 32), left = fg.plane[0].width - x;
    int y = blockIdx.y * ROUNDS * WARPS + threadIdx.x / 32;
    int end = min((fg.plane[0].height + 1) / 2, (int)(blockIdx.y + 1) * ROUNDS * WARPS);
    if (SOFT) {
        for (int i = threadIdx.x; i < 257; i += 32 * WARPS)
            table[i] = SoftTable{256 * key_sat_factor((float)i, &key),
                                 motus_key_steps(key_value_distance((float)min(i, 255), &key))};
        __syncthreads(); // the table is complete
    }
    motus_wait_for_predecessor();
    if (left <= 0) return;
    const Magic magic;
    uint32_t address = (uint32_t)__cvta_generic_to_shared(table);
    if (y < end) fetch_piece(slots, threadIdx.x, fg, bg, x, y);
    __pipeline_commit();
    for (; y < end; y += WARPS) {
        __pipeline_wait_prior(0);
        Piece f = take_piece(slots, threadIdx.x, 0), b = take_piece(slots, threadIdx.x, 1);
        if (y + WARPS < end) fetch_piece(slots, threadIdx.x, fg, bg, x, y + WARPS);
        __pipeline_commit();
        if (left < 4 * WORDS) repeat_last(&f, left);
        mix_piece<SOFT, SPILL, AROUND>(&f, b, magic, address, key);
        store_piece(dst, x, y, f);
    }
}

template <bool SOFT>
MotusStatus launch(const Picture &dst, const Picture &fg, const Picture &bg, const MotusKey &key,
                   cudaStream_t stream, MotusError *error) {
    dim3 grid(groups(fg.plane[0].width, 4 * WORDS * 32),
              groups((fg.plane[0].height + 1) / 2, WARPS * ROUNDS));
    using Kernel = void(Picture, Picture, Picture, MotusKey);
    static Kernel *const kernels[4] = {key_yuv<SOFT, false, false>, key_yuv<SOFT, true, false>,
                                       key_yuv<SOFT, false, SOFT>, key_yuv<SOFT, true, SOFT>};
    return motus_launch_early(grid, 32 * WARPS, stream, "chroma key", error,
                              kernels[2 * key.around + (key.spill > 0)], dst, fg, bg, key);
}

} // namespace

extern "C" MotusStatus motus_cuda_key_frame(const MotusFrame *dst, const MotusFrame *fg,
                                            const MotusFrame *bg, const MotusKeyConfig *config,
                                            void *stream, MotusError *error) {
    MotusKey key;
    if (!motus_frames_usable(dst, fg) || !motus_frames_usable(fg, bg) ||
        motus_key_prepare(&key, config))
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "chroma key: sizes differ, or a parameter is out of range");
    if (!motus_frame_aligned(dst) || !motus_frame_aligned(fg) || !motus_frame_aligned(bg))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "chroma key: planes not aligned to 16 bytes");
    auto run = key.soft ? launch<true> : launch<false>;
    return run(picture(dst), picture(fg), picture(bg), key, (cudaStream_t)stream, error);
}
