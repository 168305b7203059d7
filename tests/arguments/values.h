// The arguments of generated calls: good ones, and what values.txt makes bad ones from.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_ARGUMENTS_VALUES_H
#define TESTS_ARGUMENTS_VALUES_H

#include "motus/motus.h"

enum { WIDTH = 64, HEIGHT = 48, N_MB = WIDTH * HEIGHT / 256 };

extern const MotusExec good_exec;
extern MotusFrame *good_frame, *good_out_frame;
extern const MotusPlane *good_plane;
extern MotusPlane *good_out_plane, *good_rgb, good_planes[3], good_out_planes[3];
extern MotusEncoderConfig encoder_config;
extern MotusMeConfig me_config;
extern MotusEqualizeConfig equalize_config;
extern MotusKeyConfig key_config;
extern MotusWaveletShape shape;
extern MotusCoefs coefs, out_coefs;
extern MotusField *good_field;
extern const MotusMeHints hints;
extern MotusImage image;
extern const MotusColour colour;
extern MotusEncoder *good_encoder;
extern const MotusFrameParams params;
extern MotusMe *good_me;
extern MotusMeReference *good_reference;
extern MotusMeCentres centres;
extern MotusMeTarget t; // the one target of a bad request
extern MotusMeRequest request;
extern MotusEqualizer *good_equalizer;
extern MotusRgbEqualizer *good_rgb_equalizer;
extern MotusCudaEqualizer *good_cuda_equalizer;
extern MotusCudaRgbEqualizer *good_cuda_rgb_equalizer;
extern MotusError any_error;
extern float *good_floats;
extern int16_t *good_levels;
extern uint8_t good_curves[1][256], good_bytes[256], *good_data[3];
extern uint16_t good_table[64];
extern uint32_t good_counts[256];
extern ptrdiff_t good_strides[3];

extern const MotusPlane no_plane;
extern MotusPlane small_plane, huge_plane;
extern MotusFrame *small_frame;
extern uint8_t *bad_data[3];
extern uint16_t zero_table[64];
extern MotusMeReference *empty_reference, *full_reference, *wide_reference;
extern MotusMv far_mvs[N_MB], odd_mvs[N_MB];
extern const MotusMeHints far_centre, odd_centre, far_predictor, large_lambda;

// Opens contexts and fills the values; ends the process where that fails. All on one thread:
// OpenMP's threads would not live on in the processes of the calls.
void prepare(void);

// Opens in the call's own process what would not live on in it: the encoder, which has threads, and
// on a GPU the equalizers.
void prepare_late(void);

const int *list_of(int a, int b, int c);

#endif
