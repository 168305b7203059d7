// Daubechies D4 wavelet transform on a CUDA device; equals wavelet.c bit for
// bit.
//
// One kernel per level takes rows and columns in one pass. A thread walks down four output columns
// for up to ROWS output rows. It keeps the split values of the last four input rows in registers,
// so each input row is read and split once (but for two rows where a walk begins), without shared
// memory or barriers. Its columns overlap its neighbour's by two samples, from the L1. Grid: x =
// groups of 32 threads along the row, y = walks. A level of n samples reads n or 4n bytes and
// writes 4n; the inverse does the opposite.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter_cuda.h"

#include <type_traits>

#include "common/cuda_call.cuh"
#include "common/float_core.h"
#include "common/int_core.h"
#include "filter/wavelet/wavelet_core.h"
#include "yuv/usable.h"

namespace {

constexpr int WALKS = 4;     // of a thread block: 32 x WALKS threads
constexpr int ROWS = 8;      // of a walk at most: output rows, or pairs of an inverse one
constexpr int ENOUGH = 1024; // blocks; walks are shorter if a level has fewer
constexpr int THREADS = 256;

// A level's input (forward) or output (inverse): samples or floats.
template <class T> struct Side {
    T *data;
    int stride, n_w, n_h, w,
        h; // stride in elements; n_*: size to transform; w, h: existing samples
};

struct Bands {
    float *low, *x, *y, *xy; // low-pass, details along x, along y, along both
    int width, height, stride;
};

// Ten neighbouring samples of a row, not yet converted: a walk loads its next rows meanwhile.
template <class T> struct Ten;

template <> struct Ten<const uint8_t> {
    uint2 eight;
    uint32_t two; // the samples before or after
};

template <> struct Ten<float> {
    float4 a, b;
    float2 two;
};

template <int BEFORE>
__device__ __forceinline__ void load_ten(Ten<const uint8_t> *r, const uint8_t *p) {
    r->eight = *reinterpret_cast<const uint2 *>(p);
    r->two = *reinterpret_cast<const uint16_t *>(p + (BEFORE ? -2 : 8));
}

template <int BEFORE> __device__ __forceinline__ void load_ten(Ten<float> *r, const float *p) {
    r->a = *reinterpret_cast<const float4 *>(p), r->b = *reinterpret_cast<const float4 *>(p + 4);
    r->two = *reinterpret_cast<const float2 *>(p + (BEFORE ? -2 : 8));
}

__device__ __forceinline__ float byte_of(uint32_t w, int i) {
    return (float)__byte_perm(w, 0, 0x4440u + (unsigned)i);
}

__device__ __forceinline__ void spread(float eight[8], float two[2], const Ten<const uint8_t> &r) {
#pragma unroll
    for (int i = 0; i < 8; i++) eight[i] = byte_of(i < 4 ? r.eight.x : r.eight.y, i & 3);
    two[0] = byte_of(r.two, 0), two[1] = byte_of(r.two, 1);
}

__device__ __forceinline__ void spread(float eight[8], float two[2], const Ten<float> &r) {
    eight[0] = r.a.x, eight[1] = r.a.y, eight[2] = r.a.z, eight[3] = r.a.w, eight[4] = r.b.x,
    eight[5] = r.b.y, eight[6] = r.b.z, eight[7] = r.b.w;
    two[0] = r.two.x, two[1] = r.two.y;
}

// Gathers ten samples at the plane's edges.
__device__ void gather_ten(Ten<const uint8_t> *r, const uint8_t (&v)[10], int before) {
    const uint8_t *e = v + before, *t = v + (before ? 0 : 8);
    r->eight = make_uint2((uint32_t)(e[0] | e[1] << 8 | e[2] << 16) | (uint32_t)e[3] << 24,
                          (uint32_t)(e[4] | e[5] << 8 | e[6] << 16) | (uint32_t)e[7] << 24);
    r->two = (uint32_t)(t[0] | t[1] << 8);
}

__device__ void gather_ten(Ten<float> *r, const float (&v)[10], int before) {
    const float *e = v + before, *t = v + (before ? 0 : 8);
    r->a = make_float4(e[0], e[1], e[2], e[3]), r->b = make_float4(e[4], e[5], e[6], e[7]),
    r->two = make_float2(t[0], t[1]);
}

// Loads extended samples 8t .. 8t + 9 of extended input row y.
template <class T, int EDGE>
__device__ __forceinline__ Ten<T> load_row(const Side<T> &in, int t, int y) {
    constexpr int before = EDGE == MOTUS_WAVELET_SYMMETRIC ? 2 : 0;
    int from = y - before, x = 8 * t - before;
    const T *row =
        in.data + (size_t)(from >= 0 && from < in.h ? from : d4_index(from, in.n_h, in.h, EDGE)) *
                      (size_t)in.stride;
    Ten<T> r;
    if (x >= 0 && x + 10 <= in.w) {
        load_ten<before>(&r, row + 8 * t);
    } else {
        typename std::remove_const<T>::type v[10];
        for (int i = 0; i < 10; i++) v[i] = row[d4_index(x + i, in.n_w, in.w, EDGE)];
        gather_ten(&r, v, before);
    }
    return r;
}

__device__ __forceinline__ void store_four(float *row, int x, int width, const float v[4]) {
    // Rows are padded to multiples of 16 floats, so that the last four always fit.
    if (x < width) *reinterpret_cast<float4 *>(row + x) = make_float4(v[0], v[1], v[2], v[3]);
}

// Stores details, which are not read soon. The L2 is left to the low-pass plane, which is the input
// of the next level.
__device__ __forceinline__ void stream_four(float *row, int x, int width, const float v[4]) {
    if (x < width) __stcs(reinterpret_cast<float4 *>(row + x), make_float4(v[0], v[1], v[2], v[3]));
}

// Low- and high-pass values of four columns of one input row.
struct Halves {
    float low[4], high[4];
};

template <int EDGE, class T> __device__ __forceinline__ Halves split_row(const Ten<T> &r) {
    float v[10];
    Halves out;
    if (EDGE == MOTUS_WAVELET_SYMMETRIC)
        spread(v + 2, v, r);
    else
        spread(v, v + 8, r);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        out.low[i] = d4_low(v[2 * i], v[2 * i + 1], v[2 * i + 2], v[2 * i + 3]);
        out.high[i] = d4_high(v[2 * i], v[2 * i + 1], v[2 * i + 2], v[2 * i + 3]);
    }
    return out;
}

template <class T, int EDGE>
__global__ void __launch_bounds__(32 * WALKS, sizeof(T) == 1 ? 7 : 5)
    forward(Bands out, Side<T> in, int rows) {
    int t = blockIdx.x * 32 + threadIdx.x, first = (blockIdx.y * WALKS + threadIdx.y) * rows,
        last = min(first + rows, out.height);
    if (4 * t >= out.width || first >= last) return;
    Ten<T> even = load_row<T, EDGE>(in, t, 2 * first),
           odd = load_row<T, EDGE>(in, t, 2 * first + 1);
    Ten<T> next_even = load_row<T, EDGE>(in, t, 2 * first + 2),
           next_odd = load_row<T, EDGE>(in, t, 2 * first + 3);
    Halves a = split_row<EDGE>(even), b = split_row<EDGE>(odd);
#pragma unroll 2
    for (int i = first; i < last; i++) {
        even = next_even, odd = next_odd;
        if (i + 1 < last)
            next_even = load_row<T, EDGE>(in, t, 2 * i + 4),
            next_odd = load_row<T, EDGE>(in, t, 2 * i + 5);
        Halves c = split_row<EDGE>(even), d = split_row<EDGE>(odd);
        float low[4], x[4], y[4], xy[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            low[k] = d4_low(a.low[k], b.low[k], c.low[k], d.low[k]);
            y[k] = d4_high(a.low[k], b.low[k], c.low[k], d.low[k]);
            x[k] = d4_low(a.high[k], b.high[k], c.high[k], d.high[k]);
            xy[k] = d4_high(a.high[k], b.high[k], c.high[k], d.high[k]);
        }
        size_t row = (size_t)i * (size_t)out.stride;
        store_four(out.low + row, 4 * t, out.width, low);
        stream_four(out.x + row, 4 * t, out.width, x);
        stream_four(out.y + row, 4 * t, out.width, y);
        stream_four(out.xy + row, 4 * t, out.width, xy);
        a = c, b = d;
    }
}

// Loads five coefficients of a band's row: 4t - 1 .. 4t + 3 with periodic edges, else 4t .. 4t + 4.
template <int EDGE>
__device__ __forceinline__ void load_five(float v[5], const float *row, int t, int width) {
    constexpr int at = EDGE == MOTUS_WAVELET_SYMMETRIC ? 0 : 1;
    float4 four = *reinterpret_cast<const float4 *>(row + 4 * t);
    v[at] = four.x, v[at + 1] = four.y, v[at + 2] = four.z, v[at + 3] = four.w;
    if (at)
        v[0] = row[t ? 4 * t - 1 : width - 1];
    else
        v[4] = row[min(4 * t + 4, width - 1)];
}

struct Rows { // of the four bands, five columns
    float low[5], x[5], y[5], xy[5];
};

template <int EDGE> __device__ __forceinline__ Rows load_bands(const Bands &in, int t, int m) {
    Rows r;
    size_t row = (size_t)m * (size_t)in.stride;
    load_five<EDGE>(r.low, in.low + row, t, in.width);
    load_five<EDGE>(r.x, in.x + row, t, in.width);
    load_five<EDGE>(r.y, in.y + row, t, in.width);
    load_five<EDGE>(r.xy, in.xy + row, t, in.width);
    return r;
}

__device__ __forceinline__ uint32_t sample_of(float v) {
    v = v < 0.0f ? 0.0f : v > 255.0f ? 255.0f : v;
    return (uint32_t)motus_round_bits(v) & 255u;
}

__device__ __forceinline__ void store_eight(uint8_t *row, int x, int w, const float v[8]) {
    uint32_t word[2] = {0, 0};
#pragma unroll
    for (int i = 0; i < 8; i++) word[i / 4] |= sample_of(v[i]) << (8 * (i % 4));
    if (x + 8 <= w)
        *reinterpret_cast<uint2 *>(row + x) = make_uint2(word[0], word[1]);
    else
        for (int i = 0; x + i < w; i++) row[x + i] = (uint8_t)(word[i / 4] >> (8 * (i % 4)));
}

__device__ __forceinline__ void store_eight(float *row, int x, int w, const float v[8]) {
    if (x + 8 <= w) {
        *reinterpret_cast<float4 *>(row + x) = make_float4(v[0], v[1], v[2], v[3]);
        *reinterpret_cast<float4 *>(row + x + 4) = make_float4(v[4], v[5], v[6], v[7]);
    } else
#pragma unroll
        for (int i = 0; i < 8; i++)
            if (x + i < w) row[x + i] = v[i];
}

// Writes an output row from five columns of low- and high-pass values.
template <class T>
__device__ __forceinline__ void merge_row(const Side<T> &out, int t, int y, const float low[5],
                                          const float high[5]) {
    float v[8];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        v[2 * i] = d4_even(low[i], low[i + 1], high[i], high[i + 1]);
        v[2 * i + 1] = d4_odd(low[i], low[i + 1], high[i], high[i + 1]);
    }
    if (y < out.h) store_eight(out.data + (size_t)y * (size_t)out.stride, 8 * t, out.w, v);
}

template <class T, int EDGE>
__global__ void __launch_bounds__(32 * WALKS) inverse(Side<T> out, Bands in, int rows) {
    int t = blockIdx.x * 32 + threadIdx.x, first = (blockIdx.y * WALKS + threadIdx.y) * ROWS,
        last = min(first + ROWS, (out.h + 1) / 2);
    if (8 * t >= out.w || first >= last) return;
    // Pair m needs rows m and m + 1 with symmetric edges, else m - 1 and m.
    constexpr int ahead = EDGE == MOTUS_WAVELET_SYMMETRIC;
    Rows before = load_bands<EDGE>(in, t, ahead ? first : first ? first - 1 : in.height - 1);
#pragma unroll 2
    for (int m = first; m < last; m++) {
        Rows at = load_bands<EDGE>(in, t, m + ahead);
        float low[2][5], high[2][5];
#pragma unroll
        for (int k = 0; k < 5; k++) {
            low[0][k] = d4_even(before.low[k], at.low[k], before.y[k], at.y[k]);
            low[1][k] = d4_odd(before.low[k], at.low[k], before.y[k], at.y[k]);
            high[0][k] = d4_even(before.x[k], at.x[k], before.xy[k], at.xy[k]);
            high[1][k] = d4_odd(before.x[k], at.x[k], before.xy[k], at.xy[k]);
        }
        merge_row(out, t, 2 * m, low[0], high[0]);
        merge_row(out, t, 2 * m + 1, low[1], high[1]);
        before = at;
    }
}

__device__ __forceinline__ int level_of(float v, float scale, bool exists) {
    v = exists ? v * scale : 0.0f;
    v = v < -32768.0f ? -32768.0f : v > 32767.0f ? 32767.0f : v;
    return motus_round_bits(v); // the level is in the low 16 bits
}

// Thread: four coefficients of a row; those between width and stride become 0.
__global__ void quantize(int16_t *levels, const float *coefs, MotusBand band, float scale) {
    int x = 4 * (blockIdx.x * THREADS + threadIdx.x), w = band.width;
    if (x >= band.stride) return;
    size_t at = band.offset + (size_t)blockIdx.y * (size_t)band.stride + (size_t)x;
    float4 c = *reinterpret_cast<const float4 *>(coefs + at);
    int a = level_of(c.x, scale, x < w), b = level_of(c.y, scale, x + 1 < w),
        d = level_of(c.z, scale, x + 2 < w), e = level_of(c.w, scale, x + 3 < w);
    *reinterpret_cast<uint2 *>(levels + at) =
        make_uint2(__byte_perm((uint32_t)a, (uint32_t)b, 0x5410),
                   __byte_perm((uint32_t)d, (uint32_t)e, 0x5410));
}

__global__ void dequantize(float *coefs, const int16_t *levels, size_t size, float step) {
    size_t i = 4 * ((size_t)blockIdx.x * THREADS + threadIdx.x); // size is a multiple of 16
    if (i >= size) return;
    uint2 v = *reinterpret_cast<const uint2 *>(levels + i);
    *reinterpret_cast<float4 *>(coefs + i) =
        make_float4((float)(int16_t)v.x * step, (float)((int)v.x >> 16) * step,
                    (float)(int16_t)v.y * step, (float)((int)v.y >> 16) * step);
}

__global__ void shrink(float *coefs, MotusBand band, float threshold) {
    int x = 4 * (blockIdx.x * THREADS + threadIdx.x);
    if (x >= band.stride) return;
    float4 *at = reinterpret_cast<float4 *>(coefs + band.offset +
                                            (size_t)blockIdx.y * (size_t)band.stride + (size_t)x),
           c = *at;
    *at = make_float4(d4_shrink(c.x, threshold), d4_shrink(c.y, threshold),
                      d4_shrink(c.z, threshold), d4_shrink(c.w, threshold));
}

Bands bands_of(float *coefs, const MotusWaveletShape *s, int l) {
    const MotusBand *b = s->band[l];
    return Bands{coefs + s->low_offset[l],
                 coefs + b[0].offset,
                 coefs + b[1].offset,
                 coefs + b[2].offset,
                 b[0].width,
                 b[0].height,
                 b[0].stride};
}

// Returns the rows of a walk for a plane of this many columns and rows (or pairs).
int rows_of(int columns, int rows) {
    int walks = ENOUGH * WALKS / ((columns + 127) / 128);
    return motus_clip(1, ROWS, rows / motus_max(walks, 1));
}

dim3 grid_of(int columns, int rows, int per_walk) {
    return dim3((unsigned)(columns + 127) / 128,
                (unsigned)(rows + WALKS * per_walk - 1) / (unsigned)(WALKS * per_walk));
}

template <class T>
void launch_forward(const Bands &out, const Side<T> &in, MotusWaveletEdge edge,
                    cudaStream_t stream) {
    int rows = rows_of(out.width, out.height);
    dim3 grid = grid_of(out.width, out.height, rows), block(32, WALKS);
    if (edge == MOTUS_WAVELET_PERIODIC)
        forward<T, MOTUS_WAVELET_PERIODIC><<<grid, block, 0, stream>>>(out, in, rows);
    else
        forward<T, MOTUS_WAVELET_SYMMETRIC><<<grid, block, 0, stream>>>(out, in, rows);
}

template <class T>
void launch_inverse(const Side<T> &out, const Bands &in, MotusWaveletEdge edge,
                    cudaStream_t stream) {
    int columns = (out.w + 1) / 2, pairs = (out.h + 1) / 2, rows = rows_of(columns, pairs);
    dim3 grid = grid_of(columns, pairs, rows), block(32, WALKS);
    if (edge == MOTUS_WAVELET_PERIODIC)
        inverse<T, MOTUS_WAVELET_PERIODIC><<<grid, block, 0, stream>>>(out, in, rows);
    else
        inverse<T, MOTUS_WAVELET_SYMMETRIC><<<grid, block, 0, stream>>>(out, in, rows);
}

// Returns the low-pass plane between levels l - 1 and l.
Side<float> between(float *coefs, const MotusWaveletShape *s, int l) {
    return Side<float>{coefs + s->low_offset[l - 1],
                       s->band[l - 1][0].stride,
                       s->in_width[l],
                       s->in_height[l],
                       s->in_width[l],
                       s->in_height[l]};
}

bool fits(const float *coefs, const MotusPlane *p, const MotusWaveletShape *s) {
    return coefs && motus_plane_usable(p) && motus_wavelet_shape_ok(s) && p->width == s->width &&
           p->height == s->height &&
           ((uintptr_t)p->data | (uintptr_t)p->stride | (uintptr_t)coefs) % 16 == 0;
}

// Fails because of the shape, or of a plane.
MotusStatus refuse(bool plane, MotusError *error) {
    return motus_fail(error, MOTUS_ERR_ARGUMENT,
                      plane ? "wavelet: another size, or not aligned to 16 bytes"
                            : "wavelet: nothing given, or a shape that is none");
}

dim3 band_grid(const MotusBand &band) {
    return dim3((unsigned)(band.stride / 4 + THREADS - 1) / THREADS, (unsigned)band.height);
}

} // namespace

extern "C" MotusStatus motus_cuda_wavelet_forward(float *coefs, const MotusPlane *src,
                                                  const MotusWaveletShape *shape, void *stream,
                                                  MotusError *error) {
    if (!fits(coefs, src, shape)) return refuse(true, error);
    Side<const uint8_t> picture{src->data,           (int)src->stride, shape->in_width[0],
                                shape->in_height[0], src->width,       src->height};
    launch_forward(bands_of(coefs, shape, 0), picture, shape->edge, (cudaStream_t)stream);
    for (int l = 1; l < shape->levels; l++)
        launch_forward(bands_of(coefs, shape, l), between(coefs, shape, l), shape->edge,
                       (cudaStream_t)stream);
    return motus_cuda_launched("wavelet", error);
}

extern "C" MotusStatus motus_cuda_wavelet_inverse_plane(const MotusPlane *dst, float *coefs,
                                                        const MotusWaveletShape *shape,
                                                        void *stream, MotusError *error) {
    if (!fits(coefs, dst, shape)) return refuse(true, error);
    for (int l = shape->levels - 1; l > 0; l--)
        launch_inverse(between(coefs, shape, l), bands_of(coefs, shape, l), shape->edge,
                       (cudaStream_t)stream);
    Side<uint8_t> picture{dst->data,           (int)dst->stride, shape->in_width[0],
                          shape->in_height[0], dst->width,       dst->height};
    launch_inverse(picture, bands_of(coefs, shape, 0), shape->edge, (cudaStream_t)stream);
    return motus_cuda_launched("inverse wavelet", error);
}

extern "C" MotusStatus motus_cuda_wavelet_quantize(int16_t *levels, const float *coefs,
                                                   const MotusWaveletShape *shape, float step,
                                                   void *stream, MotusError *error) {
    if (!levels || !coefs || !motus_wavelet_shape_ok(shape)) return refuse(false, error);
    for (int i = 0; i <= 3 * shape->levels; i++) {
        MotusBand band = i < 3 * shape->levels ? shape->band[i / 3][i % 3] : shape->low;
        quantize<<<band_grid(band), THREADS, 0, (cudaStream_t)stream>>>(levels, coefs, band,
                                                                        1.0f / step);
    }
    for (int l = 0; l < shape->levels - 1; l++) // outside the bands levels are 0
        cudaMemsetAsync(levels + shape->low_offset[l], 0,
                        (size_t)shape->band[l][0].stride * (size_t)shape->band[l][0].height * 2,
                        (cudaStream_t)stream);
    return motus_cuda_launched("wavelet quantization", error);
}

extern "C" MotusStatus motus_cuda_wavelet_dequantize(float *coefs, const int16_t *levels,
                                                     const MotusWaveletShape *shape, float step,
                                                     void *stream, MotusError *error) {
    if (!levels || !coefs || !motus_wavelet_shape_ok(shape)) return refuse(false, error);
    dequantize<<<(unsigned)((shape->size / 4 + THREADS - 1) / THREADS), THREADS, 0,
                 (cudaStream_t)stream>>>(coefs, levels, shape->size, step);
    return motus_cuda_launched("wavelet dequantization", error);
}

extern "C" MotusStatus motus_cuda_wavelet_shrink(float *coefs, const MotusWaveletShape *shape,
                                                 const float *threshold, void *stream,
                                                 MotusError *error) {
    if (!coefs || !threshold || !motus_wavelet_shape_ok(shape)) return refuse(false, error);
    for (int i = 0; i < 3 * shape->levels; i++) {
        MotusBand band = shape->band[i / 3][i % 3];
        shrink<<<band_grid(band), THREADS, 0, (cudaStream_t)stream>>>(coefs, band,
                                                                      threshold[i / 3]);
    }
    return motus_cuda_launched("wavelet thresholds", error);
}
