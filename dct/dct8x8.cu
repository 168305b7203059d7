// 8x8 DCT of whole planes on a CUDA device. Equals motus_dct8_forward and motus_dct8_inverse bit
// for bit (built without contraction). Grid: linear over 8x8 blocks, one thread each, all 64 values
// in registers; no shared memory. A warp's row is 256 bytes of samples (8-byte accesses) and 512
// bytes of levels (16-byte accesses). Samples and levels are read or written once: 3 bytes per
// sample.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter_cuda.h"

#include "common/cuda_call.cuh"

extern "C" {
#include "dct/dct8x8.h"
}

namespace {

constexpr int THREADS = 128; // of a block
constexpr int BLOCKS = 6;    // resident per multiprocessor, at 80 registers a thread

struct Samples {
    uint8_t *data;
    int stride, width, height;
};

struct Levels {
    int16_t *data;
    int pitch, blocks_x, blocks; // pitch in elements
};

// An array of MotusDct8Steps, as a kernel parameter.
template <class T> struct Table { T of[64]; };

// Loads eight samples of row y from column x on. Past the plane its last column and row are
// repeated.
__device__ uint2 load_row(const Samples &p, int x, int y) {
    const uint8_t *row = p.data + (ptrdiff_t)min(y, p.height - 1) * p.stride;
    if (x + 8 <= p.width) return __ldcs(reinterpret_cast<const uint2 *>(row + x));
    uint32_t w[2] = {0, 0};
    for (int i = 0; i < 8; i++) w[i / 4] |= (uint32_t)row[min(x + i, p.width - 1)] << (8 * (i % 4));
    return make_uint2(w[0], w[1]);
}

__device__ void store_row(const Samples &p, int x, int y, uint2 v) {
    if (y >= p.height) return;
    uint8_t *row = p.data + (ptrdiff_t)y * p.stride;
    if (x + 8 <= p.width)
        __stcs(reinterpret_cast<uint2 *>(row + x), v);
    else
        for (int i = 0; x + i < p.width; i++)
            row[x + i] = (uint8_t)((i < 4 ? v.x : v.y) >> (8 * (i % 4)));
}

// Returns byte i of a row minus 128. The byte becomes the low mantissa bits of 2^23.
__device__ __forceinline__ float to_float(uint2 v, int i) {
    return __uint_as_float(
               __byte_perm(i < 4 ? v.x : v.y, 0x4B000000u, 0x7440u + (unsigned)(i & 3))) -
           8388736.0f;
}

__device__ __forceinline__ uint32_t pack(int32_t low, int32_t high) {
    return __byte_perm((uint32_t)low, (uint32_t)high, 0x5410);
}

// Transforms a block forward, in place; coefficients are not scaled yet.
template <MotusDct8Kind KIND> __device__ __forceinline__ void transform(float x[64]) {
#pragma unroll
    for (int c = 0; c < 8; c++)
        KIND == MOTUS_DCT8_FLOAT ? dct8_float_1d(x + c, 8) : dct8_exact_1d(x + c, 8, DCT8_COLUMNS);
#pragma unroll
    for (int i = 0; i < 64; i++)
        if (KIND == MOTUS_DCT8_INTEGER && i / 8 % 4) x[i] = dct8_exact_shift(x[i]);
#pragma unroll
    for (int r = 0; r < 8; r++)
        KIND == MOTUS_DCT8_FLOAT ? dct8_float_1d(x + 8 * r, 1)
                                 : dct8_exact_1d(x + 8 * r, 1, DCT8_ROWS);
}

template <MotusDct8Kind KIND>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    forward(Levels dst, Samples src, const __grid_constant__ Table<float> steps) {
    int block = blockIdx.x * THREADS + threadIdx.x;
    motus_let_successor_start();
    if (block >= dst.blocks) return;
    int by = block / dst.blocks_x, bx = block - by * dst.blocks_x;
    motus_wait_for_predecessor();
    uint2 row[8];
#pragma unroll
    for (int r = 0; r < 8; r++) row[r] = load_row(src, 8 * bx, 8 * by + r);
    float x[64];
#pragma unroll
    for (int i = 0; i < 64; i++) x[i] = to_float(row[i / 8], i % 8);
    transform<KIND>(x);
    int16_t *out = dst.data + (ptrdiff_t)by * 8 * dst.pitch + 8 * bx;
#pragma unroll
    for (int r = 0; r < 8; r++) {
        // Levels are in the low 16 bits. Float: product and sum are both rounded. Integer: the sum
        // alone (dct8_int_level).
        int32_t level[8];
#pragma unroll
        for (int c = 0; c < 8; c++) {
            const float v = x[8 * r + c], step = steps.of[8 * r + c];
            level[c] = KIND == MOTUS_DCT8_FLOAT ? motus_round_bits(v * step)
                                                : __float_as_int(fmaf(v, step, 12582912.0f));
        }
        __stcs(reinterpret_cast<uint4 *>(out + (ptrdiff_t)r * dst.pitch),
               make_uint4(pack(level[0], level[1]), pack(level[2], level[3]),
                          pack(level[4], level[5]), pack(level[6], level[7])));
    }
}

__device__ __forceinline__ int level_at(const uint4 &v, int i) {
    uint32_t word = i < 2 ? v.x : i < 4 ? v.y : i < 6 ? v.z : v.w;
    return i & 1 ? (int)word >> 16 : (int)(int16_t)word;
}

__device__ __forceinline__ uint32_t pack4(const int32_t *v) {
    return __byte_perm(__byte_perm((uint32_t)v[0], (uint32_t)v[1], 0x0040),
                       __byte_perm((uint32_t)v[2], (uint32_t)v[3], 0x0040), 0x5410);
}

// Transforms levels to samples; the type of `steps` selects the transform.
__device__ __forceinline__ void reconstruct(int32_t sample[64], const uint4 row[8],
                                            const Table<float> &steps) {
    float x[64];
#pragma unroll
    for (int i = 0; i < 64; i++) x[i] = (float)level_at(row[i / 8], i % 8) * steps.of[i];
#pragma unroll
    for (int c = 0; c < 8; c++) idct8_float_1d(x + c, 8);
#pragma unroll
    for (int r = 0; r < 8; r++) idct8_float_1d(x + 8 * r, 1);
#pragma unroll
    for (int i = 0; i < 64; i++) sample[i] = dct8_float_sample(x[i]);
}

__device__ __forceinline__ void reconstruct(int32_t sample[64], const uint4 row[8],
                                            const Table<uint16_t> &steps) {
#pragma unroll
    for (int i = 0; i < 64; i++)
        sample[i] = dct8_int_coef(level_at(row[i / 8], i % 8), steps.of[i]);
#pragma unroll
    for (int c = 0; c < 8; c++) idct8_int_1d(sample + c, 8, IDCT8_SHIFT_1);
#pragma unroll
    for (int r = 0; r < 8; r++) idct8_int_1d(sample + 8 * r, 1, IDCT8_SHIFT_2);
#pragma unroll
    for (int i = 0; i < 64; i++) sample[i] = motus_clip_u8(sample[i] + 128);
}

template <class T>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    inverse(Levels src, Samples dst, const __grid_constant__ Table<T> steps) {
    int block = blockIdx.x * THREADS + threadIdx.x;
    motus_let_successor_start();
    if (block >= src.blocks) return;
    int by = block / src.blocks_x, bx = block - by * src.blocks_x;
    const int16_t *in = src.data + (ptrdiff_t)by * 8 * src.pitch + 8 * bx;
    motus_wait_for_predecessor();
    uint4 row[8];
#pragma unroll
    for (int r = 0; r < 8; r++)
        row[r] = __ldcs(reinterpret_cast<const uint4 *>(in + (ptrdiff_t)r * src.pitch));
    int32_t sample[64];
    reconstruct(sample, row, steps);
#pragma unroll
    for (int r = 0; r < 8; r++)
        store_row(dst, 8 * bx, 8 * by + r,
                  make_uint2(pack4(sample + 8 * r), pack4(sample + 8 * r + 4)));
}

bool aligned(const void *data, ptrdiff_t stride) {
    return ((uintptr_t)data | (uintptr_t)stride) % 16 == 0;
}

// Checks the arguments and converts them to those of the kernels.
MotusStatus prepare(Levels *levels, Samples *samples, MotusDct8Steps *steps,
                    const MotusCoefs *coefs, const MotusPlane *plane, const uint16_t table[64],
                    MotusDct8Kind kind, MotusError *error) {
    if (motus_dct8_check(coefs, plane) || motus_dct8_steps(steps, table) ||
        (unsigned)kind > MOTUS_DCT8_INTEGER)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "8x8 DCT: sizes, table or kind out of range");
    if (!aligned(plane->data, plane->stride))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "8x8 DCT: plane not aligned to 16 bytes");
    *samples = Samples{plane->data, (int)plane->stride, plane->width, plane->height};
    *levels = Levels{coefs->data, (int)(coefs->stride / 2), coefs->width / 8,
                     coefs->width / 8 * (coefs->height / 8)};
    return MOTUS_OK;
}

template <class T>
MotusStatus launch(void (*kernel)(Levels, Samples, Table<T>), const T steps[64],
                   const Levels &levels, const Samples &samples, void *stream, const char *what,
                   MotusError *error) {
    Table<T> table;
    memcpy(table.of, steps, sizeof table.of);
    dim3 grid((unsigned)(levels.blocks + THREADS - 1) / THREADS);
    return motus_launch_early(grid, THREADS, (cudaStream_t)stream, what, error, kernel, levels,
                              samples, table);
}

} // namespace

extern "C" MotusStatus motus_cuda_dct8_forward(const MotusCoefs *dst, const MotusPlane *src,
                                               const uint16_t table[64], MotusDct8Kind kind,
                                               void *stream, MotusError *error) {
    Levels levels;
    Samples samples;
    MotusDct8Steps steps;
    MotusStatus status = prepare(&levels, &samples, &steps, dst, src, table, kind, error);
    if (status) return status;
    if (kind == MOTUS_DCT8_FLOAT)
        return launch(forward<MOTUS_DCT8_FLOAT>, steps.forward, levels, samples, stream, "8x8 DCT",
                      error);
    return launch(forward<MOTUS_DCT8_INTEGER>, steps.integer, levels, samples, stream, "8x8 DCT",
                  error);
}

extern "C" MotusStatus motus_cuda_dct8_inverse(const MotusPlane *dst, const MotusCoefs *src,
                                               const uint16_t table[64], MotusDct8Kind kind,
                                               void *stream, MotusError *error) {
    Levels levels;
    Samples samples;
    MotusDct8Steps steps;
    MotusStatus status = prepare(&levels, &samples, &steps, src, dst, table, kind, error);
    if (status) return status;
    if (kind == MOTUS_DCT8_FLOAT)
        return launch(inverse<float>, steps.inverse, levels, samples, stream, "inverse 8x8 DCT",
                      error);
    return launch(inverse<uint16_t>, steps.q, levels, samples, stream, "inverse 8x8 DCT", error);
}
