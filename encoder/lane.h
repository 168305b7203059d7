// One lane: its thread, and the pictures on their way through it. Who deals GOPs out to lanes, and hands packets out in order, is lanes.c.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_LANE_H
#define ENCODER_LANE_H

#include <pthread.h>

#include "encoder/intake.h"
#include "encoder/lane_cpu.h"
#include "encoder/lane_cuda.h"
#include "encoder/lanes.h"
#include "encoder/packet_cuda.h"

// A picture between its frame and its packet.
typedef struct MotusJob {
    struct MotusJob *next;   // in the stream
    struct MotusJob *behind; // in the lane
    MotusOrder order;
    int slot;                   // of the frame on a device
    MotusFrame *whole, *source; // on the host: whole MBs, and their visible part; NULL where only a device has the frame
    MotusFrame *rec;            // that a device writes to
    MotusField *field;          // likewise
    MotusPacket *packet;        // once it is done
    MotusStatus status;
    MotusError error;
    int done;
} MotusJob;

typedef struct MotusLane {
    MotusLanes *lanes;
    int device; // CUDA's number, where the backend is CUDA
    pthread_t thread;
    int has_thread;
    MotusLaneCpu *cpu;
    MotusLaneCuda *cuda;
    MotusPacketPool *packets; // where packets stay on the device; NULL: their bytes come down
    MotusFramePool recs;      // where reconstructions come down to
    MotusCodedMv *mvs;        // of a picture that came down
    MotusRate rate;
    // Under the lock.
    MotusJob *first, *waiting, *last; // the oldest; the first that has not begun; the newest
    unsigned sent, finished;          // so far
    int begun;                        // that are on a device
    MotusStatus status;               // of the opening
    MotusError error;
    int opened; // the thread has tried
} MotusLane;

struct MotusLanes {
    const MotusStream *stream;
    MotusBackend backend;
    int device[MOTUS_MAX_LANES], n_devices; // lane k runs on device[k % n_devices]
    int threads;
    int n, most_waiting; // lanes; pictures of each that may wait or be under way (on the CPU: on average)
    int most_begun;      // that are on a device at the same time
    int gops;            // so far
    MotusIntake intake;
    pthread_mutex_t lock;
    pthread_cond_t work, done; // a lane has something to do; a picture or an opening is done
    MotusJob *first, *last;    // in the order of the stream
    MotusJob *unplanned;       // the first without a plan
    MotusJob *untaken;         // the first picture of the oldest GOP that no lane has; where the backend is CUDA, NULL
    MotusLane *taker;          // of the newest GOP, where untaken is NULL
    int under_way;             // pictures that have been sent and are not done
    int active;                // lanes that have something to do
    int busy;                  // threads that code pictures on the CPU
    int closing;
    MotusError failure; // of the first picture that could not be coded
    MotusLane lane[MOTUS_MAX_LANES];
};

void motus_job_free(MotusJob *job);

// Where there are several devices, puts the lane's in front of what the error says.
void motus_lane_name_device(const MotusLane *lane, MotusError *error);

// Opens n lanes from `first` on, side by side, each on a thread of its own, and waits until they are open; without a thread, lane 0 does its work where frames are
// sent (motus_lane_step). Of those that fail nothing is left, and *error (may be NULL) has the words of the first of them.
MotusStatus motus_lanes_start(MotusLanes *lanes, int first, int n, MotusError *error);

// The picture is the lane's, behind those it has. Under the lock.
void motus_lane_give(MotusLane *lane, MotusJob *job);

// Whether a lane has something to do now (on the CPU one that has no picture takes the next GOP), and one step of it: a picture on the CPU; or the next picture
// begins on the device, or the oldest one there is waited for. Under the lock, which a step lets go of meanwhile.
int motus_lane_finds_work(MotusLane *lane);
void motus_lane_step(MotusLane *lane);

// Closes what a lane without a thread has opened.
void motus_lane_stop(MotusLane *lane);

#endif
