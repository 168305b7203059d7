// Chroma key and colour conversion on a CUDA device; equals motus_key_rgb24, motus_key_frame and the conversions bit for bit.
//
// RGB24: a warp takes 512 pixels of a row, 1536 bytes of each picture, in 16-byte accesses that follow each other, and turns them round in shared memory so
// that a thread holds 16 whole pixels (48 bytes; at this distance eight threads' 16-byte accesses meet in no bank). The result goes back the same way.
// 4:2:0: a thread takes 8 x 2 luma samples and the 4 x 2 chroma samples that belong to them, straight from device memory.
// Read and written once: foreground, background, result. Bytes between a row's end and the next multiple of 16 are treated like the row's.
// SPDX-License-Identifier: BSD-2-Clause
#include "motus/filter_cuda.h"

#include "common/cuda_check.h"

extern "C" {
#include "filter/key.h"
}

namespace {

constexpr int WARPS = 8;      // of a block
constexpr int CHUNKS = 96;    // of 16 bytes: what a warp takes of a row of RGB24
constexpr int PER_THREAD = 3; // chunks

struct View {
    uint8_t *data;
    int stride, width, height;
};

struct Picture {
    View plane[3];
};

// Whether a kernel has to look at soft edges and spill, told at compile time.
template <bool SOFT> __device__ __forceinline__ int weight_of(int r, int g, int b, const MotusKey &key) {
    MotusKeyDistance d = motus_key_distance(r, g, b, &key);
    int inside = motus_key_inside(&d);
    if (!SOFT) return inside ? 0 : 255;
    if (inside | motus_key_outside(&d, key.soft)) return inside ? 0 : 255;
    return motus_key_edge(&d, key.soft);
}

__device__ __forceinline__ int byte_of(const uint32_t *w, int i) {
    return (int)__byte_perm(w[i / 4], 0, 0x4440u + (unsigned)(i & 3));
}

__device__ __forceinline__ uint32_t pack4(const int *v) {
    return __byte_perm(__byte_perm((uint32_t)v[0], (uint32_t)v[1], 0x0040), __byte_perm((uint32_t)v[2], (uint32_t)v[3], 0x0040),
                       0x5410);
}

// Four pixels, 12 bytes in three words: front becomes the mixture.
template <bool SOFT> __device__ __forceinline__ void key_pixels(uint32_t front[3], const uint32_t back[3], const MotusKey &key) {
    int out[12];
#pragma unroll
    for (int p = 0; p < 4; p++) {
        int c[3] = {byte_of(front, 3 * p), byte_of(front, 3 * p + 1), byte_of(front, 3 * p + 2)};
        int weight = weight_of<SOFT>(c[0], c[1], c[2], key);
        if (SOFT) {
            int r = key.channel == 0 ? motus_key_unspill(c[0], c[1], c[2], key.spill) : c[0];
            int g = key.channel == 1 ? motus_key_unspill(c[1], c[2], c[0], key.spill) : c[1];
            int b = key.channel == 2 ? motus_key_unspill(c[2], c[0], c[1], key.spill) : c[2];
            c[0] = r, c[1] = g, c[2] = b;
        }
#pragma unroll
        for (int i = 0; i < 3; i++) {
            int other = byte_of(back, 3 * p + i);
            out[3 * p + i] = SOFT ? motus_key_mix(c[i], other, weight) : weight ? c[i] : other;
        }
    }
#pragma unroll
    for (int i = 0; i < 3; i++) front[i] = pack4(out + 4 * i);
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
template <bool SOFT>
__global__ void __launch_bounds__(32 * WARPS) key_rgb24(View dst, View fg, View bg, const __grid_constant__ MotusKey key) {
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
    for (int q = 0; q < 4; q++) key_pixels<SOFT>(front + 3 * q, back + 3 * q, key);
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++)
        mine[0][PER_THREAD * lane + k] = make_uint4(front[4 * k], front[4 * k + 1], front[4 * k + 2], front[4 * k + 3]);
    __syncwarp(); // the warp's results are there
    uint4 *out = reinterpret_cast<uint4 *>(dst.data + (size_t)y * (size_t)dst.stride);
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++)
        if (chunk + 32 * k + lane < chunks) __stcs(out + chunk + 32 * k + lane, mine[0][32 * k + lane]);
}

template <class T> __device__ __forceinline__ T load(const View &p, int y, int x) {
    return __ldcs(reinterpret_cast<const T *>(p.data + (size_t)y * (size_t)p.stride + (size_t)x));
}
template <class T> __device__ __forceinline__ void store(const View &p, int y, int x, T v) {
    __stcs(reinterpret_cast<T *>(p.data + (size_t)y * (size_t)p.stride + (size_t)x), v);
}

// Judges and mixes 8 samples of a luma row; adds `times` each weight to the sum of its chroma sample.
template <bool SOFT>
__device__ __forceinline__ void key_luma_row(const View &dst, const View &fg, const View &bg, int y, int x, uint32_t cb,
                                             uint32_t cr, int sums[4], int times, const MotusKey &key) {
    uint2 f = load<uint2>(fg, y, x), b = load<uint2>(bg, y, x);
    uint32_t front[2] = {f.x, f.y}, back[2] = {b.x, b.y};
    int mixed[8];
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int red, green, blue, luma = byte_of(front, i), other = byte_of(back, i);
        motus_yuv_to_rgb(&red, &green, &blue, luma, byte_of(&cb, i / 2), byte_of(&cr, i / 2), &key.matrix);
        int weight = weight_of<SOFT>(red, green, blue, key);
        mixed[i] = SOFT ? motus_key_mix(luma, other, weight) : weight ? luma : other;
        if (x + i < fg.width) sums[i / 2] += weight * times;
        if (x + i == fg.width - 1 && i % 2 == 0) sums[i / 2] += weight * times; // no right neighbour: it counts twice
    }
    store(dst, y, x, make_uint2(pack4(mixed), pack4(mixed + 4)));
}

// Thread: 8 x 2 luma samples. Grid: x = groups of 32 threads along the row, y = groups of WARPS row pairs.
template <bool SOFT>
__global__ void __launch_bounds__(32 * WARPS) key_yuv(Picture dst, Picture fg, Picture bg, const __grid_constant__ MotusKey key) {
    int x = 8 * (blockIdx.x * 32 + threadIdx.x), y = blockIdx.y * WARPS + threadIdx.y, width = fg.plane[0].width,
        height = fg.plane[0].height;
    if (x >= width || 2 * y >= height) return;
    uint32_t cb = load<uint32_t>(fg.plane[1], y, x / 2), cr = load<uint32_t>(fg.plane[2], y, x / 2);
    uint32_t back[2] = {load<uint32_t>(bg.plane[1], y, x / 2), load<uint32_t>(bg.plane[2], y, x / 2)};
    int sums[4] = {0}, rows = min(2, height - 2 * y);
    key_luma_row<SOFT>(dst.plane[0], fg.plane[0], bg.plane[0], 2 * y, x, cb, cr, sums, 3 - rows, key);
    if (rows == 2) key_luma_row<SOFT>(dst.plane[0], fg.plane[0], bg.plane[0], 2 * y + 1, x, cb, cr, sums, 1, key);
    int out[2][4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int c[2] = {byte_of(&cb, i), byte_of(&cr, i)}, weight = (sums[i] + 2) >> 2;
        if (SOFT && key.spill) motus_key_unspill_chroma(&c[0], &c[1], &key);
#pragma unroll
        for (int p = 0; p < 2; p++) out[p][i] = motus_key_mix(c[p], byte_of(&back[p], i), weight);
    }
#pragma unroll
    for (int p = 0; p < 2; p++) store(dst.plane[1 + p], y, x / 2, pack4(out[p]));
}

// Thread: one chroma sample and its pixels.
__global__ void rgb24_to_yuv(Picture dst, View src, MotusYuvMatrix m) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * WARPS + threadIdx.y, width = dst.plane[0].width,
        height = dst.plane[0].height;
    if (2 * x >= width || 2 * y >= height) return;
    int sum[3] = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
        int px = min(2 * x + (k & 1), width - 1), py = min(2 * y + (k >> 1), height - 1);
        const uint8_t *c = src.data + (size_t)py * (size_t)src.stride + (size_t)(3 * px);
        dst.plane[0].data[(size_t)py * (size_t)dst.plane[0].stride + (size_t)px] = motus_rgb_to_y(c[0], c[1], c[2], &m);
        for (int i = 0; i < 3; i++) sum[i] += c[i];
    }
    dst.plane[1].data[(size_t)y * (size_t)dst.plane[1].stride + (size_t)x] = motus_rgb4_to_cb(sum[0], sum[1], sum[2], &m);
    dst.plane[2].data[(size_t)y * (size_t)dst.plane[2].stride + (size_t)x] = motus_rgb4_to_cr(sum[0], sum[1], sum[2], &m);
}

// Thread: one pixel.
__global__ void yuv_to_rgb24(View dst, Picture src, MotusYuvMatrix m) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * WARPS + threadIdx.y, r, g, b;
    if (x >= src.plane[0].width || y >= src.plane[0].height) return;
    int luma = src.plane[0].data[(size_t)y * (size_t)src.plane[0].stride + (size_t)x];
    size_t at = (size_t)(y / 2) * (size_t)src.plane[1].stride + (size_t)(x / 2),
           at2 = (size_t)(y / 2) * (size_t)src.plane[2].stride + (size_t)(x / 2);
    motus_yuv_to_rgb(&r, &g, &b, luma, src.plane[1].data[at], src.plane[2].data[at2], &m);
    uint8_t *out = dst.data + (size_t)y * (size_t)dst.stride + (size_t)(3 * x);
    out[0] = (uint8_t)r, out[1] = (uint8_t)g, out[2] = (uint8_t)b;
}

// Thread: one pixel, either way.
template <bool JOIN> __global__ void rgb24_planes(View rgb, View r, View g, View b) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * WARPS + threadIdx.y;
    if (x >= r.width || y >= r.height) return;
    uint8_t *pixel = rgb.data + (size_t)y * (size_t)rgb.stride + (size_t)(3 * x);
    View planes[3] = {r, g, b};
#pragma unroll
    for (int k = 0; k < 3; k++) {
        uint8_t *sample = planes[k].data + (size_t)y * (size_t)planes[k].stride + (size_t)x;
        if (JOIN)
            pixel[k] = *sample;
        else
            *sample = pixel[k];
    }
}

bool aligned(const MotusPlane &p) { return ((uintptr_t)p.data | (uintptr_t)p.stride) % 16 == 0; }

bool aligned(const MotusFrame *f) { return aligned(f->plane[0]) && aligned(f->plane[1]) && aligned(f->plane[2]); }

View view(const MotusPlane &p) { return View{p.data, (int)p.stride, p.width, p.height}; }

Picture picture(const MotusFrame *f) { return Picture{{view(f->plane[0]), view(f->plane[1]), view(f->plane[2])}}; }

unsigned groups(int n, int size) { return (unsigned)((n + size - 1) / size); }

} // namespace

extern "C" MotusStatus motus_cuda_key_rgb24(const MotusPlane *dst, const MotusPlane *fg, const MotusPlane *bg,
                                            const MotusKeyConfig *config, void *stream, MotusError *error) {
    MotusKey key;
    if (!motus_planes_match(dst, fg) || !motus_planes_match(fg, bg) || fg->width % 3 || motus_key_prepare(&key, config))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "chroma key: sizes differ, or a parameter is out of range");
    if (!aligned(*dst) || !aligned(*fg) || !aligned(*bg))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "chroma key: planes not aligned to 16 bytes");
    dim3 grid(groups(fg->width, 16 * CHUNKS), groups(fg->height, WARPS)), block(32, WARPS);
    if (key.soft || key.spill)
        key_rgb24<true><<<grid, block, 0, (cudaStream_t)stream>>>(view(*dst), view(*fg), view(*bg), key);
    else
        key_rgb24<false><<<grid, block, 0, (cudaStream_t)stream>>>(view(*dst), view(*fg), view(*bg), key);
    return motus_cuda_launched("chroma key", error);
}

extern "C" MotusStatus motus_cuda_key_frame(const MotusFrame *dst, const MotusFrame *fg, const MotusFrame *bg,
                                            const MotusKeyConfig *config, void *stream, MotusError *error) {
    MotusKey key;
    if (!motus_frames_match(dst, fg) || !motus_frames_match(fg, bg) || motus_key_prepare(&key, config))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "chroma key: sizes differ, or a parameter is out of range");
    if (!aligned(dst) || !aligned(fg) || !aligned(bg))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "chroma key: planes not aligned to 16 bytes");
    dim3 grid(groups(fg->width, 8 * 32), groups((fg->height + 1) / 2, WARPS)), block(32, WARPS);
    if (key.soft || key.spill)
        key_yuv<true><<<grid, block, 0, (cudaStream_t)stream>>>(picture(dst), picture(fg), picture(bg), key);
    else
        key_yuv<false><<<grid, block, 0, (cudaStream_t)stream>>>(picture(dst), picture(fg), picture(bg), key);
    return motus_cuda_launched("chroma key", error);
}

extern "C" MotusStatus motus_cuda_rgb24_to_frame(const MotusFrame *dst, const MotusPlane *src, int matrix_709, int full_range,
                                                 void *stream, MotusError *error) {
    if (!dst || !src || src->width != 3 * dst->width || src->height != dst->height)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "colour conversion: sizes differ");
    dim3 grid(groups((dst->width + 1) / 2, 32), groups((dst->height + 1) / 2, WARPS)), block(32, WARPS);
    rgb24_to_yuv<<<grid, block, 0, (cudaStream_t)stream>>>(picture(dst), view(*src), motus_yuv_matrix(matrix_709, full_range));
    return motus_cuda_launched("colour conversion", error);
}

extern "C" MotusStatus motus_cuda_frame_to_rgb24(const MotusPlane *dst, const MotusFrame *src, int matrix_709, int full_range,
                                                 void *stream, MotusError *error) {
    if (!dst || !src || dst->width != 3 * src->width || dst->height != src->height)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "colour conversion: sizes differ");
    dim3 grid(groups(src->width, 32), groups(src->height, WARPS)), block(32, WARPS);
    yuv_to_rgb24<<<grid, block, 0, (cudaStream_t)stream>>>(view(*dst), picture(src), motus_yuv_matrix(matrix_709, full_range));
    return motus_cuda_launched("colour conversion", error);
}

template <bool JOIN>
static MotusStatus launch_planes(const MotusPlane *rgb, const MotusPlane planes[3], void *stream, MotusError *error) {
    if (!motus_rgb24_matches(rgb, planes)) return motus_fail(error, MOTUS_ERR_ARGUMENT, "RGB24 and its planes: sizes differ");
    dim3 grid(groups(rgb->width / 3, 32), groups(rgb->height, WARPS)), block(32, WARPS);
    rgb24_planes<JOIN><<<grid, block, 0, (cudaStream_t)stream>>>(view(*rgb), view(planes[0]), view(planes[1]), view(planes[2]));
    return motus_cuda_launched("RGB24 and its planes", error);
}

extern "C" MotusStatus motus_cuda_rgb24_split(const MotusPlane planes[3], const MotusPlane *rgb, void *stream,
                                              MotusError *error) {
    return launch_planes<false>(rgb, planes, stream, error);
}

extern "C" MotusStatus motus_cuda_rgb24_join(const MotusPlane *rgb, const MotusPlane planes[3], void *stream, MotusError *error) {
    return launch_planes<true>(rgb, planes, stream, error);
}
