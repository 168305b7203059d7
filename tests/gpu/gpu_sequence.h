// Short sequences for the GPU suites of the encoder: what they must become, by the CPU, and their
// frames in device memory.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_GPU_SEQUENCE_H
#define TESTS_GPU_SEQUENCE_H

#include <cuda_runtime_api.h>

#include "motus/encoder.h"
#include "tests/gpu/gpu.h"

#define N_FRAMES 5

// What a sequence must become: by the CPU, from host memory.
typedef struct Sequence {
    MotusEncoderConfig config;
    MotusFrame *frame[N_FRAMES], *recon[N_FRAMES];
    uint8_t *data[N_FRAMES];
    size_t size[N_FRAMES];
} Sequence;

// A GOP of three pictures and one of two; the configuration asks for CUDA when they are made.
void make_sliced_sequence(Sequence *s, int width, int height, int slices);
void make_sequence(Sequence *s, int width, int height); // one slice a picture
void make_rated_sequence(Sequence *s, int width,
                         int height); // with QPs that look-ahead chooses, picture by picture
void drop_sequence(Sequence *s);

// 1: the packet has these bytes, wherever they are, and only there.
int packet_is(const MotusPacket *packet, const uint8_t *data, size_t size);

// Takes the packet of frame i, and compares. 1: as it must be.
int as_wanted(MotusEncoder *enc, const Sequence *s, int i);

// A frame in device memory: each plane begins `shift` bytes after a boundary, rows are `gap` bytes
// longer than they need be.
typedef struct DeviceFrame {
    uint8_t *memory;
    size_t size;
    MotusFrame *frame;
} DeviceFrame;

DeviceFrame device_frame(int width, int height, int gap, int shift);
void drop_device_frame(DeviceFrame *d);
void upload(const DeviceFrame *d, const MotusFrame *frame, cudaStream_t stream);

#endif
