// RD refinement of MVs by 32 emulated lanes a warp.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_LANES_LANES_REFINE_WARP_H
#define TESTS_LANES_LANES_REFINE_WARP_H

#include "encoder/analyse/inter_core.h"

// motus_rd_refine of the MB *mb by four warps: fills *trial if *any becomes 1. Returns NULL, or
// what the lanes did wrong.
const char *lanes_rd_refine(const MotusInterMb *in, const MotusLevelChoice *levels, int most,
                            const MotusMb *mb, uint32_t cost, MotusTrial *trial, int *any);

#endif
