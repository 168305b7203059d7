// Motion estimation as an encoder calls it: references that are prepared once and searched many
// times, several of them for a picture in one request, what is wanted said for each macroblock (MB,
// 16x16 luma), and only the results that are asked for. The searches are those of motus/me.h, bit
// for bit.
//
//     MotusMeReference *ref[2] = {NULL, NULL};                     // the picture before and the
//     one after, in the order of display for (i = 0; i < 2; i++) {
//         motus_me_reference_alloc(&ref[i], me);
//         motus_me_reference_fill(ref[i], me, &recon[i]->plane[0], MOTUS_MEMORY_HOST, NULL);
//     }
//     MotusMeTarget target[2] = {{.reference = ref[0], .hints = &hints[0], .mv = mv[0], .cost =
//     cost[0]},
//                                {.reference = ref[1], .hints = &hints[1], .mv = mv[1], .cost =
//                                cost[1]}};
//     MotusMeRequest request = motus_me_request_default(&cur->plane[0], target, 2);
//     motus_me_request(me, &request);
//     motus_me_wait(me, NULL, -1);                                 // mv[i][block * n_mb + mb],
//     cost[i][block * n_mb + mb]
//
// Arrays "per MB" have n_mb entries in raster order: n_mb = ((width + 15) / 16) * ((height + 15) /
// 16). Arrays "per block" have [MOTUS_BLOCKS][n_mb] entries: block b of MB m is entry b * n_mb + m,
// as in a MotusField, whose mv[0], sad[0] and cost[0] may be given. Where only the larger modes are
// wanted the array may end behind the last block of the smallest of them: n_mb entries are enough
// for 16x16 alone.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_ME_REQUEST_H
#define MOTUS_ME_REQUEST_H

#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- References ---------------------------------------------------------------------------------

// A luma plane made ready to be searched: with a border and its half-sample planes (8.4.2.2.1);
// four times the plane's memory, where the estimator's backend works. Those of an estimator with
// MOTUS_SUBPEL_FULL have no half-sample planes and serve only its like. Counted; any number of
// estimators, one after the other or at the same time, may search one that is filled, if they have
// its size, backend and device.
typedef struct MotusMeReference MotusMeReference;

// Makes an empty reference for the pictures of `me`, which it outlives. *reference is NULL after an
// error: MOTUS_ERR_ARGUMENT, MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_reference_alloc(MotusMeReference **reference, MotusMe *me);

// Fills it from a plane of the configured size, the first time or anew; nothing is allocated.
// memory: where the plane lies. stream: of a plane in device memory, the cudaStream_t that makes
// it: the call returns at once, and the plane is free again in the order of that stream. With NULL
// the plane must be ready, and is free when the call returns. `me` lends its threads or its device.
// MOTUS_ERR_ARGUMENT; MOTUS_ERR_STATE: a request that searches it has not been received;
// MOTUS_ERR_UNSUPPORTED: device memory on the CPU; MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_reference_fill(MotusMeReference *reference, MotusMe *me,
                                              const MotusPlane *luma, MotusMemory memory,
                                              void *stream);

// The prediction of a block (8.4.2.2.1): the width x height samples (multiples of 4, 4..16) at (x,
// y) of the picture displaced by mv, in quarter samples (whole ones without half-sample planes), to
// dst, rows `stride` bytes apart (at least width). x and y within +-MOTUS_MAX_SIZE: what lies
// outside the picture repeats its edge. MOTUS_ERR_ARGUMENT; MOTUS_ERR_STATE: not filled;
// MOTUS_ERR_UNSUPPORTED: the reference is in device memory.
MOTUS_API MotusStatus motus_me_reference_block(const MotusMeReference *reference, int x, int y,
                                               MotusMv mv, int width, int height, uint8_t *dst,
                                               ptrdiff_t stride);

// Adds an owner and returns the same reference; never fails. NULL gives NULL. The count is not part
// of what const protects.
MOTUS_API MotusMeReference *motus_me_reference_ref(const MotusMeReference *reference);

// Lets go and sets *reference to NULL; accepts NULL and *reference == NULL. The last owner frees
// it. Requests own what they search until they are received.
MOTUS_API void motus_me_reference_unref(MotusMeReference **reference);

// ---- Centres ------------------------------------------------------------------------------------

#define MOTUS_ME_MAX_REACH 64 // samples

// Where to search. Small windows follow large motion when their centres are near: this is how our
// own encoder finds them.
typedef struct MotusMeCentres {
    size_t size;           // sizeof(MotusMeCentres): later versions add members at the end
    const MotusPlane *cur; // the picture that will be searched for, of the configured size
    MotusMemory memory;    // of cur
    const MotusMeReference *reference; // filled
    const MotusMv *previous; // per MB: vectors of the picture before, quarter samples (16x16 as a
                             // rule); NULL: none
    MotusMv *centre;         // per MB: gets the result; not `previous`
    MotusMemory mvs_memory;  // of previous and centre
    uint32_t lambda_q8;      // as in MotusMeHints, 0..MOTUS_MAX_LAMBDA_Q8
    int reach; // of the downscaled search, samples, a multiple of 4, 4..MOTUS_ME_MAX_REACH; 0: the
               // largest
    int limit_x, limit_y; // largest |component| of a centre, quarter samples, cut to whole samples;
                          // 0: MOTUS_MAX_CENTRE
    // The cudaStream_t that makes what lies in device memory and will use it. Where all of it does,
    // the call returns at once.
    void *stream;
} MotusMeCentres;

// For cur in reference, both in host memory: no previous vectors, lambda 0, the largest reach and
// limits.
MOTUS_API MotusMeCentres motus_me_centres_default(const MotusPlane *cur,
                                                  const MotusMeReference *reference,
                                                  MotusMv *centre);

// Chooses a window centre for each MB, a multiple of 4 in quarter samples: of zero, the previous
// vectors of the MB and its eight neighbours, their median over the picture, and the vectors around
// the best of an exhaustive search of both pictures scaled down 4:1, the one with the least J = SAD
// of the MB + cost of the vector against that median. Reads nothing that this picture's searches
// find. Where the call returns at once, the reference may be filled anew in the order of the stream
// alone. MOTUS_ERR_ARGUMENT; MOTUS_ERR_STATE: the reference is not filled; MOTUS_ERR_UNSUPPORTED:
// device memory on the CPU; MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_centres(MotusMe *me, const MotusMeCentres *predict);

// ---- Requests -----------------------------------------------------------------------------------

// What an MB of the source looks like, whatever it is searched in. Samples beyond the picture's
// edge are its edge samples repeated.
typedef struct MotusMbStats {
    // Of the 256 samples, and of the 64 of each 8x8 block in raster order; rounded to the nearest,
    // a half up.
    uint8_t mean[5];
    // Intra16x16PredMode (table 8-4) of least SATD, the lesser on a tie: 0 vertical, 1 horizontal,
    // 2 DC, 3 plane. Predicted from the source's own samples above and to the left, as far as there
    // are MBs; and that prediction's SAD, 0..65,280, and SATD, 0..130,560.
    uint8_t intra_mode;
    uint16_t intra_sad;
    uint32_t intra_satd;
    // Sums of (sample - mean)^2, the mean not rounded, the sum rounded up: 256 times the variance
    // of the MB, 64 times those of its 8x8 blocks.
    uint32_t energy[5];
} MotusMbStats;

// One reference to search, and what is wanted of it. Whether it lies before or after the picture
// makes no difference. Results that are NULL are not computed for their own sake, nor brought down;
// with mv, sad, satd and cost all NULL nothing is searched. Not written: blocks whose mode is not
// wanted, and MBs that are left out.
typedef struct MotusMeTarget {
    const MotusMeReference *reference; // filled
    const MotusMeHints *
        hints; // the structure in host memory, its arrays in the request's hints_memory; NULL: none
    // Per MB: vectors for skip_sad and skip_satd, those of P_Skip (8.4.1.1) as a rule; quarter
    // samples (whole ones without half-sample planes), |component| <= 8191. NULL: zero.
    const MotusMv *skip_mv;
    // Per block, after the search. SATD: sum over 4x4 blocks of (sum of |Hadamard coefficients|)
    // / 2. cost: J, which the search has made least: SAD with MOTUS_SUBPEL_FULL, else SATD, plus
    // (lambda_q8 * bits(mv - predictor)) >> 8.
    MotusMv *mv;    // the best vector, quarter samples
    uint16_t *sad;  // SAD at mv, 0..65,280
    uint32_t *satd; // SATD at mv, 0..130,560
    uint32_t *cost; // J at mv, 0..146,431
    // Per MB, of all 16x16 samples, without any vector cost.
    uint16_t *skip_sad;  // SAD at the vector of `skip_mv`, 0..65,280
    uint32_t *skip_satd; // SATD at it, 0..130,560
    uint16_t *zero_sad;  // SAD at vector zero, 0..65,280
} MotusMeTarget;

#define MOTUS_ME_MAX_TARGETS 32 // references of a request

// MBs [x, x + width) x [y, y + height), inside the picture.
typedef struct MotusMeRegion {
    int x, y, width, height;
} MotusMeRegion;

typedef struct MotusMeRequest {
    size_t size, target_size;    // sizeof(MotusMeRequest) and sizeof(MotusMeTarget): later versions
                                 // add members at the end of both
    const MotusPlane *cur;       // luma of the configured size
    const MotusMeTarget *target; // n_targets of them, 0..MOTUS_ME_MAX_TARGETS
    int n_targets;
    // Per MB: mask of 1 << MotusMode, of which those of the configuration are searched. Where none
    // is left the MB is left out, with all its results. NULL: all.
    const uint8_t *modes;
    MotusMeRegion region; // MBs outside are left out; all zero: none is
    MotusMbStats *stats;  // per MB; NULL: not wanted
    MotusMemory memory;   // of cur; host planes are best pinned (motus_host_alloc, motus/upload.h)
    // Of modes, skip and the arrays of hints. In device memory they are not checked: what is out of
    // range is clipped.
    MotusMemory hints_memory;
    MotusMemory results_memory; // of stats and all results of the targets
    // CUDA: the cudaStream_t that makes what lies in device memory and will use the results there;
    // it waits for them by itself. NULL: all is ready.
    void *stream;
    void *event; // CUDA: a cudaEvent_t of the caller's, recorded where motus_me_wait would not wait
                 // any more; NULL: none
    void *opaque; // handed out by motus_me_wait
} MotusMeRequest;

// All of cur in n_targets references, everything in host memory, no statistics.
MOTUS_API MotusMeRequest motus_me_request_default(const MotusPlane *cur,
                                                  const MotusMeTarget *target, int n_targets);

// Starts a request; what it points at directly is read before the call returns, planes, arrays and
// event must stay until it has been received. The CPU backend does the work here. Jobs
// (motus_me_submit) and requests wait in one queue. MOTUS_AGAIN: MOTUS_ME_IN_FLIGHT of them wait
// already. MOTUS_ERR_ARGUMENT; MOTUS_ERR_STATE: a reference is not filled; MOTUS_ERR_UNSUPPORTED:
// device memory or an event on the CPU; MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_request(MotusMe *me, const MotusMeRequest *request);

// Takes the oldest request or job, whose results are then complete; *opaque (which may be NULL)
// gets the request's, NULL for a job. Waits up to timeout_ms milliseconds: 0 asks only, a negative
// one waits as long as it takes. MOTUS_AGAIN: not there in that time. MOTUS_END: nothing is under
// way. MOTUS_ERR_ARGUMENT, MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_wait(MotusMe *me, void **opaque, int timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
