// Deterministic generator of textured sequences whose motion is known. Integer arithmetic only: the
// same settings give the same samples on every machine. Any frame can be asked for at any time;
// frame n does not depend on the frames made before.
//
// The texture is a bicubic B-spline surface over control points 2 samples apart (period 1024
// samples) with detail in seven octaves: it holds little above a quarter of the sampling rate, so
// that it can be moved by any fraction of a sample, and no 4x4 block of it is flat unless asked
// for.
//
//     MotusSynthConfig config = motus_synth_config_default(352, 288);
//     config.pan_x = 6;                                         // the picture's content moves 1.5
//     samples to the right per frame motus_synth_open(&synth, &config); for (n = 0; n < 30; n++)
//     motus_synth_frame(synth, n, frame); motus_synth_truth(synth, 5, 16, 16, 8, 8, &truth); //
//     truth.mv = {-6, 0} motus_synth_close(&synth);
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
    int pan_x,
        pan_y; // background, quarter samples per frame; positive moves the content right and down
    int zoom_q16; // background's growth per frame, 65536 = none, 58982..72090; turns round every 64
                  // frames
    int rotate_mdeg; // background's rotation per frame, thousandths of a degree, clockwise,
                     // -45000..45000
    int objects; // rectangles and ellipses over the background, each with its own velocity, up to 3
                 // samples per frame; they bounce
    int noise;   // independent noise of every sample, -noise..noise, 0..64
    int cut_every; // a new scene every so many frames; 0 = never
    int flat;      // percentage of the texture's 64x64 cells that are flat, 0..100
} MotusSynthConfig;

// A still picture: seed 1, everything else 0.
MotusSynthConfig motus_synth_config_default(int width, int height);

// What is known of a block of frame n against frame n - 1.
typedef struct MotusSynthTruth {
    MotusMv mv; // of the block's centre, quarter samples as in me.h; exact for pans and objects,
                // rounded for zoom and rotation
    int layer;  // 0 background, 1.. objects
    int whole;  // 1: all samples belong to one layer and were visible inside the picture before
    int flat;   // 1: touches a flat cell, so that other vectors are as good
} MotusSynthTruth;

typedef struct MotusSynth MotusSynth;

// MOTUS_ERR_ARGUMENT: a setting is out of range. MOTUS_ERR_MEMORY.
MotusStatus motus_synth_open(MotusSynth **synth, const MotusSynthConfig *config);

// Fills `frame`, which has the configured size, with frame n >= 0.
void motus_synth_frame(MotusSynth *synth, int64_t n, MotusFrame *frame);

// Returns 0 where frame n has no motion (the first of a scene), else 1 and *truth of the block at
// (x, y) that lies inside the picture.
int motus_synth_truth(MotusSynth *synth, int64_t n, int x, int y, int width, int height,
                      MotusSynthTruth *truth);

void motus_synth_close(MotusSynth **synth); // accepts NULL and *synth == NULL

#endif
