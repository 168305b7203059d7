// An executor codes pictures: the CPU, or one CUDA device. Each offers the table below, so that
// the GOP coders never ask which one they use.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_EXECUTOR_H
#define ENCODER_PICTURE_EXECUTOR_H

#include "encoder/decide/job.h"
#include "encoder/settings/stream.h"
#include "encoder/weights/source_stats.h"
#include "yuv/frame_source.h"

#ifdef __cplusplus
extern "C" {
#endif

// Holds the source of one pending picture from motus_encoder_send until the picture is coded.
typedef struct MotusFrameSlot {
    struct MotusFrameSlot *next; // in a list of free slots
    // On a device: the slots that it was opened with; whole MBs; with weightp statistics of the
    // planes, in pinned memory.
    struct MotusFrameSlots *origin;
    MotusPlane plane[3];
    struct MotusSourceShares *shares;
    // cudaEvent_t: plane 0 is complete; all planes are; statistics are, if they come later.
    void *uploaded, *filled, *counted;
    void *has_luma, *measured; // those which say so of this frame's plane 0 and statistics
} MotusFrameSlot;

// A coded picture. Pointers stay valid until the next begin() but one.
typedef struct MotusCodedPicture {
    const uint8_t *nal;        // NULL if packets stay on the device
    const uint8_t *device_nal; // the same in device memory; NULL on the CPU
    size_t size;               // bytes of the NAL units
    int slices;
    MotusPictureStats stats; // all but bits_header
    MotusFrame *recon;       // visible size, a reference for the caller; NULL: stream_only
    const MotusCodedMv *mvs; // n_mvs of them, beside recon
    size_t n_mvs;
    const MotusField *field;      // of a P picture, with config.export_field; else NULL
    float stage_us[MOTUS_STAGES]; // with config.time_stages
} MotusCodedPicture;

// A piece of a packet, in host or device memory.
typedef struct MotusPacketPiece {
    const void *data;
    size_t size;
} MotusPacketPiece;

// The bytes of a packet in device memory. `stream` below is a cudaStream_t of the device.
typedef struct MotusPacketBlock {
    uint8_t *data;
    int device;
    struct MotusPacketPool *pool;
    void (*wait)(const struct MotusPacketBlock *block,
                 void *stream);                                 // blocks until `stream` is idle
    void (*free)(struct MotusPacketBlock *block, void *stream); // in stream order; from any thread
    // The pool's: a free block waits in its list; the next user waits for `unused` on the device.
    size_t room;
    void *unused; // cudaEvent_t: the stream in whose order it was freed has come so far
    struct MotusPacketBlock *next; // in the list
} MotusPacketBlock;

// All functions that return a status set *error on failure, and then leave nothing open. `shared`
// is what the coders of one device share, `coder` what one GOP coder owns.
typedef struct MotusExecutorOps {
    MotusBackend backend;
    int codes_from_host; // 1: begin() reads job->whole; 0: job->slot
    int any_thread;      // 1: the functions of a coder may be called by any threads, in turn

    // Returns how many GOP coders pay off, if each has `slots` frames pending.
    int (*best_coders)(const MotusStream *stream, const int *device, int n_devices, int threads,
                       int slots);
    // Returns the bytes of one coder with its slots, on the device or in host memory.
    size_t (*coder_bytes)(const MotusStream *stream, int slots, int coders);

    // Opens coder number `index` of the `coders` of its device, for pictures that use at most
    // `threads` threads.
    MotusStatus (*open)(void **coder, const MotusStream *stream, void *shared, int index,
                        int coders, int threads, MotusError *error);
    void (*close)(void **coder);
    // With weightp: fills in the statistics of a picture's source. On a device it blocks until
    // they are downloaded, which begins as soon as the slot is filled.
    MotusStatus (*measure)(const MotusPictureJob *job, MotusSourceStats *stats, MotusError *error);
    // Begins a picture; job: the members that the caller fills in, which stay valid until finish().
    // The CPU codes it here; a device returns immediately.
    MotusStatus (*begin)(void *coder, const MotusPictureJob *job, MotusError *error);
    // Blocks until the NAL units of the oldest picture are written. *size gets their bytes.
    MotusStatus (*wait)(void *coder, size_t *size, MotusError *error);
    // Completes the oldest picture after wait().
    MotusStatus (*finish)(void *coder, MotusCodedPicture *coded, MotusError *error);

    // ---- Devices; NULL: the executor is the CPU, whose slots only count pending pictures ----

    // Lists the devices that the configuration asks for.
    MotusStatus (*find_devices)(const MotusEncoderConfig *config, int device[MOTUS_MAX_GOP_CODERS],
                                int *n, MotusError *error);
    // Returns how many pictures of a coder may be between begin() and finish(), 1 on the CPU.
    // coders: those that share a device.
    int (*depth)(const MotusStream *stream, int coders);
    MotusStatus (*open_device)(void **shared, int device, MotusError *error);
    void (*close_device)(void **shared);
    // Opens memory of n slots, which close after every coder of the device.
    MotusStatus (*open_slots)(void **slots, const MotusStream *stream, void *shared,
                              MotusFrameSlot *slot, int n, MotusError *error);
    void (*close_slots)(void **slots);
    // Puts a frame into a free slot. A frame in host memory may be read until wait_filled()
    // returns.
    MotusStatus (*fill_slot)(MotusFrameSlot *slot, const MotusFrameSource *source,
                             MotusError *error);
    MotusStatus (*wait_filled)(const MotusFrameSlot *slot, MotusError *error);
    // Joins n pieces in device memory.
    MotusStatus (*store)(void *coder, const MotusPacketPiece *piece, int n,
                         MotusPacketBlock **block, MotusError *error);
} MotusExecutorOps;

extern const MotusExecutorOps motus_executor_ops_cpu,
    motus_executor_ops_cuda; // cuda: in builds with CUDA

// Takes the only picture of an executor's coder back after wait(), to begin it again at another QP.
void motus_jobs_undo(void *coder);

#ifdef __cplusplus
}
#endif
#endif
