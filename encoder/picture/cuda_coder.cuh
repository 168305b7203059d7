// What a lane on a CUDA device is made of (encoder/picture/cuda_coder.h): lane_cuda_open.cu makes
// it, lane_cuda.cu codes pictures.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_CUDA_CODER_CUH
#define ENCODER_PICTURE_CUDA_CODER_CUH

#include "common/cuda_call.h"
#include "common/on_device.h"
#include "encoder/bitstream/slice_cuda.h"
#include "encoder/decide/decide_cuda.h"
#include "encoder/picture/cuda_coder.h"
#include "me/samples/ref_luma.h"

namespace motus_cuda_coder {

constexpr int FEW_LANES = 4; // that do not fill the device

// What the device hands back of a picture beside its NAL unit.
typedef struct Report {
    MotusSliceResult result;
    MotusPictureStats stats;
} Report;

// What goes in and comes out of a picture beside its samples: two, as the next picture begins
// before the host has seen to this one.
typedef struct Output {
    MotusSliceHead *head; // on the device; one for each slice
    int8_t *qp_offset;
    Report *report;
    uint8_t *nal;
    MotusSliceHead *h_head; // pinned
    int8_t *h_qp_offset;
    Report *h_report;
    MotusMb *h_mb; // not there where nobody wants reconstructions
    uint8_t *h_nal;
    size_t nal_room; // bytes there
    size_t brought;  // bytes of the NAL unit that come down without its size being known
    int with_mb, is_i;
    int64_t begun_us; // by the monotonic clock
    cudaEvent_t done;
    cudaEvent_t began, ended[MOTUS_STAGES]; // where stages are timed
} Output;

} // namespace motus_cuda_coder

struct MotusCudaCoder {
    const MotusStream *stream_settings;
    int device;
    cudaStream_t stream, copying; // coding; what comes down late, which is not its own
    cudaStream_t own_writing,
        writing; // of NAL units: not every lane's; that of the picture that is put on its way
    cudaEvent_t coded, settled, written,
        made; // a picture's MBs, as they are written, its NAL unit, its reconstruction
    uint8_t *memory, *host; // device memory, pinned memory
    // What the lane's thread uses.
    MotusPictureStateCuda pic;
    MotusPlane rec[2][3];     // reconstructions in turn
    MotusPlane unfiltered[3]; // what deblocking makes them of; not there without it
    const MotusPlane *src;    // of the picture that is put on its way
    MotusRefLuma ref_luma;
    MotusMv *centre, *mv, *whole_mv; // whole_mv: of 16x16 before refinement
    MotusMv *last_mv[2];             // what a picture leaves to the next one, in turn as rec is
    uint16_t *sad;
    uint32_t *cost;
    void *centres_work, *slice_work, *deblock_work;
    MotusSliceResult *slice_results; // of all slices but the last one
    MotusMarks marks;                // of the picture that is written
    int *slice_first;                // of work; not there for one slice
    motus_cuda_coder::Output output[MOTUS_CODER_DEPTH];
    unsigned begun, finished; // pictures
    int64_t expected_us[2];   // of a P and an I picture with none behind it, from its beginning on
    size_t expected;          // bytes of the next NAL unit, with some to spare
    int current;              // of rec: the picture that is put on its way
    int most_teams, may_be_early; // see decide_cuda.h
    int has_last_mv, had_last_mv; // had: before the picture that was begun last
    MotusError failure;           // of the call that failed: the lane stays so
};

namespace motus_cuda_coder {

// Every CUDA call of the lane's thread passes here.
static inline MotusStatus check(MotusCudaCoder *l, cudaError_t status, const char *what,
                                MotusError *error) {
    if (!l->failure.status) motus_cuda_check(status, what, &l->failure);
    if (l->failure.status && error) *error = l->failure;
    return l->failure.status;
}

// Room for so many bytes of a NAL unit in pinned memory; what was there is lost.
MotusStatus reserve_nal(MotusCudaCoder *l, Output *out, size_t bytes, MotusError *error);

} // namespace motus_cuda_coder

#endif
