// The passes of a picture. order.c says which follows which, and what data each reads and writes.
// An executor is a table of them: the CPU's in passes_cpu.c, CUDA's in passes_cuda.cu.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_PASSES_H
#define ENCODER_PICTURE_PASSES_H

#include "encoder/picture/job.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum MotusPassId {
    MOTUS_PASS_UPLOAD,     // QP offsets, references
    MOTUS_PASS_COSTS,      // of bins, for the first pictures of a kind in a GOP
    MOTUS_PASS_DIRECT,     // temporal direct prediction of all MBs
    MOTUS_PASS_SKIPS,      // MBs whose B_Skip is sure
    MOTUS_PASS_WEIGHTS,    // weighted copies of a group's references, for search and SATDs
    MOTUS_PASS_CENTRES,    // search centres in a group's references
    MOTUS_PASS_SEARCH,     // motion fields in a group's references; external MVs are only measured
    MOTUS_PASS_CANDIDATES, // blocks that are worth it, refined
    MOTUS_PASS_DECIDE,     // the MBs of a P or B picture
    MOTUS_PASS_INTRA,      // MBs that are intra
    MOTUS_PASS_FINALIZE,   // what depends on bitstream order; what later pictures read of MBs
    MOTUS_PASS_ENTROPY,    // NAL units
    MOTUS_PASS_DEBLOCK,
    MOTUS_PASS_REFERENCE, // half-sample planes for the pictures that predict from this one
    MOTUS_PASS_DOWNLOAD,  // reconstruction, MBs, NAL units as far as they are expected to reach
    MOTUS_PASS_ERRORS,    // squared errors
    MOTUS_PASS_LEARN,     // costs of bins, where entropy coding has not
    MOTUS_PASS_REPORT,    // statistics
    MOTUS_PASSES
} MotusPassId;

// Data that passes hand on, to later passes of the picture and to other pictures.
enum {
    MOTUS_DATA_LUMA = 1 << 0,       // of the source
    MOTUS_DATA_SOURCE = 1 << 1,     // all of it
    MOTUS_DATA_BUFFER = 1 << 2,     // where a reference is reconstructed
    MOTUS_DATA_FIELDS = 1 << 3,     // motion fields, before and behind refinement
    MOTUS_DATA_LAST_MVS = 1 << 4,   // of the last P picture
    MOTUS_DATA_REFERENCES = 1 << 5, // samples, and what is kept of their MBs
    MOTUS_DATA_MBS = 1 << 6,        // decided MBs, levels, their contexts and costs
    MOTUS_DATA_LEARNT = 1 << 7,     // learnt costs, and counts of bins
    MOTUS_DATA_FINAL = 1 << 8,      // finalized MBs; cleared statistics
    MOTUS_DATA_RECON = 1 << 9,      // reconstructed samples
    MOTUS_DATA_STATS = 1 << 10,
    MOTUS_DATA_NAL = 1 << 11,
};

typedef struct MotusPassData {
    unsigned reads, writes; // MOTUS_DATA_*; of WEIGHTS, CENTRES and SEARCH: of a group's references
} MotusPassData;

extern const MotusPassData motus_pass_data[MOTUS_PASSES];

// Runs a pass. Those of a group of references: MOTUS_NEAR or MOTUS_FAR.
typedef MotusStatus MotusPass(void *coder, MotusPictureJob *job, int group, MotusError *error);

typedef struct MotusPassTable {
    // NULL: the executor does it in another one, or need not.
    MotusPass *pass[MOTUS_PASSES];
    // Called around each pass that runs; NULL: passes run in order by themselves.
    MotusStatus (*before)(void *coder, const MotusPictureJob *job, MotusPassId id, int group,
                          MotusError *error);
    MotusStatus (*after)(void *coder, const MotusPictureJob *job, MotusPassId id,
                         MotusError *error);
    MotusStatus (*stage_ended)(void *coder, MotusStage stage, MotusError *error);
} MotusPassTable;

// Runs a picture's passes up to its NAL units, which depend on QP; then those that complete it.
MotusStatus motus_code_picture(const MotusPassTable *table, void *coder, MotusPictureJob *job,
                               MotusError *error);
MotusStatus motus_complete_picture(const MotusPassTable *table, void *coder, MotusPictureJob *job,
                                   MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
