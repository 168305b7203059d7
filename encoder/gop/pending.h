// Pending pictures: those between motus_encoder_send and motus_encoder_receive. The queue has them
// in stream order; those whose place in it is not known yet are held before it (mini_gop.h).
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_PENDING_H
#define ENCODER_GOP_PENDING_H

#include "encoder/gop/picture_plan.h"
#include "encoder/picture/executor.h"

// A picture passes the states in this order. It may skip some, and none is entered twice.
// motus_gop_coders_send chooses the first one; the functions behind the states enter the others.
// Pictures of the queue have a type and an executor.
typedef enum MotusPendingState {
    MOTUS_PENDING_TYPE,   // its type is unknown: the lookahead runs on a device
    MOTUS_PENDING_PLAN,   // has no plan: motus_gop_coders_set_type
    MOTUS_PENDING_READY,  // may be coded: motus_gop_coders_planned
    MOTUS_PENDING_CODING, // between begin() and finish() of its executor: begin_picture
    MOTUS_PENDING_DONE,   // has its packet, or its error: retire, motus_gop_coders_lose
    MOTUS_PENDING_STATES,
} MotusPendingState;

typedef struct MotusPendingPicture {
    struct MotusPendingPicture *next;      // in stream order; in display order while it is held
    struct MotusPendingPicture *next_plan; // in display order, while it has no plan
    struct MotusPendingPicture *next_gop;  // of a GOP's last picture: the GOP that its coder has
                                           // next; NULL: none yet
    MotusPendingState state;
    int held;          // not in the queue yet
    int ends_mini_gop; // with b_adapt, once it is planned
    int64_t index;     // counts pictures of the queue, without gaps
    int force_idr;     // the caller wants an IDR picture
    MotusPictureParams params;
    MotusPicturePlan *plan;
    int64_t pts, dts, duration;
    void *opaque;
    MotusFrame *whole, *visible; // source in host memory: whole MBs, and their visible part; NULL
                                 // if only a device has it
    struct MotusExecutor *executor; // codes its GOP
    MotusFrameSlot *slot;           // of the executor
    int threads;                    // CPU threads it is being coded with
    MotusPacket *packet;
    MotusError error;
} MotusPendingPicture;

typedef struct MotusPendingQueue {
    MotusPendingPicture *first, *last;
    MotusPendingPicture *oldest[MOTUS_PENDING_DONE]; // [s]: the oldest picture in state s or before
    int64_t n_queued;                                // pictures ever appended
} MotusPendingQueue;

// Allocates a picture whose source is not there yet; params: checked. MOTUS_ERR_MEMORY.
MotusStatus motus_pending_alloc(MotusPendingPicture **picture, const MotusStream *stream,
                                const MotusFrameParams *params);
void motus_pending_free(MotusPendingPicture *picture); // its slot is not touched; accepts NULL

// Appends a picture in the state that it has.
void motus_pending_append(MotusPendingQueue *queue, MotusPendingPicture *picture);

// Moves a picture of the queue to a later state.
void motus_pending_advance(MotusPendingQueue *queue, MotusPendingPicture *picture,
                           MotusPendingState state);

#endif
