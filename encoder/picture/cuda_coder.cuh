// Members of MotusCudaCoder (cuda_coder.h): cuda_coder_open.cu opens it, cuda_coder.cu launches a
// picture, cuda_coder_output.cu downloads and waits.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_CUDA_CODER_CUH
#define ENCODER_PICTURE_CUDA_CODER_CUH

#include <time.h>

#include "common/cuda_call.cuh"
#include "encoder/cabac/cabac_cuda.h"
#include "encoder/decide/decide_cuda.h"
#include "encoder/picture/cuda_coder.h"
#include "me/pixel/ref_luma.h"

namespace motus_cuda_coder {

constexpr int FEW_CODERS = 4; // do not fill a device

// Downloaded from each picture beside its NAL units.
typedef struct Report {
    MotusSliceResult result; // of the last slice: the bytes of all
    MotusPictureStats stats;
} Report;

// Buffers of one picture in flight, beside samples. h_: pinned.
typedef struct Output {
    MotusSliceHead *head, *h_head; // one per slice
    int8_t *qp_offset, *h_qp_offset;
    MotusCabacCosts *h_costs; // with CABAC
    Report *report, *h_report;
    uint8_t *nal, *h_nal;
    MotusMb *h_mb;     // NULL with stream_only
    size_t nal_room;   // bytes of h_nal
    size_t downloaded; // bytes of the NAL units that are downloaded before their size is known
    int with_mb, is_i;
    int64_t begun_us; // now_us()
    cudaEvent_t done;
    cudaEvent_t began, ended[MOTUS_STAGES]; // with config.time_stages
} Output;

} // namespace motus_cuda_coder

struct MotusCudaCoder {
    const MotusStream *settings;
    int device;
    cudaStream_t stream;      // of all passes
    cudaStream_t own_writing; // of the NAL units; NULL if the coder is not among the first few
    cudaStream_t writing;     // own_writing or stream, as the current picture uses it
    cudaStream_t down;        // of MotusCopyStreams
    // The current picture's MBs are decided; finalized; no longer needed, as they are written; its
    // NAL units are complete; it is reconstructed.
    cudaEvent_t coded, finalized, written, packed, made;
    uint8_t *memory, *host; // device memory, pinned memory
    MotusPictureStateCuda pic;
    MotusPlane rec[2][3];     // reconstructions, alternating; [current] is being made
    MotusPlane unfiltered[3]; // before deblocking; unused without it
    int current;
    const MotusPlane *src; // the current picture's slot
    MotusRefLuma ref_luma;
    MotusMv *centre, *mv, *whole_mv; // whole_mv: of 16x16, before refinement
    MotusMv *last_mv[2];             // for the next picture's centres, alternating as rec does
    int has_last_mv, had_last_mv;    // had: before the picture that was begun last
    uint16_t *sad;
    uint32_t *cost;
    void *centres_work, *slice_work, *deblock_work; // scratch memory
    MotusSliceResult *slice_results;                // of all slices but the last one
    MotusMarks marks;
    // With CABAC. costs[current]: of the current picture's decisions; the other ones are learnt
    // from it. An undone picture finds its own as they were.
    MotusMbContext *context;
    MotusBinCounts *bins;
    MotusCabacCosts *costs[2];
    int *slice_first; // device copy of MotusSlices.first; NULL for one slice
    motus_cuda_coder::Output output[MOTUS_CODER_DEPTH];
    unsigned begun, finished;        // pictures
    int64_t expected_us[2];          // duration of a P and an I picture that run alone
    size_t expected;                 // bytes of the next NAL units, generously
    int max_teams, can_launch_early; // decide_cuda.h
    MotusError failure;              // of the first call that failed; the coder stays failed
};

namespace motus_cuda_coder {

// Every CUDA call of the coder passes here. Keeps the first failure.
static inline MotusStatus check(MotusCudaCoder *c, cudaError_t status, const char *what,
                                MotusError *error) {
    if (!c->failure.status) motus_cuda_check(status, what, &c->failure);
    if (c->failure.status && error) *error = c->failure;
    return c->failure.status;
}

// Makes stream `after` wait for the work that is on stream `before` now.
static inline MotusStatus follow(MotusCudaCoder *c, cudaStream_t after, cudaStream_t before,
                                 cudaEvent_t event, MotusError *error) {
    MotusStatus status = check(c, cudaEventRecord(event, before), "record", error);
    return status ? status : check(c, cudaStreamWaitEvent(after, event, 0), "wait", error);
}

// True if NAL units are packed into packets on the device.
static inline bool packets_stay(const MotusCudaCoder *c) {
    return c->settings->config.packet_memory == MOTUS_MEMORY_DEVICE;
}

static inline int64_t now_us() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

// Makes room for `bytes` of NAL units in pinned memory; the old content is lost.
MotusStatus reserve_nal(MotusCudaCoder *c, Output *out, size_t bytes, MotusError *error);

// Puts on their streams: the download of the NAL units as far as they are expected to reach, of the
// reconstruction and the MBs (rec not NULL), and of the statistics.
MotusStatus download(MotusCudaCoder *c, const Output *out, const MotusFrame *rec,
                     MotusError *error);

} // namespace motus_cuda_coder

#endif
