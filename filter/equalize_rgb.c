// Equalization of R, G and B of 4:2:0 frames: the colour conversions of the chroma key around three equalizers.
// SPDX-License-Identifier: BSD-2-Clause
#include "filter/equalize_rgb.h"

#include "common/alloc.h"
#include "filter/key.h"
#include "motus/filter.h"

struct MotusRgbEqualizer {
    MotusEqualizer *channel[3];
    int matrix_709, full_range;
    uint8_t *memory;
    MotusRgbPlanes work; // in `memory`
};

MotusStatus motus_rgb_equalizer_open(MotusRgbEqualizer **equalizer, const MotusEqualizeConfig *config, int width, int height,
                                     int matrix_709, int full_range) {
    if (!equalizer) return MOTUS_ERR_ARGUMENT;
    *equalizer = NULL;
    MotusRgbEqualizer *e = motus_alloc(1, sizeof *e);
    if (!e) return MOTUS_ERR_MEMORY;
    MotusStatus status = MOTUS_OK;
    e->matrix_709 = matrix_709, e->full_range = full_range;
    for (int k = 0; !status && k < 3; k++) status = motus_equalizer_open(&e->channel[k], config, width, height);
    if (!status) { // the size is a good one from here on
        e->memory = motus_alloc(motus_rgb_planes_at(&e->work, NULL, width, height), 1);
        if (!e->memory) status = MOTUS_ERR_MEMORY;
        motus_rgb_planes_at(&e->work, e->memory, width, height);
    }
    if (status)
        motus_rgb_equalizer_close(&e);
    else
        *equalizer = e;
    return status;
}

MotusStatus motus_rgb_equalizer_run(MotusRgbEqualizer *e, MotusFrame *dst, const MotusFrame *src, const MotusExec *exec) {
    if (!e || !motus_frames_match(dst, src)) return MOTUS_ERR_ARGUMENT;
    MotusPlane *rgb = &e->work.rgb, *plane = e->work.plane;
    MotusStatus status = motus_frame_to_rgb24(rgb, src, e->matrix_709, e->full_range, exec);
    if (!status) status = motus_rgb24_split(plane, rgb, exec);
    for (int k = 0; !status && k < 3; k++) status = motus_equalizer_run(e->channel[k], &plane[k], &plane[k], exec);
    if (!status) status = motus_rgb24_join(rgb, plane, exec);
    return status ? status : motus_rgb24_to_frame(dst, rgb, e->matrix_709, e->full_range, exec);
}

void motus_rgb_equalizer_close(MotusRgbEqualizer **equalizer) {
    if (!equalizer || !*equalizer) return;
    for (int k = 0; k < 3; k++) motus_equalizer_close(&(*equalizer)->channel[k]);
    motus_free((*equalizer)->memory);
    motus_free(*equalizer);
    *equalizer = NULL;
}
