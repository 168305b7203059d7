// The passes of encoder/decide/decide.h on a CUDA device: the same results, MB for MB. All
// pointers are device memory unless said otherwise.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_DECIDE_DECIDE_CUDA_H
#define ENCODER_DECIDE_DECIDE_CUDA_H

#include <cuda_runtime_api.h>

#include "encoder/analyse/intra_trial_core.h"
#include "encoder/decide/decide.h"

#ifdef __cplusplus
extern "C" {
#endif

// An MB of a P picture estimated as Intra16x16, with what of its chroma Intra4x4 shares.
typedef struct MotusIntraEstimate {
    uint32_t cost, bits;
    MotusIntraPart chroma;
} MotusIntraEstimate;

// A picture's passes on the device: MotusPictureState's arrays, and planes of whole MBs (rows at
// multiples of 16 bytes).
typedef struct MotusPictureStateCuda {
    int mb_width, mb_height, n_mb;
    int teams; // MBs that a block of the intra wavefront has at a time: 1 where nothing else runs
               // beside it, or what motus_picture_state_cuda_place says
    int early; // launches may begin before those that they follow are done (common/cuda_call.h):
               // where nothing else runs beside them, or whether they can
    const uint8_t *src[3];
    uint8_t *rec[3];
    ptrdiff_t src_stride[3], rec_stride[3];
    MotusMb *mb, *mb_inter, *mb_intra;
    MotusMbCoef *coef;
    MotusCandidates *candidates;
    uint32_t *inter_cost, *intra_cost, *satd;
    uint16_t *changed_at, *seen_at;
    uint8_t *chain; // of large pictures, while the list is made
    const uint8_t *zero_runs;
    const MotusQp *qp_table; // 52
    const int8_t *qp_offset; // per MB, as in MotusPictureState; NULL: none. The caller's
    const int *slice_first;  // per MB, as in MotusPictureState; NULL: one slice. The caller's
    uint8_t *listed;         // per MB: where it stands in the intra wavefront
    MotusIntraEstimate *estimate;
    int *found; // MBs whose intra cost is estimated; then those that are to be intra, while the
                // list is made
    int *list, *flags; // the wavefront's MBs in their order; how many are taken, and are there; how
                       // many are estimated
    const cudaEvent_t *ended; // [MOTUS_STAGES], recorded behind each stage; NULL: stages are not
                              // timed. The caller's
} MotusPictureStateCuda;

// Bytes of one allocation that holds every array above but the planes; and `work` carved from it.
// Fills zero_runs and qp_table (synchronously, once).
size_t motus_picture_state_cuda_bytes(int mb_width, int mb_height);
cudaError_t motus_picture_state_cuda_place(MotusPictureStateCuda *pic, void *memory, int mb_width,
                                           int mb_height);

// These two load the kernels of which a picture takes one or the other, depending on what else is
// at work, before the first picture: loading one waits for the device.

// Lets the intra wavefront have its shared memory, on the current device; and how many MBs a block
// has room for.
cudaError_t motus_intra_cuda_prepare(int *teams);

// Whether launches can begin early, on the current device and in this build.
cudaError_t motus_decide_cuda_prepare(int *early);

// What P pictures need beside it: MotusPCoding with device pointers. mv, cost: the search's
// [41][n_mb]; mv is refined in place for subpel other than FULL by the caller between the two calls
// below, costs of whole samples are read by the first.
typedef struct MotusPCodingCuda {
    MotusReference ref;
    const MotusMv *mv;
    const uint32_t *cost;
    MotusInterLimits limits;
} MotusPCodingCuda;

// Records that a stage ends here, where stages are timed.
cudaError_t motus_stage_ended_cuda(const MotusPictureStateCuda *pic, MotusStage stage,
                                   cudaStream_t stream);

cudaError_t motus_code_i_cuda(const MotusPictureStateCuda *pic, int qp, const MotusEffort *effort,
                              cudaStream_t stream);

// Marks the blocks that whole-sample costs leave a chance; to be called before vectors and costs
// are refined. whole (NULL: not wanted) gets the vectors of 16x16 as they are in mv now.
cudaError_t motus_mark_blocks_cuda(const MotusPictureStateCuda *pic, const uint32_t *cost,
                                   const MotusMv *mv, MotusMv *whole, int qp,
                                   const MotusEffort *effort, cudaStream_t stream);

// Everything from the refined vectors on: candidates, rounds, intra.
cudaError_t motus_code_p_cuda(const MotusPictureStateCuda *pic, const MotusPCodingCuda *p, int qp,
                              const MotusEffort *effort, cudaStream_t stream);

// Adds the squared error of each plane over the visible width x height of luma to ssd[3]. Planes as
// in MotusPictureStateCuda, at most 2^14 samples wide.
cudaError_t motus_plane_errors_cuda(const MotusPlane src[3], const MotusPlane rec[3], int width,
                                    int height, uint64_t *ssd, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
