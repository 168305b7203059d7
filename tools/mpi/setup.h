// Setup of an encode, the same on every rank, and a rank's share of its host.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_SETUP_H
#define TOOLS_MPI_SETUP_H

#include "tools/encode/encode.h"
#include "tools/mpi/fingerprint.h"
#include "tools/mpi/link.h"

// Sent by rank 0; members marked (own) are set by each rank.
typedef struct MotusMpiSetup {
    int64_t pid; // rank 0's process on `host`
    char host[64];
    int status;       // exit status if the job does not begin, else -1
    int another_pass; // follows this one
    int rank0_reads;  // rank 0 reads the input and sends frames
    int gops;         // of a segment
    int wants_ssim;
    int64_t credit;            // frames that may be on their way to a worker
    MotusEncoderConfig config; // (own): threads, device, devices, pass_log
    MotusInputStamp input;     // when the job began
    int64_t log_size;          // bytes of rank 0's pass log with its NUL; 0: use the options' log
    char *log;                 // (own), NULL: none
} MotusMpiSetup;

// A rank's number among the ranks of its host, and their count.
typedef struct MotusLocalRank {
    int rank, ranks;
} MotusLocalRank;
MotusLocalRank motus_mpi_local_rank(void); // collective

// Takes this rank's share of the host: its devices (or those listed) in turn, and an equal share of
// the processors unless the rank is bound to some.
void motus_mpi_share_host(MotusEncoderConfig *config, MotusLocalRank local);

// Reduces CUDA_VISIBLE_DEVICES to this rank's device if the options name none: CUDA opens each
// device that it sees, 0.2 s each. Call it before any CUDA call.
void motus_mpi_hide_other_devices(const MotusEncodeOptions *options, MotusLocalRank local);

// Opens this rank's device.
void motus_mpi_open_device(const MotusEncodeOptions *options, MotusLocalRank local);

// Broadcasts rank 0's *setup (collective). Other ranks free setup->log after the pass.
void motus_mpi_broadcast(MotusMpiSetup *setup, const MotusEncodeOptions *options,
                         MotusLocalRank local);

// True if rank 0 ran on this host and has exited.
int motus_mpi_rank0_has_exited(const MotusMpiSetup *setup);

typedef struct MotusMpiWorker {
    MotusLink *link;
    const MotusEncodeOptions *options;
    const MotusMpiSetup *setup;
} MotusMpiWorker;

// Codes segments (worker: MotusMpiWorker) until rank 0 says stop, or reports an error to it.
// Returns NULL.
void *motus_mpi_worker(void *worker);

// Options that only motus-mpi encode has.
typedef struct MotusMpiOptions {
    int resume, discard;
    int rank0_muxes_only; // rank 0 codes nothing if there are other ranks
    const char *times;    // CSV file for the time of each segment; NULL: none
    MotusLocalRank local;
} MotusMpiOptions;

// Runs the job on rank 0, in two passes for a bitrate; returns the exit status. Calls MPI_Abort if
// the job fails after its start.
int motus_mpi_encode(MotusLink *link, const MotusEncodeOptions *options,
                     const MotusMpiOptions *own);

#endif
