// A GOP coder on a CUDA device: memory_cuda.cu opens it, streams_cuda.cu orders pictures on its
// streams, passes_cuda.cu launches their passes, output_cuda.cu downloads results and waits.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_CUDA_CODER_CUH
#define ENCODER_PICTURE_CUDA_CODER_CUH

#include <time.h>

#include "common/cuda_call.cuh"
#include "encoder/cabac/cabac_cuda.h"
#include "encoder/decide/decide_cuda.h"
#include "encoder/picture/cuda_executor.h"
#include "encoder/picture/passes.h"
#include "me/search/search_cuda.h"

namespace motus_cuda_coder {

constexpr int FEW_CODERS = 4;  // do not fill a device
constexpr int MAX_WORKERS = 3; // pictures of a coder that run side by side
constexpr int MOST_SPARE_BUFFERS = 5;
constexpr int LISTS = 3; // of launches
constexpr int MAX_BUFFERS = MOTUS_MAX_REFERENCES + 1 + MOST_SPARE_BUFFERS;

static_assert((int)MOTUS_COST_TABLES > (int)MOTUS_CODER_DEPTH, "a table's readers are done, job.h");

// Downloaded from each picture beside its NAL units.
typedef struct Report {
    MotusSliceResult result; // of the last slice: the bytes of all
    MotusPictureStats stats;
} Report;

// Events of a picture: all of it is done; its MBs and MVs are final; its MBs are written and costs
// are learnt; it may be predicted from.
enum Event { DONE, FINALIZED, WRITTEN, MADE, EVENTS };

// Buffers of one picture in flight, beside samples. h_: pinned.
typedef struct Output {
    MotusSliceHead *head, *h_head; // one per slice
    int8_t *qp_offset, *h_qp_offset;
    MotusCabacCosts *h_costs; // with CABAC
    Report *report, *h_report;
    uint8_t *nal, *h_nal;
    MotusMb *h_mb;                 // NULL with stream_only
    size_t nal_room;               // bytes of h_nal
    size_t downloaded;             // of the NAL units: most bytes downloaded with the picture
    MotusReference *refs, *h_refs; // as listed, if there may be several in list 0
    MotusField *field;             // of a P picture, with config.export_field
    int64_t begun_us;              // now_us()
    cudaEvent_t event[EVENTS];
    cudaEvent_t began, ended[MOTUS_STAGES]; // with config.time_stages
} Output;

// Streams and memory of a picture while it is coded. A worker's pictures follow one another;
// workers run side by side. They share references, learnt costs and outputs.
typedef struct Worker {
    cudaStream_t stream;      // of the passes
    cudaStream_t writing;     // of the NAL units: `stream`, unless the coder is one of few
    cudaEvent_t passed;       // passes so far, for `writing`
    int64_t last;             // number of its picture that was begun last; below 0: none
    int turn;                 // of spare
    MotusPlane spare[2][3];   // of pictures that are no references, in turn; with B pictures
    MotusPlane unfiltered[3]; // before deblocking; unused without it
    MotusPictureStateCuda pic;
    MotusSearchMemory memory;
    MotusMv *whole_mv;                              // of 16x16, before refinement
    void *centres_work, *slice_work, *deblock_work; // scratch memory
    MotusSliceResult *slice_results;                // of all slices but the last one
    MotusMarks marks;
    MotusMbContext *context; // with CABAC
    MotusBinCounts *bins;
} Worker;

// Pictures that use a buffer. Later ones may still read it when its picture is no reference any
// more: another one is written into it once they are finalized.
typedef struct BufferUse {
    int64_t owner;               // picture that was written into it last; below 0: none
    int64_t reader[MAX_WORKERS]; // last picture of each worker that reads it
} BufferUse;

} // namespace motus_cuda_coder

typedef struct MotusCudaCoder {
    MotusJobs jobs;       // first
    int device, coders;   // coders: of the device
    int n_workers, depth; // depth: pictures in flight, at most
    motus_cuda_coder::Worker worker[motus_cuda_coder::MAX_WORKERS];
    cudaStream_t down;      // of MotusCopyStreams
    uint8_t *memory, *host; // device memory, pinned memory
    int n_buffers;
    MotusPictureBuffer buffer[motus_cuda_coder::MAX_BUFFERS];
    motus_cuda_coder::BufferUse use[motus_cuda_coder::MAX_BUFFERS];
    MotusCostTables costs; // with CABAC
    // Device copies of MotusSlices.first, n_mb each: of the stream's slices, then of pictures with
    // intra refresh (MotusStream.refresh_slices). NULL if no picture has several slices.
    int *slice_first;
    motus_cuda_coder::Output output[MOTUS_CODER_DEPTH];
    MotusPacketPool *packets; // NULL: the bytes of packets are downloaded
    MotusField *field;        // handed out with the picture that was finished last
    int64_t expected_us[3];   // duration of a picture that runs alone, by type
    size_t expected[2];       // bytes of the next NAL units, generously; [1]: of B pictures
    int max_block_mbs, can_launch_early; // decide_cuda.h
    // Launches of the last P picture, B picture, and B picture that is a reference; NULL: pictures
    // are launched kernel by kernel.
    MotusLaunchList *list[motus_cuda_coder::LISTS];
    MotusError failure; // of the first call that failed; the coder stays failed
} MotusCudaCoder;

namespace motus_cuda_coder {

// A picture while its passes are launched: what they get as `coder`.
typedef struct Picture {
    MotusCudaCoder *c;
    Worker *w;
    Output *out;
    const MotusPictureJob *job;
    const MotusPlane *rec; // deblocked samples
    int buffer;            // where they are, of a reference; below 0: the picture is none
    int alone;             // 1: the coder's only one: measured, and learnt from, beside its writing
    MotusCabacCosts *next_costs; // learnt while it is written; NULL: none are
    int passed;                  // 1: w->writing has not waited for the last passes on w->stream
    int has_source;              // 1: w->stream has waited for all of the source
    uint32_t waited;             // events of other pictures that w->stream has waited for
} Picture;

// Every CUDA call of the coder passes here. Keeps the first failure.
static inline MotusStatus check(MotusCudaCoder *c, cudaError_t status, const char *what,
                                MotusError *error) {
    if (!c->failure.status) motus_cuda_check(status, what, &c->failure);
    if (c->failure.status && error) *error = c->failure;
    return c->failure.status;
}

// True if all of the coder's pictures are on one stream, which orders them without events.
static inline bool is_serial(const MotusCudaCoder *c) {
    return c->n_workers == 1 && c->worker[0].writing == c->worker[0].stream;
}

static inline Output *output_of(MotusCudaCoder *c, int64_t number) {
    return &c->output[number % c->depth];
}

// True if NAL units are packed into packets on the device.
static inline bool packets_stay(const MotusCudaCoder *c) {
    return c->jobs.stream->config.packet_memory == MOTUS_MEMORY_DEVICE;
}

// True if a kernel downloads the picture: it needs no guess of the bytes, and one call. Copy
// engines begin later, but beside kernels of the same coder.
static inline bool downloads_by_kernel(const Picture *p) { return is_serial(p->c) || p->alone; }

static inline int64_t now_us() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

// Records one of the picture's events for the coder's own streams.
MotusStatus record(Picture *p, Event event, cudaStream_t stream, MotusError *error);

// Passes that download (output_cuda.cu).
MotusStatus download(void *at, MotusPictureJob *job, int group, MotusError *error);
MotusStatus report(void *at, MotusPictureJob *job, int group, MotusError *error);

extern const MotusPassTable passes;

// Around each pass (streams_cuda.cu): waits for the data that it reads and writes; records events.
MotusStatus before_pass(void *at, const MotusPictureJob *job, MotusPassId id, int group,
                        MotusError *error);
MotusStatus after_pass(void *at, const MotusPictureJob *job, MotusPassId id, MotusError *error);

// Makes room for `bytes` of NAL units in pinned memory; the old content is lost.
MotusStatus reserve_nal(MotusCudaCoder *c, Output *out, size_t bytes, MotusError *error);

} // namespace motus_cuda_coder

#endif
