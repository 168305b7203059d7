// Motion estimation for encoders: references are prepared once and searched many times; a request
// searches several of them for one picture, per macroblock (MB, 16x16 luma) and only for the
// results that are wanted. Searches equal those of motus/me.h bit for bit.
//
//     MotusMeReference *ref[2]; // the previous and the next picture in display order
//     for (int i = 0; i < 2; i++) {
//         motus_me_reference_alloc(&ref[i], me);
//         motus_me_reference_fill(ref[i], me, &recon[i]->plane[0], MOTUS_MEMORY_HOST, NULL);
//     }
//     MotusMeTarget target[2] = {
//         {.reference = ref[0], .hints = &hints[0], .mv = mv[0], .cost = cost[0]},
//         {.reference = ref[1], .hints = &hints[1], .mv = mv[1], .cost = cost[1]}};
//     MotusMeRequest request = motus_me_request_default(&cur->plane[0], target, 2);
//     motus_me_request(me, &request);
//     motus_me_wait(me, NULL, -1); // mv[i][block * n_mb + mb], cost[i][block * n_mb + mb]
//
// Arrays "per MB" have n_mb = ((width + 15) / 16) * ((height + 15) / 16) entries in raster order.
// Arrays "per block" have [MOTUS_BLOCKS][n_mb] entries, as mv[0], sad[0] and cost[0] of a
// MotusField. They may end after the last block of the smallest mode wanted: n_mb entries for 16x16
// alone.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_ME_REQUEST_H
#define MOTUS_ME_REQUEST_H

#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- References ---------------------------------------------------------------------------------

// Luma plane prepared for searches: with a border and half-sample planes (8.4.2.2.1), four times
// the plane's memory, on the estimator's backend. Reference counted. Estimators of the same size,
// backend and device may search it at the same time. One made for MOTUS_SUBPEL_FULL has no
// half-sample planes and serves such estimators only.
typedef struct MotusMeReference MotusMeReference;

// Allocates an empty reference for pictures of `me`; it may outlive `me`. *reference is NULL after
// an error: MOTUS_ERR_ARGUMENT, MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_reference_alloc(MotusMeReference **reference, MotusMe *me);

// Fills the reference from a plane of the configured size, on the threads or the device of `me`. It
// may be filled again. `stream` is the cudaStream_t that makes a plane in device memory: the call
// returns immediately, and the plane may be overwritten in stream order. With stream NULL the plane
// must be complete, and may be overwritten after the call.
// MOTUS_ERR_ARGUMENT, MOTUS_ERR_STATE (a pending request searches or keeps it),
// MOTUS_ERR_UNSUPPORTED (device memory on the CPU), MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_reference_fill(MotusMeReference *reference, MotusMe *me,
                                              const MotusPlane *luma, MotusMemory memory,
                                              void *stream);

// Predicts a block (8.4.2.2.1): writes the width x height samples (multiples of 4, 4..16) at (x, y)
// displaced by mv to dst, rows `stride` bytes apart. x and y lie within +-MOTUS_MAX_SIZE; edges
// repeat. mv is in quarter samples, whole ones without half-sample planes.
// MOTUS_ERR_ARGUMENT, MOTUS_ERR_STATE (not filled), MOTUS_ERR_UNSUPPORTED (device memory).
MOTUS_API MotusStatus motus_me_reference_block(const MotusMeReference *reference, int x, int y,
                                               MotusMv mv, int width, int height, uint8_t *dst,
                                               ptrdiff_t stride);

// Adds a reference count and returns the reference; accepts NULL, never fails.
MOTUS_API MotusMeReference *motus_me_reference_ref(const MotusMeReference *reference);

// Drops a reference count and sets *reference to NULL; accepts NULL and *reference == NULL. The
// last one frees it. Requests hold what they search and keep until they are received.
MOTUS_API void motus_me_reference_unref(MotusMeReference **reference);

// ---- Search centres -----------------------------------------------------------------------------

#define MOTUS_ME_MAX_REACH 64 // samples

// Parameters of motus_me_centres. Small search windows follow large motion if their centres do.
typedef struct MotusMeCentres {
    size_t size;           // sizeof(MotusMeCentres): later versions add members at the end
    const MotusPlane *cur; // luma of the configured size
    MotusMemory memory;    // of cur
    const MotusMeReference *reference; // filled
    const MotusMv *previous; // per MB: MVs of the previous picture, usually 16x16; NULL = none
    MotusMv *centre;         // per MB: result, multiples of 4 in quarter samples; not `previous`
    MotusMemory mvs_memory;  // of previous and centre
    uint32_t lambda_q8;      // as in MotusMeHints, 0..MOTUS_MAX_LAMBDA_Q8
    // Range of the downscaled search in full-size samples, a multiple of 4, 4..MOTUS_ME_MAX_REACH;
    // 0 = the largest.
    int reach;
    // Largest |component| of a centre in quarter samples, rounded down to whole ones; 0 =
    // MOTUS_MAX_CENTRE.
    int limit_x, limit_y;
    // cudaStream_t that makes what lies in device memory and will use it. The call returns
    // immediately if all of it does.
    void *stream;
} MotusMeCentres;

// Returns parameters for cur and reference in host memory: no previous MVs, lambda 0, the largest
// reach and limits.
MOTUS_API MotusMeCentres motus_me_centres_default(const MotusPlane *cur,
                                                  const MotusMeReference *reference,
                                                  MotusMv *centre);

// Chooses the search centre of each MB by least J = SAD + lambda * bits against the median of
// `previous`. Candidates: zero, that median, the previous MVs of the MB and its eight neighbours,
// and MVs around the best of an exhaustive search of both pictures scaled down 4:1. Results of this
// picture's searches are not read. If the call returns immediately, the reference may be filled
// again only in the order of the stream.
// MOTUS_ERR_ARGUMENT, MOTUS_ERR_STATE (reference not filled), MOTUS_ERR_UNSUPPORTED (device memory
// on the CPU), MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_centres(MotusMe *me, const MotusMeCentres *centres);

// ---- Requests -----------------------------------------------------------------------------------

// Statistics of a source MB; samples beyond the picture are its repeated edge samples. Arrays: the
// MB, then its 8x8 blocks in raster order.
typedef struct MotusMbStats {
    uint8_t mean[5]; // rounded to nearest, a half up
    // Intra16x16PredMode (table 8-4) of least SATD, the lowest on a tie, predicted from the source
    // samples above and to the left.
    uint8_t intra_mode;
    uint16_t intra_sad;  // SAD of that prediction, 0..65,280
    uint32_t intra_satd; // SATD of that prediction, 0..130,560
    // Sums of (sample - exact mean)^2, rounded up: 256 times the MB's variance, 64 times a block's.
    uint32_t energy[5];
} MotusMbStats;

// One reference to search, before or after the picture, and the results wanted. NULL results are
// not downloaded; with mv, sad, satd and cost all NULL nothing is searched. Entries of modes that
// are not wanted, and of MBs that are left out, are not written.
typedef struct MotusMeTarget {
    const MotusMeReference *reference; // filled
    const MotusMeHints *hints; // host memory, its arrays in the request's hints_memory; NULL = none
    // Per MB: MVs for skip_sad and skip_satd, usually P_Skip's (8.4.1.1); quarter samples, whole
    // ones without half-sample planes, |component| <= 8191. NULL = zero.
    const MotusMv *skip_mv;
    // Per block, after the search. SATD: half the sum of |Hadamard coefficients| of 4x4 blocks.
    MotusMv *mv;    // best MV, quarter samples
    uint16_t *sad;  // SAD at mv, 0..65,280
    uint32_t *satd; // SATD at mv, 0..130,560
    uint32_t *cost; // J at mv, 0..146,431: SAD with MOTUS_SUBPEL_FULL, else SATD, plus MV bits
    // Per MB: 16x16, without MV bits.
    uint16_t *skip_sad;  // SAD at skip_mv, 0..65,280
    uint32_t *skip_satd; // SATD at skip_mv, 0..130,560
    uint16_t *zero_sad;  // SAD at MV zero, 0..65,280
} MotusMeTarget;

#define MOTUS_ME_MAX_TARGETS 32 // references of a request

// MBs [x, x + width) x [y, y + height), inside the picture.
typedef struct MotusMeRegion {
    int x, y, width, height;
} MotusMeRegion;

// Searches of one picture.
typedef struct MotusMeRequest {
    // sizeof(MotusMeRequest), sizeof(MotusMeTarget): later versions add members at the end of both.
    size_t size, target_size;
    const MotusPlane *cur;       // luma of the configured size
    const MotusMeTarget *target; // n_targets of them
    int n_targets;               // 0..MOTUS_ME_MAX_TARGETS
    // Per MB: mask of 1 << MotusMode; only modes of the configuration are searched. An MB without
    // modes is left out, with all its results. NULL = all.
    const uint8_t *modes;
    MotusMeRegion region; // MBs outside are left out; all zero = the whole picture
    MotusMbStats *stats;  // per MB; NULL = not wanted
    MotusMemory memory;   // of cur; host planes are best pinned (motus_host_alloc)
    // Memory of modes, skip_mv and the arrays of hints. In device memory they are not checked;
    // values out of range are clipped.
    MotusMemory hints_memory;
    MotusMemory results_memory; // of stats and the targets' results
    // CUDA: the cudaStream_t that makes what lies in device memory and will use the results there.
    // It waits for them on the device. NULL = all input is complete.
    void *stream;
    void *event;  // CUDA: the caller's cudaEvent_t, recorded when the results are complete; or NULL
    void *opaque; // passed on to motus_me_wait
    // Reference to fill from cur as it lies on the device, which uploads it once; or NULL. The next
    // request may search it at once. Not a target's; held until the request is received.
    MotusMeReference *keep;
} MotusMeRequest;

// Returns a request for all of cur in n_targets references, in host memory, without statistics.
MOTUS_API MotusMeRequest motus_me_request_default(const MotusPlane *cur,
                                                  const MotusMeTarget *target, int n_targets);

#define MOTUS_ME_IN_FLIGHT 4 // largest number of pending requests

// Starts a request. Structures are read before the call returns; planes, arrays and the event must
// stay until it has been received. With CUDA, upload, search and download of several requests
// overlap; the CPU backend searches before the call returns.
// MOTUS_AGAIN: MOTUS_ME_IN_FLIGHT of them are pending. MOTUS_ERR_ARGUMENT, MOTUS_ERR_STATE (a
// reference is not filled; a pending request searches or keeps `keep`), MOTUS_ERR_UNSUPPORTED
// (device memory or an event on the CPU), MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_request(MotusMe *me, const MotusMeRequest *request);

// Receives the oldest request, whose results are then complete. Blocks up to timeout_ms
// milliseconds: 0 not at all, below 0 without limit. *opaque (may be NULL) gets the request's.
// MOTUS_AGAIN: not yet. MOTUS_END: nothing is pending. MOTUS_ERR_ARGUMENT, MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_wait(MotusMe *me, void **opaque, int timeout_ms);

#ifdef __cplusplus
}
#endif
#endif
