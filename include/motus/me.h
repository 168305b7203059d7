// Motion estimation: for every macroblock (MB, 16x16 luma) the best vector, its SAD and its cost
// for each of the 41 blocks of the seven H.264 partition modes. Exhaustive integer search, then
// half- and quarter-sample refinement.
//
//     MotusMeConfig config = motus_me_config_default(1920, 1080);
//     MotusMe *me; MotusField *field;
//     motus_me_open(&me, &config);
//     motus_field_alloc(&field, 1920, 1080);
//     while (...) motus_me_search(me, &cur->plane[0], &ref->plane[0], NULL, field);   //
//     field->mv[block][mb] motus_field_free(&field); motus_me_close(&me);
// SPDX-License-Identifier: BSD-2-Clause
#ifndef MOTUS_ME_H
#define MOTUS_ME_H

#include <stddef.h>
#include <stdint.h>

#include "motus/backend.h"
#include "motus/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

// The 41 blocks of an MB, in this order everywhere; inside a mode in raster order of the block's
// top-left corner. Sizes are width x height.
enum {
    MOTUS_BLOCK_16x16 = 0, // 1 block
    MOTUS_BLOCK_16x8 = 1,  // 2
    MOTUS_BLOCK_8x16 = 3,  // 2
    MOTUS_BLOCK_8x8 = 5,   // 4
    MOTUS_BLOCK_8x4 = 9,   // 8
    MOTUS_BLOCK_4x8 = 17,  // 8
    MOTUS_BLOCK_4x4 = 25,  // 16
    MOTUS_BLOCKS = 41,
};

// The seven modes, numbered in the order above; masks are 1 << mode.
typedef enum MotusMode {
    MOTUS_MODE_16x16,
    MOTUS_MODE_16x8,
    MOTUS_MODE_8x16,
    MOTUS_MODE_8x8,
    MOTUS_MODE_8x4,
    MOTUS_MODE_4x8,
    MOTUS_MODE_4x4,
    MOTUS_MODES,
} MotusMode;
#define MOTUS_MODES_ALL 0x7Fu

// Place and size of a block inside its MB, in luma samples, and the mode it belongs to.
typedef struct MotusBlock {
    uint8_t x, y, width, height, mode;
} MotusBlock;
MOTUS_API extern const MotusBlock motus_blocks[MOTUS_BLOCKS];

// A vector in quarter samples, from the current block to its match: sample(ref, x + mv.x / 4, y +
// mv.y / 4).
typedef struct MotusMv {
    int16_t x, y;
} MotusMv;

typedef enum MotusSubpel {
    MOTUS_SUBPEL_FULL,    // integer vectors (multiples of 4)
    MOTUS_SUBPEL_HALF,    // multiples of 2
    MOTUS_SUBPEL_QUARTER, // H.264 8.4.2.2.1, luma
} MotusSubpel;

#define MOTUS_MAX_RANGE 128 // largest R
// Largest |component| of a search centre, quarter samples: keeps every vector within H.264's
// +-2048.
#define MOTUS_MAX_CENTRE (1880 * 4)
#define MOTUS_MAX_LAMBDA_Q8 65535

typedef struct MotusMeConfig {
    int width, height; // luma samples, 1..MOTUS_MAX_SIZE; need not be multiples of 16
    int range;         // R, 1..128: all (2R+1)^2 integer displacements around the centre are tried
    MotusSubpel subpel;
    uint32_t modes; // mask of 1 << MotusMode: blocks of other modes are left out of the field
                    // (their entries are not written)
    int threads;    // 0 = as many as OpenMP offers; the result does not depend on it
    MotusBackend backend;
    MotusError *error; // where motus_me_open leaves the words of a CUDA failure, or NULL
    int device;        // CUDA's number of the device; -1: the current one
} MotusMeConfig;

// R = 16, quarter samples, all modes, all threads, backend AUTO, the current device.
MOTUS_API MotusMeConfig motus_me_config_default(int width, int height);

// Optional knowledge of the caller, per MB in raster order. Any pointer may be NULL.
// Cost J = SAD + ((lambda_q8 * bits(mv - predictor)) >> 8), bits = length of the two se(v) codes
// (9.1) of the difference in quarter samples.
typedef struct MotusMeHints {
    const MotusMv *centre;    // window centre, quarter samples, multiples of 4, |component| <=
                              // MOTUS_MAX_CENTRE; NULL = zero
    const MotusMv *predictor; // what bits() is relative to; |component| <= 8191; NULL = zero
    const uint16_t *lambda;   // lambda_q8 of each MB; NULL = lambda_q8 below for all
    uint32_t lambda_q8;       // 0..MOTUS_MAX_LAMBDA_Q8; 0 gives plain SAD
} MotusMeHints;

// A motion field: structure of arrays, one entry per block and MB (raster order of MBs).
// `sad` is the SAD at `mv` (at most 65,280); `cost` is J at `mv`: over SAD for MOTUS_SUBPEL_FULL,
// over SATD (4x4 Hadamard, halved) after refinement. Ties: the point that comes first in raster
// order of (dy, dx) wins; the centre wins over its sub-pel neighbours, those in raster order.
typedef struct MotusField {
    int mb_width, mb_height, n_mb;
    MotusMv *mv[MOTUS_BLOCKS];
    uint16_t *sad[MOTUS_BLOCKS];
    uint32_t *cost[MOTUS_BLOCKS];
} MotusField;

// Allocates a zeroed field for pictures of this size. Free with motus_field_free (accepts NULL and
// *field == NULL).
MOTUS_API MotusStatus motus_field_alloc(MotusField **field, int width, int height);
MOTUS_API void motus_field_free(MotusField **field);

typedef struct MotusMe MotusMe;

// Opens a motion estimator. MOTUS_ERR_ARGUMENT, _MEMORY, _NO_DEVICE, _UNSUPPORTED, _CUDA. With AUTO
// a device that cannot be opened leaves the work to the CPU: motus_me_backend tells, and
// motus_me_error why. Later the backend never changes: a device that fails is an error, of this
// call and all that follow.
MOTUS_API MotusStatus motus_me_open(MotusMe **me, const MotusMeConfig *config);

// Searches `cur` in `ref` (luma planes of the configured size; only read, not kept) and fills
// `field`. Samples outside a plane are its edge sample repeated, to any distance (8.4.2.2.1);
// partial MBs at the right and bottom are filled up the same way. One call at a time per context;
// contexts are independent. MOTUS_ERR_ARGUMENT, MOTUS_ERR_STATE (jobs wait to be received),
// MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_search(MotusMe *me, const MotusPlane *cur, const MotusPlane *ref,
                                      const MotusMeHints *hints, MotusField *field);

// ---- Several pictures in flight -----------------------------------------------------------------

typedef enum MotusMemory {
    MOTUS_MEMORY_HOST,
    MOTUS_MEMORY_DEVICE, // CUDA device memory; needs the CUDA backend
} MotusMemory;

#define MOTUS_ME_IN_FLIGHT 3 // jobs that may wait to be received

// One picture to search. Planes, hints, and field must stay valid and unchanged until the job has
// been received.
typedef struct MotusMeJob {
    const MotusPlane *cur;
    const MotusPlane
        *ref; // NULL: the cur of the job submitted before, which need not be given again
    // Of both planes. Host planes are best pinned (motus_host_alloc, motus/upload.h): only then do
    // uploads overlap.
    MotusMemory memory;
    void *stream; // device planes: the cudaStream_t that made them and will use the results (NULL:
                  // they are ready)
    const MotusMeHints *hints; // in host memory; NULL: none
    MotusField
        *field; // gets the results, in host memory; NULL where they are to stay on the device:
    MotusMv *device_mv; // [MOTUS_BLOCKS][n_mb] each, all three or none
    uint16_t *device_sad;
    uint32_t *device_cost;
} MotusMeJob;

// Starts a job. With the CUDA backend upload, search and download of several jobs overlap; the CPU
// backend does the work here. MOTUS_AGAIN: MOTUS_ME_IN_FLIGHT jobs wait already, receive one first.
// MOTUS_ERR_ARGUMENT, MOTUS_ERR_STATE (the first job has no ref), MOTUS_ERR_UNSUPPORTED (device
// memory on the CPU), MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_submit(MotusMe *me, const MotusMeJob *job);

// Waits for the oldest job and hands out its field (NULL where the results stay on the device;
// field may be NULL). MOTUS_END: no job waits. A call that does not wait as long as it takes, and
// what encoders need beside a search: motus/me_request.h.
MOTUS_API MotusStatus motus_me_receive(MotusMe *me, MotusField **field);

// What failed on the device, in CUDA's own words: since when every call fails, or why AUTO took the
// CPU at the opening. status is MOTUS_OK and text empty if nothing did.
MOTUS_API const MotusError *motus_me_error(const MotusMe *me);

// The backend that runs (never AUTO).
MOTUS_API MotusBackend motus_me_backend(const MotusMe *me);

// Closes and sets *me to NULL; accepts NULL and *me == NULL.
MOTUS_API void motus_me_close(MotusMe **me);

#ifdef __cplusplus
}
#endif
#endif
