// Steps behind the decision of an inter MB, by 32 emulated lanes a warp: RD refinement of MVs,
// choice of the transform.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TESTS_LANES_LANES_REFINE_WARP_H
#define TESTS_LANES_LANES_REFINE_WARP_H

#include "encoder/analyse/inter_core.h"

// Refines the MVs of the MB *mb (MotusInterOps.refine) by eight warps: fills *trial if *any
// becomes 1. Returns NULL, or what the lanes did wrong.
const char *lanes_rd_refine(const MotusInterMb *in, const MotusLevelChoice *levels, int most,
                            const MotusMb *mb, uint32_t cost, MotusTrial *trial, int *any);

// An inter MB whose transform is chosen. rec: luma.
typedef struct LanesTransformed {
    MotusMb mb;
    MotusMbCoef coef;
    __attribute__((aligned(16))) uint8_t rec[256];
    uint32_t cost;
    int taken;
} LanesTransformed;

// Chooses the transform (motus_choose_transform) by a warp. Returns NULL, or what the lanes did
// wrong.
const char *lanes_choose_transform(const MotusInterMb *in, const MotusLevelChoice *levels,
                                   const MotusQuant8 *quant8, uint32_t luma_bits,
                                   LanesTransformed *mb);

#endif
