// All GOP coders of a stream. Frames go in, in display order; closed GOPs are dealt to the coders;
// packets come out in stream order. Coders are opened as GOPs arrive.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_GOP_CODERS_H
#define ENCODER_GOP_GOP_CODERS_H

#include <pthread.h>

#include "encoder/gop/intake.h"
#include "encoder/gop/mini_gop.h"
#include "encoder/gop/pending.h"
#include "encoder/lookahead/lookahead.h"
#include "encoder/weights/weights.h"

// Codes one closed GOP at a time, picture after picture, on a thread of its own. The coders of a
// device, or of the CPU, form an executor: they share its frame slots, and the first idle one takes
// the next GOP.
typedef struct MotusGopCoders MotusGopCoders;

typedef struct MotusGopCoder {
    MotusGopCoders *coders;
    struct MotusExecutor *executor;
    pthread_t thread;
    int has_thread;
    // Members of the thread that opens the coder, then of the one that is in a step.
    void *coder; // of MotusExecutorOps
    // Frame slots that came with the coder, and outlive it; their memory on a device.
    MotusFrameSlot *slot;
    void *slots; // of MotusExecutorOps
    MotusRate rate;
    MotusWeightFinder *weights; // with weightp
    // Under the lock.
    pthread_cond_t wake;         // there may be something to do
    MotusPendingPicture *first;  // oldest picture of its GOPs that is not done
    MotusPendingPicture *next;   // oldest one that has not begun; NULL: none
    MotusPendingPicture *newest; // the one that has begun last, if any is not done
    int begun;                   // pictures from first to next
    int is_working;              // 1: a thread is in a step
    int opened;                  // 1: the opening has ended, with `error`
    MotusError error;
} MotusGopCoder;

typedef struct MotusExecutor {
    int device;    // CUDA's number; -1: the CPU
    void *context; // of the thread that opened the encoder (motus_device_context)
    void *shared;  // of its coders (MotusExecutorOps)
    // Under the lock.
    int max_coders; // coders it may have
    int coders;     // coders whose opening has begun
    int failed;     // 1: a coder could not be opened, so there will be no more
    int n_gops;     // GOPs so far
    int n_pictures; // pictures of the queue that are not done
    MotusFrameSlot *free_slots;
    MotusPendingPicture *untaken; // first picture of the oldest GOP without a coder; NULL: none
    MotusGopCoder *newest;        // has the newest GOP; used if `untaken` is NULL
} MotusExecutor;

struct MotusGopCoders {
    const MotusStream *stream;
    const MotusExecutorOps *ops;
    int threads;
    int n;               // coders in all, at most
    int slots_per_coder; // pictures that may be pending for each coder, on average
    int depth;           // pictures of a coder that may have begun
    int n_devices;       // listed devices
    int per_device;      // coders that share one, at most
    int n_executors;     // devices that have coders: coder k belongs to executor k % n_executors
    // The sender's alone.
    int begins;         // the next frame begins the stream, or a segment of it
    uint32_t since_idr; // frames since the last IDR picture, with fixed QP
    MotusIntake intake;
    pthread_mutex_t lock;
    pthread_cond_t done; // a picture is done, or a coder is open
    // Under the lock.
    MotusPendingQueue pending;
    MotusMiniGop mini_gop;                           // frames before the queue
    MotusPendingPicture *unplanned, *last_unplanned; // without a plan, in display order
    uint32_t idr_pic_id;                             // of the next picture to be queued
    MotusExecutor *current;                          // has the newest GOP
    int lookahead_jobs; // pending ones, which may plan the oldest picture
    int helpers;        // calling threads that work for coder 0; its own thread rests
    int opening;        // coders that are being opened
    int active;         // coders that have pictures
    int busy_threads;   // CPU threads that code pictures
    int closing;
    MotusError lost;    // the lookahead failed: later pictures get no plan
    MotusError failure; // of the first picture that could not be coded
    MotusExecutor executor[MOTUS_MAX_GOP_CODERS];
    MotusGopCoder coder[MOTUS_MAX_GOP_CODERS];
};

// Opens the first coder of each device. MOTUS_ERR_MEMORY, _CUDA, _NO_DEVICE, _UNSUPPORTED.
MotusStatus motus_gop_coders_open(MotusGopCoders **out, const MotusStream *stream,
                                  MotusBackend backend, MotusError *error);
void motus_gop_coders_close(MotusGopCoders **out); // drops pending pictures; accepts NULL inside

int motus_gop_coders_count(MotusGopCoders *coders); // at most; blocks while some are opened

// Queues a picture with its frame, and owns the picture from then on. Blocks while all frame slots
// are taken. The frame is the caller's again on return, or in stream order if it is on a device.
// `look` (NULL: fixed QP) tells the picture's type now, or analyses the picture on the device and
// has its type set later. An error of this frame alone changes nothing; after others every later
// call fails.
MotusStatus motus_gop_coders_send(MotusGopCoders *coders, MotusPendingPicture *picture,
                                  MotusLookahead *look, const MotusFrameSource *source,
                                  MotusError *error);

// Ends the stream, or a segment of it: places the frames that are held.
void motus_gop_coders_end(MotusGopCoders *coders);

// Returns like motus_encoder_receive. at_end: no frames follow.
MotusStatus motus_gop_coders_receive(MotusGopCoders *coders, int at_end, MotusPacket **packet,
                                     int timeout_ms, MotusError *error);

// ---- For the planner ----------------------------------------------------------------------------

// True if picture types are set after send(): the lookahead runs on the only device that has
// coders, which can search two pictures at once.
int motus_gop_coders_type_later(const MotusGopCoders *coders, const MotusLookahead *look);

// Sets the type of the oldest frame whose type is unknown.
void motus_gop_coders_set_type(MotusGopCoders *coders, int idr);

// Adds `more` (may be negative) to the count of pending lookahead jobs. While it is above 0,
// receive() blocks instead of returning MOTUS_AGAIN.
void motus_gop_coders_expect(MotusGopCoders *coders, int more);

// Releases the oldest frame without a plan for coding, unless a failure of the stream has dropped
// it meanwhile. plan: that frame's, filled in; NULL: none is released. Returns the plan of the next
// one, to be filled in; NULL: there is none. Plans go in display order.
MotusPicturePlan *motus_gop_coders_planned(MotusGopCoders *coders, const MotusPicturePlan *plan);

// Ends the stream before the first picture without a plan, which gets the error.
void motus_gop_coders_lose(MotusGopCoders *coders, const MotusError *error);

// ---- One coder (gop_coder.c) --------------------------------------------------------------------

// Puts the executor's device in front of the error's text if there are several devices.
void motus_name_device(const MotusGopCoders *coders, const MotusExecutor *executor,
                       MotusError *error);

// The functions below are called under the lock.

// Begins to open up to n more coders of the executor, each on its own thread. Coder 0 without a
// thread works where frames are sent. A failure only ends the opening of more.
void motus_executor_open_coders(MotusGopCoders *coders, MotusExecutor *executor, int n);

// Gives the executor the picture that is its newest, and READY or waiting for its plan.
void motus_executor_add(MotusGopCoders *coders, MotusExecutor *executor,
                        MotusPendingPicture *picture);

// Ends the stream with this error, unless it has failed before.
void motus_gop_coders_fail(MotusGopCoders *coders, const MotusError *error);

// True if a coder can begin, finish or drop a picture now, and no thread does. Takes a GOP for an
// idle coder.
int motus_gop_coder_has_work(MotusGopCoder *coder);

// Tells the coder's thread, or those who help it, that there may be something to do.
void motus_gop_coder_wake(MotusGopCoder *coder);

// Begins, finishes or drops one picture. Releases the lock meanwhile.
void motus_gop_coder_step(MotusGopCoder *coder);

// True if calling threads may work for the coder: a picture alone then waits for no thread to wake.
// It is the only one, and what it does on the host is short.
int motus_gop_coder_takes_help(const MotusGopCoder *coder);

// Ends to work for the coder, in place of the coder's own thread, as MotusGopCoders.helpers said.
void motus_gop_coder_end_help(MotusGopCoder *coder);

// Closes the coder of a thread that has ended, or that never was.
void motus_gop_coder_stop(MotusGopCoder *coder);

#endif
