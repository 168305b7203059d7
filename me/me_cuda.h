// Motion estimation of whole pictures on a CUDA device: a ring of slots, each with a stream, in
// which upload, search, refinement and download of neighbouring pictures overlap. Nothing is
// allocated per picture.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_ME_CUDA_H
#define ME_ME_CUDA_H

#include "motus/me.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MotusMeCuda MotusMeCuda;

// On any failure *error gets CUDA's own words. A context that has failed once fails from then on.
MotusStatus motus_me_cuda_open(MotusMeCuda **cuda, const MotusMeConfig *config, int device,
                               MotusError *error);
void motus_me_cuda_close(MotusMeCuda **cuda);
// ref_memory: where job->ref lies; job->memory speaks of job->cur alone here.
MotusStatus motus_me_cuda_submit(MotusMeCuda *cuda, const MotusMeJob *job, MotusMemory ref_memory,
                                 MotusError *error);
// Waits up to timeout_ms, without end if that is negative. MOTUS_AGAIN: not there in time.
MotusStatus motus_me_cuda_receive(MotusMeCuda *cuda, MotusField **field, int timeout_ms,
                                  MotusError *error);

// What receiving ends with (field.c): copies the blocks of the modes asked for into the field, from
// arrays of MOTUS_BLOCKS x n_mb entries, by up to `threads` threads (1 or more).
void motus_field_store(MotusField *field, uint32_t modes, const MotusMv *mv, const uint16_t *sad,
                       const uint32_t *cost, int threads);

#ifdef __cplusplus
}
#endif
#endif
