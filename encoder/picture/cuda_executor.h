// The CUDA executor's functions (MotusExecutorOps). `coder` is a MotusCudaCoder.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_PICTURE_CUDA_EXECUTOR_H
#define ENCODER_PICTURE_CUDA_EXECUTOR_H

#include "encoder/picture/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

int motus_cuda_coder_depth(const MotusStream *stream, int coders);
size_t motus_cuda_coder_bytes(const MotusStream *stream, int slots, int coders);
size_t motus_cuda_coder_free_bytes(int device); // free memory of a device

// The device of `shared` (MotusCopyStreams) has to outlive it. MOTUS_ERR_CUDA, _MEMORY;
// _UNSUPPORTED with slice_max_size.
MotusStatus motus_cuda_coder_open(void **coder, const MotusStream *stream, void *shared, int index,
                                  int coders, int threads, MotusError *error);
void motus_cuda_coder_close(void **coder); // accepts NULL inside

// After a failure the coder can only be closed.
MotusStatus motus_cuda_coder_begin(void *coder, const MotusPictureJob *job, MotusError *error);
// Blocks with little use of a processor.
MotusStatus motus_cuda_coder_wait(void *coder, size_t *size, MotusError *error);
MotusStatus motus_cuda_coder_finish(void *coder, MotusCodedPicture *coded, MotusError *error);
MotusStatus motus_cuda_coder_store(void *coder, const MotusPacketPiece *piece, int n,
                                   MotusPacketBlock **block, MotusError *error);

#ifdef __cplusplus
}
#endif
#endif
