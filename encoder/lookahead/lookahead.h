// Lookahead: source pictures go in, in display order; `depth` pictures later their types and the QP
// offsets of their MBs come out (AQ, mb-tree). It keeps costs, not pictures, and reads no coded
// data. The plan of a closed GOP depends only on its own pictures and on those that follow it.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LOOKAHEAD_LOOKAHEAD_H
#define ENCODER_LOOKAHEAD_LOOKAHEAD_H

#include "motus/encoder.h"
#include "yuv/frame_source.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusLookaheadSettings {
    int mb_width, mb_height;
    int threads;    // CPU threads
    int depth;      // pictures known beyond the one that is planned, 0..MOTUS_MAX_LOOKAHEAD
    int keyint;     // longest GOP in pictures; 0: no limit
    int min_keyint; // fewest pictures from an IDR picture to a scene cut's
    int scenecut;   // scene cut sensitivity, 0 (off) to 100
    MotusAqMode aq_mode;
    int aq_strength_q8; // 1/256
    int mb_tree_q8;     // mb-tree strength: QPs per octave, 1/256; 0: off
    int64_t first;      // number of the first picture
    int keep_aq;        // 1: motus_lookahead_aq is called, with AQ and mb-tree
    int b_span;         // longest mini-GOP in pictures, 2..MOTUS_B_SPAN; 0: plan.b stays 0
    int b_pyramid;      // 1: the middle one of two and more B pictures is a reference
    int weights;        // 1: P pictures may weight their references
} MotusLookaheadSettings;

// Returns the pictures that are known at most beyond the one that is planned.
int motus_lookahead_delay(const MotusLookaheadSettings *settings);

// Kinds of B pictures. Which of them are references is the GOP coders' choice.
typedef enum MotusPictureB { MOTUS_NOT_B, MOTUS_B, MOTUS_B_REFERENCE } MotusPictureB;

// Plan of a picture: everything that is known of it before it is coded.
typedef struct MotusLookaheadPlan {
    int64_t number;       // of the picture in the stream
    int idr, forced;      // forced: the caller asked for the IDR picture
    int has_offsets;      // 0: all offsets are 0
    uint64_t cost, intra; // sums of MB costs: as the picture's type has it, and all intra
    uint64_t weighted;    // sum of MB costs at each MB's quantizer step: cost * 2^(-offset / 6)
    int mean;             // mean of the offsets, 1/256 QP
    int b;                // MotusPictureB; the GOP coders' choice if b_span is 0
    int refreshed;        // 1: has a range of intra refresh; the GOP coders tell
} MotusLookaheadPlan;

typedef struct MotusLookahead MotusLookahead;

enum {
    MOTUS_LOOKAHEAD_HOST = -1,
    MOTUS_LOOKAHEAD_MAX_PENDING = 8, // pictures that have begun and have no type yet
};

// Opens a lookahead on a CUDA device, or on the CPU (MOTUS_LOOKAHEAD_HOST). Plans do not depend on
// the device. MOTUS_ERR_MEMORY, MOTUS_ERR_CUDA with CUDA's text in *error (may be NULL).
MotusStatus motus_lookahead_open(MotusLookahead **out, const MotusLookaheadSettings *settings,
                                 int device, MotusError *error);
void motus_lookahead_close(MotusLookahead **out); // accepts NULL inside

// Returns the device, or MOTUS_LOOKAHEAD_HOST.
int motus_lookahead_device(const MotusLookahead *look);

// True if motus_lookahead_begin may be called, too: else types come from motus_lookahead_put alone.
int motus_lookahead_is_asynchronous(const MotusLookahead *look);

// ---- Pictures in: motus_lookahead_get has returned MOTUS_AGAIN ----------------------------------

// Analyses the luma of the next picture and returns once the source has been read. A lookahead on
// the CPU takes host memory only. *idr: in, 1 asks for an IDR picture; out, 1 if it is one. After a
// failure nothing has changed.
MotusStatus motus_lookahead_put(MotusLookahead *look, const MotusFrameSource *source, int *idr,
                                MotusError *error);

// True if the last put uploaded its frame to `device`: *source becomes that copy, valid until the
// next put; else it stays as it is.
int motus_lookahead_uploaded(const MotusLookahead *look, int device, MotusFrameSource *source);

// Takes back the last put.
void motus_lookahead_undo(MotusLookahead *look);

// Begins the analysis of the next picture and returns immediately. luma lies on the lookahead's
// device, may be read once the cudaEvent_t `filled` has fired, and stays until
// motus_lookahead_wait_type. After a failure nothing has changed, and luma is no longer read. At
// most MOTUS_LOOKAHEAD_MAX_PENDING pictures may be pending.
// One thread may call begin while another calls wait_type, end and get.
MotusStatus motus_lookahead_begin(MotusLookahead *look, const MotusPlane *luma, void *filled,
                                  int force_idr, MotusError *error);

// Blocks until the type of the oldest pending picture is known. *idr: 1 if it is an IDR picture.
MotusStatus motus_lookahead_wait_type(MotusLookahead *look, int *idr, MotusError *error);

// Tells that no more pictures come.
void motus_lookahead_end(MotusLookahead *look);

// After the end, with no plan left: goes on with the segment of the stream that begins at picture
// `first`.
void motus_lookahead_next_segment(MotusLookahead *look, int64_t first);

// ---- Plans out ----------------------------------------------------------------------------------

// Plans the next picture and fills offset[n_mb] (may be NULL if all are 0), 1/256 QP. MOTUS_AGAIN:
// more pictures are needed. MOTUS_END: none are left. MOTUS_ERR_CUDA with CUDA's text in *error
// (may be NULL).
MotusStatus motus_lookahead_get(MotusLookahead *look, MotusLookaheadPlan *plan, int16_t *offset,
                                MotusError *error);

// Replaces offset[], mean and weighted of the picture that was planned last by those of AQ alone,
// as B pictures have them: no picture is predicted from them. Requires keep_aq.
void motus_lookahead_aq(const MotusLookahead *look, MotusLookaheadPlan *plan, int16_t *offset);

// Flags of a picture that follows the last plan.
enum {
    MOTUS_FUTURE_IDR = 1,
    MOTUS_FUTURE_P = 2, // ends a mini-GOP; B pictures, and those not decided about, have no flag
};

// Copies the costs and flags of up to n pictures that follow the last plan, nearest first, as far
// as they are known, and returns their number. cost[i] is the intra cost of an IDR picture. *ended:
// 1 if motus_lookahead_end was called, so that no others are left.
int motus_lookahead_costs(const MotusLookahead *look, uint64_t *cost, uint8_t *flags, int n,
                          int *ended);

#ifdef __cplusplus
}
#endif
#endif
