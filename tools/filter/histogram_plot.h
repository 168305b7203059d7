// A picture of two histograms.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_FILTER_HISTOGRAM_PLOT_H
#define TOOLS_FILTER_HISTOGRAM_PLOT_H

#include <stdint.h>

#include "motus/status.h"

// Draws the histograms one above the other, before and after, with their running sums as lines, as
// a PNG.
MotusStatus motus_histogram_plot(const char *path, const uint32_t before[256],
                                 const uint32_t after[256], MotusError *error);

#endif
