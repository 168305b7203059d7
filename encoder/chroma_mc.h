// Chroma inter prediction (8.4.2.2.2): eighth-sample bilinear.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ENCODER_CHROMA_MC_H
#define ENCODER_CHROMA_MC_H

#include "motus/me.h"

// Predicts the w x h chroma block at (x, y) (chroma samples; w, h of 2, 4, 8) with the luma vector mv; samples outside `ref` are its edge repeated.
void motus_chroma_mc(uint8_t *dst, ptrdiff_t dst_stride, const MotusPlane *ref, int x, int y, MotusMv mv, int w, int h);

#endif
