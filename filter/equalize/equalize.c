// Histogram equalization on the CPU: of the whole plane, or by tiles with a clip limit (CLAHE);
// curves smoothed over time.
// SPDX-License-Identifier: BSD-2-Clause
#include "filter/equalize/equalize.h"

#include <string.h>

#include "common/alloc.h"
#include "yuv/exec.h"
#include "yuv/usable.h"

struct MotusEqualizer {
    MotusEqualizeConfig config;
    MotusTileGrid grid;
    int started;             // `smooth` and `before` are valid
    uint32_t (*counts)[256]; // of each tile
    uint16_t (*smooth)[256]; // curve of each tile, 8 fraction bits
    uint8_t (*curves)[256];  // the same, rounded
    uint32_t before[256];    // histogram of the previous picture
    MotusTilePosition *columns;
};

// Counts the samples of a rectangle, and prefetches the next row meanwhile. Each value has eight
// counts in one cache line, used in turn, so equal neighbours do not wait for each other.
static void count_rows(uint32_t counts[256], const uint8_t *row, ptrdiff_t stride, int width,
                       int height) {
    uint32_t part[256][8] = {{0}};
    for (int y = 0; y < height; y++, row += stride) {
        int x = 0;
        for (; x + 8 <= width; x += 8) {
            uint64_t v;
            if (!(x & 63) && x + 64 <= width) __builtin_prefetch(row + stride + x);
            memcpy(&v, row + x, 8);
            for (int k = 0; k < 8; k++) part[v >> (8 * k) & 255][k]++;
        }
        for (; x < width; x++) part[row[x]][x & 7]++;
    }
    for (int v = 0; v < 256; v++)
        for (int k = 0; k < 8; k++) counts[v] += part[v][k];
}

void motus_histogram(uint32_t counts[256], const MotusPlane *plane, const MotusExec *exec) {
    int threads = motus_exec_threads(exec), strips;
    if (!counts) return;
    memset(counts, 0, 256 * sizeof *counts);
    if (!motus_plane_usable(plane)) return;
    strips = motus_min(threads, plane->height);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int s = 0; s < strips; s++) {
        uint32_t own[256] = {0};
        int from = (int)((int64_t)plane->height * s / strips),
            to = (int)((int64_t)plane->height * (s + 1) / strips);
        count_rows(own, plane->data + from * plane->stride, plane->stride, plane->width, to - from);
        for (int k = 0; k < 256; k++) {
#pragma omp atomic
            counts[k] += own[k];
        }
    }
}

void motus_equalize_curve(uint8_t curve[256], const uint32_t counts[256]) {
    uint32_t total = 0, sum = 0;
    if (!curve || !counts) return;
    for (int k = 0; k < 256; k++) total += counts[k];
    for (int k = 0; k < 256; k++) {
        sum += counts[k];
        curve[k] = total ? curve_value(sum, total) : (uint8_t)k;
    }
}

void motus_map_row_c(uint8_t *dst, const uint8_t *src, int n, const uint8_t curve[256]) {
    for (int x = 0; x < n; x++) dst[x] = curve[src[x]];
}

void motus_plane_map(MotusPlane *dst, const MotusPlane *src, const uint8_t curve[256],
                     const MotusExec *exec) {
    void (*map_row)(uint8_t *, const uint8_t *, int, const uint8_t[256]) =
        MOTUS_VERSION(motus_map_row, exec);
    if (!curve || !motus_planes_usable(dst, src)) return;
    int threads = motus_exec_threads(exec);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < src->height; y++)
        map_row(dst->data + y * dst->stride, src->data + y * src->stride, src->width, curve);
}

MotusStatus motus_equalize_grid(MotusTileGrid *grid, const MotusEqualizeConfig *config, int width,
                                int height) {
    if (!config || !motus_size_usable(width, height)) return MOTUS_ERR_ARGUMENT;
    if (config->tiles_x < 1 || config->tiles_x > MOTUS_EQUALIZE_MAX_TILES || config->tiles_y < 1 ||
        config->tiles_y > MOTUS_EQUALIZE_MAX_TILES)
        return MOTUS_ERR_ARGUMENT;
    if (config->clip_q8 < 0 || config->clip_q8 > 65536 || config->smooth_q8 < 0 ||
        config->smooth_q8 > 255)
        return MOTUS_ERR_ARGUMENT;
    int tile_w = (width + config->tiles_x - 1) / config->tiles_x,
        tile_h = (height + config->tiles_y - 1) / config->tiles_y;
    *grid = (MotusTileGrid){width,
                            height,
                            tile_w,
                            tile_h,
                            (width + tile_w - 1) / tile_w,
                            (height + tile_h - 1) / tile_h};
    return MOTUS_OK;
}

MotusStatus motus_equalizer_open(MotusEqualizer **equalizer, const MotusEqualizeConfig *config,
                                 int width, int height) {
    MotusTileGrid grid;
    if (!equalizer || motus_equalize_grid(&grid, config, width, height)) return MOTUS_ERR_ARGUMENT;
    *equalizer = NULL;
    MotusEqualizer *e = motus_alloc(1, sizeof *e);
    if (!e) return MOTUS_ERR_MEMORY;
    size_t tiles = (size_t)grid.nx * (size_t)grid.ny;
    e->config = *config, e->grid = grid;
    e->counts = motus_alloc(tiles, sizeof *e->counts);
    e->smooth = motus_alloc(tiles, sizeof *e->smooth);
    e->curves = motus_alloc(tiles, sizeof *e->curves);
    e->columns = motus_alloc((size_t)width, sizeof *e->columns);
    if (!e->counts || !e->smooth || !e->curves || !e->columns) {
        motus_equalizer_close(&e);
        return MOTUS_ERR_MEMORY;
    }
    for (int x = 0; x < width; x++) e->columns[x] = tile_position(x, grid.tile_w, grid.nx);
    *equalizer = e;
    return MOTUS_OK;
}

void motus_equalizer_close(MotusEqualizer **equalizer) {
    if (!equalizer || !*equalizer) return;
    motus_free((*equalizer)->counts);
    motus_free((*equalizer)->smooth);
    motus_free((*equalizer)->curves);
    motus_free((*equalizer)->columns);
    motus_free(*equalizer);
    *equalizer = NULL;
}

const uint8_t (*motus_equalizer_curves(const MotusEqualizer *equalizer, int *tiles))[256] {
    if (tiles) *tiles = equalizer ? equalizer->grid.nx * equalizer->grid.ny : 0;
    return equalizer ? (const uint8_t(*)[256])equalizer->curves : NULL;
}

static void count_tiles(MotusEqualizer *e, const MotusPlane *src, const MotusExec *exec) {
    const MotusTileGrid *g = &e->grid;
    if (g->nx * g->ny == 1) {
        motus_histogram(e->counts[0], src, exec);
        return;
    }
    int threads = motus_exec_threads(exec);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < g->nx * g->ny; t++) {
        int x = t % g->nx * g->tile_w, y = t / g->nx * g->tile_h;
        memset(e->counts[t], 0, sizeof e->counts[t]);
        count_rows(e->counts[t], src->data + y * src->stride + x, src->stride,
                   motus_min(g->tile_w, g->width - x), motus_min(g->tile_h, g->height - y));
    }
}

// Computes the curves of all tiles from their counts. Smoothing restarts at the first picture and
// at scene cuts. Keeps the histogram for the next call.
static void update_curves(MotusEqualizer *e) {
    uint64_t difference = 0;
    for (int k = 0; k < 256; k++) {
        uint32_t n = 0;
        for (int t = 0; t < e->grid.nx * e->grid.ny; t++) n += e->counts[t][k];
        difference += n > e->before[k] ? n - e->before[k] : e->before[k] - n;
        e->before[k] = n;
    }
    const uint32_t samples = (uint32_t)e->grid.width * (uint32_t)e->grid.height;
    const int restart = !e->started || curve_is_cut(difference, samples);
    e->started = 1;
    for (int t = 0; t < e->grid.nx * e->grid.ny; t++) {
        uint32_t total = 0;
        for (int k = 0; k < 256; k++) total += e->counts[t][k];
        const uint32_t limit = clip_limit(total, e->config.clip_q8);
        uint32_t excess = 0;
        for (int k = 0; k < 256 && limit; k++)
            excess += e->counts[t][k] > limit ? e->counts[t][k] - limit : 0;
        const MotusEqualizeClip clip = clip_share(limit, excess);
        for (int k = 0; k < 256; k++) e->counts[t][k] = clip_bin(e->counts[t][k], k, &clip);
        uint8_t now[256];
        motus_equalize_curve(now, e->counts[t]);
        for (int k = 0; k < 256; k++) {
            e->smooth[t][k] =
                curve_smooth(e->smooth[t][k], now[k], restart ? 0 : e->config.smooth_q8);
            e->curves[t][k] = curve_round(e->smooth[t][k]);
        }
    }
}

static void map_tiles(const MotusEqualizer *e, MotusPlane *dst, const MotusPlane *src,
                      const MotusExec *exec) {
    const MotusTileGrid *g = &e->grid;
    int threads = motus_exec_threads(exec);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < g->height; y++) {
        MotusTilePosition row = tile_position(y, g->tile_h, g->ny);
        const uint8_t(*top)[256] = (const uint8_t(*)[256])e->curves + row.a * g->nx;
        const uint8_t(*bottom)[256] = (const uint8_t(*)[256])e->curves + row.b * g->nx;
        const uint8_t *in = src->data + y * src->stride;
        uint8_t *out = dst->data + y * dst->stride;
        for (int x = 0; x < g->width; x++) {
            // The bilinear mean of four curves' values. Weights sum to 2^20: no overflow.
            const MotusTilePosition c = e->columns[x];
            const uint8_t v = in[x];
            const uint32_t wx = c.weight, wy = row.weight,
                           above = top[c.a][v] * (1024 - wx) + top[c.b][v] * wx,
                           below = bottom[c.a][v] * (1024 - wx) + bottom[c.b][v] * wx;
            out[x] = (uint8_t)((above * (1024 - wy) + below * wy + (1u << 19)) >> 20);
        }
    }
}

MotusStatus motus_equalizer_run(MotusEqualizer *equalizer, MotusPlane *dst, const MotusPlane *src,
                                const MotusExec *exec) {
    if (!equalizer || !motus_planes_usable(dst, src)) return MOTUS_ERR_ARGUMENT;
    const MotusTileGrid *g = &equalizer->grid;
    if (src->width != g->width || src->height != g->height) return MOTUS_ERR_ARGUMENT;
    count_tiles(equalizer, src, exec);
    update_curves(equalizer);
    if (g->nx * g->ny == 1)
        motus_plane_map(dst, src, equalizer->curves[0], exec);
    else
        map_tiles(equalizer, dst, src, exec);
    return MOTUS_OK;
}
