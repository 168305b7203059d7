// The jobs of the source documents' systems, the same bytes in and out for every executor, to be timed and compared.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_SEEDS_H
#define TOOLS_SEEDS_H

#include "motus/filter_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MotusSeedKind {
    SEED_DCT, // samples -> quantized levels
    SEED_DCT_INTEGER,
    SEED_IDCT,      // levels -> samples
    SEED_DCT_ROUND, // samples -> levels -> samples: the whole of the document's program
    SEED_EQUALIZE,
    SEED_CLAHE,
    SEED_KEY_RGB,        // two RGB24 pictures -> one
    SEED_KEY_RGB_SOFT,   // with soft edge and spill suppression
    SEED_KEY_YUV,        // two 4:2:0 pictures -> one
    SEED_KEY_YUV_SOFT,   // with soft edge and spill suppression
    SEED_WAVELET,        // samples -> float coefficients of 3 levels, periodic
    SEED_WAVELET_LEVELS, // samples -> quantized int16 coefficients
    SEED_IWAVELET,       // float coefficients -> samples
    SEED_KINDS,
} MotusSeedKind;

// One job on one size of picture.
typedef struct MotusSeed {
    MotusSeedKind kind;
    int width, height;
    size_t in_bytes, out_bytes, scratch_bytes;
    double
        moved_bytes; // that device memory must move: every input byte read once (equalization: twice), every output byte written once
    MotusWaveletShape shape;
    MotusKeyConfig key;
    uint16_t table[64];
} MotusSeed;

const char *motus_seed_name(MotusSeedKind kind);
void motus_seed_init(MotusSeed *seed, MotusSeedKind kind, int width, int height);

// Samples (RGB24: width is three times the picture's) and quantized levels as they lie in a job's buffers.
MotusPlane motus_seed_plane(const void *data, int width, int height);
MotusCoefs motus_seed_coefs(const MotusSeed *seed, const void *data);

// The job on the CPU; scratch: scratch_bytes.
MotusStatus motus_seed_run(const MotusSeed *seed, const void *in, void *out, void *scratch, const MotusExec *exec);

// Whether two outputs hold the same picture (bytes between a row's end and its stride do not count).
int motus_seed_same(const MotusSeed *seed, const void *a, const void *b);

// Mean absolute difference of two outputs' samples or levels; for kinds that leave either.
double motus_seed_distance(const MotusSeed *seed, const void *a, const void *b);

// The job on device memory. equalizer: open for the kinds that need one, else NULL.
MotusStatus motus_seed_launch(const MotusSeed *seed, const void *in, void *out, void *scratch, MotusCudaEqualizer *equalizer,
                              void *stream, MotusError *error);
MotusEqualizeConfig motus_seed_equalize_config(MotusSeedKind kind);

// Deterministic input with the statistics of a picture (levels or coefficients: transformed from one).
void motus_seed_fill(const MotusSeed *seed, void *in);

// Seconds.
typedef struct MotusSeedTime {
    double median, best;
} MotusSeedTime;

// Of one picture on the device alone, over so many pictures in turn that none is left in the cache; of a copy of `bytes` (device to device, up, down).
MotusStatus motus_seed_time_kernel(const MotusSeed *seed, const void *in, MotusSeedTime *time, MotusError *error);
MotusStatus motus_seed_time_copies(double *device, double *up, double *down,
                                   MotusError *error); // bytes per second; device: read + written
// Of one picture from pinned host memory and back, many under way; `out` gets the last result.
MotusStatus motus_seed_time_stream(const MotusSeed *seed, const void *in, void *out, int overlapped, MotusSeedTime *time,
                                   MotusError *error);
// NVIDIA's NPP at the same job, where it is installed and has one: MOTUS_ERR_UNSUPPORTED else.
MotusStatus motus_seed_time_npp(const MotusSeed *seed, const void *in, MotusSeedTime *time, MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
