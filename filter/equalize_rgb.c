// Equalization of R, G and B of 4:2:0 frames: the colour conversions of the chroma key around three
// equalizers, on the CPU, and on a CUDA device, which equals it since each of its parts does (and
// fails where they do in a build without CUDA).
// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"
#include "common/error.h"
#include "motus/filter.h"
#include "motus/filter_cuda.h"
#include "motus/image.h"
#include "motus/upload.h"
#include "yuv/usable.h"

enum { RGB, PLANES, WORK = PLANES + 3 }; // an RGB24 picture and its three planes

// Cuts `memory` (NULL: to learn the size only) into the picture and its planes, one behind the
// other; strides are multiples of 16 bytes. Returns the bytes that they take.
static size_t place_planes(MotusPlane work[WORK], void *memory, int width, int height) {
    size_t size = 0;
    for (int k = 0; k < WORK; k++) {
        int w = k == RGB ? 3 * width : width, stride = (w + 15) / 16 * 16;
        work[k] = (MotusPlane){memory ? (uint8_t *)memory + size : NULL, stride, w, height};
        size += (size_t)stride * (size_t)height;
    }
    return size;
}

// Describes three planes as an image. Returns the colours that it is converted with.
static MotusColour describe(MotusImage *image, const MotusPlane plane[3], int matrix_709,
                            int full_range) {
    const void *const data[3] = {plane[0].data, plane[1].data, plane[2].data};
    const ptrdiff_t stride[3] = {plane[0].stride, plane[1].stride, plane[2].stride};
    MotusColour colour = MOTUS_COLOUR_BT709;
    if (!matrix_709) colour = (MotusColour)MOTUS_COLOUR_BT601;
    colour.full_range = full_range != 0;
    motus_image_describe(image, MOTUS_IMAGE_RGB_PLANES, plane[0].width, plane[0].height, data,
                         stride);
    return colour;
}

struct MotusRgbEqualizer {
    MotusEqualizer *channel[3];
    int matrix_709, full_range;
    uint8_t *memory;
    MotusPlane work[WORK]; // in `memory`
};

MotusStatus motus_rgb_equalizer_open(MotusRgbEqualizer **equalizer,
                                     const MotusEqualizeConfig *config, int width, int height,
                                     int matrix_709, int full_range) {
    if (!equalizer) return MOTUS_ERR_ARGUMENT;
    *equalizer = NULL;
    MotusRgbEqualizer *e = motus_alloc(1, sizeof *e);
    if (!e) return MOTUS_ERR_MEMORY;
    MotusStatus status = MOTUS_OK;
    e->matrix_709 = matrix_709, e->full_range = full_range;
    for (int k = 0; !status && k < 3; k++)
        status = motus_equalizer_open(&e->channel[k], config, width, height);
    if (!status) { // the size is a good one from here on
        e->memory = motus_alloc(place_planes(e->work, NULL, width, height), 1);
        if (!e->memory) status = MOTUS_ERR_MEMORY;
        place_planes(e->work, e->memory, width, height);
    }
    if (status)
        motus_rgb_equalizer_close(&e);
    else
        *equalizer = e;
    return status;
}

MotusStatus motus_rgb_equalizer_run(MotusRgbEqualizer *e, MotusFrame *dst, const MotusFrame *src,
                                    const MotusExec *exec) {
    if (!e || !motus_frames_usable(dst, src)) return MOTUS_ERR_ARGUMENT;
    MotusPlane *rgb = &e->work[RGB], *plane = e->work + PLANES;
    MotusStatus status = motus_frame_to_rgb24(rgb, src, e->matrix_709, e->full_range, exec);
    if (!status) status = motus_rgb24_split(plane, rgb, exec);
    for (int k = 0; !status && k < 3; k++)
        status = motus_equalizer_run(e->channel[k], &plane[k], &plane[k], exec);
    MotusImage image;
    const MotusColour colour = describe(&image, plane, e->matrix_709, e->full_range);
    return status ? status : motus_image_convert(dst, &image, &colour, exec);
}

void motus_rgb_equalizer_close(MotusRgbEqualizer **equalizer) {
    if (!equalizer || !*equalizer) return;
    for (int k = 0; k < 3; k++) motus_equalizer_close(&(*equalizer)->channel[k]);
    motus_free((*equalizer)->memory);
    motus_free(*equalizer);
    *equalizer = NULL;
}

// ---- CUDA ---------------------------------------------------------------------------------------

struct MotusCudaRgbEqualizer {
    MotusCudaEqualizer *channel[3];
    int matrix_709, full_range;
    void *memory; // of the device
    MotusPlane work[WORK];
};

MotusStatus motus_cuda_rgb_equalizer_open(MotusCudaRgbEqualizer **equalizer,
                                          const MotusEqualizeConfig *config, int width, int height,
                                          int matrix_709, int full_range, MotusError *error) {
    if (!equalizer)
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "equalization: no place for the equalizer");
    *equalizer = NULL;
    MotusCudaRgbEqualizer *e = motus_alloc(1, sizeof *e);
    if (!e) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    MotusStatus status = MOTUS_OK;
    e->matrix_709 = matrix_709, e->full_range = full_range;
    for (int k = 0; !status && k < 3; k++)
        status = motus_cuda_equalizer_open(&e->channel[k], config, width, height, error);
    if (!status)
        status = motus_cuda_alloc(&e->memory, place_planes(e->work, NULL, width, height), error);
    if (status) {
        motus_cuda_rgb_equalizer_close(&e);
        return status;
    }
    place_planes(e->work, e->memory, width, height);
    *equalizer = e;
    return MOTUS_OK;
}

MotusStatus motus_cuda_rgb_equalizer_run(MotusCudaRgbEqualizer *e, const MotusFrame *dst,
                                         const MotusFrame *src, void *stream, MotusError *error) {
    if (!e || !motus_frames_usable(dst, src))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "equalization: sizes differ");
    if (!motus_frame_aligned(dst) || !motus_frame_aligned(src))
        return motus_fail(error, MOTUS_ERR_ARGUMENT,
                          "equalization: planes missing, or not aligned to 16 bytes");
    const MotusPlane *rgb = &e->work[RGB], *plane = e->work + PLANES;
    MotusStatus status =
        motus_cuda_frame_to_rgb24(rgb, src, e->matrix_709, e->full_range, stream, error);
    if (!status) status = motus_cuda_rgb24_split(plane, rgb, stream, error);
    for (int k = 0; !status && k < 3; k++)
        status = motus_cuda_equalizer_run(e->channel[k], &plane[k], &plane[k], stream, error);
    MotusImage image;
    const MotusColour colour = describe(&image, plane, e->matrix_709, e->full_range);
    return status ? status : motus_cuda_image_convert(dst, &image, &colour, stream, error);
}

void motus_cuda_rgb_equalizer_close(MotusCudaRgbEqualizer **equalizer) {
    if (!equalizer || !*equalizer) return;
    for (int k = 0; k < 3; k++) motus_cuda_equalizer_close(&(*equalizer)->channel[k]);
    motus_cuda_free((*equalizer)->memory);
    motus_free(*equalizer);
    *equalizer = NULL;
}
