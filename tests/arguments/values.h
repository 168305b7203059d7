// The arguments of generated calls: good ones, places for results (any_*), and bad ones by number.
// generate.py knows how many bad ones there are.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_ARGUMENTS_VALUES_H
#define TESTS_ARGUMENTS_VALUES_H

#include "motus/motus.h"

enum { WIDTH = 64, HEIGHT = 48 };

extern const size_t good_size;
extern const MotusExec good_exec_value, *good_exec;
extern MotusFrame *good_frame, *good_out_frame, *any_frame;
extern const MotusPlane *good_plane;
extern MotusPlane *good_out_plane;
extern MotusPlane good_planes[3], good_out_planes[3];
extern MotusEncoderConfig encoder_config;
extern const MotusEncoderConfig *good_encoder_config;
extern MotusMeConfig me_config;
extern const MotusMeConfig *good_me_config;
extern MotusEqualizeConfig equalize_config;
extern const MotusEqualizeConfig *good_equalize;
extern MotusKeyConfig key_config;
extern const MotusKeyConfig *good_key;
extern MotusWaveletShape shape, any_shape;
extern const MotusWaveletShape *good_shape;
extern MotusCoefs coefs, out_coefs;
extern const MotusCoefs *good_coefs;
extern MotusCoefs *good_out_coefs;
extern MotusField *good_field, *any_field;
extern const MotusMeHints hints, *good_hints;
extern MotusImage image, any_image;
extern const MotusImage *good_image;
extern const MotusColour *good_colour;
extern MotusMeJob job;
extern const MotusMeJob *good_job;
extern MotusEncoder *good_encoder, *any_encoder;
extern MotusPacket *any_packet;
extern const MotusFrameParams params, *good_params;
extern MotusMe *good_me, *any_me;
extern MotusMeReference *good_reference, *empty_reference, *any_reference;
extern MotusMeCentres predict;
extern const MotusMeCentres *good_predict;
extern MotusMeRequest request;
extern const MotusMeRequest *good_request;
extern MotusEqualizer *good_equalizer, *any_equalizer;
extern MotusRgbEqualizer *good_rgb_equalizer, *any_rgb_equalizer;
extern MotusCudaEqualizer *any_cuda_equalizer;
extern MotusCudaRgbEqualizer *any_cuda_rgb_equalizer;
extern MotusCudaRing *any_ring;
extern MotusError any_error;
extern MotusBackend any_backend;
extern int any_int;
extern size_t any_size;
extern void *any_pointer;
extern const void *any_const_pointer;
extern float *good_floats;
extern int16_t *good_levels;
extern uint8_t good_curves[1][256], good_bytes[256];
extern uint16_t good_table[64], zero_table[64];
extern uint32_t good_counts[256];
extern uint8_t *good_data[3], *bad_data[3];
extern ptrdiff_t good_strides[3];

// Opens contexts and fills the good values; ends the process where that fails. All on one thread:
// OpenMP's threads would not live on in the processes of the calls.
void prepare(void);

// In the call's own process: an encoder has threads, which would not live on in it.
void prepare_encoder(void);

MotusPlane *bad_plane(int n);
MotusPlane *bad_planes(int n);
MotusFrame *bad_frame(int n);
const MotusImage *bad_image(int n);
const MotusColour *bad_colour(int n);
const MotusExec *bad_exec(int n);
const MotusEncoderConfig *bad_encoder_config(int n);
const MotusFrameParams *bad_params(int n);
const MotusMeConfig *bad_me_config(int n);
const MotusEqualizeConfig *bad_equalize(int n);
const MotusKeyConfig *bad_key(int n);
const MotusWaveletShape *bad_shape(int n);
MotusCoefs *bad_coefs(int n);
MotusField *bad_field(int n);
const MotusMeHints *bad_hints(int n);
const MotusMeJob *bad_job(int n);
const MotusMeCentres *bad_predict(int n);
const MotusMeRequest *bad_request(int n);
const ptrdiff_t *bad_strides(int n);

#endif
