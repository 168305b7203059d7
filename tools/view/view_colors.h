// Colours for vectors and values.
// SPDX-License-Identifier: BSD-2-Clause
#ifndef TOOLS_VIEW_VIEW_COLORS_H
#define TOOLS_VIEW_VIEW_COLORS_H

#include "tools/view/canvas.h"

// The colour wheel that optical flow is usually shown with (Baker et al., "A Database and
// Evaluation Methodology for Optical Flow"): the hue is the direction of the movement (dx right, dy
// down; right is red, down yellow, left cyan, up violet), the saturation its length up to `most`,
// beyond which colours become darker. most 0: the full hue.
MotusColor motus_flow_color(double dx, double dy, double most);

// 0 dark violet, 1 (and beyond) yellow; lightness grows all the way, so that it reads without
// colours.
MotusColor motus_heat_color(double share);

#endif
