// What every rank of an encode knows before it begins.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_MPI_SETUP_H
#define TOOLS_MPI_SETUP_H

#include "tools/encode/encode_job.h"
#include "tools/mpi/fingerprint.h"
#include "tools/mpi/link.h"

// Handed out by rank 0, but for what is said to be the rank's own.
typedef struct MotusMpiSetup {
    int64_t pid; // rank 0's process, on `host`
    char host[64];
    int status;                // exit status where the job does not begin; below 0: it does
    int more;                  // another pass follows
    int feeds;                 // frames come from rank 0, not from the input
    int gops;                  // of a part
    int wants_ssim;            //
    int64_t credit;            // frames that may be on their way to a worker
    MotusEncoderConfig config; // threads, device, list of devices and pass log: the rank's own
    MotusInputStamp input;     // as it was when the job began
    int64_t log_size; // of a pass log that rank 0 hands out as well, with its NUL; 0: the options
                      // have it, if there is one
    char *log;        // the rank's own; NULL: none
} MotusMpiSetup;

// Where a rank is among those of its machine. All ranks have to ask.
typedef struct MotusMpiPlace {
    int rank, ranks;
} MotusMpiPlace;
MotusMpiPlace motus_mpi_place(void);

// Ranks of one machine take its devices (or those listed) in turn, one each, and share its
// processors evenly, unless they are bound to some of them.
void motus_mpi_share_machine(MotusEncoderConfig *config, MotusMpiPlace here);

// CUDA opens every device that it sees, 0.2 s each, whichever is used: where the environment lists
// devices (CUDA_VISIBLE_DEVICES, as schedulers do) and the options name none, this process sees
// only the one that is the rank's own. Before anything asks CUDA.
void motus_mpi_see_own_device(const MotusEncodeOptions *options, MotusMpiPlace here);

// Opens the rank's device.
void motus_mpi_open_device(const MotusEncodeOptions *options, MotusMpiPlace here);

// Rank 0 hands *setup out. Others free setup->log when the pass is over.
void motus_mpi_share(MotusMpiSetup *setup, const MotusEncodeOptions *options, MotusMpiPlace here);

typedef struct MotusMpiWorker {
    MotusLink *link;
    const MotusEncodeOptions *options;
    const MotusMpiSetup *setup;
} MotusMpiWorker;

// Whether rank 0 is on this machine and gone.
int motus_mpi_rank0_is_gone(const MotusMpiSetup *setup);

// Does the work of a rank until rank 0 says that there is no more, or that fails, which rank 0 is
// told.
void motus_mpi_work(const MotusMpiWorker *of);

// Own flags of motus-mpi encode.
typedef struct MotusMpiOptions {
    int resume, discard;
    int rank0_muxes_only; // rank 0 codes nothing where there are others
    const char *times;    // where to write what each part took; NULL: nowhere
    MotusMpiPlace here;
} MotusMpiOptions;

// Rank 0's part; returns the exit status. Ends the whole job by MPI_Abort where it fails.
int motus_mpi_encode(MotusLink *link, const MotusEncodeOptions *options,
                     const MotusMpiOptions *own);

#endif
