// motus wavelet: the effect of the D4 wavelet transform and its quantization on a picture.
// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdio.h>

#include "common/alloc.h"
#include "common/error.h"
#include "motus/filter.h"
#include "tools/cli/cmd.h"
#include "tools/filter/one_frame.h"

static const char about[] =
    "Transforms the luma of one frame of INPUT (a video or a picture) by Daubechies' D4 wavelet,\n"
    "quantizes, and transforms back. DIR/wavelet.png shows the original, the bands of all levels\n"
    "(details on a logarithmic scale) and the reconstruction side by side; PSNR and the share of\n"
    "zeros are printed.\n"
    "\n"
    "Examples:\n"
    "  motus wavelet photo.png -o out\n"
    "  motus wavelet film.mp4 -o out --frame 100 --levels 5 --step 24 --symmetric\n";

typedef struct WaveletOptions {
    MotusOneFrame one;
    int levels, step;
    MotusWaveletEdge edge;
} WaveletOptions;

// Draws a band at (x, y): details on a logarithmic scale up to `most`; the low-pass band (most 0)
// divided by its gain.
static void draw_band(const MotusPlane *picture, const float *coefs, MotusBand band, int x, int y,
                      double most, double gain) {
    for (int r = 0; r < band.height; r++)
        for (int c = 0; c < band.width; c++) {
            double v = coefs[band.offset + (size_t)r * (size_t)band.stride + (size_t)c];
            picture->data[(y + r) * picture->stride + x + c] =
                most > 0 ? motus_log_shade(v, most) : (uint8_t)lround(fmin(fmax(v / gain, 0), 255));
        }
}

// Draws all bands: the low-pass band at the top left, then the details of each level outwards.
static MotusPlane draw_bands(const float *coefs, const MotusWaveletShape *s) {
    int w = s->low.width, h = s->low.height;
    for (int l = s->levels - 1; l >= 0; l--) {
        w = (w > s->band[l][0].width ? w : s->band[l][0].width) + s->band[l][0].width;
        h = (h > s->band[l][0].height ? h : s->band[l][0].height) + s->band[l][0].height;
    }
    MotusPlane picture = motus_plane_alloc(w, h);
    if (!picture.data) return picture;
    draw_band(&picture, coefs, s->low, 0, 0, 0, (double)(1 << s->levels));
    w = s->low.width, h = s->low.height;
    for (int l = s->levels - 1; l >= 0; l--) {
        double most = 128.0 * (1 << l);
        draw_band(&picture, coefs, s->band[l][0], w, 0, most, 1);
        draw_band(&picture, coefs, s->band[l][1], 0, h, most, 1);
        draw_band(&picture, coefs, s->band[l][2], w, h, most, 1);
        w += s->band[l][0].width, h += s->band[l][0].height;
    }
    return picture;
}

// Returns the share of zero levels, per cent.
static double share_of_zeros(const int16_t *levels, const MotusWaveletShape *s) {
    double zeros = 0, all = 0;
    for (int i = 0; i <= 3 * s->levels; i++) {
        MotusBand b = i < 3 * s->levels ? s->band[i / 3][i % 3] : s->low;
        all += (double)b.width * b.height;
        for (int y = 0; y < b.height; y++)
            for (int x = 0; x < b.width; x++)
                zeros += !levels[b.offset + (size_t)y * (size_t)b.stride + (size_t)x];
    }
    return 100 * zeros / all;
}

static MotusStatus show(void *opaque, const MotusFrame *frame, MotusError *error) {
    const WaveletOptions *o = opaque;
    const MotusPlane *luma = &frame->plane[0];
    const MotusExec exec = {o->one.threads, 0};
    MotusWaveletShape shape;
    if (motus_wavelet_shape(&shape, luma->width, luma->height, o->levels, o->edge))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "%d levels are too many for %dx%d", o->levels,
                          luma->width, luma->height);
    float *coefs = motus_alloc(shape.size, sizeof *coefs);
    int16_t *levels = motus_alloc(shape.size, sizeof *levels);
    MotusPlane planes[3] = {*luma, {0}, motus_plane_alloc(luma->width, luma->height)};
    MotusStatus status = coefs && levels && planes[2].data
                             ? motus_wavelet_forward(coefs, luma, &shape, &exec)
                             : MOTUS_ERR_MEMORY;
    if (!status) planes[1] = draw_bands(coefs, &shape);
    if (!status && !planes[1].data) status = MOTUS_ERR_MEMORY;
    if (status) motus_fail(error, status, "wavelet: %s", motus_status_text(status));
    if (!status && o->step) {
        motus_wavelet_quantize(levels, coefs, &shape, (float)o->step, &exec);
        motus_wavelet_dequantize(coefs, levels, &shape, (float)o->step, &exec);
    }
    if (!status && !(status = motus_wavelet_inverse_plane(&planes[2], coefs, &shape, &exec)))
        status = motus_strip_write(o->one.output, "wavelet.png", planes, 3, error);
    if (!status) {
        uint64_t n = (uint64_t)luma->width * (uint64_t)luma->height;
        printf("%dx%d, %d levels, step %d: PSNR %.2f dB", luma->width, luma->height, o->levels,
               o->step,
               motus_psnr(motus_plane_ssd(luma, &planes[2], luma->width, luma->height), n));
        printf(o->step ? ", %.1f %% of the coefficients are zero\n" : "\n",
               share_of_zeros(levels, &shape));
    }
    motus_free(coefs);
    motus_free(levels);
    motus_plane_free(&planes[1]);
    motus_plane_free(&planes[2]);
    return status;
}

int motus_cmd_wavelet(int argc, char **argv) {
    WaveletOptions o = {.levels = 3, .step = 8};
    const MotusOption own[] = {
        MOTUS_INT("levels", 'l', &o.levels, 1, MOTUS_WAVELET_MAX_LEVELS,
                  "levels of the transform (3)"),
        MOTUS_INT("step", 0, &o.step, 0, 4096, "quantization step; 0 = none (8)"),
        {"symmetric", 0, &o.edge, NULL, MOTUS_WAVELET_SYMMETRIC, 0, NULL,
         "reflect at the edges instead of wrapping around"},
        {0},
    };
    return motus_one_frame_command("wavelet", about, own, &o.one, show, &o, argc, argv);
}
