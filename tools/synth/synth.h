// Generator of textured sequences with known motion. Integer arithmetic: the same settings give the
// same samples on every machine, and frames can be made in any order. The texture is a bicubic
// B-spline surface, with little detail above a quarter of the sampling rate, so that it can move by
// fractions of a sample; no 4x4 block of it is flat unless asked for.
//
//     MotusSynthConfig config = motus_synth_config_default(352, 288);
//     config.pan_x = 6; // the content moves 1.5 samples to the right per frame
//     motus_synth_open(&synth, &config);
//     for (n = 0; n < 30; n++) motus_synth_frame(synth, n, frame);
//     motus_synth_truth(synth, 5, 16, 16, 8, 8, &truth); // truth.mv = {-6, 0}
//     motus_synth_close(&synth);
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_SYNTH_SYNTH_H
#define TOOLS_SYNTH_SYNTH_H

#include "motus/frame.h"
#include "motus/me.h"

#define MOTUS_SYNTH_MAX_OBJECTS 64
#define MOTUS_SYNTH_MAX_PAN 512 // quarter samples per frame

typedef struct MotusSynthConfig {
    int width, height; // luma samples, 1..MOTUS_MAX_SIZE
    uint32_t seed;
    // Motion of the background per frame: pan in quarter samples (positive: right, down); zoom,
    // 65536 = none, 58982..72090, which reverses every 64 frames; clockwise rotation in 1/1000
    // degrees, -45000..45000.
    int pan_x, pan_y, zoom_q16, rotate_mdeg;
    int objects;   // rectangles and ellipses that bounce, each by up to 3 samples per frame
    int noise;     // amplitude of independent noise per sample, 0..64
    int cut_every; // frames of a scene; 0 = only one scene
    int flat;      // per cent of the texture's 64x64 cells that are flat
} MotusSynthConfig;

// A still picture: seed 1, everything else 0.
MotusSynthConfig motus_synth_config_default(int width, int height);

// The true motion of a block of frame n from frame n - 1.
typedef struct MotusSynthTruth {
    MotusMv mv; // of the block's centre, as in me.h; rounded for zoom and rotation
    int layer;  // 0 background, 1.. objects
    int whole;  // 1: all samples belong to one layer and were visible in the frame before
    int flat;   // 1: touches a flat cell, so that other vectors are as good
} MotusSynthTruth;

typedef struct MotusSynth MotusSynth;

// MOTUS_ERR_ARGUMENT: a setting is out of range. MOTUS_ERR_MEMORY.
MotusStatus motus_synth_open(MotusSynth **synth, const MotusSynthConfig *config);

// Fills `frame`, which has the configured size, with frame n >= 0.
void motus_synth_frame(MotusSynth *synth, int64_t n, MotusFrame *frame);

// Fills *truth for the block at (x, y), which lies inside the picture. Returns 0 if frame n is the
// first of a scene, which has no motion.
int motus_synth_truth(MotusSynth *synth, int64_t n, int x, int y, int width, int height,
                      MotusSynthTruth *truth);

void motus_synth_close(MotusSynth **synth); // accepts NULL and *synth == NULL

#endif
