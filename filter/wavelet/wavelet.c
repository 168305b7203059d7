// Daubechies D4 wavelet transform of planes on the CPU (Mallat). A level takes rows and columns in
// one pass over its input.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"
#include "common/cpu.h"
#include "common/threads.h"
#include "filter/wavelet/wavelet_tmpl.h"
#include "yuv/usable.h"

const MotusWaveletOps motus_wavelet_ops_c = {split,    split_rows, merge,  merge_rows,
                                             to_float, to_sample,  shrink, quantize};

const MotusWaveletOps *motus_wavelet_ops(const MotusExec *exec) {
#if defined(__x86_64__)
    if (!(exec && exec->plain_c) && motus_cpu_flags() & MOTUS_CPU_AVX2)
        return &motus_wavelet_ops_avx2;
#endif
    (void)exec;
    return &motus_wavelet_ops_c;
}

// A level's input (forward) or output (inverse): a plane of samples, or floats.
typedef struct Side {
    const MotusPlane *plane;
    float *data;
    int stride; // floats
} Side;

// Row buffers, ROWS_PER_THREAD for each thread.
typedef struct Scratch {
    float *memory;
    int threads, pitch; // pitch: floats of a row: any level's input and a few more
} Scratch;

enum { ROWS_PER_THREAD = 5 };

static MotusStatus scratch_open(Scratch *scratch, const MotusWaveletShape *shape,
                                const MotusExec *exec) {
    scratch->threads = motus_threads_ready(exec ? exec->threads : 0);
    scratch->pitch = (shape->in_width[0] + 64 + 15) / 16 * 16;
    scratch->memory = motus_alloc((size_t)scratch->pitch * ROWS_PER_THREAD,
                                  (size_t)scratch->threads * sizeof(float));
    return scratch->memory ? MOTUS_OK : MOTUS_ERR_MEMORY;
}

// One level of a transform.
typedef struct Level {
    const MotusWaveletShape *shape;
    const MotusWaveletOps *ops;
    float *coefs;
    int l;                      // number
    int existing_w, existing_h; // samples of the input; less than in_width if level 0 is rounded up
} Level;

static Level make_level(const MotusWaveletShape *shape, const MotusWaveletOps *ops, float *coefs,
                        int l) {
    return (Level){.shape = shape,
                   .ops = ops,
                   .coefs = coefs,
                   .l = l,
                   .existing_w = l ? shape->in_width[l] : shape->width,
                   .existing_h = l ? shape->in_height[l] : shape->height};
}

// Splits extended row y of the level's input: low-pass to out[0..w), high-pass to out[w..2w).
static void split_input_row(float *out, float *row, const Level *level, const Side *in, int y) {
    const MotusWaveletShape *s = level->shape;
    int n = s->in_width[level->l], w = s->band[level->l][0].width,
        before = s->edge == MOTUS_WAVELET_SYMMETRIC ? 2 : 0;
    int from = motus_d4_index(y - before, s->in_height[level->l], level->existing_h, s->edge);
    if (in->plane)
        level->ops->to_float(row + before, in->plane->data + from * in->plane->stride,
                             level->existing_w);
    else
        memcpy(row + before, in->data + (size_t)from * (size_t)in->stride,
               (size_t)level->existing_w * sizeof *row);
    for (int x = 0; x < before; x++)
        row[x] = row[before + motus_d4_index(x - before, n, level->existing_w, s->edge)];
    for (int x = before + level->existing_w; x < 2 * w + 2; x++)
        row[x] = row[before + motus_d4_index(x - before, n, level->existing_w, s->edge)];
    level->ops->split(out, out + w, row, w);
}

// Computes output rows [from, to) of a level. memory: four split rows and an extended row.
static void forward_rows(const Level *level, const Side *in, int from, int to, float *memory,
                         int pitch) {
    const MotusBand *band = level->shape->band[level->l];
    int w = band[0].width;
    float *row = memory + 4 * pitch, *low = level->coefs + level->shape->low_offset[level->l];
    for (int y = 2 * from; y < 2 * from + 2; y++)
        split_input_row(memory + (y & 3) * pitch, row, level, in, y);
    for (int i = from; i < to; i++) {
        const float *left[4], *right[4];
        for (int y = 2 * i + 2; y < 2 * i + 4; y++)
            split_input_row(memory + (y & 3) * pitch, row, level, in, y);
        for (int k = 0; k < 4; k++)
            left[k] = memory + ((2 * i + k) & 3) * pitch, right[k] = left[k] + w;
        size_t at = (size_t)i * (size_t)band[0].stride;
        level->ops->split_rows(low + at, level->coefs + band[1].offset + at, left, w);
        level->ops->split_rows(level->coefs + band[0].offset + at,
                               level->coefs + band[2].offset + at, right, w);
    }
}

MotusStatus motus_wavelet_forward(float *coefs, const MotusPlane *src,
                                  const MotusWaveletShape *shape, const MotusExec *exec) {
    Scratch scratch;
    if (!coefs || !motus_plane_usable(src) || !motus_wavelet_shape_ok(shape))
        return MOTUS_ERR_ARGUMENT;
    if (src->width != shape->width || src->height != shape->height) return MOTUS_ERR_ARGUMENT;
    if (scratch_open(&scratch, shape, exec)) return MOTUS_ERR_MEMORY;
    for (int l = 0; l < shape->levels; l++) {
        Level level = make_level(shape, motus_wavelet_ops(exec), coefs, l);
        Side in = {l ? NULL : src, l ? coefs + shape->low_offset[l - 1] : NULL,
                   l ? shape->band[l - 1][0].stride : 0};
        int h = shape->band[l][0].height;
#pragma omp parallel for num_threads(scratch.threads) schedule(static, 1)
        for (int t = 0; t < scratch.threads; t++)
            forward_rows(&level, &in, (int)((int64_t)h * t / scratch.threads),
                         (int)((int64_t)h * (t + 1) / scratch.threads),
                         scratch.memory + (size_t)t * ROWS_PER_THREAD * (size_t)scratch.pitch,
                         scratch.pitch);
    }
    motus_free(scratch.memory);
    return MOTUS_OK;
}

// Returns the row from the coefficient before the first on: with periodic edges a copy of the last,
// else row[1] itself.
static const float *begin_row(float *row, int w, MotusWaveletEdge edge) {
    if (edge == MOTUS_WAVELET_PERIODIC) row[0] = row[w];
    return edge == MOTUS_WAVELET_PERIODIC ? row : row + 1;
}

// Computes rows 2m and 2m + 1 of a level's input from its bands. memory: even and odd rows of both
// halves, and a merged row.
static void inverse_rows(const Level *level, const Side *out, int m, float *memory, int pitch) {
    const MotusWaveletShape *s = level->shape;
    const MotusBand *band = s->band[level->l];
    int w = band[0].width, periodic = s->edge == MOTUS_WAVELET_PERIODIC;
    size_t at = (size_t)(periodic ? m : m + 1),
           before = (size_t)(periodic ? (m ? m - 1 : band[0].height - 1) : m),
           pitch_in = (size_t)band[0].stride;
    const float *base[4] = {level->coefs + s->low_offset[level->l], level->coefs + band[1].offset,
                            level->coefs + band[0].offset, level->coefs + band[2].offset};
    float *half_row[2][2]; // [low, high along x][even, odd], after one more coefficient
    for (int k = 0; k < 2; k++) {
        const float *low[2] = {base[2 * k] + before * pitch_in, base[2 * k] + at * pitch_in};
        const float *high[2] = {base[2 * k + 1] + before * pitch_in,
                                base[2 * k + 1] + at * pitch_in};
        for (int r = 0; r < 2; r++) half_row[k][r] = memory + (2 * k + r) * pitch;
        level->ops->merge_rows(half_row[k][0] + 1, half_row[k][1] + 1, low, high, w);
    }
    int n = (s->in_width[level->l] + 1) / 2;
    for (int r = 0; r < 2 && 2 * m + r < level->existing_h; r++) {
        float *merged = memory + 4 * pitch;
        level->ops->merge(merged, begin_row(half_row[0][r], w, s->edge),
                          begin_row(half_row[1][r], w, s->edge), n);
        if (out->plane)
            level->ops->to_sample(out->plane->data + (2 * m + r) * out->plane->stride, merged,
                                  level->existing_w);
        else
            memcpy(out->data + (size_t)(2 * m + r) * (size_t)out->stride, merged,
                   (size_t)level->existing_w * sizeof *merged);
    }
}

static MotusStatus inverse(const Side *last, float *coefs, const MotusWaveletShape *shape,
                           const MotusExec *exec) {
    Scratch scratch;
    if (scratch_open(&scratch, shape, exec)) return MOTUS_ERR_MEMORY;
    for (int l = shape->levels - 1; l >= 0; l--) {
        Level level = make_level(shape, motus_wavelet_ops(exec), coefs, l);
        Side lower = {NULL, l ? coefs + shape->low_offset[l - 1] : NULL,
                      l ? shape->band[l - 1][0].stride : 0};
        int pairs = (level.existing_h + 1) / 2;
#pragma omp parallel for num_threads(scratch.threads) schedule(static, 1)
        for (int t = 0; t < scratch.threads; t++)
            for (int m = (int)((int64_t)pairs * t / scratch.threads);
                 m < (int)((int64_t)pairs * (t + 1) / scratch.threads); m++)
                inverse_rows(&level, l ? &lower : last, m,
                             scratch.memory + (size_t)t * ROWS_PER_THREAD * (size_t)scratch.pitch,
                             scratch.pitch);
    }
    motus_free(scratch.memory);
    return MOTUS_OK;
}

MotusStatus motus_wavelet_inverse_plane(MotusPlane *dst, float *coefs,
                                        const MotusWaveletShape *shape, const MotusExec *exec) {
    if (!coefs || !motus_plane_usable(dst) || !motus_wavelet_shape_ok(shape))
        return MOTUS_ERR_ARGUMENT;
    if (dst->width != shape->width || dst->height != shape->height) return MOTUS_ERR_ARGUMENT;
    Side last = {dst, NULL, 0};
    return inverse(&last, coefs, shape, exec);
}

MotusStatus motus_wavelet_inverse_float(float *dst, float *coefs, const MotusWaveletShape *shape,
                                        const MotusExec *exec) {
    if (!dst || !coefs || !motus_wavelet_shape_ok(shape)) return MOTUS_ERR_ARGUMENT;
    Side last = {NULL, dst, shape->width};
    return inverse(&last, coefs, shape, exec);
}
