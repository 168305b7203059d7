// Generated sequences for conformance tests: the same samples for the same arguments on every
// machine.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DECODERS_MATERIAL_H
#define TESTS_DECODERS_MATERIAL_H

#include "motus/frame.h"

typedef enum MotusMaterial {
    // Texture that pans by quarter samples, small objects that move against it, a flat corner,
    // noise, a cut after picture 3.
    MOTUS_MATERIAL_SCENE,
    MOTUS_MATERIAL_FAST,  // texture that jumps by up to 122 samples, up and down
    MOTUS_MATERIAL_NOISE, // white noise
    MOTUS_MATERIAL_STILL, // a still texture with one small moving object
    MOTUS_MATERIAL_HARD,  // black and white blocks and lines in random places
    // Each 8x8 of luma and 16x16 of chroma is randomly flat, weak or strong texture: all
    // coded_block_patterns.
    MOTUS_MATERIAL_PATCHES,
    // Each 4x4 is one or two basis functions of the transform, strong or weak: long runs of zeros.
    MOTUS_MATERIAL_WAVES,
    MOTUS_MATERIAL_FADE, // texture that pans, fades to black and back, and flickers
    MOTUS_MATERIAL_LAMP, // MOTUS_MATERIAL_FADE, but every third column of MBs keeps its light
    MOTUS_MATERIALS,
} MotusMaterial;

const char *motus_material_name(MotusMaterial material);

// Allocates picture `number` of a sequence; aborts without memory.
MotusFrame *motus_material_frame(MotusMaterial material, int width, int height, int number);

// Returns the middle of a frame as a frame that shares its samples. Sizes: at most the frame's,
// made even; 0: the frame's own; negative: less by that.
MotusFrame *motus_middle_of(MotusFrame *frame, const int size[2]);

#endif
