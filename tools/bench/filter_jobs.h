// The jobs of motus bench filters: filters and 8x8 DCT with the same bytes in and out on CPU and
// CUDA, to be timed and compared.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_BENCH_FILTER_JOBS_H
#define TOOLS_BENCH_FILTER_JOBS_H

#include "motus/filter_cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MotusFilterJobKind {
    JOB_DCT, // samples -> quantized levels
    JOB_DCT_INTEGER,
    JOB_IDCT,      // levels -> samples
    JOB_DCT_ROUND, // samples -> levels -> samples: a round trip
    JOB_EQUALIZE,
    JOB_CLAHE,
    JOB_KEY_RGB,        // two RGB24 pictures -> one
    JOB_KEY_RGB_SOFT,   // with soft edge and spill suppression
    JOB_KEY_YUV,        // two 4:2:0 pictures -> one
    JOB_KEY_YUV_SOFT,   // with soft edge and spill suppression
    JOB_WAVELET,        // samples -> float coefficients of 3 levels, periodic
    JOB_WAVELET_LEVELS, // samples -> quantized int16 coefficients
    JOB_IWAVELET,       // float coefficients -> samples
    JOB_KINDS,
} MotusFilterJobKind;

// One job on one size of picture.
typedef struct MotusFilterJob {
    MotusFilterJobKind kind;
    const char *name;
    int width, height;
    int is_rgb; // samples are R, G, B
    size_t in_bytes, out_bytes, scratch_bytes;
    double moved_bytes; // device memory traffic: input read once (equalization: twice), output
                        // written once
    MotusWaveletShape shape;
    MotusKeyConfig key;
    MotusEqualizeConfig equalize;
    uint16_t table[64];
} MotusFilterJob;

void motus_filter_job_init(MotusFilterJob *job, MotusFilterJobKind kind, int width, int height);

// Wrap samples (RGB24: width is three times the picture's) and quantized levels in a job's buffers.
MotusPlane motus_filter_job_plane(const void *data, int width, int height);
MotusCoefs motus_filter_job_coefs(const MotusFilterJob *job, const void *data);

// Runs the job on the CPU. scratch: scratch_bytes.
MotusStatus motus_filter_job_run(const MotusFilterJob *job, const void *in, void *out,
                                 void *scratch, const MotusExec *exec);

// Launches the job on device memory. equalizer: open for the kinds that need one, else NULL.
MotusStatus motus_filter_job_launch(const MotusFilterJob *job, const void *in, void *out,
                                    void *scratch, MotusCudaEqualizer *equalizer, void *stream,
                                    MotusError *error);

// Fills in deterministic input like a picture (levels or coefficients: transformed from one).
void motus_filter_job_fill(const MotusFilterJob *job, void *in);

// Returns the mean absolute difference of two outputs of samples or levels; without padding at a
// row's end.
double motus_filter_job_distance(const MotusFilterJob *job, const void *a, const void *b);

// True if two outputs hold the same picture, without padding.
int motus_filter_job_same(const MotusFilterJob *job, const void *a, const void *b);

// ---- Timing on a CUDA device (bench_filters_cuda.cu) --------------------------------------------

// Seconds.
typedef struct MotusFilterTime {
    double median, best;
} MotusFilterTime;

// Times one picture on the device alone, in turn over more pictures than the cache holds; npp: by
// NVIDIA's NPP, MOTUS_ERR_UNSUPPORTED if it is not installed or has no such function.
MotusStatus motus_filter_time_kernel(const MotusFilterJob *job, const void *in, int npp,
                                     MotusFilterTime *time, MotusError *error);

// Times copies in bytes per second. device: read + written.
MotusStatus motus_filter_time_copies(double *device, double *up, double *down, MotusError *error);

// Times one picture from pinned host memory and back, several in flight if `overlapped`; `out` gets
// the last result.
MotusStatus motus_filter_time_stream(const MotusFilterJob *job, const void *in, void *out,
                                     int overlapped, MotusFilterTime *time, MotusError *error);

// ---- OpenCV (filter_opencv.cpp, in a build with -DMOTUS_OPENCV=ON) ------------------------------

const char *motus_opencv_version(void);

// Runs the job with OpenCV's CPU functions, input and output as in motus_filter_job_run. threads 0:
// OpenCV's choice. MOTUS_ERR_UNSUPPORTED: OpenCV has nothing for the job. MOTUS_ERR_MEMORY: it
// threw.
MotusStatus motus_opencv_run(const MotusFilterJob *job, const void *in, void *out, void *scratch,
                             int threads);

#ifdef __cplusplus
}
#endif
#endif
