// Chroma key on a CUDA device; equals motus_key_rgb24 and motus_key_frame bit for bit.
//
// RGB24: a warp takes 512 pixels of a row, 1536 bytes of each picture, in 16-byte accesses that follow each other, and turns them round in shared memory so
// that a thread holds 16 whole pixels (48 bytes; at this distance eight threads' 16-byte accesses meet in no bank). The result goes back the same way.
// 4:2:0: a thread takes 16 x 2 luma samples and the 8 x 2 chroma samples that belong to them, straight from device memory, and ROUNDS such pieces, so
// that what is the same for all is made ready once.
// Read and written once: foreground, background, result. Bytes between a row's end and the next multiple of 16 are treated like the row's.
//
// Integer instructions are the bound, so that most of the arithmetic is on the multiply-add pipe, in floats. A sample c travels as the bits of
// 2^23 + c: one permute makes them from a byte, one subtraction makes c, and bits compare as c does. Whether a pixel is inside is the sign bit of three
// margins; mixtures are dot products of bytes.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter_cuda.h"

#include "common/cuda_check.h"

extern "C" {
#include "filter/key.h"
}

#include "filter/key_cuda.h"

namespace {

constexpr int WARPS = 8;      // of a block
constexpr int CHUNKS = 96;    // of 16 bytes: what a warp takes of a row of RGB24
constexpr int PER_THREAD = 3; // chunks
constexpr int WORDS = 4;      // of a luma row, in each of two rows: what a thread takes of 4:2:0
constexpr int ROUNDS = 4;     // such pieces of a thread

// ---- Samples and weights ----------------------------------------------------------------------------------------------------------------------

__device__ __forceinline__ float as_float(int bits) { return __int_as_float(bits); }
__device__ __forceinline__ float unmagic(int bits) { return __fadd_rn(__int_as_float(bits), -8388608.0f); }

// Byte i of w, as 2^23 + it.
__device__ __forceinline__ int sample(const uint32_t *w, int i) {
    uint32_t magic; // hidden from the compiler, which would keep the selectors in registers instead
    asm("mov.u32 %0, 0x4b000000;" : "=r"(magic));
    return (int)__byte_perm(w[i / 4], magic, 0x7440u + (unsigned)(i & 3));
}

// Byte i of w. The conversion's pipe is slow, and otherwise idle: it takes those two of four bytes that it can address.
__device__ __forceinline__ float value_of(uint32_t w, int i) {
    if (i == 0) return (float)(w & 255);
    if (i == 3) return (float)(w >> 24);
    return unmagic(sample(&w, i));
}

// Like __byte_perm, and a selector of 8 + k is the sign of byte k, eight times.
__device__ __forceinline__ uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors) {
    uint32_t out;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(selectors));
    return out;
}

__device__ __forceinline__ int sign_of(float a, float b, float c) {
    return __float_as_int(a) | __float_as_int(b) | __float_as_int(c);
}

// The pair weight, 256 - weight.
__device__ __forceinline__ uint32_t pair_of(uint32_t weight) {
    uint32_t pair; // in assembly, as the compiler makes shifts and subtractions of it
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(pair) : "r"(weight), "r"(1u - 65536u), "r"((uint32_t)KEY_FULL << 16));
    return pair;
}

// 256 where the sign says foreground.
__device__ __forceinline__ uint32_t hard_weight(int sign) { return (uint32_t)(sign >> 31) & KEY_FULL; }

// A sample's mixture, with 8 fraction bits: of bytes 0 and 1, or 2 and 3.
__device__ __forceinline__ uint32_t mix_low(uint32_t pair, uint32_t bytes) { return __dp2a_lo(pair, bytes, 128u); }
__device__ __forceinline__ uint32_t mix_high(uint32_t pair, uint32_t bytes) { return __dp2a_hi(pair, bytes, 128u); }

// Bytes 1 of four mixtures.
__device__ __forceinline__ uint32_t pack4(const uint32_t *v) {
    return __byte_perm(__byte_perm(v[0], v[1], 0x0051), __byte_perm(v[2], v[3], 0x0051), 0x5410);
}

// ---- RGB24 ------------------------------------------------------------------------------------------------------------------------------------

// Pixel p of four in 12 bytes: a negative number where it is foreground.
__device__ __forceinline__ int rgb_sign(int r, int g, int b, int high_bits, int low_bits, const MotusKey &key) {
    float high = unmagic(high_bits), d = as_float(high_bits) - as_float(low_bits);
    float hue = motus_key_hue_margin(as_float(g) - as_float(r), as_float(g) - as_float(b), &key.rgb);
    return sign_of(motus_key_grey_margin(hue, d, &key), motus_key_sat_margin(high, d, &key), motus_key_value_margin(high, &key));
}

__device__ __forceinline__ uint32_t rgb_weight(int r, int g, int b, int high_bits, int low_bits, const MotusKey &key) {
    float high = unmagic(high_bits), d = as_float(high_bits) - as_float(low_bits);
    float hue = motus_key_hue_distance(as_float(r), as_float(g), as_float(b), as_float(high_bits), as_float(low_bits), 1, &key);
    float sat = motus_key_sat_distance(d, motus_key_sat_factor(high, &key), &key);
    return (uint32_t)motus_key_weight(motus_key_steps(fmaxf(fmaxf(hue, sat), motus_key_value_distance(high, &key))), &key);
}

// The key's channel, moved towards the larger of the others; equals motus_key_unspill. `most` is the largest of the three. The 2^-17 makes the nearest
// number, of two equally near, the smaller.
__device__ __forceinline__ int unspill(int value, int other1, int other2, int most, float spill) {
    float above = as_float(most) - as_float(max(other1, other2));
    return __float_as_int(__fmaf_rn(above, -spill, as_float(value)));
}

// Four pixels, 12 bytes in three words: front becomes the mixture. CHANNEL: whose spill is taken away, -1 for none.
template <bool SOFT, int CHANNEL>
__device__ __forceinline__ void key_pixels(uint32_t front[3], const uint32_t back[3], const MotusKey &key, float spill) {
    int signs[4];
    uint32_t out[12];
#pragma unroll
    for (int p = 0; p < 4; p++) {
        int c[3] = {sample(front, 3 * p), sample(front, 3 * p + 1), sample(front, 3 * p + 2)};
        int high = __vimax3_s32(c[0], c[1], c[2]), low = __vimin3_s32(c[0], c[1], c[2]);
        if (!SOFT) signs[p] = rgb_sign(c[0], c[1], c[2], high, low, key);
        if (!SOFT && CHANNEL < 0) continue;
        uint32_t pair = SOFT ? pair_of(rgb_weight(c[0], c[1], c[2], high, low, key)) : pair_of(hard_weight(signs[p]));
#pragma unroll
        for (int i = 0; i < 3; i++) {
            int k = 3 * p + i, at = k & 3;
            uint32_t from = front[k / 4];
            if (i == CHANNEL) from = (uint32_t)unspill(c[i], c[(i + 1) % 3], c[(i + 2) % 3], high, spill), at = 0;
            out[k] = mix_low(pair, __byte_perm(from, back[k / 4], (unsigned)((4 + (k & 3)) << 4 | at)));
        }
    }
#pragma unroll
    for (int i = 0; i < 3; i++) {
        if (!SOFT && CHANNEL < 0) { // pixels i and i + 1 share word i
            uint32_t mask = permute((uint32_t)signs[i], (uint32_t)signs[i + 1], i == 0 ? 0xfbbb : i == 1 ? 0xffbb : 0xfffb);
            front[i] = (front[i] & mask) | (back[i] & ~mask);
        } else {
            front[i] = pack4(out + 4 * i);
        }
    }
}

__device__ __forceinline__ void load_chunks(uint4 *shared, const uint8_t *row, int chunk, int chunks) {
    int lane = threadIdx.x;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        int at = chunk + 32 * k + lane;
        if (at < chunks) shared[32 * k + lane] = __ldcs(reinterpret_cast<const uint4 *>(row) + at);
    }
}

// Grid: x = pieces of a row of 96 chunks, y = groups of WARPS rows.
template <bool SOFT, int CHANNEL>
__global__ void __launch_bounds__(32 * WARPS) key_rgb24(View dst, View fg, View bg, const __grid_constant__ MotusKey key) {
    const float spill = (float)key.spill / 256 + (1.0f / 131072);
    __shared__ uint4 staged[WARPS][2][CHUNKS];
    int y = blockIdx.y * WARPS + threadIdx.y, chunk = blockIdx.x * CHUNKS, chunks = (fg.width + 15) / 16, lane = threadIdx.x;
    if (y >= fg.height) return;
    uint4(*mine)[CHUNKS] = staged[threadIdx.y];
    load_chunks(mine[0], fg.data + (size_t)y * (size_t)fg.stride, chunk, chunks);
    load_chunks(mine[1], bg.data + (size_t)y * (size_t)bg.stride, chunk, chunks);
    __syncwarp(); // the warp's bytes are there
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
        mine[0][PER_THREAD * lane + k] = make_uint4(front[4 * k], front[4 * k + 1], front[4 * k + 2], front[4 * k + 3]);
    __syncwarp(); // the warp's results are there
    uint4 *out = reinterpret_cast<uint4 *>(dst.data + (size_t)y * (size_t)dst.stride);
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++)
        if (chunk + 32 * k + lane < chunks) __stcs(out + chunk + 32 * k + lane, mine[0][32 * k + lane]);
}

// ---- 4:2:0 ------------------------------------------------------------------------------------------------------------------------------------

// What the samples of one chroma sample have in common: the scaled parts of their largest and smallest channel, and the hue: the margin's bits or the
// distance's steps.
struct Chroma {
    float u, v, top, bottom;
    int hue;
};

constexpr float SCALE = 1.0f / (1 << 21); // 13 fraction bits, and 256 is 1

template <bool SOFT, bool AROUND> __device__ __forceinline__ Chroma chroma_of(int cb, int cr, const MotusKey &key) {
    float u = as_float(cb) - (8388608.0f + 128), v = as_float(cr) - (8388608.0f + 128), r, g, b;
    motus_key_chroma(&r, &g, &b, u, v, &key);
    float high = fmaxf(r, fmaxf(g, b)), low = fminf(r, fminf(g, b));
    // Without a soft edge channels are rounded: a half, and half a unit more that keeps what follows off the whole numbers.
    float black = ((SOFT ? 0.0f : 4096.5f) - (float)(key.matrix.cy * key.matrix.y_low)) * SCALE;
    int hue = SOFT ? motus_key_steps(motus_key_hue_distance(r, g, b, high, low, AROUND, &key))
                   : __float_as_int(motus_key_hue_margin(u, v, &key.chroma));
    return Chroma{u, v, __fmaf_rn(high, SCALE, black), __fmaf_rn(low, SCALE, black), hue};
}

// By the largest channel.
struct SoftTable {
    float sat_factor; // for d / 256
    int value_steps;
};

// table[i] for the bits of 2^65 + i * 2^42: eight times these are eight times i. One instruction for the address and one for the access.
__device__ __forceinline__ SoftTable look_up(uint32_t table, int bits) {
    SoftTable t;
    asm("ld.shared.v2.b32 {%0, %1}, [%2];" : "=f"(t.sat_factor), "=r"(t.value_steps) : "r"(table + 8 * (uint32_t)bits));
    return t;
}

// The weight of a luma sample at a soft edge.
__device__ __forceinline__ uint32_t soft_weight(float luma, float cy, const Chroma &c, uint32_t table, const MotusKey &key) {
    float high = __saturatef(__fmaf_rn(luma, cy, c.top)), low = __saturatef(__fmaf_rn(luma, cy, c.bottom));
    SoftTable t = look_up(table, __float_as_int(__fmaf_rn(high, 0x1p50f, 0x1p65f)));
    int sat = motus_key_steps(motus_key_sat_distance(high - low, t.sat_factor, &key));
    return (uint32_t)motus_key_weight(__vimax3_s32(c.hue, sat, t.value_steps), &key);
}

// The channel's sample, clipped to 0..255, + 2^23: the sum is exact, saturation clips to 0..256, and rounding down takes what is left of 256 to 255.
__device__ __forceinline__ float channel_of(float luma, float cy, float part) {
    return __fmaf_rd(__saturatef(__fmaf_rn(luma, cy, part)), 256 * 0x1.fffffep-1f, 8388608.0f);
}

// A negative number where the luma sample is foreground.
__device__ __forceinline__ int hard_sign(float luma, float cy, const Chroma &c, const MotusKey &key) {
    float top = channel_of(luma, cy, c.top), d = top - channel_of(luma, cy, c.bottom), high = top - 8388608.0f;
    return c.hue | __float_as_int(motus_key_sat_margin(high, d, &key)) | __float_as_int(motus_key_value_margin(high, &key));
}

// 4 WORDS x 2 luma samples and their chroma, of one picture.
struct Piece {
    uint32_t luma[2][WORDS], chroma[2][WORDS / 2];
};

__device__ __forceinline__ uint8_t *address_of(const View &p, int y, int x) {
    long long offset; // one instruction, of which the compiler would make four
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(offset) : "r"(y), "r"(p.stride), "l"((long long)x));
    return p.data + offset;
}

// N: 2 or 4.
template <int N> __device__ __forceinline__ void load_words(uint32_t *w, const View &p, int y, int x) {
    const uint8_t *at = address_of(p, y, x);
    if (N == 4) {
        uint4 v = __ldcs(reinterpret_cast<const uint4 *>(at));
        w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
    } else {
        uint2 v = __ldcs(reinterpret_cast<const uint2 *>(at));
        w[0] = v.x, w[1] = v.y;
    }
}

template <int N> __device__ __forceinline__ void store_words(const View &p, int y, int x, const uint32_t *w) {
    uint8_t *at = address_of(p, y, x);
    if (N == 4)
        __stcs(reinterpret_cast<uint4 *>(at), make_uint4(w[0], w[1], w[2], w[3]));
    else
        __stcs(reinterpret_cast<uint2 *>(at), make_uint2(w[0], w[1]));
}

__device__ __forceinline__ void load_piece(Piece *v, const Picture &p, int x, int y) {
    int second = min(2 * y + 1, p.plane[0].height - 1); // a last single row counts twice
    load_words<WORDS>(v->luma[0], p.plane[0], 2 * y, x), load_words<WORDS>(v->luma[1], p.plane[0], second, x);
    load_words<WORDS / 2>(v->chroma[0], p.plane[1], y, x / 2), load_words<WORDS / 2>(v->chroma[1], p.plane[2], y, x / 2);
}

__device__ __forceinline__ void store_piece(const Picture &p, int x, int y, const Piece &v) {
    int second = min(2 * y + 1, p.plane[0].height - 1);
    store_words<WORDS>(p.plane[0], 2 * y, x, v.luma[0]), store_words<WORDS>(p.plane[0], second, x, v.luma[1]);
    store_words<WORDS / 2>(p.plane[1], y, x / 2, v.chroma[0]), store_words<WORDS / 2>(p.plane[2], y, x / 2, v.chroma[1]);
}

// Where a row's last sample has no right neighbour, it counts twice: the byte behind it, which is nobody's, becomes its copy. Selectors for a word.
__device__ __forceinline__ uint32_t repeat_last(int samples) { return samples == 1 ? 0x3200 : samples == 3 ? 0x2210 : 0x3210; }

__device__ __forceinline__ uint32_t mask_of(const int *signs) {
    return __byte_perm(permute((uint32_t)signs[0], (uint32_t)signs[1], 0x00fb),
                       permute((uint32_t)signs[2], (uint32_t)signs[3], 0x00fb), 0x5410);
}

// 4 x 2 luma samples, a word of either row: front becomes the mixture, and mean the weights of the two chroma samples.
__device__ __forceinline__ void mix_hard(uint32_t front[2], const uint32_t back[2], uint32_t mean[2], const Chroma c[2], float cy,
                                         const MotusKey &key) {
    uint32_t masks[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int signs[4];
#pragma unroll
        for (int i = 0; i < 4; i++) signs[i] = hard_sign(value_of(front[r], i), cy, c[i / 2], key);
        masks[r] = mask_of(signs);
        front[r] = (front[r] & masks[r]) | (back[r] & ~masks[r]);
    }
    // 64 for each foreground sample: -64 times the bytes of the masks, which are -1 or 0.
    mean[0] = (uint32_t)__dp4a((int)masks[0], 0x0000c0c0, __dp4a((int)masks[1], 0x0000c0c0, 0));
    mean[1] = (uint32_t)__dp4a((int)masks[0], (int)0xc0c00000, __dp4a((int)masks[1], (int)0xc0c00000, 0));
}

__device__ __forceinline__ void mix_soft(uint32_t front[2], const uint32_t back[2], uint32_t mean[2], const Chroma c[2], float cy,
                                         uint32_t table, const MotusKey &key) {
    uint32_t sum[2] = {2, 2};
#pragma unroll
    for (int r = 0; r < 2; r++) {
        uint32_t low = __byte_perm(front[r], back[r], 0x5140), high = __byte_perm(front[r], back[r], 0x7362), weights[4];
#pragma unroll
        for (int i = 0; i < 4; i++) weights[i] = soft_weight(value_of(front[r], i), cy, c[i / 2], table, key);
        sum[0] += weights[0] + weights[1], sum[1] += weights[2] + weights[3];
        uint32_t v[4] = {mix_low(pair_of(weights[0]), low), mix_high(pair_of(weights[1]), low),
                         mix_low(pair_of(weights[2]), high), mix_high(pair_of(weights[3]), high)};
        front[r] = pack4(v);
    }
    mean[0] = sum[0] >> 2, mean[1] = sum[1] >> 2;
}

template <bool SOFT, bool SPILL, bool AROUND>
__device__ __forceinline__ void mix_piece(Piece *f, const Piece &b, uint32_t table, const MotusKey &key) {
    const float cy = (float)key.matrix.cy * SCALE;
    uint32_t mixed[2][4];
#pragma unroll
    for (int w = 0; w < WORDS; w++) {
        Chroma c[2];
        uint32_t front[2] = {f->luma[0][w], f->luma[1][w]}, back[2] = {b.luma[0][w], b.luma[1][w]}, mean[2];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int at = 2 * (w & 1) + i;
            c[i] = chroma_of<SOFT, AROUND>(sample(&f->chroma[0][w / 2], at), sample(&f->chroma[1][w / 2], at), key);
        }
        if (SOFT)
            mix_soft(front, back, mean, c, cy, table, key);
        else
            mix_hard(front, back, mean, c, cy, key);
        f->luma[0][w] = front[0], f->luma[1][w] = front[1];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int at = 2 * (w & 1) + i;
            uint32_t pair = pair_of(mean[i]), from[2] = {f->chroma[0][w / 2], f->chroma[1][w / 2]};
            if (SPILL) {
                float inside = motus_key_cone(c[i].u, c[i].v, &key);
                from[0] = (uint32_t)motus_key_unspill_chroma(c[i].u, inside, key.cb_move);
                from[1] = (uint32_t)motus_key_unspill_chroma(c[i].v, inside, key.cr_move);
            }
#pragma unroll
            for (int p = 0; p < 2; p++)
                mixed[p][at] =
                    mix_low(pair, __byte_perm(from[p], b.chroma[p][w / 2], (unsigned)((4 + at) << 4 | (SPILL ? 0 : at))));
        }
        if (w & 1) f->chroma[0][w / 2] = pack4(mixed[0]), f->chroma[1][w / 2] = pack4(mixed[1]);
    }
}

// Thread: 4 WORDS x 2 luma samples, in ROUNDS groups of rows. Grid: x = groups of 32 threads along the row, y = groups of WARPS * ROUNDS row pairs.
template <bool SOFT, bool SPILL, bool AROUND>
__global__ void __launch_bounds__(32 * WARPS, SOFT ? 4 : 0)
    key_yuv(Picture dst, Picture fg, Picture bg, const __grid_constant__ MotusKey key) {
    __shared__ SoftTable table[SOFT ? 257 : 1]; // the largest channel is clipped to 0..256
    int x = 4 * WORDS * (blockIdx.x * 32 + threadIdx.x), left = fg.plane[0].width - x, pairs = (fg.plane[0].height + 1) / 2;
    if (SOFT) {
        for (int i = threadIdx.y * 32 + threadIdx.x; i < 257; i += 32 * WARPS)
            table[i] = SoftTable{256 * motus_key_sat_factor((float)i, &key),
                                 motus_key_steps(motus_key_value_distance((float)min(i, 255), &key))};
        __syncthreads(); // the table is there
    }
    if (left <= 0) return;
    uint32_t address = (uint32_t)__cvta_generic_to_shared(table);
    for (int y = blockIdx.y * WARPS + threadIdx.y; y < pairs; y += gridDim.y * WARPS) {
        Piece f, b;
        load_piece(&f, fg, x, y), load_piece(&b, bg, x, y);
        if (left < 4 * WORDS)
#pragma unroll
            for (int w = 0; w < WORDS; w++) {
                uint32_t selectors = repeat_last(left - 4 * w);
                f.luma[0][w] = permute(f.luma[0][w], 0, selectors), f.luma[1][w] = permute(f.luma[1][w], 0, selectors);
            }
        mix_piece<SOFT, SPILL, AROUND>(&f, b, address, key);
        store_piece(dst, x, y, f);
    }
}

bool aligned(const MotusPlane &p) { return ((uintptr_t)p.data | (uintptr_t)p.stride) % 16 == 0; }

bool aligned(const MotusFrame *f) { return aligned(f->plane[0]) && aligned(f->plane[1]) && aligned(f->plane[2]); }

template <bool SOFT>
void launch_rgb24(const View &dst, const View &fg, const View &bg, const MotusKey &key, cudaStream_t stream) {
    using Kernel = void(View, View, View, MotusKey);
    static Kernel *const kernels[4] = {key_rgb24<SOFT, -1>, key_rgb24<SOFT, 0>, key_rgb24<SOFT, 1>, key_rgb24<SOFT, 2>};
    dim3 grid(groups(fg.width, 16 * CHUNKS), groups(fg.height, WARPS)), block(32, WARPS);
    kernels[key.spill ? 1 + key.channel : 0]<<<grid, block, 0, stream>>>(dst, fg, bg, key);
}

template <bool SOFT>
void launch_yuv(const Picture &dst, const Picture &fg, const Picture &bg, const MotusKey &key, cudaStream_t stream) {
    dim3 grid(groups(fg.plane[0].width, 4 * WORDS * 32), groups((fg.plane[0].height + 1) / 2, WARPS * ROUNDS)), block(32, WARPS);
    using Kernel = void(Picture, Picture, Picture, MotusKey);
    static Kernel *const kernels[4] = {key_yuv<SOFT, false, false>, key_yuv<SOFT, true, false>, key_yuv<SOFT, false, SOFT>,
                                       key_yuv<SOFT, true, SOFT>};
    kernels[2 * key.around + (key.spill > 0)]<<<grid, block, 0, stream>>>(dst, fg, bg, key);
}

} // namespace

extern "C" MotusStatus motus_cuda_key_rgb24(const MotusPlane *dst, const MotusPlane *fg, const MotusPlane *bg,
                                            const MotusKeyConfig *config, void *stream, MotusError *error) {
    MotusKey key;
    if (!motus_planes_match(dst, fg) || !motus_planes_match(fg, bg) || fg->width % 3 || motus_key_prepare(&key, config))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "chroma key: sizes differ, or a parameter is out of range");
    if (!aligned(*dst) || !aligned(*fg) || !aligned(*bg))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "chroma key: planes not aligned to 16 bytes");
    auto launch = key.soft ? launch_rgb24<true> : launch_rgb24<false>;
    launch(view(*dst), view(*fg), view(*bg), key, (cudaStream_t)stream);
    return motus_cuda_launched("chroma key", error);
}

extern "C" MotusStatus motus_cuda_key_frame(const MotusFrame *dst, const MotusFrame *fg, const MotusFrame *bg,
                                            const MotusKeyConfig *config, void *stream, MotusError *error) {
    MotusKey key;
    if (!motus_frames_match(dst, fg) || !motus_frames_match(fg, bg) || motus_key_prepare(&key, config))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "chroma key: sizes differ, or a parameter is out of range");
    if (!aligned(dst) || !aligned(fg) || !aligned(bg))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "chroma key: planes not aligned to 16 bytes");
    auto launch = key.soft ? launch_yuv<true> : launch_yuv<false>;
    launch(picture(dst), picture(fg), picture(bg), key, (cudaStream_t)stream);
    return motus_cuda_launched("chroma key", error);
}
