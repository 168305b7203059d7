// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/arguments/values.h"

const size_t good_size = 64;
const MotusExec good_exec_value = {1, 0}, *good_exec = &good_exec_value;
MotusFrame *good_frame, *good_out_frame, *any_frame;
const MotusPlane *good_plane;
MotusPlane *good_out_plane;
MotusPlane good_planes[3], good_out_planes[3];
MotusEncoderConfig encoder_config;
const MotusEncoderConfig *good_encoder_config = &encoder_config;
MotusMeConfig me_config;
const MotusMeConfig *good_me_config = &me_config;
MotusEqualizeConfig equalize_config;
const MotusEqualizeConfig *good_equalize = &equalize_config;
MotusKeyConfig key_config;
const MotusKeyConfig *good_key = &key_config;
MotusWaveletShape shape, any_shape;
const MotusWaveletShape *good_shape = &shape;
MotusCoefs coefs, out_coefs;
const MotusCoefs *good_coefs = &coefs;
MotusCoefs *good_out_coefs = &out_coefs;
MotusField *good_field, *any_field;
const MotusMeHints hints, *good_hints = &hints;
MotusImage image, any_image;
const MotusImage *good_image = &image;
static const MotusColour colour = MOTUS_COLOUR_BT709;
const MotusColour *good_colour = &colour;
MotusMeJob job;
const MotusMeJob *good_job = &job;
MotusEncoder *good_encoder, *any_encoder;
MotusPacket *any_packet;
const MotusFrameParams params = {.size = sizeof params}, *good_params = &params;
MotusMe *good_me, *any_me;
MotusMeReference *good_reference, *empty_reference, *any_reference;
MotusMeCentres predict;
const MotusMeCentres *good_predict = &predict;
static MotusMeTarget targets[MOTUS_ME_MAX_TARGETS];
MotusMeRequest request;
const MotusMeRequest *good_request = &request;
MotusEqualizer *good_equalizer, *any_equalizer;
MotusRgbEqualizer *good_rgb_equalizer, *any_rgb_equalizer;
MotusCudaEqualizer *any_cuda_equalizer;
MotusCudaRgbEqualizer *any_cuda_rgb_equalizer;
MotusCudaRing *any_ring;
MotusError any_error;
MotusBackend any_backend;
int any_int;
size_t any_size;
void *any_pointer;
const void *any_const_pointer;
float *good_floats;
int16_t *good_levels;
uint8_t good_curves[1][256], good_bytes[256];
uint16_t good_table[64], zero_table[64];
uint32_t good_counts[256];
uint8_t *good_data[3], *bad_data[3];
ptrdiff_t good_strides[3];

static void need(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "cannot prepare %s\n", what);
    exit(1);
}

static void *memory(size_t size) {
    void *p = calloc(1, size);
    need(p != NULL, "memory");
    return p;
}

void prepare(void) {
    need(!motus_frame_alloc(&good_frame, WIDTH, HEIGHT) &&
             !motus_frame_alloc(&good_out_frame, WIDTH, HEIGHT),
         "frames");
    for (int i = 0; i < 3; i++) {
        memset(good_frame->plane[i].data, 100,
               (size_t)(good_frame->plane[i].stride * good_frame->plane[i].height));
        good_planes[i] = good_frame->plane[0];
        good_out_planes[i] = good_out_frame->plane[0];
        good_data[i] = good_frame->plane[i].data;
        good_strides[i] = good_frame->plane[i].stride;
    }
    const void *const data[3] = {good_frame->plane[0].data, good_frame->plane[0].data,
                                 good_frame->plane[0].data};
    const ptrdiff_t rows[3] = {good_frame->plane[0].stride, good_frame->plane[0].stride,
                               good_frame->plane[0].stride};
    need(!motus_image_describe(&image, MOTUS_IMAGE_RGB_PLANES, WIDTH, HEIGHT, data, rows), "image");
    good_plane = &good_frame->plane[0];
    good_out_plane = &good_out_frame->plane[0];
    encoder_config = motus_encoder_config_default(WIDTH, HEIGHT, (MotusRational){25, 1});
    encoder_config.threads = 1;
    encoder_config.backend = MOTUS_BACKEND_CPU;
    encoder_config.colour = colour;
    me_config = motus_me_config_default(WIDTH, HEIGHT);
    me_config.threads = 1;
    me_config.range = 4;
    me_config.backend = MOTUS_BACKEND_CPU;
    equalize_config = motus_equalize_config_clahe();
    key_config = motus_key_config(0, 255, 0);
    need(!motus_wavelet_shape(&shape, WIDTH, HEIGHT, 2, MOTUS_WAVELET_SYMMETRIC), "shape");
    need(!motus_me_open(&good_me, &me_config) && !motus_field_alloc(&good_field, WIDTH, HEIGHT),
         "motion estimator");
    need(!motus_equalizer_open(&good_equalizer, &equalize_config, WIDTH, HEIGHT), "equalizer");
    need(!motus_rgb_equalizer_open(&good_rgb_equalizer, &equalize_config, WIDTH, HEIGHT, 0, 0),
         "RGB equalizer");
    need(!motus_me_reference_alloc(&empty_reference, good_me) &&
             !motus_me_reference_alloc(&good_reference, good_me) &&
             !motus_me_reference_fill(good_reference, good_me, good_plane, MOTUS_MEMORY_HOST, NULL),
         "reference");
    const size_t n_mb = (size_t)good_field->n_mb;
    targets[0] = (MotusMeTarget){.reference = good_reference,
                                 .hints = good_hints,
                                 .skip_mv = memory(n_mb * sizeof(MotusMv)),
                                 .mv = good_field->mv[0],
                                 .sad = good_field->sad[0],
                                 .satd = memory(MOTUS_BLOCKS * n_mb * sizeof(uint32_t)),
                                 .cost = good_field->cost[0],
                                 .skip_sad = memory(n_mb * sizeof(uint16_t)),
                                 .skip_satd = memory(n_mb * sizeof(uint32_t)),
                                 .zero_sad = memory(n_mb * sizeof(uint16_t))};
    request = (MotusMeRequest){.size = sizeof request,
                               .target_size = sizeof targets[0],
                               .cur = good_plane,
                               .target = targets,
                               .n_targets = 1,
                               .stats = memory(n_mb * sizeof(MotusMbStats))};
    predict = (MotusMeCentres){.size = sizeof predict,
                               .cur = good_plane,
                               .reference = good_reference,
                               .centre = memory(n_mb * sizeof(MotusMv))};
    job = (MotusMeJob){.cur = good_plane, .ref = good_plane, .field = good_field};
    coefs = (MotusCoefs){memory(2 * WIDTH * HEIGHT), 2 * WIDTH, WIDTH, HEIGHT};
    out_coefs = (MotusCoefs){memory(2 * WIDTH * HEIGHT), 2 * WIDTH, WIDTH, HEIGHT};
    good_floats = memory((shape.size + WIDTH * HEIGHT) * sizeof *good_floats);
    good_levels = memory((shape.size + WIDTH * HEIGHT) * sizeof *good_levels);
    for (int i = 0; i < 64; i++) good_table[i] = 16;
}

void prepare_encoder(void) {
    need(!motus_encoder_open(&good_encoder, &encoder_config, NULL), "encoder");
}
