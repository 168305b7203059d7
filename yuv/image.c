// SPDX-License-Identifier: BSD-2-Clause
#include "yuv/image.h"

#include <math.h>

#include "yuv/exec.h"
#include "yuv/usable.h"

static void round_row(uint8_t *restrict dst, const float *restrict src, int n) {
    for (int i = 0; i < n; i++) dst[i] = unit_to_u8(src[i]);
}

#include "yuv/image_tmpl.h"

static void luma(uint8_t *restrict y, const MotusRgbRow *restrict rgb, int n,
                 const MotusYuvMatrix *matrix) {
    const MotusYuvMatrix m = *matrix;
    for (int i = 0; i < n; i++) y[i] = rgb_to_y(rgb->c[0][i], rgb->c[1][i], rgb->c[2][i], &m);
}

static void chroma(uint8_t *restrict cb, uint8_t *restrict cr, const MotusRgbRow *restrict rgb,
                   int n, const MotusYuvMatrix *matrix) {
    const MotusYuvMatrix m = *matrix;
    uint16_t sum[3][IMAGE_CHUNK / 2];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < n / 2; i++)
            sum[k][i] = (uint16_t)(rgb[0].c[k][2 * i] + rgb[0].c[k][2 * i + 1] +
                                   rgb[1].c[k][2 * i] + rgb[1].c[k][2 * i + 1]);
    for (int i = 0; i < n / 2; i++) cb[i] = rgb4_to_cb(sum[0][i], sum[1][i], sum[2][i], &m);
    for (int i = 0; i < n / 2; i++) cr[i] = rgb4_to_cr(sum[0][i], sum[1][i], sum[2][i], &m);
}

const MotusImageOps motus_image_ops_c = {bytes, floats, luma, chroma, gather};

// Rounds to 13 fraction bits.
static int q13(double v) { return (int)lround(v * 8192.0); }

MotusYuvMatrix motus_yuv_matrix(int matrix_709, int full_range) {
    double kr = matrix_709 ? 0.2126 : 0.299, kb = matrix_709 ? 0.0722 : 0.114, kg = 1.0 - kr - kb;
    double luma_scale = full_range ? 1.0 : 219.0 / 255.0,
           chroma_scale = full_range ? 1.0 : 224.0 / 255.0;
    double u = chroma_scale / (2.0 * (1.0 - kb)), v = chroma_scale / (2.0 * (1.0 - kr));
    return (MotusYuvMatrix){.y_low = full_range ? 0 : 16,
                            .cy = q13(1.0 / luma_scale),
                            .rv = q13(1.0 / v),
                            .gu = q13(kb / (kg * u)),
                            .gv = q13(kr / (kg * v)),
                            .bu = q13(1.0 / u),
                            .yr = q13(kr * luma_scale),
                            .yg = q13(kg * luma_scale),
                            .yb = q13(kb * luma_scale),
                            .ur = q13(-kr * u),
                            .ug = q13(-kg * u),
                            .ub = q13((1.0 - kb) * u),
                            .vr = q13((1.0 - kr) * v),
                            .vg = q13(-kg * v),
                            .vb = q13(-kb * v)};
}

// ---- Descriptions -------------------------------------------------------------------------------

// The components of a format: plane, byte within the pixel, bytes from a pixel to the next.
typedef struct Layout {
    MotusSamples samples;
    uint8_t plane[3], at[3], pixel[3];
} Layout;

static const Layout layouts[MOTUS_IMAGE_FORMATS] = {
    [MOTUS_IMAGE_I420] = {MOTUS_SAMPLES_YUV420, {0, 1, 2}, {0, 0, 0}, {1, 1, 1}},
    [MOTUS_IMAGE_NV12] = {MOTUS_SAMPLES_YUV420, {0, 1, 1}, {0, 0, 1}, {1, 2, 2}},
    [MOTUS_IMAGE_RGB24] = {MOTUS_SAMPLES_RGB, {0, 0, 0}, {0, 1, 2}, {3, 3, 3}},
    [MOTUS_IMAGE_BGR24] = {MOTUS_SAMPLES_RGB, {0, 0, 0}, {2, 1, 0}, {3, 3, 3}},
    [MOTUS_IMAGE_RGBA] = {MOTUS_SAMPLES_RGB, {0, 0, 0}, {0, 1, 2}, {4, 4, 4}},
    [MOTUS_IMAGE_BGRA] = {MOTUS_SAMPLES_RGB, {0, 0, 0}, {2, 1, 0}, {4, 4, 4}},
    [MOTUS_IMAGE_RGB_PLANES] = {MOTUS_SAMPLES_RGB, {0, 1, 2}, {0, 0, 0}, {1, 1, 1}},
    [MOTUS_IMAGE_RGB_FLOAT] = {MOTUS_SAMPLES_RGB_FLOAT, {0, 0, 0}, {0, 4, 8}, {12, 12, 12}},
    [MOTUS_IMAGE_RGB_FLOAT_PLANES] = {MOTUS_SAMPLES_RGB_FLOAT, {0, 1, 2}, {0, 0, 0}, {4, 4, 4}},
};

MotusStatus motus_image_describe(MotusImage *image, MotusImageFormat format, int width, int height,
                                 const void *const data[3], const ptrdiff_t stride[3]) {
    if (!image || !data || !stride || (unsigned)format >= MOTUS_IMAGE_FORMATS ||
        !motus_size_usable(width, height))
        return MOTUS_ERR_ARGUMENT;
    const Layout *l = &layouts[format];
    for (int k = 0; k < 3; k++)
        if (!data[l->plane[k]]) return MOTUS_ERR_ARGUMENT;
    *image = (MotusImage){
        .size = sizeof *image, .width = width, .height = height, .samples = l->samples};
    for (int k = 0; k < 3; k++) {
        image->data[k] = (const char *)data[l->plane[k]] + l->at[k];
        image->row[k] = stride[l->plane[k]];
        image->pixel[k] = l->pixel[k];
    }
    return MOTUS_OK;
}

int motus_image_usable(const MotusImage *image) {
    if (!image || image->size != sizeof *image || !motus_size_usable(image->width, image->height))
        return 0;
    if ((unsigned)image->samples > MOTUS_SAMPLES_RGB_FLOAT) return 0;
    for (int k = 0; k < 3; k++) {
        if (!image->data[k]) return 0;
        if (image->samples == MOTUS_SAMPLES_RGB_FLOAT &&
            ((uintptr_t)image->data[k] | (uintptr_t)image->row[k] | (uintptr_t)image->pixel[k]) % 4)
            return 0;
    }
    return 1;
}

MotusStatus motus_image_matrix(MotusYuvMatrix *matrix, const MotusImage *image,
                               const MotusColour *colour) {
    *matrix = (MotusYuvMatrix){0};
    if (image->samples == MOTUS_SAMPLES_YUV420) return MOTUS_OK;
    if (!colour || (colour->matrix != 1 && colour->matrix != 5 && colour->matrix != 6))
        return MOTUS_ERR_ARGUMENT;
    *matrix = motus_yuv_matrix(colour->matrix == 1, colour->full_range == 1);
    return MOTUS_OK;
}

// ---- Conversion ---------------------------------------------------------------------------------

// Converts luma rows 2y and 2y + 1 and chroma row y.
static void convert_rows(MotusFrame *dst, const MotusImage *src, int y, const MotusYuvMatrix *m,
                         const MotusImageOps *ops) {
    const int rows = motus_min(2, src->height - 2 * y);
    for (int x = 0; x < src->width; x += IMAGE_CHUNK) {
        const int n = motus_min(IMAGE_CHUNK, src->width - x), pairs = (n + 1) / 2;
        MotusRgbRow rgb[2];
        for (int r = 0; r < rows; r++) {
            const char *at[3];
            for (int k = 0; k < 3; k++)
                at[k] = (const char *)src->data[k] + (2 * y + r) * src->row[k] + x * src->pixel[k];
            (src->samples == MOTUS_SAMPLES_RGB_FLOAT ? ops->floats : ops->bytes)(&rgb[r], at,
                                                                                 src->pixel, n);
            for (int k = 0; k < 3 && n % 2; k++) rgb[r].c[k][n] = rgb[r].c[k][n - 1]; // twice
        }
        if (rows == 1) rgb[1] = rgb[0];
        for (int r = 0; r < rows; r++)
            ops->luma(dst->plane[0].data + (2 * y + r) * dst->plane[0].stride + x, &rgb[r], n, m);
        ops->chroma(dst->plane[1].data + y * dst->plane[1].stride + x / 2,
                    dst->plane[2].data + y * dst->plane[2].stride + x / 2, rgb, 2 * pairs, m);
    }
}

MotusStatus motus_image_convert(MotusFrame *dst, const MotusImage *src, const MotusColour *colour,
                                const MotusExec *exec) {
    MotusYuvMatrix m;
    if (!motus_frame_usable(dst) || !motus_image_usable(src) || dst->width != src->width ||
        dst->height != src->height)
        return MOTUS_ERR_ARGUMENT;
    if (motus_image_matrix(&m, src, colour)) return MOTUS_ERR_ARGUMENT;
    const MotusImageOps *ops = MOTUS_VERSION(motus_image_ops, exec);
    if (src->samples == MOTUS_SAMPLES_YUV420) {
        for (int k = 0; k < 3; k++)
            for (int y = 0; y < dst->plane[k].height; y++)
                ops->gather(dst->plane[k].data + y * dst->plane[k].stride,
                            (const uint8_t *)src->data[k] + y * src->row[k], src->pixel[k],
                            dst->plane[k].width);
        return MOTUS_OK;
    }
    int threads = motus_exec_threads(exec);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int y = 0; y < (src->height + 1) / 2; y++) convert_rows(dst, src, y, &m, ops);
    return MOTUS_OK;
}
