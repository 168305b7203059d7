// Sequences made on the spot for conformance tests: the same samples for the same arguments
// everywhere.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_DECODERS_MATERIAL_H
#define TESTS_DECODERS_MATERIAL_H

#include "motus/frame.h"

typedef enum MotusMaterial {
    MOTUS_MATERIAL_SCENE, // texture that pans by quarter samples, small objects moving against it,
                          // a flat corner, noise, a cut after picture 3
    MOTUS_MATERIAL_FAST,  // texture that jumps by up to 122 samples, up and down
    MOTUS_MATERIAL_NOISE, // white noise
    MOTUS_MATERIAL_STILL, // a still texture with one small moving object
    MOTUS_MATERIAL_HARD,  // black and white blocks and lines that jump about
    MOTUS_MATERIAL_PATCHES, // every 8x8 of luma and every 16x16 of chroma is flat, weak or strong
                            // texture by chance: all coded_block_patterns
    MOTUS_MATERIAL_WAVES, // every 4x4 is one or two cosines of the transform's, strong or weak, so
                          // that long runs of zeros occur
    MOTUS_MATERIALS,
} MotusMaterial;

const char *motus_material_name(MotusMaterial material);

// Allocates picture `number` of a sequence; aborts without memory.
MotusFrame *motus_material_frame(MotusMaterial material, int width, int height, int number);

// The middle of a frame as a frame of its own, without a copy: of this size, at most the frame's,
// made even; 0: the frame's own, negative: so much less.
MotusFrame *motus_middle_of(MotusFrame *frame, const int size[2]);

#endif
