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
#include "encoder/picture/references.h"
#include "me/pixel/ref_luma.h"
#include "me/search/refine_cuda.h"

namespace motus_cuda_coder {

constexpr int FEW_CODERS = 4;  // do not fill a device
constexpr int MAX_WORKERS = 3; // pictures of a coder that run side by side
constexpr int MOST_SPARE_BUFFERS = 5;
constexpr int LISTS = 3; // of launches
constexpr int MAX_BUFFERS = MOTUS_MAX_REFERENCES + 1 + MOST_SPARE_BUFFERS;

static_assert((int)MOTUS_COST_TABLES > (int)MOTUS_CODER_DEPTH,
              "a table's readers are done, cabac_costs_core.h");

// Downloaded from each picture beside its NAL units.
typedef struct Report {
    MotusSliceResult result; // of the last slice: the bytes of all
    MotusPictureStats stats;
} Report;

// Buffers of one picture in flight, beside samples. h_: pinned.
typedef struct Output {
    const MotusSlices *slices;
    MotusSliceHead *head, *h_head; // one per slice
    int8_t *qp_offset, *h_qp_offset;
    MotusCabacCosts *h_costs;    // with CABAC
    MotusCabacCosts *next_costs; // learnt from the picture; NULL: none are
    Report *report, *h_report;
    uint8_t *nal, *h_nal;
    MotusMb *h_mb;     // NULL with stream_only
    size_t nal_room;   // bytes of h_nal
    size_t downloaded; // of the NAL units: most bytes that are downloaded with the picture
    int with_mb;
    MotusReference *refs, *h_refs; // as listed, if there may be several in list 0
    MotusSliceType type;
    int n_refs;       // of list 0
    int64_t begun_us; // now_us()
    // The picture's MBs and MVs are final; its MBs are written and costs are learnt; it may be
    // predicted from; all of it is done.
    cudaEvent_t finalized, written, made, done;
    cudaEvent_t began, ended[MOTUS_STAGES]; // with config.time_stages
} Output;

typedef struct Reconstruction {
    MotusPlane plane[3];
    uint8_t *col_zero; // per MB (motus_col_zero); NULL if the stream has no B pictures
    MotusColMb *col;   // per MB; NULL without temporal direct prediction
} Reconstruction;

// Equals MotusReferencePicture.
typedef struct Reference {
    Reconstruction rec; // of the buffer
    int buffer;         // MotusCudaCoder.buffer
    int64_t picture;    // in coding order
    int is_there;
    int32_t shown;
    int32_t listed[MOTUS_MAX_REFERENCES]; // MotusPictureParams.ref_shown
    int n_listed;
} Reference;

// Memory of a reference picture. Later pictures may still read it when the picture is no reference
// any more: another one is written into it once they are finalized.
typedef struct Buffer {
    Reconstruction rec;
    MotusRefLuma luma;
    MotusMv *mv;                 // of a P picture, for search centres
    int64_t owner;               // picture that was written into it last; below 0: none
    int64_t reader[MAX_WORKERS]; // last picture of each worker that reads it
} Buffer;

// State that the GOP's pictures leave to the next one. A copy takes a picture back.
typedef struct History {
    Reference ref[MOTUS_MAX_REFERENCES];
    Reference last_p;        // whose MVs search centres come from, if it is there
    int32_t last_span;       // pictures from its reference to it
    MotusLearntCosts learnt; // of MotusCudaCoder.costs
    int64_t learner[MOTUS_COST_KINDS][MOTUS_COST_TABLES]; // picture that each table is learnt from
} History;

// Streams and memory of a picture while it is coded. A worker's pictures follow one another;
// workers run side by side. They share references, learnt costs and outputs.
typedef struct Worker {
    cudaStream_t stream;      // of all passes
    cudaStream_t own_writing; // of the NAL units; NULL if the coder is not among the first few
    // MBs are decided; NAL units are complete; the picture is reconstructed. Between the worker's
    // two streams.
    cudaEvent_t coded, packed, rebuilt;
    int64_t last;             // its picture that was begun last; below 0: none
    int turn;                 // of spare
    Reconstruction spare[2];  // of pictures that are no references, in turn; with B pictures
    MotusPlane unfiltered[3]; // before deblocking; unused without it
    MotusPictureStateCuda pic;
    // The motion fields, of list 0 by ref_idx, in B pictures then of list 1.
    MotusMv *centre[MOTUS_MAX_REFERENCES], *mv[MOTUS_MAX_REFERENCES];
    uint32_t *cost[MOTUS_MAX_REFERENCES];
    uint16_t *sad[MOTUS_MAX_REFERENCES];
    uint64_t *far_blocks;                           // MotusPCodingCuda.far_blocks
    MotusMv *whole_mv;                              // of 16x16, before refinement
    MotusRefLuma weighted[MOTUS_MAX_REFERENCES];    // with weightp: references with weights
    MotusDirect *direct;                            // per MB, unless it is spatial
    MotusMv *near_mv;                               // over the distance to another reference
    void *centres_work, *slice_work, *deblock_work; // scratch memory
    MotusSliceResult *slice_results;                // of all slices but the last one
    MotusMarks marks;
    // With CABAC. first_costs: of decisions before costs of the picture's kind are learnt.
    MotusMbContext *context;
    MotusBinCounts *bins;
    MotusCabacCosts *first_costs;
} Worker;

} // namespace motus_cuda_coder

// The base is a copy of the current picture's worker.
struct MotusCudaCoder : motus_cuda_coder::Worker {
    const MotusStream *settings;
    int device;
    int n_workers, depth; // depth: pictures in flight, at most
    motus_cuda_coder::Worker worker[motus_cuda_coder::MAX_WORKERS];
    int at;                 // the current one
    cudaStream_t writing;   // own_writing or stream, as the current picture uses it
    cudaStream_t down;      // of MotusCopyStreams
    uint8_t *memory, *host; // device memory, pinned memory
    motus_cuda_coder::History history, before; // before: of the picture that was begun last
    motus_cuda_coder::Reconstruction rec;      // of the current picture
    int own_buffer;                            // where it is, if the picture is a reference
    const MotusPlane *src;                     // the current picture's slot
    int n_buffers;
    motus_cuda_coder::Buffer buffer[motus_cuda_coder::MAX_BUFFERS];
    MotusCabacCosts *costs[MOTUS_COST_KINDS][MOTUS_COST_TABLES]; // with CABAC, of history.learnt
    // Device copies of MotusSlices.first, n_mb each: of the stream's slices, then of pictures with
    // intra refresh (MotusStream.refresh_slices). NULL if no picture has several slices.
    int *slice_first;
    motus_cuda_coder::Output output[MOTUS_CODER_DEPTH];
    int64_t begun, finished; // pictures; the current one is number `begun`
    int64_t expected_us[3];  // duration of a picture that runs alone, by type
    size_t expected[2];      // bytes of the next NAL units, generously; [1]: of B pictures
    int max_block_mbs, can_launch_early; // decide_cuda.h
    // Launches of the last P picture, B picture, and B picture that is a reference; NULL: pictures
    // are launched kernel by kernel.
    MotusLaunchList *list[motus_cuda_coder::LISTS];
    MotusError failure; // of the first call that failed; the coder stays failed
};

namespace motus_cuda_coder {

// Every CUDA call of the coder passes here. Keeps the first failure.
static inline MotusStatus check(MotusCudaCoder *c, cudaError_t status, const char *what,
                                MotusError *error) {
    if (!c->failure.status) motus_cuda_check(status, what, &c->failure);
    if (c->failure.status && error) *error = c->failure;
    return c->failure.status;
}

// True if all of the coder's pictures are on one stream, which orders them without events.
static inline bool is_serial(const MotusCudaCoder *c) {
    return c->n_workers == 1 && c->writing == c->stream;
}

// Records an event of the coder for its own streams.
static inline MotusStatus record(MotusCudaCoder *c, cudaEvent_t event, cudaStream_t stream,
                                 MotusError *error) {
    return is_serial(c) ? MOTUS_OK : check(c, cudaEventRecord(event, stream), "record", error);
}

// Makes a stream wait for such an event.
static inline MotusStatus wait_on(MotusCudaCoder *c, cudaStream_t stream, cudaEvent_t event,
                                  MotusError *error) {
    return is_serial(c) ? MOTUS_OK : check(c, cudaStreamWaitEvent(stream, event, 0), "wait", error);
}

// Makes stream `after` wait for the work that is on stream `before` now.
static inline MotusStatus follow(MotusCudaCoder *c, cudaStream_t after, cudaStream_t before,
                                 cudaEvent_t event, MotusError *error) {
    MotusStatus status = record(c, event, before, error);
    return status ? status : wait_on(c, after, event, error);
}

static inline int is_b(const MotusPictureParams *params) { return params->type == MOTUS_SLICE_B; }

// Returns the number of a P or B picture's motion fields.
static inline int fields_of(const MotusPictureParams *params) {
    return motus_references_listed(params);
}

static inline Output *output_of(MotusCudaCoder *c, int64_t picture) {
    return &c->output[picture % c->depth];
}

// Makes the current picture's passes wait for an event of a picture (below 0: none) that is not
// finished yet. Events of finished ones may belong to later pictures by now.
static inline MotusStatus wait_for(MotusCudaCoder *c, int64_t picture, cudaEvent_t Output::*event,
                                   MotusError *error) {
    if (picture < c->finished) return MOTUS_OK;
    return wait_on(c, c->stream, output_of(c, picture)->*event, error);
}

static inline MotusStatus stage_ended(MotusCudaCoder *c, MotusStage stage, MotusError *error) {
    return check(c, motus_stage_ended_cuda(&c->pic, stage, c->stream), "record", error);
}

// The current picture's reconstruction.
static inline const Reconstruction *current_rec(const MotusCudaCoder *c) { return &c->rec; }

// True if NAL units are packed into packets on the device.
static inline bool packets_stay(const MotusCudaCoder *c) {
    return c->settings->config.packet_memory == MOTUS_MEMORY_DEVICE;
}

// True if the current picture is the coder's only one: it is measured, and learnt from, beside its
// writing; else after it, not in the next picture's way.
static inline bool is_alone(const MotusCudaCoder *c) {
    return c->begun == c->finished && !is_serial(c);
}

// True if a kernel downloads the current picture: it needs no guess of the bytes, and one call.
// Copy engines begin later, but beside kernels of the same coder.
static inline bool downloads_by_kernel(const MotusCudaCoder *c) {
    return is_serial(c) || is_alone(c);
}

static inline int64_t now_us() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

// Returns the luma of reference k of the current P or B picture, with its weights if it has any.
const MotusRefLuma *luma_of(const MotusCudaCoder *c, const MotusPictureParams *params,
                            const Reference *ref, int k);

// Waits until a reference has samples and half-sample planes, and final MBs (col_zero, MVs). Notes
// that the current picture reads its buffer.
MotusStatus wait_for_reference(MotusCudaCoder *c, const Reference *ref, MotusError *error);

// Waits for references, and fills the motion fields of a P or B picture in them. External MVs are
// only measured. wanted: MBs with an empty mask need no MVs; field: NULL, or gets the first one
// before refinement.
MotusStatus search(MotusCudaCoder *c, const MotusPictureParams *params, Reference *const ref[],
                   const MotusEffort *effort, MotusWantedBlocks wanted, MotusField *field,
                   MotusError *error);

// Refines the marked blocks of the motion fields: of both lists, or of a P picture's first
// reference; far_blocks are those of further ones.
MotusStatus refine(MotusCudaCoder *c, const MotusPictureParams *params, Reference *const ref[],
                   uint32_t modes, MotusWantedBlocks marked, MotusError *error);

// Returns history.ref of a picture; NULL: it is none.
Reference *find_reference(MotusCudaCoder *c, int32_t shown);

// Chooses where the current picture is reconstructed, and waits until nothing reads it any more.
MotusStatus choose_rec(MotusCudaCoder *c, const MotusPictureParams *params, MotusError *error);

// Makes the picture that was launched the last one.
void advance(MotusCudaCoder *c, const MotusPictureParams *params);

// Returns where the direct prediction of a B picture's MBs comes from. col: list 1's reference.
static inline MotusDirectSource
direct_source(const MotusCudaCoder *c, const MotusPictureParams *params, const Reference *col) {
    if (params->direct == MOTUS_DIRECT_SPATIAL) return {NULL, col->rec.col_zero};
    return {c->direct, NULL};
}

// Finalizes the MBs and writes the NAL units on a stream of their own, beside deblocking and the
// next picture up to its decisions. Deblocking waits for finalization if there is a QP map, as it
// changes QPs, and in B pictures, where bS depends on what is direct; P_Skip is deblocked as
// P_16x16. A download of the MBs waits, too.
MotusStatus entropy_code(MotusCudaCoder *c, const Output *out, const MotusPictureParams *params,
                         MotusError *error);

// Learns costs of CABAC's bins from the current picture, if any are learnt.
MotusStatus learn_costs(MotusCudaCoder *c, const Output *out, cudaStream_t stream,
                        MotusError *error);

// Makes room for `bytes` of NAL units in pinned memory; the old content is lost.
MotusStatus reserve_nal(MotusCudaCoder *c, Output *out, size_t bytes, MotusError *error);

// Puts on their streams: the download of the NAL units as far as they are expected to reach, of the
// reconstruction and the MBs (rec not NULL), and of the statistics.
MotusStatus download(MotusCudaCoder *c, const Output *out, const MotusFrame *rec,
                     MotusError *error);

} // namespace motus_cuda_coder

#endif
