// One lane: its thread, and the pictures on their way through it. Who deals GOPs out to lanes, and
// hands packets out in order, is lanes.c.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_GOP_GOP_CODER_H
#define ENCODER_GOP_GOP_CODER_H

#include <pthread.h>

#include "encoder/gop/gop_coders.h"
#include "encoder/gop/intake.h"
#include "encoder/gop/packet_cuda.h"
#include "encoder/picture/cpu_coder.h"
#include "encoder/picture/cuda_coder.h"

// A picture between its frame and its packet.
typedef struct MotusPendingPicture {
    struct MotusPendingPicture *next;   // in the stream
    struct MotusPendingPicture *behind; // in the lane, or among those that no lane has
    MotusOrder order;
    MotusFrameSlot *slot;       // where the frame waits on a device; NULL: it does not
    MotusFrame *whole, *source; // on the host: whole MBs, and their visible part; NULL where only a
                                // device has the frame
    MotusFrame *rec;            // that a device writes to
    MotusField *field;          // likewise
    MotusPacket *packet;        // once it is done
    MotusStatus status;
    MotusError error;
    int done;
} MotusPendingPicture;

typedef struct MotusGopCoder {
    MotusGopCoders *gop_coders;
    struct MotusExecutor *executor;
    pthread_t thread;
    int has_thread;
    MotusCpuCoder *cpu;
    MotusCudaCoder *cuda;
    MotusFrameSlots *room;    // for frames, of which its executor makes use
    MotusFrameSlot *slots;    // the room's
    MotusPacketPool *packets; // where packets stay on the device; NULL: their bytes come down
    MotusFramePool recs;      // where reconstructions come down to
    MotusCodedMv *mvs;        // of a picture that came down
    MotusRate rate;
    // Under the lock.
    pthread_cond_t work; // there is something to do
    MotusPendingPicture *first, *waiting,
        *last;          // the oldest; the first that has not begun; the newest
    int begun;          // that are on a device
    MotusStatus status; // of the opening
    MotusError error;
    int opened; // the thread has tried
} MotusGopCoder;

// What runs lanes: a CUDA device, or the CPU. Its lanes have the room for frames in common, and
// whichever has nothing to do takes the next GOP.
typedef struct MotusExecutor {
    int device;                          // CUDA's number
    MotusCopyStreams *transfer;          // of the device
    int gop_coders, begun;               // that there may be; whose opening has begun
    int failed;                          // one of them could not be opened: there won't be more
    int gops;                            // so far
    int under_way;                       // pictures that have been sent and are not done
    MotusFrameSlot *free;                // room for frames on a device
    MotusPendingPicture *untaken, *last; // the pictures of GOPs that no lane has
    MotusGopCoder *taker;                // of the newest GOP, where `untaken` is NULL
} MotusExecutor;

struct MotusGopCoders {
    const MotusStream *stream;
    MotusBackend backend;
    int threads;
    int n;            // lanes that were asked for
    int most_waiting; // pictures of each that may wait or be under way (on average: executors share
                      // their room)
    int most_begun;   // that are on a device at the same time
    int n_devices;    // CUDA devices in the list
    int n_executors;  // those that have lanes (1: the CPU): lane k is of executor k % n_executors
    MotusIntake intake;
    pthread_mutex_t lock;
    pthread_cond_t done;               // a picture or an opening is
    MotusPendingPicture *first, *last; // in the order of the stream
    MotusPendingPicture *oldest;       // that is not done
    int since_oldest;                  // pictures that have been sent since, with it
    MotusPendingPicture *unplanned;    // the first without a plan
    MotusPendingPicture *untyped;      // the first without a type, which no executor has
    int expected;                      // steps that may give them plans
    MotusExecutor *sending;            // has the newest GOP
    int opening;                       // lanes
    int active;                        // lanes that have something to do
    int busy;                          // threads that code pictures on the CPU
    int closing;
    MotusError lost;    // why `unplanned` and what follows have no plans
    MotusError failure; // of the first picture that could not be coded
    MotusExecutor executor[MOTUS_MAX_GOP_CODERS];
    MotusGopCoder lane[MOTUS_MAX_GOP_CODERS];
};

void motus_pending_free(MotusPendingPicture *job);

// Where there are several devices, puts the executor's in front of what the error says.
void motus_name_device(const MotusGopCoders *gop_coders, const MotusExecutor *executor,
                       MotusError *error);

// Begins to open n more of the executor's lanes, or as many as it may have, each on a thread of its
// own; without a thread, lane 0 does its work where frames are sent (motus_gop_coder_step). Where
// one fails, which its status and error tell, those that there are go on. Under the lock.
void motus_executor_open(MotusGopCoders *gop_coders, MotusExecutor *executor, int n);

// The executor's newest picture, which belongs to its newest GOP or begins one: for the lane that
// has the GOP or that has nothing to do; else it waits for one. Under the lock.
void motus_executor_give(MotusGopCoders *gop_coders, MotusExecutor *executor,
                         MotusPendingPicture *job);

// The error ends the stream, unless there was one before. Under the lock.
void motus_gop_coders_fail(MotusGopCoders *gop_coders, const MotusError *error);

// Whether a lane has something to do now (one that has no picture takes the next GOP), and one step
// of it: a picture on the CPU; or the next picture begins on the device, or the oldest one there is
// waited for. Under the lock, which a step lets go of meanwhile.
int motus_gop_coder_finds_work(MotusGopCoder *lane);
void motus_gop_coder_step(MotusGopCoder *lane);

// Closes what a lane without a thread has opened.
void motus_gop_coder_stop(MotusGopCoder *lane);

#endif
