// Function tables of the 4x4 transforms that motus_dct_ops chooses from.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef DCT_DCT_INTERNAL_H
#define DCT_DCT_INTERNAL_H

#include "motus/dct.h"

extern const MotusDctOps motus_dct_ops_avx2; // x86-64 only

#endif
