// motus dct: the effect of the 8x8 DCT and its quantization on a picture.
// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "motus/dct8x8.h"
#include "tools/cli/cmd.h"
#include "tools/filter/one_frame.h"

static const char about[] =
    "Transforms the luma of one frame of INPUT (a video or a picture) by the 8x8 DCT of JPEG,\n"
    "quantizes, and transforms back. DIR/dct.png shows the original, the coefficients\n"
    "(logarithmic scale) and the reconstruction side by side; PSNR and the share of zero\n"
    "coefficients are printed.\n"
    "\n"
    "Examples:\n"
    "  motus dct photo.png -o out --quality 75\n"
    "  motus dct film.mp4 -o out --frame 100 --quality 10 --integer\n";

typedef struct DctOptions {
    MotusOneFrame one;
    int quality;
    MotusDct8Kind kind;
} DctOptions;

// Draws the dequantized levels on a logarithmic scale and counts the zeros.
static void draw_levels(const MotusPlane *picture, const MotusCoefs *coefs,
                        const uint16_t table[64], long *zeros) {
    double most = 1;
    *zeros = 0;
    for (int pass = 0; pass < 2; pass++) // 0: finds the largest; 1: draws
        for (int y = 0; y < coefs->height; y++)
            for (int x = 0; x < coefs->width; x++) {
                int level =
                        ((const int16_t *)((const uint8_t *)coefs->data + y * coefs->stride))[x],
                    at = y % 8 * 8 + x % 8;
                double v = abs(level) * (double)table[at];
                if (pass)
                    picture->data[y * picture->stride + x] = motus_log_shade(v, most);
                else
                    *zeros += !level, most = v > most ? v : most;
            }
}

static MotusStatus show(void *opaque, const MotusFrame *frame, MotusError *error) {
    const DctOptions *o = opaque;
    const MotusPlane *luma = &frame->plane[0];
    const MotusExec exec = {o->one.threads, 0};
    uint16_t table[64];
    long zeros = 0;
    int width = (luma->width + 7) / 8 * 8, height = (luma->height + 7) / 8 * 8;
    MotusCoefs coefs = {motus_alloc((size_t)width * (size_t)height, 2), 2 * width, width, height};
    MotusPlane planes[3] = {*luma, motus_plane_alloc(width, height),
                            motus_plane_alloc(luma->width, luma->height)};
    MotusStatus status = coefs.data && planes[1].data && planes[2].data
                             ? MOTUS_OK
                             : motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    motus_dct8_quality(table, motus_jpeg_luma_table, o->quality);
    if (!status) {
        motus_dct8_forward(&coefs, luma, table, o->kind, &exec);
        motus_dct8_inverse(&planes[2], &coefs, table, o->kind, &exec);
        draw_levels(&planes[1], &coefs, table, &zeros);
        status = motus_strip_write(o->one.output, "dct.png", planes, 3, error);
    }
    if (!status) {
        double n = (double)luma->width * luma->height;
        printf(
            "%dx%d, quality %d: PSNR %.2f dB, %.1f %% of the coefficients are zero\n", luma->width,
            luma->height, o->quality,
            motus_psnr(motus_plane_ssd(luma, &planes[2], luma->width, luma->height), (uint64_t)n),
            100.0 * (double)zeros / width / height);
    }
    motus_free(coefs.data);
    motus_plane_free(&planes[1]);
    motus_plane_free(&planes[2]);
    return status;
}

int motus_cmd_dct(int argc, char **argv) {
    DctOptions o = {.quality = 75};
    const MotusOption own[] = {
        MOTUS_INT("quality", 'q', &o.quality, 1, 100,
                  "quality of the quantization table, 1..100 (75)"),
        {"integer", 0, &o.kind, NULL, MOTUS_DCT8_INTEGER, 0, NULL,
         "integer transform instead of the float one"},
        {0},
    };
    return motus_one_frame_command("dct", about, own, &o.one, show, &o, argc, argv);
}
