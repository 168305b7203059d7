// Half- and quarter-sample refinement of the blocks of one MB.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef ME_REFINE_H
#define ME_REFINE_H

#include "me/pixel.h"
#include "me/search.h"

// Starting from motion->mv (integer), each block of job->modes looks at its eight half-sample neighbours, then at the eight quarter-sample
// neighbours of the best so far (unless subpel is MOTUS_SUBPEL_HALF), by SATD + vector cost. The centre wins ties, then the first in raster
// order of (dy, dx). Writes mv, cost (over SATD) and sad.
void motus_refine_mb(const MotusMbJob *job, MotusSubpel subpel, const MotusPixelOps *pixel, MotusMbMotion *motion);

#endif
