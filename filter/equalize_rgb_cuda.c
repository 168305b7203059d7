// The same on a CUDA device: equals filter/equalize_rgb.c, since each of its parts does. In a build without CUDA it fails where its parts do.
// SPDX-License-Identifier: BSD-2-Clause
#include "common/alloc.h"
#include "common/error.h"
#include "filter/device_planes.h"
#include "filter/equalize_rgb.h"
#include "filter/key.h"
#include "motus/filter_cuda.h"
#include "motus/upload.h"

struct MotusCudaRgbEqualizer {
    MotusCudaEqualizer *channel[3];
    int matrix_709, full_range;
    void *memory; // of the device
    MotusRgbPlanes work;
};

MotusStatus motus_cuda_rgb_equalizer_open(MotusCudaRgbEqualizer **equalizer, const MotusEqualizeConfig *config, int width,
                                          int height, int matrix_709, int full_range, MotusError *error) {
    if (!equalizer) return motus_fail(error, MOTUS_ERR_ARGUMENT, "equalization: no place for the equalizer");
    *equalizer = NULL;
    MotusCudaRgbEqualizer *e = motus_alloc(1, sizeof *e);
    if (!e) return motus_fail(error, MOTUS_ERR_MEMORY, "out of memory");
    MotusStatus status = MOTUS_OK;
    e->matrix_709 = matrix_709, e->full_range = full_range;
    for (int k = 0; !status && k < 3; k++) status = motus_cuda_equalizer_open(&e->channel[k], config, width, height, error);
    if (!status) status = motus_cuda_alloc(&e->memory, motus_rgb_planes_at(&e->work, NULL, width, height), error);
    if (status) {
        motus_cuda_rgb_equalizer_close(&e);
        return status;
    }
    motus_rgb_planes_at(&e->work, e->memory, width, height);
    *equalizer = e;
    return MOTUS_OK;
}

MotusStatus motus_cuda_rgb_equalizer_run(MotusCudaRgbEqualizer *e, const MotusFrame *dst, const MotusFrame *src, void *stream,
                                         MotusError *error) {
    if (!e || !motus_frames_match(dst, src)) return motus_fail(error, MOTUS_ERR_ARGUMENT, "equalization: sizes differ");
    if (!motus_frame_aligned(dst) || !motus_frame_aligned(src))
        return motus_fail(error, MOTUS_ERR_ARGUMENT, "equalization: planes missing, or not aligned to 16 bytes");
    const MotusPlane *rgb = &e->work.rgb, *plane = e->work.plane;
    MotusStatus status = motus_cuda_frame_to_rgb24(rgb, src, e->matrix_709, e->full_range, stream, error);
    if (!status) status = motus_cuda_rgb24_split(plane, rgb, stream, error);
    for (int k = 0; !status && k < 3; k++) status = motus_cuda_equalizer_run(e->channel[k], &plane[k], &plane[k], stream, error);
    if (!status) status = motus_cuda_rgb24_join(rgb, plane, stream, error);
    return status ? status : motus_cuda_rgb24_to_frame(dst, rgb, e->matrix_709, e->full_range, stream, error);
}

void motus_cuda_rgb_equalizer_close(MotusCudaRgbEqualizer **equalizer) {
    if (!equalizer || !*equalizer) return;
    for (int k = 0; k < 3; k++) motus_cuda_equalizer_close(&(*equalizer)->channel[k]);
    motus_cuda_free((*equalizer)->memory);
    motus_free(*equalizer);
    *equalizer = NULL;
}
