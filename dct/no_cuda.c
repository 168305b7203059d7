// SPDX-License-Identifier: BSD-2-Clause
#include "common/no_cuda.h"

#include "motus/filter_cuda.h"

MOTUS_NO_CUDA(motus_cuda_dct8_forward, const MotusCoefs *dst, const MotusPlane *src,
              const uint16_t table[64], MotusDct8Kind kind, void *stream)
MOTUS_NO_CUDA(motus_cuda_dct8_inverse, const MotusPlane *dst, const MotusCoefs *src,
              const uint16_t table[64], MotusDct8Kind kind, void *stream)
