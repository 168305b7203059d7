// The passes of encoder/decide/decide.h on a CUDA device, with equal results MB for MB (suite
// gpu_decide). All pointers are device memory unless said otherwise.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_DECIDE_CUDA_H
#define ENCODER_DECIDE_DECIDE_CUDA_H

#include <cuda_runtime_api.h>

#include "encoder/decide/decide.h"
#include "encoder/intra/intra_trial_core.h"

#ifdef __cplusplus
extern "C" {
#endif

// An MB of a P picture evaluated as Intra16x16, and its chroma, which Intra4x4 shares.
typedef struct MotusIntraEstimate {
    uint32_t cost, bits;
    MotusIntraPart chroma;
} MotusIntraEstimate;

// Counts of a picture's intra MBs.
enum {
    MOTUS_FLAG_TAKEN,        // of the list, by teams
    MOTUS_FLAG_LISTED,       // in the list
    MOTUS_FLAG_ESTIMATED,    // whose Intra4x4 is estimated
    MOTUS_FLAG_NOTED,        // that are intra after the first round
    MOTUS_FLAG_LUMA_TAKEN,   // of the list, or rows of an I picture: luma of typed MBs
    MOTUS_FLAG_CHROMA_TAKEN, // of the list: chroma of typed MBs
    MOTUS_FLAG_WANTS_PCM,    // 1: a typed MB would rather be I_PCM
    MOTUS_FLAGS
};

// MotusPictureState on the device, and planes of whole MBs with rows at multiples of 16 bytes.
typedef struct MotusPictureStateCuda {
    int mb_width, mb_height, n_mb;
    int lambda; // MotusLambda, set per picture
    // The next two are set per picture; motus_picture_state_cuda_place sets what is possible.
    int block_mbs; // MBs per block of the intra wavefront; 1 if nothing else runs beside it
    int early;     // 1: launches may begin early (common/cuda_call.cuh), if nothing else runs
    const uint8_t *src[3];
    uint8_t *rec[3];
    ptrdiff_t src_stride[3], rec_stride[3];
    MotusMb *mb, *mb_inter, *mb_intra;
    MotusMbCoef *coef;
    MotusCandidates *candidates;
    uint32_t *inter_cost, *intra_cost, *satd, *luma_bits;
    uint16_t *changed_at, *seen_at;
    uint8_t *chain; // of large pictures, while the wavefront is listed
    const uint8_t *zero_runs;
    const MotusQp *qp_table;      // MOTUS_QPS of each MotusLambda
    const int8_t *qp_offset;      // per MB; NULL: none. Not owned
    MotusRefresh refresh;         // of this picture
    const int *slice_first;       // per MB; NULL: one slice. Not owned
    const MotusCabacCosts *costs; // NULL: CAVLC. Not owned
    const MotusQuant8 *quant8;    // as qp_table
    int transform_8x8;            // 1: of use
    uint8_t *listed;              // per MB: its state in the intra wavefront
    MotusIntraEstimate *estimate;
    MotusHandedMb *handed;  // of typed MBs
    MotusIntraParts *parts; // the same
    int *found; // MBs whose Intra4x4 is estimated; then intra MBs, while the wavefront is listed
    int *list;  // MBs of the wavefront in order
    int *flags; // MOTUS_FLAG_*
    const cudaEvent_t *ended; // [MOTUS_STAGES]; NULL: stages are not timed. Not owned
} MotusPictureStateCuda;

// Returns the bytes of all arrays except the planes.
size_t motus_picture_state_cuda_bytes(int mb_width, int mb_height);

// Lays out the arrays in `memory`, fills zero_runs and qp_table (blocks until they are copied), and
// prepares the kernels of the current device.
cudaError_t motus_picture_state_cuda_place(MotusPictureStateCuda *pic, void *memory, int mb_width,
                                           int mb_height);

// Loads the kernels of which a picture uses one or another, before the first picture: loading one
// blocks until the device is idle. *block_mbs: MBs per block that fit in shared memory. *early: 1
// if this build and the device can launch early.
cudaError_t motus_decide_cuda_prepare(int *early, int *block_mbs);

// Records the end of a stage, if stages are timed.
cudaError_t motus_stage_ended_cuda(const MotusPictureStateCuda *pic, MotusStage stage,
                                   cudaStream_t stream);

// Begins a B picture with job->skips_first: codes the MBs whose B_Skip is sure, and sets
// MotusBCandidates.blocks, 0 for them, else 1. Their costs are not read afterwards.
cudaError_t motus_skip_cuda(const MotusPictureStateCuda *pic, const MotusPictureJob *job,
                            cudaStream_t stream);

// Sets the candidates' blocks of a P or B picture, the masks of the blocks to refine, and
// job->far_blocks, from whole-sample costs, before MVs are refined. pic->candidates holds
// MotusMbCandidates. `whole` gets the first reference's MVs of 16x16 as they are now, of a P
// picture; NULL: not wanted.
cudaError_t motus_mark_cuda(const MotusPictureStateCuda *pic, const MotusPictureJob *job,
                            MotusMv *whole, cudaStream_t stream);

// Decides the MBs of a P or B picture from its refined MVs on, with several references in a B
// picture's list 0 from their refined costs: candidates, rounds.
cudaError_t motus_decide_cuda(const MotusPictureStateCuda *pic, const MotusPictureJob *job,
                              cudaStream_t stream);

// Codes the MBs that are intra.
cudaError_t motus_code_intra_cuda(const MotusPictureStateCuda *pic, const MotusPictureJob *job,
                                  cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
