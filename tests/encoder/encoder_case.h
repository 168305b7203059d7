// A few frames and their stream, for suites of the encoder.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_ENCODER_CASE_H
#define TESTS_ENCODER_CASE_H

#include "motus/encoder.h"

enum { N_FRAMES = 4 };

typedef struct Stream {
    uint8_t *data; // for free()
    size_t size;
    int idr[N_FRAMES];
} Stream;

// Makes N_FRAMES frames: blocks of random grey that move by (3, 2) samples a frame over a gradient,
// with some noise.
void encoder_case_frames(MotusFrame **frames, int width, int height);
void encoder_case_drop(MotusFrame **frames);

// Returns the default configuration for 25 frames/s on the CPU.
MotusEncoderConfig encoder_case_config(int width, int height);

// Appends the packet of one frame.
void encoder_case_append(Stream *stream, const MotusPacket *packet);

// Encodes the frames one at a time; returns the first error. `stream` may be NULL.
MotusStatus encoder_case_encode(const MotusEncoderConfig *config, MotusFrame **frames,
                                Stream *stream);

#endif
