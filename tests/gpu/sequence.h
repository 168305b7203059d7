// Fixtures of the suites of behaviour: short sequences with the CPU's packets and reconstructions,
// frames in device memory, streams that are busy.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_GPU_SEQUENCE_H
#define TESTS_GPU_SEQUENCE_H

#include "motus/encoder.h"
#include "tests/conformance/decoders/material.h"
#include "tests/gpu/gpu_test.h"

// Contents beside MotusMaterial: one value, which changes a little; the largest costs.
enum { GPU_NEARLY_STILL = MOTUS_MATERIALS, GPU_CHECKERS, GPU_PICTURES };

// Allocates picture t of a sequence.
MotusFrame *gpu_picture(int content, int width, int height, int t);

enum { N_FRAMES = 5 };

// A sequence, and the packets and reconstructions that the CPU makes of it.
typedef struct Sequence {
    MotusEncoderConfig config;
    MotusFrame *frame[N_FRAMES], *recon[N_FRAMES];
    uint8_t *data[N_FRAMES];
    size_t size[N_FRAMES];
} Sequence;

// Makes a GOP of three pictures and one of two. Afterwards the configuration asks for CUDA.
void make_sliced_sequence(Sequence *s, int width, int height, int slices, MotusProfile profile);
void make_sequence(Sequence *s, int width, int height);       // one slice per picture
void make_rated_sequence(Sequence *s, int width, int height); // CRF and AQ without lookahead
void drop_sequence(Sequence *s);

// Opens an encoder; the test ends if that fails. release() closes it and drops the rest, as far as
// they are not NULL.
MotusEncoder *open_encoder(const MotusEncoderConfig *config);

// True if the packet's bytes, in host or in device memory, are these.
int packet_is(const MotusPacket *packet, const uint8_t *data, size_t size);

// Receives the packet of frame i. True if it is the sequence's, with its reconstruction and source.
int as_wanted(MotusEncoder *enc, const Sequence *s, int i);

// Sends every frame from host memory and receives its packet at once.
void encode_all(MotusEncoder *enc, const Sequence *s);

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
void overwrite(const DeviceFrame *d, cudaStream_t stream); // with 0x5A

void release(MotusEncoder *enc, DeviceFrame *d, Sequence *s);

cudaStream_t open_stream(void); // one that does not wait for the default stream
void close_stream(cudaStream_t stream);

// A job of an upload ring that copies *(size_t *)opaque bytes.
MotusStatus copy_job(void *opaque, const void *d_in, void *d_out, void *stream, MotusError *error);

// Keeps the stream busy for some milliseconds.
void sleep_on(cudaStream_t stream, int milliseconds);

#endif
