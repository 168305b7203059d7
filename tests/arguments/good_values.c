// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/arguments/values.h"

const MotusExec good_exec = {1, 0};
MotusFrame *good_frame, *good_out_frame;
const MotusPlane *good_plane;
MotusPlane *good_out_plane, *good_rgb, good_planes[3], good_out_planes[3];
MotusEncoderConfig encoder_config;
MotusMeConfig me_config;
MotusEqualizeConfig equalize_config;
MotusKeyConfig key_config;
MotusWaveletShape shape;
MotusCoefs coefs, out_coefs;
MotusField *good_field;
const MotusMeHints hints;
MotusImage image;
const MotusColour colour = MOTUS_COLOUR_BT709;
MotusEncoder *good_encoder;
const MotusFrameParams params = {.size = sizeof params};
MotusMe *good_me;
MotusMeReference *good_reference;
MotusMeCentres centres;
static MotusMeTarget targets[MOTUS_ME_MAX_TARGETS];
MotusMeTarget t;
MotusMeRequest request;
MotusEqualizer *good_equalizer;
MotusRgbEqualizer *good_rgb_equalizer;
MotusCudaEqualizer *good_cuda_equalizer;
MotusCudaRgbEqualizer *good_cuda_rgb_equalizer;
MotusError any_error;
float *good_floats;
int16_t *good_levels;
uint8_t good_curves[1][256], good_bytes[256], *good_data[3];
uint16_t good_table[64];
uint32_t good_counts[256];
ptrdiff_t good_strides[3];

const MotusPlane no_plane;
MotusPlane small_plane, huge_plane;
MotusFrame *small_frame;
uint8_t *bad_data[3];
uint16_t zero_table[64];
MotusMeReference *empty_reference, *full_reference, *wide_reference;
MotusMv far_mvs[N_MB] = {[N_MB - 1] = {0, -8192}}, odd_mvs[N_MB] = {[2] = {2, 0}};
const MotusMeHints far_centre = {.centre = far_mvs}, odd_centre = {.centre = odd_mvs},
                   far_predictor = {.predictor = far_mvs},
                   large_lambda = {.lambda_q8 = MOTUS_MAX_LAMBDA_Q8 + 1};

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

// References of a context without fractions, and of one whose pictures are wider.
static void prepare_references(void) {
    static uint8_t samples[(WIDTH + 1) * HEIGHT];
    const MotusPlane wide = {samples, WIDTH + 1, WIDTH + 1, HEIGHT};
    for (int i = 0; i < 2; i++) {
        MotusMe *me = NULL;
        MotusMeConfig c = me_config;
        MotusMeReference **reference = i ? &wide_reference : &full_reference;
        if (i)
            c.width++;
        else
            c.subpel = MOTUS_SUBPEL_FULL;
        need(!motus_me_open(&me, &c) && !motus_me_reference_alloc(reference, me) &&
                 !motus_me_reference_fill(*reference, me, i ? &wide : good_plane, MOTUS_MEMORY_HOST,
                                          NULL),
             "other references");
        motus_me_close(&me);
    }
}

void prepare(void) {
    need(!motus_frame_alloc(&good_frame, WIDTH, HEIGHT) &&
             !motus_frame_alloc(&good_out_frame, WIDTH, HEIGHT) &&
             !motus_frame_alloc(&small_frame, WIDTH - 2, HEIGHT),
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
    static MotusPlane rgb = {NULL, 3 * WIDTH, 3 * WIDTH, HEIGHT};
    rgb.data = memory((size_t)rgb.stride * HEIGHT);
    good_rgb = &rgb;
    small_plane = huge_plane = *good_out_plane;
    small_plane.height--;
    huge_plane.width = INT_MAX;
    encoder_config = motus_encoder_config_default(WIDTH, HEIGHT, (MotusRational){25, 1});
    encoder_config.threads = 1;
    encoder_config.backend = MOTUS_BACKEND_CPU;
    encoder_config.colour = colour;
    me_config = motus_me_config_default(WIDTH, HEIGHT);
    me_config.threads = 1;
    me_config.range = 4;
    me_config.backend = MOTUS_BACKEND_CPU;
    me_config.error = &any_error;
    equalize_config = (MotusEqualizeConfig)MOTUS_EQUALIZE_CLAHE;
    key_config = motus_key_config(0, 255, 0);
    need(!motus_wavelet_shape(&shape, WIDTH, HEIGHT, 2, MOTUS_WAVELET_SYMMETRIC), "shape");
    need(!motus_me_open(&good_me, &me_config) && !motus_field_alloc(&good_field, WIDTH, HEIGHT),
         "motion estimator");
    need(!motus_equalizer_open(&good_equalizer, &equalize_config, WIDTH, HEIGHT), "equalizer");
    need(!motus_rgb_equalizer_open(&good_rgb_equalizer, &equalize_config, WIDTH, HEIGHT, 0, 0),
         "RGB equalizer");
    prepare_references();
    need(!motus_me_reference_alloc(&empty_reference, good_me) &&
             !motus_me_reference_alloc(&good_reference, good_me) &&
             !motus_me_reference_fill(good_reference, good_me, good_plane, MOTUS_MEMORY_HOST, NULL),
         "reference");
    const size_t n_mb = (size_t)good_field->n_mb;
    targets[0] = (MotusMeTarget){.reference = good_reference,
                                 .hints = &hints,
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
    centres = (MotusMeCentres){.size = sizeof centres,
                               .cur = good_plane,
                               .reference = good_reference,
                               .centre = memory(n_mb * sizeof(MotusMv))};
    coefs = (MotusCoefs){memory(2 * WIDTH * HEIGHT), 2 * WIDTH, WIDTH, HEIGHT};
    out_coefs = (MotusCoefs){memory(2 * WIDTH * HEIGHT), 2 * WIDTH, WIDTH, HEIGHT};
    good_floats = memory((shape.size + WIDTH * HEIGHT) * sizeof *good_floats);
    good_levels = memory((shape.size + WIDTH * HEIGHT) * sizeof *good_levels);
    for (int i = 0; i < 64; i++) good_table[i] = zero_table[i] = 16;
    zero_table[63] = 0;
}

void prepare_late(void) {
    need(!motus_encoder_open(&good_encoder, &encoder_config, NULL), "encoder");
    if (motus_cuda_filters_usable(NULL)) return;
    need(!motus_cuda_equalizer_open(&good_cuda_equalizer, &equalize_config, WIDTH, HEIGHT, NULL) &&
             !motus_cuda_rgb_equalizer_open(&good_cuda_rgb_equalizer, &equalize_config, WIDTH,
                                            HEIGHT, 0, 0, NULL),
         "equalizers on a GPU");
}

const int *list_of(int a, int b, int c) {
    static int list[3];
    list[0] = a, list[1] = b, list[2] = c;
    return list;
}
