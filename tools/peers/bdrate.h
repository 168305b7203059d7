// BD-rate: how many per cent more bits a test encoder needs than an anchor for the same PSNR,
// averaged over the PSNR range that both cover.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_PEERS_BDRATE_H
#define TOOLS_PEERS_BDRATE_H

#include "motus/status.h"

#define MOTUS_RD_POINTS 16 // of a curve, at most

typedef struct MotusRdPoint {
    double kbps, psnr; // kb/s > 0; dB
} MotusRdPoint;

// Integrates log10(rate) over PSNR, a monotone piecewise cubic through each curve's points
// (Fritsch-Carlson slopes), as the spreadsheets of JCT-VC do. Below 0: `test` needs fewer bits. The
// points may come in any order. MOTUS_ERR_ARGUMENT, with *percent untouched: a curve has fewer than
// four or more than MOTUS_RD_POINTS points, its PSNR does not rise strictly with its rate, or the
// two share no range of PSNR.
MotusStatus motus_bd_rate(const MotusRdPoint *anchor, int n_anchor, const MotusRdPoint *test,
                          int n_test, double *percent);

#endif
