// Look-ahead: source pictures go in, in order; out come, `depth` pictures later, their types and
// the QP offsets of their MBs. It keeps costs, not pictures, and reads nothing that is coded. A
// closed GOP's plan, and where the next one begins, depend on its own pictures and those that
// follow alone.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_RATE_LOOKAHEAD_H
#define ENCODER_RATE_LOOKAHEAD_H

#include "encoder/rate/aq.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusLookaheadSettings {
    int mb_width, mb_height, threads;
    int depth;      // pictures known beyond the one that is planned, 0..MOTUS_MAX_LOOKAHEAD
    int keyint;     // most pictures of a GOP; 0: any number
    int min_keyint; // least pictures between a scene cut's IDR picture and the one before
    int scenecut;   // how readily a cut is seen, 0 (never) to 100
    MotusAqMode aq_mode;
    int aq_strength_q8; // 1/256
    int propagation_q8; // QPs an octave, 1/256; 0: none
    int64_t first;      // number of the first picture
} MotusLookaheadSettings;

// What is known of a picture before it is coded.
typedef struct MotusLookaheadPlan {
    int64_t number;       // of the picture in the stream
    int idr, forced;      // forced: because the caller said so
    int has_offsets;      // 0: they are all 0
    uint64_t cost, intra; // sums over MBs: as they would be coded, and all as intra
    uint64_t weighted;    // of cost, each MB's at its own step: cost * 2^(-offset / 6)
    int mean;             // of offsets, weighted by nothing
} MotusLookaheadPlan;

typedef struct MotusLookahead MotusLookahead;

enum {
    MOTUS_LOOKAHEAD_HOST = -1,
    MOTUS_LOOKAHEAD_BEGUN = 8, // pictures on a device that have begun and are not settled, at most
};

// On that CUDA device, or on the host's threads. MOTUS_ERR_MEMORY, and on a device MOTUS_ERR_CUDA,
// with words in *error (may be NULL). What is planned does not depend on where.
MotusStatus motus_lookahead_open(MotusLookahead **out, const MotusLookaheadSettings *settings,
                                 int device, MotusError *error);
void motus_lookahead_close(MotusLookahead **out); // accepts NULL inside

// Takes the next source picture's luma, which is read and not kept; NULL: there are no more. To be
// called while motus_lookahead_get says MOTUS_AGAIN. Returns whether it is an IDR picture. Pictures
// only on the host.
int motus_lookahead_put(MotusLookahead *look, const MotusPlane *luma, int force_idr);

// The same on a CUDA device, for a frame in host memory, or one made on the cudaStream_t `made_on`
// of a device; it has been read on return. *idr: whether it has to be an IDR picture, then whether
// it is one. After a failure nothing has changed.
MotusStatus motus_lookahead_put_cuda(MotusLookahead *look, const MotusFrame *frame, int on_device,
                                     void *made_on, int *idr, MotusError *error);

// The same without waiting: the luma of a frame on that device, which is there when the cudaEvent_t
// `filled` has come, and stays until the picture is settled. Its type is told by
// motus_lookahead_wait_type. After a failure nothing has changed, and nothing on the device waits
// for `filled` or reads luma. One thread may begin pictures (and end: motus_lookahead_put) while
// another settles and gets those that have begun before, which the two have to tell each other.
MotusStatus motus_lookahead_begin_cuda(MotusLookahead *look, const MotusPlane *luma, void *filled,
                                       int force_idr, MotusError *error);

// Waits for the oldest picture that is not settled. *idr: whether it is an IDR picture.
MotusStatus motus_lookahead_wait_type(MotusLookahead *look, int *idr, MotusError *error);

// The device, or MOTUS_LOOKAHEAD_HOST.
int motus_lookahead_device(const MotusLookahead *look);

// The frame that was put last, if it came from host memory and lies on that device now: to be read
// on *stream, until the next one is put. Else NULL.
const MotusFrame *motus_lookahead_frame(const MotusLookahead *look, int device, void **stream);

// Takes back the last put.
void motus_lookahead_undo(MotusLookahead *look);

// After the end: a part of the stream that begins at this picture follows. What waits has been
// planned.
void motus_lookahead_next_segment(MotusLookahead *look, int64_t first);

// Plans the next picture; offset[n_mb], 1/256 QP, is filled. MOTUS_AGAIN: more pictures first.
// MOTUS_END: there are none left. On a device MOTUS_ERR_CUDA, with words in *error (may be NULL).
MotusStatus motus_lookahead_get(MotusLookahead *look, MotusLookaheadPlan *plan, int16_t *offset,
                                MotusError *error);

// Costs of the pictures after the last one that was handed out, as far as they are known, nearest
// first; up to n. Returns how many. intra, where the picture is an IDR picture, else what it would
// cost; idr[i] says which.
int motus_lookahead_costs(const MotusLookahead *look, uint64_t *cost, uint8_t *idr, int n);

// Whether the last picture has been put, so that what motus_lookahead_costs tells is all that is
// left.
int motus_lookahead_ended(const MotusLookahead *look);

#ifdef __cplusplus
}
#endif
#endif
