// Jobs of a GOP coder's pictures, in plain C for every executor: which references, MVs and costs a
// picture has, and what it leaves to the next ones. Executors own the memory.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_JOB_H
#define ENCODER_PICTURE_JOB_H

#include "encoder/cabac/cabac_costs_core.h"
#include "encoder/decide/job.h"
#include "encoder/picture/executor.h"
#include "yuv/frame_pool.h"

#ifdef __cplusplus
extern "C" {
#endif

// Memory of a reference picture.
typedef struct MotusPictureBuffer {
    MotusPlane plane[3]; // deblocked, whole MBs
    MotusRefLuma luma;
    uint8_t *col_zero; // per MB (motus_col_zero); NULL if the stream has no B pictures
    MotusColMb *col;   // per MB; NULL without temporal direct prediction
    MotusMv *mv;       // of a P picture, for search centres (motus_mv_to_keep)
} MotusPictureBuffer;

// Memory of a picture while it is coded, for its references.
typedef struct MotusSearchMemory {
    MotusMotion motion[MOTUS_MAX_REFERENCES];
    MotusRefLuma weighted[MOTUS_MAX_REFERENCES]; // with weightp: references' luma with weights
    MotusDirect *direct;                         // per MB, unless it is spatial; cleared
    MotusMv *near_mv;                            // MotusSearchGroup.near_mv over other distances
    uint64_t *far_blocks;                        // MotusPictureJob.far_blocks
    MotusCabacCosts *first_costs; // with CABAC: before costs of the picture's kind are learnt
} MotusSearchMemory;

enum {
    // P pictures, B pictures that are references, and other B pictures learn costs apart.
    MOTUS_COST_KINDS = 3,
    // Tables of each kind, used in turn. A table is not written before the pictures that read it
    // are done, as more P pictures have begun since than pictures are in flight.
    MOTUS_COST_TABLES = 10,
};

typedef MotusCabacCosts *MotusCostTables[MOTUS_COST_KINDS][MOTUS_COST_TABLES];

typedef struct MotusReferencePicture {
    int is_there;
    int buffer;
    int64_t number; // MotusPictureJob.number
    int32_t shown;
    int32_t listed[MOTUS_MAX_REFERENCES]; // MotusPictureParams.ref_shown
    int n_listed;
} MotusReferencePicture;

// State that a GOP's pictures leave to the next one. A copy takes a picture back.
typedef struct MotusHistory {
    MotusReferencePicture ref[MOTUS_MAX_REFERENCES]; // by MotusPictureParams.slot
    MotusReferencePicture last_p;                    // whose MVs search centres come from
    int32_t last_span;                               // pictures from its reference to it
    // Costs that pictures are decided with. All pictures of a kind in a mini-GOP take those that
    // the first one of the last mini-GOP has left, so that they can be coded side by side.
    int table[MOTUS_COST_KINDS]; // in use, once has_table is set
    int has_table[MOTUS_COST_KINDS];
    int has_next[MOTUS_COST_KINDS]; // the table behind it is learnt: for the next mini-GOP
    int64_t learner[MOTUS_COST_KINDS][MOTUS_COST_TABLES]; // picture each table is learnt from
} MotusHistory;

enum { MOTUS_CODER_DEPTH = 8 }; // pictures between begin() and finish(), at most

// Pictures of a GOP coder. An executor's coder begins with it.
typedef struct MotusJobs {
    const MotusStream *stream;
    MotusHistory history, before;           // before: the picture that was begun last
    MotusPictureJob job[MOTUS_CODER_DEPTH]; // of picture i: i % MOTUS_CODER_DEPTH
    int64_t begun, finished;                // pictures, attempts that were taken back included
    int has_recon;                          // 1: pictures are reconstructed in host memory
    MotusFramePool pool;
    MotusCodedMv *mvs; // NULL with stream_only
} MotusJobs;

// MOTUS_ERR_MEMORY.
MotusStatus motus_jobs_open(MotusJobs *jobs, const MotusStream *stream, int has_recon, int pinned);
void motus_jobs_close(MotusJobs *jobs);

// Fills in the next picture's job, whose first members the caller gives in `given`. src: planes
// that passes read. Allocates its reconstruction.
MotusStatus motus_jobs_begin(MotusJobs *jobs, const MotusPictureJob *given, const MotusPlane *src,
                             const MotusPictureBuffer *buffer, const MotusSearchMemory *memory,
                             const MotusCostTables costs, MotusPictureJob **out, MotusError *error);

// Makes the picture the last one that was begun; a reference is in `buffer`.
void motus_jobs_advance(MotusJobs *jobs, const MotusPictureJob *job, int buffer);

// Returns the job of the oldest unfinished picture.
static inline MotusPictureJob *motus_jobs_oldest(MotusJobs *jobs) {
    return &jobs->job[jobs->finished % MOTUS_CODER_DEPTH];
}

// Fills in a finished picture's reconstruction, cropped, and its MVs. mb: in host memory.
MotusStatus motus_jobs_show(MotusJobs *jobs, const MotusPictureJob *job, const MotusMb *mb,
                            int threads, MotusCodedPicture *out);

// Fills in the parameters of the search centres of reference k, but for the MVs they come from.
MotusCentresPicture motus_job_centres(const MotusPictureJob *job, int k);

#ifdef __cplusplus
}
#endif
#endif
