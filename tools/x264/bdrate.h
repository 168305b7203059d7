// BD-rate: the bits that a test encoder needs beyond an anchor for the same PSNR, in per cent,
// averaged over the PSNR range that both cover.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_X264_BDRATE_H
#define TOOLS_X264_BDRATE_H

#include "motus/status.h"

#define MOTUS_RD_POINTS 16 // most points of a curve

typedef struct MotusRdPoint {
    double kbps, psnr; // kb/s > 0; dB
} MotusRdPoint;

// Integrates log10(rate) over PSNR by monotone piecewise cubics (Fritsch-Carlson slopes), as the
// spreadsheets of JCT-VC do. *percent < 0: `test` needs fewer bits. Points may be in any order.
// MOTUS_ERR_ARGUMENT (*percent unchanged): a curve has fewer than 4 or more than MOTUS_RD_POINTS
// points or does not rise strictly, or the two share no range of PSNR.
MotusStatus motus_bd_rate(const MotusRdPoint *anchor, int n_anchor, const MotusRdPoint *test,
                          int n_test, double *percent);

#endif
