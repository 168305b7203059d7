// Members of MotusCudaCoder (cuda_coder.h): cuda_coder_open.cu opens it, cuda_coder.cu launches a
// picture, its search by cuda_coder_search.cu; cuda_coder_output.cu downloads and waits.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_CUDA_CODER_CUH
#define ENCODER_PICTURE_CUDA_CODER_CUH

#include <time.h>

#include "common/cuda_call.cuh"
#include "encoder/cabac/cabac_cuda.h"
#include "encoder/decide/decide_cuda.h"
#include "encoder/picture/cuda_coder.h"
#include "encoder/picture/learnt_costs.h"
#include "encoder/picture/references.h"
#include "me/pixel/ref_luma.h"
#include "me/search/refine_cuda.h"

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
    MotusCabacCosts *h_costs;    // with CABAC
    MotusCabacCosts *next_costs; // learnt from the picture; NULL: none are
    Report *report, *h_report;
    uint8_t *nal, *h_nal;
    MotusMb *h_mb;     // NULL with stream_only
    size_t nal_room;   // bytes of h_nal
    size_t downloaded; // bytes of the NAL units that are downloaded before their size is known
    int with_mb;
    MotusSliceType type;
    int64_t begun_us; // now_us()
    cudaEvent_t done;
    cudaEvent_t began, ended[MOTUS_STAGES]; // with config.time_stages
} Output;

typedef struct Reconstruction {
    MotusPlane plane[3];
    uint8_t *col_zero; // per MB (motus_col_zero); NULL if the stream has no B pictures
} Reconstruction;

// Equals MotusReferencePicture.
typedef struct Reference {
    Reconstruction rec;
    int is_there;
    int32_t shown;
    int is_prepared; // its MotusCudaCoder.ref_luma is filled
} Reference;

// State that the GOP's pictures leave to the next one. A copy takes a picture back.
typedef struct History {
    // [0]: of the current picture. [1]: with B pictures, whose reconstructions alternate.
    Reconstruction rec[2];
    Reference ref[MOTUS_MAX_REFS];
    int oldest;               // as in MotusReferences
    int last_mv, has_last_mv; // MotusCudaCoder.last_mv of the last P picture
    int32_t last_span;        // of last_mv: pictures from its reference to the P picture
    MotusLearntCosts learnt;  // of MotusCudaCoder.costs
} History;

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
    MotusPlane unfiltered[3];                  // before deblocking; unused without it
    motus_cuda_coder::History history, before; // before: of the picture that was begun last
    const MotusPlane *src;                     // the current picture's slot
    MotusRefLuma ref_luma[MOTUS_MAX_REFS];     // of history.ref
    MotusMv *centre[2], *mv[2];                // by list
    uint32_t *cost[2];
    uint16_t *sad[2];              // of each list
    MotusMv *whole_mv;             // of 16x16, before refinement
    MotusMv *last_mv[2], *near_mv; // near_mv: over a list's distance, in B pictures
    void *centres_work, *slice_work, *deblock_work; // scratch memory
    MotusSliceResult *slice_results;                // of all slices but the last one
    MotusMarks marks;
    // With CABAC. costs: by kind, as in history.learnt; the table in use holds the first costs of a
    // GOP before there are learnt ones.
    MotusMbContext *context;
    MotusBinCounts *bins;
    MotusCabacCosts *costs[MOTUS_COST_KINDS][MOTUS_COST_TABLES];
    int *slice_first; // device copy of MotusSlices.first; NULL for one slice
    motus_cuda_coder::Output output[MOTUS_CODER_DEPTH];
    unsigned begun, finished;        // pictures
    int64_t expected_us[3];          // duration of a picture that runs alone, by type
    size_t expected[2];              // bytes of the next NAL units, generously; [1]: of B pictures
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

static inline int is_b(const MotusPictureParams *params) { return params->type == MOTUS_SLICE_B; }

// Waits for the previous picture: its MVs for search centres are final once it is finalized.
static inline MotusStatus wait_for_finalizing(MotusCudaCoder *c, MotusError *error) {
    return check(c, cudaStreamWaitEvent(c->stream, c->finalized, 0), "wait", error);
}

static inline MotusStatus stage_ended(MotusCudaCoder *c, MotusStage stage, MotusError *error) {
    return check(c, motus_stage_ended_cuda(&c->pic, stage, c->stream), "record", error);
}

// The current picture's reconstruction.
static inline const Reconstruction *current_rec(const MotusCudaCoder *c) {
    return &c->history.rec[0];
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

// Waits for the previous picture to be finalized, and fills the motion fields of a P or B picture's
// lists in their references, which it prepares. External MVs are only measured. field:
// NULL, or gets list 0's before refinement.
MotusStatus search(MotusCudaCoder *c, const MotusPictureParams *params, Reference *const ref[2],
                   const MotusEffort *effort, MotusField *field, MotusError *error);

// Refines the marked blocks of the motion fields.
MotusStatus refine(MotusCudaCoder *c, const MotusPictureParams *params, Reference *const ref[2],
                   uint32_t modes, MotusWantedBlocks marked, MotusError *error);

// Returns history.ref of a picture; NULL: it is none.
Reference *find_reference(MotusCudaCoder *c, int32_t shown);

// Makes the picture that was launched the last one.
void advance(MotusCudaCoder *c, const MotusPictureParams *params);

// Makes room for `bytes` of NAL units in pinned memory; the old content is lost.
MotusStatus reserve_nal(MotusCudaCoder *c, Output *out, size_t bytes, MotusError *error);

// Puts on their streams: the download of the NAL units as far as they are expected to reach, of the
// reconstruction and the MBs (rec not NULL), and of the statistics.
MotusStatus download(MotusCudaCoder *c, const Output *out, const MotusFrame *rec,
                     MotusError *error);

} // namespace motus_cuda_coder

#endif
