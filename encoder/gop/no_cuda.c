// SPDX-License-Identifier: BSD-2-Clause
#include "common/no_cuda.h"

#include "encoder/gop/intake.h"

void motus_intake_cuda_close(MotusIntakeCuda **intake) {}
void motus_image_cuda_close(MotusImageCuda **intake) {}

MOTUS_NO_CUDA(motus_intake_cuda_take, MotusIntakeCuda **intake, const MotusFrameSource *source,
              MotusFrame *whole)
MOTUS_NO_CUDA(motus_image_cuda_locate, const MotusImage *image, int *device)
MOTUS_NO_CUDA(motus_image_cuda_take, MotusImageCuda **intake, const MotusImage *image, int device,
              const MotusColour *colour, void *stream, const MotusFrame **frame)
MOTUS_NO_CUDA(motus_image_cuda_read, MotusImageCuda *intake, void *stream)
