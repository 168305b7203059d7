// Motion estimation: for each macroblock (MB, 16x16 luma) the best MV, its SAD and its cost for
// each of the 41 blocks of the seven H.264 partition modes. Exhaustive whole-sample search, then
// half- and quarter-sample refinement.
//
//     MotusMeConfig config = motus_me_config_default(1920, 1080);
//     MotusMe *me;
//     MotusField *field;
//     motus_me_open(&me, &config);
//     motus_field_alloc(&field, 1920, 1080);
//     while (...) {
//         motus_me_search(me, &cur->plane[0], &ref->plane[0], NULL, field);
//         use(field->mv[block][mb]);
//     }
//     motus_field_free(&field);
//     motus_me_close(&me);
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

// ---- Blocks and vectors -------------------------------------------------------------------------

// Indices of the 41 blocks of an MB: the first block of each mode, whose blocks follow in raster
// order of their top-left corners. Sizes are width x height (tables 7-13 and 7-17).
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

// Partition modes in the order above; masks are 1 << mode.
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

// Position and size of a block inside its MB, in luma samples, and its mode.
typedef struct MotusBlock {
    uint8_t x, y, width, height, mode;
} MotusBlock;

// Table of the blocks, static storage.
MOTUS_API extern const MotusBlock motus_blocks[MOTUS_BLOCKS];

// Motion vector (MV) in quarter luma samples, from the current block to its match:
// ref(x + mv.x / 4, y + mv.y / 4).
typedef struct MotusMv {
    int16_t x, y;
} MotusMv;

// Precision of MVs; samples between whole ones by 8.4.2.2.1.
typedef enum MotusSubpel {
    MOTUS_SUBPEL_FULL, // whole samples: multiples of 4
    MOTUS_SUBPEL_HALF, // multiples of 2
    MOTUS_SUBPEL_QUARTER,
    // Quarter samples, from the best whole ones of all blocks of an MB: an MV may depend on which
    // other blocks are searched. Not in the encoder.
    MOTUS_SUBPEL_BEST,
} MotusSubpel;

// ---- Motion estimator ---------------------------------------------------------------------------

#define MOTUS_MAX_RANGE 128 // largest search range R, samples
// Largest |component| of a search centre in quarter samples: keeps MVs within +-2048 samples (A.3).
#define MOTUS_MAX_CENTRE (1880 * 4)
#define MOTUS_MAX_LAMBDA_Q8 65535

typedef struct MotusMeConfig {
    int width, height; // luma samples, 1..MOTUS_MAX_SIZE; need not be multiples of 16
    int range; // R, 1..MOTUS_MAX_RANGE: all (2R + 1)^2 whole-sample MVs around the centre are tried
    MotusSubpel subpel;
    uint32_t modes; // mask of 1 << MotusMode; field entries of other modes are not written
    int threads;    // 0 = as many as OpenMP offers; results do not depend on it
    MotusBackend backend;
    MotusError *error; // gets the text of an error of motus_me_open; or NULL
    int device;        // CUDA device number; -1 = the current one
} MotusMeConfig;

// Returns R = 16, quarter samples, all modes, all threads, backend AUTO, the current device.
MOTUS_API MotusMeConfig motus_me_config_default(int width, int height);

// Hints of the caller, an entry per MB in raster order. Any pointer may be NULL.
// Cost J = distortion + ((lambda_q8 * bits(mv - predictor)) >> 8), where bits is the length of the
// two se(v) codes (9.1) of the difference in quarter samples.
typedef struct MotusMeHints {
    // Search centre: quarter samples, multiples of 4, |component| <= MOTUS_MAX_CENTRE; NULL = zero.
    const MotusMv *centre;
    const MotusMv *predictor; // MV predictor, |component| <= 8191; NULL = zero
    const uint16_t *lambda;   // lambda_q8 of each MB; NULL = lambda_q8 below for all
    uint32_t lambda_q8;       // 0..MOTUS_MAX_LAMBDA_Q8; 0 = cost without bits
} MotusMeHints;

// Motion field: arrays [block][MB], MBs in raster order. On equal costs the first MV in raster
// order of (dy, dx) wins; in refinement the centre wins, then its neighbours in raster order. With
// MOTUS_SUBPEL_BEST the MV that is tried first wins.
typedef struct MotusField {
    int mb_width, mb_height, n_mb;
    MotusMv *mv[MOTUS_BLOCKS];
    uint16_t *sad[MOTUS_BLOCKS];  // SAD at mv, at most 65,280
    uint32_t *cost[MOTUS_BLOCKS]; // J at mv; distortion is SAD with MOTUS_SUBPEL_FULL, else SATD
} MotusField;

// Allocates a zeroed field for pictures of width x height samples. Free it with motus_field_free,
// which accepts NULL and *field == NULL. MOTUS_ERR_ARGUMENT, MOTUS_ERR_MEMORY.
MOTUS_API MotusStatus motus_field_alloc(MotusField **field, int width, int height);
MOTUS_API void motus_field_free(MotusField **field);

// Memory that samples or results lie in.
typedef enum MotusMemory {
    MOTUS_MEMORY_HOST,
    MOTUS_MEMORY_DEVICE, // CUDA device memory; needs the CUDA backend
} MotusMemory;

typedef struct MotusMe MotusMe;

// Opens a motion estimator. With AUTO, a device that cannot be opened leaves the work to the CPU:
// motus_me_backend tells, motus_me_error why. The backend never changes later: after a device
// failure all calls fail.
// MOTUS_ERR_ARGUMENT, MOTUS_ERR_MEMORY, MOTUS_ERR_NO_DEVICE, MOTUS_ERR_UNSUPPORTED, MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_open(MotusMe **me, const MotusMeConfig *config);

// Searches `cur` in `ref` and fills `field`, which motus_field_alloc made. Both are luma planes of
// the configured size in host memory, read before the call returns. Beyond a plane its edge samples
// repeat (8.4.2.2.1), also in partial MBs at the right and bottom. One call at a time per
// estimator. Equals a request (motus/me_request.h) for one reference, and blocks until it is done.
// MOTUS_ERR_ARGUMENT, MOTUS_ERR_STATE (requests are pending), MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA.
MOTUS_API MotusStatus motus_me_search(MotusMe *me, const MotusPlane *cur, const MotusPlane *ref,
                                      const MotusMeHints *hints, MotusField *field);

// Returns the last call's error if its arguments were refused: its text names the member and its
// range. Else the device error that makes every call fail, or the one for which AUTO chose the CPU,
// with CUDA's text; else MOTUS_OK and no text.
MOTUS_API const MotusError *motus_me_error(const MotusMe *me);

// Returns the backend that runs, never AUTO.
MOTUS_API MotusBackend motus_me_backend(const MotusMe *me);

// Closes the estimator and sets *me to NULL; accepts NULL and *me == NULL.
MOTUS_API void motus_me_close(MotusMe **me);

#ifdef __cplusplus
}
#endif
#endif
